//! Messages: headers come off and go on without copying.

use std::fmt;

use crate::manipulate::{Checksum, Stage, copy};

/// The sum of what includes its own check sum.
const INTACT: u16 = 0xffff;

/// The bytes of a frame on their way through the layers.
///
/// A message is one piece of memory and two marks in it. [`pop`](Self::pop) moves the first mark behind a header that has
/// been read, [`push`](Self::push) moves it before one that is to be written; the data never moves. What was popped stays
/// where it is, so that a layer can look back at the headers of those below ([`since`](Self::since)).
///
/// After the x-kernel's message object (Hutchinson and Peterson, 1991).
pub struct Message {
    buffer: Box<[u8]>,
    // No message is longer than 2^32 bytes; all of it is moved about often.
    start: u32,
    end: u32,
    /// Where the header of IP begins.
    network: u32,
    /// How urgent the message is, as the sender says: a priority or the microseconds left to its deadline, whatever the
    /// graph's [`Urgency`](crate::Urgency) is. 0 unless a header or the user says otherwise.
    pub priority: u32,
    /// Whether the device vouches for the check sums of the transport: they were verified, or the frame has never been
    /// on a wire.
    pub verified: bool,
    /// Whether the frame was sent to many hosts.
    pub(crate) to_many: bool,
    /// The sum of all that a check sum is over, but for the data, if the data is still to be checked.
    unchecked: Option<u16>,
    pub(crate) seal: Seal,
}

/// Whether data that came sealed has been opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seal {
    /// It did not come sealed, or that is over.
    None,
    /// It is to be opened by whoever takes it: the header is in front of it, the tag behind.
    Shut,
    /// It was opened, and that it came is not noted; header and tag are part of it.
    #[cfg(feature = "ciphers")]
    Opened,
}

// All of it is moved about often.
const _: () = assert!(size_of::<Message>() <= 40);

/// Where the data of a message began and ended at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    start: u32,
    end: u32,
}

/// There is no room for a header before the data, or for the data itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the message's buffer has no room for {0} bytes more")]
pub struct NoRoom(pub usize);

impl Message {
    /// An empty message of `capacity` bytes whose data will begin at `headroom`.
    ///
    /// # Panics
    /// If the headroom is more than all there is.
    pub fn with_capacity(headroom: usize, capacity: usize) -> Self {
        Self::in_buffer(vec![0; capacity].into_boxed_slice(), headroom)
    }

    /// An empty message in memory that there is already.
    ///
    /// # Panics
    /// If the headroom is more than all there is.
    pub fn in_buffer(buffer: Box<[u8]>, headroom: usize) -> Self {
        assert!(headroom <= buffer.len(), "headroom beyond the buffer");
        assert!(u32::try_from(buffer.len()).is_ok(), "a buffer of more than 4 GiB");
        let headroom = headroom as u32;
        Self {
            buffer,
            start: headroom,
            end: headroom,
            network: headroom,
            priority: 0,
            verified: false,
            to_many: false,
            unchecked: None,
            seal: Seal::None,
        }
    }

    /// A message with a copy of `data`, and room for `headroom` bytes of headers.
    pub fn copied(headroom: usize, data: &[u8]) -> Self {
        let mut message = Self::with_capacity(headroom, headroom + data.len());
        message.buffer[headroom..].copy_from_slice(data);
        message.end += data.len() as u32;
        message
    }

