//! `FlowTable` beside hashbrown, absl::flat_hash_map and DPDK's rte_hash: 5-tuple keys, records of 64 bytes, all
//! tables in one process, their rounds interleaved, medians of nanoseconds and ratios within the run.

mod beside;
mod flows;
mod handles;
mod tables;

use std::{hint::black_box, io::Write, process::ExitCode, time::Instant};

use clap::Parser;
use flows::{Traffic, Tuple};
use handles::Handles;
use serde_json::{Value, json};
use tables::{Hashbrown, Ours, Table};

#[derive(Parser)]
#[command(about)]
struct Options {
    /// Numbers of flows.
    #[arg(long, value_delimiter = ',', default_values_t = [2_000, 32_000, 500_000, 8_000_000])]
    flows: Vec<u64>,
    /// Kinds of traffic whose name contains this.
    #[arg(long, default_value = "")]
    traffic: String,
    /// Rounds; the median counts.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Lookups per round.
    #[arg(long, default_value_t = 400_000)]
    packets: usize,
    /// Keys per batch, 64 at most.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..=64))]
    batch: u64,
    /// Small sizes, few rounds.
    #[arg(long)]
    quick: bool,
    /// Results as JSON.
    #[arg(long)]
    json: bool,
    /// No huge pages for any table (FlowTable asks for its own all the same).
    #[arg(long)]
    small_pages: bool,
    /// How long single insertions into FlowTable take, instead of lookups.
    #[arg(long)]
    inserts: bool,
    /// FlowTable's readers while its writer works, instead of lookups.
    #[arg(long)]
    readers: bool,
    /// Leave out the tables of others.
    #[arg(long)]
    alone: bool,
}

fn main() -> ExitCode {
    let mut options = Options::parse();
    if options.quick {
        options.flows = vec![2_000, 100_000];
        options.rounds = 3;
        options.packets = 100_000;
    }
    if !options.small_pages && with_huge_pages() {
        return ExitCode::FAILURE;
    }
    let mut results = Vec::new();
    if options.inserts || options.readers {
        options.flows.iter().for_each(|&flows| beside(flows, &options, &mut results));
        if options.json {
            println!("{}", Value::Array(results));
        }
        return ExitCode::SUCCESS;
    }
    #[cfg(dpdk)]
    let dpdk = !options.alone && tables::dpdk::start();
    #[cfg(not(dpdk))]
    let dpdk = false;
    if !dpdk && !options.alone {
        eprintln!(
            "SKIPPED: no row of rte_hash (libdpdk-dev missing when this was built, or DPDK does not start)"
        );
    }
    if !cfg!(absl) {
        eprintln!("SKIPPED: no row of absl::flat_hash_map (libabsl-dev missing when this was built)");
    }
    for &flows in &options.flows {
        size(flows, dpdk, &options, &mut results);
    }
    if options.json {
        println!("{}", Value::Array(results));
    }
    ExitCode::SUCCESS
}

fn beside(flows: u64, options: &Options, results: &mut Vec<Value>) {
    let mut report = |what: &str, text: String, values: Value| {
        if !options.json {
            println!("{flows} flows, {what}: {text}");
        }
        results.push(json!({"flows": flows, "what": what, "values": values}));
    };
    if options.inserts {
        for (what, times) in ["insertions", "nothing, measured alike"].into_iter().zip(beside::inserts(flows))
        {
            let [median, thousand, rare, worst] = times;
            let text =
                format!("median {median} ns, 99.9 % {thousand} ns, 99.999 % {rare} ns, worst {worst} ns");
            report(what, text, json!(times));
        }
    }
    if options.readers {
        let [quiet, disturbed, changes] = beside::readers(flows, options.packets, options.rounds);
        let ratio = disturbed / quiet;
        let text = format!(
            "{quiet:.1} ns a lookup without writer, {disturbed:.1} ns beside {changes:.2} M changes a second: {ratio:.2}"
        );
        report("readers", text, json!([quiet, disturbed, changes]));
    }
}

/// Runs the program anew such that glibc asks for huge pages too; true if that failed.
fn with_huge_pages() -> bool {
    const TUNABLE: &str = "glibc.malloc.hugetlb=1";
    if std::env::var("GLIBC_TUNABLES").is_ok_and(|set| set.contains(TUNABLE)) {
        return false;
    }
    use std::os::unix::process::CommandExt;
    let program = std::env::current_exe().expect("it runs");
    let error = std::process::Command::new(program)
        .args(std::env::args_os().skip(1))
        .env("GLIBC_TUNABLES", TUNABLE)
        .exec();
    eprintln!("could not start anew: {error}");
    true
}

fn size(flows: u64, dpdk: bool, options: &Options, results: &mut Vec<Value>) {
    let handles = Handles::new(flows);
    let mut tables = tables_for(flows, dpdk, options);
    for table in &mut tables {
        progress(&format!("{flows} flows: filling {}", table.name()));
        let start = Instant::now();
        (0..flows).for_each(|flow| table.insert(flow));
        let per_insert = start.elapsed().as_nanos() as f64 / flows as f64;
        results.push(json!({"flows": flows, "what": "insert", "table": table.name(), "ns": per_insert}));
    }
    header(flows, &tables, options);
    for traffic in Traffic::ALL.into_iter().filter(|traffic| traffic.name().contains(&options.traffic)) {
        let packets = traffic.packets(0, flows, options.packets);
        lookups(traffic.name(), flows, &packets, &handles, &tables, options, results);
    }
    if options.traffic.is_empty() {
        let gone = churn(flows, &mut tables, options, results);
        let packets = Traffic::Uniform.packets(gone, flows, options.packets);
        lookups("uniform, after churn", flows, &packets, &handles, &tables, options, results);
    }
    progress("");
}

