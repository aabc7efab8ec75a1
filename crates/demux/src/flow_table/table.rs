//! How records are found.

mod change;

use super::{
    FlowRecord,
    access::Access,
    address::{Extent, Hash},
    place::{Group, Place},
    space::Space,
    store::{BLOCK_BYTES, Store},
    tags::{BLOCK, GROUP, Tag},
};

/// Records per 16 blocks at which the table shrinks: 37 % of the places.
const SHRINK_AT: usize = 384;

/// The table, for the one side that writes. `A` says who may look at the same time.
pub(super) struct Table<R: FlowRecord, A: Access<R>> {
    pub(super) store: A::Held,
    /// Which records of a block are not in the group they prefer, a bit each.
    strangers: Space<u64>,
    pub(super) extent: Extent,
    len: usize,
    limit: usize,
    /// With so many records it grows.
    most: usize,
    /// With fewer it shrinks.
    least: usize,
    moved: u64,
}

impl<R: FlowRecord, A: Access<R>> Table<R, A> {
    pub(super) fn new(limit: usize, seed: u64, access: impl FnOnce(Extent) -> A) -> Self {
        let (store, extent) = Store::new(limit, seed, access);
        let strangers = Space::new(store.most_blocks() as usize);
        let (store, most) = (A::hold(store), 0);
        let mut table = Self { store, strangers, extent, len: 0, limit, most, least: 0, moved: 0 };
        table.set_extent(extent);
        table
    }

