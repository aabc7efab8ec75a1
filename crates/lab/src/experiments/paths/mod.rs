//! One set of protocols run in three architectures: what a message costs in each.

pub(crate) mod probe;
mod talk;

use std::time::Duration;

use throughline_stack::Architecture;

pub(crate) use self::talk::failed;
use self::talk::{Stack, Talk, Way};
use crate::callgrind;
use crate::table::{figure, targets};
use crate::timing::{Work, in_turns};
use crate::{Experiment, LabError, Options, Row, Sink, Table};

/// Bytes of user data, the paper's.
const SIZES: [usize; 5] = [1, 100, 500, 1000, 1400];

/// See the module.
pub(crate) struct Paths;

/// Round trips in milliseconds of tables 1 to 3 (25 MHz, 10 Mb/s), in the order of [`SIZES`].
const PAPER: [(Architecture, Stack, [f64; 5]); 9] = [
    (Architecture::Layered, Stack::Eth, [0.88, 1.01, 2.09, 3.44, 4.51]),
    (Architecture::Layered, Stack::Ip, [1.04, 1.20, 2.27, 3.64, 4.71]),
    (Architecture::Layered, Stack::Udp, [1.21, 1.42, 2.49, 3.80, 4.87]),
    (Architecture::Direct, Stack::Eth, [0.92, 1.06, 2.14, 3.47, 4.53]),
    (Architecture::Direct, Stack::Ip, [1.07, 1.25, 2.33, 3.70, 4.76]),
    (Architecture::Direct, Stack::Udp, [1.20, 1.40, 2.49, 3.86, 4.94]),
    (Architecture::Integrated, Stack::Eth, [0.89, 0.95, 2.03, 3.39, 4.47]),
    (Architecture::Integrated, Stack::Ip, [1.14, 1.29, 2.37, 3.73, 4.80]),
    (Architecture::Integrated, Stack::Udp, [1.27, 1.49, 2.57, 3.89, 4.97]),
];

/// Everything that is measured: each architecture over the Ethernet that the paper has it on, the others over the extended
/// one too, so that like can be compared with like, and UDP with check sums.
fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for architecture in Architecture::ALL {
        for stack in Stack::ALL {
            for lowest in ["eth", "ethdaa"] {
                if architecture == Architecture::Direct && lowest == "eth" {
                    continue;
                }
                ways.push(Way { stack, architecture, lowest, checksums: false });
                if stack == Stack::Udp {
                    ways.push(Way { stack, architecture, lowest, checksums: true });
                }
            }
        }
    }
    ways
}

/// The paper's lowest layer for an architecture.
fn lowest(architecture: Architecture) -> &'static str {
    if architecture == Architecture::Direct { "ethdaa" } else { "eth" }
}

impl Experiment for Paths {
    fn name(&self) -> &'static str {
        "paths"
    }

    fn purpose(&self) -> &'static str {
        "what a message costs through Ethernet, IP and UDP run layered, direct and integrated"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["PATHS-1", "PATHS-2", "PATHS-3", "PATHS-4"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        sink.ahead(2);
        sink.step("counting instructions");
        match callgrind::missing() {
            Some(missing) => sink.note(missing),
            None => count(sink)?,
        }
        sink.step("timing round trips within one process");
        time(options, sink)
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        let mut tables = Vec::new();
        for (metric, title) in [
            (
                "receive_instructions",
                "Instructions from a frame that arrives to the message in its user's hands",
            ),
            ("round_trip_instructions", "Instructions of a round trip, both hosts together"),
            ("round_trip_ns", "Nanoseconds of a round trip within one process"),
        ] {
            tables.push(table(rows, metric, title));
        }
        tables.retain(|table| !table.is_empty());
        let describe = |row: &Row| {
            format!(
                "{} over {}, {} B",
                row.text("architecture"),
                row.text("stack"),
                row.number("bytes").unwrap_or(0.0)
            )
        };
        tables.push(targets(rows, describe));
        tables
    }
}

fn table(rows: &[Row], metric: &str, title: &str) -> Table {
    let mut table = Table::new(
        title,
        ["architecture", "stack", "lowest", "checksum", "1 B", "100 B", "500 B", "1000 B", "1400 B"],
    );
    for way in ways() {
        let cells: Vec<String> = SIZES
            .iter()
            .filter_map(|bytes| {
                rows.iter().find(|row| row.text("metric") == metric && is_of(row, way, *bytes))
            })
            .map(|row| figure(row.value()))
            .collect();
        if cells.len() == SIZES.len() {
            let checksum = if way.checksums { "on" } else { "off" };
            let head = [way.architecture.name(), way.stack.name(), way.lowest, checksum].map(str::to_owned);
            table.line(head.into_iter().chain(cells));
        }
    }
    table
}

