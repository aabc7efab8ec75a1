//! Setting up thousands of connections at once: McKenney and Dove's measurement, section 4.
//!
//! Client C opens connections to server S "as nearly simultaneously as possible"; each, once it is set up, sends five
//! messages of 100 bytes. 3,600 connections are found by BSD's list at both ends, 5,040 by Sequent's 19 chains.
//!
//! # The packets
//!
//! The paper counts 46,800 packets for 3,600 connections and 65,520 for 5,040: 13 for each. Three are the handshake
//! (SYN, SYN and acknowledgement, acknowledgement), five the messages, five their acknowledgements; nothing is closed,
//! and nothing retransmitted. S receives seven of them (SYN, acknowledgement, messages), C six.
//!
//! # The entries
//!
//! "At least 84 million" is 46,800 times 1,800: every packet searches half of a list of 3,600. So no lookup is answered
//! by a cache; hence the messages of a connection don't follow one another, or the acknowledgement of the handshake, at
//! once. Here each message is sent when the one before is acknowledged, and the sending application waits its turn
//! behind what has arrived before: the connections go round. "About 8.7 million" likewise is 65,520 times half of
//! 5,040/19.
//!
//! C has made all its connections before the first answer comes. S has none at first: a SYN finds nothing, searching
//! all there are so far, and is then inserted.
//!
//! # Time
//!
//! Both ends handle what arrives in order, each packet at a fixed cost and a cost per entry examined, which come from
//! the paper's two runs: 906 s = 46,800 f + 84e6 e and 193 s = 65,520 f + 8.7e6 e give f = 1.6 ms and e = 9.9 us. They
//! only order the packets, and every row that depends on them says so. What is measured is the time that this machine takes
//! for the lookups of a run, all in the order in which they came. The paper's two times are of setting up, of which lookups
//! are a part, and two numbers that solve two equations cannot be tested by them: so no time here stands beside them.

mod machines;
mod replay;

use std::time::Duration;

use throughline_demux::{HashKind, Strategy};

use crate::table::{figure, targets};
use crate::{Experiment, LabError, Options, Row, Sink, Table};
use machines::{Costs, Run, Setup, run};

/// What a packet and an entry examined take on the paper's machines; see the module.
const COSTS: Costs = Costs { packet: Duration::from_micros(1_600), entry: Duration::from_nanos(9_900) };

/// The lookups of a run are timed so often, and less often in quick runs.
const TIMES: usize = 9;
const FEW_TIMES: usize = 3;
/// In what order a connection's messages leave.
const ORDER: &str = "stop and wait";

/// Entries examined are within so many per cent of the paper's.
const TARGET: f64 = 3.0;

/// What the paper tells of a run.
struct Paper {
    strategy: Strategy,
    connections: u32,
    packets: f64,
    entries: f64,
    seconds: f64,
}

const PAPER: [Paper; 2] = [
    Paper { strategy: Strategy::Bsd, connections: 3600, packets: 46_800.0, entries: 84e6, seconds: 906.0 },
    Paper {
        strategy: Strategy::Sequent,
        connections: 5040,
        packets: 65_520.0,
        entries: 8.7e6,
        seconds: 193.0,
    },
];

/// Those of the paper, each with both numbers of connections, and others for comparison.
const STRATEGIES: [Strategy; 6] = [
    Strategy::Linear,
    Strategy::Bsd,
    Strategy::MoveToFront,
    Strategy::Sequent,
    Strategy::ChainsMoveToFront,
    Strategy::DynamicHash,
];

/// See the module.
pub(crate) struct Connect;

