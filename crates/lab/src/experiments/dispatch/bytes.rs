//! Memory per active object.

use std::time::Duration;

use throughline::Strategy;

use super::shapes::Shape;
use super::world::{Strategies, empty};
use super::{LINEAR_LIMIT, row};
use crate::allocator::{grown_by, resident};
use crate::peers::{Cores, Peer, failure};
use crate::{LabError, Options, Row, Sink, children};

/// Bytes that an active object may take besides its servant.
const LIMIT: f64 = 64.0;

/// Measures per strategy: what the adapter says; what the heap grew by (unused room of tables included, but not tables
/// that the ORB reserved at its start); and how much of the process came into memory since before there was an ORB, which is all of it and the ORB itself.
const SOURCES: [&str; 3] = ["tables", "heap", "resident"];

/// Measures each strategy in a process of its own: where nothing was freed before, memory that is used is new.
pub(crate) fn measure(options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
    let objects = if options.quick { 20_000 } else { 1_000_000 };
    sink.ahead(Strategies::PAPER.len() as u64);
    for strategies in Strategies::PAPER {
        sink.step(&format!("memory, {strategies}"));
        let linear = strategies.objects == Strategy::Linear;
        let objects = if linear { objects.min(LINEAR_LIMIT) } else { objects };
        for row in measure_one(strategies, objects)? {
            let active = strategies.objects == Strategy::Active;
            // Among few objects the ORB itself would weigh too much.
            let fair = row.text("source") != "resident" || !options.quick;
            sink.row(if active && fair { row.at_most(LIMIT) } else { row })?;
        }
    }
    Ok(())
}

fn measure_one(strategies: Strategies, objects: u32) -> Result<Vec<Row>, LabError> {
    let mut command = children::command("dispatch-bytes", &[])?;
    command.args([strategies.objects.name(), strategies.operations.name(), &objects.to_string()]);
    let mut peer = Peer::start("dispatch-bytes", command, Cores::Any)?;
    let line = peer.line()?;
    peer.end()?;
    let numbers = line.split_whitespace().map(|word| word.parse::<f64>().ok());
    let known = SOURCES.into_iter().zip(numbers).filter_map(|(source, value)| Some((source, value?)));
    let bytes = |(source, value): (&str, f64)| {
        let value = (value * 10.0).round() / 10.0;
        row("bytes_per_object", "bytes", value, strategies, Shape::of(100))
            .with("objects", objects)
            .with("source", source)
    };
    Ok(known.map(bytes).collect())
}

/// The part that measures: prints the three numbers, or `-`.
///
/// # Errors
/// When the arguments are bad or the adapter refuses.
pub(crate) fn play(arguments: &[String]) -> Result<(), LabError> {
    let bad = || failure("dispatch-bytes", "bad arguments");
    let [objects_by, operations_by, objects] = arguments else { return Err(bad()) };
    let strategy = |name: &str| name.parse::<Strategy>().map_err(|_| bad());
    let strategies = Strategies { objects: strategy(objects_by)?, operations: strategy(operations_by)? };
    let objects: u32 = objects.parse().map_err(|_| bad())?;
    let shape = Shape::of(100);
    let before = resident();
    let (orb, adapter) = empty(strategies)?;
    // The first object brings what all share, such as the hashed operation names.
    (shape.activate)(&adapter)?;
    let (result, grown) = grown_by(|| {
        (1..objects).try_for_each(|_| (shape.activate)(&adapter).map(drop))?;
        if strategies.objects == Strategy::PerfectHash { adapter.freeze() } else { Ok(()) }
    });
    result?;
    let more = before.zip(resident()).map(|(before, after)| after - before);
    let each = |bytes: Option<f64>| {
        bytes.map_or_else(|| "-".to_owned(), |bytes| (bytes / f64::from(objects)).to_string())
    };
    let grown = grown.map(|bytes| bytes as f64);
    println!("{} {} {}", adapter.bytes_per_object(), each(grown), each(more));
    orb.shutdown(Duration::ZERO);
    Ok(())
}
