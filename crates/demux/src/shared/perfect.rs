//! A perfect hash over a frozen set of keys: one entry examined, hit or miss, and no table half empty.

use alloc::{boxed::Box, vec::Vec};
use std::{collections::HashMap, sync::OnceLock};

use super::{
    InsertError, SharedLocator, check_key,
    entry::{REMOVED, hold_slot, take_slot},
    find_by_find_with,
};
use crate::{
    FreezeError, Probe, Slot,
    debug::debug_with_len,
    displace::{bucket, find_placement, place},
    hashes::Keyed,
    sync::{AtomicU32, AtomicUsize, Lock, Ordering},
};

/// Keys are inserted, then [frozen](SharedLocator::freeze), then found.
///
/// Before freezing no lookup finds anything: there is no second kind of table that would answer in the meantime
/// and cost something else. Afterwards keys can be removed, but neither inserted nor replaced.
pub struct Perfect {
    frozen: OnceLock<Frozen>,
    len: AtomicUsize,
    limit: usize,
    seed: u64,
    writer: Lock<Collected>,
}

/// The keys collected before freezing.
#[derive(Default)]
struct Collected {
    slots: HashMap<Box<[u8]>, Slot>,
    key_bytes: usize,
}

struct Frozen {
    hash: Keyed,
    displacements: Box<[u32]>,
    /// One per place, and one more for the end of the last key.
    entries: Box<[FrozenEntry]>,
    keys: Box<[u8]>,
}

struct FrozenEntry {
    /// Where its key begins; it ends where the next one's begins.
    key: u32,
    slot: AtomicU32,
}

impl Perfect {
    /// An empty set for at most `limit` keys. `seed` must be unknown to whoever chooses the keys that are asked
    /// for, unless more than one entry examined is no concern, which here it never is.
    pub fn with_capacity_limit(limit: usize, seed: u64) -> Self {
        Self {
            frozen: OnceLock::new(),
            len: AtomicUsize::new(0),
            limit: limit.min((u32::MAX / 2) as usize),
            seed,
            writer: Lock::new(Collected::default()),
        }
    }
}

impl Frozen {
    fn build(collected: &Collected, seed: u64) -> Option<Self> {
        let keys: Vec<(&[u8], Slot)> = collected.slots.iter().map(|(key, slot)| (&**key, *slot)).collect();
        let hashes = |hash: &Keyed| keys.iter().map(|(key, _)| hash.hash_bytes(key)).collect();
        let (hash, placement) = find_placement(keys.len(), seed, hashes)?;
        let (entries, bytes) = lay_out(&keys, &placement.places, collected.key_bytes);
        Some(Self { hash, displacements: placement.displacements.into(), entries, keys: bytes })
    }

    /// The only entry that can be `key`'s, if it is.
    #[inline(always)]
    fn entry(&self, key: &[u8], probe: &mut impl Probe) -> Option<&AtomicU32> {
        let hash = self.hash.hash_bytes(key);
        let displacement = self.displacements[bucket(hash, self.displacements.len())];
        let at = place(hash, displacement, self.entries.len() - 1);
        probe.examined();
        let [entry, next] = &self.entries[at..at + 2] else { return None };
        (self.keys[entry.key as usize..next.key as usize] == *key).then_some(&entry.slot)
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u8], Slot)) {
        for entries in self.entries.windows(2) {
            let [entry, next] = entries else { return };
            let key = &self.keys[entry.key as usize..next.key as usize];
            hold_slot(&entry.slot, |slot| slot).into_iter().for_each(|slot| visit(key, slot));
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.displacements) + size_of_val(&*self.entries) + self.keys.len()
    }
}

/// Entries by place, and their keys one after another.
fn lay_out(keys: &[(&[u8], Slot)], places: &[u32], key_bytes: usize) -> (Box<[FrozenEntry]>, Box<[u8]>) {
    let mut bytes = Vec::with_capacity(key_bytes);
    let mut entries = Vec::with_capacity(places.len() + 1);
    for &at in places {
        // `at` is `u32::MAX` at vacant places.
        let (key, slot) = keys.get(at as usize).map_or((&[][..], REMOVED), |(key, slot)| (*key, slot.0));
        entries.push(FrozenEntry { key: bytes.len() as u32, slot: AtomicU32::new(slot) });
        bytes.extend_from_slice(key);
    }
    entries.push(FrozenEntry { key: bytes.len() as u32, slot: AtomicU32::new(REMOVED) });
    (entries.into(), bytes.into())
}

impl SharedLocator<[u8]> for Perfect {
    find_by_find_with!();

    #[inline]
    fn find_with<P: Probe, T>(&self, key: &[u8], probe: &mut P, hold: impl FnOnce(Slot) -> T) -> Option<T> {
        hold_slot(self.frozen.get()?.entry(key, probe)?, hold)
    }

    fn insert(&self, key: &[u8], slot: Slot) -> Result<(), InsertError> {
        check_key(key, slot)?;
        let mut collected = self.writer.lock();
        if self.frozen.get().is_some() {
            return Err(InsertError::Frozen);
        }
        if collected.slots.contains_key(key) {
            return Err(InsertError::Duplicate);
        }
        let key_bytes = collected.key_bytes + key.len();
        if collected.slots.len() >= self.limit || u32::try_from(key_bytes).is_err() {
            return Err(InsertError::Full);
        }
        collected.slots.insert(key.into(), slot);
        collected.key_bytes = key_bytes;
        self.len.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn remove(&self, key: &[u8]) -> Option<Slot> {
        let mut collected = self.writer.lock();
        let slot = match self.frozen.get() {
            Some(frozen) => take_slot(frozen.entry(key, &mut crate::NoProbe)?)?,
            None => {
                let slot = collected.slots.remove(key)?;
                collected.key_bytes -= key.len();
                slot
            }
        };
        self.len.fetch_sub(1, Ordering::Relaxed);
        Some(slot)
    }

    fn freeze(&self) -> Result<(), FreezeError> {
        let mut collected = self.writer.lock();
        if self.frozen.get().is_some() {
            return Err(FreezeError::AlreadyFrozen);
        }
        let frozen = Frozen::build(&collected, self.seed).ok_or(FreezeError::NoPerfectHash)?;
        *collected = Collected::default();
        // Only the holder of `writer` sets it, and it was empty above.
        let _ = self.frozen.set(frozen);
        Ok(())
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u8], Slot)) {
        if let Some(frozen) = self.frozen.get() {
            return frozen.for_each(visit);
        }
        // A copy: the lock is not held while others' code runs.
        let collected = self.writer.lock();
        let keys: Vec<_> = collected.slots.iter().map(|(key, slot)| (key.clone(), *slot)).collect();
        drop(collected);
        keys.iter().for_each(|(key, slot)| visit(key, *slot));
    }

    fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    fn bytes(&self) -> usize {
        let collected = self.writer.lock();
        let entries = collected.slots.capacity() * size_of::<(Box<[u8]>, Slot)>();
        entries + collected.key_bytes + self.frozen.get().map_or(0, Frozen::bytes)
    }
}

debug_with_len!([] Perfect, "Perfect");
