//! What a table does beside lookups: the pauses of growing, and readers while one side writes.

use std::{
    hint::black_box,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Instant,
};

use throughline_demux::{FlowReader, FlowTable, Sweep, flow_table};

use crate::{
    Options,
    flows::{Record, Traffic, Tuple},
    lookups::median,
    tables::{Hashbrown, Table},
};

/// How long insertions took that filled a table, in nanoseconds of this thread's time: median, one in a thousand, one
/// in 100,000, the worst. And the same of nothing at all, measured in the same way: what the machine does to anybody.
///
/// The table is filled several times, always in the same way, and of each insertion the shortest time counts: what
/// the machine does hits another one each time.
pub fn inserts(flows: u64, options: &Options) -> [[u64; 4]; 2] {
    let inserts = each(flows, || {
        let mut table = empty(flows, options);
        move |flow| table.insert(Record::of(flow)).ok().expect("there is room")
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
    (0..flows).for_each(|flow| table.insert(Record::of(flow)).ok().expect("there is room"));
    table
}

/// Nanoseconds for each record that is looked at and stays: FlowTable's, and hashbrown's.
pub fn retain(flows: u64, options: &Options) -> [f64; 2] {
    let mut ours = filled(flows, options);
    let mut other = Hashbrown::new(options.reserved(flows));
    (0..flows).for_each(|flow| other.insert(flow));
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

/// Nanoseconds of a reader's own time per lookup in batches of 32, without and with a writer at work, and what the
/// writer did: removals and insertions, in millions a second. Each has a core of its own.
pub fn readers(flows: u64, packets: usize, rounds: usize) -> [f64; 3] {
    // A thread of its own, since it stays on its core.
    thread::scope(|scope| scope.spawn(|| read_and_write(flows, packets, rounds)).join().expect("it measures"))
}

fn read_and_write(flows: u64, packets: usize, rounds: usize) -> [f64; 3] {
    let (mut writer, reader) = flow_table::<Record>(flows as usize + 1000, 0x5eed);
    (0..flows).for_each(|flow| writer.insert(Record::of(flow)).ok().expect("there is room"));
    let keys: Vec<Tuple> = Traffic::Uniform.packets(0, flows, packets).into_iter().map(Tuple::of).collect();
    let (working, done, changes) = (AtomicBool::new(false), AtomicBool::new(false), AtomicU64::new(0));
    let (mut quiet, mut disturbed, mut beside) = (Vec::new(), Vec::new(), 0.0);
    let [first, last] = cores();
    thread::scope(|scope| {
        scope.spawn(|| {
            stay_on(last);
            let mut flow = 0;
            while !done.load(Ordering::Relaxed) {
                if !working.load(Ordering::Relaxed) {
                    thread::sleep(std::time::Duration::from_micros(50));
                    continue;
                }
                for _ in 0..64 {
                    writer.remove(&Tuple::of(flow)).expect("it is there");
                    writer.insert(Record::of(flow + flows)).ok().expect("there is room");
                    flow += 1;
                }
                changes.fetch_add(128, Ordering::Relaxed);
            }
        });
        stay_on(first);
        for _ in 0..rounds {
            thread::sleep(std::time::Duration::from_millis(1));
            quiet.push(time(&reader, &keys));
            working.store(true, Ordering::Relaxed);
            thread::sleep(std::time::Duration::from_millis(1));
            let (start, before) = (Instant::now(), changes.load(Ordering::Relaxed));
            disturbed.push(time(&reader, &keys));
            beside += (changes.load(Ordering::Relaxed) - before) as f64 / start.elapsed().as_micros() as f64;
            working.store(false, Ordering::Relaxed);
        }
        done.store(true, Ordering::Relaxed);
    });
    [median(quiet), median(disturbed), beside / rounds as f64]
}

/// The first and the last core that this program may use.
fn cores() -> [usize; 2] {
    // SAFETY: a set is plain bits, and the call writes one.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &mut set), 0);
        set
    };
    // SAFETY: within the set.
    let mut cores = (0..libc::CPU_SETSIZE as usize).filter(|&core| unsafe { libc::CPU_ISSET(core, &set) });
    let first = cores.next().expect("it runs");
    let last = cores.next_back().unwrap_or(first);
    if first == last {
        eprintln!("one core only: reader and writer take turns");
    }
    [first, last]
}

/// Keeps this thread on a core.
fn stay_on(core: usize) {
    // SAFETY: a set is plain bits, and the call reads one.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&set), &set), 0);
    }
}

fn time(reader: &FlowReader<Record>, keys: &[Tuple]) -> f64 {
    let mut found = [None; 32];
    let mut sum = 0;
    let start = thread_time();
    for keys in keys.chunks(32) {
        reader.get_batch(keys, &mut found);
        sum += found[..keys.len()].iter().flatten().map(|record: &Record| record.value).sum::<u64>();
    }
    black_box(sum);
    (thread_time() - start) as f64 / keys.len() as f64
}
