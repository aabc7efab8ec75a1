//! Lookups by handle for one thread: without references to count.

use core::{fmt, marker::PhantomData};

use super::{Arena, Handle, Slot, row::Row};

/// The records of an arena that nobody else uses meanwhile; see [`Arena::exclusive`].
///
/// A handle in two registers becomes a reference in eight instructions: bounds, address, nonce, and whether the record is there.
pub struct Exclusive<'a, R> {
    row: Row<R>,
    arena: PhantomData<&'a mut Arena<R>>,
}

// SAFETY: it is a mutable reference to the arena's records and nothing else.
unsafe impl<R: Send> Send for Exclusive<'_, R> {}
// SAFETY: as above; through a shared one, nothing can be reached.
unsafe impl<R: Sync> Sync for Exclusive<'_, R> {}

impl<'a, R> Exclusive<'a, R> {
    pub(super) fn new(arena: &'a mut Arena<R>) -> Self {
        Self { row: Row::of(arena), arena: PhantomData }
    }

    /// The record of `handle`, if the handle is genuine and current, whoever owns it, as by [`Arena::get_any`].
    #[inline(always)]
    pub fn get(&mut self, handle: Handle) -> Option<&mut R> {
        self.open(handle.slot, |nonce| nonce == handle.nonce)
    }

    /// The record now at `slot`: for slots that a locator found, not for those a peer sent.
    #[inline(always)]
    pub fn get_slot(&mut self, slot: Slot) -> Option<&mut R> {
        self.open(slot, |_| true)
    }

    /// The handle of the record that is in a slot now.
    #[inline(always)]
    pub fn handle_at(&mut self, slot: Slot) -> Option<Handle> {
        let mut nonce = 0;
        self.open(slot, |found| {
            nonce = found;
            true
        })?;
        Some(Handle { slot, nonce })
    }

    /// As [`get_slot`](Self::get_slot), for as long as the arena is borrowed.
    #[inline(always)]
    pub fn into_slot(mut self, slot: Slot) -> Option<&'a mut R> {
        self.open(slot, |_| true)
    }

    /// As [`get`](Self::get), for as long as the arena is borrowed.
    #[inline(always)]
    pub fn into_record(mut self, handle: Handle) -> Option<&'a mut R> {
        self.open(handle.slot, |nonce| nonce == handle.nonce)
    }

    /// Callers see to it that what is returned is used no longer than they have `self`, or that nothing else is had from it.
    #[inline(always)]
    fn open(&mut self, slot: Slot, admits: impl FnOnce(u64) -> bool) -> Option<&'a mut R> {
        // SAFETY: the arena's cells stay and are nobody else's as long as it is borrowed.
        let cell = unsafe { self.row.cell(slot)?.as_mut() };
        // SAFETY: initialised from the start, and by `&mut` nobody writes to it.
        let nonce = cell.nonce.with(|nonce| unsafe { *nonce });
        if !admits(nonce) || !cell.is_open_to_me() {
            return None;
        }
        // SAFETY: the cell is open, so the record is initialised. By `&mut` there is no other way to it: a reference that
        // is still counted was leaked, and whoever leaked it can't use it any more; likewise a reader.
        Some(cell.record.with_mut(|place| unsafe { (*place).assume_init_mut() }))
    }
}

impl<R> fmt::Debug for Exclusive<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exclusive").finish_non_exhaustive()
    }
}
