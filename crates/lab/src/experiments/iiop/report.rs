//! The rows as tables.

use crate::table::{figure, targets};
use crate::{Row, Table, Value};

/// Everything that was measured.
pub(super) fn tables(rows: &[Row]) -> Vec<Table> {
    let mut tables: Vec<Table> = [1, 2].iter().map(|cores| latency(rows, *cores)).collect();
    tables.push(spinning(rows));
    tables.push(outstanding(rows));
    tables.push(syscalls(rows));
    tables.push(targets(rows, |row| {
        let about = ["metric", "op", "bytes", "cores", "orb", "end", "syscall"];
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        about.iter().filter_map(|key| row.get(key)).map(text).collect::<Vec<_>>().join(" ").replace('_', " ")
    }));
    tables.retain(|table| !table.is_empty());
    tables
}

/// Medians and 99th percentiles of each combination, and the ratio.
fn latency(rows: &[Row], cores: u32) -> Table {
    let title = format!(
        "One call at a time, blocking, on {cores} core(s): us, median / 99th percentile (client>server)"
    );
    let mut table = Table::new(
        title,
        ["call", "ours>ours", "omniORB>omniORB", "ours>omniORB", "omniORB>ours", "ours/omniORB"],
    );
    let mut calls: Vec<(&str, u64)> = Vec::new();
    let here = |row: &&Row| row.number("cores") == Some(f64::from(cores)) && row.text("wait") == "block";
    for row in rows.iter().filter(here).filter(|row| row.text("metric") == "latency_median") {
        let call = (row.text("op"), row.number("bytes").unwrap_or(0.0) as u64);
        if !calls.contains(&call) {
            calls.push(call);
        }
    }
    for (op, bytes) in calls {
        let of = |metric: &str, who: Option<(&str, &str)>| {
            let mut wanted: Vec<(&str, Value)> = vec![
                ("metric", metric.into()),
                ("op", op.into()),
                ("bytes", bytes.into()),
                ("cores", cores.into()),
            ];
            wanted.extend(who.iter().flat_map(|(c, s)| [("client", (*c).into()), ("server", (*s).into())]));
            rows.iter().find(|row| row.matches(&wanted)).map_or(String::from("-"), |row| figure(row.value()))
        };
        let both = |client, server| {
            let who = Some((client, server));
            format!("{} / {}", of("latency_median", who), of("latency_p99", who))
        };
        table.line([
            if op == "ping" { "ping".to_owned() } else { format!("MoveData {bytes} B") },
            both("ours", "ours"),
            both("omniorb", "omniorb"),
            both("ours", "omniorb"),
            both("omniorb", "ours"),
            of("ours_over_omniorb", None),
        ]);
    }
    table
}

fn spinning(rows: &[Row]) -> Table {
    let mut table = Table::new("ping, both sides spinning, on a core each: us", ["", "median"]);
    let spin = rows.iter().filter(|row| row.text("wait") == "spin" && row.text("metric") == "latency_median");
    for row in spin {
        table.line([row.text("client").to_owned(), figure(row.value())]);
    }
    table.remark("floor: a bare exchange over TCP of messages as long")
}

fn outstanding(rows: &[Row]) -> Table {
    let mut table = Table::new(
        "ping, many outstanding, blocking",
        ["client and server", "op", "outstanding", "connections", "calls/s"],
    );
    for row in rows.iter().filter(|row| row.text("metric") == "rate" && row.get("threads").is_some()) {
        let number = |key: &str| figure(row.number(key).unwrap_or(f64::NAN));
        let op = row.text("op").to_owned();
        table.line([
            row.text("client").to_owned(),
            op,
            number("threads"),
            number("connections"),
            number("value"),
        ]);
    }
    table
}

fn syscalls(rows: &[Row]) -> Table {
    let mut table = Table::new("System calls per ping", ["ORB", "end", "system call", "per call"]);
    for row in rows.iter().filter(|row| row.text("metric") == "syscalls_per_call") {
        let text = |key: &str| row.text(key).to_owned();
        table.line([text("orb"), text("end"), text("syscall"), figure(row.value())]);
    }
    table
}
