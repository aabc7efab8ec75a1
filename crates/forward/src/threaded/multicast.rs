//! Indices of multicast groups, on which all routers of a link agree, since all of them receive a packet.
//!
//! The *designated router* gives them out: of the routers that are heard the one with the highest priority, and of those the one with the
//! highest address. Who takes over goes on with the indices that are known: whoever begins listens first.

use std::collections::{BTreeMap, BTreeSet};

use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::{IpAddress, IpCidr},
};

use super::{
    NO_INDEX,
    message::{self, Header, Kind, MOST_INDICES, Told},
    source::whole,
};
use crate::routing::{Reason, authentication::Authentication};

/// What a [`Groups`] is made with.
#[derive(Clone, Debug)]
pub struct GroupsConfig {
    /// Our id among the routers.
    pub router: u32,
    /// Our address on the link, which decides between equal priorities.
    pub address: IpAddress,
    /// Who has 0 is never designated.
    pub priority: u8,
    /// How routers of the link know each other.
    pub authentication: Authentication,
    /// From one message to the next. Who is silent, or wants a group no longer, for three times as long is forgotten.
    pub period: Duration,
    /// Groups that have an index at a time, less one; a power of two.
    pub places: usize,
    /// Where sequence numbers begin: more than they ever were.
    pub first_sequence: u64,
}

impl GroupsConfig {
    /// Priority 1, every 10 s, 1,024 places.
    pub fn new(router: u32, address: IpAddress) -> Self {
        Self {
            router,
            address,
            priority: 1,
            authentication: Authentication::None,
            period: Duration::from_secs(10),
            places: 1_024,
            first_sequence: 1,
        }
    }
}

/// Routers of a link that are remembered.
const ROUTERS: usize = 64;
/// Numbers that are remembered, for each of these.
const LIVES: usize = 16;

/// The groups of one link: their indices, and the ports that we send their packets on by.
#[derive(Debug)]
pub struct Groups {
    config: GroupsConfig,
    others: BTreeMap<IpAddress, Router>,
    /// The highest number that each has signed. Never forgotten: what a router said before it fell silent could be said again
    /// otherwise. Who is here has had a key.
    numbers: BTreeMap<IpAddress, u64>,
    /// Of each group that somebody wants: its index, and until when.
    groups: BTreeMap<IpAddress, Group>,
    /// By index.
    places: Box<[Option<(IpAddress, u64)>]>,
    /// Ports of each group that we send on.
    ports: BTreeMap<IpAddress, u64>,
    sequence: u64,
    next: Instant,
    changed: bool,
    /// Until then we only listen.
    begins: Instant,
}

#[derive(Debug)]
struct Router {
    priority: u8,
    /// Since when it has had this priority.
    since: Instant,
    heard: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    index: u32,
    until: Instant,
}

impl Groups {
    /// Of a link where nobody was heard yet. Whoever begins listens for a period and a half first, in which whoever is there
    /// is heard.
    pub fn new(config: GroupsConfig, now: Instant) -> Self {
        Self {
            others: BTreeMap::new(),
            numbers: BTreeMap::new(),
            groups: BTreeMap::new(),
            places: vec![None; config.places.next_power_of_two().max(2)].into(),
            ports: BTreeMap::new(),
            sequence: config.first_sequence,
            next: now,
            changed: false,
            begins: now + config.period * 3 / 2,
            config,
        }
    }

    /// Sends a group's packets on by these ports, a bit for each; by none, if there is no bit.
    pub fn set_ports(&mut self, group: IpAddress, ports: u64, now: Instant) {
        if ports == 0 {
            self.ports.remove(&group);
        } else if self.ports.len() < self.places.len() {
            self.ports.insert(group, ports);
        }
        self.place_all();
        self.next = now;
    }

    /// Where a packet from this link goes by its index, which must be that of its group.
    #[inline]
    pub fn follow(&self, index: u32, group: IpAddress) -> Option<u64> {
        let (of, ports) = self.places[index as usize & (self.places.len() - 1)]?;
        (of == group).then_some(ports)
    }

