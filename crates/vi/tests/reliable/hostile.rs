//! Strangers, and peers who mean harm.

use std::time::Duration;

use proptest::prelude::*;
use throughline_vi::reliable::{
    Config, Connection, Ecn, EndpointConfig, Event, Handled, Level, Reason,
    frame::{AckHeader, Datagram, FrameWriter, Header, Opening, RESET, Reset, Route, SegmentHeader},
};

use crate::{
    link::{Conditions, Random},
    world::{CLIENT, SERVER, World},
};

const NOW: Duration = Duration::from_secs(1);

fn opening_of(connection: u64, octets: usize) -> Vec<u8> {
    let mut buffer = vec![0; 1_500];
    let header = Header {
        route: Route { connection, from_opener: true },
        elicits: true,
        number: 77,
        credit: 1_000,
        completed: 0,
        floor: 0,
        promise: 0,
    };
    let mut frame = FrameWriter::new(&mut buffer, &header);
    frame.open(&Opening { level: Level::Delivery, name: b"name" });
    let segment = SegmentHeader { message: 0, offset: 0, total: octets as u32, immediate: None };
    frame.segment(&segment, octets, |_| ());
    let length = frame.finish();
    buffer.truncate(length);
    buffer
}

/// An address that only sent an opening, which anyone can do in its name, gets no more than three times as much.
#[test]
fn strangers_cannot_have_others_flooded() {
    let mut world = World::new(Config::data_center(), Conditions::PERFECT, 5);
    world.on_accept = Box::new(|server| {
        server.post_receive(vec![0; 1_000]).unwrap();
        (0..100).for_each(|_| server.post_send(vec![1; 100_000], None).unwrap());
    });
    let opening = opening_of(42, 100);
    // Nothing of what the server sends arrives anywhere.
    world.links[SERVER].conditions.mtu = 0;
    world.deliver(SERVER, CLIENT, Ecn::NotCapable, &opening);
    let mut sent = 0;
    let mut buffer = vec![0; 65_536];
    while world.now < Duration::from_secs(60) {
        while let Some((_, transmit)) = world.ends[SERVER].transmit(world.now, &mut buffer) {
            sent += transmit.length;
        }
        let Some(next) = world.ends[SERVER].timeout() else { break };
        assert!(next > world.now, "timeouts make progress");
        world.now = next;
        world.ends[SERVER].handle_timeout(world.now);
        world.events(SERVER);
    }
    assert!(sent <= 3 * opening.len(), "{sent} octets for {}", opening.len());
}

#[test]
fn openings_cost_no_more_than_the_limit_of_connections() {
    let limits = EndpointConfig { max_connections: 100, ..EndpointConfig::default() };
    let mut world = World::with_endpoints(Config::data_center(), Conditions::PERFECT, 5, limits);
    for id in 0..10_000 {
        // All with the same lower bits.
        world.deliver(SERVER, CLIENT, Ecn::NotCapable, &opening_of(id << 32, 10));
    }
    assert_eq!(world.ends[SERVER].len(), 100);
}

/// Whoever opens in the names of others fills only so many places, and not for long.
#[test]
fn half_open_connections_are_few_and_end() {
    let limits = EndpointConfig { max_half_open: 10, ..EndpointConfig::default() };
    let mut world = World::with_endpoints(Config::data_center(), Conditions::PERFECT, 5, limits);
    // Nothing of what the server sends arrives anywhere.
    world.links[SERVER].conditions.mtu = 0;
    for id in 0..1_000 {
        world.deliver(SERVER, CLIENT, Ecn::NotCapable, &opening_of(id, 10));
    }
    assert_eq!(world.ends[SERVER].len(), 10);
    assert!(!world.ends[SERVER].has_room_for_opening());
    let end = world.now + Duration::from_secs(10);
    world.run_until(end, |_, _, _, _| ());
    assert_eq!(world.ends[SERVER].len(), 0);

    // Those who answer are not counted.
    world.links[SERVER].conditions.mtu = 1_472;
    let slots: Vec<_> = (0..30).map(|_| world.open(Level::Delivery)).collect();
    let end = world.now + EndpointConfig::default().linger;
    world.run_until(end, |_, _, _, _| ());
    world.ends[SERVER].handle_timeout(end);
    assert_eq!((world.ends[SERVER].len(), slots.len()), (30, 30));
    assert!(world.ends[SERVER].has_room_for_opening());
}

