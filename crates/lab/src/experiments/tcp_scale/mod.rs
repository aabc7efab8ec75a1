//! What a TCP segment and a connection cost, from one connection to a hundred thousand, beside plain smoltcp.

mod hosts;

use std::time::Instant;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use self::hosts::{BUFFER, Crowd, DATA, Ours, Plain, Server};
use super::paths::failed;
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

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        let sizes = if options.quick { &SIZES[..5] } else { &SIZES[..] };
        sink.ahead(sizes.len() as u64 + 1);
        let mut single = None;
        for connections in sizes.iter().copied() {
            sink.step(&format!("{} connections", grouped(connections as u64)));
            time(options, sink, connections, &mut single)?;
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
            ["connections", "stack", "ns", "instructions", "ns to connect", "bytes"],
        )
        .remark(format!("bytes: memory of one connection of the server, with two buffers of {BUFFER} bytes."))
        .remark("ns to connect: both ends together.");
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
                let cells =
                    ["segment_ns", "segment_instructions", "connect_ns", "connection_bytes"].map(cell);
                if cells.iter().any(Option::is_some) {
                    let head = [grouped(connections as u64), stack.to_owned()];
                    table.line(head.into_iter().chain(cells.map(Option::unwrap_or_default)));
                }
            }
        }
        vec![
            table,
            targets(rows, |row| {
                format!("{}, {} connections", row.text("metric"), row.number("connections").unwrap_or(0.0))
            }),
        ]
    }
}

fn row(metric: &str, unit: &str, stack: &str, connections: usize, value: f64) -> Row {
    Row::new("tcp-scale", metric, unit, value).with("stack", stack).with("connections", connections as u64)
}

/// Times both stacks with so many connections.
fn time(
    options: &Options,
    sink: &mut dyn Sink,
    connections: usize,
    single: &mut Option<f64>,
) -> Result<(), LabError> {
    let rounds = if options.quick { 50 } else { 400 };
    let (mut crowd, connect) = connected(Ours::new(connections)?, connections)?;
    let nanoseconds = segments(&mut crowd, connections, rounds)?;
    let first = *single.get_or_insert(nanoseconds);
    sink.row(row("segment_ns", "ns", "throughline", connections, nanoseconds))?;
    sink.row(row("connect_ns", "ns", "throughline", connections, connect))?;
    // Of few connections nothing can be said.
    if connections >= 1_000 {
        let bytes = memory(connections)?;
        sink.row(row("connection_bytes", "bytes", "throughline", connections, bytes).at_most(12.0 * 1024.0))?;
    }
    if connections == SIZES[SIZES.len() - 1] {
        let grown = row("segment_of_single", "ratio", "throughline", connections, nanoseconds / first);
        sink.row(grown.at_most(1.2))?;
    }
    drop(crowd);
    if connections <= MOST_PLAIN {
        let (mut crowd, connect) = connected(Plain::new(connections), connections)?;
        sink.row(row(
            "segment_ns",
            "ns",
            "smoltcp",
            connections,
            segments(&mut crowd, connections, rounds)?,
        ))?;
        sink.row(row("connect_ns", "ns", "smoltcp", connections, connect))?;
    }
    Ok(())
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

/// Connects them, and says how long each took.
fn connected<S: Server>(server: S, connections: usize) -> Result<(Crowd<S>, f64), LabError> {
    let begun = Instant::now();
    let crowd = Crowd::new(server, connections)?;
    Ok((crowd, begun.elapsed().as_nanos() as f64 / connections as f64))
}

/// Nanoseconds for a segment of a connection drawn at random: in, read, written back, out.
fn segments<S: Server>(crowd: &mut Crowd<S>, connections: usize, rounds: usize) -> Result<f64, LabError> {
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        // With one connection every segment is answered before the next.
        let batch = BATCH.min(connections);
        let repeats = BATCH / batch;
        let mut taken = std::time::Duration::ZERO;
        let mut done = 0;
        for _ in 0..repeats {
            let frames = crowd.requests(drawn(&mut random, connections, batch).into_iter());
            let sent = frames.len();
            let begun = Instant::now();
            for frame in frames {
                crowd.server.arrive(frame);
            }
            let echoed = crowd.server.echo();
            taken += begun.elapsed();
            if crowd.finish() != sent * DATA.len() || echoed != sent {
                return Err(failed("an echo is missing"));
            }
            done += sent;
        }
        times.push(taken.as_nanos() as f64 / done as f64);
    }
    Ok(median(&mut times))
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
        sink.row(row(
            "segment_instructions",
            "instructions",
            stack,
            connections,
            counts.instructions / BATCH as f64,
        ))?;
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