impl Experiment for Connect {
    fn name(&self) -> &'static str {
        "connect"
    }

    fn purpose(&self) -> &'static str {
        "thousands of connections set up at once: packets, and entries examined at both ends"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["PCB-6"]
    }

    fn uses(&self) -> &'static [&'static str] {
        &["--seed"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        let all = STRATEGIES.into_iter().flat_map(|s| PAPER.iter().map(move |p| (s, p.connections)));
        let all: Vec<_> = all.filter(|(s, n)| !options.quick || paper(*s, *n).is_some()).collect();
        sink.ahead(all.len() as u64);
        let mut times = Vec::new();
        for (strategy, connections) in all {
            sink.step(&format!("{strategy}, {connections} connections"));
            let setup = Setup { strategy, hash: HashKind::XorFold, connections, seed: options.seed };
            let run = run(setup, COSTS)?;
            rows(strategy, connections, &run).into_iter().try_for_each(|row| sink.row(row))?;
            let repeated = replay::times(setup, &run.packets, if options.quick { FEW_TIMES } else { TIMES })?;
            let ms: Vec<f64> = repeated.iter().map(|time| time.as_secs_f64() * 1e3).collect();
            sink.row(spread(row("lookup_time", "ms", 0.0, strategy, connections), &ms))?;
            times.push(((strategy, connections), ms));
        }
        sink.row(ratio(&times))?;
        assumptions().iter().for_each(|text| sink.note(text));
        Ok(())
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        let mut table = Table::new(
            "Both ends together, five messages of 100 bytes per connection",
            ["locator", "connections", "", "unit", "paper", "here"],
        );
        let mut times = Table::new(
            "Time of all lookups of a run on this machine; the paper has no figure for that",
            ["locator", "connections", "", "unit", "runs", "median", "least", "most"],
        );
        let mut ends = Table::new(
            "Entries examined per packet, by what it is",
            ["locator", "connections", "received by", "packet", "packets", "mean", "worst", "cache hits %"],
        );
        for row in rows {
            let text = |key| row.text(key).to_owned();
            let number = |key| row.number(key).map_or_else(|| "-".to_owned(), figure);
            let first = [text("locator"), number("connections")];
            match row.text("metric") {
                "examined_mean" => ends.line(first.into_iter().chain([
                    text("end"),
                    text("packet"),
                    number("packets"),
                    number("value"),
                    number("worst"),
                    number("cache_hit_rate"),
                ])),
                "lookup_time" | "lookup_time_over_sequent" => times.line(first.into_iter().chain([
                    text("metric").replace('_', " "),
                    text("unit"),
                    number("runs"),
                    number("value"),
                    number("least"),
                    number("most"),
                ])),
                "deviation" => {}
                metric => table.line(first.into_iter().chain([
                    metric.replace('_', " "),
                    text("unit"),
                    number("paper"),
                    number("value"),
                ])),
            }
        }
        let about = |row: &Row| format!("{} {} {}", row.text("metric"), row.text("locator"), row.text("of"));
        vec![table, ends, times, targets(rows, about)]
    }
}

fn paper(strategy: Strategy, connections: u32) -> Option<&'static Paper> {
    PAPER.iter().find(|paper| (paper.strategy, paper.connections) == (strategy, connections))
}

fn row(metric: &str, unit: &str, value: f64, strategy: Strategy, connections: u32) -> Row {
    let row = Row::new("connect", metric, unit, value).claim("PCB-6");
    let row = row.with("locator", strategy.name()).with("connections", connections);
    let chained = matches!(strategy, Strategy::Sequent | Strategy::ChainsMoveToFront);
    if chained { row.with("chains", machines::CHAINS).with("hash", "xor") } else { row }
}

/// What the order of the packets rests on.
fn assumed(row: Row) -> Row {
    row.with("order", ORDER)
        .with("assumed_packet_ms", COSTS.packet.as_secs_f64() * 1e3)
        .with("assumed_entry_us", COSTS.entry.as_secs_f64() * 1e6)
}

/// The median of several figures for a row's value, and how far they lie apart.
fn spread(row: Row, figures: &[f64]) -> Row {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |place: usize| sorted.get(place).map_or(f64::NAN, |value| (value * 1000.0).round() / 1000.0);
    row.with("value", at(sorted.len() / 2))
        .with("least", at(0))
        .with("most", at(sorted.len().saturating_sub(1)))
        .with("runs", sorted.len())
}

