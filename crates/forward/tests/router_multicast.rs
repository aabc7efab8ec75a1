//! Packets to groups through routers that agree on indices of the groups: they reach whom they reach without.

mod network;
mod packets;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use network::{Network, host};
use proptest::prelude::*;
use throughline_forward::{
    Assignment, FlowCacheConfig, FlowIndex, HEADROOM, Label, MulticastConfig, Outgoing, Packet, PortId,
    PortLabels, Refused, Route, RouteError, Router, RouterConfig, RouterPort, threaded::NO_INDEX,
};
use throughline_stack::{
    Message,
    smoltcp::{
        time::{Duration, Instant},
        wire::{EthernetAddress, Icmpv6Packet, IpCidr, Ipv4Packet, Ipv6Packet},
    },
};
use throughline_wire::Flow;

const ROUTERS: u16 = 3;
const OWN: PortId = PortId(0);
const LAN: PortId = PortId(1);
/// The network that all routers are on.
const COMMON: u16 = 1;
const GROUP: IpAddr = IpAddr::V4(Ipv4Addr::new(239, 1, 1, 1));
const GROUP6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xff05, 0, 0, 0, 0, 0, 1, 1));

/// Router n has port 0 to network 10 + n, where its address ends in 1, and port 1 to a network with all the others, where its
/// address ends in n + 1.
struct Lan {
    routers: Vec<Router>,
    out: Outgoing,
    now: Instant,
    /// What was sent on the common network, and on each of the others.
    common: Vec<Vec<u8>>,
    own: Vec<Vec<Vec<u8>>>,
}

impl Lan {
    fn new(threaded: bool, outer: PortLabels) -> Self {
        let now = Instant::from_secs(1);
        let router = |n: u16| {
            let port = |host, labels| RouterPort { host, labels };
            let inner = if threaded { PortLabels::KNOWN } else { PortLabels::UNKNOWN };
            let ports = vec![port(host(10 + n, 1), outer), port(host(COMMON, n as u8 + 1), inner)];
            let cache = FlowCacheConfig { places: 16, ..FlowCacheConfig::default() };
            let config = RouterConfig { index: FlowIndex::Either, cache, threaded };
            let mut router = Router::new(ports, config).unwrap();
            for other in (0..ROUTERS).filter(|other| *other != n) {
                for (prefix, via) in [
                    (format!("10.0.{}.0/24", 10 + other), format!("10.0.{COMMON}.{}", other + 1)),
                    (format!("fd00:{:x}::/64", 10 + other), format!("fd00:{COMMON:x}::{}", other + 1)),
                ] {
                    let prefix: IpCidr = prefix.parse().unwrap();
                    let via = Some(via.parse().unwrap());
                    router.add_route(prefix, Route::Out { port: LAN, via }).unwrap();
                }
            }
            if threaded {
                let config = MulticastConfig { priority: n as u8 + 1, ..MulticastConfig::new(n.into()) };
                router.agree_on_groups(&config, now);
            }
            router
        };
        let routers = (0..ROUTERS).map(router).collect();
        let own = vec![Vec::new(); ROUTERS.into()];
        Self { routers, out: Outgoing::new(1500, 256), now, common: Vec::new(), own }
    }

    fn set_group(&mut self, n: usize, group: IpAddr, ports: &[PortId]) {
        self.routers[n].set_group(group, ports, self.now).unwrap();
    }

    fn run_for(&mut self, seconds: u64) {
        for _ in 0..seconds {
            for n in 0..self.routers.len() {
                self.routers[n].poll(self.now, &mut self.out);
                self.carry(n);
            }
            self.now += Duration::from_secs(1);
        }
    }

    /// Takes what router `n` has sent to whom it reaches.
    fn carry(&mut self, n: usize) {
        let mut under_way: Vec<(usize, PortId, Message)> = Vec::new();
        let leave = |n: usize, out: &mut Outgoing, under_way: &mut Vec<_>| {
            under_way.extend(out.frames.drain(..).map(|(port, frame)| (n, port, frame)));
        };
        leave(n, &mut self.out, &mut under_way);
        while let Some((n, port, frame)) = under_way.pop() {
            if port == OWN {
                self.own[n].push(frame.bytes().to_vec());
                continue;
            }
            self.common.push(frame.bytes().to_vec());
            for other in (0..self.routers.len()).filter(|other| *other != n) {
                let copy = Message::copied(HEADROOM, frame.bytes());
                self.routers[other].arrive(LAN, copy, self.now, &mut self.out);
                leave(other, &mut self.out, &mut under_way);
            }
        }
    }

