//! Tables for few flows, which lie in the caches: hash and displace, changed as records come and go.
//!
//! Keys fall into buckets, three to six for each record there may be. The keys of a bucket lie in one window of places: where
//! it starts is what the table [keeps](Window) of a bucket, and where in the window a key lies its hash says. So a lookup reads
//! one number and knows the place. No two keys of a bucket want the same place of the window but for one pair in [`WIDE`]; such a
//! bucket is kept [aside](Aside). Windows overlap as they like, as rows do in Tarjan's and Yao's sparse tables (1979); Pagh's
//! hash and displace (1999) is the same with a function of the whole table in place of a window.
//!
//! Tags alone say which places hold records, and each record is in one such place or aside, whatever keys' own code says. That
//! code is not called between a copy and the clearing of what was copied.

mod aside;
mod free;
mod insert;
mod many;
mod records;
mod room;
mod sweep;
#[cfg(all(test, not(loom)))]
mod tests;
mod trial;
mod window;

use core::ptr::NonNull;

use self::{aside::Aside, free::Recent, records::Records, window::Window};
use super::{BESIDES, FlowRecord, space::Space};
use crate::{
    ConfigError,
    drop_all::drop_all,
    hashes::{KeyHash, Keyed},
    mix::FACTOR,
};

/// Places of a window.
pub(super) const WIDE: usize = 1 << WIDE_BITS;

const WIDE_BITS: u32 = 7;

/// Records for which such a table is made, at most, and bytes of all of them: what the caches hold.
const MOST_RECORDS: usize = if cfg!(miri) { 150 } else { 16_000 };
const MOST_BYTES: usize = 1 << 20;

/// Quarters of a byte of [`BESIDES`] for what is kept aside.
const ASIDE_QUARTERS: usize = 5;

/// Where a key belongs.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    bucket: usize,
    /// In the window of the bucket.
    offset: usize,
}

impl Spot {
    /// What tells a bucket's records from others; never 0, which marks empty places.
    #[inline(always)]
    fn tag(self) -> u8 {
        tag(self.bucket)
    }
}

/// The tag of a place that is no place: that of no bucket.
const DUMMY: u8 = 2;

#[inline(always)]
fn tag(bucket: usize) -> u8 {
    bucket as u8 | 1
}

/// A table of records that lie where their buckets say. `SPREAD` says that hashes are spread by one more product: without it
/// keys that differ in few bits lie badly under some seeds, and with it a lookup takes a tenth longer.
pub(super) struct Few<R, const SPREAD: bool> {
    /// One for each bucket.
    windows: Space<Window>,
    /// A tag for each place, dummies included: a window of them before and after the places that there are.
    tags: Space<u8>,
    records: Records<R>,
    recent: Recent,
    aside: Aside<R>,
    /// The record that is to be inserted, while a place is sought that is not found at once. Empty otherwise.
    waiting: Space<R>,
    hash: Keyed,
    buckets: usize,
    /// The place after the last; where the windows of buckets start that are kept aside.
    end: usize,
    len: usize,
    limit: usize,
    moved: u64,
    /// Its records find no room in a table for many.
    stays: bool,
}

/// Whether so many records are few.
pub(super) fn are_few<R>(limit: usize) -> bool {
    limit <= MOST_RECORDS && limit.saturating_mul(size_of::<R>()) <= MOST_BYTES
}

impl<R: FlowRecord, const SPREAD: bool> Few<R, SPREAD> {
    /// An empty table for at most `limit` records, which [are few](are_few).
    pub(super) fn new(limit: usize, hash: Keyed) -> Result<Self, ConfigError> {
        Self::with_end(limit, hash, WIDE + places::<R>(limit, buckets_for(limit)))
    }

    /// As [`new`](Self::new), with places up to this one.
    fn with_end(limit: usize, hash: Keyed, end: usize) -> Result<Self, ConfigError> {
        let buckets = buckets_for(limit);
        let tags = Space::new(end + WIDE)?;
        for dummy in (0..WIDE).chain(end..end + WIDE) {
            // SAFETY: one of the tags.
            unsafe { tags.at(dummy).write(DUMMY) };
        }
        Ok(Self {
            windows: Space::new(buckets)?,
            tags,
            records: Records::new(end - WIDE)?,
            recent: Recent::new(),
            aside: Aside::new(if SPREAD { 128 + limit / 64 } else { 16 + limit / 128 }),
            waiting: Space::new(1)?,
            hash,
            buckets,
            end,
            len: 0,
            limit,
            moved: 0,
            stays: false,
        })
    }

