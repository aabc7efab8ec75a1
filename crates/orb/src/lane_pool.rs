//! The queues of a set of lanes, and their threads.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use throughline_giop::MessageHeader;

use crate::lanes::{LaneConfig, LaneCounts};
use crate::priority::Priority;
use crate::transport::reactor::lock;

/// Buffers larger than this are not kept for the next request or answer, in octets.
const KEEP: usize = 64 * 1024;
/// So many buffers are kept for requests to come, in each lane.
const SPARE: usize = 64;

/// Where a request came from.
pub(crate) trait Origin: Send + Sync {
    /// Runs the servant and sends its answer, which is marshaled in `out`.
    fn carry_out(&self, header: Option<&MessageHeader>, message: &[u8], out: &mut Vec<u8>);

    /// The request is over, whether it was carried out or not.
    fn is_over(&self);

    /// Whether requests may have to wait for their client to read what it was sent.
    fn waits(&self) -> bool {
        false
    }

    /// Keeps a request that has to wait so; yields the others, which are to be carried out.
    fn keep(&self, _lane: &Arc<Lane>, job: Job) -> Option<Job> {
        Some(job)
    }
}

/// A request that waits in a lane.
pub(crate) struct Job {
    origin: Arc<dyn Origin>,
    /// Of GIOP.
    header: Option<MessageHeader>,
    message: Vec<u8>,
    /// Its number among those of its client that had to [wait](Origin::keep), otherwise 0.
    pub(crate) turn: u64,
}

impl Drop for Job {
    fn drop(&mut self) {
        self.origin.is_over();
    }
}

pub(crate) struct Lane {
    config: LaneConfig,
    queue: Mutex<Queue>,
    filled: Condvar,
    refused: AtomicU64,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Places given out whose jobs are here or on their way, and what they have of octets.
    taken: usize,
    octets: usize,
    served: u64,
    spare: Vec<Vec<u8>>,
    closed: bool,
}

/// A set of lanes, the lowest first; there is one at least.
pub(crate) struct Pool {
    lanes: Box<[Arc<Lane>]>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Pool {
    /// Starts the threads of lanes that are in order.
    pub(crate) fn start(lanes: Vec<LaneConfig>) -> io::Result<Arc<Self>> {
        let lane = |config| {
            let (queue, filled, refused) = Default::default();
            Arc::new(Lane { config, queue, filled, refused })
        };
        let pool = Self { lanes: lanes.into_iter().map(lane).collect(), threads: Mutex::default() };
        let started = pool.lanes.iter().try_for_each(|lane| {
            (0..lane.config.threads).try_for_each(|_| {
                let thread = start_thread(Arc::clone(lane))?;
                lock(&pool.threads).push(thread);
                Ok(())
            })
        });
        started.inspect_err(|_| pool.stop(Duration::ZERO)).map(|()| Arc::new(pool))
    }

    pub(crate) fn config(&self, lane: usize) -> &LaneConfig {
        &self.lanes[lane].config
    }

    fn priorities(&self) -> impl Iterator<Item = Priority> {
        self.lanes.iter().map(|lane| lane.config.priority)
    }

    /// The lane for requests of this priority.
    pub(crate) fn lane_of(&self, priority: Priority) -> usize {
        choose(self.priorities(), |lane| lane <= priority)
    }

    /// As [`lane_of`](Self::lane_of) for a native request, whose priority is known by its code: so a request reaches the lane of
    /// the very priority it was given. Never above the lane of `limit`.
    pub(crate) fn lane_of_code(&self, code: u8, limit: Priority) -> usize {
        let lane = choose(self.priorities(), |lane| lane.code() <= code);
        lane.min(self.lane_of(limit))
    }

    /// Has a thread of the lane carry a request out. False if the lane is full, which is counted; then `origin` is not asked.
    pub(crate) fn submit(
        &self,
        lane: usize,
        (header, message): (Option<MessageHeader>, &[u8]),
        origin: impl FnOnce() -> Arc<dyn Origin>,
    ) -> bool {
        let lane = &self.lanes[lane];
        let Some(mut copy) = lane.reserve(message.len()) else {
            lane.refused.fetch_add(1, Ordering::Relaxed);
            return false;
        };
        copy.extend_from_slice(message);
        lane.push(Job { origin: origin(), header, message: copy, turn: 0 });
        true
    }

    pub(crate) fn counts(&self) -> Vec<LaneCounts> {
        let counts = |lane: &Arc<Lane>| {
            let queue = lock(&lane.queue);
            let refused = lane.refused.load(Ordering::Relaxed);
            LaneCounts { priority: lane.config.priority, waiting: queue.taken, served: queue.served, refused }
        };
        self.lanes.iter().map(counts).collect()
    }

    /// Ends the threads, and waits for those that are not the calling one, for as long as `patience`. Requests that wait are
    /// dropped.
    pub(crate) fn stop(&self, patience: Duration) {
        for lane in &self.lanes {
            let mut queue = lock(&lane.queue);
            queue.closed = true;
            let left = std::mem::take(&mut queue.jobs);
            (queue.taken, queue.octets) = (0, 0);
            drop(queue);
            lane.filled.notify_all();
            drop(left);
        }
        let started = Instant::now();
        let own = std::thread::current().id();
        let threads = std::mem::take(&mut *lock(&self.threads));
        for thread in threads.into_iter().filter(|thread| thread.thread().id() != own) {
            while !thread.is_finished() && started.elapsed() < patience {
                std::thread::sleep(Duration::from_millis(1));
            }
            if thread.is_finished() {
                let _ = thread.join();
            } else if !patience.is_zero() {
                tracing::warn!(thread = ?thread.thread().name(), "a servant still runs: its thread is left to itself");
            }
        }
    }
}

/// The last lane that is `low` enough, otherwise the first; their priorities ascend.
fn choose(lanes: impl Iterator<Item = Priority>, low: impl Fn(Priority) -> bool) -> usize {
    lanes.take_while(|lane| low(*lane)).count().saturating_sub(1)
}

impl Lane {
    /// Counts a request of so many octets in, if there is room for it: a buffer for it.
    fn reserve(&self, octets: usize) -> Option<Vec<u8>> {
        let LaneConfig { queue: most, queue_octets, .. } = self.config;
        let mut queue = lock(&self.queue);
        let has_room =
            queue.taken < most && (queue.taken == 0 || octets <= queue_octets.saturating_sub(queue.octets));
        if queue.closed || !has_room {
            return None;
        }
        queue.taken += 1;
        queue.octets += octets;
        Some(queue.spare.pop().unwrap_or_default())
    }

