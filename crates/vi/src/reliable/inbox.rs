//! Buffers posted for messages, and what has arrived of them.

use std::collections::VecDeque;

use super::{
    Arrived, Broken, Lengthen, Longer, MAX_SHORT, ROOM, ReceiveError, Sink, expand, frame::Segment,
    ranges::RangeSet,
};

/// Ranges of a message that may be there without what lies between. Segments beyond that count as lost.
const MAX_SCATTERED: usize = 512;

struct Incoming<R> {
    sink: R,
    /// Known from the first segment on.
    message: Option<Message>,
    there: RangeSet,
    octets: u64,
    /// Octets of the message, if the buffer was lengthened for it.
    longer: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Message {
    total: u32,
    immediate: Option<u32>,
}

/// What became of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// In its buffer, now or already before.
    Stored,
    /// There is no buffer for it (yet), or none so long: it is to be treated as lost.
    NoRoom,
    /// The message is longer than the buffer posted for it.
    TooLong,
    /// It contradicts an earlier segment.
    Contradiction,
}

/// A message that no buffer was needed for.
#[derive(Clone, Copy)]
struct Short {
    length: u8,
    octets: [u8; MAX_SHORT],
}

/// The buffers posted, in order; each takes one message.
pub struct Inbox<R> {
    posted: VecDeque<Incoming<R>>,
    /// The number of the message that the first of `posted` takes.
    base: u64,
    /// So many of `posted`, from the first on, have their messages.
    complete: usize,
    /// So many of `posted` have a message or a part of one.
    begun: usize,
    /// Octets of the messages that `posted` were lengthened for.
    longer: usize,
    /// A message was refused, and no room has been made since.
    refused: bool,
    /// Room has been made after a message was refused, and the sender has not been told.
    room_due: bool,
    /// The messages before `base`. As long as they are here as many of `posted`, the first ones, are kept for them, since they
    /// may be asked for with a buffer, and the next takes the message `base`.
    shorts: VecDeque<Short>,
    limit: usize,
    spare: Vec<RangeSet>,
}

impl<R: Sink> Inbox<R> {
    /// No buffers; at most so many.
    pub fn new(limit: usize) -> Self {
        Self {
            posted: VecDeque::with_capacity(limit.min(ROOM)),
            base: 0,
            complete: 0,
            begun: 0,
            longer: 0,
            refused: false,
            room_due: false,
            shorts: VecDeque::with_capacity(limit.min(ROOM)),
            limit,
            spare: RangeSet::some(limit.min(ROOM)),
        }
    }

    /// Adds a buffer, unless there are too many; then it is given back.
    pub fn post(&mut self, sink: R) -> Result<(), R> {
        if self.posted.len() >= self.limit {
            return Err(sink);
        }
        let there = self.spare.pop().unwrap_or_default();
        self.posted.push_back(Incoming { sink, message: None, there, octets: 0, longer: 0 });
        Ok(())
    }

    /// How many messages the peer may send altogether.
    #[inline]
    pub fn credit(&self) -> u64 {
        self.base + (self.posted.len() - self.kept()) as u64
    }

    /// How many of the buffers, the first ones, are kept for short messages.
    #[inline]
    fn kept(&self) -> usize {
        self.shorts.len()
    }

    /// How many messages are complete, and all before them.
    pub fn completed(&self) -> u64 {
        self.base + self.complete as u64
    }

    /// Puts a segment where it belongs, which may be lengthened.
    pub fn place(&mut self, segment: &Segment<'_>, lengthen: &mut Option<Lengthen<R>>) -> Placed {
        let may_be_short = segment.immediate.is_none() && segment.octets.len() == segment.total as usize;
        if may_be_short && self.place_short(segment.message, segment.octets) {
            return Placed::Stored;
        }
        let Some(number) = expand(segment.message, self.base) else { return Placed::NoRoom };
        let Some(index) = number.checked_sub(self.base) else { return Placed::Stored };
        let at = usize::try_from(index).ok().and_then(|index| index.checked_add(self.kept()));
        let Some((at, incoming)) = at.and_then(|at| Some((at, self.posted.get_mut(at)?))) else {
            return Placed::NoRoom;
        };
        if incoming.message.is_none() {
            let longer = Longer { octets: segment.total as usize, untaken: self.longer, next: at == 0 };
            if !incoming.make_room(longer, lengthen) {
                (self.refused, self.room_due) = (true, false);
                return Placed::NoRoom;
            }
            self.begun += 1;
            self.longer += incoming.longer;
        }
        let placed = incoming.place(segment);
        self.count_complete();
        placed
    }

