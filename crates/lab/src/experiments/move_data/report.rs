//! The rows as tables and as figures.

use super::ways::WAITS;
use crate::plot::{Plot, Series};
use crate::table::{figure, targets};
use crate::{Row, Table, Value};

/// Everything that was measured.
pub(super) fn tables(rows: &[Row]) -> Vec<Table> {
    let mut tables: Vec<Table> = WAITS.iter().map(|wait| latency(rows, wait)).collect();
    tables.extend(WAITS.iter().map(|wait| claims(rows, wait)));
    tables.push(beside_the_paper(rows));
    let targets = targets(rows, |row| {
        let about = ["metric", "wait", "bytes"];
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        about.iter().filter_map(|key| row.get(key)).map(text).collect::<Vec<_>>().join(" ").replace('_', " ")
    });
    let ring = value(rows, &[("metric", "floor_over_copies".into())]);
    tables.push(targets.remark(format!(
        "copies: made in one process, in its cache; the bare ring itself takes {} times as long",
        cell(ring)
    )));
    tables.retain(|table| !table.is_empty());
    tables
}

/// Transport and layer, in the order in which they come.
fn ways(rows: &[Row]) -> Vec<(&str, &str)> {
    let mut ways = Vec::new();
    for row in rows.iter().filter(|row| row.text("metric") == "latency_one_way") {
        let way = (row.text("transport"), row.text("layer"));
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    ways
}

fn sizes(rows: &[Row]) -> Vec<u64> {
    let mut sizes: Vec<u64> =
        rows.iter().filter_map(|row| row.get("bytes").and_then(Value::as_u64)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn value(rows: &[Row], wanted: &[(&str, Value)]) -> Option<f64> {
    rows.iter().find(|row| row.matches(wanted)).map(Row::value)
}

fn cell(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), figure)
}

/// By way and size.
fn latency(rows: &[Row], wait: &str) -> Table {
    let how = if wait == "poll" { "both sides polling" } else { "both sides blocking" };
    let mut table = Table::new(
        format!("One-way latency, {how}, a core each: us, median (99th percentile for 4 B)"),
        ["bytes"],
    );
    table.head.extend(ways(rows).iter().map(|(transport, layer)| format!("{transport} {layer}")));
    let of = |metric: &str, way: (&str, &str), bytes: u64| {
        let (transport, layer) = (way.0.into(), way.1.into());
        let wanted: [(&str, Value); 5] = [
            ("metric", metric.into()),
            ("transport", transport),
            ("layer", layer),
            ("wait", wait.into()),
            ("bytes", bytes.into()),
        ];
        value(rows, &wanted)
    };
    let smallest = sizes(rows).first().copied();
    for bytes in sizes(rows) {
        let cells = ways(rows).into_iter().map(|way| {
            let median = cell(of("latency_one_way", way, bytes));
            match of("latency_p99", way, bytes) {
                Some(p99) if Some(bytes) == smallest => format!("{median} ({})", figure(p99)),
                _ => median,
            }
        });
        table.line(std::iter::once(figure(bytes as f64)).chain(cells));
    }
    table.remark("half of the round trip; floor: a bare ring in shared memory")
}

/// The paper's comparisons, by size.
fn claims(rows: &[Row], wait: &str) -> Table {
    let columns = [
        ("vi_over_udp", None, "VI / UDP"),
        ("call_over_floor", None, "call shm / floor"),
        ("vi_over_datagrams", None, "VI udp / UDP"),
        ("call_over_datagrams", None, "call udp / UDP"),
        ("transport_share", Some("iiop"), "TCP of call iiop, %"),
        ("saved_by_vi", None, "saved by VI, %"),
        ("call_over_local", None, "call shm / unix"),
        ("marshaling_share", Some("shm"), "marshaling of call shm, %"),
        ("marshaling_of_rest", Some("shm"), "of call less raw, %"),
    ];
    let mut table = Table::new(format!("Ratios, {wait}ing"), ["bytes"]);
    table.head.extend(columns.iter().map(|(_, _, title)| (*title).to_owned()));
    let has = |bytes: &u64| {
        rows.iter().any(|row| row.matches(&[("bytes", (*bytes).into()), ("wait", wait.into())]))
    };
    for bytes in sizes(rows).into_iter().filter(has) {
        let cells = columns.iter().map(|(metric, transport, _)| {
            let mut wanted: Vec<(&str, Value)> =
                vec![("metric", (*metric).into()), ("wait", wait.into()), ("bytes", bytes.into())];
            wanted.extend(transport.map(|transport| ("transport", transport.into())));
            cell(value(rows, &wanted))
        });
        table.line(std::iter::once(figure(bytes as f64)).chain(cells));
    }
    table
}

fn beside_the_paper(rows: &[Row]) -> Table {
    let mut table = Table::new("Beside the paper's figures", ["", "wait", "here", "paper", "unit"]);
    for row in rows.iter().filter(|row| row.get("paper").is_some()) {
        table.line([
            row.text("metric").replace('_', " "),
            row.text("wait").to_owned(),
            figure(row.value()),
            figure(row.number("paper").unwrap_or(f64::NAN)),
            row.text("unit").to_owned(),
        ]);
    }
    table.remark(
        "the paper: two machines, 100 Mb/s Ethernet (saved by VI), GigaNet (local RPC); here: one machine",
    )
}

/// Latency against size, a line for each transport and layer.
pub(super) fn plot(rows: &[Row], wait: &str) -> Plot {
    let line = |(transport, layer): (&str, &str)| {
        let wanted: [(&str, Value); 4] = [
            ("metric", "latency_one_way".into()),
            ("transport", transport.into()),
            ("layer", layer.into()),
            ("wait", wait.into()),
        ];
        let points = rows.iter().filter(|row| row.matches(&wanted));
        let line = points.filter_map(|row| Some((row.number("bytes")?, row.value()))).collect();
        Series { name: format!("{transport}, {layer}"), line, points: Vec::new() }
    };
    Plot {
        title: format!("One-way latency, both sides {wait}ing"),
        x: "bytes".to_owned(),
        y: "us".to_owned(),
        logarithmic: true,
        logarithmic_y: true,
        series: ways(rows).into_iter().map(line).collect(),
    }
}
