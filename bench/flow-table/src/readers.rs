//! One thread looks flows up while another changes the table: FlowTable beside maps that are made for it.

use std::{
    hint::black_box,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use foldhash::fast::FixedState;
use throughline_demux::flow_table;

use crate::{
    beside::thread_time,
    flows::{Record, Traffic, Tuple},
    lookups::median,
};

/// How many flows are not there while the writer works: each comes again after so many others have gone.
fn away(flows: u64) -> u64 {
    (flows / 20).min(64)
}

/// Flows that go, each with one that comes, before the writer looks at the clock.
const STEP: u64 = 8;

/// What was measured of one table.
pub struct Measured {
    pub table: &'static str,
    /// Nanoseconds of the reader's own time per lookup in batches of 32, while the other core runs but changes nothing.
    pub quiet: f64,
    /// The same beside a writer who keeps to a rate, if there is one, and how many removals and insertions he made, in
    /// millions a second; for each of the rates asked for.
    pub beside: [[f64; 2]; RATES.len()],
    /// Nanoseconds that a line of memory takes from one core to the other, if there are two: on a virtual machine the host
    /// may put both on neighbouring cores one moment, and far from each other the next.
    pub apart: Option<f64>,
}

/// Millions of removals and insertions a second that a writer is to keep to, or all he can do.
const RATES: [Option<f64>; 2] = [Some(1.0), None];

/// All tables, or FlowTable alone.
pub fn readers(flows: u64, packets: usize, rounds: usize, alone: bool) -> Vec<Measured> {
    let keys: Vec<Tuple> = Traffic::Uniform.packets(0, flows, packets).into_iter().map(Tuple::of).collect();
    let tables: [fn(_, &[_], _) -> _; 3] = [ours, dashmap, papaya];
    let tables = if alone { &tables[..1] } else { &tables };
    // A thread of its own for each, since it stays on its core.
    let measure = |table: &fn(u64, &[Tuple], usize) -> Measured| {
        thread::scope(|scope| scope.spawn(|| table(flows, &keys, rounds)).join().expect("it measures"))
    };
    tables.iter().map(measure).collect()
}

fn ours(flows: u64, keys: &[Tuple], rounds: usize) -> Measured {
    let (mut writer, reader) = flow_table::<Record>(flows as usize, 0x5eed);
    (away(flows)..flows).for_each(|flow| writer.insert(Record::of(flow)).expect("there is room"));
    let mut found = [None; 32];
    let look = move |keys: &[Tuple], look: &mut dyn FnMut(&Record)| {
        reader.get_batch(keys, &mut found);
        found[..keys.len()].iter().flatten().for_each(look);
    };
    let change = move |gone, comes| {
        writer.remove(&Tuple::of(gone)).expect("it is there");
        writer.insert(Record::of(comes)).expect("there is room");
    };
    measure("FlowTable", flows, keys, rounds, look, change)
}

fn dashmap(flows: u64, keys: &[Tuple], rounds: usize) -> Measured {
    let map = dashmap::DashMap::with_capacity_and_hasher(flows as usize, FixedState::with_seed(0x5eed));
    let insert = |flow| assert!(map.insert(Tuple::of(flow), Record::of(flow)).is_none());
    (away(flows)..flows).for_each(insert);
    let look = |keys: &[Tuple], look: &mut dyn FnMut(&Record)| {
        keys.iter().filter_map(|key| map.get(key).map(|found| *found)).for_each(|record| look(&record));
    };
    let change = |gone, comes| {
        map.remove(&Tuple::of(gone)).expect("it is there");
        insert(comes);
    };
    measure("dashmap", flows, keys, rounds, look, change)
}

fn papaya(flows: u64, keys: &[Tuple], rounds: usize) -> Measured {
    let map = papaya::HashMap::with_capacity_and_hasher(flows as usize, FixedState::with_seed(0x5eed));
    let insert = |flow| assert!(map.pin().insert(Tuple::of(flow), Record::of(flow)).is_none());
    (away(flows)..flows).for_each(insert);
    let look = |keys: &[Tuple], look: &mut dyn FnMut(&Record)| {
        let map = map.pin();
        keys.iter().filter_map(|key| map.get(key).copied()).for_each(|record| look(&record));
    };
    let change = |gone, comes| {
        map.pin().remove(&Tuple::of(gone)).expect("it is there");
        insert(comes);
    };
    measure("papaya", flows, keys, rounds, look, change)
}

/// What the writer is to do.
#[derive(Default)]
struct Told {
    /// How many nanoseconds it shall take that a flow goes and one comes: 0 for as few as can be, or [`IDLE`].
    pace: AtomicU64,
    done: AtomicBool,
    /// Flows that went and came so far.
    changed: AtomicU64,
}

/// Has the writer end.
struct Done<'t>(&'t AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Changes nothing, but keeps the core at work: the processor would run the reader at another speed beside an idle one.
const IDLE: u64 = u64::MAX;

/// `look` says which of at most 32 flows it found; `change` has one flow go and one come.
fn measure(
    table: &'static str,
    flows: u64,
    keys: &[Tuple],
    rounds: usize,
    mut look: impl FnMut(&[Tuple], &mut dyn FnMut(&Record)),
    change: impl FnMut(u64, u64) + Send,
) -> Measured {
    let told = Told { pace: AtomicU64::new(IDLE), ..Told::default() };
    let mut quiet = Vec::new();
    let mut beside = RATES.map(|_| (Vec::new(), 0.0));
    let [first, last] = cores();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            stay_on(last);
            write(flows, &told, change);
        });
        // What it takes to begin is not to be measured.
        let tell = |pace| {
            let before = told.changed.load(Ordering::Relaxed);
            told.pace.store(pace, Ordering::Relaxed);
            while told.changed.load(Ordering::Relaxed) == before && !writer.is_finished() {
                thread::yield_now();
            }
            thread::sleep(Duration::from_millis(1));
        };
        stay_on(first);
        // Even if the reader fails, or nobody would end the writer.
        let _done = Done(&told.done);
        tell(0);
        for _ in 0..rounds {
            told.pace.store(IDLE, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(1));
            quiet.push(time(keys, &mut look));
            for (rate, (times, changes)) in RATES.iter().zip(&mut beside) {
                // A removal and an insertion.
                let pace = rate.map_or(0, |millions| (2_000.0 / millions) as u64);
                tell(pace);
                let (start, before) = (Instant::now(), told.changed.load(Ordering::Relaxed));
                times.push(time(keys, &mut look));
                let made = 2 * (told.changed.load(Ordering::Relaxed) - before);
                *changes += made as f64 / start.elapsed().as_micros() as f64;
            }
        }
    });
    let beside = beside.map(|(times, changes)| [median(times), changes / rounds as f64]);
    let apart = (first != last).then(|| between(first, last));
    Measured { table, quiet: median(quiet), beside, apart }
}

