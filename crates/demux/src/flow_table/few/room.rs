//! How room is made for a bucket's records.

use super::{Few, Spot, WIDE, free::offsets, window::Window};
use crate::flow_table::{FlowRecord, tags::GROUP};

impl<R: FlowRecord, const SPREAD: bool> Few<R, SPREAD> {
    /// Clears a place that is not free for a record of this bucket, if the one that is there is alone in its own: it may lie
    /// anywhere.
    pub(super) fn clear(&mut self, place: usize, bucket: usize) -> bool {
        let loner = self.loner(place, bucket);
        loner.inspect(|&spot| self.send_away(place, spot)).is_some()
    }

    /// Where the record of a place belongs that is not free, if it is alone in a bucket other than this.
    #[inline(always)]
    fn loner(&self, place: usize, bucket: usize) -> Option<Spot> {
        if !self.is_real(place) {
            return None;
        }
        // SAFETY: the place is neither free nor a dummy, so it holds a record.
        let spot = self.spot(unsafe { self.key(place) });
        // A key may have changed since it came.
        let window = self.window(spot.bucket);
        let is_there = window.start() + spot.offset == place;
        (is_there && spot.bucket != bucket && window.is_of_one()).then_some(spot)
    }

    /// Moves the record of a place, which is alone in its bucket, to any other.
    #[inline(always)]
    fn send_away(&mut self, place: usize, spot: Spot) {
        let to = self.any();
        // SAFETY: the one place holds a record, and the other is empty, and the record has one owner afterwards.
        unsafe { self.record(to).copy_from_nonoverlapping(self.record(place), 1) };
        self.occupy(to, spot.bucket);
        self.set_window(spot.bucket, Window::new(to - spot.offset, 1));
        self.empty(place);
        self.moved += 1;
    }

    /// The offsets of a bucket's records in its window, one bit each.
    #[inline(always)]
    pub(super) fn members(&self, bucket: usize, start: usize) -> u128 {
        let mut members = 0;
        for offset in offsets(self.tagged_in_window(super::tag(bucket), start)) {
            // SAFETY: dummies have no such tags, and places that do hold records.
            let spot = self.spot(unsafe { self.key(start + offset) });
            members |= u128::from(spot.bucket == bucket && spot.offset == offset) << offset;
        }
        members
    }

    /// The offsets in a window of the places that have a tag, one bit each.
    #[inline(always)]
    fn tagged_in_window(&self, tag: u8, start: usize) -> u128 {
        let group = |at| u128::from(self.tagged(tag, start + at)) << at;
        (0..WIDE).step_by(GROUP).fold(0, |all, at| all | group(at))
    }

    /// Where a window can start in which the places of a bucket's members and of one more are free, having made them so. The
    /// members' window starts at `start`.
    pub(super) fn other_window(&mut self, spot: Spot, members: u128, start: usize) -> Option<usize> {
        let own = 1 << spot.offset;
        if members == 0 {
            return Some(self.any() - spot.offset);
        }
        if members & own != 0 {
            return None;
        }
        if members.is_power_of_two()
            && let Some(start) = self.window_for_two(spot, members.trailing_zeros() as usize, start)
        {
            return Some(start);
        }
        /// Records looked at that are in the way.
        const TRIES: usize = 16;
        let (mut loner, mut tries) = (None, 0);
        // What is sent away needs another place than those that are kept for the members.
        let may_send = self.end - WIDE - (self.len - self.aside.len()) > members.count_ones() as usize;
        // Whatever a member's key says now.
        let is_member = |place: usize| offsets(members).any(|offset| start + offset == place);
        let fit = self.fit(members | own, |table, place| {
            tries += 1;
            let tried = tries > TRIES || !may_send || is_member(place);
            loner = if tried { None } else { table.loner(place, spot.bucket) };
            loner.is_some()
        })?;
        if let (Some(place), Some(loner)) = (fit.taken, loner) {
            // What is free there is not for the one that goes. It is filled in a moment.
            let wanted = offsets(members | own).map(|offset| fit.start + offset);
            wanted.filter(|other| *other != place).for_each(|place| self.set_tag(place, spot.tag()));
            self.send_away(place, loner);
        }
        Some(fit.start)
    }

    /// As [`other_window`](Self::other_window), if the bucket has one member, at this offset: one of the two gets the place that
    /// became free last, if the other's is free then or can be made so, which four of five are. So nothing is sought.
    #[inline(always)]
    fn window_for_two(&mut self, spot: Spot, member: usize, present: usize) -> Option<usize> {
        let free = self.any();
        for (first, second) in [(spot.offset, member), (member, spot.offset)] {
            let start = free - first;
            let other = start + second;
            if start == present {
                continue;
            }
            // The member itself stays, to be moved by the caller, whatever its key says now.
            if self.is_free(other) || other != present + member && self.clear_beside(free, other, spot) {
                return Some(start);
            }
        }
        self.recent.push(free);
        None
    }

    /// As [`clear`](Self::clear), and leaves a free place free.
    #[inline(always)]
    fn clear_beside(&mut self, free: usize, place: usize, spot: Spot) -> bool {
        let Some(loner) = self.loner(place, spot.bucket) else { return false };
        // It is filled in a moment.
        self.set_tag(free, spot.tag());
        self.send_away(place, loner);
        true
    }
}
