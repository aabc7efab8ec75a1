//! Link state: each router tells all others whom it is connected to, and each computes the shortest ways.
//!
//! Hellos find the neighbours, and that they hear us; advertisements, which are numbered and age, go from router to router, each
//! repeated until it is acknowledged. Indices are told to neighbours only, as with distance vectors. All of it is in
//! [our messages](crate::threaded::message). On a link of many routers each is a neighbour of each.

mod advertisement;
mod database;
mod flood;
mod neighbors;
mod paths;

use std::collections::{BTreeMap, BTreeSet};

use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::{IpAddress, IpCidr, Ipv4Address, Ipv6Address},
};

use self::{
    advertisement::{Advertisement, MOST},
    database::Database,
    neighbors::Neighbors,
    paths::{Graph, shortest},
};
use super::{
    Action, Heard, Interface, Learned, Refusals, Routing,
    indices::{Bounds, Indices},
    random::Random,
    rip::network,
};
use crate::threaded::{
    NO_INDEX,
    message::{INDEX_PORT, Kind, MOST_INDICES, Told, write_indices},
};

/// Octets of an entry of a hello: a router that is heard, and the upper half of its last hello's number.
const HEARD: usize = 8;
/// As many fit into a message with a digest.
const MOST_HEARD: usize = 128;
/// Seconds after which an advertisement no longer holds.
const OLDEST: u16 = 3_600;

/// The periods of the protocol.
#[derive(Clone, Copy, Debug)]
pub struct LinkStateTimers {
    /// From one hello to the next, give or take a tenth of it at random.
    pub hello: Duration,
    /// After that time without a hello a neighbour is none.
    pub dead: Duration,
    /// After that time what was not acknowledged is sent again.
    pub retransmit: Duration,
    /// After that time our advertisements are sent anew. They are forgotten after an hour.
    pub refresh: Duration,
    /// Least time between two advertisements of ours.
    pub originate: Duration,
    /// From the first change to the computation of ways, so that many changes take one.
    pub paths: Duration,
    /// From one list of our indices to the next.
    pub indices: Duration,
}

impl Default for LinkStateTimers {
    /// 10, 40, 5 s, half an hour, 1 s, 200 ms, 30 s.
    fn default() -> Self {
        Self {
            hello: Duration::from_secs(10),
            dead: Duration::from_secs(40),
            retransmit: Duration::from_secs(5),
            refresh: Duration::from_secs(1_800),
            originate: Duration::from_secs(1),
            paths: Duration::from_millis(200),
            indices: Duration::from_secs(30),
        }
    }
}

/// What a [`LinkState`] is made with.
#[derive(Clone, Debug)]
pub struct LinkStateConfig {
    /// Our id, which no other router has.
    pub router: u32,
    /// By number, all of one address family.
    pub interfaces: Vec<Interface>,
    /// The periods.
    pub timers: LinkStateTimers,
    /// Neighbours on all interfaces.
    pub neighbors: usize,
    /// Advertisements of all routers.
    pub advertisements: usize,
    /// Indices of each neighbour.
    pub indices_each: usize,
    /// Where sequence numbers of messages begin: more than they ever were, such as seconds since 1970.
    pub first_sequence: u32,
    /// Of the random delays; another for each router.
    pub seed: u64,
}

impl LinkStateConfig {
    /// With the usual periods, for up to 256 neighbours and 4,096 advertisements.
    pub fn new(router: u32, interfaces: Vec<Interface>) -> Self {
        Self {
            router,
            interfaces,
            timers: LinkStateTimers::default(),
            neighbors: 256,
            advertisements: 4_096,
            indices_each: 65_536,
            first_sequence: 1,
            seed: router.into(),
        }
    }
}

