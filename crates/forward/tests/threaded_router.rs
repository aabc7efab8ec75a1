//! Routers in a row that learn their routes, and each other's indices, by distance vectors; packets that follow them.

use proptest::prelude::*;
use throughline_forward::{
    FlowCacheConfig, FlowIndex, HEADROOM, Label, Outgoing, Packet, PortId, PortLabels, Refused, Route,
    Router, RouterConfig, RouterPort, insert_label,
    routing::{DistanceVector, DistanceVectorConfig, Interface, rip::Version},
    threaded::{NO_INDEX, Source, SourceConfig, message::INDEX_PORT},
};
use throughline_stack::{
    Config, Graph, Host, Message, Participants,
    smoltcp::{
        time::{Duration, Instant},
        wire::{EthernetAddress, IpAddress, IpCidr, Ipv4Packet},
    },
};
use throughline_wire::{Flow, RegionList};

const ROUTERS: u8 = 4;
/// The protocol number of packets that are followed (RFC 3692).
const TEST: u8 = 253;

/// Router n has port 0 to network n and port 1 to network n + 1: 10.0.n.0/24, where its address ends in 2, and
/// 10.0.(n + 1).0/24, where it ends in 1. A host, which says nothing but who it is, has 10.0.0.9 and 10.0.ROUTERS.9.
struct Row {
    routers: Vec<Router>,
    ends: [Graph; 2],
    out: Outgoing,
    now: Instant,
    /// Frames that reached the last network.
    arrived: Vec<Vec<u8>>,
    cut: Option<usize>,
}

fn cidr(text: String) -> IpCidr {
    text.parse().unwrap()
}

fn host(network: u8, number: u8) -> Host {
    Host::new(EthernetAddress([2, 0, 0, 0, network, number]), cidr(format!("10.0.{network}.{number}/24")))
}

impl Row {
    fn new(threaded: bool, now: Instant) -> Self {
        let routers = (0..ROUTERS).map(|n| {
            let hosts = [host(n, 2), host(n + 1, 1)];
            let ports = hosts.clone().map(|host| RouterPort { host, labels: PortLabels::KNOWN });
            let cache = FlowCacheConfig { places: 16, ..FlowCacheConfig::default() };
            let config = RouterConfig { index: FlowIndex::Carried, cache, threaded };
            let mut router = Router::new(ports.into(), config).unwrap();
            let interfaces = hosts.map(|host| Interface::new(host.addresses[0]));
            let config = DistanceVectorConfig::new(Version::Rip2, n.into(), interfaces.clone().into());
            let interfaces: Vec<_> = (0..).map(PortId).zip(interfaces).collect();
            router.add_protocol(Box::new(DistanceVector::new(config)), &interfaces, now).unwrap();
            router
        });
        let end = |network| {
            Graph::compose("udp > ipv4 > eth; arp > eth", host(network, 9), Config::default()).unwrap()
        };
        let out = Outgoing::new(1500, 256);
        Self {
            routers: routers.collect(),
            ends: [end(0), end(ROUTERS)],
            out,
            now,
            arrived: Vec::new(),
            cut: None,
        }
    }

