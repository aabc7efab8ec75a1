//! A Swiss table: hashbrown's, behind the locators' trait.

use core::hash::Hash;

use hashbrown::HashTable;

use crate::{
    InsertError, KeyHash, Keyed, Locator, NoProbe, Probe, Slot,
    debug::debug_with_len,
    locator::{check_slot, find_by_find_probed},
    prefetch,
};

/// Open addressing with a byte of each entry's hash kept aside, sixteen of which are compared in one step. A key is
/// compared only when its byte matches: on average 1.0 entries are examined on a hit, 0.1 on a miss.
pub struct Swiss<K, S = Keyed> {
    table: HashTable<(K, Slot)>,
    hash: S,
    limit: usize,
}

impl<K, S: KeyHash> Swiss<K, S> {
    /// An empty table for at most `limit` keys.
    pub fn with_hash(hash: S, limit: usize) -> Self {
        Self { table: HashTable::new(), hash, limit }
    }
}

impl<K: Eq + Hash, S: KeyHash> Swiss<K, S> {
    #[inline(always)]
    fn entry(&self, key: &K, probe: &mut impl Probe) -> Option<&(K, Slot)> {
        self.table.find(self.hash.hash(key), |(present, _)| {
            probe.examined();
            present == key
        })
    }
}

impl<K: Eq + Hash, S: KeyHash> Locator<K> for Swiss<K, S> {
    find_by_find_probed!(K);

    #[inline]
    fn find_probed<P: Probe>(&mut self, key: &K, probe: &mut P) -> Option<Slot> {
        self.entry(key, probe).map(|(_, slot)| *slot)
    }

    /// By looking, since hashbrown has no other way; but for the entry that is likely to be the right one nobody waits.
    fn prefetch(&self, keys: &[K]) {
        if self.table.len() >= prefetch::WORTHWHILE {
            for key in keys {
                let likely = self.table.find(self.hash.hash(key), |_| true);
                likely.into_iter().for_each(prefetch);
            }
        }
    }

    fn insert(&mut self, key: K, slot: Slot) -> Result<(), InsertError> {
        if self.entry(&key, &mut NoProbe).is_some() {
            return Err(InsertError::Duplicate);
        }
        self.insert_new(key, slot)
    }

    fn insert_new(&mut self, key: K, slot: Slot) -> Result<(), InsertError> {
        check_slot(slot)?;
        if self.table.len() >= self.limit {
            return Err(InsertError::Full);
        }
        let hash = self.hash.hash(&key);
        self.table.insert_unique(hash, (key, slot), |(key, _)| self.hash.hash(key));
        Ok(())
    }

    fn remove(&mut self, key: &K) -> Option<Slot> {
        let entry = self.table.find_entry(self.hash.hash(key), |(present, _)| present == key).ok()?;
        let ((_, slot), _) = entry.remove();
        if self.table.len() * 16 < self.table.capacity() {
            self.table.shrink_to(self.table.len() * 2, |(key, _)| self.hash.hash(key));
        }
        Some(slot)
    }

    fn for_each(&self, visit: &mut dyn FnMut(&K, Slot)) {
        self.table.iter().for_each(|(key, slot)| visit(key, *slot));
    }

    fn len(&self) -> usize {
        self.table.len()
    }

    fn bytes(&self) -> usize {
        self.table.allocation_size()
    }
}

debug_with_len!([K: Eq + Hash, S: KeyHash] Swiss<K, S>, "Swiss");
