//! The library's lookups at work on the flows of a capture.

use std::hash::BuildHasher;

use throughline_demux::{Carried, ConfigError, Key, LocatorConfig, Slot, Strategy};

use super::analysis::BATCH;
use super::foreknown::Foreknown;
use super::lists::Lists;
use super::live::{Arrival, Found, Live};
use super::measured::Measured;
use super::options::Options;
use super::summary::Summary;
use super::which::Which;

/// Places of the tables that packets carry an index of, to begin with.
const PLACES: usize = 1 << 12;

/// Why a lookup cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("{which} cannot be configured so: {error}")]
pub struct LookupError {
    which: Which,
    error: ConfigError,
}

/// A packet to be looked up, and its flow to be put in if it is new.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation<K> {
    pub(super) key: K,
    pub(super) slot: u32,
    pub(super) new: bool,
}

/// All lookups, with keys as they are and with keys that carry an index.
pub(super) struct Lookups<K: Key> {
    waiting: Vec<Operation<K>>,
    lists: Lists,
    plain: Vec<Measured<K>>,
    carried: Vec<Labelled<K>>,
    foreknown: Vec<Foreknown>,
    most_live: usize,
}

impl<K: Key + Copy + 'static> Lookups<K> {
    pub(super) fn new(options: &Options) -> Result<Self, LookupError> {
        let config = LocatorConfig {
            chains: options.chains,
            places: PLACES,
            limit: options.flows.max(BATCH),
            ..LocatorConfig::seeded(options.seed)
        };
        let (mut plain, mut carried, mut foreknown) = (Vec::new(), Vec::new(), Vec::new());
        for which in Which::all() {
            let error = |error| LookupError { which, error };
            if which.must_freeze() {
                foreknown.push(Foreknown::new(which, config));
            } else if which.needs_index() {
                carried.push(Labelled::new(which, config).map_err(error)?);
            } else {
                plain.push(Measured::new(which, config).map_err(error)?);
            }
        }
        Ok(Self { waiting: Vec::new(), lists: Lists::default(), plain, carried, foreknown, most_live: 0 })
    }

    /// Packets have come.
    pub(super) fn push(&mut self, packets: &[Arrival<K>], found: &[Found]) {
        for (packet, found) in packets.iter().zip(found) {
            self.lists.add(found);
            self.waiting.push(Operation { key: packet.key, slot: found.slot, new: found.new });
        }
    }

    /// Looks up the packets that have come, whose flows are alive.
    pub(super) fn run(&mut self, live: &Live<K>) {
        self.most_live = self.most_live.max(live.len());
        self.lists.mark(live.len());
        self.plain.iter_mut().for_each(|lookup| lookup.run(&self.waiting, live.len()));
        self.carried.iter_mut().for_each(|lookup| lookup.run(&self.waiting, live.len()));
        self.foreknown.iter_mut().for_each(|lookup| lookup.run(&self.waiting, live.iter()));
        self.waiting.clear();
    }

    /// Flows have left.
    pub(super) fn forget(&mut self, gone: &[(K, u32)]) {
        gone.iter().for_each(|(_, slot)| self.lists.forget(*slot));
        for lookup in &mut self.plain {
            gone.iter().for_each(|(key, slot)| lookup.forget(key, Slot(*slot)));
        }
        for lookup in &mut self.carried {
            gone.iter().for_each(|(key, slot)| lookup.forget(key, *slot));
        }
    }

    /// What each cost.
    pub(super) fn summaries(&self) -> Vec<Summary> {
        let plain = self.plain.iter().map(|lookup| lookup.summary(self.most_live));
        let foreknown = self.foreknown.iter().map(Foreknown::summary);
        let carried = self.carried.iter().map(|lookup| lookup.measured.summary(self.most_live));
        let mut all: Vec<Summary> = plain.chain(foreknown).chain(carried).collect();
        for summary in &mut all {
            let lists = &self.lists;
            let [linear, bsd, front] = &lists.by_size;
            match summary.which {
                Which::Strategy(Strategy::Linear) => summary.counted(&lists.linear, 0, linear),
                Which::Strategy(Strategy::Bsd) => summary.counted(&lists.bsd, lists.bsd_hits, bsd),
                Which::Strategy(Strategy::MoveToFront) => summary.counted(&lists.move_to_front, 0, front),
                _ => {}
            }
        }
        all
    }
}