    /// A frame comes to a router. What is sent to each network because of it, without labels.
    fn arrive(&mut self, n: usize, port: PortId, frame: &[u8]) -> Vec<Vec<Vec<u8>>> {
        self.common.clear();
        self.own.iter_mut().for_each(Vec::clear);
        self.routers[n].arrive(port, Message::copied(HEADROOM, frame), self.now, &mut self.out);
        self.carry(n);
        let bare = |frames: &Vec<Vec<u8>>| -> Vec<Vec<u8>> {
            let packet = |frame: &Vec<u8>| Packet::of(frame).unwrap().bytes().to_vec();
            frames.iter().map(packet).collect()
        };
        self.own.iter().chain([&self.common]).map(bare).collect()
    }
}

fn frame(source: IpAddr, group: IpAddr, lives: u8, label: Option<Label>) -> Vec<u8> {
    let from = EthernetAddress([2, 0, 0, 0, 0, 99]);
    match (source, group) {
        (IpAddr::V4(source), IpAddr::V4(group)) => {
            let [_, b, c, d] = group.octets();
            let to = EthernetAddress([1, 0, 0x5e, b & 0x7f, c, d]);
            packets::v4((from, to), (source.octets(), group.octets()), (17, lives), label)
        }
        (IpAddr::V6(source), IpAddr::V6(group)) => {
            let [.., a, b, c, d] = group.octets();
            let to = EthernetAddress([0x33, 0x33, a, b, c, d]);
            packets::v6((from, to), (source, group), (17, lives), label)
        }
        _ => panic!("{source} and {group}"),
    }
}

/// A host on a network.
fn source(v6: bool, network: u8) -> IpAddr {
    let text = if v6 { format!("fd00:{network:x}::9") } else { format!("10.0.{network}.9") };
    text.parse().unwrap()
}

/// How many lives the first packet that was sent to a network has left.
fn lives(packet: &[u8]) -> u8 {
    packet[if packet[0] >> 4 == 4 { 8 } else { 7 }]
}

fn goes_by_its_index(v6: bool) {
    let (group, other) =
        if v6 { (GROUP6, "ff05::1:2".parse().unwrap()) } else { (GROUP, IpAddr::from([239, 1, 1, 2])) };
    let outer = PortLabels { new: Some(Assignment::Random), ..PortLabels::UNKNOWN };
    let mut lan = Lan::new(true, outer);
    (0..3).for_each(|n| lan.set_group(n, group, &[OWN, LAN]));
    lan.set_group(2, other, &[OWN, LAN]);
    lan.run_for(25);
    let index = lan.routers[0].group_index(LAN, group);
    assert_ne!(index, NO_INDEX);
    assert!(lan.routers.iter().all(|router| router.group_index(LAN, group) == index));
    assert_ne!(lan.routers[0].group_index(LAN, other), index);
    assert_eq!(lan.routers[0].group_index(OWN, group), NO_INDEX, "no labels there");

    let reached = lan.arrive(0, OWN, &frame(source(v6, 10), group, 64, None));
    assert_eq!(reached.iter().map(Vec::len).collect::<Vec<_>>(), [0, 1, 1, 1]);
    assert_eq!(lives(&reached[1][0]), 62, "two routers passed");
    let label = Packet::of(&lan.common[0]).unwrap().label.unwrap();
    assert!(label.threaded && label.flow.source_hash == index);
    assert!(lan.own.iter().flatten().all(|frame| Packet::of(frame).unwrap().offset == 14));
    let threaded: Vec<u64> = lan.routers.iter().map(|router| router.counts().threaded).collect();
    assert_eq!(threaded, [0, 1, 1]);
    let hardware: &[u8] = if v6 { &[0x33, 0x33, 0, 1, 0, 1] } else { &[1, 0, 0x5e, 1, 1, 1] };
    assert_eq!(&lan.common[0][..6], hardware);
}

#[test]
fn a_packet_to_a_group_goes_by_its_index_to_each_network_once() {
    goes_by_its_index(false);
}

#[test]
fn a_packet_of_ipv6_to_a_group_goes_by_its_index_to_each_network_once() {
    goes_by_its_index(true);
}

