//! The keeper: one thread that looks after what takes too long.
//!
//! A worker that runs a servant holds the right to read from its connection. If the servant takes longer than a
//! tick, the keeper gives that right back to the epoll set, so that other calls on the same connection go on.
//! It also closes idle connections and ends calls whose time is over. While nothing is under way it sleeps.

use std::sync::{Arc, Condvar, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::transport::client::ClientConnection;
use crate::transport::endpoint::Endpoint;
use crate::transport::reactor::{Activity, Reactor, lock};

/// How often servants at work are looked at. A call that waits behind a slow one waits up to two of these.
pub(crate) const TICK: Duration = Duration::from_millis(10);
/// How often connections are looked at while nothing is under way.
const SLOW_TICK: Duration = Duration::from_secs(1);

/// Something that must be over at some time.
pub(crate) trait Timed: Send + Sync {
    /// The time has come, or passed up to two ticks ago.
    fn time_is_over(&self);
}

/// Something with calls of futures that have deadlines.
pub(crate) trait Watched: Send + Sync + std::fmt::Debug {
    /// Ends the calls whose time is over. True as long as some call has a deadline.
    fn expire(&self, now: Instant) -> bool;
}

/// The keeper's side of a reactor.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct State {
    thread: Option<JoinHandle<()>>,
    /// How many connections are adopted, and calls waiting with a deadline: while any, tick fast.
    busy: usize,
    asleep: bool,
    stop: bool,
    /// Client connections on which requests wait for woken futures.
    unflushed: Vec<Weak<ClientConnection>>,
    /// Those whose calls have deadlines.
    watched: Vec<Weak<dyn Watched>>,
    /// Whom to tell that their time is over, and when.
    timed: Vec<(Instant, Weak<dyn Timed>)>,
    /// Servers whose connections are to be closed when they have been idle for long.
    aging: Vec<Weak<Endpoint>>,
}

impl Keeper {
    /// Starts the keeper's thread if it is not there.
    pub(crate) fn ensure_running(&self, reactor: &Arc<Reactor>) {
        let mut state = lock(&self.state);
        if state.thread.is_some() || state.stop {
            return;
        }
        let weak = Arc::downgrade(reactor);
        let started =
            std::thread::Builder::new().name("throughline-keeper".to_owned()).spawn(move || run(&weak));
        state.thread = started.ok();
    }

    /// Something is under way: tick fast until as many `rest` calls follow.
    pub(crate) fn work(&self) {
        let mut state = lock(&self.state);
        state.busy += 1;
        if state.asleep {
            self.wake.notify_one();
        }
    }

    /// One thing less is under way.
    pub(crate) fn rest(&self) {
        let mut state = lock(&self.state);
        state.busy = state.busy.saturating_sub(1);
    }

    /// Sends what waits on a connection, at the next tick if nobody does before.
    pub(crate) fn flush_soon(&self, connection: Weak<ClientConnection>) {
        let mut state = lock(&self.state);
        if !state.unflushed.iter().any(|c| c.ptr_eq(&connection)) {
            state.unflushed.push(connection);
        }
        if state.asleep {
            self.wake.notify_one();
        }
    }

    /// Looks after the deadlines of the calls of futures.
    pub(crate) fn watch(&self, connection: Weak<dyn Watched>) {
        let mut state = lock(&self.state);
        if !state.watched.iter().any(|c| c.ptr_eq(&connection)) {
            state.watched.push(connection);
        }
        if state.asleep {
            self.wake.notify_one();
        }
    }

    /// Tells `what`, if it is still there, when its time is over.
    pub(crate) fn time(&self, reactor: &Arc<Reactor>, deadline: Instant, what: Weak<dyn Timed>) {
        self.ensure_running(reactor);
        let mut state = lock(&self.state);
        state.timed.push((deadline, what));
        if state.asleep {
            self.wake.notify_one();
        }
    }

    /// Closes the connections to a server when they have been idle for long. Without a keeper's thread, in a client of blocking
    /// calls alone, that happens when many other endpoints are made.
    pub(crate) fn watch_age(&self, endpoint: Weak<Endpoint>) {
        let aging = &mut lock(&self.state).aging;
        aging.retain(|e| e.strong_count() > 0 && !e.ptr_eq(&endpoint));
        aging.push(endpoint);
    }

    fn close_idle(&self) {
        let mut aging = std::mem::take(&mut lock(&self.state).aging);
        aging.retain(|e| e.upgrade().is_some_and(|e| e.close_idle()));
        let mut state = lock(&self.state);
        aging.append(&mut state.aging);
        state.aging = aging;
    }

