//! The life of connections: how they begin, wait and end.

use std::time::Duration;

use throughline_vi::reliable::{
    Broken, Config, Ecn, EndpointConfig, Event, Handled, Level, Longer, Reason, ReceiveError,
    frame::{Datagram, RESET, Reset, Route},
};

use crate::{
    link::Conditions,
    world::{CLIENT, SERVER, World, message},
};

const MS: Duration = Duration::from_millis(1);

fn with_buffers(count: usize, length: usize) -> World {
    with_config(Config::data_center(), count, length)
}

fn with_config(config: Config, count: usize, length: usize) -> World {
    let conditions = Conditions { delay: MS, ..Conditions::PERFECT };
    let mut world = World::new(config, conditions, 11);
    world.on_accept = Box::new(move |server| {
        (0..count).for_each(|_| server.post_receive(vec![0; length]).unwrap());
    });
    world
}

#[test]
fn the_first_frame_brings_a_message() {
    let mut world = with_buffers(1, 100);
    let (start, client) = (world.now, world.open(Level::Reception));
    world.connection(CLIENT, client).post_send(b"at once".to_vec(), Some(7)).unwrap();
    let mut arrived = None;
    world.run(|world, side, _, event| {
        match event {
            Event::Received(buffer, Ok(message)) => {
                assert_eq!((side, &buffer[..7], message.immediate), (SERVER, &b"at once"[..], Some(7)));
                arrived = Some(world.now);
            }
            Event::Connected => assert!(world.now > arrived.unwrap()),
            Event::Sent(..) => return true,
            other => panic!("{other:?}"),
        }
        false
    });
    assert_eq!(arrived, Some(start + MS));
    let server = world.accepted[0];
    assert_eq!(world.connection(SERVER, server).name(), b"name");
    assert_eq!(world.connection(SERVER, server).level(), Level::Reception);
}

#[test]
fn a_short_call_and_its_answer_need_nothing_else() {
    let mut world = with_buffers(1, 100);
    let (start, client) = (world.now, world.open(Level::Delivery));
    world.connection(CLIENT, client).post_receive(vec![0; 100]).unwrap();
    world.connection(CLIENT, client).post_send(vec![1; 64], None).unwrap();
    let answered = world.run(|world, side, slot, event| {
        if side == SERVER && matches!(event, Event::Received(..)) {
            world.connection(SERVER, slot).post_send(vec![2; 64], None).unwrap();
        }
        side == CLIENT && matches!(event, Event::Received(..))
    });
    assert!(answered && world.now == start + 2 * MS, "{:?}", world.now - start);
    assert_eq!(world.sent, [1, 1]);
}

#[test]
fn who_has_no_buffers_is_waited_for_quietly() {
    let mut world = with_buffers(0, 0);
    let client = world.open(Level::Reception);
    for n in 0..40 {
        world.connection(CLIENT, client).post_send(message(1, n, 50), None).unwrap();
    }
    let quiet = world.now + Duration::from_secs(100);
    world.run_until(quiet, |_, _, _, event| assert_eq!(event, Event::Connected));
    assert!(world.sent[CLIENT] < 40, "{} datagrams", world.sent[CLIENT]);
    let (server, mut received) = (world.accepted[0], 0);
    world.connection(SERVER, server).post_receive(vec![0; 50]).unwrap();
    world.flush(SERVER);
    let posted = world.now;
    world.run(|world, side, slot, event| {
        if let Event::Received(buffer, Ok(_)) = event {
            assert_eq!((side, &buffer), (SERVER, &message(1, received, 50)));
            assert!(received > 0 || world.now - posted <= 2 * MS + Duration::from_micros(1));
            received += 1;
            world.connection(SERVER, slot).post_receive(buffer).unwrap();
        }
        received == 40
    });
    assert_eq!(received, 40);
}

#[test]
fn who_has_no_memory_is_waited_for_quietly_and_soon_has_what_was_refused() {
    refuse_and_take(false);
}

#[test]
fn that_there_is_room_again_shows_in_any_frame() {
    refuse_and_take(true);
}

