//! Buffers posted for messages, and what has arrived of them.

use std::collections::VecDeque;

use super::{Arrived, Broken, ReceiveError, Sink, expand, frame::Segment, ranges::RangeSet};

/// Ranges of a message that may be there without what lies between. Segments beyond that count as lost.
const MAX_SCATTERED: usize = 512;

struct Incoming<R> {
    sink: R,
    /// Known from the first segment on.
    message: Option<Message>,
    there: RangeSet,
    octets: u64,
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
    /// There is no buffer for it (yet): it is to be treated as lost.
    NoRoom,
    /// The message is longer than the buffer posted for it.
    TooLong,
    /// It contradicts an earlier segment.
    Contradiction,
}

/// The buffers posted, in order; each takes one message.
pub struct Inbox<R> {
    posted: VecDeque<Incoming<R>>,
    /// The number of the message that the first of `posted` takes.
    base: u64,
    /// So many of `posted`, from the first on, have their messages.
    complete: usize,
    limit: usize,
    spare: Vec<RangeSet>,
}

impl<R: Sink> Inbox<R> {
    /// No buffers; at most so many.
    pub fn new(limit: usize) -> Self {
        Self { posted: VecDeque::new(), base: 0, complete: 0, limit, spare: Vec::new() }
    }

    /// Adds a buffer, unless there are too many; then it is given back.
    pub fn post(&mut self, sink: R) -> Result<(), R> {
        if self.posted.len() >= self.limit {
            return Err(sink);
        }
        let there = self.spare.pop().unwrap_or_default();
        self.posted.push_back(Incoming { sink, message: None, there, octets: 0 });
        Ok(())
    }

    /// How many messages the peer may send altogether.
    pub fn credit(&self) -> u64 {
        self.base + self.posted.len() as u64
    }

    /// How many messages are complete, and all before them.
    pub fn completed(&self) -> u64 {
        self.base + self.complete as u64
    }

    /// Puts a segment where it belongs.
    pub fn place(&mut self, segment: &Segment<'_>) -> Placed {
        let Some(number) = expand(segment.message, self.base) else { return Placed::NoRoom };
        let Some(index) = number.checked_sub(self.base) else { return Placed::Stored };
        match usize::try_from(index).ok().and_then(|index| self.posted.get_mut(index)) {
            Some(incoming) => {
                let placed = incoming.place(segment);
                self.count_complete();
                placed
            }
            None => Placed::NoRoom,
        }
    }

    fn count_complete(&mut self) {
        while self.posted.get(self.complete).is_some_and(Incoming::is_complete) {
            self.complete += 1;
        }
    }

    /// Whether no buffer is posted.
    pub fn is_empty(&self) -> bool {
        self.posted.is_empty()
    }

    /// Whether the oldest buffer has its message.
    pub fn has_complete(&self) -> bool {
        self.complete > 0
    }

    /// Takes all buffers out, the oldest first, whatever is in them. No message is taken any more.
    pub fn take_all(&mut self) -> impl Iterator<Item = R> {
        self.complete = 0;
        std::mem::take(&mut self.posted).into_iter().map(|incoming| incoming.sink)
    }

    /// Takes the oldest buffer out if its message is complete.
    pub fn take_complete(&mut self) -> Option<(R, Arrived)> {
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
        oldest.there.clear();
        self.spare.push(oldest.there);
        Some(oldest.sink)
    }
}

impl<R: Sink> Incoming<R> {
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
