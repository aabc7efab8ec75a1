//! A router between hosts of the protocol graph, in memory.

mod network;

use network::{Network, ROUTED};
use throughline_forward::{
    FlowIndex, HEADROOM, PortId, PortLabels, Refused, Route, RouteError, Router, RouterConfig, RouterPort,
};
use throughline_stack::{
    Message,
    Trouble::{self, Expired, NoPort, Unreachable},
    smoltcp::wire::{Icmpv4Packet, IpCidr, IpProtocol, Ipv4Packet},
};

#[test]
fn datagrams_and_answers_pass_between_networks() {
    for index in [FlowIndex::Never, FlowIndex::Carried, FlowIndex::Computed, FlowIndex::Either] {
        for (v6, server) in [(false, "10.0.1.2"), (true, "fd00:1::2")] {
            let mut network = Network::new(2, index, 1500);
            let path = network.hosts[0].open(server.parse().unwrap(), 7);
            for round in 0..20_u8 {
                network.hosts[0].send(path, &[round; 100]);
                network.run();
                assert_eq!(network.hosts[0].received(path), Some(vec![round; 100]), "{index:?} {v6}");
            }
            let counts = network.router.counts();
            assert_eq!(counts.forwarded, 40);
            let flows: u64 = (0..2).map(|port| network.router.flow_counts(PortId(port)).hits).sum();
            // The first each way is looked up, the second too where the first had to wait for the host's address.
            let expected =
                if matches!(index, FlowIndex::Computed | FlowIndex::Either) { 36..=38 } else { 0..=0 };
            assert!(expected.contains(&flows), "{index:?}: {flows} from the cache");
        }
    }
}

#[test]
fn what_goes_no_further_is_counted_and_its_sender_told() {
    let mut network = Network::new(2, FlowIndex::Either, 1500);
    for (to, port, trouble, why) in [
        ("10.9.9.9", 7, Unreachable, Refused::NoRoute),
        ("10.0.1.99", 7, Unreachable, Refused::NoHost),
        ("10.0.1.1", 9, NoPort, Refused::NoPort),
        ("fd00:9::9", 7, Unreachable, Refused::NoRoute),
        ("fd00:1::1", 9, NoPort, Refused::NoPort),
    ] {
        let path = network.hosts[0].open(to.parse().unwrap(), port);
        network.hosts[0].send(path, b"anybody?");
        network.run_for(6);
        assert_eq!(network.hosts[0].graph.trouble(path), Some(trouble), "{to}");
        assert_eq!(network.router.counts().refused(why), 1 + u64::from(to.contains(':')), "{to}");
    }
    let expired = network.hosts[0].open("10.0.1.2".parse().unwrap(), 7);
    network.hosts[0].lives = Some(1);
    network.hosts[0].send(expired, b"dying");
    network.run();
    assert_eq!(network.hosts[0].graph.trouble(expired), Some(Expired));
    assert_eq!(network.router.counts().refused(Refused::TimeExceeded), 1);
}

#[test]
fn packets_too_long_for_the_next_network_are_cut_or_refused() {
    // IPv6 has no networks of less than 1,280.
    let mut network = Network::with_mtus(&[1500, 1280], FlowIndex::Either);
    let data: Vec<u8> = (0..1400).map(|n| n as u8).collect();
    let v4 = network.hosts[0].open("10.0.1.2".parse().unwrap(), 7);
    network.hosts[0].send(v4, &data);
    network.run();
    assert_eq!(network.hosts[0].received(v4), None);
    assert_eq!(network.hosts[0].graph.trouble(v4), Some(Trouble::TooLong));
    network.hosts[0].may_be_cut = true;
    network.hosts[0].send(v4, &data);
    network.run();
    assert!(network.hosts[0].received(v4).is_some_and(|came| came == data));
    let v6 = network.hosts[0].open("fd00:1::2".parse().unwrap(), 7);
    network.hosts[0].send(v6, &data);
    network.run();
    assert_eq!(network.hosts[0].received(v6), None);
    assert_eq!(network.hosts[0].graph.trouble(v6), Some(Trouble::TooLong));
}

/// As an address of a link it is the router's there only.
#[test]
fn a_neighbour_may_have_the_address_of_the_router_on_another_link() {
    let ports = (0..2).map(|number| {
        let mut host = network::host(number, 1);
        host.addresses.push(format!("fe80::{}/64", number + 1).parse().unwrap());
        RouterPort { host, labels: PortLabels::UNKNOWN }
    });
    let mut router = Router::new(ports.collect(), RouterConfig::default()).unwrap();
    let prefix = "fd00:77::/64".parse().unwrap();
    let via = |host: &str| Route::Out { port: PortId(1), via: Some(host.parse().unwrap()) };
    let itself = RouteError::Ours("fe80::2/128".parse().unwrap());
    assert_eq!(router.add_route(prefix, via("fe80::2")), Err(itself));
    assert_eq!(router.add_route(prefix, via("fe80::1")), Ok(None));
}

