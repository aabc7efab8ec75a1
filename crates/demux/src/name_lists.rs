//! The other ways of finding names known at compile time, for comparison: a list, and chains built at run time.

use alloc::{boxed::Box, vec};

use crate::{NoProbe, Probe, hashes::Keyed};

/// Names compared one after another.
#[derive(Clone, Copy, Debug)]
pub struct LinearNames {
    names: &'static [&'static str],
}

impl LinearNames {
    /// The names, in the order that defines their indices.
    pub const fn new(names: &'static [&'static str]) -> Self {
        Self { names }
    }

    /// The index of `name`: half of the names examined on average.
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        self.find_probed(name, &mut NoProbe)
    }

    /// As [`find`](Self::find); `probe` sees each name examined.
    #[inline]
    pub fn find_probed<P: Probe>(&self, name: &[u8], probe: &mut P) -> Option<u32> {
        let found = self.names.iter().position(|candidate| {
            probe.examined();
            candidate.as_bytes() == name
        });
        found.map(|index| index as u32)
    }
}

/// Chains from a table of at least twice as many buckets as names.
pub struct HashedNames {
    names: &'static [&'static str],
    hash: Keyed,
    /// The bits of a hash that select a bucket.
    mask: usize,
    /// By bucket: 1 + the index of its first name, or 0.
    heads: Box<[u32]>,
    /// By name: 1 + the index of the next one in the bucket, or 0.
    next: Box<[u32]>,
}

impl HashedNames {
    /// Builds the chains.
    pub fn new(names: &'static [&'static str], seed: u64) -> Self {
        let buckets = (names.len() * 2).next_power_of_two();
        let hash = Keyed::new(seed);
        let mut heads = vec![0; buckets].into_boxed_slice();
        let mut next = vec![0; names.len()].into_boxed_slice();
        // From the last to the first, so that each chain is in the order of the names.
        for (index, name) in names.iter().enumerate().rev() {
            let head = &mut heads[hash.hash_bytes(name.as_bytes()) as usize & (buckets - 1)];
            next[index] = *head;
            *head = index as u32 + 1;
        }
        Self { names, hash, mask: buckets - 1, heads, next }
    }

    /// The index of `name`.
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        self.find_probed(name, &mut NoProbe)
    }

    /// As [`find`](Self::find); `probe` sees each name examined.
    #[inline]
    pub fn find_probed<P: Probe>(&self, name: &[u8], probe: &mut P) -> Option<u32> {
        let mut at = self.heads[self.hash.hash_bytes(name) as usize & self.mask];
        while at != 0 {
            let index = at as usize - 1;
            probe.examined();
            if self.names[index].as_bytes() == name {
                return Some(index as u32);
            }
            at = self.next[index];
        }
        None
    }
}
