//! The arena: records at stable slots, reached by unforgeable handles.
//!
//! Lookups are wait-free: a bounds check, one `fetch_add` that keeps the record alive, and the comparison of the nonce;
//! whoever presents another nonce takes the addition back. Writers take a lock, except that [`Arena::remove`] and the
//! return of a slot are lock-free. A [`Reader`] adds to a count once for many lookups; how records stay for him is said in
//! `arena/grace.rs`.
//!
//! # Why a reference is never dangling
//!
//! A cell counts its references in `state`; while the record is stored, one of them is the arena's own.
//! [`Arena::remove`] takes `OPEN` away, then gives that reference up. Whoever brings the count to zero tries to take
//! `LIVE` away; exactly one succeeds, and drops the record and frees the slot when no [`Reader`] may see it. A
//! lookup's addition shows what the state was before it: if there was `OPEN`, the arena's reference was still counted, the
//! lookup's own now is, and the record stays as it is until that is given back, nonce and tag included. If there was not,
//! the lookup withdraws without having looked at anything else; should that bring the count to zero, it goes on as
//! whoever does.

mod cell;
mod cells;
mod exclusive;
mod grace;
mod reader;
mod row;

use alloc::{alloc::handle_alloc_error, boxed::Box};
use core::{fmt, iter, marker::PhantomData, ops::Deref, ptr::NonNull};

use self::{
    cell::{Cell, LIVE, OPEN},
    cells::Cells,
    grace::{Epoch, Grace},
};
pub use self::{exclusive::Exclusive, reader::Reader};
use crate::{
    ConfigError,
    drop_all::drop_all,
    nonce::NonceSource,
    sync::{AtomicU32, AtomicUsize, Lock, Ordering},
};

/// The place of a record. It never changes while the record lives, and is reused afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Slot(pub u32);

// SAFETY: an integer.
unsafe impl bytemuck::NoUninit for Slot {}

/// A slot and the nonce drawn when its record was inserted: what a stranger presents to reach the record.
///
/// Whoever reads the nonce can present it, so what is shown for debugging, and gets into logs, has the slot alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle {
    /// Where the record is.
    pub slot: Slot,
    /// 64 random bits, never 0: proof that the bearer was given this handle.
    pub nonce: u64,
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("slot", &self.slot).finish_non_exhaustive()
    }
}

/// The arena has as many records as its limit allows; the one that was to be inserted comes back.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no free slot: the arena's capacity limit is reached")]
pub struct Full<R>(pub R);

impl<R> fmt::Debug for Full<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Full").finish_non_exhaustive()
    }
}

/// The end of the free list; no slot, since an arena of 2^32 - 1 cells ends before it.
const NO_SLOT: u32 = u32::MAX;

/// Records of one type, found by [`Handle`] or [`Slot`], inserted and removed while others read.
///
/// A record takes [`Arena::bytes_per_record`]: 16 bytes and the record itself; with a fat pointer 32, two to a
/// cache line. It may be aligned to 64 bytes at most.
pub struct Arena<R> {
    cells: Cells<R>,
    /// Head of the list of free slots. Anyone pushes; only the holder of `writer` pops, so a popped head can't
    /// have gone and come back in between.
    free: AtomicU32,
    /// The address where the cells end that have been in use: readers compare it with that of the cell they want.
    end: AtomicUsize,
    open: AtomicU32,
    limit: u32,
    writer: Lock<Box<dyn NonceSource>>,
    grace: Grace,
    owns: PhantomData<R>,
}

// SAFETY: records are dropped by whichever thread lets go last, hence `Send`, and shared between threads by `get`,
// hence `Sync`. The rest of the arena is atomics and a lock.
unsafe impl<R: Send + Sync> Sync for Arena<R> {}
// SAFETY: as above; an arena moved to another thread takes its records along.
unsafe impl<R: Send> Send for Arena<R> {}

