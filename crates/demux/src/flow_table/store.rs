//! What lies in memory: tags, counts and records, a row of each.

use core::{hint::select_unpredictable, ptr::NonNull};

use super::{
    BESIDES, FlowRecord,
    address::{Extent, MOST_BLOCKS},
    elsewhere::{Counts, Elsewhere},
    place::{Group, Place},
    space::{Cache, Space, prefetch},
    tags::{BLOCK, GROUP, GROUPS, TagGroup},
};
use crate::{
    ConfigError,
    hashes::{KeyHash, Keyed},
};

/// Records per 16 blocks at the limit, at most: 84 % of the places. Most tables have more blocks, as many as [`BESIDES`] bytes
/// for each record of so many allow: the fewer places are in use, the sooner one is found.
const FULL: usize = 864 * BLOCK / 64;
const RECORD: usize = 64;

/// Bytes besides its records that a block takes.
pub(super) const BLOCK_BYTES: usize =
    GROUPS as usize * (size_of::<TagGroup>() + size_of::<Elsewhere>() + size_of::<Counts>());

/// What both those who write and those who read reach.
pub(super) struct Store<R, A> {
    tags: Space<TagGroup>,
    elsewhere: Space<Elsewhere>,
    records: Space<R>,
    hash: Keyed,
    pub(super) access: A,
    most_blocks: u32,
    grow_at: u64,
}

impl<R: FlowRecord, A> Store<R, A> {
    /// A store for a table that grows from the extent returned. `access` is made for the number of columns
    /// and the most blocks.
    pub(super) fn new(
        limit: usize,
        hash: Keyed,
        access: impl FnOnce(Extent, u32) -> Result<A, ConfigError>,
    ) -> Result<(Self, Extent), ConfigError> {
        let blocks = blocks_for(limit).filter(|[least, _]| *least <= MOST_BLOCKS - MOST_BLOCKS / 16);
        let (extent, complete) = Extent::least(blocks.ok_or(ConfigError::TooLarge)?);
        let most_blocks = complete + complete / 32 + 1;
        let blocks = most_blocks as usize;
        let store = Self {
            tags: Space::new(GROUPS as usize * blocks)?,
            elsewhere: Space::new(GROUPS as usize * blocks)?,
            records: Space::new(blocks * BLOCK)?,
            hash,
            access: access(extent, most_blocks)?,
            most_blocks,
            grow_at: grow_at(limit, complete),
        };
        // Loom's atomics can't be made of zeroes.
        #[cfg(loom)]
        for n in 0..GROUPS as usize * blocks {
            // SAFETY: within the spaces just made.
            unsafe {
                store.tags.at(n).write(TagGroup::new());
                store.elsewhere.at(n).write(Elsewhere::new());
            }
        }
        Ok((store, extent))
    }

    /// What keys are hashed by.
    pub(super) fn keyed_by(&self) -> Keyed {
        self.hash.clone()
    }

    /// The same tags and what else is known, with room for other records, and those that there were.
    pub(super) fn with_room_for<T>(self) -> Result<(Store<T, A>, Space<R>), ConfigError> {
        let Self { tags, elsewhere, records, hash, access, most_blocks, grow_at } = self;
        let room = Space::new(most_blocks as usize * BLOCK)?;
        Ok((Store { tags, elsewhere, records: room, hash, access, most_blocks, grow_at }, records))
    }

    pub(super) fn most_blocks(&self) -> u32 {
        self.most_blocks
    }

    /// How many records so many blocks, in rows as long as those of `extent`, are enough for. A small table that has begun to
    /// double its rows hurries to have them all: until then some blocks have more than their share, which costs more than
    /// memory that is so near.
    pub(super) fn capacity(&self, extent: Extent, blocks: u32) -> usize {
        let complete = extent.complete(blocks);
        let hurries = !cfg!(loom) && complete as usize * 2 * BLOCK * size_of::<R>() <= NEAR;
        let hasty = if hurries { blocks - complete } else { 0 };
        let as_many = u64::from(blocks - hasty) * HASTE + u64::from(hasty);
        ((as_many * self.grow_at / HASTE) >> 16) as usize
    }

    /// Says that this block is about to be used.
    pub(super) fn reach(&self, block: u32) {
        self.tags.reach((block * GROUPS) as usize);
        self.records.reach(block as usize * BLOCK);
    }

    /// Has the system make the memory of so many blocks ready.
    pub(super) fn make_ready(&self, blocks: u32) {
        self.tags.make_ready((blocks * GROUPS) as usize);
        self.elsewhere.make_ready((blocks * GROUPS) as usize);
        self.records.make_ready(blocks as usize * BLOCK);
    }

