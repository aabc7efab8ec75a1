//! Frames: what travels in one datagram. All numbers are little-endian.
//!
//! ```text
//!  0        1        2                 4
//! +--------+--------+-----------------+-----------------------------------+
//! | 0x56   | 0x01   | flags           | CRC32C of what follows, begun     |
//! |        |        |                 | with the first four octets        |
//! +--------+--------+-----------------+-----------------------------------+
//! | connection id, random                                                 |
//! +-----------------------------------------------------------------------+
//! | packet number, less than 2^62                                         |
//! +-----------------------------------+-----------------------------------+
//! | credit: messages that may be sent | messages received completely      |   both the lower 32 bits
//! +-----------------+-----------------+-----------------------------------+
//! | floor           | promise         |   floor: packets older than this one by more are given up by the sender
//! +-----------------+-----------------+   promise: the sender's acknowledgements take up to so many times 8 us
//!
//! flags:
//!    1  from the opener
//!    2  wants to be acknowledged
//!    4  acknowledgement
//!    8  opening
//!   16  reset
//!   32  unreliable: one segment, sent once
//!   64  to be acknowledged at once
//!  128  cookie
//!  256  retry
//!  512  messages were refused for want of memory; a frame without that says that there may be room for them
//!
//! acknowledgement, if flagged:
//! +-----------------------------------------------------------------------+
//! | the largest packet number received                                    |
//! +-----------------------------------+-----------------------------------+
//! | us since it was received          | packets received with CE, 31 bits |   highest bit: packets came with ECT or CE
//! +-----------------+-----------------+-----------------------------------+
//! | first           | ranges          |   first: packets received without a gap before the largest
//! +-----------------+-----------------+
//! | missing         | received        |   so many ranges, each before the other
//! +-----------------+-----------------+
//!
//! opening, if flagged:
//! +--------+--------+-----------------+---------- - -
//! | level  | length  | 0              | name of what is to be reached, up to 64 octets
//! +--------+--------+-----------------+---------- - -
//!
//! cookie, if flagged: 8 octets, as a retry brought them
//!
//! segments of messages, to the end of the frame:
//! +--------+--------+-----------------+-----------------------------------+
//! | tag    | 0      | length          | message, lower 32 bits            |   tag: 0 nothing but padding follows
//! +--------+--------+-----------------+-----------------------------------+        1 segment
//! | offset in the message             | length of the message             |        2 segment, and 32 bits with the message
//! +-----------------------------------+-----------------------------------+
//! | the message's 32 bits, if tag 2   | octets ...
//! +-----------------------------------+---------- - -
//!
//! reset: the first two lines, then
//! +-----------------------------------+-----------------------------------+
//! | reason                            | messages sent, lower 32 bits      |   the end comes after so many, if closed in order
//! +-----------------------------------+-----------------------------------+
//!
//! retry: the first two lines, then
//! +-----------------------------------------------------------------------+
//! | cookie: the opening is to be repeated with it                         |
//! +-----------------------------------------------------------------------+
//! ```
//!
//! The sum is no signature: it tells frames that were damaged, not forged ones. Who can't read the traffic can't guess
//! the connection id, and can't acknowledge what he didn't get, since packet numbers start at random.

mod lone;
mod read;
mod sum;
mod write;

pub use self::{
    lone::Lone,
    read::{Ranges, Segments},
    write::{FrameWriter, SegmentHeader},
};

/// The most octets of a message.
pub const MAX_MESSAGE: usize = 16 << 20;
/// The most octets of the name in an opening.
pub const MAX_NAME: usize = 64;
/// The most ranges in an acknowledgement, besides the first.
pub const MAX_RANGES: usize = 32;
/// Packet numbers are less than this.
pub const MAX_NUMBER: u64 = 1 << 62;
/// Octets of a reset, and of a retry.
pub const RESET: usize = 24;

pub(super) const MAGIC: [u8; 2] = [0x56, 1];
pub(super) const HEADER: usize = 36;
pub(super) const ACKNOWLEDGEMENT: usize = 20;
pub(super) const SEGMENT: usize = 16;
pub(super) const IMMEDIATE: usize = 4;

mod flag {
    pub const FROM_OPENER: u16 = 1;
    pub const ELICITS: u16 = 2;
    pub const ACKNOWLEDGEMENT: u16 = 4;
    pub const OPENING: u16 = 8;
    pub const RESET: u16 = 16;
    pub const UNRELIABLE: u16 = 32;
    pub const AT_ONCE: u16 = 64;
    pub const COOKIE: u16 = 128;
    pub const RETRY: u16 = 256;
    pub const REFUSED: u16 = 512;
}

mod tag {
    pub const PADDING: u8 = 0;
    pub const SEGMENT: u8 = 1;
    pub const WITH_IMMEDIATE: u8 = 2;
}

/// In an acknowledgement's count of marks: packets came with ECT or CE.
const ECN: u32 = 1 << 31;

