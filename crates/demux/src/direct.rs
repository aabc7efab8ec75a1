//! No search at all: the packet carries the place.

use alloc::{boxed::Box, vec};

use crate::{
    ConfigError, InsertError, Key, Locator, Probe, Slot,
    debug::debug_with_len,
    locator::{check_slot, find_by_find_probed, one_by_one},
    prefetch,
};

/// In place of a slot: none.
const NONE: u32 = u32::MAX;

/// A table by the index that a key carries, which is taken at its word: nothing is compared. This is how labels that we
/// gave out ourselves are looked up, such as the threaded indices of routers.
///
/// Whoever sends another's index finds another's slot. Where that does harm, give out [handles](crate::Handle).
pub struct Direct<K> {
    slots: Box<[u32]>,
    /// Looked at by writers only.
    keys: Box<[Option<K>]>,
    len: usize,
    limit: usize,
}

impl<K: Key> Direct<K> {
    /// An empty table for indices less than `places`, and at most `limit` keys.
    ///
    /// # Errors
    /// [`ConfigError::ZeroChains`] and [`ConfigError::TooLarge`].
    pub fn with_places(places: usize, limit: usize) -> Result<Self, ConfigError> {
        if places == 0 {
            return Err(ConfigError::ZeroChains);
        }
        if places > 1 << 31 {
            return Err(ConfigError::TooLarge);
        }
        let keys = (0..places).map(|_| None).collect();
        Ok(Self { slots: vec![NONE; places].into(), keys, len: 0, limit })
    }

    /// What is at an index.
    #[inline(always)]
    pub fn at(&self, index: u32) -> Option<Slot> {
        self.slots.get(index as usize).filter(|slot| **slot != NONE).map(|slot| Slot(*slot))
    }
}

impl<K: Key> Locator<K> for Direct<K> {
    find_by_find_probed!(K);

    /// Examines nothing.
    #[inline]
    fn find_probed<P: Probe>(&mut self, key: &K, _probe: &mut P) -> Option<Slot> {
        self.at(key.index()?)
    }

    fn find_batch(&mut self, keys: &[K], slots: &mut [Option<Slot>]) {
        if self.len < prefetch::WORTHWHILE {
            return one_by_one(self, keys, slots);
        }
        let table = &*self;
        let start = |key: &K| {
            let index = key.index().unwrap_or(NONE);
            prefetch::read(table.slots.get(index as usize));
            index as usize
        };
        prefetch::in_two_steps(keys, slots, start, |_, index| table.at(index as u32));
    }

    fn prefetch(&self, keys: &[K]) {
        if self.len >= prefetch::WORTHWHILE {
            for index in keys.iter().filter_map(K::index) {
                prefetch::read(self.slots.get(index as usize));
                prefetch::read(self.keys.get(index as usize));
            }
        }
    }

    fn insert(&mut self, key: K, slot: Slot) -> Result<(), InsertError> {
        check_slot(slot)?;
        let index = key.index().ok_or(InsertError::NoIndex)? as usize;
        let place = self.keys.get_mut(index).ok_or(InsertError::IndexOutOfRange)?;
        match place {
            Some(present) if *present == key => return Err(InsertError::Duplicate),
            Some(_) => return Err(InsertError::Occupied),
            None if self.len >= self.limit => return Err(InsertError::Full),
            None => *place = Some(key),
        }
        self.slots[index] = slot.0;
        self.len += 1;
        Ok(())
    }

    fn remove(&mut self, key: &K) -> Option<Slot> {
        let index = key.index()? as usize;
        // Dropped last, for its destructor may panic.
        let _removed = self.keys.get_mut(index)?.take_if(|present| present == key)?;
        self.len -= 1;
        Some(Slot(core::mem::replace(&mut self.slots[index], NONE)))
    }

    fn for_each(&self, visit: &mut dyn FnMut(&K, Slot)) {
        for (key, slot) in self.keys.iter().zip(&self.slots) {
            if let Some(key) = key {
                visit(key, Slot(*slot));
            }
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.slots) + size_of_val(&*self.keys)
    }
}

debug_with_len!([K: Key] Direct<K>, "Direct");