impl<R> Arena<R> {
    /// An empty arena for at most `max` records at a time.
    ///
    /// Address space for all of them is reserved at once, [`bytes_per_record`](Self::bytes_per_record) each, so that a
    /// slot is a plain index for ever. Systems with virtual memory back it only as far as records have been inserted.
    /// As with any collection, the process ends when the system does not give that much;
    /// [`try_with_capacity_limit`](Self::try_with_capacity_limit) says so instead.
    ///
    /// `nonces` must be unguessable when strangers present handles: see [`NonceSource`].
    ///
    /// # Panics
    /// If all records together are larger than an address can tell.
    pub fn with_capacity_limit(max: u32, nonces: impl NonceSource + 'static) -> Self {
        match Self::try_with_capacity_limit(max, nonces) {
            Ok(arena) => arena,
            Err(error) => match cells::layout::<R>(max) {
                Some(layout) => handle_alloc_error(layout),
                None => panic!("{max} records: {error}"),
            },
        }
    }

    /// As [`with_capacity_limit`](Self::with_capacity_limit), but says when there is not that much memory.
    ///
    /// Limits on a process's address space (`ulimit -v`) count what is reserved, and so does a system that promises no
    /// more memory than it has (`vm.overcommit_memory=2` on Linux).
    ///
    /// # Errors
    /// [`ConfigError::OutOfMemory`] if the system does not give the address space; [`ConfigError::TooLarge`] if all records
    /// together are larger than an address can tell.
    pub fn try_with_capacity_limit(
        max: u32,
        nonces: impl NonceSource + 'static,
    ) -> Result<Self, ConfigError> {
        let cells = Cells::new(max)?;
        Ok(Self {
            end: AtomicUsize::new(cells.start()),
            cells,
            free: AtomicU32::new(NO_SLOT),
            open: AtomicU32::new(0),
            limit: max,
            writer: Lock::new(Box::new(nonces)),
            grace: Grace::new(),
            owns: PhantomData,
        })
    }

    /// An empty arena for at most `max` records, with nonces from the operating system.
    ///
    /// # Panics
    /// As [`with_capacity_limit`](Self::with_capacity_limit).
    #[cfg(feature = "getrandom")]
    pub fn new(max: u32) -> Self {
        Self::with_capacity_limit(max, crate::OsNonces::default())
    }

    /// As [`new`](Self::new), but says when there is not that much memory.
    ///
    /// # Errors
    /// As [`try_with_capacity_limit`](Self::try_with_capacity_limit).
    #[cfg(feature = "getrandom")]
    pub fn try_new(max: u32) -> Result<Self, ConfigError> {
        Self::try_with_capacity_limit(max, crate::OsNonces::default())
    }

    /// How many records can be reached.
    pub fn len(&self) -> usize {
        self.open.load(Ordering::Relaxed) as usize
    }

    /// Whether no record can be reached.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The most records the arena will hold.
    pub fn capacity(&self) -> usize {
        self.limit as usize
    }

    /// Bytes of one slot: header and record.
    pub const fn bytes_per_record() -> usize {
        size_of::<Cell<R>>()
    }

    /// Bytes of all slots ever used. This much memory is touched, whatever was removed since.
    pub fn bytes_used(&self) -> usize {
        self.end.load(Ordering::Relaxed) - self.cells.start()
    }

    /// Bytes of address space taken from the allocator; most of it has no memory behind it before it is used.
    pub fn bytes_reserved(&self) -> usize {
        self.cells.bytes()
    }
}

impl<R: Send + Sync> Arena<R> {
    /// Stores a record and returns the only handle that will reach it.
    ///
    /// `tag` says which of the arena's users the record belongs to; [`get`](Self::get) must name the same one.
    ///
    /// # Errors
    /// [`Full`] when the limit is reached; removed records still in use count.
    ///
    /// # Panics
    /// If the source of nonces does, such as [the system's](Self::new) when it has none to give, or gives zeros only; the arena
    /// is unchanged.
    pub fn insert(&self, tag: u32, record: R) -> Result<Handle, Full<R>> {
        let mut nonces = self.writer.lock();
        let nonce = draw(&mut **nonces);
        let Some(slot) = self.vacant_slot() else { return Err(Full(record)) };
        drop(nonces);
        let cell = self.cell(slot).expect("a vacant slot has a cell");
        // SAFETY: the cell is vacant and off the free list, so it is ours; lookups that still add to `state` for
        // a moment see no `OPEN`, and touch nothing else.
        cell.record.with_mut(|place| unsafe { (*place).write(record) });
        // SAFETY: likewise, of the tag.
        cell.tag.with_mut(|place| unsafe { place.write(tag) });
        // SAFETY: likewise, of the nonce.
        cell.nonce.with_mut(|place| unsafe { place.write(nonce) });
        self.open.fetch_add(1, Ordering::Relaxed);
        // SYNC POINT: record publication (with `hold` and `Reader`). An addition, for refused lookups may have theirs in the
        // count.
        cell.state.fetch_add(OPEN + LIVE + 1, Ordering::Release);
        Ok(Handle { slot, nonce })
    }

