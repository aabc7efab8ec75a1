//! How fast messages are under various conditions, as a table: `cargo test --release -p throughline-vi --test reliable
//! conditions -- --nocapture`. The times are virtual, so the figures repeat.

use std::time::Duration;

use throughline_vi::reliable::{Config, Event, Level};

use crate::{
    link::Conditions,
    world::{CLIENT, SERVER, World},
};

const US: Duration = Duration::from_micros(1);
const MS: Duration = Duration::from_millis(1);

/// A row of the table.
#[derive(Clone, Copy)]
struct Network {
    name: &'static str,
    conditions: Conditions,
}

fn networks() -> Vec<Network> {
    let center = Conditions {
        delay: 10 * US,
        rate: Some(1_250_000_000),
        queue: 1_000_000,
        mark_from: 100_000,
        mtu: 8_972,
        ..Conditions::PERFECT
    };
    let wide = Conditions { delay: 20 * MS, rate: Some(12_500_000), queue: 500_000, ..Conditions::PERFECT };
    let network = |name, conditions| Network { name, conditions };
    let late =
        |share, delay, conditions| Conditions { reordering: share, reordering_delay: delay, ..conditions };
    vec![
        network("data centre: 10 Gbit/s, 20 us", center),
        network("the same without marks", Conditions { mark_from: u64::MAX, ..center }),
        network("0.1 % lost", Conditions { loss: 0.001, ..center }),
        network("1 % lost", Conditions { loss: 0.01, ..center }),
        network(
            "10 % lost, 10 % twice, 10 % late",
            Conditions { loss: 0.1, duplication: 0.1, ..late(0.1, 100 * US, center) },
        ),
        network("wide area: 100 Mbit/s, 40 ms", wide),
        network("0.1 % lost", Conditions { loss: 0.001, ..wide }),
        network("1 % lost", Conditions { loss: 0.01, ..wide }),
        network("10 % late by up to 10 ms", late(0.1, 10 * MS, wide)),
        network(
            "10 % lost, 10 % twice, 10 % late",
            Conditions { loss: 0.1, duplication: 0.1, ..late(0.1, 10 * MS, wide) },
        ),
    ]
}

