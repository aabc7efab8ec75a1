//! The arena: records at stable slots, reached by unforgeable handles.
//!
//! Readers are wait-free: a bounds check, one `fetch_add` that keeps the record alive, and the comparison of the nonce;
//! whoever presents another nonce takes the addition back. Writers take a lock, except that [`Arena::remove`] and the
//! return of a slot are lock-free.
//!
//! # Why a reference is never dangling
//!
//! A cell counts its references in `state`; while it is open, one of them is the arena's own. [`Arena::remove`]
//! first takes the nonce away, then gives that reference to its caller. Whoever brings the count to zero tries
//! to take `LIVE` away; exactly one succeeds, drops the record and frees the slot. A reader adds its reference
//! first and looks at the nonce afterwards: either its addition precedes the taking of `LIVE`, and the record
//! stays until the reader is done, or it follows, and then the reader sees `LIVE` missing or, if the slot has
//! been reused meanwhile, another nonce, and withdraws.

mod cell;
mod cells;

use alloc::boxed::Box;
use core::{fmt, marker::PhantomData, ops::Deref};

use self::{
    cell::{Cell, LIVE},
    cells::Cells,
};
use crate::{
    nonce::NonceSource,
    sync::{AtomicU32, Lock, Ordering},
};

/// The place of a record. It never changes while the record lives, and is reused afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

/// A slot and the nonce drawn when its record was inserted: what a stranger presents to reach the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle {
    /// Where the record is.
    pub slot: Slot,
    /// 64 random bits, never 0: proof that the bearer was given this handle.
    pub nonce: u64,
}

/// The arena has as many records as its limit allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no free slot: the arena's capacity limit is reached")]
pub struct Full;

/// The end of the free list; no slot, since an arena of 2^32 - 1 cells ends before it.
const NO_SLOT: u32 = u32::MAX;

/// Records of one type, found by [`Handle`] or [`Slot`], inserted and removed while others read.
///
/// A record takes [`Arena::bytes_per_record`]: 16 bytes and the record itself; with a fat pointer 32, two to a
/// cache line.
pub struct Arena<R> {
    cells: Cells<R>,
    /// Head of the list of free slots. Anyone pushes; only the holder of `writer` pops, so a popped head can't
    /// have gone and come back in between.
    free: AtomicU32,
    /// Slots handed out at least once.
    used: AtomicU32,
    open: AtomicU32,
    limit: u32,
    /// Makes the nonces of vacant cells unguessable.
    secret: u64,
    writer: Lock<Box<dyn NonceSource>>,
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
    /// As with any collection, the process ends when there is not that much address space.
    ///
    /// `nonces` must be unguessable when strangers present handles: see [`NonceSource`].
    pub fn with_capacity_limit(max: u32, nonces: impl NonceSource + 'static) -> Self {
        let mut nonces = Box::new(nonces);
        Self {
            cells: Cells::new(max),
            free: AtomicU32::new(NO_SLOT),
            used: AtomicU32::new(0),
            open: AtomicU32::new(0),
            limit: max,
            secret: nonces.next_nonce(),
            writer: Lock::new(nonces),
            owns: PhantomData,
        }
    }

    /// An empty arena for at most `max` records, with nonces from the operating system.
    #[cfg(feature = "getrandom")]
    pub fn new(max: u32) -> Self {
        Self::with_capacity_limit(max, crate::OsNonces::default())
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
        self.used.load(Ordering::Relaxed) as usize * Self::bytes_per_record()
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
    /// [`Full`] when the limit is reached; removed records still in use count. The record is dropped.
    pub fn insert(&self, tag: u32, record: R) -> Result<Handle, Full> {
        let mut nonces = self.writer.lock();
        let nonce = self.draw(&mut **nonces);
        let slot = self.vacant_slot()?;
        drop(nonces);
        let cell = self.cell(slot).expect("a vacant slot has a cell");
        // SAFETY: the cell is vacant and off the free list, so it is ours; readers that still add to `state` for
        // a moment see no `LIVE` or not their nonce, and don't touch the record.
        cell.record.with_mut(|place| unsafe { (*place).write(record) });
        // SAFETY: likewise, of the tag.
        cell.tag.with_mut(|place| unsafe { place.write(tag) });
        // An addition, for refused readers may have theirs in the count. Release continues the chain of
        // read-modify-writes that a late reader's own addition acquires.
        cell.state.fetch_add(LIVE + 1, Ordering::AcqRel);
        self.open.fetch_add(1, Ordering::Relaxed);
        // SYNC POINT: record publication (with `get`).
        cell.nonce.store(nonce, Ordering::Release);
        Ok(Handle { slot, nonce })
    }

    /// The record of `handle`, if the handle is genuine and current and the record carries `tag`.
    ///
    /// A stranger's guess costs the record's cell two additions that cancel out, and nothing else.
    #[inline(always)]
    pub fn get(&self, handle: Handle, tag: u32) -> Option<Ref<'_, R>> {
        // The tag is compared under the reference, when nobody writes it.
        self.with_cell(handle.slot, |cell| self.hold(cell, || handle.nonce, |owner| owner == tag))
    }

