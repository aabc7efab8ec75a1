//! What a TCP segment and a connection cost, from one connection to a hundred thousand, beside plain smoltcp.

mod hosts;

use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use self::hosts::{BUFFER, Crowd, DATA, Ours, Plain, Server};
use super::{discards, paths::failed};
use crate::callgrind::{self, counted, dump, start};
use crate::table::{figure, grouped, targets};
use crate::timing::median;
use crate::{Experiment, LabError, Options, Row, Sink, Table, allocator, children};

/// Connections at a time.
const SIZES: [usize; 6] = [1, 10, 100, 1_000, 10_000, 100_000];
/// Plain smoltcp asks every socket: with more it takes minutes.
const MOST_PLAIN: usize = 1_000;
/// The most that is run under callgrind.
const MOST_COUNTED: usize = 10_000;
/// Segments of one batch.
const BATCH: usize = 64;
/// Rounds. Between two of them, the hosts' time passes: neighbours are not forgotten before a minute has passed.
const ROUNDS: usize = 100;

/// See the module.
pub(crate) struct TcpScale;

impl Experiment for TcpScale {
    fn name(&self) -> &'static str {
        "tcp-scale"
    }

    fn purpose(&self) -> &'static str {
        "what a TCP segment and a connection cost from 1 connection to 100,000, beside plain smoltcp"
    }

    fn claims(&self) -> &'static [&'static str] {
        &[]
    }

    fn uses(&self) -> &'static [&'static str] {
        &["--seed"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        let sizes = if options.quick { &SIZES[..5] } else { &SIZES[..] };
        sink.ahead(2 * sizes.len() as u64 + 2);
        time(options, sizes, sink)?;
        for connections in sizes.iter().copied() {
            sink.step(&format!("{} connections from beginning to end", grouped(connections as u64)));
            lives(connections, sink)?;
        }
        sink.step("counting instructions");
        match callgrind::missing() {
            Some(missing) => sink.note(missing),
            None => count(sizes, sink)?,
        }
        Ok(())
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        let mut table = Table::new(
            "A segment of 64 bytes that a server receives and sends back, and a connection",
            ["connections", "stack", "ns", "instructions", "lines", "ns to connect", "ns to close", "bytes"],
        )
        .remark(format!("bytes: memory of one connection of the server, with two buffers of {BUFFER} bytes."))
        .remark("lines: cache lines that a segment touches which the segment before, of another connection, did not.")
        .remark("ns to connect, to close: both ends together.");
        for connections in SIZES {
            for stack in ["throughline", "smoltcp"] {
                let cell = |metric: &str| {
                    let is_it = |row: &&Row| {
                        row.text("metric") == metric
                            && row.text("stack") == stack
                            && row.number("connections") == Some(connections as f64)
                    };
                    rows.iter().find(is_it).map(|row| figure(row.value()))
                };
                let metrics = [
                    "segment_ns",
                    "segment_instructions",
                    "segment_lines",
                    "connect_ns",
                    "close_ns",
                    "connection_bytes",
                ];
                let cells = metrics.map(cell);
                if cells.iter().any(Option::is_some) {
                    let head = [grouped(connections as u64), stack.to_owned()];
                    table.line(head.into_iter().chain(cells.map(Option::unwrap_or_default)));
                }
            }
        }
        let targets = targets(rows, |row| {
            format!("{}, {} connections", row.text("metric"), row.number("connections").unwrap_or(0.0))
        });
        let discarded = discards::table(rows, ["stack", "connections", "protocol", "reason", "value"]);
        let mut tables = vec![table, discarded, targets];
        tables.retain(|table| !table.is_empty());
        tables
    }
}

fn row(metric: &str, unit: &str, stack: &str, connections: usize, value: f64) -> Row {
    Row::new("tcp-scale", metric, unit, value).with("stack", stack).with("connections", connections as u64)
}

/// A server with so many connections, and the times of its rounds.
struct Timed {
    stack: &'static str,
    connections: usize,
    crowd: Box<dyn Answers>,
    times: Vec<f64>,
}

/// Times both stacks with all numbers of connections in turns, so that what disturbs the machine disturbs all of them.
fn time(options: &Options, sizes: &[usize], sink: &mut dyn Sink) -> Result<(), LabError> {
    let mut all = Vec::new();
    for connections in sizes.iter().copied() {
        sink.step(&format!("connecting {}", grouped(connections as u64)));
        all.push(timed("throughline", Ours::new(connections)?, connections, sink)?);
        // Of few connections nothing can be said.
        if connections >= 1_000 {
            let bytes = memory(connections)?;
            let row = row("connection_bytes", "bytes", "throughline", connections, bytes);
            sink.row(row.at_most(12.0 * 1024.0))?;
        }
        if connections <= MOST_PLAIN {
            all.push(timed("smoltcp", Plain::new(connections), connections, sink)?);
        }
    }
    sink.step("timing segments, all in turns");
    let mut random = Pcg64Mcg::seed_from_u64(options.seed);
    for _ in 0..if options.quick { 30 } else { ROUNDS } {
        for one in &mut all {
            one.times.push(one.crowd.round(&mut random)?);
        }
    }
    let mut single = None;
    for Timed { stack, connections, crowd, times } in &mut all {
        for row in crowd.discarded() {
            sink.row(row.with("stack", *stack).with("connections", *connections as u64))?;
        }
        let nanoseconds = median(times);
        sink.row(row("segment_ns", "ns", stack, *connections, nanoseconds))?;
        let first = *single.get_or_insert(nanoseconds);
        if *stack == "throughline" && *connections >= 10_000 {
            let grown = row("segment_of_single", "ratio", stack, *connections, nanoseconds / first);
            sink.row(grown.at_most(1.2))?;
        }
    }
    Ok(())
}

