//! One place of an arena: a header of 16 bytes and the record.

use core::mem::MaybeUninit;

use crate::sync::{AtomicU32, Ordering, UnsafeCell};

/// Set in [`Cell::state`] while handles reach the record. It is the sign bit, so that a lookup's `fetch_add` and the
/// test of this bit are one instruction and a jump.
pub(super) const OPEN: u32 = 1 << 31;

/// Set in [`Cell::state`] from the publication of a record until its last reference is gone.
pub(super) const LIVE: u32 = 1 << 30;

/// A cell is vacant (`state` has neither flag), open (both; the arena owns one reference), or closed ([`LIVE`] alone:
/// removed, but calls in flight hold references). One without flags may also be retired: its record waits for readers. All-zero
/// memory is a vacant cell.
///
/// With a fat pointer as record two cells fill one cache line, and none straddles two.
#[repr(C)]
pub(super) struct Cell<R> {
    /// The record's nonce. Written and read under the same rules as the record.
    pub(super) nonce: UnsafeCell<u64>,
    /// [`OPEN`], [`LIVE`] and the number of references. Lookups that will be refused may add to it for a moment, in any
    /// state; nothing depends on the count of a vacant cell.
    pub(super) state: AtomicU32,
    /// Which of the arena's users the record belongs to, written and read under the same rules as the record; in a cell on a
    /// list the next slot.
    pub(super) tag: UnsafeCell<u32>,
    /// Initialised while `state` has [`LIVE`], and in a retired cell.
    pub(super) record: UnsafeCell<MaybeUninit<R>>,
}

impl<R> Cell<R> {
    /// The record's nonce.
    ///
    /// # Safety
    /// The caller holds a counted reference to the cell's record, or is an announced reader and has seen it open.
    #[inline(always)]
    pub(super) unsafe fn nonce(&self) -> u64 {
        // SAFETY: written before the record was published, and not again while it has references or may be read.
        self.nonce.with(|nonce| unsafe { *nonce })
    }

    /// Whether handles reach the record.
    #[inline(always)]
    pub(super) fn is_open(&self) -> bool {
        // SYNC POINT: record publication (with `insert`), removal.
        self.state.load(Ordering::Acquire) & OPEN != 0
    }

    /// As [`is_open`](Self::is_open), for the only one who looks: an atomic read would not be merged with the test.
    #[inline(always)]
    pub(super) fn is_open_to_me(&mut self) -> bool {
        #[cfg(not(loom))]
        let state = *self.state.get_mut();
        #[cfg(loom)]
        let state = self.state.with_mut(|state| *state);
        state & OPEN != 0
    }

    /// The record's tag.
    ///
    /// # Safety
    /// The caller holds a counted reference to the cell's record.
    #[inline(always)]
    pub(super) unsafe fn tag(&self) -> u32 {
        // SAFETY: written before the record was published, and not again while it has references.
        self.tag.with(|tag| unsafe { *tag })
    }

    /// A cell like those in zeroed memory; loom's atomics can't be made of zeroes.
    #[cfg(loom)]
    pub(super) fn vacant() -> Self {
        Self {
            nonce: UnsafeCell::new(0),
            state: AtomicU32::new(0),
            tag: UnsafeCell::new(0),
            record: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }
}
