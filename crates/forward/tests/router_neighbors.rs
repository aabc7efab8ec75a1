//! Whom a router asks for, and for whom it waits.

mod network;
mod packets;

use std::{collections::HashSet, net::Ipv6Addr};

use network::Network;
use throughline_forward::{
    FlowIndex, HEADROOM, PortId, PortLabels, Refused, Route, Router, RouterConfig, RouterPort,
};
use throughline_stack::{
    Host, Message,
    smoltcp::{
        time::Duration,
        wire::{EthernetAddress, Icmpv4Packet, Icmpv6Packet, IpCidr, Ipv4Packet, Ipv6Packet},
    },
};

/// The host on network 0, and the router there.
const LINK: (EthernetAddress, EthernetAddress) =
    (EthernetAddress([2, 0, 0, 0, 0, 2]), EthernetAddress([2, 0, 0, 0, 0, 1]));

/// The host on network 0 sends a datagram to this address.
fn send(network: &mut Network, to: [u8; 4]) {
    let frame = packets::v4(LINK, ([10, 0, 0, 2], to), (17, 64), None);
    network.router.arrive(PortId(0), Message::copied(HEADROOM, &frame), network.now, &mut network.out);
}

#[test]
fn who_sends_to_everybody_on_a_network_keeps_nobody_from_the_router_there() {
    let mut network = Network::new(2, FlowIndex::Either, 1500);
    let out = Route::Out { port: PortId(1), via: Some("10.0.1.2".parse().unwrap()) };
    network.router.add_route("10.77.0.0/16".parse().unwrap(), out).unwrap();
    (100..255).for_each(|host| send(&mut network, [10, 0, 1, host]));
    let before = network.hosts[1].discarded();
    send(&mut network, [10, 77, 0, 1]);
    network.run();
    // The host there is not called so: what arrives is counted.
    assert_eq!(network.hosts[1].discarded(), before + 1);
    assert_eq!(network.router.counts().refused(Refused::Waiting), 155 - 32);
    assert_eq!(network.router.counts().refused(Refused::NoHost), 0, "nobody is told that there is none");
    network.run_for(5);
    assert!(
        (1..=32).contains(&network.router.counts().refused(Refused::NoHost)),
        "who was asked for in vain"
    );
    network.hosts[1].graph.tick(network.now);
    let path = network.hosts[0].open("10.0.1.2".parse().unwrap(), 7);
    network.hosts[0].send(path, b"afterwards");
    network.run();
    assert!(network.hosts[0].received(path).is_some());
}

/// As many questions as there may be for others, on each of two networks.
#[test]
fn who_sends_to_everybody_on_some_networks_keeps_nobody_from_others() {
    let mut network = Network::new(4, FlowIndex::Either, 1500);
    for third in [1, 2] {
        (100..255).for_each(|host| send(&mut network, [10, 0, third, host]));
    }
    let before = network.router.counts().refused(Refused::Waiting);
    send(&mut network, [10, 0, 3, 2]);
    assert_eq!(network.router.counts().refused(Refused::Waiting), before);
    let received = network.hosts[3].graph.counts().received;
    network.run();
    assert_eq!(network.hosts[3].graph.counts().received, received + 2, "the question and the packet");
}

#[test]
fn a_host_that_is_not_there_is_asked_for_three_times() {
    let mut network = Network::new(2, FlowIndex::Either, 1500);
    let mut questions = 0;
    send(&mut network, [10, 0, 1, 99]);
    for _ in 0..100 {
        network.router.poll(network.now, &mut network.out);
        let asks = |(port, frame): &(PortId, Message)| *port == PortId(1) && frame.bytes()[12..14] == [8, 6];
        questions += network.out.frames.iter().filter(|frame| asks(frame)).count();
        network.run();
        network.now += Duration::from_millis(100);
    }
    assert_eq!((questions, network.router.counts().refused(Refused::NoHost)), (3, 1));
}

/// Frames of IPv4 that leave for network 1 at once, of so many that are sent.
fn leave_at_once(network: &mut Network, to: [u8; 4], count: usize) -> usize {
    let before = network.out.frames.len();
    (0..count).for_each(|_| send(network, to));
    let leaves = |(port, frame): &(PortId, Message)| *port == PortId(1) && frame.bytes()[12..14] == [8, 0];
    network.out.frames[before..].iter().filter(|frame| leaves(frame)).count()
}