    /// The record of `handle`, if the handle is genuine and current and the record carries `tag`.
    ///
    /// A stranger's guess costs the record's cell two additions that cancel out, and nothing else.
    #[inline(always)]
    pub fn get(&self, handle: Handle, tag: u32) -> Option<Ref<'_, R>> {
        self.with_cell(handle.slot, |cell| {
            // SAFETY: `hold` has a reference while it asks.
            self.hold(cell, || unsafe { cell.nonce() == handle.nonce && cell.tag() == tag })
        })
    }

    /// The record of `handle`, whoever owns it: the nonce proves that the bearer was given the handle. The record's
    /// [tag](Ref::tag) can be had from what is returned.
    ///
    /// As [`get`](Self::get) otherwise.
    #[inline(always)]
    pub fn get_any(&self, handle: Handle) -> Option<Ref<'_, R>> {
        // SAFETY: `hold` has a reference while it asks.
        self.with_cell(handle.slot, |cell| self.hold(cell, || unsafe { cell.nonce() } == handle.nonce))
    }

    /// The record now at `slot`, whoever owns it: for slots that a locator found, not for those a peer sent.
    ///
    /// Between a locator's answer and this call the slot may have got another record; a locator's
    /// `find_with` closes that gap.
    #[inline]
    pub fn get_slot(&self, slot: Slot) -> Option<Ref<'_, R>> {
        self.with_cell(slot, |cell| self.hold(cell, || true))
    }

    /// Starts to fetch the record at a slot, if there is a place for one: see [`prefetch`](crate::prefetch()).
    #[inline]
    pub fn prefetch(&self, slot: Slot) {
        if slot.0 < self.limit
            && let Some(place) = self.cells.place(slot)
        {
            crate::prefetch::lines(place.cast(), size_of::<Cell<R>>());
        }
    }

    /// As [`prefetch`](Self::prefetch), of so many bytes, of which the arena has the first 16.
    #[inline]
    pub fn prefetch_beginning(&self, slot: Slot, len: usize) {
        if slot.0 < self.limit
            && let Some(place) = self.cells.place(slot)
        {
            crate::prefetch::lines(place.cast(), len);
        }
    }

    /// The records, for the one who has the arena to himself: lookups that count no references.
    ///
    /// A loop that looks many handles up takes this once, outside.
    #[inline(always)]
    pub fn exclusive(&mut self) -> Exclusive<'_, R> {
        Exclusive::new(self)
    }

    /// The records, for one of many threads: lookups that count no references and write nothing.
    ///
    /// To begin and to end takes some twenty nanoseconds, more where other threads do so too, so a loop takes this once for
    /// a batch of messages. Not for longer: what is removed meanwhile takes up memory until the reader is dropped.
    #[inline]
    pub fn reader(&self) -> Reader<'_, R> {
        Reader::new(self)
    }

    /// Makes `handle` stale. From then on nobody new reaches the record; those who hold it keep it, and the last
    /// of them, perhaps the caller with the returned reference, drops it; if someone [reads](Self::reader) just then, not
    /// before he is done.
    ///
    /// `None` when the handle is not genuine or already stale.
    pub fn remove(&self, handle: Handle) -> Option<Ref<'_, R>> {
        let record = self.get_any(handle)?;
        // SYNC POINT: removal. What the remover did before is seen by whoever finds the slot's next record.
        let before = record.cell.state.fetch_and(!OPEN, Ordering::AcqRel);
        if before & OPEN == 0 {
            // Someone else was faster.
            return None;
        }
        self.open.fetch_sub(1, Ordering::Relaxed);
        // The arena's own reference; it is not the last, for `record` is one.
        record.cell.state.fetch_sub(1, Ordering::Release);
        Some(record)
    }

    /// As [`remove`](Self::remove), for the one who has the arena to himself: the record itself, which nobody else has.
    pub fn take(&mut self, handle: Handle) -> Option<R> {
        // SAFETY: nobody else has the arena.
        let is_meant = |cell: &&Cell<R>| cell.is_open() && unsafe { cell.nonce() } == handle.nonce;
        let cell = self.cell(handle.slot).filter(is_meant)?;
        // References that are still counted were leaked, so nobody will give them back.
        cell.state.store(0, Ordering::Relaxed);
        self.open.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: it was open, so there is a record, which from now on is the caller's.
        let record = cell.record.with(|place| unsafe { (*place).assume_init_read() });
        self.push(&self.free, cell);
        Some(record)
    }

    /// The handle of the record that is in a slot now, with the same caveat as [`get_slot`](Self::get_slot).
    pub fn handle_at(&self, slot: Slot) -> Option<Handle> {
        self.get_slot(slot).map(|record| record.handle())
    }

    /// Shows every record that is there throughout; records inserted or removed meanwhile may be missed.
    pub fn visit(&self, mut show: impl FnMut(Handle, u32, &R)) {
        for slot in (0..self.used()).map(Slot) {
            if let Some(record) = self.get_slot(slot) {
                show(record.handle(), record.tag(), &record);
            }
        }
    }

    /// Adds a reference, and takes it back unless the cell is open and it `is_meant`, which is asked with the reference held.
    #[inline(always)]
    fn hold<'a>(&'a self, cell: &'a Cell<R>, is_meant: impl FnOnce() -> bool) -> Option<Ref<'a, R>> {
        // SYNC POINT: record publication (with `insert`), last reference (with `dispose`).
        let before = cell.state.fetch_add(1, Ordering::Acquire);
        // The sign is `OPEN`. It is also missing while 2^30 references exist (leaked ones): the count never wraps into
        // reuse.
        if (before as i32) < 0 && is_meant() {
            return Some(Ref { arena: self, cell });
        }
        self.withdraw(cell);
        None
    }

    #[cold]
    fn withdraw(&self, cell: &Cell<R>) {
        release(self, cell);
    }
}

