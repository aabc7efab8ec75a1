//! Control messages: bytes in, bytes out.

use super::socket::{MESSAGE, Message};
use crate::{CompletionError, MemoryHandle, Reliability, Rights};

const MAGIC: &[u8; 4] = b"TLVI";
const VERSION: u8 = 4;

/// What is said over the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// A request for a connection, with the file of that side and what wakes it.
    Hello(Terms),
    /// The request is granted, with the file of this side and what wakes it.
    Accept(Terms),
    /// The request is refused, for its reliability level or not.
    Reject { mismatch: bool },
    /// The side that sends this stops.
    Bye(CompletionError),
    /// A part of a file, which comes with it, from which messages are to be fetched.
    /// It is lent: trusting receivers may write to the messages there while they have them.
    /// By its number it has the place of another, which is no more, or one of its own.
    Memory { number: u32, offset: u64, len: u64, lent: bool },
    /// A window, with its file.
    Window { handle: MemoryHandle, len: u64, rights: Rights },
    /// The window is no more.
    Withdraw { handle: MemoryHandle },
}

/// What one side says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) reliability: Reliability,
    pub(crate) ring_lines: u32,
    /// Bytes of both pools.
    pub(crate) pools: u64,
    /// It trusts the other side with what it lends and is lent.
    pub(crate) trusting: bool,
}

impl Control {
    pub(crate) fn to_bytes(self) -> [u8; MESSAGE] {
        let mut bytes = [0; MESSAGE];
        bytes[..4].copy_from_slice(MAGIC);
        bytes[4] = VERSION;
        match self {
            Self::Hello(terms) => terms.write(1, &mut bytes),
            Self::Accept(terms) => terms.write(2, &mut bytes),
            Self::Reject { mismatch } => (bytes[5], bytes[6]) = (3, u8::from(mismatch)),
            Self::Bye(why) => (bytes[5], bytes[6]) = (4, reason_to_byte(why)),
            Self::Memory { number, offset, len, lent } => {
                bytes[8..12].copy_from_slice(&number.to_le_bytes());
                numbers(&mut bytes, 5, u8::from(lent), offset, len);
            }
            Self::Window { handle, len, rights } => {
                let rights = u8::from(rights.remote_write) | u8::from(rights.remote_read) << 1;
                numbers(&mut bytes, 6, rights, handle.0, len);
            }
            Self::Withdraw { handle } => numbers(&mut bytes, 7, 0, handle.0, 0),
        }
        bytes
    }

    pub(crate) fn from_message(message: &Message) -> Option<Self> {
        let bytes = &message.bytes;
        if message.len != MESSAGE || &bytes[..4] != MAGIC || bytes[4] != VERSION {
            return None;
        }
        match bytes[5] {
            1 => Terms::read(bytes).map(Self::Hello),
            2 => Terms::read(bytes).map(Self::Accept),
            3 => Some(Self::Reject { mismatch: bytes[6] == 1 }),
            4 => Some(Self::Bye(reason_from_byte(bytes[6]))),
            5 => {
                let lent = bytes[6] & 1 != 0;
                let which = u32::from_le_bytes(bytes[8..12].try_into().ok()?);
                Some(Self::Memory { number: which, offset: number(bytes, 16), len: number(bytes, 24), lent })
            }
            6 => {
                let rights = Rights { remote_write: bytes[6] & 1 != 0, remote_read: bytes[6] & 2 != 0 };
                Some(Self::Window { handle: MemoryHandle(number(bytes, 16)), len: number(bytes, 24), rights })
            }
            7 => Some(Self::Withdraw { handle: MemoryHandle(number(bytes, 16)) }),
            _ => None,
        }
    }
}

impl Terms {
    fn write(self, kind: u8, bytes: &mut [u8; MESSAGE]) {
        (bytes[5], bytes[6], bytes[7]) = (kind, self.reliability.to_byte(), u8::from(self.trusting));
        bytes[8..12].copy_from_slice(&self.ring_lines.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.pools.to_le_bytes());
    }

    fn read(bytes: &[u8; MESSAGE]) -> Option<Self> {
        let ring_lines = u32::from_le_bytes(bytes[8..12].try_into().ok()?);
        let pools = u64::from_le_bytes(bytes[16..24].try_into().ok()?);
        let sane = ring_lines.is_power_of_two() && (16..=1 << 16).contains(&ring_lines) && pools <= 1 << 33;
        let (reliability, trusting) = (Reliability::from_byte(bytes[6])?, bytes[7] & 1 != 0);
        sane.then_some(Self { reliability, ring_lines, pools, trusting })
    }
}

fn numbers(bytes: &mut [u8; MESSAGE], kind: u8, flags: u8, first: u64, second: u64) {
    (bytes[5], bytes[6]) = (kind, flags);
    bytes[16..24].copy_from_slice(&first.to_le_bytes());
    bytes[24..32].copy_from_slice(&second.to_le_bytes());
}

fn number(bytes: &[u8; MESSAGE], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// What the other side's VI reports about this side's reason. 0 is none.
pub(crate) fn reason_to_byte(why: CompletionError) -> u8 {
    match why.as_told_to_the_peer() {
        CompletionError::TooLong => 1,
        CompletionError::ReceiveQueueEmpty => 2,
        CompletionError::Disconnected => 3,
        CompletionError::TooMuchMemory => 5,
        CompletionError::NotMapped => 6,
        _ => 4,
    }
}

pub(crate) fn reason_from_byte(byte: u8) -> CompletionError {
    match byte {
        1 => CompletionError::TooLong,
        2 => CompletionError::ReceiveQueueEmpty,
        3 => CompletionError::Disconnected,
        5 => CompletionError::TooMuchMemory,
        6 => CompletionError::NotMapped,
        _ => CompletionError::ConnectionLost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(control: Control) -> Message {
        Message { bytes: control.to_bytes(), len: MESSAGE, file: None, waker: None, cut: false }
    }

    #[test]
    fn comes_back_as_it_was() {
        let reliability = Reliability::ReliableReception;
        let terms = Terms { reliability, ring_lines: 256, pools: 1 << 20, trusting: true };
        let all = [
            Control::Hello(terms),
            Control::Accept(Terms { trusting: false, ..terms }),
            Control::Reject { mismatch: true },
            Control::Bye(CompletionError::TooLong),
            Control::Bye(CompletionError::TooMuchMemory),
            Control::Bye(CompletionError::NotMapped),
            Control::Memory { number: 1, offset: 1 << 40, len: 7, lent: false },
            Control::Memory { number: u32::MAX, offset: 0, len: 1 << 30, lent: true },
            Control::Window {
                handle: MemoryHandle(u64::MAX),
                len: 9,
                rights: Rights { remote_write: false, remote_read: true },
            },
            Control::Withdraw { handle: MemoryHandle(3) },
        ];
        for control in all {
            assert_eq!(Control::from_message(&message(control)), Some(control));
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let reliability = Reliability::Unreliable;
        let terms = Terms { reliability, ring_lines: 256, pools: 0, trusting: false };
        for (at, byte) in [(0, b'X'), (4, 9), (5, 77), (6, 3), (8, 1), (11, 0xFF), (23, 0xFF)] {
            let mut message = message(Control::Hello(terms));
            message.bytes[at] = byte;
            assert_eq!(Control::from_message(&message), None, "byte {at}");
        }
        let mut short = message(Control::Hello(terms));
        short.len = 63;
        assert_eq!(Control::from_message(&short), None);
    }
}
