//! Which places are free: those without a tag.

use super::{Few, WIDE};
use crate::flow_table::{
    FlowRecord,
    bits::{Bits, ones},
    tags::{GROUP, same},
};

/// Places remembered that have become free, or were seen to be.
const RECENT: usize = 64;

/// The places that became free last, which are near the processor. They may be taken by now.
pub(super) struct Recent {
    places: [u16; RECENT],
    /// One after the last.
    next: usize,
    /// Where free places are sought if none of them is.
    seek: usize,
}

impl Recent {
    pub(super) fn new() -> Self {
        Self { places: [0; RECENT], next: 0, seek: WIDE }
    }

    /// A place has become free.
    #[inline(always)]
    pub(super) fn push(&mut self, place: usize) {
        self.places[self.next % RECENT] = place as u16;
        self.next = self.next.wrapping_add(1);
    }

    /// From now on places are sought a little farther on.
    #[inline(always)]
    fn turn(&mut self, end: usize) {
        self.seek = if self.seek + GROUP < end { self.seek + GROUP } else { WIDE };
    }

    /// The last of them.
    #[inline(always)]
    fn pop(&mut self) -> usize {
        self.next = self.next.wrapping_sub(1);
        self.places[self.next % RECENT].into()
    }
}

/// A window's start at which all wanted places are free, or all but one.
pub(super) struct Fit {
    pub(super) start: usize,
    pub(super) taken: Option<usize>,
}

impl<R: FlowRecord, const SPREAD: bool> Few<R, SPREAD> {
    /// Whether a place is free; dummies are not.
    #[inline(always)]
    pub(super) fn is_free(&self, place: usize) -> bool {
        self.tag(place) == 0
    }

    /// A free place, of which there is one at least.
    #[inline(always)]
    pub(super) fn any(&mut self) -> usize {
        self.recent_free().unwrap_or_else(|| self.any_other())
    }

    /// The place that became free last, if it still is.
    #[inline(always)]
    pub(super) fn recent_free(&mut self) -> Option<usize> {
        let recent = self.recent.pop();
        self.is_free(recent).then_some(recent)
    }

    #[inline(never)]
    fn any_other(&mut self) -> usize {
        loop {
            let (first, free) = (self.recent.seek, self.tagged(0, self.recent.seek));
            if let Some(at) = free.lowest() {
                // Who comes next finds the others at once.
                ones(free.others()).for_each(|at| self.recent.push(first + at as usize));
                return first + at as usize;
            }
            self.recent.turn(self.end);
        }
    }

    /// The places from this one on, one bit each, that have a tag.
    #[inline(always)]
    pub(super) fn tagged(&self, tag: u8, from: usize) -> u16 {
        debug_assert!(from + GROUP <= self.end + WIDE);
        // SAFETY: there are so many tags.
        same(unsafe { self.tags.at(from).cast::<[u8; GROUP]>().read() }, tag)
    }

    /// Where a window can start such that its places at the `wanted` offsets, two at least, are free; or all but one, if
    /// `may_clear` says so of that.
    #[inline(always)]
    pub(super) fn fit(&mut self, wanted: u128, may_clear: impl FnMut(&Self, usize) -> bool) -> Option<Fit> {
        // Not always at the same places, which would soon have none left.
        self.recent.turn(self.end);
        let first = wanted.trailing_zeros() as usize;
        let others = wanted.others();
        let second = others.trailing_zeros() as usize;
        if others.is_power_of_two() {
            // Nearly all buckets that have several have two.
            return self.fit_by(wanted, may_clear, |start| {
                let (first, second) = (self.tagged(0, start + first), self.tagged(0, start + second));
                (first & second, first ^ second)
            });
        }
        self.fit_several(wanted, may_clear)
    }

    #[cold]
    #[inline(never)]
    fn fit_several(&self, wanted: u128, may_clear: impl FnMut(&Self, usize) -> bool) -> Option<Fit> {
        let mut all = [0; WIDE];
        let count = offsets(wanted).zip(&mut all).map(|(offset, to)| *to = offset).count();
        self.fit_by(wanted, may_clear, |start| {
            // In registers wider than the masks, which the compiler would take to pieces otherwise.
            let (mut none_taken, mut one_taken) = (u32::from(u16::MAX), 0);
            for offset in &all[..count] {
                let free = u32::from(self.tagged(0, start + offset));
                let still_none = none_taken & free;
                one_taken = one_taken & free | none_taken ^ still_none;
                none_taken = still_none;
            }
            (none_taken as u16, one_taken as u16)
        })
    }

    /// As [`fit`](Self::fit); `taken` says of [`GROUP`] starts from one on at which none of the wanted places is taken, and at
    /// which one is.
    #[inline(always)]
    fn fit_by(
        &self,
        wanted: u128,
        mut may_clear: impl FnMut(&Self, usize) -> bool,
        taken: impl Fn(usize) -> (u16, u16),
    ) -> Option<Fit> {
        // From the last group on they would reach beyond the dummies.
        let groups = self.end / GROUP;
        let first = self.recent.seek / GROUP;
        for group in (first..groups).chain(0..first) {
            let (none, one) = taken(group * GROUP);
            if let Some(at) = none.lowest() {
                return Some(Fit { start: group * GROUP + at as usize, taken: None });
            }
            for at in ones(one) {
                let start = group * GROUP + at as usize;
                let taken = offsets(wanted).map(|offset| start + offset).find(|place| !self.is_free(*place));
                if taken.is_some_and(|place| may_clear(self, place)) {
                    return Some(Fit { start, taken });
                }
            }
        }
        None
    }
}

/// The offsets in a window that are set.
#[inline(always)]
pub(super) fn offsets(bits: u128) -> impl Iterator<Item = usize> {
    ones(bits).map(|offset| offset as usize)
}
