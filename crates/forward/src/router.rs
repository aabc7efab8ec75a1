//! A router for IPv4 and IPv6 (RFC 1812, RFC 8200), with a cache of flows in front of its routes.
//!
//! It does no input or output: frames and the time are handed in, and frames are taken out.

mod area;
mod control;
mod counts;
mod depart;
mod fragment;
mod icmp;
mod label;
mod learned;
mod local;
mod multicast;
mod pending;
mod routes;
mod threads;

use std::{collections::HashSet, net::IpAddr};

use throughline_demux::ConfigError;
use throughline_stack::{
    Allowance, ComposeError, Config, Graph, Host, Message,
    smoltcp::{
        time::Instant,
        wire::{EthernetAddress, IpCidr},
    },
};

use self::{
    icmp::Error,
    pending::Pending,
    routes::Routes,
    threads::{Followed, Threads},
};
use crate::{
    FlowCache, FlowCacheConfig, FlowCounts, FrameError, Label, Outgoing, Packet, PortId, PortLabels,
    edge::Edge,
    ip::{Ip, Key, key},
    threaded::{NO_INDEX, TableCounts},
};

pub(crate) use self::multicast::{MOST_GROUPS, MOST_PORTS, leaves_the_link};
pub use self::{
    counts::{Refused, RouterCounts},
    multicast::MulticastConfig,
    routes::Route,
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

/// How a router works.
#[derive(Clone, Copy, Debug, Default)]
pub struct RouterConfig {
    /// Where it looks first.
    pub index: FlowIndex,
    /// The cache of each port.
    pub cache: FlowCacheConfig,
    /// Whether routes have threaded indices. They take 6 MiB.
    pub threaded: bool,
}

/// One of a router's networks.
#[derive(Clone, Debug)]
pub struct RouterPort {
    /// The router's addresses there, and the longest packet.
    pub host: Host,
    /// Whether the neighbours there know labels, and who gets one.
    pub labels: PortLabels,
}

/// A router, as a table of routes and the ports between which it forwards.
pub struct Router {
    ports: Vec<Port>,
    routes: Routes<Option<Resolved>>,
    index: FlowIndex,
    pending: Pending,
    allowance: Allowance,
    counts: RouterCounts,
    /// UDP ports of which messages to the router go to the graph of the port they came by.
    control: Vec<u16>,
    threads: Option<Threads>,
    protocols: Vec<control::Protocol>,
    multicast: Option<multicast::Multicast>,
    /// Prefixes whose routes are those of a protocol.
    chosen: HashSet<IpCidr>,
    /// When it was last polled.
    now: Instant,
}

struct Port {
    host: Host,
    /// Whether the neighbours know labels.
    labels: bool,
    /// The labels of packets that come without.
    edge: Option<Edge>,
    /// The router as a host on this network: address resolution, and users of UDP such as routing protocols.
    graph: Graph,
    cache: FlowCache<Key, Way>,
    /// Of the hardware addresses that ways were found with.
    generation: u32,
}

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    port: PortId,
    hardware: EthernetAddress,
}

/// The hardware address of the next router, and of which generation it is.
#[derive(Clone, Copy, Debug)]
struct Resolved {
    hardware: EthernetAddress,
    generation: u32,
}

/// What is known of where a packet goes.
#[derive(Clone, Copy, Debug)]
enum Next {
    Known(Way),
    /// The hardware address of this next hop is to be found out.
    Asked(PortId, IpAddr),
    /// To the router itself.
    Here,
}

/// What was seen of a packet.
#[derive(Clone, Copy)]
struct Seen {
    ip: Ip,
    /// Where it begins in the frame.
    offset: usize,
    label: Option<Label>,
    /// What replaces its index, if that led anywhere.
    next_index: u32,
}

/// What the ports do as hosts.
const GRAPH_V4: &str = "udp > ipv4 > eth; arp > eth";
const GRAPH_BOTH: &str = "udp > ipv4 > eth; udp > ipv6 > eth; arp > eth; icmp6 > ipv6";
const ARP: u16 = 0x0806;

impl Router {
    /// A router with these ports, which knows the way to their networks and no other.
    ///
    /// # Errors
    /// [`RouterError`].
    pub fn new(ports: Vec<RouterPort>, config: RouterConfig) -> Result<Self, RouterError> {
        let mut routes = Routes::new();
        for (number, port) in ports.iter().enumerate() {
            connect(&mut routes, PortId(number as u16), &port.host);
        }
        let ports =
            ports.into_iter().map(|port| Port::new(port, config.cache)).collect::<Result<Vec<_>, _>>()?;
        let mut threads = config.threaded.then(Threads::new);
        if let Some(threads) = &mut threads {
            for (prefix, route) in routes.iter() {
                // An address of ours is looked for when an index has led to its network, which would have none otherwise.
                let near =
                    route == Route::Here && ports.iter().any(|port: &Port| port.has_network_of(prefix));
                if !near {
                    threads.insert(prefix, route, NO_INDEX, Instant::ZERO);
                }
            }
        }
        Ok(Self {
            threads,
            protocols: Vec::new(),
            multicast: None,
            chosen: HashSet::new(),
            now: Instant::ZERO,
            ports,
            routes,
            index: config.index,
            pending: Pending::default(),
            allowance: Allowance::default(),
            counts: RouterCounts::default(),
            control: Vec::new(),
        })
    }

