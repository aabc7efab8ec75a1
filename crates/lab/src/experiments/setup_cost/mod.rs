//! What a flow of n packets costs by datagrams, virtual circuits, source hashes and threaded indices: the model, and the same
//! through a node of ours.

mod frames;
mod node;
mod report;
mod table;
mod times;
mod veth;
mod virtual_time;

use std::net::Ipv4Addr;

use throughline_forward::threaded::NO_INDEX;

use self::node::Node;
use self::virtual_time::World;
use crate::model::Hop;
use crate::timing::median;
use crate::{Experiment, LabError, Options, Row, Sink, Table};

pub(crate) use self::node::Scheme;
pub(crate) use self::table::{destinations, router};
use self::times::Times;
pub(crate) use self::virtual_time::Outcome;

/// Packets of a flow; between 333 and 334 the paper's circuit becomes faster than its datagrams.
const PACKETS: [u32; 13] = [1, 2, 3, 5, 10, 20, 50, 100, 200, 333, 334, 500, 1000];
/// In real time.
const REAL_PACKETS: [u32; 5] = [1, 10, 100, 500, 1000];
/// The round trip in virtual time, the paper's, in nanoseconds.
const ROUND_TRIP: f64 = 60e6;
const MICROSECONDS: f64 = 1e3;
/// A flow that takes so many milliseconds more than the fastest like it has had to share its processor: the thread waits without
/// sleeping, and whoever else wants the processor gets a time slice of some milliseconds.
const DISTURBED_MS: f64 = 1.0;
/// With more of them a median says nothing of the wire.
const MOST_DISTURBED: f64 = 0.25;
/// What is measured in virtual time is the model's, but for the lookups of the packets that set circuits up.
const TOLERANCE: f64 = 0.01;

/// See the module.
pub(crate) struct SetupCost;

/// Where the times of lookups come from.
#[derive(Clone, Copy, Debug)]
struct Setting {
    name: &'static str,
    /// In nanoseconds.
    hops: [Hop; 4],
}

impl Setting {
    fn new(name: &'static str, long: f64, short: impl Fn(Scheme) -> f64) -> Self {
        let hop = |scheme| Hop { round_trip: ROUND_TRIP, long, short: short(scheme) };
        Self { name, hops: Scheme::ALL.map(hop) }
    }

    fn hop(&self, scheme: Scheme) -> Hop {
        self.hops[scheme as usize]
    }
}

impl Experiment for SetupCost {
    fn name(&self) -> &'static str {
        "setup-cost"
    }

    fn purpose(&self) -> &'static str {
        "the time of a flow of n packets behind a long wire: datagrams, virtual circuits, source hashes, threaded indices"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["HDR-5"]
    }

    fn uses(&self) -> &'static [&'static str] {
        &["--plots"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        let routes = routes(options);
        sink.ahead(3);
        sink.step(&format!("timing lookups among {routes} routes"));
        let [many, one] = times::measure(routes, options.quick)?;
        for (flows, times) in [("many", many), ("one", one)] {
            lookups(routes, flows, &times).into_iter().try_for_each(|row| sink.row(row))?;
        }
        sink.step("flows in virtual time");
        let paper = Hop::FIGURE_2;
        let settings = [
            Setting::new("figure 2", paper.long * MICROSECONDS, |_| paper.short * MICROSECONDS),
            Setting::new("many flows", many.long, |scheme| of(&many, scheme)),
            Setting::new("one flow", one.long, |scheme| of(&one, scheme)),
        ];
        let mut node = Node::new(routes)?;
        let mut rows = Vec::new();
        for setting in &settings {
            rows.extend(crossings(setting));
            rows.extend(flows(&mut node, setting, routes)?);
        }
        for (setting, file) in [(&settings[0], "setup-cost.svg"), (&settings[1], "setup-cost-measured.svg")] {
            if let Some(path) = report::plot(setting, &rows).save(options, file)? {
                sink.note(&format!("drawn: {}", path.display()));
            }
        }
        rows.into_iter().try_for_each(|row| sink.row(row))?;
        sink.step("flows over a veth pair");
        match real(&mut node, options, routes)? {
            Ok(rows) => {
                let disturbed =
                    |row: &&Row| row.number("disturbed").is_some_and(|share| share > MOST_DISTURBED);
                let disturbed = rows.iter().filter(disturbed).count();
                if disturbed > 0 {
                    sink.note(&format!(
                        "{disturbed} of {} medians over veth are those of a busy machine",
                        rows.len()
                    ));
                }
                rows.into_iter().try_for_each(|row| sink.row(row))
            }
            Err(why) => {
                sink.note(&format!("SKIPPED: flows over a veth pair: {why}"));
                Ok(())
            }
        }
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        report::tables(rows)
    }
}

