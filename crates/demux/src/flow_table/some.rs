//! Some of the lookups of a batch.

use super::bits::ones;

/// Keys looked up together; more would not be waited for at once.
pub(super) const TOGETHER: usize = 32;

/// Some of the lookups, one bit each: the first one's is the highest.
#[derive(Clone, Copy)]
pub(super) struct Some32(u32);

const _: () = assert!(TOGETHER == u32::BITS as usize);

impl Some32 {
    pub(super) const NONE: Self = Self(0);

    /// Says of the next lookup whether it is one of them; without a branch, which nobody would foresee.
    #[inline(always)]
    pub(super) fn push(&mut self, is_one: bool) {
        self.0 = self.0 << 1 | u32::from(is_one);
    }

    pub(super) fn insert(&mut self, n: usize) {
        self.insert_if(true, n);
    }

    /// Adds one, or not; as [`push`](Self::push) without a branch.
    #[inline(always)]
    pub(super) fn insert_if(&mut self, is_one: bool, n: usize) {
        self.0 |= u32::from(is_one) << (TOGETHER - 1 - n);
    }

    #[inline(always)]
    pub(super) fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// The others.
    #[inline(always)]
    pub(super) fn others(self) -> Self {
        Self(!self.0)
    }

    /// Their numbers, the last first.
    #[inline(always)]
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        ones(u64::from(self.0)).map(|bit| (TOGETHER - 1) - bit as usize % TOGETHER)
    }
}
