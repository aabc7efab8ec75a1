//! Packets that a router must not send on, and those that it must say nothing of (RFC 1812, RFC 4443).

mod network;

use std::net::{Ipv4Addr, Ipv6Addr};

use network::Network;
use throughline_forward::{
    FlowIndex, HEADROOM, PortId, PortLabels, Refused, Route, Router, RouterConfig, RouterPort,
};
use throughline_stack::{
    Host, Message,
    smoltcp::{
        time::Duration,
        wire::{
            EthernetAddress, Icmpv4Packet, Icmpv6Packet, IpAddress, IpCidr, Ipv4Packet, Ipv6Packet, UdpPacket,
        },
    },
};

/// The host on network 0.
const HOST: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 2]);

fn frame(ethertype: u16, header: usize, behind: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 14 + header];
    bytes[..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
    bytes[6..12].copy_from_slice(&HOST.0);
    bytes[12..14].copy_from_slice(&ethertype.to_be_bytes());
    bytes.extend(behind);
    bytes
}

/// What the host on network 0 sends to the router for another.
fn v4(source: Ipv4Addr, destination: Ipv4Addr, (protocol, lives): (u8, u8), data: &[u8]) -> Vec<u8> {
    let mut bytes = frame(0x0800, 20, data);
    let mut packet = Ipv4Packet::new_unchecked(&mut bytes[14..]);
    packet.set_version(4);
    packet.set_header_len(20);
    packet.set_total_len(20 + data.len() as u16);
    packet.set_hop_limit(lives);
    packet.set_next_header(protocol.into());
    packet.set_src_addr(source);
    packet.set_dst_addr(destination);
    packet.fill_checksum();
    bytes
}

fn v6(source: Ipv6Addr, destination: Ipv6Addr, (protocol, lives): (u8, u8), data: &[u8]) -> Vec<u8> {
    let mut bytes = frame(0x86dd, 40, data);
    let mut packet = Ipv6Packet::new_unchecked(&mut bytes[14..]);
    packet.set_version(6);
    packet.set_payload_len(data.len() as u16);
    packet.set_hop_limit(lives);
    packet.set_next_header(protocol.into());
    packet.set_src_addr(source);
    packet.set_dst_addr(destination);
    bytes
}

/// Whether a packet is sent on, and how much the router says of it, once everybody knows everybody's hardware address.
fn passes(network: &mut Network, frame: &[u8]) -> (bool, u64) {
    let before = network.router.counts().clone();
    network.router.arrive(PortId(0), Message::copied(HEADROOM, frame), network.now, &mut network.out);
    network.run();
    let after = network.router.counts();
    (after.forwarded > before.forwarded, after.said - before.said)
}

#[test]
fn nothing_comes_from_or_goes_to_hosts_of_network_0() {
    let mut network = Network::acquainted();
    // So that somebody could be told.
    let out = Route::Out { port: PortId(1), via: Some("10.0.1.2".parse().unwrap()) };
    network.router.add_route("0.0.0.0/0".parse().unwrap(), out).unwrap();
    let ours = Ipv4Addr::new(10, 0, 0, 2);
    for (source, destination, lives, why) in [
        ([0, 0, 0, 1].into(), Ipv4Addr::new(10, 0, 1, 2), 64, Refused::Source),
        ([0, 7, 0, 1].into(), Ipv4Addr::new(10, 0, 1, 2), 1, Refused::Source),
        ([0, 0, 0, 0].into(), Ipv4Addr::new(10, 0, 1, 2), 64, Refused::Source),
        (ours, [0, 0, 0, 1].into(), 64, Refused::Destination),
        (ours, [0, 255, 255, 255].into(), 64, Refused::Destination),
    ] {
        let before = network.router.counts().refused(why);
        let passed = passes(&mut network, &v4(source, destination, (17, lives), &[0; 8]));
        assert_eq!(passed, (false, 0), "{source} > {destination}");
        assert_eq!(network.router.counts().refused(why), before + 1, "{source} > {destination}");
    }
    assert_eq!(passes(&mut network, &v4(ours, [1, 0, 0, 1].into(), (17, 64), &[0; 8])), (true, 0));
}

