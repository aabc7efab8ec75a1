//! Measures: one server, polling, on a processor of its own; its client on another. All in turns, in processes that are new
//! in each round, since a server that polls would take the processor of the one that is measured.

use std::path::PathBuf;

use super::loads::{self, Callers, Load, MANY};
use super::{report, row};
use crate::peers::{Cores, Peer, Round, Times, available};
use crate::timing::median;
use crate::{LabError, Options, Row, Sink, children};

/// 64 calls outstanding: at least so many a second, and this share of the bare ring's rate.
const RATE: f64 = 5e6;
const OF_RING: f64 = 0.5;

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
    let new = |load: Load| Series { load, rates: Vec::new(), medians: Vec::new(), refused: None };
    let mut all: Vec<Series> = loads::all().into_iter().map(new).collect();
    sink.ahead(rounds * all.len() as u64);
    for round in 1..=rounds {
        for series in &mut all {
            let Load { transport, callers, outstanding, .. } = series.load;
            sink.step(&format!("round {round} of {rounds}: {transport}, {} {outstanding}", callers.name()));
            if series.refused.is_none() {
                turn(options, (Cores::Only(first), Cores::Only(second)), series)?;
            }
        }
    }
    left_out(&all).iter().for_each(|text| sink.note(text));
    all.retain(|series| !series.rates.is_empty());
    let rows = rows(&mut all);
    rows.iter().try_for_each(|row| sink.row(row.clone()))?;
    if let Some(path) = report::plot(&rows).save(options, "calls.svg")? {
        sink.note(&format!("drawn: {}", path.display()));
    }
    Ok(())
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
    match load.address() {
        Some(address) => {
            command.args([&load.objects.to_string(), "spin", address]).arg(&scratch.0);
        }
        None => drop(command.args(["floor", "poll"])),
    }
    let mut server = Peer::start("server", command, on_server)?;
    let mut command = children::command(if ring { "echo-client" } else { "bench-client" }, &[])?;
    match ring {
        true => command.args(["floor", "poll", &server.line()?]),
        false => command.args([
            server.line()?.as_str(),
            "1",
            if load.wait() == "poll" { "spin" } else { load.wait() },
        ]),
    };
    let name = if ring { "echo-client" } else { "bench-client" };
    let mut client = Peer::start(name, command, on_client)?;
    let round =
        |count, warmup| Round { op: load.callers.op(), bytes: 4, count, warmup, threads: load.outstanding };
    // About as long for all.
    let seconds = if options.quick { 0.01 } else { 0.05 };
    let trial = client.round(&round(20 * load.outstanding + load.objects, 20))?;
    let count = (trial.rate_per_s * seconds).clamp(100.0, 1e6) as u32;
    client.round(&round(count.max(load.outstanding), 0))
}

fn rows(all: &mut [Series]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut rates = Vec::new();
    for Series { load, rates: by_round, medians, .. } in all {
        let rate = median(by_round).round();
        rates.push((*load, rate));
        let with = |row: Row| {
            row.with("transport", load.transport)
                .with("layer", load.layer())
                .with("wait", load.wait())
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
        let row = row.with("transport", "shm").with("layer", load.layer()).with("wait", load.wait());
        row.with("callers", load.callers.name()).with("outstanding", load.outstanding)
    };
    vec![
        with(row("rate_outstanding", "calls/s", *calls)).at_least(RATE),
        with(row("rate_over_ring", "ratio", (calls / ring * 10_000.0).round() / 10_000.0)).at_least(OF_RING),
    ]
}
