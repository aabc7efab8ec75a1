//! Writing frames, part after part, into the caller's buffer.

use std::ops::Range;

use super::{
    ACKNOWLEDGEMENT, AckHeader, ECN, HEADER, Header, IMMEDIATE, MAGIC, MAX_RANGES, Opening, RESET, Reset,
    Retry, SEGMENT, flag, sum, tag,
};

/// A frame that is being written: first [`acknowledge`](Self::acknowledge), then [`open`](Self::open), then
/// [`segment`](Self::segment)s, each if wanted, and [`finish`](Self::finish).
///
/// # Panics
/// What does not fit into the buffer panics; ask [`room`](Self::room) or [`segment_room`](Self::segment_room) first.
pub struct FrameWriter<'a> {
    buffer: &'a mut [u8],
    at: usize,
    flags: u16,
}

/// Which message a segment is of, and where it belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentHeader {
    /// Lower 32 bits.
    pub message: u32,
    /// Of the segment, in the message.
    pub offset: u32,
    /// Of the message.
    pub total: u32,
    /// 32 bits that accompany the message.
    pub immediate: Option<u32>,
}

impl<'a> FrameWriter<'a> {
    /// Octets of the parts that every frame has.
    pub const HEADER: usize = HEADER;

    /// Starts a frame.
    pub fn new(buffer: &'a mut [u8], header: &Header) -> Self {
        let mut flags = 0;
        if header.route.from_opener {
            flags |= flag::FROM_OPENER;
        }
        if header.elicits {
            flags |= flag::ELICITS;
        }
        let mut writer = Self { buffer, at: 8, flags };
        writer.put(&header.route.connection.to_le_bytes());
        writer.put(&header.number.to_le_bytes());
        writer.put(&header.credit.to_le_bytes());
        writer.put(&header.completed.to_le_bytes());
        writer.put(&header.floor.to_le_bytes());
        writer.put(&header.promise.to_le_bytes());
        writer
    }

    /// Octets that are left.
    pub fn room(&self) -> usize {
        self.buffer.len() - self.at
    }

    /// Octets of a message that a segment could bring now.
    pub fn segment_room(&self, immediate: Option<u32>) -> usize {
        let header = SEGMENT + if immediate.is_some() { IMMEDIATE } else { 0 };
        self.room().saturating_sub(header).min(u16::MAX.into())
    }

    /// Whether a segment, be it empty, has room.
    pub fn has_room_for_segment(&self, immediate: Option<u32>) -> bool {
        self.room() >= SEGMENT + if immediate.is_some() { IMMEDIATE } else { 0 }
    }

    /// Adds an acknowledgement: as many ranges, given the latest first and none empty, as there is room and numbers for.
    /// The first must end with the largest; what the header says of it is replaced by its length.
    pub fn acknowledge(&mut self, header: &AckHeader, mut ranges: impl Iterator<Item = Range<u64>>) {
        let most = MAX_RANGES.min((self.room() - ACKNOWLEDGEMENT) / 4);
        self.flags |= flag::ACKNOWLEDGEMENT;
        let marks = header.marked & !ECN | if header.ecn { ECN } else { 0 };
        self.put(&header.largest.to_le_bytes());
        self.put(&header.delay.to_le_bytes());
        self.put(&marks.to_le_bytes());
        let counts = self.at;
        self.at += 4;
        let first = ranges.next().map_or(1, |first| first.end - first.start);
        let (clamped, whole) = clamp(first);
        let mut before = header.largest + 1 - first;
        let mut count = 0u16;
        // Where a range is cut, those before it can't be told.
        let mut more = whole;
        for range in ranges.take(most) {
            let (missing, near) = clamp(before - range.end);
            let (received, whole) = clamp(range.end - range.start);
            if !more || !near {
                break;
            }
            self.put(&missing.to_le_bytes());
            self.put(&received.to_le_bytes());
            (before, more, count) = (range.start, whole, count + 1);
        }
        self.buffer[counts..counts + 2].copy_from_slice(&clamped.to_le_bytes());
        self.buffer[counts + 2..counts + 4].copy_from_slice(&count.to_le_bytes());
    }

