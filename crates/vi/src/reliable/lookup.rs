//! Which slot? By the number that the sender drew at random, which is its own hash.

use std::hash::Hash;

use throughline_demux::{Carried, DynamicHash, Key, Keyed, Locator, Slot, SourceCache};

/// Places of the cache at most, whatever the limit of keys.
const MAX_PLACES: usize = 1 << 16;

/// A source-hash cache in front of a table whose hash strangers don't know: who draws all his numbers with the same lower
/// bits displaces himself from the cache, and costs others nothing.
pub(crate) struct SourceTable<K: Eq + Hash + Clone> {
    cache: SourceCache<Carried<K>>,
    table: DynamicHash<Carried<K>>,
}

impl<K: Eq + Hash + Clone> SourceTable<K>
where
    Carried<K>: Key,
{
    /// An empty table for at most `limit` keys; `seed` is 64 bits that nobody can guess.
    pub fn new(limit: usize, seed: u64) -> Self {
        let cache = SourceCache::with_places(limit.clamp(1, MAX_PLACES)).expect("between 1 and 2^16 places");
        Self { cache, table: DynamicHash::with_hash(Keyed::new(seed), limit) }
    }

    /// The slot of a key.
    #[inline]
    pub fn find(&mut self, key: &Carried<K>) -> Option<Slot> {
        self.cache.find(key).or_else(|| self.find_long(key))
    }

    #[cold]
    fn find_long(&mut self, key: &Carried<K>) -> Option<Slot> {
        let slot = self.table.find(key)?;
        self.cache.put(key.clone(), slot).ok();
        Some(slot)
    }

    /// Adds a key; `false` if there are too many, or it is there.
    pub fn insert(&mut self, key: &Carried<K>, slot: Slot) -> bool {
        let inserted = self.table.insert(key.clone(), slot).is_ok();
        if inserted {
            self.cache.put(key.clone(), slot).ok();
        }
        inserted
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: &Carried<K>) {
        self.cache.remove(key);
        self.table.remove(key);
    }
}
