//! All filters of a port, and the cache of what they said.

use super::{
    analysis,
    consumers::{Consumer, Consumers},
    kind::{FlowKey, KINDS, Kind},
    program::Program,
    view::View,
};
use crate::{FlowCache, FlowCacheConfig, FlowCounts, FlowIndex, Label, Packet};
use throughline_demux::{ConfigError, KeyHash, Keyed};
use throughline_stack::smoltcp::time::Instant;

/// What a [`FilterBank`] is made with.
#[derive(Clone, Copy, Debug, Default)]
pub struct FilterBankConfig {
    /// The size of the cache, and how long answers hold.
    pub cache: FlowCacheConfig,
    /// Where in the cache a flow is. The computed hash is keyed: nobody can foresee it.
    pub index: FlowIndex,
}

/// A filter in its bank. Numbers are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FilterId(u64);

/// What a [`FilterBank`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilterCounts {
    /// What became of the frames whose flow was looked up.
    pub flows: FlowCounts,
    /// Frames for which all filters were run, whether for lack of an answer or since they are of no flow that is kept.
    pub filtered: u64,
    /// Programs run.
    pub runs: u64,
}

/// The filters of a port, each with a consumer.
///
/// Which consumers want a frame is the answer of all filters together, always. It is kept for each flow, by what the headers
/// say of the flow and whatever the label says. Programs whose answer could differ between frames of a flow, since they read
/// a length, a checksum, TCP flags or the data, are found by looking at what they read, and are run for each frame.
///
/// Memory is taken when filters are added or removed, not for frames.
pub struct FilterBank {
    filters: Vec<Filter>,
    next: u64,
    index: FlowIndex,
    hash: Keyed,
    /// Where in `sets` the set of a flow is.
    flows: FlowCache<FlowKey, u32>,
    /// A set for each place of the cache, one after another.
    sets: Vec<u64>,
    /// Words of a set.
    words: usize,
    /// Filters by kind of frame, as numbers of `filters`.
    by_kind: [Split; KINDS],
    /// The set of a frame that is not, or not as a whole, that of its flow.
    set: Vec<u64>,
    counts: FilterCounts,
}

struct Filter {
    id: FilterId,
    program: Program,
    consumer: Consumer,
    /// Whether the program says the same of all frames of a flow, by kind.
    determined: [bool; KINDS],
}

/// Filters that say the same of all frames of a flow, and those to be run for each.
#[derive(Clone, Default)]
struct Split {
    kept: Vec<u32>,
    run: Vec<u32>,
}

impl FilterBank {
    /// A bank without filters.
    ///
    /// # Errors
    /// [`ConfigError`] if the cache has no places, or too many.
    ///
    /// # Panics
    /// When the system has no randomness to give.
    pub fn new(config: FilterBankConfig) -> Result<Self, ConfigError> {
        let cache = match config.index {
            FlowIndex::Never => FlowCacheConfig { places: 1, ..config.cache },
            _ => config.cache,
        };
        Ok(Self {
            filters: Vec::new(),
            next: 0,
            index: config.index,
            hash: Keyed::random(),
            flows: FlowCache::new(cache)?,
            sets: Vec::new(),
            words: 0,
            by_kind: Default::default(),
            set: Vec::new(),
            counts: FilterCounts::default(),
        })
    }

    /// Adds a filter. A consumer may have several, and gets each frame once. Forgets all answers.
    pub fn add(&mut self, program: Program, consumer: Consumer) -> FilterId {
        let id = FilterId(self.next);
        self.next += 1;
        let determined = Kind::ALL.map(|kind| analysis::is_determined(program.ops(), kind));
        self.filters.push(Filter { id, program, consumer, determined });
        self.changed();
        id
    }

    /// Removes a filter, and forgets all answers. Whose it was, if it was there.
    pub fn remove(&mut self, id: FilterId) -> Option<Consumer> {
        let at = self.filters.iter().position(|filter| filter.id == id)?;
        let filter = self.filters.remove(at);
        self.changed();
        Some(filter.consumer)
    }

    /// Removes all filters of a consumer, and forgets all answers if there were any. How many there were.
    pub fn remove_consumer(&mut self, consumer: Consumer) -> usize {
        let before = self.filters.len();
        self.filters.retain(|filter| filter.consumer != consumer);
        let removed = before - self.filters.len();
        if removed != 0 {
            self.changed();
        }
        removed
    }

