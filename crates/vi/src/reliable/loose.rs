//! Messages of connections at the level `Unreliable`: each goes in frames of its own, which are sent once. A message that
//! does not arrive whole, or finds no buffer, is lost.

use std::collections::VecDeque;

use super::{
    Arrived, Broken, Lengthen, Longer, ReceiveError, Sink, Source,
    frame::{FrameWriter, Segment, SegmentHeader},
    ranges::RangeSet,
};

/// Ranges of a message that may be there without what lies between.
const MAX_SCATTERED: usize = 512;

/// Messages to be sent, and those that were.
pub struct LooseOutbox<S> {
    waiting: VecDeque<(S, Option<u32>)>,
    gone: VecDeque<S>,
    limit: usize,
    /// The number of the first that waits, and how much of it has left.
    number: u32,
    offset: usize,
}

impl<S: Source> LooseOutbox<S> {
    pub fn new(limit: usize) -> Self {
        Self { waiting: VecDeque::new(), gone: VecDeque::new(), limit, number: 0, offset: 0 }
    }

    pub fn post(&mut self, source: S, immediate: Option<u32>) -> Result<(), S> {
        if self.waiting.len() + self.gone.len() >= self.limit {
            return Err(source);
        }
        self.waiting.push_back((source, immediate));
        Ok(())
    }

    /// Whether anything waits to be sent.
    pub fn has_something(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether there is one to be taken.
    pub fn has_gone(&self) -> bool {
        !self.gone.is_empty()
    }

    /// Writes as much of the next message as fits into the frame.
    pub fn write(&mut self, frame: &mut FrameWriter<'_>) {
        let Some((source, immediate)) = self.waiting.front() else { return };
        let (total, offset) = (source.len(), self.offset);
        let length = frame.segment_room(*immediate).min(total - offset);
        let header = SegmentHeader {
            message: self.number,
            offset: offset as u32,
            total: total as u32,
            immediate: *immediate,
        };
        frame.segment(&header, length, |octets| source.read(offset, octets));
        self.offset += length;
        if self.offset == total {
            self.gone.extend(self.waiting.pop_front().map(|(source, _)| source));
            (self.number, self.offset) = (self.number.wrapping_add(1), 0);
        }
    }

    /// One that was sent.
    pub fn take_gone(&mut self) -> Option<S> {
        self.gone.pop_front()
    }

    /// One that will not be sent any more.
    pub fn take_waiting(&mut self) -> Option<S> {
        self.waiting.pop_front().map(|(source, _)| source)
    }
}

/// Buffers posted, and those with messages.
pub struct LooseInbox<R> {
    posted: VecDeque<R>,
    /// With the octets of each message that its buffer was lengthened for.
    complete: VecDeque<(R, Result<Arrived, ReceiveError>, usize)>,
    limit: usize,
    /// All those octets.
    longer: usize,
    /// Octets of the current message, if the buffer was lengthened for it.
    current_longer: usize,
    /// The message that the first buffer is being filled with.
    current: Option<Current>,
    there: RangeSet,
    octets: u64,
    settled: Settled,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Current {
    number: u32,
    total: u32,
    immediate: Option<u32>,
}

/// Which messages are not to be taken again: those among the last 64 that were, and all before.
#[derive(Default)]
struct Settled {
    newest: Option<u32>,
    before: u64,
}

impl Settled {
    fn contains(&self, number: u32) -> bool {
        let Some(newest) = self.newest else { return false };
        match newest.wrapping_sub(number) {
            0 => true,
            age @ 1..=64 => self.before >> (age - 1) & 1 == 1,
            age => age < 1 << 31,
        }
    }

    fn add(&mut self, number: u32) {
        let Some(newest) = self.newest.replace(number) else { return };
        let ahead = number.wrapping_sub(newest);
        if ahead < 1 << 31 {
            self.before = if ahead > 64 { 0 } else { (self.before << 1 | 1) << (ahead - 1).min(63) };
        } else {
            self.newest = Some(newest);
            self.before |= 1_u64.checked_shl(newest.wrapping_sub(number) - 1).unwrap_or(0);
        }
    }
}

impl<R: Sink> LooseInbox<R> {
    pub fn new(limit: usize) -> Self {
        Self {
            posted: VecDeque::new(),
            complete: VecDeque::new(),
            limit,
            longer: 0,
            current_longer: 0,
            current: None,
            there: RangeSet::default(),
            octets: 0,
            settled: Settled::default(),
        }
    }

    pub fn post(&mut self, sink: R) -> Result<(), R> {
        if self.posted.len() + self.complete.len() >= self.limit {
            return Err(sink);
        }
        self.posted.push_back(sink);
        Ok(())
    }

