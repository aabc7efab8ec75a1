//! One set of protocols run in three architectures: what a message costs in each.

mod discards;
pub(crate) mod probe;
mod report;
mod stacks;
mod talk;
mod veth;

use std::time::Duration;

use throughline_stack::{Architecture, Graph};

pub(crate) use self::stacks::{Stack, Way};
pub(crate) use self::talk::{Talk, failed};
use self::veth::VethTalk;
use crate::callgrind;
use crate::timing::{Work, in_turns};
use crate::{Experiment, LabError, Options, Row, Sink, Table};

/// Bytes of user data, the paper's.
const SIZES: [usize; 5] = [1, 100, 500, 1000, 1400];

/// See the module.
pub(crate) struct Paths;

/// Round trips in milliseconds of tables 1 to 3 (25 MHz, 10 Mb/s), in the order of [`SIZES`]. The paper ran TCP layered only.
const PAPER: [(Architecture, Stack, [f64; 5]); 10] = [
    (Architecture::Layered, Stack::Eth, [0.88, 1.01, 2.09, 3.44, 4.51]),
    (Architecture::Layered, Stack::Ip, [1.04, 1.20, 2.27, 3.64, 4.71]),
    (Architecture::Layered, Stack::Udp, [1.21, 1.42, 2.49, 3.80, 4.87]),
    (Architecture::Layered, Stack::Tcp, [1.74, 2.17, 3.63, 5.47, 6.92]),
    (Architecture::Direct, Stack::Eth, [0.92, 1.06, 2.14, 3.47, 4.53]),
    (Architecture::Direct, Stack::Ip, [1.07, 1.25, 2.33, 3.70, 4.76]),
    (Architecture::Direct, Stack::Udp, [1.20, 1.40, 2.49, 3.86, 4.94]),
    (Architecture::Integrated, Stack::Eth, [0.89, 0.95, 2.03, 3.39, 4.47]),
    (Architecture::Integrated, Stack::Ip, [1.14, 1.29, 2.37, 3.73, 4.80]),
    (Architecture::Integrated, Stack::Udp, [1.27, 1.49, 2.57, 3.89, 4.97]),
];

