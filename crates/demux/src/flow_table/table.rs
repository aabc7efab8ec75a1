//! Buckets and how records get into them, stay findable while the table grows, and get out.

use core::ptr::NonNull;

use super::{
    FlowInsertError, FlowRecord,
    access::Access,
    address::{Extent, Hash, LEAST_BUCKETS, MOST_BUCKETS},
    group::{EMPTY, Group, Tags, WIDTH},
    room,
    space::Space,
};
use crate::hashes::{KeyHash, Keyed};

/// Records per [`LEAST_BUCKETS`] at which the table grows: 86 % of the places.
const GROW_AT: usize = LEAST_BUCKETS as usize * 55 / 4;

/// Records per [`LEAST_BUCKETS`] at which the table shrinks: 37 % of the places.
const SHRINK_AT: usize = LEAST_BUCKETS as usize * 6;

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
    #[inline(always)]
    pub(super) fn new(hash: Hash, extent: Extent, tags: impl Fn(u32) -> Tags) -> Self {
        let (first, second) = (extent.bucket(hash.first()), extent.bucket(hash.second()));
        let tag = hash.tag();
        Self { first, second, matching: tags(first).matching(tag) | tags(second).matching(tag) << WIDTH }
    }

    /// The first of these places; any at all if there is none.
    #[inline(always)]
    pub(super) fn place(&self, matching: u32) -> Place {
        let bit = matching.trailing_zeros() as usize;
        Place { bucket: if bit < WIDTH { self.first } else { self.second }, at: bit % WIDTH }
    }
}

/// What both those who write and those who read reach.
pub(super) struct Store<R, A> {
    pub(super) groups: Space<Group>,
    pub(super) records: Space<R>,
    pub(super) hash: Keyed,
    pub(super) access: A,
    most_buckets: u32,
}

impl<R: FlowRecord, A> Store<R, A> {
    fn new(limit: usize, seed: u64, access: A) -> Self {
        let buckets = limit.div_ceil(GROW_AT).max(1).checked_mul(LEAST_BUCKETS as usize);
        let most_buckets = buckets.and_then(|buckets| u32::try_from(buckets).ok());
        let most_buckets = most_buckets.filter(|&buckets| buckets <= MOST_BUCKETS);
        let most_buckets = most_buckets.expect("the limit exceeds what the table can address");
        let groups = Space::new(most_buckets as usize);
        // Loom's atomics can't be made of zeroes.
        #[cfg(loom)]
        for n in 0..most_buckets as usize {
            // SAFETY: within the space just made.
            unsafe { groups.at(n).write(Group::new()) }
        }
        Self {
            groups,
            records: Space::new(most_buckets as usize * WIDTH),
            hash: Keyed::new(seed),
            access,
            most_buckets,
        }
    }

    #[inline(always)]
    pub(super) fn hash_of(&self, key: &R::Key) -> Hash {
        Hash::of(self.hash.hash(key))
    }

    #[inline(always)]
    pub(super) fn group(&self, bucket: u32) -> &Group {
        debug_assert!(bucket < self.most_buckets);
        // SAFETY: extents name buckets below `most_buckets` only, of which `groups` has that many.
        unsafe { self.groups.at(bucket as usize).as_ref() }
    }

    #[inline(always)]
    pub(super) fn place(&self, place: Place) -> NonNull<R> {
        debug_assert!(place.bucket < self.most_buckets && place.at < WIDTH);
        // SAFETY: as above, and `records` has `WIDTH` for each bucket.
        unsafe { self.records.at(place.bucket as usize * WIDTH + place.at) }
    }

    /// Asks for the cache line of a record.
    #[inline(always)]
    pub(super) fn prefetch(&self, place: Place) {
        self.records.prefetch(place.bucket as usize * WIDTH + place.at);
    }
}

/// The table, for the one side that writes. `A` says who may look at the same time.
pub(super) struct Table<R: FlowRecord, A: Access<R>> {
    pub(super) store: A::Held,
    extent: Extent,
    len: usize,
    limit: usize,
    moved: u64,
}

impl<R: FlowRecord, A: Access<R>> Table<R, A> {
    pub(super) fn new(limit: usize, seed: u64, access: A) -> Self {
        let store = A::hold(Store::new(limit, seed, access));
        store.access.publish(Extent::LEAST);
        Self { store, extent: Extent::LEAST, len: 0, limit, moved: 0 }
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
        self.store.hash_of(key)
    }

    #[inline(always)]
    fn group(&self, bucket: u32) -> &Group {
        self.store.group(bucket)
    }

    #[inline(always)]
    pub(super) fn tags(&self, bucket: u32) -> Tags {
        self.store.access.tags(self.group(bucket))
    }

    #[inline(always)]
    pub(super) fn place(&self, place: Place) -> NonNull<R> {
        self.store.place(place)
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
        Candidates::new(hash, self.extent, |bucket| self.tags(bucket))
    }

    /// Puts a record into a place, unless its key has one.
    #[inline]
    pub(super) fn insert_new(&mut self, record: R) -> Result<Place, FlowInsertError<R>> {
        let hash = self.hash_of(record.key());
        if self.find(record.key(), hash, || ()).is_some() {
            return Err(FlowInsertError::Duplicate(record));
        }
        self.insert(hash, record).map_err(FlowInsertError::Full)
    }

