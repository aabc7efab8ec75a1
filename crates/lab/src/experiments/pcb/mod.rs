//! Finding the connection of an incoming packet under transaction processing: McKenney and Dove's paper, sections 2 and
//! 3. Their models, and the library's locators under simulated traffic, side by side.
//!
//! Two kinds of traffic are simulated, and every row says which one it is about:
//!
//! - `tpc-a`: users wait for the response before they think, as TPC/A has it, and think times are truncated;
//! - `independent`: what the paper's models assume. Think times are not truncated, and users enter transactions however
//!   close together; those that overlap with another of the same user are sent but not counted, since the models have
//!   none.
//!
//! Keys are those of terminals numbered through. Their XOR fold spreads them evenly over the chains, as equations 7 to
//! 11 assume; the keyed hash spreads them as chance has it, which costs about half an entry more.

mod apart;
mod figure_9;
mod keyed;
mod models;
mod report;
mod settings;
mod simulate;
mod undisturbed;

use crate::{Experiment, LabError, Options, Row, Sink, Table};

/// See the module.
pub(crate) struct Pcb;

impl Experiment for Pcb {
    fn name(&self) -> &'static str {
        "pcb"
    }

    fn purpose(&self) -> &'static str {
        "entries examined to find a packet's connection under transaction processing: models and simulation"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["PCB-1", "PCB-2", "PCB-3", "PCB-4", "PCB-5", "PCB-7"]
    }

    fn uses(&self) -> &'static [&'static str] {
        &["--seed", "--plots"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        models::rows().into_iter().try_for_each(|row| sink.row(row))?;
        let settings = settings::all(options.quick);
        sink.ahead(settings.len() as u64 + 1 + undisturbed::STEPS + figure_9::steps(options));
        for setting in &settings {
            sink.step(&setting.describe());
            for row in simulate::rows(setting, options.seed)? {
                sink.row(row)?;
            }
        }
        sink.step("keys of the hash function");
        keyed::rows(options)?.into_iter().try_for_each(|row| sink.row(row))?;
        undisturbed::rows(options, sink)?;
        figure_9::rows(options, sink)?;
        sink.note(
            "entries ahead of the one found are what the paper counts for move-to-front; examined is one more",
        );
        Ok(())
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        report::tables(rows)
    }
}

/// A row of this experiment, three decimals where they tell something.
fn row(metric: &str, unit: &str, value: f64) -> Row {
    let value = if value.abs() < 1.0 { value } else { (value * 1000.0).round() / 1000.0 };
    Row::new("pcb", metric, unit, value)
}