/// A lookup whose packets carry an index.
struct Labelled<K: Key> {
    measured: Measured<Carried<K>>,
    operations: Vec<Operation<Carried<K>>>,
    /// Whether the index is the slot, given out beforehand, and not a number that the sender chose at random.
    direct: bool,
    labels: foldhash::fast::FixedState,
}

impl<K: Key + Copy + 'static> Labelled<K> {
    fn new(which: Which, config: LocatorConfig) -> Result<Self, ConfigError> {
        Ok(Self {
            measured: Measured::new(which, config)?,
            operations: Vec::new(),
            direct: which == Which::Strategy(Strategy::Direct),
            labels: foldhash::fast::FixedState::with_seed(config.seed),
        })
    }

    fn run(&mut self, operations: &[Operation<K>], live: usize) {
        let mut labelled = std::mem::take(&mut self.operations);
        labelled.clear();
        labelled.extend(operations.iter().map(|operation| Operation {
            key: self.key(operation.key, operation.slot),
            slot: operation.slot,
            new: operation.new,
        }));
        self.measured.run(&labelled, live);
        self.operations = labelled;
    }

    fn forget(&mut self, key: &K, slot: u32) {
        self.measured.forget(&self.key(*key, slot), Slot(slot));
    }

    #[inline]
    fn key(&self, key: K, slot: u32) -> Carried<K> {
        let index = if self.direct { slot } else { self.labels.hash_one(key) as u32 };
        Carried { index, key }
    }
}

#[cfg(test)]
mod tests {
    use super::super::live::Limits;
    use super::*;
    use crate::random::Random;

    /// Flows come, go and are looked up; the counts told by distance are those of the lists themselves.
    #[test]
    fn lists_examine_what_distances_say() {
        let options = Options { flows: 5000, ..Options::default() };
        let limits = Limits { flows: options.flows, idle: 300, both_directions: true };
        let (mut live, mut lookups) = (Live::new(limits), Lookups::new(&options).unwrap());
        let mut random = Random::new(5);
        let (mut found, mut gone, mut number) = (Vec::new(), Vec::new(), 0);
        for batch in 0..40 {
            let packets: Vec<Arrival<u64>> = (0..200)
                .map(|_| {
                    number += 1;
                    let span = 1 + random.below(400);
                    let key = u64::from(batch * 7 + random.below(span) / 2);
                    Arrival { key, reversed: false, bits: 0, time: number / 4, number }
                })
                .collect();
            found.clear();
            live.arrive(&packets, &mut found);
            lookups.push(&packets, &found);
            lookups.run(&live);
            live.expire(number / 4, 200, |key, slot, _, _| gone.push((key, slot)));
            lookups.forget(&gone);
            gone.clear();
        }
        assert!(live.len() > 100, "{}", live.len());
        let lists = &lookups.lists;
        for (strategy, examined, hits) in [
            (Strategy::Linear, &lists.linear, 0),
            (Strategy::Bsd, &lists.bsd, lists.bsd_hits),
            (Strategy::MoveToFront, &lists.move_to_front, 0),
        ] {
            let walked = lookups.plain.iter().map(|lookup| lookup.summary(0));
            let walked =
                walked.into_iter().find(|summary| summary.which == Which::Strategy(strategy)).unwrap();
            assert!(walked.complete);
            assert_eq!((&walked.examined, walked.cache_hits), (examined, hits), "{strategy}");
            assert!(examined.mean() > 2.0, "{strategy}");
        }
    }
}
