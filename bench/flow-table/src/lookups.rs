//! Lookups and churn, in rounds that every table takes part in.

use std::{
    hint::black_box,
    ops::Range,
    time::{Duration, Instant},
};

use crate::{
    Options, beside,
    flows::{Traffic, Tuple},
    handles::Handles,
    progress,
    report::{HANDLE, KNOWN, Mode, Row, Time},
    tables::{self, Hashbrown, Ours, Table},
};

/// Rows for each number of flows.
pub fn measure(options: &Options) -> Vec<Row> {
    let dpdk = start_others(options);
    let mut rows = Vec::new();
    options.flows.iter().for_each(|&flows| size(flows, dpdk, options, &mut rows));
    rows
}

/// Whether DPDK runs here. Says which rows there will not be.
fn start_others(options: &Options) -> bool {
    #[cfg(dpdk)]
    let dpdk = options.wants("rte_hash") && tables::dpdk::start();
    #[cfg(not(dpdk))]
    let dpdk = false;
    if !dpdk && options.wants("rte_hash") {
        eprintln!(
            "SKIPPED: no column of rte_hash (libdpdk-dev missing when this was built, or DPDK does not start)"
        );
    }
    if !cfg!(absl) && options.wants("absl") {
        eprintln!("SKIPPED: no column of absl::flat_hash_map (libabsl-dev missing when this was built)");
    }
    dpdk
}

fn size(flows: u64, dpdk: bool, options: &Options, rows: &mut Vec<Row>) {
    // One each for handles and known places: whoever comes second must not find the records in the caches.
    let mut handles = [Handles::new(flows), Handles::new(flows)];
    let (mut tables, filling) = filled(flows, dpdk, options);
    rows.push(filling);
    for traffic in Traffic::ALL.into_iter().filter(|traffic| traffic.name().contains(&options.traffic)) {
        let packets = traffic.packets(0, flows, options.packets);
        lookups(traffic.name(), flows, &packets, &handles, &tables, options, rows);
    }
    if options.traffic.is_empty() {
        let gone = churn(flows, &mut tables, options, rows);
        handles.iter_mut().for_each(|handles| handles.fill(gone));
        let packets = Traffic::Uniform.packets(gone, flows, options.packets);
        lookups("uniform, after churn", flows, &packets, &handles, &tables, options, rows);
    }
}

/// Small tables are filled several times, each time new ones: once is over before a processor is at its usual speed.
const SMALL: u64 = 100_000;

/// The tables, filled, and how long that took.
fn filled(flows: u64, dpdk: bool, options: &Options) -> (Vec<Box<dyn Table>>, Row) {
    let times = if flows <= SMALL { options.rounds } else { 1 };
    let mut tables = Vec::new();
    let mut filling: Vec<(String, Vec<f64>)> = Vec::new();
    for time in 0..times {
        // The ones before are gone first: there is memory for one of each.
        tables.clear();
        tables = tables_for(flows, dpdk, options);
        filling.resize_with(tables.len(), Default::default);
        for (table, (name, times)) in tables.iter_mut().zip(&mut filling) {
            progress(&format!("{flows} flows: filling {}, round {}", table.name(), time + 1));
            table.name().clone_into(name);
            times.push(fill(table.as_mut(), flows).as_nanos() as f64 / flows as f64);
        }
    }
    let times = filling.into_iter().map(|(table, times)| Time { table, ns: median(times) }).collect();
    (tables, Row { flows, what: "filling".into(), mode: None, times })
}

/// Adds the first flows, and says how long that took once their keys were known.
pub fn fill(table: &mut dyn Table, flows: u64) -> Duration {
    const KEYS: usize = 4096;
    let mut time = Duration::ZERO;
    for first in (0..flows).step_by(KEYS) {
        let keys = keys(first..flows.min(first + KEYS as u64));
        let start = Instant::now();
        table.fill(&keys, first);
        time += start.elapsed();
    }
    time
}

fn keys(flows: Range<u64>) -> Vec<Tuple> {
    flows.map(Tuple::of).collect()
}

/// The first of the tables filled, and so many flows of it exchanged one at a time; says nothing unless there is none.
pub fn change_only(count: u64, options: &Options) -> bool {
    let dpdk = start_others(options);
    options.flows.iter().all(|&flows| {
        let mut tables = tables_for(flows, dpdk, options);
        let Some(table) = tables.first_mut() else {
            eprintln!("this program was built without that table");
            return false;
        };
        fill(table.as_mut(), flows);
        table.change(&keys(0..count), &keys(flows..flows + count), flows, 1);
        true
    })
}

