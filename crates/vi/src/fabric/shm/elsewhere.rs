//! Messages that stay in the sender's registered memory until the receiver has fetched them.

use super::{
    channel::Channel,
    frame::Head,
    hello::Control,
    remote::{MAX_MEMORIES, RemoteMemory},
    ring::{Consumer, Violation},
};
use crate::{
    Buffer, CompletionError,
    descriptor::{ReceiveDescriptor, SendDescriptor},
    memory::{FilePart, Memory, Spare, copy_out},
};
use std::{
    os::fd::AsFd,
    ptr::NonNull,
    sync::{Arc, Weak},
};

/// The most segments of a message that is fetched.
pub(crate) const MAX_SEGMENTS: usize = 16;
/// Bytes that describe one: memory (4), length (4), offset (8).
const SEGMENT: usize = 16;

/// Descriptions of such messages, out and in.
///
/// Memory 0 is the peer's own pools. The others are shown to it the first time a message is sent from them, and numbered
/// in this order.
pub(crate) struct Elsewhere {
    own: FilePart,
    out: Body,
    shown: Vec<Weak<Memory>>,
    remote: Vec<RemoteMemory>,
    spare: Spare,
}

/// The body of a frame that says where a message lies.
#[derive(Clone, Copy)]
pub(crate) struct Body {
    bytes: [u8; MAX_SEGMENTS * SEGMENT],
    len: usize,
}

/// A piece of the peer's memory.
#[derive(Clone, Copy)]
struct Segment {
    memory: u32,
    len: u32,
    offset: u64,
}

impl Elsewhere {
    pub(crate) fn new(own: &FilePart, spare: Spare) -> Self {
        let out = Body { bytes: [0; MAX_SEGMENTS * SEGMENT], len: 0 };
        Self { own: own.clone(), out, shown: Vec::new(), remote: Vec::new(), spare }
    }

    /// Describes a message that the peer can reach.
    pub(crate) fn describe(
        &mut self,
        descriptor: &SendDescriptor,
        channel: &Channel,
    ) -> Result<&[u8], CompletionError> {
        self.out.len = 0;
        for buffer in std::iter::once(&descriptor.buffer).chain(descriptor.more.iter()) {
            if !buffer.is_empty() {
                let segment = self.segment(buffer, channel).ok_or(CompletionError::Protection)?;
                self.out.push(segment).ok_or(CompletionError::TooLong)?;
            }
        }
        Ok(self.body())
    }

    /// The description made last.
    pub(crate) fn body(&self) -> &[u8] {
        &self.out.bytes[..self.out.len]
    }

    fn segment(&mut self, buffer: &Buffer, channel: &Channel) -> Option<Segment> {
        let part = buffer.memory().file()?;
        let len = buffer.len() as u32;
        if Arc::ptr_eq(&part.file, &self.own.file) {
            let offset = part.offset - self.own.offset + buffer.offset();
            return Some(Segment { memory: 0, len, offset });
        }
        let memory = self.number(buffer.memory(), part, channel)?;
        Some(Segment { memory, len, offset: buffer.offset() })
    }

    /// The number under which the peer knows this memory; it is shown now if it was not before.
    fn number(&mut self, memory: &Arc<Memory>, part: &FilePart, channel: &Channel) -> Option<u32> {
        let known = self.shown.iter().position(|shown| std::ptr::eq(shown.as_ptr(), Arc::as_ptr(memory)));
        if let Some(at) = known {
            return Some(at as u32 + 1);
        }
        if self.shown.len() == MAX_MEMORIES {
            return None;
        }
        let what = Control::Memory { offset: part.offset, len: memory.size() };
        channel.say(what, Some(part.file.as_fd())).ok()?;
        self.shown.push(Arc::downgrade(memory));
        Some(self.shown.len() as u32)
    }

    /// The description in a frame, copied: nobody changes it any more.
    pub(crate) fn read_body(&self, consumer: &Consumer, head: Head) -> Result<Body, Violation> {
        let len = head.len as usize;
        let mut body = Body { bytes: [0; MAX_SEGMENTS * SEGMENT], len };
        if len == 0 || len > body.bytes.len() || !len.is_multiple_of(SEGMENT) {
            return Err(Violation);
        }
        consumer.copy(head, 0, &mut body.bytes[..len]);
        Ok(body)
    }

