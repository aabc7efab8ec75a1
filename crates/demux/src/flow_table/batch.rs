//! Many lookups at once: what one waits for in memory, all wait for together.

use super::{
    FlowRecord,
    access::Access,
    address::Hash,
    group::WIDTH,
    table::{Place, Table},
};

/// Keys looked up together; more would not be waited for at once.
const TOGETHER: usize = 32;

/// A table of so many bytes is in the cache next to the processor: there is nothing to wait for.
const NEAR: usize = 256 << 10;

/// One of the lookups under way.
#[derive(Clone, Copy)]
struct Lookup {
    hash: u64,
    first: u32,
    second: u32,
    /// Places whose tags match: the first bucket's in the low half, the second's in the high.
    matching: u32,
}

impl Lookup {
    const NONE: Self = Self { hash: 0, first: 0, second: 0, matching: 0 };

    /// The first place that matches, if any does.
    #[inline(always)]
    fn place(&self) -> Place {
        let bit = self.matching.trailing_zeros() as usize;
        Place { bucket: if bit < WIDTH { self.first } else { self.second }, at: bit % WIDTH }
    }
}

impl<R: FlowRecord, A: Access<R>> Table<R, A> {
    /// Calls `found` with the index of each key and the place of its record.
    #[inline(always)]
    pub(super) fn find_batch(&self, keys: &[R::Key], mut found: impl FnMut(usize, Option<Place>)) {
        if self.bytes() <= NEAR {
            for (n, key) in keys.iter().enumerate() {
                found(n, self.find(key, self.hash_of(key), || ()));
            }
            return;
        }
        let mut lookups = [Lookup::NONE; TOGETHER];
        for (n, keys) in keys.chunks(TOGETHER).enumerate() {
            let lookups = &mut lookups[..keys.len()];
            self.seek_groups(keys, lookups);
            self.seek_records(lookups);
            for (i, (key, lookup)) in keys.iter().zip(lookups).enumerate() {
                found(n * TOGETHER + i, self.settle(key, lookup));
            }
        }
    }

    #[inline(always)]
    fn seek_groups(&self, keys: &[R::Key], lookups: &mut [Lookup]) {
        let extent = self.extent();
        for (key, lookup) in keys.iter().zip(lookups) {
            let hash = self.hash_of(key);
            let (first, second) = (extent.bucket(hash.first()), extent.bucket(hash.second()));
            self.store.groups.prefetch(first as usize);
            self.store.groups.prefetch(second as usize);
            *lookup = Lookup { hash: hash.0, first, second, matching: 0 };
        }
    }

    #[inline(always)]
    fn seek_records(&self, lookups: &mut [Lookup]) {
        for lookup in lookups {
            let tag = Hash(lookup.hash).tag();
            let first = self.tags(lookup.first).matching(tag);
            let second = self.tags(lookup.second).matching(tag);
            lookup.matching = first | second << WIDTH;
            // Without a match this asks for a line in vain, which costs less than a branch nobody can predict.
            let place = lookup.place();
            self.store.prefetch(place);
        }
    }

    #[inline(always)]
    fn settle(&self, key: &R::Key, lookup: &mut Lookup) -> Option<Place> {
        while lookup.matching != 0 {
            let place = lookup.place();
            // SAFETY: the tag matches, so the place is full; only `&mut self` writes to records.
            if unsafe { self.record(place) }.key() == key {
                return Some(place);
            }
            lookup.matching &= lookup.matching - 1;
        }
        None
    }
}