    /// From now on there are so many blocks.
    pub(super) fn set_extent(&mut self, extent: Extent) {
        self.extent = extent;
        self.most = self.store.capacity(extent.count()).min(self.limit);
        self.least = extent.count() as usize * SHRINK_AT / 16;
        self.store.access.publish(extent);
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Records moved from one place to another since the table was made.
    pub(super) fn moved(&self) -> u64 {
        self.moved
    }

    /// Bytes of memory in use.
    pub(super) fn bytes(&self) -> usize {
        self.extent.count() as usize * (BLOCK_BYTES + BLOCK * size_of::<R>())
    }

    #[inline(always)]
    pub(super) fn hash_of(&self, key: &R::Key) -> Hash {
        self.store.hash_of(key)
    }

    /// The places of a group whose tag is this, one bit each.
    #[inline(always)]
    pub(super) fn matching(&self, group: Group, tag: Tag) -> u32 {
        self.store.access.tags(self.store.tags(group)).matching(tag)
    }

    /// The places of a block whose tag is this, one bit each.
    #[inline(always)]
    pub(super) fn matching_in_block(&self, block: u32, tag: Tag) -> u64 {
        Group::of_block(block).map(|group| u64::from(self.matching(group, tag)) << group.shift()).sum()
    }

    /// The places of a group that hold nothing, one bit each.
    #[inline(always)]
    pub(super) fn empty(&self, group: Group) -> u32 {
        self.store.access.tags(self.store.tags(group)).empty()
    }

    /// The places of a group's block whose tag is this, without those of the group.
    #[inline(always)]
    pub(super) fn matching_in_others(&self, group: Group, tag: Tag) -> u64 {
        let own = u64::from(u32::MAX >> (32 - GROUP)) << group.shift();
        self.matching_in_block(group.block(), tag) & !own
    }

    /// The places of a block that hold something, one bit each.
    pub(super) fn full(&self, block: u32) -> u64 {
        (u64::MAX >> (64 - BLOCK))
            & !Group::of_block(block).map(|group| u64::from(self.empty(group)) << group.shift()).sum::<u64>()
    }

    /// The record at a place that the tags say is full.
    ///
    /// # Safety
    /// The place is full, and the record is not written to while the reference is in use.
    #[inline(always)]
    pub(super) unsafe fn record(&self, place: Place) -> &R {
        // SAFETY: full places hold records, says the caller.
        unsafe { self.store.record(place).as_ref() }
    }

    /// The record of `key`. `examined` sees each record compared.
    #[inline(always)]
    pub(super) fn get(&self, key: &R::Key, examined: impl FnMut()) -> Option<&R> {
        // SAFETY: the place was found full; only `&mut self` writes to records.
        self.find(key, self.hash_of(key), examined).map(|place| unsafe { self.record(place) })
    }

    /// Where the record of `key` is. `examined` sees each record compared.
    #[inline(always)]
    pub(super) fn find(&self, key: &R::Key, hash: Hash, examined: impl FnMut()) -> Option<Place> {
        // Twice, so that what decides which is a branch, which the processor foresees, and no step on the way to the tags.
        let find = |group| self.find_from(group, self.matching(group, hash.tag()), key, hash, examined);
        if self.extent.is_whole() {
            find(self.extent.first_of_whole(hash))
        } else {
            find(self.extent.first(hash))
        }
    }

    /// As [`find`](Self::find), where the group that the key prefers and the matching places of it are known.
    #[inline(always)]
    fn find_from(
        &self,
        group: Group,
        matching: u32,
        key: &R::Key,
        hash: Hash,
        mut examined: impl FnMut(),
    ) -> Option<Place> {
        let found = self.compare(group.place(0), matching.into(), key, &mut examined);
        if found.is_some() || !self.store.elsewhere(group).has(hash.tag()) {
            return found;
        }
        self.find_elsewhere(key, hash, &mut examined)
    }

    /// Which of these places holds the record of `key`: bits, beginning with the one of `start`.
    #[inline(always)]
    fn compare(
        &self,
        start: Place,
        mut matching: u64,
        key: &R::Key,
        examined: &mut impl FnMut(),
    ) -> Option<Place> {
        while matching != 0 {
            let place = Place(start.0 | matching.trailing_zeros());
            examined();
            // SAFETY: the tag matches, so the place is full; only `&mut self` writes to records.
            if unsafe { self.record(place) }.key() == key {
                return Some(place);
            }
            matching &= matching - 1;
        }
        None
    }

    /// Where the record of a key is that is not in the group it prefers.
    #[cold]
    #[inline(never)]
    pub(super) fn find_elsewhere(
        &self,
        key: &R::Key,
        hash: Hash,
        examined: &mut impl FnMut(),
    ) -> Option<Place> {
        let (first, second) = (self.extent.first(hash), self.extent.second(hash));
        self.store.prefetch_tags(second);
        let others = self.matching_in_others(first, hash.tag());
        self.compare(Place::new(first.block(), 0), others, key, examined).or_else(|| {
            let matching = self.matching_in_block(second.block(), hash.tag());
            self.compare(Place::new(second.block(), 0), matching, key, examined)
        })
    }

    /// Counts a record that was moved.
    pub(super) fn count_move(&mut self) {
        self.moved += 1;
    }

    /// The hash of the record at a full place.
    pub(super) fn hash_at(&self, place: Place) -> Hash {
        // SAFETY: the place is full, says the caller; the reference ends here, before anybody writes.
        self.hash_of(unsafe { self.record(place) }.key())
    }

    /// The records of a block that are not in the group they prefer, one bit each.
    pub(super) fn strangers(&self, block: u32) -> u64 {
        debug_assert!(block < self.store.most_blocks());
        // SAFETY: there is a word for each block, and nobody but this side knows them.
        unsafe { self.strangers.at(block as usize).read() }
    }

    /// Those in a group.
    pub(super) fn strangers_in(&self, group: Group) -> u32 {
        (self.strangers(group.block()) >> group.shift()) as u32 & (u32::MAX >> (32 - GROUP))
    }

    pub(super) fn set_strangers(&mut self, block: u32, strangers: u64) {
        debug_assert!(block < self.store.most_blocks());
        // SAFETY: as above.
        unsafe { self.strangers.at(block as usize).write(strangers) }
    }

    pub(super) fn set_stranger(&mut self, place: Place, stranger: bool) {
        let others = self.strangers(place.block()) & !place.bit();
        self.set_strangers(place.block(), if stranger { others | place.bit() } else { others });
    }

    /// Asks for these records of a block, all at once.
    pub(super) fn prefetch_records(&self, block: u32, places: u64) {
        ones(places).for_each(|at| self.store.prefetch_record(Place::new(block, at)));
    }

    /// All places that hold records.
    pub(super) fn full_places(&self) -> impl Iterator<Item = Place> + '_ {
        (0..self.extent.count()).flat_map(|block| ones(self.full(block)).map(move |at| Place::new(block, at)))
    }
}

/// The numbers of the bits that are set.
pub(super) fn ones(mut bits: u64) -> impl Iterator<Item = u32> {
    core::iter::from_fn(move || {
        let at = (bits != 0).then(|| bits.trailing_zeros());
        bits &= bits.wrapping_sub(1);
        at
    })
}

impl<R: FlowRecord, A: Access<R>> Drop for Table<R, A> {
    fn drop(&mut self) {
        if core::mem::needs_drop::<R>() {
            for place in self.full_places() {
                // SAFETY: the place is full, and nothing looks at it afterwards.
                unsafe { self.store.record(place).drop_in_place() };
            }
        }
    }
}
