//! The keyed hash of key bytes that strangers may choose.

use core::hash::Hasher;

use foldhash::{SharedSeed, fast::FoldHasher};

use crate::mix::spread;

/// A hash function of its own for every instance.
pub(crate) struct KeyedHash {
    seed: u64,
    shared: SharedSeed,
}

impl KeyedHash {
    pub(crate) fn new(seed: u64) -> Self {
        // Short keys are multiplied by little more than the seed, so it must not be a small number.
        Self { seed: spread(seed), shared: SharedSeed::from_u64(spread(!seed)) }
    }

    #[inline(always)]
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        let mut hasher = FoldHasher::with_seed(self.seed, &self.shared);
        hasher.write(key);
        hasher.finish()
    }
}
