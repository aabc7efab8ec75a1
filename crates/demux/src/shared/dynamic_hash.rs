//! Dynamic hashing: chains from a table of twice as many buckets as entries, growing with them.
//!
//! All entries form one list in order of their hashes; a bucket is the part of it that shares the hash's upper
//! bits, and the table holds where each bucket's part begins. Growing therefore moves no entry: a finer table
//! points into the same list, and readers in the old table are right until they leave it.

use alloc::boxed::Box;
use core::ptr::null_mut;

use crossbeam_epoch::Guard;

use super::{
    InsertError, SharedLocator, check_key,
    entry::{Entry, Link, for_each, retire},
    find_by_find_with,
    linear::free_list,
};
use crate::{
    Probe, Slot,
    debug::debug_with_len,
    hashes::Keyed,
    sync::{AtomicPtr, AtomicUsize, Lock, Ordering},
};

/// Buckets of the smallest table, as a power of two.
const MIN_BITS: u32 = if cfg!(loom) { 1 } else { 3 };
/// Hashes have 32 bits, so a finer table would distinguish nothing.
const MAX_BITS: u32 = 31;

/// A chained hash table. A hit examines 1.13 to 1.25 entries on average, however many there are.
pub struct DynamicHash {
    table: AtomicPtr<Table>,
    /// The list of all entries, in order of their hashes.
    first: Link,
    hash: Keyed,
    len: AtomicUsize,
    /// Bytes of entries.
    bytes: AtomicUsize,
    limit: usize,
    writer: Lock<()>,
}

struct Table {
    bits: u32,
    /// Each bucket's first entry; null when the bucket is empty.
    heads: Box<[Link]>,
}

impl Table {
    fn new(bits: u32) -> Self {
        Self { bits, heads: (0..1usize << bits).map(|_| Link::new(null_mut())).collect() }
    }

    #[inline(always)]
    fn bucket(&self, hash: u32) -> usize {
        (hash >> (32 - self.bits)) as usize
    }

    /// The last entry before bucket `end`. Looks back over empty buckets, of which there are few in a row.
    ///
    /// # Safety
    /// The caller holds the writers' lock, for `'g`.
    unsafe fn last_before<'g>(&self, end: usize) -> Option<Entry<'g>> {
        // SAFETY: as the caller vouches.
        let mut at = self.heads[..end].iter().rev().find_map(|head| unsafe { Entry::at(head) })?;
        // SAFETY: likewise.
        while let Some(next) = unsafe { Entry::at(at.next()) }
            && self.bucket(next.hash()) < end
        {
            at = next;
        }
        Some(at)
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.heads) + size_of::<Self>()
    }
}

impl DynamicHash {
    /// An empty table for at most `limit` keys. `seed` must be unknown to whoever chooses the keys.
    pub fn with_capacity_limit(limit: usize, seed: u64) -> Self {
        Self {
            table: AtomicPtr::new(Box::into_raw(Box::new(Table::new(MIN_BITS)))),
            first: Link::new(null_mut()),
            hash: Keyed::new(seed),
            len: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            limit,
            writer: Lock::new(()),
        }
    }

    #[inline(always)]
    fn hash(&self, key: &[u8]) -> u32 {
        (self.hash.hash_bytes(key) >> 32) as u32
    }

