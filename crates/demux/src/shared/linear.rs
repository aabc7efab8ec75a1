//! One list, walked from the first entry: what every other strategy is compared with.

use core::ptr::null_mut;

use super::{
    InsertError, SharedLocator, check_key,
    entry::{Entry, Link, for_each, retire},
    find_by_find_with,
};
use crate::{
    Probe, Slot,
    debug::debug_with_len,
    sync::{AtomicUsize, Lock, Ordering},
};

/// A linked list in order of insertion. A hit examines half of the entries on average, a miss all of them.
pub struct Linear {
    first: Link,
    len: AtomicUsize,
    bytes: AtomicUsize,
    limit: usize,
    writer: Lock<()>,
    /// The link that a new entry goes into, touched by writers only: the last entry's, null for `first`.
    last: Link,
}

impl Linear {
    /// An empty list for at most `limit` keys.
    pub fn with_capacity_limit(limit: usize) -> Self {
        Self {
            first: Link::new(null_mut()),
            len: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            limit,
            writer: Lock::new(()),
            last: Link::new(null_mut()),
        }
    }

    fn append(&self, key: &[u8], slot: Slot) -> Result<(), InsertError> {
        if self.len() >= self.limit {
            return Err(InsertError::Full);
        }
        let entry = Entry::new(0, slot, key, None);
        // SAFETY: the caller holds the writers' lock, and `last` is never left at a retired entry.
        match unsafe { Entry::at(&self.last) } {
            Some(last) => entry.link(last.next()),
            None => entry.link(&self.first),
        }
        entry.link(&self.last);
        self.bytes.fetch_add(entry.bytes(), Ordering::Relaxed);
        self.len.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Takes out the entry that `link` leads to; `before` is the entry whose link that is.
    fn unlink<'g>(&'g self, before: Option<Entry<'g>>, link: &Link, entry: Entry<'g>) {
        let guard = crossbeam_epoch::pin();
        // SAFETY: under the writers' lock entries stay.
        match unsafe { Entry::at(entry.next()) } {
            Some(next) => next.link(link),
            None => {
                link.store(null_mut(), Ordering::Release);
                match before {
                    Some(before) => before.link(&self.last),
                    None => self.last.store(null_mut(), Ordering::Relaxed),
                }
            }
        }
        self.bytes.fetch_sub(entry.bytes(), Ordering::Relaxed);
        self.len.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: just unlinked, and no longer `last`.
        unsafe { retire(entry, &guard) }
    }
}

impl SharedLocator<[u8]> for Linear {
    find_by_find_with!();

    #[inline]
    fn find_with<P: Probe, T>(&self, key: &[u8], probe: &mut P, hold: impl FnOnce(Slot) -> T) -> Option<T> {
        let _guard = crossbeam_epoch::pin();
        let mut link = &self.first;
        // SAFETY: `_guard` was pinned before the first link was followed and outlives the walk.
        while let Some(entry) = unsafe { Entry::at(link) } {
            probe.examined();
            if entry.key() == key {
                return entry.hold(hold);
            }
            link = entry.next();
        }
        None
    }

    fn insert(&self, key: &[u8], slot: Slot) -> Result<(), InsertError> {
        check_key(key, slot)?;
        let _writer = self.writer.lock();
        if self.find(key).is_some() {
            return Err(InsertError::Duplicate);
        }
        self.append(key, slot)
    }

    fn insert_new(&self, key: &[u8], slot: Slot) -> Result<(), InsertError> {
        check_key(key, slot)?;
        let _writer = self.writer.lock();
        self.append(key, slot)
    }

    fn remove(&self, key: &[u8]) -> Option<Slot> {
        let _writer = self.writer.lock();
        let mut before = None;
        let mut link = &self.first;
        // SAFETY: under the writers' lock entries stay.
        while let Some(entry) = unsafe { Entry::at(link) } {
            if entry.key() == key {
                let slot = entry.mark_removed();
                self.unlink(before, link, entry);
                return slot;
            }
            before = Some(entry);
            link = entry.next();
        }
        None
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
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Drop for Linear {
    fn drop(&mut self) {
        // SAFETY: nobody else has the list; what was unlinked before was retired.
        unsafe { free_list(&self.first) }
    }
}

/// Frees a whole list.
///
/// # Safety
/// Nobody reaches its entries any more.
pub(super) unsafe fn free_list(first: &Link) {
    // SAFETY: as the caller vouches; each entry is left before it is freed.
    unsafe {
        let mut at = Entry::at(first);
        while let Some(entry) = at {
            at = Entry::at(entry.next());
            entry.free();
        }
    }
}

debug_with_len!([] Linear, "Linear");
