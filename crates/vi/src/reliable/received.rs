//! Which packets have been received, and when to say so.

use std::{ops::Range, time::Duration};

use super::{
    Ecn,
    frame::{ACKNOWLEDGEMENT, AckHeader, FrameWriter},
    ranges::RangeSet,
};

/// Ranges of packet numbers kept. Whoever's packets are scattered more widely gets some acknowledged never, and sends
/// their content again.
const MAX_KEPT: usize = 64;

/// When acknowledgements leave.
#[derive(Clone, Copy, Debug)]
pub struct AckPolicy {
    /// After so many packets.
    pub every: u32,
    /// Or so long after the first of them.
    pub delay: Duration,
}

/// The packets received on a connection.
#[derive(Debug)]
pub struct Received {
    numbers: RangeSet,
    /// All packets before are settled: they are duplicates.
    floor: u64,
    largest_at: Duration,
    ecn: bool,
    marked: u32,
    /// Packets to be acknowledged since the last acknowledgement left.
    unsaid: u32,
    due: Option<Duration>,
}

impl Received {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            numbers: RangeSet::with_room(),
            floor: 0,
            largest_at: Duration::ZERO,
            ecn: false,
            marked: 0,
            unsaid: 0,
            due: None,
        }
    }

    /// Whether a packet has been received, or is too old to tell.
    pub fn is_duplicate(&self, number: u64) -> bool {
        number < self.floor || self.numbers.contains(number..number + 1)
    }

    /// Takes the packets that the sender has given up out of account.
    pub fn raise_floor(&mut self, floor: u64) {
        if floor > self.floor {
            self.floor = floor;
            self.numbers.remove_below(floor);
        }
    }

    /// Records a packet that is no duplicate and whose content has been stored.
    pub fn record(&mut self, now: Duration, number: u64, ecn: Ecn, policy: AckPolicy) {
        let largest = self.largest();
        while self.numbers.insert(number..number + 1, MAX_KEPT).is_err() {
            let Some(oldest) = self.numbers.pop_lowest() else { break };
            self.floor = self.floor.max(oldest.end);
            if number < self.floor {
                return;
            }
        }
        let in_order = largest.is_none_or(|largest| number == largest + 1);
        if largest.is_none_or(|largest| number > largest) {
            self.largest_at = now;
        }
        self.count(now, ecn, in_order, policy);
    }

    /// As [`record`](Self::record), for a packet that [is next](Self::is_next).
    #[inline]
    pub fn record_next(&mut self, now: Duration, ecn: Ecn, policy: AckPolicy) {
        self.numbers.extend_last();
        self.largest_at = now;
        self.count(now, ecn, true, policy);
    }

    #[inline]
    fn count(&mut self, now: Duration, ecn: Ecn, in_order: bool, policy: AckPolicy) {
        self.ecn |= ecn != Ecn::NotCapable;
        self.marked = self.marked.wrapping_add((ecn == Ecn::Marked).into());
        self.unsaid += 1;
        // Gaps and marks are news that the sender should have at once.
        let at_once = !in_order || ecn == Ecn::Marked || self.unsaid >= policy.every;
        self.say_by(if at_once { now } else { now + policy.delay });
    }

    /// The peer is to hear at once: because it waits, for a duplicate, since perhaps the acknowledgement was lost, or for a
    /// packet refused.
    pub fn hurry(&mut self, now: Duration) {
        self.say_by(now);
    }

    fn say_by(&mut self, when: Duration) {
        self.due = Some(self.due.map_or(when, |due| due.min(when)));
    }

    /// When an acknowledgement must leave, if any must.
    pub fn due(&self) -> Option<Duration> {
        self.due
    }

    /// Whether there is anything to acknowledge.
    pub fn has_any(&self) -> bool {
        self.largest().is_some()
    }

    fn largest(&self) -> Option<u64> {
        self.numbers.iter().next_back().map(|range| range.end - 1)
    }

    /// At most so many octets an acknowledgement takes.
    pub fn octets(&self) -> usize {
        ACKNOWLEDGEMENT + 4 * self.numbers.len()
    }

    /// Forgets that an acknowledgement is due.
    pub fn keep_silent(&mut self) {
        self.due = None;
    }

    /// Adds an acknowledgement to a frame, if there is anything to acknowledge.
    pub fn acknowledge(&mut self, now: Duration, frame: &mut FrameWriter<'_>) {
        self.is_said();
        let Some(largest) = self.largest() else { return };
        let header = self.header(now, largest, 0);
        frame.acknowledge(&header, self.numbers.iter().rev());
    }

    fn header(&self, now: Duration, largest: u64, first: u16) -> AckHeader {
        let delay = now.saturating_sub(self.largest_at).as_micros();
        let delay = u32::try_from(delay).unwrap_or(u32::MAX);
        AckHeader { largest, delay, marked: self.marked, ecn: self.ecn, first }
    }

    /// An acknowledgement of one range that leaves nothing unsaid, if there is such.
    #[inline]
    pub fn lone(&self, now: Duration) -> Option<AckHeader> {
        let range = self.numbers.only().or_else(|| self.nothing_new())?;
        let first = u16::try_from(range.end - range.start).unwrap_or(u16::MAX);
        Some(self.header(now, range.end - 1, first))
    }

    /// What the sender has been told, or knows, already: the latest packets, if those before the gaps have been acknowledged as
    /// well; or the last one that is settled, if there is none after it. Without, messages could not take the short way until the
    /// sender of these packets has more to send.
    #[cold]
    fn nothing_new(&self) -> Option<Range<u64>> {
        match self.numbers.iter().next_back() {
            Some(latest) => self.due.is_none().then_some(latest),
            None => Some(self.floor.checked_sub(1)?..self.floor),
        }
    }

    /// The acknowledgement leaves.
    #[inline]
    pub fn is_said(&mut self) {
        (self.unsaid, self.due) = (0, None);
    }

    /// Whether it is the packet after all that have been received.
    #[inline]
    pub fn is_next(&self, number: u64) -> bool {
        self.largest().is_some_and(|largest| number == largest + 1)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const POLICY: AckPolicy = AckPolicy { every: 2, delay: MS };

    #[test]
    fn the_first_waits_the_second_does_not_and_a_gap_does_not() {
        let mut received = Received::new();
        received.record(MS, 10, Ecn::NotCapable, POLICY);
        assert_eq!(received.due(), Some(2 * MS));
        received.record(MS, 11, Ecn::NotCapable, POLICY);
        assert_eq!(received.due(), Some(MS));
        let mut buffer = [0; 200];
        let header = super::super::frame::Header {
            route: super::super::frame::Route { connection: 1, from_opener: true },
            elicits: false,
            number: 0,
            credit: 0,
            completed: 0,
            floor: 0,
            promise: 0,
        };
        received.acknowledge(MS, &mut FrameWriter::new(&mut buffer, &header));
        assert_eq!(received.due(), None);
        received.record(3 * MS, 13, Ecn::NotCapable, POLICY);
        assert_eq!(received.due(), Some(3 * MS));
    }

    /// Otherwise the short way would be closed until the peer sent something.
    #[test]
    fn one_range_acknowledges_all_that_is_not_said() {
        let mut received = Received::new();
        let lone = |received: &Received| received.lone(MS).map(|header| (header.largest, header.first));
        assert_eq!(lone(&received), None);
        (7..10).for_each(|number| received.record(MS, number, Ecn::NotCapable, POLICY));
        assert_eq!(lone(&received), Some((9, 3)));
        (11..13).for_each(|number| received.record(MS, number, Ecn::NotCapable, POLICY));
        assert_eq!(lone(&received), None, "those before the gap might not have been said");
        received.is_said();
        assert_eq!(lone(&received), Some((12, 2)));
        received.hurry(MS);
        assert_eq!(lone(&received), None, "what was said may have been lost");
        received.is_said();
        received.raise_floor(20);
        assert_eq!(lone(&received), Some((19, 1)), "the sender knows of all");
    }

    #[test]
    fn scattered_numbers_cost_bounded_memory_and_none_is_taken_twice() {
        let mut received = Received::new();
        for number in (0..10_000).step_by(2) {
            assert!(!received.is_duplicate(number));
            received.record(MS, number, Ecn::NotCapable, POLICY);
            assert!(received.is_duplicate(number));
        }
        assert!(received.numbers.len() <= MAX_KEPT);
        assert!((0..5_000).all(|number| received.is_duplicate(number)));
        received.raise_floor(9_999);
        assert!(received.numbers.is_empty() && received.is_duplicate(9_998) && !received.is_duplicate(9_999));
    }
}