/// A frame of a stranger's that acknowledges nothing.
fn frame_of(connection: u64, number: u64, elicits: bool, refused: bool) -> Vec<u8> {
    let route = Route { connection, from_opener: true };
    let header = Header { route, elicits, number, credit: 1_000, completed: 0, floor: 0, promise: 0 };
    let mut buffer = vec![0; 100];
    let mut frame = FrameWriter::new(&mut buffer, &header);
    if refused {
        frame.refused();
    }
    let length = frame.finish();
    buffer.truncate(length);
    buffer
}

/// Whatever he says meanwhile: that nothing is under way to him is no reason to wait for him.
#[test]
fn who_never_shows_that_he_is_there_does_not_stay_half_open() {
    let mut world = World::new(Config::data_center(), Conditions::PERFECT, 5);
    world.on_accept = Box::new(|server| server.post_receive(vec![0; 100]).unwrap());
    world.links[SERVER].conditions.mtu = 0;
    for id in 0..10 {
        world.deliver(SERVER, CLIENT, Ecn::NotCapable, &opening_of(id, 10));
        world.deliver(SERVER, CLIENT, Ecn::NotCapable, &frame_of(id, 78, true, true));
        world.flush(SERVER);
    }
    // He has room again, and asks for nothing.
    world.now += Duration::from_millis(3);
    for id in 0..10 {
        world.deliver(SERVER, CLIENT, Ecn::NotCapable, &frame_of(id, 79, false, false));
    }
    assert_eq!(world.ends[SERVER].len(), 10);
    let end = world.now + Duration::from_secs(60);
    world.run_until(end, |_, _, _, _| ());
    assert_eq!(world.ends[SERVER].len(), 0);
}

/// Nor does he by saying again and again what needs no answer.
#[test]
fn who_talks_and_never_listens_does_not_stay_half_open() {
    let mut world = World::new(Config::data_center(), Conditions::PERFECT, 5);
    world.links[SERVER].conditions.mtu = 0;
    world.deliver(SERVER, CLIENT, Ecn::NotCapable, &opening_of(42, 10));
    for second in 1..30 {
        world.run_until(NOW + Duration::from_secs(second), |_, _, _, _| ());
        world.deliver(SERVER, CLIENT, Ecn::NotCapable, &frame_of(42, 77 + second, true, false));
    }
    assert_eq!(world.ends[SERVER].len(), 0);
}

/// When all that may be sent to a stranger has been, there is nothing to wait for but him.
#[test]
fn what_may_not_be_sent_to_a_stranger_is_not_tried_again_and_again() {
    let mut world = World::new(Config::internet(), Conditions::PERFECT, 5);
    world.on_accept = Box::new(|server| {
        server.post_receive(vec![0; 1_000]).unwrap();
        (0..20).for_each(|_| server.post_send(vec![1; 1_000], None).unwrap());
    });
    world.links[SERVER].conditions.mtu = 0;
    // More than a window may be sent, and not much more.
    (0..5).for_each(|_| {
        world.deliver(SERVER, CLIENT, Ecn::NotCapable, &opening_of(42, 1_000));
    });
    let pass = |world: &mut World| {
        world.flush(SERVER);
        let next = world.ends[SERVER].timeout().expect("the stranger is waited for");
        assert!(next > world.now, "{next:?} is over at {:?}", world.now);
        world.now = next;
        world.ends[SERVER].handle_timeout(next);
    };
    (0..3).for_each(|_| pass(&mut world));
    // Nothing is under way any more.
    world.deliver(SERVER, CLIENT, Ecn::NotCapable, &frame_of(42, 78, false, true));
    world.deliver(SERVER, CLIENT, Ecn::NotCapable, &frame_of(42, 79, false, false));
    (0..3).for_each(|_| pass(&mut world));
    assert_eq!(world.ends[SERVER].len(), 1);
}

