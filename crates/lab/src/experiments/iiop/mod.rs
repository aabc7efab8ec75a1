//! IIOP against omniORB: the same interface, served and called by each, in turns.

mod matrix;
mod omniorb;
mod report;
mod syscalls;
mod throughput;

use crate::{Experiment, LabError, Options, Row, Sink, Table};

/// See the module.
pub(crate) struct Iiop;

impl Experiment for Iiop {
    fn name(&self) -> &'static str {
        "iiop"
    }

    fn purpose(&self) -> &'static str {
        "calls over IIOP beside omniORB's, blocking and spinning, one and many outstanding"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["TAO-5"]
    }

    fn uses(&self) -> &'static [&'static str] {
        &["--syscalls", "--interop"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        let theirs = match omniorb::build(options) {
            Ok(programs) => Some(programs),
            Err(missing) => {
                sink.note(&missing);
                None
            }
        };
        matrix::measure(options, theirs.as_ref(), sink)?;
        throughput::measure_spinning(options, sink)?;
        throughput::measure_outstanding(options, theirs.as_ref(), sink)?;
        if options.syscalls { syscalls::measure(theirs.as_ref(), sink) } else { Ok(()) }
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        report::tables(rows)
    }
}

fn row(metric: &str, unit: &str, value: f64) -> Row {
    Row::new("iiop", metric, unit, (value * 1000.0).round() / 1000.0)
}