/// A router's part of the protocol.
#[derive(Debug)]
pub struct LinkState {
    config: LinkStateConfig,
    up: Vec<bool>,
    neighbors: Neighbors,
    database: Database,
    indices: Indices,
    /// What we tell of ourselves.
    own: BTreeMap<IpCidr, u8>,
    /// The number of our last advertisement.
    sequence: u32,
    /// Parts in our name that others have.
    foreign: BTreeSet<u16>,
    said: BTreeMap<IpCidr, Learned>,
    /// Indices that neighbours have not been told as they are.
    unsaid: BTreeSet<IpCidr>,
    outbox: Vec<Action>,
    hello_at: Instant,
    originate_at: Option<Instant>,
    originated: Option<Instant>,
    /// Until then others have to forget what was forged in our name.
    silent_until: Instant,
    refresh_at: Instant,
    paths_at: Option<Instant>,
    tell_indices_at: Option<Instant>,
    refusals: Refusals,
    random: Random,
}

impl LinkState {
    /// A router that knows nobody yet.
    pub fn new(config: LinkStateConfig) -> Self {
        let bounds = Bounds {
            neighbors: config.neighbors,
            indices_each: config.indices_each,
            silence: config.timers.dead,
        };
        Self {
            up: vec![true; config.interfaces.len()],
            neighbors: Neighbors { known: BTreeMap::new(), most: config.neighbors },
            database: Database::new(config.advertisements, OLDEST),
            indices: Indices::new(config.router, u64::from(config.first_sequence) << 16, bounds),
            own: BTreeMap::new(),
            sequence: config.first_sequence,
            foreign: BTreeSet::new(),
            said: BTreeMap::new(),
            unsaid: BTreeSet::new(),
            outbox: Vec::new(),
            hello_at: Instant::ZERO,
            originate_at: Some(Instant::ZERO),
            originated: None,
            silent_until: Instant::ZERO,
            refresh_at: Instant::ZERO + config.timers.refresh,
            paths_at: None,
            tell_indices_at: None,
            refusals: Refusals::default(),
            random: Random::new(config.seed),
            config,
        }
    }

    fn group(&self, interface: u16) -> IpAddress {
        // For experiments (RFC 4727).
        match self.config.interfaces[usize::from(interface)].address {
            IpCidr::Ipv4(_) => Ipv4Address::new(224, 0, 0, 254).into(),
            IpCidr::Ipv6(_) => Ipv6Address::new(0xff02, 0, 0, 0, 0, 0, 0, 0x114).into(),
        }
    }

    fn adjacency_changed(&mut self, now: Instant) {
        self.originate_at.get_or_insert(now);
        self.paths_at.get_or_insert(now + self.config.timers.paths);
    }

    fn say_hello(&mut self, now: Instant) {
        let period = self.config.timers.hello;
        self.hello_at = now + self.random.between(period - period / 10, period + period / 10);
        for interface in 0..self.config.interfaces.len() as u16 {
            let heard: Vec<(u32, u64)> = self.neighbors.heard_on(interface).take(MOST_HEARD).collect();
            let entry =
                |(router, number): &(u32, u64)| [*router, (number >> 16) as u32].map(u32::to_be_bytes);
            let body: Vec<u8> = heard.iter().flat_map(entry).flatten().collect();
            self.send(interface, self.group(interface), Kind::Hello, heard.len(), &body);
        }
    }

    fn expire(&mut self, now: Instant) {
        let dead = self.config.timers.dead;
        let before = self.neighbors.known.len();
        self.neighbors.known.retain(|_, neighbor| neighbor.heard + dead > now);
        if self.neighbors.known.len() < before {
            self.adjacency_changed(now);
            self.hello_at = now;
        }
        for name in self.database.expire(now) {
            self.flood(name, None, now);
            self.paths_at.get_or_insert(now);
        }
    }

