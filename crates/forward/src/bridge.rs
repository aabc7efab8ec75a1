//! A learning bridge (IEEE 802.1D, 7.7 to 7.9): frames go where their destination was last heard from.
//!
//! Two lookups per frame: of the destination, to send it there, and of the source, to learn. With an index on addresses, which
//! their manufacturer or the network's keeper assigned and labels carry, each is one step.

use std::collections::HashMap;

use throughline_demux::{ConfigError, EthernetAddress as Key, Keyed, Locator, Slot, Swiss};
use throughline_stack::{
    Bucket, Message, Rate,
    smoltcp::{
        time::{Duration, Instant},
        wire::EthernetAddress,
    },
};
use throughline_wire::RegionList;

use crate::{
    Assignment, FlowCache, FlowCacheConfig, FlowCounts, Label, Labeller, Outgoing, Packet, PortId,
    PortLabels,
    edge::{Edge, FlowKey, has_room},
    frame::{ETHERNET, is_labelled},
    insert_label,
    ip::Ip,
    remove_label,
    threaded::NO_INDEX,
};

/// How a bridge works.
#[derive(Clone, Debug)]
pub struct BridgeConfig {
    /// Addresses remembered, at most. Who is not remembered still gets his frames, with everybody else.
    pub addresses: usize,
    /// An address that nothing came from for so long is forgotten.
    pub ageing: Duration,
    /// Frames per second of each port that go to all others: to groups, to all, or to who is not known. What comes beyond
    /// it is dropped.
    pub flood: Rate,
    /// Whether addresses are looked up first at the index that labels carry.
    pub index: bool,
    /// The cache for that.
    pub cache: FlowCacheConfig,
    /// Indices that addresses were given, for ports that label packets with them ([`Assignment::Assigned`]).
    pub indices: Vec<(EthernetAddress, u16)>,
}

/// One of a bridge's networks.
#[derive(Clone, Copy, Debug)]
pub struct BridgePort {
    /// Whether stations there know labels, and who gets one.
    pub labels: PortLabels,
    /// The longest packet, label included.
    pub mtu: usize,
}

impl Default for BridgeConfig {
    /// 65,536 addresses, 300 seconds (the standard's), 1,000 floods a second and 1,000 at once, with index.
    fn default() -> Self {
        Self {
            addresses: 65_536,
            ageing: Duration::from_secs(300),
            flood: Rate { per_second: 1000, burst: 1000 },
            index: true,
            cache: FlowCacheConfig::default(),
            indices: Vec::new(),
        }
    }
}

/// What became of the frames that came to a bridge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BridgeCounts {
    /// Frames that arrived.
    pub arrived: u64,
    /// Sent to the one port that their destination is behind.
    pub forwarded: u64,
    /// Sent to all other ports.
    pub flooded: u64,
    /// Not sent, since their destination is where they came from.
    pub near: u64,
    /// Dropped, since there were too many to flood.
    pub storm: u64,
    /// Dropped: to a group that no bridge forwards to, from an impossible address, or no frame.
    pub refused: u64,
    /// Addresses not learnt for want of room.
    pub full: u64,
    /// Addresses that were at another port before.
    pub moved: u64,
    /// Frames that were given a label.
    pub labelled: u64,
    /// Frames whose label was taken off, since the port's stations know none or the link has no room for it.
    pub unlabelled: u64,
    /// Labels that came by a port whose stations are said to know none: they were taken off, unread.
    pub distrusted: u64,
}

/// Where an address was heard from last.
#[derive(Clone, Copy, Debug)]
struct Station {
    address: EthernetAddress,
    port: PortId,
    heard: Instant,
}

/// A bridge between ports.
pub struct Bridge {
    ports: Vec<Port>,
    /// Slots of `stations`, by address.
    table: Swiss<Key>,
    stations: Vec<Station>,
    unused: Vec<Slot>,
    config: BridgeConfig,
    indices: HashMap<[u8; 6], u16>,
    ids: Labeller,
    /// The next one to be looked at for its age.
    hand: usize,
    counts: BridgeCounts,
}

struct Port {
    floods: Bucket,
    /// Slots of stations, at the index that frames of this port carried.
    cache: FlowCache<[u8; 6], u32>,
    /// Whether stations know labels.
    labels: bool,
    mtu: usize,
    new: Option<Assignment>,
    /// The labels of flows, if they are not those of addresses.
    edge: Option<Edge>,
}

/// How many stations are looked at for their age with each frame.
const LOOKED_AT: usize = 2;

