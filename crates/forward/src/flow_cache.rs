//! Answers by flow, each at the place that the packet's source hash names.

use throughline_demux::ConfigError;
use throughline_stack::smoltcp::time::{Duration, Instant};

/// The most places: a hash has 32 bits.
const MOST: usize = 1 << 31;

/// How large a [`FlowCache`] is, and how long its answers hold.
#[derive(Clone, Copy, Debug)]
pub struct FlowCacheConfig {
    /// Flows kept at a time, rounded up to a power of two. The paper's had 65,536.
    pub places: usize,
    /// After this time an answer is looked up again, whatever happens: a source that has crashed may use an id again.
    pub lifetime: Duration,
}

impl Default for FlowCacheConfig {
    /// 65,536 places, 30 seconds.
    fn default() -> Self {
        Self { places: 65_536, lifetime: Duration::from_secs(30) }
    }
}

/// Remembers the answer of a long lookup for each flow.
///
/// An answer is at the place that the low bits of the hash name, or at that place's neighbour, or nowhere; of three flows that
/// share two places one has none. The key is compared, so a hash that lies finds nothing. Memory is taken once, for as many
/// flows as there are places, whatever strangers send. An answer that was used since somebody else first wanted its place
/// stays for that time: a flood of new flows must bring two packets to a place between two packets of a flow to displace it.
/// Nodes have a cache for each port, so that a flood from one displaces nothing of the others'.
pub struct FlowCache<K, V> {
    places: Box<[Option<Answer<K, V>>]>,
    lifetime: Duration,
    /// Answers of earlier generations are invalid.
    generation: u32,
    counts: FlowCounts,
}

#[derive(Clone, Copy)]
struct Answer<K, V> {
    key: K,
    value: V,
    until: Instant,
    generation: u32,
    used: bool,
}

/// What became of the lookups in a [`FlowCache`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCounts {
    /// Answered from the cache.
    pub hits: u64,
    /// Not answered: unknown, too old, or of before the last change.
    pub misses: u64,
    /// Answers that took the place of another flow's.
    pub displaced: u64,
    /// Answers not kept, since those of other flows had been in use.
    pub refused: u64,
}

impl<K: Eq, V: Copy> FlowCache<K, V> {
    /// An empty cache. There are two places at least.
    ///
    /// # Errors
    /// [`ConfigError`] if there are no places, or too many.
    pub fn new(config: FlowCacheConfig) -> Result<Self, ConfigError> {
        let places = match config.places {
            0 => return Err(ConfigError::ZeroChains),
            1..=MOST => config.places.next_power_of_two().max(2),
            _ => return Err(ConfigError::TooLarge),
        };
        Ok(Self {
            places: (0..places).map(|_| None).collect(),
            lifetime: config.lifetime,
            generation: 0,
            counts: FlowCounts::default(),
        })
    }

    /// The answer for a flow, if it is known and holds.
    #[inline]
    pub fn find(&mut self, hash: u32, key: &K, now: Instant) -> Option<V> {
        for place in self.two_places(hash) {
            if let Some(Some(answer)) = self.places.get_mut(place)
                && answer.key == *key
                && answer.generation == self.generation
                && now < answer.until
            {
                answer.used = true;
                self.counts.hits += 1;
                return Some(answer.value);
            }
        }
        self.counts.misses += 1;
        None
    }

    /// Keeps the answer for a flow, unless both its places are in use. Whether it was kept.
    pub fn put(&mut self, hash: u32, key: K, value: V, now: Instant) -> bool {
        self.put_at(hash, key, now, |_| value)
    }

    /// As [`put`](Self::put), and the answer is told its place, of [`places`](Self::places), which no other answer has while
    /// it holds.
    pub fn put_at(&mut self, hash: u32, key: K, now: Instant, value: impl FnOnce(usize) -> V) -> bool {
        let both = self.two_places(hash);
        let known = both.into_iter().find(|place| self.is_at(*place, &key));
        let free = || both.into_iter().find(|place| !self.holds(*place, now));
        let unused = || both.into_iter().find(|place| !self.is_used(*place));
        let Some(place) = known.or_else(free).or_else(unused) else {
            both.into_iter().for_each(|place| self.want(place));
            self.counts.refused += 1;
            return false;
        };
        self.counts.displaced += u64::from(known.is_none() && self.holds(place, now));
        let until = now + self.lifetime;
        let value = value(place);
        self.places[place] = Some(Answer { key, value, until, generation: self.generation, used: false });
        true
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.places.len()
    }

    /// The place that the hash names, and its neighbour.
    #[inline]
    fn two_places(&self, hash: u32) -> [usize; 2] {
        let place = hash as usize & (self.places.len() - 1);
        [place, place ^ 1]
    }

