//! One message at a time, there and back, in all the ways that there are: as a typed call `MoveData`, and as bytes over the
//! same transports, beside a bare ring in shared memory.

mod claims;
mod measure;
mod memory;
mod report;
mod ways;

use crate::{Experiment, LabError, Options, Row, Sink, Table};

/// See the module.
pub(crate) struct MoveData;

impl Experiment for MoveData {
    fn name(&self) -> &'static str {
        "move-data"
    }

    fn purpose(&self) -> &'static str {
        "one-way latency of a call and of bare bytes, 4 B to 64 KiB, over shared memory, TCP, Unix sockets and UDP"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["VIA-1", "VIA-2", "VIA-3", "VIA-4", "VIA-5"]
    }

    fn uses(&self) -> &'static [&'static str] {
        &["--plots"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        let Some(measured) = measure::all(options, sink)? else { return Ok(()) };
        let alone = memory::measure(options, measured.sizes());
        let rows = claims::rows(&measured, &alone);
        rows.iter().try_for_each(|row| sink.row(row.clone()))?;
        for (wait, name) in [("poll", "move-data.svg"), ("block", "move-data-block.svg")] {
            if let Some(path) = report::plot(&rows, wait).save(options, name)? {
                sink.note(&format!("drawn: {}", path.display()));
            }
        }
        Ok(())
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        report::tables(rows)
    }
}

fn row(metric: &str, unit: &str, value: f64) -> Row {
    Row::new("move-data", metric, unit, (value * 10_000.0).round() / 10_000.0)
}
