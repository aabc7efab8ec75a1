//! What stands for a record while it is tried whether a table of another kind has room for all of them.
//!
//! Keys' own code runs then, and may change what a key owns through a shared reference: a bitwise copy of the record would
//! not know. So records stay where they are until no more of that code will run, and are moved at once.

use core::ptr::NonNull;

use super::FlowRecord;

/// In place of a record: where it is.
pub(super) struct Proxy<R>(NonNull<R>);

impl<R> Proxy<R> {
    /// Of a record.
    ///
    /// # Safety
    /// It stays there, and is not written to, as long as there is the proxy.
    pub(super) unsafe fn of(record: &R) -> Self {
        Self(NonNull::from(record))
    }

    /// Moves the record to a place.
    ///
    /// # Safety
    /// The place is empty, and what is left where the record was is forgotten, before anybody looks at either.
    pub(super) unsafe fn move_to(&self, place: NonNull<R>) {
        // SAFETY: there is a record, as `of` was told; the rest says the caller.
        unsafe { place.copy_from_nonoverlapping(self.0, 1) }
    }

    /// As [`move_to`](Self::move_to), to the caller.
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn take(&self) -> R {
        // SAFETY: as there.
        unsafe { self.0.read() }
    }
}

impl<R: FlowRecord> FlowRecord for Proxy<R> {
    type Key = R::Key;

    #[inline(always)]
    fn key(&self) -> &R::Key {
        // SAFETY: there is a record, as `of` was told.
        unsafe { self.0.as_ref() }.key()
    }
}