    /// What no layer has popped yet, or all that was pushed.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.range()]
    }

    /// As [`bytes`](Self::bytes), to be written.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let range = self.range();
        &mut self.buffer[range]
    }

    #[inline]
    fn range(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// How many bytes there are.
    #[inline]
    pub fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Takes the first `len` bytes off, or as many as there are.
    #[inline]
    pub fn pop(&mut self, len: usize) {
        self.start = (self.position() + len).min(self.end as usize) as u32;
    }

    /// Adds a header of `len` bytes in front, to be written by the caller; what is in it is left over from earlier use.
    ///
    /// # Errors
    /// When the headroom is used up; the message is unchanged.
    #[inline]
    pub fn push(&mut self, len: usize) -> Result<&mut [u8], NoRoom> {
        let start = self.position().checked_sub(len).ok_or(NoRoom(len))?;
        self.start = start as u32;
        Ok(&mut self.buffer[start..start + len])
    }

    /// Adds a copy of `data` at the end.
    ///
    /// # Errors
    /// When the buffer has no room for it; the message is unchanged.
    pub fn append(&mut self, data: &[u8]) -> Result<(), NoRoom> {
        let end = self.end as usize + data.len();
        self.buffer.get_mut(self.end as usize..end).ok_or(NoRoom(data.len()))?.copy_from_slice(data);
        self.end = end as u32;
        Ok(())
    }

    /// Drops what lies beyond `len` bytes, such as what a link adds to short frames.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.end = (self.end as usize).min(self.position() + len) as u32;
    }

    /// What was popped since the first mark was at `position`.
    ///
    /// # Panics
    /// If the mark has never been there.
    #[inline]
    pub fn since(&self, position: usize) -> &[u8] {
        &self.buffer[position..self.position()]
    }

    /// All bytes since the first mark was at `position`, those included that were popped.
    ///
    /// # Panics
    /// If the mark has never been there.
    #[inline]
    pub fn from(&self, position: usize) -> &[u8] {
        &self.buffer[position..self.end as usize]
    }

    /// Where the first byte lies in the buffer, to [come back](Self::seek) to.
    #[inline]
    pub fn position(&self) -> usize {
        self.start as usize
    }

    /// Where the header of IP begins, if one was read.
    #[inline]
    pub fn network(&self) -> usize {
        self.network as usize
    }

    /// Says that the header of IP begins at the front.
    #[inline]
    pub fn mark_network(&mut self) {
        self.network = self.start;
    }

    /// Both marks, to be [restored](Self::restore).
    #[inline]
    pub fn marks(&self) -> Marks {
        Marks { start: self.start, end: self.end }
    }

    /// Puts both marks where they were: what was popped and truncated since is there again.
    ///
    /// # Panics
    /// If the marks are those of another, larger message.
    #[inline]
    pub fn restore(&mut self, marks: Marks) {
        assert!(marks.end as usize <= self.buffer.len(), "marks of another message");
        (self.start, self.end) = (marks.start, marks.end);
    }

    /// Puts the first mark where it was at some earlier time.
    ///
    /// # Panics
    /// If that is behind the end of the data.
    #[inline]
    pub fn seek(&mut self, position: usize) {
        assert!(position <= self.end as usize, "position beyond the end of a message");
        self.start = position as u32;
    }

    /// The free part of the buffer behind the data, to be filled by a device; then say how much with
    /// [`filled`](Self::filled).
    pub fn room_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.end as usize..]
    }

    /// Takes `len` bytes of [`room_mut`](Self::room_mut) for data.
    ///
    /// # Panics
    /// If the room is smaller.
    pub fn filled(&mut self, len: usize) {
        assert!(len <= self.buffer.len() - self.end as usize, "more was filled than there is room for");
        self.end += len as u32;
    }

    /// Leaves the check of the data to whoever moves it: `sum` is that of everything else.
    #[inline]
    pub(crate) fn leave_unchecked(&mut self, sum: u16) {
        self.unchecked = Some(sum);
    }

    /// Whether the data is what was sent, as far as anyone knows: it is checked now, if nobody has done so.
    #[inline]
    pub(crate) fn is_intact(&mut self) -> bool {
        self.unchecked.take().is_none_or(|sum| {
            let mut sum = Checksum::beginning_with(sum);
            sum.look(self.bytes());
            sum.sum() == INTACT
        })
    }

    /// Runs the stages over the data on its way to another place, and checks it in the same pass if nobody has done so.
    /// Whether it is what was sent.
    ///
    /// # Panics
    /// If the place has another length.
    #[inline]
    pub(crate) fn copy_to<S: Stage>(&self, stages: &mut S, to: &mut [u8]) -> bool {
        let Some(sum) = self.unchecked else {
            copy(stages, self.bytes(), to);
            return true;
        };
        let mut both = (Checksum::beginning_with(sum), stages.clone());
        copy(&mut both, self.bytes(), to);
        *stages = both.1;
        both.0.sum() == INTACT
    }

    #[cfg(feature = "ciphers")]
    pub(crate) fn unchecked(&self) -> Option<u16> {
        self.unchecked
    }

    /// What is in the buffer before the data, the data, and what is behind it.
    #[cfg(feature = "ciphers")]
    pub(crate) fn surroundings(&mut self) -> (&[u8], &mut [u8], &[u8]) {
        let (before, rest) = self.buffer.split_at_mut(self.start as usize);
        let (data, behind) = rest.split_at_mut((self.end - self.start) as usize);
        (before, data, behind)
    }

    /// Whether someone has still to check or open the data.
    #[inline]
    pub(crate) fn is_unsettled(&self) -> bool {
        self.unchecked.is_some() || self.seal == Seal::Shut
    }

    /// Makes room behind the data, in other memory if need be.
    #[cfg(feature = "ciphers")]
    pub(crate) fn make_room(&mut self, len: usize) {
        if self.buffer.len() - (self.end as usize) < len {
            self.enlarge(len);
        }
    }

    #[cfg(feature = "ciphers")]
    #[cold]
    fn enlarge(&mut self, len: usize) {
        let mut buffer = vec![0; self.end as usize + len].into_boxed_slice();
        buffer[..self.end as usize].copy_from_slice(&self.buffer[..self.end as usize]);
        self.buffer = buffer;
    }

    /// The memory, for other use.
    pub fn into_buffer(self) -> Box<[u8]> {
        self.buffer
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Message({} bytes at {})", self.len(), self.start)
    }
}