fn is_of(row: &Row, way: Way, bytes: usize) -> bool {
    row.text("architecture") == way.architecture.name()
        && row.text("stack") == way.stack.name()
        && row.text("lowest") == way.lowest
        && row.text("checksum") == if way.checksums { "on" } else { "off" }
        && row.number("bytes") == Some(bytes as f64)
}

fn row(metric: &str, unit: &str, way: Way, bytes: usize, value: f64) -> Row {
    let claim = match way.architecture {
        Architecture::Layered => "PATHS-1",
        Architecture::Direct => "PATHS-2",
        Architecture::Integrated => "PATHS-3",
    };
    let row = Row::new("paths", metric, unit, value)
        .with("architecture", way.architecture.name())
        .with("stack", way.stack.name())
        .with("lowest", way.lowest)
        .with("checksum", if way.checksums { "on" } else { "off" })
        .with("bytes", bytes as u64);
    if way.lowest == lowest(way.architecture) && !way.checksums { row.claim(claim) } else { row }
}

/// Instructions, and how the direct and the integrated architecture compare with the layered one.
fn count(sink: &mut dyn Sink) -> Result<(), LabError> {
    let counts = callgrind::run("paths-probe", &[])?;
    let of = |what: &str, way: Way, bytes: usize| {
        let label = probe::label(what, way, bytes);
        let found = counts.iter().find(|(name, _)| *name == label);
        found.map_or(f64::NAN, |(_, counts)| counts.instructions / probe::MESSAGES as f64)
    };
    for way in ways() {
        for bytes in SIZES {
            sink.row(row("receive_instructions", "instructions", way, bytes, of("receive", way, bytes)))?;
            sink.row(row(
                "round_trip_instructions",
                "instructions",
                way,
                bytes,
                of("round-trip", way, bytes),
            ))?;
        }
    }
    let received = |architecture, stack| {
        of("receive", Way { stack, architecture, lowest: lowest(architecture), checksums: false }, 1)
    };
    for stack in Stack::ALL {
        let layered = received(Architecture::Layered, stack);
        let relative = |metric, architecture, target: Option<f64>| {
            let way = Way { stack, architecture, lowest: lowest(architecture), checksums: false };
            let row = row(metric, "ratio", way, 1, received(architecture, stack) / layered).claim("PATHS-4");
            target.map_or(row.clone(), |target| row.at_most(target))
        };
        // The paper's direct Ethernet costs more than the plain one, whose header is shorter.
        let target = (stack == Stack::Udp).then_some(1.0);
        sink.row(relative("receive_of_layered", Architecture::Direct, target))?;
        sink.row(relative("receive_of_layered", Architecture::Integrated, Some(1.05)))?;
    }
    Ok(())
}

/// Round trips of all ways in turns.
fn time(options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
    let (rounds, batch) =
        if options.quick { (5, Duration::from_millis(2)) } else { (31, Duration::from_millis(5)) };
    let ways = ways();
    for (index, bytes) in SIZES.into_iter().enumerate() {
        let data = vec![7; bytes];
        let mut talks = ways.iter().map(|way| Talk::new(*way)).collect::<Result<Vec<_>, _>>()?;
        let mut works: Vec<Work<'_>> = talks
            .iter_mut()
            .map(|talk| {
                let data = &data;
                Box::new(move |count: u64| {
                    for _ in 0..count {
                        assert_eq!(talk.round_trip(data).ok(), Some(data.len()), "a message was lost");
                    }
                }) as Work<'_>
            })
            .collect();
        for (way, time) in ways.iter().zip(in_turns(&mut works, rounds, batch)) {
            let row = row("round_trip_ns", "ns", *way, bytes, time.median);
            let is_papers = way.lowest == lowest(way.architecture) && !way.checksums;
            let paper = PAPER.iter().find(|(architecture, stack, _)| {
                is_papers && (*architecture, *stack) == (way.architecture, way.stack)
            });
            sink.row(match paper {
                // The paper's milliseconds are of another wire: they are beside ours for their proportions.
                Some((_, _, milliseconds)) => row.with("paper_ms", milliseconds[index]),
                None => row,
            })?;
        }
    }
    Ok(())
}