fn tables_for(flows: u64, dpdk: bool, options: &Options) -> Vec<Box<dyn Table>> {
    let mut tables: Vec<Box<dyn Table>> = Vec::new();
    let reserved = options.reserved(flows);
    if options.wants("FlowTable") {
        tables.push(Box::new(Ours::new(options.limit(flows), reserved)));
    }
    if options.wants("hashbrown") {
        tables.push(Box::new(Hashbrown::new(reserved)));
    }
    #[cfg(absl)]
    if options.wants("absl") {
        tables.push(Box::new(tables::absl::Absl::new(reserved)));
    }
    #[cfg(dpdk)]
    if dpdk {
        // A quarter more than the flows: at its limit it refuses keys.
        let table = tables::dpdk::Dpdk::new((flows + flows / 4 + 64) as u32, !options.small_pages);
        tables.push(Box::new(table.expect("DPDK makes a table")));
    }
    let _ = dpdk;
    tables
}

/// Something to be timed, and whose it is.
type Work<'a> = (&'static str, Box<dyn Fn() -> u64 + 'a>);

/// All ways to look up.
fn lookups(
    what: &str,
    flows: u64,
    packets: &[u64],
    handles: &[Handles; 2],
    tables: &[Box<dyn Table>],
    options: &Options,
    rows: &mut Vec<Row>,
) {
    let keys: Vec<Tuple> = packets.iter().map(|&flow| Tuple::of(flow)).collect();
    let places = handles[0].of(packets);
    for mode in [Mode::Single, Mode::Independent, Mode::Batched] {
        let works = works(mode, &keys, &places, handles, tables, options.batch as usize);
        let found = works[1].1();
        // Handles know nothing of misses.
        works[1..].iter().for_each(|(name, work)| assert_eq!(work(), found, "{name}"));
        let mut times = vec![Vec::new(); works.len()];
        for round in 0..options.rounds {
            progress(&format!("{flows} flows: {what}, {}, round {}", mode.name(), round + 1));
            for ((_, work), times) in works.iter().zip(&mut times) {
                times.push(time(keys.len(), work));
            }
        }
        let names = works.iter().map(|(name, _)| (*name).to_owned());
        let times = names.zip(times).map(|(table, times)| Time { table, ns: median(times) });
        rows.push(Row { flows, what: what.into(), mode: Some(mode), times: times.collect() });
    }
}

fn works<'a>(
    mode: Mode,
    keys: &'a [Tuple],
    places: &'a [u32],
    [handles, known]: &'a [Handles; 2],
    tables: &'a [Box<dyn Table>],
    batch: usize,
) -> Vec<Work<'a>> {
    let mut works: Vec<Work<'a>> = match mode {
        Mode::Single => vec![
            (HANDLE, Box::new(|| handles.single(places))),
            (KNOWN, Box::new(|| known.single_compared(keys, places))),
        ],
        Mode::Independent => vec![
            (HANDLE, Box::new(|| handles.independent(places))),
            (KNOWN, Box::new(|| known.independent_compared(keys, places))),
        ],
        Mode::Batched => vec![
            (HANDLE, Box::new(move || handles.batch(places, batch))),
            (KNOWN, Box::new(move || known.batch_compared(keys, places, batch))),
        ],
    };
    works.extend(tables.iter().map(|table| {
        let work: Box<dyn Fn() -> u64> = match mode {
            Mode::Single => Box::new(|| table.single(keys)),
            Mode::Independent => Box::new(|| table.independent(keys)),
            Mode::Batched => Box::new(move || table.batch(keys, batch)),
        };
        (table.name(), work)
    }));
    works
}

/// The oldest flows go, new ones come, one at a time and in batches; says how many are gone.
fn churn(flows: u64, tables: &mut [Box<dyn Table>], options: &Options, rows: &mut Vec<Row>) -> u64 {
    let mut gone = 0;
    let each = options.packets as u64 / 4;
    for (mode, batch) in [(Mode::Single, 1), (Mode::Batched, options.batch)] {
        let mut times = vec![Vec::new(); tables.len()];
        for round in 0..options.rounds {
            progress(&format!("{flows} flows: churn, {}, round {}", mode.name(), round + 1));
            let (go, come) = (keys(gone..gone + each), keys(gone + flows..gone + flows + each));
            for (table, times) in tables.iter_mut().zip(&mut times) {
                let change = || table.change(&go, &come, gone + flows, batch as usize);
                times.push(time(each as usize, change));
            }
            gone += each;
        }
        let names = tables.iter().map(|table| table.name().to_owned());
        let times = names.zip(times).map(|(table, times)| Time { table, ns: median(times) }).collect();
        let what = format!("remove, insert, {}", mode.name());
        rows.push(Row { flows, what, mode: None, times });
    }
    gone
}

/// Nanoseconds per lookup of this thread's time: when the system ran others in between, that is not the table's.
fn time<O>(count: usize, work: impl FnOnce() -> O) -> f64 {
    let start = beside::thread_time();
    black_box(work());
    (beside::thread_time() - start) as f64 / count as f64
}

pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
