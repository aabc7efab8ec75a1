//! What carries the messages: the seam between VIs and fabrics.

mod posted;
mod wait;

pub(crate) mod datagram;
pub(crate) mod local;
pub(crate) mod shm;
pub(crate) mod udp;

use crate::{
    Buffer, CompletionError, ConnectError, LENT_FRONT, ProtectionTag, Reliability, ResourceError, Rights,
    TrustedPeers, ViAttributes, Window,
    descriptor::SendDescriptor,
    memory::{Left, Memory},
};
use std::{any::Any, os::fd::BorrowedFd, sync::Arc, time::Instant};

pub(crate) use posted::Posted;
pub use wait::NAP;
pub(crate) use wait::{NowAndThen, Spin, readable, sleep, sleep_at};

/// The longest message that needs no descriptor, in bytes: see [`Vi::send_small`](crate::Vi::send_small).
pub const SMALL_MESSAGE: usize = 56;

/// A fabric, as a NIC sees it.
pub(crate) trait Fabric: Send + Sync {
    /// Where peers find this NIC.
    fn address(&self) -> &str;

    /// One end of a future connection, with its pools.
    fn link(&self, attributes: &ViAttributes) -> Result<Box<dyn Link>, ResourceError>;

    /// Memory that may be sent from.
    fn memory(&self, count: u32, chunk: u32, tag: ProtectionTag) -> Result<Arc<Memory>, ResourceError>;

    /// As [`memory`](Self::memory), lent to trusting receivers with the messages in it, if the fabric knows such.
    fn lent_memory(
        &self,
        count: u32,
        chunk: u32,
        tag: ProtectionTag,
        _trusted: TrustedPeers,
    ) -> Result<Arc<Memory>, ResourceError> {
        self.memory(count, chunk, tag)
    }

    /// Memory that peers may reach by remote DMA.
    fn window(&self, len: usize, tag: ProtectionTag, rights: Rights) -> Result<Window, ResourceError>;

    /// Starts listening for connections to this discriminator.
    fn listen(&self, discriminator: &[u8]) -> Result<Box<dyn Listen>, ResourceError>;
}

/// Hands out requests for connections.
pub(crate) trait Listen: Send {
    /// The next request; `None` when the deadline has passed.
    fn next(&mut self, deadline: Option<Instant>) -> Result<Option<Box<dyn Incoming>>, ConnectError>;

    /// Readable when there may be a request.
    fn fd(&self) -> BorrowedFd<'_>;
}

/// A request for a connection, to be answered.
pub(crate) trait Incoming: Send {
    fn reliability(&self) -> Reliability;
    /// The other process, where it is on this machine.
    fn process(&self) -> Option<u32>;
    /// Connects the link, which has the level asked for.
    fn accept(self: Box<Self>, link: &mut dyn Link, posted: &mut Posted) -> Result<(), ConnectError>;
    fn reject(self: Box<Self>, mismatch: bool);
}

/// One end of a connection, to be.
pub(crate) trait Link: Send {
    /// For downcasts.
    fn as_any(&mut self) -> &mut dyn Any;

    /// The pools of the VI: for sending, for receiving.
    fn pools(&self) -> [Arc<Memory>; 2];

    /// Connects, as the active side. Descriptors that were borrowed are back if it fails.
    fn connect(&mut self, to: &Destination<'_>, posted: &mut Posted) -> Result<(), ConnectError>;

    /// What others use to learn whether something happened. There is one once connected.
    fn doorbell(&self) -> Arc<dyn Doorbell>;

    /// Carries out a send descriptor whose memory has been checked.
    fn send(&mut self, descriptor: &mut SendDescriptor) -> Sent;

    /// Sends a copy of a message at once, without a descriptor; whether it could.
    fn send_copied(&mut self, _message: &[u8]) -> bool {
        false
    }

    /// Sends a message of at most [`SMALL_MESSAGE`] bytes at once, without a descriptor; whether it could.
    fn send_small(&mut self, _message: &[u8]) -> bool {
        false
    }

    /// As [`send_small`](Self::send_small), of so many of these octets; the peer may see the others, too.
    fn send_line(&mut self, octets: &[u8; SMALL_MESSAGE], len: usize) -> bool {
        octets.get(..len).is_some_and(|message| self.send_small(message))
    }

    /// As [`send_small`](Self::send_small); if it helps the message may wait for those that follow, since this thread is about to
    /// send or receive more.
    fn send_small_with_more(&mut self, message: &[u8]) -> bool {
        self.send_small(message)
    }

    /// Takes the next message, if it is of at most [`SMALL_MESSAGE`] bytes and lies ready in memory of the connection's own:
    /// its length. Bytes behind it may be overwritten.
    fn receive_small(&mut self, _into: &mut [u8; SMALL_MESSAGE]) -> Option<usize> {
        None
    }

    /// Takes the next message, if it is not longer than `into` and lies ready in memory of the connection's own: its length.
    fn receive_copied(&mut self, _into: &mut [u8]) -> Option<usize> {
        None
    }

    /// From now on many small messages are likely to be under way at a time.
    fn expect_many(&mut self) {}

    /// Whether the peer has what was sent without descriptors.
    fn has_settled(&mut self) -> bool {
        true
    }

    /// Takes the descriptor that [`Sent::HandOver`] was said of, and names the ticket that it is complete with.
    fn take(&mut self, _descriptor: SendDescriptor) -> u64 {
        unreachable!("asked only of links that say so")
    }

    /// Gives the oldest descriptor back that was taken: once it is acknowledged, or the link closed.
    fn give_back(&mut self) -> Option<(SendDescriptor, Result<usize, CompletionError>)> {
        None
    }

    /// Sends up to this ticket are complete.
    fn acknowledged(&mut self) -> u64;

    /// The VI has sends that are blocked or not yet acknowledged, or no longer.
    fn expect_progress(&mut self, _expected: bool) {}

    /// Takes a message into the descriptor posted first, which is the first of `posted` then, and makes its buffers as long
    /// as the message.
    fn receive(&mut self, posted: &mut Posted) -> Arrival;

    /// Why [`receive`](Self::receive) would say that the connection is gone, if it would. Takes no message.
    fn gone(&mut self) -> Option<CompletionError>;

    /// Why the peer has stopped, though what it sent before may not have been received.
    fn over(&mut self) -> Option<CompletionError> {
        self.gone()
    }

    /// The message received last, if it was left in the peer's memory and nothing has been received since.
    fn in_place(&self) -> Option<&[u8]> {
        None
    }

    /// Whether messages in lent memory go both ways: both sides have promised that the other is to be trusted.
    fn lends(&self) -> bool {
        false
    }

    /// Sends so many bytes of a buffer in lent memory; the ticket with which the buffer is back. Nothing is sent if that cannot be
    /// done at once.
    fn lend(&mut self, _buffer: &Buffer, _len: usize) -> Option<u64> {
        None
    }

    /// Up to this ticket sends are known to be acknowledged without a look at what the peer writes.
    fn heard(&self) -> u64 {
        0
    }

    /// Takes the next message, if it lies in memory that the peer lends: its length, and its first bytes.
    fn receive_lent(&mut self, _front: &mut [u8; LENT_FRONT]) -> Option<usize> {
        None
    }

    /// The message so received last, if it was not released since, and nothing was received.
    fn lent_mut(&mut self) -> Option<&mut [u8]> {
        None
    }

    /// Sends a small message at once which also tells the peer that the one in lent memory is released; whether it could.
    fn send_and_release(&mut self, _message: &[u8]) -> bool {
        false
    }

    /// The message received last, if it was left in the peer's memory, whether trusted or not, and nothing has been received
    /// since.
    fn left(&self) -> Option<Left<'_>> {
        None
    }