impl Bridge {
    /// A bridge between these ports. It changes no packets, so it sets no flow labels of IPv6.
    ///
    /// # Errors
    /// [`ConfigError`] if a cache would have no places, or too many.
    pub fn new(ports: &[BridgePort], config: BridgeConfig) -> Result<Self, ConfigError> {
        let port = |BridgePort { labels, mtu }: &BridgePort| {
            let of_flows = labels.new.filter(|new| *new != Assignment::Assigned);
            Ok(Port {
                floods: Bucket::new(config.flood, 0),
                cache: FlowCache::new(config.cache)?,
                labels: labels.known,
                mtu: *mtu,
                new: labels.new,
                edge: Edge::new(PortLabels { new: of_flows, ..PortLabels::UNKNOWN }, config.cache)?,
            })
        };
        Ok(Self {
            ports: ports.iter().map(port).collect::<Result<_, _>>()?,
            indices: config.indices.iter().map(|(address, index)| (address.0, *index)).collect(),
            ids: Labeller::new(),
            table: Swiss::with_hash(Keyed::random(), config.addresses),
            stations: Vec::new(),
            unused: Vec::new(),
            config,
            hand: 0,
            counts: BridgeCounts::default(),
        })
    }

    /// What became of the frames so far.
    pub fn counts(&self) -> BridgeCounts {
        self.counts
    }

