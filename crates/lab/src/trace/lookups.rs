//! The library's lookups at work on the flows of a capture.

use throughline_demux::{ConfigError, Key, LocatorConfig, Strategy};

use super::analysis::BATCH;
use super::driven::{Operation, entries};
use super::foreknown::Foreknown;
use super::labelled::Labelled;
use super::measured::Measured;
use super::options::Options;
use super::summary::Summary;
use super::team::Taker;

/// Places of the tables that packets carry an index of, to begin with.
const PLACES: usize = 1 << 12;
/// Packets that must be timed with warm caches; otherwise as many of the first ones are looked up again.
const ENOUGH: u64 = 1 << 16;

/// Why a lookup cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("{strategy} cannot be configured so: {error}")]
pub struct LookupError {
    pub(super) strategy: Strategy,
    pub(super) error: ConfigError,
}

/// Packets to be looked up, and flows to be taken out after them.
#[derive(Clone, Debug)]
pub(super) struct Work<K> {
    pub(super) operations: Vec<Operation<K>>,
    pub(super) gone: Vec<(K, u32)>,
    /// Flows that are alive after the packets.
    pub(super) live: usize,
}

impl<K> Default for Work<K> {
    fn default() -> Self {
        Self { operations: Vec::with_capacity(BATCH), gone: Vec::new(), live: 0 }
    }
}

/// What lookups need of a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// Its addresses.
    Addresses,
    /// An index that it carries.
    Index,
}

impl Needs {
    fn of(strategy: Strategy) -> Self {
        if strategy.needs_index() { Self::Index } else { Self::Addresses }
    }
}

/// A lookup with keys as they are, or with keys that carry an index.
enum Lookup<K: Key> {
    Plain(Measured<K>),
    Labelled(Labelled<K>),
}

impl<K: Key + Copy + Send + 'static> Lookup<K> {
    fn run(&mut self, work: &Work<K>) {
        match self {
            Self::Plain(measured) => measured.run(work),
            Self::Labelled(labelled) => labelled.run(work),
        }
    }

    /// Takes out the flows that leave after the packets looked up last, which are those of `work`.
    fn forget(&mut self, work: &Work<K>) {
        match self {
            Self::Plain(measured) => measured.forget(&work.gone),
            Self::Labelled(labelled) => labelled.forget(),
        }
    }

    fn packets_timed(&self) -> Option<u64> {
        match self {
            Self::Plain(measured) => measured.packets_timed(),
            Self::Labelled(labelled) => labelled.measured.packets_timed(),
        }
    }

    fn replay(&mut self, recorded: &[Work<K>]) {
        match self {
            Self::Plain(measured) => measured.replay(recorded),
            Self::Labelled(labelled) => labelled.replay(recorded),
        }
    }

    fn summary(&self, most_live: usize) -> Summary {
        match self {
            Self::Plain(measured) => measured.summary(most_live),
            Self::Labelled(labelled) => labelled.measured.summary(most_live),
        }
    }

    /// The flows with their slots, if their keys are as they are and the lookup was not given up.
    fn entries(&self) -> Option<Vec<(K, u32)>> {
        match self {
            Self::Plain(measured) => measured.locator().map(entries),
            Self::Labelled(_) => None,
        }
    }
}

/// All lookups that need the same.
pub(super) struct Lookups<K: Key> {
    lookups: Vec<Lookup<K>>,
    foreknown: Vec<Foreknown>,
    most_live: usize,
    /// The first packets, as long as they are not too many.
    recorded: Vec<Work<K>>,
    packets_recorded: u64,
}

impl<K: Key + Copy + Send + 'static> Lookups<K> {
    /// Those lookups, without flows. Walks of chains are counted elsewhere, or not.
    pub(super) fn new(needs: Needs, options: &Options, chains_counted: bool) -> Result<Self, LookupError> {
        let config = LocatorConfig {
            chains: options.chains,
            places: PLACES,
            limit: options.flows,
            ..LocatorConfig::seeded(options.seed)
        };
        let (mut lookups, mut foreknown) = (Vec::new(), Vec::new());
        for strategy in Strategy::ALL.into_iter().filter(|strategy| Needs::of(*strategy) == needs) {
            let error = |error| LookupError { strategy, error };
            let chains = matches!(strategy, Strategy::Sequent | Strategy::ChainsMoveToFront);
            let counted = strategy.is_list() && (chains_counted || !chains);
            if strategy.must_freeze() {
                foreknown.push(Foreknown::new(strategy, config));
            } else if strategy.needs_index() {
                lookups.push(Lookup::Labelled(Labelled::new(strategy, config).map_err(error)?));
            } else {
                lookups.push(Lookup::Plain(Measured::new(strategy, config, counted).map_err(error)?));
            }
        }
        Ok(Self { lookups, foreknown, most_live: 0, recorded: Vec::new(), packets_recorded: 0 })
    }

    fn record(&mut self, work: &Work<K>) {
        let packets = self.packets_recorded + work.operations.len() as u64;
        if packets <= ENOUGH {
            // A copy takes no more than it holds.
            self.recorded.push(work.clone());
        }
        self.packets_recorded = packets;
    }

    /// The flows that are alive are those in any other lookup that is complete.
    fn run_foreknown(&mut self, work: &Work<K>) {
        for foreknown in &mut self.foreknown {
            if foreknown.wants_next()
                && let Some(live) = self.lookups.iter().rev().find_map(Lookup::entries)
            {
                foreknown.run(work, &live);
            }
        }
    }

    /// What each cost.
    pub(super) fn finish(mut self) -> Vec<Summary> {
        let timed = self.lookups.iter().filter_map(Lookup::packets_timed).min();
        if timed.is_some_and(|timed| timed < ENOUGH) {
            self.replay();
        }
        let lookups = self.lookups.iter().map(|lookup| lookup.summary(self.most_live));
        lookups.chain(self.foreknown.iter().map(Foreknown::summary)).collect()
    }

    fn replay(&mut self) {
        self.lookups.iter_mut().for_each(|lookup| lookup.replay(&self.recorded));
        self.foreknown.iter_mut().for_each(|lookup| lookup.replay(&self.recorded));
    }
}

