//! A message as it is read: in one piece, or most of it still in the peer's memory.
//!
//! Memory that a peer can write to is never looked at, but copied, and copied once if that can be. So of a long message only the
//! [first](FRONT) octets are copied when it arrives, enough for every header. A sequence of numbers then goes from the peer's memory
//! straight into its vector. Whoever wants to look at the rest in any other way has all of it copied into the buffer that was
//! posted for it.

use std::cell::{Cell, OnceCell};
use std::mem::MaybeUninit;

use throughline_cdr::Tail;
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
pub(crate) struct Fetch<'a> {
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

    pub(super) fn octets(&'a self) -> Octets<'a> {
        Octets { at_hand: self.front, tail: Some(self) }
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
