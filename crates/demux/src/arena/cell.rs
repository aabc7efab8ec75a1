//! One place of an arena: a header of 16 bytes and the record.

use core::mem::MaybeUninit;

use crate::sync::{AtomicU32, AtomicU64, UnsafeCell};

/// Set in [`Cell::state`] from the publication of a record until its last reference is gone.
///
/// It is the sign bit, so that a reader's `fetch_add` and the test of this bit are one instruction and a jump,
/// and all-zero memory is a vacant cell.
pub(super) const LIVE: u32 = 1 << 31;

/// A cell is vacant (`state` without [`LIVE`]), open (a handle reaches it; the arena owns one reference),
/// or closed (removed, but calls in flight hold references).
///
/// With a fat pointer as record two cells fill one cache line, and none straddles two.
#[repr(C)]
pub(super) struct Cell<R> {
    /// The open record's nonce; else `Arena::vacant_nonce` of the next free slot, which no handle carries.
    pub(super) nonce: AtomicU64,
    /// [`LIVE`] and the number of references. Readers that will be refused may add to it for a moment, in any
    /// state; nothing depends on the count of a vacant cell.
    pub(super) state: AtomicU32,
    /// Which of the arena's users the record belongs to. Written and read under the same rules as the record.
    pub(super) tag: UnsafeCell<u32>,
    /// Initialised while `state` has [`LIVE`].
    pub(super) record: UnsafeCell<MaybeUninit<R>>,
}

impl<R> Cell<R> {
    /// The record's tag.
    ///
    /// # Safety
    /// The caller holds a counted reference to the cell's record.
    #[inline(always)]
    pub(super) unsafe fn owner(&self) -> u32 {
        // SAFETY: written before the record was published, and not again while it has references.
        self.tag.with(|tag| unsafe { *tag })
    }

    /// A cell like those in zeroed memory; loom's atomics can't be made of zeroes.
    #[cfg(loom)]
    pub(super) fn vacant() -> Self {
        Self {
            nonce: AtomicU64::new(0),
            state: AtomicU32::new(0),
            tag: UnsafeCell::new(0),
            record: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }
}
