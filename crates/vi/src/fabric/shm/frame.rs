//! The first word of a frame.

/// What a frame's first word says: sequence number (32 bits), flags (5) and kind (3), length in bytes (24).
///
/// The sequence number is the frame's position in the stream of lines plus one, so that a line still holding what the
/// last lap left there is not taken for news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head(u32);

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
    /// The message lies in memory that the sender lends with it: the second word says where, and its first [`FRONT`] bytes follow. The
    /// length is that of the message.
    Lent = 4,
}

const VALID: u32 = 0x80 << 24;
const IMMEDIATE: u32 = 0x40 << 24;
const ACKNOWLEDGE: u32 = 0x20 << 24;
const PROGRESS: u32 = 0x10 << 24;
/// The bits of the kind.
const KINDS: u32 = 7;
/// So many bytes of a message that is lent are in its frame, which fills a line.
pub(crate) const FRONT: usize = SMALL - 8;
#[cfg(not(loom))]
const _: () = assert!(FRONT == crate::LENT_FRONT, "what comes with the frame");
/// The longest body, in bytes.
pub(crate) const MAX_BODY: usize = (1 << 24) - 1;

/// The longest body of a message that lies in one line, without immediate data.
pub(crate) const SMALL: usize = super::lines::LINE - 8;
#[cfg(not(loom))]
const _: () = assert!(SMALL == crate::SMALL_MESSAGE, "what needs no descriptor fills a line");

/// The longest body of such a message in whose line there is room for [`Head::progress`], too.
pub(crate) const SMALL_BESIDE_PROGRESS: usize = SMALL - 8;

/// The word of a small message without immediate data, but for the flags of what else is to be done.
#[inline(always)]
pub(crate) fn small_to_word(len: usize, position: u64) -> u64 {
    debug_assert!(len <= SMALL);
    (position + 1) << 32 | VALID as u64 | len as u64
}

/// What else is to be done about a small message; mostly nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extra(u32);

impl Extra {
    #[inline(always)]
    pub(crate) fn is_any(self) -> bool {
        self.0 != 0
    }

    /// It is to be acknowledged.
    pub(crate) fn acknowledge(self) -> bool {
        self.0 & ACKNOWLEDGE != 0
    }

    /// See [`Head::progress`].
    pub(crate) fn progress(self) -> bool {
        self.0 & PROGRESS != 0
    }
}

/// The length, if the word is one of a small message, and what else is to be done.
#[inline(always)]
pub(crate) fn small_from_word(word: u64, position: u64) -> Option<(usize, Extra)> {
    const EXTRA: u64 = (ACKNOWLEDGE | PROGRESS) as u64;
    // All that is left is the length, if the rest is as it should be.
    let len = (word ^ small_to_word(0, position)) & !EXTRA;
    (len <= SMALL as u64).then_some((len as usize, Extra((word & EXTRA) as u32)))
}

impl Head {
    pub(crate) fn new(kind: Kind, len: usize) -> Self {
        debug_assert!(len <= MAX_BODY);
        Self(VALID | (kind as u32) << 24 | len as u32)
    }

    /// The second word holds immediate data.
    pub(crate) fn with_immediate(self, immediate: bool) -> Self {
        self.with(IMMEDIATE, immediate)
    }

    /// The sender waits until this frame is consumed.
    pub(crate) fn with_acknowledge(self, acknowledge: bool) -> Self {
        self.with(ACKNOWLEDGE, acknowledge)
    }

    /// The last word of its one line says how far the sender has consumed the other direction.
    pub(crate) fn with_progress(self, progress: bool) -> Self {
        self.with(PROGRESS, progress)
    }

    fn with(self, flag: u32, set: bool) -> Self {
        Self(if set { self.0 | flag } else { self.0 })
    }

    #[inline(always)]
    pub(crate) fn kind(self) -> Kind {
        match self.0 >> 24 & KINDS {
            0 => Kind::Message,
            1 => Kind::Elsewhere,
            2 => Kind::Pad,
            3 => Kind::Written,
            // There are no others, which `from_word` sees to.
            _ => Kind::Lent,
        }
    }

    /// Whether it is a message in the ring, and nothing else is to be done or read.
    #[inline(always)]
    pub(crate) fn is_plain_message(self) -> bool {
        self.0 & (KINDS << 24 | IMMEDIATE | PROGRESS) == 0
    }

    #[inline(always)]
    pub(crate) fn immediate(self) -> bool {
        self.0 & IMMEDIATE != 0
    }

    #[inline(always)]
    pub(crate) fn acknowledge(self) -> bool {
        self.0 & ACKNOWLEDGE != 0
    }

    #[inline(always)]
    pub(crate) fn progress(self) -> bool {
        self.0 & PROGRESS != 0
    }

    /// Bytes of the body in the ring, or of the message that is lent.
    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        (self.0 & MAX_BODY as u32) as usize
    }

    /// Bytes before the body.
    #[inline(always)]
    pub(crate) fn before_body(self) -> usize {
        if self.immediate() { 16 } else { 8 }
    }

    /// Lines of the whole frame.
    #[inline(always)]
    pub(crate) fn lines(self) -> u64 {
        if self.kind() == Kind::Lent {
            return 1;
        }
        (self.before_body() + self.len()).div_ceil(super::lines::LINE) as u64
    }

    #[inline(always)]
    pub(crate) fn to_word(self, position: u64) -> u64 {
        u64::from((position as u32).wrapping_add(1)) << 32 | u64::from(self.0)
    }

    /// The head, if the word is one for this position.
    #[inline(always)]
    pub(crate) fn from_word(word: u64, position: u64) -> Option<Self> {
        let head = Self(word as u32);
        let known = head.0 >> 24 & KINDS <= Kind::Lent as u32;
        let next = (word >> 32) as u32 == (position as u32).wrapping_add(1);
        (next && known && head.0 & VALID != 0).then_some(head)
    }
}