fn routes(options: &Options) -> usize {
    if options.quick { 10_000 } else { 1_000_000 }
}

/// The short lookup of a scheme; datagrams have none, and never use it.
fn of(times: &Times, scheme: Scheme) -> f64 {
    match scheme {
        Scheme::Datagram | Scheme::Threaded => times.threaded,
        Scheme::Circuit => times.circuit,
        Scheme::SourceHash => times.source_hash,
    }
}

fn row(metric: &str, unit: &str, value: f64) -> Row {
    Row::new("setup-cost", metric, unit, value).claim("HDR-5")
}

fn lookups(routes: usize, flows: &str, times: &Times) -> [Row; 4] {
    let Times { long, source_hash, circuit, threaded } = *times;
    let paper = Hop::FIGURE_2;
    [
        ("longest-prefix", long, paper.long),
        ("source-hash", source_hash, paper.short),
        ("virtual-circuit", circuit, paper.short),
        ("threaded", threaded, paper.short),
    ]
    .map(|(scheme, time, paper)| {
        let time = (time * 100.0).round() / 100.0;
        row("lookup_ns", "ns", time)
            .paper(paper * MICROSECONDS)
            .with("scheme", scheme)
            .with("flows", flows)
            .with("routes", routes as u64)
    })
}

/// Where the model's curves cross, with these times.
fn crossings(setting: &Setting) -> Vec<Row> {
    let [circuit, hashed] = [Scheme::Circuit, Scheme::SourceHash].map(|scheme| setting.hop(scheme));
    let crossing = |one: &str, other: &str, packets: Option<f64>| {
        let row = packets.map(|packets| row("crossing", "packets", packets));
        row.map(|row| row.with("times", setting.name).with("faster", one).with("than", other))
    };
    // With the short lookup of each its own, the gap is that of the first packet, and grows or shrinks with the others.
    let gap = |packets: f64| (circuit.virtual_circuit(packets) - hashed.source_hash(packets)) / MICROSECONDS;
    let gaps = [1.0, 1000.0].map(|packets| {
        row("circuit_behind_source_hash", "us", gap(packets))
            .with("times", setting.name)
            .with("packets", packets as u64)
            .at_least(0.0)
    });
    let crossed = [
        crossing("virtual-circuit", "datagram", circuit.circuit_before_datagram()),
        crossing("source-hash", "datagram", hashed.source_hash_before_datagram()),
    ];
    crossed.into_iter().flatten().chain(gaps).collect()
}

/// What the model says of a scheme, in nanoseconds.
fn model(hop: &Hop, scheme: Scheme, packets: u32) -> f64 {
    let packets = packets.into();
    match scheme {
        Scheme::Datagram => hop.datagram(packets),
        Scheme::Circuit => hop.virtual_circuit(packets),
        Scheme::SourceHash => hop.source_hash(packets),
        Scheme::Threaded => hop.threaded(packets),
    }
}

