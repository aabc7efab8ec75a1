//! Messages to be sent, and what the peer has of them.

use std::collections::VecDeque;

use super::{
    ROOM, Source,
    frame::{FrameWriter, Level, SEGMENT, SegmentHeader},
    ranges::RangeSet,
    recovery::Piece,
};

/// A piece that would not fill a frame is not begun in a frame that has less room than this.
const WORTHWHILE: usize = 256;

struct Outgoing<S> {
    source: S,
    immediate: Option<u32>,
    arrived: RangeSet,
    octets_arrived: u64,
    all_arrived: bool,
    /// It takes no posted message's place.
    short: bool,
}

/// The messages posted, in order, as long as their completion is awaited.
pub struct Outbox<S> {
    messages: VecDeque<Outgoing<S>>,
    /// The number of the first of `messages`.
    base: u64,
    /// What has never been sent begins here: a message and an offset.
    next: (u64, u32),
    /// Pieces to be sent again, before anything new: those of older messages first, which others may have to wait for.
    again: VecDeque<Piece>,
    credit: u64,
    /// Messages that the peer has completely.
    completed: u64,
    limit: usize,
    /// How many of `messages` are short ones. They have places of their own, so that who posts no more than `limit` is never
    /// refused because of them.
    shorts: usize,
    spare: Vec<RangeSet>,
}

/// A message that is to leave at once: its number, and its length.
#[derive(Clone, Copy)]
pub struct Leaving {
    pub message: u64,
    pub length: u32,
}

impl<S: Source> Outbox<S> {
    /// Nothing to send; so many messages may be sent before the peer said anything, and at most `limit` be outstanding, and as
    /// many short ones.
    pub fn new(credit: u64, limit: usize) -> Self {
        Self {
            messages: VecDeque::with_capacity(limit.min(ROOM)),
            base: 0,
            next: (0, 0),
            again: VecDeque::with_capacity(limit.min(ROOM)),
            credit,
            completed: 0,
            limit,
            shorts: 0,
            spare: RangeSet::some(limit.min(ROOM)),
        }
    }

    /// Adds a message, unless there are too many; then it is given back.
    pub fn post(&mut self, source: S, immediate: Option<u32>) -> Result<(), S> {
        if self.messages.len() - self.shorts >= self.limit {
            return Err(source);
        }
        self.push(source, immediate, false);
        Ok(())
    }

    /// Adds a short message behind all others, if the peer has room for it; otherwise it is given back.
    #[inline]
    pub fn post_short(&mut self, source: S) -> Result<(), S> {
        if !self.has_room_for_short() {
            return Err(source);
        }
        self.push(source, None, true);
        self.shorts += 1;
        Ok(())
    }

    #[inline]
    fn push(&mut self, source: S, immediate: Option<u32>, short: bool) {
        let arrived = self.spare.pop().unwrap_or_default();
        self.messages.push_back(Outgoing {
            source,
            immediate,
            arrived,
            octets_arrived: 0,
            all_arrived: false,
            short,
        });
    }

    #[inline]
    fn has_room_for_short(&self) -> bool {
        self.end() < self.credit && self.again.is_empty() && self.shorts < self.limit
    }

    /// The number of the next message posted.
    #[inline]
    pub fn end(&self) -> u64 {
        self.base + self.messages.len() as u64
    }

