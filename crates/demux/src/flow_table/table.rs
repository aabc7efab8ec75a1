//! How records are found.
//!
//! Tags alone say which places hold records, and each record is in one such place, whatever keys' own code says: it may answer
//! otherwise from one call to the next, and keys may have changed. Hashes, counts and what is known of strangers only say where
//! to look; and where records are moved, that code is not called between a copy and the clearing of what was copied.

mod change;
mod insert;
mod remove;
mod trial;

use super::{
    FlowRecord,
    access::Access,
    address::{Extent, Shape},
    bits::{Bits, ones},
    elsewhere::{Counts, Elsewhere},
    hash::Hash,
    place::{Group, Place},
    resize,
    space::{Cache, Space},
    store::{BLOCK_BYTES, Store},
    tags::{BLOCK, GROUPS, Tag},
};
use crate::{ConfigError, drop_all::drop_all, hashes::Keyed};

/// Records per 16 blocks at which the table shrinks: 37 % of the places.
const SHRINK_AT: usize = 384;

/// The table, for the one side that writes. `A` says who may look at the same time.
pub(super) struct Table<R: FlowRecord, A: Access<R>> {
    pub(super) store: A::Held,
    /// What only this side knows of each group.
    counts: Space<Counts>,
    pub(super) extent: Extent,
    limit: usize,
    /// With so many records it grows.
    most: usize,
    /// How many more come before it does, one that is being inserted not included. In place of their number, so that to count
    /// one and to see whether there is room for it is one step.
    room: isize,
    /// With room for more it shrinks.
    most_room: isize,
    /// To so many blocks at least.
    least: u32,
    moved: u64,
    /// The record that is to be inserted, while a place is sought that is not found at once. Empty otherwise.
    waiting: Space<R>,
}

impl<R: FlowRecord, A: Access<R>> Table<R, A> {
    pub(super) fn new(
        limit: usize,
        hash: Keyed,
        access: impl FnOnce(Extent, u32) -> Result<A, ConfigError>,
    ) -> Result<Self, ConfigError> {
        let (store, extent) = Store::new(limit, hash, access)?;
        let counts = Space::new(GROUPS as usize * store.most_blocks() as usize)?;
        store.reach(extent.count());
        let store = A::hold(store);
        let (most, room, most_room, moved) = (0, 0, 0, 0);
        let (least, waiting) = (extent.count(), Space::new(1)?);
        let mut table = Self { store, counts, extent, limit, most, room, most_room, least, moved, waiting };
        table.set_extent(extent);
        Ok(table)
    }

    /// From now on there are so many blocks.
    pub(super) fn set_extent(&mut self, extent: Extent) {
        let len = self.len();
        let few = extent.count() as usize * SHRINK_AT / 16;
        self.extent = extent;
        self.most = self.store.capacity(extent, extent.count()).min(self.limit);
        self.most_room =
            if extent.count() > self.least { self.most as isize - few as isize } else { isize::MAX };
        self.set_len(len);
        self.store.access.publish(extent);
    }

    fn set_len(&mut self, len: usize) {
        self.room = self.most as isize - len as isize;
    }

    /// How many records there are, one that is being inserted included.
    pub(super) fn len(&self) -> usize {
        (self.most as isize - self.room) as usize
    }

    /// Takes the blocks for so many more records, as far as the limit allows, and from now on keeps them.
    pub(super) fn reserve(&mut self, additional: usize) {
        let wanted = self.len().saturating_add(additional).min(self.limit);
        let mut blocks = self.extent.columns().count();
        // Rows are complete then: all blocks are equally likely.
        while self.store.capacity(self.extent, blocks) < wanted {
            blocks *= 2;
        }
        self.least = self.least.max(blocks);
        while self.extent.count() < blocks && resize::grow(self) {}
        self.set_extent(self.extent);
        self.store.make_ready(self.extent.count());
        self.counts.make_ready((self.extent.count() * GROUPS) as usize);
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
        self.extent.count() as usize * (BLOCK_BYTES + A::BLOCK_BYTES + BLOCK * size_of::<R>())
    }

    #[inline(always)]
    pub(super) fn hash_of(&self, key: &R::Key) -> Hash {
        Hash::of(self.store.keyed(key))
    }

    /// The hash of a key and where it prefers to be: for changes, see [`Extent::seek_in_short`].
    #[inline(always)]
    pub(super) fn seek(&self, key: &R::Key) -> (Hash, Place) {
        self.extent.seek_in_short(self.store.keyed(key))
    }

    /// The places of a group whose tag is this, one bit each.
    #[inline(always)]
    pub(super) fn matching(&self, group: Group, tag: Tag) -> u16 {
        self.store.access.tags(self.store.tags(group)).matching(tag)
    }

    /// The places of a group's block whose tag is this, one bit each.
    #[inline(always)]
    pub(super) fn matching_in_block(&self, group: Group, tag: Tag) -> u64 {
        group.all_of_block().map(|group| u64::from(self.matching(group, tag)) << group.shift()).sum()
    }

