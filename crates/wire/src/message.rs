//! A message, read in place.

use crate::{
    ADDRESSED_BYTES, Flags, Flow, Header, Kind, PLAIN_BYTES, RegionKind, Regions, TimeLeft, VERSION,
};

/// A message in the buffer it arrived in.
///
/// The buffer must be the receiver's alone: memory that a peer can still write to is copied first.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// What the fixed part says.
    pub header: Header,
    /// Where things lie, if the sender said so. Offsets count from the message's first byte.
    pub regions: Regions<'a>,
    /// What follows the header.
    pub body: &'a [u8],
}

/// A plain [`Message::read_answer`]. The body follows the first [`PLAIN_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether it is a [`Kind::UserException`], and not a [`Kind::Reply`].
    pub user_exception: bool,
    /// As the header has them.
    pub flags: Flags,
    /// Which call it answers.
    pub sequence: u32,
}

const _: () = assert!(Kind::Reply as u8 ^ Kind::UserException as u8 == 1, "they differ in the lowest bit");

/// Why a message is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The message ends within its header.
    #[error("a message of {0} bytes, which is less than its header has")]
    TooShort(usize),
    /// Another version than [`VERSION`].
    #[error("version {0} of the protocol, which is not spoken here")]
    Version(u8),
    /// Version 1 has no such kind.
    #[error("a message of kind {0}, which is unknown")]
    Kind(u8),
    /// Version 1 has no such flags.
    #[error("unknown flags in {0:#010b}")]
    Flags(u8),
    /// Version 1 has no such kind of region.
    #[error("a region of kind {0}, which is unknown")]
    RegionKind(u32),
    /// A region is not wholly within the message.
    #[error("a region of {length} bytes at {offset}, outside the message")]
    RegionOutside {
        /// Its first byte.
        offset: u32,
        /// Its length.
        length: u32,
    },
}

impl<'a> Message<'a> {
    /// Reads the header at the beginning of `message`, which is one whole message.
    ///
    /// # Errors
    /// [`ReadError`], if it is not one that a sender of version 1 would write. The body is not looked at.
    #[inline(always)]
    pub fn read(message: &'a [u8]) -> Result<Self, ReadError> {
        Self::read_front(message, message.len())
    }

    /// As [`read`](Self::read), of the first bytes of a message of `size`, which must be as many as the header has. The
    /// [`body`](Self::body) ends where they do.
    ///
    /// # Errors
    /// As there.
    #[inline(always)]
    pub fn read_front(front: &'a [u8], size: usize) -> Result<Self, ReadError> {
        let too_short = ReadError::TooShort(front.len());
        let (plain, rest) = front.split_first_chunk::<PLAIN_BYTES>().ok_or(too_short)?;
        let [version, kind, flags, priority] = [0, 1, 2, 3].map(|at| plain[at]);
        if version & 0x0f != VERSION {
            return Err(ReadError::Version(version & 0x0f));
        }
        let kind = Kind::from_number(kind).ok_or(ReadError::Kind(kind))?;
        let flags = Flags::from_bits(flags).ok_or(ReadError::Flags(flags))?;
        let flow = Flow { source_hash: low(plain, 4), id: long(plain, 8) };
        let mut header = Header { flags, priority, flow, sequence: low(plain, 16), ..Header::new(kind) };
        let mut body = rest;
        if kind.is_addressed() {
            let (object, rest) =
                rest.split_first_chunk::<{ ADDRESSED_BYTES - PLAIN_BYTES }>().ok_or(too_short)?;
            let detail = low(plain, 20);
            header.operation = detail as u16;
            header.time_left = TimeLeft::from_bits((detail >> 16) as u16);
            header.nonce = long(object, 0);
            header.slot = low(object, 8);
            header.check = low(object, 12);
            body = rest;
        } else {
            header.detail = low(plain, 20);
        }
        let count = version >> 4;
        if count == 0 {
            return Ok(Self { header, regions: Regions::NONE, body });
        }
        let (regions, body) = Regions::read(count, body, size, too_short)?;
        Ok(Self { header, regions, body })
    }