/// Gives one reference back.
#[inline(always)]
fn release<R>(arena: &Arena<R>, cell: &Cell<R>) {
    let before = cell.state.fetch_sub(1, Ordering::Release);
    if before == LIVE + 1 {
        arena.dispose(cell);
    }
}

impl<R> Arena<R> {
    /// Drops the record of a closed cell without references and frees its slot, unless someone else does.
    ///
    /// Everyone who brings the count to zero comes here; when a reader adds to it for a moment, the exchange
    /// fails, and the reader comes here on its way out.
    #[cold]
    fn dispose(&self, cell: &Cell<R>) {
        // SYNC POINT: last reference (with `hold`).
        if cell.state.compare_exchange(LIVE, 0, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return;
        }
        // From here on nobody holds the record, nobody else drops it, and the slot is not yet free for reuse.
        if self.grace.nobody_reads() {
            // SAFETY: `LIVE` was set, so the record is initialised; it was taken away by us alone.
            return unsafe { self.bury(cell) };
        }
        self.push(self.grace.retired_now(), cell);
        self.settle();
    }

    /// Drops a record and frees its slot, even when the record's destructor panics.
    ///
    /// # Safety
    /// The record is initialised, the cell has no flags, and nobody else reads or drops the record.
    unsafe fn bury(&self, cell: &Cell<R>) {
        let _freed = Freed { arena: self, cell };
        // SAFETY: as the caller says.
        cell.record.with_mut(|place| unsafe { (*place).assume_init_drop() });
    }

