//! Connections between two graphs.

mod hosts;

use hosts::{CLIENT, CLIENT6, Pair, SERVER, SERVER6, data};
use smoltcp::wire::{IpAddress, IpCidr, Ipv4Address, Ipv4Packet, TcpPacket};
use throughline_stack::{
    Architecture, Config, Discard, Graph, Limits, ListenerId, Message, Participants, PathId, StreamError,
};

const ETH: &str = "tcp(receive=4096, send=4096) > ipv4 > eth; arp > eth";
const ETHDAA: &str = "tcp(receive=4096, send=4096) > ipv4 > ethdaa; arp > eth";
const ETH6: &str = "tcp(receive=4096, send=4096) > ipv6 > eth; icmp6 > ipv6";
const ETHDAA6: &str = "tcp(receive=4096, send=4096) > ipv6 > ethdaa; icmp6 > ipv6 > eth";
const BOTH: &str =
    "tcp(receive=4096, send=4096) > ipv4 > eth; tcp > ipv6 > eth; icmp > ipv4; icmp6 > ipv6; arp > eth";

fn graph(architecture: Architecture) -> &'static str {
    if architecture == Architecture::Direct { ETHDAA } else { ETH }
}

/// A connection; the client's path and the server's.
fn connected(pair: &mut Pair, listener: ListenerId) -> (PathId, PathId) {
    connected_to(SERVER.into(), pair, listener)
}

fn connected_to(address: IpAddress, pair: &mut Pair, listener: ListenerId) -> (PathId, PathId) {
    let client = pair.client.open("tcp", Participants::to(address, 80).application(9)).unwrap();
    pair.exchange();
    assert_eq!(pair.client.ready(), Some(client));
    let server = pair.server.accepted(listener).expect("a connection");
    (client, server)
}

fn listening(architecture: Architecture) -> (Pair, ListenerId) {
    listening_in(graph(architecture), architecture)
}

fn listening_in(description: &str, architecture: Architecture) -> (Pair, ListenerId) {
    let mut pair = Pair::new(description, architecture);
    let listener = pair.server.enable("tcp", Participants::at(80).application(9)).unwrap();
    (pair, listener)
}

