//! Received bytes, cut into GIOP messages where they lie.
//!
//! Bytes arrive in a [`Chunk`]. A complete message leaves as a [`Frame`], a counted view of the chunk, so
//! that a thread can work on it while another receives the next bytes. As long as one message is worked on at
//! a time, one chunk is used over and over and nothing is allocated.

use std::ops::Deref;
use std::sync::Arc;

use throughline_giop::header::{HEADER_LEN, HeaderError, MessageHeader};

/// What a chunk holds when no message is larger, in bytes: two pages, a hundred pipelined small calls.
const CHUNK_LEN: usize = 16 * 1024;
/// A message that announces more than this gets memory only as its bytes arrive.
const GROW_STEP: usize = 256 * 1024;
/// Chunks kept for reuse by one connection.
const SPARE_CHUNKS: usize = 2;

type Chunk = Box<[u8]>;

/// One complete message, header included, somewhere in a received chunk.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    chunk: Arc<Chunk>,
    start: usize,
    end: usize,
}

impl Frame {
    /// A frame of its own memory (a message put together from fragments).
    pub(crate) fn from_vec(bytes: Vec<u8>) -> Self {
        let end = bytes.len();
        Self { chunk: Arc::new(bytes.into_boxed_slice()), start: 0, end }
    }
}

impl Deref for Frame {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.chunk[self.start..self.end]
    }
}

/// The receiving side of one connection.
#[derive(Debug)]
pub(crate) struct Inbox {
    chunk: Arc<Chunk>,
    start: usize,
    end: usize,
    spare: Vec<Arc<Chunk>>,
    max_message: usize,
}

impl Inbox {
    /// `max_message`: the largest message accepted, header included, in bytes.
    pub(crate) fn new(max_message: usize) -> Self {
        Self { chunk: new_chunk(CHUNK_LEN), start: 0, end: 0, spare: Vec::new(), max_message }
    }

    /// The next complete message, or none when more bytes are needed.
    ///
    /// # Errors
    /// When what stands there cannot be the start of an acceptable message.
    pub(crate) fn next(&mut self) -> Result<Option<(MessageHeader, Frame)>, HeaderError> {
        let Some(header) = self.header()? else { return Ok(None) };
        let total = HEADER_LEN + header.size as usize;
        if self.end - self.start < total {
            return Ok(None);
        }
        let frame = Frame { chunk: Arc::clone(&self.chunk), start: self.start, end: self.start + total };
        self.start += total;
        Ok(Some((header, frame)))
    }

    fn header(&self) -> Result<Option<MessageHeader>, HeaderError> {
        let waiting = &self.chunk[self.start..self.end];
        let Some(bytes) = waiting.first_chunk::<HEADER_LEN>() else { return Ok(None) };
        MessageHeader::parse(bytes, self.max_message.saturating_sub(HEADER_LEN)).map(Some)
    }

    /// Whether a part of a message has been received.
    pub(crate) fn has_partial(&self) -> bool {
        self.start < self.end
    }

    /// Whether a whole message (or a bad one) waits.
    pub(crate) fn has_message(&self) -> bool {
        match self.header() {
            Ok(Some(header)) => self.end - self.start >= HEADER_LEN + header.size as usize,
            Ok(None) => false,
            Err(_) => true,
        }
    }

    /// How many more bytes the message in progress needs, 0 when its length is not known yet.
    pub(crate) fn missing(&self) -> usize {
        match self.header() {
            Ok(Some(header)) => (HEADER_LEN + header.size as usize).saturating_sub(self.end - self.start),
            _ => 0,
        }
    }

    /// Room for the next bytes: at least one byte, and the rest of the message in progress as far as memory in
    /// proportion to what has been received allows.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        self.make_room();
        let (end, chunk) = (self.end, Arc::get_mut(&mut self.chunk));
        // make_room leaves a chunk that nobody else holds.
        chunk.map_or(&mut [], |c| &mut c[end..])
    }

    /// Says that `received` bytes were written to the front of [`space`](Self::space).
    pub(crate) fn filled(&mut self, received: usize) {
        self.end = (self.end + received).min(self.chunk.len());
    }

    fn make_room(&mut self) {
        let waiting = self.end - self.start;
        let needed = waiting + self.missing().clamp(1, GROW_STEP.max(waiting));
        if waiting == 0 && self.chunk.len() > 2 * GROW_STEP {
            // One huge message must not pin its memory for the life of the connection.
            self.change_chunk(CHUNK_LEN);
        }
        let unique = Arc::get_mut(&mut self.chunk).is_some();
        if waiting == 0 && unique {
            (self.start, self.end) = (0, 0);
        }
        let fits = self.chunk.len() - self.start >= needed && self.end < self.chunk.len();
        if unique && fits {
            return;
        }
        if unique && self.chunk.len() >= needed && self.start > 0 {
            if let Some(chunk) = Arc::get_mut(&mut self.chunk) {
                chunk.copy_within(self.start..self.end, 0);
            }
        } else {
            self.change_chunk(needed);
        }
        (self.start, self.end) = (0, waiting);
    }

    /// Moves the waiting bytes to another chunk with room for `needed` bytes in all.
    fn change_chunk(&mut self, needed: usize) {
        let reusable = |chunk: &mut Arc<Chunk>| chunk.len() >= needed && Arc::get_mut(chunk).is_some();
        let mut next = match self.spare.iter_mut().position(reusable) {
            Some(index) => self.spare.swap_remove(index),
            None => new_chunk(needed.max(CHUNK_LEN).next_power_of_two()),
        };
        if let Some(chunk) = Arc::get_mut(&mut next) {
            chunk[..self.end - self.start].copy_from_slice(&self.chunk[self.start..self.end]);
        }
        let old = std::mem::replace(&mut self.chunk, next);
        if self.spare.len() < SPARE_CHUNKS && old.len() <= GROW_STEP * 2 {
            self.spare.push(old);
        }
    }
}

fn new_chunk(len: usize) -> Arc<Chunk> {
    Arc::new(vec![0; len].into_boxed_slice())
}