    /// Keeps a short message, whole, that is the next one and came before any part of those behind it; whether it is.
    #[inline]
    pub fn place_short(&mut self, message: u32, octets: &[u8]) -> bool {
        let is_next = self.begun == 0 && message == self.base as u32 && octets.len() <= MAX_SHORT;
        let buffer = self.posted.get(self.kept()).filter(|_| is_next);
        if buffer.is_none_or(|buffer| buffer.sink.capacity() < octets.len()) {
            return false;
        }
        let mut short = Short { length: octets.len() as u8, octets: [0; MAX_SHORT] };
        short.octets[..octets.len()].copy_from_slice(octets);
        self.shorts.push_back(short);
        self.base += 1;
        true
    }

    /// Whether the oldest message is a short one that can be taken without a buffer.
    #[inline]
    pub fn has_short(&self) -> bool {
        self.begun == 0 && !self.shorts.is_empty()
    }

    /// Takes the oldest message if it is a short one that needs no buffer: its length.
    #[inline]
    pub fn take_short(&mut self, into: &mut [u8; MAX_SHORT]) -> Option<usize> {
        if self.begun > 0 {
            // The buffer that is kept for it would be behind those that have been begun.
            return None;
        }
        let Short { length, octets } = self.shorts.pop_front()?;
        self.make_known(false);
        *into = octets;
        Some(length.into())
    }

    /// Takes the oldest message, which is short, in the buffer that was kept for it.
    #[cold]
    fn take_short_in_buffer(&mut self) -> Option<(R, Arrived)> {
        let Short { length, octets } = self.shorts.pop_front()?;
        let Incoming { mut sink, there, .. } = self.posted.pop_front()?;
        self.make_known(false);
        self.spare.push(there);
        let length = usize::from(length);
        sink.write(0, &octets[..length]);
        Some((sink, Arrived { length, immediate: None }))
    }

    /// A message has been taken, which may leave room for one that was refused: memory, or that it is the next one now.
    #[inline]
    fn make_known(&mut self, memory: bool) {
        if self.refused && (memory || !self.has_complete()) {
            (self.refused, self.room_due) = (false, true);
        }
    }

    /// Whether a message was refused, and no room has been made since.
    pub fn has_refused(&self) -> bool {
        self.refused
    }

    /// Whether the sender is to be told that there may be room for a message that was refused.
    #[inline]
    pub fn room_is_news(&self) -> bool {
        self.room_due
    }

    /// The sender is told how things are.
    pub fn told_room(&mut self) {
        self.room_due = false;
    }

    fn count_complete(&mut self) {
        while self.posted.get(self.complete + self.kept()).is_some_and(Incoming::is_complete) {
            self.complete += 1;
        }
    }

    /// Whether no buffer is posted.
    pub fn is_empty(&self) -> bool {
        self.posted.is_empty()
    }

    /// Whether the oldest buffer has its message.
    pub fn has_complete(&self) -> bool {
        self.complete > 0 || !self.shorts.is_empty()
    }

    /// Takes all buffers out, the oldest first, whatever is in them. No message is taken any more.
    pub fn take_all(&mut self) -> impl Iterator<Item = R> {
        (self.complete, self.begun, self.longer) = (0, 0, 0);
        (self.refused, self.room_due) = (false, false);
        self.shorts.clear();
        std::mem::take(&mut self.posted).into_iter().map(|incoming| incoming.sink)
    }

    /// Takes the oldest buffer out if its message is complete.
    pub fn take_complete(&mut self) -> Option<(R, Arrived)> {
        if !self.shorts.is_empty() {
            return self.take_short_in_buffer();
        }
        let message = self.posted.front().filter(|_| self.complete > 0)?.message?;
        let arrived = Arrived { length: message.total as usize, immediate: message.immediate };
        self.take_oldest().map(|sink| (sink, arrived))
    }

    /// Takes the oldest buffer out, whatever is in it, with the error that it completes with.
    pub fn take_broken(&mut self, broken: Broken) -> Option<(R, ReceiveError)> {
        let too_long = self.posted.front()?.is_too_short();
        let error = if too_long { ReceiveError::TooLong } else { ReceiveError::Broken(broken) };
        self.take_oldest().map(|sink| (sink, error))
    }

    fn take_oldest(&mut self) -> Option<R> {
        let mut oldest = self.posted.pop_front()?;
        self.base += 1;
        self.complete = self.complete.saturating_sub(1);
        self.begun -= usize::from(oldest.message.is_some());
        self.longer -= oldest.longer;
        self.make_known(oldest.longer > 0);
        oldest.there.clear();
        self.spare.push(oldest.there);
        Some(oldest.sink)
    }
}