    /// Adds the opening.
    pub fn open(&mut self, opening: &Opening<'_>) {
        self.flags |= flag::OPENING;
        self.put(&[opening.level.code(), opening.name.len() as u8, 0, 0]);
        self.put(opening.name);
    }

    /// Adds the cookie, after the opening.
    pub fn cookie(&mut self, cookie: u64) {
        self.flags |= flag::COOKIE;
        self.put(&cookie.to_le_bytes());
    }

    /// What is in the frame is sent once only.
    pub fn unreliable(&mut self) {
        self.flags |= flag::UNRELIABLE;
    }

    /// The frame is to be acknowledged at once.
    pub fn at_once(&mut self) {
        self.flags |= flag::AT_ONCE;
    }

    /// There is no memory for messages that came.
    pub fn refused(&mut self) {
        self.flags |= flag::REFUSED;
    }

    /// Adds a segment of so many octets, which `fill` writes.
    pub fn segment(&mut self, header: &SegmentHeader, length: usize, fill: impl FnOnce(&mut [u8])) {
        let tag = if header.immediate.is_some() { tag::WITH_IMMEDIATE } else { tag::SEGMENT };
        let length = u16::try_from(length).expect("a segment fits into a datagram");
        self.put(&[tag, 0]);
        self.put(&length.to_le_bytes());
        self.put(&header.message.to_le_bytes());
        self.put(&header.offset.to_le_bytes());
        self.put(&header.total.to_le_bytes());
        if let Some(immediate) = header.immediate {
            self.put(&immediate.to_le_bytes());
        }
        let end = self.at + usize::from(length);
        fill(&mut self.buffer[self.at..end]);
        self.at = end;
    }

    /// Fills the frame up to so many octets.
    pub fn pad(&mut self, octets: usize) {
        let end = octets.clamp(self.at, self.buffer.len());
        self.buffer[self.at..end].fill(tag::PADDING);
        self.at = end;
    }

    /// Completes the frame and returns how long it is.
    pub fn finish(self) -> usize {
        finish(&mut self.buffer[..self.at], self.flags);
        self.at
    }

    fn put(&mut self, octets: &[u8]) {
        let end = self.at + octets.len();
        self.buffer[self.at..end].copy_from_slice(octets);
        self.at = end;
    }
}

impl Reset {
    /// Writes the reset into a buffer of at least [`RESET`] octets, and returns how long it is.
    pub fn write(&self, buffer: &mut [u8]) -> usize {
        let frame = &mut buffer[..RESET];
        frame[8..16].copy_from_slice(&self.route.connection.to_le_bytes());
        frame[16..20].copy_from_slice(&(self.reason as u32).to_le_bytes());
        frame[20..24].copy_from_slice(&self.messages.to_le_bytes());
        let from = if self.route.from_opener { flag::FROM_OPENER } else { 0 };
        finish(frame, flag::RESET | from);
        RESET
    }
}

impl Retry {
    /// Writes the retry into a buffer of at least [`RESET`] octets, and returns how long it is.
    pub fn write(&self, buffer: &mut [u8]) -> usize {
        let frame = &mut buffer[..RESET];
        frame[8..16].copy_from_slice(&self.route.connection.to_le_bytes());
        frame[16..24].copy_from_slice(&self.cookie.to_le_bytes());
        finish(frame, flag::RETRY);
        RESET
    }
}

/// A length in 16 bits, and whether it is all of it.
fn clamp(length: u64) -> (u16, bool) {
    match u16::try_from(length) {
        Ok(whole) => (whole, true),
        Err(_) => (u16::MAX, false),
    }
}

fn finish(frame: &mut [u8], flags: u16) {
    frame[..2].copy_from_slice(&MAGIC);
    frame[2..4].copy_from_slice(&flags.to_le_bytes());
    let sum = sum(frame);
    frame[4..8].copy_from_slice(&sum.to_le_bytes());
}