/// A packet of 1,400 bytes that the host on network 0 sends to this address, and that may be cut.
fn long(to: [u8; 4]) -> Vec<u8> {
    let mut frame = packets::v4(LINK, ([10, 0, 0, 2], to), (17, 64), None);
    frame.resize(14 + 1400, 0);
    let mut packet = Ipv4Packet::new_unchecked(&mut frame[14..]);
    packet.set_total_len(1400);
    packet.fill_checksum();
    frame
}

/// Those that wait are neither sent on nor said yet, and never are if nobody answers; what leaves in pieces is one.
#[test]
fn what_waits_for_a_neighbor_counts_once_it_leaves() {
    let mut network = Network::with_mtus(&[1500, 1280], FlowIndex::Either);
    let counts = |network: &Network| {
        let counts = network.router.counts();
        [counts.forwarded, counts.said, counts.refused(Refused::NoHost), counts.refused(Refused::Waiting)]
    };
    for frame in
        [&long([10, 0, 1, 2])[..], &packets::v4(LINK, ([10, 0, 0, 2], [10, 0, 1, 99]), (17, 64), None)]
    {
        network.router.arrive(PortId(0), Message::copied(HEADROOM, frame), network.now, &mut network.out);
    }
    // Somebody behind the other port asks, who is not there either.
    let echo = packets::v4(LINK, ([10, 0, 1, 98], [10, 0, 0, 1]), (1, 64), None);
    let mut echo = [&echo[..34], &[8, 0], &echo[36..]].concat();
    Icmpv4Packet::new_unchecked(&mut echo[34..]).fill_checksum();
    network.router.arrive(PortId(0), Message::copied(HEADROOM, &echo), network.now, &mut network.out);
    assert_eq!(counts(&network), [0, 0, 0, 0]);
    network.run();
    assert_eq!(counts(&network), [1, 0, 0, 0]);
    network.run_for(5);
    // Of his packet the host on network 0 is told.
    assert_eq!(counts(&network), [1, 1, 2, 0]);
    (0..20).for_each(|_| send(&mut network, [10, 0, 1, 99]));
    assert_eq!(counts(&network), [1, 1, 2, 4]);
}

#[test]
fn what_waits_in_pieces_in_vain_counts_as_one() {
    let mut network = Network::with_mtus(&[1500, 1280], FlowIndex::Either);
    let counts = |network: &Network| {
        [Refused::NoHost, Refused::Waiting].map(|why| network.router.counts().refused(why))
    };
    let long = long([10, 0, 1, 99]);
    let arrive = |network: &mut Network| {
        network.router.arrive(PortId(0), Message::copied(HEADROOM, &long), network.now, &mut network.out);
    };
    // Of two pieces each, as many as may wait.
    (0..8).for_each(|_| arrive(&mut network));
    assert_eq!(counts(&network), [0, 0]);
    arrive(&mut network);
    assert_eq!(counts(&network), [0, 1]);
    network.run_for(5);
    assert_eq!(counts(&network), [8, 1]);
}

/// One of which not all pieces may wait is refused as a whole, once, and what waits leaves room for others.
#[test]
fn no_part_of_a_packet_waits() {
    let mut network = Network::with_mtus(&[1500, 1280], FlowIndex::Either);
    let counts = |network: &Network| {
        let counts = network.router.counts();
        [counts.forwarded, counts.refused(Refused::NoHost), counts.refused(Refused::Waiting)]
    };
    let arrive = |network: &mut Network, frame: &[u8]| {
        network.router.arrive(PortId(0), Message::copied(HEADROOM, frame), network.now, &mut network.out);
    };
    // All that may wait but one.
    let short = |host| packets::v4(LINK, ([10, 0, 0, 2], [10, 0, 1, host]), (17, 64), None);
    for host in [2, 99] {
        (0..15).for_each(|_| arrive(&mut network, &short(host)));
        arrive(&mut network, &long([10, 0, 1, host]));
    }
    assert_eq!(counts(&network), [0, 0, 2]);
    for host in [2, 99] {
        arrive(&mut network, &short(host));
    }
    assert_eq!(counts(&network), [0, 0, 2]);
    network.run_for(5);
    assert_eq!(counts(&network), [16, 16, 2]);
}

