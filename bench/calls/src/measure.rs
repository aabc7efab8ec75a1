//! Measures: in each round every way has its turn, in processes that are new, since those that poll would take the
//! processors of those that are measured.

use throughline_lab::peers::{Cores, Round, Times, available};

use crate::{
    Failure, Options, copies, parts,
    report::Row,
    ways::{self, SIZES, Way},
};

/// Medians and so on, by round.
struct Series {
    way: &'static Way,
    bytes: u32,
    rounds: Vec<Times>,
}

/// A row for each way and size.
pub fn all(options: &Options) -> Result<Vec<Row>, Failure> {
    let [first, second, ..] = available()?[..] else {
        return Err("two processes that wait for each other need two processors".into());
    };
    let cores = (Cores::Only(first), Cores::Only(second));
    let chosen = |way: &&Way| way.full_name().contains(&options.only);
    let mut ways: Vec<(&'static Way, Vec<Series>)> =
        ways::ALL.iter().filter(chosen).map(|way| (way, series(way))).collect();
    let rounds = if options.quick { 1 } else { options.rounds };
    let mut copying = Vec::new();
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        copying.push(copies::measure(8_192));
        ways.retain_mut(|(way, series)| match turn(way, options.quick, cores, series) {
            Ok(()) => true,
            Err(why) => {
                eprintln!("SKIPPED: {}: {why}", way.full_name());
                false
            }
        });
    }
    let clock = parts::clock_reading();
    let mut rows = vec![Row::copy(8_192, median(copying))];
    rows.extend(ways.iter().flat_map(|(_, all)| all).map(|series| summary(series, clock)));
    Ok(rows)
}

fn series(way: &'static Way) -> Vec<Series> {
    let taken = SIZES.into_iter().filter(|bytes| way.takes(*bytes));
    taken.map(|bytes| Series { way, bytes, rounds: Vec::new() }).collect()
}

/// One way's turn: all sizes.
fn turn(way: &Way, quick: bool, (server, client): (Cores, Cores), all: &mut [Series]) -> Result<(), Failure> {
    // Nanoseconds that each size may take.
    let budget = if quick { 3e6 } else { 20e6 };
    let mut pair = way.start(server, client)?;
    for Series { bytes, rounds, .. } in all {
        let round = |count, warmup| Round {
            op: way.op(*bytes),
            bytes: *bytes,
            count,
            warmup,
            threads: way.outstanding,
        };
        let trial = pair.client.round(&round(20 * way.outstanding, 100))?;
        let count = (budget * trial.rate_per_s / 1e9).clamp(64.0 * f64::from(way.outstanding), 1e6) as u32;
        rounds.push(pair.client.round(&round(count, 0))?);
    }
    pair.end()
}

fn summary(series: &Series, clock: f64) -> Row {
    let of = |what: fn(&Times) -> f64| median(series.rounds.iter().map(what).collect());
    Row {
        way: series.way.name.into(),
        wait: series.way.wait.name().into(),
        outstanding: series.way.outstanding,
        bytes: series.bytes,
        median_ns: (of(|times| times.median_ns) - clock).max(0.0),
        p99_ns: (of(|times| times.p99_ns) - clock).max(0.0),
        rate_per_s: of(|times| times.rate_per_s),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
