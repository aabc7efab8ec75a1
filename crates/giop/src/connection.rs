//! The receiving side of a connection, without the socket: octets in, messages out.
//!
//! Octets are received into a chunk of memory. A whole message leaves as a [`Frame`], a counted view of the chunk, so
//! that one thread can work on it while another receives what follows. As long as one message is worked on at a time,
//! one chunk is used over and over, and nothing is allocated or copied.

use std::ops::Deref;
use std::sync::Arc;

use thiserror::Error;
use throughline_cdr::DecodeError;

use crate::fragment::{Assembled, Assembler, Awaited, FragmentError, FragmentLimits};
use crate::header::{HEADER_LEN, HeaderError, MessageHeader, MessageType, Version};

/// Octets in a chunk when no message needs more.
const CHUNK_LEN: usize = 16 * 1024;
/// Memory that a message gets before its octets arrive; beyond that, only as much again as has arrived.
const ADVANCE: usize = 96 * 1024;
/// Memory that an idle connection may keep after a large message.
const KEEP_LEN: usize = 512 * 1024;
/// More than that is kept until so many fillings of it in a row have used less than half.
const PATIENCE: u32 = 8;
/// The least room to receive into when nothing is known of the next message.
const LEAST_ROOM: usize = 1024;
/// Chunks that one connection keeps for reuse.
const SPARE_CHUNKS: usize = 2;

type Chunk = Vec<u8>;

/// A whole message, header included: a view of the memory it was received into.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The message's header.
    pub header: MessageHeader,
    chunk: Arc<Chunk>,
    start: usize,
    end: usize,
}

impl Deref for Frame {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.chunk[self.start..self.end]
    }
}

/// Cuts a stream of octets into messages, in place.
///
/// The caller receives into [`space`](Self::space), reports how much with [`filled`](Self::filled), and takes messages
/// with [`next`](Self::next) until there are no more.
#[derive(Debug)]
pub struct FrameReader {
    chunk: Arc<Chunk>,
    start: usize,
    end: usize,
    spare: Vec<Arc<Chunk>>,
    /// How often in a row most of a chunk longer than [`KEEP_LEN`] was not needed.
    unneeded: u32,
    /// The most octets in a message, after its header.
    max_size: usize,
}

impl FrameReader {
    /// A reader that refuses messages of more than `max_message` octets, header included.
    pub fn new(max_message: usize) -> Self {
        let max_size = max_message.saturating_sub(HEADER_LEN);
        Self { chunk: new_chunk(CHUNK_LEN), start: 0, end: 0, spare: Vec::new(), unneeded: 0, max_size }
    }

    /// Octets received, but not taken as messages yet.
    pub fn waiting(&self) -> &[u8] {
        &self.chunk[self.start..self.end]
    }

    #[inline]
    fn header(&self) -> Result<Option<MessageHeader>, HeaderError> {
        let octets = self.waiting().first_chunk();
        octets.map(|octets| MessageHeader::parse(octets, self.max_size)).transpose()
    }

    /// Whether a message, or something that is none, can be taken.
    #[inline]
    pub fn has_message(&self) -> bool {
        match self.header() {
            Ok(Some(header)) => self.end - self.start >= header.message_len(),
            Ok(None) => false,
            Err(_) => true,
        }
    }

    /// How many more octets the message in progress needs; 0 if it is complete or wrong, or as long as its header,
    /// which tells, is incomplete.
    #[inline]
    pub fn missing(&self) -> usize {
        match self.header() {
            Ok(Some(header)) => header.message_len().saturating_sub(self.end - self.start),
            _ => 0,
        }
    }

    /// Room to receive into, never empty. It holds the rest of the message in progress if that is not much more than
    /// what has been received of it: memory grows with what a peer sends, not with what it announces.
    pub fn space(&mut self) -> &mut [u8] {
        self.make_room();
        let end = self.end;
        // make_room leaves a chunk that nobody else holds.
        Arc::get_mut(&mut self.chunk).map_or(&mut [], |chunk| &mut chunk[end..])
    }

