//! What a lookup by handle costs in each of its ways, alone and beside another thread that looks up the same records.
//!
//! `cargo run --release -p throughline-demux --example handles`

use std::{
    hint::black_box,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use throughline_demux::{Arena, Handle};

/// As much as a fat pointer: two records to a cache line.
type Record = [u64; 2];

const BATCH: usize = 32;
const ROUNDS: usize = 7;
const AT_LEAST: Duration = Duration::from_millis(30);

fn main() {
    println!("ns per lookup; medians of {ROUNDS} rounds, all ways by turns");
    println!(
        "{:>8} {:>8} {:>10} {:>14} {:>14} {:>10}",
        "threads", "records", "counted", "reader, 1", "reader, 32", "exclusive"
    );
    for threads in [1, 2] {
        for records in [1, 1_000, 1_000_000] {
            let (mut arena, handles) = filled(records);
            let mut rounds: Vec<[f64; 4]> = Vec::new();
            for _ in 0..ROUNDS {
                rounds.push([
                    side_by_side(threads, || nanoseconds(&handles, |batch| counted(&arena, batch))),
                    side_by_side(threads, || {
                        nanoseconds(&handles, |batch| batch.chunks(1).for_each(|one| read(&arena, one)))
                    }),
                    side_by_side(threads, || nanoseconds(&handles, |batch| read(&arena, batch))),
                    if threads == 1 { exclusively(&mut arena, &handles) } else { f64::NAN },
                ]);
            }
            let [counted, one, batched, exclusive] =
                std::array::from_fn(|way| median(rounds.iter().map(|round| round[way])));
            print!("{threads:>8} {records:>8} {counted:>10.1} {one:>14.1} {batched:>14.1}");
            if exclusive.is_nan() { println!() } else { println!(" {exclusive:>10.1}") }
        }
    }
}

fn counted(arena: &Arena<Record>, batch: &[Handle]) {
    for handle in batch {
        let record = arena.get_any(*handle).expect("there");
        black_box(record[0]);
    }
}

fn read(arena: &Arena<Record>, batch: &[Handle]) {
    let reader = arena.reader();
    for handle in batch {
        black_box(reader.get(*handle).expect("there")[0]);
    }
}

fn exclusively(arena: &mut Arena<Record>, handles: &[Handle]) -> f64 {
    let mut records = arena.exclusive();
    nanoseconds(handles, |batch| {
        for handle in batch {
            black_box(records.get(*handle).expect("there")[0]);
        }
    })
}

/// An arena, and the handles of a million messages, each for any of the records.
fn filled(records: u64) -> (Arena<Record>, Vec<Handle>) {
    let arena = Arena::new(records as u32);
    let handles: Vec<Handle> = (0..records).map(|n| arena.insert(0, [n; 2]).expect("room")).collect();
    let mut state = 1u64;
    let asked = (0..1 << 20).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        handles[(((state >> 32) * records) >> 32) as usize]
    });
    (arena, asked.collect())
}

/// The mean of what all of so many threads measure, which begin at the same time.
fn side_by_side(threads: usize, measure: impl Fn() -> f64 + Sync) -> f64 {
    let start = Barrier::new(threads);
    let run = || {
        start.wait();
        measure()
    };
    let sum: f64 = thread::scope(|scope| {
        let others: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        others.into_iter().map(|other| other.join().expect("measures")).sum()
    });
    sum / threads as f64
}

/// Per handle.
fn nanoseconds(handles: &[Handle], mut lookup: impl FnMut(&[Handle])) -> f64 {
    let start = Instant::now();
    let mut done = 0;
    for batch in handles.chunks(BATCH).cycle() {
        lookup(batch);
        done += batch.len();
        if done % 4_096 == 0 && start.elapsed() > AT_LEAST {
            break;
        }
    }
    start.elapsed().as_nanos() as f64 / done as f64
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
