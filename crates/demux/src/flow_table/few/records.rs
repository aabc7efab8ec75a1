//! The records of a table for few.

use core::ptr::NonNull;

use super::WIDE;
use crate::{ConfigError, flow_table::space::Space};

/// One for each place that is no dummy.
pub(super) struct Records<R> {
    /// Where the record of place 0 would be, which is a dummy and has none: so that places need no subtraction on the way to
    /// their records.
    origin: *mut R,
    /// What they lie in.
    space: Space<R>,
}

impl<R> Records<R> {
    /// For so many places after the dummies.
    pub(super) fn new(places: usize) -> Result<Self, ConfigError> {
        let space = Space::<R>::new(places)?;
        // SAFETY: there is one place at least.
        let origin = unsafe { space.at(0) }.as_ptr().wrapping_sub(WIDE);
        Ok(Self { origin, space })
    }

    /// Has the system make the memory of so many ready.
    pub(super) fn make_ready(&self, places: usize) {
        self.space.make_ready(places);
    }

    /// Where the record of a place is.
    ///
    /// # Safety
    /// It is one of the places after the dummies.
    #[inline(always)]
    pub(super) unsafe fn at(&self, place: usize) -> NonNull<R> {
        // SAFETY: an element of the space, says the caller.
        unsafe { NonNull::new_unchecked(self.origin.wrapping_add(place)) }
    }
}
