//! The header of a call.
//!
//! ```text
//!        0        1        2        3        4        5        6        7
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!   0 |  kind  |    0   |   check sum     |      from       |       to        |
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!   8 |            incarnation            |             sequence              |
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//! ```
//!
//! Big-endian. The kind is 1 for a request, 2 for a reply, 3 for a notice that the request is being worked on. A request is
//! from a channel of the caller's to a program, the others go back. The incarnation is a number that the caller drew when
//! it began; within it, sequence numbers of a channel grow, modulo 2^32. The check sum is the Internet's, over header and
//! data.

use crate::{Discard, Message, NoRoom, manipulate::Checksum};

pub(super) const HEADER: usize = 16;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request = 1,
    Reply = 2,
    Working = 3,
}

/// One call of a caller's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    pub incarnation: u32,
    pub sequence: u32,
}

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub kind: Kind,
    pub from: u16,
    pub to: u16,
    pub call: Call,
}

impl Header {
    pub fn read(bytes: &[u8]) -> Result<Self, Discard> {
        let bytes: &[u8; HEADER] = bytes.first_chunk().ok_or(Discard::Truncated)?;
        let short = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| u32::from(short(at)) << 16 | u32::from(short(at + 2));
        let kind = match bytes[..2] {
            [1, 0] => Kind::Request,
            [2, 0] => Kind::Reply,
            [3, 0] => Kind::Working,
            _ => return Err(Discard::Malformed),
        };
        let call = Call { incarnation: word(8), sequence: word(12) };
        Ok(Self { kind, from: short(4), to: short(6), call })
    }

    /// Puts the header in front of a message.
    pub fn write(self, message: &mut Message) -> Result<(), NoRoom> {
        let bytes = message.push(HEADER)?;
        bytes[..4].copy_from_slice(&[self.kind as u8, 0, 0, 0]);
        bytes[4..6].copy_from_slice(&self.from.to_be_bytes());
        bytes[6..8].copy_from_slice(&self.to.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.call.incarnation.to_be_bytes());
        bytes[12..].copy_from_slice(&self.call.sequence.to_be_bytes());
        let check = !sum(message.bytes());
        message.bytes_mut()[2..4].copy_from_slice(&check.to_be_bytes());
        Ok(())
    }

    /// Whether header and data are what was sent.
    pub fn is_intact(bytes: &[u8]) -> bool {
        sum(bytes) == 0xffff
    }
}

fn sum(bytes: &[u8]) -> u16 {
    let mut sum = Checksum::default();
    sum.look(bytes);
    sum.sum()
}
