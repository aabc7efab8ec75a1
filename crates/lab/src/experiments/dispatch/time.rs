//! Time per step and for the whole message.

use std::hint::black_box;
use std::time::Duration;

use throughline::Strategy;

use super::shapes::Shape;
use super::steps::{Repeat, Step};
use super::world::{Invocation, Requests, Strategies, World};
use super::{LINEAR_LIMIT, row};
use crate::timing::{Work, in_turns};
use crate::{LabError, Options, Row, Sink};

/// One configuration: these strategies against each other.
struct Point {
    objects: u32,
    operations: u32,
    /// Whether to add strategies that the paper does not have.
    mixed: bool,
    /// Whether the paper measured there too: TAO-1.
    claim: bool,
}

/// The paper's grid, the way up to a million objects, and the census shapes.
fn points(quick: bool) -> Vec<Point> {
    let paper_objects: &[u32] = if quick { &[1, 100, 500] } else { &[1, 100, 200, 300, 400, 500] };
    let paper_operations: &[u32] = if quick { &[100] } else { &[1, 10, 100] };
    let many: &[u32] = if quick { &[20_000] } else { &[1_000, 10_000, 100_000, 1_000_000] };
    let census: &[u32] = if quick { &[136] } else { &[3, 12, 32, 136] };
    let point = |objects, operations, claim| {
        let paper = claim || objects > 500;
        Point { objects, operations, mixed: objects == 500 && (!paper || operations == 100), claim }
    };
    let paper = paper_operations
        .iter()
        .flat_map(|operations| paper_objects.iter().map(|objects| point(*objects, *operations, true)));
    let many = many.iter().map(|objects| point(*objects, 100, false));
    let census = census.iter().map(|operations| point(500, *operations, false));
    paper.chain(many).chain(census).collect()
}

/// Measures all points.
pub(crate) fn measure(options: &Options, sink: &mut dyn Sink) -> Result<Vec<Row>, LabError> {
    let points = points(options.quick);
    sink.ahead(points.len() as u64);
    let mut rows = Vec::new();
    for point in points {
        sink.step(&format!("{} objects, {} operations", point.objects, point.operations));
        for row in measure_point(&point, options)? {
            sink.row(row.clone())?;
            rows.push(row);
        }
    }
    Ok(rows)
}

fn measure_point(point: &Point, options: &Options) -> Result<Vec<Row>, LabError> {
    let shape = Shape::of(point.operations);
    let mut strategies = Strategies::PAPER.to_vec();
    if point.mixed {
        strategies.extend(Strategies::MIXED);
    }
    let (left_out, strategies): (Vec<_>, Vec<_>) =
        strategies.into_iter().partition(|s| s.objects == Strategy::Linear && point.objects > LINEAR_LIMIT);
    // Enough different objects that the last-level cache, at least, must keep them all.
    let sample = if options.quick { 4_096 } else { 65_536 };
    let worlds: Vec<World> = strategies
        .iter()
        .map(|s| World::new(*s, point.objects, shape, (options.seed, sample)))
        .collect::<Result<_, _>>()?;
    let (rounds, batch) = if options.quick { (5, 500) } else { (11, 2_000) };
    let batch = Duration::from_micros(batch);
    let mut rows = Vec::new();
    for invocation in [Invocation::Random, Invocation::WorstCase] {
        for step in Step::ALL {
            rows.extend(measure_step(point, &worlds, (invocation, step), (rounds, batch)));
        }
    }
    rows.extend(left_out.iter().map(|strategies| {
        row("left_out", "objects", f64::from(point.objects), *strategies, shape)
            .with("reason", format!("searching a list of more than {LINEAR_LIMIT} objects shows nothing new"))
    }));
    worlds.iter().for_each(|world| world.orb.shutdown(Duration::ZERO));
    Ok(rows)
}

fn measure_step(
    point: &Point,
    worlds: &[World],
    (invocation, step): (Invocation, Step),
    (rounds, batch): (usize, Duration),
) -> Vec<Row> {
    let mut works: Vec<Work<'_>> = Vec::new();
    for world in worlds {
        let mut repeat = Repeat::new(world, world.requests(invocation), step);
        works.push(Box::new(move |count| repeat.run(count)));
    }
    let baseline = worlds.last().filter(|_| step == Step::FindOperation);
    if let Some(world) = baseline {
        works.push(plain_match(world.shape, world.requests(invocation)));
    }
    let times = in_turns(&mut works, rounds, batch);
    let finish = |row: Row, time: &crate::timing::PerRepetition| {
        let row = row
            .with("objects", point.objects)
            .with("invocation", invocation.name())
            .with("step", step.name())
            .with("min", (time.min * 100.0).round() / 100.0);
        if point.claim { row.claim("TAO-1") } else { row }
    };
    let mut rows: Vec<Row> = worlds
        .iter()
        .zip(&times)
        .map(|(world, time)| {
            finish(row("time", "ns", round(time.median), world.strategies, world.shape), time)
        })
        .collect();
    if let (Some(world), Some(time)) = (baseline, times.get(worlds.len())) {
        let plain = row("time", "ns", round(time.median), world.strategies, world.shape);
        rows.push(finish(
            plain.with("strategy", "match").with("objects_by", "").with("operations_by", "match"),
            time,
        ));
    }
    rows
}

fn round(ns: f64) -> f64 {
    (ns * 100.0).round() / 100.0
}

/// The baseline: a `match` on the name as one would write it.
fn plain_match<'w>(shape: &'static Shape, requests: &'w Requests) -> Work<'w> {
    let mut at = 0;
    Box::new(move |count| {
        for _ in 0..count {
            let name = &requests.bytes[requests.each[at].name.clone()];
            at = if at + 1 == requests.each.len() { 0 } else { at + 1 };
            black_box((shape.plain_match)(name));
        }
    })
}
