//! Descriptors, which say what a VI is to do, and completions, which say what came of it.

use crate::{Buffer, CompletionError, memory::MemoryHandle};
use std::ops::{Deref, DerefMut};

/// A place in another process's memory, for remote DMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteAddress {
    /// The memory, as its owner told.
    pub handle: MemoryHandle,
    /// Bytes from its beginning.
    pub offset: u64,
}

/// What a descriptor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Sends a message.
    Send,
    /// Takes a message.
    Receive,
    /// Writes into remote memory.
    Write(RemoteAddress),
    /// Reads remote memory.
    Read(RemoteAddress),
}

/// Further buffers of a descriptor: mostly none, which costs nothing. Made from a `Vec`, and a slice of them.
#[derive(Debug, Default)]
pub struct Segments(Option<Box<[Buffer]>>);

impl Segments {
    pub(crate) const NONE: Self = Self(None);
}

impl From<Vec<Buffer>> for Segments {
    fn from(buffers: Vec<Buffer>) -> Self {
        Self(if buffers.is_empty() { None } else { Some(buffers.into_boxed_slice()) })
    }
}

impl From<Segments> for Vec<Buffer> {
    fn from(segments: Segments) -> Self {
        segments.0.map_or_else(Self::new, |buffers| buffers.into_vec())
    }
}

impl Deref for Segments {
    type Target = [Buffer];

    #[inline]
    fn deref(&self) -> &[Buffer] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl DerefMut for Segments {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Buffer] {
        self.0.as_deref_mut().unwrap_or_default()
    }
}

/// Work for the send queue: a message, or remote DMA.
#[derive(Debug)]
pub struct SendDescriptor {
    pub(crate) operation: Operation,
    pub(crate) immediate: Option<u32>,
    pub(crate) signaled: bool,
    pub(crate) buffer: Buffer,
    pub(crate) more: Segments,
}

impl SendDescriptor {
    /// A message: the buffer's bytes.
    #[inline]
    pub fn new(buffer: Buffer) -> Self {
        Self { operation: Operation::Send, immediate: None, signaled: true, buffer, more: Segments::NONE }
    }

    /// Remote DMA: the buffer's bytes are written there. The peer is told nothing, unless there is immediate data.
    pub fn write(buffer: Buffer, to: RemoteAddress) -> Self {
        Self { operation: Operation::Write(to), ..Self::new(buffer) }
    }

    /// Remote DMA: as many bytes as the buffer is long are read from there. The peer is told nothing.
    pub fn read(buffer: Buffer, from: RemoteAddress) -> Self {
        Self { operation: Operation::Read(from), ..Self::new(buffer) }
    }

    /// Further segments, which follow the first: gathered from for sends and writes, scattered to for reads.
    #[must_use]
    pub fn segments(mut self, more: impl Into<Segments>) -> Self {
        self.more = more.into();
        self
    }

    /// Four bytes that come with the receiver's completion. With a remote write they make it take a receive descriptor.
    #[must_use]
    pub fn immediate(mut self, data: u32) -> Self {
        self.immediate = Some(data);
        self
    }

    /// No completion if all goes well: buffers of the VI's own pool return to it, others to their regions.
    #[must_use]
    #[inline]
    pub fn unsignaled(mut self) -> Self {
        self.signaled = false;
        self
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.buffer.len() + self.more.iter().map(|buffer| buffer.len()).sum::<usize>()
    }

    #[inline]
    pub(crate) fn completed(self, result: Result<usize, CompletionError>) -> Completion {
        let Self { operation, buffer, more, .. } = self;
        Completion { operation, result, immediate: None, buffer, more }
    }
}

impl From<Buffer> for SendDescriptor {
    #[inline]
    fn from(buffer: Buffer) -> Self {
        Self::new(buffer)
    }
}

/// Work for the receive queue: where the next message goes. The buffers' whole capacity counts.
#[derive(Debug)]
pub struct ReceiveDescriptor {
    pub(crate) buffer: Buffer,
    pub(crate) more: Segments,
}

impl ReceiveDescriptor {
    /// A message goes into this buffer.
    #[inline]
    pub fn new(mut buffer: Buffer) -> Self {
        buffer.set_full();
        Self { buffer, more: Segments::NONE }
    }

    /// Further segments, filled one after another once the first is full.
    #[must_use]
    pub fn segments(mut self, more: impl Into<Segments>) -> Self {
        self.more = more.into();
        self.more.iter_mut().for_each(Buffer::set_full);
        self
    }

    /// Room in bytes.
    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.buffer.capacity() + self.more.iter().map(Buffer::capacity).sum::<usize>()
    }

    /// Makes the buffers together as long as the message.
    #[inline]
    pub(crate) fn set_len(&mut self, len: usize) {
        let first = len.min(self.buffer.capacity());
        self.buffer.set_len(first);
        let mut rest = len - first;
        for buffer in self.more.iter_mut() {
            let part = rest.min(buffer.capacity());
            buffer.set_len(part);
            rest -= part;
        }
    }

    #[inline]
    pub(crate) fn completed(
        self,
        result: Result<usize, CompletionError>,
        immediate: Option<u32>,
    ) -> Completion {
        let Self { buffer, more } = self;
        Completion { operation: Operation::Receive, result, immediate, buffer, more }
    }
}

impl From<Buffer> for ReceiveDescriptor {
    #[inline]
    fn from(buffer: Buffer) -> Self {
        Self::new(buffer)
    }
}

/// What came of a descriptor, with its buffers.
#[derive(Debug)]
pub struct Completion {
    /// What it did.
    pub operation: Operation,
    /// How many bytes were moved, or why not.
    pub result: Result<usize, CompletionError>,
    /// Immediate data that came with a message.
    pub immediate: Option<u32>,
    /// The first segment; after a receive as long as what lies in it, after a failed one empty.
    pub buffer: Buffer,
    /// The other segments, likewise.
    pub more: Segments,
}
