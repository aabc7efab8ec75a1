//! Who polls the links of a server: one worker at a time, the leader, which also runs the servants.
//!
//! Nothing is handed from thread to thread while servants are quick. Two things take the lead away: a servant that is about
//! to wait for another object gives it up itself, since the answer may depend on a request that only the leader would see;
//! and a servant that takes longer than a tick, or a client that takes no answer for so long, loses it to the watcher, a worker
//! that looks at the leader's beat once in a tick. While the leader sleeps in the kernel the watcher soon sleeps too, so that an idle server costs nothing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::transport::reactor::lock;

/// How often the watcher looks. A call that waits behind a slow one waits for up to two of these.
const TICK: Duration = Duration::from_millis(10);

/// Ticks for which the leader must have slept before the watcher sleeps without them.
const QUIET_TICKS: u32 = 50;

/// A term of leadership; over when there is a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term(u64);

/// The workers of one server.
#[derive(Debug, Default)]
pub(crate) struct Roles {
    term: AtomicU64,
    /// Odd while the leader runs a servant, or sends its answer; of the leader's alone.
    beat: AtomicU64,
    leader_sleeps: AtomicBool,
    watcher_sleeps: AtomicBool,
    workers: Mutex<Workers>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Workers {
    /// Nobody leads.
    vacant: bool,
    /// Workers that wait to lead; the first of them watches.
    waiting: usize,
    watched: bool,
    all: usize,
    stop: bool,
}

/// What a worker that waited is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Lead, and if so told, start another worker before.
    Lead { term: Term, needs_watcher: bool },
    /// There are enough others, or the server stops.
    End,
}

impl Roles {
    /// Nobody leads yet; one worker is about to be started.
    pub(crate) fn new() -> Self {
        let roles = Self::default();
        *lock(&roles.workers) = Workers { vacant: true, all: 1, ..Workers::default() };
        roles
    }

    /// Whether this term lasts.
    #[inline(always)]
    pub(crate) fn lasts(&self, term: Term) -> bool {
        self.term.load(Ordering::Acquire) == term.0
    }

    /// The leader begins to run a servant, or has ended. Says whether it still leads.
    #[inline(always)]
    pub(crate) fn beat(&self, term: Term) -> bool {
        let lasts = self.lasts(term);
        if lasts {
            self.count_beat();
        }
        lasts
    }

    /// A leader that loses the lead at this moment leaves the next one's beat odd, and it may lose the lead in turn.
    #[inline(always)]
    fn count_beat(&self) {
        self.beat.store(self.beat.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// The leader is about to sleep in the kernel.
    pub(crate) fn sleep(&self) {
        self.leader_sleeps.store(true, Ordering::Relaxed);
    }

    /// The leader is awake again.
    pub(crate) fn wake(&self) {
        self.leader_sleeps.store(false, Ordering::SeqCst);
        if self.watcher_sleeps.load(Ordering::SeqCst) {
            drop(lock(&self.workers));
            self.changed.notify_all();
        }
    }

    /// Ends a term from within it, so that another worker leads. True if one must be started for that; it counts already.
    pub(crate) fn give_up(&self, term: Term, most: usize) -> bool {
        let mut workers = lock(&self.workers);
        if !self.lasts(term) || workers.stop {
            return false;
        }
        self.term.store(term.0 + 1, Ordering::Release);
        workers.vacant = true;
        self.changed.notify_all();
        let start = workers.waiting == 0 && workers.all < most;
        workers.all += usize::from(start);
        start
    }

    /// Waits for a part to play. At most `spare` workers wait.
    pub(crate) fn wait(&self, spare: usize, most: usize) -> Part {
        let mut workers = lock(&self.workers);
        if workers.waiting >= spare && !workers.vacant {
            workers.all -= 1;
            self.changed.notify_all();
            return Part::End;
        }
        workers.waiting += 1;
        let (mut seen, mut quiet) = (0, 0);
        loop {
            if workers.stop {
                workers.waiting -= 1;
                workers.all -= 1;
                self.changed.notify_all();
                return Part::End;
            }
            if workers.vacant || self.is_stuck(&mut seen, &mut quiet) {
                return self.lead(workers, most);
            }
            workers = self.pause(workers, quiet);
        }
    }

    fn lead(&self, mut workers: MutexGuard<'_, Workers>, most: usize) -> Part {
        workers.vacant = false;
        workers.waiting -= 1;
        // This was the one that watched, perhaps: the others sleep until they are told.
        self.changed.notify_all();
        let needs_watcher = workers.waiting == 0 && workers.all < most;
        workers.all += usize::from(needs_watcher);
        let term = self.term.load(Ordering::Relaxed) + 1;
        // Whoever led before may be in a servant still, and end it.
        self.beat.store(self.beat.load(Ordering::Relaxed).wrapping_add(2) & !1, Ordering::Relaxed);
        self.leader_sleeps.store(false, Ordering::Relaxed);
        self.term.store(term, Ordering::Release);
        Part::Lead { term: Term(term), needs_watcher }
    }

    /// Whether the leader is in the same servant as a tick ago. Counts the ticks for which it has slept.
    fn is_stuck(&self, seen: &mut u64, quiet: &mut u32) -> bool {
        let beat = self.beat.load(Ordering::Relaxed);
        let stuck = beat % 2 == 1 && beat == *seen;
        *seen = beat;
        *quiet = if self.leader_sleeps.load(Ordering::Relaxed) { *quiet + 1 } else { 0 };
        stuck
    }

    fn pause<'w>(&self, mut workers: MutexGuard<'w, Workers>, quiet: u32) -> MutexGuard<'w, Workers> {
        let poisoned = std::sync::PoisonError::into_inner;
        if workers.watched {
            return self.changed.wait(workers).unwrap_or_else(poisoned);
        }
        workers.watched = true;
        if quiet < QUIET_TICKS {
            workers = self.changed.wait_timeout(workers, TICK).unwrap_or_else(|e| e.into_inner()).0;
        } else {
            self.watcher_sleeps.store(true, Ordering::SeqCst);
            // The leader that wakes now sees this, or is seen here.
            if self.leader_sleeps.load(Ordering::SeqCst) {
                workers = self.changed.wait(workers).unwrap_or_else(poisoned);
            }
            self.watcher_sleeps.store(false, Ordering::SeqCst);
        }
        workers.watched = false;
        workers
    }

