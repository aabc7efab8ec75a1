//! Distance vectors: RIP version 2 (RFC 2453) and RIPng (RFC 2080), with indices beside them.
//!
//! Each router tells its neighbours what its routes cost, and each takes the cheapest of what it is told. Whoever also has
//! indices tells them in [messages of their own](crate::threaded::message), which others never see.

mod heard;
mod receive;
mod routes;
mod send;

use std::collections::BTreeSet;

use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::{IpAddress, IpCidr, Ipv4Address, Ipv6Address},
};

use self::{
    heard::Neighbors,
    routes::{Routes, Via},
    send::Speaker,
};
use super::{
    Action, Heard, Interface, Learned, Reason, Refusals, Routing,
    indices::{Bounds, Indices},
    random::Random,
    rip::{INFINITY, RIP_PORT, RIPNG_PORT, Sequences, Version, network},
};
use crate::threaded::message::INDEX_PORT;

/// The periods of the protocol.
#[derive(Clone, Copy, Debug)]
pub struct Timers {
    /// From one update to the next, give or take a sixth of it at random.
    pub update: Duration,
    /// After that time without an update a route is no longer one.
    pub timeout: Duration,
    /// For that long others are told so.
    pub garbage: Duration,
    /// From one triggered update to the next it is a random time between these two.
    pub triggered: [Duration; 2],
}

impl Default for Timers {
    /// 30, 180 and 120 s; 1 to 5 s.
    fn default() -> Self {
        Self {
            update: Duration::from_secs(30),
            timeout: Duration::from_secs(180),
            garbage: Duration::from_secs(120),
            triggered: [Duration::from_secs(1), Duration::from_secs(5)],
        }
    }
}

/// What a [`DistanceVector`] is made with.
#[derive(Clone, Debug)]
pub struct DistanceVectorConfig {
    /// RIP version 2 or RIPng.
    pub version: Version,
    /// Our id in messages of indices, which no other router has.
    pub router: u32,
    /// By number.
    pub interfaces: Vec<Interface>,
    /// The periods.
    pub timers: Timers,
    /// Routes that each neighbour may have told us of at a time.
    pub routes_each: usize,
    /// Neighbours of all interfaces.
    pub neighbors: usize,
    /// Where sequence numbers of authentication begin: more than they ever were, such as seconds since 1970.
    pub first_sequence: u32,
    /// Of the random delays; another for each router.
    pub seed: u64,
}

impl DistanceVectorConfig {
    /// With the usual periods, for up to 4,096 routes of each of 256 neighbours.
    pub fn new(version: Version, router: u32, interfaces: Vec<Interface>) -> Self {
        Self {
            version,
            router,
            interfaces,
            timers: Timers::default(),
            routes_each: 4_096,
            neighbors: 256,
            first_sequence: 1,
            seed: router.into(),
        }
    }
}

/// A router's part of the protocol, in one address family.
#[derive(Debug)]
pub struct DistanceVector {
    config: DistanceVectorConfig,
    links: Vec<Link>,
    routes: Routes,
    indices: Indices,
    neighbors: Neighbors,
    speaker: Speaker,
    /// Routes that the owner has not been told to use as they are now.
    unsaid: BTreeSet<IpCidr>,
    /// What is to be sent.
    outbox: Vec<Action>,
    refusals: Refusals,
    random: Random,
}

#[derive(Debug)]
struct Link {
    interface: Interface,
    up: bool,
    sequences: Sequences,
    /// Answers to requests for all routes that may still be given in this second.
    answers: u32,
    second: Instant,
}

impl DistanceVector {
    /// A router that asks its neighbours for their routes first.
    pub fn new(config: DistanceVectorConfig) -> Self {
        let link = |interface: &Interface| Link {
            interface: interface.clone(),
            up: true,
            sequences: Sequences::new(config.neighbors),
            answers: receive::ANSWERS,
            second: Instant::ZERO,
        };
        let bounds = Bounds {
            neighbors: config.neighbors,
            indices_each: config.routes_each,
            silence: config.timers.timeout,
        };
        Self {
            links: config.interfaces.iter().map(link).collect(),
            routes: Routes::new(config.timers, config.routes_each),
            indices: Indices::new(config.router, u64::from(config.first_sequence) << 16, bounds),
            neighbors: Neighbors::new(config.neighbors, config.timers.timeout),
            speaker: Speaker::new(config.first_sequence, config.interfaces.len()),
            unsaid: BTreeSet::new(),
            outbox: Vec::new(),
            refusals: Refusals::default(),
            random: Random::new(config.seed),
            config,
        }
    }

    /// All routes with their metrics, those at infinity among them.
    pub fn metrics(&self) -> impl Iterator<Item = (IpCidr, u8)> {
        self.routes.iter().map(|(prefix, route)| (*prefix, route.metric))
    }