    #[inline(always)]
    fn table<'g>(&self, _guard: &'g Guard) -> &'g Table {
        // SYNC POINT: table publication (with `resize`).
        // SAFETY: never null, and a replaced table outlives the guards that were pinned while it was current.
        unsafe { &*self.table.load(Ordering::Acquire) }
    }

    /// The entry of `key`.
    #[inline(always)]
    fn entry<'g, P: Probe>(&self, key: &[u8], guard: &'g Guard, probe: &mut P) -> Option<Entry<'g>> {
        let hash = self.hash(key);
        let table = self.table(guard);
        // SAFETY: `guard` was pinned before the first link was followed.
        let mut at = unsafe { Entry::at(&table.heads[table.bucket(hash)]) };
        while let Some(entry) = at {
            probe.examined();
            if entry.hash() >= hash {
                if entry.hash() > hash {
                    return None;
                }
                if entry.key() == key {
                    return Some(entry);
                }
            }
            // SAFETY: as above.
            at = unsafe { Entry::at(entry.next()) };
        }
        None
    }

    /// The last entry before `hash`'s place in the list: all before it have lower hashes.
    ///
    /// # Safety
    /// The caller holds the writers' lock, for `'g`.
    unsafe fn predecessor<'g>(&self, table: &Table, hash: u32) -> Option<Entry<'g>> {
        let bucket = table.bucket(hash);
        // SAFETY: as the caller vouches.
        let mut at = match unsafe { Entry::at(&table.heads[bucket]) } {
            Some(head) if head.hash() < hash => head,
            // SAFETY: as the caller vouches.
            _ => return unsafe { table.last_before(bucket) },
        };
        // SAFETY: as above.
        while let Some(next) = unsafe { Entry::at(at.next()) }
            && next.hash() < hash
        {
            at = next;
        }
        Some(at)
    }

    /// Replaces the table by one of 2^`bits` buckets. The caller holds the writers' lock.
    fn resize(&self, bits: u32, guard: &Guard) {
        let table = Table::new(bits);
        let mut filled = usize::MAX;
        // SAFETY: under the writers' lock entries stay.
        let mut at = unsafe { Entry::at(&self.first) };
        while let Some(entry) = at {
            let bucket = table.bucket(entry.hash());
            if bucket != filled {
                entry.link(&table.heads[bucket]);
                filled = bucket;
            }
            // SAFETY: as above.
            at = unsafe { Entry::at(entry.next()) };
        }
        // SYNC POINT: table publication (with `table`).
        let old = self.table.swap(Box::into_raw(Box::new(table)), Ordering::AcqRel);
        // SAFETY: `old` came from a box and is reached only by readers pinned before the swap.
        unsafe { guard.defer_unchecked(move || drop(Box::from_raw(old))) }
    }

    fn add(&self, key: &[u8], slot: Slot, guard: &Guard) -> Result<(), InsertError> {
        if self.len() >= self.limit {
            return Err(InsertError::Full);
        }
        if self.len() * 2 >= self.table(guard).heads.len() && self.table(guard).bits < MAX_BITS {
            self.resize(self.table(guard).bits + 1, guard);
        }
        let hash = self.hash(key);
        let table = self.table(guard);
        // SAFETY: the caller holds the writers' lock.
        let before = unsafe { self.predecessor(table, hash) };
        let link = before.map_or(&self.first, Entry::next);
        // SAFETY: as above.
        let entry = Entry::new(hash, slot, key, unsafe { Entry::at(link) });
        entry.link(link);
        let bucket = table.bucket(hash);
        if before.is_none_or(|before| table.bucket(before.hash()) != bucket) {
            entry.link(&table.heads[bucket]);
        }
        self.bytes.fetch_add(entry.bytes(), Ordering::Relaxed);
        self.len.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Takes an entry out of the list and its bucket. The caller holds the writers' lock.
    fn unlink(&self, entry: Entry<'_>, guard: &Guard) {
        let table = self.table(guard);
        let bucket = table.bucket(entry.hash());
        // SAFETY: under the writers' lock entries stay.
        let next = unsafe { Entry::at(entry.next()) };
        // SAFETY: as above.
        let mut link = unsafe { self.predecessor(table, entry.hash()) }.map_or(&self.first, Entry::next);
        // SAFETY: as above. Entries of equal hash may precede this one.
        while let Some(at) = unsafe { Entry::at(link) }
            && !at.is(entry)
        {
            link = at.next();
        }
        set(link, next);
        let head = &table.heads[bucket];
        // SAFETY: as above.
        if unsafe { Entry::at(head) }.is_some_and(|head| head.is(entry)) {
            set(head, next.filter(|next| table.bucket(next.hash()) == bucket));
        }
        self.bytes.fetch_sub(entry.bytes(), Ordering::Relaxed);
        self.len.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: unlinked from the list and from the only table that new readers see.
        unsafe { retire(entry, guard) }
    }
}

fn set(link: &Link, to: Option<Entry<'_>>) {
    match to {
        Some(entry) => entry.link(link),
        None => link.store(null_mut(), Ordering::Release),
    }
}

impl SharedLocator<[u8]> for DynamicHash {
    find_by_find_with!();

    #[inline]
    fn find_with<P: Probe, T>(&self, key: &[u8], probe: &mut P, hold: impl FnOnce(Slot) -> T) -> Option<T> {
        let guard = crossbeam_epoch::pin();
        self.entry(key, &guard, probe)?.hold(hold)
    }

    fn insert(&self, key: &[u8], slot: Slot) -> Result<(), InsertError> {
        check_key(key, slot)?;
        let _writer = self.writer.lock();
        let guard = crossbeam_epoch::pin();
        if self.entry(key, &guard, &mut crate::NoProbe).is_some() {
            return Err(InsertError::Duplicate);
        }
        self.add(key, slot, &guard)
    }

    fn remove(&self, key: &[u8]) -> Option<Slot> {
        let _writer = self.writer.lock();
        let guard = crossbeam_epoch::pin();
        let entry = self.entry(key, &guard, &mut crate::NoProbe)?;
        let slot = entry.mark_removed();
        self.unlink(entry, &guard);
        let bits = self.table(&guard).bits;
        // At an eighth of what would make it grow again, so that a few insertions don't undo it. A sparse table
        // would also make writers look back over many empty buckets.
        if bits > MIN_BITS && self.len() * 16 < 1 << bits {
            self.resize(bits - 1, &guard);
        }
        slot
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u8], Slot)) {
        let guard = crossbeam_epoch::pin();
        // SAFETY: pinned just now.
        unsafe { for_each(&self.first, &guard, visit) }
    }

    fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed) + self.table(&crossbeam_epoch::pin()).bytes()
    }
}

impl Drop for DynamicHash {
    fn drop(&mut self) {
        // SAFETY: nobody else has the table or the list; what was replaced or unlinked before was retired.
        unsafe {
            drop(Box::from_raw(self.table.load(Ordering::Relaxed)));
            free_list(&self.first);
        }
    }
}

debug_with_len!([] DynamicHash, "DynamicHash");
