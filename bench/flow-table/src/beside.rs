//! What a table does beside lookups: the pauses of growing, and of passing all records.

use std::hint::black_box;

use throughline_demux::{FlowTable, Sweep};

use crate::{
    Options,
    flows::Record,
    lookups::{fill, median},
    tables::{Hashbrown, Ours},
};

/// How long insertions took that filled a table, in nanoseconds of this thread's time: median, one in a thousand, one
/// in 100,000, the worst. And the same of nothing at all, measured in the same way: what the machine does to anybody.
///
/// The table is filled several times, always in the same way, and of each insertion the shortest time counts: what
/// the machine does hits another one each time.
pub fn inserts(flows: u64, options: &Options) -> [[u64; 4]; 2] {
    let inserts = each(flows, || {
        let mut table = empty(flows, options);
        move |flow| table.insert(Record::of(flow)).expect("there is room")
    });
    [inserts, each(flows, || |flow| _ = black_box(flow))]
}

fn each<W: FnMut(u64)>(flows: u64, make: impl Fn() -> W) -> [u64; 4] {
    const TIMES: usize = 5;
    let mut times = vec![u32::MAX; flows as usize];
    for _ in 0..TIMES {
        let mut work = make();
        for (flow, time) in times.iter_mut().enumerate() {
            let start = thread_time();
            work(flow as u64);
            *time = (*time).min((thread_time() - start) as u32);
        }
    }
    times.sort_unstable();
    let at = |part: u64| u64::from(times[(flows - 1 - flows / part) as usize]);
    [at(2), at(1_000), at(100_000), u64::from(times[flows as usize - 1])]
}

fn empty(flows: u64, options: &Options) -> FlowTable<Record> {
    let mut table = FlowTable::new(options.limit(flows), 0x5eed);
    table.reserve(options.reserved(flows));
    table
}

fn filled(flows: u64, options: &Options) -> FlowTable<Record> {
    let mut table = empty(flows, options);
    (0..flows).for_each(|flow| table.insert(Record::of(flow)).expect("there is room"));
    table
}

/// Bytes for each record of a table just filled: FlowTable's, and hashbrown's.
pub fn memory(flows: u64, options: &Options) -> [f64; 2] {
    let mut ours = Ours::new(options.limit(flows), options.reserved(flows));
    let mut other = Hashbrown::new(options.reserved(flows));
    fill(&mut ours, flows);
    fill(&mut other, flows);
    [ours.bytes(), other.bytes()].map(|bytes| bytes as f64 / flows as f64)
}

/// Nanoseconds for each record that is looked at and stays: FlowTable's, and hashbrown's.
pub fn retain(flows: u64, options: &Options) -> [f64; 2] {
    let mut ours = filled(flows, options);
    let mut other = Hashbrown::new(options.reserved(flows));
    fill(&mut other, flows);
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..options.rounds {
        let mut time = |n: usize, work: &mut dyn FnMut()| {
            let start = thread_time();
            work();
            times[n].push((thread_time() - start) as f64 / flows as f64);
        };
        time(0, &mut || _ = ours.retain(|record| record.value != u64::MAX));
        time(1, &mut || other.retain(|value| value != u64::MAX));
    }
    assert_eq!(ours.len() as u64, flows);
    times.map(median)
}

/// Records of a part.
pub const PART: usize = 32;

/// Nanoseconds for each part of a round: the median, what one in a thousand takes, and the worst; of each the least of five
/// rounds. One of so many records stays.
pub fn sweep(flows: u64, options: &Options, stays: u64) -> [u64; 3] {
    let mut times: Vec<u64> = Vec::new();
    for _ in 0..5 {
        let (mut table, mut sweep) = (filled(flows, options), Sweep::default());
        for part in 0.. {
            let start = thread_time();
            table.sweep(&mut sweep, PART, |record| record.value.is_multiple_of(stays));
            let time = thread_time() - start;
            match times.get_mut(part) {
                Some(least) => *least = time.min(*least),
                None => times.push(time),
            }
            if sweep.rounds() > 0 {
                break;
            }
        }
        assert!(table.len() as u64 >= flows / stays);
    }
    times.sort_unstable();
    [times[times.len() / 2], times[times.len() - 1 - times.len() / 1_000], times[times.len() - 1]]
}

/// Nanoseconds that this thread has run.
pub fn thread_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to the struct.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