/// In the flow cache they would be taken for those of IPv4, and go where those go.
#[test]
fn an_address_of_ipv4_is_none_of_ipv6() {
    let mut network = Network::acquainted();
    let (server, ours) = (Ipv4Addr::new(10, 0, 1, 2), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2));
    assert_eq!(passes(&mut network, &v4([10, 0, 0, 2].into(), server, (17, 64), &[0; 8])), (true, 0));
    let mapped = server.to_ipv6_mapped();
    let to = v6(ours, mapped, (17, 64), &[0; 8]);
    assert_eq!(passes(&mut network, &to), (false, 0));
    assert_eq!(network.router.counts().refused(Refused::Destination), 1);
    let from = v6(mapped, Ipv6Addr::new(0xfd00, 1, 0, 0, 0, 0, 0, 2), (17, 64), &[0; 8]);
    assert_eq!(passes(&mut network, &from), (false, 0));
    assert_eq!(network.router.counts().refused(Refused::Source), 1);
}

/// An extension header of 8 bytes before this protocol; of a fragment, the piece at this offset.
fn extension(next: u8, offset: u16) -> [u8; 8] {
    let [high, low] = offset.to_be_bytes();
    [next, 0, high, low, 0, 0, 0, 0]
}

/// With a hop limit that ends here.
#[test]
fn of_errors_nobody_is_told_whatever_is_before_them() {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const AUTHENTICATION: u8 = 51;
    const OPTIONS: u8 = 60;
    let (source, destination) =
        (Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2), Ipv6Addr::new(0xfd00, 1, 0, 0, 0, 0, 0, 2));
    let mut network = Network::acquainted();
    let mut says = |headers: &[u8], protocol: u8, data: &[u8], offset: u16| {
        let mut bytes = Vec::new();
        let mut next = headers.iter().skip(1).copied().chain([protocol]);
        for header in headers {
            bytes.extend(extension(next.next().unwrap(), if *header == FRAGMENT { offset } else { 0 }));
        }
        bytes.extend(data);
        let first = headers.first().copied().unwrap_or(protocol);
        // As many errors as ever may be said.
        network.now += Duration::from_secs(60);
        passes(&mut network, &v6(source, destination, (first, 1), &bytes)).1
    };
    let ways: [&[u8]; 7] = [
        &[],
        &[HOP_BY_HOP],
        &[FRAGMENT],
        &[ROUTING, FRAGMENT],
        &[HOP_BY_HOP, OPTIONS, ROUTING, OPTIONS],
        &[OPTIONS; 20],
        &[AUTHENTICATION],
    ];
    for headers in ways {
        for kind in [0, 1, 2, 3, 4, 100, 127, 137] {
            assert_eq!(says(headers, 58, &[kind; 8], 0), 0, "{headers:?} {kind}");
        }
        assert_eq!(says(headers, 58, &[], 0), 0, "{headers:?}, none that could be seen");
        assert_eq!(says(headers, 58, &[128; 8], 0), 1, "{headers:?}, an echo request");
        assert_eq!(says(headers, 17, &[1; 8], 0), 1, "{headers:?}, a datagram");
    }
    assert_eq!(says(&[HOP_BY_HOP, FRAGMENT], 17, &[1; 8], 8), 0, "a later piece");
}

/// A message of ICMP of this type, with its sum.
fn icmp4(kind: u8) -> Vec<u8> {
    let mut message = vec![kind, 0, 0, 0, 0, 0, 0, 1];
    Icmpv4Packet::new_unchecked(&mut message).fill_checksum();
    message
}

fn icmp6(kind: u8, source: Ipv6Addr, destination: Ipv6Addr) -> Vec<u8> {
    let mut message = vec![kind, 0, 0, 0, 0, 0, 0, 1];
    Icmpv6Packet::new_unchecked(&mut message).fill_checksum(&source, &destination);
    message
}

