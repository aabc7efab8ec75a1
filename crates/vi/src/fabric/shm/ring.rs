//! A ring for one direction of a VI: the producer writes frames into memory of its own, the consumer reads them.
//!
//! A frame begins at a cache line, and its first word is stored last. So one line travels for a small message: body and
//! announcement in one. How far the consumer is, it says in memory of *its* own, and seldom.

use super::{
    frame::{self, Extra, FRONT, Head, Kind, SMALL, SMALL_BESIDE_PROGRESS},
    lines::Lines,
};
use crate::sync::{Ordering, fetch_to_read, fetch_to_write};

/// The other side broke the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Violation;

/// The side that writes.
pub(crate) struct Producer {
    lines: Lines,
    /// Position of the next frame: lines since the beginning.
    next: u64,
    /// What the consumer is known to have consumed,
    consumed: u64,
    /// and what it said of that last, in the word that is for it, and in a frame.
    granted: u64,
    heard: u64,
    /// At this position there is no room for another line, as far as is known.
    full: u64,
    /// Lines that hold a part of a body, by whose first word the consumer could be deceived.
    bodies: Box<[u64]>,
    /// How many of them there are.
    marked: u32,
}

impl Producer {
    pub(crate) fn new(lines: Lines) -> Self {
        let bodies = vec![0; lines.count().div_ceil(64)].into();
        let full = lines.mask();
        Self { lines, next: 0, consumed: 0, granted: 0, heard: 0, full, bodies, marked: 0 }
    }

    /// Position behind the last frame. Once that much is consumed, every frame is.
    #[inline]
    pub(crate) fn position(&self) -> u64 {
        self.next
    }

    #[inline]
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// The longest body for which there is always room in the end.
    pub(crate) fn longest_body(&self) -> usize {
        self.lines.count() / 4 * super::lines::LINE - 16
    }

    /// Takes note of what the consumer says it has consumed.
    #[inline]
    pub(crate) fn grant(&mut self, consumed: u64) -> Result<(), Violation> {
        if consumed < self.granted {
            return Err(Violation);
        }
        self.granted = consumed;
        self.has_consumed(consumed)
    }

    /// As [`grant`](Self::grant), of what it says in a frame: that and the other may be behind one another.
    #[inline]
    pub(crate) fn hear(&mut self, consumed: u64) -> Result<(), Violation> {
        if consumed < self.heard {
            return Err(Violation);
        }
        self.heard = consumed;
        self.has_consumed(consumed)
    }

    #[inline]
    fn has_consumed(&mut self, consumed: u64) -> Result<(), Violation> {
        if consumed > self.next {
            return Err(Violation);
        }
        self.consumed = self.consumed.max(consumed);
        self.full = self.consumed + self.lines.mask();
        Ok(())
    }

    /// Whether a frame with this head finds room now.
    #[inline]
    pub(crate) fn has_room(&self, head: Head) -> bool {
        // One line more, since the line behind the frame is cleared.
        self.next + self.padding(head.lines()) + head.lines() < self.consumed + self.lines.count() as u64
    }

    /// A message is likely to be pushed soon: begins to take its line from the consumer, who has looked at it.
    #[inline(always)]
    pub(crate) fn prepare(&self) {
        fetch_to_write(self.lines.head(self.next));
    }

    /// As [`prepare`](Self::prepare), for the message behind the next one.
    #[inline(always)]
    pub(crate) fn prepare_another(&self) {
        fetch_to_write(self.lines.head(self.next + 1));
    }

    /// A message of so many lines was pushed, and another is likely to follow: takes the lines of its body from the consumer, as
    /// far as they are free. What a consumer looks at meanwhile, a line's first word, stays as it is.
    #[inline]
    pub(crate) fn claim(&self, lines: u64) {
        for position in self.next + 1..self.full.min(self.next + lines) {
            self.lines.line(position).last().store(0, Ordering::Relaxed);
        }
    }