/// A peer takes no message for long, and then all. If the frame that tells of room is `lost`, a short message follows.
fn refuse_and_take(lost: bool) {
    const LENGTH: usize = 50_000;
    let mut world = with_buffers(0, 0);
    world.on_accept = Box::new(|server| {
        server.lengthen_by(Box::new(|buffer, Longer { octets, untaken, next }| {
            let found = next || untaken + octets <= 3 * LENGTH;
            buffer.resize(if found { octets } else { buffer.len() }, 0);
            found
        }));
        (0..20).for_each(|_| server.post_receive(vec![0; 10]).unwrap());
    });
    world.busy[SERVER] = 1.0;
    let client = world.open(Level::Reception);
    world.connection(CLIENT, client).post_receive(vec![0; 10]).unwrap();
    for n in 0..20 {
        world.connection(CLIENT, client).post_send(message(1, n, LENGTH), None).unwrap();
    }
    let quiet = world.now + Duration::from_secs(100);
    world.run_until(quiet, |_, side, _, _| assert_eq!(side, CLIENT));
    let sent = world.sent[CLIENT];
    world.run_until(quiet + Duration::from_secs(10), |_, side, _, _| assert_eq!(side, CLIENT));
    assert!(world.sent[CLIENT] - sent < 200, "{} datagrams in ten seconds", world.sent[CLIENT] - sent);
    world.busy[SERVER] = 0.0;
    let (start, mut received) = (world.now, 0);
    let mut take = |events: crate::world::Events| {
        for (_, event) in events {
            if let Event::Received(buffer, result) = event {
                assert_eq!((result.unwrap().length, &buffer), (LENGTH, &message(1, received, LENGTH)));
                received += 1;
            }
        }
        received
    };
    assert_eq!(take(world.events(SERVER)), 3);
    if lost {
        world.links[SERVER].conditions.loss = 1.0;
        world.flush(SERVER);
        world.links[SERVER].conditions.loss = 0.0;
        let server = world.accepted[0];
        world.connection(SERVER, server).post_send(b"short".to_vec(), None).unwrap();
    }
    let mut first = None;
    let done = world.run(|world, side, slot, event| {
        let taken = if side == SERVER { take(vec![(slot, event)]) } else { 0 };
        first = first.or((taken > 3).then_some(world.now - start));
        taken == 20
    });
    assert!(done, "{received}");
    // The next probe would be later.
    assert!(first.is_some_and(|first| first < 40 * MS), "{first:?}");
    assert!(lost || world.now - start < 100 * MS, "{:?}", world.now - start);
}

#[test]
fn a_message_longer_than_its_buffer_breaks_the_connection() {
    let mut world = with_buffers(2, 10);
    let client = world.open(Level::Delivery);
    for length in [10, 11, 12] {
        world.connection(CLIENT, client).post_send(vec![1; length], None).unwrap();
    }
    let mut events = [Vec::new(), Vec::new()];
    world.run(|_, side, _, event| {
        events[side].push(event);
        false
    });
    let reset = Broken::Reset(Reason::TooLong);
    let arrived = throughline_vi::reliable::Arrived { length: 10, immediate: None };
    assert_eq!(
        events[SERVER],
        [
            Event::Received(vec![1; 10], Ok(arrived)),
            Event::Received(vec![0; 10], Err(ReceiveError::TooLong)),
            Event::Broken(Broken::TooLong),
        ]
    );
    let failed = [10, 11, 12].map(|length| Event::Sent(vec![1; length], Err(reset)));
    assert_eq!(events[CLIENT][..3], failed);
    assert_eq!(events[CLIENT][3..], [Event::Broken(reset)]);
}

#[test]
fn closing_returns_everything_and_tells_the_peer() {
    let mut world = with_buffers(3, 10);
    let client = world.open(Level::Delivery);
    world.connection(CLIENT, client).post_receive(vec![0; 5]).unwrap();
    world.connection(CLIENT, client).post_send(vec![2; 5], None).unwrap();
    world.run(|_, _, _, event| matches!(event, Event::Sent(_, Ok(()))));
    let connection = world.connection(CLIENT, client);
    connection.close();
    assert!(connection.post_send(vec![], None).is_err());
    assert!(connection.post_receive(vec![]).is_err());
    let events = world.events(CLIENT);
    let error = ReceiveError::Broken(Broken::Closed);
    assert_eq!(
        events,
        [(client, Event::Received(vec![0; 5], Err(error))), (client, Event::Broken(Broken::Closed))]
    );
    let mut at_server = Vec::new();
    world.run(|_, _, _, event| {
        at_server.push(event);
        false
    });
    let reset = Broken::Reset(Reason::Closed);
    let unused = || Event::Received(vec![0; 10], Err(ReceiveError::Broken(reset)));
    assert_eq!(at_server, [unused(), unused(), Event::Broken(reset)]);
    assert!(world.ends.iter().all(|end| end.is_empty()));
}

