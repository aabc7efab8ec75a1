//! Messages that stay in the sender's registered memory until the receiver has fetched them.

use super::{
    channel::Side,
    frame::Head,
    ring::{Consumer, Violation},
};
use crate::{
    Buffer,
    descriptor::{ReceiveDescriptor, SendDescriptor},
    memory::{FilePart, copy_out},
};
use std::sync::Arc;

/// The most segments of a message that is fetched.
pub(crate) const MAX_SEGMENTS: usize = 16;
/// Bytes that describe one: memory (4), length (4), offset (8).
const SEGMENT: usize = 16;

/// Descriptions of such messages, out and in.
pub(crate) struct Elsewhere {
    own: FilePart,
    out: Body,
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
    pub(crate) fn new(own: &FilePart) -> Self {
        Self { own: own.clone(), out: Body { bytes: [0; MAX_SEGMENTS * SEGMENT], len: 0 } }
    }

    /// Describes a message, if the peer can reach it.
    pub(crate) fn describe(&mut self, descriptor: &SendDescriptor) -> Option<&[u8]> {
        self.out.len = 0;
        for buffer in std::iter::once(&descriptor.buffer).chain(&descriptor.more) {
            let segment = self.segment(buffer)?;
            self.out.push(segment)?;
        }
        Some(self.body())
    }

    /// The description made last.
    pub(crate) fn body(&self) -> &[u8] {
        &self.out.bytes[..self.out.len]
    }

    fn segment(&self, buffer: &Buffer) -> Option<Segment> {
        let part = buffer.memory().file()?;
        if !Arc::ptr_eq(&part.file, &self.own.file) {
            return None;
        }
        let offset = part.offset - self.own.offset + buffer.offset();
        Some(Segment { memory: 0, len: buffer.len() as u32, offset })
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
        &self,
        body: Body,
        peer: &Side,
        into: &mut ReceiveDescriptor,
    ) -> Result<Option<usize>, Violation> {
        let len: u64 = body.segments().map(|segment| u64::from(segment.len)).sum();
        if len > into.capacity() as u64 {
            return Ok(None);
        }
        into.set_len(len as usize);
        let mut places = std::iter::once(&mut into.buffer).chain(&mut into.more);
        let mut place: &mut [u8] = &mut [];
        for segment in body.segments() {
            if segment.memory != 0 {
                return Err(Violation);
            }
            let from = peer.pool_part(segment.offset, segment.len as usize).ok_or(Violation)?;
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

    fn segments(&self) -> impl Iterator<Item = Segment> {
        self.bytes[..self.len].chunks_exact(SEGMENT).map(|bytes| {
            let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
            let offset = u64::from(word(8)) | u64::from(word(12)) << 32;
            Segment { memory: word(0), len: word(4), offset }
        })
    }
}
