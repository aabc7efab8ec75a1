//! Instructions to get the routing information of a packet, by threaded index, source hash, XOR and longest prefix; and to get past
//! a layer's header, or to the data by the regions of a label.

mod layers;
mod report;
mod routing;

use std::hint::black_box;

use crate::callgrind::{self, Labelled, counted, dump, start};
use crate::experiments::hash_cost;
use crate::{Experiment, LabError, Options, Row, Sink, Table};

use self::routing::{LARGE, PLACES, ROUTES};

/// Packets counted for each scheme, in a loop.
const PACKETS: usize = 1024;
/// The loop with a packet's place in a register, to be taken off.
const NOTHING: &str = "nothing";

const THREADED: f64 = 8.0;
const SOURCE_HASH: f64 = 20.0;
const SOURCE_HASH_INDEX: f64 = 2.0;
/// What the paper expects for a layer, at least and at most.
const PAPER_LAYER: [f64; 2] = [10.0, 25.0];

/// See the module.
pub(crate) struct LookupInstructions;

/// A way to the routing information: the label of its count, its scheme in rows, what its table is, the paper's count and
/// our target where there is one.
struct Way {
    label: &'static str,
    scheme: &'static str,
    table: &'static str,
    entries: usize,
    paper: Option<f64>,
    target: Option<f64>,
}

const WAYS: [Way; 8] = [
    Way {
        label: "threaded",
        scheme: "threaded",
        table: "threaded::Table of IPv4",
        entries: PLACES,
        paper: Some(8.0),
        target: Some(THREADED),
    },
    Way {
        label: "threaded-large",
        scheme: "threaded",
        table: "threaded::Table of IPv4, 2^20 places",
        entries: LARGE,
        paper: None,
        target: None,
    },
    Way {
        label: "threaded-ipv6",
        scheme: "threaded",
        table: "threaded::Table of IPv6",
        entries: PLACES,
        paper: None,
        target: None,
    },
    Way {
        label: "source-hash",
        scheme: "source-hash",
        table: "SourceCache, 12 B",
        entries: PLACES,
        paper: Some(20.0),
        target: Some(SOURCE_HASH),
    },
    Way {
        label: "flow-cache",
        scheme: "source-hash",
        table: "FlowCache, 12 B, with lifetime",
        entries: PLACES,
        paper: None,
        target: None,
    },
    Way {
        label: "xor",
        scheme: "xor",
        table: "SourceCache, 12 B",
        entries: PLACES,
        paper: Some(33.0),
        target: None,
    },
    Way {
        label: "longest-prefix 100",
        scheme: "longest-prefix",
        table: "Router, 100 routes",
        entries: ROUTES[0],
        paper: None,
        target: None,
    },
    Way {
        label: "longest-prefix 1000000",
        scheme: "longest-prefix",
        table: "Router, a million routes",
        entries: ROUTES[1],
        paper: None,
        target: None,
    },
];

impl Experiment for LookupInstructions {
    fn name(&self) -> &'static str {
        "lookup-instructions"
    }

    fn purpose(&self) -> &'static str {
        "instructions to get a packet's routing information by each scheme, and past a layer's header"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["HDR-2", "HDR-3", "HDR-7"]
    }

    fn run(&self, _options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        if let Some(missing) = callgrind::missing() {
            sink.note(missing);
            return Ok(());
        }
        sink.ahead(2);
        sink.step("counting instructions to the index");
        for hash_cost::Counted { scheme, paper, instructions } in hash_cost::count_all()? {
            let row = row("index", scheme, instructions).claim("HDR-2");
            let row = if let Some(paper) = paper { row.paper(paper) } else { row };
            sink.row(if scheme == "source-hash" { row.at_most(SOURCE_HASH_INDEX) } else { row })?;
        }
        sink.step("counting instructions to the routing information, and past headers");
        let counts = callgrind::run("lookup-instructions-probe", &[])?;
        information(&counts).into_iter().chain(passing(&counts)).try_for_each(|row| sink.row(row))
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        report::tables(rows)
    }
}

fn row(metric: &str, scheme: &str, value: f64) -> Row {
    let value = (value * 100.0).round() / 100.0;
    Row::new("lookup-instructions", metric, "instructions", value).with("scheme", scheme)
}