#[test]
fn silence_is_death_if_something_is_outstanding() {
    let mut world = with_buffers(3, 10);
    world.links[CLIENT].conditions.loss = 1.0;
    let (client, start) = (world.open(Level::Delivery), world.now);
    world.connection(CLIENT, client).post_send(vec![1], None).unwrap();
    let mut events = Vec::new();
    world.run(|world, _, _, event| {
        events.push((world.now - start, event));
        false
    });
    let death = world.config.death;
    assert_eq!(events[0], (death, Event::Sent(vec![1], Err(Broken::TimedOut))));
    assert_eq!(events[1], (death, Event::Broken(Broken::TimedOut)));
    assert!(world.sent[CLIENT] < 60, "{} probes", world.sent[CLIENT]);
}

#[test]
fn where_round_trips_are_long_a_lost_packet_is_not_a_death() {
    for delay in [1_300 * MS, 2_400 * MS] {
        let mut world = with_buffers(20, 10);
        world.links.iter_mut().for_each(|link| link.conditions.delay = delay);
        let client = world.open(Level::Reception);
        for n in 0..10 {
            world.connection(CLIENT, client).post_send(vec![n], None).unwrap();
            // The first from here is lost.
            world.links[CLIENT].conditions.loss = if n > 0 { 1.0 } else { 0.0 };
            world.flush(CLIENT);
            world.links[CLIENT].conditions.loss = 0.0;
            let sent = world.run(|_, _, _, event| {
                assert!(!matches!(event, Event::Broken(_)), "{event:?} with {delay:?}, message {n}");
                matches!(event, Event::Sent(_, Ok(())))
            });
            assert!(sent);
        }
        // And a death is noticed.
        world.connection(CLIENT, client).post_send(vec![10], None).unwrap();
        world.links[CLIENT].conditions.loss = 1.0;
        let asked = world.now;
        assert!(world.run(|_, _, _, event| event == Event::Broken(Broken::TimedOut)));
        assert!(world.now <= asked + 5 * 2 * delay, "{:?}", world.now - asked);
    }
}

#[test]
fn idle_peers_are_asked_whether_they_live() {
    let config = Config { keep_alive: Some(Duration::from_secs(10)), ..Config::data_center() };
    let mut world = with_config(config, 3, 10);
    let client = world.open(Level::Delivery);
    world.connection(CLIENT, client).post_send(vec![1], None).unwrap();
    let hour = world.now + Duration::from_secs(3_600);
    world.run_until(hour, |_, _, _, event| assert!(!matches!(event, Event::Broken(_))));
    assert!((300..2_000).contains(&world.sent[CLIENT]), "{}", world.sent[CLIENT]);
    // Now the wire is cut.
    world.links.iter_mut().for_each(|link| link.conditions.loss = 1.0);
    let mut broken = [None; 2];
    world.run(|world, side, _, event| {
        if let Event::Broken(reason) = event {
            broken[side] = Some((reason, world.now - hour));
        }
        false
    });
    for broken in broken {
        let (reason, after) = broken.expect("noticed");
        assert_eq!(reason, Broken::TimedOut);
        assert!(after <= Duration::from_secs(16), "{after:?}");
    }
}

#[test]
fn without_keep_alive_an_idle_connection_is_silent_for_ever() {
    let mut world = with_buffers(3, 10);
    let client = world.open(Level::Delivery);
    world.connection(CLIENT, client).post_send(vec![1], None).unwrap();
    world.run(|_, _, _, _| false);
    assert_eq!(world.next(), None);
    assert!(world.sent[CLIENT] <= 3 && world.sent[SERVER] <= 3, "{:?}", world.sent);
    assert_eq!(world.ends[CLIENT].len(), 1);
}

#[test]
fn a_peer_that_forgot_the_connection_says_so() {
    let mut world = with_buffers(3, 10);
    let client = world.open(Level::Delivery);
    world.connection(CLIENT, client).post_send(vec![1], None).unwrap();
    world.run(|_, _, _, event| matches!(event, Event::Sent(..)));
    // The server starts anew.
    let fresh = World::new(Config::data_center(), Conditions::PERFECT, 99);
    let [_, server] = fresh.ends;
    world.ends[SERVER] = server;
    world.connection(CLIENT, client).post_send(vec![2], None).unwrap();
    let (asked, mut broken) = (world.now, None);
    world.run(|_, _, _, event| {
        if let Event::Broken(reason) = event {
            broken = Some(reason);
        }
        false
    });
    assert_eq!(broken, Some(Broken::Reset(Reason::Unknown)));
    assert!(world.now < asked + 100 * MS, "soon");
}