#[test]
fn packets_do_not_wait_time_and_again_for_a_host_that_is_there() {
    for index in [FlowIndex::Never, FlowIndex::Either] {
        let mut network = Network::new(2, index, 1500);
        send(&mut network, [10, 0, 1, 2]);
        network.run();
        for tenth in 0..1500 {
            let left = leave_at_once(&mut network, [10, 0, 1, 2], 20);
            assert_eq!(left, 20, "after {tenth} tenths of a second");
            network.run();
            network.now += Duration::from_millis(100);
        }
    }
}

/// Questions of the router's on network 1 that wait to be carried: whom they are for.
fn questions(network: &Network) -> Vec<[u8; 4]> {
    let asks = |(port, frame): &&(PortId, Message)| *port == PortId(1) && frame.bytes()[12..14] == [8, 6];
    let asked = network.out.frames.iter().filter(asks);
    asked.map(|(_, frame)| frame.bytes()[38..42].try_into().unwrap()).collect()
}

/// A host of network 1 tells the router its hardware address, as a question (1) or an answer (2).
fn tell(network: &mut Network, host: u8, operation: u8) {
    tell_of(network, [2, 0, 0, 1, 0, host], host, operation);
}

/// The same, of any hardware address.
fn tell_of(network: &mut Network, hardware: [u8; 6], host: u8, operation: u8) {
    let mut frame = [&[2, 0, 0, 1, 0, 1][..], &hardware, &[8, 6, 0, 1, 8, 0, 6, 4, 0, operation]].concat();
    frame.extend([&hardware[..], &[10, 0, 1, host], &[0; 6], &[10, 0, 1, 1]].concat());
    network.router.arrive(PortId(1), Message::copied(HEADROOM, &frame), network.now, &mut network.out);
}

/// Whoever is on a network may change his hardware address as often as he likes. The flows of others go on being found.
#[test]
fn who_changes_his_address_time_and_again_slows_nobody() {
    let mut network = Network::acquainted();
    let changes = |network: &mut Network, n: u16| {
        let [high, low] = n.to_be_bytes();
        tell_of(network, [2, 9, 0, 0, high, low], 77, 1);
        [2, 9, 0, 0, high, low]
    };
    // The hardware address to which a packet for this host leaves.
    let leads = |network: &mut Network, host| {
        network.out.frames.clear();
        send(network, [10, 0, 1, host]);
        network.out.frames.pop().map(|(_, frame)| <[u8; 6]>::try_from(&frame.bytes()[..6]).unwrap())
    };
    let before = network.router.flow_counts(PortId(0)).misses;
    for n in 0..1000 {
        network.now += Duration::from_millis(1);
        changes(&mut network, n);
        assert_eq!(leads(&mut network, 2), Some([2, 0, 0, 1, 0, 2]));
    }
    let misses = network.router.flow_counts(PortId(0)).misses - before;
    assert!((1..=11).contains(&misses), "{misses}");
    // Who changes it once is found at once, and who does so twice soon.
    network.now += Duration::from_secs(1);
    let first = changes(&mut network, 2000);
    assert_eq!(leads(&mut network, 77), Some(first));
    let second = changes(&mut network, 2001);
    let due = network.router.poll(network.now, &mut network.out).unwrap();
    assert!(due <= network.now + Duration::from_millis(100), "{due:?}");
    network.now += Duration::from_millis(100);
    network.router.poll(network.now, &mut network.out);
    assert_eq!(leads(&mut network, 77), Some(second));
}

/// More than are asked for at a time.
#[test]
fn hosts_whose_time_is_over_at_once_are_all_kept() {
    let hosts = 10..110;
    let mut network = Network::new(2, FlowIndex::Either, 1500);
    hosts.clone().for_each(|host| tell(&mut network, host, 1));
    for tenth in 0..700 {
        network.out.frames.clear();
        let known: usize = hosts.clone().map(|host| leave_at_once(&mut network, [10, 0, 1, host], 1)).sum();
        assert_eq!(known, 100, "after {tenth} tenths of a second");
        network.out.frames.clear();
        network.router.poll(network.now, &mut network.out);
        for [.., host] in questions(&network) {
            tell(&mut network, host, 2);
        }
        network.now += Duration::from_millis(100);
    }
}

