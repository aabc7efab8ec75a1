//! Which keys may have their records elsewhere than in the group they prefer.

use super::tags::Tag;
use crate::sync::{AtomicU64, Ordering};

/// Kinds of keys that are counted apart.
pub(super) const KINDS: u32 = 16;

/// Bits per count.
const BITS: u32 = u64::BITS / KINDS;

/// The highest count. It stays, since more may have been counted; that takes more keys of one kind than places can hold
/// unless their hashes are alike.
const MOST: u64 = (1 << BITS) - 1;

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
        self.0.load(Ordering::Acquire) >> shift(tag) & MOST != 0
    }

    /// Whether no key has its record elsewhere.
    pub(super) fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// One more key has its record elsewhere, before that is so. There is one writer.
    pub(super) fn leaves(&self, tag: Tag) {
        self.change(tag, |count| count + 1);
    }

    /// One such key less, after that was so.
    pub(super) fn returns(&self, tag: Tag) {
        self.returns_if(true, tag);
    }

    /// As [`returns`](Self::returns), or not; without a branch.
    #[inline(always)]
    pub(super) fn returns_if(&self, returned: bool, tag: Tag) {
        let counts = self.0.load(Ordering::Relaxed);
        let returned = returned & (counts >> shift(tag) & MOST != MOST);
        self.0.store(counts - (u64::from(returned) << shift(tag)), Ordering::Release);
    }

    #[inline(always)]
    fn change(&self, tag: Tag, change: impl FnOnce(u64) -> u64) {
        let counts = self.0.load(Ordering::Relaxed);
        let count = counts >> shift(tag) & MOST;
        if count != MOST {
            let others = counts & !(MOST << shift(tag));
            self.0.store(others | change(count) << shift(tag), Ordering::Release);
        }
    }

    /// Also counts those of another group.
    pub(super) fn add(&self, other: &Self) {
        let (counts, others) = (self.0.load(Ordering::Relaxed), other.0.load(Ordering::Relaxed));
        let count = |n: u32| {
            let [count, other] = [counts, others].map(|counts| counts >> (n * BITS) & MOST);
            (count + other).min(MOST) << (n * BITS)
        };
        self.0.store((0..KINDS).map(count).sum(), Ordering::Release);
    }

    /// From now on there are none.
    pub(super) fn clear(&self) {
        self.0.store(0, Ordering::Release);
    }

    /// The count of one kind.
    #[cfg(test)]
    pub(super) fn count(&self, kind: u32) -> u32 {
        (self.0.load(Ordering::Relaxed) >> (kind * BITS) & MOST) as u32
    }
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
            (0..n % 15 + 1).for_each(|_| elsewhere.leaves(tag));
            assert!(elsewhere.has(tag) && elsewhere.has(same));
        }
        assert!((0..KINDS).all(|n| elsewhere.count(n) == n % 15 + 1));
        elsewhere.add(&Elsewhere(AtomicU64::new(0x12 << 24)));
        assert_eq!((elsewhere.count(7), elsewhere.count(6), elsewhere.count(5)), (9, 9, 6));
        elsewhere.returns(Tag::of(1));
        assert!(!elsewhere.has(Tag::of(u64::MAX >> 4)) && elsewhere.has(Tag::of(1 << 60)));
    }

    #[test]
    fn what_can_not_be_counted_is_never_forgotten() {
        let elsewhere = Elsewhere::new();
        (0..300).for_each(|_| elsewhere.leaves(Tag::of(1)));
        (0..300).for_each(|_| elsewhere.returns(Tag::of(1)));
        assert!(elsewhere.has(Tag::of(1)) && !elsewhere.has(Tag::of(u64::MAX)));
        elsewhere.clear();
        assert!(elsewhere.is_empty());
    }
}
