//! Answers by flow, each at the place that the packet's source hash names.

use throughline_demux::{Carried, ConfigError, Locator, Slot, SourceCache};
use throughline_stack::smoltcp::time::{Duration, Instant};

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
/// Direct-mapped: an answer is at the place that the low bits of the hash name, or nowhere. The key is compared, so a hash that
/// lies finds nothing. Memory is taken once, for as many flows as there are places, whatever strangers send. An answer that
/// was used since somebody else first wanted its place stays for that time: a flood of new flows
/// must bring two packets to a place between two packets of a flow to displace it. Nodes have a cache for each port, so
/// that a flood from one displaces nothing of the others'.
pub struct FlowCache<K, V> {
    keys: SourceCache<Carried<K>>,
    answers: Box<[Answer<V>]>,
    lifetime: Duration,
    /// Answers of earlier generations are invalid.
    generation: u32,
    counts: FlowCounts,
}

#[derive(Clone, Copy)]
struct Answer<V> {
    value: Option<V>,
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
    /// Answers not kept, since that of another flow had been in use.
    pub refused: u64,
}

impl<K: Eq + std::hash::Hash + Clone, V: Copy> FlowCache<K, V> {
    /// An empty cache.
    ///
    /// # Errors
    /// [`ConfigError`] if there are no places, or too many.
    pub fn new(config: FlowCacheConfig) -> Result<Self, ConfigError> {
        let keys = SourceCache::with_places(config.places)?;
        let nothing = Answer { value: None, until: Instant::ZERO, generation: 0, used: false };
        Ok(Self {
            keys,
            answers: vec![nothing; config.places.next_power_of_two()].into(),
            lifetime: config.lifetime,
            generation: 0,
            counts: FlowCounts::default(),
        })
    }

    /// The answer for a flow, if it is known and holds.
    #[inline]
    pub fn find(&mut self, hash: u32, key: &K, now: Instant) -> Option<V> {
        let slot = self.keys.find(&Carried { index: hash, key: key.clone() });
        let answer = slot.and_then(|slot| self.answers.get_mut(slot.0 as usize));
        if let Some(answer) = answer
            && answer.generation == self.generation
            && now < answer.until
        {
            answer.used = true;
            self.counts.hits += 1;
            return answer.value;
        }
        self.counts.misses += 1;
        None
    }

    /// Keeps the answer for a flow, unless its place is in use. Whether it was kept.
    pub fn put(&mut self, hash: u32, key: K, value: V, now: Instant) -> bool {
        let place = hash as usize & (self.answers.len() - 1);
        let key = Carried { index: hash, key };
        let known = self.keys.find(&key).is_some();
        let answer = &mut self.answers[place];
        let holds = answer.value.is_some() && answer.generation == self.generation && now < answer.until;
        if holds && answer.used && !known {
            answer.used = false;
            self.counts.refused += 1;
            return false;
        }
        if self.keys.put(key, Slot(place as u32)).is_err() {
            // Only a slot that is reserved is refused, the last of 2^32.
            return false;
        }
        self.counts.displaced += u64::from(holds && !known);
        let until = now + self.lifetime;
        *answer = Answer { value: Some(value), until, generation: self.generation, used: false };
        true
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
        self.keys.bytes() + size_of_val(&*self.answers)
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
        assert_eq!(cache.find(5, &78, now), None, "another flow");
        assert_eq!(cache.find(6, &77, now), None, "a hash that lies");
        assert_eq!(cache.counts(), FlowCounts { hits: 2, misses: 2, ..FlowCounts::default() });
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
    fn an_answer_in_use_is_displaced_only_by_the_second_that_comes() {
        let (mut cache, now) = (cache(4), Instant::ZERO);
        cache.put(1, 77, 1, now);
        cache.find(1, &77, now);
        assert!(!cache.put(1, 78, 2, now));
        assert_eq!(cache.find(1, &77, now), Some(1));
        assert!(!cache.put(1, 78, 2, now));
        assert!(cache.put(1, 79, 2, now));
        assert_eq!(cache.find(1, &77, now), None);
        assert_eq!(cache.counts().displaced, 1);
        assert_eq!(cache.counts().refused, 2);
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
