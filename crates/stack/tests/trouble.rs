//! What is said of packets that went no further.

mod hosts;

use hosts::{CLIENT, CLIENT6, Pair, SERVER, SERVER6, data};
use smoltcp::wire::{Icmpv4Packet, Icmpv6Packet, IpAddress, Ipv4Address, Ipv4Packet, UdpPacket};
use throughline_stack::{Architecture, Config, Discard, Message, Participants, PathId, Trouble};

const GRAPH: &str =
    "udp > ipv4 > eth; udp > ipv6 > eth; tcp > ipv4; tcp > ipv6; icmp > ipv4; icmp6 > ipv6; arp > eth";
/// A graph without UDP and TCP.
const BARE: &str = "ipv4 > eth; ipv6 > eth; icmp > ipv4; icmp6 > ipv6; arp > eth";
/// Frames of these name no path.
const PLAIN: [Architecture; 2] = [Architecture::Layered, Architecture::Integrated];

/// The server's addresses.
fn servers() -> [IpAddress; 2] {
    [SERVER.into(), SERVER6.into()]
}

fn pairs() -> impl Iterator<Item = (Pair, IpAddress)> {
    PLAIN
        .into_iter()
        .flat_map(|architecture| servers().map(|server| (Pair::new(GRAPH, architecture), server)))
}

/// Sends this to a port of the server's, and forgets what frames were sent before.
fn send(pair: &mut Pair, to: IpAddress, port: u16, data: &[u8]) -> PathId {
    let path = pair.client.open("udp", Participants::to(to, port)).unwrap();
    pair.client.send(path, Message::copied(128, data)).unwrap();
    pair.exchange();
    path
}

/// An error in a frame: its type and code, and what it quotes. Its check sum must be right.
fn error(frame: &[u8]) -> Option<(u8, u8, Vec<u8>)> {
    let (bytes, is_error) = match frame.get(12..14)? {
        [8, 0] if frame[23] == 1 => {
            let packet = Icmpv4Packet::new_checked(&frame[34..]).ok()?;
            assert!(packet.verify_checksum());
            (&frame[34..], [3, 11].contains(&frame[34]))
        }
        [0x86, 0xdd] if frame[20] == 58 => {
            let packet = Icmpv6Packet::new_checked(&frame[54..]).ok()?;
            let (from, to) = if frame[37] == 1 { (CLIENT6, SERVER6) } else { (SERVER6, CLIENT6) };
            assert!(frame[54] >= 128 || packet.verify_checksum(&from, &to));
            (&frame[54..], frame[54] < 128)
        }
        _ => return None,
    };
    is_error.then(|| (bytes[0], bytes[1], bytes[8..].to_vec()))
}

/// The errors that the server answers a frame by.
fn answers(pair: &mut Pair, frame: &[u8]) -> Vec<(u8, u8, Vec<u8>)> {
    pair.server.arrive(Message::copied(0, frame), pair.now);
    let mut errors = Vec::new();
    while let Some(frame) = pair.server.transmit() {
        errors.extend(error(frame.bytes()));
    }
    errors
}

#[test]
fn nobody_at_the_port() {
    for (mut pair, server) in pairs() {
        for (round, len) in [0, 5, 1400, 4000].into_iter().enumerate() {
            let path = send(&mut pair, server, 9, &data(len));
            assert_eq!(pair.client.ready(), Some(path), "{server}, {len} bytes");
            assert_eq!(pair.client.trouble(path), Some(Trouble::NoPort));
            assert_eq!(pair.client.trouble(path), None);
            assert!(pair.client.ready().is_none() && pair.client.receive(path).is_none());
            let count = pair.server.discarded().find(|(_, why, _)| *why == Discard::NoPort).unwrap().2;
            assert_eq!(count, round as u64 + 1);
            // No error is longer than every host must take.
            let (longest, code) = if server == SERVER.into() { (576, (3, 3)) } else { (1280, (1, 4)) };
            let frame = pair.frames.last().unwrap();
            let (what, why, _) = error(frame).unwrap();
            assert_eq!((what, why), code);
            assert_eq!(frame.len(), 14 + longest.min(if longest == 576 { 56 + len } else { 96 + len }));
            pair.client.close(path);
        }
    }
}

