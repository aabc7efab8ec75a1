//! Calls: each is executed at most once, whatever becomes of its messages.

mod hosts;

use hosts::{CLIENT, Pair, SERVER, data};
use smoltcp::time::{Duration, Instant};
use throughline_stack::{
    Architecture, Config, Discard, Graph, ListenerId, Message, Participants, PathId, SendError, Trouble,
};

const ETH: &str = "rpc > ipv4 > eth; arp > eth";
const ETHDAA: &str = "rpc > ipv4 > ethdaa; arp > eth";
const PROGRAM: u16 = 99;

fn graph(architecture: Architecture) -> &'static str {
    if architecture == Architecture::Direct { ETHDAA } else { ETH }
}

fn serving(architecture: Architecture) -> (Pair, ListenerId) {
    let mut pair = Pair::new(graph(architecture), architecture);
    let listener = enable(&mut pair.server);
    (pair, listener)
}

fn enable(server: &mut Graph) -> ListenerId {
    server.enable("rpc", Participants::at(PROGRAM).application(9)).unwrap()
}

fn open(client: &mut Graph) -> PathId {
    client.open("rpc", Participants::to(SERVER, PROGRAM).from_port(5).application(9)).unwrap()
}

fn send(graph: &mut Graph, path: PathId, data: &[u8]) -> Result<(), SendError> {
    graph.send(path, Message::copied(128, data))
}

fn received(graph: &mut Graph, path: PathId) -> Option<Vec<u8>> {
    let message = graph.receive(path)?;
    let data = message.bytes().to_vec();
    graph.release(message);
    Some(data)
}

/// Answers what has come with the same and a mark; returns it.
fn serve(server: &mut Graph) -> Vec<Vec<u8>> {
    let mut served = Vec::new();
    while let Some(path) = server.ready() {
        while let Some(request) = received(server, path) {
            send(server, path, &[&request[..], b"!"].concat()).unwrap();
            served.push(request);
        }
    }
    served
}

fn count(graph: &Graph, reason: Discard) -> u64 {
    graph.discarded().filter(|(name, why, _)| *name == "rpc" && *why == reason).map(|(.., count)| count).sum()
}

#[test]
fn a_reply_for_each_request() {
    for architecture in Architecture::ALL {
        let (mut pair, listener) = serving(architecture);
        let path = open(&mut pair.client);
        for len in [0, 1, 100, 1464, 1465, 9000, 60_000] {
            let request = data(len);
            send(&mut pair.client, path, &request).unwrap();
            assert_eq!(send(&mut pair.client, path, b"early"), Err(SendError::Busy));
            pair.exchange();
            assert!(serve(&mut pair.server) == [&request[..]]);
            pair.exchange();
            let reply = received(&mut pair.client, path).unwrap();
            assert!(reply.len() == len + 1 && reply.starts_with(&request));
            pair.pass(1);
        }
        let server = pair.server.accepted(listener).unwrap();
        assert!(pair.server.accepted(listener).is_none());
        assert_eq!(pair.server.addresses(server), Some((SERVER.into(), CLIENT.into())));
        assert_eq!(send(&mut pair.server, server, b"unasked"), Err(SendError::NoCall));
        assert_eq!(count(&pair.client, Discard::Duplicate) + count(&pair.server, Discard::Duplicate), 0);
    }
}

/// A wire that loses, doubles and delays, by a seed.
struct Wire {
    random: u64,
    under_way: Vec<(Instant, bool, Vec<u8>)>,
}

impl Wire {
    fn one_in(&mut self, n: u64) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random.is_multiple_of(n)
    }

    fn put(&mut self, now: Instant, to_server: bool, frame: &[u8]) {
        // Neighbours are asked for again after a second only: that is another protocol's test.
        let is_call = frame[12..14] != [8, 6];
        while !(is_call && self.one_in(10)) {
            let late = if is_call && self.one_in(4) { self.random % 700 } else { 1 };
            self.under_way.push((now + Duration::from_millis(late), to_server, frame.to_vec()));
            if !(is_call && self.one_in(10)) {
                break;
            }
        }
    }

    fn carry(&mut self, pair: &mut Pair) {
        while let Some(frame) = pair.client.transmit() {
            self.put(pair.now, true, frame.bytes());
        }
        while let Some(frame) = pair.server.transmit() {
            self.put(pair.now, false, frame.bytes());
        }
        let now = pair.now;
        for (_, to_server, frame) in self.under_way.extract_if(.., |(due, ..)| *due <= now) {
            let graph = if to_server { &mut pair.server } else { &mut pair.client };
            graph.arrive(Message::copied(0, &frame), now);
        }
    }
}