impl<R: Sink> Incoming<R> {
    /// Whether the message is taken now; or refused, since there never will be room for it.
    #[inline]
    fn make_room(&mut self, message: Longer, lengthen: &mut Option<Lengthen<R>>) -> bool {
        match lengthen {
            Some(lengthen) if message.octets > self.sink.capacity() => {
                let found = lengthen(&mut self.sink, message);
                if message.octets <= self.sink.capacity() {
                    self.longer = message.octets;
                }
                found
            }
            _ => true,
        }
    }

    fn place(&mut self, segment: &Segment<'_>) -> Placed {
        let message = Message { total: segment.total, immediate: segment.immediate };
        if *self.message.get_or_insert(message) != message {
            return Placed::Contradiction;
        }
        if self.is_too_short() {
            return Placed::TooLong;
        }
        if self.is_complete() {
            return Placed::Stored;
        }
        if segment.octets.len() == segment.total as usize {
            self.octets = segment.total.into();
            self.sink.write(0, segment.octets);
            return Placed::Stored;
        }
        let start = u64::from(segment.offset);
        let range = start..start + segment.octets.len() as u64;
        match self.there.insert(range, MAX_SCATTERED) {
            Ok(0) => Placed::Stored,
            Ok(new) => {
                self.octets += new;
                self.sink.write(segment.offset as usize, segment.octets);
                Placed::Stored
            }
            Err(_) => Placed::NoRoom,
        }
    }

    fn is_complete(&self) -> bool {
        self.message.is_some_and(|message| self.octets == message.total.into() && !self.is_too_short())
    }

    fn is_too_short(&self) -> bool {
        self.message.is_some_and(|message| message.total as usize > self.sink.capacity())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn whole(message: u32, octets: &[u8]) -> Segment<'_> {
        Segment { message, offset: 0, total: octets.len() as u32, immediate: None, octets }
    }

    /// Buffers that are told apart by their lengths.
    fn inbox(buffers: usize) -> Inbox<Vec<u8>> {
        let mut inbox = Inbox::new(buffers);
        (0..buffers).for_each(|at| inbox.post(vec![0; 100 + at]).unwrap());
        inbox
    }

    fn taken(inbox: &mut Inbox<Vec<u8>>) -> Option<(usize, Vec<u8>)> {
        inbox.take_complete().map(|(buffer, arrived)| (buffer.len(), buffer[..arrived.length].to_vec()))
    }

    #[test]
    fn a_short_message_needs_no_buffer_and_gives_credit_when_it_is_taken() {
        let (mut inbox, mut into) = (inbox(2), [0; MAX_SHORT]);
        assert!(inbox.place_short(0, b"one"));
        assert_eq!((inbox.credit(), inbox.completed(), inbox.has_complete()), (2, 1, true));
        assert_eq!(inbox.take_short(&mut into), Some(3));
        assert_eq!((&into[..3], inbox.credit(), inbox.has_complete()), (&b"one"[..], 3, false));
        assert_eq!(inbox.take_short(&mut into), None);
        // Neither twice, nor before its turn.
        assert!(!inbox.place_short(0, b"one") && !inbox.place_short(2, b"three"));
        assert_eq!(inbox.place(&whole(0, b"one"), &mut None), Placed::Stored);
        assert_eq!(taken(&mut inbox), None);
        assert_eq!(inbox.place(&whole(1, b"two"), &mut None), Placed::Stored);
        assert_eq!(taken(&mut inbox), Some((100, b"two".to_vec())));
    }

    #[test]
    fn short_messages_of_one_frame_need_no_buffers_and_come_in_order() {
        let (mut inbox, mut into) = (inbox(2), [0; MAX_SHORT]);
        assert_eq!(inbox.place(&whole(0, b"one"), &mut None), Placed::Stored);
        assert!(inbox.place_short(1, b"two") && inbox.has_short());
        // Each has a buffer kept for it, so that they are no more than the peer was told.
        assert!(!inbox.place_short(2, b"three"));
        assert_eq!(inbox.place(&whole(2, b"three"), &mut None), Placed::NoRoom);
        assert_eq!((inbox.credit(), inbox.completed()), (2, 2));
        assert_eq!(inbox.take_short(&mut into), Some(3));
        assert_eq!((&into[..3], inbox.credit()), (&b"one"[..], 3));
        // The second in the buffer posted first, which nothing has taken.
        assert_eq!(taken(&mut inbox), Some((100, b"two".to_vec())));
        assert!(!inbox.has_short() && !inbox.has_complete());
        let of_another_kind = Segment { immediate: Some(7), ..whole(2, b"three") };
        assert_eq!(inbox.place(&of_another_kind, &mut None), Placed::Stored);
        assert!(!inbox.has_short() && inbox.has_complete());
        assert_eq!(taken(&mut inbox), Some((101, b"three".to_vec())));
    }

