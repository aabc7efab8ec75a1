//! Measures: one server, polling, on a processor of its own; its client on another. All in turns, in processes that are new
//! in each round, since a server that polls would take the processor of the one that is measured.

use std::path::PathBuf;

use super::row;
use crate::peers::{Cores, Peer, Round, Times, available};
use crate::timing::median;
use crate::{LabError, Options, Row, Sink, children};

/// 64 calls outstanding: at least so many a second, and this share of the bare ring's rate.
const RATE: f64 = 5e6;
const OF_RING: f64 = 0.5;
const MANY: u32 = 64;

/// How calls come to be outstanding at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Callers {
    /// No calls: bytes around the bare ring.
    Ring,
    /// Threads, each with one call at a time.
    Threads,
    /// Futures of one thread, each with one call at a time.
    Futures,
}

impl Callers {
    const fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Threads => "threads",
            Self::Futures => "futures",
        }
    }
}

/// One load.
#[derive(Clone, Copy, Debug)]
struct Load {
    transport: &'static str,
    callers: Callers,
    outstanding: u32,
    objects: u32,
}

const TRANSPORTS: [(&str, &str); 2] = [("shm", "shm:"), ("iiop", "iiop://127.0.0.1:0")];
const WIDTHS_OF_RING: [u32; 3] = [1, 8, MANY];
const THREADS: [u32; 5] = [1, 2, 4, 8, MANY];
const FUTURES: [u32; 5] = [1, 4, 16, MANY, 256];
const OBJECTS: [u32; 2] = [100, 10_000];

impl Load {
    /// What no ORB has promised: futures over the native protocol, and many clients that come at once.
    fn may_fail(self) -> bool {
        self.transport == "shm" && (self.callers == Callers::Futures || self.outstanding >= MANY)
    }
}

fn loads() -> Vec<Load> {
    let ring = |outstanding: &u32| Load {
        transport: "floor",
        callers: Callers::Ring,
        outstanding: *outstanding,
        objects: 0,
    };
    let mut loads: Vec<Load> = WIDTHS_OF_RING.iter().map(ring).collect();
    for (transport, _) in TRANSPORTS {
        let load = |callers, outstanding, objects| Load { transport, callers, outstanding, objects };
        loads.extend(THREADS.iter().map(|n| load(Callers::Threads, *n, 1)));
        loads.extend(FUTURES.iter().map(|n| load(Callers::Futures, *n, 1)));
        loads.extend(OBJECTS.iter().map(|n| load(Callers::Threads, 1, *n)));
    }
    loads
}

/// A load, and what it came to by round.
struct Series {
    load: Load,
    rates: Vec<f64>,
    medians: Vec<f64>,
    /// Why it can't be.
    refused: Option<LabError>,
}

/// All loads; none on a machine with one processor.
pub(super) fn all(options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
    let cores = available()?;
    let [first, second, ..] = cores[..] else {
        sink.note("nothing was measured: a server that polls and its client need two processors");
        return Ok(());
    };
    let rounds = if options.quick { 1 } else { 7 };
    let new = |load| Series { load, rates: Vec::new(), medians: Vec::new(), refused: None };
    let mut all: Vec<Series> = loads().into_iter().map(new).collect();
    sink.ahead(rounds);
    for round in 1..=rounds {
        sink.step(&format!("round {round} of {rounds}"));
        for series in all.iter_mut().filter(|series| series.refused.is_none()) {
            turn(options, (Cores::Only(first), Cores::Only(second)), series)?;
        }
    }
    left_out(&all).iter().for_each(|text| sink.note(text));
    all.retain(|series| !series.rates.is_empty());
    rows(&mut all).into_iter().try_for_each(|row| sink.row(row))
}

fn turn(options: &Options, cores: (Cores, Cores), series: &mut Series) -> Result<(), LabError> {
    match run(options, cores, series.load) {
        Ok(times) => {
            series.rates.push(times.rate_per_s);
            series.medians.push(times.median_ns / 1_000.0);
        }
        Err(why) if series.load.may_fail() => series.refused = Some(why),
        Err(why) => return Err(why),
    }
    Ok(())
}