/// How many of the frames that an end has to send now are to be acknowledged, which it remembers until they are.
fn eliciting(end: &mut Plain, now: Duration) -> usize {
    let mut buffer = [0; 1_500];
    let frames = std::iter::from_fn(|| {
        let length = end.transmit(now, &mut buffer)?.length;
        let Ok(Datagram::Frame(frame)) = Datagram::parse(&buffer[..length]) else { return Some(false) };
        Some(frame.header.elicits)
    });
    frames.filter(|elicits| *elicits).count()
}

/// What is remembered of a stranger does not grow with what he sends.
#[test]
fn strangers_are_not_asked_again_with_every_frame() {
    let route = Route { connection: 9, from_opener: true };
    let opening = Opening { level: Level::Delivery, name: b"" };
    let mut server = Plain::accept(&Config::data_center(), route, &opening, 1, NOW);
    let mut asked = 0;
    for _ in 0..10_000 {
        let frame = frame_of(9, 77, true, false);
        server.handle(NOW, Ecn::NotCapable, &Datagram::parse(&frame).unwrap(), frame.len());
        asked += eliciting(&mut server, NOW);
    }
    assert!(asked < 10, "{asked} frames are remembered");
}

/// A peer that takes part in the connection, but acknowledges nothing any more, has no more remembered than others.
#[test]
fn what_is_remembered_for_who_acknowledges_nothing_is_bounded() {
    const MOST: usize = 1 << 15;
    let opening = Opening { level: Level::Delivery, name: b"" };
    let route = Route { connection: 9, from_opener: true };
    let mut server = Plain::accept(&Config::data_center(), route, &opening, 0, NOW);
    (0..2).for_each(|_| server.post_receive(vec![0; 10]).unwrap());
    let mut buffer = vec![0; 200];
    // In turn messages, each of which makes room for another one, and timeouts.
    let mut handle = |server: &mut Plain, now, number: u64, message: Option<u64>| {
        let header = Header { route, elicits: true, number, credit: 9, completed: 0, floor: 0, promise: 0 };
        let mut frame = FrameWriter::new(&mut buffer, &header);
        let first = AckHeader { largest: 0, delay: 0, marked: 0, ecn: false, first: 0 };
        frame.acknowledge(&first, std::iter::once(0..1));
        if let Some(message) = message {
            let header = SegmentHeader { message: message as u32, offset: 0, total: 1, immediate: None };
            frame.segment(&header, 1, |_| ());
        }
        let length = frame.finish();
        server.handle(now, Ecn::NotCapable, &Datagram::parse(&buffer[..length]).unwrap(), length);
        while let Some(event) = server.event() {
            let Event::Received(buffer, Ok(_)) = event else { panic!("{event:?}") };
            server.post_receive(buffer).unwrap();
        }
    };
    let opens = frame_of(9, 1, true, false);
    server.handle(NOW, Ecn::NotCapable, &Datagram::parse(&opens).unwrap(), opens.len());
    let (mut asked, mut now, mut number) = (eliciting(&mut server, NOW), NOW, 1);
    let messages = (0..2 * MOST as u64).map(Some);
    for message in messages.chain(std::iter::repeat_n(None, 2_000)) {
        number += 1;
        handle(&mut server, now, number, message);
        asked += eliciting(&mut server, now);
        if message.is_none() {
            now = server.timeout().expect("what is under way is waited for").max(now);
            server.handle_timeout(now);
            asked += eliciting(&mut server, now);
        }
    }
    assert!(server.is_verified() && server.broken().is_none());
    assert!(asked <= MOST + 1, "{asked} frames are remembered");
}

