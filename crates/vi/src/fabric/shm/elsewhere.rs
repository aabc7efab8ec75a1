//! Messages that stay in the sender's registered memory until the receiver has fetched them.

use super::{
    channel::{Channel, NotShown},
    frame::{FRONT, Head, Kind},
    hello::Control,
    remote::{self, MAX_MEMORIES, NUMBER_BITS, RemoteMemory},
    ring::{Consumer, Violation},
};
use crate::{
    Buffer, CompletionError,
    descriptor::{ReceiveDescriptor, SendDescriptor},
    memory::{FilePart, Mapping, Memory, Spare, copy_out},
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
/// Of a word that says where in which memory.
const OFFSET_BITS: u32 = 64 - NUMBER_BITS;

/// Descriptions of such messages, out and in.
///
/// Memory 0 is the peer's own pools. The others are shown to it the first time a message is sent from them, each in a place of its
/// own or that of one that is no more, and get the [next number](remote::next_number) of that place.
pub(crate) struct Elsewhere {
    own: FilePart,
    /// The peer is trusted, and trusts us, with lent memory.
    lends: bool,
    out: Body,
    shown: Vec<Shown>,
    remote: Vec<RemoteMemory>,
    /// Where the message received last lies, if it may still be looked at there,
    looked_at: Option<usize>,
    /// and what is mapped there, if the peer shows it no more.
    kept: Option<Arc<Mapping>>,
    spare: Spare,
}

/// A memory that the peer was shown.
struct Shown {
    memory: Weak<Memory>,
    number: u32,
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
    pub(crate) fn new(own: &FilePart, lends: bool, spare: Spare) -> Self {
        let out = Body { bytes: [0; MAX_SEGMENTS * SEGMENT], len: 0 };
        Self {
            own: own.clone(),
            lends,
            out,
            shown: Vec::new(),
            remote: Vec::new(),
            looked_at: None,
            kept: None,
            spare,
        }
    }

    /// Describes a message that the peer can reach.
    pub(crate) fn describe(
        &mut self,
        descriptor: &SendDescriptor,
        channel: &Channel,
    ) -> Result<&[u8], NotShown> {
        self.out.len = 0;
        for buffer in std::iter::once(&descriptor.buffer).chain(descriptor.more.iter()) {
            if !buffer.is_empty() {
                let segment = self.segment(buffer, channel)?;
                self.out.push(segment).ok_or(CompletionError::TooLong)?;
            }
        }
        Ok(self.body())
    }

    /// Where a buffer lies that is lent to the peer: the memory's number, and behind that the offset.
    #[inline]
    pub(crate) fn place_lent(&mut self, buffer: &Buffer, channel: &Channel) -> Option<u64> {
        let part = buffer.memory().file().filter(|part| self.lends && part.lent)?;
        let number = match self.number(buffer.memory(), part, channel) {
            Ok(number) => number,
            Err(_) => {
                channel.shows_no_more();
                return None;
            }
        };
        Some(u64::from(number) << OFFSET_BITS | buffer.offset())
    }

    /// Where the peer has a message that it lends. No such message is longer than what would be taken otherwise.
    #[inline]
    pub(crate) fn receive_lent(&mut self, place: u64, len: usize, channel: &Channel) -> Option<NonNull<u8>> {
        let segment = Segment::lent(place, len);
        if !self.lends || segment.memory == 0 || len == 0 || len > self.spare.limit() {
            return None;
        }
        let place = self.source(segment, channel)?;
        remote::numbered(&self.remote, segment.memory)?.is_lent().then_some(place)
    }

    /// Before a message is received: the one before lies at this address and may be looked at until the next has been received, and
    /// beside those that are kept.
    #[inline]
    pub(crate) fn leave_mapped(&mut self, looked_at: Option<usize>) {
        self.looked_at = looked_at;
    }

    /// Whether messages are lent, either way.
    pub(crate) fn lends(&self) -> bool {
        self.lends
    }

    /// The description made last.
    pub(crate) fn body(&self) -> &[u8] {
        &self.out.bytes[..self.out.len]
    }

    fn segment(&mut self, buffer: &Buffer, channel: &Channel) -> Result<Segment, NotShown> {
        let part = buffer.memory().file().filter(|part| self.lends || !part.lent);
        let part = part.ok_or(CompletionError::Protection)?;
        let len = buffer.len() as u32;
        if Arc::ptr_eq(&part.file, &self.own.file) {
            let offset = part.offset - self.own.offset + buffer.offset();
            return Ok(Segment { memory: 0, len, offset });
        }
        let memory = self.number(buffer.memory(), part, channel)?;
        Ok(Segment { memory, len, offset: buffer.offset() })
    }

    /// The number under which the peer knows this memory; it is shown now if it was not before.
    fn number(&mut self, memory: &Arc<Memory>, part: &FilePart, channel: &Channel) -> Result<u32, NotShown> {
        let is_it = |shown: &&Shown| std::ptr::eq(shown.memory.as_ptr(), Arc::as_ptr(memory));
        match self.shown.iter().find(is_it) {
            Some(shown) => Ok(shown.number),
            None => self.show(memory, part, channel),
        }
    }

    #[cold]
    fn show(&mut self, memory: &Arc<Memory>, part: &FilePart, channel: &Channel) -> Result<u32, NotShown> {
        let (place, number) = self.place_to_show().ok_or(CompletionError::TooMuchMemory)?;
        let what = Control::Memory { number, offset: part.offset, len: memory.size(), lent: part.lent };
        channel.show_memory(what, part.file.as_fd())?;
        let shown = Shown { memory: Arc::downgrade(memory), number };
        match self.shown.get_mut(place) {
            Some(before) => *before = shown,
            None => self.shown.push(shown),
        }
        Ok(number)
    }

    /// Where a memory can be shown, and under which number. A memory that is no more has no message that the peer has not fetched:
    /// each would keep it.
    fn place_to_show(&self) -> Option<(usize, u32)> {
        let left = self.shown.iter().enumerate().filter(|(_, shown)| shown.memory.strong_count() == 0);
        let mut free =
            left.filter_map(|(at, shown)| Some((at, remote::next_number(at, Some(shown.number))?)));
        let at = self.shown.len();
        let another = || remote::next_number(at, None).map(|number| (at, number));
        free.next().or_else(|| (at < MAX_MEMORIES).then(another).flatten())
    }

    /// The description in a frame, copied: nobody changes it any more.
    pub(crate) fn read_body(&self, consumer: &Consumer, head: Head) -> Result<Body, Violation> {
        let mut body = Body { bytes: [0; MAX_SEGMENTS * SEGMENT], len: 0 };
        if head.kind() == Kind::Lent {
            let segment = Segment::lent(consumer.lent(&mut [0; FRONT]), head.len());
            let described = self.lends.then(|| body.push(segment)).flatten();
            return described.map(|()| body).ok_or(Violation);
        }
        body.len = head.len();
        if body.len == 0 || body.len > body.bytes.len() || !body.len.is_multiple_of(SEGMENT) {
            return Err(Violation);
        }
        consumer.copy(head, 0, &mut body.bytes[..body.len]);
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
        if segment.memory == 0 {
            return channel.peer.pool_part(segment.offset, len);
        }
        if remote::numbered(&self.remote, segment.memory).is_none() {
            self.look_again(segment.memory, channel)?;
        }
        remote::numbered(&self.remote, segment.memory)?.part(segment.offset, len)
    }

    /// Takes note of what the peer shows now, if this memory is among it.
    #[cold]
    fn look_again(&mut self, number: u32, channel: &Channel) -> Option<()> {
        let now = channel
            .look_up(|remote| remote::numbered(&remote.memories, number).map(|_| remote.memories.clone()))?;
        let before = std::mem::replace(&mut self.remote, now);
        let looked_at =
            |mapping: &Arc<Mapping>| self.looked_at.is_some_and(|address| mapping.contains(address));
        let mappings = before.into_iter().map(RemoteMemory::into_mapping).chain(self.kept.take());
        self.kept = mappings.into_iter().find(looked_at);
        Some(())
    }
}

impl Body {
    fn push(&mut self, segment: Segment) -> Option<()> {
        self.bytes.get_mut(self.len..self.len + SEGMENT)?.copy_from_slice(&segment.to_bytes());
        self.len += SEGMENT;
        Some(())
    }

    fn message_len(&self) -> u64 {
        self.segments().map(|segment| u64::from(segment.len)).sum()
    }

    fn segments(&self) -> impl Iterator<Item = Segment> {
        self.bytes[..self.len].as_chunks().0.iter().map(|bytes| Segment::from_bytes(*bytes))
    }
}

impl Segment {
    /// Of a message that is lent, by the word that says where.
    #[inline]
    fn lent(place: u64, len: usize) -> Self {
        let offset = place & ((1 << OFFSET_BITS) - 1);
        Self { memory: (place >> OFFSET_BITS) as u32, len: len as u32, offset }
    }

    /// Memory, length, offset.
    #[inline]
    fn to_bytes(self) -> [u8; SEGMENT] {
        let first = u64::from(self.memory) | u64::from(self.len) << 32;
        let mut bytes = [0; SEGMENT];
        bytes[..8].copy_from_slice(&first.to_le_bytes());
        bytes[8..].copy_from_slice(&self.offset.to_le_bytes());
        bytes
    }

    #[inline]
    fn from_bytes(bytes: [u8; SEGMENT]) -> Self {
        let [first, offset] =
            [0, 8].map(|at| u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte])));
        Self { memory: first as u32, len: (first >> 32) as u32, offset }
    }
}