/// A datagram to a port where nobody is, with this sum, or the right one.
fn datagram(source: IpAddress, destination: IpAddress, sum: Option<u16>) -> Vec<u8> {
    let mut datagram = vec![0; 12];
    let mut udp = UdpPacket::new_unchecked(&mut datagram);
    udp.set_src_port(1);
    udp.set_dst_port(9);
    udp.set_len(12);
    match sum {
        Some(sum) => udp.set_checksum(sum),
        None => udp.fill_checksum(&source, &destination),
    }
    datagram
}

#[test]
fn of_messages_that_the_router_does_not_know_nobody_is_told() {
    let mut network = Network::acquainted();
    let (from4, to4) = (Ipv4Addr::new(10, 0, 0, 2), Ipv4Addr::new(10, 0, 0, 1));
    let (from6, to6) =
        (Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1));
    let mut says = |why, frame: &[u8]| {
        network.now += Duration::from_secs(60);
        let before = network.router.counts().refused(why);
        let said = passes(&mut network, frame).1;
        (said, network.router.counts().refused(why) - before)
    };
    for kind in [0, 3, 5, 13, 17, 42, 255] {
        assert_eq!(says(Refused::NoPort, &v4(from4, to4, (1, 64), &icmp4(kind))), (0, 1), "{kind}");
    }
    for kind in [1, 127, 129, 130, 143, 200, 255] {
        let message = icmp6(kind, from6, to6);
        assert_eq!(says(Refused::NoPort, &v6(from6, to6, (58, 64), &message)), (0, 1), "{kind}");
        let behind = [&extension(58, 0)[..], &message].concat();
        assert_eq!(
            says(Refused::NoPort, &v6(from6, to6, (60, 64), &behind)),
            (0, 1),
            "{kind}, behind options"
        );
    }
    assert_eq!(says(Refused::NoPort, &v4(from4, to4, (1, 64), &icmp4(8))), (1, 0), "an echo request");
    assert_eq!(says(Refused::NoPort, &v6(from6, to6, (58, 64), &icmp6(128, from6, to6))), (1, 0));
    // Damaged, in pieces that are not all there, of the other version.
    assert_eq!(says(Refused::NoPort, &v4(from4, to4, (1, 64), &[8, 0, 1, 1, 0, 0, 0, 1])), (0, 1));
    let mut piece = v4(from4, to4, (1, 64), &icmp4(8));
    let mut packet = Ipv4Packet::new_unchecked(&mut piece[14..]);
    packet.set_more_frags(true);
    packet.fill_checksum();
    assert_eq!(says(Refused::NoPort, &piece), (0, 0));
    let piece = [&extension(58, 1)[..], &icmp6(128, from6, to6)].concat();
    assert_eq!(says(Refused::Incomplete, &v6(from6, to6, (44, 64), &piece)), (1, 1), "those of before");
    assert_eq!(
        says(Refused::Incomplete, &v6(from6, to6, (1, 64), &icmp4(8))),
        (2, 1),
        "and no such protocol"
    );
    assert_eq!(says(Refused::NoPort, &v6(from6, to6, (1, 64), &icmp4(8))), (1, 1), "no such protocol");
}

#[test]
fn who_says_by_which_way_the_router_should_answer_gets_none() {
    let mut network = Network::acquainted();
    let (from, to) = (Ipv4Addr::new(10, 0, 0, 2), Ipv4Addr::new(10, 0, 0, 1));
    let mut answers = |options: &[u8]| {
        network.now += Duration::from_secs(60);
        let mut echo = v4(from, to, (1, 64), &icmp4(8));
        echo.splice(34..34, options.iter().copied());
        let length = 20 + options.len() as u8;
        let mut packet = Ipv4Packet::new_unchecked(&mut echo[14..]);
        packet.set_header_len(length);
        packet.set_total_len(u16::from(length) + 8);
        packet.fill_checksum();
        let before = network.router.counts().refused(Refused::Malformed);
        (passes(&mut network, &echo).1, network.router.counts().refused(Refused::Malformed) - before)
    };
    // None, a record of the route, and what is behind the end.
    for options in [&[][..], &[1, 1, 7, 6, 4, 0, 0, 0], &[0, 131, 3, 4]] {
        assert_eq!(answers(options), (1, 0), "{options:?}");
    }
    for options in [
        &[131, 7, 4, 10, 9, 0, 1, 0][..],
        &[137, 7, 8, 10, 9, 0, 1, 0],
        &[1, 131, 7, 4, 10, 9, 0, 1],
        &[68, 4, 5, 0, 131, 3, 4, 0],
        &[7, 1, 0, 0],
        &[7, 9, 4, 0],
        &[1, 1, 1, 7],
    ] {
        assert_eq!(answers(options), (0, 1), "{options:?}");
    }
}