    /// Publishes a small message in a line of its own, as [`push`](Self::push) does; whether it could.
    #[inline(always)]
    pub(crate) fn push_small(&mut self, bytes: &[u8]) -> bool {
        self.push_one(bytes.len(), |lines, position| lines.fill_small(position, bytes))
    }

    /// As [`push_small`](Self::push_small), of so many of these octets, and not more; the peer may see the others, too.
    #[inline(always)]
    pub(crate) fn push_line(&mut self, octets: &[u8; SMALL], len: usize) -> bool {
        self.push_one(len, |lines, position| lines.line(position).fill(octets))
    }

    /// Publishes a message of at most [`SMALL_BESIDE_PROGRESS`] bytes, and how far the other direction is consumed; whether it could.
    #[inline]
    pub(crate) fn push_with_progress(&mut self, bytes: &[u8], progress: u64) -> bool {
        if bytes.len() > SMALL_BESIDE_PROGRESS || self.next >= self.full {
            return false;
        }
        let head = Head::new(Kind::Message, bytes.len()).with_progress(true);
        self.begin(head, 0);
        self.lines.fill_small(self.next, bytes);
        self.lines.line(self.next).last().store(progress, Ordering::Relaxed);
        self.publish(head);
        true
    }

    /// Publishes the frame of a message of so many bytes that is lent, with its first ones, for which there is room.
    #[inline]
    pub(crate) fn push_lent(&mut self, len: usize, place: u64, front: &[u8; FRONT]) {
        let head = Head::new(Kind::Lent, len).with_acknowledge(true);
        self.begin(head, 0);
        self.lines.fill(self.next, 8, &place.to_ne_bytes());
        self.lines.fill(self.next, 16, front);
        self.publish(head);
    }

    #[inline(always)]
    fn push_one(&mut self, len: usize, fill: impl FnOnce(&Lines, u64)) -> bool {
        if self.marked != 0 || self.next >= self.full {
            return false;
        }
        fill(&self.lines, self.next);
        // SYNC POINT: frame. Pairs with `Consumer::take_small`.
        self.lines.head(self.next).store(frame::small_to_word(len, self.next), Ordering::Release);
        self.next += 1;
        true
    }

    /// Publishes a frame, for which there is room.
    #[inline]
    pub(crate) fn push<'a>(&mut self, head: Head, immediate: u32, parts: impl IntoIterator<Item = &'a [u8]>) {
        let padding = self.padding(head.lines());
        if padding != 0 {
            self.pad(padding);
        }
        self.begin(head, immediate);
        let mut skip = head.before_body();
        for part in parts {
            self.lines.fill(self.next, skip, part);
            skip += part.len();
        }
        self.publish(head);
    }

    /// Lines to leave out, since a frame does not wrap.
    #[inline(always)]
    fn padding(&self, lines: u64) -> u64 {
        // A line by itself always fits.
        if lines == 1 {
            return 0;
        }
        let left = self.lines.count() as u64 - (self.next & self.lines.mask());
        if lines > left { left } else { 0 }
    }

    #[cold]
    fn pad(&mut self, lines: u64) {
        debug_assert!(lines != 0);
        // What is left out keeps what it held, for longer than a sequence number lasts perhaps.
        self.mark_frame(lines);
        let word = Head::new(Kind::Pad, 0).to_word(self.next);
        self.lines.head(self.next).store(word, Ordering::Release);
        self.next += lines;
    }

    #[inline(always)]
    fn begin(&mut self, head: Head, immediate: u32) {
        if head.immediate() {
            self.lines.fill(self.next, 8, &immediate.to_ne_bytes());
        }
        if self.marked != 0 || head.lines() != 1 {
            self.mark_frame(head.lines());
        }
    }

    /// The first line of the frame holds no body, the others do.
    fn mark_frame(&mut self, lines: u64) {
        let first = (self.next & self.lines.mask()) as usize;
        // A frame does not wrap.
        let end = first + lines as usize;
        for word in first / 64..end.div_ceil(64) {
            let (from, to) = (first.max(word * 64), end.min(word * 64 + 64));
            let marks = u64::MAX >> (64 - (to - from)) << (from % 64);
            let head = if from == first { 1 << (first % 64) } else { 0 };
            self.mark(word, marks, marks & !head);
        }
        self.clear_if_body(self.next + lines);
    }

    #[inline(always)]
    fn publish(&mut self, head: Head) {
        // SYNC POINT: frame. Pairs with `Consumer::peek`.
        self.lines.head(self.next).store(head.to_word(self.next), Ordering::Release);
        self.next += head.lines();
    }

    /// Sets some of a word's marks.
    #[inline(always)]
    fn mark(&mut self, word: usize, which: u64, bodies: u64) {
        let word = &mut self.bodies[word];
        let before = *word;
        *word = before & !which | bodies;
        self.marked = self.marked + word.count_ones() - before.count_ones();
    }

    /// The consumer looks at this line next: no body of the last lap may look like a frame there.
    #[inline(always)]
    fn clear_if_body(&mut self, position: u64) {
        let line = (position & self.lines.mask()) as usize;
        if self.bodies[line / 64] >> (line % 64) & 1 == 1 {
            self.lines.head(position).store(0, Ordering::Relaxed);
            self.mark(line / 64, 1 << (line % 64), 0);
        }
    }
}

