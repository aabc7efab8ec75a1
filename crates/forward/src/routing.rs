//! Routing protocols: which way leads where, and by which index at the next hop.
//!
//! [`DistanceVector`] is RIP version 2 or RIPng; [`LinkState`] floods what each router is connected to and computes shortest
//! paths. Both do no I/O: datagrams and the time go in, datagrams and changes of routes come out, and the owner tells them the
//! indices that its [`Table`](crate::threaded::Table) gives to their routes. Everything a neighbour sends is checked, what is
//! wrong is counted by [`Reason`], and memory is bounded whatever comes.

pub mod authentication;
mod distance_vector;
mod indices;
mod link_state;
mod random;
mod reason;
pub mod rip;

use throughline_stack::smoltcp::{
    time::Instant,
    wire::{IpAddress, IpCidr},
};

pub use {
    distance_vector::{DistanceVector, DistanceVectorConfig, Timers},
    link_state::{LinkState, LinkStateConfig, LinkStateTimers},
    reason::{Reason, Refusals},
};

/// A datagram that came.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// The interface it came by.
    pub interface: u16,
    /// Its source.
    pub from: IpAddress,
    /// Its source port.
    pub from_port: u16,
    /// Our port.
    pub port: u16,
    /// Its TTL or hop limit. Only RIP version 2 is believed unless it is 255, which shows that no router has passed it on
    /// (RFC 5082).
    pub hop_limit: u8,
}

/// One interface.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Our address and the prefix of the link. For IPv6 the link-local one.
    pub address: IpCidr,
    /// What passing the link costs: 1 to 15 for distance vectors.
    pub metric: u8,
    /// How neighbours show that they are.
    pub authentication: authentication::Authentication,
    /// The only neighbours to believe. All on the link, if empty.
    pub neighbors: Vec<IpAddress>,
}

impl Interface {
    /// With metric 1, no authentication, and any neighbours.
    pub fn new(address: IpCidr) -> Self {
        Self { address, metric: 1, authentication: Default::default(), neighbors: Vec::new() }
    }

    /// Whether a source is one that a neighbour on this link can have.
    fn is_neighbor(&self, heard: &Heard) -> Result<(), Reason> {
        let on_link = match heard.from {
            IpAddress::Ipv4(from) => self.address.contains_addr(&heard.from) && !from.is_broadcast(),
            IpAddress::Ipv6(from) => from.is_unicast_link_local(),
        };
        if !on_link || heard.from == self.address.address() {
            return Err(Reason::NotANeighbor);
        }
        // RIP version 2 came before that rule (RFC 5082), and FRR's sends with 1.
        let rip = matches!(heard.from, IpAddress::Ipv4(_)) && heard.port == rip::RIP_PORT;
        if !rip && heard.hop_limit != 255 {
            return Err(Reason::HopLimit);
        }
        if !self.neighbors.is_empty() && !self.neighbors.contains(&heard.from) {
            return Err(Reason::NotANeighbor);
        }
        Ok(())
    }
}

/// A way that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learned {
    /// Where it leads.
    pub prefix: IpCidr,
    /// The next router.
    pub next_hop: IpAddress,
    /// The interface to it.
    pub interface: u16,
    /// What the whole way costs.
    pub metric: u32,
    /// The next router's index of the prefix, or [`NO_INDEX`](crate::threaded::NO_INDEX).
    pub next_index: u32,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send a datagram, with TTL or hop limit 255 unless it is of RIP version 2, which has 1.
    Send {
        /// By this interface.
        interface: u16,
        /// To a multicast group, or a neighbour.
        to: IpAddress,
        /// From this port.
        from_port: u16,
        /// To this port.
        port: u16,
        /// The payload.
        bytes: Vec<u8>,
    },
    /// A route is there, or is another than before.
    Use(Learned),
    /// There is no way any more.
    Forget(IpCidr),
}

/// What a node asks of a routing protocol.
pub trait Routing {
    /// Takes in a datagram that came for one of [`ports`](Self::ports).
    fn receive(&mut self, heard: &Heard, bytes: &[u8], now: Instant);

    /// Appends what is to be done by now. To be called after everything else, and when [`poll_at`](Self::poll_at) says.
    fn poll(&mut self, now: Instant, actions: &mut Vec<Action>);

    /// When there will be something to do if nothing comes.
    fn poll_at(&self) -> Option<Instant>;

    /// Tells others of a prefix of our own: a link we are on, or a route that was configured.
    fn originate(&mut self, prefix: IpCidr, metric: u8, now: Instant);

    /// No longer.
    fn withdraw(&mut self, prefix: IpCidr, now: Instant);

    /// The index our table has given to a prefix, which neighbours are told, or [`NO_INDEX`](crate::threaded::NO_INDEX).
    fn assigned(&mut self, prefix: IpCidr, index: u32, now: Instant);

    /// An interface works, or does not, as far as can be seen from here.
    fn set_link(&mut self, interface: u16, up: bool, now: Instant);

    /// Of two protocols that know a way the one with the higher number is believed: what has seen the whole network knows
    /// more than hearsay.
    fn trust(&self) -> u8;

    /// UDP ports it listens at.
    fn ports(&self) -> &'static [u16];

    /// Multicast groups it belongs to.
    fn groups(&self) -> Vec<IpAddress>;

    /// What was refused.
    fn refusals(&self) -> &Refusals;
}