    /// The record with that nonce at `slot`, whoever owns it: the nonce proves that the bearer was given the handle.
    /// The record's [tag](Ref::tag) can be had from what is returned.
    ///
    /// As [`get`](Self::get) otherwise; `nonce` is asked for when it is needed, to be read where it is compared.
    #[inline(always)]
    pub fn get_any(&self, slot: Slot, nonce: impl FnOnce() -> u64) -> Option<Ref<'_, R>> {
        self.with_cell(slot, |cell| self.hold(cell, nonce, |_| true))
    }

    /// The record now at `slot`, whoever owns it: for slots that a locator found, not for those a peer sent.
    ///
    /// Between a locator's answer and this call the slot may have got another record; a locator's
    /// `find_with` closes that gap.
    #[inline]
    pub fn get_slot(&self, slot: Slot) -> Option<Ref<'_, R>> {
        self.with_cell(slot, |cell| {
            let nonce = self.open_nonce(cell)?;
            self.hold(cell, || nonce, |_| true)
        })
    }

    /// Makes `handle` stale. From then on nobody new reaches the record; those who hold it keep it, and the last
    /// of them, perhaps the caller with the returned reference, drops it.
    ///
    /// `None` when the handle is not genuine or already stale.
    pub fn remove(&self, handle: Handle) -> Option<Ref<'_, R>> {
        let cell = self.cell(handle.slot)?;
        if handle.nonce == 0 || self.is_vacant_nonce(handle.nonce) {
            return None;
        }
        // SYNC POINT: removal. Ordered before the arena's own reference is given up, by whoever drops the `Ref`.
        let closed = self.vacant_nonce(NO_SLOT);
        cell.nonce.compare_exchange(handle.nonce, closed, Ordering::AcqRel, Ordering::Relaxed).ok()?;
        self.open.fetch_sub(1, Ordering::Relaxed);
        Some(Ref { arena: self, cell })
    }

    /// The handle of the record that is in a slot now, with the same caveat as [`get_slot`](Self::get_slot).
    pub fn handle_at(&self, slot: Slot) -> Option<Handle> {
        self.with_cell(slot, |cell| Some(Handle { slot, nonce: self.open_nonce(cell)? }))
    }

    /// Shows every record that is there throughout; records inserted or removed meanwhile may be missed.
    pub fn visit(&self, mut show: impl FnMut(Handle, u32, &R)) {
        for slot in (0..self.used.load(Ordering::Acquire)).map(Slot) {
            let held = self.with_cell(slot, |cell| {
                let nonce = self.open_nonce(cell)?;
                Some((nonce, self.hold(cell, || nonce, |_| true)?))
            });
            if let Some((nonce, record)) = held {
                show(Handle { slot, nonce }, record.tag(), &record);
            }
        }
    }

    /// The nonce, if the cell is open.
    #[inline(always)]
    fn open_nonce(&self, cell: &Cell<R>) -> Option<u64> {
        let nonce = cell.nonce.load(Ordering::Acquire);
        (nonce != 0 && !self.is_vacant_nonce(nonce)).then_some(nonce)
    }

    /// Adds a reference, and takes it back unless the cell is still (or again) open with this nonce and `admits`
    /// its tag.
    #[inline(always)]
    fn hold<'a>(
        &'a self,
        cell: &'a Cell<R>,
        nonce: impl FnOnce() -> u64,
        admits: impl FnOnce(u32) -> bool,
    ) -> Option<Ref<'a, R>> {
        // SYNC POINT: last reference (with `dispose`). An addition that follows the taking of `LIVE` also sees
        // the removal that preceded it.
        let before = cell.state.fetch_add(1, Ordering::Acquire);
        // The sign test also refuses when 2^31 references exist (leaked ones): the count never wraps into reuse.
        let held = (before as i32) < 0 && cell.nonce.load(Ordering::Relaxed) == nonce();
        // SAFETY: read only when the reference added is a valid one.
        if held && admits(unsafe { cell.owner() }) {
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
        // The slot goes back even when the record's destructor panics.
        let _freed = Freed { arena: self, cell };
        // SAFETY: `LIVE` was set, so the record is initialised; it was taken away by us alone, with a count of
        // zero, so nobody reads the record and nobody else drops it. The slot is not yet free for reuse.
        cell.record.with_mut(|place| unsafe { (*place).assume_init_drop() });
    }

    fn push_free(&self, cell: &Cell<R>) {
        let slot = self.cells.slot_of(cell).0;
        let mut head = self.free.load(Ordering::Relaxed);
        loop {
            cell.nonce.store(self.vacant_nonce(head), Ordering::Relaxed);
            // SYNC POINT: free list (with `vacant_slot`).
            match self.free.compare_exchange_weak(head, slot, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Takes a slot off the free list or, when that is empty, one never used. The caller holds `writer`.
    fn vacant_slot(&self) -> Result<Slot, Full> {
        // SYNC POINT: free list (with `push_free`).
        let mut head = self.free.load(Ordering::Acquire);
        while head != NO_SLOT {
            let cell = self.cell(Slot(head)).expect("a free slot has a cell");
            let next = (cell.nonce.load(Ordering::Relaxed) ^ self.secret) as u32;
            match self.free.compare_exchange_weak(head, next, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return Ok(Slot(head)),
                Err(now) => head = now,
            }
        }
        let slot = self.used.load(Ordering::Relaxed);
        if slot >= self.limit {
            return Err(Full);
        }
        // SAFETY: below the limit, which is the number of cells.
        let cell = unsafe { self.cells.at(Slot(slot)) };
        // Before strangers reach the cell it must not show the 0 of fresh memory, which they can name.
        cell.nonce.store(self.vacant_nonce(NO_SLOT), Ordering::Relaxed);
        // SYNC POINT: first use (with `with_cell`).
        self.used.store(slot + 1, Ordering::Release);
        Ok(Slot(slot))
    }

    /// Calls `then` with the cell of a slot that has been in use: any number a stranger sends may be asked for.
    ///
    /// An `Option<&Cell>` as result would cost a second test for null.
    #[inline(always)]
    fn with_cell<'a, O>(&'a self, slot: Slot, then: impl FnOnce(&'a Cell<R>) -> Option<O>) -> Option<O> {
        // SYNC POINT: first use (with `vacant_slot`).
        if slot.0 >= self.used.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: `used` never exceeds the limit, which is the number of cells.
        then(unsafe { self.cells.at(slot) })
    }

    fn cell(&self, slot: Slot) -> Option<&Cell<R>> {
        self.with_cell(slot, Some)
    }

    fn draw(&self, nonces: &mut dyn NonceSource) -> u64 {
        loop {
            let nonce = nonces.next_nonce();
            if nonce != 0 && !self.is_vacant_nonce(nonce) {
                return nonce;
            }
        }
    }

    /// What a vacant cell has in place of a nonce: the next free slot, masked by a secret so that no stranger can
    /// name it and thereby make the arena write.
    fn vacant_nonce(&self, next: u32) -> u64 {
        self.secret ^ u64::from(next)
    }

    fn is_vacant_nonce(&self, nonce: u64) -> bool {
        (nonce ^ self.secret) >> 32 == 0
    }
}

impl<R> Drop for Arena<R> {
    fn drop(&mut self) {
        for slot in (0..self.used.load(Ordering::Acquire)).map(Slot) {
            let Some(cell) = self.cell(slot) else { continue };
            if cell.state.load(Ordering::Acquire) & LIVE != 0 {
                // SAFETY: `LIVE` says initialised; nobody else has the arena, and a leaked `Ref` can't be used
                // any more.
                cell.record.with_mut(|place| unsafe { (*place).assume_init_drop() });
            }
        }
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

impl<R> Ref<'_, R> {
    /// The record's slot.
    pub fn slot(&self) -> Slot {
        self.arena.cells.slot_of(self.cell)
    }

    /// The tag that the record was inserted with.
    pub fn tag(&self) -> u32 {
        // SAFETY: this is a reference.
        unsafe { self.cell.owner() }
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

struct Freed<'a, R> {
    arena: &'a Arena<R>,
    cell: &'a Cell<R>,
}

impl<R> Drop for Freed<'_, R> {
    fn drop(&mut self) {
        self.arena.push_free(self.cell);
    }
}
