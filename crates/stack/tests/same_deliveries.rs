//! Whatever comes, the three architectures deliver the same messages, answer the same, and end in the same state.

mod hosts;

use std::collections::HashSet;

use hosts::{Pair, SERVER, SERVER6, data};
use proptest::prelude::*;
use smoltcp::{
    time::{Duration, Instant},
    wire::IpAddress,
};
use throughline_stack::{
    Aead, Architecture, Config, Discard, Graph, Key, Keys, ListenerId, Message, Participants, PathId, Rate,
    Trouble, Urgency,
};

const IDS: u32 = 3;
const PORTS: u16 = 3;
/// For each version of IP, the description of a graph whose frames name paths, and of one whose frames don't; and of one with
/// both versions. Then such with sealed datagrams.
const GRAPHS: [&str; 7] = [
    "udp(limit=12) > ipv4(limit=12) > ethdaa(limit=12); icmp > ipv4; arp > eth(limit=12)",
    "udp(limit=12) > ipv4(limit=12) > eth(limit=12); icmp > ipv4; arp > eth",
    "udp(limit=12) > ipv6(limit=12) > ethdaa(limit=12); icmp6 > ipv6 > eth(limit=12)",
    "udp(limit=12) > ipv6(limit=12) > eth(limit=12); icmp6 > ipv6",
    "udp(limit=24) > ipv4(limit=12) > eth(limit=12); udp > ipv6(limit=12) > eth; icmp > ipv4; icmp6 > ipv6; arp > eth",
    "sealed(limit=12) > udp(limit=12) > ipv4(limit=12) > ethdaa(limit=12); icmp > ipv4; arp > eth(limit=12)",
    "sealed(limit=24) > udp(limit=24) > ipv4(limit=12) > eth(limit=12); udp > ipv6(limit=12) > eth; icmp > ipv4; icmp6 > ipv6; arp > eth",
];

fn is_sealed(description: &str) -> bool {
    description.starts_with("sealed")
}

/// The protocol that users are above.
fn top(description: &str) -> &'static str {
    if is_sealed(description) { "sealed" } else { "udp" }
}

/// The server's keys for a user of each port and version of IP.
fn keys(port: u16, server: IpAddress) -> Keys {
    let number = 16 * (1 + port as u8) + u8::from(server == SERVER.into());
    let key = |direction| {
        let aead = Aead::ALL[usize::from(port) % 3];
        Key::new(
            (u32::from(number) << 8) + u32::from(direction),
            aead,
            &vec![number + direction; aead.material()],
        )
    };
    Keys::new(key(1).unwrap(), key(2).unwrap()).unwrap()
}

fn with_keys(participants: Participants, description: &str, keys: Keys) -> Participants {
    if is_sealed(description) { participants.sealed(keys) } else { participants }
}

