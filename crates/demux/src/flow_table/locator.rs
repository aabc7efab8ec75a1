//! The table as a locator: its records are keys and slots.

use core::hash::Hash;

use super::{FlowInsertError, FlowTable};
use crate::{
    InsertError, Locator, Slot,
    locator::{check_slot, find_by_find_probed},
    probe::Probe,
};

impl<K: Eq + Hash> Locator<K> for FlowTable<(K, Slot)> {
    find_by_find_probed!(K);

    #[inline]
    fn find_probed<P: Probe>(&mut self, key: &K, probe: &mut P) -> Option<Slot> {
        self.get_probed(key, probe).map(|record| record.1)
    }

    fn find_batch(&mut self, keys: &[K], slots: &mut [Option<Slot>]) {
        let count = keys.len().min(slots.len());
        self.visit_batch(&keys[..count], |n, record| slots[n] = record.map(|record| record.1));
    }

    fn prefetch(&self, keys: &[K]) {
        Self::prefetch(self, keys);
    }

    fn insert(&mut self, key: K, slot: Slot) -> Result<(), InsertError> {
        check_slot(slot)?;
        Self::insert(self, (key, slot)).map_err(|error| match error {
            FlowInsertError::Duplicate(_) => InsertError::Duplicate,
            FlowInsertError::Full(_) => InsertError::Full,
            FlowInsertError::Crowded(_) => InsertError::Crowded,
        })
    }

    fn remove(&mut self, key: &K) -> Option<Slot> {
        Self::remove(self, key).map(|record| record.1)
    }

    fn for_each(&self, visit: &mut dyn FnMut(&K, Slot)) {
        self.iter().for_each(|(key, slot)| visit(key, *slot));
    }

    fn len(&self) -> usize {
        Self::len(self)
    }

    fn bytes(&self) -> usize {
        Self::bytes(self)
    }
}
