//! The receiving side of a connection, without the socket: octets in, messages out.

use std::ops::Range;

use thiserror::Error;
use throughline_cdr::DecodeError;

use crate::fragment::{Assembled, Assembler, FragmentError, FragmentLimits};
use crate::header::{HEADER_LEN, HeaderError, MessageHeader, MessageType, Version};

/// Octets kept for receiving when no message needs more.
const INITIAL_LEN: usize = 16 * 1024;
/// Memory that a message gets before its octets arrive; beyond that, only as much again as has arrived.
const ADVANCE: usize = 64 * 1024;
/// Memory that an idle connection may keep after a large message.
const KEEP_LEN: usize = 512 * 1024;
/// The least room to receive into when nothing is known of the next message.
const LEAST_ROOM: usize = 1024;

/// Cuts a stream of octets into messages, in place.
///
/// The caller receives into [`space`](Self::space), reports how much with [`filled`](Self::filled), and takes messages
/// with [`next`](Self::next) until there are no more.
#[derive(Debug)]
pub struct FrameReader {
    /// As long as it is initialised memory; what was received is `start..end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The most octets in a message, after its header.
    max_size: usize,
}

/// A message where it was received.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Its header.
    pub header: MessageHeader,
    /// All of it, header included.
    pub octets: &'a [u8],
}

impl FrameReader {
    /// A reader that refuses messages of more than `max_message` octets, header included.
    pub fn new(max_message: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, end: 0, max_size: max_message.saturating_sub(HEADER_LEN) }
    }

    /// Octets received, but not taken as messages yet.
    pub fn waiting(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    fn header(&self) -> Result<Option<MessageHeader>, HeaderError> {
        let octets = self.waiting().first_chunk();
        octets.map(|octets| MessageHeader::parse(octets, self.max_size)).transpose()
    }

    /// How many more octets the message in progress needs: 0 if it is complete or wrong, and what its header lacks as
    /// long as that is incomplete.
    pub fn missing(&self) -> usize {
        match self.header() {
            Ok(Some(header)) => header.message_len().saturating_sub(self.end - self.start),
            Ok(None) => HEADER_LEN - (self.end - self.start),
            Err(_) => 0,
        }
    }

    /// Room to receive into, never empty. It holds the rest of the message in progress if that is not much more than
    /// what has been received of it: memory grows with what a peer sends, not with what it announces.
    pub fn space(&mut self) -> &mut [u8] {
        let have = self.end - self.start;
        let missing = self.missing();
        let wanted = missing.min(have.max(ADVANCE)).max(LEAST_ROOM);
        if have == 0 {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > KEEP_LEN {
                self.buffer = Vec::new();
            }
        }
        // Moving pays if there is no room, or if it aligns a message of which most is still to come.
        let crowded = self.buffer.len() - self.end < wanted;
        let misaligned = !self.start.is_multiple_of(8) && have <= missing;
        if self.start > 0 && (crowded || misaligned) {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, have);
        }
        if self.buffer.len() - self.end < wanted {
            self.buffer.resize((self.end + wanted).max(INITIAL_LEN), 0);
        }
        &mut self.buffer[self.end..]
    }

    /// Says that the first `count` octets of [`space`](Self::space) have been received.
    pub fn filled(&mut self, count: usize) {
        debug_assert!(count <= self.buffer.len() - self.end);
        self.end = (self.end + count).min(self.buffer.len());
    }

    /// Takes the next message, if all of it is there.
    #[expect(clippy::should_implement_trait, reason = "messages borrow from the reader")]
    pub fn next(&mut self) -> Result<Option<Frame<'_>>, HeaderError> {
        let taken = self.take()?;
        Ok(taken.map(|(header, range)| Frame { header, octets: &self.buffer[range] }))
    }

    #[inline]
    fn take(&mut self) -> Result<Option<(MessageHeader, Range<usize>)>, HeaderError> {
        let Some(header) = self.header()? else { return Ok(None) };
        let range = self.start..self.start + header.message_len();
        if range.end > self.end {
            return Ok(None);
        }
        self.start = range.end;
        Ok(Some((header, range)))
    }
}

