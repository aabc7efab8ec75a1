//! Messages in several pieces (section 9.4.9): splitting and reassembly.
//!
//! In GIOP 1.2, fragments carry a request id and may interleave, and every piece but the last is a multiple of 8 long,
//! so that alignment is the same in the pieces as in the whole.
//!
//! GIOP 1.1 has neither, and the standard leaves open what alignment counts from after the first piece. We take it to
//! count from the start of the whole message; omniORB counts from each piece's own header. Pieces that we write are cut
//! at 4 more than a multiple of 8, where both mean the same. In pieces that omniORB writes, what needs an alignment of
//! 8 is misread after the first piece; offering GIOP 1.2 in references avoids that.

use thiserror::Error;
use throughline_cdr::{DecodeError, Reader};

use crate::header::{HEADER_LEN, MessageHeader, MessageType, Version};
use crate::service_context::ServiceContexts;

const ID_LEN: usize = 4;

/// So many octets of a message are looked through for a request id.
const LOOKED_AT: usize = 1 << 16;

/// A piece of a message, ready to be sent: a header that was made for it, and octets of the message in place.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    header: [u8; HEADER_LEN + ID_LEN],
    header_len: usize,
    /// What follows the header.
    pub data: &'a [u8],
}

impl Piece<'_> {
    /// What goes before the data.
    pub fn header(&self) -> &[u8] {
        self.header.get(..self.header_len).unwrap_or(&self.header)
    }
}

/// Cuts a finished message into pieces of at most `max_len` octets each, headers included, or a little more if that is
/// less than the smallest useful size of 32. What cannot be fragmented, or need not, is one piece.
pub fn split<'a>(header: &MessageHeader, message: &'a [u8], max_len: usize) -> Pieces<'a> {
    let body = message.get(HEADER_LEN..).unwrap_or_default();
    let fragmentable = match (header.version, header.kind) {
        (Version::V1_0, _) => false,
        (_, MessageType::Request | MessageType::Reply) => true,
        (Version::V1_2, MessageType::LocateRequest | MessageType::LocateReply) => true,
        _ => false,
    };
    let max_len = if fragmentable && !header.more_fragments { max_len.max(32) } else { usize::MAX };
    let id = body.first_chunk().copied().unwrap_or_default();
    Pieces { header: *header, rest: Some(body), id, max_len }
}

/// Cuts a finished message into pieces and appends them to `output`.
pub fn split_into(header: &MessageHeader, message: &[u8], max_len: usize, output: &mut Vec<u8>) {
    for piece in split(header, message, max_len) {
        output.extend_from_slice(piece.header());
        output.extend_from_slice(piece.data);
    }
}

/// The pieces of a message.
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    /// The header of the next piece, but for its size.
    header: MessageHeader,
    rest: Option<&'a [u8]>,
    id: [u8; ID_LEN],
    max_len: usize,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let rest = self.rest.take()?;
        let with_id = self.header.kind == MessageType::Fragment && self.header.version == Version::V1_2;
        let header_len = if with_id { HEADER_LEN + ID_LEN } else { HEADER_LEN };
        // All pieces but the last: a multiple of 8, or 4 more than one in GIOP 1.1.
        let residue = if self.header.version == Version::V1_2 { 0 } else { 4 };
        let (data, later) = match header_len.saturating_add(rest.len()) > self.max_len {
            true => rest.split_at(((self.max_len - residue) & !7) + residue - header_len),
            false => (rest, &[][..]),
        };
        let more_fragments = !later.is_empty() || self.header.more_fragments && self.max_len == usize::MAX;
        let size = (header_len - HEADER_LEN + data.len()) as u32;
        let mut header = [0; HEADER_LEN + ID_LEN];
        header[..HEADER_LEN]
            .copy_from_slice(&MessageHeader { more_fragments, size, ..self.header }.to_octets());
        header[HEADER_LEN..].copy_from_slice(&self.id);
        self.header.kind = MessageType::Fragment;
        self.rest = Some(later).filter(|later| !later.is_empty());
        Some(Piece { header, header_len, data })
    }
}

/// What may be kept of messages that are not complete yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentLimits {
    /// The octets of one message, put together.
    pub max_message: usize,
    /// The octets of all messages being put together on one connection.
    pub max_total: usize,
    /// Messages being put together at a time, but for those that [somebody waits for](Assembler::accept_awaited).
    pub max_messages: usize,
}

impl Default for FragmentLimits {
    /// 64 MiB each, 128 MiB together, 16 messages.
    fn default() -> Self {
        Self { max_message: 64 << 20, max_total: 128 << 20, max_messages: 16 }
    }
}

