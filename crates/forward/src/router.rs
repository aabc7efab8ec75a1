//! A router for IPv4 and IPv6 (RFC 1812, RFC 8200), with a cache of flows in front of its routes.
//!
//! It does no input or output: frames and the time are handed in, and frames are taken out.

mod anycast;
mod area;
mod control;
mod counts;
mod depart;
mod error;
mod fragment;
mod headers;
mod icmp;
mod label;
mod learned;
mod local;
mod multicast;
mod own;
mod owned;
mod pending;
mod pieces;
mod port;
mod routes;
mod threads;
mod way;

use std::{
    collections::{HashMap, HashSet},
    net::IpAddr,
};

use throughline_stack::{
    Allowance, Graph, Host, Message, Secret,
    smoltcp::{time::Instant, wire::IpCidr},
};

use self::{
    anycast::Late,
    icmp::Error,
    own::Own,
    pending::Pending,
    port::{Port, connect},
    routes::Routes,
    threads::Threads,
    way::{Next, Resolved, Way},
};
use crate::{
    FlowCacheConfig, FlowCounts, FrameError, Label, Outgoing, Packet, PortId,
    ip::Ip,
    threaded::{NO_INDEX, TableCounts},
};

pub use self::{
    counts::{Refused, RouterCounts},
    error::{RouteError, RouterError},
    multicast::MulticastConfig,
    port::RouterPort,
    routes::Route,
    way::FlowIndex,
};
pub(crate) use self::{
    multicast::{MOST_GROUPS, MOST_PORTS, leaves_the_link},
    port::{is_of_the_link, is_ours},
};

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

/// A router, as a table of routes and the ports between which it forwards.
pub struct Router {
    ports: Vec<Port>,
    own: Own,
    routes: Routes<Option<Resolved>>,
    index: FlowIndex,
    pending: Pending,
    /// When all next hops that frames wait for are looked at.
    look: Instant,
    /// Whether caches may have ways by addresses of neighbours that have changed.
    stale: bool,
    /// When those may be forgotten.
    forget: Instant,
    /// Answers for an address that other routers have too.
    late: Vec<Late>,
    allowance: Allowance,
    /// The numbers of our packets that leave in pieces.
    secret: Secret,
    counts: RouterCounts,
    /// UDP ports of which messages to the router go to the graph of the port they came by.
    control: Vec<u16>,
    threads: Option<Threads>,
    protocols: Vec<control::Protocol>,
    multicast: Option<multicast::Multicast>,
    /// Prefixes whose routes are those of a protocol.
    chosen: HashSet<IpCidr>,
    /// Routes of the owner by ports of which the link does not work.
    set_aside: HashMap<IpCidr, Route>,
    /// When it was last polled.
    now: Instant,
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
            set_aside: HashMap::new(),
            now: Instant::ZERO,
            own: Own::of(&ports),
            ports,
            routes,
            index: config.index,
            pending: Pending::default(),
            look: Instant::ZERO,
            stale: false,
            forget: Instant::ZERO,
            late: Vec::new(),
            allowance: Allowance::default(),
            secret: Secret::default(),
            counts: RouterCounts::default(),
            control: Vec::new(),
        })
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
            return self.for_many(port, frame, &seen, now, out);
        }
        match self.next(Some(port), &mut seen, now) {
            Ok(Next::Here) => self.here(port, frame, &seen, now, out),
            Ok(_) if seen.ip.is_of_the_link() => self.keep(port, frame, &seen, now, out),
            Ok(_) if seen.ip.hops <= 1 => self.complain(port, Error::TimeExceeded, frame, &seen, now, out),
            Ok(next) => self.forward(port, next, frame, &mut seen, now, out),
            Err(error) => self.complain(port, error, frame, &seen, now, out),
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
        if self.is_own(port, ip.source) {
            return Err(Refused::Source);
        }
        // Sent to all on the link, yet for one far away (RFC 1812, 5.3.4).
        if !to.is_unicast() && !ip.is_to_many() {
            return Err(Refused::NotForUs);
        }
        Ok(Seen { ip, offset: packet.offset, label: packet.label, next_index: NO_INDEX })
    }

    #[cold]
    fn refuse(&mut self, why: Refused, frame: Message, out: &mut Outgoing) {
        self.counts.refuse(why);
        out.pool.give(frame);
    }
}
