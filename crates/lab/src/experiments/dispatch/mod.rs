//! How an incoming request finds its object and its operation: the TAO paper's strategies, sections 3 and 4.

pub(crate) mod bytes;
mod instructions;
mod paper;
pub(crate) mod probe;
mod report;
pub(crate) mod shapes;
mod steps;
mod time;
mod world;

use crate::{Experiment, LabError, Options, Row, Sink, Table};
use shapes::Shape;
use world::Strategies;

/// Beyond this many objects lists are not searched: a million entries take milliseconds per call, and setting up checks
/// each new key against all others.
const LINEAR_LIMIT: u32 = 10_000;

/// See the module.
pub(crate) struct Dispatch;

impl Experiment for Dispatch {
    fn name(&self) -> &'static str {
        "dispatch"
    }

    fn purpose(&self) -> &'static str {
        "what finding an object and its operation costs, by strategy and number of objects and operations"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["TAO-1", "TAO-2", "TAO-3", "TAO-4", "TAO-5"]
    }

    fn uses(&self) -> &'static [&'static str] {
        &["--instructions", "--seed"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        let times = time::measure(options, sink)?;
        for row in paper::beside(&times) {
            sink.row(row)?;
        }
        bytes::measure(options, sink)?;
        if options.instructions { instructions::measure(options, sink) } else { Ok(()) }
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        report::tables(rows)
    }
}

/// A row of this experiment with what all its rows have.
fn row(metric: &str, unit: &str, value: f64, strategies: Strategies, shape: &Shape) -> Row {
    Row::new("dispatch", metric, unit, value)
        .with("strategy", strategies.to_string())
        .with("objects_by", strategies.objects.name())
        .with("operations_by", strategies.operations.name())
        .with("operations", shape.operations)
        .with("shape", shape.family)
}
