//! Whether an object that is called often suffers from a million that are not.

use std::process::Command;

use crate::peers::{Cores, Peer, Round, available};
use crate::table::{figure, targets};
use crate::timing::median;
use crate::{Experiment, LabError, Options, Row, Sink, Table, children};

/// The rate with a million objects is at least so much of the rate with one.
const TARGET: f64 = 0.9;

/// See the module.
pub(crate) struct HotObject;

impl Experiment for HotObject {
    fn name(&self) -> &'static str {
        "hot-object"
    }

    fn purpose(&self) -> &'static str {
        "the rate of calls of one object, over IIOP, beside a million other active objects"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["TAO-1"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        let many = if options.quick { 100_000 } else { 1_000_000 };
        let (rounds, count) = if options.quick { (5, 2_000) } else { (15, 5_000) };
        sink.ahead(rounds + 1);
        sink.step(&format!("activating {many} objects"));
        let mut pairs = [1, many].map(pair).into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut rates = vec![Vec::new(); pairs.len()];
        for round in 1..=rounds {
            sink.step(&format!("round {round} of {rounds}"));
            for ((_, client), rates) in pairs.iter_mut().zip(&mut rates) {
                let round = Round { op: "ping", bytes: 0, count, warmup: 200, threads: 1 };
                rates.push(client.round(&round)?.rate_per_s);
            }
        }
        let [one, million] = [0, 1].map(|i| median(&mut rates[i]));
        for (objects, rate) in [(1, one), (many, million)] {
            sink.row(Row::new("hot-object", "rate", "calls/s", rate.round()).with("objects", objects))?;
        }
        let relative = (million / one * 1000.0).round() / 1000.0;
        sink.row(
            Row::new("hot-object", "relative_rate", "ratio", relative).with("objects", many).at_least(TARGET),
        )
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        let mut table =
            Table::new("ping of one object over IIOP, loopback, blocking", ["active objects", "calls/s"]);
        for row in rows.iter().filter(|row| row.text("metric") == "rate") {
            table.line([figure(row.number("objects").unwrap_or(f64::NAN)), figure(row.value())]);
        }
        vec![table, targets(rows, |row| row.text("metric").replace('_', " "))]
    }
}

/// A server of so many objects and a client of the last, on a processor each where there are two.
fn pair(objects: u32) -> Result<(Peer, Peer), LabError> {
    let cores = available()?;
    let at = |n: usize| cores.get(n).or(cores.first()).map_or(Cores::Any, |core| Cores::Only(*core));
    let start = |part: &str, arguments: &[&str], cores| {
        let mut command: Command = children::command(part, &[])?;
        command.args(arguments);
        Peer::start(part, command, cores)
    };
    let mut server = start("bench-server", &[&objects.to_string(), "block"], at(0))?;
    let reference = server.line()?;
    let client = start("bench-client", &[&reference, "1", "block"], at(1))?;
    Ok((server, client))
}
