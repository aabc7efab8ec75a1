//! Where a packet goes next: by its threaded index, by its flow, or by the longest prefix.

use std::net::IpAddr;

use throughline_stack::smoltcp::{time::Instant, wire::EthernetAddress};

use super::{Route, Router, Seen, icmp::Error, threads::Followed};
use crate::{
    Label, PortId,
    ip::{Key, key},
};

/// Where a node looks for a packet's flow before it takes the long way: a search for the longest prefix, or all filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowIndex {
    /// Nowhere: each packet takes the long way.
    Never,
    /// At the source hash that the packet carries, if it does.
    Carried,
    /// At a hash that the node computes: a router over the destination, filters over all headers of the flow.
    Computed,
    /// As carried, otherwise computed.
    #[default]
    Either,
}

impl FlowIndex {
    /// Where the flow of a packet with this label and key is.
    #[inline]
    fn of(self, label: Option<Label>, key: Key) -> Option<u32> {
        let carried = label.filter(|label| !label.threaded).map(|label| label.flow.source_hash);
        match self {
            Self::Never => None,
            Self::Carried => carried,
            Self::Computed => Some(hash(key)),
            Self::Either => carried.or_else(|| Some(hash(key))),
        }
    }
}

/// A number of which all bits depend on all bits of the address. Who knows it can make flows collide, his own and others' on
/// his port.
#[inline]
fn hash([high, low]: Key) -> u32 {
    let folded = low ^ high.rotate_left(32);
    (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Way {
    pub port: PortId,
    pub hardware: EthernetAddress,
}

/// The hardware address of the next router, and of which generation it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolved {
    hardware: EthernetAddress,
    generation: u32,
}

/// What is known of where a packet goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    Known(Way),
    /// The hardware address of this next hop is to be found out.
    Asked(PortId, IpAddr),
    /// To the router itself.
    Here,
}

impl Router {
    /// Where a packet goes; `from` is the port that it came by, if it is not the router's own.
    #[inline]
    pub(super) fn next(
        &mut self,
        from: Option<PortId>,
        seen: &mut Seen,
        now: Instant,
    ) -> Result<Next, Error> {
        if let Some(Label { flow, threaded: true }) = seen.label
            && let Some(next) = self.follow(flow.source_hash, seen, now)
        {
            return Ok(next);
        }
        let key = key(seen.ip.destination);
        let place = from.and_then(|from| Some((from, self.index.of(seen.label, key)?)));
        if let Some((from, index)) = place
            && let Some(way) = self.ports[from.index()].cache.find(index, &key, now)
        {
            return Ok(Next::Known(way));
        }
        let next = self.find(seen.ip.destination, now)?;
        if let (Some((from, index)), Next::Known(way)) = (place, next) {
            self.ports[from.index()].cache.put(index, key, way, now);
        }
        Ok(next)
    }

    /// By threaded index; `None` if that is not the destination's.
    #[inline]
    fn follow(&mut self, index: u32, seen: &mut Seen, now: Instant) -> Option<Next> {
        let destination = seen.ip.destination;
        let threads = self.threads.as_mut()?;
        let Followed { port, via, next_index } = threads.follow(index, destination)?;
        seen.next_index = next_index;
        self.counts.threaded += 1;
        let graph = &mut self.ports[port.index()].graph;
        let Some(via) = via else {
            // The last router: it knows the host.
            if self.routes.find(destination).is_none_or(|hop| hop.route == Route::Here) {
                return Some(Next::Here);
            }
            let hardware = graph.neighbor_for_stranger(destination.into(), now);
            return Some(
                hardware
                    .map_or(Next::Asked(port, destination), |hardware| Next::Known(Way { port, hardware })),
            );
        };
        let known = threads.hop(index, destination);
        if let Some(Resolved { hardware, generation }) = *known
            && generation == graph.neighbors_generation()
        {
            return Some(Next::Known(Way { port, hardware }));
        }
        let Some(hardware) = graph.neighbor(via.into(), now) else { return Some(Next::Asked(port, via)) };
        *known = Some(Resolved { hardware, generation: graph.neighbors_generation() });
        Some(Next::Known(Way { port, hardware }))
    }

    /// The long way.
    fn find(&mut self, destination: IpAddr, now: Instant) -> Result<Next, Error> {
        let hop = self.routes.find(destination).ok_or(Error::NoRoute)?;
        let Route::Out { port, via } = hop.route else { return Ok(Next::Here) };
        let graph = &mut self.ports[port.index()].graph;
        if let Some(Resolved { hardware, generation }) = hop.known
            && generation == graph.neighbors_generation()
        {
            return Ok(Next::Known(Way { port, hardware }));
        }
        let (neighbor, hardware) = match via {
            Some(via) => (via, graph.neighbor(via.into(), now)),
            None => (destination, graph.neighbor_for_stranger(destination.into(), now)),
        };
        let Some(hardware) = hardware else { return Ok(Next::Asked(port, neighbor)) };
        hop.known = via.map(|_| Resolved { hardware, generation: graph.neighbors_generation() });
        Ok(Next::Known(Way { port, hardware }))
    }
}