    /// Puts in what was counted in.
    fn push(&self, job: Job) {
        let mut queue = lock(&self.queue);
        if queue.closed {
            // It tells its origin, and not with the lock held.
            drop(queue);
            return drop(job);
        }
        queue.jobs.push_back(job);
        drop(queue);
        self.filled.notify_one();
    }

    /// Puts a request in again that its client had to [wait](Origin::keep) for, in front of all that came later, and whether there is
    /// room or not: its memory is taken already. Yields it if the lane has ended.
    pub(crate) fn put_back(&self, job: Job) -> Option<Job> {
        let mut queue = lock(&self.queue);
        if queue.closed {
            return Some(job);
        }
        queue.taken += 1;
        queue.octets += job.message.len();
        let earlier = queue.jobs.iter().take_while(|it| (1..job.turn).contains(&it.turn)).count();
        queue.jobs.insert(earlier, job);
        drop(queue);
        self.filled.notify_one();
        None
    }

    /// Waits for a request; none when the lane has ended.
    fn next(&self, mut spare: Vec<u8>) -> Option<Job> {
        let mut queue = lock(&self.queue);
        if spare.capacity() <= KEEP && queue.spare.len() < SPARE {
            spare.clear();
            queue.spare.push(spare);
        }
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                queue.taken -= 1;
                queue.octets = queue.octets.saturating_sub(job.message.len());
                queue.served += 1;
                return Some(job);
            }
            if queue.closed {
                return None;
            }
            queue = self.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The request, if it is to be carried out now.
    #[inline]
    fn unless_it_waits(self: &Arc<Self>, job: Job) -> Option<Job> {
        if job.turn == 0 && !job.origin.waits() {
            return Some(job);
        }
        let origin = Arc::clone(&job.origin);
        let job = origin.keep(self, job);
        if job.is_none() {
            // It will be taken again.
            lock(&self.queue).served -= 1;
        }
        job
    }