    /// Sets where packets with this prefix go, and returns where they went before.
    ///
    /// # Errors
    /// [`RouteError`]; nothing has changed.
    pub fn add_route(&mut self, prefix: IpCidr, route: Route) -> Result<Option<Route>, RouteError> {
        if let Route::Out { port, via } = route {
            let port = self.ports.get(port.index()).ok_or(RouteError::NoPort(port))?;
            let near =
                |via: &IpAddr| port.host.addresses.iter().any(|cidr| cidr.contains_addr(&(*via).into()));
            if let Some(via) = via.filter(|via| !near(via)) {
                return Err(RouteError::NotNear(via));
            }
        }
        if self.routes.get(prefix) == Some(Route::Here) {
            return Err(RouteError::Ours(prefix));
        }
        let before = self.routes.get(prefix);
        self.configure(prefix, route, self.now);
        Ok(before)
    }

    /// Takes a route away, unless it leads to the router itself or was learned. Where it led. If a protocol has learned
    /// another way, that is used.
    pub fn remove_route(&mut self, prefix: IpCidr) -> Option<Route> {
        if self.routes.get(prefix) == Some(Route::Here) {
            return None;
        }
        self.unconfigure(prefix, self.now)
    }

    /// Takes a route into all tables. Its threaded index.
    fn set(&mut self, prefix: IpCidr, route: Route, next_index: u32, now: Instant) -> u32 {
        // An index of the next hop alone changes no way.
        if self.routes.insert(prefix, route) != Some(route) {
            self.changed();
        }
        self.threads.as_mut().map_or(NO_INDEX, |threads| threads.insert(prefix, route, next_index, now))
    }

    fn unset(&mut self, prefix: IpCidr, now: Instant) -> Option<Route> {
        let before = self.routes.remove(prefix)?;
        self.changed();
        if let Some(threads) = &mut self.threads {
            threads.remove(prefix, now);
        }
        Some(before)
    }

    /// All routes, in no order.
    pub fn routes(&self) -> impl Iterator<Item = (IpCidr, Route)> {
        self.routes.iter()
    }

    /// How many routes there are.
    pub fn route_count(&self) -> usize {
        self.routes.len()
    }

    /// The route that a packet to this address takes.
    pub fn route_to(&mut self, destination: IpAddr) -> Option<Route> {
        self.routes.find(destination).map(|hop| hop.route)
    }

