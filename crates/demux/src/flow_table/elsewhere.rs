//! Which keys may have their records elsewhere than in the group they prefer.

use super::tags::{GROUP, Tag};
use crate::sync::{AtomicU16, Ordering};

/// Kinds of keys that are told apart.
pub(super) const KINDS: u32 = 16;

/// For a group, which kinds of keys that prefer it may have records elsewhere, a bit for each, so that most lookups of other
/// keys end where they began. Small, so that the caches have room for those of many groups.
pub(super) struct Elsewhere(AtomicU16);

impl Elsewhere {
    #[cfg(any(test, loom))]
    pub(super) fn new() -> Self {
        Self(AtomicU16::new(0))
    }

    /// Whether keys with such a tag may have their records elsewhere.
    #[inline(always)]
    pub(super) fn has(&self, tag: Tag) -> bool {
        has(self.0.load(Ordering::Acquire), tag)
    }

    /// As [`has`](Self::has).
    ///
    /// # Safety
    /// Nobody changes the kinds during the call.
    #[inline(always)]
    pub(super) unsafe fn has_still(&self, tag: Tag) -> bool {
        if cfg!(loom) {
            return self.has(tag);
        }
        // SAFETY: an atomic, which nobody changes, says the caller.
        has(unsafe { core::ptr::from_ref(&self.0).cast::<u16>().read() }, tag)
    }

    /// Whether no key has its record elsewhere.
    pub(super) fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    #[inline(always)]
    fn insert(&self, kinds: u16) {
        self.0.store(self.0.load(Ordering::Relaxed) | kinds, Ordering::Release);
    }

    #[inline(always)]
    fn remove(&self, kinds: u16) {
        self.0.store(self.0.load(Ordering::Relaxed) & !kinds, Ordering::Release);
    }
}

#[inline(always)]
fn has(kinds: u16, tag: Tag) -> bool {
    kinds >> tag.kind(KINDS) & 1 != 0
}

/// Bits per count.
const BITS: u32 = 3;

/// The bits of a count. With all of them set it stays, since more may have been counted; that takes seven keys of one kind
/// and one group, all of them elsewhere.
const MOST: u64 = (1 << BITS) - 1;

/// Where the bits of strangers begin.
const STRANGERS: u32 = KINDS * BITS;

/// What the side that writes knows of a group besides: how many keys of each kind prefer it and have their records elsewhere;
/// and which of its own records are strangers, that is, prefer another group. All of its bits clear: none.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts(u64);

const _: () = assert!(STRANGERS as usize + GROUP <= u64::BITS as usize);

impl Counts {
    /// Which records are strangers, one bit each.
    #[inline(always)]
    pub(super) fn strangers(self) -> u16 {
        (self.0 >> STRANGERS) as u16
    }

    /// Says whether the record in this place of the group is a stranger.
    #[inline(always)]
    pub(super) fn set_stranger(&mut self, at: usize, stranger: bool) {
        let bit = STRANGERS + at as u32;
        self.0 = self.0 & !(1 << bit) | u64::from(stranger) << bit;
    }

    /// One more key has its record elsewhere, before that is so.
    #[inline(always)]
    pub(super) fn leaves(&mut self, elsewhere: &Elsewhere, tag: Tag) {
        let kind = tag.kind(KINDS);
        elsewhere.insert(1 << kind);
        if self.count(kind) != MOST {
            self.0 += 1 << (kind * BITS);
        }
    }

    /// One such key less, after that was so; or not, without a branch. A key whose hash has changed was never counted.
    #[inline(always)]
    pub(super) fn returns_if(&mut self, elsewhere: &Elsewhere, returned: bool, tag: Tag) {
        let kind = tag.kind(KINDS);
        let count = self.count(kind);
        let less = returned & (count.wrapping_sub(1) < MOST - 1);
        self.0 -= u64::from(less) << (kind * BITS);
        elsewhere.remove(u16::from(less & (count == 1)) << kind);
    }

    /// From now on there are neither keys elsewhere nor strangers.
    pub(super) fn clear(&mut self, elsewhere: &Elsewhere) {
        self.0 = 0;
        elsewhere.remove(u16::MAX);
    }

    /// The count of one kind.
    #[inline(always)]
    pub(super) fn count(self, kind: u32) -> u64 {
        self.0 >> (kind * BITS) & MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> (Counts, Elsewhere) {
        (Counts::default(), Elsewhere::new())
    }

    #[test]
    fn kinds_are_counted_apart() {
        let (mut counts, elsewhere) = none();
        for n in 0..KINDS {
            let [tag, same] = [1, u64::MAX >> 4].map(|low| Tag::of(u64::from(n) << 60 | low));
            assert!(!elsewhere.has(tag) && !elsewhere.has(same));
            (0..n % 7 + 1).for_each(|_| counts.leaves(&elsewhere, tag));
            assert!(elsewhere.has(tag) && elsewhere.has(same));
            // SAFETY: nobody changes it.
            assert!(unsafe { elsewhere.has_still(tag) && elsewhere.has_still(same) });
        }
        assert!((0..KINDS).all(|n| counts.count(n) == u64::from(n % 7 + 1)));
        counts.returns_if(&elsewhere, true, Tag::of(1));
        assert!(!elsewhere.has(Tag::of(u64::MAX >> 4)) && elsewhere.has(Tag::of(1 << 60)));
    }

    #[test]
    fn who_leaves_and_returns_is_counted() {
        let ((mut counts, elsewhere), tag) = (none(), Tag::of(3 << 60));
        for most in 1..=6 {
            (1..=most).for_each(|count| {
                counts.leaves(&elsewhere, tag);
                assert_eq!(counts.count(3), count);
            });
            (0..most).rev().for_each(|count| {
                counts.returns_if(&elsewhere, false, tag);
                assert!(elsewhere.has(tag));
                counts.returns_if(&elsewhere, true, tag);
                assert_eq!((counts.count(3), elsewhere.has(tag)), (count, count != 0));
            });
            assert!(elsewhere.is_empty());
        }
    }

    #[test]
    fn what_can_not_be_counted_is_never_forgotten() {
        let (mut counts, elsewhere) = none();
        (0..300).for_each(|_| counts.leaves(&elsewhere, Tag::of(1)));
        (0..300).for_each(|_| counts.returns_if(&elsewhere, true, Tag::of(1)));
        assert!(elsewhere.has(Tag::of(1)) && !elsewhere.has(Tag::of(u64::MAX)));
        counts.clear(&elsewhere);
        assert!(elsewhere.is_empty());
    }

    #[test]
    fn strangers_are_apart_from_counts() {
        let (mut counts, elsewhere) = none();
        (0..KINDS).for_each(|kind| {
            (0..7).for_each(|_| counts.leaves(&elsewhere, Tag::of(u64::from(kind) << 60)));
        });
        assert_eq!(counts.strangers(), 0);
        for at in 0..GROUP {
            counts.set_stranger(at, true);
            counts.set_stranger(at, true);
            assert_eq!(counts.strangers(), 1 << at);
            assert!((0..KINDS).all(|kind| counts.count(kind) == 7));
            counts.set_stranger(at, false);
            assert_eq!(counts.strangers(), 0);
        }
    }
}