/// Flows of all lengths by all schemes in virtual time, beside the model.
fn flows(node: &mut Node, setting: &Setting, routes: usize) -> Result<Vec<Row>, LabError> {
    let mut rows = Vec::new();
    for scheme in Scheme::ALL {
        let hop = setting.hop(scheme);
        let outcomes = outcomes(node, scheme, hop, routes, &PACKETS)?;
        for (packets, outcome) in PACKETS.into_iter().zip(outcomes) {
            let expected = model(&hop, scheme, packets);
            let with = |row: Row| {
                row.with("scheme", scheme.name()).with("times", setting.name).with("packets", packets)
            };
            let total = with(row("total_ms", "ms", outcome.total / 1e6))
                .with("model", expected / 1e6)
                .with("long_lookups", outcome.long)
                .with("short_lookups", outcome.short);
            let off = (outcome.total / expected - 1.0).abs();
            rows.push(total);
            rows.push(with(row("off_model", "ratio", off)).at_most(TOLERANCE));
        }
    }
    Ok(rows)
}

/// What became of a flow of each length.
fn outcomes(
    node: &mut Node,
    scheme: Scheme,
    hop: Hop,
    routes: usize,
    packets: &[u32],
) -> Result<Vec<Outcome>, LabError> {
    let destinations = reached(node, routes, packets.len());
    let mut world = World::new(node, hop);
    packets.iter().zip(destinations).map(|(packets, to)| world.flow(scheme, to, *packets)).collect()
}

/// A flow of so many packets by each scheme, with figure 2's times.
///
/// # Errors
/// As the experiment.
pub(crate) fn flows_of(packets: u32) -> Result<Vec<(Scheme, Outcome)>, LabError> {
    let routes = 1000;
    let mut node = Node::new(routes)?;
    let Hop { round_trip, long, short } = Hop::FIGURE_2;
    let [round_trip, long, short] = [round_trip, long, short].map(|time| time * MICROSECONDS);
    let mut one = |scheme| {
        let outcomes = outcomes(&mut node, scheme, Hop { round_trip, long, short }, routes, &[packets])?;
        Ok((scheme, outcomes[0]))
    };
    Scheme::ALL.into_iter().map(&mut one).collect()
}

/// Destinations whose route has an index: there is none where a longer prefix lies within.
fn reached(node: &Node, routes: usize, count: usize) -> Vec<Ipv4Addr> {
    let has_index = |to: &Ipv4Addr| node.index_of(*to) != NO_INDEX;
    destinations(routes).filter(has_index).take(count).collect()
}

/// Flows in real time: medians of rounds in which all settings take turns.
fn real(node: &mut Node, options: &Options, routes: usize) -> Result<Result<Vec<Row>, String>, LabError> {
    let rounds = if options.quick { 3 } else { 21 };
    let settings: Vec<(Scheme, u32)> =
        REAL_PACKETS.iter().flat_map(|packets| Scheme::ALL.map(|scheme| (scheme, *packets))).collect();
    let destinations = reached(node, routes, rounds * settings.len());
    let flows =
        settings.iter().cycle().zip(destinations).map(|((scheme, packets), to)| (*scheme, to, *packets));
    let times = match veth::run(node, flows)? {
        Ok(times) => times,
        Err(why) => return Ok(Err(why)),
    };
    let of = |(n, (scheme, packets)): (usize, &(Scheme, u32))| {
        let mut own: Vec<f64> = times.iter().skip(n).step_by(settings.len()).copied().collect();
        let least = own.iter().copied().fold(f64::INFINITY, f64::min);
        let disturbed = own.iter().filter(|time| **time > least + DISTURBED_MS).count();
        row("veth_total_ms", "ms", median(&mut own))
            .with("least_ms", least)
            .with("disturbed", disturbed as f64 / own.len() as f64)
            .with("scheme", scheme.name())
            .with("packets", *packets)
            .with("round_trip_ms", veth::ROUND_TRIP.as_secs_f64() * 1e3)
    };
    Ok(Ok(settings.iter().enumerate().map(of).collect()))
}
