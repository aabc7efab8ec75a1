//! Lookups by handle for many threads: without references to count.

use core::fmt;

use super::{Arena, Handle, Slot, cell::Cell, grace::Epoch, row::Row};

/// The records of an arena, for as long as one looks at them; see [`Arena::reader`].
///
/// A handle in two registers becomes a reference in nine instructions, none of which writes: bounds, address, whether the
/// record is there, nonce. Threads that look up the same record do not take its cache line from one another, as counted
/// references do.
///
/// A record that is removed meanwhile is not found any more, but stays where it is until all are done who were reading
/// when it was removed; the last of them, or whoever comes next, drops it. Until then its slot counts against the
/// arena's limit.
pub struct Reader<'a, R> {
    row: Row<R>,
    arena: &'a Arena<R>,
    epoch: Epoch,
}

// SAFETY: it gives `&R` (hence `Sync`) and may drop records where it ends (hence `Send`).
unsafe impl<R: Send + Sync> Send for Reader<'_, R> {}
// SAFETY: as above.
unsafe impl<R: Send + Sync> Sync for Reader<'_, R> {}

impl<'a, R> Reader<'a, R> {
    pub(super) fn new(arena: &'a Arena<R>) -> Self {
        let epoch = loop {
            match arena.grace.begin() {
                Ok(epoch) => break epoch,
                Err(over) => arena.end_reading(over),
            }
        };
        Self { row: Row::of(arena), arena, epoch }
    }

    /// The record of `handle`, if the handle is genuine and current, whoever owns it, as by [`Arena::get_any`]. Where the owner
    /// matters and the nonce is not proof enough, the record says whose it is, or [`Arena::get`] asks for the tag.
    #[inline(always)]
    pub fn get(&self, handle: Handle) -> Option<&R> {
        self.find(handle.slot, |nonce| nonce == handle.nonce)
    }

    /// The record now at `slot`: for slots that a locator found, not for those a peer sent. It may be another than the one
    /// that the locator meant, as with [`Arena::get_slot`].
    #[inline(always)]
    pub fn get_slot(&self, slot: Slot) -> Option<&R> {
        self.find(slot, |_| true)
    }

    /// The handle of the record that is in a slot now, with the same caveat as [`get_slot`](Self::get_slot).
    #[inline(always)]
    pub fn handle_at(&self, slot: Slot) -> Option<Handle> {
        let mut nonce = 0;
        self.find(slot, |found| {
            nonce = found;
            true
        })?;
        Some(Handle { slot, nonce })
    }

    #[inline(always)]
    fn find(&self, slot: Slot, admits: impl FnOnce(u64) -> bool) -> Option<&R> {
        let Some(cell) = self.row.cell(slot) else { return self.find_newer(slot, admits) };
        // SAFETY: the arena's cells stay as long as it is borrowed, and this reader is announced.
        unsafe { record(cell.as_ref(), admits) }
    }

    /// In a cell that was not in use when this began, if it is now.
    #[cold]
    fn find_newer(&self, slot: Slot, admits: impl FnOnce(u64) -> bool) -> Option<&R> {
        // SAFETY: this reader is announced.
        self.arena.with_cell(slot, |cell| unsafe { record(cell, admits) })
    }
}

/// The record of a cell, if it is open and its nonce is admitted.
///
/// # Safety
/// A reader is announced, and stays so as long as what is returned is used.
#[inline(always)]
unsafe fn record<R>(cell: &Cell<R>, admits: impl FnOnce(u64) -> bool) -> Option<&R> {
    // SAFETY: asked of an open cell only, by an announced reader.
    if !cell.is_open() || !admits(unsafe { cell.nonce() }) {
        return None;
    }
    // SAFETY: the cell was open, so the record is initialised; if it is removed now, it is not dropped before all readers are
    // gone who may have seen it open.
    Some(cell.record.with(|place| unsafe { (*place).assume_init_ref() }))
}

impl<R> Drop for Reader<'_, R> {
    fn drop(&mut self) {
        self.arena.end_reading(self.epoch);
    }
}

impl<R> fmt::Debug for Reader<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}
