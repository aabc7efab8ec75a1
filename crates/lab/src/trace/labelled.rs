//! Lookups whose packets carry an index: it is put in.

use std::hash::BuildHasher;

use throughline_demux::{Carried, ConfigError, Key, LocatorConfig, Strategy};

use super::driven::Operation;
use super::lookups::Work;
use super::measured::Measured;

/// A lookup whose packets carry an index.
pub(super) struct Labelled<K: Key> {
    pub(super) measured: Measured<Carried<K>>,
    work: Work<Carried<K>>,
    labels: Labels,
}

impl<K: Key + Copy + Send + 'static> Labelled<K> {
    pub(super) fn new(strategy: Strategy, config: LocatorConfig) -> Result<Self, ConfigError> {
        let direct = strategy == Strategy::Direct;
        let labels = Labels { direct, chosen: foldhash::fast::FixedState::with_seed(config.seed) };
        Ok(Self { measured: Measured::new(strategy, config, false)?, work: Work::default(), labels })
    }

    pub(super) fn run(&mut self, work: &Work<K>) {
        self.labels.label(work, &mut self.work);
        self.measured.run(&self.work);
    }

    /// Takes out the flows that left after the packets looked up last.
    pub(super) fn forget(&mut self) {
        self.measured.forget(&self.work.gone);
    }

    pub(super) fn replay(&mut self, recorded: &[Work<K>]) {
        let labelled = |work: &Work<K>| {
            let mut labelled = Work { operations: Vec::new(), gone: Vec::new(), live: 0 };
            self.labels.label(work, &mut labelled);
            labelled
        };
        let labelled: Vec<_> = recorded.iter().map(labelled).collect();
        self.measured.replay(&labelled);
    }
}

/// The indices that packets carry.
struct Labels {
    /// Whether the index is the slot, given out beforehand, and not a number that the sender chose at random.
    direct: bool,
    chosen: foldhash::fast::FixedState,
}

impl Labels {
    fn label<K: Key + Copy>(&self, work: &Work<K>, labelled: &mut Work<Carried<K>>) {
        labelled.operations.clear();
        labelled.gone.clear();
        labelled.live = work.live;
        let operations = work.operations.iter().map(|operation| Operation {
            key: self.key(operation.key, operation.slot),
            slot: operation.slot,
            new: operation.new,
        });
        labelled.operations.extend(operations);
        labelled.gone.extend(work.gone.iter().map(|(key, slot)| (self.key(*key, *slot), *slot)));
    }

    #[inline]
    fn key<K: Key>(&self, key: K, slot: u32) -> Carried<K> {
        let index = if self.direct { slot } else { self.chosen.hash_one(&key) as u32 };
        Carried { index, key }
    }
}