/// How long a line takes from one core to another: a number that both count on in turn. The least of some runs, since whatever else
/// happens makes it longer.
fn between(first: usize, last: usize) -> f64 {
    (0..20).map(|_| count_in_turn(first, last)).fold(f64::INFINITY, f64::min)
}

/// As [`between`], once.
fn count_in_turn(first: usize, last: usize) -> f64 {
    const TURNS: u64 = 2_000;
    let number = AtomicU64::new(0);
    let turn = |at: u64| {
        // No pause, which takes some processors as long as a line does.
        while number.load(Ordering::Acquire) != at {
            black_box(());
        }
        number.store(at + 1, Ordering::Release);
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            stay_on(last);
            (0..=TURNS).for_each(|n| turn(2 * n + 1));
        });
        stay_on(first);
        turn(0);
        // The other has begun when this is over.
        turn(2);
        let start = Instant::now();
        (2..=TURNS).for_each(|n| turn(2 * n));
        start.elapsed().as_nanos() as f64 / (2 * (TURNS - 1)) as f64
    })
}

/// Has flows go and come again until told to end.
fn write(flows: u64, told: &Told, mut change: impl FnMut(u64, u64)) {
    let (mut next, mut due) = (0, Instant::now());
    while !told.done.load(Ordering::Relaxed) {
        let pace = told.pace.load(Ordering::Relaxed);
        if pace == IDLE || pace > 0 && Instant::now() < due {
            continue;
        }
        due = due.max(Instant::now() - Duration::from_millis(1)) + Duration::from_nanos(pace * STEP);
        for _ in 0..STEP {
            change((next + away(flows)) % flows, next);
            next = (next + 1) % flows;
        }
        told.changed.fetch_add(STEP, Ordering::Relaxed);
    }
}

fn time(keys: &[Tuple], look: &mut impl FnMut(&[Tuple], &mut dyn FnMut(&Record))) -> f64 {
    let (mut hits, mut sum) = (0, 0);
    let start = thread_time();
    for keys in keys.chunks(32) {
        look(keys, &mut |record| {
            hits += 1;
            sum += record.value;
        });
    }
    black_box(sum);
    let time = (thread_time() - start) as f64 / keys.len() as f64;
    assert!(hits * 10 > keys.len() * 9, "nearly all are there: {hits} of {}", keys.len());
    time
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