    /// Puts a record, whose key is absent, into a place, or gives it back because the table is full.
    pub(super) fn insert(&mut self, hash: Hash, record: R) -> Result<Place, R> {
        if self.len == self.limit {
            return Err(record);
        }
        if (self.len + 1) * LEAST_BUCKETS as usize > self.extent.count() as usize * GROW_AT {
            self.grow();
        }
        let Some(place) = self.make_room(hash) else { return Err(record) };
        self.store.access.begin(place.bucket);
        self.store.access.write(self.place(place), record);
        self.group(place.bucket).set(place.at, hash.tag());
        self.store.access.end(place.bucket);
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

    /// Puts a record in the place of one with the same key, which it returns.
    pub(super) fn replace(&mut self, place: Place, record: R) -> R {
        debug_assert!(self.tags(place.bucket).full() & 1 << place.at != 0);
        // SAFETY: the place is full; what is left there is overwritten without being dropped.
        let old = unsafe { self.place(place).read() };
        self.store.access.begin(place.bucket);
        self.store.access.write(self.place(place), record);
        self.store.access.end(place.bucket);
        old
    }

    /// Takes the record out of its place, which must be full.
    pub(super) fn remove(&mut self, place: Place) -> R {
        debug_assert!(self.tags(place.bucket).full() & 1 << place.at != 0);
        self.store.access.begin(place.bucket);
        self.group(place.bucket).set(place.at, EMPTY);
        self.store.access.end(place.bucket);
        self.len -= 1;
        // SAFETY: the place held a record and is empty now, so the record is ours alone.
        let record = unsafe { self.place(place).read() };
        if self.len * (LEAST_BUCKETS as usize) < self.extent.count() as usize * SHRINK_AT {
            self.shrink();
        }
        record
    }

    /// Moves a record from a full place to an empty one. It can be found at every moment: first it is in both.
    pub(super) fn relocate(&mut self, from: Place, to: Place, tag: u8) {
        self.store.access.begin(from.bucket);
        self.store.access.begin(to.bucket);
        self.carry(from, to, tag);
        self.store.access.end(to.bucket);
        self.store.access.end(from.bucket);
    }

    fn carry(&mut self, from: Place, to: Place, tag: u8) {
        // SAFETY: `from` is full and `to` empty, so these are two places and the record has one owner afterwards.
        unsafe { self.store.access.copy(self.place(from), self.place(to)) };
        self.group(to.bucket).set(to.at, tag);
        self.group(from.bucket).set(from.at, EMPTY);
        self.moved += 1;
    }

    /// Adds one bucket and moves to it what belongs there now: at most sixteen records.
    fn grow(&mut self) -> bool {
        if self.extent.count() == self.store.most_buckets {
            return false;
        }
        let new = self.extent.count();
        let (grown, shared) = self.extent.grown();
        self.store.groups.reach(new as usize);
        self.store.records.reach(new as usize * WIDTH);
        let full = self.tags(shared).full();
        self.prefetch_bucket(shared, full);
        let hashes = self.hashes_in(shared, full);
        self.store.access.begin(shared);
        let leaving =
            hashes.into_iter().enumerate().filter_map(|(at, hash)| Some((at, hash?))).filter(|(_, hash)| {
                grown.bucket(hash.first()) != shared && grown.bucket(hash.second()) != shared
            });
        for (to, (at, hash)) in leaving.enumerate() {
            self.carry(Place { bucket: shared, at }, Place { bucket: new, at: to }, hash.tag());
        }
        self.extent = grown;
        self.store.access.publish(grown);
        self.store.access.end(shared);
        true
    }

    /// Gives up the last bucket if the one that takes its records has room for them.
    fn shrink(&mut self) {
        if self.extent.count() == LEAST_BUCKETS {
            return;
        }
        let (shrunk, taker) = self.extent.shrunk();
        let last = shrunk.count();
        let full = self.tags(last).full();
        if self.tags(taker).empty().count_ones() < full.count_ones() {
            return;
        }
        let hashes = self.hashes_in(last, full);
        self.store.access.begin(taker);
        for (at, hash) in hashes.into_iter().enumerate() {
            if let (Some(hash), Some(to)) = (hash, self.empty_place(taker)) {
                self.carry(Place { bucket: last, at }, Place { bucket: taker, at: to }, hash.tag());
            }
        }
        self.extent = shrunk;
        self.store.access.publish(shrunk);
        self.store.access.end(taker);
    }

    /// The hashes of the records in a bucket, before anything changes: keys' own code runs here.
    fn hashes_in(&self, bucket: u32, full: u32) -> [Option<Hash>; WIDTH] {
        core::array::from_fn(|at| (full & 1 << at != 0).then(|| self.hash_at(Place { bucket, at })))
    }

    /// The hash of the record at a full place.
    pub(super) fn hash_at(&self, place: Place) -> Hash {
        // SAFETY: the place is full, says the caller; the reference ends here, before anybody writes.
        self.hash_of(unsafe { self.record(place) }.key())
    }

    /// Asks for the records of a bucket, all at once.
    pub(super) fn prefetch_bucket(&self, bucket: u32, mut full: u32) {
        while full != 0 {
            self.store.prefetch(Place { bucket, at: full.trailing_zeros() as usize });
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