/// While others hold all places in the names of those who do not answer, whoever does answer gets in at once.
#[test]
fn who_is_where_he_says_gets_in_beside_those_who_are_not() {
    let limits = EndpointConfig { max_half_open: 10, ..EndpointConfig::default() };
    let mut world = World::with_endpoints(Config::data_center(), Conditions::PERFECT, 5, limits);
    world.on_accept = Box::new(|server| server.post_receive(vec![0; 100]).unwrap());
    world.links[SERVER].conditions.mtu = 0;
    for id in 0..1_000 {
        world.deliver(SERVER, CLIENT, Ecn::NotCapable, &opening_of(id, 10));
        world.flush(SERVER);
    }
    assert!(!world.ends[SERVER].has_room_for_opening());
    let places = world.ends[SERVER].len();

    world.links[SERVER].conditions.mtu = 1_472;
    let (start, client) = (world.now, world.open(Level::Delivery));
    world.connection(CLIENT, client).post_send(b"honest".to_vec(), None).unwrap();
    let mut arrived = Vec::new();
    world.run_until(start + Duration::from_millis(20), |_, side, _, event| match event {
        Event::Received(message, Ok(_)) if side == SERVER && message[0] != 0 => arrived.push(message),
        Event::Broken(broken) if side == CLIENT => panic!("{broken}"),
        _ => {}
    });
    assert!(arrived.len() == 1 && arrived[0].starts_with(b"honest"));
    assert_eq!(world.ends[SERVER].len(), places + 1);
    assert!(!world.ends[SERVER].has_room_for_opening());
    assert!(world.connection(CLIENT, client).broken().is_none());
}

/// Who ends what he opened in the names of others has as many places as who does not.
#[test]
fn half_open_connections_that_have_ended_are_few_as_well() {
    let limits = EndpointConfig { max_connections: 100, max_half_open: 10, ..EndpointConfig::default() };
    let linger = limits.linger;
    let mut world = World::with_endpoints(Config::data_center(), Conditions::PERFECT, 5, limits);
    world.links[SERVER].conditions.mtu = 0;
    for id in 0..1_000 {
        world.deliver(SERVER, CLIENT, Ecn::NotCapable, &opening_of(id, 10));
        let route = Route { connection: id, from_opener: true };
        let mut end = [0; RESET];
        Reset { route, reason: Reason::Refused, messages: 0 }.write(&mut end);
        world.deliver(SERVER, CLIENT, Ecn::NotCapable, &end);
        world.events(SERVER);
        world.flush(SERVER);
    }
    assert!(world.ends[SERVER].is_empty() && !world.ends[SERVER].has_room_for_opening());
    // There are places for those who show that they are there, and for the others in the end.
    world.links[SERVER].conditions.mtu = 1_472;
    let client = world.open(Level::Delivery);
    let end = world.now + Duration::from_millis(20);
    world.run_until(end, |_, _, _, _| ());
    assert!(world.connection(CLIENT, client).broken().is_none() && world.ends[SERVER].len() == 1);
    world.now += linger;
    world.deliver(SERVER, CLIENT, Ecn::NotCapable, &opening_of(1_000, 10));
    assert_eq!(world.ends[SERVER].len(), 2);
}

/// A cookie is good for the one who got it, and for the connection that it was asked for.
#[test]
fn cookies_of_others_are_worth_nothing() {
    let limits = EndpointConfig { max_half_open: 0, ..EndpointConfig::default() };
    let mut world = World::with_endpoints(Config::data_center(), Conditions::PERFECT, 5, limits);
    let mut buffer = vec![0; 1_500];
    let opening = opening_of(1, 10);
    assert_eq!(world.deliver(SERVER, CLIENT, Ecn::NotCapable, &opening), Handled::Nobody);
    let (_, transmit) = world.ends[SERVER].transmit(world.now, &mut buffer).unwrap();
    let Ok(Datagram::Retry(retry)) = Datagram::parse(&buffer[..transmit.length]) else { panic!("no retry") };
    assert!(transmit.length < opening.len() && !retry.route.from_opener);
    let mut with_cookie = |from, connection, cookie| {
        let route = Route { connection, from_opener: true };
        let header =
            Header { route, elicits: true, number: 1, credit: 0, completed: 0, floor: 0, promise: 0 };
        let mut frame = FrameWriter::new(&mut buffer, &header);
        frame.open(&Opening { level: Level::Delivery, name: b"name" });
        frame.cookie(cookie);
        let length = frame.finish();
        world.ends[SERVER].handle(world.now, from, Ecn::NotCapable, &buffer[..length])
    };
    assert_eq!(with_cookie(CLIENT, 1, retry.cookie ^ 1), Handled::Nobody);
    assert_eq!(with_cookie(CLIENT, 2, retry.cookie), Handled::Nobody);
    assert_eq!(with_cookie(CLIENT + 7, 1, retry.cookie), Handled::Nobody);
    let Handled::Incoming(incoming) = with_cookie(CLIENT, 1, retry.cookie) else { panic!("not believed") };
    assert!(incoming.is_proved());
}

