//! Source hashing, direct-mapped: a cache in front of a longer lookup.

use alloc::boxed::Box;

use crate::{
    ConfigError, InsertError, Key, Locator, Probe, Slot,
    chained::power_of_two,
    debug::debug_with_len,
    locator::{check_slot, find_by_find_probed, one_by_one},
    prefetch,
};

/// One entry for every value of the lower bits of the index that packets carry; its key is compared.
///
/// Keys with the same bits displace one another ([`put`](Self::put)), so this is a cache: on a miss, look the key up in
/// the long way and put the answer here. [`SourceHash`](crate::SourceHash) keeps them all, on chains.
pub struct SourceCache<K> {
    entries: Box<[Option<Entry<K>>]>,
    len: usize,
}

struct Entry<K> {
    key: K,
    slot: Slot,
}

impl<K: Key> SourceCache<K> {
    /// An empty cache of so many entries, rounded up to a power of two.
    ///
    /// # Errors
    /// [`ConfigError::ZeroChains`] and [`ConfigError::TooLarge`].
    pub fn with_places(places: usize) -> Result<Self, ConfigError> {
        let places = power_of_two(places)?;
        Ok(Self { entries: (0..places).map(|_| None).collect(), len: 0 })
    }

    /// Puts a key in its place, and returns what was there: the same key, or one that is thereby displaced.
    ///
    /// # Errors
    /// [`InsertError::NoIndex`] and [`InsertError::ReservedSlot`].
    pub fn put(&mut self, key: K, slot: Slot) -> Result<Option<(K, Slot)>, InsertError> {
        check_slot(slot)?;
        let place = self.place(&key).ok_or(InsertError::NoIndex)?;
        let before = self.entries[place].replace(Entry { key, slot });
        self.len += usize::from(before.is_none());
        Ok(before.map(|entry| (entry.key, entry.slot)))
    }

    #[inline(always)]
    fn place(&self, key: &K) -> Option<usize> {
        Some(key.index()? as usize & (self.entries.len() - 1))
    }

    /// Where a key may be, or beyond all places; asks for what is there.
    #[inline(always)]
    fn ask(&self, key: &K) -> usize {
        let place = self.place(key).unwrap_or(usize::MAX);
        prefetch::read(self.entries.get(place));
        place
    }

    #[inline(always)]
    fn entry(&self, place: usize) -> Option<&Entry<K>> {
        self.entries.get(place)?.as_ref()
    }
}

impl<K: Key> Locator<K> for SourceCache<K> {
    find_by_find_probed!(K);

    #[inline]
    fn find_probed<P: Probe>(&mut self, key: &K, probe: &mut P) -> Option<Slot> {
        let entry = self.entry(self.place(key)?)?;
        probe.examined();
        (entry.key == *key).then_some(entry.slot)
    }

    fn find_batch(&mut self, keys: &[K], slots: &mut [Option<Slot>]) {
        if self.len < prefetch::WORTHWHILE {
            return one_by_one(self, keys, slots);
        }
        let cache = &*self;
        let finish = |key: &K, place| cache.entry(place).filter(|e| e.key == *key).map(|e| e.slot);
        prefetch::in_two_steps(keys, slots, |key| cache.ask(key), finish);
    }

    fn prefetch(&self, keys: &[K]) {
        if self.len >= prefetch::WORTHWHILE {
            keys.iter().for_each(|key| _ = self.ask(key));
        }
    }

    /// Displaces nobody.
    ///
    /// # Errors
    /// [`InsertError::Occupied`] if another key has the place.
    fn insert(&mut self, key: K, slot: Slot) -> Result<(), InsertError> {
        let place = self.place(&key).ok_or(InsertError::NoIndex)?;
        match self.entry(place) {
            Some(entry) if entry.key == key => Err(InsertError::Duplicate),
            Some(_) => Err(InsertError::Occupied),
            None => self.put(key, slot).map(|_| ()),
        }
    }

    fn remove(&mut self, key: &K) -> Option<Slot> {
        let place = self.place(key)?;
        let removed = self.entries.get_mut(place)?.take_if(|entry| entry.key == *key)?;
        self.len -= 1;
        Some(removed.slot)
    }

    fn for_each(&self, visit: &mut dyn FnMut(&K, Slot)) {
        self.entries.iter().flatten().for_each(|entry| visit(&entry.key, entry.slot));
    }

    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.entries)
    }
}

debug_with_len!([K: Key] SourceCache<K>, "SourceCache");