/// Reads all that is there; whether the other end has finished.
fn drain(graph: &mut Graph, path: PathId, into: &mut Vec<u8>) -> bool {
    let mut buffer = [0; 1000];
    loop {
        match graph.read(path, &mut buffer) {
            Ok(0) => return false,
            Ok(len) => into.extend_from_slice(&buffer[..len]),
            Err(StreamError::Finished) => return true,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn both_ways_and_an_end() {
    for architecture in Architecture::ALL {
        let (mut pair, listener) = listening(architecture);
        both_ways(&mut pair, listener, SERVER.into(), CLIENT.into());
    }
}

#[test]
fn by_ipv6() {
    for architecture in Architecture::ALL {
        let direct = architecture == Architecture::Direct;
        let (mut pair, listener) = listening_in(if direct { ETHDAA6 } else { ETH6 }, architecture);
        both_ways(&mut pair, listener, SERVER6.into(), CLIENT6.into());
        // No packet is longer than the frames' 1,500 bytes, and full ones are no shorter.
        let header = if direct { 22 } else { 14 };
        let longest = pair.frames.iter().map(Vec::len).max().unwrap();
        assert!((1514 - 22 + header - 8..=1514).contains(&longest), "{longest}");
    }
}

#[test]
fn by_both_versions_of_ip() {
    for architecture in [Architecture::Layered, Architecture::Integrated] {
        let (mut pair, listener) = listening_in(BOTH, architecture);
        both_ways(&mut pair, listener, SERVER.into(), CLIENT.into());
        while pair.client.ready().is_some() {}
        both_ways(&mut pair, listener, SERVER6.into(), CLIENT6.into());
    }
}

/// More addresses than smoltcp has places for.
#[test]
fn at_any_of_many_addresses() {
    for architecture in [Architecture::Layered, Architecture::Integrated] {
        let (mut pair, _) = listening(architecture);
        let many: Vec<_> = (100..120).map(|n| Ipv4Address::new(10, 0, 0, n)).collect();
        let mut host = hosts::host(SERVER);
        host.addresses.extend(many.iter().map(|own| IpCidr::new((*own).into(), 24)));
        pair.server = Graph::compose(ETH, host, Config { architecture, ..Config::default() }).unwrap();
        let listener = pair.server.enable("tcp", Participants::at(80)).unwrap();
        let paths: Vec<_> = many.iter().map(|own| connected_to((*own).into(), &mut pair, listener)).collect();
        for (client, server) in paths {
            assert_eq!(pair.client.write(client, b"hello"), Ok(5));
            assert_eq!(pair.server.write(server, b"hello"), Ok(5));
            pair.exchange();
            for (graph, path) in [(&mut pair.client, client), (&mut pair.server, server)] {
                let mut came = Vec::new();
                drain(graph, path, &mut came);
                assert_eq!(came, b"hello");
            }
        }
        // Nobody is at this port of any of them.
        let refused = pair.client.open("tcp", Participants::to(many[19], 81)).unwrap();
        pair.exchange();
        assert_eq!(pair.client.write(refused, b"hello"), Err(StreamError::Closed));
    }
}

fn both_ways(pair: &mut Pair, listener: ListenerId, ours: IpAddress, theirs: IpAddress) {
    let (client, server) = connected_to(ours, pair, listener);
    assert_eq!(pair.server.addresses(server), Some((ours, theirs)));
    let sent = data(100_000);
    let (mut written, mut echoed, mut owed) = (0, Vec::new(), Vec::new());
    let mut rounds = 0;
    while echoed.len() < sent.len() {
        written += pair.client.write(client, &sent[written..]).unwrap();
        pair.exchange();
        drain(&mut pair.server, server, &mut owed);
        let back = pair.server.write(server, &owed).unwrap();
        owed.drain(..back);
        pair.exchange();
        drain(&mut pair.client, client, &mut echoed);
        pair.pass(20);
        rounds += 1;
        assert!(rounds < 1000, "{} of {} bytes", echoed.len(), sent.len());
    }
    assert!(echoed == sent);
    // Half closed: the server may still speak.
    pair.client.shutdown(client).unwrap();
    pair.exchange();
    assert!(drain(&mut pair.server, server, &mut owed));
    pair.server.write(server, b"farewell").unwrap();
    pair.server.close(server);
    pair.exchange();
    echoed.clear();
    assert!(drain(&mut pair.client, client, &mut echoed));
    assert_eq!(echoed, b"farewell");
    pair.client.close(client);
    // The last acknowledgement waits a little.
    pair.pass(6);
    for _ in 0..20 {
        pair.pass(1000);
    }
    // Everything is given back: the client's port and id, the server's place.
    let (client, _) = connected_to(ours, pair, listener);
    assert_eq!(pair.client.write(client, b"again"), Ok(5));
    assert_eq!(pair.client.discarded().next(), None);
    assert_eq!(pair.server.discarded().next(), None);
}

#[test]
fn who_waits_for_room_is_told() {
    let (mut pair, listener) = listening(Architecture::Layered);
    let (client, server) = connected(&mut pair, listener);
    let sent = data(20_000);
    let mut written = pair.client.write(client, &sent).unwrap();
    assert!(written < sent.len());
    pair.exchange();
    let mut came = Vec::new();
    while written < sent.len() {
        while let Some(path) = pair.client.ready() {
            written += pair.client.write(path, &sent[written..]).unwrap();
        }
        pair.pass(20);
        drain(&mut pair.server, server, &mut came);
        pair.pass(20);
    }
    pair.exchange();
    drain(&mut pair.server, server, &mut came);
    assert_eq!(came.len(), sent.len());
}

#[test]
fn nobody_listens() {
    for architecture in Architecture::ALL {
        let (mut pair, _) = listening(architecture);
        let client = pair.client.open("tcp", Participants::to(SERVER, 81).application(9)).unwrap();
        pair.exchange();
        assert_eq!(pair.client.ready(), Some(client));
        assert_eq!(pair.client.write(client, b"hello"), Err(StreamError::Closed));
        assert_eq!(pair.client.read(client, &mut [0; 9]), Err(StreamError::Closed));
        assert_eq!(pair.server.discarded().collect::<Vec<_>>(), [("tcp", Discard::NoPort, 1)]);
        pair.client.close(client);
        assert_eq!(pair.client.write(client, b"hello"), Err(StreamError::NoPath));
    }
}

#[test]
fn who_dies_is_given_up() {
    let (mut pair, listener) = listening(Architecture::Layered);
    let (_, server) = connected(&mut pair, listener);
    pair.server.write(server, b"anybody?").unwrap();
    let mut now = pair.now;
    for _ in 0..400 {
        now += smoltcp::time::Duration::from_secs(1);
        pair.server.tick(now);
        while let Some(frame) = pair.server.transmit() {
            pair.server.release(frame);
        }
    }
    assert_eq!(pair.server.write(server, b"?"), Err(StreamError::Closed));
}

/// Silence is no end: neither of a connection that nobody ever used, nor of one that all was said on for now.
#[test]
fn who_has_nothing_to_say_is_not_given_up() {
    for architecture in Architecture::ALL {
        let (mut pair, listener) = listening(architecture);
        let (client, server) = connected(&mut pair, listener);
        for word in [&b"hello"[..], b"again", b"at last"] {
            let before = pair.frames.len();
            for _ in 0..400 {
                pair.pass(10_000);
            }
            assert_eq!(pair.frames.len(), before, "something was said after {}", pair.now);
            assert_eq!(pair.client.write(client, word), Ok(word.len()));
            assert_eq!(pair.server.write(server, word), Ok(word.len()));
            pair.exchange();
            for (graph, path) in [(&mut pair.client, client), (&mut pair.server, server)] {
                let mut came = Vec::new();
                drain(graph, path, &mut came);
                assert_eq!(came, word);
            }
            pair.pass(6);
        }
        // An end after a long silence is none of the kind that a reset is.
        for _ in 0..400 {
            pair.pass(10_000);
        }
        pair.client.shutdown(client).unwrap();
        pair.exchange();
        assert!(drain(&mut pair.server, server, &mut Vec::new()));
        // Half closed it may stay as long.
        for _ in 0..400 {
            pair.pass(10_000);
        }
        assert_eq!(pair.server.write(server, b"farewell"), Ok(8));
        pair.exchange();
        let mut came = Vec::new();
        drain(&mut pair.client, client, &mut came);
        assert_eq!(came, b"farewell");
    }
}

/// What has come stays for its user, and the end behind it, however long ago both ends have said all.
#[test]
fn who_reads_late_misses_nothing() {
    for architecture in Architecture::ALL {
        let (mut pair, listener) = listening(architecture);
        let (client, server) = connected(&mut pair, listener);
        pair.client.shutdown(client).unwrap();
        pair.exchange();
        assert!(drain(&mut pair.server, server, &mut Vec::new()));
        assert_eq!(pair.server.write(server, &data(3000)), Ok(3000));
        pair.server.close(server);
        pair.pass(10);
        let mut came = vec![0; 1000];
        assert_eq!(pair.client.read(client, &mut came), Ok(1000));
        pair.pass(10);
        for _ in 0..30 {
            pair.pass(1000);
        }
        assert!(drain(&mut pair.client, client, &mut came));
        assert!(came == data(3000), "{} bytes", came.len());
        for _ in 0..30 {
            pair.pass(1000);
        }
        assert_eq!(pair.client.read(client, &mut [0; 9]), Err(StreamError::Finished));
        pair.client.close(client);
        pair.exchange();
        assert_eq!((pair.client.counts().paths, pair.server.counts().paths), (0, 0));
    }
}

/// What was written before the end is not lost because the other end takes it slowly, if it takes some of it every minute; who takes
/// next to nothing is given up.
#[test]
fn who_reads_slowly_gets_all_that_was_written() {
    for architecture in Architecture::ALL {
        for (read, all) in [(500, true), (20, false)] {
            let (mut pair, listener) = listening(architecture);
            let (client, server) = connected(&mut pair, listener);
            let mut written = pair.server.write(server, &data(4096)).unwrap();
            for _ in 0..20 {
                pair.pass(100);
            }
            written += pair.server.write(server, &data(8192)[written..]).unwrap();
            assert_eq!(written, 8192);
            pair.server.close(server);
            let (mut came, mut end, mut buffer) = (Vec::new(), None, vec![0; read]);
            for second in 0..600 {
                pair.pass(1000);
                if second % 10 == 0 {
                    match pair.client.read(client, &mut buffer) {
                        Ok(len) => came.extend_from_slice(&buffer[..len]),
                        Err(why) => end = end.or(Some(why)),
                    }
                }
                if end == Some(StreamError::Finished) {
                    pair.client.close(client);
                }
            }
            assert_eq!(came == data(8192), all, "{} bytes", came.len());
            assert_eq!(end, all.then_some(StreamError::Finished));
            assert_eq!(pair.server.write(server, b"?"), Err(StreamError::NoPath));
            assert_eq!(pair.client.counts().paths, u64::from(!all));
        }
    }
}

/// An end is repeated as data is, not without end.
#[test]
fn who_does_not_hear_of_an_end_is_given_up() {
    let (mut pair, listener) = listening(Architecture::Layered);
    let (_, server) = connected(&mut pair, listener);
    pair.pass(10_000);
    while pair.server.ready().is_some() {}
    pair.server.shutdown(server).unwrap();
    let mut said = 0;
    while pair.server.ready().is_some() {}
    let mut given_up = None;
    for second in 1..400 {
        pair.now += smoltcp::time::Duration::from_secs(1);
        pair.server.tick(pair.now);
        given_up = given_up.or(pair.server.ready().map(|_| second));
        while let Some(frame) = pair.server.transmit() {
            // Neighbours are asked for meanwhile.
            said += u32::from(frame.bytes().get(47).is_some_and(|flags| flags & 1 == 1));
            pair.server.release(frame);
        }
    }
    assert!((5..20).contains(&said), "{said}");
    assert!(given_up.is_some_and(|second| (300..310).contains(&second)), "{given_up:?}");
    assert_eq!(pair.server.read(server, &mut [0; 9]), Err(StreamError::Closed));
}

/// From the same port again, as soon as the server has closed: he waits for what may be left of the old connection, but not with the
/// new one. Where the new one begins below the old one's end, that is forgotten first, and the second SYN gets through.
#[test]
fn the_same_ends_again() {
    for architecture in Architecture::ALL {
        let (mut pair, listener) = listening(architecture);
        for round in 0..20 {
            let from = Participants { local_port: Some(7777), ..Participants::to(SERVER, 80) };
            let client = pair.client.open("tcp", from.application(9)).unwrap();
            for _ in 0..20 {
                pair.pass(100);
            }
            let server = pair.server.accepted(listener).expect("a connection");
            assert_eq!(pair.client.write(client, b"hello"), Ok(5), "{round}");
            pair.exchange();
            let mut came = Vec::new();
            drain(&mut pair.server, server, &mut came);
            assert_eq!(came, b"hello");
            pair.server.close(server);
            pair.exchange();
            pair.client.close(client);
            pair.pass(10);
            while pair.client.ready().is_some() {}
        }
        for _ in 0..80 {
            pair.pass(1000);
        }
        assert_eq!((pair.client.counts().paths, pair.server.counts().paths), (0, 0));
        assert_eq!(pair.server.discarded().next(), None);
    }
}

/// Otherwise nobody could ever close them.
#[test]
fn connections_that_nobody_has_asked_for_come_when_their_listener_goes() {
    for architecture in Architecture::ALL {
        let (mut pair, listener) = listening(architecture);
        let client = pair.client.open("tcp", Participants::to(SERVER, 80).application(9)).unwrap();
        pair.exchange();
        let servers = pair.server.disable(listener);
        let [server] = servers[..] else { panic!("{servers:?}") };
        assert_eq!((pair.server.accepted(listener), pair.server.disable(listener)), (None, vec![]));
        assert_eq!(pair.server.write(server, b"hello"), Ok(5));
        pair.exchange();
        let mut came = Vec::new();
        drain(&mut pair.client, client, &mut came);
        assert_eq!(came, b"hello");
        pair.client.close(client);
        pair.server.close(server);
        for _ in 0..80 {
            pair.pass(1000);
        }
        assert_eq!((pair.client.counts().paths, pair.server.counts().paths), (0, 0));
    }
}

/// Without having closed what he asked with first.
#[test]
fn who_was_refused_asks_again_from_the_same_port() {
    for architecture in [Architecture::Layered, Architecture::Integrated] {
        let mut pair = Pair::new(graph(architecture), architecture);
        let from = Participants { local_port: Some(7777), ..Participants::to(SERVER, 80) };
        let refused = pair.client.open("tcp", from.application(9)).unwrap();
        pair.exchange();
        let listener = pair.server.enable("tcp", Participants::at(80).application(9)).unwrap();
        let client = pair.client.open("tcp", from.application(9)).unwrap();
        pair.exchange();
        let server = pair.server.accepted(listener).expect("a connection");
        for closed in [false, true] {
            let why = if closed { StreamError::NoPath } else { StreamError::Closed };
            assert_eq!(pair.client.write(refused, b"?"), Err(why));
            assert_eq!(pair.client.write(client, b"hello"), Ok(5));
            pair.exchange();
            let mut came = Vec::new();
            drain(&mut pair.server, server, &mut came);
            assert_eq!(came, b"hello");
            pair.client.close(refused);
        }
        pair.client.close(client);
        pair.server.close(server);
        for _ in 0..80 {
            pair.pass(1000);
        }
        assert_eq!((pair.client.counts().paths, pair.server.counts().paths), (0, 0));
    }
}

/// A SYN of a host that does not answer.
fn syn(n: u32) -> Vec<u8> {
    segment(n, 0, |tcp| tcp.set_syn(true))
}

/// The same host takes it back.
fn reset(n: u32) -> Vec<u8> {
    segment(n, 1, |tcp| tcp.set_rst(true))
}

fn segment(n: u32, sequence: i32, kind: impl FnOnce(&mut TcpPacket<&mut [u8]>)) -> Vec<u8> {
    let mut frame = vec![0; 54];
    frame[..6].copy_from_slice(&hosts::host(SERVER).hardware.0);
    frame[6..14].copy_from_slice(&[2, 0, 0, 0, 1, 1, 8, 0]);
    let mut ip = Ipv4Packet::new_unchecked(&mut frame[14..]);
    ip.set_version(4);
    ip.set_header_len(20);
    ip.set_total_len(40);
    ip.set_hop_limit(9);
    ip.set_next_header(smoltcp::wire::IpProtocol::Tcp);
    let from = Ipv4Address::from_bits(Ipv4Address::new(10, 0, 0, 3).to_bits() + n % 200);
    ip.set_src_addr(from);
    ip.set_dst_addr(SERVER);
    ip.fill_checksum();
    let mut tcp = TcpPacket::new_unchecked(&mut frame[34..]);
    tcp.set_src_port(1000 + (n / 200) as u16);
    tcp.set_dst_port(80);
    tcp.set_header_len(20);
    tcp.set_seq_number(smoltcp::wire::TcpSeqNumber(sequence));
    kind(&mut tcp);
    tcp.set_window_len(1000);
    tcp.fill_checksum(&from.into(), &SERVER.into());
    frame
}

#[test]
fn a_flood_of_openers_lets_others_in() {
    for architecture in [Architecture::Layered, Architecture::Integrated] {
        let (mut pair, listener) = listening(architecture);
        let (old, server) = connected(&mut pair, listener);
        for n in 0..5000 {
            pair.server.arrive(Message::copied(0, &syn(n)), pair.now);
            while let Some(frame) = pair.server.transmit() {
                pair.server.release(frame);
            }
        }
        let dropped: u64 =
            pair.server.discarded().filter(|(name, _, _)| *name == "tcp").map(|(_, _, count)| count).sum();
        assert_eq!(dropped, 5000 - 1024);
        // Those who were there go on, and those who answer get in.
        pair.client.write(old, b"still here").unwrap();
        pair.exchange();
        let mut came = Vec::new();
        drain(&mut pair.server, server, &mut came);
        assert_eq!(came, b"still here");
        while pair.client.ready().is_some() {}
        let (new, _) = connected(&mut pair, listener);
        assert_eq!(pair.client.write(new, b"let in"), Ok(6));
        // The strangers are forgotten in time.
        for _ in 0..40 {
            pair.pass(1000);
        }
        assert!(pair.server.accepted(listener).is_none());
    }
}

/// Strangers who take their SYNs back, or never answer, leave nothing behind: far more of them than there are paths.
#[test]
fn openers_who_give_up_leave_no_paths() {
    let limits = Limits { paths: 1200, ..Limits::default() };
    for architecture in [Architecture::Layered, Architecture::Integrated] {
        let mut pair = Pair::with(graph(architecture), Config { architecture, limits, ..Config::default() });
        let listener = pair.server.enable("tcp", Participants::at(80)).unwrap();
        let send = |pair: &mut Pair, frame: Vec<u8>| {
            pair.server.arrive(Message::copied(0, &frame), pair.now);
            while let Some(frame) = pair.server.transmit() {
                pair.server.release(frame);
            }
        };
        for n in 0..3000 {
            send(&mut pair, syn(n));
            send(&mut pair, reset(n));
        }
        for round in 0..3 {
            for n in 0..1000 {
                send(&mut pair, syn(round * 1000 + n));
            }
            for _ in 0..40 {
                pair.now += smoltcp::time::Duration::from_secs(1);
                pair.server.tick(pair.now);
                while let Some(frame) = pair.server.transmit() {
                    pair.server.release(frame);
                }
            }
        }
        assert_eq!(pair.server.discarded().filter(|(name, _, _)| *name == "tcp").count(), 0);
        for _ in 0..1000 {
            let (client, server) = connected(&mut pair, listener);
            assert_eq!(pair.client.write(client, b"let in"), Ok(6));
            pair.server.close(server);
            pair.client.close(client);
            pair.exchange();
            while pair.client.ready().is_some() {}
            while pair.server.ready().is_some() {}
        }
    }
}

#[test]
fn segments_are_as_short_as_they_may_be() {
    let mut pair = Pair::narrow(ETH, Config::default(), 68);
    let listener = pair.server.enable("tcp", Participants::at(80)).unwrap();
    let (client, server) = connected(&mut pair, listener);
    let (sent, mut came, mut written) = (data(5000), Vec::new(), 0);
    for _ in 0..1000 {
        written += pair.client.write(client, &sent[written..]).unwrap();
        pair.exchange();
        drain(&mut pair.server, server, &mut came);
        pair.pass(20);
    }
    assert!(came == sent);
    assert!(pair.frames.iter().all(|frame| frame.len() <= 68 + 14));
}

/// A connection to a port of its own, whose number is the application's too, and to which anyone may connect.
fn connected_to_own(pair: &mut Pair, number: u16) -> (PathId, PathId) {
    let id = u32::from(number);
    let listener = pair.server.enable("tcp", Participants::at(number).application(id)).unwrap();
    let client = pair.client.open("tcp", Participants::to(SERVER, number).application(id)).unwrap();
    pair.exchange();
    (client, pair.server.accepted(listener).expect("a connection"))
}

/// So many connections that what frames that arrive together need is fetched ahead: they have the same fate as one after another.
#[test]
fn frames_that_arrive_together() {
    for architecture in Architecture::ALL {
        for bottom in [ETH, ETHDAA] {
            if bottom == ETHDAA || architecture != Architecture::Direct {
                arrive_together(&bottom.replace("tcp(", "tcp(lookup=flow-table, "), architecture);
            }
        }
    }
}

fn arrive_together(description: &str, architecture: Architecture) {
    let fate = |together: bool| {
        let mut pair = Pair::new(description, architecture);
        let paths: Vec<_> = (0..600).map(|n| connected_to_own(&mut pair, 1000 + n)).collect();
        while pair.server.ready().is_some() {}
        let mut frames = Vec::new();
        for (n, (client, _)) in paths.iter().enumerate() {
            pair.client.write(*client, &data(n)).unwrap();
            while let Some(mut frame) = pair.client.transmit() {
                if n % 7 == 3 {
                    let last = frame.len() - 1;
                    frame.bytes_mut()[last] ^= 1;
                }
                frames.push(frame);
            }
        }
        // Too short for a header; twice the same, a connection that is new, and one that nobody has.
        frames.insert(70, Message::copied(0, &frames[70].bytes()[..30]));
        frames.push(Message::copied(0, frames[50].bytes()));
        frames.push(Message::copied(0, &syn(1)));
        frames.push(Message::copied(0, &reset(2)));
        if together {
            pair.server.arrive_all(&mut frames, pair.now);
        } else {
            frames.drain(..).for_each(|frame| pair.server.arrive(frame, pair.now));
        }
        assert!(frames.is_empty());
        let sent = std::iter::from_fn(|| pair.server.transmit().map(|frame| frame.len())).count();
        let mut came = Vec::new();
        for (n, (_, server)) in paths.iter().enumerate() {
            let mut bytes = Vec::new();
            drain(&mut pair.server, *server, &mut bytes);
            assert_eq!(bytes, if n % 7 == 3 { Vec::new() } else { data(n) }, "{n}");
            came.push(bytes);
        }
        let counts: Vec<_> =
            pair.server.discarded().map(|(name, why, count)| (name.to_owned(), why, count)).collect();
        (sent, came, counts)
    };
    assert_eq!(fate(true), fate(false));
}
