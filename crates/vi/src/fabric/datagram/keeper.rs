//! The keeper: a thread of the process that looks after ports while nobody polls or sleeps there.
//!
//! It ticks as long as something goes on, and leaves ports alone whose VIs are polled or slept on. A port that nobody
//! looked at for a tick is looked after by the keeper itself, which sleeps until something arrives there or is due. As long
//! as that is so, whoever does something with the port again tells the keeper, once.
//!
//! A port is found by its berth, and only those are looked at where something may go on: thousands of idle ones cost nothing.

mod ports;

use self::ports::{Entry, Ports};
use super::state::now;
use rustix::event::{EventfdFlags, Timespec, epoll};
use std::{
    io,
    mem::MaybeUninit,
    os::fd::{BorrowedFd, OwnedFd},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
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

    /// Where the keeper has it.
    fn berth(&self) -> &OnceLock<Berth>;
}

/// Where the keeper has a port, unlike any before: a slot in the lower half, a count in the upper one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Berth(u64);

impl Berth {
    fn new(slot: u32, count: u32) -> Self {
        Self(u64::from(count) << 32 | u64::from(slot))
    }
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
    ports: Mutex<Ports>,
}

const NUDGE: u64 = u64::MAX;

static KEEPER: OnceLock<Option<Keeper>> = OnceLock::new();

fn keeper() -> Option<&'static Keeper> {
    KEEPER.get().and_then(Option::as_ref)
}

/// Looks after a port from now on, until it is [forgotten](forget).
pub(super) fn keep(port: Arc<dyn Kept>) -> io::Result<()> {
    KEEPER.get_or_init(|| start().inspect_err(|error| tracing::error!(%error, "no keeper")).ok());
    let Some(keeper) = keeper() else { return Err(io::ErrorKind::OutOfMemory.into()) };
    let berth = keeper.ports().insert(&port);
    // It is told of once that is asked for.
    let data = epoll::EventData::new_u64(berth.0);
    if let Err(error) = epoll::add(&keeper.epoll, port.wire(), data, epoll::EventFlags::empty()) {
        keeper.ports().remove(berth);
        return Err(error.into());
    }
    let _ = port.berth().set(berth);
    nudge(Some(berth));
    Ok(())
}

/// A port is no more. Its files leave the keeper's by themselves.
pub(super) fn forget(berth: Berth) {
    if let Some(keeper) = keeper() {
        keeper.ports().remove(berth);
    }
}

/// A port is used again.
#[cold]
pub(super) fn nudge(berth: Option<Berth>) {
    if let (Some(keeper), Some(berth)) = (keeper(), berth) {
        keeper.ports().wake(berth);
        let _ = rustix::io::write(&keeper.nudge, &1_u64.to_ne_bytes());
    }
}