    fn work(self: &Arc<Self>) {
        let (mut out, mut spare) = (Vec::new(), Vec::new());
        while let Some(job) = self.next(std::mem::take(&mut spare)) {
            let Some(mut job) = self.unless_it_waits(job) else { continue };
            out.clear();
            let run = || job.origin.carry_out(job.header.as_ref(), &job.message, &mut out);
            // Servants' panics end in their callers' exceptions; this is for what they leave to be dropped.
            if catch_unwind(AssertUnwindSafe(run)).is_err() {
                tracing::error!("a thread of a lane panicked");
            }
            out.shrink_to(KEEP);
            spare = std::mem::take(&mut job.message);
        }
    }
}

thread_local! {
    static IN_LANE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is one of a lane.
pub(crate) fn in_lane() -> bool {
    IN_LANE.get()
}

fn start_thread(lane: Arc<Lane>) -> io::Result<JoinHandle<()>> {
    let name = format!("throughline-p{}", lane.config.priority);
    std::thread::Builder::new().name(name).spawn(move || {
        IN_LANE.set(true);
        if let Err(error) = give_way(lane.config.nice.into()) {
            tracing::warn!(%error, "a lane's threads give way no more than others");
        }
        lane.work();
    })
}

/// Has the calling thread, on Linux it alone, give way so much. Less than it does already, since its program was started so, would
/// need a privilege, and nobody has asked for it.
fn give_way(nice: i32) -> rustix::io::Result<()> {
    if nice > 0 && rustix::process::getpriority_process(None)? < nice {
        rustix::process::setpriority_process(None, nice)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl Origin for Nobody {
        fn carry_out(&self, _: Option<&MessageHeader>, _: &[u8], _: &mut Vec<u8>) {}
        fn is_over(&self) {}
    }

    fn pool(lanes: &[i16]) -> Pool {
        let lane = |priority| {
            let config = LaneConfig::new(Priority::new(priority).expect("one"), 1);
            let (queue, filled, refused) = Default::default();
            Arc::new(Lane { config, queue, filled, refused })
        };
        // Without threads.
        Pool { lanes: lanes.iter().map(|p| lane(*p)).collect(), threads: Mutex::default() }
    }

    #[test]
    fn a_native_request_reaches_the_lane_of_its_priority_and_none_above_the_limit() {
        let prio = |p| Priority::new(p).expect("one");
        for lanes in
            [&[0][..], &[5], &[0, 1, 31, 32, 33], &[0, 1000, 1008, 20_000, 32_767], &[7, 100, 101, 102]]
        {
            let pool = pool(lanes);
            for asked in 0..=i16::MAX {
                let (asked, by_code) =
                    (prio(asked), pool.lane_of_code(prio(asked).code(), Priority::HIGHEST));
                // What cannot be told from a higher lane's priority may reach that one.
                assert!(by_code >= pool.lane_of(asked));
                let lane = pool.config(by_code).priority;
                assert!(by_code == 0 || lane.code() <= asked.code(), "{asked} in the lane of {lane}");
                assert!(asked.get() > 31 || by_code == pool.lane_of(asked));
                for limit in [0, 6, 101, 1004] {
                    let limited = pool.lane_of_code(asked.code(), prio(limit));
                    assert_eq!(limited, by_code.min(pool.lane_of(prio(limit))), "{asked} up to {limit}");
                }
            }
        }
    }

    #[test]
    fn a_queue_is_bounded_in_requests_and_octets() {
        let mut pool = pool(&[0]);
        let lane = Arc::get_mut(&mut pool.lanes[0]).expect("the only one");
        (lane.config.queue, lane.config.queue_octets) = (3, 100);
        let submit = |octets| pool.submit(0, (None, &vec![0; octets]), || Arc::new(Nobody));
        let take = || pool.lanes[0].next(Vec::new()).expect("a request").message.len();
        // One alone may be as long as it likes.
        assert!(submit(1000) && !submit(1));
        assert_eq!(take(), 1000);
        assert!(submit(60) && !submit(41) && submit(40) && submit(0) && !submit(0));
        assert_eq!([take(), take(), take()], [60, 40, 0]);
        let [counts] = pool.counts()[..] else { panic!("one lane") };
        assert_eq!((counts.waiting, counts.served, counts.refused), (0, 4, 3));
        assert!(submit(7) && submit(8));
        pool.stop(Duration::ZERO);
        assert!(!submit(0) && pool.lanes[0].next(Vec::new()).is_none());
        // What waited was dropped.
        assert_eq!(pool.counts()[0].waiting, 0);
    }
}