    /// A reader is done.
    #[inline]
    fn end_reading(&self, epoch: Epoch) {
        if self.grace.end(epoch) {
            self.settle();
        }
    }

    /// Drops the records that waited for readers who are gone.
    #[cold]
    fn settle(&self) {
        let mut unseen = Unseen { arena: self, next: NO_SLOT };
        unseen.bury_all();
        core::mem::forget(unseen);
    }

    /// Puts a cell that has no flags on a list, which goes from slot to slot through the cells' tags.
    fn push(&self, list: &AtomicU32, cell: &Cell<R>) {
        let slot = self.cells.slot_of(cell).0;
        let mut head = list.load(Ordering::Relaxed);
        loop {
            // SAFETY: nobody reads the tag of a cell that has no flags, and the cell is not yet on the list.
            cell.tag.with_mut(|next| unsafe { next.write(head) });
            // SYNC POINT: free list (with `vacant_slot`), retirement (with `Grace`).
            match list.compare_exchange_weak(head, slot, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// The cell of a slot on a list, and what follows it there.
    ///
    /// # Safety
    /// The caller is the only one who takes cells off the list.
    unsafe fn listed(&self, slot: u32) -> (&Cell<R>, u32) {
        let cell = self.cell(Slot(slot)).expect("a listed slot has a cell");
        // SAFETY: whoever put the cell on the list did so before, and nobody writes to it until the caller has taken it off.
        (cell, cell.tag.with(|next| unsafe { *next }))
    }

    /// Takes a slot off the free list or, when that is empty, one never used, of which there may be none. The
    /// caller holds `writer`.
    fn vacant_slot(&self) -> Option<Slot> {
        // SYNC POINT: free list (with `push`).
        let mut head = self.free.load(Ordering::Acquire);
        while head != NO_SLOT {
            // SAFETY: only the holder of `writer` takes cells off this list.
            let (_, next) = unsafe { self.listed(head) };
            match self.free.compare_exchange_weak(head, next, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return Some(Slot(head)),
                Err(now) => head = now,
            }
        }
        let slot = self.used();
        if slot >= self.limit {
            return None;
        }
        self.end.fetch_add(size_of::<Cell<R>>(), Ordering::Relaxed);
        Some(Slot(slot))
    }

    /// How many slots were handed out at least once.
    fn used(&self) -> u32 {
        // Never more than the limit.
        (self.bytes_used() / size_of::<Cell<R>>()) as u32
    }

    /// Calls `then` with the cell of a slot that has been in use: any number a stranger sends may be asked for.
    ///
    /// An `Option<&Cell>` as result would cost a second test for null.
    #[inline(always)]
    fn with_cell<'a, O>(&'a self, slot: Slot, then: impl FnOnce(&'a Cell<R>) -> Option<O>) -> Option<O> {
        let cell = self.cells.place(slot)?;
        // Cells are as good before their first use as after: strangers are only kept from touching their memory.
        if cell.addr() >= self.end.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: a place before the end of the used ones, of which there are no more than cells.
        then(unsafe { self.cells.at(cell) })
    }

    fn cell(&self, slot: Slot) -> Option<&Cell<R>> {
        self.with_cell(slot, Some)
    }
}

/// A nonce, which is never 0. A source that has given as many zeros has nothing else to give.
fn draw(nonces: &mut dyn NonceSource) -> u64 {
    let mut drawn = iter::repeat_with(|| nonces.next_nonce()).take(64);
    drawn.find(|&nonce| nonce != 0).expect("a source of nonces has more than zeros to give")
}

impl<R> Drop for Arena<R> {
    fn drop(&mut self) {
        let mut next = NO_SLOT;
        // For readers that were leaked.
        let retired = iter::from_fn(|| {
            if next == NO_SLOT {
                next = self.grace.take_rest()?;
            }
            // SAFETY: the list was taken.
            let (cell, after) = unsafe { self.listed(next) };
            next = after;
            Some(cell)
        });
        let cells = (0..self.used()).filter_map(|slot| self.cell(Slot(slot)));
        let live = cells.filter(|cell| cell.state.load(Ordering::Acquire) & LIVE != 0);
        let records = retired.chain(live).filter_map(|cell| cell.record.with_mut(NonNull::new));
        // SAFETY: these are initialised; nobody else has the arena, and a leaked `Ref` can't be used any more.
        unsafe { drop_all(records.map(NonNull::cast::<R>)) };
    }
}

impl<R> fmt::Debug for Arena<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena")
            .field("len", &self.len())
            .field("capacity", &self.limit)
            .finish_non_exhaustive()
    }
}

/// A record kept alive. The last reference to a removed record drops it.
#[must_use]
pub struct Ref<'a, R> {
    arena: &'a Arena<R>,
    cell: &'a Cell<R>,
}