    /// Has the system make all memory ready, if more records are to come.
    pub(super) fn make_ready_for(&self, additional: usize) {
        if additional > 0 {
            self.windows.make_ready(self.buckets);
            self.tags.make_ready(self.end + WIDE);
            self.records.make_ready(self.end - WIDE);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    pub(super) fn moved(&self) -> u64 {
        self.moved
    }

    pub(super) fn bytes(&self) -> usize {
        let places = self.end - WIDE;
        let (records, tags) = (places * size_of::<R>(), self.end + WIDE);
        records + tags + self.buckets * size_of::<Window>() + self.aside.bytes()
    }

    #[inline(always)]
    fn spot(&self, key: &R::Key) -> Spot {
        let keyed = self.hash.hash(key);
        // From the middle, where bits are independent of one another.
        let word = if SPREAD { ((u128::from(keyed) * u128::from(FACTOR)) >> 40) as u64 } else { keyed };
        Spot { bucket: (word >> WIDE_BITS) as usize & (self.buckets - 1), offset: word as usize & (WIDE - 1) }
    }

    /// The window of a bucket.
    #[inline(always)]
    fn window(&self, bucket: usize) -> Window {
        debug_assert!(bucket < self.buckets);
        // SAFETY: there is one for each bucket: at first all are 0, which is that of a bucket without records.
        unsafe { self.windows.at(bucket).read() }
    }

    #[inline(always)]
    fn set_window(&mut self, bucket: usize, window: Window) {
        debug_assert!(bucket < self.buckets && window.start() <= self.end);
        // SAFETY: as above.
        unsafe { self.windows.at(bucket).write(window) }
    }

    /// The window of buckets that are kept [aside](Aside): all its places are dummies.
    #[inline(always)]
    fn aside_window(&self) -> Window {
        Window::new(self.end, 1)
    }

    /// The tag of a place, which may be a dummy.
    #[inline(always)]
    fn tag(&self, place: usize) -> u8 {
        debug_assert!(place < self.end + WIDE);
        // SAFETY: windows start at `end` at the latest, and there is a tag for each place of the last.
        unsafe { self.tags.at(place).read() }
    }

    /// Says what the tag of a place is that is no dummy, or, with 0, that it is empty.
    #[inline(always)]
    fn set_tag(&mut self, place: usize, tag: u8) {
        debug_assert!(self.is_real(place));
        // SAFETY: as above.
        unsafe { self.tags.at(place).write(tag) }
    }

    /// Whether a place is no dummy.
    #[inline(always)]
    fn is_real(&self, place: usize) -> bool {
        (WIDE..self.end).contains(&place)
    }

    /// Where the record of a place is that is no dummy.
    #[inline(always)]
    fn record(&self, place: usize) -> NonNull<R> {
        debug_assert!(self.is_real(place));
        // SAFETY: there is one for each such place.
        unsafe { self.records.at(place) }
    }

    /// The key at a place that holds a record.
    ///
    /// # Safety
    /// It does.
    #[inline(always)]
    unsafe fn key(&self, place: usize) -> &R::Key {
        // SAFETY: there is a record, says the caller; records are written to through `&mut self` only.
        unsafe { self.record(place).as_ref() }.key()
    }

    /// What `found` makes of the record of a key, or `aside` of where it is kept aside. `examined` sees each record compared.
    #[inline(always)]
    fn find<T>(
        &self,
        key: &R::Key,
        examined: &mut impl FnMut(),
        found: impl FnOnce(NonNull<R>) -> T,
        aside: impl FnOnce(usize) -> T,
    ) -> Option<T> {
        let spot = self.spot(key);
        let window = self.window(spot.bucket);
        let place = window.start() + spot.offset;
        if self.tag(place) == spot.tag() {
            examined();
            let record = self.record(place);
            // SAFETY: dummies have no such tags, and places that do hold records, which are written to through `&mut self` only.
            if unsafe { record.as_ref() }.key() == key {
                return Some(found(record));
            }
        }
        if window == self.aside_window() { self.aside.find(spot, key, examined).map(aside) } else { None }
    }

    /// The record of a key. `examined` sees each record compared.
    #[inline(always)]
    pub(super) fn get(&self, key: &R::Key, mut examined: impl FnMut()) -> Option<&R> {
        // SAFETY: a record, which nobody writes to while the table is borrowed.
        self.find(key, &mut examined, |record| unsafe { record.as_ref() }, |at| self.aside.at(at))
    }

    /// The record of a key, to be changed.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, key: &R::Key) -> Option<&mut R> {
        match self.find(key, &mut || (), Ok, Err)? {
            // SAFETY: a record, and the table is borrowed as a whole.
            Ok(mut record) => Some(unsafe { record.as_mut() }),
            Err(aside) => Some(self.aside.at_mut(aside)),
        }
    }

    /// Calls `visit` with the number and the record of each key, in order.
    #[inline(always)]
    pub(super) fn find_batch<'a>(&'a self, keys: &[R::Key], mut visit: impl FnMut(usize, Option<&'a R>)) {
        // Four by four: the processor foresees where short loops end.
        let (fours, rest) = keys.as_chunks::<4>();
        for (n, four) in fours.iter().enumerate() {
            for (at, key) in four.iter().enumerate() {
                visit(4 * n + at, self.get(key, || ()));
            }
        }
        for (at, key) in rest.iter().enumerate() {
            visit(4 * fours.len() + at, self.get(key, || ()));
        }
    }

    /// Takes out the record of a key, which is to be read before anything else is done.
    #[inline(always)]
    pub(super) fn unlink(&mut self, key: &R::Key) -> Option<NonNull<R>> {
        let spot = self.spot(key);
        let window = self.window(spot.bucket);
        let place = window.start() + spot.offset;
        // SAFETY: dummies have no such tags, and places that do hold records.
        if self.tag(place) == spot.tag() && unsafe { self.key(place) } == key {
            return Some(self.vacate(spot.bucket, window, place));
        }
        if window == self.aside_window() { self.take_aside(spot, key) } else { None }
    }

    /// Empties the place of a bucket's record, which is the caller's. Apart, so that nothing is kept in registers for it where
    /// a table of many is asked.
    #[inline(never)]
    fn vacate(&mut self, bucket: usize, window: Window, place: usize) -> NonNull<R> {
        self.empty(place);
        self.len -= 1;
        self.set_window(bucket, window.less());
        self.record(place)
    }

    /// Says that a place is empty. Its record is the caller's.
    #[inline(always)]
    fn empty(&mut self, place: usize) {
        self.set_tag(place, 0);
        self.recent.push(place);
    }

    /// Takes out a record that is kept aside; the others of its bucket may return.
    #[cold]
    #[inline(never)]
    fn take_aside(&mut self, spot: Spot, key: &R::Key) -> Option<NonNull<R>> {
        let record = self.aside.take(spot, key)?;
        self.len -= 1;
        self.bring_back(spot.bucket);
        Some(record)
    }

    /// All records.
    pub(super) fn iter(&self) -> impl Iterator<Item = &R> {
        // SAFETY: places that have tags hold records, which nobody writes to while the table is borrowed.
        self.full_places().map(|place| unsafe { self.record(place).as_ref() }).chain(self.aside.iter())
    }

    /// All places that hold records.
    fn full_places(&self) -> impl Iterator<Item = usize> {
        (WIDE..self.end).filter(|&place| self.tag(place) != 0)
    }
}

/// How many buckets there are.
fn buckets_for(limit: usize) -> usize {
    (limit * 3).next_power_of_two().max(4)
}

/// How many places there are: as many as [`BESIDES`] bytes for each record allow, but not too few to find room nor more than
/// are of use.
fn places<R>(limit: usize, buckets: usize) -> usize {
    let all = limit * (size_of::<R>() + BESIDES);
    let others = size_of::<Window>() * buckets + 4 * WIDE + limit * ASIDE_QUARTERS / 4;
    let allowed = all.saturating_sub(others) / (size_of::<R>() + 1);
    allowed.clamp(limit + limit / 64 + 16, limit + limit / 4 + 16).min(window::LAST - WIDE)
}

impl<R, const SPREAD: bool> Drop for Few<R, SPREAD> {
    fn drop(&mut self) {
        if core::mem::needs_drop::<R>() {
            // SAFETY: there is a tag for each place.
            let full = (WIDE..self.end).filter(|&place| unsafe { self.tags.at(place).read() } != 0);
            // SAFETY: where it is not 0 there is a record; nothing looks at it afterwards.
            unsafe { drop_all(full.map(|place| self.records.at(place))) };
        }
    }
}
