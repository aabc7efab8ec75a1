//! Time that a thread has run.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds that this thread has run: others at work on the machine cost nothing, besides what they take of caches.
pub(super) fn processor_time() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