    /// Fetches a message; its length, or `None` if the descriptor has no room for it.
    pub(crate) fn fetch(
        &mut self,
        body: Body,
        channel: &Channel,
        into: &mut ReceiveDescriptor,
    ) -> Result<Option<usize>, Violation> {
        let len = body.message_len();
        if len > into.capacity() as u64 && !self.enlarge(body, channel, into)? {
            return Ok(None);
        }
        into.set_len(len as usize);
        let mut places = std::iter::once(&mut into.buffer).chain(into.more.iter_mut());
        let mut place: &mut [u8] = &mut [];
        for segment in body.segments() {
            let from = self.source(segment, channel).ok_or(Violation)?;
            let mut done = 0;
            while done < segment.len as usize {
                if place.is_empty() {
                    place = places.next().ok_or(Violation)?;
                    continue;
                }
                let part = place.len().min(segment.len as usize - done);
                let (now, rest) = place.split_at_mut(part);
                // SAFETY: `from` is good for `segment.len` bytes, of which `done` are behind us. The memory is the peer's.
                unsafe { copy_out(from.add(done), now) };
                (place, done) = (rest, done + part);
            }
        }
        Ok(Some(len as usize))
    }

    /// Gives the descriptor a buffer that the message fits into, if there is one. The message exists: nothing is made for one
    /// that the peer has no memory for.
    fn enlarge(
        &mut self,
        body: Body,
        channel: &Channel,
        into: &mut ReceiveDescriptor,
    ) -> Result<bool, Violation> {
        let Ok(len) = usize::try_from(body.message_len()) else { return Ok(false) };
        if !self.spare.suits(len, into) {
            return Ok(false);
        }
        for segment in body.segments() {
            self.source(segment, channel).ok_or(Violation)?;
        }
        Ok(self.spare.make_room(len, into))
    }

    /// Where a message lies that need not be fetched, and its length, if it lies in one piece and would be taken. The descriptor
    /// has room for it all the same, if it is to have.
    pub(crate) fn lend(
        &mut self,
        body: Body,
        channel: &Channel,
        (into, room): (&mut ReceiveDescriptor, bool),
    ) -> Result<Option<(NonNull<u8>, usize)>, Violation> {
        let mut segments = body.segments();
        let (Some(segment), None) = (segments.next(), segments.next()) else { return Ok(None) };
        let len = segment.len as usize;
        if len == 0 || len > into.capacity().max(self.spare.limit()) {
            return Ok(None);
        }
        if room && len > into.capacity() && !self.enlarge(body, channel, into)? {
            return Ok(None);
        }
        let place = self.source(segment, channel).ok_or(Violation)?;
        Ok(Some((place, len)))
    }

    /// Where the segment lies, if the peer may say so.
    fn source(&mut self, segment: Segment, channel: &Channel) -> Option<NonNull<u8>> {
        let len = segment.len as usize;
        let Some(number) = segment.memory.checked_sub(1) else {
            return channel.peer.pool_part(segment.offset, len);
        };
        let number = number as usize;
        if number >= self.remote.len() {
            self.remote = channel
                .look_up(|remote| (number < remote.memories.len()).then(|| remote.memories.clone()))?;
        }
        self.remote[number].part(segment.offset, len)
    }
}

impl Body {
    fn push(&mut self, segment: Segment) -> Option<()> {
        let place = self.bytes.get_mut(self.len..self.len + SEGMENT)?;
        place[..4].copy_from_slice(&segment.memory.to_le_bytes());
        place[4..8].copy_from_slice(&segment.len.to_le_bytes());
        place[8..].copy_from_slice(&segment.offset.to_le_bytes());
        self.len += SEGMENT;
        Some(())
    }

    fn message_len(&self) -> u64 {
        self.segments().map(|segment| u64::from(segment.len)).sum()
    }

    fn segments(&self) -> impl Iterator<Item = Segment> {
        self.bytes[..self.len].chunks_exact(SEGMENT).map(|bytes| {
            let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
            let offset = u64::from(word(8)) | u64::from(word(12)) << 32;
            Segment { memory: word(0), len: word(4), offset }
        })
    }
}