/// Which messages a peer may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// We made the connection and send requests.
    Client,
    /// We accepted it and answer requests.
    Server,
    /// Both, by agreement (bidirectional GIOP).
    Both,
}

impl Role {
    /// Whether we accept a message of this kind (section 9.4.1). Before GIOP 1.2, only servers close a connection by
    /// message.
    pub const fn accepts(self, kind: MessageType, version: Version) -> bool {
        match kind {
            MessageType::Request | MessageType::CancelRequest | MessageType::LocateRequest => {
                !matches!(self, Self::Client)
            }
            MessageType::Reply | MessageType::LocateReply => !matches!(self, Self::Server),
            MessageType::CloseConnection => {
                !matches!((self, version), (Self::Server, Version::V1_0 | Version::V1_1))
            }
            MessageType::MessageError | MessageType::Fragment => true,
        }
    }
}

/// What to do about a peer that breaks the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Send MessageError, then close the connection.
    MessageErrorAndClose,
    /// Close the connection without a word.
    Close,
}

/// How a peer broke the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// By something that is no message.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// By fragments that fit no message.
    #[error(transparent)]
    Fragment(#[from] FragmentError),
    /// By a message that is the other side's to send.
    #[error("{0:?} is not for this side of a connection")]
    WrongSide(MessageType),
    /// By a message whose GIOP header makes sense, but not what follows.
    #[error("malformed message: {0}")]
    Malformed(#[from] DecodeError),
}

impl ProtocolError {
    /// What to do about it.
    pub const fn reaction(&self) -> Reaction {
        match self {
            // The peer wants to leave, with the wrong words.
            Self::WrongSide(MessageType::CloseConnection) => Reaction::Close,
            _ => Reaction::MessageErrorAndClose,
        }
    }
}

/// Whole messages from a stream of octets: framing, reassembly, and who may send what.
#[derive(Debug)]
pub struct Incoming {
    frames: FrameReader,
    assembler: Assembler,
    role: Role,
    /// The last message that was put together from fragments.
    assembled: Vec<u8>,
}

impl Incoming {
    /// The receiving side of a new connection. No message may be larger than `limits.max_message`.
    pub fn new(role: Role, limits: FragmentLimits) -> Self {
        Self {
            frames: FrameReader::new(limits.max_message),
            assembler: Assembler::new(limits),
            role,
            assembled: Vec::new(),
        }
    }

    /// Room to receive into; see [`FrameReader::space`].
    pub fn space(&mut self) -> &mut [u8] {
        self.frames.space()
    }

    /// Says that the first `count` octets of [`space`](Self::space) have been received.
    pub fn filled(&mut self, count: usize) {
        self.frames.filled(count);
    }

    /// How many more octets the message in progress needs; see [`FrameReader::missing`].
    pub fn missing(&self) -> usize {
        self.frames.missing()
    }

    /// Drops a message that nobody waits for any more; see [`Assembler::discard`].
    pub fn discard(&mut self, request_id: u32) {
        self.assembler.discard(request_id);
    }

    /// Takes the next message, if all of it is there. After an error, nothing more can be taken that makes sense.
    #[expect(clippy::should_implement_trait, reason = "messages borrow from the reader")]
    pub fn next(&mut self) -> Result<Option<Frame<'_>>, ProtocolError> {
        while let Some((header, range)) = self.frames.take()? {
            if !self.role.accepts(header.kind, header.version) {
                return Err(ProtocolError::WrongSide(header.kind));
            }
            match self.assembler.accept(&header, &self.frames.buffer[range.clone()])? {
                Assembled::Whole => return Ok(Some(Frame { header, octets: &self.frames.buffer[range] })),
                Assembled::Partial => {}
                Assembled::Complete(header, octets) => {
                    self.assembled = octets;
                    return Ok(Some(Frame { header, octets: &self.assembled }));
                }
            }
        }
        Ok(None)
    }
}