/// As after a long sleep of the machine.
#[test]
fn hosts_that_have_been_forgotten_are_not_asked_for() {
    let mut network = Network::new(2, FlowIndex::Either, 1500);
    (10..110).for_each(|host| tell(&mut network, host, 1));
    network.router.poll(network.now, &mut network.out);
    network.now += Duration::from_secs(100);
    network.out.frames.clear();
    network.router.poll(network.now, &mut network.out);
    assert_eq!(questions(&network), [[0; 4]; 0]);
}

#[test]
fn a_host_that_has_left_is_forgotten() {
    let mut network = Network::new(2, FlowIndex::Either, 1500);
    send(&mut network, [10, 0, 1, 2]);
    network.run();
    let (mut questions, mut known) = (0, 0);
    for _ in 0..700 {
        network.router.poll(network.now, &mut network.out);
        known += leave_at_once(&mut network, [10, 0, 1, 2], 1);
        let asks = |(port, frame): &(PortId, Message)| *port == PortId(1) && frame.bytes()[12..14] == [8, 6];
        questions += network.out.frames.iter().filter(|frame| asks(frame)).count();
        network.out.frames.clear();
        network.now += Duration::from_millis(100);
    }
    assert_eq!(known, 600, "a minute");
    // Those who want to send to him now have him asked for anew, and anew.
    assert_eq!(questions, 3 + 10);
}

/// Nobody could be asked, and nobody would ever be given up.
#[test]
fn nobody_is_asked_for_by_a_version_that_a_port_does_not_speak() {
    let v4 = Host::new(LINK.1, "10.0.1.1/24".parse::<IpCidr>().unwrap());
    let ports = [network::host(0, 1), v4].map(|host| RouterPort { host, labels: PortLabels::UNKNOWN });
    let mut network = Network::new(2, FlowIndex::Either, 1500);
    network.router = Router::new(ports.into(), RouterConfig::default()).unwrap();
    let out = Route::Out { port: PortId(1), via: None };
    network.router.add_route("fd00:77::/64".parse().unwrap(), out).unwrap();
    for host in 1..100 {
        let to = Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, host);
        let frame = packets::v6(LINK, (Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2), to), (17, 64), None);
        network.router.arrive(PortId(0), Message::copied(HEADROOM, &frame), network.now, &mut network.out);
    }
    for _ in 0..10 {
        network.now += Duration::from_secs(1);
        let next = network.router.poll(network.now, &mut network.out);
        assert!(next.is_none_or(|next| next > network.now), "{next:?} is over at {:?}", network.now);
    }
}

/// The hosts there have addresses of networks that the router is not on.
#[test]
fn hosts_on_a_link_are_asked_for_whatever_their_network_is() {
    let mut network = Network::new(2, FlowIndex::Either, 1500);
    let out = Route::Out { port: PortId(1), via: None };
    for prefix in ["10.88.0.0/16", "fd00:88::/64"] {
        network.router.add_route(prefix.parse().unwrap(), out).unwrap();
    }
    send(&mut network, [10, 88, 0, 5]);
    assert_eq!(questions(&network), [[10, 88, 0, 5]]);
    let asks = &network.out.frames[0].1.bytes()[14..];
    assert_eq!(asks[14..18], [10, 0, 1, 1], "whom the host is to answer");
    network.out.frames.clear();
    let hardware = [2, 0, 0, 1, 0, 5];
    let mut answer = [&[2, 0, 0, 1, 0, 1][..], &hardware, &[8, 6, 0, 1, 8, 0, 6, 4, 0, 2]].concat();
    answer.extend([&hardware[..], &[10, 88, 0, 5], &[2, 0, 0, 1, 0, 1], &[10, 0, 1, 1]].concat());
    network.router.arrive(PortId(1), Message::copied(HEADROOM, &answer), network.now, &mut network.out);
    let left: Vec<_> =
        network.out.frames.drain(..).map(|(port, frame)| (port, frame.bytes().to_vec())).collect();
    assert_eq!((left.len(), left[0].0, &left[0].1[..6]), (1, PortId(1), &hardware[..]));
}