    /// Takes a part of a message in, if it can be used.
    pub fn place(&mut self, segment: &Segment<'_>, lengthen: &mut Option<Lengthen<R>>) {
        let message = Current { number: segment.message, total: segment.total, immediate: segment.immediate };
        if self.settled.contains(message.number) || !self.is_current(message, lengthen) {
            return;
        }
        let start = u64::from(segment.offset);
        let new = self.there.insert(start..start + segment.octets.len() as u64, MAX_SCATTERED);
        let (Ok(new), Some(sink)) = (new, self.posted.front_mut()) else { return };
        if new > 0 {
            sink.write(segment.offset as usize, segment.octets);
        }
        self.octets += new;
        if self.octets == message.total.into() {
            self.finish(Ok(Arrived { length: message.total as usize, immediate: message.immediate }));
        }
    }

    /// Whether the message is the current one, or becomes it: what was missing of another is lost then.
    fn is_current(&mut self, message: Current, lengthen: &mut Option<Lengthen<R>>) -> bool {
        if let Some(current) = self.current {
            let ahead = message.number.wrapping_sub(current.number);
            if ahead == 0 || ahead >= 1 << 31 {
                return current == message;
            }
        }
        let (total, Some(sink)) = (message.total as usize, self.posted.front_mut()) else { return false };
        if total > sink.capacity()
            && let Some(lengthen) = lengthen
        {
            let longer = Longer { octets: total, untaken: self.longer, next: self.complete.is_empty() };
            if !lengthen(sink, longer) {
                return false;
            }
            if total <= sink.capacity() {
                self.current_longer = total;
            }
        }
        let too_long = total > sink.capacity();
        self.begin(message);
        if too_long {
            self.finish(Err(ReceiveError::TooLong));
            return false;
        }
        true
    }

    fn begin(&mut self, message: Current) {
        self.current = Some(message);
        self.there.clear();
        self.octets = 0;
    }

    fn finish(&mut self, result: Result<Arrived, ReceiveError>) {
        if let (Some(current), Some(sink)) = (self.current.take(), self.posted.pop_front()) {
            self.settled.add(current.number);
            let longer = std::mem::take(&mut self.current_longer);
            self.longer += longer;
            self.complete.push_back((sink, result, longer));
        }
    }

    pub fn has_complete(&self) -> bool {
        !self.complete.is_empty()
    }

    pub fn take_complete(&mut self) -> Option<(R, Result<Arrived, ReceiveError>)> {
        let (sink, result, longer) = self.complete.pop_front()?;
        self.longer -= longer;
        Some((sink, result))
    }

    /// One that nothing will come for any more.
    pub fn take_posted(&mut self, broken: Broken) -> Option<(R, ReceiveError)> {
        self.posted.pop_front().map(|sink| (sink, broken.into()))
    }

    /// Whether no buffer is posted.
    pub fn is_empty(&self) -> bool {
        self.posted.is_empty()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn segment(message: u32, offset: u32, total: u32, octets: &[u8]) -> Segment<'_> {
        Segment { message, offset, total, immediate: None, octets }
    }

    fn taken(inbox: &mut LooseInbox<Vec<u8>>) -> Option<(Vec<u8>, Result<usize, ReceiveError>)> {
        inbox.take_complete().map(|(buffer, result)| (buffer, result.map(|arrived| arrived.length)))
    }

    #[test]
    fn numbers_are_settled_once() {
        let mut settled = Settled::default();
        for number in [u32::MAX - 1, 1, u32::MAX, 40, 0, 200, 137] {
            assert!(!settled.contains(number), "{number}");
            settled.add(number);
            assert!(settled.contains(number), "{number}");
        }
        assert!(settled.contains(135), "too old to tell");
        assert!(!settled.contains(199) && !settled.contains(201) && !settled.contains(138));
    }

    #[test]
    fn each_message_is_taken_once_and_whole() {
        let mut inbox = LooseInbox::new(4);
        inbox.place(&segment(0, 0, 2, b"no"), &mut None);
        (0..3).for_each(|_| inbox.post(vec![0; 4]).unwrap());
        inbox.place(&segment(1, 2, 4, b"cd"), &mut None);
        inbox.place(&segment(1, 0, 4, b"ab"), &mut None);
        inbox.place(&segment(1, 0, 4, b"ab"), &mut None);
        assert_eq!(taken(&mut inbox), Some((b"abcd".to_vec(), Ok(4))));
        inbox.place(&segment(2, 0, 4, b"lo"), &mut None);
        inbox.place(&segment(3, 0, 5, b"xxxxx"), &mut None);
        inbox.place(&segment(2, 2, 4, b"st"), &mut None);
        assert_eq!(taken(&mut inbox).map(|taken| taken.1), Some(Err(ReceiveError::TooLong)));
        inbox.place(&segment(4, 0, 0, b""), &mut None);
        assert_eq!(taken(&mut inbox).map(|taken| taken.1), Some(Ok(0)));
        assert_eq!(taken(&mut inbox), None);
        assert!(inbox.is_empty());
    }
}
