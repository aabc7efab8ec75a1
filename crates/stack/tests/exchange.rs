//! Two hosts that talk: every protocol as the top of a graph, in every architecture.

mod hosts;

use hosts::{CLIENT, Pair, SERVER, data, echo};
use smoltcp::{
    time::Instant,
    wire::{EthernetAddress, IpProtocol, Ipv4Address, Ipv4Packet},
};
use throughline_stack::{
    Architecture, ComposeError, Config, Discard, Graph, Host, Limits, Message, Participants, SendError,
};

#[test]
fn udp_over_ethernet() {
    for architecture in [Architecture::Layered, Architecture::Integrated] {
        for len in [0, 1, 100, 1400, 1472, 1473, 9000, 65_507] {
            let mut pair = Pair::new("udp > ipv4 > eth; arp > eth", architecture);
            let data = data(len);
            let answer = echo(&mut pair, "udp", Participants::at(7), Participants::to(SERVER, 7), &data);
            assert_eq!(answer, Some(data));
        }
    }
}

#[test]
fn udp_over_ethernet_with_ids() {
    for architecture in Architecture::ALL {
        for len in [0, 1, 1464, 1465, 65_507] {
            let mut pair = Pair::new("udp > ipv4 > ethdaa; arp > eth", architecture);
            let data = data(len);
            let (at, to) = (Participants::at(7).application(99), Participants::to(SERVER, 7).application(99));
            assert_eq!(echo(&mut pair, "udp", at, to, &data), Some(data));
        }
    }
}

#[test]
fn ip_and_ethernet() {
    for architecture in Architecture::ALL {
        let ethernet = |remote| Participants {
            remote_hardware: Some(remote),
            ethertype: Some(0x88b6),
            ..Participants::default()
        };
        let mut pair = Pair::new("ipv4 > ethdaa; arp > eth", architecture);
        let experimental = Participants { protocol: Some(253), ..Participants::default() };
        let (at, to) = (
            experimental.application(5),
            Participants { protocol: Some(253), ..Participants::to(SERVER, 0) }.application(5),
        );
        assert_eq!(echo(&mut pair, "ipv4", at, to, b"above IP"), Some(b"above IP".into()));
        let server = pair.server_hardware();
        let direct = ethernet(server).application(6);
        assert_eq!(echo(&mut pair, "ethdaa", direct, direct, b"directly"), Some(b"directly".into()));
        assert_eq!(
            echo(&mut pair, "eth", ethernet(server), ethernet(server), b"plainly"),
            Some(b"plainly".into())
        );
    }
}

#[test]
fn what_no_packet_can_hold_is_not_sent() {
    let mut pair = Pair::new("udp > ipv4 > eth; arp > eth", Architecture::Layered);
    pair.server.enable("udp", Participants::at(7)).unwrap();
    let path = pair.client.open("udp", Participants::to(SERVER, 7)).unwrap();
    for (len, sent) in
        [(65_507, Ok(())), (65_508, Err(SendError::TooLong)), (65_527, Err(SendError::TooLong))]
    {
        assert_eq!(pair.client.send(path, Message::copied(128, &data(len))), sent, "{len}");
        pair.exchange();
    }
    let path = pair.server.ready().unwrap();
    assert_eq!(
        std::iter::from_fn(|| pair.server.receive(path)).map(|message| message.len()).sum::<usize>(),
        65_507
    );
    // Address resolution, and the pieces of what was sent.
    assert_eq!(pair.frames.len(), 2 + 65_515_usize.div_ceil(1480));
}

#[test]
fn an_application_id_is_given_once() {
    let mut pair = Pair::new("udp > ipv4 > ethdaa; arp > eth", Architecture::Direct);
    let to = Participants::to(SERVER, 7);
    let demanded = pair.client.open("udp", to.application(7)).unwrap();
    let error = pair.client.open("udp", to.application(7)).unwrap_err();
    assert_eq!(error.to_string(), "taken by another user");
    pair.client.open("udp", to).unwrap();
    pair.client.open("udp", to).unwrap();
    pair.client.close(demanded);
    pair.client.open("udp", to.application(7)).unwrap();
}

