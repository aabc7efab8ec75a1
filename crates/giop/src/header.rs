//! The twelve octets in front of every message (section 9.4.1).

use thiserror::Error;
use throughline_cdr::{ByteOrder, Reader};

/// The length of a message header, in octets.
pub const HEADER_LEN: usize = 12;

const MAGIC: [u8; 4] = *b"GIOP";
const FLAG_LITTLE_ENDIAN: u8 = 1;
const FLAG_MORE_FRAGMENTS: u8 = 2;

/// A version of GIOP. The major version is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// GIOP 1.0: no fragments, no wide text.
    V1_0 = 0,
    /// GIOP 1.1: fragments of one message at a time.
    V1_1 = 1,
    /// GIOP 1.2: interleaved fragments, several ways of addressing, messages in both directions.
    V1_2 = 2,
}

impl Version {
    /// The version with this minor number; later ones are supersets of 1.2, as far as a profile goes.
    pub const fn from_minor_at_most_1_2(minor: u8) -> Self {
        match minor {
            0 => Self::V1_0,
            1 => Self::V1_1,
            _ => Self::V1_2,
        }
    }

    /// The minor version number.
    pub const fn minor(self) -> u8 {
        self as u8
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "1.{}", self.minor())
    }
}

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageType {
    /// An invocation.
    Request = 0,
    /// Its outcome.
    Reply = 1,
    /// The client no longer waits.
    CancelRequest = 2,
    /// Where is the object?
    LocateRequest = 3,
    /// The answer.
    LocateReply = 4,
    /// Nothing more will be answered on this connection.
    CloseConnection = 5,
    /// The last message made no sense.
    MessageError = 6,
    /// More of an earlier message; GIOP 1.1 and later.
    Fragment = 7,
}

impl MessageType {
    const ALL: [Self; 8] = [
        Self::Request,
        Self::Reply,
        Self::CancelRequest,
        Self::LocateRequest,
        Self::LocateReply,
        Self::CloseConnection,
        Self::MessageError,
        Self::Fragment,
    ];

    /// Whether a message of this kind may consist of fragments.
    const fn may_be_fragmented(self, version: Version) -> bool {
        match self {
            Self::Request | Self::Reply | Self::Fragment => version as u8 >= 1,
            Self::LocateRequest | Self::LocateReply => version as u8 >= 2,
            Self::CancelRequest | Self::CloseConnection | Self::MessageError => false,
        }
    }
}

/// Why twelve octets are no acceptable message header. All are answered with MessageError, then the connection is
/// closed: where the next message starts is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// They do not start with `GIOP`.
    #[error("not a GIOP message")]
    BadMagic,
    /// A version other than 1.0, 1.1 and 1.2.
    #[error("GIOP {major}.{minor} is not supported")]
    UnsupportedVersion {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// A message type that the version does not have.
    #[error("unknown message type {0}")]
    UnknownType(u8),
    /// A message larger than the receiver accepts.
    #[error("message of {size} octets is over the limit of {limit}")]
    TooLarge {
        /// The size that the header announces, in octets without the header.
        size: u32,
        /// The receiver's limit for it.
        limit: usize,
    },
    /// A message in fragments, of a type that cannot be fragmented.
    #[error("a message of this type cannot have fragments")]
    UnexpectedFragments,
    /// Fewer octets than a header or than the header announces.
    #[error("message cut short")]
    Incomplete,
}

/// A message header, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageHeader {
    /// The version of the message.
    pub version: Version,
    /// The byte order of everything that follows, and of the size.
    pub order: ByteOrder,
    /// Whether fragments follow.
    pub more_fragments: bool,
    /// What kind of message this is.
    pub kind: MessageType,
    /// Octets that follow the header.
    pub size: u32,
}

impl MessageHeader {
    /// Checks a header. `max_size` is the most octets accepted after it.
    #[inline]
    pub fn parse(octets: &[u8; HEADER_LEN], max_size: usize) -> Result<Self, HeaderError> {
        let [m0, m1, m2, m3, major, minor, flags, kind, size @ ..] = *octets;
        if u32::from_ne_bytes([m0, m1, m2, m3]) != u32::from_ne_bytes(MAGIC) {
            return Err(HeaderError::BadMagic);
        }
        if major != 1 || minor > Version::V1_2.minor() {
            return Err(HeaderError::UnsupportedVersion { major, minor });
        }
        let version = Version::from_minor_at_most_1_2(minor);
        let order = ByteOrder::from_flag(flags & FLAG_LITTLE_ENDIAN != 0);
        let size = match order {
            ByteOrder::Big => u32::from_be_bytes(size),
            ByteOrder::Little => u32::from_le_bytes(size),
        };
        // In GIOP 1.0 this octet is a boolean and says nothing of fragments.
        let more_fragments = version > Version::V1_0 && flags & FLAG_MORE_FRAGMENTS != 0;
        let kind = match MessageType::ALL.get(usize::from(kind)) {
            Some(&known) if known != MessageType::Fragment || version > Version::V1_0 => known,
            _ => return Err(HeaderError::UnknownType(kind)),
        };
        if more_fragments && !kind.may_be_fragmented(version) {
            return Err(HeaderError::UnexpectedFragments);
        }
        if size as usize > max_size {
            return Err(HeaderError::TooLarge { size, limit: max_size });
        }
        Ok(Self { version, order, more_fragments, kind, size })
    }

    /// Checks the header of a whole message: all octets it announces must be there.
    #[inline]
    pub fn of(message: &[u8], max_size: usize) -> Result<Self, HeaderError> {
        let header = Self::parse(message.first_chunk().ok_or(HeaderError::Incomplete)?, max_size)?;
        if message.len() < header.message_len() { Err(HeaderError::Incomplete) } else { Ok(header) }
    }

    /// The octets of the whole message, header included.
    #[inline]
    pub const fn message_len(&self) -> usize {
        HEADER_LEN + self.size as usize
    }

    /// The header as it travels.
    pub const fn to_octets(&self) -> [u8; HEADER_LEN] {
        let [s0, s1, s2, s3] = match self.order {
            ByteOrder::Big => self.size.to_be_bytes(),
            ByteOrder::Little => self.size.to_le_bytes(),
        };
        let more = if self.more_fragments { FLAG_MORE_FRAGMENTS } else { 0 };
        let [m0, m1, m2, m3] = MAGIC;
        let flags = self.order.flag() | more;
        [m0, m1, m2, m3, 1, self.version.minor(), flags, self.kind as u8, s0, s1, s2, s3]
    }

    /// A reader of what follows the header in `message`, which is taken to end where the header says.
    pub(crate) fn body<'a>(&self, message: &'a [u8]) -> Reader<'a> {
        let message = message.get(..self.message_len()).unwrap_or(message);
        Reader::starting_at(message, self.order, HEADER_LEN)
    }
}