#[test]
fn each_call_is_executed_once_on_a_bad_wire() {
    for (architecture, seed) in Architecture::ALL.into_iter().flat_map(|it| [(it, 1), (it, 77)]) {
        let (mut pair, _) = serving(architecture);
        let mut wire = Wire { random: seed, under_way: Vec::new() };
        let path = open(&mut pair.client);
        let mut executed = Vec::new();
        for n in 0..700_u32 {
            send(&mut pair.client, path, &n.to_be_bytes()).unwrap();
            let reply = loop {
                wire.carry(&mut pair);
                executed.extend(serve(&mut pair.server));
                if let Some(reply) = received(&mut pair.client, path) {
                    break reply;
                }
                assert_eq!(pair.client.trouble(path), None, "call {n}");
                pair.now += Duration::from_millis(1);
                pair.client.tick(pair.now);
                pair.server.tick(pair.now);
            };
            assert_eq!(reply, [&n.to_be_bytes()[..], b"!"].concat());
        }
        let expected: Vec<_> = (0..700_u32).map(|n| n.to_be_bytes().to_vec()).collect();
        assert!(executed == expected, "{architecture:?} {seed}: {} executed", executed.len());
        assert!(count(&pair.server, Discard::Duplicate) > 50);
    }
}

#[test]
fn a_server_that_works_long_is_waited_for() {
    let (mut pair, listener) = serving(Architecture::Layered);
    let path = open(&mut pair.client);
    send(&mut pair.client, path, b"long").unwrap();
    for _ in 0..600 {
        pair.pass(100);
    }
    assert_eq!(pair.client.trouble(path), None);
    let server = pair.server.accepted(listener).unwrap();
    assert_eq!(received(&mut pair.server, server).as_deref(), Some(&b"long"[..]));
    assert!(received(&mut pair.server, server).is_none());
    send(&mut pair.server, server, b"done").unwrap();
    pair.exchange();
    assert_eq!(received(&mut pair.client, path).as_deref(), Some(&b"done"[..]));
    // About one question in two seconds.
    assert!(
        (20..60).contains(&count(&pair.server, Discard::Duplicate)),
        "{:?}",
        pair.server.discarded().collect::<Vec<_>>()
    );
}

/// What counts is when it was done, not when it was begun: whoever waits has just asked again.
#[test]
fn a_call_that_took_long_is_remembered_when_it_is_done() {
    for answers in [true, false] {
        let (mut pair, listener) = serving(Architecture::Layered);
        let path = open(&mut pair.client);
        send(&mut pair.client, path, b"long").unwrap();
        for _ in 0..700 {
            pair.pass(100);
        }
        let server = pair.server.accepted(listener).unwrap();
        assert_eq!(received(&mut pair.server, server).as_deref(), Some(&b"long"[..]));
        match answers {
            true => send(&mut pair.server, server, b"done").unwrap(),
            false => pair.server.close(server),
        }
        // The reply is lost.
        while pair.server.transmit().is_some() {}
        let mut passed = 0;
        while pair.client.ready().is_none() && passed < 30_000 {
            pair.pass(100);
            passed += 100;
            assert!(serve(&mut pair.server).is_empty(), "executed twice, after {passed} ms");
        }
        let (answer, trouble) = (received(&mut pair.client, path), pair.client.trouble(path));
        match answers {
            true => assert_eq!((answer.as_deref(), trouble), (Some(&b"done"[..]), None)),
            false => assert_eq!((answer, trouble), (None, Some(Trouble::Unanswered))),
        }
    }
}

#[test]
fn who_is_not_answered_is_told() {
    let mut pair = Pair::new(ETH, Architecture::Layered);
    let path = open(&mut pair.client);
    send(&mut pair.client, path, b"hello?").unwrap();
    let mut passed = 0;
    while pair.client.ready().is_none() {
        pair.pass(100);
        passed += 100;
        assert!(passed < 60_000);
    }
    assert_eq!(pair.client.trouble(path), Some(Trouble::Unanswered));
    assert_eq!(pair.client.trouble(path), None);
    assert!(passed > 5000, "{passed} ms");
    assert_eq!(count(&pair.server, Discard::NoPort), 8);
    // A later call of the same channel goes through, once somebody serves.
    enable(&mut pair.server);
    send(&mut pair.client, path, b"now").unwrap();
    pair.exchange();
    assert_eq!(serve(&mut pair.server), [b"now"]);
}