    #[test]
    fn buffers_are_used_in_order_beside_a_short_message() {
        let (mut inbox, mut into) = (inbox(3), [0; MAX_SHORT]);
        assert!(inbox.place_short(0, b"one"));
        assert_eq!(inbox.place(&whole(2, b"three"), &mut None), Placed::Stored);
        assert_eq!(inbox.place(&whole(1, b"two"), &mut None), Placed::Stored);
        assert_eq!(
            inbox.place(&whole(3, b"four"), &mut None),
            Placed::NoRoom,
            "a buffer is kept for the first"
        );
        assert_eq!((inbox.credit(), inbox.completed()), (3, 3));
        assert_eq!(inbox.take_short(&mut into), None, "its buffer would be behind the others");
        for (length, octets) in [(100, &b"one"[..]), (101, b"two"), (102, b"three")] {
            assert_eq!(taken(&mut inbox), Some((length, octets.to_vec())));
        }
        assert!(inbox.is_empty() && !inbox.has_complete());
        assert!(!inbox.place_short(3, b"four"), "no buffer is posted");
    }

    #[test]
    fn what_is_begun_keeps_others_from_the_short_way() {
        let mut inbox = inbox(2);
        assert_eq!(inbox.place(&whole(1, b"two"), &mut None), Placed::Stored);
        assert!(!inbox.place_short(0, b"one"));
        assert_eq!(inbox.place(&whole(0, b"one"), &mut None), Placed::Stored);
        assert_eq!(taken(&mut inbox), Some((100, b"one".to_vec())));
        assert_eq!(taken(&mut inbox), Some((101, b"two".to_vec())));
        inbox.post(vec![0; 2]).unwrap();
        assert!(!inbox.place_short(2, b"three"), "longer than the buffer posted for it");
        assert!(inbox.place_short(2, b"3"));
        assert!(inbox.take_all().eq([vec![0; 2]]));
        assert!(!inbox.has_complete());
    }

    /// Lengthens buffers to at most so many octets, while there are less than so many; and for the next message.
    fn lengthen(most: usize, all: usize) -> Option<Lengthen<Vec<u8>>> {
        Some(Box::new(move |buffer, Longer { octets, untaken, next }| {
            let found = octets > most || untaken + octets <= all || next;
            if found && octets <= most {
                buffer.resize(octets, 0);
            }
            found
        }))
    }

    #[test]
    fn buffers_are_lengthened_as_far_as_there_is_memory_and_for_the_next_message_always() {
        let (mut inbox, mut lengthen) = (inbox(4), lengthen(2000, 2000));
        let long = [7; 2000];
        let part = |message, offset: usize| Segment {
            message,
            offset: offset as u32,
            total: 2000,
            immediate: Some(message),
            octets: &long[offset..][..1000],
        };
        assert_eq!(inbox.place(&part(1, 1000), &mut lengthen), Placed::Stored);
        assert_eq!(inbox.place(&part(2, 0), &mut lengthen), Placed::NoRoom, "the second in memory for one");
        assert_eq!(inbox.place(&part(1, 0), &mut lengthen), Placed::Stored, "begun");
        assert_eq!(inbox.place(&part(0, 0), &mut lengthen), Placed::Stored, "the next one");
        assert!(!inbox.has_complete());
        assert_eq!(inbox.place(&part(0, 1000), &mut lengthen), Placed::Stored);
        assert_eq!(inbox.place(&part(2, 0), &mut lengthen), Placed::NoRoom, "others wait to be taken");
        assert!(!inbox.room_is_news());
        for number in [0, 1] {
            let (buffer, arrived) = inbox.take_complete().expect("complete");
            assert_eq!((buffer.as_slice(), arrived.immediate), (&long[..], Some(number)));
            assert_eq!(inbox.room_is_news(), number == 0, "once");
            inbox.told_room();
        }
        assert_eq!(inbox.place(&part(2, 1000), &mut lengthen), Placed::Stored, "now the next one");
        let longer = Segment { total: 2001, ..part(3, 0) };
        assert_eq!(inbox.place(&longer, &mut lengthen), Placed::TooLong);
        assert_eq!(inbox.place(&longer, &mut lengthen), Placed::TooLong, "and stays so");
    }
}
