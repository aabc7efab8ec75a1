//! The threads of an ORB and what they wait for.
//!
//! Connections nobody talks on sit in one epoll set and cost no thread. When bytes arrive, one worker adopts
//! the connection and stays with it: while calls keep coming, it receives in place, and a call costs one system
//! call to receive and one to send. When the connection falls silent, or when every thread is busy and others
//! wait, the worker gives it back to the set. There are as many workers as there is work for, up to a limit.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use throughline_demux::{Arena, Handle, Slot};

use crate::transport::connectors::Connectors;
use crate::transport::keeper::Keeper;
use crate::transport::poller::{Event, Interest, Poller, WAKE};

/// A worker without work ends after this long.
const IDLE_WORKER: Duration = Duration::from_secs(10);

/// Something that waits in the epoll set: a listener, a connection.
pub(crate) trait Source: Send + Sync + std::fmt::Debug {
    /// The descriptor is ready; the one-shot registration is disarmed until it is armed again.
    fn ready(self: Arc<Self>, event: Event, worker: &mut Worker);

    /// Called about every second, and every tick while some connection is adopted.
    fn tick(self: Arc<Self>, _reactor: &Arc<Reactor>) {}

    /// The ORB shuts down: begin nothing new, finish what is under way.
    fn drain(&self) {}

    /// Whether nothing is under way any more.
    fn is_quiet(&self) -> bool {
        true
    }

    /// The ORB has shut down: say farewell and close.
    fn close(&self);
}

/// How many threads and connections an ORB may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReactorLimits {
    pub(crate) threads: usize,
    /// How many workers may stay with a silent connection.
    pub(crate) lingering: usize,
    pub(crate) sources: u32,
}

type Job = Box<dyn FnOnce(&mut Worker) + Send>;

/// A thread of the ORB, seen from what it runs.
#[derive(Debug)]
pub(crate) struct Worker {
    /// Never 0.
    pub(crate) id: u64,
    pub(crate) reactor: Arc<Reactor>,
    pub(crate) activity: Arc<Activity>,
    /// Where replies are marshaled; reused from call to call.
    pub(crate) out: Vec<u8>,
    /// Messages handled since it adopted the connection.
    pub(crate) turn: usize,
}

/// What the keeper sees of a worker: whether it has been in one servant for long.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    pub(crate) worker: u64,
    /// Odd while a servant runs; each change adds one. Relaxed: the keeper only compares two readings.
    sequence: AtomicU64,
    /// The connection that the worker has adopted.
    pub(crate) connection: Mutex<Option<Arc<crate::transport::server::ServerConnection>>>,
}

impl Activity {
    /// Marks the start or the end of a call to a servant. One writer: the worker itself.
    #[inline]
    pub(crate) fn advance(&self) {
        self.sequence.store(self.sequence.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// The present count; odd while a servant runs.
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence.load(Ordering::Relaxed)
    }

    /// Whether a servant runs.
    pub(crate) fn in_servant(&self) -> bool {
        self.sequence() % 2 == 1
    }
}

/// The epoll set, its sources and its workers.
#[derive(Debug)]
pub(crate) struct Reactor {
    poller: Poller,
    sources: Arena<Arc<dyn Source>>,
    jobs: Mutex<JobQueue>,
    limits: ReactorLimits,
    threads: AtomicUsize,
    /// Workers waiting in the epoll set, and those about to for the first time.
    idle: AtomicUsize,
    /// Workers that stay with a connection.
    lingering: AtomicUsize,
    next_worker: AtomicU64,
    draining: AtomicBool,
    stopping: AtomicBool,
    pub(crate) activities: Mutex<Vec<Weak<Activity>>>,
    handles: Mutex<Vec<JoinHandle<()>>>,
    pub(crate) keeper: Keeper,
    pub(crate) connectors: Connectors,
}

#[derive(Default)]
struct JobQueue {
    waiting: VecDeque<Job>,
    /// Nobody runs jobs any more: they are dropped.
    closed: bool,
}

impl std::fmt::Debug for JobQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} jobs", self.waiting.len())
    }
}

