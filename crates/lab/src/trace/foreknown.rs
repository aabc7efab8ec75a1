//! Lookups whose keys must be known beforehand, tried on samples of a capture.

use std::collections::HashMap;

use throughline_demux::{Key, LocatorConfig, Slot, Strategy};

use super::by_size::{BySize, Cost, step};
use super::clock::processor_time;
use super::driven::{Driven, Looked, Operation, locator};
use super::lookups::Work;
use super::replay::replay_known;
use super::summary::Summary;
use super::tally::Tally;

/// As if the flows had been known: now and then all that are alive are frozen, and a batch of packets is looked up.
pub(super) struct Foreknown {
    strategy: Strategy,
    config: LocatorConfig,
    examined: Tally,
    by_size: BySize,
    replayed: bool,
    bytes: usize,
    batches: u64,
    looked: Vec<Looked>,
}

impl Foreknown {
    pub(super) fn new(strategy: Strategy, config: LocatorConfig) -> Self {
        Self {
            strategy,
            config,
            examined: Tally::default(),
            by_size: BySize::default(),
            replayed: false,
            bytes: 0,
            batches: 0,
            looked: Vec::new(),
        }
    }

    /// Whether the next batch is one of those that are looked up: number 1, 16, 256 and so on, since it takes longer to
    /// freeze all flows than to look up the batch.
    pub(super) fn wants_next(&mut self) -> bool {
        self.batches += 1;
        self.batches.is_power_of_two() && self.batches.ilog2().is_multiple_of(4)
    }

    /// Looks up a batch whose flows are among these.
    pub(super) fn run<K: Key + Send + 'static>(&mut self, work: &Work<K>, live: &[(K, u32)]) {
        let Some(mut locator) = self.frozen(live) else {
            return;
        };
        let known: Vec<_> = work.operations.iter().map(|op| Operation { new: false, ..op.clone() }).collect();
        self.looked.clear();
        let begin = processor_time();
        locator.drive_in_turn(&known, &mut self.looked);
        let nanoseconds = processor_time() - begin;
        self.looked.iter().for_each(|looked| self.examined.add(looked.entries.into()));
        let entries = self.looked.iter().map(|looked| u64::from(looked.entries)).sum();
        let packets = self.looked.len() as u64;
        let cost = Cost { packets, entries, timed: packets, nanoseconds };
        self.by_size.add(step(live.len()), cost);
    }

    /// Takes the times of a recording that is looked up again and again instead.
    pub(super) fn replay<K: Key + Send + 'static>(&mut self, recorded: &[Work<K>]) {
        let mut slots = HashMap::new();
        let mut operations = Vec::new();
        for operation in recorded.iter().flat_map(|work| &work.operations) {
            let next = slots.len() as u32;
            let slot = *slots.entry(operation.key.clone()).or_insert(next);
            operations.push(Operation { key: operation.key.clone(), slot, new: false });
        }
        let live: Vec<(K, u32)> = slots.into_iter().collect();
        if let Some(mut locator) = self.frozen(&live) {
            self.replayed = true;
            self.by_size.take_times(&replay_known(&mut *locator, &operations));
        }
    }

    /// A locator of these flows; none where there is no such locator.
    fn frozen<K: Key + Send + 'static>(&mut self, live: &[(K, u32)]) -> Option<Box<dyn Driven<K>>> {
        let config = LocatorConfig { limit: live.len(), ..self.config };
        let mut locator = locator::<K>(self.strategy, config).ok()?;
        for (key, slot) in live {
            locator.insert_new(key.clone(), Slot(*slot)).ok()?;
        }
        locator.freeze().ok()?;
        self.bytes = self.bytes.max(locator.bytes());
        Some(locator)
    }

    pub(super) fn summary(&self) -> Summary {
        Summary {
            strategy: self.strategy,
            examined: self.examined.clone(),
            cache_hits: 0,
            nanoseconds_each: self.by_size.total().nanoseconds_each(),
            bytes: self.bytes,
            complete: true,
            replayed: self.replayed,
            by_size: self.by_size.clone(),
        }
    }
}
