//! A port of a router: its network, the router as a host there, and what it has kept of the flows that come by it.

use throughline_stack::{
    Config, Graph, Host,
    smoltcp::wire::{IpAddress, IpCidr},
};

use super::{
    Route, RouterError,
    anycast::of_all_routers,
    pieces::{Pieces, pieces},
    routes::Routes,
    way::Way,
};
use crate::{FlowCache, FlowCacheConfig, PortId, PortLabels, edge::Edge, ip::Key, threaded::source::whole};

/// One of a router's networks.
#[derive(Clone, Debug)]
pub struct RouterPort {
    /// The router's addresses there, and the longest packet.
    pub host: Host,
    /// Whether the neighbours there know labels, and who gets one.
    pub labels: PortLabels,
}

/// What the ports do as hosts.
const GRAPH_V4: &str = "udp > ipv4 > eth; arp > eth";
const GRAPH_BOTH: &str = "udp > ipv4 > eth; udp > ipv6 > eth; arp > eth; icmp6 > ipv6";

pub(super) struct Port {
    pub host: Host,
    /// Whether the neighbours know labels.
    pub labels: bool,
    /// The labels of packets that come without.
    pub edge: Option<Edge>,
    /// The router as a host on this network: address resolution, and users of UDP such as routing protocols.
    pub graph: Graph,
    pub cache: FlowCache<Key, Way>,
    /// Of the hardware addresses that ways were found with.
    pub generation: u32,
    /// Of packets to the router.
    pub pieces: Pieces,
    /// Whether the link works.
    pub up: bool,
}

impl Port {
    pub fn new(port: RouterPort, cache: FlowCacheConfig) -> Result<Self, RouterError> {
        let v6 = port.host.addresses.iter().any(|cidr| matches!(cidr, IpCidr::Ipv6(_)));
        let mut graph = Graph::compose(if v6 { GRAPH_BOTH } else { GRAPH_V4 }, port.host, Config::default())?;
        graph.keep_neighbors();
        graph.route_for_others();
        let edge = Edge::new(port.labels, cache)?;
        let cache = FlowCache::new(cache)?;
        // With the address that the graph has added, if it speaks IPv6.
        let host = graph.host().clone();
        let labels = port.labels.known;
        Ok(Self { host, labels, edge, graph, cache, generation: 0, pieces: pieces(), up: true })
    }

    /// Whether an address is on a network of this port that has others too.
    pub fn has_network_of(&self, address: IpCidr) -> bool {
        let network =
            |cidr: &IpCidr| cidr.prefix_len() < address.prefix_len() && cidr.contains_subnet(&address);
        self.host.addresses.iter().any(network)
    }
}

/// Whether these are addresses of a link, to which nothing is routed.
pub(crate) fn is_of_the_link(cidr: &IpCidr) -> bool {
    matches!(cidr, IpCidr::Ipv6(cidr) if cidr.address().is_unicast_link_local())
}

/// Whether a route to this prefix would be one to the router itself, which has these addresses, or to all on one of its networks.
pub(crate) fn is_ours(prefix: &IpCidr, addresses: &[IpCidr]) -> bool {
    let broadcast = |cidr: &IpCidr| match cidr {
        IpCidr::Ipv4(cidr) => cidr.broadcast().map(IpAddress::from),
        IpCidr::Ipv6(_) => None,
    };
    let is = |address: IpAddress| *prefix == whole(address);
    let shared = |cidr: &IpCidr| of_all_routers(cidr) == Some(*prefix);
    addresses.iter().any(|cidr| is(cidr.address()) || broadcast(cidr).is_some_and(is) || shared(cidr))
}

/// The routes to the networks of a port, and to the router itself.
pub(super) fn connect<T: Default>(routes: &mut Routes<T>, port: PortId, host: &Host) {
    let host = host.clone();
    let v6 = host.addresses.iter().any(|cidr| matches!(cidr, IpCidr::Ipv6(_)));
    let host = if v6 { host.with_link_local() } else { host };
    for cidr in &host.addresses {
        let whole = match cidr {
            IpCidr::Ipv4(_) => 32,
            IpCidr::Ipv6(_) => 128,
        };
        let ours = IpCidr::new(cidr.address(), whole);
        if !is_of_the_link(cidr) && routes.get(*cidr) != Some(Route::Here) {
            routes.insert(*cidr, Route::Out { port, via: None });
        }
        routes.insert(ours, Route::Here);
        if let Some(shared) = of_all_routers(cidr) {
            routes.insert(shared, Route::Here);
        }
        if let IpCidr::Ipv4(cidr) = cidr
            && let Some(broadcast) = cidr.broadcast()
        {
            routes.insert(IpCidr::new(broadcast.into(), 32), Route::Here);
        }
    }
}
