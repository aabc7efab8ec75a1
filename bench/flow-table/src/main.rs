//! `FlowTable` beside hashbrown, absl::flat_hash_map and DPDK's rte_hash: 5-tuple keys, records of 64 bytes, all
//! tables in one process, their rounds interleaved, medians of nanoseconds and ratios within the run.

mod beside;
mod flows;
mod handles;
mod lines;
mod lookups;
mod plot;
mod readers;
mod report;
mod tables;

use std::{io::Write, path::PathBuf, process::ExitCode};

use clap::Parser;
use report::Row;
use serde_json::{Value, json};

#[derive(Parser)]
#[command(about)]
struct Options {
    /// Numbers of flows.
    #[arg(long, value_delimiter = ',', default_values_t = [2_000, 8_000, 32_000, 500_000, 8_000_000])]
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
    /// Rows of earlier runs, written with `--json`, instead of lookups.
    #[arg(long, value_name = "FILE")]
    from: Vec<PathBuf>,
    /// Draws the lookups of uniform traffic.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// How long single insertions into FlowTable take, instead of lookups.
    #[arg(long)]
    inserts: bool,
    /// How long it takes to pass all records of FlowTable, at once and in parts, instead of lookups.
    #[arg(long)]
    sweeps: bool,
    /// Bytes that FlowTable and hashbrown's table take for a record of 64, instead of lookups.
    #[arg(long)]
    memory: bool,
    /// Readers of FlowTable, dashmap and papaya while one thread changes the table, instead of lookups.
    #[arg(long)]
    readers: bool,
    /// How long lines of memory take that are asked for together, instead of lookups.
    #[arg(long)]
    lines: bool,
    /// Nothing but so many changes of the first table, one at a time after it is filled, to be counted by callgrind.
    #[arg(long, value_name = "COUNT")]
    changes: Option<u64>,
    /// By how many per cent the limit of FlowTable is more than the flows.
    #[arg(long, value_name = "PERCENT", default_value_t = 0)]
    spare: u64,
    /// Have the tables take the memory that they need before they are filled; rte_hash always does.
    #[arg(long)]
    reserve: bool,
    /// Only the tables of these names.
    #[arg(long, value_delimiter = ',', value_parser = ["FlowTable", "hashbrown", "absl", "rte_hash"])]
    tables: Vec<String>,
    /// Leave out the tables of others.
    #[arg(long)]
    alone: bool,
}

impl Options {
    /// The limit of FlowTable for so many flows.
    fn limit(&self, flows: u64) -> usize {
        (flows + flows * self.spare / 100) as usize
    }

    /// For how many flows memory is to be taken before the tables are filled.
    fn reserved(&self, flows: u64) -> usize {
        if self.reserve { flows as usize } else { 0 }
    }

    /// Whether the table of this name takes part.
    fn wants(&self, table: &str) -> bool {
        let named = self.tables.is_empty() || self.tables.iter().any(|name| name == table);
        named && (table == "FlowTable" || !self.alone)
    }
}

fn main() -> ExitCode {
    let mut options = Options::parse();
    if options.quick {
        options.flows = vec![2_000, 100_000];
        options.rounds = 3;
        options.packets = 100_000;
    }
    if options.from.is_empty() && !options.small_pages && with_huge_pages() {
        return ExitCode::FAILURE;
    }
    if options.lines {
        lines::print();
        return ExitCode::SUCCESS;
    }
    if let Some(count) = options.changes {
        return if lookups::change_only(count, &options) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if options.inserts || options.sweeps || options.memory || options.readers {
        let mut results = Vec::new();
        options.flows.iter().for_each(|&flows| beside(flows, &options, &mut results));
        if options.json {
            println!("{}", Value::Array(results));
        }
        return ExitCode::SUCCESS;
    }
    match rows(&options).and_then(|rows| show(&rows, &options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Those of earlier runs, or those of this one.
fn rows(options: &Options) -> Result<Vec<Row>, String> {
    if options.from.is_empty() {
        return Ok(lookups::measure(options));
    }
    let read: Result<Vec<_>, _> = options.from.iter().map(|file| report::read(file)).collect();
    Ok(read?.into_iter().flatten().collect())
}

fn show(rows: &[Row], options: &Options) -> Result<(), String> {
    progress("");
    if options.json {
        println!("{}", serde_json::to_string(rows).map_err(|error| error.to_string())?);
    } else {
        report::print(rows);
    }
    options.svg.as_ref().map_or(Ok(()), |file| plot::draw(file, rows, flows::Traffic::Uniform.name()))
}

fn beside(flows: u64, options: &Options, results: &mut Vec<Value>) {
    let mut report = |what: &str, text: String, values: Value| {
        if !options.json {
            println!("{flows} flows, {what}: {text}");
        }
        results.push(json!({"flows": flows, "what": what, "values": values}));
    };
    if options.inserts {
        let measured = beside::inserts(flows, options);
        for (what, times) in ["insertions", "nothing, measured alike"].into_iter().zip(measured) {
            let [median, thousand, rare, worst] = times;
            let text =
                format!("median {median} ns, 99.9 % {thousand} ns, 99.999 % {rare} ns, worst {worst} ns");
            report(what, text, json!(times));
        }
    }
    if options.sweeps {
        let [ours, hashbrown] = beside::retain(flows, options);
        let text = format!("{ours:.2} ns a record, hashbrown {hashbrown:.2}: {:.2}", hashbrown / ours);
        report("retain, all stay", text, json!([ours, hashbrown]));
        for (what, stays) in [("all stay", 1), ("three of four go", 4)] {
            let [median, rare, worst] = beside::sweep(flows, options, stays);
            let text = format!("median {median} ns, 99.9 % {rare} ns, worst {worst} ns");
            report(
                &format!("sweeps of {} records, {what}", beside::PART),
                text,
                json!([median, rare, worst]),
            );
        }
    }
    if options.memory {
        let [ours, hashbrown] = beside::memory(flows, options);
        let text = format!("{ours:.1} bytes for a record, hashbrown's {hashbrown:.1}");
        report("memory", text, json!([ours, hashbrown]));
    }
    if options.readers {
        for measured in readers::readers(flows, options.packets, options.rounds, options.alone) {
            let quiet = measured.quiet;
            let text: Vec<_> = measured
                .beside
                .iter()
                .map(|[ns, changes]| {
                    format!("{ns:.1} beside {changes:.1} M changes a second ({:.2})", ns / quiet)
                })
                .collect();
            let apart = measured.apart.map_or("one core".into(), |ns| format!("cores {ns:.0} ns apart"));
            let text = format!("{quiet:.1} ns a lookup without writer, {} ({apart})", text.join(", "));
            let values = json!([quiet, measured.beside, measured.apart]);
            report(&format!("readers of {}", measured.table), text, values);
        }
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

/// One line on the terminal that says what is being done.
fn progress(what: &str) {
    use std::io::IsTerminal;
    let mut out = std::io::stderr();
    if out.is_terminal() {
        let _ = write!(out, "\r\x1b[K{what}");
        let _ = out.flush();
    }
}
