//! One lookup, driven and timed.

use rustix::time::{ClockId, clock_gettime};
use throughline_demux::{ConfigError, Examined, Key, LocatorConfig, Slot, Strategy};

use super::by_size::{BySize, Cost};
use super::lookups::Operation;
use super::summary::Summary;
use super::tally::Tally;
use super::which::{Driven, Which};

/// Entries that a list may examine in all before it is given up, besides those that its packets allow it.
const PATIENCE: u64 = 4_000_000;
/// Entries allowed for each packet.
const PATIENCE_EACH: u64 = 2;
/// Packets after which that is looked at.
const STRIDE: usize = 64;

/// A locator with what it has cost.
pub(super) struct Measured<K: Key> {
    which: Which,
    config: LocatorConfig,
    /// None once it is given up.
    locator: Option<Box<dyn Driven<K>>>,
    examined: Tally,
    cache_hits: u64,
    nanoseconds: u64,
    by_size: BySize,
    /// Entries walked past to take flows out.
    walked: u64,
    /// The most memory in use, and by how many flows.
    memory: (usize, usize),
    /// What each packet of the batch examined.
    counts: Vec<Examined>,
}

impl<K: Key + 'static> Measured<K> {
    pub(super) fn new(which: Which, config: LocatorConfig) -> Result<Self, ConfigError> {
        Ok(Self {
            which,
            config,
            locator: Some(which.locator(config)?),
            examined: Tally::default(),
            cache_hits: 0,
            nanoseconds: 0,
            by_size: BySize::default(),
            walked: 0,
            memory: (0, 0),
            counts: Vec::new(),
        })
    }

    /// Looks up a batch, one after another; `live` flows are alive after it.
    pub(super) fn run(&mut self, operations: &[Operation<K>], live: usize) {
        self.make_places(live);
        let packets = self.examined.total() + operations.len() as u64;
        let allowed = if self.which.is_list() { PATIENCE + PATIENCE_EACH * packets } else { u64::MAX };
        let mut left = allowed.checked_sub(self.spent());
        let Some(locator) = &mut self.locator else {
            return;
        };
        self.counts.clear();
        let begin = processor_time();
        for some in operations.chunks(STRIDE) {
            let Some(enough) = left else {
                break;
            };
            let before = self.counts.len();
            locator.drive(some, &mut self.counts);
            left = enough.checked_sub(self.counts[before..].iter().map(|examined| examined.entries).sum());
        }
        let nanoseconds = processor_time().saturating_sub(begin);
        self.nanoseconds += nanoseconds;
        let mut entries = 0;
        for examined in &self.counts {
            self.examined.add(examined.entries);
            entries += examined.entries;
            self.cache_hits += u64::from(examined.cache_hit);
        }
        self.by_size.add(live, Cost { packets: self.counts.len() as u64, entries, nanoseconds });
        if locator.len() >= self.memory.1 {
            self.memory = (locator.bytes(), locator.len());
        }
        if left.is_none() {
            self.locator = None;
        }
    }

    /// Tables of which packets carry an index have no fewer places than there are flows.
    fn make_places(&mut self, live: usize) {
        let Some(locator) = self.locator.as_ref().filter(|_| self.which.needs_index()) else {
            return;
        };
        if live <= self.config.places {
            return;
        }
        self.config.places = live.next_power_of_two() * 2;
        // More places than flows are always a possible configuration.
        if let Ok(mut larger) = self.which.locator(self.config) {
            let mut all_in = true;
            locator.for_each(&mut |key, slot| all_in &= larger.insert_new(K::clone(key), slot).is_ok());
            debug_assert!(all_in, "{}", self.which);
            self.locator = Some(larger);
        }
    }

    /// Entries walked past so far.
    fn spent(&self) -> u64 {
        u64::try_from(self.examined.sum()).unwrap_or(u64::MAX).saturating_add(self.walked)
    }

    /// Takes a flow out.
    pub(super) fn forget(&mut self, key: &K, slot: Slot) {
        if let Some(locator) = &mut self.locator {
            if self.which.is_list() {
                self.walked += locator.len() as u64 / chains(self.which, &self.config);
            }
            let removed = locator.remove(key);
            debug_assert_eq!(removed, Some(slot), "{}", self.which);
        }
    }

    /// What it cost; with at most `live` flows at once.
    pub(super) fn summary(&self, live: usize) -> Summary {
        let (bytes, flows) = self.memory;
        let complete = self.locator.is_some();
        let bytes = if complete || flows == 0 { bytes } else { bytes / flows * live.max(flows) };
        Summary {
            which: self.which,
            examined: self.examined.clone(),
            cache_hits: self.cache_hits,
            nanoseconds: self.nanoseconds as f64,
            timed: self.examined.total(),
            bytes,
            complete,
            by_size: self.by_size.clone(),
        }
    }
}

fn chains(which: Which, config: &LocatorConfig) -> u64 {
    match which {
        Which::Strategy(Strategy::Sequent | Strategy::ChainsMoveToFront) => config.chains.max(1) as u64,
        _ => 1,
    }
}

/// Nanoseconds that this thread has run: others at work on the machine cost nothing, besides what they take of caches.
pub(super) fn processor_time() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