#[test]
fn of_a_damaged_datagram_nobody_is_told() {
    let mut network = Network::acquainted();
    let (from4, to4) = (Ipv4Addr::new(10, 0, 0, 2), Ipv4Addr::new(10, 0, 0, 1));
    let (from6, to6) =
        (Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1));
    // Of IPv6 none goes without a sum.
    for (sum, expected) in [(None, [1, 1]), (Some(0), [1, 0]), (Some(0x1234), [0, 0])] {
        network.now += Duration::from_secs(60);
        let of4 = v4(from4, to4, (17, 64), &datagram(from4.into(), to4.into(), sum));
        let of6 = v6(from6, to6, (17, 64), &datagram(from6.into(), to6.into(), sum));
        let said = [of4, of6].map(|frame| passes(&mut network, &frame).1);
        assert_eq!(said, expected, "{sum:?}");
    }
    assert_eq!(network.router.counts().refused(Refused::Checksum), 3);
    // Nor behind other headers: of a piece that is all of its packet, too.
    for (first, header) in [(60, extension(17, 0)), (44, extension(17, 0)), (60, extension(44, 0))] {
        for (sum, expected) in [(None, (1, 0)), (Some(0), (0, 1)), (Some(0x1234), (0, 1))] {
            network.now += Duration::from_secs(60);
            let whole = if header[0] == 44 { extension(17, 0).to_vec() } else { vec![] };
            let datagram = datagram(from6.into(), to6.into(), sum);
            let frame = v6(from6, to6, (first, 64), &[&header[..], &whole, &datagram].concat());
            let before = network.router.counts().refused(Refused::Checksum);
            let said = passes(&mut network, &frame).1;
            let refused = network.router.counts().refused(Refused::Checksum) - before;
            assert_eq!((said, refused), expected, "{first}, {sum:?}");
        }
    }
}

/// What the router says of a packet that comes by a port: from whom, to whom, type and code.
fn told(network: &mut Network, port: u16, frame: &[u8]) -> Option<(Ipv6Addr, Ipv6Addr, u8, u8)> {
    network.router.arrive(PortId(port), Message::copied(HEADROOM, frame), network.now, &mut network.out);
    let said = |(_, frame): (PortId, Message)| {
        let packet = Ipv6Packet::new_checked(&frame.bytes()[14..]).unwrap();
        let (from, to, data) = (packet.src_addr(), packet.dst_addr(), packet.payload());
        assert!(Icmpv6Packet::new_unchecked(data).verify_checksum(&from, &to));
        (data[0] < 128).then_some((from, to, data[0], data[1]))
    };
    network.out.frames.drain(..).find_map(said)
}

/// RFC 4007, 9.
#[test]
fn who_sends_beyond_the_link_from_an_address_on_it_is_told() {
    let mut network = Network::acquainted();
    let (near, far) =
        (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 7), Ipv6Addr::new(0xfd00, 1, 0, 0, 0, 0, 0, 2));
    // So that his hardware address is known.
    let ours = network.router.host(PortId(0)).addresses.last().unwrap().address();
    let IpAddress::Ipv6(ours) = ours else { panic!("no address on the link") };
    let mut asks = vec![135, 0, 0, 0, 0, 0, 0, 0];
    asks.extend(ours.octets());
    asks.extend([&[1, 1][..], &HOST.0].concat());
    Icmpv6Packet::new_unchecked(&mut asks[..]).fill_checksum(&near, &ours);
    assert_eq!(told(&mut network, 0, &v6(near, ours, (58, 255), &asks)), None);
    let before = network.router.counts().refused(Refused::Destination);
    assert_eq!(told(&mut network, 0, &v6(near, far, (17, 64), &[1; 8])), Some((ours, near, 1, 2)));
    // Others are told nothing: who sends to an address of a link where it is not, and of IPv4.
    let global = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
    let out = Route::Out { port: PortId(1), via: None };
    network.router.add_route("::/0".parse().unwrap(), out).unwrap();
    assert_eq!(told(&mut network, 0, &v6(global, near, (17, 64), &[1; 8])), None);
    assert_eq!(
        passes(&mut network, &v4([169, 254, 0, 9].into(), [10, 0, 1, 2].into(), (17, 64), &[1; 8])),
        (false, 0)
    );
    assert_eq!(network.router.counts().refused(Refused::Destination), before + 3);
}

