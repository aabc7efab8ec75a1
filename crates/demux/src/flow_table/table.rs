//! Buckets and how records get into them, stay findable while the table grows, and get out.

use core::ptr::NonNull;

use super::{
    FlowRecord,
    access::Access,
    address::{Extent, Hash, LEAST_BUCKETS, MOST_BUCKETS},
    group::{EMPTY, Group, Tags, WIDTH},
    room,
    space::Space,
};
use crate::hashes::{KeyHash, Keyed};

/// Records per [`LEAST_BUCKETS`] at which the table grows: 86 % of the places.
const GROW_AT: usize = 880;

/// Records per [`LEAST_BUCKETS`] at which the table shrinks: 37 % of the places.
const SHRINK_AT: usize = 380;

/// Buckets added at most because one record found no room.
const GROWTHS_FOR_ROOM: usize = 8;

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) bucket: u32,
    pub(super) at: usize,
}

/// Places in two buckets whose tags match: the first bucket's in the low half, the second's in the high.
#[derive(Clone, Copy)]
pub(super) struct Candidates {
    first: u32,
    second: u32,
    pub(super) matching: u32,
}

impl Candidates {
    /// The first of these places; any at all if there is none.
    #[inline(always)]
    pub(super) fn place(&self, matching: u32) -> Place {
        let bit = matching.trailing_zeros() as usize;
        Place { bucket: if bit < WIDTH { self.first } else { self.second }, at: bit % WIDTH }
    }
}

/// The table, without its statement of who may look while it changes: that is `A`.
pub(super) struct Table<R: FlowRecord, A: Access<R>> {
    pub(super) groups: Space<Group>,
    pub(super) records: Space<R>,
    pub(super) hash: Keyed,
    pub(super) access: A,
    extent: Extent,
    most_buckets: u32,
    len: usize,
    limit: usize,
    moved: u64,
}