/// Why a message in pieces cannot be put together. Where the next message starts is known, but what was lost is not:
/// the answer is MessageError, then the connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FragmentError {
    /// A fragment of a message that has not begun.
    #[error("fragment of an unknown message")]
    Unexpected,
    /// Another message in fragments under the same request id, or any other one in GIOP 1.1.
    #[error("a message in fragments begins before the one before it has ended")]
    Overlapping,
    /// A fragment in another byte order or version than its message.
    #[error("fragment differs from its message in byte order or version")]
    Mismatch,
    /// Too short for a request id.
    #[error("fragment without a request id")]
    NoRequestId,
    /// More octets than the limits allow.
    #[error("message in fragments is over the limit")]
    TooLarge,
    /// More messages than the limits allow.
    #[error("too many messages in fragments at a time")]
    TooMany,
}

/// What a message turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assembled {
    /// Complete in itself.
    Whole,
    /// Kept until the rest arrives.
    Partial,
    /// The end of this message, put together, with a header that says so.
    Complete(MessageHeader, Vec<u8>),
}

/// Who waits for a message that comes in fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Somebody.
    Yes,
    /// Nobody that is known of.
    No,
    /// Nobody any more: what comes of it is dropped.
    NoLonger,
}

/// Room kept for the end of a message, in octets.
const SLACK: usize = 1024;

/// Messages whose ends are missing, whoever waits for them: for each piece all are looked through.
const MOST_AWAITED: usize = 1024;

/// A message of which the end is missing.
#[derive(Clone, Debug)]
struct Pending {
    /// `None` in GIOP 1.1.
    id: Option<u32>,
    header: MessageHeader,
    /// With the header of the first piece.
    octets: Vec<u8>,
    /// Nobody waits for it any more; what still arrives is dropped.
    discarded: bool,
}

impl Pending {
    /// The request id, as far as has arrived.
    fn request_id(&self) -> Option<u32> {
        self.id.or_else(|| read_id(&self.header, &self.octets).ok())
    }
}

/// In GIOP 1.1, where the request id stands behind the service contexts. Not behind more of them than anybody sends: each
/// of a stranger's CancelRequests would have us go through all.
fn read_id(header: &MessageHeader, octets: &[u8]) -> Result<u32, DecodeError> {
    let octets = &octets[..octets.len().min(LOOKED_AT)];
    let mut r = Reader::starting_at(octets, header.order, HEADER_LEN);
    ServiceContexts::read(&mut r, octets)?;
    r.read_u32()
}

/// Puts messages in fragments together, for one direction of one connection.
#[derive(Clone, Debug, Default)]
pub struct Assembler {
    pending: Vec<Pending>,
    total: usize,
    limits: FragmentLimits,
}

impl Assembler {
    /// An assembler with these limits.
    pub const fn new(limits: FragmentLimits) -> Self {
        Self { pending: Vec::new(), total: 0, limits }
    }

    /// Octets kept at present.
    pub const fn pending_octets(&self) -> usize {
        self.total
    }

