//! Two hosts that talk by IPv6, and by both versions of IP.

mod hosts;

use hosts::{CLIENT6, Pair, SERVER, SERVER6, data, echo};
use smoltcp::wire::{IpAddress, Ipv6Address, Ipv6Packet, UdpPacket};
use throughline_stack::{
    Architecture, ComposeError, Config, Discard, Graph, Host, Message, Participants, solicited_node,
};

const ETH: &str = "udp > ipv6 > eth; icmp6 > ipv6";
/// Users' frames name paths; those that find neighbours can't.
const ETHDAA: &str = "udp > ipv6 > ethdaa; icmp6 > ipv6 > eth";
const BOTH: &str = "udp > ipv4 > eth; udp > ipv6 > eth; icmp > ipv4; icmp6 > ipv6; arp > eth";
/// Frames of these name no path.
const PLAIN: [Architecture; 2] = [Architecture::Layered, Architecture::Integrated];

#[test]
fn udp_over_ethernet() {
    for architecture in PLAIN {
        for len in [0, 1, 100, 1400, 1452, 1453, 9000, 65_507, 65_527] {
            let mut pair = Pair::new(ETH, architecture);
            let data = data(len);
            let to = Participants::to(SERVER6, 7);
            assert_eq!(echo(&mut pair, "udp", Participants::at(7), to, &data), Some(data));
        }
    }
}

#[test]
fn udp_over_ethernet_with_ids() {
    for architecture in Architecture::ALL {
        for len in [0, 1, 1444, 1445, 65_527] {
            let mut pair = Pair::new(ETHDAA, architecture);
            let data = data(len);
            let (at, to) =
                (Participants::at(7).application(99), Participants::to(SERVER6, 7).application(99));
            assert_eq!(echo(&mut pair, "udp", at, to, &data), Some(data));
            assert_eq!(pair.client.discarded().chain(pair.server.discarded()).next(), None);
        }
    }
}

/// A path whose frames name it is not reached by others.
#[test]
fn plain_frames_are_of_no_path_that_others_name() {
    for architecture in Architecture::ALL {
        let mut pair = Pair::new(ETHDAA, architecture);
        let path = pair.server.open("udp", Participants::to(CLIENT6, 7).from_port(7).application(5)).unwrap();
        let mut data = [0, 7, 0, 7, 0, 13, 0, 0, b'h', b'e', b'l', b'l', b'o'];
        UdpPacket::new_unchecked(&mut data[..]).fill_checksum(&CLIENT6.into(), &SERVER6.into());
        for frame in hosts::packets(17, &data) {
            pair.server.arrive(Message::copied(0, &frame), pair.now);
        }
        assert!(pair.server.receive(path).is_none());
        assert_eq!(pair.server.discarded().collect::<Vec<_>>(), [("udp", Discard::NoPort, 1)]);
    }
}

#[test]
fn both_versions_at_once() {
    for architecture in PLAIN {
        let mut pair = Pair::new(BOTH, architecture);
        let at = |port| Participants::at(port);
        for len in [1, 3000] {
            let data = data(len);
            for (port, to) in [(7, IpAddress::from(SERVER)), (8, SERVER6.into())] {
                let port = port + len as u16;
                let answer = echo(&mut pair, "udp", at(port), Participants::to(to, port), &data);
                assert_eq!(answer.as_ref(), Some(&data));
            }
        }
        // One listener hears both.
        let listener = pair.server.enable("udp", at(5)).unwrap();
        for to in [IpAddress::from(SERVER), SERVER6.into()] {
            let path = pair.client.open("udp", Participants::to(to, 5)).unwrap();
            pair.client.send(path, Message::copied(128, b"either")).unwrap();
            pair.exchange();
            let accepted = pair.server.accepted(listener).unwrap();
            assert_eq!(pair.server.addresses(accepted).unwrap().0, to);
        }
    }
}

#[test]
fn by_link_local_addresses() {
    let link_local = hosts::host(SERVER).with_link_local().addresses.pop().unwrap().address();
    assert_eq!(link_local, IpAddress::v6(0xfe80, 0, 0, 0, 0, 0xff, 0xfe00, 2));
    let mut pair = Pair::new(ETH, Architecture::Integrated);
    let answer = echo(&mut pair, "udp", Participants::at(7), Participants::to(link_local, 7), b"near");
    assert_eq!(answer, Some(b"near".into()));
}

/// Datagrams to a group reach whoever is in it, and answers come from one address.
#[test]
fn to_a_group() {
    for group in [Ipv6Address::new(0xff02, 0, 0, 0, 0, 0, 0, 1), solicited_node(SERVER6)] {
        let mut pair = Pair::new(ETH, Architecture::Integrated);
        let listener = pair.server.enable("udp", Participants::at(7)).unwrap();
        let path = pair.client.open("udp", Participants::to(group, 7)).unwrap();
        pair.client.send(path, Message::copied(128, b"everyone")).unwrap();
        pair.exchange();
        let accepted = pair.server.accepted(listener).unwrap();
        assert_eq!(pair.server.receive(accepted).unwrap().bytes(), b"everyone");
        let (local, remote) = pair.server.addresses(accepted).unwrap();
        assert_eq!(pair.client.addresses(path), Some((remote, group.into())));
        assert_eq!(local, hosts::host(SERVER).with_link_local().addresses[2].address());
    }
}

