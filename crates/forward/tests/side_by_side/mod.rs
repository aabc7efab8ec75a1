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
    all: Vec<Place>,
    now: Instant,
}

/// A router, and the neighbours that it alone talks to.
struct Place {
    router: Router,
    out: Outgoing,
    neighbors: Vec<Graph>,
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

impl Place {
    fn new((index, threaded): (FlowIndex, bool)) -> Self {
        let cache = FlowCacheConfig { places: PLACES, ..FlowCacheConfig::default() };
        let ports = (0..PORTS).map(|port| RouterPort { host: host(port, 1), labels: labels(port) });
        let router = Router::new(ports.collect(), RouterConfig { index, cache, threaded }).unwrap();
        let description = "udp > ipv4 > eth; udp > ipv6 > eth; arp > eth; icmp > ipv4; icmp6 > ipv6";
        let neighbor = |port| Graph::compose(description, host(port, 9), Config::default()).expect("a host");
        Self { router, out: Outgoing::new(1500, 64), neighbors: (0..PORTS).map(neighbor).collect() }
    }

    /// What leaves the router, until nobody has anything to say.
    fn arrive(&mut self, port: u16, frame: Vec<u8>, now: Instant) -> Leaving {
        let mut all = Leaving::new();
        let mut arriving = vec![(port, frame)];
        for _ in 0..ROUNDS {
            for (port, frame) in arriving.drain(..) {
                let frame = Message::copied(HEADROOM, &frame);
                self.router.arrive(PortId(port), frame, now, &mut self.out);
            }
            self.router.poll(now, &mut self.out);
            let leaving = drained(&mut self.out);
            for (port, frame) in &leaving {
                self.neighbors[usize::from(port.0)].arrive(Message::copied(HEADROOM, frame), now);
            }
            all.extend(leaving);
            for (neighbor, port) in self.neighbors.iter_mut().zip(0..) {
                neighbor.tick(now);
                while let Some(frame) = neighbor.transmit() {
                    arriving.push((port, frame.bytes().to_vec()));
                    neighbor.release(frame);
                }
            }
            if arriving.is_empty() {
                break;
            }
        }
        // How often they ask who somebody is depends on what they remember.
        all.retain(|(_, frame)| !resolves(frame));
        all.sort();
        all
    }
}

/// Whether a frame is of ARP or neighbour discovery.
fn resolves(frame: &[u8]) -> bool {
    match frame.get(12..14) {
        Some([8, 6]) => true,
        Some([0x86, 0xdd]) => {
            frame.get(20) == Some(&58) && frame.get(54).is_some_and(|kind| (133..=137).contains(kind))
        }
        _ => false,
    }
}

impl Routers {
    pub fn new() -> Self {
        let kinds = [
            (FlowIndex::Never, false),
            (FlowIndex::Carried, false),
            (FlowIndex::Computed, false),
            (FlowIndex::Either, true),
        ];
        Self { all: kinds.into_iter().map(Place::new).collect(), now: Instant::from_secs(1) }
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
        for Place { router, .. } in &mut self.all {
            let _ = router.add_route(prefix, Route::Out { port: PortId(port), via: Some(via.into()) });
        }
    }

    /// A prefix is reached no longer.
    pub fn lose(&mut self, prefix: IpCidr) {
        self.all.iter_mut().for_each(|place| _ = place.router.remove_route(prefix));
    }

    /// A frame comes, to the hardware address of the port; what leaves all routers.
    pub fn arrive(&mut self, port: u16, frame: &[u8], label: Option<Label>) -> Leaving {
        let (now, frame) = (self.now, labelled(frame, label));
        let mut leaving = self.all.iter_mut().map(|place| place.arrive(port, frame.clone(), now));
        let first = leaving.next().unwrap_or_default();
        leaving.for_each(|leaving| assert_eq!(leaving, first, "{frame:02x?}"));
        first
    }

    /// Packets that were led by an index, and flows that were found, in the routers that can.
    pub fn spared(&self) -> (u64, u64) {
        let Place { router, .. } = &self.all[3];
        let found = (0..PORTS).map(|port| router.flow_counts(PortId(port)).hits).sum();
        (router.counts().threaded, found)
    }

    /// The index of a prefix in the router that has some.
    pub fn index_of(&self, prefix: IpCidr) -> u32 {
        self.all[3].router.index_of(prefix)
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
    leaving
}

fn labelled(frame: &[u8], label: Option<Label>) -> Vec<u8> {
    let mut message = Message::copied(HEADROOM, frame);
    if let Some(label) = label.filter(|_| frame.len() >= 14) {
        insert_label(&mut message, label, &RegionList::new()).unwrap();
    }
    message.bytes().to_vec()
}