    /// The same without an index.
    pub fn find(&self, group: IpAddress) -> Option<u64> {
        self.ports.get(&group).copied()
    }

    /// What a packet to a group carries that is sent to this link.
    pub fn index(&self, group: IpAddress) -> u32 {
        self.groups.get(&group).map_or(NO_INDEX, |group| group.index)
    }

    /// The address of the router that gives indices out, as far as we have heard.
    pub fn designated(&self, now: Instant) -> Option<IpAddress> {
        self.designated_since(now).map(|(address, _)| address)
    }

    /// And since when it could be heard that it would be.
    fn designated_since(&self, now: Instant) -> Option<(IpAddress, Instant)> {
        let others = self.others.iter().map(|(address, router)| (router.priority, *address, router.since));
        let own = (self.config.priority, self.config.address, self.begins);
        let all = others.chain((self.begins <= now).then_some(own));
        let first = all.filter(|(priority, ..)| *priority > 0).max();
        first.map(|(_, address, since)| (address, since))
    }

    fn is_designated(&self, now: Instant) -> bool {
        self.designated(now) == Some(self.config.address)
    }

    /// Whether a router that is no longer designated may not know yet.
    fn may_not_know(&self, from: IpAddress, now: Instant) -> bool {
        let recent = |(_, since)| since + self.config.period > now;
        self.others.contains_key(&from) && self.designated_since(now).is_some_and(recent)
    }

    /// Messages to be sent to all routers of the link.
    pub fn poll(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let silence = self.config.period * 3;
        self.others.retain(|_, router| router.heard + silence > now);
        if self.begins > now || self.next > now && !self.changed {
            return Vec::new();
        }
        (self.next, self.changed) = (now + self.config.period, false);
        let mut messages = vec![self.message(Kind::Candidate, 1, &[self.config.priority, 0, 0, 0])];
        if self.is_designated(now) {
            for group in self.ports.keys().copied().collect::<Vec<_>>() {
                self.allocate(group, now);
            }
            self.groups.retain(|_, group| group.until > now);
            self.place_all();
            let told =
                |(group, known): (&IpAddress, &Group)| Told { prefix: whole(*group), index: known.index };
            let told: Vec<Told> = self.groups.iter().map(told).collect();
            self.tell(Kind::Groups, &told, &mut messages);
        } else {
            self.groups.retain(|_, group| group.until > now);
            let want = |group: &IpAddress| Told { prefix: whole(*group), index: NO_INDEX };
            let wanted: Vec<Told> = self.ports.keys().map(want).collect();
            self.tell(Kind::WantGroups, &wanted, &mut messages);
        }
        messages
    }

    /// When there will be something to send.
    pub fn poll_at(&self) -> Instant {
        let next = if self.changed { Instant::ZERO } else { self.next };
        next.max(self.begins)
    }

    /// Takes in a message from the link.
    ///
    /// # Errors
    /// [`Reason`], if nothing of it is used.
    pub fn receive(&mut self, from: IpAddress, bytes: &[u8], now: Instant) -> Result<(), Reason> {
        let (header, body) = message::read(bytes, &self.config.authentication.of(from))?;
        if from == self.config.address || header.sender == self.config.router {
            return Err(Reason::OwnId);
        }
        self.accept(from, &header)?;
        match header.kind {
            Kind::Candidate => self.candidate(from, body, now),
            Kind::WantGroups if self.is_designated(now) => {
                read_groups(&header, body)?.into_iter().for_each(|(group, _)| self.allocate(group, now));
                Ok(())
            }
            Kind::WantGroups => Ok(()),
            Kind::Groups if self.designated(now) == Some(from) => self.learn(&header, body, now),
            Kind::Groups if self.may_not_know(from, now) => Ok(()),
            Kind::Groups => Err(Reason::NotANeighbor),
            _ => Err(Reason::Command),
        }
    }

