//! How many calls a second, with few and with many outstanding, to one object and to thousands.

mod loads;
mod measure;
mod report;

use crate::{Experiment, LabError, Options, Row, Sink, Table};

/// See the module.
pub(crate) struct Calls;

impl Experiment for Calls {
    fn name(&self) -> &'static str {
        "calls"
    }

    fn purpose(&self) -> &'static str {
        "calls a second over shared memory, UDP and TCP, 1 to 256 outstanding, to 1 to 10,000 objects"
    }

    fn claims(&self) -> &'static [&'static str] {
        &[]
    }

    fn uses(&self) -> &'static [&'static str] {
        &["--plots"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        measure::all(options, sink)
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        report::tables(rows)
    }
}

fn row(metric: &str, unit: &str, value: f64) -> Row {
    Row::new("calls", metric, unit, value)
}