#[test]
fn nobody_for_the_protocol() {
    for architecture in PLAIN {
        for (top, server, code) in [("ipv4", servers()[0], (3, 2)), ("ipv6", servers()[1], (4, 1))] {
            let mut pair = Pair::new(BARE, architecture);
            let participants = Participants { protocol: Some(253), ..Participants::to(server, 0) };
            let path = pair.client.open(top, participants).unwrap();
            pair.client.send(path, Message::copied(128, b"whoever")).unwrap();
            pair.exchange();
            assert_eq!(pair.client.ready(), Some(path));
            assert_eq!(pair.client.trouble(path), Some(Trouble::NoProtocol));
            let (what, why, quote) = error(pair.frames.last().unwrap()).unwrap();
            assert_eq!((what, why), code);
            assert!(quote.ends_with(b"whoever"));
            if code == (4, 1) {
                // The pointer says where the number is.
                assert_eq!(pair.frames.last().unwrap()[58..62], [0, 0, 0, 6]);
            }
        }
    }
}

#[test]
fn nobody_for_calls() {
    for (top, ip, server) in [
        ("rpc > ipv4 > eth; icmp > ipv4; arp > eth", "ipv4", servers()[0]),
        ("rpc > ipv6 > eth; icmp6 > ipv6", "ipv6", servers()[1]),
    ] {
        let mut pair = Pair::new(top, Architecture::Layered);
        pair.server = Pair::new(BARE, Architecture::Layered).server;
        let path = pair.client.open("rpc", Participants::to(server, 99)).unwrap();
        pair.client.send(path, Message::copied(128, b"please")).unwrap();
        pair.exchange();
        assert_eq!(pair.client.ready(), Some(path), "{ip}");
        assert_eq!(pair.client.trouble(path), Some(Trouble::NoProtocol));
    }
}

/// Frames of a datagram of the client's to port 7, where the server has a listener.
fn pieces(pair: &mut Pair, server: IpAddress) -> (PathId, Vec<Vec<u8>>) {
    pair.server.enable("udp", Participants::at(7)).unwrap();
    let path = send(pair, server, 7, b"who are you?");
    pair.client.send(path, Message::copied(128, &data(4000))).unwrap();
    let frames = std::iter::from_fn(|| pair.client.transmit()).map(|frame| frame.bytes().to_vec()).collect();
    (path, frames)
}

#[test]
fn pieces_are_missing() {
    for (mut pair, server) in pairs() {
        let (path, frames) = pieces(&mut pair, server);
        assert_eq!(frames.len(), 3);
        pair.server.arrive(Message::copied(0, &frames[0]), pair.now);
        pair.server.arrive(Message::copied(0, &frames[2]), pair.now);
        pair.pass(29_999);
        assert_eq!(pair.client.trouble(path), None);
        pair.pass(1);
        assert_eq!(pair.client.trouble(path), Some(Trouble::Expired), "{server}");
        let code = error(pair.frames.last().unwrap()).map(|(what, why, _)| (what, why));
        assert_eq!(code, Some(if server == SERVER.into() { (11, 1) } else { (3, 1) }));
    }
    // Without the first piece nobody is told.
    for (mut pair, server) in pairs() {
        let (path, frames) = pieces(&mut pair, server);
        pair.server.arrive(Message::copied(0, &frames[1]), pair.now);
        pair.pass(31_000);
        assert_eq!(pair.client.trouble(path), None);
        assert_eq!(pair.server.discarded().map(|(_, why, _)| why).collect::<Vec<_>>(), [Discard::Incomplete]);
    }
}