    fn is_at(&self, place: usize, key: &K) -> bool {
        self.places[place].as_ref().is_some_and(|answer| answer.key == *key)
    }

    fn holds(&self, place: usize, now: Instant) -> bool {
        let holds = |answer: &Answer<K, V>| answer.generation == self.generation && now < answer.until;
        self.places[place].as_ref().is_some_and(holds)
    }

    fn is_used(&self, place: usize) -> bool {
        self.places[place].as_ref().is_some_and(|answer| answer.used)
    }

    /// Somebody else wants the place, and gets it unless it is used until it is wanted again.
    fn want(&mut self, place: usize) {
        if let Some(answer) = &mut self.places[place] {
            answer.used = false;
        }
    }

    /// Forgets all answers, in one step: a route or a filter has changed.
    pub fn invalidate(&mut self) {
        // After 2^32 changes within the lifetime of an answer it would hold again; it is too old by then.
        self.generation = self.generation.wrapping_add(1);
    }

    /// What became of the lookups so far.
    pub fn counts(&self) -> FlowCounts {
        self.counts
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(places: usize) -> FlowCache<u64, u8> {
        FlowCache::new(FlowCacheConfig { places, lifetime: Duration::from_secs(30) }).unwrap()
    }

    #[test]
    fn answers_are_found_by_key_and_place() {
        let (mut cache, now) = (cache(4), Instant::ZERO);
        assert!(cache.put(5, 77, 1, now));
        assert_eq!(cache.find(5, &77, now), Some(1));
        assert_eq!(cache.find(1, &77, now), Some(1), "the same place");
        assert_eq!(cache.find(4, &77, now), Some(1), "its neighbour");
        assert_eq!(cache.find(5, &78, now), None, "another flow");
        assert_eq!(cache.find(6, &77, now), None, "a hash that lies");
        assert_eq!(cache.counts(), FlowCounts { hits: 3, misses: 2, ..FlowCounts::default() });
    }

    #[test]
    fn answers_end_with_time_and_with_changes() {
        let (mut cache, now) = (cache(4), Instant::from_secs(100));
        cache.put(1, 77, 1, now);
        assert_eq!(cache.find(1, &77, now + Duration::from_secs(29)), Some(1));
        assert_eq!(cache.find(1, &77, now + Duration::from_secs(30)), None);
        cache.put(1, 77, 2, now);
        cache.invalidate();
        assert_eq!(cache.find(1, &77, now), None);
        assert!(cache.put(1, 77, 3, now));
        assert_eq!(cache.find(1, &77, now), Some(3));
    }

    #[test]
    fn two_flows_share_two_places() {
        let (mut cache, now) = (cache(4), Instant::ZERO);
        for flow in [77, 78] {
            assert!(cache.put_at(1, flow, now, |place| place as u8));
        }
        assert_eq!((cache.find(1, &77, now), cache.find(1, &78, now)), (Some(1), Some(0)));
        assert!(cache.put_at(0, 78, now, |place| place as u8), "known where it is");
        assert_eq!((cache.find(0, &77, now), cache.find(0, &78, now)), (Some(1), Some(0)));
        assert_eq!(cache.counts().displaced, 0);
    }

    #[test]
    fn an_answer_in_use_is_displaced_only_by_the_second_that_comes() {
        let (mut cache, now) = (cache(4), Instant::ZERO);
        for flow in [76, 77] {
            cache.put(1, flow, 1, now);
            cache.find(1, &flow, now);
        }
        assert!(!cache.put(1, 78, 2, now));
        assert_eq!((cache.find(1, &76, now), cache.find(1, &77, now)), (Some(1), Some(1)));
        assert!(!cache.put(1, 78, 2, now));
        assert_eq!(cache.find(1, &77, now), Some(1));
        assert!(cache.put(1, 79, 2, now));
        assert_eq!((cache.find(1, &76, now), cache.find(1, &77, now)), (None, Some(1)));
        assert_eq!(cache.counts().displaced, 1);
        assert_eq!(cache.counts().refused, 2);
    }

    #[test]
    fn numbers_of_places() {
        let new =
            |places| FlowCache::<u64, u8>::new(FlowCacheConfig { places, ..FlowCacheConfig::default() });
        assert_eq!([1, 2, 3, 4].map(|places| new(places).unwrap().places()), [2, 2, 4, 4]);
        assert!(matches!(new(0), Err(ConfigError::ZeroChains)));
        assert!(matches!(new(usize::MAX), Err(ConfigError::TooLarge)));
    }

    #[test]
    fn a_flood_of_flows_takes_no_memory() {
        let (mut cache, now) = (cache(16), Instant::ZERO);
        let bytes = cache.bytes();
        for flow in 0..10_000_u64 {
            cache.put(flow as u32, flow, 0, now);
        }
        assert_eq!(cache.bytes(), bytes);
    }
}
