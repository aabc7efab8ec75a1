//! Connections that end in order, once the peer has what was sent.

use std::time::Duration;

use throughline_vi::reliable::{Broken, Config, Event, Level, Reason};

use crate::{
    link::Conditions,
    world::{CLIENT, SERVER, World, message},
};

const SECOND: Duration = Duration::from_secs(1);

/// A server with so many buffers of this length for messages.
fn world(conditions: Conditions, buffers: usize, length: usize) -> World {
    let mut world = World::new(Config::data_center(), conditions, 21);
    world.on_accept = Box::new(move |server| {
        (0..buffers).for_each(|_| server.post_receive(vec![0; length]).unwrap());
    });
    world
}

fn finish(world: &mut World) -> Duration {
    let now = world.now;
    let client = world.open(Level::Delivery);
    for n in 0..3 {
        world.connection(CLIENT, client).post_send(message(7, n, 1_000_000), None).unwrap();
    }
    world.connection(CLIENT, client).finish(now, |_| (), |_| ());
    now
}

/// Lets things happen until the end: how many messages arrived, when, and how each side ended.
fn ends(world: &mut World) -> (u64, Duration, [Option<Broken>; 2]) {
    let (mut arrived, mut at, mut broken) = (0, Duration::ZERO, [None; 2]);
    world.run(|world, side, _, event| {
        match event {
            Event::Received(buffer, Ok(_)) => {
                assert_eq!(buffer, message(7, arrived, 1_000_000));
                (arrived, at) = (arrived + 1, world.now);
            }
            Event::Broken(reason) => broken[side] = Some(reason),
            _ => {}
        }
        false
    });
    (arrived, at, broken)
}

#[test]
fn messages_that_wait_for_room_are_among_those_that_still_arrive() {
    let mut world = world(Conditions::PERFECT, 1, 100);
    let now = world.now;
    let client = world.open(Level::Delivery);
    for n in 0..40 {
        world.connection(CLIENT, client).post_send(message(7, n, 100), None).unwrap();
    }
    world.connection(CLIENT, client).finish(now, |_| (), |_| ());
    let (mut arrived, mut broken) = (0, None);
    world.run(|world, side, slot, event| {
        match event {
            Event::Received(buffer, Ok(_)) => {
                assert_eq!((side, &buffer), (SERVER, &message(7, arrived, 100)));
                arrived += 1;
                // After the last it is over.
                let _ = world.connection(SERVER, slot).post_receive(buffer);
            }
            Event::Broken(reason) if side == SERVER => broken = Some(reason),
            _ => {}
        }
        false
    });
    assert_eq!((arrived, broken), (40, Some(Broken::Reset(Reason::Closed))));
}

#[test]
fn what_takes_long_to_arrive_still_does() {
    // Half a minute for all.
    let slow = Conditions { rate: Some(100_000), queue: 100_000, ..Conditions::PERFECT };
    let mut world = world(slow, 3, 1_000_000);
    let began = finish(&mut world);
    let (arrived, at, broken) = ends(&mut world);
    assert_eq!((arrived, broken), (3, [Some(Broken::Reset(Reason::Closed)); 2]));
    assert!(at > began + 25 * SECOND && at < began + 50 * SECOND, "{:?}", at - began);
}

/// As long as for an answer.
#[test]
fn where_round_trips_are_long_what_is_lost_before_the_end_is_sent_again() {
    let far = Conditions { delay: Duration::from_millis(1_300), ..Conditions::PERFECT };
    let mut world = world(far, 3, 1_000_000);
    let client = world.open(Level::Reception);
    for n in 0..2 {
        world.connection(CLIENT, client).post_send(message(7, n, 1_000), None).unwrap();
        assert!(world.run(|_, _, _, event| matches!(event, Event::Sent(_, Ok(())))));
    }
    let now = world.now;
    world.connection(CLIENT, client).post_send(message(7, 2, 1_000), None).unwrap();
    world.connection(CLIENT, client).finish(now, |_| (), |_| ());
    world.links[CLIENT].conditions.loss = 1.0;
    world.run_until(now + Duration::from_millis(5_500), |_, _, _, event| {
        assert!(!matches!(event, Event::Broken(_)))
    });
    world.links[CLIENT].conditions.loss = 0.0;
    let (mut arrived, mut broken) = (0, None);
    world.run(|_, side, _, event| {
        match event {
            Event::Received(_, Ok(_)) => arrived += 1,
            Event::Broken(reason) if side == SERVER => broken = Some(reason),
            _ => {}
        }
        false
    });
    assert_eq!((arrived, broken), (1, Some(Broken::Reset(Reason::Closed))));
}

#[test]
fn a_peer_that_takes_nothing_is_told_that_something_is_lost() {
    let mut world = world(Conditions::PERFECT, 1, 1_000_000);
    let began = finish(&mut world);
    let (arrived, _, broken) = ends(&mut world);
    assert_eq!((arrived, broken), (1, [Some(Broken::Closed), Some(Broken::Reset(Reason::TimedOut))]));
    assert!(world.now < began + 10 * SECOND, "{:?}", world.now - began);
}

#[test]
fn nobody_is_waited_for_longer_than_a_minute() {
    let crawling = Conditions { rate: Some(20_000), queue: 100_000, ..Conditions::PERFECT };
    let mut world = world(crawling, 3, 1_000_000);
    let began = finish(&mut world);
    let (arrived, _, broken) = ends(&mut world);
    assert_eq!((arrived, broken), (1, [Some(Broken::Closed), Some(Broken::Reset(Reason::TimedOut))]));
    let took = world.now - began;
    assert!(took > 60 * SECOND && took < 80 * SECOND, "{took:?}");
    assert!(world.ends[SERVER].is_empty());
}