/// The side that reads.
pub(crate) struct Consumer {
    lines: Lines,
    next: u64,
    /// From here on the producer should be told how far we are.
    tell: u64,
}

impl Consumer {
    pub(crate) fn new(lines: Lines) -> Self {
        let tell = lines.quarter();
        Self { lines, next: 0, tell }
    }

    /// Position of the next frame.
    #[inline(always)]
    pub(crate) fn position(&self) -> u64 {
        self.next
    }

    /// Takes the next frame if it is a small message: its length, and what else is to be done. Then see [`is_due`](Self::is_due).
    /// Beyond the message `into` may be overwritten.
    #[inline(always)]
    pub(crate) fn take_small(&mut self, into: &mut [u8; SMALL]) -> Option<(usize, Extra)> {
        // SYNC POINT: frame. Pairs with `Producer::push_small`.
        let line = self.lines.line(self.next);
        let small = frame::small_from_word(line.head().load(Ordering::Acquire), self.next)?;
        line.copy(into);
        self.next += 1;
        Some(small)
    }

    /// Whether the producer should be told how far we are, although no frame asks for that.
    #[inline(always)]
    pub(crate) fn is_due(&self) -> bool {
        self.next >= self.tell
    }

    /// As [`is_due`](Self::is_due), of an earlier position.
    #[inline]
    pub(crate) fn was_due(&self, position: u64) -> bool {
        position >= self.tell
    }

    /// The frame behind the next one is likely to be there: begins to fetch its line.
    #[inline(always)]
    pub(crate) fn fetch_another(&self) {
        fetch_to_read(self.lines.head(self.next + 1));
    }

