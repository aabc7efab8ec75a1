//! How a key picks its chain.

use core::hash::Hash;

use crate::{ConfigError, InsertError, Key, KeyHash};

/// Chains of the smallest table that grows.
pub(super) const MIN_CHAINS: usize = 8;
/// Chains of the largest table.
const MAX_CHAINS: usize = 1 << 31;

/// How a key picks its chain.
pub trait Pick<K> {
    /// The chain of `key`, less than `chains`.
    fn pick(&self, key: &K, chains: usize) -> usize;

    /// Whether such a key can be found at all.
    ///
    /// # Errors
    /// Why it can't.
    fn admit(_key: &K) -> Result<(), InsertError> {
        Ok(())
    }

    /// How many chains there must be, before another is added to so many entries; `None` if there are enough.
    fn grown(_entries: usize, _chains: usize) -> Option<usize> {
        None
    }

    /// How many chains suffice for so many entries, if it is worth a change.
    fn shrunk(_entries: usize, _chains: usize) -> Option<usize> {
        None
    }
}

/// There is only one.
#[derive(Clone, Copy, Debug)]
pub struct OneChain;

impl<K> Pick<K> for OneChain {
    #[inline(always)]
    fn pick(&self, _key: &K, _chains: usize) -> usize {
        0
    }
}

/// The remainder of the key's hash: for any number of chains.
#[derive(Clone, Debug)]
pub struct Remainder<S> {
    hash: S,
    /// 2^64 divided by the number of chains, rounded up: spares the division (Lemire, Kaser and Kurz).
    reciprocal: u64,
}

impl<S> Remainder<S> {
    pub(super) fn new(chains: usize, hash: S) -> Result<Self, ConfigError> {
        match chains {
            0 => Err(ConfigError::ZeroChains),
            1..=MAX_CHAINS => Ok(Self { hash, reciprocal: (u64::MAX / chains as u64).wrapping_add(1) }),
            _ => Err(ConfigError::TooLarge),
        }
    }
}

impl<K: Hash, S: KeyHash> Pick<K> for Remainder<S> {
    #[inline(always)]
    fn pick(&self, key: &K, chains: usize) -> usize {
        let fraction = self.reciprocal.wrapping_mul(self.hash.hash32(key).into());
        ((u128::from(fraction) * chains as u128) >> 64) as usize
    }
}

/// The lower bits of the key's hash, of as many chains as entries need.
#[derive(Clone, Debug)]
pub struct Growing<S>(pub(super) S);

impl<K: Hash, S: KeyHash> Pick<K> for Growing<S> {
    #[inline(always)]
    fn pick(&self, key: &K, chains: usize) -> usize {
        self.0.hash32(key) as usize & (chains - 1)
    }

    fn grown(entries: usize, chains: usize) -> Option<usize> {
        (entries * 2 >= chains && chains < MAX_CHAINS).then_some(chains * 2)
    }

    /// At an eighth of what would make it grow again, so that a few insertions don't undo it.
    fn shrunk(entries: usize, chains: usize) -> Option<usize> {
        (chains > MIN_CHAINS && entries * 16 < chains).then_some(chains / 2)
    }
}

/// The lower bits of the index that the key carries.
#[derive(Clone, Copy, Debug)]
pub struct ByIndex {
    /// The lower bits: one less than the number of chains, which is a power of two. Calculated once.
    pub(super) mask: u32,
}

impl<K: Key> Pick<K> for ByIndex {
    #[inline(always)]
    fn pick(&self, key: &K, _chains: usize) -> usize {
        // Without an index it is on no chain: see `admit`.
        (key.index().unwrap_or(0) & self.mask) as usize
    }

    fn admit(key: &K) -> Result<(), InsertError> {
        key.index().map(|_| ()).ok_or(InsertError::NoIndex)
    }
}

/// `n` rounded up to a power of two.
pub(crate) fn power_of_two(n: usize) -> Result<usize, ConfigError> {
    match n {
        0 => Err(ConfigError::ZeroChains),
        1..=MAX_CHAINS => Ok(n.next_power_of_two()),
        _ => Err(ConfigError::TooLarge),
    }
}