    fn expire(&self) {
        let watched = std::mem::take(&mut lock(&self.state).watched);
        let now = Instant::now();
        for connection in watched.iter().filter_map(Weak::upgrade) {
            if connection.expire(now) {
                self.watch(Arc::downgrade(&connection));
            }
        }
        let mut over = Vec::new();
        lock(&self.state).timed.retain(|(deadline, what)| {
            if *deadline <= now {
                over.push(Weak::clone(what));
            }
            *deadline > now && what.strong_count() > 0
        });
        over.iter().filter_map(Weak::upgrade).for_each(|what| what.time_is_over());
    }

    fn flush(&self) {
        let unflushed = std::mem::take(&mut lock(&self.state).unflushed);
        unflushed.iter().filter_map(Weak::upgrade).for_each(|connection| connection.flush());
    }

    /// Lets the thread end. It may be waking a task just now, for which only the caller knows how long to wait.
    pub(crate) fn stop(&self) -> Option<JoinHandle<()>> {
        let mut state = lock(&self.state);
        state.stop = true;
        self.wake.notify_one();
        state.thread.take()
    }

    /// Sleeps a tick; false when it is time to end.
    fn sleep(&self) -> bool {
        let mut state = lock(&self.state);
        if state.stop {
            return false;
        }
        let calm = state.busy == 0
            && state.unflushed.is_empty()
            && state.watched.is_empty()
            && state.timed.is_empty();
        let (time, deep) = if !calm { (TICK, false) } else { (SLOW_TICK, true) };
        state.asleep = deep;
        let (mut state, _) =
            self.wake.wait_timeout(state, time).unwrap_or_else(std::sync::PoisonError::into_inner);
        state.asleep = false;
        !state.stop
    }
}

fn run(reactor: &Weak<Reactor>) {
    let mut seen = Seen::default();
    let mut sources = Vec::new();
    let mut last_slow = Instant::now();
    loop {
        let Some(reactor) = reactor.upgrade() else { return };
        if !reactor.keeper.sleep() {
            return;
        }
        reactor.keeper.flush();
        reactor.keeper.expire();
        seen.relieve_slow_workers(&reactor);
        if last_slow.elapsed() >= SLOW_TICK {
            last_slow = Instant::now();
            reactor.keeper.close_idle();
            reactor.collect_sources(&mut sources);
            sources.drain(..).for_each(|source| source.tick(&reactor));
        }
    }
}

/// What the workers did at the last tick. Its memory serves at all ticks.
#[derive(Default)]
struct Seen {
    before: Vec<(Weak<Activity>, u64)>,
    /// Empty between ticks.
    now: Vec<Arc<Activity>>,
}

impl Seen {
    /// Gives back the connections of workers that have been in the same servant since the last tick.
    fn relieve_slow_workers(&mut self, reactor: &Arc<Reactor>) {
        let Self { before, now } = self;
        now.extend(lock(&reactor.activities).iter().filter_map(Weak::upgrade));
        for activity in &*now {
            let sequence = activity.sequence();
            let same =
                |(a, seen): &(Weak<_>, u64)| std::ptr::eq(a.as_ptr(), &**activity) && *seen == sequence;
            if activity.in_servant() && before.iter().any(same) {
                let connection = lock(&activity.connection).clone();
                if let Some(connection) = connection {
                    connection.relieve(reactor, activity.worker);
                }
            }
        }
        before.clear();
        before.extend(now.drain(..).map(|activity| (Arc::downgrade(&activity), activity.sequence())));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[derive(Default)]
    struct Bell(AtomicBool);

    impl Timed for Bell {
        fn time_is_over(&self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn only_what_is_there_and_due_is_told_and_forgotten() {
        let keeper = Keeper::default();
        let [due, early, gone] = [(); 3].map(|()| Arc::<Bell>::default());
        let now = Instant::now();
        let later = now + Duration::from_secs(3600);
        for (bell, deadline) in [(&due, now), (&early, later), (&gone, later)] {
            let bell: Weak<Bell> = Arc::downgrade(bell);
            lock(&keeper.state).timed.push((deadline, bell));
        }
        drop(gone);
        keeper.expire();
        assert!(due.0.load(Ordering::Relaxed) && !early.0.load(Ordering::Relaxed));
        assert_eq!(lock(&keeper.state).timed.len(), 1);
    }
}
