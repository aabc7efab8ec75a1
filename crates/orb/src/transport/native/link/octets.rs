//! A message as it is read: in one piece, or most of it still in the peer's memory.
//!
//! Memory that a peer can write to is never looked at, but copied, and copied once if that can be. So of a long message only the
//! [first](FRONT) octets are copied when it arrives, enough for every header. A sequence of numbers then goes from the peer's memory
//! straight into its vector. Whoever wants to look at the rest in any other way has all of it copied into the buffer that was
//! posted for it.

use std::cell::{Cell, OnceCell};
use std::mem::MaybeUninit;

use throughline_cdr::{Tail, fill};
use throughline_vi::{Buffer, Left};

/// So many octets of a message that was left with the peer are copied at first. Headers with all their regions take no more.
pub(super) const FRONT: usize = 320;

/// The octets of a message, or the first of them and where the others are.
#[derive(Clone, Copy)]
pub(crate) struct Octets<'a> {
    pub(crate) at_hand: &'a [u8],
    pub(crate) tail: Option<&'a dyn Tail>,
}

impl<'a> Octets<'a> {
    /// All of them.
    #[inline(always)]
    pub(crate) fn whole(octets: &'a [u8]) -> Self {
        Self { at_hand: octets, tail: None }
    }

    /// How many there are in all.
    #[inline(always)]
    pub(crate) fn message_len(&self) -> usize {
        self.tail.map_or(self.at_hand.len(), Tail::message_len)
    }
}

/// A message that was left with the peer, and where it is copied to if that is not good enough.
pub(super) struct Fetch<'a> {
    left: Left<'a>,
    front: &'a [u8],
    room: Cell<&'a mut [u8]>,
    all: OnceCell<&'a [u8]>,
}

impl<'a> Fetch<'a> {
    /// `front` are the first octets, as they were read.
    pub(super) fn new(left: Left<'a>, front: &'a [u8], buffer: &'a mut Buffer) -> Self {
        // The first ones are there by now.
        left.prefetch(Left::AHEAD);
        buffer.set_len(left.len());
        Self { left, front, room: Cell::new(buffer), all: OnceCell::new() }
    }
}

/// Where the octets are that are not at hand: at most one of these. Not an `enum`, which would be put together elsewhere and copied.
#[derive(Default)]
pub(super) struct Rest<'a> {
    left: Option<Fetch<'a>>,
    lent: Option<Loan<'a>>,
    returned: Option<Return<'a>>,
}

impl<'a> Rest<'a> {
    /// See [`Fetch::new`].
    #[inline]
    pub(super) fn left(&'a mut self, left: Left<'a>, front: &'a [u8], buffer: &'a mut Buffer) -> Octets<'a> {
        let rest = self.left.insert(Fetch::new(left, front, buffer));
        Octets { at_hand: front, tail: Some(rest) }
    }

    /// `front` is a copy of the first octets of `message`; `room` is for a longer one.
    #[inline]
    pub(super) fn lent(
        &'a mut self,
        message: &'a mut [u8],
        front: &'a [u8],
        room: &'a mut [u8],
    ) -> Octets<'a> {
        let (len, more) = (message.len(), OnceCell::new());
        let (message, room) = (Cell::new(message), Cell::new(room));
        let rest = self.lent.insert(Loan { len, message, room, more, all: OnceCell::new() });
        Octets { at_hand: front, tail: Some(rest) }
    }

    /// The octets behind `front` are `rest`.
    #[inline]
    pub(super) fn returned(&'a mut self, front: &'a [u8], rest: &'a [u8]) -> Octets<'a> {
        let rest = self.returned.insert(Return { front, rest, all: OnceCell::new() });
        Octets { at_hand: front, tail: Some(rest) }
    }
}

/// A message in memory that the peer lends: to be read, or changed, where it lies.
pub(super) struct Loan<'a> {
    len: usize,
    /// Empty once somebody has it.
    message: Cell<&'a mut [u8]>,
    room: Cell<&'a mut [u8]>,
    more: OnceCell<&'a [u8]>,
    all: OnceCell<&'a [u8]>,
}

