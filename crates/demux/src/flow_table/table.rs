//! How records are found, get into the table and out of it.

use super::{
    FlowInsertError, FlowRecord,
    access::Access,
    address::{Extent, Half, Hash, Place},
    resize, room,
    space::Space,
    store::{BLOCK_BYTES, GROW_AT, Store},
    tags::{BLOCK, EMPTY, HALF},
};

/// Records per 16 blocks at which the table shrinks: 37 % of the places.
const SHRINK_AT: usize = 384;

/// The table, for the one side that writes. `A` says who may look at the same time.
pub(super) struct Table<R: FlowRecord, A: Access<R>> {
    pub(super) store: A::Held,
    /// Which records of a block are in their second one, a bit each.
    pub(super) guests: Space<u64>,
    pub(super) extent: Extent,
    len: usize,
    limit: usize,
    moved: u64,
}

impl<R: FlowRecord, A: Access<R>> Table<R, A> {
    pub(super) fn new(limit: usize, seed: u64, access: impl FnOnce(Extent) -> A) -> Self {
        let (store, extent) = Store::new(limit, seed, access);
        let guests = Space::new(store.most_blocks() as usize);
        Self { store: A::hold(store), guests, extent, len: 0, limit, moved: 0 }
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

    /// The places of a half whose tag is this, one bit each.
    #[inline(always)]
    pub(super) fn matching(&self, half: Half, tag: u16) -> u32 {
        self.store.access.tags(self.store.tags(half)).matching(tag)
    }

    /// The places of a block that hold something, one bit each.
    pub(super) fn full(&self, block: u32) -> u64 {
        let half = Half::new(block, 0);
        let empty = |half| u64::from(self.matching(half, EMPTY));
        (u64::MAX >> (64 - BLOCK)) & !(empty(half) | empty(half.other()) << HALF)
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
        let half = self.extent.first(hash);
        self.find_from(half, self.matching(half, hash.tag()), key, hash, examined)
    }

    /// As [`find`](Self::find), where the half that the key prefers and the matching places of it are known.
    #[inline(always)]
    fn find_from(
        &self,
        half: Half,
        matching: u32,
        key: &R::Key,
        hash: Hash,
        mut examined: impl FnMut(),
    ) -> Option<Place> {
        let found = self.compare(half, matching, key, &mut examined);
        if found.is_some() || !self.store.elsewhere(half).has(hash.tag()) {
            return found;
        }
        self.find_elsewhere(key, hash, &mut examined)
    }

    /// Which of these places of a half holds the record of `key`.
    #[inline(always)]
    pub(super) fn compare(
        &self,
        half: Half,
        mut matching: u32,
        key: &R::Key,
        examined: &mut impl FnMut(),
    ) -> Option<Place> {
        while matching != 0 {
            let place = half.place(matching.trailing_zeros());
            examined();
            // SAFETY: the tag matches, so the place is full; only `&mut self` writes to records.
            if unsafe { self.record(place) }.key() == key {
                return Some(place);
            }
            matching &= matching - 1;
        }
        None
    }

    /// Where the record of a key is that is not in the half it prefers.
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
        [first.other(), second, second.other()]
            .into_iter()
            .find_map(|half| self.compare(half, self.matching(half, hash.tag()), key, examined))
    }

    /// Puts a record into a place, unless its key has one.
    #[inline]
    pub(super) fn insert_new(&mut self, record: R) -> Result<(), FlowInsertError<R>> {
        let hash = self.hash_of(record.key());
        if (self.len + 1) * 16 > self.extent.count() as usize * GROW_AT && self.len < self.limit {
            resize::grow(self);
        }
        let home = self.extent.first(hash);
        let tags = self.store.access.tags(self.store.tags(home));
        if self.find_from(home, tags.matching(hash.tag()), record.key(), hash, || ()).is_some() {
            return Err(FlowInsertError::Duplicate(record));
        }
        if self.len == self.limit {
            return Err(FlowInsertError::Full(record));
        }
        let empty = tags.matching(EMPTY);
        let place = if empty != 0 {
            Some(home.place(empty.trailing_zeros()))
        } else {
            room::find_elsewhere(self, hash)
        };
        let Some(place) = place else { return Err(FlowInsertError::Full(record)) };
        self.put(place, hash, |access, to| access.write(to, record));
        self.len += 1;
        Ok(())
    }

