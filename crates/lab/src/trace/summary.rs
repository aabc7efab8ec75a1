//! What a lookup cost on a capture.

use super::by_size::BySize;
use super::tally::Tally;
use super::which::Which;

/// What a lookup cost on a capture.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Which one.
    pub which: Which,
    /// Entries examined for each packet.
    pub examined: Tally,
    /// Packets that a one-entry cache of the lookup knew.
    pub cache_hits: u64,
    /// Time for `timed` packets, with putting in new flows. If the lookup was given up, that of all packets, as far as it
    /// can be told from those before.
    pub nanoseconds: f64,
    /// Packets timed.
    pub timed: u64,
    /// Memory, at its peak.
    pub bytes: usize,
    /// Whether it was run to the end; walking lists of many flows takes too long.
    pub complete: bool,
    /// Entries and time by the number of flows.
    pub by_size: BySize,
}

impl Summary {
    /// Time for a packet; none if there were no packets.
    pub fn nanoseconds_each(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.nanoseconds / self.timed as f64)
    }

    /// Entries were counted without walking: those counts hold for all packets, and time is in proportion to them.
    pub(super) fn counted(&mut self, examined: &Tally, cache_hits: u64, by_size: &BySize) {
        debug_assert!(!self.complete || self.examined == *examined, "{}", self.which);
        if !self.complete && self.examined.sum() > 0 {
            self.nanoseconds *= examined.sum() as f64 / self.examined.sum() as f64;
            self.timed = examined.total();
        }
        self.examined = examined.clone();
        self.by_size = by_size.clone();
        self.cache_hits = cache_hits;
    }

    /// Adds what the same lookup cost in another table.
    pub(super) fn merge(&mut self, other: &Self) {
        self.examined.merge(&other.examined);
        self.by_size.merge(&other.by_size);
        self.cache_hits += other.cache_hits;
        self.nanoseconds += other.nanoseconds;
        self.timed += other.timed;
        self.bytes += other.bytes;
        self.complete &= other.complete;
    }
}
