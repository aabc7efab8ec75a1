//! Many short calls under way at once in a network that loses, doubles and delays: how many there are in a second of virtual
//! time, with a few buffers on both sides as the object request broker has them.

use std::time::Duration;

use throughline_vi::reliable::{Config, Event, Level};

use crate::{
    link::Conditions,
    world::{CLIENT, World},
};

const MS: Duration = Duration::from_millis(1);
/// Sends outstanding, and receives posted, on either side.
const BUFFERS: usize = 128;
const LENGTH: usize = 64;

/// As the VIs over datagrams are configured.
fn config() -> Config {
    Config {
        granularity: MS / 4,
        ack_delay: MS,
        ack_promise: 10 * MS,
        max_sends: BUFFERS,
        max_receives: BUFFERS,
        ..Config::data_center()
    }
}

/// Calls answered in so much time, and datagrams sent for them.
fn calls(conditions: Conditions, seed: u64, time: Duration) -> [u64; 2] {
    let mut world = World::new(config(), conditions, seed);
    world.on_accept =
        Box::new(|server| (0..BUFFERS).for_each(|_| server.post_receive(vec![0; LENGTH]).unwrap()));
    let client = world.open(Level::Delivery);
    let connection = world.connection(CLIENT, client);
    (0..BUFFERS).for_each(|_| connection.post_receive(vec![0; LENGTH]).unwrap());
    (0..BUFFERS).for_each(|_| connection.post_send(vec![0; LENGTH], None).unwrap());
    let (mut answered, mut waiting) = (0, [0, 0]);
    let end = world.now + time;
    world.run_until(end, |world, side, slot, event| {
        let connection = world.connection(side, slot);
        match event {
            Event::Received(buffer, result) => {
                result.unwrap();
                connection.post_receive(buffer).unwrap();
                waiting[side] += 1;
                answered += u64::from(side == CLIENT);
            }
            Event::Sent(_, result) => result.unwrap(),
            Event::Connected => {}
            Event::Broken(broken) => panic!("{broken}"),
        }
        while waiting[side] > 0 && connection.post_send(vec![0; LENGTH], None).is_ok() {
            waiting[side] -= 1;
        }
    });
    [answered, world.sent.iter().sum()]
}

#[test]
fn losses_are_repaired_within_round_trips() {
    let bad = Conditions {
        loss: 0.1,
        duplication: 0.1,
        reordering: 0.1,
        reordering_delay: MS,
        delay: MS / 20,
        ..Conditions::PERFECT
    };
    for seed in 0..4 {
        let [answered, datagrams] = calls(bad, seed, Duration::from_millis(500));
        println!(
            "{} calls a second, {:.2} datagrams a call",
            2 * answered,
            datagrams as f64 / answered as f64
        );
        assert!(2 * answered > 80_000, "{answered}");
        // Messages that wait leave together.
        assert!(3 * datagrams < answered, "{datagrams} datagrams");
    }
}
