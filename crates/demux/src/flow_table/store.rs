//! What lies in memory: tags, counts and records, a row of each.

use core::ptr::NonNull;

use super::{
    FlowRecord,
    address::{Extent, Half, Hash, MOST_BLOCKS, Place},
    elsewhere::Elsewhere,
    space::Space,
    tags::{BLOCK, TagLine},
};
use crate::hashes::{KeyHash, Keyed};

/// Records per 16 blocks at which the table grows: 83 % of the places, so that places kept free and tags together
/// take at most 16 bytes for each record of 64. Models of interleavings need few records.
pub(super) const GROW_AT: usize = if cfg!(loom) { 8 } else { 850 };

/// Bytes besides its records that a block takes: tags, counts, and which records are guests.
pub(super) const BLOCK_BYTES: usize = 2 * (size_of::<TagLine>() + size_of::<Elsewhere>()) + size_of::<u64>();

/// What both those who write and those who read reach.
pub(super) struct Store<R, A> {
    tags: Space<TagLine>,
    elsewhere: Space<Elsewhere>,
    records: Space<R>,
    hash: Keyed,
    pub(super) access: A,
    most_blocks: u32,
}

impl<R: FlowRecord, A> Store<R, A> {
    /// A store for a table that grows from the extent returned. `access` is made for the number of columns.
    pub(super) fn new(limit: usize, seed: u64, access: impl FnOnce(Extent) -> A) -> (Self, Extent) {
        let full = blocks_for(limit).filter(|&blocks| blocks <= MOST_BLOCKS - MOST_BLOCKS / 32);
        let full = full.expect("the limit exceeds what the table can address");
        let extent = Extent::least(full);
        let most_blocks = full.max(extent.count()) + full / 32 + 1;
        let blocks = most_blocks as usize;
        let store = Self {
            tags: Space::new(2 * blocks),
            elsewhere: Space::new(2 * blocks),
            records: Space::new(blocks * BLOCK),
            hash: Keyed::new(seed),
            access: access(extent),
            most_blocks,
        };
        // Loom's atomics can't be made of zeroes.
        #[cfg(loom)]
        for n in 0..2 * blocks {
            // SAFETY: within the spaces just made.
            unsafe {
                store.tags.at(n).write(TagLine::new());
                store.elsewhere.at(n).write(Elsewhere::new());
            }
        }
        (store, extent)
    }

    pub(super) fn most_blocks(&self) -> u32 {
        self.most_blocks
    }

    /// Says that this block is about to be used.
    pub(super) fn reach(&self, block: u32) {
        self.tags.reach(block as usize * 2);
        self.records.reach(block as usize * BLOCK);
    }

    #[inline(always)]
    pub(super) fn hash_of(&self, key: &R::Key) -> Hash {
        Hash::of(self.hash.hash(key))
    }

    #[inline(always)]
    pub(super) fn tags(&self, half: Half) -> &TagLine {
        debug_assert!(half.block() < self.most_blocks);
        // SAFETY: extents name blocks below `most_blocks` only, and `tags` has two for each.
        unsafe { self.tags.at(half.0 as usize).as_ref() }
    }

    /// The keys that prefer this half and have their records elsewhere.
    #[inline(always)]
    pub(super) fn elsewhere(&self, half: Half) -> &Elsewhere {
        debug_assert!(half.block() < self.most_blocks);
        // SAFETY: as above, and `elsewhere` has two for each block.
        unsafe { self.elsewhere.at(half.0 as usize).as_ref() }
    }

    #[inline(always)]
    pub(super) fn record(&self, place: Place) -> NonNull<R> {
        debug_assert!(place.block() < self.most_blocks);
        // SAFETY: as above, and `records` has `BLOCK` for each block.
        unsafe { self.records.at(place.0 as usize) }
    }

    /// Asks for the tags of half a block.
    #[inline(always)]
    pub(super) fn prefetch_tags(&self, half: Half) {
        self.tags.prefetch(half.0 as usize);
    }

    /// Asks for the count of keys that are elsewhere.
    #[inline(always)]
    pub(super) fn prefetch_elsewhere(&self, half: Half) {
        self.elsewhere.prefetch(half.0 as usize);
    }

    /// Asks for the cache line of a record.
    #[inline(always)]
    pub(super) fn prefetch_record(&self, place: Place) {
        self.records.prefetch(place.0 as usize);
    }
}

/// Blocks in use when the table has so many records. Few blocks are less full, lest chance fill one.
fn blocks_for(limit: usize) -> Option<u32> {
    let blocks =
        if limit < 32 * BLOCK { limit.div_ceil(BLOCK * 3 / 4) } else { limit.checked_mul(16)? / GROW_AT };
    u32::try_from(blocks).ok()
}
