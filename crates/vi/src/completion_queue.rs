//! Completion queues: one place to learn which of many VIs have completions.

use crate::{
    Vi, WaitError,
    fabric::{Doorbell, NowAndThen, Spin},
    vi::deadline,
};
use rustix::{
    event::{EventfdFlags, Timespec, epoll},
    io::Errno,
};
use std::{
    fmt, io,
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering, fence},
    },
    time::{Duration, Instant},
};

/// Tells which of its VIs have completions; those are taken from the VIs. One thread at a time uses it.
///
/// Looking costs a few nanoseconds for each VI, and waiting a few tens.
pub struct CompletionQueue {
    shared: Arc<Shared>,
    /// The members as they were when the list was in this generation.
    members: Members,
    generation: u64,
    next: usize,
    /// When some of the members are asked, and which comes next.
    asks: NowAndThen,
    asked: usize,
    /// So many times in a row some member had something.
    in_row: u32,
    spin: Spin,
}

type Members = Vec<Option<Arc<Member>>>;

struct Shared {
    members: Mutex<Members>,
    /// Raised whenever the list changes.
    generation: AtomicU64,
    epoll: OwnedFd,
    /// Makes `epoll` readable when members change while somebody sleeps.
    kick: OwnedFd,
    sleeping: AtomicBool,
}

/// So many members are asked at a time, lest those be late who have something.
const ASKED_AT_A_TIME: usize = 8;
/// So often some member has something, in a row, before others are asked all the same.
const MOST_IN_ROW: u32 = 64;

/// The event of `kick`; other events are those of the member of this index.
const KICK: u64 = u64::MAX;

/// A VI, as its completion queue sees it.
pub(crate) struct Member {
    token: u64,
    index: usize,
    queue: Arc<Shared>,
    doorbell: OnceLock<Arc<dyn Doorbell>>,
    completions: AtomicBool,
}

impl CompletionQueue {
    /// A queue that serves no VI yet. Waiting looks for so long before it sleeps, as explained at
    /// [`ViAttributes::spin`](crate::ViAttributes::spin).
    ///
    /// # Errors
    ///
    /// If the system has no more files.
    pub fn new(spin: Duration) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let kick = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let edge = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &kick, epoll::EventData::new_u64(KICK), edge)?;
        let shared = Shared {
            members: Mutex::default(),
            generation: AtomicU64::new(0),
            epoll,
            kick,
            sleeping: AtomicBool::new(false),
        };
        Ok(Self {
            shared: Arc::new(shared),
            members: Vec::new(),
            generation: 0,
            next: 0,
            asks: NowAndThen::new(),
            asked: 0,
            in_row: 0,
            spin: Spin::new(spin),
        })
    }

    /// Serves this VI, which need not be connected yet, until it is dropped. A VI has one queue; an earlier one lets it go. While
    /// somebody waits for the queue nobody else [sleeps](crate::Bell) on the VI.
    pub fn link(&self, vi: &mut Vi, token: u64) {
        let mut members = self.shared.lock();
        let index = members.iter().position(Option::is_none).unwrap_or(members.len());
        let member = Arc::new(Member {
            token,
            index,
            queue: self.shared.clone(),
            doorbell: OnceLock::new(),
            completions: AtomicBool::new(false),
        });
        if index == members.len() {
            members.push(None);
        }
        members[index] = Some(member.clone());
        drop(members);
        self.shared.changed();
        vi.link_to(member);
    }

    /// The token of a VI that has something for you: take completions from both its queues until there are none. Now and
    /// then there are none at all. Every VI has its turn.
    #[inline]
    pub fn done(&mut self) -> Option<u64> {
        if self.generation != self.shared.generation.load(Ordering::Acquire) {
            self.refresh();
        }
        let (before, after) = self.members.split_at(self.next);
        let ready = |member: &Option<Arc<Member>>| member.as_ref().is_some_and(|member| member.ready());
        let found = after.iter().position(ready).map(|at| at + self.next);
        let found = found.or_else(|| before.iter().position(ready));
        // Who has just slept is not kept from what he was woken for, nor those who always have something the others from being asked.
        self.in_row = if found.is_some() { self.in_row.saturating_add(1) } else { 0 };
        if (found.is_none() || self.in_row > MOST_IN_ROW) && self.asks.is_due() {
            self.ask();
        }
        let found = found?;
        self.next = if found + 1 == self.members.len() { 0 } else { found + 1 };
        self.members[found].as_ref().map(|member| member.token)
    }

    /// Who never waits hears of the end of a peer all the same.
    #[cold]
    fn ask(&mut self) {
        let many = self.doorbells().count();
        let at = if self.asked < many { self.asked } else { 0 };
        self.doorbells().skip(at).take(ASKED_AT_A_TIME).for_each(|doorbell| doorbell.ask());
        self.asked = at + ASKED_AT_A_TIME;
    }

    #[cold]
    fn refresh(&mut self) {
        self.generation = self.shared.generation.load(Ordering::Acquire);
        self.members.clone_from(&self.shared.lock());
        self.next = 0;
    }

    /// As [`done`](Self::done), and waits for it; for ever without a timeout.
    ///
    /// # Errors
    ///
    /// See [`WaitError`].
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<u64, WaitError> {
        let deadline = deadline(timeout);
        loop {
            let mut spin = std::mem::replace(&mut self.spin, Spin::new(Duration::ZERO));
            let found = spin.look(deadline, || self.done());
            self.spin = spin;
            if let Some(token) = found {
                return Ok(token);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(WaitError::Timeout);
            }
            self.arm();
            let found = self.done();
            let slept = if found.is_some() { Ok(()) } else { self.sleep(deadline) };
            self.disarm();
            slept?;
            self.drain();
            if let Some(token) = found {
                return Ok(token);
            }
        }
    }

    fn arm(&self) {
        self.shared.sleeping.store(true, Ordering::Relaxed);
        // SYNC POINT: kick. Pairs with `Shared::kick_sleeper`.
        fence(Ordering::SeqCst);
        self.doorbells().for_each(|doorbell| doorbell.arm());
    }

    fn disarm(&self) {
        self.shared.sleeping.store(false, Ordering::Relaxed);
        self.doorbells().for_each(|doorbell| doorbell.disarm());
    }

    fn doorbells(&self) -> impl Iterator<Item = &Arc<dyn Doorbell>> {
        self.members.iter().flatten().filter_map(|member| member.doorbell.get())
    }

    /// Until one of the files is readable. What is read belongs to whoever armed, so they are drained later.
    fn sleep(&self, deadline: Option<Instant>) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, poll};
        let wakes = self.doorbells().filter_map(|doorbell| doorbell.wakes_by());
        let deadline = deadline.into_iter().chain(wakes).min();
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let left = left.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&self.shared.epoll, PollFlags::IN)], left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn drain(&self) {
        let mut events = [MaybeUninit::uninit(); 64];
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        let Ok((events, _)) = epoll::wait(&self.shared.epoll, &mut events, Some(&none)) else { return };
        for event in events {
            let index = event.data.u64();
            let member = usize::try_from(index).ok().and_then(|index| self.members.get(index)?.as_ref());
            if let Some(doorbell) = member.and_then(|member| member.doorbell.get()) {
                doorbell.drain();
            }
        }
    }
}