fn tables_for(flows: u64, dpdk: bool, options: &Options) -> Vec<Box<dyn Table>> {
    let mut tables: Vec<Box<dyn Table>> = vec![Box::new(Ours::new(flows as usize))];
    if options.alone {
        return tables;
    }
    tables.push(Box::new(Hashbrown::new()));
    #[cfg(absl)]
    tables.push(Box::new(tables::absl::Absl::new()));
    #[cfg(dpdk)]
    if dpdk {
        // A quarter more than the flows: at its limit it refuses keys.
        let table = tables::dpdk::Dpdk::new((flows + flows / 4 + 64) as u32, !options.small_pages);
        tables.push(Box::new(table.expect("DPDK makes a table")));
    }
    let _ = dpdk;
    tables
}

/// Both ways to look up, in rounds that every table takes part in.
fn lookups(
    what: &str,
    flows: u64,
    packets: &[u64],
    handles: &Handles,
    tables: &[Box<dyn Table>],
    options: &Options,
    results: &mut Vec<Value>,
) {
    let keys: Vec<Tuple> = packets.iter().map(|&flow| Tuple::of(flow)).collect();
    let places = handles.of(packets);
    let batch = options.batch as usize;
    let found = tables[0].batch(&keys, batch);
    for table in tables {
        assert_eq!((table.single(&keys), table.batch(&keys, batch)), (found, found), "{}", table.name());
    }
    for single in [true, false] {
        let mode = if single { "single" } else { "batched" };
        let mut times = vec![Vec::new(); tables.len() + 1];
        for round in 0..options.rounds {
            progress(&format!("{flows} flows: {what}, {mode}, round {}", round + 1));
            times[0].push(time(keys.len(), || {
                if single { handles.single(&places) } else { handles.batch(&places, batch) }
            }));
            for (table, times) in tables.iter().zip(&mut times[1..]) {
                times.push(time(keys.len(), || {
                    if single { table.single(&keys) } else { table.batch(&keys, batch) }
                }));
            }
        }
        let times: Vec<f64> = times.into_iter().map(median).collect();
        row(&format!("{what}, {mode}"), Some(times[0]), &times[1..], options);
        results
            .push(json!({"flows": flows, "what": what, "mode": mode, "table": "by handle", "ns": times[0]}));
        for (table, ns) in tables.iter().zip(&times[1..]) {
            results
                .push(json!({"flows": flows, "what": what, "mode": mode, "table": table.name(), "ns": ns}));
        }
    }
}

/// The oldest flow goes, a new one comes; says how many are gone.
fn churn(flows: u64, tables: &mut [Box<dyn Table>], options: &Options, results: &mut Vec<Value>) -> u64 {
    let (mut times, mut gone) = (vec![Vec::new(); tables.len()], 0);
    let each = (options.packets as u64 / 4).min(flows);
    for round in 0..options.rounds {
        progress(&format!("{flows} flows: churn, round {}", round + 1));
        for (table, times) in tables.iter_mut().zip(&mut times) {
            times.push(time(each as usize, || {
                for flow in gone..gone + each {
                    table.remove(flow);
                    table.insert(flow + flows);
                }
                0
            }));
        }
        gone += each;
    }
    let times: Vec<f64> = times.into_iter().map(median).collect();
    row("churn: remove, insert", None, &times, options);
    for (table, ns) in tables.iter().zip(&times) {
        results.push(json!({"flows": flows, "what": "churn", "table": table.name(), "ns": ns}));
    }
    gone
}

/// Nanoseconds per lookup of this thread's time: when the system ran others in between, that is not the table's.
fn time(count: usize, work: impl FnOnce() -> u64) -> f64 {
    let start = beside::thread_time();
    black_box(work());
    (beside::thread_time() - start) as f64 / count as f64
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn header(flows: u64, tables: &[Box<dyn Table>], options: &Options) {
    if !options.json {
        progress("");
        print!("\n{:<32}{:>10}", format!("{flows} flows, ns"), "by handle");
        tables.iter().for_each(|table| print!("{:>11}", table.name()));
        println!("  best other / ours   ours / handle");
    }
}

fn row(what: &str, handle: Option<f64>, times: &[f64], options: &Options) {
    if options.json {
        return;
    }
    progress("");
    print!("{what:<32}{:>10}", handle.map_or("-".into(), |ns| format!("{ns:.1}")));
    times.iter().for_each(|ns| print!("{ns:>11.1}"));
    let best = times[1..].iter().copied().fold(f64::INFINITY, f64::min);
    let ratio = |ratio: f64| if ratio.is_finite() { format!("{ratio:.2}") } else { "-".into() };
    println!("{:>19}{:>16}", ratio(best / times[0]), ratio(handle.map_or(f64::INFINITY, |ns| times[0] / ns)));
}

/// One line on the terminal that says what is being done.
fn progress(what: &str) {
    use std::io::IsTerminal;
    let mut out = std::io::stderr();
    if out.is_terminal() {
        let _ = write!(out, "\r\x1b[K{what}");
        let _ = out.flush();
    }
}