    fn accept(&mut self, from: IpAddress, header: &Header) -> Result<(), Reason> {
        if !matches!(self.config.authentication, Authentication::Keyed(_)) {
            return Ok(());
        }
        let full = self.numbers.len() >= LIVES * ROUTERS;
        match self.numbers.get_mut(&from) {
            Some(last) if header.sequence <= *last => return Err(Reason::Replay),
            Some(last) => *last = header.sequence,
            None if full => return Err(Reason::TooManyNeighbors),
            None => drop(self.numbers.insert(from, header.sequence)),
        }
        Ok(())
    }

    fn candidate(&mut self, from: IpAddress, body: &[u8], now: Instant) -> Result<(), Reason> {
        let [priority, 0, 0, 0] = *body else { return Err(Reason::Length) };
        let full = self.others.len() >= ROUTERS;
        match self.others.get_mut(&from) {
            Some(router) => {
                if router.priority != priority {
                    (router.priority, router.since) = (priority, now);
                }
                router.heard = now;
            }
            None if full => return Err(Reason::TooManyNeighbors),
            None => {
                let router = Router { priority, since: now, heard: now };
                self.others.insert(from, router);
                // It learns who is here, and what was given out.
                self.changed = true;
            }
        }
        Ok(())
    }

    fn learn(&mut self, header: &Header, body: &[u8], now: Instant) -> Result<(), Reason> {
        let told = read_groups(header, body)?;
        let until = now + self.config.period * 3;
        if told.iter().any(|(_, index)| *index == NO_INDEX || *index as usize >= self.places.len()) {
            return Err(Reason::Metric);
        }
        let new = told.iter().map(|(group, _)| *group).filter(|group| !self.groups.contains_key(group));
        if self.groups.len() + new.collect::<BTreeSet<_>>().len() > self.places.len() {
            return Err(Reason::TooManyRoutes);
        }
        self.groups.extend(told.into_iter().map(|(group, index)| (group, Group { index, until })));
        self.place_all();
        Ok(())
    }

    /// Gives a group an index, or lets it keep the one it has.
    fn allocate(&mut self, group: IpAddress, now: Instant) {
        let until = now + self.config.period * 3;
        if let Some(known) = self.groups.get_mut(&group) {
            known.until = until;
            return;
        }
        let mut taken = vec![false; self.places.len()];
        self.groups.values().for_each(|group| taken[group.index as usize] = true);
        if let Some(index) = (1..taken.len()).find(|index| !taken[*index]) {
            self.groups.insert(group, Group { index: index as u32, until });
            self.changed = true;
        }
    }

    fn place_all(&mut self) {
        self.places.fill(None);
        for (group, known) in &self.groups {
            if let Some(ports) = self.ports.get(group) {
                self.places[known.index as usize] = Some((*group, *ports));
            }
        }
    }

    fn tell(&mut self, kind: Kind, told: &[Told], messages: &mut Vec<Vec<u8>>) {
        for told in told.chunks(MOST_INDICES) {
            messages.push(self.message(kind, told.len(), &message::write_indices(told)));
        }
    }

    fn message(&mut self, kind: Kind, count: usize, body: &[u8]) -> Vec<u8> {
        self.sequence += 1;
        let (sender, sequence, count) = (self.config.router, self.sequence, count as u16);
        let authentication = self.config.authentication.of(self.config.address);
        message::write(Header { kind, sender, sequence, count }, body, &authentication)
    }
}

/// Groups and their indices; none of them if one is no group.
fn read_groups(header: &Header, body: &[u8]) -> Result<Vec<(IpAddress, u32)>, Reason> {
    let told = message::read_indices(header, body)?;
    told.into_iter().map(|told| Ok((is_group(told.prefix)?, told.index))).collect()
}

fn is_group(prefix: IpCidr) -> Result<IpAddress, Reason> {
    let group = prefix.address();
    if group.is_multicast() && prefix == whole(group) { Ok(group) } else { Err(Reason::Prefix) }
}
