//! Answers to calls of which many are under way, until somebody reads them.

use throughline_cdr::Reader;
use throughline_vi::SMALL_MESSAGE;
use throughline_wire::{Kind, Message};

use crate::native::{Body, is_of_unknown_object};

/// Answers up to so many octets, header included, are kept without an allocation.
pub(crate) const SMALL: usize = 72;

/// An answer of more than [`SMALL`] octets, or one that says more than results do, copied out of registered memory so that
/// this serves the next one.
#[derive(Debug)]
pub(crate) struct PipeReply {
    kind: Kind,
    body: Body,
    message: Box<[u8]>,
}

/// An answer of at most [`SMALL`] octets that only has to be read.
#[derive(Debug)]
pub(crate) struct SmallReply {
    /// It is a user exception.
    pub(crate) user: bool,
    /// As wide as it is read: a byte would not come out of the processor's store buffer as a part of a word.
    pub(super) len: u32,
    pub(super) body: Body,
    pub(super) octets: [u8; SMALL],
}

impl SmallReply {
    /// All zeros: nothing has to be fetched to write them.
    pub(crate) const EMPTY: Self = Self { user: false, len: 0, body: Body::NONE, octets: [0; SMALL] };

    /// A reader of the body.
    #[inline(always)]
    pub(crate) fn reader(&self) -> Reader<'_> {
        self.body.reader(self.octets.get(..self.len as usize).unwrap_or_default())
    }

    /// Where a message that may be the answer is received.
    #[inline(always)]
    pub(crate) fn line(&mut self) -> &mut [u8; SMALL_MESSAGE] {
        self.octets.first_chunk_mut().expect("a small message is no longer than that")
    }

    /// Whether what was received [there](Self::line), of this length, is the answer to this call and only has to be read. It is
    /// read then.
    #[inline(always)]
    pub(crate) fn answers(&mut self, id: u32, len: usize) -> bool {
        let message = self.octets.get(..len).unwrap_or_default();
        match Message::read_answer(message) {
            Some(answer) if answer.sequence == id => {
                self.put(answer.user_exception, Body::of_answer(answer.flags), len);
                true
            }
            _ => false,
        }
    }

    /// Octets behind the message are left as they were.
    #[inline(always)]
    pub(super) fn put(&mut self, user: bool, body: Body, len: usize) {
        (self.user, self.body, self.len) = (user, body, len as u32);
    }
}

impl PipeReply {
    #[inline]
    pub(crate) fn new(kind: Kind, body: Body, message: &[u8]) -> Self {
        Self { kind, body, message: message.into() }
    }

    /// One that `Kind::is_reply`.
    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// A reader of the body.
    #[inline]
    pub(crate) fn reader(&self) -> Reader<'_> {
        self.body.reader(&self.message)
    }

    /// Whether the server [does not know the object](is_of_unknown_object).
    pub(crate) fn is_of_unknown_object(&self) -> bool {
        is_of_unknown_object(&self.message, self.message.len())
    }
}