/// A link between routers where they have no other addresses: whoever is beyond it is to hear what became of his packets.
#[test]
fn errors_come_from_an_address_that_means_something_where_they_go() {
    let mut network = Network::acquainted();
    let hardware = EthernetAddress([2, 0, 0, 0, 0, 1]);
    let between = Host::new(hardware, "fe80::1/64".parse::<IpCidr>().unwrap());
    let ports = [between, network::host(1, 1)].map(|host| RouterPort { host, labels: PortLabels::UNKNOWN });
    network.router = Router::new(ports.into(), RouterConfig::default()).unwrap();
    let next = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 9);
    let back = Route::Out { port: PortId(0), via: Some(next.into()) };
    network.router.add_route("fd00:77::/64".parse().unwrap(), back).unwrap();
    let ours = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);
    let mut asks = vec![135, 0, 0, 0, 0, 0, 0, 0];
    asks.extend(ours.octets());
    asks.extend([&[1, 1][..], &HOST.0].concat());
    Icmpv6Packet::new_unchecked(&mut asks[..]).fill_checksum(&next, &ours);
    told(&mut network, 0, &v6(next, ours, (58, 255), &asks));
    let (far, near) =
        (Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, 7), Ipv6Addr::new(0xfd00, 1, 0, 0, 0, 0, 0, 2));
    let global = Ipv6Addr::new(0xfd00, 1, 0, 0, 0, 0, 0, 1);
    assert_eq!(told(&mut network, 0, &v6(far, near, (17, 1), &[1; 8])), Some((global, far, 3, 0)));
    // On the link it is the link's.
    assert_eq!(told(&mut network, 0, &v6(next, ours, (99, 64), &[1; 8])), Some((ours, next, 4, 1)));
}

/// Back to whom no route leads, to whom the answer is too long, and to the router's own address, which somebody else has used.
#[test]
fn answers_that_do_not_leave_are_not_counted_as_said() {
    let mut network = Network::with_mtus(&[1500, 1280], FlowIndex::Computed);
    let mut says = |why, frame: &[u8]| {
        network.now += Duration::from_secs(60);
        let before = network.router.counts().refused(why);
        let said = passes(&mut network, frame).1;
        (said, network.router.counts().refused(why) - before)
    };
    let (far, to4) = (Ipv4Addr::new(10, 99, 0, 2), Ipv4Addr::new(10, 0, 0, 1));
    assert_eq!(says(Refused::NoRoute, &v4(far, to4, (1, 64), &icmp4(8))), (0, 1));
    assert_eq!(says(Refused::NoRoute, &v4(far, to4, (99, 64), &[0; 8])), (0, 1), "an error");
    assert_eq!(says(Refused::Source, &v4(to4, to4, (1, 64), &icmp4(8))), (0, 1));
    // By the other network, which carries less.
    let (there, to6) =
        (Ipv6Addr::new(0xfd00, 1, 0, 0, 0, 0, 0, 2), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1));
    let mut long = vec![0; 1400];
    long[0] = 128;
    Icmpv6Packet::new_unchecked(&mut long[..]).fill_checksum(&there, &to6);
    assert_eq!(says(Refused::TooBig, &v6(there, to6, (58, 64), &long)), (1, 0), "in pieces, as one");
}