fn configs() -> [(&'static str, Config); 2] {
    [("DCTCP", Config::data_center()), ("CUBIC", Config::internet())]
}

struct Throughput {
    /// Of what the link carries, for messages alone.
    share: f64,
    /// Octets carried per octet of messages.
    overhead: f64,
}

/// Messages of 100 kB, 16 outstanding, for so long.
fn throughput(config: Config, conditions: Conditions, time: Duration) -> Throughput {
    const LENGTH: usize = 100_000;
    let mut world = World::new(config, conditions, 1);
    world.on_accept = Box::new(|server| (0..32).for_each(|_| server.post_receive(vec![0; LENGTH]).unwrap()));
    let client = world.open(Level::Reception);
    (0..16).for_each(|_| world.connection(CLIENT, client).post_send(vec![7; LENGTH], None).unwrap());
    let (end, mut received) = (world.now + time, 0);
    world.run_until(end, |world, side, slot, event| match event {
        Event::Sent(message, result) => {
            result.unwrap();
            world.connection(side, slot).post_send(message, None).unwrap();
        }
        Event::Received(buffer, result) => {
            received += result.unwrap().length;
            world.connection(side, slot).post_receive(buffer).unwrap();
        }
        Event::Connected => {}
        Event::Broken(broken) => panic!("{broken}"),
    });
    let possible = conditions.rate.unwrap() as f64 * time.as_secs_f64();
    let carried = world.links[CLIENT].carried as f64;
    Throughput { share: received as f64 / possible, overhead: carried / received as f64 }
}

/// Round trips of 64 octets, one after another: the median and the 99th percentile, less what the network needs.
fn latency(config: Config, conditions: Conditions, calls: usize) -> [Duration; 2] {
    let mut world = World::new(config, conditions, 2);
    world.on_accept = Box::new(|server| (0..4).for_each(|_| server.post_receive(vec![0; 64]).unwrap()));
    let client = world.open(Level::Delivery);
    let connection = world.connection(CLIENT, client);
    (0..4).for_each(|_| connection.post_receive(vec![0; 64]).unwrap());
    connection.post_send(vec![0; 64], None).unwrap();
    let (mut times, mut began) = (Vec::new(), world.now);
    world.run(|world, side, slot, event| {
        let Event::Received(buffer, result) = event else { return false };
        result.unwrap();
        let connection = world.connection(side, slot);
        connection.post_send(buffer.clone(), None).unwrap();
        connection.post_receive(buffer).unwrap();
        if side == CLIENT {
            times.push(world.now - began);
            began = world.now;
        }
        times.len() == calls
    });
    assert_eq!(times.len(), calls);
    times.sort_unstable();
    [times[calls / 2], times[calls * 99 / 100]]
}

#[test]
fn table() {
    println!("| network | | share of the rate | octets sent for one | round trip, median | 99 % |");
    println!("|---|---|---|---|---|---|");
    for (at, network) in networks().into_iter().enumerate() {
        let long = if cfg!(debug_assertions) { 1 } else { 10 };
        let time = if at < 5 { 10 * MS * long } else { Duration::from_secs(2) * long };
        for (name, config) in configs() {
            let Throughput { share, overhead } = throughput(config.clone(), network.conditions, time);
            let [median, worst] = latency(config, network.conditions, 500);
            println!(
                "| {} | {name} | {:.1} % | {overhead:.2} | {:.0} us | {:.0} us |",
                network.name,
                100.0 * share,
                median.as_secs_f64() * 1e6,
                worst.as_secs_f64() * 1e6
            );
            let suited = (at, name) == (0, "DCTCP") || (at, name) == (5, "CUBIC");
            assert!(!suited || share > 0.8, "{share}");
            assert!(median < 3 * network.conditions.delay + MS, "{median:?}");
        }
    }
}

/// Connections that share a bottleneck share it fairly, and none starves.
#[test]
fn many_connections_share_a_link() {
    const CONNECTIONS: usize = 8;
    for (name, config) in configs() {
        let conditions = Conditions {
            delay: 5 * MS,
            rate: Some(20_000_000),
            queue: 200_000,
            mark_from: 60_000,
            ..Conditions::PERFECT
        };
        let mut world = World::new(config, conditions, 3);
        world.on_accept =
            Box::new(|server| (0..8).for_each(|_| server.post_receive(vec![0; 20_000]).unwrap()));
        for _ in 0..CONNECTIONS {
            let client = world.open(Level::Delivery);
            (0..8).for_each(|_| world.connection(CLIENT, client).post_send(vec![0; 20_000], None).unwrap());
        }
        let seconds = if cfg!(debug_assertions) { 5 } else { 20 };
        let end = world.now + Duration::from_secs(seconds);
        let mut received = std::collections::BTreeMap::new();
        world.run_until(end, |world, side, slot, event| match event {
            Event::Sent(message, _) => world.connection(side, slot).post_send(message, None).unwrap(),
            Event::Received(buffer, result) => {
                assert_eq!(side, SERVER);
                *received.entry(slot).or_insert(0) += result.unwrap().length;
                world.connection(side, slot).post_receive(buffer).unwrap();
            }
            _ => {}
        });
        let shares: Vec<f64> =
            received.values().map(|octets| *octets as f64 / seconds as f64 / 20e6).collect();
        let total: f64 = shares.iter().sum();
        let squares: f64 = shares.iter().map(|share| share * share).sum();
        let fairness = total * total / (CONNECTIONS as f64 * squares);
        println!(
            "{name}: {CONNECTIONS} connections use {:.1} % of the link, fairness {fairness:.3}",
            100.0 * total
        );
        assert!(shares.len() == CONNECTIONS && total > 0.85 && fairness > 0.8, "{shares:?}");
    }
}