/// The frames that a client sends for one call, and the reply's.
fn call(pair: &mut Pair, path: PathId, request: &[u8]) -> Vec<u8> {
    let before = pair.frames.len();
    send(&mut pair.client, path, request).unwrap();
    pair.exchange();
    assert_eq!(serve(&mut pair.server), [request]);
    pair.exchange();
    assert!(received(&mut pair.client, path).is_some());
    let is_call = |frame: &&Vec<u8>| frame[12..14] != [8, 6] && frame[5] == SERVER.octets()[3];
    pair.frames[before..].iter().find(is_call).cloned().unwrap()
}

fn again(pair: &mut Pair, frame: &[u8]) {
    pair.server.arrive(Message::copied(0, frame), pair.now);
}

#[test]
fn copies_that_come_late_are_not_executed() {
    let (mut pair, listener) = serving(Architecture::Integrated);
    let path = open(&mut pair.client);
    let first = call(&mut pair, path, b"first");
    let second = call(&mut pair, path, b"second");
    again(&mut pair, &first);
    assert!(pair.server.transmit().is_none());
    again(&mut pair, &second);
    assert!(pair.server.transmit().is_some());
    assert_eq!(count(&pair.server, Discard::Duplicate), 2);
    // Neither when the user has closed the channel, nor when the client has begun anew.
    let server = pair.server.accepted(listener).unwrap();
    pair.server.close(server);
    again(&mut pair, &second);
    again(&mut pair, &first);
    assert!(pair.server.accepted(listener).is_none());
    assert_eq!(count(&pair.server, Discard::Duplicate), 4);
    pair.client = Graph::compose(ETH, hosts::host(CLIENT), Config::default()).unwrap();
    let path = open(&mut pair.client);
    let third = call(&mut pair, path, b"third");
    let server = pair.server.accepted(listener).unwrap();
    for frame in [&first, &second] {
        again(&mut pair, frame);
        assert!(received(&mut pair.server, server).is_none());
    }
    // It is forgotten in time, and its path with it.
    for _ in 0..62 {
        pair.pass(1000);
    }
    assert_eq!(send(&mut pair.server, server, b"?"), Err(SendError::NoPath));
    again(&mut pair, &third);
    assert_eq!(serve(&mut pair.server), [b"third"], "{:?}", pair.server.discarded().collect::<Vec<_>>());
}

#[test]
fn strangers_take_a_bounded_amount_and_nobodys_place() {
    for architecture in [Architecture::Layered, Architecture::Integrated] {
        let mut pair = Pair::new("rpc(limit=50) > ipv4 > eth; arp > eth", architecture);
        enable(&mut pair.server);
        let path = open(&mut pair.client);
        call(&mut pair, path, b"mine");
        let strangers = |pair: &mut Pair| {
            for port in 100..400 {
                let to = Participants::to(SERVER, PROGRAM).from_port(port);
                // The client has no more than 50 either.
                let Ok(other) = pair.client.open("rpc", to) else { continue };
                send(&mut pair.client, other, b"flood").unwrap();
                pair.exchange();
                serve(&mut pair.server);
                pair.exchange();
                pair.client.close(other);
            }
        };
        strangers(&mut pair);
        assert!(count(&pair.server, Discard::Sessions) > 200);
        call(&mut pair, path, b"still mine");
        for _ in 0..62 {
            pair.pass(1000);
        }
        let refused = count(&pair.server, Discard::Sessions);
        let other = pair.client.open("rpc", Participants::to(SERVER, PROGRAM).from_port(1000)).unwrap();
        call(&mut pair, other, b"let in");
        assert_eq!(count(&pair.server, Discard::Sessions), refused);
    }
}

#[test]
fn bent_calls_are_counted_and_harm_nobody() {
    for architecture in Architecture::ALL {
        let (mut pair, _) = serving(architecture);
        let path = open(&mut pair.client);
        let good = call(&mut pair, path, b"good");
        // What Ethernet says is not covered by any sum.
        let first = good.len() - 16 - 4;
        for at in first..good.len() {
            for bit in 0..8 {
                let mut bent = good.clone();
                bent[at] ^= 1 << bit;
                again(&mut pair, &bent);
                pair.server.run(pair.now);
                assert!(serve(&mut pair.server).is_empty(), "byte {at}, bit {bit}");
            }
        }
        for len in 34..good.len() {
            again(&mut pair, &good[..len]);
            assert!(serve(&mut pair.server).is_empty());
        }
        call(&mut pair, path, b"good again");
    }
}
