//! Routers and links in virtual time, with packets that follow indices.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, VecDeque},
    net::Ipv4Addr,
};

use ip_network_table_deps_treebitmap::IpLookupTable;
use throughline_forward::{
    FlowCache, FlowCacheConfig,
    routing::{Action, Heard, Interface, Routing, authentication::Authentication},
    threaded::{NO_INDEX, Prefix, Route, Table},
};
use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::{IpAddress, IpCidr},
};

/// Port of packets for the router's own hosts.
const LOCAL: u16 = u16::MAX;
const DELAY: Duration = Duration::from_millis(1);
const TTL: u8 = 32;

/// A ring of ten with four chords.
pub const TEN: [(usize, usize); 14] = [
    (0, 1),
    (1, 2),
    (2, 3),
    (3, 4),
    (4, 5),
    (5, 6),
    (6, 7),
    (7, 8),
    (8, 9),
    (9, 0),
    (0, 5),
    (1, 6),
    (2, 8),
    (3, 7),
];

pub struct Node {
    pub routing: Box<dyn Routing>,
    pub table: Table<Ipv4Addr, 256>,
    plain: IpLookupTable<Ipv4Addr, Route<Ipv4Addr>>,
    /// Routes of packets with a source hash.
    flows: FlowCache<u32, Option<Route<Ipv4Addr>>>,
    /// The area's nodes; indices are of their prefixes only.
    area: std::ops::Range<usize>,
    /// Link of each interface, and our end of it.
    interfaces: Vec<(usize, usize)>,
    polled: Option<Instant>,
}

/// What became of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fates {
    pub delivered: u64,
    pub unreachable: u64,
    pub lost: u64,
    pub looped: u64,
    /// Steps by index, and by lookup.
    pub threaded: u64,
    pub looked_up: u64,
    /// Steps by source hash, which were in the cache.
    pub cached: u64,
}

/// What a packet carries.
#[derive(Clone, Copy)]
enum Mark {
    Index(u32),
    Hash(u32),
}

enum Event {
    Datagram { node: usize, heard: Heard, bytes: Vec<u8> },
    Packet { node: usize, destination: Ipv4Addr, mark: Mark, ttl: u8 },
}

pub struct Network {
    pub nodes: Vec<Node>,
    links: Vec<(usize, usize)>,
    /// Whether each link carries, from its first end and from its second.
    pub carries: Vec<[bool; 2]>,
    events: BinaryHeap<Reverse<(Instant, u64)>>,
    waiting: BTreeMap<u64, Event>,
    pub now: Instant,
    next: u64,
    pub fates: Fates,
    random: u64,
}

pub fn address(link: usize, end: usize) -> IpAddress {
    IpAddress::v4(10, 200, link as u8, end as u8 + 1)
}

pub fn stub(node: usize) -> IpCidr {
    IpCidr::new(IpAddress::v4(10, node as u8, 0, 0), 16)
}

impl Network {
    pub fn new(
        count: usize,
        links: &[(usize, usize)],
        authentication: &Authentication,
        mut routing: impl FnMut(usize, Vec<Interface>) -> Box<dyn Routing>,
    ) -> Self {
        let node = |node: usize| {
            let ends = links.iter().enumerate().flat_map(|(link, (a, b))| [(*a, link, 0), (*b, link, 1)]);
            let interfaces: Vec<(usize, usize)> =
                ends.filter(|(at, ..)| *at == node).map(|(_, link, end)| (link, end)).collect();
            let configured = interfaces.iter().map(|(link, end)| Interface {
                authentication: authentication.clone(),
                ..Interface::new(IpCidr::new(address(*link, *end), 24))
            });
            Node {
                routing: routing(node, configured.collect()),
                table: Table::new(Duration::from_secs(240)),
                plain: IpLookupTable::new(),
                flows: FlowCache::new(FlowCacheConfig { places: 64, ..FlowCacheConfig::default() }).unwrap(),
                area: 0..count,
                interfaces,
                polled: Some(Instant::ZERO),
            }
        };
        let mut network = Self {
            nodes: (0..count).map(node).collect(),
            links: links.to_vec(),
            carries: vec![[true; 2]; links.len()],
            events: BinaryHeap::new(),
            waiting: BTreeMap::new(),
            now: Instant::ZERO,
            next: 0,
            fates: Fates::default(),
            random: 7,
        };
        for node in 0..count {
            network.connect(node);
        }
        network
    }

    /// Of the area of each node. Before anything happens.
    pub fn areas(&mut self, area: impl Fn(usize) -> std::ops::Range<usize>) {
        for (node, at) in self.nodes.iter_mut().zip(0..) {
            node.area = area(at);
        }
    }

    fn connect(&mut self, at: usize) {
        let now = self.now;
        let node = &mut self.nodes[at];
        let own = |port| Route { port, next_hop: None, next_index: NO_INDEX, indexed: true };
        node.route(stub(at), own(LOCAL), now);
        node.routing.originate(stub(at), 1, now);
        for (interface, (link, end)) in node.interfaces.clone().into_iter().enumerate() {
            let prefix = IpCidr::new(IpAddress::v4(10, 200, link as u8, 0), 24);
            node.route(prefix, own(interface as u16), now);
            node.route(IpCidr::new(address(link, end), 32), Route { indexed: false, ..own(LOCAL) }, now);
            node.routing.originate(prefix, 1, now);
        }
    }