#[test]
fn frames_for_nobody_are_answered_with_few_and_short_resets() {
    let mut world = World::new(Config::data_center(), Conditions::PERFECT, 5);
    let mut buffer = vec![0; 1_500];
    for connection in 0..1_000 {
        let route = Route { connection, from_opener: false };
        let header =
            Header { route, elicits: true, number: 1, credit: 0, completed: 0, floor: 0, promise: 0 };
        let length = FrameWriter::new(&mut buffer, &header).finish();
        let frame = buffer[..length].to_vec();
        assert_eq!(world.deliver(CLIENT, SERVER, Ecn::NotCapable, &frame), Handled::Nobody);
    }
    let mut resets = 0;
    while let Some((_, transmit)) = world.ends[CLIENT].transmit(world.now, &mut buffer) {
        let Ok(Datagram::Reset(reset)) = Datagram::parse(&buffer[..transmit.length]) else { panic!() };
        assert!(reset.route.from_opener && transmit.length <= 36);
        // Nor are they answered.
        let reset = buffer[..transmit.length].to_vec();
        assert_eq!(world.deliver(SERVER, CLIENT, Ecn::NotCapable, &reset), Handled::Nobody);
        assert!(world.ends[SERVER].transmit(world.now, &mut vec![0; 1_500]).is_none());
        resets += 1;
    }
    assert!((1..=64).contains(&resets), "{resets}");
}

#[test]
fn other_addresses_are_not_believed() {
    let mut world = World::new(Config::data_center(), Conditions::PERFECT, 5);
    world.on_accept = Box::new(|server| server.post_receive(vec![0; 1_000]).unwrap());
    assert!(matches!(
        world.deliver(SERVER, CLIENT, Ecn::NotCapable, &opening_of(42, 100)),
        Handled::Connection(_)
    ));
    assert_eq!(world.ends[SERVER].handle(NOW, 7, Ecn::NotCapable, &opening_of(42, 100)), Handled::Nobody);
}

type Plain = Connection<Vec<u8>, Vec<u8>>;

/// A server that was opened, has sends and receives outstanding, and answered once.
fn server(random: u64) -> Plain {
    let opening = Opening { level: Level::Reception, name: b"" };
    let route = Route { connection: 9, from_opener: true };
    let mut server = Plain::accept(&Config::data_center(), route, &opening, random, NOW);
    for _ in 0..20 {
        server.post_send(vec![1; 5_000], None).unwrap();
        server.post_receive(vec![0; 1_000]).unwrap();
    }
    let first = opening_of(9, 100);
    server.handle(NOW, Ecn::NotCapable, &Datagram::parse(&first).unwrap(), 100_000);
    let mut buffer = [0; 1_500];
    while server.transmit(NOW, &mut buffer).is_some() {}
    assert!(matches!(server.event(), Some(Event::Received(_, Ok(_)))));
    server.post_receive(vec![0; 1_000]).unwrap();
    server
}