/// Everything that is measured: each architecture over the Ethernet that the paper has it on, the others over the extended
/// one too, so that like can be compared with like, and UDP with check sums. Then IPv6, and sealed datagrams.
fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for architecture in Architecture::ALL {
        for stack in Stack::PAPERS {
            for lowest in ["eth", "ethdaa"] {
                if architecture == Architecture::Direct && lowest == "eth" {
                    continue;
                }
                ways.push(Way { stack, architecture, lowest, checksums: stack.checksums() });
                if stack == Stack::Udp {
                    ways.push(Way { stack, architecture, lowest, checksums: true });
                }
            }
        }
        ways.extend(Stack::OTHERS.map(|stack| Way::usual(stack, architecture)));
    }
    ways
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

    fn uses(&self) -> &'static [&'static str] {
        &["--plots"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        sink.ahead(3);
        sink.step("counting instructions");
        match callgrind::missing() {
            Some(missing) => sink.note(missing),
            None => count(sink)?,
        }
        sink.step("timing round trips within one process");
        let ways = ways();
        let mut talks = ways.iter().map(|way| Talk::new(*way)).collect::<Result<Vec<_>, _>>()?;
        let mut timed = time(options, "round_trip_ns", &ways, &mut talks);
        sink.step("timing round trips over veth pairs");
        // On a thread of its own, which has another network from then on.
        let over_veth = std::thread::scope(|scope| scope.spawn(|| over_veth(options)).join());
        timed.extend(discards::rows(&ways, &talks, "none"));
        match over_veth.map_err(|_| failed("a message was lost on a veth pair"))?? {
            Ok(rows) => timed.extend(rows),
            Err(why) => sink.note(&format!("SKIPPED: round trips over veth pairs: {why}")),
        }
        if let Some(path) = report::plot(&timed).save(options, "paths.svg")? {
            sink.note(&format!("drawn: {}", path.display()));
        }
        timed.into_iter().try_for_each(|row| sink.row(row))
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        report::tables(rows)
    }
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
    if way.is_papers() { row.claim(claim) } else { row }
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
    for bytes in SIZES {
        for way in ways().into_iter().filter(|way| way.has_data_checked()) {
            sink.row(row("place_instructions", "instructions", way, bytes, of("place", way, bytes)))?;
        }
        for stack in [Stack::Udp, Stack::Udp6, Stack::Sealed] {
            places(&of, stack, bytes, sink)?;
        }
    }
    let received = |architecture, stack| of("receive", Way::usual(stack, architecture), 1);
    for stack in Stack::PAPERS {
        let layered = received(Architecture::Layered, stack);
        let relative = |metric, architecture, target: Option<f64>| {
            let way = Way::usual(stack, architecture);
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

/// What it takes to have the data where the user wants it, beside the layered architecture, and beside the same one where the data
/// is checked or opened in a pass of its own.
fn places(
    of: &impl Fn(&str, Way, usize) -> f64,
    stack: Stack,
    bytes: usize,
    sink: &mut dyn Sink,
) -> Result<(), LabError> {
    let way = |architecture| Way { checksums: true, ..Way::usual(stack, architecture) };
    let layered = of("place", way(Architecture::Layered), bytes);
    for architecture in [Architecture::Direct, Architecture::Integrated] {
        let way = way(architecture);
        let (together, apart) = (of("place", way, bytes), of("place-apart", way, bytes));
        sink.row(row("place_apart_instructions", "instructions", way, bytes, apart))?;
        for (metric, other) in [("place_of_layered", layered), ("place_of_apart", apart)] {
            let row = row(metric, "ratio", way, bytes, together / other);
            // A cipher decrypts where the data lies: then there is little to save.
            let aimed = bytes >= 1000 && (metric == "place_of_layered" || stack != Stack::Sealed);
            sink.row(if aimed { row.at_most(1.0) } else { row })?;
        }
    }
    Ok(())
}

/// Two hosts that talk.
trait Talks {
    /// Theirs.
    fn graphs(&self) -> [&Graph; 2];

    /// A message goes there and comes back; returns how many bytes came.
    fn round_trip(&mut self, data: &[u8]) -> Result<usize, LabError>;
}

/// Round trips of the ways in turns.
fn time<T: Talks>(options: &Options, metric: &str, ways: &[Way], talks: &mut [T]) -> Vec<Row> {
    let (rounds, batch) =
        if options.quick { (5, Duration::from_millis(2)) } else { (31, Duration::from_millis(5)) };
    let mut rows = Vec::new();
    for (index, bytes) in SIZES.into_iter().enumerate() {
        let data = vec![7; bytes];
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
            let row = row(metric, "ns", *way, bytes, time.median);
            let paper = PAPER.iter().find(|(architecture, stack, _)| {
                way.is_papers() && (*architecture, *stack) == (way.architecture, way.stack)
            });
            rows.push(match paper {
                // The paper's milliseconds are of another wire: they are beside ours for their proportions.
                Some((_, _, milliseconds)) => row.with("paper_ms", milliseconds[index]),
                None => row,
            });
        }
    }
    rows
}

/// Round trips of the usual ways over a veth pair each; or why there are none.
fn over_veth(options: &Options) -> Result<Result<Vec<Row>, String>, LabError> {
    if let Err(why) = veth::isolate() {
        return Ok(Err(why));
    }
    let ways: Vec<Way> = ways().into_iter().filter(|way| way.is_usual()).collect();
    let talks = ways.iter().enumerate().map(|(n, way)| VethTalk::new(*way, n));
    let mut talks = talks.collect::<Result<Vec<_>, _>>()?;
    let mut rows = time(options, "veth_round_trip_ns", &ways, &mut talks);
    rows.extend(discards::rows(&ways, &talks, "veth"));
    Ok(Ok(rows))
}
