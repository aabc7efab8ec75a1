//! Passing the records of a table for few, to take some out.

use alloc::vec::Vec;
use core::ptr::NonNull;

use super::{Few, WIDE};
use crate::flow_table::{
    FlowRecord,
    sweep::{AS_MANY, Sweep},
};

/// Places that are passed at a time.
const PART: usize = 16;

impl<R: FlowRecord, const SPREAD: bool> Few<R, SPREAD> {
    /// As [`FlowTable::sweep`](crate::FlowTable::sweep); `goes` says which are taken out.
    pub(in crate::flow_table) fn sweep(
        &mut self,
        sweep: &mut Sweep,
        records: usize,
        mut goes: impl FnMut(NonNull<R>) -> bool,
    ) -> usize {
        let (mut seen, before) = (0, self.len);
        while seen < records && WIDE + sweep.next < self.end {
            seen += self.sweep_part(WIDE + sweep.next, &mut goes).max(AS_MANY);
            sweep.next += PART;
        }
        if seen < records {
            self.sweep_aside(&mut goes);
            sweep.turn();
        }
        before - self.len
    }

    /// How many records there were in the places from this one on.
    fn sweep_part(&mut self, from: usize, goes: &mut impl FnMut(NonNull<R>) -> bool) -> usize {
        let mut seen = 0;
        for place in from..self.end.min(from + PART) {
            if self.is_free(place) {
                continue;
            }
            seen += 1;
            if goes(self.record(place)) {
                drop(self.take_out(place));
            }
        }
        seen
    }

    /// Takes out the record of a place that holds one.
    fn take_out(&mut self, place: usize) -> R {
        // SAFETY: it holds a record.
        let spot = self.spot(unsafe { self.key(place) });
        let window = self.window(spot.bucket);
        let record = if window.start() + spot.offset == place {
            self.vacate(spot.bucket, window, place)
        } else {
            // Its key has changed: which bucket has one less nobody knows.
            self.empty(place);
            self.len -= 1;
            self.record(place)
        };
        // SAFETY: the place is empty now, so the record is ours alone.
        unsafe { record.read() }
    }

    /// The records that are kept aside. Those that stay return to the table, if they can, when all have been seen.
    fn sweep_aside(&mut self, goes: &mut impl FnMut(NonNull<R>) -> bool) {
        let mut buckets = Vec::new();
        // From the last to the first: who comes in the place of one that goes has been seen.
        for at in (0..self.aside.len()).rev() {
            if goes(NonNull::from(self.aside.at_mut(at))) {
                let (bucket, record) = self.aside.swap_remove(at);
                self.len -= 1;
                // One that nobody remembers for want of memory is kept aside for longer.
                if buckets.try_reserve(1).is_ok() {
                    buckets.push(bucket);
                }
                drop(record);
            }
        }
        for bucket in buckets {
            // Not twice.
            if self.window(bucket) == self.aside_window() {
                self.bring_back(bucket);
            }
        }
    }
}
