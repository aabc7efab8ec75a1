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
///
/// A key of 16 bytes and an answer of 8 take 32 bytes with all that is known of them, so that both places are one cache line.
pub struct FlowCache<K, V> {
    pairs: Box<[Pair<K, V>]>,
    /// In ticks.
    lifetime: u32,
    /// As in answers that hold.
    generation: u32,
    counts: FlowCounts,
}

/// Two places, in one cache line if they fit.
#[derive(Clone)]
#[repr(align(64))]
struct Pair<K, V>([Answer<K, V>; 2]);

#[derive(Clone)]
struct Answer<K, V> {
    /// 0 where there never was one, otherwise the cache's at that time; and [`USED`] if it was used since somebody else wanted
    /// its place.
    generation: u32,
    /// The first tick at which it holds no longer.
    until: u32,
    key: K,
    value: V,
}

const USED: u32 = 1;
/// Generations are so far apart.
const CHANGE: u32 = 2;
/// A tick is so many bits of microseconds: 65 ms. They are the same again after nine years.
const TICK_BITS: u32 = 16;

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

impl<K: Eq + Clone + Default, V: Copy + Default> FlowCache<K, V> {
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
        let nothing = Answer { generation: 0, until: 0, key: K::default(), value: V::default() };
        let ticks = (config.lifetime.total_micros() >> TICK_BITS).clamp(1, i32::MAX as u64);
        Ok(Self {
            pairs: vec![Pair([nothing.clone(), nothing]); places / 2].into(),
            lifetime: ticks as u32,
            generation: CHANGE,
            counts: FlowCounts::default(),
        })
    }

    /// The answer for a flow, if it is known and holds.
    #[inline]
    pub fn find(&mut self, hash: u32, key: &K, now: Instant) -> Option<V> {
        let (place, generation, now) = (self.place(hash), self.generation, tick(now));
        let Pair(pair) = &mut self.pairs[place / 2];
        for at in [place % 2, 1 - place % 2] {
            let answer = &mut pair[at];
            if answer.key == *key && answer.holds(generation, now) {
                answer.generation |= USED;
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
        let (place, generation, now) = (self.place(hash), self.generation, tick(now));
        let Pair(pair) = &mut self.pairs[place / 2];
        let both = [place % 2, 1 - place % 2];
        let first = |is: &dyn Fn(&Answer<K, V>) -> bool| both.into_iter().find(|at| is(&pair[*at]));
        let known = first(&|answer| answer.generation != 0 && answer.key == key);
        let free = || first(&|answer| !answer.holds(generation, now));
        let unused = || first(&|answer| answer.generation & USED == 0);
        let Some(at) = known.or_else(free).or_else(unused) else {
            // Those who have them must use them until they are wanted again.
            pair.iter_mut().for_each(|answer| answer.generation &= !USED);
            self.counts.refused += 1;
            return false;
        };
        self.counts.displaced += u64::from(known.is_none() && pair[at].holds(generation, now));
        let until = now.wrapping_add(self.lifetime);
        pair[at] = Answer { generation, until, key, value: value(place & !1 | at) };
        true
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        2 * self.pairs.len()
    }

    /// The place that the hash names.
    #[inline(always)]
    fn place(&self, hash: u32) -> usize {
        hash as usize & (self.places() - 1)
    }

    /// Forgets all answers, in one step: a route or a filter has changed.
    pub fn invalidate(&mut self) {
        self.generation = self.generation.wrapping_add(CHANGE);
        if self.generation == 0 {
            // Answers of 2^31 changes ago would hold again.
            self.pairs.iter_mut().flat_map(|Pair(pair)| pair).for_each(|answer| answer.generation = 0);
            self.generation = CHANGE;
        }
    }

    /// What became of the lookups so far.
    pub fn counts(&self) -> FlowCounts {
        self.counts
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.pairs)
    }
}

impl<K, V> Answer<K, V> {
    #[inline(always)]
    fn holds(&self, generation: u32, now: u32) -> bool {
        self.generation | USED == generation | USED && (self.until.wrapping_sub(now) as i32) > 0
    }
}

#[inline(always)]
fn tick(now: Instant) -> u32 {
    (now.total_micros() >> TICK_BITS) as u32
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
    fn two_routes_are_a_cache_line() {
        assert_eq!(size_of::<Pair<[u64; 2], [u16; 4]>>(), 64);
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
