//! VIs over datagrams that may be lost, doubled and overtake one another: the protocol of [`reliable`](crate::reliable) on
//! whatever carries datagrams, a [`Wire`].
//!
//! - A [`Port`] is a wire with all connections over it, behind one lock. Whoever polls a VI takes in what came,
//!   for all of them.
//! - A [`Watch`](watch::Watch) tells a VI of what others took in for it, and wakes its sleeper. One of the sleepers of a
//!   port looks out for all.
//! - The [`keeper`] is a thread that looks after ports nobody polls: it acknowledges, repeats and says farewell. It sleeps
//!   while nothing happens.

mod bell;
mod connect;
mod hold;
mod keeper;
mod link;
mod longer;
mod message;
mod port;
mod remote;
mod roles;
mod short;
mod state;
mod watch;

use crate::reliable::{
    Ecn,
    batch::Run,
    congestion::{Dctcp, MakeCongestion},
};
use std::{fmt, hash::Hash, io, os::fd::BorrowedFd, sync::Arc};

pub(crate) use self::{connect::Listener, link::DatagramLink, port::Port, remote::Windows};

/// Carries datagrams.
pub(crate) trait Wire: Send + 'static {
    type Address: Copy + Eq + Hash + fmt::Debug + Send + Sync + 'static;

    /// What has arrived, if anything has. Unless it is looked for `everywhere`, that may be told a few times later.
    fn receive(&mut self, into: &mut [u8], everywhere: bool) -> Option<Reception<Self::Address>>;

    /// How many datagrams leave together, at most.
    fn most_together(&self) -> usize {
        1
    }

    /// Sends datagrams, so many; `false` if there is no room for them now. Whatever else goes wrong counts as loss.
    fn send(&mut self, run: &Run<Self::Address>, octets: &[u8]) -> bool;

    /// Whether the system says, and can be believed, that nobody has the peer's address. Asked once after each time.
    fn is_refused(&mut self) -> bool {
        false
    }

    /// One of them is readable when something has arrived. They stay the same as long as it is looked for everywhere.
    fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>>;
}

/// One datagram of a peer, or several that came together.
pub(crate) struct Reception<A> {
    pub(crate) from: A,
    pub(crate) ecn: Ecn,
    /// Octets altogether.
    pub(crate) len: usize,
    /// Octets of each but the last.
    pub(crate) each: usize,
}

/// A NIC's door to wires.
pub(crate) trait Door: Send + Sync + 'static {
    type Wire: Wire;

    /// The address, if it is one.
    fn parse(&self, address: &str) -> Option<<Self::Wire as Wire>::Address>;

    /// A wire for one connection to there.
    fn wire_to(&self, address: <Self::Wire as Wire>::Address) -> io::Result<Self::Wire>;

    /// The longest frames on the way there: tried, and taken for granted.
    fn frames(&self, address: <Self::Wire as Wire>::Address) -> [u16; 2];

    /// What decides how much may be under way there.
    fn congestion(&self, _address: <Self::Wire as Wire>::Address) -> MakeCongestion {
        Dctcp::boxed
    }

    /// What peers may reach.
    fn windows(&self) -> &Arc<Windows>;
}