// SAFETY: a `Ref` gives `&R` (hence `Sync`) and may drop the record where it ends (hence `Send`).
unsafe impl<R: Send + Sync> Send for Ref<'_, R> {}
// SAFETY: as above.
unsafe impl<R: Send + Sync> Sync for Ref<'_, R> {}

impl<'a, R> Ref<'a, R> {
    /// The record's slot.
    pub fn slot(&self) -> Slot {
        self.arena.cells.slot_of(self.cell)
    }

    /// The same reference, if it is one of `arena`'s.
    #[inline(always)]
    pub fn of(self, arena: &'a Arena<R>) -> Option<Self> {
        let cell = self.cell;
        if !core::ptr::eq(self.arena, arena) {
            return None;
        }
        core::mem::forget(self);
        Some(Self { arena, cell })
    }

    /// The handle that reaches the record, until it is removed.
    pub fn handle(&self) -> Handle {
        // SAFETY: this is a reference.
        let nonce = unsafe { self.cell.nonce() };
        Handle { slot: self.slot(), nonce }
    }

    /// Whether this is what a lookup of the handle would find now: the record has the handle and was not removed.
    ///
    /// Who looks the same handle up time and again keeps the reference, asks this, and counts no others.
    #[inline(always)]
    pub fn is_found_by(&self, handle: Handle) -> bool {
        let place = self.arena.cells.place(handle.slot);
        place == Some(core::ptr::from_ref(self.cell))
            // SAFETY: this is a reference.
            && unsafe { self.cell.nonce() } == handle.nonce
            && self.cell.is_open()
    }

    /// The tag that the record was inserted with.
    pub fn tag(&self) -> u32 {
        // SAFETY: this is a reference.
        unsafe { self.cell.tag() }
    }
}

impl<R> Deref for Ref<'_, R> {
    type Target = R;

    #[inline(always)]
    fn deref(&self) -> &R {
        // SAFETY: this reference is counted, so the record is initialised and stays.
        self.cell.record.with(|place| unsafe { (*place).assume_init_ref() })
    }
}

impl<R> Drop for Ref<'_, R> {
    #[inline(always)]
    fn drop(&mut self) {
        release(self.arena, self.cell);
    }
}

impl<R: fmt::Debug> fmt::Debug for Ref<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Records that nobody can see any more, on a list, and what more there is of them.
struct Unseen<'a, R> {
    arena: &'a Arena<R>,
    next: u32,
}

impl<R> Unseen<'_, R> {
    fn bury_all(&mut self) {
        loop {
            while self.next != NO_SLOT {
                // SAFETY: this took the list.
                let (cell, next) = unsafe { self.arena.listed(self.next) };
                self.next = next;
                // SAFETY: the cell was retired with its record, and this took it off the list.
                unsafe { self.arena.bury(cell) }
            }
            let Some(first) = self.arena.grace.take_unseen() else { return };
            self.next = first;
        }
    }
}

/// After a destructor that panicked: the others are not to be forgotten.
impl<R> Drop for Unseen<'_, R> {
    fn drop(&mut self) {
        self.bury_all();
    }
}

struct Freed<'a, R> {
    arena: &'a Arena<R>,
    cell: &'a Cell<R>,
}

impl<R> Drop for Freed<'_, R> {
    fn drop(&mut self) {
        self.arena.push(&self.arena.free, self.cell);
    }
}
