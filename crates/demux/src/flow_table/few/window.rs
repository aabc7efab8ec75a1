//! What the table keeps of a bucket, in two bytes: where its window starts, and how many records it has as far as two bits say
//! so, from which it is known which are alone.

use core::hint::select_unpredictable;

/// Where windows start at most.
pub(super) const LAST: usize = (u16::MAX >> COUNT_BITS) as usize;

const COUNT_BITS: u32 = 2;

/// What these bits say of a bucket with four records: these or more, or fewer by now. One record is 0, since buckets without
/// records need no count.
const MANY: u16 = (1 << COUNT_BITS) - 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Window(u16);

impl Window {
    /// That of a bucket without records: all its places are dummies, which hold none. No other starts there.
    pub(super) const NOWHERE: Self = Self(0);

    /// That of a bucket with so many records, one at least.
    #[inline(always)]
    pub(super) fn new(start: usize, records: usize) -> Self {
        debug_assert!((1..=LAST).contains(&start));
        Self((start << COUNT_BITS) as u16 | (records as u16 - 1).min(MANY))
    }

    /// Its first place.
    #[inline(always)]
    pub(super) fn start(self) -> usize {
        (self.0 >> COUNT_BITS).into()
    }

    #[inline(always)]
    fn others(self) -> u16 {
        self.0 & MANY
    }

    /// Whether the bucket has no more than one record, which may lie anywhere then.
    #[inline(always)]
    pub(super) fn is_of_one(self) -> bool {
        self.others() == 0
    }

    /// With one record more.
    #[inline(always)]
    pub(super) fn more(self) -> Self {
        Self(self.0 + u16::from(self.others() != MANY))
    }

    /// With one record less, of which there may be none if keys have changed.
    #[inline(always)]
    pub(super) fn less(self) -> Self {
        let fewer = Self(self.0.wrapping_sub(u16::from(self.others() != MANY)));
        // One of five was not the last: nothing that a branch would foresee.
        select_unpredictable(self.is_of_one(), Self::NOWHERE, fewer)
    }

    /// Whether that is the window of a bucket with so many records, or may be if it had more.
    #[cfg(all(test, not(loom)))]
    pub(super) fn is_of(self, records: u16) -> bool {
        self.is_uncounted() || if records == 0 { self == Self::NOWHERE } else { self.others() == records - 1 }
    }

    /// Whether there are four records, or were.
    #[cfg(all(test, not(loom)))]
    pub(super) fn is_uncounted(self) -> bool {
        self.others() == MANY
    }
}