/// RFC 4443, 3.4: where the protocol is named that is not known here; and of what is said to be nothing nobody is told.
#[test]
fn who_sends_an_unknown_protocol_is_told_where_he_named_it() {
    const OPTIONS: u8 = 60;
    let (from, to) = (Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1));
    let mut network = Network::acquainted();
    let mut says = |first: u8, data: &[u8]| {
        network.now += Duration::from_secs(1);
        let before = network.router.counts().refused(Refused::NoPort);
        let frame = v6(from, to, (first, 64), data);
        network.router.arrive(PortId(0), Message::copied(HEADROOM, &frame), network.now, &mut network.out);
        assert_eq!(network.router.counts().refused(Refused::NoPort), before + 1);
        network.out.frames.pop().map(|(_, frame)| (frame.bytes()[54], frame.bytes()[55], frame.bytes()[61]))
    };
    let behind = |next: u8| [&extension(next, 0)[..], &[0; 8]].concat();
    assert_eq!(says(99, &[0; 8]), Some((4, 1, 6)));
    assert_eq!(says(OPTIONS, &behind(99)), Some((4, 1, 40)));
    let twice = [&extension(OPTIONS, 0)[..], &behind(99)].concat();
    assert_eq!(says(0, &twice), Some((4, 1, 48)));
    let datagram = [&extension(17, 0)[..], &datagram(from.into(), to.into(), None)].concat();
    assert_eq!(says(OPTIONS, &datagram), Some((1, 4, 0)), "a datagram to nobody");
    assert_eq!(says(59, &[]), None);
    assert_eq!(says(OPTIONS, &behind(59)), None);
}

/// RFC 1812, 5.3.7: nobody else has the router's addresses, nor one that stands for all on its networks.
#[test]
fn nothing_comes_from_the_router_itself() {
    let mut network = Network::acquainted();
    let ours = network.router.host(PortId(0)).addresses.last().unwrap().address();
    let there = network.router.host(PortId(1)).addresses.last().unwrap().address();
    let (IpAddress::Ipv6(ours), IpAddress::Ipv6(there)) = (ours, there) else { panic!("not on the link") };
    let mut fate = |frame: &[u8]| {
        network.now += Duration::from_secs(1);
        let before = network.router.counts().refused(Refused::Source);
        let (passes, said) = passes(&mut network, frame);
        (passes, said, network.router.counts().refused(Refused::Source) - before)
    };
    let server = Ipv4Addr::new(10, 0, 1, 2);
    for (to, lives) in
        [(server, 64), (server, 1), (Ipv4Addr::new(10, 0, 0, 1), 64), (Ipv4Addr::BROADCAST, 64)]
    {
        for source in [[10, 0, 0, 1], [10, 0, 1, 1], [10, 0, 0, 255]] {
            let frame = v4(source.into(), to, (99, lives), &[0; 8]);
            assert_eq!(fate(&frame), (false, 0, 1), "{source:?} > {to}, {lives}");
        }
    }
    assert_eq!(fate(&v4([10, 0, 7, 1].into(), server, (99, 64), &[0; 8])), (true, 0, 0), "ends as ours does");
    let address = |network, last| Ipv6Addr::new(0xfd00, network, 0, 0, 0, 0, 0, last);
    let group = Ipv6Addr::new(0xff05, 0, 0, 0, 0, 0, 0, 7);
    for to in [address(1, 2), address(0, 1), group] {
        for source in [address(0, 1), address(1, 1), ours] {
            assert_eq!(fate(&v6(source, to, (99, 64), &[0; 8])), (false, 0, 1), "{source} > {to}");
        }
    }
    assert_eq!(fate(&v6(address(7, 1), address(1, 2), (99, 64), &[0; 8])), (true, 0, 0));
    // On this link it may be somebody else's.
    assert_eq!(fate(&v6(there, address(1, 2), (99, 64), &[0; 8])).2, 0);
}