    /// Lets time pass, with a packet from anywhere to anywhere in each tenth of a second.
    pub fn run(&mut self, seconds: u64) {
        let end = self.now + Duration::from_secs(seconds);
        while self.now < end {
            self.packet();
            self.until(self.now + Duration::from_millis(100));
        }
    }

    pub fn until(&mut self, end: Instant) {
        loop {
            let event = self.events.peek().map(|Reverse((at, _))| *at);
            let poll = self.nodes.iter().filter_map(|node| node.polled).min();
            let Some(at) = [event, poll].into_iter().flatten().min().filter(|at| *at <= end) else { break };
            self.now = self.now.max(at);
            for node in 0..self.nodes.len() {
                if self.nodes[node].polled.is_some_and(|at| at <= self.now) {
                    self.poll(node);
                }
            }
            while let Some(Reverse((at, id))) = self.events.peek().copied()
                && at <= self.now
            {
                self.events.pop();
                let event = self.waiting.remove(&id).unwrap();
                self.happen(event);
            }
        }
        self.now = end;
    }

    pub fn poll(&mut self, at: usize) {
        let mut actions = Vec::new();
        let node = &mut self.nodes[at];
        node.routing.poll(self.now, &mut actions);
        for action in actions {
            self.act(at, action);
        }
        self.nodes[at].polled = self.nodes[at].routing.poll_at();
    }

    fn act(&mut self, at: usize, action: Action) {
        let now = self.now;
        match action {
            Action::Use(learned) => {
                let IpAddress::Ipv4(next_hop) = learned.next_hop else { panic!("IPv4 only") };
                let route = Route {
                    port: learned.interface,
                    next_hop: Some(next_hop),
                    next_index: learned.next_index,
                    indexed: self.nodes[at].is_of_area(learned.prefix),
                };
                self.nodes[at].route(learned.prefix, route, now);
            }
            Action::Forget(prefix) => {
                let prefix = Prefix::of(prefix).unwrap();
                let node = &mut self.nodes[at];
                assert!(node.table.remove(prefix, now));
                node.plain.remove(prefix.address(), prefix.length().into());
                node.flows.invalidate();
                node.routing.assigned(prefix.into(), NO_INDEX, now);
            }
            Action::Send { interface, from_port, port, bytes, .. } => {
                let (link, end) = self.nodes[at].interfaces[usize::from(interface)];
                if !self.carries[link][end] {
                    return;
                }
                let (node, interface) = self.other(link, end);
                let heard = Heard { interface, from: address(link, end), from_port, port, hop_limit: 255 };
                self.later(Event::Datagram { node, heard, bytes });
            }
        }
    }

    fn other(&self, link: usize, end: usize) -> (usize, u16) {
        let node = if end == 0 { self.links[link].1 } else { self.links[link].0 };
        let interface = self.nodes[node].interfaces.iter().position(|at| *at == (link, 1 - end)).unwrap();
        (node, interface as u16)
    }