    /// Fills an empty place in one of the two blocks of a hash.
    #[inline(always)]
    fn put(&mut self, to: Place, hash: Hash, write: impl FnOnce(&A, core::ptr::NonNull<R>)) {
        let home = self.extent.first(hash);
        self.store.access.touch(to.block());
        write(&self.store.access, self.store.record(to));
        if to.half() != home {
            self.store.elsewhere(home).leaves(hash.tag());
            self.set_guest(to, to.block() != home.block());
        }
        self.store.tags(to.half()).set(to.at(), hash.tag());
    }

    /// Empties a place. Its record is the caller's.
    #[inline(always)]
    fn clear(&mut self, from: Place, hash: Hash) {
        let home = self.extent.first(hash);
        self.store.tags(from.half()).set(from.at(), EMPTY);
        if from.half() != home {
            self.store.elsewhere(home).returns(hash.tag());
            self.set_guest(from, false);
        }
    }

    /// Moves a record from a full place to an empty one of its two blocks. It can be found at every moment: first it is
    /// in both.
    pub(super) fn relocate(&mut self, from: Place, to: Place, hash: Hash) {
        let record = self.store.record(from);
        // SAFETY: `from` is full and `to` empty, so these are two places, and the record has one owner afterwards.
        self.put(to, hash, |access, to| unsafe { access.copy(record, to) });
        self.store.access.touch(to.block());
        self.clear(from, hash);
        self.moved += 1;
    }

    /// Puts a record in the place of the one with the same key, which it returns. One of the two can be found at every
    /// moment, if there is room for both.
    pub(super) fn replace(&mut self, record: R) -> Option<R> {
        let hash = self.hash_of(record.key());
        self.find(record.key(), hash, || ())?;
        let room = room::find(self, hash);
        // Making room may have moved it.
        let from = self.find(record.key(), hash, || ())?;
        // SAFETY: the place is full; its tag is cleared below, so the record has one owner.
        let old = unsafe { self.store.record(from).read() };
        match room {
            Some(to) => {
                self.put(to, hash, |access, to| access.write(to, record));
                self.store.access.touch(to.block());
                self.clear(from, hash);
            }
            None => {
                self.clear(from, hash);
                self.put(from, hash, |access, to| access.write(to, record));
            }
        }
        Some(old)
    }

    /// Takes out the record of a key.
    #[inline]
    pub(super) fn remove(&mut self, key: &R::Key) -> Option<R> {
        let hash = self.hash_of(key);
        let place = self.find(key, hash, || ())?;
        self.clear(place, hash);
        self.len -= 1;
        // SAFETY: the place held a record and is empty now, so the record is ours alone.
        let record = unsafe { self.store.record(place).read() };
        if self.len * 16 < self.extent.count() as usize * SHRINK_AT {
            resize::shrink(self);
        }
        Some(record)
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

    /// The records of a block that are in their second one, one bit each.
    pub(super) fn guests(&self, block: u32) -> u64 {
        debug_assert!(block < self.store.most_blocks());
        // SAFETY: there is a word for each block, and nobody but this side knows them.
        unsafe { self.guests.at(block as usize).read() }
    }

    pub(super) fn set_guests(&mut self, block: u32, guests: u64) {
        debug_assert!(block < self.store.most_blocks());
        // SAFETY: as above.
        unsafe { self.guests.at(block as usize).write(guests) }
    }

    pub(super) fn set_guest(&mut self, place: Place, guest: bool) {
        let others = self.guests(place.block()) & !place.bit();
        self.set_guests(place.block(), if guest { others | place.bit() } else { others });
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
