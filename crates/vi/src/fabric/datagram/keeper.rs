//! The keeper: a thread of the process that looks after ports while nobody polls or sleeps there.
//!
//! It ticks as long as something goes on, and leaves ports alone whose VIs are polled or slept on. A port that nobody
//! looked at for a tick is looked after by the keeper itself, which sleeps until something arrives there or is due. As long
//! as that is so, whoever does something with the port again tells the keeper, once.

use super::state::now;
use rustix::event::{EventfdFlags, Timespec, epoll};
use std::{
    io,
    mem::MaybeUninit,
    os::fd::{BorrowedFd, OwnedFd},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
    time::Duration,
};

/// How often ports are looked at. Acknowledgements are late by so much if an application turns away before they left.
const TICK: Duration = Duration::from_millis(5);

/// What is looked after.
pub(super) trait Kept: Send + Sync {
    /// Does what is due, unless others do. `before` is the activity that was seen the last time.
    fn tend(&self, before: &mut u64) -> Tended;

    /// Readable when something has arrived.
    fn wire(&self) -> BorrowedFd<'_>;
}

/// Who looks after a port.
pub(super) enum Tended {
    /// Somebody has been here since the last time.
    Busy,
    /// Somebody sleeps there, and will be woken.
    Asleep,
    /// Nobody else; something is due at this time, and connections may be left that are to end in order.
    Alone { again: Option<Duration>, lingers: bool },
}

struct Keeper {
    epoll: OwnedFd,
    nudge: OwnedFd,
    ports: Mutex<Vec<Entry>>,
}

struct Entry {
    port: Weak<dyn Kept>,
    /// Until its connections have ended.
    lingering: Option<Arc<dyn Kept>>,
    id: u64,
    activity: u64,
    /// Whether `epoll` tells of it.
    armed: bool,
}

const NUDGE: u64 = u64::MAX;

static KEEPER: OnceLock<Option<Keeper>> = OnceLock::new();

/// Looks after a port from now on, until it is no more.
pub(super) fn keep(port: Arc<dyn Kept>) -> io::Result<()> {
    let keeper =
        KEEPER.get_or_init(|| start().inspect_err(|error| tracing::error!(%error, "no keeper")).ok());
    let Some(keeper) = keeper else { return Err(io::ErrorKind::OutOfMemory.into()) };
    let mut ports = keeper.ports();
    let id = ports.last().map_or(0, |last| last.id + 1);
    // It is told of once that is asked for.
    epoll::add(&keeper.epoll, port.wire(), epoll::EventData::new_u64(id), epoll::EventFlags::empty())?;
    let port = Arc::downgrade(&port);
    ports.push(Entry { port, lingering: None, id, activity: u64::MAX, armed: false });
    drop(ports);
    nudge();
    Ok(())
}

/// A port is used again.
#[cold]
pub(super) fn nudge() {
    if let Some(Some(keeper)) = KEEPER.get() {
        let _ = rustix::io::write(&keeper.nudge, &1_u64.to_ne_bytes());
    }
}

/// The connections of this port end without their VI.
pub(super) fn linger(port: &Arc<dyn Kept>) {
    if let Some(Some(keeper)) = KEEPER.get() {
        let mut ports = keeper.ports();
        let entry = ports.iter_mut().find(|entry| std::ptr::addr_eq(entry.port.as_ptr(), Arc::as_ptr(port)));
        if let Some(entry) = entry {
            entry.lingering = Some(port.clone());
            entry.armed = false;
        }
    }
    nudge();
}

fn start() -> io::Result<Keeper> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let nudge = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
    epoll::add(&epoll, &nudge, epoll::EventData::new_u64(NUDGE), epoll::EventFlags::IN)?;
    std::thread::Builder::new().name("throughline-vi".to_owned()).spawn(|| {
        // Set by whoever started this thread.
        if let Some(keeper) = KEEPER.wait() {
            keeper.run();
        }
    })?;
    Ok(Keeper { epoll, nudge, ports: Mutex::default() })
}

impl Keeper {
    fn ports(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut sleep = None;
        loop {
            self.wait(sleep);
            sleep = self.round();
        }
    }

    /// Sleeps until there is something to do.
    fn wait(&self, most: Option<Duration>) {
        let time = most.and_then(|most| Timespec::try_from(most).ok());
        let mut events = [MaybeUninit::uninit(); 64];
        let Ok((events, _)) = epoll::wait(&self.epoll, &mut events, time.as_ref()) else { return };
        let mut ports = self.ports();
        for event in events {
            match event.data.u64() {
                NUDGE => drop(rustix::io::read(&self.nudge, &mut [0; 8])),
                id => ports.iter_mut().filter(|entry| entry.id == id).for_each(|entry| entry.armed = false),
            }
        }
    }

    /// Looks at every port; how long to sleep then.
    fn round(&self) -> Option<Duration> {
        let mut sleep = None;
        let mut least = |time: Duration| sleep = Some(sleep.map_or(time, |sleep: Duration| sleep.min(time)));
        let mut over = Vec::new();
        self.ports().retain_mut(|entry| {
            let Some(port) = entry.port.upgrade() else { return false };
            match port.tend(&mut entry.activity) {
                Tended::Busy => least(TICK),
                Tended::Asleep => {}
                Tended::Alone { again, lingers } => {
                    again.into_iter().for_each(|at| least(at.saturating_sub(now())));
                    self.arm(entry, &*port);
                    if !lingers {
                        over.extend(entry.lingering.take());
                    }
                }
            }
            true
        });
        // Not under the lock.
        drop(over);
        sleep
    }

    fn arm(&self, entry: &mut Entry, port: &dyn Kept) {
        if !std::mem::replace(&mut entry.armed, true) {
            let once = epoll::EventFlags::IN | epoll::EventFlags::ONESHOT;
            let _ = epoll::modify(&self.epoll, port.wire(), epoll::EventData::new_u64(entry.id), once);
        }
    }
}
