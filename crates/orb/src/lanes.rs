//! Priority lanes: threads set aside for urgent calls, so that a flood of ordinary ones cannot starve them.
//!
//! A set of lanes is a thread pool with lanes as real-time CORBA has it (RTCORBA 1.2, section 4.12): each lane has a priority,
//! threads of its own, and a queue of its own with a bound. A request of an adapter that [serves in](crate::Adapter::serve_in) the
//! set goes to the lane of the highest priority that is not above its own, and if all are above it, to the lowest. Threads
//! are started with the set; no lane borrows those of another.
//!
//! Who receives does not run servants then: a request is put into its lane's queue, and the next one is received at once. A
//! queue that is full refuses: the caller gets `TRANSIENT` with [`minor::LANE_FULL`](crate::exception::minor::LANE_FULL), a
//! oneway is dropped. So requests of one connection overtake one another, oneways too where a lane has several threads.
//!
//! ```
//! use throughline::{LaneConfig, Orb, Priority};
//!
//! let orb = Orb::listening_at(&["127.0.0.1:0".parse()?])?;
//! let urgent = Priority::new(10_000).expect("one of 0 to 32767");
//! let lanes = orb.create_lanes(&[
//!     // Four threads for whatever comes, which give way to others when the processors are busy.
//!     LaneConfig { nice: 10, queue: 256, ..LaneConfig::new(Priority::LOWEST, 4) },
//!     // And two for calls of priority 10,000 and more.
//!     LaneConfig::new(urgent, 2),
//! ])?;
//! orb.root().serve_in(&lanes)?;
//! assert_eq!(lanes.lane_for(Priority::HIGHEST), urgent);
//! # orb.shutdown(std::time::Duration::ZERO);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Lanes cost a switch of threads for each call. Calls within the process are carried out by the caller's thread and take no
//! lane. Requests of adapters without lanes are served as if there were none anywhere.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::lane_pool::Pool;
use crate::priority::Priority;

/// The most threads that a lane may have.
const MAX_THREADS: usize = 1024;

/// One lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneConfig {
    /// The lane is for requests of this priority and above.
    pub priority: Priority,
    /// So many are carried out at a time: 1 to 1024.
    pub threads: usize,
    /// So many may wait, at least 1.
    pub queue: usize,
    /// So many octets may wait in all. A request finds room in an empty queue, whatever its length.
    pub queue_octets: usize,
    /// How much the lane's threads give way to others when the processors are busy, as `nice` says: 0 to 19. More needs no
    /// privilege, and less could not be had without one: where the thread that makes the lanes gives way more already, so do theirs.
    pub nice: u8,
}

impl LaneConfig {
    /// A lane with so many threads, whose queue takes 1024 requests of 16 MiB in all, and whose threads give way to nobody.
    pub const fn new(priority: Priority, threads: usize) -> Self {
        Self { priority, threads, queue: 1024, queue_octets: 16 << 20, nice: 0 }
    }
}

/// Why there are no such lanes.
#[derive(Debug, thiserror::Error)]
pub enum LanesError {
    /// A lane must have a priority that no other has, threads, and a queue.
    #[error("{0}")]
    Config(&'static str),
    /// The system gives no more threads.
    #[error("no thread for a lane: {0}")]
    Thread(#[from] io::Error),
    /// The ORB was shut down.
    #[error("the ORB was shut down")]
    ShutDown,
}

/// What has gone through a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneCounts {
    /// Of the lane.
    pub priority: Priority,
    /// Requests that wait now.
    pub waiting: usize,
    /// Requests that a thread has taken.
    pub served: u64,
    /// Requests that found the queue full.
    pub refused: u64,
}

/// A set of lanes, made by [`Orb::create_lanes`](crate::Orb::create_lanes). Cheap to clone; it ends with its ORB.
#[derive(Clone)]
pub struct Lanes(pub(crate) Arc<Pool>);

impl Lanes {
    /// The priority of the lane that takes requests of this priority.
    pub fn lane_for(&self, priority: Priority) -> Priority {
        self.0.config(self.0.lane_of(priority)).priority
    }

    /// What has gone through each lane, the lowest first.
    pub fn counts(&self) -> Vec<LaneCounts> {
        self.0.counts()
    }
}

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.counts()).finish()
    }
}

/// The lanes in the order of their priorities, if they can be had.
pub(crate) fn checked(lanes: &[LaneConfig]) -> Result<Vec<LaneConfig>, LanesError> {
    let mut lanes = lanes.to_vec();
    lanes.sort_by_key(|lane| lane.priority);
    let wrong = match &lanes[..] {
        [] => Some("there must be a lane at least"),
        all if all.windows(2).any(|two| two[0].priority == two[1].priority) => {
            Some("two lanes have the same priority")
        }
        all if all.iter().any(|lane| !(1..=MAX_THREADS).contains(&lane.threads)) => {
            Some("a lane has 1 to 1024 threads")
        }
        all if all.iter().any(|lane| lane.queue == 0) => Some("a lane's queue takes a request at least"),
        all if all.iter().any(|lane| lane.nice > 19) => Some("the most that a thread gives way is 19"),
        _ => None,
    };
    wrong.map_or(Ok(lanes), |why| Err(LanesError::Config(why)))
}