#[test]
fn a_peer_that_answers_is_not_gone_whoever_says_so() {
    let mut world = with_buffers(100, 10);
    let client = world.open(Level::Delivery);
    let route = world.connection(CLIENT, client).route();
    let denial = Reset { route: Route { from_opener: false, ..route }, reason: Reason::Unknown, messages: 0 };
    let mut octets = [0; RESET];
    denial.write(&mut octets);
    // Before the first answer, and between all others.
    for n in 0..100 {
        world.connection(CLIENT, client).post_send(vec![n], None).unwrap();
        world.flush(CLIENT);
        for _ in 0..20 {
            world.deliver(CLIENT, SERVER, Ecn::NotCapable, &octets);
        }
        assert!(world.run(|_, side, _, event| {
            assert!(!matches!(event, Event::Broken(_)), "{event:?}");
            side == CLIENT && matches!(event, Event::Sent(..))
        }));
    }
}

#[test]
fn refused() {
    let mut world = with_buffers(0, 0);
    world.accepts = false;
    let client = world.open(Level::Delivery);
    let mut buffer = [0; 2_000];
    world.connection(CLIENT, client);
    let (_, transmit) = world.ends[CLIENT].transmit(world.now, &mut buffer).expect("an opening");
    let handled = world.ends[SERVER].handle(world.now, CLIENT, Ecn::NotCapable, &buffer[..transmit.length]);
    let Handled::Incoming(incoming) = handled else { panic!("{handled:?}") };
    assert_eq!((incoming.name(), incoming.level), (&b"name"[..], Level::Delivery));
    world.ends[SERVER].refuse(&incoming, Reason::Refused);
    let mut events = Vec::new();
    world.run(|_, _, _, event| {
        events.push(event);
        false
    });
    assert_eq!(events, [Event::Broken(Broken::Reset(Reason::Refused))]);
}

#[test]
fn an_opening_that_comes_late_opens_nothing() {
    let mut world = with_buffers(1, 10);
    let client = world.open(Level::Delivery);
    world.connection(CLIENT, client).post_send(vec![1], None).unwrap();
    let mut first = vec![0; 2_000];
    let (_, transmit) = world.ends[CLIENT].transmit(world.now, &mut first).unwrap();
    first.truncate(transmit.length);
    world.deliver(SERVER, CLIENT, Ecn::NotCapable, &first);
    world.run(|_, _, _, event| matches!(event, Event::Sent(..)));
    world.connection(CLIENT, client).close();
    world.run(|_, _, _, _| false);
    assert!(world.ends[SERVER].is_empty());
    let linger = EndpointConfig::default().linger;
    world.now += linger - 10 * MS;
    assert_eq!(world.deliver(SERVER, CLIENT, Ecn::NotCapable, &first), Handled::Nobody);
    assert_eq!(world.accepted.len(), 1);
    world.flush(SERVER);
    // Once no such packet can live any more, the id is forgotten.
    world.now += 20 * MS;
    world.ends[SERVER].handle_timeout(world.now);
    assert!(matches!(world.deliver(SERVER, CLIENT, Ecn::NotCapable, &first), Handled::Connection(_)));
}

#[test]
fn frames_become_as_long_as_the_path_carries_and_shorter_when_it_no_longer_does() {
    let config = Config { max_frame: 9_000, ..Config::data_center() };
    let mut world = with_config(config, 100, 1 << 20);
    let narrow =
        Conditions { mtu: 4_000, rate: Some(20_000_000), queue: 100_000, ..world.links[CLIENT].conditions };
    world.links[CLIENT].conditions = narrow;
    let client = world.open(Level::Reception);
    let send = |world: &mut World, count: usize| {
        for _ in 0..count {
            world.connection(CLIENT, client).post_send(vec![5; 1 << 20], None).unwrap();
        }
        let mut left = count;
        world.run(|_, _, _, event| {
            left -= usize::from(matches!(event, Event::Sent(_, Ok(()))));
            left == 0
        });
        assert_eq!(left, 0);
        world.connection(CLIENT, client).stats()
    };
    let stats = send(&mut world, 8);
    assert!((3_980..=4_000).contains(&stats.frame), "{}", stats.frame);
    world.links[CLIENT].conditions.mtu = 1_300;
    assert_eq!(send(&mut world, 8).frame, 1_200);
}