impl<R: FlowRecord, A: Access<R>> Table<R, A> {
    pub(super) fn new(limit: usize, seed: u64, access: A) -> Self {
        let buckets = limit.div_ceil(GROW_AT).max(1) * LEAST_BUCKETS as usize;
        let most_buckets = u32::try_from(buckets).ok().filter(|&buckets| buckets <= MOST_BUCKETS);
        let most_buckets = most_buckets.expect("the limit exceeds what the table can address");
        access.publish(Extent::LEAST);
        Self {
            groups: Space::new(buckets),
            records: Space::new(buckets * WIDTH),
            hash: Keyed::new(seed),
            access,
            extent: Extent::LEAST,
            most_buckets,
            len: 0,
            limit,
            moved: 0,
        }
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

    #[inline(always)]
    pub(super) fn extent(&self) -> Extent {
        self.extent
    }

    /// Bytes of memory in use.
    pub(super) fn bytes(&self) -> usize {
        self.extent.count() as usize * (size_of::<Group>() + WIDTH * size_of::<R>())
    }

    #[inline(always)]
    pub(super) fn hash_of(&self, key: &R::Key) -> Hash {
        Hash(self.hash.hash(key))
    }

    #[inline(always)]
    pub(super) fn group(&self, bucket: u32) -> &Group {
        debug_assert!(bucket < self.most_buckets);
        // SAFETY: extents name buckets below `most_buckets` only, of which `groups` has that many; zeroes are a
        // group of empty places.
        unsafe { self.groups.at(bucket as usize).as_ref() }
    }

    #[inline(always)]
    pub(super) fn tags(&self, bucket: u32) -> Tags {
        self.access.tags(self.group(bucket))
    }

    #[inline(always)]
    pub(super) fn place(&self, place: Place) -> NonNull<R> {
        debug_assert!(place.bucket < self.most_buckets && place.at < WIDTH);
        // SAFETY: as above, and `records` has `WIDTH` for each bucket.
        unsafe { self.records.at(place.bucket as usize * WIDTH + place.at) }
    }

    /// The record at a place that the tags say is full.
    ///
    /// # Safety
    /// The place is full, and the record is not written to while the reference is in use.
    #[inline(always)]
    pub(super) unsafe fn record(&self, place: Place) -> &R {
        // SAFETY: full places hold records, says the caller.
        unsafe { self.place(place).as_ref() }
    }

    /// Where the record of `key` is. `examined` sees each record compared.
    #[inline(always)]
    pub(super) fn find(&self, key: &R::Key, hash: Hash, mut examined: impl FnMut()) -> Option<Place> {
        let candidates = self.candidates(hash);
        let mut matching = candidates.matching;
        while matching != 0 {
            let place = candidates.place(matching);
            examined();
            // SAFETY: the tag matches, so the place is full; only `&mut self` writes to records.
            if unsafe { self.record(place) }.key() == key {
                return Some(place);
            }
            matching &= matching - 1;
        }
        None
    }

    /// The places where the record of a key may be. Both buckets are looked at, whatever the first one shows: nobody
    /// could predict the branch.
    #[inline(always)]
    pub(super) fn candidates(&self, hash: Hash) -> Candidates {
        let first = self.extent.bucket(hash.first());
        let second = self.extent.bucket(hash.second());
        let tag = hash.tag();
        let matching = self.tags(first).matching(tag) | self.tags(second).matching(tag) << WIDTH;
        Candidates { first, second, matching }
    }

    /// Puts a record, whose key is absent, into a place, or gives it back because the table is full.
    pub(super) fn insert(&mut self, hash: Hash, record: R) -> Result<Place, R> {
        if self.len == self.limit {
            return Err(record);
        }
        if (self.len + 1) * 64 > self.extent.count() as usize * GROW_AT {
            self.grow();
        }
        let Some(place) = self.make_room(hash) else { return Err(record) };
        self.access.begin(place.bucket);
        self.access.write(self.place(place), record);
        self.group(place.bucket).set(place.at, hash.tag());
        self.access.end(place.bucket);
        self.len += 1;
        Ok(place)
    }

    /// An empty place in one of the two buckets of a hash.
    fn make_room(&mut self, hash: Hash) -> Option<Place> {
        for _ in 0..GROWTHS_FOR_ROOM {
            for bits in [hash.first(), hash.second()] {
                let bucket = self.extent.bucket(bits);
                if let Some(at) = self.empty_place(bucket) {
                    return Some(Place { bucket, at });
                }
            }
            if let Some(place) = room::displace(self, hash) {
                return Some(place);
            }
            if !self.grow() {
                break;
            }
        }
        None
    }

    pub(super) fn empty_place(&self, bucket: u32) -> Option<usize> {
        let empty = self.tags(bucket).empty();
        (empty != 0).then(|| empty.trailing_zeros() as usize)
    }

    /// Takes the record out of its place, which must be full.
    pub(super) fn remove(&mut self, place: Place) -> R {
        debug_assert!(self.tags(place.bucket).full() & 1 << place.at != 0);
        self.access.begin(place.bucket);
        self.group(place.bucket).set(place.at, EMPTY);
        self.access.end(place.bucket);
        self.len -= 1;
        // SAFETY: the place held a record and is empty now, so the record is ours alone.
        let record = unsafe { self.place(place).read() };
        if self.len * 64 < self.extent.count() as usize * SHRINK_AT {
            self.shrink();
        }
        record
    }

    /// Moves a record from a full place to an empty one. It can be found at every moment: first it is in both.
    pub(super) fn relocate(&mut self, from: Place, to: Place, tag: u8) {
        self.access.begin(from.bucket);
        self.access.begin(to.bucket);
        self.carry(from, to, tag);
        self.access.end(to.bucket);
        self.access.end(from.bucket);
    }

    fn carry(&mut self, from: Place, to: Place, tag: u8) {
        // SAFETY: `from` is full and `to` empty, so these are two places and the record has one owner afterwards.
        unsafe { self.access.copy(self.place(from), self.place(to)) };
        self.group(to.bucket).set(to.at, tag);
        self.group(from.bucket).set(from.at, EMPTY);
        self.moved += 1;
    }

    /// Adds one bucket and moves to it what belongs there now: at most sixteen records.
    fn grow(&mut self) -> bool {
        if self.extent.count() == self.most_buckets {
            return false;
        }
        let new = self.extent.count();
        let (grown, shared) = self.extent.grown();
        self.access.begin(shared);
        let mut full = self.tags(shared).full();
        let mut at = 0;
        self.prefetch_bucket(shared, full);
        while full != 0 {
            let from = Place { bucket: shared, at: full.trailing_zeros() as usize };
            full &= full - 1;
            let hash = self.hash_at(from);
            if grown.bucket(hash.first()) != shared && grown.bucket(hash.second()) != shared {
                self.carry(from, Place { bucket: new, at }, hash.tag());
                at += 1;
            }
        }
        self.extent = grown;
        self.access.publish(grown);
        self.access.end(shared);
        true
    }

    /// Gives up the last bucket if the one that takes its records has room for them.
    fn shrink(&mut self) {
        if self.extent.count() == LEAST_BUCKETS {
            return;
        }
        let (shrunk, taker) = self.extent.shrunk();
        let last = shrunk.count();
        let mut full = self.tags(last).full();
        if self.tags(taker).empty().count_ones() < full.count_ones() {
            return;
        }
        self.access.begin(taker);
        while full != 0 {
            let from = Place { bucket: last, at: full.trailing_zeros() as usize };
            full &= full - 1;
            let hash = self.hash_at(from);
            if let Some(at) = self.empty_place(taker) {
                self.carry(from, Place { bucket: taker, at }, hash.tag());
            }
        }
        self.extent = shrunk;
        self.access.publish(shrunk);
        self.access.end(taker);
    }

    /// The hash of the record at a full place.
    pub(super) fn hash_at(&self, place: Place) -> Hash {
        // SAFETY: the place is full, says the caller; the reference ends here, before anybody writes.
        self.hash_of(unsafe { self.record(place) }.key())
    }

    /// Asks for the records of a bucket, all at once.
    pub(super) fn prefetch_bucket(&self, bucket: u32, mut full: u32) {
        while full != 0 {
            self.records.prefetch(bucket as usize * WIDTH + full.trailing_zeros() as usize);
            full &= full - 1;
        }
    }

    /// All places that hold records.
    pub(super) fn full_places(&self) -> impl Iterator<Item = Place> + '_ {
        (0..self.extent.count()).flat_map(|bucket| {
            let full = self.tags(bucket).full();
            (0..WIDTH).filter(move |at| full & 1 << at != 0).map(move |at| Place { bucket, at })
        })
    }
}

impl<R: FlowRecord, A: Access<R>> Drop for Table<R, A> {
    fn drop(&mut self) {
        if core::mem::needs_drop::<R>() {
            for place in self.full_places() {
                // SAFETY: the place is full, and nothing looks at it afterwards.
                unsafe { self.place(place).drop_in_place() };
            }
        }
    }
}