/// What failed, and why: a note for each transport and kind of caller.
fn left_out(all: &[Series]) -> Vec<String> {
    let mut notes: Vec<((&str, &str), String)> = Vec::new();
    for series in all {
        let Some(why) = &series.refused else { continue };
        let (over, callers) = (series.load.transport, series.load.callers.name());
        match notes.iter_mut().find(|(of, _)| *of == (over, callers)) {
            Some((_, note)) => *note += &format!(", {}", series.load.outstanding),
            None => {
                let outstanding = series.load.outstanding;
                let note = format!("left out over {over} ({why}): {callers}, outstanding {outstanding}");
                notes.push(((over, callers), note));
            }
        }
    }
    notes.into_iter().map(|(_, note)| note).collect()
}

/// Files with references, removed in the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn run(options: &Options, (on_server, on_client): (Cores, Cores), load: Load) -> Result<Times, LabError> {
    let ring = load.callers == Callers::Ring;
    let name = format!("throughline-lab-{}.references", std::process::id());
    let scratch = Scratch(std::env::temp_dir().join(name));
    let mut command = children::command(if ring { "echo-server" } else { "bench-server" }, &[])?;
    match TRANSPORTS.iter().find(|(name, _)| *name == load.transport) {
        Some((_, address)) => {
            command.args([&load.objects.to_string(), "spin", *address]).arg(&scratch.0);
        }
        None => drop(command.args(["floor", "poll"])),
    }
    let mut server = Peer::start("server", command, on_server)?;
    let mut command = children::command(if ring { "echo-client" } else { "bench-client" }, &[])?;
    match ring {
        true => command.args(["floor", "poll", &server.line()?]),
        false => command.args([&server.line()?, "1", waiting(load)]),
    };
    let name = if ring { "echo-client" } else { "bench-client" };
    let mut client = Peer::start(name, command, on_client)?;
    let op = match load.callers {
        Callers::Ring => "pipe",
        Callers::Threads => "ping",
        Callers::Futures => "ping-async",
    };
    let round = |count, warmup| Round { op, bytes: 4, count, warmup, threads: load.outstanding };
    // About as long for all.
    let seconds = if options.quick { 0.01 } else { 0.05 };
    let trial = client.round(&round(20 * load.outstanding + load.objects, 20))?;
    let count = (trial.rate_per_s * seconds).clamp(100.0, 1e6) as u32;
    client.round(&round(count.max(load.outstanding), 0))
}

/// Threads that share a processor don't poll: each would keep the others from their replies.
fn waiting(load: Load) -> &'static str {
    if load.outstanding == 1 { "spin" } else { "block" }
}

fn rows(all: &mut [Series]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut rates = Vec::new();
    for Series { load, rates: by_round, medians, .. } in all {
        let rate = median(by_round).round();
        rates.push((*load, rate));
        let with = |row: Row| {
            row.with("transport", load.transport)
                .with("callers", load.callers.name())
                .with("outstanding", load.outstanding)
                .with("objects", load.objects)
        };
        rows.push(with(row("rate", "calls/s", rate)));
        rows.push(with(row("latency_median", "us", (median(medians) * 1_000.0).round() / 1_000.0)));
    }
    rows.extend(judged(&rates));
    rows
}

/// What up to 64 outstanding come to over shared memory, by whichever callers do best, beside 64 around the ring.
fn judged(rates: &[(Load, f64)]) -> Vec<Row> {
    let best = |transport: &str| {
        let one = |load: &Load| load.outstanding <= MANY && load.objects <= 1;
        let here = rates.iter().filter(|(load, _)| load.transport == transport && one(load));
        here.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let (Some((load, calls)), Some((_, ring))) = (best("shm"), best("floor")) else { return Vec::new() };
    let with = |row: Row| {
        let row = row.with("transport", "shm").with("callers", load.callers.name());
        row.with("outstanding", load.outstanding)
    };
    vec![
        with(row("rate_outstanding", "calls/s", *calls)).at_least(RATE),
        with(row("rate_over_ring", "ratio", (calls / ring * 10_000.0).round() / 10_000.0)).at_least(OF_RING),
    ]
}