/// Instructions by each of the schemes that have a table of entries: its name, with few of them, and with many.
///
/// # Errors
/// As [`callgrind::run`].
pub(crate) fn few_and_many() -> Result<[(&'static str, [f64; 2]); 3], LabError> {
    let counts = callgrind::run("lookup-instructions-probe", &[])?;
    let [few, many] = ROUTES.map(|routes| format!("longest-prefix {routes}"));
    Ok([
        ("longest-prefix", [&*few, &many]),
        ("source-hash", ["source-hash-few", "source-hash"]),
        ("threaded", ["threaded-few", "threaded"]),
    ]
    .map(|(scheme, labels)| (scheme, labels.map(|label| per_packet(&counts, label)))))
}

/// Rows of table 5.
fn information(counts: &Labelled) -> Vec<Row> {
    let one = |metric, way: &Way, label: &str| {
        row(metric, way.scheme, per_packet(counts, label))
            .claim("HDR-3")
            .with("table", way.table)
            .with("entries", way.entries as u64)
    };
    let in_registers = |way: &Way| {
        let row = one("information", way, way.label);
        let row = if let Some(paper) = way.paper { row.paper(paper) } else { row };
        if let Some(target) = way.target { row.at_most(target) } else { row }
    };
    let rows = WAYS.iter().map(in_registers);
    let has_tables = |way: &&Way| way.scheme != "longest-prefix";
    let loaded = WAYS.iter().filter(has_tables).map(|way| one("information_loaded", way, &loaded(way.label)));
    rows.chain(loaded).collect()
}

/// Rows of section 5.1: a header passed, the data reached, and what a layer of the protocol graph costs.
fn passing(counts: &Labelled) -> Vec<Row> {
    let paper = |row: Row| row.claim("HDR-7").with("paper_least", PAPER_LAYER[0]).paper(PAPER_LAYER[1]);
    let mut rows: Vec<Row> = layers::LAYERS
        .iter()
        .map(|layer| {
            paper(row("pass", "headers", per_packet(counts, &format!("pass {layer}"))).with("layer", *layer))
        })
        .collect();
    for (layer, [with, without]) in [("ipv4", ["IP-ETH", "ETH"]), ("udp", ["UDP-IP-ETH", "IP-ETH"])] {
        let [with, without] = [with, without].map(|stack| of(counts, &format!("graph {stack}")));
        rows.push(
            row("pass", "graph", (with - without) / PACKETS as f64).claim("HDR-7").with("layer", layer),
        );
    }
    let passed = layers::LAYERS.len() as f64;
    let headers = per_packet(counts, "headers");
    rows.push(row("to_data", "headers", headers).claim("HDR-7"));
    rows.push(paper(row("to_data_per_layer", "headers", headers / passed)));
    for regions in layers::REGIONS {
        let label = per_packet(counts, &format!("label {regions}"));
        let with = |row: Row| row.claim("HDR-7").with("regions", regions as u64);
        rows.push(with(row("to_data", "label", label)));
        rows.push(with(row("to_data_per_layer", "label", label / passed)));
    }
    rows
}

/// The label of a count in which the places of tables are loaded for each packet.
fn loaded(label: &str) -> String {
    format!("{label}, loaded")
}

fn of(counts: &Labelled, label: &str) -> f64 {
    counts.iter().find(|(name, _)| name == label).map_or(f64::NAN, |(_, counts)| counts.instructions)
}

fn per_packet(counts: &Labelled, label: &str) -> f64 {
    (of(counts, label) - of(counts, NOTHING)) / PACKETS as f64
}

/// The part that runs under callgrind.
///
/// # Errors
/// When a table can't be made.
pub(crate) fn play(_arguments: &[String]) -> Result<(), LabError> {
    count(NOTHING, &mut vec![0_u64; PACKETS], |packet| {
        black_box(&raw const *packet);
    });
    routing::play()?;
    layers::play()
}

/// A loop over packets, as a node has one over a batch: tables' addresses and sizes may stay in registers. Once to warm up.
#[inline(always)]
fn count<P>(label: &str, packets: &mut [P], mut work: impl FnMut(&mut P)) {
    let mut all = || packets.iter_mut().for_each(|packet| work(black_box(packet)));
    all();
    start();
    counted(all);
    dump(label);
}