    /// As [`read`](Self::read), of a [`Kind::Request`] without regions, which nearly every message is that a server gets: one
    /// comparison tells. `None` if it is anything else.
    #[inline(always)]
    pub fn read_request(message: &'a [u8]) -> Option<Self> {
        const UNKNOWN_FLAGS: u32 = (!Flags::ALL.bits() as u32) << 16;
        const START: u32 = VERSION as u32 | (Kind::Request as u32) << 8;
        let (fixed, body) = message.split_first_chunk::<ADDRESSED_BYTES>()?;
        let start = low(fixed, 0);
        if start & (0xffff | UNKNOWN_FLAGS) != START {
            return None;
        }
        let detail = low(fixed, 20);
        let header = Header {
            flags: Flags::from_bits((start >> 16) as u8)?,
            priority: (start >> 24) as u8,
            flow: Flow { source_hash: low(fixed, 4), id: long(fixed, 8) },
            sequence: low(fixed, 16),
            operation: detail as u16,
            time_left: TimeLeft::from_bits((detail >> 16) as u16),
            nonce: long(fixed, 24),
            slot: low(fixed, 32),
            check: low(fixed, 36),
            ..Header::new(Kind::Request)
        };
        Some(Self { header, regions: Regions::NONE, body })
    }

    /// What matters of an answer whose header says nothing more: of one without regions, to a call that was carried out. None of
    /// all other messages.
    ///
    /// ```
    /// # use throughline_wire::{Header, Kind, Message, PLAIN_BYTES};
    /// let mut message = [0; PLAIN_BYTES + 4];
    /// Header { sequence: 7, ..Header::new(Kind::Reply) }.write(&mut message)?;
    /// let answer = Message::read_answer(&message).expect("a plain one");
    /// assert_eq!((answer.sequence, answer.user_exception), (7, false));
    /// # Ok::<(), throughline_wire::NoRoom>(())
    /// ```
    #[inline(always)]
    pub fn read_answer(message: &[u8]) -> Option<Answer> {
        // No regions, none but known flags, and one of two kinds that differ in the lowest bit.
        const OTHER: u32 = 0xfeff | (!Flags::ALL.bits() as u32) << 16;
        const START: u32 = VERSION as u32 | (Kind::Reply as u32) << 8;
        let plain = message.first_chunk::<PLAIN_BYTES>()?;
        let start = low(plain, 0);
        if start & OTHER != START {
            return None;
        }
        let flags = Flags::from_bits((start >> 16) as u8)?;
        let user_exception = (start ^ START) & 0x100 != 0;
        Some(Answer { user_exception, flags, sequence: low(plain, 16) })
    }

    /// Whether the header at the beginning of a message is one without regions.
    ///
    /// ```
    /// # use throughline_wire::{Header, Kind, Message};
    /// let mut message = [0; 64];
    /// Header::new(Kind::Reply).write(&mut message)?;
    /// assert!(Message::has_plain_header(&message) && !Message::has_plain_header(&[]));
    /// assert_eq!((Kind::peek(&message), Kind::peek(&[])), (Some(Kind::Reply), None));
    /// # Ok::<(), throughline_wire::NoRoom>(())
    /// ```
    #[inline(always)]
    pub fn has_plain_header(message: &[u8]) -> bool {
        message.first().is_some_and(|version| version >> 4 == 0)
    }

    /// The user's data: the first region that is marked as such, otherwise the body. `message` is what was read.
    pub fn payload(&self, message: &'a [u8]) -> &'a [u8] {
        match self.regions.find(RegionKind::Payload) {
            Some(region) => region.of(message).unwrap_or_default(),
            None => self.body,
        }
    }
}

/// 32 bits at an offset that is known to be in bounds when this is compiled.
#[inline(always)]
fn low<const N: usize>(bytes: &[u8; N], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[inline(always)]
fn long<const N: usize>(bytes: &[u8; N], at: usize) -> u64 {
    u64::from(low(bytes, at)) | u64::from(low(bytes, at + 4)) << 32
}