impl AsFd for CompletionQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.epoll.as_fd()
    }
}

impl fmt::Debug for CompletionQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CompletionQueue({} VIs)", self.shared.lock().iter().flatten().count())
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.generation.fetch_add(1, Ordering::Release);
        self.kick_sleeper();
    }

    /// After something was published that no doorbell tells: wakes the sleeper.
    fn kick_sleeper(&self) {
        // SYNC POINT: kick. Pairs with `CompletionQueue::arm`.
        fence(Ordering::SeqCst);
        if self.sleeping.load(Ordering::Relaxed) {
            let _ = rustix::io::write(&self.kick, &1_u64.to_ne_bytes());
        }
    }
}

impl Member {
    #[inline]
    fn ready(&self) -> bool {
        self.completions.load(Ordering::Relaxed)
            || self.doorbell.get().is_some_and(|doorbell| doorbell.ready())
    }

    pub(crate) fn connected(&self, doorbell: Arc<dyn Doorbell>) {
        let data = epoll::EventData::new_u64(self.index as u64);
        let edge = epoll::EventFlags::IN | epoll::EventFlags::ET;
        if let Err(error) = epoll::add(&self.queue.epoll, doorbell.fd(), data, edge) {
            tracing::error!(%error, "a completion queue cannot wait for this VI");
        }
        let _ = self.doorbell.set(doorbell);
        self.queue.kick_sleeper();
    }

    /// Whether completions lie in the VI, waiting to be taken.
    #[inline]
    pub(crate) fn has_completions(&self, any: bool) {
        if self.completions.load(Ordering::Relaxed) != any {
            self.completions.store(any, Ordering::Release);
            if any {
                self.queue.kick_sleeper();
            }
        }
    }

    /// Whoever sleeps looks anew how long he may.
    pub(crate) fn kick(&self) {
        self.queue.kick_sleeper();
    }

    pub(crate) fn unlink(&self) {
        if let Some(doorbell) = self.doorbell.get() {
            let _ = epoll::delete(&self.queue.epoll, doorbell.fd());
        }
        self.queue.lock()[self.index] = None;
        self.queue.changed();
    }
}
