//! Tables and the figure.

use throughline_stack::Architecture;

use super::{
    SIZES, discards,
    stacks::{Stack, Way},
    ways,
};
use crate::plot::{Plot, Series};
use crate::table::{figure, targets};
use crate::{Row, Table};

/// What is measured, as its tables are called.
const METRICS: [(&str, &str); 6] = [
    ("receive_instructions", "Instructions from a frame that arrives to the data in its user's hands"),
    (
        "place_instructions",
        "Instructions from a frame that arrives to the data where its user wants it: the layered architecture checks it in a \
         pass of its own",
    ),
    (
        "place_apart_instructions",
        "The same where it is checked, or opened, in a pass of its own in all architectures",
    ),
    ("round_trip_instructions", "Instructions of a round trip, both hosts together"),
    ("round_trip_ns", "Nanoseconds of a round trip within one process"),
    ("veth_round_trip_ns", "Nanoseconds of a round trip over a veth pair, both hosts polled by one thread"),
];

pub(super) fn tables(rows: &[Row]) -> Vec<Table> {
    let mut tables: Vec<Table> = METRICS.iter().map(|(metric, title)| table(rows, metric, title)).collect();
    tables.extend(METRICS.iter().map(|(metric, title)| layers(rows, metric, title)));
    tables.push(discards::table(rows));
    tables.retain(|table| !table.is_empty());
    let describe = |row: &Row| {
        let bytes = row.number("bytes").unwrap_or(0.0);
        format!("{}: {} over {}, {bytes} B", row.text("metric"), row.text("architecture"), row.text("stack"))
    };
    tables.push(targets(rows, describe));
    tables
}

fn table(rows: &[Row], metric: &str, title: &str) -> Table {
    let mut table = Table::new(
        title,
        ["architecture", "stack", "lowest", "checksum", "1 B", "100 B", "500 B", "1000 B", "1400 B"],
    );
    for way in ways() {
        let cells: Vec<String> =
            SIZES.iter().filter_map(|bytes| value(rows, metric, way, *bytes)).map(figure).collect();
        if cells.len() == SIZES.len() {
            let checksum = if way.checksums { "on" } else { "off" };
            let head = [way.architecture.name(), way.stack.name(), way.lowest, checksum].map(str::to_owned);
            table.line(head.into_iter().chain(cells));
        }
    }
    table
}

/// What each layer adds to those below it, with 1 byte and with the most: in the paper's ways.
fn layers(rows: &[Row], metric: &str, title: &str) -> Table {
    let title = format!("What a layer adds. {title}");
    let mut table = Table::new(title, ["architecture", "bytes", "ETH", "IP", "UDP over IP", "TCP over IP"]);
    for architecture in Architecture::ALL {
        for bytes in [SIZES[0], SIZES[SIZES.len() - 1]] {
            let of = |stack| value(rows, metric, Way::usual(stack, architecture), bytes);
            let (Some(eth), Some(ip), Some(udp), Some(tcp)) =
                (of(Stack::Eth), of(Stack::Ip), of(Stack::Udp), of(Stack::Tcp))
            else {
                continue;
            };
            let cells = [eth, ip - eth, udp - ip, tcp - ip].map(figure);
            table.line([architecture.name().to_owned(), bytes.to_string()].into_iter().chain(cells));
        }
    }
    table
}

fn value(rows: &[Row], metric: &str, way: Way, bytes: usize) -> Option<f64> {
    rows.iter().find(|row| row.text("metric") == metric && is_of(row, way, bytes)).map(Row::value)
}

fn is_of(row: &Row, way: Way, bytes: usize) -> bool {
    row.text("architecture") == way.architecture.name()
        && row.text("stack") == way.stack.name()
        && row.text("lowest") == way.lowest
        && row.text("checksum") == if way.checksums { "on" } else { "off" }
        && row.number("bytes") == Some(bytes as f64)
}

/// Round trips of UDP and TCP by bytes, a line for each architecture; over veth pairs where there were any.
pub(super) fn plot(rows: &[Row]) -> Plot {
    let over_veth = rows.iter().any(|row| row.text("metric") == "veth_round_trip_ns");
    let (metric, wire) = if over_veth {
        ("veth_round_trip_ns", "over a veth pair")
    } else {
        ("round_trip_ns", "within one process")
    };
    let mut series = Vec::new();
    for stack in [Stack::Udp, Stack::Tcp] {
        for architecture in Architecture::ALL {
            let point = |bytes: &usize| {
                value(rows, metric, Way::usual(stack, architecture), *bytes).map(|ns| (*bytes as f64, ns))
            };
            let line = SIZES.iter().filter_map(point).collect();
            series.push(Series {
                name: format!("{}, {}", stack.name(), architecture.name()),
                line,
                ..Series::default()
            });
        }
    }
    Plot {
        title: format!("A round trip {wire}"),
        x: "bytes of data".to_owned(),
        y: "ns".to_owned(),
        series,
        ..Plot::default()
    }
}
