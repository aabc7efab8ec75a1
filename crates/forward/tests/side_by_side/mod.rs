//! Routers and bridges that look for flows in different ways, side by side: whatever comes, the same leaves them.

use throughline_forward::{
    Bridge, BridgeConfig, BridgePort, FlowCacheConfig, FlowIndex, HEADROOM, LABEL_ETHERTYPE, Label, Outgoing,
    PortId, PortLabels, Route, Router, RouterConfig, RouterPort, insert_label, remove_label,
};
use throughline_stack::{
    Config, Graph, Host, Message,
    smoltcp::{
        time::{Duration, Instant},
        wire::{EthernetAddress, IpAddress, IpCidr},
    },
};
use throughline_wire::RegionList;

pub const PORTS: u16 = 4;
/// Few places, so that flows displace each other.
const PLACES: usize = 16;
/// Rounds that neighbours and routers may talk after a frame.
const ROUNDS: usize = 16;

/// Frames that leave, with the ports they leave by.
pub type Leaving = Vec<(PortId, Vec<u8>)>;

/// Port n of all routers is 10.200.n.1 and fd00:200:n::1; the neighbour that all ways lead to ends in 9.
pub struct Routers {
    all: Vec<(Router, Outgoing)>,
    neighbors: Vec<Graph>,
    now: Instant,
}

/// The hardware address of a router's port, and of its neighbour.
pub fn hardware(port: u16, number: u8) -> EthernetAddress {
    EthernetAddress([2, 0, 0, 0, port as u8, number])
}

fn host(port: u16, number: u8) -> Host {
    let v4 = IpCidr::new(IpAddress::v4(10, 200, port as u8, number), 24);
    let mut host = Host::new(hardware(port, number), v4);
    let v6 = IpAddress::v6(0xfd00, 0x200, port, 0, 0, 0, 0, number.into());
    host.addresses.push(IpCidr::new(v6, 64));
    host
}

impl Routers {
    pub fn new() -> Self {
        let cache = FlowCacheConfig { places: PLACES, ..FlowCacheConfig::default() };
        let router = |(index, threaded)| {
            let ports = (0..PORTS).map(|port| RouterPort { host: host(port, 1), labels: labels(port) });
            let router = Router::new(ports.collect(), RouterConfig { index, cache, threaded }).unwrap();
            (router, Outgoing::new(1500, 64))
        };
        let kinds = [
            (FlowIndex::Never, false),
            (FlowIndex::Carried, false),
            (FlowIndex::Computed, false),
            (FlowIndex::Either, true),
        ];
        let description = "udp > ipv4 > eth; udp > ipv6 > eth; arp > eth; icmp > ipv4; icmp6 > ipv6";
        let neighbor = |port| Graph::compose(description, host(port, 9), Config::default()).expect("a host");
        Self {
            all: kinds.into_iter().map(router).collect(),
            neighbors: (0..PORTS).map(neighbor).collect(),
            now: Instant::from_secs(1),
        }
    }

    pub fn pass(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
    }

    /// From now on a prefix is reached by the neighbour on a port. Nothing happens if it is a router's own.
    pub fn lead(&mut self, prefix: IpCidr, port: u16) {
        let via = match prefix {
            IpCidr::Ipv4(_) => host(port, 9).addresses[0].address(),
            IpCidr::Ipv6(_) => host(port, 9).addresses[1].address(),
        };
        for (router, _) in &mut self.all {
            let _ = router.add_route(prefix, Route::Out { port: PortId(port), via: Some(via.into()) });
        }
    }

    /// A prefix is reached no longer.
    pub fn lose(&mut self, prefix: IpCidr) {
        self.all.iter_mut().for_each(|(router, _)| _ = router.remove_route(prefix));
    }