#[test]
fn a_host_answers_echo_requests() {
    for architecture in [Architecture::Layered, Architecture::Integrated] {
        let mut pair = Pair::new("icmp > ipv4 > eth; arp > eth", architecture);
        let mut other = Pair::new("ipv4 > eth; arp > eth", architecture);
        std::mem::swap(&mut pair.client, &mut other.client);
        let icmp = Participants { protocol: Some(1), ..Participants::to(SERVER, 0) };
        let path = pair.client.open("ipv4", icmp).unwrap();
        // Type 8, code 0, check sum, identification, number, and data.
        let request = [8, 0, 0xe5, 0xca, 0x12, 0x34, 0, 1];
        let mut message = pair.client.message();
        message.append(&request).unwrap();
        pair.client.send(path, message).unwrap();
        pair.exchange();
        let reply = pair.client.receive(path).expect("a reply");
        assert_eq!(reply.bytes(), [0, 0, 0xed, 0xca, 0x12, 0x34, 0, 1]);
    }
}

/// No answer would come to port 0, which is nobody's.
#[test]
fn port_0_is_none() {
    for top in ["udp", "tcp"] {
        let mut pair = Pair::new(&format!("{top} > ipv4 > eth; arp > eth"), Architecture::Layered);
        let graph = &mut pair.client;
        let error = graph.open(top, Participants::to(SERVER, 0)).unwrap_err();
        assert_eq!(error.to_string(), "the participants lack the remote port");
        let error = graph.enable(top, Participants::at(0)).unwrap_err();
        assert_eq!(error.to_string(), "the participants lack a local port");
        let path = graph.open(top, Participants::to(SERVER, 7).from_port(0)).unwrap();
        if top == "udp" {
            graph.send(path, Message::copied(128, b"who am I?")).unwrap();
        }
        pair.exchange();
        let asked = pair.frames.iter().find(|frame| frame[12..14] == [8, 0]).unwrap();
        assert!(asked[34] >= 0xc0, "from port {:?}", &asked[34..36]);
    }
}

#[test]
fn nobody_there() {
    let mut pair = Pair::new("udp > ipv4 > eth; arp > eth", Architecture::Layered);
    let path = pair.client.open("udp", Participants::to(SERVER, 7)).unwrap();
    let message = pair.client.message();
    pair.client.send(path, message).unwrap();
    pair.exchange();
    assert_eq!(pair.server.discarded().collect::<Vec<_>>(), [("udp", Discard::NoPort, 1)]);
    // A host that does not exist: after three questions what waits is given up.
    let path = pair.client.open("udp", Participants::to(Ipv4Address::new(10, 0, 0, 77), 7)).unwrap();
    let message = pair.client.message();
    pair.client.send(path, message).unwrap();
    for _ in 0..5 {
        pair.pass(1_000);
    }
    assert_eq!(pair.client.discarded().collect::<Vec<_>>(), [("arp", Discard::Unresolved, 1)]);
    // Neither does a network without a way to it.
    assert_eq!(
        pair.client.open("udp", Participants::to(Ipv4Address::new(11, 0, 0, 1), 7)).unwrap_err().to_string(),
        "no route to the remote host"
    );
}

/// Datagrams of as many strangers as there are ports, again and again.
#[test]
fn a_flood_of_strangers_lets_others_in() {
    let description = "udp(limit=300) > ipv4(limit=300) > eth(limit=300); arp > eth";
    let limits = Limits { paths: 256, received: 4, ..Limits::default() };
    for architecture in [Architecture::Layered, Architecture::Integrated] {
        let mut pair = Pair::with(description, Config { architecture, limits, ..Config::default() });
        let listener = pair.server.enable("udp", Participants::at(7)).unwrap();
        let path = pair.client.open("udp", Participants::to(SERVER, 7)).unwrap();
        pair.client.send(path, Message::copied(128, b"once")).unwrap();
        pair.exchange();
        let sample = pair.frames.last().unwrap().clone();
        for n in 0..50_000_u32 {
            let mut frame = sample.clone();
            // The neighbour's address, the host's, and the port; check sums are done anew.
            frame[6..12].copy_from_slice(&[2, 1, 0, (n >> 8) as u8, n as u8, 1]);
            frame[26..30].copy_from_slice(&[10, 0, 0, 3 + (n % 200) as u8]);
            frame[34..36].copy_from_slice(&(n as u16).to_be_bytes());
            Ipv4Packet::new_unchecked(&mut frame[14..34]).fill_checksum();
            frame[40..42].copy_from_slice(&[0, 0]);
            pair.server.arrive(Message::copied(0, &frame), pair.now);
        }
        assert!(std::iter::from_fn(|| pair.server.accepted(listener)).count() <= 4096);
        while let Some(path) = pair.server.ready() {
            while let Some(message) = pair.server.receive(path) {
                pair.server.release(message);
            }
        }
        // A new one gets in, and the one who was there before.
        for from in [500, 501] {
            let new = pair.client.open("udp", Participants::to(SERVER, 7).from_port(from)).unwrap();
            let mut answered = false;
            for _ in 0..8 {
                pair.client.send(new, Message::copied(128, b"new")).unwrap();
                pair.exchange();
                answered |= pair.server.ready().is_some();
            }
            assert!(answered, "{architecture:?}: {:?}", pair.server.discarded().collect::<Vec<_>>());
        }
    }
}

