//! What the lists examine, without walking them.
//!
//! With n flows in a list, the flow at place p is found after p entries; a flow that is not there costs n. The linear
//! list and BSD's have the newest flow first; move-to-front has the one used last first, so p is the stack distance. BSD
//! looks into its cache before.

use super::by_size::{BySize, Cost};
use super::live::Found;
use super::tally::Tally;

/// What the three lists examine.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    pub(super) linear: Tally,
    pub(super) bsd: Tally,
    pub(super) bsd_hits: u64,
    pub(super) move_to_front: Tally,
    /// The same by how many flows there were, in the order of declaration.
    pub(super) by_size: [BySize; 3],
    /// Sums when that was last brought up to date.
    sums: [u128; 3],
    packets: u64,
    /// The slot that BSD's list found last.
    cached: Option<u32>,
}

impl Lists {
    #[inline]
    pub(super) fn add(&mut self, found: &Found) {
        self.linear.add(found.age as u64);
        self.move_to_front.add(found.recency as u64);
        if self.cached == Some(found.slot) && !found.new {
            self.bsd_hits += 1;
            self.bsd.add(1);
            return;
        }
        self.bsd.add((found.age + usize::from(self.cached.is_some())) as u64);
        if !found.new {
            self.cached = Some(found.slot);
        }
    }

    /// The packets since the last time have come to so many flows.
    pub(super) fn mark(&mut self, live: usize) {
        let packets = self.linear.total() - self.packets;
        self.packets += packets;
        let sums = [&self.linear, &self.bsd, &self.move_to_front].map(Tally::sum);
        for ((costs, sum), before) in self.by_size.iter_mut().zip(sums).zip(self.sums) {
            costs.add(live, Cost { packets, entries: (sum - before) as u64, nanoseconds: 0 });
        }
        self.sums = sums;
    }

    /// A flow has left.
    pub(super) fn forget(&mut self, slot: u32) {
        if self.cached == Some(slot) {
            self.cached = None;
        }
    }
}