    /// Tells everybody anew what we are connected to.
    fn originate_all(&mut self, now: Instant) {
        let least = self.originated.map(|at| at + self.config.timers.originate);
        let least = least.into_iter().chain([self.silent_until]).max();
        if let Some(least) = least.filter(|least| *least > now) {
            self.originate_at = Some(least);
            return;
        }
        if self.sequence == u32::MAX {
            return self.take_back(now);
        }
        (self.originate_at, self.originated) = (None, Some(now));
        self.refresh_at = now + self.config.timers.refresh;
        self.sequence += 1;
        let mut links: BTreeMap<u32, u16> = BTreeMap::new();
        for ((interface, _), neighbor) in self.neighbors.two_way() {
            let cost: u16 = self.config.interfaces[usize::from(interface)].metric.into();
            links.entry(neighbor.router).and_modify(|least| *least = cost.min(*least)).or_insert(cost);
        }
        let links: Vec<_> = links.into_iter().collect();
        let prefixes: Vec<_> = self.own.iter().map(|(prefix, cost)| (*prefix, u16::from(*cost))).collect();
        let parts = links.len().div_ceil(MOST).max(prefixes.len().div_ceil(MOST)).max(1) as u16;
        let stale: Vec<u16> = self.foreign.range(parts..).copied().collect();
        for number in 0..parts {
            let (links, prefixes) = (chunk(&links, number), chunk(&prefixes, number));
            self.foreign.insert(number);
            self.issue(Advertisement { part: number, links, prefixes, ..Advertisement::default() }, now);
        }
        for number in stale {
            self.foreign.remove(&number);
            self.issue(Advertisement { part: number, age: OLDEST, ..Advertisement::default() }, now);
        }
    }

    /// There is no higher number, since somebody has seen to that: see [`count_anew`](Self::count_anew).
    fn take_back(&mut self, now: Instant) {
        for part in std::mem::take(&mut self.foreign) {
            self.issue(Advertisement { part, age: OLDEST, ..Advertisement::default() }, now);
        }
        self.count_anew(now);
    }

    fn issue(&mut self, advertisement: Advertisement, now: Instant) {
        let (origin, sequence) = (self.config.router, self.sequence);
        let advertisement = Advertisement { origin, sequence, ..advertisement };
        let name = advertisement.name();
        match self.database.store(advertisement, now) {
            Ok(()) => self.flood(name, None, now),
            Err(reason) => self.refusals.count(reason),
        }
    }

    /// All ways anew, and what of them is other than before.
    fn find_paths(&mut self, now: Instant, actions: &mut Vec<Action>) {
        self.paths_at = None;
        let mut graph = Graph::default();
        for advertisement in self.database.valid(now) {
            graph.add(advertisement.origin, &advertisement.links);
        }
        let first: Vec<_> = self.neighbors.two_way().collect();
        let cost = |interface: u16| self.config.interfaces[usize::from(interface)].metric.into();
        let costs: Vec<_> = first.iter().map(|((at, _), neighbor)| (neighbor.router, cost(*at))).collect();
        let found = shortest(&graph, self.config.router, &costs);
        let mut learned = BTreeMap::<IpCidr, Learned>::new();
        for advertisement in self.database.valid(now) {
            let Some((distance, number)) = found.get(&advertisement.origin) else { continue };
            let (interface, next_hop) = first[*number].0;
            for (prefix, cost) in &advertisement.prefixes {
                let metric = distance.saturating_add((*cost).into());
                let nearer = learned.get(prefix).is_none_or(|other| metric < other.metric);
                if nearer && !self.own.contains_key(prefix) && same_family(*prefix, next_hop) {
                    let next_index = self.indices.theirs(interface, next_hop, *prefix);
                    let prefix = *prefix;
                    learned.insert(prefix, Learned { prefix, next_hop, interface, metric, next_index });
                }
            }
        }
        self.say(learned, actions);
    }

    fn say(&mut self, learned: BTreeMap<IpCidr, Learned>, actions: &mut Vec<Action>) {
        let gone = self.said.keys().filter(|prefix| !learned.contains_key(prefix));
        actions.extend(gone.map(|prefix| Action::Forget(*prefix)));
        let new = learned.values().filter(|way| self.said.get(&way.prefix) != Some(way));
        actions.extend(new.map(|way| Action::Use(*way)));
        self.said = learned;
    }