    fn changed(&mut self) {
        self.flows.invalidate();
        let words = self.filters.iter().map(|filter| filter.consumer.words()).max().unwrap_or(0);
        if words != self.words {
            self.words = words;
            self.set = vec![0; words];
            self.sets = vec![0; words * self.flows.places()];
        }
        for (kind, split) in self.by_kind.iter_mut().enumerate() {
            let (kept, run) =
                (0..).zip(&self.filters).partition::<Vec<_>, _>(|(_, filter)| filter.determined[kind]);
            let places = |some: Vec<(u32, &Filter)>| some.into_iter().map(|(at, _)| at).collect();
            *split = Split { kept: places(kept), run: places(run) };
        }
    }

    /// Who wants this frame: those of whom a filter matches it, as it is [without label](View).
    #[inline]
    pub fn consumers(&mut self, frame: &Packet<'_>, now: Instant) -> Consumers<'_> {
        let view = View::from(frame);
        let flow = if self.index == FlowIndex::Never { None } else { Kind::of(&view) };
        let Some((kind, key)) = flow else { return self.of_all(&view) };
        match self.hash_of(&key, frame.label) {
            Some(hash) => self.of_flow(&view, kind, key, hash, now),
            None => self.of_all(&view),
        }
    }

    #[inline]
    fn of_flow(
        &mut self,
        view: &View<'_>,
        kind: Kind,
        key: FlowKey,
        hash: u32,
        now: Instant,
    ) -> Consumers<'_> {
        let Some(place) = self.flows.find(hash, &key, now) else {
            return self.of_new_flow(view, kind, key, hash, now);
        };
        let kept = place as usize * self.words..(place as usize + 1) * self.words;
        if self.by_kind[kind as usize].run.is_empty() {
            return Consumers::of(&self.sets[kept]);
        }
        self.set.copy_from_slice(&self.sets[kept]);
        self.run_each(view, kind)
    }

    /// The index of a route is no hash: flows have it in common.
    #[inline]
    fn hash_of(&self, key: &FlowKey, label: Option<Label>) -> Option<u32> {
        let carried = label.filter(|label| !label.threaded).map(|label| label.flow.source_hash);
        let computed = || Some(self.hash.hash(key) as u32);
        match self.index {
            FlowIndex::Never => None,
            FlowIndex::Carried => carried,
            FlowIndex::Computed => computed(),
            FlowIndex::Either => carried.or_else(computed),
        }
    }

    #[inline(never)]
    fn of_new_flow(
        &mut self,
        view: &View<'_>,
        kind: Kind,
        key: FlowKey,
        hash: u32,
        now: Instant,
    ) -> Consumers<'_> {
        self.set.fill(0);
        self.counts.filtered += 1;
        run(&self.filters, &self.by_kind[kind as usize].kept, view, &mut self.set, &mut self.counts);
        self.flows.put_at(hash, key, now, |place| {
            self.sets[place * self.words..][..self.words].copy_from_slice(&self.set);
            place as u32
        });
        self.run_each(view, kind)
    }

    /// Adds who is found by those filters only that are run for each frame.
    #[inline(never)]
    fn run_each(&mut self, view: &View<'_>, kind: Kind) -> Consumers<'_> {
        run(&self.filters, &self.by_kind[kind as usize].run, view, &mut self.set, &mut self.counts);
        Consumers::of(&self.set)
    }

    #[inline(never)]
    fn of_all(&mut self, view: &View<'_>) -> Consumers<'_> {
        self.set.fill(0);
        self.counts.filtered += 1;
        self.counts.runs += self.filters.len() as u64;
        for filter in &self.filters {
            if filter.program.matches(view) {
                filter.consumer.put_in(&mut self.set);
            }
        }
        Consumers::of(&self.set)
    }

    /// Forgets all answers.
    pub fn invalidate(&mut self) {
        self.flows.invalidate();
    }

    /// How many filters there are.
    pub fn len(&self) -> usize {
        self.filters.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// What was done so far.
    pub fn counts(&self) -> FilterCounts {
        FilterCounts { flows: self.flows.counts(), ..self.counts }
    }

    /// Bytes of memory of the cache.
    pub fn cache_bytes(&self) -> usize {
        self.flows.bytes() + size_of_val(&*self.sets)
    }
}

#[inline]
fn run(filters: &[Filter], some: &[u32], view: &View<'_>, set: &mut [u64], counts: &mut FilterCounts) {
    counts.runs += some.len() as u64;
    for filter in some.iter().filter_map(|at| filters.get(*at as usize)) {
        if filter.program.matches(view) {
            filter.consumer.put_in(set);
        }
    }
}

impl std::fmt::Debug for FilterBank {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FilterBank({} filters, {:?})", self.filters.len(), self.index)
    }
}