/// Buffers that are used again and again, so that a message in steady state allocates nothing.
#[derive(Debug)]
pub struct Pool {
    free: Vec<Box<[u8]>>,
    size: usize,
    headroom: usize,
    most: usize,
}

impl Pool {
    /// Buffers of `size` bytes, `headroom` of them for headers; at most `most` are kept while nobody uses them.
    ///
    /// # Panics
    /// If the headroom is larger than the buffers.
    pub fn new(size: usize, headroom: usize, most: usize) -> Self {
        assert!(headroom <= size, "headroom beyond the buffer");
        Self { free: Vec::with_capacity(most), size, headroom, most }
    }

    /// An empty message with the pool's headroom.
    #[inline]
    pub fn take(&mut self) -> Message {
        let buffer = self.free.pop().unwrap_or_else(|| vec![0; self.size].into_boxed_slice());
        Message::in_buffer(buffer, self.headroom)
    }

    /// Gives a message back. Those of other sizes, and those beyond what the pool keeps, are freed.
    #[inline]
    pub fn give(&mut self, message: Message) {
        if message.buffer.len() == self.size && self.free.len() < self.most {
            self.free.push(message.buffer);
        }
    }

    /// Bytes before the data.
    pub fn headroom(&self) -> usize {
        self.headroom
    }

    /// Bytes of data that a message of this pool has room for.
    pub fn room(&self) -> usize {
        self.size - self.headroom
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_go_on_and_come_off_where_they_are() {
        let mut message = Message::copied(6, b"data");
        message.push(2).unwrap().copy_from_slice(b"up");
        message.push(4).unwrap().copy_from_slice(b"link");
        assert_eq!(message.push(1).unwrap_err(), NoRoom(1));
        assert_eq!(message.bytes(), b"linkupdata");
        message.pop(4);
        let upper = message.position();
        message.pop(2);
        assert_eq!((message.since(upper), message.bytes()), (&b"up"[..], &b"data"[..]));
        message.seek(upper);
        message.truncate(4);
        assert_eq!(message.bytes(), b"upda");
        message.pop(9);
        assert!(message.is_empty());
    }

    #[test]
    fn a_pool_hands_out_what_it_was_given() {
        let mut pool = Pool::new(64, 16, 1);
        let mut first = pool.take();
        first.append(b"old").unwrap();
        let memory = first.bytes().as_ptr();
        pool.give(first);
        pool.give(Message::with_capacity(0, 8));
        let mut again = pool.take();
        assert!(again.is_empty());
        again.append(&[7; 48]).unwrap();
        assert_eq!(again.append(&[7]), Err(NoRoom(1)));
        assert_eq!(again.bytes().as_ptr(), memory);
    }
}
