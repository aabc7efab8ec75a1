//! The first word of a frame.

/// What a frame's first word says: sequence number (32 bits), flags and kind (8), length in bytes (24).
///
/// The sequence number is the frame's position in the stream of lines plus one, so that a line still holding what the
/// last lap left there is not taken for news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) kind: Kind,
    /// The second word holds immediate data.
    pub(crate) immediate: bool,
    /// The sender waits until this frame is consumed.
    pub(crate) acknowledge: bool,
    /// Bytes of the body in the ring.
    pub(crate) len: u32,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The body is the message.
    Message = 0,
    /// The body says where in the sender's memory the message lies.
    Elsewhere = 1,
    /// Nothing up to the end of the ring.
    Pad = 2,
    /// Remote memory was written; the immediate data is the message.
    Written = 3,
}

const VALID: u64 = 0x80 << 24;
const IMMEDIATE: u64 = 0x40 << 24;
const ACKNOWLEDGE: u64 = 0x20 << 24;
/// The longest body, in bytes.
pub(crate) const MAX_BODY: usize = (1 << 24) - 1;

/// The longest body of a message that lies in one line, without immediate data.
pub(crate) const SMALL: usize = super::lines::LINE - 8;
#[cfg(not(loom))]
const _: () = assert!(SMALL == crate::SMALL_MESSAGE, "what needs no descriptor fills a line");

/// The word of a small message without immediate data, but for its flag to be acknowledged.
#[inline(always)]
pub(crate) fn small_to_word(len: usize, position: u64) -> u64 {
    debug_assert!(len <= SMALL);
    (position + 1) << 32 | VALID | len as u64
}

/// The length, if the word is one of a small message, and whether it is to be acknowledged.
#[inline(always)]
pub(crate) fn small_from_word(word: u64, position: u64) -> Option<(usize, bool)> {
    // All that is left is the length, if the rest is as it should be.
    let len = (word ^ small_to_word(0, position)) & !ACKNOWLEDGE;
    (len <= SMALL as u64).then_some((len as usize, word & ACKNOWLEDGE != 0))
}

impl Head {
    pub(crate) fn new(kind: Kind, len: usize) -> Self {
        debug_assert!(len <= MAX_BODY);
        Self { kind, immediate: false, acknowledge: false, len: len as u32 }
    }

    /// Bytes before the body.
    #[inline(always)]
    pub(crate) fn before_body(self) -> usize {
        if self.immediate { 16 } else { 8 }
    }

    /// Lines of the whole frame.
    #[inline(always)]
    pub(crate) fn lines(self) -> u64 {
        (self.before_body() + self.len as usize).div_ceil(super::lines::LINE) as u64
    }

    #[inline(always)]
    pub(crate) fn to_word(self, position: u64) -> u64 {
        let sequence = u64::from((position as u32).wrapping_add(1));
        let mut word = sequence << 32 | VALID | (self.kind as u64) << 24 | u64::from(self.len);
        if self.immediate {
            word |= IMMEDIATE;
        }
        if self.acknowledge {
            word |= ACKNOWLEDGE;
        }
        word
    }

    /// The head, if the word is one for this position.
    #[inline(always)]
    pub(crate) fn from_word(word: u64, position: u64) -> Option<Self> {
        if (word >> 32) as u32 != (position as u32).wrapping_add(1) || word & VALID == 0 {
            return None;
        }
        let kind = match word >> 24 & 3 {
            0 => Kind::Message,
            1 => Kind::Elsewhere,
            2 => Kind::Pad,
            _ => Kind::Written,
        };
        let (immediate, acknowledge) = (word & IMMEDIATE != 0, word & ACKNOWLEDGE != 0);
        Some(Self { kind, immediate, acknowledge, len: word as u32 & 0xFF_FFFF })
    }
}
