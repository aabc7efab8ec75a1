//! Measures: each way in turn, in rounds, in processes that are new in each round, since those that poll would take the
//! processors of those that are measured.

use std::time::Instant;

use super::ways::{self, Layer, Way};
use crate::peers::{Cores, Round, available};
use crate::timing::median;
use crate::{LabError, Options, Sink};

/// Bytes that go each way.
const SIZES: [u32; 10] = [4, 64, 256, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536];
const FEW_SIZES: [u32; 3] = [4, 8_192, 65_536];

/// One-way latency, over all rounds; microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latency {
    pub(super) way: Way,
    pub(super) bytes: u32,
    pub(super) median: f64,
    pub(super) p99: f64,
}

/// Everything that was measured between two processes.
pub(super) struct Measured {
    pub(super) all: Vec<Latency>,
    sizes: &'static [u32],
}

impl Measured {
    pub(super) fn sizes(&self) -> &'static [u32] {
        self.sizes
    }

    /// The median of one way for messages of one size, if it was measured.
    pub(super) fn median(&self, transport: &str, layer: Layer, wait: &str, bytes: u32) -> Option<f64> {
        let wanted = |l: &&Latency| {
            (l.way.transport, l.way.layer, l.way.wait, l.bytes) == (transport, layer, wait, bytes)
        };
        self.all.iter().find(wanted).map(|latency| latency.median)
    }
}

/// Round trips in microseconds, by round.
#[derive(Clone, Default)]
struct Series {
    medians: Vec<f64>,
    p99s: Vec<f64>,
}

/// All ways and sizes; none on a machine with one processor.
pub(super) fn all(options: &Options, sink: &mut dyn Sink) -> Result<Option<Measured>, LabError> {
    let cores = available()?;
    let [first, second, ..] = cores[..] else {
        sink.note("nothing was measured: two processes that wait for each other need two processors");
        return Ok(None);
    };
    let sizes: &'static [u32] = if options.quick { &FEW_SIZES } else { &SIZES };
    let rounds = if options.quick { 3 } else { 9 };
    let ways = ways::all();
    let mut series = vec![Series::default(); ways.len() * sizes.len()];
    sink.ahead(rounds * ways.len() as u64);
    for round in 1..=rounds {
        for (way, series) in ways.iter().zip(series.chunks_mut(sizes.len())) {
            sink.step(&format!("round {round} of {rounds}: {}", way.name()));
            let cores = (Cores::Only(first), Cores::Only(second));
            turn(options, way, cores, sizes, series).map_err(|error| told(way, &error))?;
        }
    }
    let clock = clock_reading();
    let one_way = |round_trips: &mut [f64]| (median(round_trips) - clock).max(0.0) / 2.0;
    let of = |(way, series): (&Way, &mut [Series])| -> Vec<Latency> {
        let latency = |(bytes, series): (&u32, &mut Series)| Latency {
            way: *way,
            bytes: *bytes,
            median: one_way(&mut series.medians),
            p99: one_way(&mut series.p99s),
        };
        let all = sizes.iter().zip(series).filter(|(bytes, _)| way.takes(**bytes));
        all.map(latency).collect()
    };
    let all = ways.iter().zip(series.chunks_mut(sizes.len())).flat_map(of).collect();
    Ok(Some(Measured { all, sizes }))
}

fn told(way: &Way, error: &LabError) -> LabError {
    crate::peers::failure(&way.name(), &error.to_string())
}

/// One way's turn: all sizes.
fn turn(
    options: &Options,
    way: &Way,
    (server, client): (Cores, Cores),
    sizes: &[u32],
    series: &mut [Series],
) -> Result<(), LabError> {
    // Nanoseconds that each size may take.
    let budget = if options.quick { 3e6 } else { 12e6 };
    let mut pair = way.start(server, client)?;
    for (bytes, series) in sizes.iter().zip(series).filter(|(bytes, _)| way.takes(**bytes)) {
        let round = |count, warmup| Round { op: pair.op, bytes: *bytes, count, warmup, threads: 1 };
        let trial = pair.client.round(&round(50, 100))?;
        let count = (budget / trial.median_ns.max(1.0)).clamp(100.0, 20_000.0) as u32;
        let times = pair.client.round(&round(count, 0))?;
        series.medians.push(times.median_ns / 1_000.0);
        series.p99s.push(times.p99_ns / 1_000.0);
    }
    pair.end();
    Ok(())
}

/// What of each round trip is the reading of the clock; microseconds.
fn clock_reading() -> f64 {
    let mut readings: Vec<f64> =
        (0..10_001).map(|_| Instant::now().elapsed().as_nanos() as f64 / 1_000.0).collect();
    median(&mut readings)
}
