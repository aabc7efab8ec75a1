//! A flood of slow ordinary calls, and urgent ones beside it: with lanes and without.
//!
//! Prints the latencies, of as many urgent calls as wanted:
//! `FLOOD_CALLS=500 cargo test --release -p throughline --test lanes_flood -- --nocapture`.
#![allow(missing_docs)]

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{Echo, EchoRef, client, seen_by, server_with};
use throughline::{LaneConfig, Orb, Priority};

const CLIENTS: usize = 32;
/// Ordinary calls that each of them has under way.
const OUTSTANDING: usize = 2;
/// How long an ordinary call takes, in milliseconds.
const SLOW: u32 = 20;
/// Threads for servants, with lanes and without.
const THREADS: usize = 4;
/// Between two urgent calls: longer than a worker stays with a silent connection. While it stays, the connection has a thread of
/// its own, lanes or not.
const PAUSE: Duration = Duration::from_millis(70);
/// Half of what an urgent call waits, on average, if each connection has its turn before it.
const BOUND: Duration = Duration::from_millis(CLIENTS as u64 * SLOW as u64 / THREADS as u64 / 4);

fn server(address: &str, lanes: bool) -> Orb {
    let server = server_with(|config| {
        (config.listen, config.max_threads) = (vec![address.parse().unwrap()], THREADS);
    });
    if lanes {
        let urgent = Priority::new(100).unwrap();
        let lanes = [LaneConfig::new(Priority::LOWEST, THREADS - 1), LaneConfig::new(urgent, 1)];
        server.root().serve_in(&server.create_lanes(&lanes).unwrap()).unwrap();
    }
    server
}

/// What so many urgent calls take while the flood lasts, in order.
fn urgent_calls(address: &str, lanes: bool, calls: usize) -> Vec<Duration> {
    let server = server(address, lanes);
    let echo = server.root().activate(Echo::default()).unwrap();
    let [over, orbs] = [AtomicBool::new(false), AtomicBool::new(false)];
    let clients: Vec<Orb> = (0..CLIENTS).map(|_| client()).collect();
    let urgent_client = client();
    let urgent = EchoRef(seen_by(&urgent_client, &echo).0.with_priority(Priority::HIGHEST));
    let mut taken = Vec::new();
    std::thread::scope(|scope| {
        for client in &clients {
            for _ in 0..OUTSTANDING {
                scope.spawn(|| {
                    let ordinary = seen_by(client, &echo);
                    while !over.load(Ordering::Relaxed) {
                        ordinary.sleep(SLOW).unwrap();
                        orbs.store(true, Ordering::Relaxed);
                    }
                });
            }
        }
        // Until the flood has risen.
        std::thread::sleep(4 * BOUND);
        urgent.ping().unwrap();
        for _ in 0..calls {
            // The first one too: a worker was with its connection just now.
            std::thread::sleep(PAUSE);
            let started = Instant::now();
            urgent.ping().unwrap();
            taken.push(started.elapsed());
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(orbs.into_inner(), "there was no flood");
    clients.iter().chain([&urgent_client, &server]).for_each(|orb| orb.shutdown(Duration::from_secs(5)));
    taken.sort_unstable();
    taken
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() * percent).div_ceil(100).clamp(1, sorted.len()) - 1]
}

fn compare(address: &str) {
    let wanted = std::env::var("FLOOD_CALLS").ok().and_then(|calls| calls.parse().ok());
    let without = urgent_calls(address, false, wanted.unwrap_or(5));
    let with = urgent_calls(address, true, wanted.unwrap_or(40));
    for (name, taken) in [("without lanes", &without), ("with lanes", &with)] {
        let of = |percent| percentile(taken, percent);
        println!("{address} {name}: median {:?}, 99th percentile {:?}, most {:?}", of(50), of(99), of(100));
    }
    // Without lanes some are lucky and others wait for seconds. And others may use this machine's processors too.
    let mean = without.iter().sum::<Duration>() / without.len() as u32;
    let (without, with) = (mean, percentile(&with, 90));
    assert!(with < BOUND && without > BOUND, "{address}: {with:?} with lanes, {without:?} without");
    let ratio = without.as_secs_f64() / with.as_secs_f64();
    println!("{address}: the mean without lanes is {ratio:.0} times what 9 of 10 calls take with them");
    assert!(ratio > 4.0, "{address}: {ratio}");
}

#[test]
fn a_flood_does_not_starve_urgent_calls_that_have_a_lane() {
    compare("127.0.0.1:0");
    compare("shm:");
}