    /// The places of a group that hold nothing, one bit each.
    #[inline(always)]
    pub(super) fn empty(&self, group: Group) -> u16 {
        self.store.access.tags(self.store.tags(group)).empty()
    }

    /// The places of a group's block that hold nothing, one bit each.
    #[inline(always)]
    pub(super) fn empty_in_block(&self, group: Group) -> u64 {
        group.all_of_block().map(|group| u64::from(self.empty(group)) << group.shift()).sum()
    }

    /// The places of a group's block whose tag is this, without those of the group.
    #[inline(always)]
    pub(super) fn matching_in_others(&self, group: Group, tag: Tag) -> u64 {
        self.matching_in_block(group, tag) & !group.all_places()
    }

    /// The places of a block that hold something, one bit each.
    pub(super) fn full(&self, block: u32) -> u64 {
        (u64::MAX >> (64 - BLOCK)) & !self.empty_in_block(Group::new(block, 0))
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
        self.find_as(key, examined, |_, record| record)
    }

    /// Where the record of `key` is.
    #[inline(always)]
    pub(super) fn find(&self, key: &R::Key) -> Option<Place> {
        self.find_as(key, || (), |place, _| place)
    }

    /// What `found` makes of the record of `key` and its place. `examined` sees each record compared.
    #[inline(always)]
    fn find_as<'a, T>(
        &'a self,
        key: &R::Key,
        examined: impl FnMut(),
        found: impl Fn(Place, &'a R) -> T,
    ) -> Option<T> {
        let (extent, keyed) = (self.extent, self.store.keyed(key));
        let find = |(hash, preferred): (Hash, Place)| {
            self.prefetch_preferred(preferred);
            let group = preferred.group();
            self.find_from(group, self.matching(group, hash.tag()), key, hash.tag(), examined, found)
        };
        // Each apart, so that what decides which is a branch, which the processor foresees, and no step on the way to the
        // tags.
        match extent.shape {
            Shape::Whole => find(extent.seek_in_whole(keyed)),
            Shape::Split => find(extent.seek_in_split(keyed)),
        }
    }

    /// As [`find_as`](Self::find_as), where the group that the key prefers and the matching places of it are known.
    #[inline(always)]
    fn find_from<'a, T>(
        &'a self,
        group: Group,
        matching: u16,
        key: &R::Key,
        tag: Tag,
        mut examined: impl FnMut(),
        found: impl Fn(Place, &'a R) -> T,
    ) -> Option<T> {
        if let Some(at) = matching.lowest() {
            examined();
            let place = group.place(at);
            // SAFETY: the tag matches, so the place is full; only `&mut self` writes to records.
            let record = unsafe { self.record(place) };
            if record.key() == key {
                return Some(found(place, record));
            }
        } else if !self.has_elsewhere(group, tag) {
            return None;
        }
        let place = self.find_late(group, matching.others(), key, tag, examined)?;
        // SAFETY: as above.
        Some(found(place, unsafe { self.record(place) }))
    }

    /// Whether a key of this tag that prefers this group may have its record elsewhere.
    #[inline(always)]
    pub(super) fn has_elsewhere(&self, group: Group, tag: Tag) -> bool {
        self.store.access.has(self.store.elsewhere(group), tag)
    }

    /// Where the record of a key is that is not in the first matching place of the group it prefers.
    #[cold]
    #[inline(never)]
    fn find_late(
        &self,
        group: Group,
        matching: u16,
        key: &R::Key,
        tag: Tag,
        mut examined: impl FnMut(),
    ) -> Option<Place> {
        self.find_among(group, matching, key, tag, &mut examined)
    }

    /// Where the record of a key is: in one of these places of the group it prefers, or elsewhere.
    #[inline(always)]
    fn find_among(
        &self,
        group: Group,
        matching: u16,
        key: &R::Key,
        tag: Tag,
        examined: &mut impl FnMut(),
    ) -> Option<Place> {
        let here = self.compare(group.place(0), matching, key, examined);
        if here.is_some() || !self.has_elsewhere(group, tag) {
            return here;
        }
        let others = self.matching_in_others(group, tag);
        let found = self.compare(group.first_of_block().place(0), others, key, examined);
        found.or_else(|| self.find_second(key, examined))
    }

    /// Where the record of a key is that is not in its first block.
    #[cold]
    #[inline(never)]
    fn find_second(&self, key: &R::Key, examined: &mut impl FnMut()) -> Option<Place> {
        let hash = self.hash_of(key);
        let second = self.extent.second(hash).group();
        let matching = self.matching_in_block(second, hash.tag());
        self.compare(second.first_of_block().place(0), matching, key, examined)
    }

    /// The one of these places that holds the record of `key`; they are counted from `start`.
    #[inline(always)]
    fn compare(
        &self,
        start: Place,
        mut matching: impl Bits,
        key: &R::Key,
        examined: &mut impl FnMut(),
    ) -> Option<Place> {
        while let Some(at) = matching.lowest() {
            let place = Place(start.0 | at as usize);
            examined();
            // SAFETY: the tag matches, so the place is full; only `&mut self` writes to records.
            if unsafe { self.record(place) }.key() == key {
                return Some(place);
            }
            matching = matching.others();
        }
        None
    }

