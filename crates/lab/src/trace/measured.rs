//! One lookup, driven and timed.

use throughline_demux::{ConfigError, Key, LocatorConfig, Slot, Strategy};

use super::by_size::{BySize, Cost, step};
use super::clock::processor_time;
use super::driven::{Driven, Looked, Operation, locator};
use super::lookups::Work;
use super::replay::{empty, replay};
use super::summary::Summary;
use super::tally::Tally;

/// Entries that a lookup may examine in all before it is given up, besides those that its packets allow it.
const PATIENCE: u64 = 4_000_000;
/// Entries allowed for each packet, of lookups whose entries are counted elsewhere.
const FEW_EACH: u64 = 2;
/// The same of others, which need not search: more are examined only where strangers chose keys that collide.
const MANY_EACH: u64 = 64;
/// Packets after which that is looked at; as many wait for memory together.
const STRIDE: usize = 64;
/// Packets that are not timed: caches are cold.
const WARM_UP: u64 = 16_384;
/// Packets that are all timed, as if each were done with before the next is looked up.
const WELL_KNOWN: u64 = 1 << 17;
/// Of those that follow, one batch of so many is.
const SAMPLE: u64 = 8;
/// When about as many flows as now have had so many packets, that is known well, too.
const WELL_KNOWN_OF_SIZE: u64 = 1 << 20;
/// Of those that follow, one batch of so many is timed.
const SPARSE_SAMPLE: u64 = 32;
/// Packets that must come together to be timed: fewer take less time than the clock, and find other lookups' caches.
const TOGETHER: usize = 1024;

/// A locator with what it has cost.
pub(super) struct Measured<K: Key> {
    pub(super) strategy: Strategy,
    config: LocatorConfig,
    /// None once it is given up.
    locator: Option<Box<dyn Driven<K>>>,
    /// Whether what it examines is counted elsewhere, too.
    counted: bool,
    examined: Tally,
    cache_hits: u64,
    by_size: BySize,
    replayed: bool,
    /// What all packets cost, whether caches were cold or not.
    all: Cost,
    /// Entries walked past to take flows out.
    walked: u64,
    /// The most memory in use, and by how many flows.
    memory: (usize, usize),
    batches: u64,
    /// What each packet of the batch examined.
    looked: Vec<Looked>,
    /// For [`prefetch`].
    keys: Vec<K>,
}