#[test]
fn packets_that_were_never_sent_cannot_be_acknowledged() {
    let mut server = server(1 << 40);
    let mut buffer = [0; 1_500];
    let mut random = Random(3);
    for _ in 0..10_000 {
        let route = Route { connection: 9, from_opener: true };
        let header =
            Header { route, elicits: false, number: 80, credit: 9, completed: 0, floor: 0, promise: 0 };
        let mut frame = FrameWriter::new(&mut buffer, &header);
        let largest = random.below(1 << 61);
        let ack = AckHeader { largest, delay: 0, marked: 0, ecn: false, first: 0 };
        frame.acknowledge(&ack, std::iter::once(largest.saturating_sub(60_000)..largest + 1));
        let length = frame.finish();
        server.handle(NOW, Ecn::NotCapable, &Datagram::parse(&buffer[..length]).unwrap(), 0);
        assert_eq!(server.event(), None);
    }
}

#[derive(Clone, Debug)]
struct Strange {
    numbers: (u64, u32, u32, u16, u16),
    elicits: bool,
    ack: Option<(u64, u16, u32, u32)>,
    segments: Vec<(u32, u32, u32, usize)>,
    later: u32,
}

fn strange() -> impl Strategy<Value = Strange> {
    let near = prop_oneof![0u64..200, Just((1 << 62) - 1), (1u64 << 40)..(1 << 40) + 100];
    let count = || prop_oneof![0u32..50, any::<u32>()];
    let numbers = (near.clone(), count(), count(), any::<u16>(), any::<u16>());
    let ack = proptest::option::of((near, 1u16..1_000, any::<u32>(), any::<u32>()));
    let segment = (count(), 0u32..2_000, prop_oneof![Just(100u32), 0..2_000u32], 0usize..200);
    let segments = proptest::collection::vec(segment, 0..4);
    (numbers, any::<bool>(), ack, segments, 0u32..10_000).prop_map(
        |(numbers, elicits, ack, segments, later)| Strange {
            numbers,
            elicits: elicits || !segments.is_empty(),
            ack,
            segments,
            later,
        },
    )
}

impl Strange {
    fn write(&self, buffer: &mut [u8]) -> usize {
        let (number, credit, completed, floor, promise) = self.numbers;
        let route = Route { connection: 9, from_opener: true };
        let header = Header { route, elicits: self.elicits, number, credit, completed, floor, promise };
        let mut frame = FrameWriter::new(buffer, &header);
        if let Some((largest, first, delay, marked)) = self.ack {
            let start = (largest + 1).saturating_sub(first.into());
            let header = AckHeader { largest, delay, marked, ecn: true, first: 0 };
            frame.acknowledge(&header, std::iter::once(start..largest + 1));
        }
        for &(message, offset, total, length) in &self.segments {
            frame.segment(&SegmentHeader { message, offset, total, immediate: None }, length, |_| ());
        }
        frame.finish()
    }
}

proptest! {
    /// Whatever valid frames say, the connection goes on or breaks; everything posted comes back once.
    #[test]
    fn frames_that_say_anything(frames in proptest::collection::vec(strange(), 1..60), first in prop_oneof![Just(1u64 << 40), Just(0)]) {
        let mut server = server(first);
        let (mut buffer, mut now) = (vec![0; 4_000], NOW);
        let (mut sent, mut received, mut broken) = (0, 0, 0);
        let mut count = |event| match event {
            Event::Sent(..) => sent += 1,
            Event::Received(..) => received += 1,
            Event::Broken(_) => broken += 1,
            Event::Connected => panic!("the server is connected already"),
        };
        for frame in frames {
            let length = frame.write(&mut buffer);
            if let Ok(datagram) = Datagram::parse(&buffer[..length]) {
                server.handle(now, Ecn::Marked, &datagram, length);
            }
            now += Duration::from_micros(frame.later.into());
            server.handle_timeout(now);
            std::iter::from_fn(|| server.event()).for_each(&mut count);
            let datagrams = (0..).take_while(|_| server.transmit(now, &mut buffer).is_some()).count();
            prop_assert!(datagrams < 1_000);
            prop_assert!(server.timeout().is_none_or(|at| at > now));
        }
        server.close();
        std::iter::from_fn(|| server.event()).for_each(&mut count);
        prop_assert_eq!((sent, received, broken), (20, 20, 1));
    }
}