/// A message of neighbour discovery from a host of network 1 about an address, with its hardware address.
fn discovery(
    (from, to): (Ipv6Addr, Ipv6Addr),
    hardware: EthernetAddress,
    (kind, flags, option): (u8, u8, u8),
    about: Ipv6Addr,
) -> Vec<u8> {
    let mut message = vec![kind, 0, 0, 0, flags, 0, 0, 0];
    message.extend(about.octets());
    message.extend([option, 1]);
    message.extend(hardware.0);
    Icmpv6Packet::new_unchecked(&mut message[..]).fill_checksum(&from, &to);
    let mut frame = [&[2, 0, 0, 1, 0, 1][..], &hardware.0, &[0x86, 0xdd], &[0; 40], &message].concat();
    let mut packet = Ipv6Packet::new_unchecked(&mut frame[14..]);
    packet.set_version(6);
    packet.set_payload_len(message.len() as u16);
    packet.set_hop_limit(255);
    packet.set_next_header(58.into());
    packet.set_src_addr(from);
    packet.set_dst_addr(to);
    frame
}

/// The same with IPv6, where such hosts ask and answer from the addresses that they have.
#[test]
fn hosts_on_a_link_are_neighbors_whatever_their_network_is() {
    let mut network = Network::new(2, FlowIndex::Either, 1500);
    let out = Route::Out { port: PortId(1), via: None };
    network.router.add_route("fd00:88::/64".parse().unwrap(), out).unwrap();
    let arrive = |network: &mut Network, port: u16, frame: &[u8]| {
        network.router.arrive(PortId(port), Message::copied(HEADROOM, frame), network.now, &mut network.out);
        let left = network.out.frames.drain(..).map(|(port, frame)| (port.0, frame.bytes().to_vec()));
        left.collect::<Vec<_>>()
    };
    let host = |last| Ipv6Addr::new(0xfd00, 0x88, 0, 0, 0, 0, 0, last);
    let ours = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
    let asks = arrive(&mut network, 0, &packets::v6(LINK, (ours, host(5)), (17, 64), None));
    let [(1, question)] = &asks[..] else { panic!("{asks:?}") };
    assert_eq!((question[54], &question[62..78]), (135, &host(5).octets()[..]));
    let asker = Ipv6Packet::new_unchecked(&question[14..]).src_addr();
    let hardware = EthernetAddress([2, 0, 0, 1, 0, 5]);
    let left = arrive(&mut network, 1, &discovery((host(5), asker), hardware, (136, 0x60, 2), host(5)));
    assert_eq!(
        left.iter().map(|(port, frame)| (*port, &frame[..6])).collect::<Vec<_>>(),
        [(1, &hardware.0[..])]
    );

    // To all who may have the address, and to the one who has it.
    let router = Ipv6Addr::new(0xfd00, 1, 0, 0, 0, 0, 0, 1);
    let group = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00, 1);
    for (last, to) in [(6, group), (7, router)] {
        let hardware = EthernetAddress([2, 0, 0, 1, 0, last as u8]);
        let answers = arrive(&mut network, 1, &discovery((host(last), to), hardware, (135, 0, 1), router));
        let [(1, answer)] = &answers[..] else { panic!("{last}: {answers:?}") };
        assert_eq!((&answer[..6], answer[54], &answer[62..78]), (&hardware.0[..], 136, &router.octets()[..]));
        assert_eq!(Ipv6Packet::new_unchecked(&answer[14..]).dst_addr(), host(last));
        assert_eq!(answer[58], 0xe0, "from a router, as was asked, and it counts");
    }
    // What comes from beyond the link is of no neighbour.
    let mut far = discovery((host(8), router), EthernetAddress([2, 0, 0, 1, 0, 8]), (135, 0, 1), router);
    far[14 + 7] = 254;
    assert_eq!(arrive(&mut network, 1, &far), []);
}

/// Somebody else may be at its other end when it works again.
#[test]
fn neighbors_on_a_link_that_failed_are_asked_for_again() {
    for index in [FlowIndex::Never, FlowIndex::Either] {
        let mut network = Network::new(2, index, 1500);
        let out = Route::Out { port: PortId(1), via: Some("10.0.1.2".parse().unwrap()) };
        network.router.add_route("10.77.0.0/16".parse().unwrap(), out).unwrap();
        send(&mut network, [10, 0, 1, 2]);
        network.run();
        for to in [[10, 0, 1, 2], [10, 77, 0, 1]] {
            assert_eq!(leave_at_once(&mut network, to, 2), 2);
        }
        network.out.frames.clear();
        network.router.set_link(PortId(1), false, network.now);
        network.router.set_link(PortId(1), true, network.now);
        for to in [[10, 0, 1, 2], [10, 77, 0, 1]] {
            assert_eq!(leave_at_once(&mut network, to, 2), 0);
        }
        assert_eq!(questions(&network), [[10, 0, 1, 2]]);
        network.out.frames.clear();
        tell(&mut network, 2, 2);
        assert_eq!(network.out.frames.len(), 4, "what has waited");
    }
}