impl Reactor {
    /// A reactor without threads; they start with the first source or job.
    pub(crate) fn new(limits: ReactorLimits) -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            poller: Poller::new()?,
            sources: crate::random::arena(limits.sources).map_err(io::Error::other)?,
            jobs: Mutex::default(),
            limits,
            threads: AtomicUsize::new(0),
            idle: AtomicUsize::new(0),
            lingering: AtomicUsize::new(0),
            next_worker: AtomicU64::new(1),
            draining: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            activities: Mutex::default(),
            handles: Mutex::default(),
            keeper: Keeper::default(),
            connectors: Connectors::default(),
        }))
    }

    /// Registers a source, disarmed; `arm` it when it is ready to be called.
    ///
    /// # Errors
    /// Those of epoll; `OutOfMemory` when the limit of sources is reached; that of the system when there is no thread to call it,
    /// and none can be had.
    pub(crate) fn register(self: &Arc<Self>, fd: impl AsFd, source: Arc<dyn Source>) -> io::Result<Handle> {
        if self.is_stopping() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let handle = self.sources.insert(0, source).map_err(|_| io::ErrorKind::OutOfMemory)?;
        if let Err(e) = self.poller.add(&fd, token(handle), Interest::default()) {
            self.sources.remove(handle);
            return Err(e);
        }
        if let Err(e) = self.try_to_ensure_worker()
            && self.threads.load(Ordering::Relaxed) == 0
        {
            self.remove(fd, handle);
            return Err(e);
        }
        self.keeper.ensure_running(self);
        Ok(handle)
    }

    pub(crate) fn arm(&self, fd: impl AsFd, handle: Handle, interest: Interest) {
        // Fails only for a descriptor that was removed meanwhile, which needs no arming.
        let _ = self.poller.arm(fd, token(handle), interest);
    }

    pub(crate) fn remove(&self, fd: impl AsFd, handle: Handle) {
        self.poller.remove(fd);
        self.sources.remove(handle);
    }

    /// Runs `job` on a worker; drops it when there will be no workers any more.
    pub(crate) fn spawn(self: &Arc<Self>, job: Job) {
        let mut jobs = lock(&self.jobs);
        if jobs.closed {
            drop(jobs);
            return drop(job);
        }
        jobs.waiting.push_back(job);
        drop(jobs);
        self.poller.wake();
        self.ensure_worker();
    }

    /// The source of an event, if it is still there: another may have its slot by now.
    fn source(&self, event: u64) -> Option<Arc<dyn Source>> {
        let source = self.sources.get_slot(Slot(event as u32))?;
        (token(source.handle()) == event).then(|| Arc::clone(&source))
    }

    /// Every source registered now.
    pub(crate) fn sources(&self) -> Vec<Arc<dyn Source>> {
        let mut all = Vec::new();
        self.collect_sources(&mut all);
        all
    }

    /// Adds every source registered now.
    pub(crate) fn collect_sources(&self, all: &mut Vec<Arc<dyn Source>>) {
        self.sources.visit(|_, _, source| all.push(Arc::clone(source)));
    }

    /// Starts a worker unless one waits for work already, or the limit is reached. If none can be had, whoever handles the next
    /// event tries again.
    pub(crate) fn ensure_worker(self: &Arc<Self>) {
        let _ = self.try_to_ensure_worker();
    }

    fn try_to_ensure_worker(self: &Arc<Self>) -> io::Result<()> {
        if self.idle.load(Ordering::Relaxed) > 0 || self.is_stopping() {
            return Ok(());
        }
        let limit = self.limits.threads;
        let more = |n: usize| (n < limit).then_some(n + 1);
        if self.threads.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            return Ok(());
        }
        // Counted from now on, lest more are started while this one gets going.
        self.idle.fetch_add(1, Ordering::Relaxed);
        let reactor = Arc::clone(self);
        let id = self.next_worker.fetch_add(1, Ordering::Relaxed);
        let started = std::thread::Builder::new()
            .name(format!("throughline-{id}"))
            .spawn(move || Worker::new(id, reactor).run());
        match started {
            Ok(handle) => {
                let mut handles = lock(&self.handles);
                handles.retain(|h| !h.is_finished());
                handles.push(handle);
                Ok(())
            }
            Err(e) => {
                tracing::error!(error = %e, "cannot start a worker thread");
                self.threads.fetch_sub(1, Ordering::Relaxed);
                self.idle.fetch_sub(1, Ordering::Relaxed);
                Err(e)
            }
        }
    }

    /// Whether every thread has its hands full: then nobody may stay with a silent connection.
    #[inline]
    pub(crate) fn is_saturated(&self) -> bool {
        self.idle.load(Ordering::Relaxed) == 0 && self.threads.load(Ordering::Relaxed) >= self.limits.threads
    }

    /// Asks to stay with a connection that may fall silent; every yes is ended by `leave`.
    pub(crate) fn try_linger(&self) -> bool {
        if self.lingering.fetch_add(1, Ordering::Relaxed) < self.limits.lingering {
            return true;
        }
        self.leave();
        false
    }

    /// Ends a stay granted by `try_linger`.
    pub(crate) fn leave(&self) {
        self.lingering.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Whether no request is to be begun any more. Connections look at it with the lock held under which they
    /// take the next message, so that whoever takes that lock later knows that nothing more begins.
    #[inline]
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Lets no further request begin. Yields where some may be under way.
    pub(crate) fn begin_to_drain(&self) -> Vec<Arc<dyn Source>> {
        self.draining.store(true, Ordering::SeqCst);
        let sources = self.sources();
        sources.iter().for_each(|source| source.drain());
        sources
    }

    /// Lets requests under way finish, until `deadline`.
    pub(crate) fn drain(&self, mut sources: Vec<Arc<dyn Source>>, deadline: Option<Instant>) {
        loop {
            sources.retain(|source| !source.is_quiet());
            if sources.is_empty() || deadline.is_some_and(|d| Instant::now() >= d) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Ends every worker and waits for those that are not the calling thread, for as long as `patience`.
    pub(crate) fn stop(&self, patience: Duration) {
        self.stopping.store(true, Ordering::Release);
        for source in self.sources() {
            source.close();
        }
        for _ in 0..self.threads.load(Ordering::Relaxed) + 1 {
            self.poller.wake();
        }
        self.join(self.keeper.stop(), patience);
        // A job that waited may hold the ORB itself, or somebody who waits for it.
        let jobs = {
            let mut jobs = lock(&self.jobs);
            jobs.closed = true;
            std::mem::take(&mut jobs.waiting)
        };
        drop(jobs);
        let mut left = Vec::new();
        self.sources.visit(|handle, _, _| left.push(handle));
        left.into_iter().for_each(|handle| drop(self.sources.remove(handle)));
    }

    fn join(&self, keeper: Option<JoinHandle<()>>, patience: Duration) {
        let me = std::thread::current().id();
        let mut handles = std::mem::take(&mut *lock(&self.handles));
        handles.append(&mut self.connectors.close());
        handles.extend(keeper);
        handles.retain(|h| h.thread().id() != me);
        let started = Instant::now();
        while handles.iter().any(|h| !h.is_finished()) && started.elapsed() < patience {
            std::thread::sleep(Duration::from_millis(1));
        }
        for handle in handles {
            if handle.is_finished() {
                let _ = handle.join();
            } else {
                tracing::warn!(thread = ?handle.thread().name(), "a servant or a waker still runs: its thread is left to itself");
            }
        }
    }
}

impl Worker {
    fn new(id: u64, reactor: Arc<Reactor>) -> Self {
        let activity = Arc::new(Activity { worker: id, ..Activity::default() });
        let mut all = lock(&reactor.activities);
        all.retain(|a| a.strong_count() > 0);
        all.push(Arc::downgrade(&activity));
        drop(all);
        Self { id, reactor, activity, out: Vec::new(), turn: 0 }
    }

    fn run(mut self) {
        let reactor = Arc::clone(&self.reactor);
        // Whoever started this worker has counted it as idle.
        while !reactor.is_stopping() {
            let event = reactor.poller.wait(Some(IDLE_WORKER));
            reactor.idle.fetch_sub(1, Ordering::Relaxed);
            match event {
                Ok(Some(event)) => self.survive(event),
                // Silence: one worker stays to wait for the next event.
                Ok(None) if reactor.idle.load(Ordering::Relaxed) > 0 => break,
                Ok(None) => {}
                Err(e) => {
                    tracing::error!(error = %e, "waiting for events failed");
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
            reactor.idle.fetch_add(1, Ordering::Relaxed);
        }
        reactor.threads.fetch_sub(1, Ordering::Relaxed);
    }

    /// Handles an event, and outlives panics of code that is not ours: of a waker, or of a servant's `drop`.
    fn survive(&mut self, event: Event) {
        if catch_unwind(AssertUnwindSafe(|| self.handle(event))).is_err() {
            tracing::error!("a worker panicked");
            if self.activity.in_servant() {
                self.activity.advance();
            }
        }
    }

    fn handle(&mut self, event: Event) {
        self.reactor.ensure_worker();
        if event.token == WAKE {
            if self.reactor.poller.take_wake() {
                let job = lock(&self.reactor.jobs).waiting.pop_front();
                if let Some(job) = job {
                    job(self);
                }
            }
            return;
        }
        if let Some(source) = self.reactor.source(event.token) {
            source.ready(event, self);
        }
    }
}

/// What a source's events are known by: its slot, and as much of its nonce as there is room for.
fn token(handle: Handle) -> u64 {
    u64::from(handle.nonce as u32) << 32 | u64::from(handle.slot.0)
}

/// Wakes a task. Should its executor panic, whoever wakes goes on: he has others to wake, and to receive for.
pub(crate) fn wake(waker: Waker) {
    if catch_unwind(AssertUnwindSafe(|| waker.wake())).is_err() {
        tracing::error!("a waker panicked");
    }
}

pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    #[cfg(test)]
    crate::transport::client_stress::disturb();
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts its events.
    #[derive(Debug, Default)]
    struct Counts(AtomicUsize);

    impl Source for Counts {
        fn ready(self: Arc<Self>, _event: Event, _worker: &mut Worker) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn close(&self) {}
    }

    #[test]
    fn an_event_of_what_is_gone_is_not_taken_for_one_of_what_has_its_place() {
        let reactor = Reactor::new(ReactorLimits { threads: 0, lingering: 0, sources: 8 }).unwrap();
        let mut worker = Worker::new(1, Arc::clone(&reactor));
        let (first, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
        let (second, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
        let [gone, there] = [(); 2].map(|()| Arc::<Counts>::default());
        let handle = reactor.register(&first, Arc::clone(&gone) as Arc<dyn Source>).unwrap();
        reactor.arm(&first, handle, Interest { read: false, write: true });
        let event = reactor.poller.wait(None).unwrap().unwrap();
        reactor.remove(&first, handle);
        let next = reactor.register(&second, Arc::clone(&there) as Arc<dyn Source>).unwrap();
        assert_eq!(next.slot, handle.slot);
        worker.handle(event);
        assert_eq!((gone.0.load(Ordering::Relaxed), there.0.load(Ordering::Relaxed)), (0, 0));
        reactor.arm(&second, next, Interest { read: false, write: true });
        let event = reactor.poller.wait(None).unwrap().unwrap();
        worker.handle(event);
        assert_eq!((gone.0.load(Ordering::Relaxed), there.0.load(Ordering::Relaxed)), (0, 1));
        reactor.stop(Duration::ZERO);
    }
}
