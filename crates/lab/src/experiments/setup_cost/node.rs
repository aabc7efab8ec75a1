//! The node between a source and its destinations: a router of ours, and indices before it.

use std::net::Ipv4Addr;

use throughline_forward::threaded::{NO_INDEX, Prefix, Route, Step, Table};
use throughline_forward::{FlowIndex, Outgoing, Packet, PortId, Router, set_index};
use throughline_stack::Message;
use throughline_stack::smoltcp::time::{Duration, Instant};
use throughline_stack::smoltcp::wire::EthernetAddress;
use throughline_wire::{Flow, precomputed_hash};

use super::frames::{self, DESTINATION, ETHERNET};
use super::table::{INNER, NEXT, OUTER, SOURCE, host, prefixes, router};
use crate::LabError;

/// As many places as there are routes in the Internet, and some.
pub(crate) const THREADED_PLACES: usize = 1 << 20;
/// For circuits.
pub(crate) const CIRCUIT_PLACES: usize = 65_536;

/// Whose index a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// Nobody's: each takes the long way.
    Datagram,
    /// One that the node gave its flow in answer to a packet that set it up.
    Circuit,
    /// A source hash.
    SourceHash,
    /// That of its destination, which the source knew before.
    Threaded,
}

impl Scheme {
    pub(crate) const ALL: [Self; 4] = [Self::Datagram, Self::Circuit, Self::SourceHash, Self::Threaded];

    /// The name in rows.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Datagram => "datagram",
            Self::Circuit => "virtual-circuit",
            Self::SourceHash => "source-hash",
            Self::Threaded => "threaded",
        }
    }
}

/// How a packet's way was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// By the longest prefix.
    Long,
    /// By an index.
    Short,
}

pub(super) struct Node {
    router: Router,
    /// The index of each destination's prefix.
    pub(super) threaded: Table<Ipv4Addr, THREADED_PLACES>,
    /// A place for each flow.
    circuits: Table<Ipv4Addr, CIRCUIT_PLACES>,
    flows: u32,
}

impl Node {
    /// A node with so many routes.
    pub(super) fn new(routes: usize) -> Result<Self, LabError> {
        let mut threaded = Table::new(Duration::ZERO);
        for prefix in prefixes().take(routes) {
            let prefix = Prefix::around(prefix.address(), prefix.prefix_len());
            prefix.map(|prefix| threaded.insert(prefix, onward(), Instant::ZERO));
        }
        let circuits = Table::new(Duration::ZERO);
        Ok(Self { router: router(routes, FlowIndex::Carried)?, threaded, circuits, flows: 0 })
    }

    /// Who is next door, from now on for a while.
    pub(super) fn meet(&mut self, now: Instant, out: &mut Outgoing) {
        for (port, address) in [(INNER, SOURCE), (OUTER, NEXT)] {
            let frame = frames::question(port, address);
            self.router.arrive(port, Message::copied(128, &frame), now, out);
            out.frames.drain(..).for_each(|(_, frame)| out.pool.give(frame));
        }
    }

    /// A flow that the node has not seen, with a hash far from those of the flows before it.
    pub(super) fn fresh(&mut self) -> Flow {
        self.flows += 1;
        let id = self.flows.into();
        Flow { id, source_hash: precomputed_hash(id) }
    }

    /// What the source is told of a destination before it sends anything there.
    pub(super) fn index_of(&self, destination: Ipv4Addr) -> u32 {
        self.threaded.find(destination).map_or(NO_INDEX, |(.., index)| index)
    }

    /// Sends a packet on, by its index where it has one of ours. How its way was found; none if it was for nobody.
    pub(super) fn arrive(
        &mut self,
        scheme: Scheme,
        port: PortId,
        mut frame: Message,
        now: Instant,
        out: &mut Outgoing,
    ) -> Option<Lookup> {
        if let Some(step) = self.step(scheme, frame.bytes()) {
            let to = host(OUTER, 2).hardware;
            rewrite(frame.bytes_mut(), step, to, self.router.host(OUTER).hardware);
            out.push(PortId(step.port()), frame);
            return Some(Lookup::Short);
        }
        let (hits, forwarded) = (self.router.flow_counts(port).hits, self.router.counts().forwarded);
        self.router.arrive(port, frame, now, out);
        if self.router.counts().forwarded == forwarded {
            return None;
        }
        if scheme == Scheme::Circuit && port == OUTER {
            self.set_up(now, out);
        }
        Some(if self.router.flow_counts(port).hits > hits { Lookup::Short } else { Lookup::Long })
    }

    /// Where the packet's index leads.
    fn step(&self, scheme: Scheme, frame: &[u8]) -> Option<Step> {
        let packet = Packet::of(frame).ok()?;
        let label = packet.label.filter(|label| label.threaded)?;
        let destination = Ipv4Addr::from(*packet.bytes().get(DESTINATION..)?.first_chunk::<4>()?);
        match scheme {
            Scheme::Circuit => self.circuits.follow(label.flow.source_hash, destination),
            _ => self.threaded.follow(label.flow.source_hash, destination),
        }
    }

    /// The answer to a packet that set a circuit up is on its way to the source: it is told the index of whom it asked.
    fn set_up(&mut self, now: Instant, out: &mut Outgoing) {
        let Some((_, frame)) = out.frames.last_mut() else { return };
        let Ok(packet) = Packet::of(frame.bytes()) else { return };
        let source = packet.bytes().get(DESTINATION - 4..).and_then(|bytes| bytes.first_chunk::<4>());
        let prefix = source.and_then(|source| Prefix::around(Ipv4Addr::from(*source), 32));
        if let (Some(prefix), Some(_)) = (prefix, packet.label) {
            let index = self.circuits.insert(prefix, onward(), now);
            set_index(frame.bytes_mut(), index);
        }
    }
}

/// The way of all that goes to the destinations.
fn onward() -> Route<Ipv4Addr> {
    Route { port: OUTER.0, next_hop: Some(NEXT), next_index: NO_INDEX, indexed: true }
}

/// What else changes in a packet that is sent on by its index; what comes by the router has it done there.
fn rewrite(frame: &mut [u8], step: Step, to: EthernetAddress, from: EthernetAddress) {
    set_index(frame, step.next_index());
    frame[..6].copy_from_slice(&to.0);
    frame[6..12].copy_from_slice(&from.0);
    frames::pass(&mut frame[ETHERNET..]);
}