/// What leaves a router within the next second, by which all that it says late has left.
fn late(network: &mut Network) -> Vec<(u16, Vec<u8>)> {
    network.now += Duration::from_secs(1);
    network.router.poll(network.now, &mut network.out);
    network.out.frames.drain(..).map(|(port, frame)| (port.0, frame.bytes().to_vec())).collect()
}

/// RFC 4861, 7.2.7: others have the address too, and not all are to answer at once.
#[test]
fn who_asks_for_all_routers_hears_of_each_at_another_time() {
    let mut network = Network::new(2, FlowIndex::Either, 1500);
    let address = |last| Ipv6Addr::new(0xfd00, 1, 0, 0, 0, 0, 0, last);
    let mut times = HashSet::new();
    for n in 2..22 {
        let hardware = EthernetAddress([2, 0, 0, 1, 0, n as u8]);
        let asks = discovery((address(n), address(0)), hardware, (135, 0, 1), address(0));
        network.router.arrive(PortId(1), Message::copied(HEADROOM, &asks), network.now, &mut network.out);
        assert!(network.out.frames.is_empty());
        let due = network.router.poll(network.now, &mut network.out).unwrap();
        assert!(network.out.frames.is_empty() && due <= network.now + Duration::from_secs(1));
        times.insert((due - network.now).total_micros());
        network.now = due;
        network.router.poll(network.now, &mut network.out);
        assert_eq!(network.out.frames.drain(..).map(|(port, _)| port).collect::<Vec<_>>(), [PortId(1)]);
    }
    assert!(times.len() > 10, "{times:?}");
    // However many ask, so many wait; the others have their answers at once.
    let said = network.router.counts().said;
    for n in 2..102 {
        let hardware = EthernetAddress([2, 0, 0, 1, 0, n as u8]);
        let asks = discovery((address(n), address(0)), hardware, (135, 0, 1), address(0));
        network.router.arrive(PortId(1), Message::copied(HEADROOM, &asks), network.now, &mut network.out);
    }
    assert_eq!(network.out.frames.drain(..).count(), 100 - 64);
    assert_eq!(late(&mut network).len(), 64);
    assert_eq!(network.router.counts().said - said, 100);
}

/// RFC 4291, 2.6.1: the first address of a network of IPv6 is that of all routers there.
#[test]
fn the_address_of_all_routers_is_answered_by_one_of_them() {
    let mut network = Network::new(2, FlowIndex::Either, 1500);
    let arrive = |network: &mut Network, port: u16, frame: &[u8]| {
        network.router.arrive(PortId(port), Message::copied(HEADROOM, frame), network.now, &mut network.out);
        let left = network.out.frames.drain(..).map(|(port, frame)| (port.0, frame.bytes().to_vec()));
        left.collect::<Vec<_>>()
    };
    let address = |network, last| Ipv6Addr::new(0xfd00, network, 0, 0, 0, 0, 0, last);
    let (host, hardware, all) = (address(1, 7), EthernetAddress([2, 0, 0, 1, 0, 7]), address(1, 0));
    let group = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00, 0);
    // As one that others may have, too: the answer does not override theirs.
    for to in [group, all] {
        assert_eq!(arrive(&mut network, 1, &discovery((host, to), hardware, (135, 0, 1), all)), []);
        let answers = late(&mut network);
        let [(1, answer)] = &answers[..] else { panic!("{to}: {answers:?}") };
        let packet = Ipv6Packet::new_checked(&answer[14..]).unwrap();
        assert_eq!(
            (&answer[..6], packet.src_addr(), packet.dst_addr()),
            (&hardware.0[..], address(1, 1), host)
        );
        assert_eq!((answer[54], answer[58], &answer[62..78]), (136, 0xc0, &all.octets()[..]));
        assert_eq!((packet.hop_limit(), &answer[80..]), (255, &[2, 0, 0, 1, 0, 1][..]));
        let message = Icmpv6Packet::new_unchecked(packet.payload());
        assert!(message.verify_checksum(&packet.src_addr(), &host));
    }
    // Whether it is free, and from beyond the link.
    let nobody = Ipv6Addr::UNSPECIFIED;
    assert_eq!(arrive(&mut network, 1, &discovery((nobody, group), hardware, (135, 0, 1), all)), []);
    let mut far = discovery((host, all), hardware, (135, 0, 1), all);
    far[14 + 7] = 254;
    assert_eq!(arrive(&mut network, 1, &far), []);
    assert_eq!(late(&mut network), []);

    // Of this network and another: by an address that it has alone.
    arrive(&mut network, 1, &discovery((host, address(1, 1)), hardware, (135, 0, 1), address(1, 1)));
    for to in [all, address(0, 0)] {
        let mut echo = discovery((host, to), hardware, (128, 0, 0), to);
        echo[14 + 7] = 64;
        let answers = arrive(&mut network, 1, &echo);
        let [(1, answer)] = &answers[..] else { panic!("{to}: {answers:?}") };
        let packet = Ipv6Packet::new_checked(&answer[14..]).unwrap();
        assert_eq!((packet.src_addr(), packet.dst_addr(), answer[54]), (address(1, 1), host, 129));
        assert!(Icmpv6Packet::new_unchecked(packet.payload()).verify_checksum(&address(1, 1), &host));
    }
    assert_eq!(network.router.counts().refused(Refused::NoHost), 0);
}