#[test]
fn what_is_not_answered() {
    for (mut pair, server) in pairs() {
        send(&mut pair, server, 9, b"asked");
        let v4 = server == SERVER.into();
        let sent = |frame: &&Vec<u8>| frame.ends_with(b"asked") && error(frame).is_none();
        let honest = pair.frames.iter().find(sent).unwrap().clone();
        let answer = pair.frames.last().unwrap().clone();
        pair.now += smoltcp::time::Duration::from_secs(1);
        assert_eq!(answers(&mut pair, &honest).len(), 1);
        // A damaged one; one in a frame for everyone; one of a group's.
        let mut damaged = honest.clone();
        *damaged.last_mut().unwrap() ^= 1;
        let mut to_all = honest.clone();
        to_all[..6].fill(0xff);
        let mut from_a_group = honest.clone();
        if v4 {
            from_a_group[26..30].copy_from_slice(&[224, 0, 0, 1]);
            Ipv4Packet::new_unchecked(&mut from_a_group[14..34]).fill_checksum();
        } else {
            from_a_group[22] = 0xff;
        }
        for frame in [damaged, to_all, from_a_group] {
            assert_eq!(answers(&mut pair, &frame), []);
        }
        // An error, about nothing of ours: sent to the server as if it were the sender.
        let mut about = answer.clone();
        let (ours, theirs) = (answer[..6].to_vec(), answer[6..12].to_vec());
        about[..6].copy_from_slice(&theirs);
        about[6..12].copy_from_slice(&ours);
        let (from, len) = if v4 { (26, 4) } else { (22, 16) };
        let addresses = answer[from..from + 2 * len].to_vec();
        about[from..from + len].copy_from_slice(&addresses[len..]);
        about[from + len..from + 2 * len].copy_from_slice(&addresses[..len]);
        if !v4 {
            Icmpv6Packet::new_unchecked(&mut about[54..]).fill_checksum(&CLIENT6, &SERVER6);
        }
        assert!(error(&about).is_some());
        let before = pair.server.discarded().map(|(_, _, count)| count).sum::<u64>();
        assert_eq!(answers(&mut pair, &about), []);
        assert_eq!(
            pair.server.discarded().map(|(_, _, count)| count).sum::<u64>(),
            before,
            "it was not read"
        );
    }
    // What is for many.
    for to in [IpAddress::from(Ipv4Address::new(10, 0, 0, 255)), IpAddress::v6(0xff02, 0, 0, 0, 0, 0, 0, 1)] {
        let mut pair = Pair::new(GRAPH, Architecture::Integrated);
        send(&mut pair, to, 9, b"anyone?");
        assert_eq!(pair.server.discarded().collect::<Vec<_>>(), [("udp", Discard::NoPort, 1)]);
        assert!(pair.frames.iter().all(|frame| error(frame).is_none()));
    }
}

#[test]
fn not_more_often_than_allowed() {
    for (mut pair, server) in pairs() {
        let path = send(&mut pair, server, 9, b"asked");
        for _ in 0..500 {
            pair.client.send(path, Message::copied(128, b"asked")).unwrap();
        }
        pair.frames.clear();
        pair.exchange();
        let errors = pair.frames.iter().filter(|frame| error(frame).is_some()).count();
        assert!((16..50).contains(&errors), "{errors} errors");
        assert_eq!(pair.server.discarded().collect::<Vec<_>>(), [("udp", Discard::NoPort, 501)]);
        pair.now += smoltcp::time::Duration::from_secs(1);
        send(&mut pair, server, 10, b"later");
        assert!(error(pair.frames.last().unwrap()).is_some());
    }
}

/// Strangers whose addresses nobody answers for don't take the places of those whom we ask for.
#[test]
fn errors_do_not_crowd_out_our_questions() {
    let mut pair = Pair::new(GRAPH, Architecture::Layered);
    send(&mut pair, SERVER.into(), 9, b"asked");
    let sample = pair.frames.iter().find(|frame| frame.ends_with(b"asked")).unwrap().clone();
    for n in 10..200 {
        pair.now += smoltcp::time::Duration::from_millis(5);
        let mut frame = sample.clone();
        frame[29] = n;
        Ipv4Packet::new_unchecked(&mut frame[14..34]).fill_checksum();
        let from = Ipv4Address::new(10, 0, 0, n);
        UdpPacket::new_unchecked(&mut frame[34..]).fill_checksum(&from.into(), &SERVER.into());
        pair.server.arrive(Message::copied(0, &frame), pair.now);
    }
    let asked = std::iter::from_fn(|| pair.server.transmit()).filter(|frame| frame.bytes()[12..14] == [8, 6]);
    assert_eq!(asked.count(), 32);
    let path = pair.server.open("udp", Participants::to(Ipv4Address::new(10, 0, 0, 9), 7)).unwrap();
    pair.server.send(path, Message::copied(128, b"our own")).unwrap();
    assert_eq!(pair.server.transmit().unwrap().bytes()[12..14], [8, 6]);
}

