//! Which two buckets belong to a key, while the number of buckets grows one by one (linear hashing).

use crate::mix::{FACTOR, fold};

/// As many versions as there are; a bucket and the one it is split into share theirs.
pub(super) const LEAST_BUCKETS: u32 = if cfg!(loom) { 2 } else { 64 };

/// The most buckets an address can name.
pub(super) const MOST_BUCKETS: u32 = 1 << 28;

/// The keyed hash of a key, cut into what the table needs of it.
#[derive(Clone, Copy)]
pub(super) struct Hash(pub(super) u64);

impl Hash {
    /// Of a keyed hash. Its bits are not independent of one another where keys differ in few, so that all keys of one
    /// bucket could share their second one too: another multiplication makes them so.
    #[inline(always)]
    pub(super) fn of(hash: u64) -> Self {
        Self(fold(hash, FACTOR))
    }

    /// What tells keys of one bucket apart; never 0, the mark of an empty place.
    #[inline(always)]
    pub(super) fn tag(self) -> u8 {
        let tag = (self.0 >> 56) as u8;
        tag + u8::from(tag == 0)
    }

    /// Leads to the bucket where the key is sought first.
    #[inline(always)]
    pub(super) fn first(self) -> u32 {
        self.0 as u32
    }

    /// Leads to the bucket where the key is sought second.
    #[inline(always)]
    pub(super) fn second(self) -> u32 {
        (self.0 >> 28) as u32
    }
}

/// How many buckets there are: between `(wide + 1) / 2` and `wide + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    count: u32,
    wide: u32,
}

impl Extent {
    pub(super) const LEAST: Self = Self { count: LEAST_BUCKETS, wide: 2 * LEAST_BUCKETS - 1 };

    #[inline(always)]
    pub(super) fn count(self) -> u32 {
        self.count
    }

    /// The bucket that these bits of a hash lead to: their low bits, and one bit less where that bucket is yet to
    /// come.
    #[inline(always)]
    pub(super) fn bucket(self, bits: u32) -> u32 {
        let wide = bits & self.wide;
        let narrow = bits & (self.wide >> 1);
        if wide < self.count { wide } else { narrow }
    }

    /// One bucket more, and the bucket that it shares its keys with.
    pub(super) fn grown(self) -> (Self, u32) {
        let count = self.count + 1;
        let wide = if count > self.wide + 1 { self.wide * 2 + 1 } else { self.wide };
        (Self { count, wide }, (count - 1) & (wide >> 1))
    }

    /// One bucket less, and the bucket that takes its keys; the bucket that goes is the last.
    pub(super) fn shrunk(self) -> (Self, u32) {
        let last = self.count - 1;
        let wide = if last <= self.wide / 2 { self.wide / 2 } else { self.wide };
        (Self { count: last, wide }, last & (wide >> 1))
    }

    pub(super) fn to_word(self) -> u64 {
        u64::from(self.count) << 32 | u64::from(self.wide)
    }

    pub(super) fn from_word(word: u64) -> Self {
        Self { count: (word >> 32) as u32, wide: word as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_moves_keys_from_one_bucket_to_the_new_one_only_and_shrinking_moves_them_back() {
        let mut extent = Extent::LEAST;
        let bits = || (0..4096u32).map(|n| n.wrapping_mul(0x9e37_79b9));
        for _ in 0..1000 {
            let (grown, shared) = extent.grown();
            assert_eq!(grown.count(), extent.count() + 1);
            assert_eq!(shared % LEAST_BUCKETS, extent.count() % LEAST_BUCKETS, "they have one version");
            for bits in bits() {
                let (before, after) = (extent.bucket(bits), grown.bucket(bits));
                assert!(after < grown.count());
                assert!(before == after || (before, after) == (shared, extent.count()));
                assert_eq!(after % LEAST_BUCKETS, bits % LEAST_BUCKETS);
            }
            let (back, taker) = grown.shrunk();
            assert_eq!(taker, shared);
            assert!(bits().all(|bits| back.bucket(bits) == extent.bucket(bits)));
            assert_eq!(Extent::from_word(grown.to_word()), grown);
            extent = grown;
        }
    }
}
