//! The arena's storage: segments of doubling size that never move.

use alloc::alloc::{alloc_zeroed, dealloc, handle_alloc_error};
use core::{alloc::Layout, ptr::null_mut};

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
    /// By segment `n`: the address that its first cell would have if there were 2^n cells before it, so that a
    /// biased slot is an index from here without subtraction. Never dereferenced as such.
    table: [AtomicPtr<Cell<R>>; SEGMENTS],
}

impl<R> Segments<R> {
    pub(super) fn new() -> Self {
        Self { table: core::array::from_fn(|_| AtomicPtr::new(null_mut())) }
    }

    /// Calls `then` with the cell of `slot`, if its segment exists: any number a stranger sends may be asked for.
    ///
    /// An `Option<&Cell>` as result would cost a second test for null.
    #[inline(always)]
    pub(super) fn with_cell<'a, O>(
        &'a self,
        slot: Slot,
        then: impl FnOnce(&'a Cell<R>) -> Option<O>,
    ) -> Option<O> {
        let index = u64::from(slot.0) + FIRST;
        // SYNC POINT: segment publication (with `ensure`).
        let base = self.table[index.ilog2() as usize].load(Ordering::Acquire);
        if base.is_null() {
            return None;
        }
        // SAFETY: segment `n` has cells for the indices 2^n to 2^(n + 1) - 1, those whose highest bit is `n`, and
        // `base` is 2^n cells before them. Cells are initialised when their segment is published and stay until
        // `self` is dropped.
        then(unsafe { &*base.wrapping_add(index as usize) })
    }

    /// The cell of `slot`, if its segment exists.
    pub(super) fn cell(&self, slot: Slot) -> Option<&Cell<R>> {
        self.with_cell(slot, Some)
    }

    /// Allocates the segment of `slot` unless it exists. One caller at a time.
    pub(super) fn ensure(&self, slot: Slot) {
        let segment = (u64::from(slot.0) + FIRST).ilog2() as usize;
        if self.table[segment].load(Ordering::Relaxed).is_null() {
            // SYNC POINT: segment publication (with `with_cell`).
            self.table[segment].store(allocate_base(segment), Ordering::Release);
        }
    }

    /// The slot of a cell of this arena, found by its address.
    pub(super) fn slot_of(&self, cell: &Cell<R>) -> Slot {
        let address = core::ptr::from_ref(cell).addr();
        let index = self.table.iter().enumerate().find_map(|(segment, base)| {
            let base = base.load(Ordering::Acquire);
            let index = address.wrapping_sub(base.addr()) / size_of::<Cell<R>>();
            (!base.is_null() && index >> segment == 1).then_some(index as u64)
        });
        Slot((index.expect("a cell of this arena") - FIRST) as u32)
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
            let base = self.table[segment].load(Ordering::Relaxed);
            if !base.is_null() {
                // SAFETY: allocated by `allocate` with this layout; `&mut self` says that nobody looks at it.
                unsafe { dealloc(base.wrapping_add(1 << segment).cast(), layout::<R>(segment)) }
            }
        }
    }
}

/// Cache-line aligned, so that cells whose size divides 64 never straddle a line.
fn layout<R>(segment: usize) -> Layout {
    let cells = Layout::array::<Cell<R>>(1 << segment).and_then(|cells| cells.align_to(64));
    cells.expect("a segment is smaller than the address space")
}

/// Allocates a segment and returns its entry for the table.
fn allocate_base<R>(segment: usize) -> *mut Cell<R> {
    let base = |first: *mut Cell<R>| first.wrapping_sub(1 << segment);
    let first = allocate(segment);
    if !base(first).is_null() {
        return base(first);
    }
    // Of all addresses this one would read as "no segment"; another block has another.
    let second = allocate(segment);
    // SAFETY: just allocated with this layout, and not published.
    unsafe { dealloc(first.cast(), layout::<R>(segment)) };
    base(second)
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
