//! The keyed hash of key bytes that strangers may choose.

use core::hash::Hasher;

use foldhash::{SharedSeed, fast::FoldHasher};

/// A hash function of its own for every instance.
pub(crate) struct KeyedHash {
    seed: u64,
    shared: SharedSeed,
}

impl KeyedHash {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, shared: SharedSeed::from_u64(seed.rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15) }
    }

    #[inline(always)]
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        let mut hasher = FoldHasher::with_seed(self.seed, &self.shared);
        hasher.write(key);
        hasher.finish()
    }
}