/// RFC 4443, 2.2 a, and what hosts do with IPv4.
#[test]
fn errors_about_packets_to_an_address_of_the_router_come_from_that() {
    let mut network = Network::acquainted();
    let (host, address) = (Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2), |network, last| {
        Ipv6Addr::new(0xfd00, network, 0, 0, 0, 0, 0, last)
    });
    for (to, from) in [
        (address(0, 1), address(0, 1)),
        (address(1, 1), address(1, 1)),
        // Of all routers on a network: no packet comes from there.
        (address(0, 0), address(0, 1)),
    ] {
        network.now += Duration::from_secs(1);
        assert_eq!(told(&mut network, 0, &v6(host, to, (99, 64), &[0; 8])), Some((from, host, 4, 1)), "{to}");
    }
    network.now += Duration::from_secs(1);
    let far = v6(host, address(1, 2), (99, 1), &[0; 8]);
    assert_eq!(told(&mut network, 0, &far), Some((address(0, 1), host, 3, 0)), "to somebody else");
    for last in [0, 1] {
        network.now += Duration::from_secs(1);
        let frame = v4([10, 0, 0, 2].into(), [10, 0, last, 1].into(), (99, 64), &[0; 8]);
        network.router.arrive(PortId(0), Message::copied(HEADROOM, &frame), network.now, &mut network.out);
        let (_, error) = network.out.frames.pop().unwrap();
        assert_eq!((&error.bytes()[26..30], error.bytes()[34]), (&[10, 0, last, 1][..], 3));
    }
}

/// RFC 8200, 4.2 to 4.4: of what its headers ask and the router does not know their sender is told where it stands.
#[test]
fn who_sends_headers_that_are_not_understood_is_told_where_they_are() {
    const OPTIONS: u8 = 60;
    const ROUTING: u8 = 43;
    let (from, to) = (Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1));
    let mut network = Network::acquainted();
    let mut says = |first: u8, headers: &[[u8; 8]]| {
        network.now += Duration::from_secs(1);
        let before = network.router.counts().clone();
        let data = [headers.concat(), datagram(from.into(), to.into(), None)].concat();
        let frame = v6(from, to, (first, 64), &data);
        network.router.arrive(PortId(0), Message::copied(HEADROOM, &frame), network.now, &mut network.out);
        let after = network.router.counts();
        let refused = |why| after.refused(why) - before.refused(why);
        assert_eq!(Refused::ALL.iter().map(|why| refused(*why)).sum::<u64>(), 1);
        let error = network
            .out
            .frames
            .pop()
            .map(|(_, frame)| (frame.bytes()[54], frame.bytes()[55], frame.bytes()[61]));
        (error, refused(Refused::Malformed))
    };
    let (port, padded) = (Some((1, 4, 0)), |next| [next, 0, 1, 4, 0, 0, 0, 0]);
    for kind in [0, 2, 4, 9] {
        let on = |left| [17, 0, kind, left, 0, 0, 0, 0];
        assert_eq!(says(ROUTING, &[on(1)]), (Some((4, 0, 42)), 1), "type {kind}");
        assert_eq!(says(OPTIONS, &[padded(ROUTING), on(3)]), (Some((4, 0, 50)), 1), "type {kind}");
        assert_eq!(says(ROUTING, &[on(0)]), (port, 0), "done with");
    }
    for first in [0, OPTIONS] {
        let option = |option| [17, 0, 1, 0, option, 2, 0, 0];
        assert_eq!(says(first, &[option(0x1e)]), (port, 0), "to be skipped");
        assert_eq!(says(first, &[option(0x5e)]), (None, 1), "in silence");
        assert_eq!(says(first, &[option(0x9e)]), (Some((4, 2, 44)), 1));
        assert_eq!(says(first, &[option(0xde)]), (Some((4, 2, 44)), 1));
        assert_eq!(says(first, &[[17, 0, 1, 9, 0, 0, 0, 0]]), (None, 1), "behind its header's end");
        assert_eq!(says(first, &[[17, 9, 1, 4, 0, 0, 0, 0]]).0, None, "behind the packet's end");
    }
    assert_eq!(
        says(OPTIONS, &[padded(0), padded(17)]),
        (Some((4, 1, 40)), 0),
        "hop-by-hop options but in front"
    );
    assert_eq!(says(OPTIONS, &[padded(OPTIONS); 9]), (None, 1), "without end");
}
