//! Workers of a server that wait for clients to take their answers.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// So long they wait where others need them.
const HURRIED: Duration = Duration::from_secs(1);

/// How many do, and how long they may. As many clients as there are workers could keep all of them from everybody else.
#[derive(Debug)]
pub(crate) struct Crowd {
    stall: Duration,
    most: usize,
    now: AtomicUsize,
    /// Threads of lanes, of which there are few, have answers to send as well.
    lanes: AtomicBool,
}

impl Crowd {
    /// Each waits for `stall`, as long as there are no more than `most`.
    pub(crate) fn new(stall: Duration, most: usize) -> Self {
        Self { stall, most, now: AtomicUsize::new(0), lanes: AtomicBool::new(false) }
    }

    pub(crate) fn has_lanes(&self) {
        self.lanes.store(true, Ordering::Relaxed);
    }

    /// How long a client may take no answers now.
    pub(super) fn patience(&self) -> Duration {
        let crowded = self.now.load(Ordering::Relaxed) > self.most;
        if crowded || self.lanes.load(Ordering::Relaxed) { self.stall.min(HURRIED) } else { self.stall }
    }

    /// Waits as one of them.
    #[cold]
    pub(crate) fn wait<T>(&self, wait: impl FnOnce() -> T) -> T {
        struct Out<'c>(&'c Crowd);
        impl Drop for Out<'_> {
            fn drop(&mut self) {
                self.0.now.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.now.fetch_add(1, Ordering::Relaxed);
        let _out = Out(self);
        wait()
    }
}