/// What is done to one of the frames that a client would send.
#[derive(Clone, Debug)]
enum Change {
    Nothing,
    /// A byte is another.
    Byte(prop::sample::Index, u8),
    /// One of the 80 first bytes, which are headers mostly, is another.
    Header(usize, u8),
    /// It ends early.
    Cut(prop::sample::Index),
    /// It goes on.
    Longer(usize),
    /// Some of the bytes are another frame's, headers mostly.
    Splice(prop::sample::Index, prop::sample::Index),
    /// Behind the header of IPv6 there is another, perhaps more than once.
    Between(u8, [u8; 7], usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => Just(Change::Nothing),
        1 => (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        4 => (0..80_usize, any::<u8>()).prop_map(|(at, byte)| Change::Header(at, byte)),
        1 => any::<prop::sample::Index>().prop_map(Change::Cut),
        1 => (1..40_usize).prop_map(Change::Longer),
        2 => (any::<prop::sample::Index>(), any::<prop::sample::Index>()).prop_map(|(frame, at)| Change::Splice(frame, at)),
        2 => (prop::sample::select(&[0, 43, 44, 60][..]), header(), 1..12_usize)
            .prop_map(|(kind, rest, times)| Change::Between(kind, rest, times)),
    ]
}

/// What may follow the number of the next header: often something that may be skipped, or a piece.
fn header() -> impl Strategy<Value = [u8; 7]> {
    prop_oneof![
        Just([0, 1, 4, 0, 0, 0, 0]),
        (0..4_u8, 0..3_u8).prop_map(|(at, more)| [0, 0, (8 * at) | more, 0, 0, 0, 9]),
        any::<[u8; 7]>(),
    ]
}

/// A frame with these headers behind that of IPv6, if it has one.
fn lengthened(frame: &[u8], kind: u8, rest: [u8; 7], times: usize) -> Vec<u8> {
    let ip = match frame.get(12..14) {
        Some([0x86, 0xdd]) => 14,
        Some([0x88, 0xb5]) => 22,
        _ => return frame.to_vec(),
    };
    if frame.len() < ip + 40 || frame[ip] >> 4 != 6 {
        return frame.to_vec();
    }
    let mut longer = frame[..ip + 40].to_vec();
    let next = std::mem::replace(&mut longer[ip + 6], kind);
    for number in 0..times {
        longer.push(if number + 1 == times { next } else { kind });
        longer.extend(rest);
    }
    let len = u16::from_be_bytes([longer[ip + 4], longer[ip + 5]]).wrapping_add(8 * times as u16);
    longer[ip + 4..ip + 6].copy_from_slice(&len.to_be_bytes());
    longer.extend(&frame[ip + 40..]);
    longer
}

fn changed(frames: &[Vec<u8>], index: usize, change: &Change) -> Vec<u8> {
    let mut frame = frames[index].clone();
    match change {
        Change::Nothing => {}
        Change::Byte(at, byte) => {
            let at = at.index(frame.len());
            frame[at] = *byte;
        }
        Change::Header(at, byte) => {
            if let Some(place) = frame.get_mut(*at) {
                *place = *byte;
            }
        }
        Change::Cut(at) => frame.truncate(at.index(frame.len())),
        Change::Longer(len) => frame.extend(data(*len)),
        Change::Splice(other, at) => {
            let other = &frames[other.index(frames.len())];
            let at = at.index(frame.len().min(other.len()).min(60));
            let end = frame.len().min(other.len());
            frame[at..end].copy_from_slice(&other[at..end]);
        }
        Change::Between(kind, rest, times) => frame = lengthened(&frame, *kind, *rest, *times),
    }
    frame
}

/// Frames of clients with several ids and ports, datagrams in one and in several pieces, echo requests, and questions for
/// the host's address.
fn frames(description: &str) -> Vec<Vec<u8>> {
    let mut pair = Pair::new(description, Architecture::Layered);
    let names_paths = description.contains("ethdaa");
    let ids = if names_paths { IDS } else { 1 };
    let mut paths = Vec::new();
    for (server, port) in servers(description).flat_map(|server| (0..PORTS).map(move |port| (server, port))) {
        for id in (0..ids).filter(|_| !names_paths || port == 0) {
            let mut to = Participants::to(server, 7 + port).application(id + 1).from_port(1000 + port);
            if is_sealed(description) && names_paths {
                // An id serves one path to each machine, a key one listener.
                (to.remote_port, to.local_port) = (Some(7 + id as u16), Some(1000 + id as u16));
            }
            let keys = keys(to.remote_port.unwrap() - 7, server).reversed();
            paths.push(pair.client.open(top(description), with_keys(to, description, keys)).unwrap());
        }
        if !names_paths && !is_sealed(description) {
            let to = Participants::to(server, 7 + port).from_port(2000 + port);
            paths.push(pair.client.open("udp", to).unwrap());
        }
    }
    for (number, path) in paths.into_iter().enumerate() {
        for len in [0, 5, 1400, 2000, 4000] {
            pair.client.send(path, Message::copied(128, &data(len + number))).unwrap();
            pair.exchange();
        }
    }
    if !names_paths && !is_sealed(description) {
        complaints(&mut pair, description);
    }
    let client = hosts::host(hosts::CLIENT).hardware;
    pair.frames.retain(|frame| frame[6..12] == client.0);
    pair.frames
}

/// Has the client complain of what comes too late: its errors quote what the server sent by each path.
fn complaints(pair: &mut Pair, description: &str) {
    for (server, port) in servers(description).flat_map(|server| (0..PORTS).map(move |port| (server, port))) {
        let client =
            if server == SERVER.into() { hosts::CLIENT.into() } else { IpAddress::from(hosts::CLIENT6) };
        let path = pair.client.open("udp", Participants::to(server, 7 + port).from_port(3000)).unwrap();
        pair.client.send(path, Message::copied(128, b"soon gone")).unwrap();
        pair.exchange();
        pair.client.close(path);
        let to = Participants::to(client, 3000).from_port(7 + port);
        let path = pair.server.open("udp", to).unwrap();
        pair.server.send(path, Message::copied(128, b"too late")).unwrap();
        pair.exchange();
    }
}

/// The server's address of each version of IP that there is.
fn servers(description: &str) -> impl Iterator<Item = IpAddress> {
    let has = |name| description.contains(name);
    let [v4, v6] = [has("ipv4").then_some(SERVER.into()), has("ipv6").then_some(SERVER6.into())];
    v4.into_iter().chain(v6)
}

fn server(description: &str, config: Config) -> (Graph, Vec<ListenerId>) {
    let mut graph = Graph::compose(description, hosts::host(SERVER), config).unwrap();
    let participants = |port: u16| {
        let at = Participants::at(7 + port);
        if description.contains("ethdaa") { at.application(u32::from(port) + 1) } else { at }
    };
    let mut listeners = Vec::new();
    for port in 0..PORTS {
        // A listener hears both versions of IP, a key is one client's.
        for server in servers(description).take(if is_sealed(description) { 2 } else { 1 }) {
            let at = with_keys(participants(port), description, keys(port, server));
            listeners.push(graph.enable(top(description), at).unwrap());
        }
    }
    (graph, listeners)
}

/// What a user gets, and everyone else.
#[derive(Debug, Default)]
struct Outcome {
    delivered: Vec<Vec<u8>>,
    sent: Vec<Vec<u8>>,
    accepted: usize,
    /// In all, since the reasons may differ: another layer may be the first to notice.
    discarded: u64,
    /// What paths were told of their messages.
    troubles: Vec<Trouble>,
    /// Whether some were above the rate. That may be noticed first of all, so it is not compared.
    above_rate: bool,
}

impl PartialEq for Outcome {
    fn eq(&self, other: &Self) -> bool {
        let all = |Self { delivered, sent, accepted, discarded, troubles, .. }: &Self| {
            (delivered.clone(), sent.clone(), *accepted, *discarded, troubles.clone())
        };
        all(self) == all(other)
    }
}

/// The next message's data, taken as it is or moved to a place of the user's.
fn next(graph: &mut Graph, path: PathId, moved: bool) -> Option<Vec<u8>> {
    if moved {
        let mut place = [0; 65_536];
        let (len, ()) = graph.receive_into(path, &(), &mut place).unwrap()?;
        return Some(place[..len].to_vec());
    }
    let message = graph.receive(path)?;
    let data = message.bytes().to_vec();
    graph.release(message);
    Some(data)
}

/// How frames come: with rates that ten frames in a second are beyond, or without; and after how many of them the user takes what
/// there is.
#[derive(Clone, Copy, Debug)]
struct Traffic {
    rates: bool,
    together: usize,
}

const CALM: Traffic = Traffic { rates: false, together: 1 };

fn outcome(
    description: &str,
    (config, moved): (Config, bool),
    frames: &[Vec<u8>],
    Traffic { rates, together }: Traffic,
) -> Outcome {
    let (mut graph, listeners) = server(description, config);
    let mut outcome = Outcome::default();
    let mut now = Instant::ZERO;
    let mut paths = HashSet::new();
    if rates {
        graph.set_listener_rate(listeners[0], Some(Rate { per_second: 2, burst: 3 }));
    }
    // At the end what is incomplete is given up.
    for (number, frame) in frames.iter().map(Some).chain([None; 400]).enumerate() {
        now += Duration::from_millis(100);
        graph.tick(now);
        if let Some(frame) = frame {
            graph.arrive(Message::copied(0, frame), now);
        }
        while graph.run(now) {}
        while (number + 1) % together == 0
            && let Some(path) = graph.ready()
        {
            outcome.troubles.extend(graph.trouble(path));
            if rates && paths.insert(path) {
                graph.set_rate(path, Some(Rate { per_second: 1, burst: 2 }));
            }
            while let Some(data) = next(&mut graph, path, moved) {
                // The answer shows whose message it was thought to be.
                let _ = graph.send(path, Message::copied(128, &data[..data.len().min(9)]));
                outcome.delivered.push(data);
            }
        }
        while let Some(frame) = graph.transmit() {
            outcome.sent.push(frame.bytes().to_vec());
        }
    }
    if together > 1 {
        // Whose turn it is first depends on what is still to be checked.
        outcome.delivered.sort();
        outcome.sent = vec![Vec::new(); outcome.sent.len()];
    }
    outcome.accepted =
        listeners.into_iter().map(|listener| std::iter::from_fn(|| graph.accepted(listener)).count()).sum();
    if together > 1 && is_sealed(description) {
        // Of two copies that came by different ways the one that opens a path is checked first, though the other waits since before.
        outcome.accepted = 0;
    }
    outcome.discarded = graph.discarded().map(|(_, _, count)| count).sum();
    outcome.above_rate = graph.discarded().any(|(_, why, _)| why == Discard::Rate);
    outcome
}

/// One graph for each architecture that can serve, with messages processed at once and in a queue, data checked at once and
/// while it is moved; and whether the user has it moved.
fn configurations(description: &str) -> Vec<(Config, bool)> {
    let serves =
        |architecture: &Architecture| *architecture != Architecture::Direct || description.contains("ethdaa");
    Architecture::ALL
        .into_iter()
        .filter(serves)
        .flat_map(|architecture| {
            let arrival = Some(Urgency::Arrival);
            [(None, true, false), (None, true, true), (arrival, true, true), (arrival, false, true)].map(
                |(scheduling, integrates, moved)| {
                    (Config { architecture, scheduling, integrates, ..Config::default() }, moved)
                },
            )
        })
        .collect()
}

fn all_agree(description: &str, frames: &[Vec<u8>], traffic: Traffic) -> Result<Outcome, TestCaseError> {
    let mut outcomes = configurations(description)
        .into_iter()
        .map(|config| (config, outcome(description, config, frames, traffic)));
    let (_, first) = outcomes.next().unwrap();
    for (config, other) in outcomes {
        prop_assert_eq!(&first, &other, "{:?} differs, {:?}", config, traffic);
    }
    Ok(first)
}

#[test]
fn honest_frames_are_all_delivered() {
    for description in GRAPHS {
        let frames = frames(description);
        let outcome = all_agree(description, &frames, CALM).unwrap();
        let few = description.contains("ethdaa") || is_sealed(description);
        let (paths, gone) = if few { (3, 0) } else { (6, 3) };
        let accepted = servers(description).count() * (paths + gone);
        let delivered = servers(description).count() * (5 * paths + gone);
        assert_eq!((outcome.accepted, outcome.delivered.len()), (accepted, delivered), "{outcome:?}");
        assert_eq!(outcome.troubles, vec![Trouble::NoPort; servers(description).count() * gone]);
        assert_eq!(outcome.discarded, 0);
    }
}

#[test]
fn what_is_above_the_rate_is_delivered_nowhere() {
    for description in GRAPHS {
        let frames = frames(description);
        let all = all_agree(description, &frames, CALM).unwrap();
        let outcome = all_agree(description, &frames, Traffic { rates: true, ..CALM }).unwrap();
        let delivered = outcome.delivered.len();
        assert!(outcome.above_rate && (6..all.delivered.len()).contains(&delivered), "{outcome:?}");
        assert_eq!(outcome.discarded as usize, all.delivered.len() - delivered, "each counted once");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(std::env::var("PROPTEST_CASES").map_or(48, |cases| cases.parse().unwrap_or(48))))]

    #[test]
    fn changed_frames_have_the_same_fate(
        picked in prop::collection::vec((any::<prop::sample::Index>(), change()), 1..120),
        graph in 0..GRAPHS.len(),
        rates in any::<bool>(),
        together in 1..6_usize,
    ) {
        let honest = frames(GRAPHS[graph]);
        let frames: Vec<_> = picked.iter().map(|(frame, change)| changed(&honest, frame.index(honest.len()), change)).collect();
        all_agree(GRAPHS[graph], &frames, Traffic { rates, together })?;
    }

    #[test]
    fn bytes_are_no_harm(frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..50), graph in 0..GRAPHS.len()) {
        all_agree(GRAPHS[graph], &frames, CALM)?;
    }
}
