//! List entries shared by the concurrent locators: one allocation of link, hash, slot and key.

use alloc::alloc::{alloc, dealloc, handle_alloc_error};
use core::{alloc::Layout, marker::PhantomData, mem::offset_of, ptr::NonNull, slice};

use crossbeam_epoch::Guard;

use crate::{
    Slot,
    sync::{AtomicPtr, AtomicU32, Ordering},
};

/// In place of the slot of an entry that was removed.
pub(super) const REMOVED: u32 = u32::MAX;

/// The fixed part of an entry; the key's bytes follow `key_len` without padding.
#[repr(C)]
pub(super) struct Header {
    next: Link,
    hash: u32,
    slot: AtomicU32,
    key_len: u16,
}

/// Where a list continues.
pub(super) type Link = AtomicPtr<Header>;

const KEY_OFFSET: usize = offset_of!(Header, key_len) + size_of::<u16>();

/// An entry that can't be freed while `'g`, a pinned epoch or the writers' lock, lasts.
#[derive(Clone, Copy)]
pub(super) struct Entry<'g> {
    header: NonNull<Header>,
    life: PhantomData<&'g Header>,
}

impl<'g> Entry<'g> {
    /// Follows a link.
    ///
    /// # Safety
    /// `link` belongs to a list from which entries are removed only by [`retire`], after they were unlinked, and
    /// `'g` is within the life of a guard pinned before `link` was reached, or of the writers' lock.
    #[inline(always)]
    pub(super) unsafe fn at(link: &Link) -> Option<Entry<'g>> {
        // SYNC POINT: entry publication (with `Entry::link`).
        NonNull::new(link.load(Ordering::Acquire)).map(|header| Entry { header, life: PhantomData })
    }

    /// Allocates an entry in front of `next`. `key` was checked to be no longer than a `u16` counts.
    pub(super) fn new(hash: u32, slot: Slot, key: &[u8], next: Option<Entry<'_>>) -> Entry<'g> {
        let layout = layout(key.len());
        // SAFETY: the layout covers the header, so it isn't empty.
        let Some(block) = NonNull::new(unsafe { alloc(layout) }) else { handle_alloc_error(layout) };
        let header = block.cast::<Header>();
        let next = next.map_or(core::ptr::null_mut(), |entry| entry.header.as_ptr());
        let head = Header {
            next: Link::new(next),
            hash,
            slot: AtomicU32::new(slot.0),
            key_len: u16::try_from(key.len()).expect("key length was checked"),
        };
        // SAFETY: the block is ours, aligned for a header, and ends not before `KEY_OFFSET + key.len()`. The key
        // is written last because the header's trailing padding overlaps it.
        unsafe {
            header.write(head);
            block.add(KEY_OFFSET).copy_from_nonoverlapping(NonNull::from(key).cast(), key.len());
        }
        Entry { header, life: PhantomData }
    }

    #[inline(always)]
    fn header(self) -> &'g Header {
        // SAFETY: entries are initialised before they are linked and live for `'g`.
        unsafe { self.header.as_ref() }
    }

    /// The link to the entry after this one.
    #[inline(always)]
    pub(super) fn next(self) -> &'g Link {
        &self.header().next
    }

    #[inline(always)]
    pub(super) fn hash(self) -> u32 {
        self.header().hash
    }

    #[inline(always)]
    pub(super) fn key(self) -> &'g [u8] {
        let len = usize::from(self.header().key_len);
        // SAFETY: `header` was derived from the whole allocation, in which `new` wrote `len` bytes here, and which
        // nobody writes to afterwards.
        unsafe { slice::from_raw_parts(self.header.cast::<u8>().add(KEY_OFFSET).as_ptr(), len) }
    }

    /// Makes `link` lead here.
    pub(super) fn link(self, link: &Link) {
        // SYNC POINT: entry publication (with `Entry::at`).
        link.store(self.header.as_ptr(), Ordering::Release);
    }

    pub(super) fn is(self, other: Entry<'_>) -> bool {
        self.header == other.header
    }

    /// Calls `hold` with the slot and returns its result if the entry was still there afterwards.
    #[inline(always)]
    pub(super) fn hold<T>(self, hold: impl FnOnce(Slot) -> T) -> Option<T> {
        hold_slot(&self.header().slot, hold)
    }

    /// Marks the entry as removed; the writer then unlinks and retires it.
    pub(super) fn mark_removed(self) -> Option<Slot> {
        take_slot(&self.header().slot)
    }

    /// Bytes allocated.
    pub(super) fn bytes(self) -> usize {
        layout(self.key().len()).size()
    }

    /// Frees the entry.
    ///
    /// # Safety
    /// Nobody reaches it any more.
    pub(super) unsafe fn free(self) {
        let layout = layout(self.key().len());
        // SAFETY: allocated by `new` with this layout; the caller vouches for the rest. A header needs no drop.
        unsafe { dealloc(self.header.cast().as_ptr(), layout) }
    }
}

/// Shows the keys and slots of a list to `visit`, without those that were removed.
///
/// # Safety
/// As of [`Entry::at`]: `_guard` was pinned before `first` was reached.
pub(super) unsafe fn for_each(first: &Link, _guard: &Guard, visit: &mut dyn FnMut(&[u8], Slot)) {
    // SAFETY: as the caller says.
    let mut at = unsafe { Entry::at(first) };
    while let Some(entry) = at {
        entry.hold(|slot| slot).into_iter().for_each(|slot| visit(entry.key(), slot));
        // SAFETY: as the caller says.
        at = unsafe { Entry::at(entry.next()) };
    }
}

/// Frees an unlinked entry once every reader that may stand on it has moved on.
///
/// # Safety
/// The entry is unlinked from everywhere that a reader pinned from now on can reach, and retired once.
pub(super) unsafe fn retire(entry: Entry<'_>, guard: &Guard) {
    let header = entry.header.as_ptr();
    let free = move || {
        // SAFETY: `header` came from an entry and isn't null; the epoch says that nobody reaches it.
        unsafe { Entry { header: NonNull::new_unchecked(header), life: PhantomData }.free() }
    };
    // SAFETY: freeing memory may happen on any thread.
    unsafe { guard.defer_unchecked(free) }
}

/// Calls `hold` with the slot kept in `place` and returns its result if the slot was still there afterwards.
///
/// If `hold` takes a reference to the slot's *next* record, that record was inserted after the removal of the
/// previous one, which was preceded by [`take_slot`]; acquiring the reference makes the mark visible here.
#[inline(always)]
pub(super) fn hold_slot<T>(place: &AtomicU32, hold: impl FnOnce(Slot) -> T) -> Option<T> {
    let slot = place.load(Ordering::Acquire);
    if slot == REMOVED {
        return None;
    }
    let held = hold(Slot(slot));
    (place.load(Ordering::Acquire) == slot).then_some(held)
}

/// Takes the slot out of `place`.
pub(super) fn take_slot(place: &AtomicU32) -> Option<Slot> {
    let slot = place.swap(REMOVED, Ordering::AcqRel);
    (slot != REMOVED).then_some(Slot(slot))
}

fn layout(key_len: usize) -> Layout {
    let size = (KEY_OFFSET + key_len).max(size_of::<Header>()).next_multiple_of(align_of::<Header>());
    Layout::from_size_align(size, align_of::<Header>()).expect("a key is short")
}