    /// A worker that was to be started could not be.
    pub(crate) fn not_started(&self) {
        lock(&self.workers).all -= 1;
    }

    /// Tells all workers to end. The leader must be woken besides.
    pub(crate) fn stop(&self) {
        let mut workers = lock(&self.workers);
        workers.stop = true;
        self.term.fetch_add(1, Ordering::Release);
        self.changed.notify_all();
    }

    /// Waits until all have ended, for at most so long; false if some have not.
    pub(crate) fn wait_for_end(&self, grace: Duration) -> bool {
        let workers = lock(&self.workers);
        let ended = self.changed.wait_timeout_while(workers, grace, |workers| workers.all > 0);
        ended.unwrap_or_else(|e| e.into_inner()).0.all == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;

    fn leader(roles: &Roles) -> Term {
        match roles.wait(2, 4) {
            Part::Lead { term, .. } => term,
            Part::End => panic!("nobody else is there"),
        }
    }

    #[test]
    fn a_servant_that_takes_long_loses_the_lead_and_one_that_waits_gives_it_up() {
        let roles = Arc::new(Roles::new());
        let term = leader(&roles);
        assert!(roles.lasts(term));
        let (tell, told) = channel();
        let other = Arc::clone(&roles);
        let thread = thread::spawn(move || {
            let stolen = leader(&other);
            tell.send(stolen).expect("somebody listens");
            let next = leader(&other);
            tell.send(next).expect("somebody listens");
        });
        // The one that the leader was told to start. Quick servants lose nothing.
        for _ in 0..40 {
            assert!(roles.beat(term) && roles.beat(term));
            thread::sleep(Duration::from_millis(1));
        }
        assert!(roles.lasts(term));
        assert!(roles.beat(term));
        let stolen = told.recv().expect("the other leads");
        assert!(!roles.lasts(term) && roles.lasts(stolen));
        assert!(!roles.beat(term));
        assert!(!roles.give_up(term, 4), "it is over already");
        while lock(&roles.workers).waiting == 0 {
            thread::yield_now();
        }
        assert!(!roles.give_up(stolen, 4), "somebody waits");
        let next = told.recv().expect("the other leads again");
        assert!(roles.lasts(next) && !roles.lasts(stolen));
        thread.join().expect("it ends");
    }

    #[test]
    fn one_of_those_that_wait_behind_a_watcher_watches_when_that_one_leads() {
        let roles = Arc::new(Roles::new());
        let first = leader(&roles);
        let (tell, told) = channel();
        let another = || {
            let (other, tell) = (Arc::clone(&roles), tell.clone());
            thread::spawn(move || tell.send(leader(&other)).expect("somebody listens"))
        };
        let waiting = |count| {
            while lock(&roles.workers).waiting < count {
                thread::yield_now()
            }
        };
        let others = [1, 2].map(|count| {
            let other = another();
            waiting(count);
            other
        });
        let taken = || told.recv_timeout(Duration::from_secs(5)).expect("nobody watches");
        assert!(roles.beat(first));
        let second = taken();
        assert!(roles.beat(second));
        assert!(roles.lasts(taken()));
        others.into_iter().for_each(|other| other.join().expect("it ends"));
    }

    #[test]
    fn all_end_when_told() {
        let roles = Arc::new(Roles::new());
        let _term = leader(&roles);
        let other = Arc::clone(&roles);
        let thread = thread::spawn(move || other.wait(2, 4));
        thread::sleep(Duration::from_millis(30));
        roles.stop();
        assert_eq!(thread.join().expect("it ends"), Part::End);
        assert_eq!(roles.wait(2, 4), Part::End);
        assert!(roles.wait_for_end(Duration::from_secs(1)));
    }
}