impl<'a> Loan<'a> {
    /// Nothing if it was lent before: then nobody should ask.
    fn whole(&self) -> &'a [u8] {
        self.all.get_or_init(|| self.message.take())
    }
}

impl Tail for Loan<'_> {
    fn message_len(&self) -> usize {
        self.len
    }

    fn copy<'i>(&self, offset: usize, into: &'i mut [MaybeUninit<u8>]) -> &'i mut [u8] {
        let len = into.len();
        fill(into, &self.whole()[offset..][..len])
    }

    fn copy_over(&self, offset: usize, into: &mut [u8]) {
        into.copy_from_slice(&self.whole()[offset..][..into.len()]);
    }

    fn all(&self, _from: usize) -> &[u8] {
        self.whole()
    }

    /// The first ones once more, and so many that mostly nobody needs all.
    fn more(&self, at_hand: usize) -> Option<&[u8]> {
        let more = self.more.get_or_init(|| {
            let (message, room) = (self.message.take(), self.room.take());
            let len = message.len().min(FRONT);
            room[..len].copy_from_slice(&message[..len]);
            self.message.set(message);
            &room[..len]
        });
        Some(*more).filter(|more| more.len() > at_hand)
    }

    fn lend(&self, offset: usize) -> Option<&mut [u8]> {
        let message = self.message.take();
        if message.as_ptr().addr().is_multiple_of(8) && offset <= message.len() {
            return Some(&mut message[offset..]);
        }
        self.message.set(message);
        None
    }

    fn has_all(&self) -> bool {
        self.all.get().is_some()
    }
}

/// An answer, and the end of the request that is its rest.
pub(super) struct Return<'a> {
    front: &'a [u8],
    rest: &'a [u8],
    all: OnceCell<Box<[u8]>>,
}

impl Return<'_> {
    /// So many octets from an offset, if they are all in the rest.
    fn part(&self, offset: usize, len: usize) -> Option<&[u8]> {
        self.rest.get(offset.checked_sub(self.front.len())?..)?.get(..len)
    }
}

impl Tail for Return<'_> {
    fn message_len(&self) -> usize {
        self.front.len() + self.rest.len()
    }

    fn copy<'i>(&self, offset: usize, into: &'i mut [MaybeUninit<u8>]) -> &'i mut [u8] {
        let len = into.len();
        fill(into, self.part(offset, len).unwrap_or_else(|| &self.all(0)[offset..][..len]))
    }

    fn copy_over(&self, offset: usize, into: &mut [u8]) {
        let len = into.len();
        into.copy_from_slice(self.part(offset, len).unwrap_or_else(|| &self.all(0)[offset..][..len]));
    }

    #[cold]
    fn all(&self, _from: usize) -> &[u8] {
        self.all.get_or_init(|| [self.front, self.rest].concat().into())
    }

    fn has_all(&self) -> bool {
        self.all.get().is_some()
    }
}

impl Tail for Fetch<'_> {
    fn message_len(&self) -> usize {
        self.left.len()
    }

    #[inline]
    fn copy<'i>(&self, offset: usize, into: &'i mut [MaybeUninit<u8>]) -> &'i mut [u8] {
        self.left.copy_new(offset, into).expect("within the message")
    }

    #[inline]
    fn copy_over(&self, offset: usize, into: &mut [u8]) {
        self.left.copy(offset, into).expect("within the message");
    }

    fn has_all(&self) -> bool {
        self.all.get().is_some()
    }

    #[cold]
    fn all(&self, from: usize) -> &[u8] {
        self.all.get_or_init(|| {
            let room = self.room.take();
            let from = from.max(self.front.len());
            room[..self.front.len()].copy_from_slice(self.front);
            self.left.copy(from, &mut room[from..]).expect("within the message");
            room
        })
    }
}