#[test]
fn a_host_answers_echo_requests() {
    for architecture in PLAIN {
        for len in [0, 56, 4000] {
            let mut pair = Pair::new("icmp6 > ipv6 > eth", architecture);
            let mut other = Pair::new("udp > ipv6 > eth; icmp6 > ipv6 > eth", architecture);
            std::mem::swap(&mut pair.client, &mut other.client);
            // The client's own ICMPv6 would take the answer: its question is made by hand.
            let mut request = [&[128, 0, 0, 0, 0x12, 0x34, 0, 1][..], &data(len)].concat();
            smoltcp::wire::Icmpv6Packet::new_unchecked(&mut request[..]).fill_checksum(&CLIENT6, &SERVER6);
            for frame in hosts::packets(58, &request) {
                pair.server.arrive(Message::copied(0, &frame), pair.now);
            }
            pair.exchange();
            let reply = hosts::payload(&pair.frames);
            let mut expected = request.clone();
            expected[0] = 129;
            smoltcp::wire::Icmpv6Packet::new_unchecked(&mut expected[..]).fill_checksum(&SERVER6, &CLIENT6);
            assert!(reply == expected, "{} bytes of {}", reply.len(), expected.len());
        }
    }
}

#[test]
fn nobody_there() {
    let mut pair = Pair::new(ETH, Architecture::Layered);
    let stranger = Ipv6Address::new(0xfd00, 0, 0, 0, 0, 0, 0, 77);
    let path = pair.client.open("udp", Participants::to(stranger, 7)).unwrap();
    pair.client.send(path, Message::copied(128, b"hello")).unwrap();
    for _ in 0..5 {
        pair.pass(1_000);
    }
    assert_eq!(pair.client.discarded().collect::<Vec<_>>(), [("icmp6", Discard::Unresolved, 1)]);
    let elsewhere = Participants::to(Ipv6Address::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), 7);
    let error = pair.client.open("udp", elsewhere).unwrap_err();
    assert_eq!(error.to_string(), "no route to the remote host");
}

/// IPv6 has no check sum of its own.
#[test]
fn datagrams_without_check_sums_are_discarded() {
    let mut pair = Pair::new(ETH, Architecture::Layered);
    pair.server.enable("udp", Participants::at(7)).unwrap();
    let path = pair.client.open("udp", Participants::to(SERVER6, 7)).unwrap();
    pair.client.send(path, Message::copied(128, b"once")).unwrap();
    pair.exchange();
    let mut frame = pair.frames.last().unwrap().clone();
    UdpPacket::new_unchecked(&mut frame[14 + 40..]).set_checksum(0);
    pair.server.arrive(Message::copied(0, &frame), pair.now);
    assert_eq!(pair.server.discarded().collect::<Vec<_>>(), [("udp", Discard::Checksum, 1)]);
    let host = hosts::host(SERVER);
    let without = Graph::compose("udp(checksum=off) > ipv6 > eth", host.clone(), Config::default());
    assert!(matches!(without, Err(ComposeError::Option { .. })));
    let narrow = Graph::compose(ETH, Host { mtu: 1279, ..host }, Config::default());
    assert!(matches!(narrow, Err(ComposeError::NarrowV6(1279))));
}

/// What is behind skipped headers is delivered as if there were none.
#[test]
fn headers_between() {
    for architecture in PLAIN {
        let mut pair = Pair::new(ETH, architecture);
        let listener = pair.server.enable("udp", Participants::at(7)).unwrap();
        let path = pair.client.open("udp", Participants::to(SERVER6, 7)).unwrap();
        pair.client.send(path, Message::copied(128, b"plain")).unwrap();
        pair.exchange();
        let plain = pair.frames.last().unwrap().clone();
        // Hop-by-hop options, then all of a datagram as a fragment (RFC 6946).
        let padding = [44, 0, 1, 4, 0, 0, 0, 0];
        let whole = [17, 0, 0, 0, 9, 9, 9, 9];
        let mut frame = [&plain[..54], &padding, &whole, &plain[54..]].concat();
        let mut packet = Ipv6Packet::new_unchecked(&mut frame[14..]);
        packet.set_next_header(0.into());
        packet.set_payload_len(16 + 8 + 5);
        pair.server.arrive(Message::copied(0, &frame), pair.now);
        let accepted = pair.server.accepted(listener).unwrap();
        for _ in 0..2 {
            assert_eq!(pair.server.receive(accepted).unwrap().bytes(), b"plain");
        }
        assert_eq!(pair.server.discarded().next(), None);
    }
}
