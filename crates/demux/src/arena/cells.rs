//! The arena's storage: one row of cells that never moves.

use alloc::alloc::{alloc_zeroed, dealloc};
use core::{alloc::Layout, ptr::NonNull};

use super::{Slot, cell::Cell};
use crate::ConfigError;

/// As many cells as the arena may ever have, in one block: a slot is an index and nothing else.
///
/// The block is zeroed memory, and zeroes are a vacant cell. An allocator gives a large block of those straight from
/// the system, which backs it with memory only where it is touched.
pub(super) struct Cells<R> {
    first: NonNull<Cell<R>>,
    /// The allocation, in which the first cell begins a cache line.
    block: NonNull<u8>,
    count: u32,
}

/// A cell whose size divides this never straddles two cache lines.
const LINE: usize = 64;

impl<R> Cells<R> {
    pub(super) fn new(count: u32) -> Result<Self, ConfigError> {
        let layout = layout::<R>(count).ok_or(ConfigError::TooLarge)?;
        // SAFETY: the size is not zero, for the sake of the alignment alone.
        let block = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(ConfigError::OutOfMemory)?;
        // SAFETY: `layout` has room for this.
        let first = unsafe { block.add(block.align_offset(LINE)) }.cast();
        #[cfg(all(feature = "huge-pages", target_os = "linux", not(any(miri, loom))))]
        advise(block, layout.size());
        // Loom's atomics can't be made of zeroes.
        #[cfg(loom)]
        for n in 0..count as usize {
            // SAFETY: within the allocation just made.
            unsafe { first.add(n).write(Cell::vacant()) }
        }
        Ok(Self { first, block, count })
    }

    /// The first cell; all that were in use follow it.
    pub(super) fn first(&self) -> NonNull<Cell<R>> {
        self.first
    }

    /// The address of the first cell.
    pub(super) fn start(&self) -> usize {
        self.first.addr().get()
    }

    /// Where the cell of a slot is, if there is one; it is never before the first.
    #[inline(always)]
    pub(super) fn place(&self, slot: Slot) -> Option<*const Cell<R>> {
        // With addresses of 64 bits nothing can overflow.
        const { assert!(size_of::<Cell<R>>() < 1 << 31) };
        if usize::BITS < 64 && slot.0 >= self.count {
            return None;
        }
        let offset = slot.0 as usize * size_of::<Cell<R>>();
        Some(self.first.as_ptr().wrapping_byte_add(offset))
    }

    /// The cell at a place.
    ///
    /// # Safety
    /// The place was given by [`place`](Self::place) of these cells for a slot less than their count.
    #[inline(always)]
    pub(super) unsafe fn at(&self, place: *const Cell<R>) -> &Cell<R> {
        // SAFETY: within the block, says the caller; cells are initialised from the start and stay until `self` is
        // dropped.
        unsafe { &*place }
    }

    /// The slot of a cell of this arena.
    pub(super) fn slot_of(&self, cell: &Cell<R>) -> Slot {
        let bytes = core::ptr::from_ref(cell).addr() - self.first.addr().get();
        Slot((bytes / size_of::<Cell<R>>()) as u32)
    }

    /// Bytes of address space taken by the cells.
    pub(super) fn bytes(&self) -> usize {
        self.count as usize * size_of::<Cell<R>>()
    }
}

/// Asks the system for huge pages, but for the first: so few records that they fit into one do not take more memory than they
/// need. Where there are many, a lookup seldom waits for the address of a page.
#[cfg(all(feature = "huge-pages", target_os = "linux", not(any(miri, loom))))]
fn advise(block: NonNull<u8>, bytes: usize) {
    const HUGE: usize = 2 << 20;
    let skipped = block.align_offset(HUGE) + HUGE;
    let Some(len) = bytes.checked_sub(skipped).map(|len| len / HUGE * HUGE).filter(|len| *len > 0) else {
        return;
    };
    // SAFETY: whole pages of an allocation of ours; the advice changes no contents.
    let advised = unsafe {
        rustix::mm::madvise(block.add(skipped).as_ptr().cast(), len, rustix::mm::Advice::LinuxHugepage)
    };
    // A system without huge pages serves small ones.
    let _ = advised;
}

impl<R> Drop for Cells<R> {
    fn drop(&mut self) {
        let layout = layout::<R>(self.count).expect("as when it was allocated");
        // SAFETY: allocated in `new` with this layout; `&mut self` says that nobody looks at it.
        unsafe { dealloc(self.block.as_ptr(), layout) }
    }
}

/// Room for the cells wherever a cache line begins. Asking the allocator for that alignment would be simpler, but for
/// more than its own it zeroes by hand, and so touches all of the memory. `None` if addresses cannot tell so many cells.
pub(super) fn layout<R>(count: u32) -> Option<Layout> {
    const { assert!(align_of::<Cell<R>>() <= LINE, "an arena's records are aligned to 64 bytes at most") };
    let cells = Layout::array::<Cell<R>>(count as usize).ok()?;
    Layout::from_size_align(cells.size().checked_add(LINE)?, align_of::<u64>()).ok()
}
