//! Instructions per step and cache lines touched, counted by callgrind.

use std::collections::BTreeMap;

use throughline::Strategy;

use super::probe::Probe;
use super::row;
use super::shapes::Shape;
use super::world::Strategies;
use crate::callgrind::{self, Counts, Labelled};
use crate::{LabError, Options, Row, Sink};

/// From object key and operation index to the skeleton, under `active`.
const BY_INDEX: f64 = 20.0;
/// By name through the perfect hash, at most so many more, for names of up to [`SHORT_NAME`] bytes.
const BY_NAME: f64 = 60.0;
const SHORT_NAME: u32 = 24;
/// Cache lines that a lookup touches when the ORB's own are warm: the segment's address and the object's cell.
const LINES: f64 = 2.0;

/// Strategies, objects and operations of each world.
fn probes(options: &Options) -> Vec<Probe> {
    let [linear, dynamic, perfect, active] = Strategies::PAPER;
    let [by_name, ..] = Strategies::MIXED;
    let probe =
        |strategies, objects, operations| Probe { strategies, objects, operations, seed: options.seed };
    let many = if options.quick { 20_000 } else { 1_000_000 };
    let mut probes = vec![
        probe(linear, 1, 100),
        probe(linear, 100, 100),
        probe(active, 1, 100),
        probe(active, many, 100),
        probe(by_name, 1, 136),
        probe(by_name, 1, 24),
        probe(perfect, 1, 100),
        probe(dynamic, 1, 100),
    ];
    if !options.quick {
        probes.extend([linear, dynamic, perfect, active].map(|strategies| probe(strategies, 500, 100)));
        probes.extend([dynamic, perfect].map(|strategies| probe(strategies, 100_000, 100)));
        probes.extend([1, 10].map(|operations| probe(by_name, 1, operations)));
        probes.push(probe(by_name, many, 136));
    }
    probes
}

/// Counts, if this machine can.
pub(crate) fn measure(options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
    if let Some(missing) = callgrind::missing() {
        sink.note(missing);
        return Ok(());
    }
    let probes = probes(options);
    sink.ahead(probes.len() as u64);
    for probe in probes {
        sink.step(&format!("instructions: {}, {} objects", probe.strategies, probe.objects));
        let counts = callgrind::run("dispatch-probe", &probe.arguments())?;
        for row in rows(&probe, &counts) {
            sink.row(row)?;
        }
    }
    Ok(())
}

/// Averages by `invocation/step`, and misses by `invocation/step/repetitions`.
struct Averages<'a>(&'a Labelled);

impl Averages<'_> {
    fn of(&self, label: &str) -> Option<f64> {
        let found = self.0.iter().find_map(|(full, counts)| {
            let (start, repetitions) = full.rsplit_once('/')?;
            (start == label).then_some((counts, repetitions))
        });
        let (counts, repetitions) = found?;
        Some(counts.instructions / repetitions.parse::<f64>().ok()?)
    }

    fn misses(&self, label: &str) -> Option<f64> {
        self.0.iter().find(|(full, _)| full == label).map(|(_, counts)| counts.misses)
    }
}

fn rows(probe: &Probe, counts: &Labelled) -> Vec<Row> {
    let averages = Averages(counts);
    let mut rows = Vec::new();
    for invocation in ["first", "worst-case", "random"] {
        rows.extend(steps(probe, &averages, invocation));
        rows.extend(way(probe, &averages, invocation));
        rows.extend(lines(probe, &averages, invocation));
    }
    rows.extend(by_length(probe, counts, averages.of("first/nothing").unwrap_or(0.0)));
    rows
}

fn instructions(probe: &Probe, value: f64, invocation: &str, step: &str) -> Row {
    let value = (value * 100.0).round() / 100.0;
    row("instructions", "instructions", value, probe.strategies, Shape::of(probe.operations))
        .with("objects", probe.objects)
        .with("invocation", invocation)
        .with("step", step)
}