/// Connects a server, and says how long each connection took.
fn timed<S: Server + 'static>(
    stack: &'static str,
    server: S,
    connections: usize,
    sink: &mut dyn Sink,
) -> Result<Timed, LabError> {
    let begun = Instant::now();
    let crowd = Box::new(Crowd::new(server, connections)?);
    let each = begun.elapsed().as_nanos() as f64 / connections as f64;
    sink.row(row("connect_ns", "ns", stack, connections, each))?;
    Ok(Timed { stack, connections, crowd, times: Vec::with_capacity(ROUNDS) })
}

/// Connections are made, used, and closed by the client, then by the server, until nothing is left of them; and once more, for
/// which there is room only if so.
fn lives(connections: usize, sink: &mut dyn Sink) -> Result<(), LabError> {
    let mut crowd = Crowd::new(Ours::new(connections)?, connections)?;
    let begun = Instant::now();
    crowd.close()?;
    let each = begun.elapsed().as_nanos() as f64 / connections as f64;
    sink.row(row("close_ns", "ns", "throughline", connections, each))?;
    crowd.connect()?;
    crowd.close()?;
    crowd.discarded().into_iter().try_for_each(|row| {
        sink.row(row.with("stack", "throughline, to the end").with("connections", connections as u64))
    })
}

/// Bytes of memory of one end of a connection, found by a process that has no other.
fn memory(connections: usize) -> Result<f64, LabError> {
    let output = children::command("tcp-scale-memory", &[])?.arg(connections.to_string()).output()?;
    String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .map_err(|_| failed(format!("no memory was measured: {}", String::from_utf8_lossy(&output.stderr))))
}

/// The part that finds out what so many connections, its argument, take. Both ends are in it, and are alike.
///
/// # Errors
/// When a connection is not made.
pub(crate) fn weigh(arguments: &[String]) -> Result<(), LabError> {
    let [connections] = arguments else { return Err(failed("how many connections?")) };
    let connections = connections.parse().map_err(failed)?;
    let before = allocator::resident();
    let crowd = Crowd::new(Ours::new(connections)?, connections)?;
    let grown = before.zip(allocator::resident()).map(|(before, now)| now - before);
    println!("{}", grown.ok_or_else(|| failed("/proc/self/statm can't be read"))? / 2.0 / connections as f64);
    drop(crowd);
    Ok(())
}

/// What is timed.
trait Answers {
    /// Nanoseconds for a segment of a connection drawn at random: in, read, written back, out.
    fn round(&mut self, random: &mut Pcg64Mcg) -> Result<f64, LabError>;

    /// What both ends have discarded.
    fn discarded(&self) -> Vec<Row>;
}

impl<S: Server> Answers for Crowd<S> {
    fn round(&mut self, random: &mut Pcg64Mcg) -> Result<f64, LabError> {
        // With one connection every segment is answered before the next.
        let batch = BATCH.min(self.len());
        let mut taken = Duration::ZERO;
        let mut done = 0;
        for _ in 0..BATCH / batch {
            let mut frames = self.requests(drawn(random, self.len(), batch).into_iter());
            let sent = frames.len();
            let begun = Instant::now();
            self.server.arrive_all(&mut frames);
            let echoed = self.server.echo();
            taken += begun.elapsed();
            if self.finish() != sent * DATA.len() || echoed != sent || sent != batch {
                return Err(failed("an echo is missing"));
            }
            done += sent;
        }
        Ok(taken.as_nanos() as f64 / done as f64)
    }

    fn discarded(&self) -> Vec<Row> {
        Crowd::discarded(self)
    }
}

/// Different connections.
fn drawn(random: &mut Pcg64Mcg, connections: usize, count: usize) -> Vec<usize> {
    let mut numbers = Vec::with_capacity(count);
    while numbers.len() < count {
        let number = random.next_u64() as usize % connections;
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    numbers
}

fn count(sizes: &[usize], sink: &mut dyn Sink) -> Result<(), LabError> {
    let sizes: Vec<String> =
        sizes.iter().filter(|size| **size <= MOST_COUNTED).map(ToString::to_string).collect();
    for (label, counts) in callgrind::run("tcp-scale-probe", &sizes)? {
        let Some((stack, connections)) = label.split_once(' ') else { continue };
        let connections = connections.parse().map_err(failed)?;
        let each = counts.instructions / BATCH as f64;
        sink.row(row("segment_instructions", "instructions", stack, connections, each))?;
        if connections == MOST_COUNTED {
            sink.row(row("segment_lines", "cache lines", stack, connections, counts.misses / BATCH as f64))?;
        }
    }
    Ok(())
}

/// The part that runs under callgrind: its arguments are numbers of connections.
///
/// # Errors
/// When a connection is not made.
pub(crate) fn play(arguments: &[String]) -> Result<(), LabError> {
    for argument in arguments {
        let connections = argument.parse().map_err(failed)?;
        counted_segments("throughline", Ours::new(connections)?, connections)?;
        if connections <= MOST_PLAIN / 10 {
            counted_segments("smoltcp", Plain::new(connections), connections)?;
        }
    }
    Ok(())
}

fn counted_segments<S: Server>(stack: &str, server: S, connections: usize) -> Result<(), LabError> {
    let mut crowd = Crowd::new(server, connections)?;
    let mut random = Pcg64Mcg::seed_from_u64(7);
    for counts in [false, true] {
        if counts {
            start();
        }
        for _ in 0..BATCH {
            let frames = crowd.requests(drawn(&mut random, connections, 1).into_iter());
            for frame in frames {
                counted(|| {
                    crowd.server.arrive(frame);
                    crowd.server.echo()
                });
            }
            crowd.finish();
        }
    }
    dump(&format!("{stack} {connections}"));
    Ok(())
}