/// The connections of this port end without their VI.
pub(super) fn linger(port: &Arc<dyn Kept>) {
    let berth = port.berth().get().copied();
    if let (Some(keeper), Some(berth)) = (keeper(), berth)
        && let Some(entry) = keeper.ports().entry(berth)
    {
        entry.lingering = Some(port.clone());
        entry.armed = false;
    }
    nudge(berth);
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
    fn ports(&self) -> MutexGuard<'_, Ports> {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut sleep = None;
        let mut awake = Vec::new();
        loop {
            self.wait(sleep);
            sleep = self.round(&mut awake);
        }
    }

    /// Sleeps until there is something to do.
    fn wait(&self, most: Option<Duration>) {
        let time = most.and_then(|most| Timespec::try_from(most).ok());
        let mut events = [MaybeUninit::uninit(); 64];
        let Ok((events, _)) = epoll::wait(&self.epoll, &mut events, time.as_ref()) else { return };
        for event in events {
            match event.data.u64() {
                NUDGE => drop(rustix::io::read(&self.nudge, &mut [0; 8])),
                berth => {
                    let mut ports = self.ports();
                    if let Some(entry) = ports.entry(Berth(berth)) {
                        entry.armed = false;
                        ports.wake(Berth(berth));
                    }
                }
            }
        }
    }

    /// Looks at every port where something may go on; how long to sleep then.
    fn round(&self, awake: &mut Vec<Berth>) -> Option<Duration> {
        self.ports().take_awake(now(), awake);
        for berth in awake.drain(..) {
            self.look_at(berth);
        }
        let ports = self.ports();
        let due = ports.next_due().map(|at| at.saturating_sub(now()));
        // Those that are busy.
        if ports.any_awake() { Some(due.map_or(TICK, |due| due.min(TICK))) } else { due }
    }

    /// Not under the lock: a port that ends here is forgotten, and others nudge while they have their port.
    fn look_at(&self, berth: Berth) {
        let found = self.ports().entry(berth).and_then(|entry| Some((entry.port.upgrade()?, entry.activity)));
        let Some((port, mut activity)) = found else { return };
        let tended = port.tend(&mut activity);
        let mut ports = self.ports();
        let Some(entry) = ports.entry(berth) else { return };
        entry.activity = activity;
        let mut over = None;
        match tended {
            Tended::Busy => ports.wake(berth),
            Tended::Asleep => {}
            Tended::Alone { again, lingers } => {
                self.arm(entry, berth, &*port);
                if !lingers {
                    over = entry.lingering.take();
                }
                again.into_iter().for_each(|at| ports.wake_at(berth, at));
            }
        }
        drop(ports);
        drop((over, port));
    }

    fn arm(&self, entry: &mut Entry, berth: Berth, port: &dyn Kept) {
        if !std::mem::replace(&mut entry.armed, true) {
            let once = epoll::EventFlags::IN | epoll::EventFlags::ONESHOT;
            let _ = epoll::modify(&self.epoll, port.wire(), epoll::EventData::new_u64(berth.0), once);
        }
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A port where nothing goes on.
    struct Idle {
        wire: OwnedFd,
        berth: OnceLock<Berth>,
        looks: Arc<AtomicUsize>,
    }

    impl Kept for Idle {
        fn tend(&self, _: &mut u64) -> Tended {
            self.looks.fetch_add(1, Ordering::Relaxed);
            let _ = rustix::io::read(&self.wire, &mut [0; 8]);
            Tended::Alone { again: None, lingers: false }
        }

        fn wire(&self) -> BorrowedFd<'_> {
            std::os::fd::AsFd::as_fd(&self.wire)
        }

        fn berth(&self) -> &OnceLock<Berth> {
            &self.berth
        }
    }

    impl Drop for Idle {
        fn drop(&mut self) {
            self.berth.get().copied().into_iter().for_each(forget);
        }
    }

    fn wait_for(looks: &AtomicUsize, expected: usize) {
        for _ in 0..10_000 {
            if looks.load(Ordering::Relaxed) >= expected {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("{looks:?} looks instead of {expected}");
    }

    #[test]
    fn ten_thousand_idle_ports_cost_the_others_nothing() {
        const PORTS: usize = 10_000;
        let looks = Arc::new(AtomicUsize::new(0));
        let idle = || -> io::Result<Arc<Idle>> {
            let wire = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
            let port = Arc::new(Idle { wire, berth: OnceLock::new(), looks: looks.clone() });
            keep(port.clone())?;
            Ok(port)
        };
        let ports: Vec<_> = (0..PORTS).map_while(|_| idle().ok()).collect();
        assert!(ports.len() > 500, "more files may be opened than that");
        wait_for(&looks, ports.len());
        std::thread::sleep(4 * TICK);
        // One more, one that is used again, one that something arrives at: each is looked at, and no other.
        let before = looks.swap(0, Ordering::Relaxed);
        assert!(before < 2 * ports.len(), "{before} looks at {} ports", ports.len());
        let last = idle().unwrap();
        wait_for(&looks, 1);
        nudge(ports[7].berth.get().copied());
        wait_for(&looks, 2);
        rustix::io::write(&ports[8].wire, &1_u64.to_ne_bytes()).unwrap();
        wait_for(&looks, 3);
        drop(last);
        std::thread::sleep(4 * TICK);
        let after = looks.load(Ordering::Relaxed);
        assert!(after < 10, "{after} looks");
    }
}