    /// Whether messages have begun whose ends are to come, also of those that are dropped.
    pub const fn is_assembling(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Takes a message as it arrived, header included.
    #[inline]
    pub fn accept(&mut self, header: &MessageHeader, message: &[u8]) -> Result<Assembled, FragmentError> {
        self.accept_awaited(header, message, |_| Awaited::No)
    }

    /// As [`accept`](Self::accept), where those messages alone count among the [most](FragmentLimits::max_messages) that nobody
    /// waits for, by their request ids: a peer may answer many requests at a time. There may be 1024 in all.
    #[inline]
    pub fn accept_awaited(
        &mut self,
        header: &MessageHeader,
        message: &[u8],
        awaited: impl Fn(u32) -> Awaited,
    ) -> Result<Assembled, FragmentError> {
        match header.kind {
            MessageType::Fragment => self.append(header, message),
            MessageType::CancelRequest if !self.pending.is_empty() => {
                self.cancel(header, message);
                Ok(Assembled::Whole)
            }
            _ if header.more_fragments => self.begin(header, message, &awaited),
            _ => Ok(Assembled::Whole),
        }
    }

    /// Drops what has arrived of a message and what still will, for instance a reply nobody waits for any more.
    pub fn discard(&mut self, request_id: u32) {
        self.forget(|id| if id == request_id { Awaited::NoLonger } else { Awaited::Yes });
    }

    /// [Discards](Self::discard) all messages that nobody waits for any more.
    pub fn forget(&mut self, awaited: impl Fn(u32) -> Awaited) {
        for pending in self.pending.iter_mut().filter(|pending| !pending.discarded) {
            if pending.request_id().map(&awaited) == Some(Awaited::NoLonger) {
                self.total -= pending.octets.len();
                pending.octets = Vec::new();
                pending.discarded = true;
            }
        }
    }

    /// A client that cancels a request in the middle sends no more of it (section 9.4.4).
    fn cancel(&mut self, header: &MessageHeader, message: &[u8]) {
        let Ok(id) = header.body(message).read_u32() else { return };
        if let Some(at) = self.pending.iter().position(|pending| pending.request_id() == Some(id)) {
            self.total -= self.pending.swap_remove(at).octets.len();
        }
    }

    #[cold]
    fn begin(
        &mut self,
        header: &MessageHeader,
        message: &[u8],
        awaited: &dyn Fn(u32) -> Awaited,
    ) -> Result<Assembled, FragmentError> {
        let id = request_id(header, message)?;
        if self.pending.iter().any(|pending| pending.id == id) {
            return Err(FragmentError::Overlapping);
        }
        let this = id.or_else(|| read_id(header, message).ok()).map_or(Awaited::No, awaited);
        let (count, limit) = (self.pending.len(), self.limits.max_messages);
        let too_many = || self.unawaited(awaited) + usize::from(this == Awaited::No) > limit;
        if count >= MOST_AWAITED.max(limit) || count >= limit && too_many() {
            return Err(FragmentError::TooMany);
        }
        let discarded = this == Awaited::NoLonger;
        let mut octets = Vec::new();
        if !discarded {
            self.check_room(0, message.len())?;
            self.total += message.len();
            octets.extend_from_slice(message);
        }
        self.pending.push(Pending { id, header: *header, octets, discarded });
        Ok(Assembled::Partial)
    }

    /// How many messages are kept that nobody waits for.
    fn unawaited(&self, awaited: &dyn Fn(u32) -> Awaited) -> usize {
        let kept = self.pending.iter().filter(|pending| !pending.discarded);
        kept.filter(|pending| pending.request_id().map_or(Awaited::No, awaited) == Awaited::No).count()
    }

    fn check_room(&self, so_far: usize, more: usize) -> Result<(), FragmentError> {
        let fits = so_far + more <= self.limits.max_message && self.total + more <= self.limits.max_total;
        // The size must fit a header again.
        let fits = fits && so_far + more <= u32::MAX as usize;
        if fits { Ok(()) } else { Err(FragmentError::TooLarge) }
    }

    #[cold]
    fn append(&mut self, header: &MessageHeader, message: &[u8]) -> Result<Assembled, FragmentError> {
        let id = request_id(header, message)?;
        let skip = if id.is_some() { HEADER_LEN + ID_LEN } else { HEADER_LEN };
        let data = message.get(skip..).unwrap_or_default();
        let at = self.pending.iter().position(|pending| pending.id == id).ok_or(FragmentError::Unexpected)?;
        let pending = &self.pending[at];
        if pending.header.order != header.order || pending.header.version != header.version {
            return Err(FragmentError::Mismatch);
        }
        if !pending.discarded {
            self.check_room(pending.octets.len(), data.len())?;
            let octets = &mut self.pending[at].octets;
            // What follows a long piece may be a few octets: growing for them would copy it all.
            octets.reserve(data.len() + if header.more_fragments { SLACK.min(data.len()) } else { 0 });
            octets.extend_from_slice(data);
            self.total += data.len();
        }
        if header.more_fragments {
            return Ok(Assembled::Partial);
        }
        let Pending { header, mut octets, discarded, .. } = self.pending.swap_remove(at);
        if discarded {
            return Ok(Assembled::Partial);
        }
        self.total -= octets.len();
        let size = (octets.len() - HEADER_LEN) as u32;
        let header = MessageHeader { more_fragments: false, size, ..header };
        octets[..HEADER_LEN].copy_from_slice(&header.to_octets());
        Ok(Assembled::Complete(header, octets))
    }
}

/// The request id that tells interleaved messages apart, first in the body of all that can be fragmented since 1.2.
fn request_id(header: &MessageHeader, message: &[u8]) -> Result<Option<u32>, FragmentError> {
    match header.version {
        Version::V1_2 => header.body(message).read_u32().map(Some).map_err(|_| FragmentError::NoRequestId),
        _ => Ok(None),
    }
}