/// RFC 6980: whoever looks at what neighbours say does not see it in pieces, or behind other headers.
#[test]
fn what_neighbors_say_in_pieces_or_behind_other_headers_is_not_heard() {
    const ICMP6: u8 = 58;
    let router = Ipv6Addr::new(0xfd00, 1, 0, 0, 0, 0, 0, 1);
    let group = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00, 1);
    let host = Ipv6Addr::new(0xfd00, 1, 0, 0, 0, 0, 0, 5);
    let hardware = EthernetAddress([2, 0, 0, 1, 0, 5]);
    let whole = [ICMP6, 0, 0, 0, 1, 2, 3, 4];
    let padded = |next| [next, 0, 1, 4, 0, 0, 0, 0];
    let ways: [(u8, Vec<u8>); 5] = [
        (44, whole.to_vec()),
        (0, padded(ICMP6).to_vec()),
        (60, padded(ICMP6).to_vec()),
        (43, [ICMP6, 0, 9, 0, 0, 0, 0, 0].to_vec()),
        (60, [padded(44), whole].concat()),
    ];
    for (to, about, what) in
        [(router, router, (135, 0, 1)), (group, router, (135, 0, 1)), (router, host, (136, 0x60, 2))]
    {
        let mut network = Network::new(2, FlowIndex::Either, 1500);
        let arrive = |network: &mut Network, port: u16, frame: &[u8]| {
            network.router.arrive(
                PortId(port),
                Message::copied(HEADROOM, frame),
                network.now,
                &mut network.out,
            );
            network.out.frames.drain(..).count()
        };
        // The host is asked for.
        let ours = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
        let sent = packets::v6(LINK, (ours, host), (17, 64), None);
        assert_eq!(arrive(&mut network, 0, &sent), 1);
        let plain = discovery((host, to), hardware, what, about);
        let with = |first: u8, headers: &[u8], message: &[u8]| {
            let mut frame = [&plain[..54], headers, message].concat();
            let mut packet = Ipv6Packet::new_unchecked(&mut frame[14..]);
            packet.set_payload_len((headers.len() + message.len()) as u16);
            packet.set_next_header(first.into());
            frame
        };
        for (first, headers) in &ways {
            assert_eq!(arrive(&mut network, 1, &with(*first, headers, &plain[54..])), 0, "{first} {what:?}");
        }
        for (at, bytes) in [(1, &plain[54..70]), (16, &plain[70..])] {
            assert_eq!(arrive(&mut network, 1, &with(44, &[ICMP6, 0, 0, at, 1, 2, 3, 4], bytes)), 0);
        }
        assert_eq!(network.router.counts().said, 0);
        assert!(arrive(&mut network, 1, &plain) > 0, "as neighbours say it");
    }
}
