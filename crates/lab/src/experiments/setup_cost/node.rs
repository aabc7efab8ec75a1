//! The node between a source and its destinations: a router of ours, with indices of its own.

use std::net::{IpAddr, Ipv4Addr};

use throughline_forward::{FlowIndex, Labeller, Outgoing, Packet, PortId, Route, Router, set_index};
use throughline_stack::Message;
use throughline_stack::smoltcp::time::Instant;
use throughline_stack::smoltcp::wire::IpCidr;
use throughline_wire::Flow;

use super::frames::{self, DESTINATION};
use super::table::{INNER, NEXT, OUTER, SOURCE, indexed_router};
use crate::LabError;
use crate::experiments::paths::failed;

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
    labeller: Labeller,
    /// The circuit that is set up.
    circuit: Option<IpCidr>,
}

impl Node {
    /// A node with so many routes, of which those of an area have indices.
    pub(super) fn new(routes: usize) -> Result<Self, LabError> {
        let router = indexed_router(routes, FlowIndex::Carried)?;
        Ok(Self { router, labeller: Labeller::with_random([1, 2]), circuit: None })
    }

    /// Who is next door, from now on for a while.
    pub(super) fn meet(&mut self, now: Instant, out: &mut Outgoing) {
        for (port, address) in [(INNER, SOURCE), (OUTER, NEXT)] {
            let frame = frames::question(port, address);
            self.router.arrive(port, Message::copied(128, &frame), now, out);
            out.frames.drain(..).for_each(|(_, frame)| out.pool.give(frame));
        }
    }

    /// A flow that the node has not seen.
    pub(super) fn fresh(&mut self) -> Flow {
        self.labeller.random().flow
    }

    /// What the source is told of a destination before it sends anything there.
    pub(super) fn index_of(&self, destination: Ipv4Addr) -> u32 {
        self.router.index_for(IpAddr::V4(destination))
    }

    /// Sends a packet on. How its way was found; none if it was for nobody.
    pub(super) fn arrive(
        &mut self,
        scheme: Scheme,
        port: PortId,
        frame: Message,
        now: Instant,
        out: &mut Outgoing,
    ) -> Result<Option<Lookup>, LabError> {
        let found = |router: &Router| router.flow_counts(port).hits + router.counts().threaded;
        let (before, forwarded) = (found(&self.router), self.router.counts().forwarded);
        self.router.arrive(port, frame, now, out);
        if self.router.counts().forwarded == forwarded {
            return Ok(None);
        }
        let lookup = if found(&self.router) > before { Lookup::Short } else { Lookup::Long };
        if scheme == Scheme::Circuit && port == OUTER {
            self.set_up(out)?;
        }
        Ok(Some(lookup))
    }

    /// The answer to a packet that set a circuit up is on its way to the source: the node makes an entry for whom it asked, as for any
    /// route, and the source is told its index.
    fn set_up(&mut self, out: &mut Outgoing) -> Result<(), LabError> {
        let (_, frame) = out.frames.last_mut().ok_or_else(|| failed("a circuit's answer is lost"))?;
        let packet = Packet::of(frame.bytes()).map_err(failed)?;
        let source = packet.bytes().get(DESTINATION - 4..).and_then(|bytes| bytes.first_chunk::<4>());
        let asked = Ipv4Addr::from(*source.ok_or_else(|| failed("an answer without a source"))?);
        if packet.label.is_none() {
            return Err(failed("a circuit's answer has no label"));
        }
        let prefix = IpCidr::new(asked.into(), 32);
        let route = Route::Out { port: OUTER, via: Some(NEXT.into()) };
        self.router.add_route(prefix, route).map_err(failed)?;
        self.circuit = Some(prefix);
        set_index(frame.bytes_mut(), self.router.index_of(prefix));
        Ok(())
    }

    /// The flow is over: what was set up for it is taken down.
    pub(super) fn over(&mut self) {
        if let Some(prefix) = self.circuit.take() {
            self.router.remove_route(prefix);
        }
    }
}