/// A connection lives on, whatever is said.
#[test]
fn connections_go_on() {
    for (mut pair, server) in pairs() {
        let listener = pair.server.enable("tcp", Participants::at(80)).unwrap();
        let path = pair.client.open("tcp", Participants::to(server, 80)).unwrap();
        pair.exchange();
        assert_eq!(pair.client.ready(), Some(path));
        let accepted = pair.server.accepted(listener).unwrap();
        pair.client.write(path, b"hello").unwrap();
        let segment = pair.client.transmit().unwrap().bytes().to_vec();
        let v4 = server == SERVER.into();
        let mut message = [[if v4 { 3 } else { 1 }, 1, 0, 0].as_slice(), &[0; 4], &segment[14..]].concat();
        if v4 {
            Icmpv4Packet::new_unchecked(&mut message[..]).fill_checksum();
        } else {
            // Beyond the scope of an address, which is as good as not reached.
            message[1] = 2;
            Icmpv6Packet::new_unchecked(&mut message[..]).fill_checksum(&SERVER6, &CLIENT6);
        }
        // What a port or address differs in is of no connection.
        for (at, change) in
            [(None, 0), (Some(if v4 { 29 } else { 49 }), 1), (Some(if v4 { 31 } else { 51 }), 1)]
        {
            let mut message = message.clone();
            if let Some(at) = at {
                message[at] ^= change;
                match v4 {
                    true => Icmpv4Packet::new_unchecked(&mut message[..]).fill_checksum(),
                    false => Icmpv6Packet::new_unchecked(&mut message[..]).fill_checksum(&SERVER6, &CLIENT6),
                }
            }
            pair.client.arrive(Message::copied(0, &from_server(v4, &message)), pair.now);
            assert_eq!(pair.client.trouble(path).is_some(), at.is_none(), "{at:?}");
        }
        pair.server.arrive(Message::copied(0, &segment), pair.now);
        pair.exchange();
        let mut came = [0; 9];
        assert_eq!(pair.server.read(accepted, &mut came), Ok(5));
        pair.server.write(accepted, b"and back").unwrap();
        pair.exchange();
        assert_eq!(pair.client.read(path, &mut came), Ok(8));
    }
}

/// A frame of the server's with this message of ICMP.
fn from_server(v4: bool, message: &[u8]) -> Vec<u8> {
    if !v4 {
        let mut frame = hosts::packet(SERVER6, CLIENT6, 58, 255, message);
        let (to, from) = (hosts::host(CLIENT).hardware.0, hosts::host(SERVER).hardware.0);
        frame[..12].copy_from_slice(&[to, from].concat());
        return frame;
    }
    let mut frame = [&hosts::host(CLIENT).hardware.0[..], &hosts::host(SERVER).hardware.0, &[8, 0]].concat();
    frame.resize(34, 0);
    let mut packet = Ipv4Packet::new_unchecked(&mut frame[14..]);
    packet.set_version(4);
    packet.set_header_len(20);
    packet.set_total_len(20 + message.len() as u16);
    packet.set_hop_limit(64);
    packet.set_next_header(1.into());
    packet.set_src_addr(SERVER);
    packet.set_dst_addr(CLIENT);
    packet.fill_checksum();
    frame.extend(message);
    frame
}

/// Frames that name paths carry no errors: there is no path for them.
#[test]
fn none_by_frames_that_name_paths() {
    for description in
        ["udp > ipv4 > ethdaa; icmp > ipv4; arp > eth", "udp > ipv6 > ethdaa; icmp6 > ipv6 > eth"]
    {
        for architecture in Architecture::ALL {
            let mut pair = Pair::with(description, Config { architecture, ..Config::default() });
            let server = if description.contains("ipv4") { servers()[0] } else { servers()[1] };
            pair.server.enable("udp", Participants::at(7).application(5)).unwrap();
            let path = pair.client.open("udp", Participants::to(server, 9).application(5)).unwrap();
            pair.client.send(path, Message::copied(128, b"wrong port")).unwrap();
            pair.exchange();
            assert_eq!(pair.server.discarded().collect::<Vec<_>>(), [("udp", Discard::NoPort, 1)]);
            // IPv6 has another way for them.
            let named = pair.frames.iter().filter(|frame| frame[12..14] == [0x88, 0xb5]).count();
            assert_eq!(named, 1);
            let trouble = pair.client.trouble(path);
            assert_eq!(trouble, None);
        }
    }
}
