//! One direction of a connection within the process.

use super::{faults::Fate, wire::LocalAddress};
use crate::CompletionError;
use rustix::event::EventfdFlags;
use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hasher},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering, fence},
    },
    time::Duration,
};

/// So many messages are under way at most.
const ROOM: usize = 1024;

/// A message under way.
#[derive(Clone, Default)]
pub(crate) struct Packet {
    pub(crate) bytes: Vec<u8>,
    pub(crate) immediate: Option<u32>,
    /// Of datagrams.
    pub(crate) from: Option<LocalAddress>,
    check: u64,
}

impl Packet {
    /// To be called when the bytes are complete.
    pub(crate) fn seal(&mut self) {
        self.check = self.sum();
    }

    /// Whether it is as it was sent.
    pub(crate) fn intact(&self) -> bool {
        self.check == self.sum()
    }

    fn sum(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write(&self.bytes);
        hasher.write_u64(self.immediate.map_or(0, |data| u64::from(data) + 1));
        hasher.finish()
    }

    fn flip(&mut self, bit: u64) {
        match self.bytes.len() as u64 {
            0 => self.check ^= 1,
            len => self.bytes[(bit / 8 % len) as usize] ^= 1 << (bit % 8),
        }
    }
}

/// See the module.
pub(crate) struct Lane {
    state: Mutex<State>,
    /// Readable when something happened while the receiver slept.
    bell: OwnedFd,
    armed: AtomicBool,
    ready: AtomicBool,
    /// Messages the receiver has taken.
    consumed: AtomicU64,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Packet>,
    delayed: Vec<(Duration, Packet)>,
    spare: Vec<Packet>,
    end: Option<CompletionError>,
}

impl Lane {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {
            state: Mutex::default(),
            bell: rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            armed: AtomicBool::new(false),
            ready: AtomicBool::new(false),
            consumed: AtomicU64::new(0),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why nothing arrives any more.
    pub(crate) fn end(&self) -> Option<CompletionError> {
        self.lock().end
    }

    pub(crate) fn has_room(&self) -> bool {
        let state = self.lock();
        state.queue.len() + state.delayed.len() < ROOM
    }

    /// A packet to fill.
    pub(crate) fn blank(&self) -> Packet {
        let mut packet = self.lock().spare.pop().unwrap_or_default();
        packet.bytes.clear();
        packet.immediate = None;
        packet
    }

    /// Sends. What comes when is up to fate.
    pub(crate) fn send(&self, mut packet: Packet, fate: &Fate, now: Duration) {
        let mut state = self.lock();
        if fate.copies == 2 {
            let place = state.queue.len();
            state.put(packet.clone(), place, now + fate.delay, now);
        }
        if let Some(bit) = fate.flipped {
            packet.flip(bit);
        }
        if fate.copies != 0 {
            let place = state.queue.len().saturating_sub(fate.overtakes);
            state.put(packet, place, now + fate.delay, now);
        }
        drop(state);
        self.ring();
    }

    /// The network's time is now this.
    pub(crate) fn advance(&self, now: Duration) {
        let mut state = self.lock();
        let mut due: Vec<_> = state.delayed.extract_if(.., |(due, _)| *due <= now).collect();
        due.sort_by_key(|(due, _)| *due);
        state.queue.extend(due.into_iter().map(|(_, packet)| packet));
        drop(state);
        self.ring();
    }

    /// Nothing arrives any more, for this reason. What was sent before still does.
    pub(crate) fn finish(&self, why: CompletionError) {
        self.lock().end.get_or_insert(why);
        self.ring();
    }

    /// The next packet, or why there is none and never will be.
    pub(crate) fn take(&self) -> Result<Option<Packet>, CompletionError> {
        if !self.ready.load(Ordering::Acquire) {
            return Ok(None);
        }
        let mut state = self.lock();
        match (state.queue.pop_front(), state.end) {
            (Some(packet), end) => {
                self.ready.store(!state.queue.is_empty() || end.is_some(), Ordering::Relaxed);
                Ok(Some(packet))
            }
            (None, Some(end)) => Err(end),
            (None, None) => {
                self.ready.store(false, Ordering::Relaxed);
                Ok(None)
            }
        }
    }

    /// Why nothing arrives any more, once all has been taken.
    pub(crate) fn gone(&self) -> Option<CompletionError> {
        let state = self.lock();
        state.end.filter(|_| state.queue.is_empty())
    }

    /// The packet has been read.
    pub(crate) fn taken(&self, packet: Packet) {
        let mut state = self.lock();
        if state.spare.len() < 64 {
            state.spare.push(packet);
        }
        self.consumed.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Acquire)
    }

    /// Something happened: wakes the receiver if it sleeps.
    pub(crate) fn ring(&self) {
        let state = self.lock();
        if !state.queue.is_empty() || state.end.is_some() {
            self.ready.store(true, Ordering::Release);
        }
        drop(state);
        // SYNC POINT: bell. Pairs with `arm`.
        fence(Ordering::SeqCst);
        if self.armed.load(Ordering::Relaxed) {
            let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
        }
    }

    pub(crate) fn ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    pub(crate) fn arm(&self) {
        self.armed.store(true, Ordering::Relaxed);
        // SYNC POINT: bell. Pairs with `ring`.
        fence(Ordering::SeqCst);
    }

    pub(crate) fn disarm(&self) {
        self.armed.store(false, Ordering::Relaxed);
    }

    pub(crate) fn drain(&self) {
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl State {
    fn put(&mut self, packet: Packet, place: usize, due: Duration, now: Duration) {
        if due > now {
            self.delayed.push((due, packet));
        } else {
            self.queue.insert(place, packet);
        }
    }
}