    /// What became of the lookups by index in the cache of a port.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn flow_counts(&self, port: PortId) -> FlowCounts {
        self.ports[port.index()].cache.counts()
    }

    /// How many addresses are known.
    pub fn known(&self) -> usize {
        self.table.len()
    }

    /// The port that an address was last heard from, if that was not too long ago.
    pub fn port_of(&mut self, address: EthernetAddress, now: Instant) -> Option<PortId> {
        let slot = self.table.find(&Key::new(address.0))?;
        self.fresh(slot, now)
    }

    /// Takes a frame that came in by a port, and puts what leaves into `out`.
    ///
    /// # Panics
    /// If there is no such port.
    #[inline]
    pub fn arrive(&mut self, port: PortId, mut frame: Message, now: Instant, out: &mut Outgoing) {
        self.counts.arrived += 1;
        if !self.ports[port.index()].labels && is_labelled(frame.bytes()) {
            self.counts.distrusted += 1;
            // One that can't be read is found out below.
            let _ = remove_label(&mut frame);
        }
        let Ok(packet) = Packet::of(frame.bytes()) else { return self.refuse(frame, out) };
        let (source, destination, label) = (packet.source(), packet.destination(), packet.label);
        let labelled = packet.offset > ETHERNET;
        if !source.is_unicast() || is_reserved(destination) {
            return self.refuse(frame, out);
        }
        let label = label.filter(|_| labelled && self.config.index);
        self.learn(port, source, label, now);
        self.age(now);
        if !destination.is_unicast() {
            return self.flood(port, frame, now, out);
        }
        match self.find(port, destination, label, now) {
            Some(to) if to == port => {
                self.counts.near += 1;
                out.pool.give(frame);
            }
            Some(to) => {
                self.counts.forwarded += 1;
                let labelled = labelled || self.give(port, to, &mut frame, now);
                self.send(to, frame, labelled, out);
            }
            None => self.flood(port, frame, now, out),
        }
    }

    #[inline]
    fn find(
        &mut self,
        from: PortId,
        address: EthernetAddress,
        label: Option<Label>,
        now: Instant,
    ) -> Option<PortId> {
        let index = label.map(|label| AddressIndices::of(label).destination.into());
        let slot = self.look_up(from, address, index, now)?;
        self.fresh(slot, now)
    }

    /// Where a station is in the list: by index, otherwise by its address.
    #[inline]
    fn look_up(
        &mut self,
        from: PortId,
        address: EthernetAddress,
        index: Option<u32>,
        now: Instant,
    ) -> Option<Slot> {
        let key = Key::new(address.0);
        let Some(index) = index else { return self.table.find(&key) };
        let cache = &mut self.ports[from.index()].cache;
        if let Some(slot) = cache.find(index, &address.0, now) {
            return Some(Slot(slot));
        }
        let slot = self.table.find(&key)?;
        cache.put(index, address.0, slot.0, now);
        Some(slot)
    }

    /// The port of a station that was heard from lately.
    #[inline]
    fn fresh(&self, slot: Slot, now: Instant) -> Option<PortId> {
        let station = self.stations.get(slot.0 as usize)?;
        (now < station.heard + self.config.ageing).then_some(station.port)
    }

    #[inline]
    fn learn(&mut self, port: PortId, address: EthernetAddress, label: Option<Label>, now: Instant) {
        let index = label.map(|label| AddressIndices::of(label).source.into());
        let Some(slot) = self.look_up(port, address, index, now) else {
            return self.add(address, port, now);
        };
        let station = &mut self.stations[slot.0 as usize];
        self.counts.moved += u64::from(station.port != port);
        (station.port, station.heard) = (port, now);
    }

    #[cold]
    fn add(&mut self, address: EthernetAddress, port: PortId, now: Instant) {
        let station = Station { address, port, heard: now };
        let slot = self.unused.pop().unwrap_or(Slot(self.stations.len() as u32));
        if self.table.insert_new(Key::new(address.0), slot).is_err() {
            // There are as many as may be.
            self.counts.full += 1;
            return;
        }
        match self.stations.get_mut(slot.0 as usize) {
            Some(place) => *place = station,
            None => self.stations.push(station),
        }
    }

    /// Forgets who was silent for too long; a few are looked at each time.
    #[inline]
    fn age(&mut self, now: Instant) {
        for _ in 0..LOOKED_AT {
            let Some(station) = self.stations.get(self.hand) else {
                self.hand = 0;
                return;
            };
            if now >= station.heard + self.config.ageing {
                self.forget(Slot(self.hand as u32));
            }
            self.hand += 1;
        }
    }

    #[cold]
    fn forget(&mut self, slot: Slot) {
        let key = Key::new(self.stations[slot.0 as usize].address.0);
        // Not one whose place is empty already.
        if self.table.find(&key) != Some(slot) {
            return;
        }
        self.table.remove(&key);
        self.unused.push(slot);
        // The slot will be another's.
        self.ports.iter_mut().for_each(|port| port.cache.invalidate());
    }

    /// Sends a frame to all ports but that which it came by.
    fn flood(&mut self, from: PortId, frame: Message, now: Instant, out: &mut Outgoing) {
        if !self.ports[from.index()].floods.take(now.total_micros().max(0) as u64) {
            self.counts.storm += 1;
            return out.pool.give(frame);
        }
        self.counts.flooded += 1;
        let labelled = Packet::of(frame.bytes()).is_ok_and(|packet| packet.offset > ETHERNET);
        let others = (0..self.ports.len() as u16).map(PortId).filter(|port| *port != from);
        let mut others = others.peekable();
        while let Some(port) = others.next() {
            if others.peek().is_none() {
                return self.send(port, frame, labelled, out);
            }
            let mut copy = out.pool.take();
            if copy.append(frame.bytes()).is_ok() {
                self.send(port, copy, labelled, out);
            }
        }
        out.pool.give(frame);
    }

    #[inline]
    fn send(&mut self, port: PortId, mut frame: Message, labelled: bool, out: &mut Outgoing) {
        let to = &self.ports[port.index()];
        if labelled && (!to.labels || frame.len() > ETHERNET + to.mtu) {
            self.counts.unlabelled += 1;
            if remove_label(&mut frame).is_err() {
                return self.refuse(frame, out);
            }
        }
        out.push(port, frame);
    }

    /// Gives a frame of a station that knows no labels one, if those that it goes to know them and the link has room for it. Whether
    /// it has got one.
    #[inline]
    fn give(&mut self, from: PortId, to: PortId, frame: &mut Message, now: Instant) -> bool {
        let to = &self.ports[to.index()];
        if !to.labels || !has_room(frame.len(), to.mtu) {
            return false;
        }
        let Some(new) = self.ports[from.index()].new else { return false };
        let label = Packet::of(frame.bytes()).ok().and_then(|packet| self.label(from, new, &packet, now));
        let given = label.is_some_and(|label| insert_label(frame, label, &RegionList::new()).is_ok());
        self.counts.labelled += u64::from(given);
        given
    }

    /// The label of a packet that has none. Only those of IP have one, as routers read no others behind it.
    #[inline]
    fn label(&mut self, from: PortId, new: Assignment, packet: &Packet<'_>, now: Instant) -> Option<Label> {
        let ip = Ip::of(packet.ethertype, packet.bytes()).ok()?;
        if new == Assignment::Assigned {
            let index = |address: EthernetAddress| self.indices.get(&address.0).copied();
            let (destination, source) = (index(packet.destination())?, index(packet.source())?);
            return Some(self.ids.assigned(AddressIndices { destination, source }));
        }
        let edge = self.ports[from.index()].edge.as_mut()?;
        edge.label(&FlowKey::of(&ip, packet.bytes()), now, 0, || NO_INDEX)
    }

    #[cold]
    fn refuse(&mut self, frame: Message, out: &mut Outgoing) {
        self.counts.refused += 1;
        out.pool.give(frame);
    }
}

/// Groups of the link that no bridge forwards to (IEEE 802.1D, table 7-10).
#[inline]
fn is_reserved(address: EthernetAddress) -> bool {
    matches!(address.0, [1, 0x80, 0xc2, 0, 0, 0..=0x0f])
}

/// The indices of a frame's two addresses, assigned together with the addresses: the paper's third way. They share the word
/// of the label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressIndices {
    /// That of whom the frame is for.
    pub destination: u16,
    /// That of whom it is from.
    pub source: u16,
}

impl AddressIndices {
    /// Those that a label carries, or any two numbers where it carries something else.
    #[inline]
    pub fn of(label: Label) -> Self {
        let word = label.flow.source_hash;
        Self { destination: word as u16, source: (word >> 16) as u16 }
    }

    /// As the word of a label.
    #[inline]
    pub fn word(self) -> u32 {
        u32::from(self.destination) | u32::from(self.source) << 16
    }
}