#[test]
fn what_does_not_come_from_its_source_goes_no_further() {
    let mut lan = Lan::new(false, PortLabels::UNKNOWN);
    (0..3).for_each(|n| lan.set_group(n, GROUP, &[OWN, LAN]));
    (0..3).for_each(|n| lan.set_group(n, GROUP6, &[OWN, LAN]));
    for (source, group, lives, why) in [
        ("10.0.11.9", GROUP, 64, Refused::WrongWay),
        ("10.9.9.9", GROUP, 64, Refused::WrongWay),
        ("10.0.10.1", GROUP, 64, Refused::Source),
        ("169.254.0.1", GROUP, 64, Refused::WrongWay),
        ("10.0.10.9", GROUP, 1, Refused::TimeExceeded),
        ("fd00:b::9", GROUP6, 64, Refused::WrongWay),
        ("fd99::9", GROUP6, 64, Refused::WrongWay),
        ("fd00:a::1", GROUP6, 64, Refused::Source),
        ("fe80::9", GROUP6, 64, Refused::WrongWay),
        ("fd00:a::9", GROUP6, 1, Refused::TimeExceeded),
    ] {
        let before = lan.routers[0].counts().refused(why);
        let sent = frame(source.parse().unwrap(), group, lives, None);
        assert_eq!(lan.arrive(0, OWN, &sent).concat().len(), 0);
        assert_eq!(lan.routers[0].counts().refused(why), before + 1, "{source}");
    }
    // Nor what is for nobody, or never leaves a link.
    for group in ["239.9.9.9", "224.0.0.9", "255.255.255.255", "ff05::9", "ff02::9", "ff01::1:1"] {
        let group: IpAddr = group.parse().unwrap();
        let sent = frame(source(group.is_ipv6(), 10), group, 64, None);
        assert_eq!(lan.arrive(0, OWN, &sent).concat().len(), 0, "{group}");
    }
    let router = &mut lan.routers[0];
    let no_group: IpAddr = [224, 0, 0, 5].into();
    assert_eq!(router.set_group(no_group, &[OWN], lan.now), Err(RouteError::NoGroup(no_group)));
    let of_the_link: IpAddr = "ff02::5".parse().unwrap();
    assert_eq!(router.set_group(of_the_link, &[OWN], lan.now), Err(RouteError::NoGroup(of_the_link)));
    assert_eq!(router.set_group(GROUP, &[PortId(2)], lan.now), Err(RouteError::NoPort(PortId(2))));
    router.set_group(GROUP, &[], lan.now).unwrap();
    assert_eq!(lan.arrive(0, OWN, &frame(source(false, 10), GROUP, 64, None)).concat().len(), 0);
}

