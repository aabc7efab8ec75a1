//! A wire, the connections over it, and those who wait for them.

use super::{
    Wire,
    keeper::{Berth, Kept, Tended},
    remote::Windows,
    state::{State, now},
    watch::{Sleepers, Watch},
};
use rustix::event::epoll;
use std::{
    io,
    os::fd::BorrowedFd,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// Receptions that are taken in at a time by whoever does it for others.
const TURN: u32 = 64;

/// Microseconds that somebody waits for a port until others let him have it first.
const PATIENCE: u64 = 200;

/// On the clock of all ports, and never 0.
fn micros() -> u64 {
    now().as_micros() as u64 + 1
}

pub(crate) struct Port<W: Wire> {
    state: Mutex<State<W>>,
    /// Who waits for the lock, one at a time ...
    turn: Mutex<()>,
    /// ... and since when, in microseconds; 0 if nobody does.
    waiting_since: AtomicU64,
    pub(super) sleepers: Sleepers,
    berth: OnceLock<Berth>,
}

impl<W: Wire> Port<W> {
    /// A port that is looked after, whose peers may reach these windows.
    pub(crate) fn new(wire: W, windows: Arc<Windows>) -> io::Result<Arc<Self>> {
        let state = State::new(wire, windows)?;
        let both = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&both, state.timer(), epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        let port = Arc::new(Self {
            state: Mutex::new(state),
            turn: Mutex::new(()),
            waiting_since: AtomicU64::new(0),
            sleepers: Sleepers::new(both)?,
            berth: OnceLock::new(),
        });
        super::keeper::keep(port.clone())?;
        port.lock().berth = port.berth.get().copied();
        Ok(port)
    }

    #[inline]
    pub(super) fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.try_lock().unwrap_or_else(|| self.wait())
    }

    /// The system's lock is often taken again by who has just let go of it, before those who wait are awake, which costs less than to
    /// change about. But who sends much would keep the others of his port waiting for as long as he likes.
    #[cold]
    fn wait(&self) -> MutexGuard<'_, State<W>> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting_since.store(micros(), Ordering::Relaxed);
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting_since.store(0, Ordering::Relaxed);
        drop(turn);
        state
    }

    /// Whether somebody has waited for so long that he has the lock before all others.
    #[inline]
    pub(super) fn is_overdue(&self) -> bool {
        let since = self.waiting_since.load(Ordering::Relaxed);
        since != 0 && micros() > since + PATIENCE
    }

    /// Unless somebody else is at it, or has waited for it too long.
    #[inline]
    pub(super) fn try_lock(&self) -> Option<MutexGuard<'_, State<W>>> {
        if self.is_overdue() {
            return None;
        }
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Whether the VI should be looked at. Looks at the wire, unless somebody else has since this VI did.
    ///
    /// Who is about to sleep looks at the wire in any case: somebody else may be at work with a VI that is ready, and the wire
    /// would wake the sleeper again and again. And he looks once more as long as there may be more: he may be told of what has come
    /// only once.
    pub(super) fn is_ready(&self, watch: &Watch) -> bool {
        let armed = watch.is_armed();
        if watch.is_ready() && !armed {
            return true;
        }
        let state = if armed { Some(self.lock()) } else { self.try_lock() };
        let Some(mut state) = state else { return false };
        let mut more = false;
        if armed || !state.was_looked_at(watch) {
            state.touch();
            let mut turn = 0..TURN;
            while turn.next().is_some() && state.take_in(&self.sleepers, None) && (armed || !watch.is_ready())
            {
            }
            more = armed && turn.is_empty();
            if armed {
                state.do_what_is_due(&self.sleepers)
            } else {
                state.pause(&self.sleepers)
            }
            state.looked_at(watch);
        }
        more || watch.is_ready()
    }

    /// The VI is about to sleep, and looks once more afterwards.
    pub(super) fn arm(&self, watch: &Arc<Watch>) {
        self.sleepers.arm(watch);
        self.lock().attach(&self.sleepers);
    }

    /// The VI sleeps no longer.
    pub(super) fn disarm(&self, watch: &Arc<Watch>) {
        if self.sleepers.disarm(watch) {
            self.lock().touch();
        }
    }
}

impl<W: Wire> State<W> {
    /// Takes in what has arrived, for others, and not for ever if more and more does; whether there may be more.
    pub(super) fn take_turn(&mut self, sleepers: &Sleepers) -> bool {
        let mut turn = 0..TURN;
        while turn.next().is_some() && self.take_in(sleepers, None) {}
        turn.is_empty()
    }

    /// Whether somebody else has looked since this VI did.
    #[inline]
    pub(super) fn was_looked_at(&self, watch: &Watch) -> bool {
        let seen = watch.seen.load(Ordering::Relaxed);
        if seen != self.looks {
            self.looked_at(watch);
        }
        seen != self.looks
    }

    #[inline]
    pub(super) fn looked_at(&self, watch: &Watch) {
        watch.seen.store(self.looks, Ordering::Relaxed);
    }
}

impl<W: Wire> Kept for Port<W> {
    fn tend(&self, before: &mut u64) -> Tended {
        let Some(mut state) = self.try_lock() else { return Tended::Busy };
        let active = std::mem::replace(before, state.activity) != state.activity;
        if active {
            return Tended::Busy;
        }
        state.kept = true;
        if self.sleepers.any() {
            // Who sent the last messages may not be the one who sleeps.
            state.set_timer();
            return Tended::Asleep;
        }
        state.attach(&self.sleepers);
        let more = state.take_turn(&self.sleepers);
        state.do_what_is_due(&self.sleepers);
        let again = if more { Some(Duration::ZERO) } else { state.due() };
        Tended::Alone { again, lingers: !state.endpoint.is_empty() }
    }

    fn wire(&self) -> BorrowedFd<'_> {
        self.sleepers.wire()
    }

    fn berth(&self) -> &OnceLock<Berth> {
        &self.berth
    }
}

impl<W: Wire> Drop for Port<W> {
    fn drop(&mut self) {
        self.berth.get().copied().into_iter().for_each(super::keeper::forget);
    }
}