    /// A frame comes, to the hardware address of the port; what leaves all routers.
    pub fn arrive(&mut self, port: u16, frame: &[u8], label: Option<Label>) -> Leaving {
        let mut all = Leaving::new();
        let mut arriving = vec![(port, labelled(frame, label))];
        for _ in 0..ROUNDS {
            let leaving = self.one_round(&arriving);
            arriving.clear();
            for (port, frame) in &leaving {
                self.neighbors[usize::from(port.0)].arrive(Message::copied(HEADROOM, frame), self.now);
            }
            for (neighbor, port) in self.neighbors.iter_mut().zip(0..) {
                neighbor.tick(self.now);
                while let Some(frame) = neighbor.transmit() {
                    arriving.push((port, frame.bytes().to_vec()));
                    neighbor.release(frame);
                }
            }
            all.extend(leaving);
            if arriving.is_empty() {
                break;
            }
        }
        all
    }

    fn one_round(&mut self, arriving: &[(u16, Vec<u8>)]) -> Leaving {
        let now = self.now;
        let mut first: Option<Leaving> = None;
        for (router, out) in &mut self.all {
            for (port, frame) in arriving {
                router.arrive(PortId(*port), Message::copied(HEADROOM, frame), now, out);
            }
            router.poll(now, out);
            let leaving = drained(out);
            match &first {
                None => first = Some(leaving),
                Some(first) => assert_eq!(&leaving, first, "{arriving:02x?}"),
            }
        }
        first.unwrap_or_default()
    }

    /// Packets that were led by an index, and flows that were found, in the routers that can.
    pub fn spared(&self) -> (u64, u64) {
        let (router, _) = &self.all[3];
        let found = (0..PORTS).map(|port| router.flow_counts(PortId(port)).hits).sum();
        (router.counts().threaded, found)
    }

    /// The index of a prefix in the router that has some.
    pub fn index_of(&self, prefix: IpCidr) -> u32 {
        self.all[3].0.index_of(prefix)
    }
}

/// Bridges with an index on addresses and without.
pub struct Bridges {
    all: Vec<(Bridge, Outgoing)>,
    now: Instant,
}

impl Bridges {
    pub fn new() -> Self {
        let cache = FlowCacheConfig { places: PLACES, ..FlowCacheConfig::default() };
        let bridge = |index| {
            let config = BridgeConfig { index, cache, addresses: 64, ..BridgeConfig::default() };
            let ports: Vec<_> =
                (0..PORTS).map(|port| BridgePort { labels: labels(port), mtu: 1500 }).collect();
            (Bridge::new(&ports, config).unwrap(), Outgoing::new(1500, 64))
        };
        Self { all: [false, true].map(bridge).into(), now: Instant::from_secs(1) }
    }

    pub fn pass(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
    }

    pub fn arrive(&mut self, port: u16, frame: &[u8], label: Option<Label>) -> Leaving {
        let now = self.now;
        let frame = labelled(frame, label);
        let mut leaving = self.all.iter_mut().map(|(bridge, out)| {
            bridge.arrive(PortId(port), Message::copied(HEADROOM, &frame), now, out);
            drained(out)
        });
        let first = leaving.next().unwrap();
        leaving.for_each(|leaving| assert_eq!(leaving, first, "{frame:02x?}"));
        first
    }

    /// Addresses that were found by index.
    pub fn spared(&self) -> u64 {
        (0..PORTS).map(|port| self.all[1].0.flow_counts(PortId(port)).hits).sum()
    }
}

/// At every other port neighbours know labels.
fn labels(port: u16) -> PortLabels {
    if port.is_multiple_of(2) { PortLabels::KNOWN } else { PortLabels::UNKNOWN }
}

/// Without their labels, which are of the node's own making.
fn drained(out: &mut Outgoing) -> Leaving {
    let mut leaving = Leaving::new();
    for (port, mut frame) in out.frames.drain(..) {
        assert!(port.0.is_multiple_of(2) || frame.bytes()[12..14] != LABEL_ETHERTYPE.to_be_bytes());
        let _ = remove_label(&mut frame);
        leaving.push((port, frame.bytes().to_vec()));
        out.pool.give(frame);
    }
    // Those that have waited for several next hops leave in any order.
    leaving.sort();
    leaving
}

fn labelled(frame: &[u8], label: Option<Label>) -> Vec<u8> {
    let mut message = Message::copied(HEADROOM, frame);
    if let Some(label) = label.filter(|_| frame.len() >= 14) {
        insert_label(&mut message, label, &RegionList::new()).unwrap();
    }
    message.bytes().to_vec()
}