/// The way back is by another network than that which the request came by.
#[test]
fn answers_too_long_for_the_network_to_whoever_asks_are_cut() {
    let mut network = Network::with_mtus(&[1500, 1280], FlowIndex::Either);
    let back = Route::Out { port: PortId(1), via: Some("10.0.1.2".parse().unwrap()) };
    network.router.add_route("10.77.0.0/16".parse().unwrap(), back).unwrap();
    let path = network.hosts[0].open("10.0.1.2".parse().unwrap(), 7);
    network.hosts[0].send(path, b"so that all know all");
    network.run();
    let mut frame = vec![0; 14 + 20 + 1_400];
    frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
    frame[34] = 8;
    Icmpv4Packet::new_unchecked(&mut frame[34..]).fill_checksum();
    let mut packet = Ipv4Packet::new_unchecked(&mut frame[14..]);
    packet.set_version(4);
    packet.set_header_len(20);
    packet.set_total_len(1_420);
    packet.set_dont_frag(true);
    packet.set_hop_limit(64);
    packet.set_next_header(IpProtocol::Icmp);
    packet.set_src_addr([10, 77, 0, 1].into());
    packet.set_dst_addr([10, 0, 0, 1].into());
    packet.fill_checksum();
    network.router.arrive(PortId(0), Message::copied(HEADROOM, &frame), network.now, &mut network.out);
    let pieces: Vec<_> = network
        .out
        .frames
        .iter()
        .map(|(port, frame)| {
            let piece = Ipv4Packet::new_checked(&frame.bytes()[14..]).unwrap();
            assert!(piece.verify_checksum() && piece.total_len() <= 1_280 && !piece.dont_frag());
            (port.0, piece.frag_offset(), piece.payload().len(), piece.more_frags())
        })
        .collect();
    assert_eq!(pieces, [(1, 0, 1_256, true), (1, 1_256, 144, false)]);
}

/// Its pieces would be told to lie at the beginning of the packet.
#[test]
fn a_piece_behind_the_end_of_any_packet_is_not_cut() {
    let mut network = Network::with_mtus(&[1500, 1280], FlowIndex::Either);
    for (at, why) in [(65_528 - 1_400, None), (65_528, Some(Refused::Malformed))] {
        let router = network.router.host(PortId(0)).hardware;
        let mut frame = vec![0; 14 + 1_420];
        frame[..6].copy_from_slice(&router.0);
        frame[6..14].copy_from_slice(&[2, 0, 0, 0, 0, 2, 8, 0]);
        let mut packet = Ipv4Packet::new_unchecked(&mut frame[14..]);
        packet.set_version(4);
        packet.set_header_len(20);
        packet.set_total_len(1_420);
        packet.set_frag_offset(at);
        packet.set_hop_limit(64);
        packet.set_next_header(IpProtocol::Udp);
        packet.set_src_addr([10, 0, 0, 2].into());
        packet.set_dst_addr([10, 0, 1, 2].into());
        packet.fill_checksum();
        let before = network.hosts[1].graph.counts().received;
        let forwarded = network.router.counts().forwarded;
        network.router.arrive(PortId(0), Message::copied(HEADROOM, &frame), network.now, &mut network.out);
        network.run();
        assert_eq!(network.router.counts().forwarded - forwarded, u64::from(why.is_none()));
        let pieces = network.hosts[1].graph.counts().received - before;
        match why {
            // And the question for the host's address.
            None => assert_eq!(pieces, 2 + 1),
            Some(why) => assert_eq!((pieces, network.router.counts().refused(why)), (0, 1)),
        }
    }
}

#[test]
fn routes_come_and_go() {
    let mut network = Network::new(3, FlowIndex::Either, 1500);
    let prefix: IpCidr = "10.77.0.0/16".parse().unwrap();
    let out = |port| Route::Out { port: PortId(port), via: None };
    assert_eq!(network.router.add_route(prefix, out(9)), Err(RouteError::NoPort(PortId(9))));
    let far = Route::Out { port: PortId(0), via: Some("10.0.1.2".parse().unwrap()) };
    assert_eq!(network.router.add_route(prefix, far), Err(RouteError::NotNear("10.0.1.2".parse().unwrap())));
    let ours: IpCidr = "10.0.1.1/32".parse().unwrap();
    assert_eq!(network.router.add_route(ours, out(0)), Err(RouteError::Ours(ours)));
    assert_eq!(network.router.remove_route(ours), None);
    let by_itself = Route::Out { port: PortId(1), via: Some("10.0.1.1".parse().unwrap()) };
    assert_eq!(network.router.add_route(prefix, by_itself), Err(RouteError::Ours(ours)));
    let via =
        |host: u16| Route::Out { port: PortId(host), via: Some(format!("10.0.{host}.2").parse().unwrap()) };
    assert_eq!(network.router.add_route(prefix, via(1)), Ok(None));
    // The host there is not called so, and forwards nothing: what arrives is counted.
    let path = network.hosts[0].open("10.77.0.1".parse().unwrap(), 7);
    for (route, at) in [(via(1), 1), (via(2), 2)] {
        network.router.add_route(prefix, route).unwrap();
        let before = network.hosts[at].discarded();
        for _ in 0..3 {
            network.hosts[0].send(path, b"detour");
            network.run();
        }
        assert_eq!(network.hosts[at].discarded() - before, 3);
    }
    assert_eq!(network.router.remove_route(prefix), Some(via(2)));
    assert_eq!(network.router.route_to("10.77.0.1".parse().unwrap()), None);
    assert_eq!(network.router.route_count(), 3 * ROUTED);
}