/// RFC 4443, 3.2 and 2.4 e: so that senders to groups find out what the way carries, as with IPv6 nobody else cuts. Of the rest nobody
/// is told.
#[test]
fn who_sends_too_long_a_packet_of_ipv6_to_a_group_is_told() {
    let mut network = Network::with_mtus(&[1500, 1280, 1500], FlowIndex::Either);
    for router in ["10.0.0.1", "fd00::1"] {
        let path = network.hosts[0].open(router.parse().unwrap(), 9);
        network.hosts[0].send(path, b"so that the host's hardware address is known");
        network.run();
    }
    for group in [GROUP, GROUP6] {
        let ports = [PortId(0), PortId(1), PortId(2)];
        network.router.set_group(group, &ports, network.now).unwrap();
    }
    let mut told = |source: &str, group, lives| {
        network.now += Duration::from_secs(1);
        let mut frame = frame(source.parse().unwrap(), group, lives, None);
        frame.resize(14 + 1400, 0);
        if group == GROUP6 {
            Ipv6Packet::new_unchecked(&mut frame[14..]).set_payload_len(1360);
        } else {
            let mut packet = Ipv4Packet::new_unchecked(&mut frame[14..]);
            packet.set_total_len(1400);
            packet.set_dont_frag(true);
            packet.fill_checksum();
        }
        let before = network.router.counts().refused(Refused::TooBig);
        let message = Message::copied(HEADROOM, &frame);
        network.router.arrive(PortId(0), message, network.now, &mut network.out);
        let (back, on): (Vec<_>, Vec<_>) =
            network.out.frames.drain(..).partition(|(port, _)| *port == PortId(0));
        let on: Vec<_> = on.into_iter().map(|(port, frame)| (port.0, frame.len())).collect();
        let back: Vec<_> = back.into_iter().map(|(_, frame)| frame.bytes()[14..].to_vec()).collect();
        (network.router.counts().refused(Refused::TooBig) - before, on, back)
    };
    let (refused, on, back) = told("fd00::2", GROUP6, 64);
    assert_eq!((refused, on), (1, vec![(2, 14 + 1400)]), "where it fits it goes on");
    let [error] = &back[..] else { panic!("{back:?}") };
    let packet = Ipv6Packet::new_checked(&error[..]).unwrap();
    let (from, to): (Ipv6Addr, Ipv6Addr) = ("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap());
    assert_eq!((packet.src_addr(), packet.dst_addr(), error.len()), (from, to, 1280));
    assert!(Icmpv6Packet::new_unchecked(packet.payload()).verify_checksum(&from, &to));
    assert_eq!(packet.payload()[..2], [2, 0]);
    assert_eq!(packet.payload()[4..8], 1280_u32.to_be_bytes());
    assert_eq!(told("10.0.0.2", GROUP, 64), (1, vec![(2, 14 + 1400)], vec![]), "of IPv4");
    assert_eq!(told("fd00::2", GROUP6, 1), (0, vec![], vec![]), "of no time left");
    assert_eq!(told("fd00:1::2", GROUP6, 64), (0, vec![], vec![]), "from elsewhere");
}

#[test]
fn a_router_has_so_many_groups_and_no_more() {
    let mut lan = Lan::new(true, PortLabels::KNOWN);
    let group = |n: u16| IpAddr::from([239, 2, (n >> 8) as u8, n as u8]);
    (0..1023).for_each(|n| lan.set_group(0, group(n), &[OWN, LAN]));
    let one_more = lan.routers[0].set_group(group(1023), &[OWN], lan.now);
    assert_eq!(one_more, Err(RouteError::TooManyGroups));
    lan.set_group(0, group(7), &[LAN]);
}

#[derive(Clone, Debug)]
enum Step {
    /// To a router, by a port, from a host of a network, to a group, with the index of a group or any.
    Packet {
        router: usize,
        port: u16,
        v6: bool,
        network: u8,
        group: u8,
        lives: u8,
        label: Option<(bool, Option<u8>, u32)>,
    },
    /// A group is sent on by other ports.
    Change {
        router: usize,
        v6: bool,
        group: u8,
        ports: u8,
    },
    Wait(u64),
}

/// The last one never leaves its link.
fn group(v6: bool, n: u8) -> IpAddr {
    match (v6, n) {
        (false, 4) => IpAddr::from([224, 0, 0, 7]),
        (false, _) => IpAddr::from([239, 1, 1, n]),
        (true, 4) => "ff02::7".parse().unwrap(),
        (true, _) => format!("ff05::1:{n}").parse().unwrap(),
    }
}

fn step() -> impl Strategy<Value = Step> {
    let label =
        prop::option::of((any::<bool>(), prop::option::of(0..4_u8), prop_oneof![0..8_u32, any::<u32>()]));
    prop_oneof![
        8 => (0..3_usize, 0..2_u16, any::<bool>(), 9..13_u8, 0..5_u8, prop::sample::select(vec![1_u8, 2, 3, 64]), label)
            .prop_map(|(router, port, v6, network, group, lives, label)| Step::Packet { router, port, v6, network, group, lives, label }),
        2 => (0..3_usize, any::<bool>(), 0..4_u8, 0..4_u8)
            .prop_map(|(router, v6, group, ports)| Step::Change { router, v6, group, ports }),
        1 => prop::sample::select(vec![1_u64, 12, 40]).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Whatever indices packets carry, they reach the networks that they reach by the groups' table.
    #[test]
    fn indices_change_nobodys_packets(steps in prop::collection::vec(step(), 1..60)) {
        let mut with = Lan::new(true, PortLabels::KNOWN);
        let mut without = Lan::new(false, PortLabels::UNKNOWN);
        // Indices as they were at some time, which may be stale.
        let mut known = [[NO_INDEX; 4]; 2];
        for step in steps {
            for (v6, n) in (0..4).flat_map(|n| [(false, n), (true, n)]) {
                let now = with.routers[2].group_index(LAN, group(v6, n));
                let known = &mut known[usize::from(v6)][usize::from(n)];
                *known = if now == NO_INDEX { *known } else { now };
            }
            match step {
                Step::Packet { router, port, v6, network, group: to, lives, label } => {
                    let (source, to) = (source(v6, network), group(v6, to));
                    let label = label.map(|(threaded, of, word)| {
                        let source_hash = of.map_or(word, |of| known[usize::from(v6)][usize::from(of)]);
                        Label { flow: Flow { id: 5, source_hash }, threaded }
                    });
                    let labelled = with.arrive(router, PortId(port), &frame(source, to, lives, label));
                    let plain = without.arrive(router, PortId(port), &frame(source, to, lives, None));
                    prop_assert_eq!(labelled, plain);
                }
                Step::Change { router, v6, group: n, ports } => {
                    let ports: Vec<_> = [OWN, LAN].into_iter().filter(|port| ports & 1 << port.0 != 0).collect();
                    with.set_group(router, group(v6, n), &ports);
                    without.set_group(router, group(v6, n), &ports);
                }
                Step::Wait(seconds) => {
                    with.run_for(seconds);
                    without.run_for(seconds);
                }
            }
        }
    }
}