impl<K: Key + Copy + Send + 'static> Taker<Work<K>> for Lookups<K> {
    /// Looks packets up, then lets flows go.
    fn take(&mut self, work: &Work<K>) {
        self.most_live = self.most_live.max(work.live);
        self.record(work);
        self.lookups.iter_mut().for_each(|lookup| lookup.run(work));
        self.run_foreknown(work);
        self.lookups.iter_mut().for_each(|lookup| lookup.forget(work));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use throughline_demux::{DynamicHash, Keyed, Locator, Slot};

    use super::*;
    use crate::random::Random;

    /// Batches of packets of so many flows, drawn evenly.
    fn batches(flows: u32, packets: usize) -> Vec<Work<u64>> {
        let (mut random, mut slots) = (Random::new(1), HashMap::new());
        let mut operation = || {
            let (flow, next) = (random.below(flows), slots.len() as u32);
            let slot = *slots.entry(flow).or_insert(next);
            (Operation { key: u64::from(flow) << 7, slot, new: slot == next }, slots.len())
        };
        let each = packets.min(BATCH);
        (0..packets / each)
            .map(|_| {
                let (operations, live): (Vec<_>, Vec<_>) = (0..each).map(|_| operation()).unzip();
                Work { operations, gone: Vec::new(), live: live[each - 1] }
            })
            .collect()
    }

    /// What all lookups cost.
    fn summaries(options: &Options, chains_counted: bool, work: &[Work<u64>]) -> Vec<Summary> {
        let of = |needs| {
            let mut lookups = Lookups::new(needs, options, chains_counted).unwrap();
            work.iter().for_each(|work| lookups.take(work));
            lookups.finish()
        };
        [of(Needs::Addresses), of(Needs::Index)].concat()
    }

    /// A short capture has the times that the same traffic would have if it went on: at the first look, caches are cold,
    /// and what tables allocate first takes longer than a thousand lookups.
    #[test]
    fn times_of_short_captures() {
        let [short, long] = [batches(50, 1000), batches(50, 40 * BATCH)]
            .map(|work| summaries(&Options::default(), true, &work));
        for (short, long) in short.iter().zip(&long) {
            let times = [short, long].map(|summary| summary.nanoseconds_each.unwrap());
            let [short_time, long_time] = times;
            let name = short.strategy;
            assert_eq!(name, long.strategy);
            assert!(short.complete && (0.3..60_000.0).contains(&short_time), "{name}: {short_time}");
            // One in 20 packets is the first of its flow, which takes longer; machines are busy.
            assert!(short_time < 4.0 * long_time + 40.0, "{name}: {times:?}");
            assert_eq!((short.examined.total(), long.examined.total() >= 4096), (1000, true));
            assert_eq!(short.by_size.total().timed, 1000, "{name}: the times are of one round");
        }
    }

    #[test]
    fn lists_are_given_up() {
        let work = batches(40_000, 5 * BATCH);
        for summary in &summaries(&Options::default(), true, &work) {
            assert_eq!(summary.complete, !summary.strategy.is_list(), "{}", summary.strategy);
            assert!(summary.nanoseconds_each.is_some());
        }
        // Short chains, which nobody else counts, are walked.
        let options = Options { chains: 4096, ..Options::default() };
        let summaries = summaries(&options, false, &work);
        let complete = summaries.iter().filter(|summary| summary.complete).count();
        assert_eq!(complete, Strategy::ALL.len() - 3);
    }

    /// Who writes a capture may know the seed, and choose keys that fall into one place of a table.
    #[test]
    fn tables_with_collisions_are_given_up() {
        let mut table = DynamicHash::with_hash(Keyed::new(1), usize::MAX);
        (0..1000).for_each(|key: u64| table.insert_new(key << 32, Slot(0)).unwrap());
        let keys: Vec<u64> = (0..).filter(|key| table.chain_of(key) == 0).take(1000).collect();
        let work = (0..4).map(|batch| {
            let operations = keys.iter().cycle().take(BATCH).enumerate().map(|(at, key)| {
                let new = batch == 0 && at < keys.len();
                Operation { key: *key, slot: (at % keys.len()) as u32, new }
            });
            Work { operations: operations.collect(), gone: Vec::new(), live: keys.len() }
        });
        let summaries = summaries(&Options::default(), true, &work.collect::<Vec<_>>());
        for summary in summaries.iter().filter(|summary| !summary.strategy.is_list()) {
            let crowded = summary.strategy == Strategy::DynamicHash;
            assert_eq!(summary.complete, !crowded, "{}", summary.strategy);
        }
    }
}
