//! What strangers may not do to a host of IPv4, and what it does not do to others.

mod hosts;

use hosts::{CLIENT, Pair, SERVER, SERVER6};
use smoltcp::wire::{IpAddress, Ipv4Address, Ipv4Packet, UdpPacket};
use throughline_stack::{Architecture, Config, Discard, Graph, Host, Message, OpenError, Participants};

const GRAPH: &str = "udp > ipv4 > eth; tcp > ipv4; icmp > ipv4; arp > eth";
/// Frames of these name no path.
const PLAIN: [Architecture; 2] = [Architecture::Layered, Architecture::Integrated];
const TO_ALL: [Ipv4Address; 2] = [Ipv4Address::new(10, 0, 0, 255), Ipv4Address::BROADCAST];

/// A frame of the client's with a datagram to a port of the server's.
fn datagram(from: Ipv4Address, port: u16) -> Vec<u8> {
    let mut frame = [&hosts::host(SERVER).hardware.0[..], &hosts::host(CLIENT).hardware.0, &[8, 0]].concat();
    frame.resize(14 + 20 + 8 + 4, 0);
    let mut ip = Ipv4Packet::new_unchecked(&mut frame[14..]);
    ip.set_version(4);
    ip.set_header_len(20);
    ip.set_total_len(32);
    ip.set_hop_limit(64);
    ip.set_next_header(17.into());
    ip.set_src_addr(from);
    ip.set_dst_addr(SERVER);
    ip.fill_checksum();
    let mut udp = UdpPacket::new_unchecked(&mut frame[34..]);
    udp.set_src_port(9);
    udp.set_dst_port(port);
    udp.set_len(12);
    udp.fill_checksum(&from.into(), &SERVER.into());
    frame
}

fn sent(graph: &mut Graph) -> usize {
    std::iter::from_fn(|| graph.transmit()).count()
}

/// What was sent to all is answered by each from his own address; who says that he is all is not answered, least of all by an
/// error that goes to all.
#[test]
fn nobody_speaks_for_all() {
    for (architecture, all) in PLAIN.into_iter().flat_map(|how| TO_ALL.map(|all| (how, all))) {
        let mut pair = Pair::new(GRAPH, architecture);
        let path = pair.server.open("udp", Participants::to(all, 9).from_port(7)).unwrap();
        pair.server.send(path, Message::copied(128, b"anybody?")).unwrap();
        assert_eq!(pair.server.transmit().unwrap().bytes()[..6], [0xff; 6]);
        for port in [7, 8] {
            pair.server.arrive(Message::copied(0, &datagram(all, port)), pair.now);
            assert_eq!(sent(&mut pair.server), 0, "{all}, port {port}");
        }
        assert!(pair.server.receive(path).is_none());
        assert_eq!(pair.server.discarded().collect::<Vec<_>>(), [("ipv4", Discard::Source, 2)]);
    }
}

/// Packets to these would leave by the gateway, or ask who has an address that is ours.
#[test]
fn addresses_that_nobody_else_has_are_not_sent_to() {
    let (gateway, gateway6) = (Ipv4Address::new(10, 0, 0, 254), [0xfd00, 0, 0, 0, 0, 0, 0, 0xfe]);
    let host = Host {
        gateway: Some(gateway.into()),
        gateway6: Some(IpAddress::Ipv6(gateway6.into())),
        ..hosts::host(SERVER)
    };
    let description = format!("{GRAPH}; udp > ipv6 > eth; tcp > ipv6; icmp6 > ipv6");
    let mut graph = Graph::compose(&description, host, Config::default()).unwrap();
    let v6 = |text: &str| IpAddress::Ipv6(text.parse().unwrap());
    let v4 = |octets: [u8; 4]| IpAddress::Ipv4(octets.into());
    let nowhere = [
        v4([0; 4]),
        v4([0, 1, 2, 3]),
        v4([127, 0, 0, 1]),
        v4([224, 0, 0, 1]),
        v6("::"),
        v6("::1"),
        v6("::ffff:8.8.8.8"),
        SERVER.into(),
        SERVER6.into(),
    ];
    for (to, top) in nowhere.into_iter().flat_map(|to| ["udp", "tcp"].map(|top| (to, top))) {
        assert_eq!(graph.open(top, Participants::to(to, 9)), Err(OpenError::NoRoute), "{top} to {to}");
    }
    assert_eq!((sent(&mut graph), graph.counts().paths), (0, 0));
    assert!(graph.open("udp", Participants::to(v4([8; 4]), 9)).is_ok());
}

/// A connection to all would be begun by everybody's answer.
#[test]
fn connections_are_not_to_many() {
    let description = format!("{GRAPH}; tcp > ipv6 > eth; icmp6 > ipv6");
    let mut graph = Graph::compose(&description, hosts::host(SERVER), Config::default()).unwrap();
    let all = TO_ALL
        .map(IpAddress::Ipv4)
        .into_iter()
        .chain([IpAddress::Ipv6([0xff02, 0, 0, 0, 0, 0, 0, 1].into())]);
    for to in all {
        assert_eq!(graph.open("tcp", Participants::to(to, 80)), Err(OpenError::NoRoute), "{to}");
    }
    assert_eq!((sent(&mut graph), graph.counts().paths), (0, 0));
}