    fn make_room(&mut self) {
        let have = self.end - self.start;
        let missing = self.missing();
        // As long as the next message is unknown, there should be room for a small one: a receive call each for the last
        // few octets of a chunk and for what comes after them would cost more than moving what waits.
        let wanted = if missing == 0 { LEAST_ROOM } else { missing.min(ADVANCE.max(have)) };
        let needed = have + wanted;
        if have == 0 && self.chunk.len() > KEEP_LEN {
            self.unneeded = if self.end < self.chunk.len() / 2 { self.unneeded + 1 } else { 0 };
            if self.unneeded >= PATIENCE {
                self.release();
            }
        }
        let Some(chunk) = Arc::get_mut(&mut self.chunk) else { return self.change_chunk(needed) };
        if have == 0 {
            (self.start, self.end) = (0, 0);
        }
        // Moving pays if there is no room, or if it aligns a message of which most is still to come.
        let crowded = chunk.len() - self.start < needed || self.end == chunk.len();
        let misaligned = !self.start.is_multiple_of(8) && have <= missing;
        if chunk.len() < needed {
            self.change_chunk(needed);
        } else if crowded || misaligned {
            chunk.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, have);
        }
    }

    /// Gives back the memory that only large messages, or many at a time, need: to be called when nothing more is
    /// expected for a while.
    pub fn release(&mut self) {
        self.unneeded = 0;
        self.spare.clear();
        if self.start == self.end && self.chunk.len() > CHUNK_LEN {
            self.chunk = new_chunk(CHUNK_LEN);
            (self.start, self.end) = (0, 0);
        }
    }

    /// Moves what waits to the front of another chunk with room for `needed` octets in all.
    fn change_chunk(&mut self, needed: usize) {
        let reusable = |chunk: &mut Arc<Chunk>| chunk.len() >= needed && Arc::get_mut(chunk).is_some();
        let mut next = match self.spare.iter_mut().position(reusable) {
            Some(index) => self.spare.swap_remove(index),
            None => new_chunk(needed.next_multiple_of(CHUNK_LEN)),
        };
        let have = self.end - self.start;
        if let Some(chunk) = Arc::get_mut(&mut next) {
            chunk[..have].copy_from_slice(&self.chunk[self.start..self.end]);
        }
        let old = std::mem::replace(&mut self.chunk, next);
        if self.spare.len() < SPARE_CHUNKS && old.len() <= KEEP_LEN {
            self.spare.push(old);
        }
        (self.start, self.end) = (0, have);
    }

    /// Says that the first `count` octets of [`space`](Self::space) have been received.
    pub fn filled(&mut self, count: usize) {
        debug_assert!(count <= self.chunk.len() - self.end);
        self.end = (self.end + count).min(self.chunk.len());
    }

    /// Takes the next message, if all of it is there.
    #[expect(clippy::should_implement_trait, reason = "an error does not end what an iterator would")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<Frame>, HeaderError> {
        let Some(header) = self.header()? else { return Ok(None) };
        let (start, end) = (self.start, self.start + header.message_len());
        if end > self.end {
            return Ok(None);
        }
        self.start = end;
        Ok(Some(Frame { header, chunk: Arc::clone(&self.chunk), start, end }))
    }
}

fn new_chunk(len: usize) -> Arc<Chunk> {
    Arc::new(vec![0; len])
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

    /// The version of the MessageError: the lowest, which every peer understands; or, for a peer of a version that is none
    /// of ours, the highest that is (section 9.4.1).
    pub const fn answer_version(&self) -> Version {
        match self {
            Self::Header(HeaderError::UnsupportedVersion { .. }) => Version::V1_2,
            _ => Version::V1_0,
        }
    }
}

/// Whole messages from a stream of octets: framing, reassembly, and who may send what.
#[derive(Debug)]
pub struct Incoming {
    frames: FrameReader,
    assembler: Assembler,
    role: Role,
}

impl Incoming {
    /// The receiving side of a new connection. No message may be larger than `limits.max_message`.
    pub fn new(role: Role, limits: FragmentLimits) -> Self {
        Self { frames: FrameReader::new(limits.max_message), assembler: Assembler::new(limits), role }
    }

    /// Room to receive into; see [`FrameReader::space`].
    pub fn space(&mut self) -> &mut [u8] {
        self.frames.space()
    }

    /// Says that the first `count` octets of [`space`](Self::space) have been received.
    pub fn filled(&mut self, count: usize) {
        self.frames.filled(count);
    }

    /// Gives back memory; see [`FrameReader::release`].
    pub fn release(&mut self) {
        self.frames.release();
    }

    /// How many more octets the message in progress needs; see [`FrameReader::missing`].
    #[inline]
    pub fn missing(&self) -> usize {
        self.frames.missing()
    }

    /// Whether a whole message, or something that is none, has been received and not been taken.
    #[inline]
    pub fn has_message(&self) -> bool {
        self.frames.has_message()
    }

    /// Octets that have been received and not been taken: of messages whose ends are missing, as a rule.
    #[inline]
    pub fn unfinished(&self) -> usize {
        self.frames.waiting().len() + self.assembler.pending_octets()
    }

    /// Whether fragments of a message have been taken, or dropped, and others are to come.
    pub fn is_assembling(&self) -> bool {
        self.assembler.is_assembling()
    }

    /// Whether a part of a message has been received, and the rest has not.
    pub fn has_partial(&self) -> bool {
        self.unfinished() > 0
    }

    /// Drops a message that nobody waits for any more; see [`Assembler::discard`].
    pub fn discard(&mut self, request_id: u32) {
        self.assembler.discard(request_id);
    }

    /// Drops all messages that nobody waits for any more; see [`Assembler::forget`].
    pub fn forget(&mut self, awaited: impl Fn(u32) -> Awaited) {
        self.assembler.forget(awaited);
    }

    /// Takes the next message, if all of it is there. After an error, nothing more can be taken that makes sense.
    #[expect(clippy::should_implement_trait, reason = "an error does not end what an iterator would")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<Frame>, ProtocolError> {
        self.next_awaited(|_| Awaited::No)
    }

    /// As [`next`](Self::next); see [`Assembler::accept_awaited`].
    #[inline]
    pub fn next_awaited(&mut self, awaited: impl Fn(u32) -> Awaited) -> Result<Option<Frame>, ProtocolError> {
        while let Some(frame) = self.frames.next()? {
            if !self.role.accepts(frame.header.kind, frame.header.version) {
                return Err(ProtocolError::WrongSide(frame.header.kind));
            }
            match self.assembler.accept_awaited(&frame.header, &frame, &awaited)? {
                Assembled::Whole => return Ok(Some(frame)),
                Assembled::Partial => {}
                Assembled::Complete(header, octets) => {
                    let (start, end) = (0, octets.len());
                    let chunk = Arc::new(octets);
                    return Ok(Some(Frame { header, chunk, start, end }));
                }
            }
        }
        Ok(None)
    }
}
