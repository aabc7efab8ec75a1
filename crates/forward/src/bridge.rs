//! A learning bridge (IEEE 802.1D, 7.7 to 7.9): frames go where their destination was last heard from.
//!
//! Two lookups per frame: of the destination, to send it there, and of the source, to learn. With an index on addresses, which
//! their manufacturer or the network's keeper assigned and labels carry, each is one step.

mod counts;
mod label;
mod stations;
mod tree;

use std::collections::HashMap;

use throughline_demux::{ConfigError, EthernetAddress as Key, Keyed, Slot, Swiss};
use throughline_stack::{
    Bucket, Message, Rate,
    smoltcp::{
        time::{Duration, Instant},
        wire::EthernetAddress,
    },
};

pub use self::{counts::BridgeCounts, label::AddressIndices};
use self::{stations::Station, tree::Tree};
use crate::{
    Assignment, FlowCache, FlowCacheConfig, FlowCounts, Labeller, Outgoing, Packet, PortId, PortLabels,
    edge::Edge,
    frame::{ETHERNET, is_labelled},
    remove_label,
    spanning_tree::PortState,
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
    /// How long stations are remembered at present.
    ageing: Duration,
    tree: Option<Tree>,
    counts: BridgeCounts,
}

struct Port {
    /// What it may do.
    state: PortState,
    /// Whether its link works.
    up: bool,
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

impl Bridge {
    /// A bridge between these ports. It changes no packets, so it sets no flow labels of IPv6.
    ///
    /// # Errors
    /// [`ConfigError`] if a cache would have no places, or too many.
    pub fn new(ports: &[BridgePort], config: BridgeConfig) -> Result<Self, ConfigError> {
        let port = |BridgePort { labels, mtu }: &BridgePort| {
            let of_flows = labels.new.filter(|new| *new != Assignment::Assigned);
            Ok(Port {
                state: PortState::Forwarding,
                up: true,
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
            ageing: config.ageing,
            tree: None,
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
        if !source.is_unicast() {
            return self.refuse(frame, out);
        }
        if is_reserved(destination) {
            return self.reserved(port, frame, now, out);
        }
        let state = self.ports[port.index()].state;
        if !state.learns() {
            return self.hold_back(frame, out);
        }
        let label = label.filter(|_| labelled && self.config.index);
        self.learn(port, source, label, now);
        self.age(now);
        if !state.forwards() {
            return self.hold_back(frame, out);
        }
        if !destination.is_unicast() {
            return self.flood(port, frame, now, out);
        }
        match self.find(port, destination, label, now) {
            Some(to) if to == port => {
                self.counts.near += 1;
                out.pool.give(frame);
            }
            Some(to) if self.ports[to.index()].sends() => {
                self.counts.forwarded += 1;
                let labelled = labelled || self.give(port, to, &mut frame, now);
                self.send(to, frame, labelled, out);
            }
            // Where nobody goes by now it is no longer.
            _ => self.flood(port, frame, now, out),
        }
    }

    /// Sends a frame to all ports but that which it came by.
    fn flood(&mut self, from: PortId, frame: Message, now: Instant, out: &mut Outgoing) {
        if !self.ports[from.index()].floods.take(now.total_micros().max(0) as u64) {
            self.counts.storm += 1;
            return out.pool.give(frame);
        }
        self.counts.flooded += 1;
        let labelled = Packet::of(frame.bytes()).is_ok_and(|packet| packet.offset > ETHERNET);
        let count = self.ports.len() as u16;
        let is_other = |bridge: &Self, to: u16| PortId(to) != from && bridge.ports[usize::from(to)].sends();
        let Some(last) = (0..count).rev().find(|to| is_other(self, *to)) else { return out.pool.give(frame) };
        for port in 0..last {
            if !is_other(self, port) {
                continue;
            }
            let mut copy = out.pool.take();
            if copy.append(frame.bytes()).is_ok() {
                self.send(PortId(port), copy, labelled, out);
            }
        }
        self.send(PortId(last), frame, labelled, out);
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

    /// By a port that is not part of the tree, or not yet.
    #[cold]
    fn hold_back(&mut self, frame: Message, out: &mut Outgoing) {
        self.counts.blocked += 1;
        out.pool.give(frame);
    }

    #[cold]
    fn refuse(&mut self, frame: Message, out: &mut Outgoing) {
        self.counts.refused += 1;
        out.pool.give(frame);
    }
}

impl Port {
    /// Whether frames of stations leave by it.
    #[inline]
    fn sends(&self) -> bool {
        self.up && self.state.forwards()
    }
}

/// Groups of the link that no bridge forwards to (IEEE 802.1D, table 7-10).
#[inline]
fn is_reserved(address: EthernetAddress) -> bool {
    matches!(address.0, [1, 0x80, 0xc2, 0, 0, 0..=0x0f])
}
