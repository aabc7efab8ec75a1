//! Records kept aside: those of buckets in which two keys want one place, or for which no room was found. Of a bucket all are
//! here or none, so that a lookup knows by where its window starts.

use alloc::vec::Vec;
use core::ptr::NonNull;

use super::{Spot, WIDE_BITS};
use crate::flow_table::{FlowRecord, proxy::Proxy};

/// Records that more room is made for than is needed at once.
const SPARE: usize = 3;

/// A list of records, each with where it belongs.
pub(super) struct Aside<R> {
    spots: Vec<u32>,
    records: Vec<R>,
    most: usize,
}

impl<R> Aside<R> {
    /// For so many records at most.
    pub(super) fn new(most: usize) -> Self {
        Self { spots: Vec::new(), records: Vec::new(), most }
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.spots.capacity() * size_of::<u32>() + self.records.capacity() * size_of::<R>()
    }

    /// One of them.
    pub(super) fn at(&self, at: usize) -> &R {
        &self.records[at]
    }

    /// One of them, to be changed.
    pub(super) fn at_mut(&mut self, at: usize) -> &mut R {
        &mut self.records[at]
    }

    /// All of them.
    pub(super) fn iter(&self) -> core::slice::Iter<'_, R> {
        self.records.iter()
    }

    /// Makes room, so that so many can be added without a fault. False if there may not be so many, or there is no memory.
    pub(super) fn make_room(&mut self, more: usize) -> bool {
        if self.records.len() + more > self.most {
            return false;
        }
        // Few come, and all that is kept free counts.
        self.records.capacity() - self.records.len() >= more
            || self.spots.try_reserve_exact(more + SPARE).is_ok()
                && self.records.try_reserve_exact(more + SPARE).is_ok()
    }

    /// Adds a record.
    pub(super) fn push(&mut self, spot: Spot, record: R) {
        self.spots.push(code(spot));
        self.records.push(record);
    }

    /// The offsets of a bucket's records, one bit each; none if two have the same.
    pub(super) fn offsets(&self, bucket: usize) -> Option<u128> {
        let same = self.spots.iter().filter(|spot| bucket_of(**spot) == bucket);
        let mut offsets = 0;
        for bit in same.map(|spot| 1 << offset_of(*spot)) {
            if offsets & bit != 0 {
                return None;
            }
            offsets |= bit;
        }
        Some(offsets)
    }

    /// Is empty from now on. The records are the caller's.
    pub(super) fn forget_all(&mut self) {
        self.spots.clear();
        // SAFETY: none is fewer than there are.
        unsafe { self.records.set_len(0) };
    }

    /// Takes out one of a bucket's records, with its offset.
    pub(super) fn take_of(&mut self, bucket: usize) -> Option<(usize, R)> {
        let at = self.spots.iter().position(|spot| bucket_of(*spot) == bucket)?;
        Some((offset_of(self.spots.swap_remove(at)), self.records.swap_remove(at)))
    }

    /// Takes out one of them, with its bucket; the last comes in its place.
    pub(super) fn swap_remove(&mut self, at: usize) -> (usize, R) {
        (bucket_of(self.spots.swap_remove(at)), self.records.swap_remove(at))
    }
}

impl<R> Aside<Proxy<R>> {
    /// The list with the records themselves; none if there is no memory for it.
    ///
    /// # Safety
    /// If there is such a list, the caller forgets the records where they were, and nobody looks at them there.
    pub(super) unsafe fn of_records(&self) -> Option<Aside<R>> {
        let mut list = Aside::new(self.most);
        if !self.records.is_empty() && !list.make_room(self.records.len()) {
            return None;
        }
        list.spots.extend_from_slice(&self.spots);
        // SAFETY: as the caller says.
        list.records.extend(self.records.iter().map(|proxy| unsafe { proxy.take() }));
        Some(list)
    }
}

impl<R: FlowRecord> Aside<R> {
    /// Which of them is that of a key.
    #[cold]
    #[inline(never)]
    pub(super) fn find(&self, spot: Spot, key: &R::Key, examined: &mut impl FnMut()) -> Option<usize> {
        let mut both = self.spots.iter().zip(&self.records);
        both.position(|(at, record)| {
            *at == code(spot) && {
                examined();
                record.key() == key
            }
        })
    }

    /// Takes out the record of a key, which stays where it is until one is added.
    pub(super) fn take(&mut self, spot: Spot, key: &R::Key) -> Option<NonNull<R>> {
        let at = self.find(spot, key, &mut || ())?;
        let last = self.records.len() - 1;
        self.spots.swap_remove(at);
        self.records.swap(at, last);
        // SAFETY: one less than there are, which is the caller's now.
        unsafe { self.records.set_len(last) };
        NonNull::new(self.records.as_mut_ptr().wrapping_add(last))
    }
}

fn code(spot: Spot) -> u32 {
    (spot.bucket << WIDE_BITS | spot.offset) as u32
}

fn bucket_of(code: u32) -> usize {
    (code >> WIDE_BITS) as usize
}

fn offset_of(code: u32) -> usize {
    code as usize & ((1 << WIDE_BITS) - 1)
}