    #[inline(always)]
    pub(super) fn keyed(&self, key: &R::Key) -> u64 {
        self.hash.hash(key)
    }

    /// The tags of all places.
    #[inline(always)]
    pub(super) fn all_tags(&self) -> &Space<TagGroup> {
        &self.tags
    }

    #[inline(always)]
    pub(super) fn tags(&self, group: Group) -> &TagGroup {
        debug_assert!(group.block() < self.most_blocks);
        // SAFETY: extents name blocks below `most_blocks` only, and `tags` has [`GROUPS`] for each.
        unsafe { self.tags.at_byte(tag_byte(group)).as_ref() }
    }

    /// The keys that prefer this group and have their records elsewhere.
    #[inline(always)]
    pub(super) fn elsewhere(&self, group: Group) -> &Elsewhere {
        debug_assert!(group.block() < self.most_blocks);
        // SAFETY: as above, and `elsewhere` has as many.
        unsafe { self.elsewhere.at(group.index()).as_ref() }
    }

    #[inline(always)]
    pub(super) fn record(&self, place: Place) -> NonNull<R> {
        debug_assert!(place.block() < self.most_blocks);
        // SAFETY: as above, and `records` has `BLOCK` for each block.
        unsafe { self.records.at_byte(record_byte::<R>(place)) }
    }

    /// Asks for the tags of a group, and of the others of its block.
    #[inline(always)]
    pub(super) fn prefetch_tags(&self, group: Group, to: Cache) {
        self.tags.prefetch_byte(tag_byte(group), to);
    }

    /// Asks for what is counted of a group.
    #[inline(always)]
    pub(super) fn prefetch_elsewhere(&self, group: Group, to: Cache) {
        self.elsewhere.prefetch(group.index(), to);
    }

    /// Asks for the cache line of a record, and says where it is. The place may be the one after the last.
    #[inline(always)]
    pub(super) fn prefetch_record(&self, place: Place, to: Cache) -> NonNull<R> {
        let record = self.record_or_end(place);
        prefetch(record.as_ptr(), to);
        record
    }

    /// As [`prefetch_record`](Self::prefetch_record), or asks for what is counted of the group instead, without a branch.
    #[inline(always)]
    pub(super) fn prefetch_record_or_elsewhere(
        &self,
        place: Place,
        group: Group,
        elsewhere: bool,
        to: Cache,
    ) -> NonNull<R> {
        let record = self.record_or_end(place);
        let counted = core::ptr::from_ref(self.elsewhere(group)).cast::<u8>();
        prefetch(select_unpredictable(elsewhere, counted, record.as_ptr().cast()), to);
        record
    }

    #[inline(always)]
    fn record_or_end(&self, place: Place) -> NonNull<R> {
        debug_assert!(place.0 <= self.most_blocks as usize * BLOCK);
        // SAFETY: in the row of records or at its end.
        unsafe { self.records.at_byte(record_byte::<R>(place)) }
    }
}

/// Bytes of records of a table that hurries. Where tables are slow, few are that small.
const NEAR: usize = if cfg!(miri) { 16 << 10 } else { 8 << 20 };

/// How many times as fast it grows then: nine records come before there is another block.
const HASTE: u64 = 6;

/// Records per 65,536 blocks at which the table grows, such that it has all its blocks at the limit. Models of
/// interleavings need few records.
fn grow_at(limit: usize, blocks: u32) -> u64 {
    if cfg!(loom) { 1 << 15 } else { ((limit as u64) << 16).div_ceil(blocks.into()) }
}

/// Blocks needed for so many records, and those that they may have.
fn blocks_for(limit: usize) -> Option<[u32; 2]> {
    // With the word that a block has if there are readers.
    let block = BLOCK * RECORD + BLOCK_BYTES + size_of::<u64>();
    let blocks = [limit.checked_mul(16)?.div_ceil(FULL), limit.checked_mul(RECORD + BESIDES)? / block];
    let [needed, allowed] = blocks.map(|blocks| u32::try_from(blocks).ok());
    Some([needed?, allowed?])
}

/// Where the tags of a group begin. The compiler does not see by itself that there is nothing to calculate.
#[inline(always)]
fn tag_byte(group: Group) -> usize {
    if size_of::<TagGroup>() == GROUP { group.places_before() } else { group.index() * size_of::<TagGroup>() }
}

/// Where a record begins. The compiler would otherwise calculate where its group begins, and then where it is in that.
#[inline(always)]
fn record_byte<R>(place: Place) -> usize {
    place.0 * size_of::<R>()
}