/// A port may have thousands of them, and a window be long.
#[test]
fn who_has_much_to_say_does_not_keep_those_waiting_who_have_little() {
    let mut world = with_buffers(20, 1_000_000);
    let [much, little] = [(); 2].map(|()| world.open(Level::Delivery));
    for slot in [much, little, much, much] {
        world.connection(CLIENT, slot).post_send(message(3, 0, 1_000_000), None).unwrap();
        assert!(world.run(|_, _, _, event| matches!(event, Event::Sent(..))));
    }
    world.run(|_, _, _, _| false);
    let ids = [much, little].map(|slot| world.connection(CLIENT, slot).route().connection);
    world.connection(CLIENT, much).post_send(message(3, 0, 1_000_000), None).unwrap();
    world.connection(CLIENT, little).post_send(vec![1], None).unwrap();
    let (mut buffer, mut sent, now) = (vec![0; 65_536], Vec::new(), world.now);
    while let Some((_, transmit)) = world.ends[CLIENT].transmit(now, &mut buffer) {
        let datagram = Datagram::parse(&buffer[..transmit.length]).unwrap();
        sent.extend(ids.iter().position(|id| *id == datagram.route().connection));
    }
    assert!(sent.len() > 30, "{} datagrams", sent.len());
    let at = sent.iter().position(|whose| *whose == 1).unwrap();
    assert!(at <= 16, "after {at} datagrams of {}", sent.len());
}

#[test]
fn there_are_no_more_connections_than_allowed() {
    let limits =
        EndpointConfig { max_connections: 3, linger: Duration::from_secs(5), ..EndpointConfig::default() };
    let mut world = World::with_endpoints(Config::data_center(), Conditions::PERFECT, 1, limits);
    let (config, now) = (world.config.clone(), world.now);
    let open = |world: &mut World| world.ends[CLIENT].open(&config, SERVER, Level::Delivery, b"", world.now);
    let slots: Vec<_> = (0..3).map(|_| open(&mut world).unwrap()).collect();
    assert!(open(&mut world).is_err());
    world.connection(CLIENT, slots[1]).close();
    world.run_until(now + Duration::from_secs(1), |_, _, _, _| ());
    // One that ended still counts.
    assert_eq!(world.ends[CLIENT].len(), 2);
    assert!(open(&mut world).is_err());
    world.now += Duration::from_secs(6);
    assert!(open(&mut world).is_ok());
}

/// Before it is known that the peer is where it says there may not be enough that may be sent for a frame of the length tried.
#[test]
fn a_frame_shorter_than_the_length_tried_says_nothing_of_that() {
    let mut world = World::new(Config::data_center(), Conditions::PERFECT, 5);
    world.on_accept = Box::new(|server| {
        server.post_receive(vec![0; 600]).unwrap();
        server.post_send(vec![1; 100_000], None).unwrap();
    });
    let client = world.open(Level::Delivery);
    let connection = world.connection(CLIENT, client);
    connection.post_receive(vec![0; 100_000]).unwrap();
    connection.post_send(vec![2; 500], None).unwrap();
    world.flush(CLIENT);
    let mut arrived = false;
    while !arrived && let Some((side, events)) = world.step() {
        arrived = side == CLIENT && events.iter().any(|(_, event)| matches!(event, Event::Received(..)));
        world.flush(side);
        let server = world.accepted.first().and_then(|slot| world.ends[SERVER].peek(*slot));
        let longest = server.map_or(0, |server| server.stats().frame);
        assert!(longest <= 1_472, "{longest} octets are more than the path carries");
    }
    assert!(arrived);
}

/// It may send only so much before it knows that the opener is there, who has nothing to say.
#[test]
fn who_speaks_first_to_an_opener_is_heard_whatever_is_lost() {
    for (seed, messages) in (0..200).flat_map(|seed| [(seed, 0), (seed, 3)]) {
        let conditions = Conditions { loss: 0.1, ..Conditions::PERFECT };
        let mut world = World::new(Config::data_center(), conditions, seed);
        world.on_accept = Box::new(move |server| {
            server.post_receive(vec![0; 100]).unwrap();
            (0..messages).for_each(|_| server.post_send(vec![1; 3_000], None).unwrap());
        });
        let client = world.open(Level::Delivery);
        let connection = world.connection(CLIENT, client);
        (0..4).for_each(|_| connection.post_receive(vec![0; 3_000]).unwrap());
        let mut arrived = 0;
        let end = world.now + Duration::from_secs(60);
        world.run_until(end, |_, side, _, event| match event {
            Event::Broken(why) => panic!("{why:?} at {side}, seed {seed}, {messages} messages"),
            event => arrived += usize::from(matches!(event, Event::Received(..))),
        });
        assert_eq!(arrived, messages, "seed {seed}");
        let server = world.accepted.first().and_then(|slot| world.ends[SERVER].peek(*slot)).unwrap();
        assert!(server.is_verified(), "seed {seed}");
    }
}