/// Each step with its call, less what counting costs.
fn steps(probe: &Probe, averages: &Averages<'_>, invocation: &str) -> Vec<Row> {
    let Some(nothing) = averages.of(&format!("{invocation}/nothing")) else { return Vec::new() };
    let step = |name: &str| Some((name.to_owned(), averages.of(&format!("{invocation}/{name}"))? - nothing));
    let all = ["find-object", "find-operation", "skeleton", "message"].iter().filter_map(|name| step(name));
    let mut rows: Vec<Row> = all.map(|(name, value)| instructions(probe, value, invocation, &name)).collect();
    let plain = step("plain-match").filter(|_| probe.strategies.operations == Strategy::PerfectHash);
    rows.extend(plain.map(|(_, value)| {
        instructions(probe, value, invocation, "find-operation")
            .with("strategy", "match")
            .with("objects_by", "")
            .with("operations_by", "match")
    }));
    rows
}

/// From key and operation to the skeleton's first instruction, less the call of a skeleton at hand.
fn way(probe: &Probe, averages: &Averages<'_>, invocation: &str) -> Vec<Row> {
    let of = |step: &str| averages.of(&format!("{invocation}/{step}"));
    let (Some(at_hand), Some(by_index), Some(by_name)) =
        (of("at-hand"), of("to-skeleton"), of("to-skeleton-by-name"))
    else {
        return Vec::new();
    };
    let active = probe.strategies.objects == Strategy::Active;
    let row = instructions(probe, by_index - at_hand, invocation, "to-skeleton");
    let mut rows = vec![if active { row.at_most(BY_INDEX) } else { row }];
    rows.push(instructions(probe, by_name - at_hand, invocation, "to-skeleton-by-name"));
    rows
}

/// Cache lines touched from empty caches: by the first lookup, which meets the ORB's and the arena's own lines as well,
/// and on average by each of many further ones.
fn lines(probe: &Probe, averages: &Averages<'_>, invocation: &str) -> Vec<Row> {
    let repetitions = if invocation == "random" { super::probe::SAMPLE } else { 1 };
    let of = |step: &str, count: u32| averages.misses(&format!("{invocation}/{step}/{count}"));
    let touched = |count: u32| Some(of("cold-find-object", count)? - of("cold-nothing", count)?);
    let line = |value: f64, counted: &str| {
        row("cache_lines", "lines", value, probe.strategies, Shape::of(probe.operations))
            .with("objects", probe.objects)
            .with("invocation", invocation)
            .with("step", "find-object")
            .with("counted", counted)
    };
    let Some(first) = touched(1) else { return Vec::new() };
    let mut rows = vec![line(first, "first lookup")];
    if let Some(all) = touched(repetitions).filter(|_| repetitions > 1) {
        let each = (all - first) / f64::from(repetitions - 1);
        let row = line((each * 100.0).round() / 100.0, "each further lookup");
        let active = probe.strategies.objects == Strategy::Active;
        rows.push(if active { row.at_most(LINES) } else { row });
    }
    rows
}

/// Finding an operation that was not predicted, by the length of its name.
fn by_length(probe: &Probe, counts: &Labelled, nothing: f64) -> Vec<Row> {
    let mut lengths: BTreeMap<u32, f64> = BTreeMap::new();
    for (label, Counts { instructions, .. }) in counts {
        let length = label.strip_prefix("name-").and_then(|rest| rest.split('/').next()?.parse().ok());
        let most = length.map(|length| lengths.entry(length).or_default());
        if let Some(most) = most {
            *most = most.max(instructions - nothing);
        }
    }
    let by_hash = probe.strategies.operations == Strategy::PerfectHash;
    let row = |(length, value): (u32, f64)| {
        let row = instructions(probe, value, "each name", "find-operation").with("name_length", length);
        if by_hash && length <= SHORT_NAME { row.at_most(BY_NAME) } else { row }
    };
    lengths.into_iter().map(row).collect()
}