    fn later(&mut self, event: Event) {
        self.next += 1;
        self.events.push(Reverse((self.now + DELAY, self.next)));
        self.waiting.insert(self.next, event);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Datagram { node, heard, bytes } => self.hear(node, &heard, &bytes),
            Event::Packet { node, destination, mark, ttl } => self.forward(node, destination, mark, ttl),
        }
    }

    /// A datagram comes to a node.
    pub fn hear(&mut self, node: usize, heard: &Heard, bytes: &[u8]) {
        self.nodes[node].routing.receive(heard, bytes, self.now);
        self.nodes[node].polled = self.nodes[node].routing.poll_at();
    }

    fn random(&mut self, below: usize) -> usize {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) as usize % below
    }

    /// A host behind a router sends: with the index it was told, or with any.
    fn packet(&mut self) {
        let (from, to) = (self.random(self.nodes.len()), self.random(self.nodes.len()));
        let destination = Ipv4Addr::new(10, to as u8, self.random(256) as u8, 1);
        let mark = match self.random(8) {
            0 | 1 => Mark::Index(self.random(64) as u32),
            2 => Mark::Hash(self.random(1 << 20) as u32),
            _ => self.mark(from, destination),
        };
        self.forward(from, destination, mark, TTL);
    }

    /// What a host behind a router puts on packets: the index it is told, or else a hash, the same for each flow.
    fn mark(&self, from: usize, destination: Ipv4Addr) -> Mark {
        let index = self.nodes[from].table.find(destination).map_or(NO_INDEX, |(.., index)| index);
        if index == NO_INDEX {
            Mark::Hash(destination.to_bits().wrapping_mul(0x9e37_79b9))
        } else {
            Mark::Index(index)
        }
    }

    fn forward(&mut self, at: usize, destination: Ipv4Addr, mark: Mark, ttl: u8) {
        let node = &mut self.nodes[at];
        let plain = node.plain.longest_match(destination).map(|(.., route)| *route);
        let Some(plain) = plain else {
            self.fates.unreachable += 1;
            return;
        };
        let (port, mark) = match mark {
            Mark::Index(index) => match node.table.step(index, destination) {
                Some(step) => {
                    assert_eq!((step.port(), step.next_index()), (plain.port, plain.next_index), "misled");
                    self.fates.threaded += 1;
                    (step.port(), Mark::Index(step.next_index()))
                }
                None => {
                    self.fates.looked_up += 1;
                    (plain.port, Mark::Index(plain.next_index))
                }
            },
            Mark::Hash(hash) => {
                match node.flows.find(hash, &destination.to_bits(), self.now) {
                    Some(route) => {
                        assert_eq!(route, Some(plain), "misled by a hash");
                        self.fates.cached += 1;
                    }
                    None => {
                        node.flows.put(hash, destination.to_bits(), Some(plain), self.now);
                        self.fates.looked_up += 1;
                    }
                }
                (plain.port, mark)
            }
        };
        if port == LOCAL {
            assert_eq!(usize::from(destination.octets()[1]), at, "misdelivered");
            self.fates.delivered += 1;
            return;
        }
        if ttl == 1 {
            self.fates.looped += 1;
            return;
        }
        let (link, end) = self.nodes[at].interfaces[usize::from(port)];
        if !self.carries[link][end] {
            self.fates.lost += 1;
            return;
        }
        let (node, _) = self.other(link, end);
        self.later(Event::Packet { node, destination, mark, ttl: ttl - 1 });
    }

    /// A packet that arrives: what its steps were.
    pub fn one_packet(&mut self, from: usize, to: usize, steps: impl Fn(Fates) -> bool) -> bool {
        let before = std::mem::take(&mut self.fates);
        let destination = Ipv4Addr::new(10, to as u8, 9, 9);
        let mark = self.mark(from, destination);
        self.forward(from, destination, mark, TTL);
        let end = self.now + Duration::from_millis(50);
        self.until(end);
        let fates = std::mem::replace(&mut self.fates, before);
        fates.delivered == 1 && steps(fates)
    }

    /// A packet from each to each. Whether all arrived by ways that are the shortest, and, if there is one area, each step by index.
    pub fn converged(&mut self) -> bool {
        let before = std::mem::take(&mut self.fates);
        let count = self.nodes.len();
        let mut steps = 0;
        for from in 0..count {
            let distances = self.distances(from);
            for (to, distance) in distances.iter().enumerate() {
                let destination = Ipv4Addr::new(10, to as u8, 3, 4);
                let mark = self.mark(from, destination);
                self.forward(from, destination, mark, TTL);
                steps += distance.map_or(0, |distance| distance + 1);
            }
        }
        let end = self.now + Duration::from_millis(100);
        self.until(end);
        let fates = std::mem::replace(&mut self.fates, before);
        let all = fates.threaded + fates.cached + fates.looked_up;
        let by_hash = self.nodes.iter().any(|node| node.area != (0..count));
        fates.delivered == (count * count) as u64 && all == steps && (by_hash || fates.threaded == steps)
    }

    /// Links to each node, by those that carry both ways.
    fn distances(&self, from: usize) -> Vec<Option<u64>> {
        let mut distances = vec![None; self.nodes.len()];
        distances[from] = Some(0);
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for (link, (a, b)) in self.links.iter().enumerate() {
                let other = if *a == node { *b } else { *a };
                if (*a == node || *b == node) && self.carries[link] == [true; 2] && distances[other].is_none()
                {
                    distances[other] = distances[node].map(|distance| distance + 1);
                    queue.push_back(other);
                }
            }
        }
        distances
    }

    /// Runs until all ways are the shortest, with packets all the time; for how many seconds.
    pub fn converge(&mut self, most: u64) -> u64 {
        let start = self.now;
        loop {
            self.run(1);
            let passed = (self.now - start).secs();
            if self.converged() {
                return passed;
            }
            assert!(passed < most, "not converged after {passed} s: {:?}", self.fates);
        }
    }

    /// All that routers have refused, for whatever reason.
    pub fn refused(&self) -> u64 {
        self.nodes.iter().flat_map(|node| node.routing.refusals().iter()).map(|(_, count)| count).sum()
    }
}

impl Node {
    fn is_of_area(&self, prefix: IpCidr) -> bool {
        let IpAddress::Ipv4(address) = prefix.address() else { panic!("IPv4 only") };
        let node = usize::from(address.octets()[1]);
        node >= 200 || self.area.contains(&node)
    }

    fn route(&mut self, prefix: IpCidr, route: Route<Ipv4Addr>, now: Instant) {
        let prefix = Prefix::of(prefix).unwrap();
        let index = self.table.insert(prefix, route, now);
        self.flows.invalidate();
        self.plain.insert(prefix.address(), prefix.length().into(), route);
        self.routing.assigned(prefix.into(), index, now);
    }
}