/// How much longer the lookups of the paper's first run take than those of its second: each time of one over each of the
/// other.
fn ratio(times: &[((Strategy, u32), Vec<f64>)]) -> Row {
    let [first, second] = PAPER.each_ref().map(|paper| {
        let wanted = (paper.strategy, paper.connections);
        times.iter().find(|(run, _)| *run == wanted).map_or(&[][..], |(_, ms)| ms)
    });
    let ratios: Vec<f64> =
        first.iter().flat_map(|bsd| second.iter().map(move |sequent| bsd / sequent)).collect();
    let row = row("lookup_time_over_sequent", "ratio", 0.0, PAPER[0].strategy, PAPER[0].connections);
    spread(row.with("of_connections", PAPER[1].connections), &ratios).with("runs", first.len())
}

/// What the counts and times rest on.
fn assumptions() -> [String; 2] {
    let [bsd, sequent] = PAPER.each_ref().map(|paper| paper.seconds);
    [
        format!(
            "assumed: {} of the messages, and {:.1} ms a packet and {:.1} us an entry, which are solved from the paper's \
             two times and so not tested by them; they order the packets",
            ORDER,
            COSTS.packet.as_secs_f64() * 1e3,
            COSTS.entry.as_secs_f64() * 1e6,
        ),
        format!(
            "the paper's {bsd} s and {sequent} s are of setting up, with all else that a packet takes and with \
             retransmissions; their ratio is not that of the lookups' times"
        ),
    ]
}

fn rows(strategy: Strategy, connections: u32, run: &Run) -> Vec<Row> {
    let of = |metric, unit, value| assumed(row(metric, unit, value, strategy, connections));
    let total = run.total();
    let mut all =
        [of("packets", "packets", total.lookups() as f64), of("examined", "entries", total.entries() as f64)];
    let mut off = Vec::new();
    if let Some(paper) = paper(strategy, connections) {
        let figures = [paper.packets, paper.entries];
        all = std::array::from_fn(|i| all[i].clone().paper(figures[i]));
        for (row, target) in all.iter().zip([0.0, TARGET]) {
            let per_cent = 100.0 * (row.value() / row.number("paper").unwrap_or(f64::NAN) - 1.0).abs();
            let row =
                of("deviation", "%", (per_cent * 1000.0).round() / 1000.0).with("of", row.text("metric"));
            off.push(row.at_most(target));
        }
    }
    let ends = [("server", &run.server), ("client", &run.client)].into_iter().flat_map(|(end, costs)| {
        costs.kinds().map(move |(kind, tally)| {
            of("examined_mean", "entries", (tally.mean() * 100.0).round() / 100.0)
                .with("end", end)
                .with("packet", machines::describe(end, kind))
                .with("packets", tally.lookups())
                .with("worst", tally.worst())
                .with("cache_hit_rate", (tally.hit_rate() * 1e4).round() / 100.0)
        })
    });
    all.into_iter().chain(ends).chain(off).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pcb_6() {
        for paper in &PAPER {
            let (strategy, connections) = (paper.strategy, paper.connections);
            let setup = Setup { strategy, hash: HashKind::XorFold, connections, seed: 1 };
            let run = run(setup, COSTS).unwrap();
            let total = run.total();
            assert_eq!(total.lookups() as f64, paper.packets);
            // SYN, SYN and acknowledgement, acknowledgement, five messages, five acknowledgements.
            assert_eq!(total.lookups(), (3 + 5 + 5) * u64::from(paper.connections));
            assert!((total.entries() as f64 / paper.entries - 1.0).abs() < TARGET / 100.0, "{total:?}");
            assert!(total.hit_rate() < 0.01, "{}", total.hit_rate());
        }
    }
}