    /// Counts records that were moved.
    pub(super) fn count_moves(&mut self, moved: u64) {
        self.moved += moved;
    }

    /// The hash of the record at a full place.
    pub(super) fn hash_at(&self, place: Place) -> Hash {
        // SAFETY: the place is full, says the caller; the reference ends here, before anybody writes.
        self.hash_of(unsafe { self.record(place) }.key())
    }

    /// What is counted of a group.
    #[inline(always)]
    pub(super) fn counts(&self, group: Group) -> Counts {
        debug_assert!(group.block() < self.store.most_blocks());
        // SAFETY: there is one for each group, and nobody but this side knows them.
        unsafe { self.counts.at(group.index()).read() }
    }

    #[inline(always)]
    fn counts_mut(&mut self, group: Group) -> (&mut Counts, &Elsewhere) {
        debug_assert!(group.block() < self.store.most_blocks());
        // SAFETY: as above; and this side is borrowed as a whole.
        (unsafe { self.counts.at(group.index()).as_mut() }, self.store.elsewhere(group))
    }

    /// One more key that prefers this group has its record elsewhere, before that is so.
    #[inline(always)]
    pub(super) fn leaves(&mut self, home: Group, tag: Tag) {
        let (counts, elsewhere) = self.counts_mut(home);
        counts.leaves(elsewhere, tag);
    }

    /// One such key less, after that was so.
    #[inline(always)]
    pub(super) fn returns(&mut self, home: Group, tag: Tag) {
        self.returns_if(true, home, tag);
    }

    /// As [`returns`](Self::returns), or not; without a branch.
    #[inline(always)]
    fn returns_if(&mut self, returned: bool, home: Group, tag: Tag) {
        let (counts, elsewhere) = self.counts_mut(home);
        counts.returns_if(elsewhere, returned, tag);
    }

    /// Says that a block, which is no longer in use, has neither strangers nor keys elsewhere.
    pub(super) fn clear_counts(&mut self, block: u32) {
        for group in Group::of_block(block) {
            let (counts, elsewhere) = self.counts_mut(group);
            counts.clear(elsewhere);
        }
    }

    /// The records of a block that are not in the group they prefer, one bit each.
    pub(super) fn strangers(&self, block: u32) -> u64 {
        Group::of_block(block).map(|group| u64::from(self.counts(group).strangers()) << group.shift()).sum()
    }

    #[inline(always)]
    pub(super) fn set_stranger(&mut self, place: Place, stranger: bool) {
        self.counts_mut(place.group()).0.set_stranger(place.at(), stranger);
    }

    /// Asks for what is known of keys elsewhere and of strangers.
    #[inline(always)]
    pub(super) fn prefetch_counts(&self, group: Group, to: Cache) {
        self.store.prefetch_elsewhere(group, to);
        self.counts.prefetch(group.index(), to);
    }

    /// Asks for what is in the place that a key prefers: in half of all cases its record, which is on its way then while its
    /// tag is.
    #[inline(always)]
    pub(super) fn prefetch_preferred(&self, preferred: Place) {
        if A::PREFERS {
            self.store.prefetch_record(preferred, Cache::First);
        }
    }

    /// Asks for these records of a block, all at once.
    pub(super) fn prefetch_records(&self, block: u32, places: u64) {
        ones(places).for_each(|at| _ = self.store.prefetch_record(Place::new(block, at), Cache::First));
    }

    /// All records, as long as nobody writes.
    pub(super) fn iter(&self) -> impl Iterator<Item = &R> {
        // SAFETY: the places are full, and `&self` keeps writers away.
        self.full_places().map(|place| unsafe { self.record(place) })
    }

    /// The record that waits is this one from now on.
    #[inline(always)]
    pub(super) fn wait(&mut self, record: R) {
        // SAFETY: a place for one, and none waits yet.
        unsafe { self.waiting.at(0).write(record) };
    }

    /// The record that waits.
    ///
    /// # Safety
    /// One does; from now on it does not.
    #[inline(always)]
    pub(super) unsafe fn waiting(&mut self) -> R {
        // SAFETY: as the caller says.
        unsafe { self.waiting.at(0).read() }
    }

    /// All places that hold records.
    pub(super) fn full_places(&self) -> impl Iterator<Item = Place> + '_ {
        (0..self.extent.count()).flat_map(|block| ones(self.full(block)).map(move |at| Place::new(block, at)))
    }
}

impl<R: FlowRecord, A: Access<R>> Drop for Table<R, A> {
    fn drop(&mut self) {
        if core::mem::needs_drop::<R>() {
            // SAFETY: these places are full, and nothing looks at them afterwards.
            unsafe { drop_all(self.full_places().map(|place| self.store.record(place))) };
        }
    }
}
