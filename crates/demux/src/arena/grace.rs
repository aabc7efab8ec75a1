//! Grace periods: how long a removed record stays for readers who hold no reference to it.
//!
//! Readers are counted by the epoch they began in, and by its parity alone: epoch `e + 1` begins only when the readers of
//! epoch `e - 1` are gone, so those there are began in the present epoch or in the one before. A record is retired in the
//! epoch in which it was found to be without references. Whoever may see it began in that epoch or earlier; when the
//! epoch after has begun and the readers of the one before are gone, nobody may (K. Fraser, "Practical lock-freedom",
//! 2004, section 5.2.3, here with a counter instead of a list of threads, so that a reader needs no registration).
//!
//! # Why no reader sees a record that was dropped
//!
//! A reader announces itself, passes a fence, and looks after it whether cells are open; whoever removes closes the cell
//! and passes a fence before he looks for readers. If the reader's fence is first, he is seen; if it is second, he finds
//! it closed. The epoch is read on both sides of the reader's fence: before it, so that a reader of a later epoch than the one
//! a record was retired in has his fence second; after it, so that one of an earlier epoch is counted before the next
//! begins.

use crate::sync::{AtomicU32, AtomicUsize, Ordering, fence};

use super::NO_SLOT;

/// Counts of readers and lists of retired cells. On a line of its own: readers write to it when they begin and end,
/// and would take the line of the arena's other fields from everybody else.
#[repr(align(64))]
pub(super) struct Grace {
    epoch: AtomicUsize,
    /// How many readers began in epochs of each parity.
    readers: [AtomicUsize; 2],
    /// The slots of cells retired in epochs of each parity, linked like free ones.
    retired: [AtomicU32; 2],
    /// [`IDLE`], [`BUSY`] or [`AGAIN`].
    settling: AtomicU32,
}

/// Nobody is settling.
const IDLE: u32 = 0;
/// Someone is.
const BUSY: u32 = 1;
/// Someone was asked to, and has not begun since.
const AGAIN: u32 = 2;

/// Far more readers than there can be, unless they are leaked.
const MAX_READERS: usize = usize::MAX / 2;

/// The epoch that a reader began in.
#[derive(Clone, Copy)]
pub(super) struct Epoch(usize);

impl Grace {
    pub(super) fn new() -> Self {
        Self {
            epoch: AtomicUsize::new(0),
            readers: [AtomicUsize::new(0), AtomicUsize::new(0)],
            retired: [AtomicU32::new(NO_SLOT), AtomicU32::new(NO_SLOT)],
            settling: AtomicU32::new(IDLE),
        }
    }

    /// Announces a reader. `Err` is an epoch that was over at once: [`end`](Self::end) it, and try again.
    pub(super) fn begin(&self) -> Result<Epoch, Epoch> {
        let epoch = self.epoch.load(Ordering::Relaxed);
        let before = self.readers[epoch & 1].fetch_add(1, Ordering::Relaxed);
        if before > MAX_READERS {
            self.readers[epoch & 1].fetch_sub(1, Ordering::Relaxed);
            panic!("more readers of an arena than there can be: they were leaked");
        }
        // SYNC POINT: grace (with `nobody_reads`, `retired_now`, `take_unseen`).
        fence(Ordering::SeqCst);
        if self.epoch.load(Ordering::Relaxed) == epoch { Ok(Epoch(epoch)) } else { Err(Epoch(epoch)) }
    }

    /// A reader is done. Whether [`take_unseen`](Self::take_unseen) has to be called: it may have been the last that records waited for.
    #[must_use]
    pub(super) fn end(&self, Epoch(epoch): Epoch) -> bool {
        // SYNC POINT: end of reading (with `nobody_reads`, `take_unseen`).
        if self.readers[epoch & 1].fetch_sub(1, Ordering::Release) != 1 {
            return false;
        }
        // Either this sees what was retired, or whoever retired it sees that there is no reader.
        fence(Ordering::SeqCst);
        self.retired.iter().any(|list| list.load(Ordering::Relaxed) != NO_SLOT)
    }

    /// Whether nobody can see a record whose cell the caller has seen closed.
    pub(super) fn nobody_reads(&self) -> bool {
        // SYNC POINT: grace (with `begin`).
        fence(Ordering::SeqCst);
        self.readers.iter().all(|readers| readers.load(Ordering::Acquire) == 0)
    }

    /// The list for a record that somebody may see, after [`nobody_reads`](Self::nobody_reads) was asked for it. When it is on
    /// the list, [`take_unseen`](Self::take_unseen) has to be called.
    pub(super) fn retired_now(&self) -> &AtomicU32 {
        &self.retired[self.epoch.load(Ordering::Relaxed) & 1]
    }

    /// Takes a list of cells that nobody can see any more, and begins epochs as far as that needs them: its first slot. The
    /// caller drops the records, and asks again.
    ///
    /// One at a time does this; if it is someone else, he looks once more.
    pub(super) fn take_unseen(&self) -> Option<u32> {
        if self.settling.swap(AGAIN, Ordering::AcqRel) != IDLE {
            return None;
        }
        loop {
            self.settling.swap(BUSY, Ordering::AcqRel);
            let unseen = self.advance();
            if unseen.is_some() {
                // Not just stored: who asked meanwhile was told that somebody is at it, and what he did must be seen next time.
                self.settling.swap(IDLE, Ordering::AcqRel);
                return unseen;
            }
            if self.settling.compare_exchange(BUSY, IDLE, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return None;
            }
        }
    }

    /// [`take_unseen`](Self::take_unseen), by the one who may.
    fn advance(&self) -> Option<u32> {
        loop {
            // SYNC POINT: grace (with `begin`), end of reading (with `end`).
            fence(Ordering::SeqCst);
            let epoch = self.epoch.load(Ordering::Relaxed);
            let (now, before) = (epoch & 1, !epoch & 1);
            if self.readers[before].load(Ordering::Acquire) != 0 {
                return None;
            }
            let unseen = self.take(before);
            if unseen.is_some() || self.retired[now].load(Ordering::Relaxed) == NO_SLOT {
                return unseen;
            }
            self.epoch.store(epoch.wrapping_add(1), Ordering::Relaxed);
        }
    }

    /// Takes a list that nobody will read: for the end of the arena.
    pub(super) fn take_rest(&self) -> Option<u32> {
        self.take(0).or_else(|| self.take(1))
    }

    fn take(&self, parity: usize) -> Option<u32> {
        // SYNC POINT: retirement (with whoever puts cells on the list).
        let first = self.retired[parity].swap(NO_SLOT, Ordering::Acquire);
        (first != NO_SLOT).then_some(first)
    }
}
