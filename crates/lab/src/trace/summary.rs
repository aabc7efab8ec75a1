//! What a lookup cost on a capture.

use throughline_demux::Strategy;

use super::by_size::BySize;
use super::tally::Tally;
use super::walks::Walked;

/// What a lookup cost on a capture.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Which one.
    pub strategy: Strategy,
    /// Entries examined for each packet.
    pub examined: Tally,
    /// Packets that a one-entry cache of the lookup knew.
    pub cache_hits: u64,
    /// Time for a packet, with putting in new flows; none if there were no packets. If the lookup was given up, that of
    /// all packets, as far as it can be told from those before.
    pub nanoseconds_each: Option<f64>,
    /// Memory, at its peak.
    pub bytes: usize,
    /// Whether it was run to the end; walking lists of many flows takes too long, and so do tables whose keys collide.
    pub complete: bool,
    /// Whether the time is that of the first packets, looked up again and again until caches were warm.
    pub replayed: bool,
    /// Entries and time by the number of flows.
    pub by_size: BySize,
}

impl Summary {
    /// What must be so for the lookup to be possible, besides what is in every packet.
    pub const fn condition(&self) -> Option<&'static str> {
        match self.strategy {
            Strategy::PerfectHash => Some("all flows are known beforehand"),
            Strategy::SourceHash => Some("senders label their packets"),
            Strategy::Direct => Some("packets carry an index that was given out to them"),
            _ => None,
        }
    }

    /// Entries were counted without walking: those counts hold for all packets, and time is in proportion to them.
    pub(super) fn counted(&mut self, walked: &Walked) {
        debug_assert!(!self.complete || self.examined == walked.examined, "{}", self.strategy);
        if !self.complete && self.examined.sum() > 0 {
            let proportion = walked.examined.mean() / self.examined.mean();
            self.nanoseconds_each = self.nanoseconds_each.map(|time| time * proportion);
        }
        self.examined = walked.examined.clone();
        self.by_size.take_entries(&walked.by_size);
        self.cache_hits = walked.cache_hits;
    }

    /// Adds what the same lookup cost in another table.
    pub(super) fn merge(&mut self, other: &Self) {
        let time = |one: &Self| one.nanoseconds_each.map_or(0.0, |time| time * one.examined.total() as f64);
        let (times, packets) = (time(self) + time(other), self.examined.total() + other.examined.total());
        self.nanoseconds_each = (packets > 0).then(|| times / packets as f64);
        self.examined.merge(&other.examined);
        self.by_size.merge(&other.by_size);
        self.cache_hits += other.cache_hits;
        self.bytes += other.bytes;
        self.complete &= other.complete;
        self.replayed |= other.replayed;
    }
}
