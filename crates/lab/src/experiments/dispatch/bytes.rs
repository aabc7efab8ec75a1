//! Memory per active object.

use throughline::Strategy;

use super::shapes::Shape;
use super::world::{Strategies, empty};
use super::{LINEAR_LIMIT, row};
use crate::allocator::grown_by;
use crate::{LabError, Options, Row, Sink};

/// Bytes that an active object may take besides its servant.
const LIMIT: f64 = 64.0;

/// Two measures per strategy: what the adapter says, and what the heap grew by (unused room of tables included).
pub(crate) fn measure(options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
    let objects = if options.quick { 20_000 } else { 1_000_000 };
    sink.ahead(Strategies::PAPER.len() as u64);
    for strategies in Strategies::PAPER {
        sink.step(&format!("memory, {strategies}"));
        let linear = strategies.objects == Strategy::Linear;
        let objects = if linear { objects.min(LINEAR_LIMIT) } else { objects };
        for row in measure_one(strategies, objects)? {
            let active = strategies.objects == Strategy::Active;
            sink.row(if active { row.at_most(LIMIT) } else { row })?;
        }
    }
    Ok(())
}

fn measure_one(strategies: Strategies, objects: u32) -> Result<Vec<Row>, LabError> {
    let shape = Shape::of(100);
    let (orb, adapter) = empty(strategies)?;
    // The first objects bring what all share, such as the hashed operation names.
    (shape.activate)(&adapter)?;
    let (result, grown) = grown_by(|| {
        (1..objects).try_for_each(|_| (shape.activate)(&adapter).map(drop))?;
        if strategies.objects == Strategy::PerfectHash { adapter.freeze() } else { Ok(()) }
    });
    result?;
    let bytes = |value: f64, source: &str| {
        let value = (value * 10.0).round() / 10.0;
        row("bytes_per_object", "bytes", value, strategies, shape)
            .with("objects", objects)
            .with("source", source)
    };
    let mut rows = vec![bytes(adapter.bytes_per_object(), "tables")];
    rows.extend(grown.map(|grown| bytes(grown as f64 / f64::from(objects), "heap")));
    orb.shutdown(std::time::Duration::ZERO);
    Ok(rows)
}
