//! Which keys may have their records elsewhere than in the group they prefer.

use super::tags::Tag;
use crate::sync::{AtomicU64, Ordering};

/// Kinds of keys that are counted apart.
pub(super) const KINDS: u32 = 16;

/// Bits per count.
const BITS: u32 = u64::BITS / KINDS;

/// The highest bit of a count says that it is not 0, so that this is one step; the others count.
const SOME: u64 = 1 << (BITS - 1);

/// The bits of a count. With all of them set it stays, since more may have been counted; that takes seven keys of one kind
/// and one group, all of them elsewhere.
const MOST: u64 = SOME | (SOME - 1);

/// For a group, how many keys prefer it and have their records elsewhere: one count for each of sixteen kinds of keys,
/// so that most lookups of other keys end where they began.
pub(super) struct Elsewhere(AtomicU64);

impl Elsewhere {
    #[cfg(any(test, loom))]
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Whether keys with such a tag may have their records elsewhere.
    #[inline(always)]
    pub(super) fn has(&self, tag: Tag) -> bool {
        some(self.0.load(Ordering::Acquire), tag)
    }

    /// As [`has`](Self::has).
    ///
    /// # Safety
    /// Nobody changes the counts during the call.
    #[inline(always)]
    pub(super) unsafe fn has_still(&self, tag: Tag) -> bool {
        if cfg!(loom) {
            return self.has(tag);
        }
        // SAFETY: an atomic, which nobody changes, says the caller.
        some(unsafe { core::ptr::from_ref(&self.0).cast::<u64>().read() }, tag)
    }

    /// Whether no key has its record elsewhere.
    pub(super) fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// One more key has its record elsewhere, before that is so. There is one writer.
    #[inline(always)]
    pub(super) fn leaves(&self, tag: Tag) {
        let counts = self.0.load(Ordering::Relaxed);
        if counts >> shift(tag) & MOST != MOST {
            self.0.store((counts + (1 << shift(tag))) | SOME << shift(tag), Ordering::Release);
        }
    }

    /// One such key less, after that was so.
    #[inline(always)]
    pub(super) fn returns(&self, tag: Tag) {
        self.returns_if(true, tag);
    }

    /// As [`returns`](Self::returns), or not; without a branch.
    #[inline(always)]
    pub(super) fn returns_if(&self, returned: bool, tag: Tag) {
        let counts = self.0.load(Ordering::Relaxed);
        let count = counts >> shift(tag) & MOST;
        let last = if count == SOME | 1 { count } else { 1 };
        let less = if returned & (count != MOST) { last } else { 0 };
        self.0.store(counts - (less << shift(tag)), Ordering::Release);
    }

    /// Also counts those of another group.
    pub(super) fn add(&self, other: &Self) {
        let sum = |kind| match self.count(kind) + other.count(kind) {
            0 => 0,
            sum => (SOME | sum.min(MOST & !SOME)) << (kind * BITS),
        };
        self.0.store((0..KINDS).map(sum).sum(), Ordering::Release);
    }

    /// The count of one kind.
    pub(super) fn count(&self, kind: u32) -> u64 {
        self.0.load(Ordering::Relaxed) >> (kind * BITS) & MOST & !SOME
    }

    /// From now on there are none.
    pub(super) fn clear(&self) {
        self.0.store(0, Ordering::Release);
    }
}

/// Whether the count of this tag's kind is not 0. The bits of the tag that follow its kind may be any.
#[inline(always)]
fn some(counts: u64, tag: Tag) -> bool {
    counts & 1 << (tag.kind(KINDS << BITS.ilog2()) | (BITS - 1)) != 0
}

#[inline(always)]
fn shift(tag: Tag) -> u32 {
    tag.kind(KINDS) * BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_counted_apart() {
        let elsewhere = Elsewhere::new();
        for n in 0..KINDS {
            let [tag, same] = [1, u64::MAX >> 4].map(|low| Tag::of(u64::from(n) << 60 | low));
            (0..n % 7 + 1).for_each(|_| elsewhere.leaves(tag));
            assert!(elsewhere.has(tag) && elsewhere.has(same));
            // SAFETY: nobody changes it.
            assert!(unsafe { elsewhere.has_still(tag) && elsewhere.has_still(same) });
        }
        assert!((0..KINDS).all(|n| elsewhere.count(n) == u64::from(n % 7 + 1)));
        let other = Elsewhere::new();
        [6, 7, 7, 8].iter().for_each(|kind| other.leaves(Tag::of(kind << 60)));
        elsewhere.add(&other);
        assert_eq!([5, 6, 7, 8].map(|kind| elsewhere.count(kind)), [6, 7, 3, 3]);
        elsewhere.returns(Tag::of(1));
        assert!(!elsewhere.has(Tag::of(u64::MAX >> 4)) && elsewhere.has(Tag::of(1 << 60)));
    }

    #[test]
    fn who_leaves_and_returns_is_counted() {
        let (elsewhere, tag) = (Elsewhere::new(), Tag::of(3 << 60));
        for most in 1..=6 {
            (1..=most).for_each(|count| {
                elsewhere.leaves(tag);
                assert_eq!(elsewhere.count(3), count);
            });
            (0..most).rev().for_each(|count| {
                elsewhere.returns_if(false, tag);
                assert!(elsewhere.has(tag));
                elsewhere.returns(tag);
                assert_eq!((elsewhere.count(3), elsewhere.has(tag)), (count, count != 0));
            });
            assert!(elsewhere.is_empty());
        }
    }

    #[test]
    fn what_can_not_be_counted_is_never_forgotten() {
        let elsewhere = Elsewhere::new();
        (0..300).for_each(|_| elsewhere.leaves(Tag::of(1)));
        (0..300).for_each(|_| elsewhere.returns(Tag::of(1)));
        assert!(elsewhere.has(Tag::of(1)) && !elsewhere.has(Tag::of(u64::MAX)));
        elsewhere.add(&Elsewhere::new());
        elsewhere.returns(Tag::of(1));
        assert!(elsewhere.has(Tag::of(1)));
        elsewhere.clear();
        assert!(elsewhere.is_empty());
    }
}
