//! A perfect hash over a frozen set of keys: one entry examined, hit or miss, and no table half empty.

use alloc::{boxed::Box, vec::Vec};

use crate::{
    DynamicHash, FreezeError, InsertError, Key, KeyHash, Keyed, Locator, Probe, Slot,
    debug::debug_with_len,
    displace::{bucket, find_placement, place},
    locator::{find_by_find_probed, one_by_one},
    prefetch,
};

/// In place of the slot of an entry that was removed, or never was.
const REMOVED: u32 = u32::MAX;

/// Keys are inserted, then [frozen](Locator::freeze), then found.
///
/// Before freezing no lookup finds anything: there is no second kind of table that would answer in the meantime
/// and cost something else. Afterwards keys can be removed, but neither inserted nor replaced.
pub struct PerfectHash<K> {
    seed: u64,
    len: usize,
    state: State<K>,
}

enum State<K> {
    Collecting(DynamicHash<K>),
    Frozen(Frozen<K>),
}

struct Frozen<K> {
    hash: Keyed,
    displacements: Box<[u32]>,
    /// Vacant places hold a copy of some key, which is not looked for there.
    entries: Box<[Entry<K>]>,
}

struct Entry<K> {
    key: K,
    slot: u32,
}

impl<K: Key> PerfectHash<K> {
    /// An empty set for at most `limit` keys. No choice of keys makes a lookup examine more than one entry; `seed`
    /// matters to freezing only.
    pub fn with_capacity_limit(limit: usize, seed: u64) -> Self {
        let limit = limit.min((u32::MAX / 2) as usize);
        let collected = DynamicHash::with_hash(Keyed::new(seed), limit);
        Self { seed, len: 0, state: State::Collecting(collected) }
    }

    fn collecting(&mut self) -> Result<&mut DynamicHash<K>, InsertError> {
        match &mut self.state {
            State::Collecting(keys) => Ok(keys),
            State::Frozen(_) => Err(InsertError::Frozen),
        }
    }
}

impl<K: Key> Frozen<K> {
    fn build(keys: &[(K, Slot)], seed: u64) -> Option<Self> {
        let hashes = |hash: &Keyed| keys.iter().map(|(key, _)| hash.hash(key)).collect();
        let (hash, placement) = find_placement(keys.len(), seed, hashes)?;
        let entries = lay_out(keys, &placement.places);
        Some(Self { hash, displacements: placement.displacements.into(), entries })
    }

    /// Where the only entry is that can be `key`'s; beyond all entries if there are none.
    #[inline(always)]
    fn place(&self, key: &K) -> usize {
        let hash = self.hash.hash(key);
        let displacement = self.displacements[bucket(hash, self.displacements.len())];
        place(hash, displacement, self.entries.len())
    }

    /// As [`place`](Self::place); asks for the entry.
    #[inline(always)]
    fn ask(&self, key: &K) -> usize {
        let place = self.place(key);
        prefetch::read(self.entries.get(place));
        place
    }
}

/// Entries by place. `places` has more than keys, so without keys there is nothing to fill them with.
fn lay_out<K: Key>(keys: &[(K, Slot)], places: &[u32]) -> Box<[Entry<K>]> {
    let Some((any, _)) = keys.first() else { return Box::default() };
    let entry = |at: &u32| match keys.get(*at as usize) {
        Some((key, slot)) => Entry { key: key.clone(), slot: slot.0 },
        None => Entry { key: any.clone(), slot: REMOVED },
    };
    places.iter().map(entry).collect()
}

impl<K: Key> Locator<K> for PerfectHash<K> {
    find_by_find_probed!(K);

    #[inline]
    fn find_probed<P: Probe>(&mut self, key: &K, probe: &mut P) -> Option<Slot> {
        let State::Frozen(frozen) = &self.state else { return None };
        let entry = frozen.entries.get(frozen.place(key))?;
        probe.examined();
        (entry.key == *key && entry.slot != REMOVED).then_some(Slot(entry.slot))
    }

    fn find_batch(&mut self, keys: &[K], slots: &mut [Option<Slot>]) {
        let State::Frozen(frozen) = &self.state else { return one_by_one(self, keys, slots) };
        if frozen.entries.len() < prefetch::WORTHWHILE {
            return one_by_one(self, keys, slots);
        }
        prefetch::in_two_steps(
            keys,
            slots,
            |key| frozen.ask(key),
            |key, place| {
                let entry = frozen.entries.get(place)?;
                (entry.key == *key && entry.slot != REMOVED).then_some(Slot(entry.slot))
            },
        );
    }

    fn prefetch(&self, keys: &[K]) {
        match &self.state {
            State::Collecting(collected) => collected.prefetch(keys),
            State::Frozen(frozen) if frozen.entries.len() < prefetch::WORTHWHILE => (),
            State::Frozen(frozen) => keys.iter().for_each(|key| _ = frozen.ask(key)),
        }
    }

    fn insert(&mut self, key: K, slot: Slot) -> Result<(), InsertError> {
        self.collecting()?.insert(key, slot)?;
        self.len += 1;
        Ok(())
    }

    fn remove(&mut self, key: &K) -> Option<Slot> {
        let slot = match &mut self.state {
            State::Collecting(keys) => keys.remove(key)?,
            State::Frozen(frozen) => {
                let place = frozen.place(key);
                let entry = frozen.entries.get_mut(place).filter(|e| e.key == *key && e.slot != REMOVED)?;
                Slot(core::mem::replace(&mut entry.slot, REMOVED))
            }
        };
        self.len -= 1;
        Some(slot)
    }

    /// Allocates twice as much as the frozen table, in time proportional to the number of keys.
    fn freeze(&mut self) -> Result<(), FreezeError> {
        let keys = self.collecting().map_err(|_| FreezeError::AlreadyFrozen)?;
        let mut list = Vec::with_capacity(keys.len());
        keys.for_each(&mut |key, slot| list.push((key.clone(), slot)));
        let frozen = Frozen::build(&list, self.seed).ok_or(FreezeError::NoPerfectHash)?;
        self.state = State::Frozen(frozen);
        Ok(())
    }

    fn for_each(&self, visit: &mut dyn FnMut(&K, Slot)) {
        match &self.state {
            State::Collecting(keys) => keys.for_each(visit),
            State::Frozen(frozen) => {
                let present = frozen.entries.iter().filter(|entry| entry.slot != REMOVED);
                present.for_each(|entry| visit(&entry.key, Slot(entry.slot)));
            }
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> usize {
        match &self.state {
            State::Collecting(keys) => keys.bytes(),
            State::Frozen(frozen) => size_of_val(&*frozen.displacements) + size_of_val(&*frozen.entries),
        }
    }
}

debug_with_len!([K: Key] PerfectHash<K>, "PerfectHash");