impl<K: Key + Send + 'static> Measured<K> {
    pub(super) fn new(strategy: Strategy, config: LocatorConfig, counted: bool) -> Result<Self, ConfigError> {
        Ok(Self {
            strategy,
            config,
            locator: Some(locator(strategy, config)?),
            counted,
            examined: Tally::default(),
            cache_hits: 0,
            by_size: BySize::default(),
            replayed: false,
            all: Cost::default(),
            walked: 0,
            memory: (0, 0),
            batches: 0,
            looked: Vec::new(),
            keys: Vec::new(),
        })
    }

    /// Looks up a batch, one after another.
    pub(super) fn run(&mut self, work: &Work<K>) {
        self.make_places(work.live);
        self.batches += 1;
        let (operations, weight) = (&work.operations[..], self.weight(work.live));
        let mut left = self.entries_left(operations.len() as u64);
        let Some(locator) = &mut self.locator else {
            return;
        };
        let flows = locator.len();
        self.looked.clear();
        let begin = processor_time();
        for some in operations.chunks(STRIDE) {
            let Some(enough) = left else {
                break;
            };
            let before = self.looked.len();
            match weight {
                0 => {
                    prefetch(&**locator, &mut self.keys, some.iter().map(|operation| &operation.key));
                    locator.drive(some, &mut self.looked);
                }
                _ => locator.drive_in_turn(some, &mut self.looked),
            }
            left = enough.checked_sub(self.looked[before..].iter().map(|one| u64::from(one.entries)).sum());
        }
        let nanoseconds = processor_time() - begin;
        let at = step(locator.len());
        if locator.len() >= self.memory.1 {
            self.memory = (locator.bytes(), locator.len());
        }
        if left.is_none() {
            self.locator = None;
        }
        self.count(flows, operations);
        self.timed(at, nanoseconds, weight);
    }

    /// Takes up what the packets examined, to the first of which there were so many flows.
    fn count(&mut self, mut flows: usize, operations: &[Operation<K>]) {
        let mut at = step(flows);
        let mut cost = Cost::default();
        for (operation, looked) in operations.iter().zip(&self.looked) {
            if operation.new {
                flows += 1;
                if step(flows) != at {
                    self.by_size.add(at, std::mem::take(&mut cost));
                    at = step(flows);
                }
            }
            self.examined.add(looked.entries.into());
            self.cache_hits += u64::from(looked.cache_hit);
            cost.packets += 1;
            cost.entries += u64::from(looked.entries);
        }
        self.by_size.add(at, cost);
    }

    /// How many batches the present one stands for, if it is timed.
    fn weight(&self, flows: usize) -> u64 {
        let each = match (self.by_size.total().timed, self.by_size.at(step(flows)).timed) {
            (..WELL_KNOWN, _) => 1,
            (_, ..WELL_KNOWN_OF_SIZE) => SAMPLE,
            _ => SPARSE_SAMPLE,
        };
        if self.batches.is_multiple_of(each) { each } else { 0 }
    }

    fn timed(&mut self, at: usize, nanoseconds: u64, weight: u64) {
        let timed = self.looked.len();
        if self.all.timed >= WARM_UP && timed >= TOGETHER {
            let (timed, nanoseconds) = (timed as u64 * weight, nanoseconds * weight);
            self.by_size.add(at, Cost { timed, nanoseconds, ..Cost::default() });
        }
        self.all.timed += timed as u64;
        self.all.nanoseconds += nanoseconds;
    }

    /// Entries that may be examined, with so many packets more; none once it is given up.
    fn entries_left(&self, more: u64) -> Option<u64> {
        let each = if self.counted { FEW_EACH } else { MANY_EACH };
        let allowed = PATIENCE + each * (self.examined.total() + more);
        let spent = u64::try_from(self.examined.sum()).unwrap_or(u64::MAX).saturating_add(self.walked);
        allowed.checked_sub(spent)
    }

    /// Tables of which packets carry an index have no fewer places than there are flows.
    fn make_places(&mut self, live: usize) {
        let Some(present) = self.locator.as_ref().filter(|_| self.strategy.needs_index()) else {
            return;
        };
        if live <= self.config.places {
            return;
        }
        self.config.places = live.next_power_of_two() * 2;
        // More places than flows are always a possible configuration.
        if let Ok(mut larger) = locator(self.strategy, self.config) {
            let mut all_in = true;
            present.for_each(&mut |key, slot| all_in &= larger.insert_new(K::clone(key), slot).is_ok());
            debug_assert!(all_in, "{}", self.strategy);
            self.locator = Some(larger);
        }
    }

    /// Takes flows out.
    pub(super) fn forget(&mut self, gone: &[(K, u32)]) {
        let Some(locator) = &mut self.locator else {
            return;
        };
        for some in gone.chunks(STRIDE) {
            prefetch(&**locator, &mut self.keys, some.iter().map(|(key, _)| key));
            for (key, slot) in some {
                if self.strategy.is_list() {
                    self.walked += locator.len() as u64 / chains(self.strategy, &self.config);
                }
                let removed = locator.remove(key);
                debug_assert_eq!(removed, Some(Slot(*slot)), "{}", self.strategy);
            }
        }
    }

    /// The locator, unless it was given up.
    pub(super) fn locator(&self) -> Option<&dyn Driven<K>> {
        self.locator.as_deref()
    }

    /// Packets timed so far, with caches warm; none if it was given up.
    pub(super) fn packets_timed(&self) -> Option<u64> {
        self.locator.as_ref().map(|_| self.by_size.total().timed)
    }

    /// Takes the times of a recording that is looked up again and again instead.
    pub(super) fn replay(&mut self, recorded: &[Work<K>]) {
        if let Some(locator) = &mut self.locator {
            empty(&mut **locator);
            self.replayed = true;
            self.by_size.take_times(&replay(&mut **locator, recorded));
        }
    }

    /// What it cost; with at most `live` flows at once.
    pub(super) fn summary(&self, live: usize) -> Summary {
        let (bytes, flows) = self.memory;
        let complete = self.locator.is_some();
        let time = if complete { self.by_size.total() } else { self.all };
        Summary {
            strategy: self.strategy,
            examined: self.examined.clone(),
            cache_hits: self.cache_hits,
            nanoseconds_each: time.nanoseconds_each(),
            bytes: if complete || flows == 0 { bytes } else { bytes / flows * live.max(flows) },
            complete,
            replayed: self.replayed,
            by_size: self.by_size.clone(),
        }
    }
}

/// Asks for the memory that these flows need, which is on its way together then. `keys` is where their keys are put.
fn prefetch<'k, K: Key + 'k>(locator: &dyn Driven<K>, keys: &mut Vec<K>, of: impl Iterator<Item = &'k K>) {
    keys.clear();
    keys.extend(of.cloned());
    locator.prefetch(keys);
}

fn chains(strategy: Strategy, config: &LocatorConfig) -> u64 {
    match strategy {
        Strategy::Sequent | Strategy::ChainsMoveToFront => config.chains.max(1) as u64,
        _ => 1,
    }
}
