//! The arena's storage: segments of doubling size that never move.

use alloc::alloc::{alloc_zeroed, dealloc, handle_alloc_error};
use core::{alloc::Layout, ptr::NonNull};

use super::{Slot, cell::Cell};
use crate::sync::{AtomicPtr, Ordering};

/// The first segment has 2 to this many cells, each further one twice as many as the one before.
const FIRST_BITS: u32 = if cfg!(loom) { 1 } else { 6 };
const FIRST: u64 = 1 << FIRST_BITS;

/// Slots are biased by [`FIRST`], so that the position of the highest bit names the segment and the bits below
/// it the cell. The lowest `FIRST_BITS` entries are never used; a shorter table would cost a subtraction.
const SEGMENTS: usize = 33;

/// Every slot that fits a segment is below this.
pub(super) const MAX_SLOTS: u32 = u32::MAX - FIRST as u32;

pub(super) struct Segments<R> {
    table: [AtomicPtr<Cell<R>>; SEGMENTS],
}

impl<R> Segments<R> {
    pub(super) fn new() -> Self {
        Self { table: core::array::from_fn(|_| AtomicPtr::new(core::ptr::null_mut())) }
    }

    /// The cell of `slot`, if its segment exists: any number a stranger sends may be asked for.
    #[inline(always)]
    pub(super) fn cell(&self, slot: Slot) -> Option<&Cell<R>> {
        let index = u64::from(slot.0) + FIRST;
        let segment = index.ilog2();
        // SYNC POINT: segment publication (with `ensure`).
        let first = NonNull::new(self.table[segment as usize].load(Ordering::Acquire))?;
        let offset = index ^ (1 << segment);
        // SAFETY: segment `n` has 2^n cells and `offset` is below that, `index` without its highest bit. Cells
        // are initialised when their segment is published and stay until `self` is dropped.
        Some(unsafe { first.add(offset as usize).as_ref() })
    }

    /// Allocates the segment of `slot` unless it exists. One caller at a time.
    pub(super) fn ensure(&self, slot: Slot) {
        let segment = (u64::from(slot.0) + FIRST).ilog2() as usize;
        if self.table[segment].load(Ordering::Relaxed).is_null() {
            // SYNC POINT: segment publication (with `cell`).
            self.table[segment].store(allocate(segment), Ordering::Release);
        }
    }

    /// The slot of a cell of this arena, found by its address.
    pub(super) fn slot_of(&self, cell: &Cell<R>) -> Slot {
        let address = core::ptr::from_ref(cell).addr();
        for segment in FIRST_BITS as usize..SEGMENTS {
            let first = self.table[segment].load(Ordering::Acquire).addr();
            if first == 0 {
                break;
            }
            let offset = address.wrapping_sub(first) / size_of::<Cell<R>>();
            if offset < 1 << segment {
                return Slot(((1u64 << segment) + offset as u64 - FIRST) as u32);
            }
        }
        unreachable!("the cell belongs to another arena")
    }

    /// Bytes allocated for cells, those never used (and by the system perhaps not yet backed) included.
    pub(super) fn bytes(&self) -> usize {
        let present = (0..SEGMENTS).filter(|&n| !self.table[n].load(Ordering::Relaxed).is_null());
        present.map(|n| layout::<R>(n).size()).sum()
    }
}

impl<R> Drop for Segments<R> {
    fn drop(&mut self) {
        for segment in 0..SEGMENTS {
            let first = self.table[segment].load(Ordering::Relaxed);
            if !first.is_null() {
                // SAFETY: allocated by `allocate` with this layout; `&mut self` says that nobody looks at it.
                unsafe { dealloc(first.cast(), layout::<R>(segment)) }
            }
        }
    }
}

/// Cache-line aligned, so that cells whose size divides 64 never straddle a line.
fn layout<R>(segment: usize) -> Layout {
    let cells = Layout::array::<Cell<R>>(1 << segment).and_then(|cells| cells.align_to(64));
    cells.expect("a segment is smaller than the address space")
}

fn allocate<R>(segment: usize) -> *mut Cell<R> {
    let layout = layout::<R>(segment);
    // SAFETY: a cell's header alone makes the size non-zero.
    let first: *mut Cell<R> = unsafe { alloc_zeroed(layout) }.cast();
    if first.is_null() {
        handle_alloc_error(layout);
    }
    // Zeroes are a vacant cell; large segments are thereby backed by the system only as far as they are used.
    #[cfg(loom)]
    for n in 0..1usize << segment {
        // SAFETY: within the allocation just made.
        unsafe { first.add(n).write(Cell::vacant()) }
    }
    first
}