    /// The message in place, or left, is not needed any more.
    fn release(&mut self) {}

    /// As [`receive`](Self::receive), of a message that is kept for later: it is not left where it is, and one that was left before
    /// stays.
    fn receive_to_keep(&mut self, posted: &mut Posted) -> Arrival {
        self.receive(posted)
    }

    /// Looks what has happened without taking a message, while only sends are waited for.
    fn progress(&mut self) {}

    /// Receive descriptors were posted on a connected link.
    fn posted(&mut self, _posted: &mut Posted) {}

    /// Of a link that was closed: the application gets buffers back whose messages the peer may not have yet. It gets those as they
    /// were sent, or not at all.
    fn takes_back(&mut self) {}

    /// Tells the other side that this one stops, and why. Nothing is sent or received afterwards, and what was borrowed is
    /// given back.
    fn close(&mut self, why: CompletionError, posted: &mut Posted);
}

/// Where to connect.
pub(crate) struct Destination<'a> {
    pub(crate) address: &'a str,
    pub(crate) discriminator: &'a [u8],
    pub(crate) deadline: Option<Instant>,
    /// Not to wait for the answer, where the fabric can do without.
    pub(crate) early: bool,
}

/// What became of a send descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// Complete: so many bytes.
    Done(usize),
    /// Carried out, but its buffers are needed until this ticket is acknowledged.
    Until(u64),
    /// No room: to be tried again.
    Blocked,
    /// The link needs the descriptor itself: [`Link::take`].
    HandOver,
    /// Refused. On a VI of a reliable level the VI stops.
    Failed(CompletionError),
    /// The connection is gone.
    Broken(CompletionError),
}

/// What came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    Nothing,
    /// A message of this length lies in the descriptor.
    Message {
        len: usize,
        immediate: Option<u32>,
    },
    /// A message that the descriptor is too short for; it is gone.
    TooLong,
    /// A message without a descriptor; it is gone.
    Overrun,
    /// The connection is gone.
    Broken(CompletionError),
}

/// Tells whether something happened on a link, and wakes whoever sleeps.
pub(crate) trait Doorbell: Send + Sync {
    /// Whether the VI should be looked at.
    fn ready(&self) -> bool;
    /// As [`ready`](Self::ready), of a VI that waits for its sends and has no place for messages.
    fn ready_for_sends(&self) -> bool {
        self.ready()
    }
    /// Nobody has slept for a while, and may not: looks for what is told by [`fd`](Self::fd) only, which stays as it is.
    fn ask(&self) {}
    /// From now on whatever happens makes [`fd`](Self::fd) readable. What happened before must be looked for once more.
    fn arm(&self);
    /// As [`arm`](Self::arm), which is all that a fabric need do. If true, what happens now may make the file readable only once
    /// there was a [`fence`](Self::fence), a [`NAP`] later: then what happened before must be looked for again.
    fn doze(&self) -> bool {
        self.arm();
        false
    }
    /// See [`doze`](Self::doze).
    fn fence(&self) {}
    /// When a send that is blocked is to be tried again, whatever happens.
    fn patience(&self) -> Option<Instant> {
        None
    }
    /// By when to [`disarm`](Self::disarm), whatever happens: for its [patience](Self::patience), or for what that does itself.
    fn wakes_by(&self) -> Option<Instant> {
        self.patience()
    }
    /// Nobody sleeps any longer.
    fn disarm(&self);
    /// Takes from the file what made it readable.
    fn drain(&self);
    /// Becomes readable when something happens while armed.
    fn fd(&self) -> BorrowedFd<'_>;
}
