//! One VI between a client and a server, as calls need it: a message out, a message in.
//!
//! A message that fits into a registered buffer is written and read there; for longer ones there are [longer](super::bulk)
//! buffers. What fits into none goes in parts, each with the number of octets still to come as its immediate data, and is put
//! together by the receiver.

mod connect;
mod crowd;
mod desk;
mod error;
mod foresight;
mod octets;
mod receive;
mod send;

use std::sync::Arc;
use std::time::{Duration, Instant};

use throughline_cdr::Output;
use throughline_vi::{Bell, Buffer, LocalNetwork, SMALL_MESSAGE, State, TrustedPeers, Vi};
use throughline_wire::Kind;

pub(super) use self::connect::{DISCRIMINATOR, LinkMemory, SETTLE};
pub(crate) use self::crowd::Crowd;
pub(super) use self::desk::{Desk, Taken};
pub(crate) use self::error::LinkError;
pub(super) use self::foresight::Foresight;
pub(crate) use self::octets::Octets;
use self::octets::Rest;
use self::receive::Arrived;
use super::bulk::Bulk;

/// The longest message that is received without a buffer: no longer ones are [sent](throughline_vi::ViAttributes::inline_limit)
/// without one.
const COPIED: usize = 2048;

/// How links are made.
#[derive(Clone, Debug)]
pub(crate) struct LinkOptions {
    /// How long to look for a message before sleeping.
    pub(crate) spin: Duration,
    /// The longest message accepted, in octets.
    pub(crate) max_message: usize,
    /// Messages may be read where the peer has them.
    pub(crate) trusted: Option<TrustedPeers>,
    /// Those that wait for clients, of a server.
    pub(crate) crowd: Option<Arc<Crowd>>,
    /// What carries datagrams, if it is not the system.
    pub(crate) datagrams: Option<LocalNetwork>,
}

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct Link {
    vi: Vi,
    /// The buffer that the next message is written to.
    out: Option<Buffer>,
    bulk: Bulk,
    /// The peer copies long messages from where they lie.
    left: bool,
    /// The promise that the peer is to be trusted, if it has made it, too: requests may be changed where they lie, and come back so.
    lends: Option<TrustedPeers>,
    /// The request that was sent last was lent.
    on_loan: bool,
    /// The length of the last message that is so copied.
    long: usize,
    /// So many octets of the next buffer are to be [claimed](Buffer::claim) when there is time.
    claims: usize,
    arrived: Arrived,
    /// Where messages go that need no buffer: their octets, from the beginning.
    small: [u8; SMALL_MESSAGE],
    /// The same of those that are copied, though not small; and the first octets of those that are left with the peer.
    copied: Box<[u8; COPIED]>,
    /// See [`LinkMemory`]; none for who does not want to look at all.
    looks: u32,
    eager: u32,
    /// When answers come.
    foresight: Foresight,
    /// How long a buffer is looked for before sleeping in between.
    patience: Duration,
    /// Many messages are under way at a time.
    many: bool,
    /// Messages checked out.
    away: usize,
    /// Messages lent.
    lent: usize,
    /// So many requests more are not for a [`Desk`]: one of the last answers was more than it has room for.
    long_answers: u32,
    /// Registered buffers in each direction.
    buffers: u32,
    /// How many of those to receive into are not posted at first.
    spare: usize,
    /// The most that one of them holds.
    size: usize,
    /// What was sent is not with the peer before it says so, and nobody sends it again once this process has ended.
    settles: bool,
    /// Of the client, if it is on this machine.
    process: Option<u32>,
    max_message: usize,
    /// No longer than this is waited for room to write what is sent.
    until: Option<Instant>,
    /// Those that wait as this side may have to, if it is a server's.
    crowd: Option<Arc<Crowd>>,
}

impl Link {
    /// From now on many messages are likely to be under way at a time.
    #[cold]
    pub(crate) fn expect_many(&mut self) {
        self.many = true;
        self.vi.expect_many();
    }

    /// The client's process, if it is on this machine.
    pub(crate) fn process(&self) -> Option<u32> {
        self.process
    }

    /// Whether the peer was there when it was last looked for.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.vi.state() == State::Connected
    }

    /// Asks the system whether the peer is gone, which the next look for a message tells. By itself such a look asks seldom.
    #[cold]
    pub(crate) fn look_for_peer(&self) {
        if let Some(bell) = self.vi.bell() {
            bell.drain();
        }
    }

    /// Tells others than the link's owner that there is something to receive.
    pub(crate) fn bell(&self) -> Option<Bell> {
        self.vi.bell()
    }

    #[cold]
    fn why_not(&self) -> LinkError {
        match self.vi.state() {
            State::Stopped(why) => LinkError::Broken(why),
            _ => LinkError::Stalled,
        }
    }

    /// Breaks the connection, so that the peer does not take what it waits for as not carried out.
    pub(crate) fn abort(&mut self) {
        self.vi.abort();
    }

    /// Whether the answer that was written is one whose rest lies in the request.
    #[inline]
    fn is_returned(&self, used: usize) -> bool {
        let lent = matches!(self.arrived, Arrived::Lent(_)) && used != 0;
        lent && self.out.as_deref().and_then(Kind::peek) == Some(Kind::Returned)
    }

    /// Answers the message received last with what `answer` writes, if it writes anything.
    #[inline]
    pub(crate) fn answer(
        &mut self,
        overflow: &mut Vec<u8>,
        answer: impl FnOnce(Octets<'_>, Output<'_>),
    ) -> Result<(), LinkError> {
        self.room()?;
        let Self { vi, out, arrived, small, copied, .. } = self;
        let (mut used, mut rest) = (0, Rest::default());
        answer(
            arrived.open((small, copied), vi, &mut rest),
            Output::memory(out.as_deref_mut().unwrap_or_default(), &mut used, overflow),
        );
        let sent =
            if self.is_returned(used) { self.send_returned(used) } else { self.send_answer(used, overflow) };
        // Not before: the answer does not wait for this.
        self.answered(used);
        self.release();
        self.claim_next();
        sent
    }
}