    /// The router as a host on the network of a port.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn graph(&mut self, port: PortId) -> &mut Graph {
        &mut self.ports[port.index()].graph
    }

    /// What the router is called on the network of a port.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn host(&self, port: PortId) -> &Host {
        &self.ports[port.index()].host
    }

    /// Has datagrams to this UDP port of the router handed to the [`graph`](Self::graph) of the port they come by.
    pub fn listen(&mut self, udp: u16) {
        self.control.push(udp);
    }

    /// What became of the frames so far.
    pub fn counts(&self) -> &RouterCounts {
        &self.counts
    }

    /// How often threaded indices were of no use; `None` if there are none.
    pub fn thread_counts(&self) -> Option<TableCounts> {
        self.threads.as_ref().map(Threads::counts)
    }

    /// The threaded index of a prefix, which those who send to it may write on their packets;
    /// [`NO_INDEX`] if it has none.
    pub fn index_of(&self, prefix: IpCidr) -> u32 {
        self.threads.as_ref().map_or(NO_INDEX, |threads| threads.index_of(prefix))
    }

    /// The threaded index that a source is told for packets to a destination: that of the longest prefix it lies in;
    /// [`NO_INDEX`] if that has none, or longer ones within, so that packets carry a source hash.
    pub fn index_for(&self, destination: IpAddr) -> u32 {
        self.threads.as_ref().map_or(NO_INDEX, |threads| threads.index_for(destination))
    }

    /// What became of the lookups in the flow cache of a port.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn flow_counts(&self, port: PortId) -> FlowCounts {
        self.ports[port.index()].cache.counts()
    }

    /// A route is another: what was found by the old ones holds no longer.
    fn changed(&mut self) {
        self.ports.iter_mut().for_each(|port| port.cache.invalidate());
    }

    /// Takes a frame that came in by a port, and puts what leaves into `out`.
    ///
    /// # Panics
    /// If there is no such port.
    #[inline]
    pub fn arrive(&mut self, port: PortId, mut frame: Message, now: Instant, out: &mut Outgoing) {
        self.counts.arrived += 1;
        let mut seen = match self.see(port, &mut frame) {
            Ok(seen) => seen,
            Err(Refused::Protocol) => return self.other(port, frame, now, out),
            Err(why) => return self.refuse(why, frame, out),
        };
        frame.truncate(seen.offset + seen.ip.length);
        if seen.ip.is_to_many() {
            return self.for_many(port, frame, seen, now, out);
        }
        match self.next(Some(port), &mut seen, now) {
            Ok(Next::Here) => self.here(port, frame, seen, now, out),
            Ok(_) if seen.ip.is_of_the_link() => self.refuse(Refused::Destination, frame, out),
            Ok(_) if seen.ip.hops <= 1 => self.complain(port, Error::TimeExceeded, frame, seen, now, out),
            Ok(next) => self.forward(port, next, frame, seen, now, out),
            Err(error) => self.complain(port, error, frame, seen, now, out),
        }
    }

    #[inline]
    fn see(&mut self, port: PortId, frame: &mut Message) -> Result<Seen, Refused> {
        if !self.ports[port.index()].labels {
            self.distrust(frame)?;
        }
        let packet = Packet::of(frame.bytes()).map_err(|error| match error {
            FrameError::TooShort(_) => Refused::Truncated,
            FrameError::Label(_) | FrameError::NotAPacket => Refused::Label,
        })?;
        let to = packet.destination();
        if to != self.ports[port.index()].host.hardware && to.is_unicast() {
            return Err(Refused::NotForUs);
        }
        let ip = Ip::of(packet.ethertype, packet.bytes())?;
        // Sent to all on the link, yet for one far away (RFC 1812, 5.3.4).
        if !to.is_unicast() && !ip.is_to_many() {
            return Err(Refused::NotForUs);
        }
        Ok(Seen { ip, offset: packet.offset, label: packet.label, next_index: NO_INDEX })
    }

    /// Where a packet goes; `from` is the port that it came by, if it is not the router's own.
    #[inline]
    fn next(&mut self, from: Option<PortId>, seen: &mut Seen, now: Instant) -> Result<Next, Error> {
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
            let hardware = graph.neighbor(destination.into(), now);
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
        let neighbor = via.unwrap_or(destination);
        let Some(hardware) = graph.neighbor(neighbor.into(), now) else {
            return Ok(Next::Asked(port, neighbor));
        };
        hop.known = via.map(|_| Resolved { hardware, generation: graph.neighbors_generation() });
        Ok(Next::Known(Way { port, hardware }))
    }

    #[cold]
    fn refuse(&mut self, why: Refused, frame: Message, out: &mut Outgoing) {
        self.counts.refuse(why);
        out.pool.give(frame);
    }
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

impl Port {
    fn new(port: RouterPort, cache: FlowCacheConfig) -> Result<Self, RouterError> {
        let v6 = port.host.addresses.iter().any(|cidr| matches!(cidr, IpCidr::Ipv6(_)));
        let graph = Graph::compose(if v6 { GRAPH_BOTH } else { GRAPH_V4 }, port.host, Config::default())?;
        let edge = Edge::new(port.labels, cache)?;
        let cache = FlowCache::new(cache)?;
        // With the address that the graph has added, if it speaks IPv6.
        let host = graph.host().clone();
        Ok(Self { host, labels: port.labels.known, edge, graph, cache, generation: 0 })
    }

    /// Whether an address is on a network of this port that has others too.
    fn has_network_of(&self, address: IpCidr) -> bool {
        let network =
            |cidr: &IpCidr| cidr.prefix_len() < address.prefix_len() && cidr.contains_subnet(&address);
        self.host.addresses.iter().any(network)
    }
}

/// Whether these are addresses of a link, to which nothing is routed.
fn is_of_the_link(cidr: &IpCidr) -> bool {
    matches!(cidr, IpCidr::Ipv6(cidr) if cidr.address().is_unicast_link_local())
}

/// The routes to the networks of a port, and to the router itself.
fn connect<T: Default>(routes: &mut Routes<T>, port: PortId, host: &Host) {
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
        if let IpCidr::Ipv4(cidr) = cidr
            && let Some(broadcast) = cidr.broadcast()
        {
            routes.insert(IpCidr::new(broadcast.into(), 32), Route::Here);
        }
    }
}

/// Why there is no such router.
#[derive(Debug, thiserror::Error)]
pub enum RouterError {
    /// A cache without places, or with too many.
    #[error("flow cache: {0}")]
    Cache(#[from] ConfigError),
    /// The router can't be a host on one of its networks.
    #[error("a port: {0}")]
    Port(#[from] ComposeError),
}

/// Why there is no such route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// There are fewer ports.
    #[error("there is no port {}", .0.0)]
    NoPort(PortId),
    /// The next router is not on the network of the port.
    #[error("the next router, {0}, is on no network of the port")]
    NotNear(IpAddr),
    /// Packets to this address are for no group, or for one that stays on its link.
    #[error("{0} is no group that routers send on")]
    NoGroup(IpAddr),
    /// There are as many groups as may be.
    #[error("more than 1,023 groups")]
    TooManyGroups,
    /// The router itself has this address.
    #[error("{0} is the router itself")]
    Ours(IpCidr),
}