/// Why octets are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Another protocol, or another version.
    #[error("not a frame of this protocol")]
    Foreign,
    /// The sum does not match: damaged on the way.
    #[error("damaged frame")]
    Damaged,
    /// The frame ends within one of its parts.
    #[error("truncated frame")]
    Truncated,
    /// The sum matches, but the content makes no sense.
    #[error("malformed frame")]
    Malformed,
}

/// Which connection, and in which direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// Drawn at random by the opener.
    pub connection: u64,
    /// Whether the frame was sent by whoever opened the connection.
    pub from_opener: bool,
}

/// What is in every frame but resets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Whose frame it is.
    pub route: Route,
    /// Whether the frame is to be acknowledged. If not, it has taken no number; it names the next one.
    pub elicits: bool,
    /// The number of the packet; each is used once.
    pub number: u64,
    /// How many messages may be sent altogether, lower 32 bits.
    pub credit: u32,
    /// How many messages have been received completely, all before them too; lower 32 bits.
    pub completed: u32,
    /// Packets older than this one by more than that have been acknowledged or given up.
    pub floor: u16,
    /// The sender's acknowledgements are delayed by at most so many times 8 us.
    pub promise: u16,
}

/// What an acknowledgement says besides its ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckHeader {
    /// The largest number received.
    pub largest: u64,
    /// Since then, in us.
    pub delay: u32,
    /// Packets received with CE, modulo 2^31.
    pub marked: u32,
    /// Whether packets came with ECT or CE.
    pub ecn: bool,
    /// How many packets were received up to the largest without a gap, at least 1.
    pub first: u16,
}

/// An acknowledgement in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement<'a> {
    /// All but the ranges.
    pub header: AckHeader,
    ranges: &'a [[u8; 4]],
}

/// What opens a connection: in all frames of the opener until it gets an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening<'a> {
    /// When sends complete.
    pub level: Level,
    /// Whom the opener wants to reach: at most [`MAX_NAME`] octets.
    pub name: &'a [u8],
}

/// The reliability level; only equal levels connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// Messages are sent once, and may be lost; a send completes when it has left.
    Unreliable,
    /// A send completes when the peer's fabric has the message.
    Delivery,
    /// A send completes when the message, and all before it, are in the memory that the peer posted.
    Reception,
    /// As `Delivery`; the name is the id of another connection, whose opener's or acceptor's memory is to be reached: 8
    /// octets. The messages are requests to its provider, and answers.
    Remote,
}

/// A piece of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Which message, lower 32 bits.
    pub message: u32,
    /// Where in the message the octets belong.
    pub offset: u32,
    /// How long the message is, at most [`MAX_MESSAGE`].
    pub total: u32,
    /// 32 bits that accompany the message.
    pub immediate: Option<u32>,
    /// At most `total - offset`.
    pub octets: &'a [u8],
}

/// A checked frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// In every frame.
    pub header: Header,
    /// What the sender has received.
    pub acknowledgement: Option<Acknowledgement<'a>>,
    /// If the sender has not been heard of.
    pub opening: Option<Opening<'a>>,
    /// With the opening: shows that the sender is where it says, since it got a [`Retry`] there.
    pub cookie: Option<u64>,
    /// Whether what is in it is sent once only.
    pub unreliable: bool,
    /// Whether the sender waits for the acknowledgement.
    pub at_once: bool,
    /// Whether the sender has refused messages for want of memory, and nobody has made room since.
    pub refused: bool,
    segments: &'a [u8],
}

/// Tells that a connection is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reset {
    /// Whose frame it is.
    pub route: Route,
    /// Why.
    pub reason: Reason,
    /// How many messages the sender had sent altogether, lower 32 bits: with [`Reason::Closed`] the connection ends when
    /// these are there.
    pub messages: u32,
}

/// Tells an opener that it has to show where it is, by an opening that repeats the cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Whose frame it is.
    pub route: Route,
    /// What only whoever got this knows.
    pub cookie: u64,
}

/// Why a connection was reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Reason {
    /// Closed by the peer.
    Closed = 0,
    /// The peer knows no such connection (any more). Believed when it is said again and again, and nothing else.
    Unknown = 1,
    /// The peer did not want the connection.
    Refused = 2,
    /// A message was longer than the buffer posted for it.
    TooLong = 3,
    /// A frame contradicted another one.
    Violation = 4,
    /// The peer had heard nothing for too long.
    TimedOut = 5,
    /// Nobody listens to that name.
    NobodyListens = 6,
    /// Who listens to that name wants another level.
    OtherLevel = 7,
}

/// A datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datagram<'a> {
    /// Messages and acknowledgements.
    Frame(Frame<'a>),
    /// The end of a connection.
    Reset(Reset),
    /// Not the beginning of a connection.
    Retry(Retry),
}

/// The sum of all octets but those where it is kept. The first four are what it begins with, which finds the same errors
/// as summing them up, and takes one pass.
#[inline]
fn sum(frame: &[u8]) -> u32 {
    let first = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]);
    sum::crc32c(first, &frame[8..])
}