    /// Whether the next message posted could leave at once, before all others.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.next == (self.end(), 0) && self.has_room_for_short()
    }

    /// The number of the next message that [leaves at once](Self::post_leaving).
    #[inline]
    pub fn next_leaving(&self) -> u64 {
        self.next.0
    }

    /// Adds a message that leaves at once, and whole, if there [is](Self::is_free) nothing in its way.
    #[inline]
    pub fn post_leaving(&mut self, source: S) -> Leaving {
        let leaving = Leaving { message: self.next.0, length: source.len() as u32 };
        self.push(source, None, true);
        self.shorts += 1;
        self.next.0 += 1;
        leaving
    }

    /// Messages that were given to the network in part at least: no more can the peer have.
    pub fn begun(&self) -> u64 {
        self.next.0 + u64::from(self.next.1 > 0)
    }

    /// How many messages may be sent.
    pub fn credit(&self) -> u64 {
        self.credit
    }

    /// The peer said how many messages may be sent, for the first time if `first`: what was assumed does not count then.
    pub fn set_credit(&mut self, credit: u64, first: bool) {
        self.credit = if first { credit } else { self.credit.max(credit) };
    }

    /// How many messages the peer has completely.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// The peer has so many messages completely.
    pub fn set_completed(&mut self, completed: u64) {
        self.completed = self.completed.max(completed);
    }

    /// Whether anything can be sent.
    pub fn has_something(&self) -> bool {
        self.has_new() || !self.again.is_empty() && self.again.iter().any(|piece| self.is_wanted(piece))
    }

    /// Whether what can be sent fills a frame with so much room.
    pub fn fills(&self, room: usize) -> bool {
        let again = self.again.iter().map(|piece| (piece.end - piece.start) as usize);
        let (first, start) = (self.next.0.max(self.base), self.next.1 as usize);
        let allowed = self.credit.saturating_sub(first) as usize;
        let new = self.messages.iter().skip((first - self.base) as usize).take(allowed);
        let mut octets = 0;
        again.chain(new.map(|message| message.source.len())).any(|length| {
            octets += SEGMENT + length;
            octets >= room + start
        })
    }

    fn has_new(&self) -> bool {
        self.next.0 < self.end().min(self.credit)
    }

    fn is_wanted(&self, piece: &Piece) -> bool {
        let allowed = piece.message >= self.base.max(self.completed) && piece.message < self.credit;
        let message = (piece.message.wrapping_sub(self.base)) as usize;
        allowed && self.messages.get(message).is_some_and(|message| !message.has(piece))
    }

    /// Sends a piece again.
    pub fn send_again(&mut self, piece: Piece) {
        if piece.message < self.base {
            return;
        }
        // What is left of a piece may begin behind the next one; then they are of one message.
        let order = |piece: &Piece| (piece.message, piece.start, piece.end);
        if self.again.back().is_none_or(|last| order(last) < order(&piece)) {
            self.again.push_back(piece);
        } else if let Err(at) = self.again.binary_search_by_key(&order(&piece), order) {
            self.again.insert(at, piece);
        }
    }

    /// Writes the next segment into a frame, if there is any and it fits. `fresh` if there is none in the frame yet.
    pub fn write(&mut self, frame: &mut FrameWriter<'_>, fresh: bool) -> Option<Piece> {
        self.write_again(frame, fresh).or_else(|| self.write_new(frame, fresh))
    }

    fn write_again(&mut self, frame: &mut FrameWriter<'_>, fresh: bool) -> Option<Piece> {
        if self.again.is_empty() {
            return None;
        }
        let mut at = 0;
        while let Some(piece) = self.again.get(at).copied() {
            if self.is_wanted(&piece) {
                break;
            }
            // Beyond the credit it waits; otherwise it arrived after all.
            if piece.message < self.credit {
                self.again.remove(at);
            } else {
                at += 1;
            }
        }
        let piece = *self.again.get(at)?;
        let message = &self.messages[(piece.message - self.base) as usize];
        let gap = message.arrived.first_gap(piece.start.into(), piece.end.into());
        let (start, wanted) = (gap.start as u32, (gap.end - gap.start) as usize);
        let length = self.fitting(frame, piece.message, wanted, fresh)?;
        let sent = Piece { start, end: start + length as u32, ..piece };
        if sent.end < piece.end {
            self.again[at].start = sent.end;
        } else {
            self.again.remove(at);
        }
        self.write_piece(frame, sent);
        Some(sent)
    }

    fn write_new(&mut self, frame: &mut FrameWriter<'_>, fresh: bool) -> Option<Piece> {
        if !self.has_new() {
            return None;
        }
        let (message, start) = self.next;
        let total = self.messages[(message - self.base) as usize].source.len();
        let length = self.fitting(frame, message, total - start as usize, fresh)?;
        let piece = Piece { message, start, end: start + length as u32 };
        self.next = if piece.end as usize == total { (message + 1, 0) } else { (message, piece.end) };
        self.write_piece(frame, piece);
        Some(piece)
    }

    /// How many of the octets wanted go into the frame.
    fn fitting(&self, frame: &FrameWriter<'_>, message: u64, wanted: usize, fresh: bool) -> Option<usize> {
        let immediate = self.messages[(message - self.base) as usize].immediate;
        let room = frame.segment_room(immediate);
        let whole = room >= wanted && frame.has_room_for_segment(immediate);
        (whole || room >= WORTHWHILE || fresh && room > 0).then_some(room.min(wanted))
    }

    fn write_piece(&self, frame: &mut FrameWriter<'_>, piece: Piece) {
        let message = &self.messages[(piece.message - self.base) as usize];
        let header = SegmentHeader {
            message: piece.message as u32,
            offset: piece.start,
            total: message.source.len() as u32,
            immediate: message.immediate,
        };
        let fill = |octets: &mut [u8]| message.source.read(piece.start as usize, octets);
        frame.segment(&header, (piece.end - piece.start) as usize, fill);
    }

    /// A piece arrived.
    pub fn arrived(&mut self, piece: &Piece) {
        let Some(index) = piece.message.checked_sub(self.base) else { return };
        let Some(message) = self.messages.get_mut(index as usize) else { return };
        if piece.end - piece.start == message.source.len() as u32 {
            message.all_arrived = true;
            return;
        }
        let new = message.arrived.insert(piece.start.into()..piece.end.into(), usize::MAX);
        message.octets_arrived += new.unwrap_or(0);
        message.all_arrived |= message.octets_arrived == message.source.len() as u64;
    }

    /// Whether the oldest message is complete at this level, and wanted back.
    pub fn has_complete(&self, level: Level) -> bool {
        self.complete(level).is_some_and(|oldest| !oldest.source.is_silent())
    }

    /// The oldest message, if it is complete at this level.
    #[inline]
    fn complete(&self, level: Level) -> Option<&Outgoing<S>> {
        let oldest = self.messages.front()?;
        let complete = level != Level::Reception && oldest.all_arrived || self.base < self.completed;
        complete.then_some(oldest)
    }

    /// Drops messages that are complete and that nobody wants back, as far as no others are before them.
    #[inline]
    pub fn drop_silent(&mut self, level: Level) {
        while self.complete(level).is_some_and(|oldest| oldest.source.is_silent()) {
            drop(self.take_oldest());
        }
    }

    /// Takes the oldest message out if it is complete at this level.
    pub fn take_complete(&mut self, level: Level) -> Option<S> {
        let taken = self.has_complete(level).then(|| self.take_oldest()).flatten();
        if taken.is_some() {
            self.drop_silent(level);
        }
        taken
    }

    /// Whether nothing is outstanding.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Whether all messages are complete at this level.
    pub fn all_complete(&self, level: Level) -> bool {
        self.end() <= self.completed || level != Level::Reception && self.all_arrived()
    }

    /// Whether the peer has all that was posted.
    pub fn all_arrived(&self) -> bool {
        self.messages.iter().all(|message| message.all_arrived)
    }

    /// The messages outstanding, the oldest first.
    pub fn sources(&mut self) -> impl Iterator<Item = &mut S> {
        self.messages.iter_mut().map(|message| &mut message.source)
    }

    /// Takes the oldest message out, whatever became of it.
    pub fn take_oldest(&mut self) -> Option<S> {
        let mut oldest = self.messages.pop_front()?;
        self.base += 1;
        self.shorts -= usize::from(oldest.short);
        self.next = self.next.max((self.base, 0));
        if self.messages.is_empty() {
            // What counted as lost arrived after all.
            self.again.clear();
        }
        oldest.arrived.clear();
        self.spare.push(oldest.arrived);
        Some(oldest.source)
    }

    /// Forgets what was to be sent again: the connection is broken.
    pub fn stop(&mut self) {
        self.again.clear();
        self.credit = 0;
    }
}

