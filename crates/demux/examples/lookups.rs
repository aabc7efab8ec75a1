//! What a lookup costs: nanoseconds, one at a time and in batches, and memory, for every strategy and number of flows.
//!
//! `cargo run --release -p throughline-demux --features swiss --example lookups`

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use throughline_demux::{AnyLocator, Carried, Ipv4Flow, Locator, LocatorConfig, Slot, Strategy};

type Packet = Carried<Ipv4Flow>;

/// Lists are walked no further than this.
const LIST_LIMIT: usize = 1_000;
const BATCH: usize = 32;
const AT_LEAST: Duration = Duration::from_millis(100);

fn main() {
    println!("{:>22} {:>8} {:>8} {:>8} {:>8}", "strategy", "flows", "ns", "batched", "bytes");
    for flows in [10, 1_000, 100_000, 4_000_000] {
        let asked = packets(flows);
        for strategy in Strategy::ALL {
            if flows > LIST_LIMIT && strategy.is_list() {
                continue;
            }
            let mut locator = filled(strategy, flows);
            let one = nanoseconds(&asked, |keys| {
                keys.iter().for_each(|key| {
                    black_box(locator.find(key));
                });
            });
            let mut slots = [None; BATCH];
            let batched = nanoseconds(&asked, |keys| {
                locator.find_batch(keys, &mut slots);
                black_box(&slots);
            });
            let bytes = locator.bytes() as f64 / flows as f64;
            println!("{strategy:>22} {flows:>8} {one:>8.1} {batched:>8.1} {bytes:>8.1}");
        }
    }
}

fn packet(n: u32) -> Packet {
    let key =
        Ipv4Flow::new((0x0a00_0000 | n >> 4).into(), 40_000 + (n & 15) as u16, [10, 1, 2, 3].into(), 443, 6);
    Carried { index: n, key }
}

fn filled(strategy: Strategy, flows: usize) -> AnyLocator<Packet> {
    let config = LocatorConfig { places: flows, ..LocatorConfig::random() };
    let mut locator = strategy.locator(config).expect("a table of this size");
    (0..flows as u32).for_each(|n| locator.insert_new(packet(n), Slot(n)).expect("a new flow"));
    if strategy.must_freeze() {
        locator.freeze().expect("a perfect hash");
    }
    locator
}

/// A million packets, each of any of the flows.
fn packets(flows: usize) -> Vec<Packet> {
    let mut state = 1u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        packet((((state >> 32) * flows as u64) >> 32) as u32)
    };
    (0..1 << 20).map(next).collect()
}

/// Per packet.
fn nanoseconds(asked: &[Packet], mut lookup: impl FnMut(&[Packet])) -> f64 {
    let start = Instant::now();
    let mut done = 0;
    for keys in asked.chunks(BATCH).cycle() {
        lookup(keys);
        done += keys.len();
        if done % 4_096 == 0 && start.elapsed() > AT_LEAST {
            break;
        }
    }
    start.elapsed().as_nanos() as f64 / done as f64
}