    fn group(&self) -> IpAddress {
        match self.config.version {
            Version::Rip2 => Ipv4Address::new(224, 0, 0, 9).into(),
            Version::RipNg => Ipv6Address::new(0xff02, 0, 0, 0, 0, 0, 0, 9).into(),
        }
    }

    fn is_of_family(&self, prefix: IpCidr) -> bool {
        matches!(
            (self.config.version, prefix),
            (Version::Rip2, IpCidr::Ipv4(_)) | (Version::RipNg, IpCidr::Ipv6(_))
        )
    }

    /// Others have to hear of a route, and the owner if it is not his own.
    fn changed(&mut self, prefix: IpCidr) {
        self.unsaid.insert(prefix);
        self.speaker.changed.insert(prefix);
    }

    /// What the owner is to use of a route; nothing if it is his own, or infinitely far.
    fn learned(&self, prefix: IpCidr) -> Option<Learned> {
        let route = self.routes.get(prefix).filter(|route| route.metric < INFINITY)?;
        let Via::Neighbor { interface, next_hop, .. } = route.via else { return None };
        let next_index = self.indices.theirs(interface, next_hop, prefix);
        Some(Learned { prefix, next_hop, interface, metric: route.metric.into(), next_index })
    }

    fn say(&mut self, actions: &mut Vec<Action>) {
        for prefix in std::mem::take(&mut self.unsaid) {
            let learned = self.learned(prefix);
            match (learned, self.routes.said(prefix, learned)) {
                (Some(learned), before) if before != Some(learned) => actions.push(Action::Use(learned)),
                (None, Some(_)) => actions.push(Action::Forget(prefix)),
                _ => {}
            }
        }
    }
}

impl Routing for DistanceVector {
    fn receive(&mut self, heard: &Heard, bytes: &[u8], now: Instant) {
        let result = match heard.port {
            INDEX_PORT => self.take_in_indices(heard, bytes, now),
            _ => self.take_in(heard, bytes, now),
        };
        if let Err(reason) = result {
            self.refusals.count(reason);
        }
    }

    fn poll(&mut self, now: Instant, actions: &mut Vec<Action>) {
        for prefix in self.routes.expire(now) {
            self.changed(prefix);
        }
        let before = actions.len();
        self.say(actions);
        // What is told of a new route has its index, which the owner's table has not given yet: he comes again.
        if actions.len() == before {
            self.speak(now);
        }
        actions.append(&mut self.outbox);
    }

    fn poll_at(&self) -> Option<Instant> {
        if !self.unsaid.is_empty() || !self.outbox.is_empty() || !self.neighbors.unsaid.is_empty() {
            return Some(Instant::ZERO);
        }
        [self.routes.next(), self.speaker.next()].into_iter().flatten().min()
    }

    fn originate(&mut self, prefix: IpCidr, metric: u8, now: Instant) {
        let prefix = network(prefix);
        if self.is_of_family(prefix) {
            self.routes.own(prefix, metric.clamp(1, INFINITY), now);
            self.changed(prefix);
        }
    }

    fn withdraw(&mut self, prefix: IpCidr, now: Instant) {
        let prefix = network(prefix);
        if self.routes.get(prefix).is_some_and(|route| route.via == Via::Own) {
            self.routes.lose(prefix, now);
            self.changed(prefix);
        }
    }

    fn assigned(&mut self, prefix: IpCidr, index: u32, _now: Instant) {
        if self.is_of_family(prefix) && self.indices.assign(prefix, index) {
            self.speaker.changed.insert(prefix);
        }
    }

    fn set_link(&mut self, interface: u16, up: bool, now: Instant) {
        let Some(link) = self.links.get_mut(usize::from(interface)) else { return };
        if std::mem::replace(&mut link.up, up) == up {
            return;
        }
        if up {
            self.speaker.ask(interface);
            return;
        }
        self.indices.forget(interface);
        self.neighbors.forget(interface);
        for prefix in self.routes.through(interface) {
            self.routes.lose(prefix, now);
            self.changed(prefix);
        }
    }

    fn trust(&self) -> u8 {
        1
    }

    fn ports(&self) -> &'static [u16] {
        match self.config.version {
            Version::Rip2 => &[RIP_PORT, INDEX_PORT],
            Version::RipNg => &[RIPNG_PORT, INDEX_PORT],
        }
    }

    fn groups(&self) -> Vec<IpAddress> {
        vec![self.group()]
    }

    fn refusals(&self) -> &Refusals {
        &self.refusals
    }
}

fn port_of(interface: u16, links: &[Link]) -> Result<&Link, Reason> {
    links.get(usize::from(interface)).ok_or(Reason::NotANeighbor)
}
