//! Reliability over fabrics that lose, duplicate, damage and reorder packets: a state machine without I/O.
//!
//! A [`Connection`] is one end of a Virtual Interface pair. It has no clock, no socket and no thread: the caller hands in
//! datagrams and the time, and takes out datagrams to be sent, events, and the time of the next timeout. An
//! [`Endpoint`] keeps many connections behind one address. Times are [`Duration`](std::time::Duration)s since any moment
//! the caller likes, on a clock that does not go back.
//!
//! # How it works
//!
//! - A connection has an id of 64 random bits, drawn by the opener. Nothing is negotiated: the frames that open a
//!   connection carry messages already.
//! - Every packet has a number of its own; what is lost is sent again in new packets (QUIC, RFC 9002). Losses show by
//!   acknowledged successors, or by time; silence is probed.
//! - A message goes to the buffer that was posted for it, and its segments straight to where they belong: nothing is
//!   queued on the way. Buffers posted are the sender's credit; without any it waits. A message that there is no memory for,
//!   since it is longer than its buffer, is refused, and the sender hears when there is room again.
//! - Messages complete in the order sent, on both sides, exactly once.
//! - Damage is found by a CRC32C of the frame and counts as loss.
//! - How much may be under way is decided by a [controller](congestion), how long frames may be by probing (RFC 8899).
//!
//! The wire format is described in [`frame`].
//!
//! # Trust
//!
//! What comes in is a stranger's. Nothing is allocated by its numbers: buffers are those posted, and longer ones of the caller's
//! if he gives [such](Connection::lengthen_by), sets of ranges are bounded, and connections exist when the caller accepted
//! them, up to a limit. Frames of others are not believed unless they know the connection's id; to an address that has not yet
//! proved to be the sender's, no more than three times what came from there is sent. There is no encryption: whoever reads the
//! traffic can forge it.

pub(crate) mod batch;
mod config;
pub mod congestion;
mod connection;
mod endpoint;
pub mod frame;
mod inbox;
pub(crate) mod lookup;
mod loose;
mod missing;
mod mtu;
mod outbox;
mod pacing;
mod ranges;
mod received;
mod recovery;
pub(crate) mod rtt;
pub mod udp;

pub use self::{
    config::Config,
    connection::{Connection, Stats, Transmit},
    endpoint::{Endpoint, EndpointConfig, Handled, Incoming, TooMany},
    frame::{Level, MAX_MESSAGE, MAX_NAME, Reason},
    ranges::{RangeSet, TooScattered},
};

/// The most octets of a message that takes the short way, where nothing is in its way: alone in its frame, and without a buffer
/// of the receiver's if it is taken by [`Connection::take_short`].
pub const MAX_SHORT: usize = 56;

/// There is room at once for as many messages, and packets; where more are under way, queues grow.
const ROOM: usize = 16;

/// What the network said about congestion, in the IP header of a packet (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The packet could not have been marked.
    #[default]
    NotCapable,
    /// The packet met no congestion: ECT(0) or ECT(1).
    Capable,
    /// The packet met congestion: CE.
    Marked,
}

/// A message to be sent: it is read as often as its parts must be sent, and must stay the same.
pub trait Source {
    /// Octets of the message, at most [`MAX_MESSAGE`]. Always the same.
    fn len(&self) -> usize;

    /// Whether the message has no octets.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `into` with the octets from `offset` on. There are so many.
    fn read(&self, offset: usize, into: &mut [u8]);

    /// Whether nobody wants to have it back when it is complete: then there is no event.
    fn is_silent(&self) -> bool {
        false
    }
}

/// A buffer for a message.
pub trait Sink {
    /// The most octets that a message may have here. Always the same, unless it is [lengthened](Lengthen).
    fn capacity(&self) -> usize;

    /// Stores octets from `offset` on. They are within the capacity.
    fn write(&mut self, offset: usize, octets: &[u8]);
}

/// Lengthens a buffer that a message has come for which is longer. False if there is no memory for it now: the message then counts
/// as lost, and comes again. If the buffer is to stay as it is, the message is too long.
pub type Lengthen<R> = Box<dyn FnMut(&mut R, Longer) -> bool + Send>;

/// A message for whose octets the buffer posted has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Longer {
    /// Octets of the message.
    pub octets: usize,
    /// Octets of such messages that are there, or begun, and that nobody has taken yet.
    pub untaken: usize,
    /// Whether all messages before have been taken. As long as there is no memory for this one, none will be.
    pub next: bool,
}

impl<T: AsRef<[u8]>> Source for T {
    fn len(&self) -> usize {
        self.as_ref().len()
    }

    fn read(&self, offset: usize, into: &mut [u8]) {
        into.copy_from_slice(&self.as_ref()[offset..offset + into.len()]);
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Sink for T {
    fn capacity(&self) -> usize {
        self.as_ref().len()
    }

    fn write(&mut self, offset: usize, octets: &[u8]) {
        self.as_mut()[offset..offset + octets.len()].copy_from_slice(octets);
    }
}

/// A message that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Octets of the message, at the beginning of the buffer.
    pub length: usize,
    /// 32 bits that the sender sent with it.
    pub immediate: Option<u32>,
}

/// Why a connection is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Broken {
    /// Closed by this side.
    #[error("closed by this side")]
    Closed,
    /// Reset by the peer.
    #[error("reset by the peer: {0:?}")]
    Reset(Reason),
    /// The peer sent a message that is longer than the buffer posted for it.
    #[error("a message was longer than the buffer posted for it")]
    TooLong,
    /// The peer's frames contradict one another.
    #[error("the peer's frames contradict one another")]
    Violation,
    /// The peer has been silent for too long.
    #[error("the peer is silent")]
    TimedOut,
}

/// Why a receive completes without a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ReceiveError {
    /// The message is longer than the buffer.
    #[error("the message is longer than the buffer")]
    TooLong,
    /// The connection is no more.
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// What happened on a connection. Everything posted comes back in one of these.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<S, R> {
    /// The peer has answered for the first time.
    Connected,
    /// The oldest send is complete; or it is not known how much of it the peer got.
    Sent(S, Result<(), Broken>),
    /// The oldest receive is complete.
    Received(R, Result<Arrived, ReceiveError>),
    /// The connection is no more. What was posted comes back first.
    Broken(Broken),
}

/// The number with these lower 32 bits that is nearest to another one.
fn expand(low: u32, near: u64) -> Option<u64> {
    let distance = low.wrapping_sub(near as u32) as i32;
    near.checked_add_signed(distance.into())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn numbers_near_another() {
        let near = 0x1_0000_0005;
        assert_eq!(expand(4, near), Some(0x1_0000_0004));
        assert_eq!(expand(0xffff_ffff, near), Some(0xffff_ffff));
        assert_eq!(expand(0x8000_0004, near), Some(0x1_8000_0004));
        assert_eq!(expand(0xffff_ffff, 0), None);
    }
}