    /// All our indices if it is time, or those that have changed.
    fn tell_indices(&mut self, now: Instant) {
        let all = self.tell_indices_at.is_some_and(|at| at <= now);
        let changed = std::mem::take(&mut self.unsaid);
        if !self.indices.in_use() || !all && changed.is_empty() {
            return;
        }
        let mut told: Vec<Told> = changed.iter().map(|prefix| self.told(*prefix)).collect();
        if all {
            self.tell_indices_at = Some(now + self.config.timers.indices);
            told.retain(|told| told.index == NO_INDEX);
            told.extend(self.indices.all());
        }
        for interface in 0..self.config.interfaces.len() as u16 {
            for told in told.chunks(MOST_INDICES) {
                self.send(interface, self.group(interface), Kind::Indices, told.len(), &write_indices(told));
            }
        }
    }

    fn told(&self, prefix: IpCidr) -> Told {
        Told { prefix, index: self.indices.ours(prefix) }
    }
}

impl Routing for LinkState {
    fn receive(&mut self, heard: &Heard, bytes: &[u8], now: Instant) {
        if let Err(reason) = self.take_in(heard, bytes, now) {
            self.refusals.count(reason);
        }
    }

    fn poll(&mut self, now: Instant, actions: &mut Vec<Action>) {
        self.expire(now);
        if self.hello_at <= now {
            self.say_hello(now);
        }
        if self.originate_at.is_some_and(|at| at <= now) || self.refresh_at <= now {
            self.originate_all(now);
        }
        self.send_updates(now);
        if self.paths_at.is_some_and(|at| at <= now) {
            self.find_paths(now, actions);
        }
        self.tell_indices(now);
        actions.append(&mut self.outbox);
    }

    fn poll_at(&self) -> Option<Instant> {
        if !self.unsaid.is_empty() || !self.outbox.is_empty() {
            return Some(Instant::ZERO);
        }
        let neighbors = self.neighbors.known.values();
        let dead = neighbors.clone().map(|neighbor| neighbor.heard + self.config.timers.dead).min();
        let updates = neighbors.flat_map(|neighbor| neighbor.unacknowledged.values().copied()).min();
        let some =
            [self.originate_at, self.paths_at, self.tell_indices_at, self.database.next(), dead, updates];
        some.into_iter().flatten().chain([self.hello_at, self.refresh_at]).min()
    }

    fn originate(&mut self, prefix: IpCidr, metric: u8, now: Instant) {
        self.own.insert(network(prefix), metric);
        self.adjacency_changed(now);
    }

    fn withdraw(&mut self, prefix: IpCidr, now: Instant) {
        if self.own.remove(&network(prefix)).is_some() {
            self.adjacency_changed(now);
        }
    }

    fn assigned(&mut self, prefix: IpCidr, index: u32, now: Instant) {
        if self.indices.assign(prefix, index) {
            self.unsaid.insert(prefix);
            self.tell_indices_at.get_or_insert(now + self.config.timers.indices);
        }
    }

    fn set_link(&mut self, interface: u16, up: bool, now: Instant) {
        let Some(before) = self.up.get_mut(usize::from(interface)) else { return };
        if std::mem::replace(before, up) == up {
            return;
        }
        self.hello_at = now;
        if !up {
            self.neighbors.known.retain(|(at, _), _| *at != interface);
            self.indices.forget(interface);
            self.adjacency_changed(now);
        }
    }

    fn trust(&self) -> u8 {
        2
    }

    fn ports(&self) -> &'static [u16] {
        &[INDEX_PORT]
    }

    fn groups(&self) -> Vec<IpAddress> {
        let mut groups: Vec<_> = (0..self.up.len() as u16).map(|interface| self.group(interface)).collect();
        groups.dedup();
        groups
    }

    fn refusals(&self) -> &Refusals {
        &self.refusals
    }
}

/// The part of a list that goes into one part of our advertisement.
fn chunk<T: Clone>(all: &[T], number: u16) -> Vec<T> {
    all.chunks(MOST).nth(number.into()).unwrap_or_default().to_vec()
}

fn same_family(prefix: IpCidr, address: IpAddress) -> bool {
    matches!((prefix, address), (IpCidr::Ipv4(_), IpAddress::Ipv4(_)) | (IpCidr::Ipv6(_), IpAddress::Ipv6(_)))
}
