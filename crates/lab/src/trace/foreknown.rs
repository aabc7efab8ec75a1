//! Lookups whose keys must be known beforehand, tried on samples of a capture.

use throughline_demux::{Examined, Key, LocatorConfig, Slot};

use super::by_size::{BySize, Cost};
use super::lookups::Operation;
use super::measured::processor_time;
use super::summary::Summary;
use super::tally::Tally;
use super::which::Which;

/// As if the flows had been known: now and then all that are alive are frozen, and a batch of packets is looked up.
pub(super) struct Foreknown {
    which: Which,
    config: LocatorConfig,
    examined: Tally,
    nanoseconds: u64,
    by_size: BySize,
    bytes: usize,
    batches: u64,
    counts: Vec<Examined>,
}

impl Foreknown {
    pub(super) fn new(which: Which, config: LocatorConfig) -> Self {
        Self {
            which,
            config,
            examined: Tally::default(),
            nanoseconds: 0,
            by_size: BySize::default(),
            bytes: 0,
            batches: 0,
            counts: Vec::new(),
        }
    }

    /// Looks up the batches numbered 1, 4, 16 and so on, whose flows are all alive.
    pub(super) fn run<K: Key + 'static>(
        &mut self,
        operations: &[Operation<K>],
        live: impl Iterator<Item = (K, u32)>,
    ) {
        self.batches += u64::from(!operations.is_empty());
        if operations.is_empty() || !self.batches.is_power_of_two() || self.batches.ilog2() % 2 == 1 {
            return;
        }
        let Ok(mut locator) = self.which.locator::<K>(self.config) else {
            return;
        };
        for (key, slot) in live {
            if locator.insert_new(key, Slot(slot)).is_err() {
                return;
            }
        }
        if locator.freeze().is_err() {
            return;
        }
        let known: Vec<_> = operations.iter().map(|op| Operation { new: false, ..op.clone() }).collect();
        self.counts.clear();
        let begin = processor_time();
        locator.drive(&known, &mut self.counts);
        let nanoseconds = processor_time().saturating_sub(begin);
        self.nanoseconds += nanoseconds;
        self.counts.iter().for_each(|examined| self.examined.add(examined.entries));
        let entries = self.counts.iter().map(|examined| examined.entries).sum();
        let packets = self.counts.len() as u64;
        self.by_size.add(locator.len(), Cost { packets, entries, nanoseconds });
        self.bytes = self.bytes.max(locator.bytes());
    }

    pub(super) fn summary(&self) -> Summary {
        Summary {
            which: self.which,
            examined: self.examined.clone(),
            cache_hits: 0,
            nanoseconds: self.nanoseconds as f64,
            timed: self.examined.total(),
            bytes: self.bytes,
            complete: true,
            by_size: self.by_size.clone(),
        }
    }
}