    /// Lets time pass, and carries what is sent.
    fn run(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.now += Duration::from_secs(1);
            for n in 0..self.routers.len() {
                self.routers[n].poll(self.now, &mut self.out);
                self.carry(n);
            }
        }
    }

    /// Carries what router `n` has sent, and all that follows.
    fn carry(&mut self, n: usize) {
        let mut under_way: Vec<(usize, PortId, Message)> = Vec::new();
        under_way.extend(self.out.frames.drain(..).map(|(port, frame)| (n, port, frame)));
        while !under_way.is_empty() {
            let mut next = Vec::new();
            for (n, PortId(port), frame) in under_way {
                let network = n + usize::from(port);
                if self.cut == Some(network) {
                    continue;
                }
                let to = if port == 1 { n.checked_add(1) } else { n.checked_sub(1) };
                match to.filter(|to| *to < self.routers.len()) {
                    Some(to) => {
                        self.routers[to].arrive(PortId(1 - port), frame, self.now, &mut self.out);
                        next.extend(self.out.frames.drain(..).map(|(port, frame)| (to, port, frame)));
                    }
                    None => {
                        let packet = Packet::of(frame.bytes()).unwrap().bytes();
                        if packet.get(9) == Some(&TEST) && port == 1 {
                            self.arrived.push(frame.bytes().to_vec());
                        }
                        let end = &mut self.ends[usize::from(port)];
                        end.arrive(frame, self.now);
                        while let Some(answer) = end.transmit() {
                            let answer = Message::copied(HEADROOM, answer.bytes());
                            self.routers[n].arrive(PortId(port), answer, self.now, &mut self.out);
                        }
                        next.extend(self.out.frames.drain(..).map(|(port, frame)| (n, port, frame)));
                    }
                }
            }
            under_way = next;
        }
    }

    /// Sends a packet from the first network. What has reached the last one.
    fn send(&mut self, to: [u8; 4], label: Option<Label>) -> Vec<Vec<u8>> {
        let mut bytes = vec![0; 60];
        bytes[..6].copy_from_slice(&host(0, 2).hardware.0);
        bytes[6..12].copy_from_slice(&host(0, 9).hardware.0);
        bytes[12..14].copy_from_slice(&[8, 0]);
        let mut packet = Ipv4Packet::new_unchecked(&mut bytes[14..]);
        packet.set_version(4);
        packet.set_header_len(20);
        packet.set_total_len(46);
        packet.set_hop_limit(64);
        packet.set_next_header(TEST.into());
        packet.set_src_addr([10, 0, 0, 9].into());
        packet.set_dst_addr(to.into());
        packet.fill_checksum();
        let mut message = Message::copied(HEADROOM, &bytes);
        if let Some(label) = label {
            insert_label(&mut message, label, &RegionList::new()).unwrap();
        }
        self.routers[0].arrive(PortId(0), message, self.now, &mut self.out);
        self.carry(0);
        std::mem::take(&mut self.arrived)
    }

    fn threaded(&self) -> Vec<u64> {
        self.routers.iter().map(|router| router.counts().threaded).collect()
    }

    fn prefix() -> IpCidr {
        cidr(format!("10.0.{ROUTERS}.0/24"))
    }
}

fn threaded(index: u32) -> Option<Label> {
    Some(Label { flow: Flow { id: 77, source_hash: index }, threaded: true })
}

const END: [u8; 4] = [10, 0, ROUTERS, 9];

#[test]
fn a_packet_follows_indices_from_router_to_router() {
    let mut row = Row::new(true, Instant::from_secs(1));
    row.run(40);
    for (n, router) in (0..).zip(&mut row.routers) {
        let Some(Route::Out { port, via }) = router.route_to(END.into()) else {
            panic!("router {n}: no route")
        };
        assert_eq!(port, PortId(1));
        assert_eq!(via.is_none(), n == ROUTERS - 1);
    }
    // Hosts are known after the first.
    assert_eq!(row.send(END, None).len(), 1);
    let index = row.routers[0].index_of(Row::prefix());
    assert_ne!(index, NO_INDEX);
    assert_eq!(row.threaded(), [0; ROUTERS as usize]);
    for count in 1..=3 {
        let arrived = row.send(END, threaded(index));
        assert_eq!(row.threaded(), [count; ROUTERS as usize], "every router is led by an index");
        // The last one has no index for the host, and a hash for whoever else keeps flows.
        let packet = Packet::of(&arrived[0]).unwrap();
        assert_eq!((arrived.len(), packet.bytes()[8]), (1, 64 - ROUTERS));
        assert!(packet.label.is_some_and(|label| !label.threaded && label.flow.id == 77));
    }
}