impl<S: Source> Outgoing<S> {
    fn has(&self, piece: &Piece) -> bool {
        self.all_arrived
            || piece.start < piece.end && self.arrived.contains(piece.start.into()..piece.end.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reliable::frame::{Header, Route};

    /// Otherwise the short way would be closed until something took the long one.
    #[test]
    fn what_counted_as_lost_and_arrived_is_in_nobodys_way() {
        let mut outbox: Outbox<Vec<u8>> = Outbox::new(100, 3);
        outbox.post_leaving(vec![7]);
        let piece = Piece { message: 0, start: 0, end: 1 };
        outbox.send_again(piece);
        assert!(!outbox.is_free());
        outbox.arrived(&piece);
        assert!(!outbox.has_something());
        assert_eq!(outbox.take_complete(Level::Delivery), Some(vec![7]));
        assert!(outbox.is_free());
    }

    /// Others may be refused until the oldest is there.
    #[test]
    fn what_is_sent_again_begins_with_the_oldest_message() {
        let mut outbox: Outbox<Vec<u8>> = Outbox::new(100, 3);
        (0..3).for_each(|n| outbox.post(vec![n; 300], None).unwrap());
        let mut buffer = [0; 1_000];
        let header = Header {
            route: Route { connection: 0, from_opener: true },
            elicits: true,
            number: 0,
            credit: 0,
            completed: 0,
            floor: 0,
            promise: 0,
        };
        let piece = |message, start| Piece { message, start, end: start + 100 };
        for (message, start) in [(2, 0), (1, 100), (2, 0), (0, 200), (1, 0), (0, 0)] {
            outbox.send_again(piece(message, start));
        }
        let mut frame = FrameWriter::new(&mut buffer, &header);
        let sent: Vec<_> = std::iter::from_fn(|| outbox.write_again(&mut frame, true)).collect();
        assert_eq!(sent, [piece(0, 0), piece(0, 200), piece(1, 0), piece(1, 100), piece(2, 0)]);
    }

    /// Messages that left at once take nobody's place: a VI posts as many as its queue holds, and counts on all being taken.
    #[test]
    fn messages_that_left_at_once_have_places_of_their_own() {
        let mut outbox: Outbox<Vec<u8>> = Outbox::new(100, 3);
        let mut left = 0;
        while outbox.is_free() {
            outbox.post_leaving(vec![0]);
            left += 1;
        }
        assert_eq!(left, 3);
        assert!((0..3).all(|n| outbox.post(vec![n], None).is_ok()));
        assert_eq!(outbox.post(vec![3], None), Err(vec![3]));
        assert_eq!(outbox.take_oldest(), Some(vec![0]));
        assert_eq!(outbox.post(vec![3], None), Err(vec![3]), "the place of one that left");
        // What waits behind the others is short all the same.
        assert_eq!((outbox.post_short(vec![4]), outbox.post_short(vec![5])), (Ok(()), Err(vec![5])));
        assert!(!outbox.is_free());
    }
}