    /// The next frame's head, if there is a frame. Padding is skipped.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Option<Head>, Violation> {
        let Some(head) = self.peek_at(self.next) else { return Ok(None) };
        if head.kind() == Kind::Pad {
            return self.skip_padding();
        }
        if head.lines() > self.left() {
            return Err(Violation);
        }
        Ok(Some(head))
    }

    /// Whether there is a frame other than padding. Unlike [`peek`](Self::peek) this goes nowhere.
    pub(crate) fn has_next(&self) -> bool {
        let padding = |head: Head| head.kind() == Kind::Pad;
        self.peek_at(self.next).is_some_and(|head| {
            !padding(head) || self.peek_at(self.lines.behind_padding(self.next)).is_some()
        })
    }

    #[inline(always)]
    fn peek_at(&self, position: u64) -> Option<Head> {
        // SYNC POINT: frame. Pairs with `Producer::publish`. The word is read once; all that follows uses the copy.
        Head::from_word(self.lines.head(position).load(Ordering::Acquire), position)
    }

    /// Only if there is something behind it: until then nothing has changed.
    #[cold]
    fn skip_padding(&mut self) -> Result<Option<Head>, Violation> {
        let behind = self.lines.behind_padding(self.next);
        let Some(head) = self.peek_at(behind) else { return Ok(None) };
        self.next = behind;
        // Never twice, or a peer could keep us here.
        if head.kind() == Kind::Pad || head.lines() > self.left() { Err(Violation) } else { Ok(Some(head)) }
    }

    /// Lines up to the end of the ring.
    #[inline(always)]
    fn left(&self) -> u64 {
        self.lines.behind_padding(self.next) - self.next
    }

    /// The immediate data of the frame that was peeked at.
    #[inline]
    pub(crate) fn immediate(&self, head: Head) -> Option<u32> {
        head.immediate().then(|| {
            let mut bytes = [0; 4];
            self.lines.copy(self.next, 8, &mut bytes);
            u32::from_ne_bytes(bytes)
        })
    }

    /// What the frame that was peeked at says of the other direction.
    #[inline]
    pub(crate) fn progress(&self, head: Head) -> Option<u64> {
        head.progress().then(|| self.lines.line(self.next).last().load(Ordering::Relaxed))
    }

    /// What the frame of a message that is lent says: where it lies; its first bytes.
    #[inline]
    pub(crate) fn lent(&self, front: &mut [u8; FRONT]) -> u64 {
        let mut place = [0; 8];
        self.lines.copy(self.next, 8, &mut place);
        self.lines.copy(self.next, 16, front);
        u64::from_ne_bytes(place)
    }

    /// Copies a part of the body of the frame that was peeked at.
    #[inline]
    pub(crate) fn copy(&self, head: Head, from: usize, into: &mut [u8]) {
        debug_assert!(from + into.len() <= head.len());
        self.lines.copy(self.next, head.before_body() + from, into);
    }

    /// Done with the frame that was peeked at. Whether the producer should be told how far we are.
    #[inline]
    pub(crate) fn advance(&mut self, head: Head) -> bool {
        self.next += head.lines();
        head.acknowledge() || self.is_due()
    }

    /// The producer is to be told how far we are once the next frame is taken: it waits for the one before, which is over then.
    #[inline]
    pub(crate) fn tell_with_next(&mut self) {
        self.tell = self.next;
    }

    /// The producer is being told how far we are.
    #[inline]
    pub(crate) fn published(&mut self) {
        self.tell = self.next + self.lines.quarter();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn ring(count: usize) -> (Producer, Consumer, Lines) {
        let lines = Lines::on_heap(count);
        (Producer::new(lines.clone()), Consumer::new(lines.clone()), lines)
    }

    fn message(len: usize) -> Head {
        Head::new(Kind::Message, len)
    }

    /// Takes a frame and returns its body.
    fn take(consumer: &mut Consumer) -> Option<Vec<u8>> {
        let head = consumer.peek().expect("an honest ring")?;
        let mut body = vec![0; head.len()];
        consumer.copy(head, 0, &mut body);
        consumer.advance(head);
        Some(body)
    }

    #[test]
    fn frames_of_all_lengths_come_out_as_they_went_in() {
        let (mut producer, mut consumer, _) = ring(64);
        let laps = if cfg!(miri) { 2 } else { 40 };
        for round in 0..laps * 40_usize {
            let len = round * 37 % (producer.longest_body() + 1);
            let body: Vec<u8> = (0..len).map(|at| (at + round) as u8).collect();
            assert!(producer.has_room(message(len)));
            assert!(consumer.peek().expect("honest").is_none());
            producer.push(message(len), 0, [&body[..len / 3], &body[len / 3..]]);
            assert_eq!(take(&mut consumer), Some(body));
            producer.grant(consumer.position()).expect("honest");
        }
    }

    #[test]
    fn a_full_ring_has_room_again_once_a_part_is_consumed() {
        let (mut producer, mut consumer, _) = ring(16);
        let mut pushed = 0_u8;
        while producer.has_room(message(1)) {
            producer.push(message(1), 0, [&[pushed][..]]);
            pushed += 1;
        }
        assert_eq!(pushed, 15);
        assert_eq!(take(&mut consumer), Some(vec![0]));
        assert!(!producer.has_room(message(1)));
        producer.grant(consumer.position()).expect("honest");
        assert!(producer.has_room(message(1)));
    }

    #[test]
    fn the_longest_body_finds_room_wherever_the_ring_stands() {
        for offset in 0..64 {
            let (mut producer, mut consumer, _) = ring(64);
            for _ in 0..offset {
                producer.push(message(0), 0, []);
                take(&mut consumer);
                // Progress is told every quarter only.
                let told = consumer.position() / 16 * 16;
                producer.grant(told).expect("honest");
            }
            assert!(producer.has_room(message(producer.longest_body())), "at {offset}");
        }
    }

    #[test]
    fn lines_are_claimed_behind_what_is_not_consumed() {
        let (mut producer, mut consumer, _) = ring(16);
        for round in 0..40_u8 {
            let bodies: Vec<Vec<u8>> = (0..3).map(|n| vec![round + n; 184]).collect();
            for body in &bodies {
                producer.push(message(184), 0, [&body[..]]);
                producer.claim(15);
            }
            for body in bodies {
                assert_eq!(take(&mut consumer), Some(body));
                producer.claim(15);
            }
            producer.grant(consumer.position()).expect("honest");
        }
    }

    #[test]
    fn a_body_that_looks_like_a_frame_deceives_nobody() {
        let (mut producer, mut consumer, _) = ring(16);
        // Each word of the body is the head a consumer would expect in that line a lap later.
        let forged: Vec<u8> = (0..16_u64)
            .map(|line| message(4).to_word(16 + line))
            .flat_map(|word| [word; 8])
            .flat_map(u64::to_ne_bytes)
            .collect();
        producer.push(message(184), 0, [&forged[8..192]]);
        assert!(take(&mut consumer).is_some());
        for _ in 0..40 {
            producer.grant(consumer.position()).expect("honest");
            assert_eq!(take(&mut consumer), None);
            producer.push(message(0), 0, []);
            assert_eq!(take(&mut consumer), Some(vec![]));
        }
    }

    #[test]
    fn immediate_data_travels_beside_the_body() {
        let (mut producer, mut consumer, _) = ring(16);
        let head = message(3).with_immediate(true);
        producer.push(head, 0xDEAD_BEEF, [&b"abc"[..]]);
        let seen = consumer.peek().expect("honest").expect("a frame");
        assert_eq!((seen, consumer.immediate(seen)), (head, Some(0xDEAD_BEEF)));
        assert_eq!(take(&mut consumer).as_deref(), Some(&b"abc"[..]));
    }

    #[test]
    fn lies_are_refused() {
        let (mut producer, mut consumer, lines) = ring(16);
        assert_eq!(producer.grant(1), Err(Violation));
        producer.push(message(0), 0, []);
        producer.grant(1).expect("honest");
        assert_eq!(producer.grant(0), Err(Violation));
        // What a frame says may be older than what the word said, or newer, but not older than another frame.
        producer.push(message(0), 0, []);
        producer.hear(0).expect("honest");
        assert_eq!(producer.consumed(), 1);
        producer.hear(2).expect("honest");
        assert_eq!((producer.consumed(), producer.grant(1)), (2, Ok(())));
        assert_eq!((producer.consumed(), producer.hear(1)), (2, Err(Violation)));
        assert_eq!(producer.hear(3), Err(Violation));
        // Longer than the ring.
        lines.head(0).store(message(16 * 64).to_word(0), Ordering::Relaxed);
        assert_eq!(consumer.peek(), Err(Violation));
        // Padding without end.
        lines.head(0).store(message(0).to_word(0), Ordering::Relaxed);
        assert!(take(&mut consumer).is_some());
        lines.head(1).store(Head::new(Kind::Pad, 0).to_word(1), Ordering::Relaxed);
        lines.head(16).store(Head::new(Kind::Pad, 0).to_word(16), Ordering::Relaxed);
        assert_eq!(consumer.peek(), Err(Violation));
    }
}