#[test]
fn a_source_asks_its_first_router_for_the_index() {
    let mut row = Row::new(true, Instant::from_secs(1));
    row.run(40);
    let (router, end) = (IpAddress::v4(10, 0, 0, 2), IpAddress::v4(10, 0, ROUTERS, 9));
    let mut source = Source::new(SourceConfig::new(router, 7));
    assert_eq!(source.index(end, row.now), None);
    let path = row.ends[0].open("udp", Participants::to(router, INDEX_PORT).from_port(INDEX_PORT)).unwrap();
    for question in source.poll(row.now) {
        row.ends[0].send(path, Message::copied(HEADROOM, &question)).unwrap();
    }
    // Address resolution on both sides, the question and the answer.
    for _ in 0..4 {
        while let Some(frame) = row.ends[0].transmit() {
            row.routers[0].arrive(PortId(0), Message::copied(HEADROOM, frame.bytes()), row.now, &mut row.out);
        }
        row.carry(0);
    }
    let answer = row.ends[0].receive(path).unwrap();
    source.receive(router, INDEX_PORT, answer.bytes(), row.now).unwrap();
    let index = source.index(end, row.now).unwrap();
    assert_eq!(index, row.routers[0].index_of(Row::prefix()));
    row.send(END, None);
    assert_eq!(row.send(END, threaded(index)).len(), 1);
    assert_eq!(row.threaded(), [1; ROUTERS as usize]);
}

#[test]
fn an_index_that_leads_elsewhere_delivers_all_the_same() {
    let mut row = Row::new(true, Instant::from_secs(1));
    row.run(40);
    row.send(END, None);
    let wrong = row.routers[0].index_of(cidr("10.0.2.0/24".to_owned()));
    for (count, index) in (1..).zip([wrong, NO_INDEX, 12_345, u32::MAX]) {
        assert_eq!(row.send(END, threaded(index)).len(), 1);
        assert_eq!(row.routers[0].thread_counts().unwrap().refused, count);
    }
    assert_eq!(row.threaded(), [0; ROUTERS as usize]);
}

#[test]
fn a_route_that_is_configured_stays_when_a_protocol_forgets_its_own() {
    let mut row = Row::new(true, Instant::from_secs(1));
    row.run(40);
    let route = Route::Out { port: PortId(1), via: Some([10, 0, 1, 2].into()) };
    assert_eq!(row.routers[0].add_route(Row::prefix(), route), Ok(Some(route)));
    row.cut = Some(1);
    row.run(400);
    assert_eq!(row.routers[0].route_to([10, 0, 3, 9].into()), None, "what was learned is forgotten");
    assert_eq!(row.routers[0].route_to(END.into()), Some(route));
}

#[test]
fn a_broken_link_is_noticed_and_a_mended_one_too() {
    let mut row = Row::new(true, Instant::from_secs(1));
    row.run(40);
    row.send(END, None);
    let index = row.routers[0].index_of(Row::prefix());
    row.cut = Some(2);
    assert_eq!(row.send(END, threaded(index)).len(), 0, "lost on the broken link");
    // Nobody has said that the link is broken: routes time out.
    row.run(240);
    assert_eq!(row.routers[1].route_to(END.into()), None);
    let lost =
        row.routers[0].counts().refused(Refused::NoRoute) + row.routers[1].counts().refused(Refused::NoRoute);
    assert_eq!(row.send(END, threaded(index)).len(), 0);
    let more =
        row.routers[0].counts().refused(Refused::NoRoute) + row.routers[1].counts().refused(Refused::NoRoute);
    assert_eq!(more, lost + 1);
    row.cut = None;
    row.run(60);
    assert_eq!(row.send(END, threaded(index)).len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    /// Whatever the labels say, packets reach whom they reach without.
    #[test]
    fn labels_change_no_destination(
        packets in prop::collection::vec(
            (0..=ROUTERS + 1, any::<u8>(), prop::option::of((any::<bool>(), prop_oneof![0..12_u32, any::<u32>()]))),
            1..60,
        )
    ) {
        let mut with = Row::new(true, Instant::from_secs(1));
        let mut without = Row::new(false, Instant::from_secs(1));
        with.run(40);
        without.run(40);
        for (network, number, label) in packets {
            // Broadcasts are nobody's.
            let to = [10, 0, network, if number % 4 == 0 { 9 } else { number }];
            let label = label.map(|(threaded, word)| Label { flow: Flow { id: 5, source_hash: word }, threaded });
            let unlabelled: Vec<_> = without.send(to, None).iter().map(|frame| frame[14..].to_vec()).collect();
            let labelled: Vec<_> = with
                .send(to, label)
                .iter()
                .map(|frame| Packet::of(frame).unwrap().bytes().to_vec())
                .collect();
            prop_assert_eq!(labelled, unlabelled);
        }
    }
}
