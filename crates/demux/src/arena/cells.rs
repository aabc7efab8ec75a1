//! The arena's storage: one row of cells that never moves.

use alloc::alloc::{alloc_zeroed, dealloc, handle_alloc_error};
use core::{alloc::Layout, ptr::NonNull};

use super::{Slot, cell::Cell};

/// As many cells as the arena may ever have, in one block: a slot is an index and nothing else.
///
/// The block is zeroed memory, and zeroes are a vacant cell. An allocator gives a large block of those straight from
/// the system, which backs it with memory only where it is touched.
pub(super) struct Cells<R> {
    first: NonNull<Cell<R>>,
    count: u32,
}

impl<R> Cells<R> {
    pub(super) fn new(count: u32) -> Self {
        let layout = layout::<R>(count);
        if layout.size() == 0 {
            return Self { first: NonNull::dangling(), count };
        }
        // SAFETY: the size is not zero.
        let block: *mut Cell<R> = unsafe { alloc_zeroed(layout) }.cast();
        let Some(first) = NonNull::new(block) else { handle_alloc_error(layout) };
        // Loom's atomics can't be made of zeroes.
        #[cfg(loom)]
        for n in 0..count as usize {
            // SAFETY: within the allocation just made.
            unsafe { first.add(n).write(Cell::vacant()) }
        }
        Self { first, count }
    }

    /// The cell of a slot.
    ///
    /// # Safety
    /// `slot` is less than the count that the cells were made with.
    #[inline(always)]
    pub(super) unsafe fn at(&self, slot: Slot) -> &Cell<R> {
        // SAFETY: within the block, says the caller; cells are initialised from the start and stay until `self` is
        // dropped.
        unsafe { self.first.add(slot.0 as usize).as_ref() }
    }

    /// The slot of a cell of this arena.
    pub(super) fn slot_of(&self, cell: &Cell<R>) -> Slot {
        let bytes = core::ptr::from_ref(cell).addr() - self.first.addr().get();
        Slot((bytes / size_of::<Cell<R>>()) as u32)
    }

    /// Bytes of address space taken.
    pub(super) fn bytes(&self) -> usize {
        layout::<R>(self.count).size()
    }
}

impl<R> Drop for Cells<R> {
    fn drop(&mut self) {
        let layout = layout::<R>(self.count);
        if layout.size() > 0 {
            // SAFETY: allocated in `new` with this layout; `&mut self` says that nobody looks at it.
            unsafe { dealloc(self.first.as_ptr().cast(), layout) }
        }
    }
}

/// Cache-line aligned, so that cells whose size divides 64 never straddle a line.
fn layout<R>(count: u32) -> Layout {
    let cells = Layout::array::<Cell<R>>(count as usize).and_then(|cells| cells.align_to(64));
    cells.expect("the cells fit the address space")
}
