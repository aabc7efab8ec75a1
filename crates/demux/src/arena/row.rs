//! Where the cells are that have been in use, for lookups that count no references.

use core::{marker::PhantomData, mem::offset_of, ptr::NonNull};

use super::{Arena, Slot, cell::Cell};

/// A copy of what a lookup needs to know of an arena, to be kept in registers.
pub(super) struct Row<R> {
    /// Where the first cell's record is: a cell's address plus this field's offset, so that the record's address needs
    /// no addition of its own.
    first: NonNull<u8>,
    /// How many cells had been in use when this was made.
    used: usize,
    of: PhantomData<*const R>,
}

impl<R> Row<R> {
    pub(super) fn of(arena: &Arena<R>) -> Self {
        let (used, cells) = (arena.used() as usize, arena.cells.first().cast::<u8>());
        // Without cells there is no address to go to, and no lookup gets that far.
        let offset = if used == 0 { 0 } else { offset_of!(Cell<R>, record) };
        // SAFETY: within the first cell, or not at all.
        let first = unsafe { cells.add(offset) };
        Self { first, used, of: PhantomData }
    }

    /// The cell of a slot, if it had been in use.
    #[inline(always)]
    pub(super) fn cell(&self, slot: Slot) -> Option<NonNull<Cell<R>>> {
        if slot.0 as usize >= self.used {
            return None;
        }
        // SAFETY: the arena has at least `used` cells, whose records are as far apart as they are.
        let record = unsafe { self.first.add(slot.0 as usize * size_of::<Cell<R>>()) };
        // SAFETY: back to the beginning of the cell.
        Some(unsafe { record.sub(offset_of!(Cell<R>, record)).cast() })
    }
}