#[test]
fn frames_are_as_short_as_they_may_be() {
    let description = "udp > ipv4 > eth; icmp > ipv4; arp > eth";
    let mut pair = Pair::narrow(description, Config::default(), 68);
    let sent = data(1000);
    let came = echo(&mut pair, "udp", Participants::at(7), Participants::to(SERVER, 7), &sent);
    assert!(came.as_ref() == Some(&sent));
    assert!(pair.frames.iter().all(|frame| frame.len() <= 68 + 14));
    for mtu in [0, 27, 67, 65_536] {
        let host = Host { mtu, ..hosts::host(SERVER) };
        let refused = Graph::compose(description, host, Config::default()).err();
        assert_eq!(refused, Some(ComposeError::Mtu(mtu)));
    }
}

/// An echo request with this source, as if from a neighbour.
fn echo_request(from: Ipv4Address, to: EthernetAddress) -> Vec<u8> {
    let mut frame = [&to.0[..], &[2, 9, 9, 9, 9, 9, 8, 0]].concat();
    frame.resize(14 + 28, 0);
    let mut ip = Ipv4Packet::new_unchecked(&mut frame[14..]);
    ip.set_version(4);
    ip.set_header_len(20);
    ip.set_total_len(28);
    ip.set_hop_limit(64);
    ip.set_next_header(IpProtocol::Icmp);
    ip.set_src_addr(from);
    ip.set_dst_addr(SERVER);
    ip.fill_checksum();
    frame[34..42].copy_from_slice(&[8, 0, 0xe5, 0xca, 0x12, 0x34, 0, 1]);
    frame
}

/// Who asks in the name of neighbours that are not there has us look for them: not so that we find nobody else.
#[test]
fn neighbors_are_found_while_strangers_ask_for_others() {
    let mut pair = Pair::new("udp > ipv4 > eth; icmp > ipv4; arp > eth", Architecture::Layered);
    let own = Ipv4Address::new(10, 0, 0, 9);
    // We spoke to one of those before.
    let known = pair.server.open("udp", Participants::to(own, 9)).unwrap();
    for n in 9..250 {
        let request = echo_request(Ipv4Address::new(10, 0, 0, n), pair.server_hardware());
        pair.server.arrive(Message::copied(0, &request), pair.now);
    }
    assert_eq!(std::iter::from_fn(|| pair.server.transmit()).count(), 32);
    let path = pair.server.open("udp", Participants::to(CLIENT, 9)).unwrap();
    for path in [path, known] {
        assert_eq!(pair.server.send(path, Message::copied(128, b"hello")), Ok(()));
    }
    pair.client.enable("udp", Participants::at(9)).unwrap();
    pair.exchange();
    assert!(pair.client.ready().is_some());
}

/// RFC 1122, 3.2.1.3: no packet comes from these, whatever is behind the gateway.
#[test]
fn sources_that_are_nowhere() {
    for architecture in [Architecture::Layered, Architecture::Integrated] {
        let config = Config { architecture, ..Config::default() };
        let host = Host { gateway: Some(CLIENT.into()), ..hosts::host(SERVER) };
        let hardware = host.hardware;
        let mut graph = Graph::compose("icmp > ipv4 > eth; arp > eth", host, config).unwrap();
        let nowhere =
            [[127, 0, 0, 1], [127, 255, 0, 9], [0, 0, 0, 0], [0, 1, 2, 3], [224, 0, 0, 1], [255; 4]];
        for from in nowhere.map(Ipv4Address::from_octets) {
            graph.arrive(Message::copied(0, &echo_request(from, hardware)), Instant::ZERO);
            assert!(graph.transmit().is_none(), "{from}");
        }
        assert_eq!(graph.discarded().collect::<Vec<_>>(), [("ipv4", Discard::Source, 6)]);
        graph.arrive(
            Message::copied(0, &echo_request(Ipv4Address::new(192, 0, 2, 1), hardware)),
            Instant::ZERO,
        );
        assert!(graph.transmit().is_some());
    }
}
