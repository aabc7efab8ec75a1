//! Requests that lanes do not carry out yet, since their client does not read what it is sent.
//!
//! Who receives stops when answers wait, but by then a lane may have hundreds of requests of that client, and their answers may be
//! of any length. So they are carried out one by one, each when those before it have left. They take no place in their lane
//! meanwhile, where others would miss it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::lane_pool::{Job, Lane};
use crate::transport::reactor::lock;

/// Of one connection.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    kept: Mutex<Kept>,
    /// Requests that are kept, and those let go that no thread has begun. While there are any, later ones wait as well: those of a
    /// lane stay in order. Written with `kept` locked.
    behind: AtomicUsize,
}

#[derive(Default)]
struct Kept {
    /// By lane, in the order in which they came.
    lanes: Vec<(Arc<Lane>, VecDeque<Job>)>,
    /// How many were ever kept, which numbers them.
    turns: u64,
    ended: bool,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("turns", &self.turns).finish_non_exhaustive()
    }
}

impl Backlog {
    /// Whether there are such requests.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.behind.load(Ordering::Acquire) == 0
    }

    /// Keeps a request that a lane's thread has taken, if it has to wait; otherwise it is to be carried out. `is_deaf` says that
    /// the client does not read what it is sent.
    #[cold]
    pub(crate) fn keep(&self, lane: &Arc<Lane>, mut job: Job, is_deaf: bool) -> Option<Job> {
        let mut kept = lock(&self.kept);
        let at = kept.lanes.iter().position(|(other, _)| Arc::ptr_eq(other, lane));
        let is_first = at.and_then(|at| kept.lanes[at].1.front()).is_none_or(|first| job.turn < first.turn);
        let may_begin = match job.turn {
            0 => self.is_empty(),
            _ => is_first,
        };
        if kept.ended || may_begin && !is_deaf {
            if job.turn > 0 {
                self.behind.fetch_sub(1, Ordering::Release);
            }
            return Some(job);
        }
        if job.turn == 0 {
            kept.turns += 1;
            job.turn = kept.turns;
            self.behind.fetch_add(1, Ordering::Release);
        }
        let at = at.unwrap_or_else(|| {
            kept.lanes.push((Arc::clone(lane), VecDeque::new()));
            kept.lanes.len() - 1
        });
        let queue = &mut kept.lanes[at].1;
        // One that was let go too early returns to its place, which is near the front.
        let place = match queue.back() {
            Some(last) if last.turn > job.turn => queue.iter().take_while(|it| it.turn < job.turn).count(),
            _ => queue.len(),
        };
        queue.insert(place, job);
        None
    }

    /// Lets go one request for each lane: the client has read what it was sent.
    #[cold]
    pub(crate) fn let_go(&self) {
        let mut kept = lock(&self.kept);
        for (lane, queue) in &mut kept.lanes {
            // A lane that has ended carries nothing out: the connection, which ends as well, drops it.
            if let Some(job) = queue.pop_front().and_then(|job| lane.put_back(job)) {
                queue.push_front(job);
            }
        }
        kept.lanes.retain(|(_, queue)| !queue.is_empty());
    }

    /// Nobody will read answers any more: what is kept is dropped.
    #[cold]
    pub(crate) fn end(&self) {
        let mut kept = lock(&self.kept);
        kept.ended = true;
        let lost = std::mem::take(&mut kept.lanes);
        let requests = lost.iter().map(|(_, queue)| queue.len()).sum();
        self.behind.fetch_sub(requests, Ordering::Release);
        drop(kept);
        // They tell their connection that they are over, and not with the lock held.
        drop(lost);
    }
}
