//! Frames as most are where short messages go to and fro: an acknowledgement without gaps, and one message that is whole.
//! They are read and written in one step; what is in them is the same as by the general way.

use super::{
    ACKNOWLEDGEMENT, AckHeader, ECN, HEADER, Header, MAGIC, MAX_NUMBER, Route, SEGMENT, flag, sum, tag,
};
use crate::reliable::MAX_SHORT;

/// Where the acknowledgement, the segment and its octets begin.
const ACK_AT: usize = HEADER;
const SEGMENT_AT: usize = ACK_AT + ACKNOWLEDGEMENT;
const OCTETS_AT: usize = SEGMENT_AT + SEGMENT;

const _: () = assert!(ACK_AT == 36 && SEGMENT_AT == 56 && OCTETS_AT == 72, "frames are written in words");

/// The flags of such a frame, beside its direction.
const FLAGS: u16 = flag::ELICITS | flag::ACKNOWLEDGEMENT;

/// A checked frame with one short message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lone<'a> {
    /// In every frame.
    pub header: Header,
    /// Of an acknowledgement without gaps.
    pub acknowledgement: AckHeader,
    /// Which message, lower 32 bits.
    pub message: u32,
    /// All of the message: at most [`MAX_SHORT`].
    pub octets: &'a [u8],
}

impl<'a> Lone<'a> {
    /// The most octets of such a frame.
    pub const MOST: usize = OCTETS_AT + MAX_SHORT;

    /// Reads a datagram, if it is such a frame. Others, and damaged ones, are read by the general way.
    #[inline]
    pub fn parse(datagram: &'a [u8]) -> Option<Self> {
        let (fixed, octets) = datagram.split_first_chunk::<OCTETS_AT>()?;
        let flags = u16_at(fixed, 2);
        if fixed[..2] != MAGIC || flags & !flag::FROM_OPENER != FLAGS || octets.len() > MAX_SHORT {
            return None;
        }
        let (number, largest, first) = (u64_at(fixed, 16), u64_at(fixed, ACK_AT), u16_at(fixed, ACK_AT + 16));
        let no_gaps =
            u16_at(fixed, ACK_AT + 18) == 0 && first > 0 && u64::from(first) <= largest.wrapping_add(1);
        let possible = number < MAX_NUMBER && largest < MAX_NUMBER && no_gaps;
        // Its tag, and that it ends with the datagram and is the whole message.
        let segment = u32_at(fixed, SEGMENT_AT) == u32::from(tag::SEGMENT) | (octets.len() as u32) << 16;
        let whole = u64_at(fixed, SEGMENT_AT + 8) == (octets.len() as u64) << 32;
        if !possible || !segment || !whole || sum(datagram) != u32_at(fixed, 4) {
            return None;
        }
        let from_opener = flags & flag::FROM_OPENER != 0;
        let header = Header {
            route: Route { connection: u64_at(fixed, 8), from_opener },
            elicits: true,
            number,
            credit: u32_at(fixed, 24),
            completed: u32_at(fixed, 28),
            floor: u16_at(fixed, 32),
            promise: u16_at(fixed, 34),
        };
        let marks = u32_at(fixed, ACK_AT + 12);
        let acknowledgement = AckHeader {
            largest,
            delay: u32_at(fixed, ACK_AT + 8),
            marked: marks & !ECN,
            ecn: marks & ECN != 0,
            first,
        };
        Some(Self { header, acknowledgement, message: u32_at(fixed, SEGMENT_AT + 4), octets })
    }

    /// Writes the frame into a buffer of at least [`MOST`](Self::MOST) octets, and returns how long it is.
    ///
    /// # Panics
    /// If the buffer is shorter, or the message longer than [`MAX_SHORT`].
    #[inline]
    pub fn write(&self, buffer: &mut [u8]) -> usize {
        let (fixed, rest) = buffer.split_first_chunk_mut::<OCTETS_AT>().expect("a buffer for a frame");
        let Self { header, acknowledgement: ack, message, octets } = self;
        let flags = FLAGS | if header.route.from_opener { flag::FROM_OPENER } else { 0 };
        let marks = ack.marked & !ECN | if ack.ecn { ECN } else { 0 };
        let length = octets.len() as u32;
        // Written in the portions that the sum reads: others would have to leave the processor's store queue first.
        let words = [
            u64::from(u16::from_le_bytes(MAGIC)) | u64::from(flags) << 16,
            header.route.connection,
            header.number,
            both(header.credit, header.completed),
            both(u32::from(header.floor) | u32::from(header.promise) << 16, ack.largest as u32),
            both((ack.largest >> 32) as u32, ack.delay),
            both(marks, ack.first.into()),
            both(u32::from(tag::SEGMENT) | length << 16, *message),
            both(0, length),
        ];
        let (places, _) = fixed.as_chunks_mut::<8>();
        places.iter_mut().zip(words).for_each(|(place, word)| *place = word.to_le_bytes());
        rest[..octets.len()].copy_from_slice(octets);
        let all = OCTETS_AT + octets.len();
        let sum = sum(&buffer[..all]);
        buffer[4..8].copy_from_slice(&sum.to_le_bytes());
        all
    }
}

/// Two numbers as they follow one another.
#[inline(always)]
fn both(first: u32, second: u32) -> u64 {
    u64::from(first) | u64::from(second) << 32
}

#[inline(always)]
fn u16_at(octets: &[u8; OCTETS_AT], at: usize) -> u16 {
    u16::from_le_bytes([octets[at], octets[at + 1]])
}

#[inline(always)]
fn u32_at(octets: &[u8; OCTETS_AT], at: usize) -> u32 {
    u32::from(u16_at(octets, at)) | u32::from(u16_at(octets, at + 2)) << 16
}

#[inline(always)]
fn u64_at(octets: &[u8; OCTETS_AT], at: usize) -> u64 {
    u64::from(u32_at(octets, at)) | u64::from(u32_at(octets, at + 4)) << 32
}
