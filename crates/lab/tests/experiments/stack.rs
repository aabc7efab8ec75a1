//! The protocol graph: what holds on any machine, in instructions.

use super::{Row, counts, run, skipped};

/// The rows of an experiment, if instructions can be counted here.
fn counted(experiment: &str) -> Option<Vec<Row>> {
    if !counts() {
        return None;
    }
    let (rows, notes) = run(experiment, &[]);
    if notes.contains("valgrind") {
        skipped("no valgrind here (Debian package `valgrind`), instructions are not counted");
        return None;
    }
    Some(rows)
}

fn value(rows: &[Row], wanted: &[(&str, &str)], number: (&str, u64)) -> f64 {
    let matches = |row: &&Row| {
        wanted.iter().all(|(key, value)| row.get(*key).is_some_and(|found| found == value))
            && row.get(number.0).is_some_and(|found| found.as_u64() == Some(number.1))
    };
    let row = rows.iter().find(matches).unwrap_or_else(|| panic!("no row {wanted:?}"));
    row["value"].as_f64().unwrap()
}

#[test]
fn paths() {
    let Some(rows) = counted("paths") else { return };
    let received = |architecture, stack, lowest| {
        let wanted = [
            ("metric", "receive_instructions"),
            ("architecture", architecture),
            ("stack", stack),
            ("lowest", lowest),
            ("checksum", "off"),
        ];
        value(&rows, &wanted, ("bytes", 1))
    };
    // The direct architecture gains with each layer.
    let gain = |stack| received("layered", stack, "eth") - received("direct", stack, "ethdaa");
    let gains = ["ETH", "IP-ETH", "UDP-IP-ETH"].map(gain);
    assert!(gains.is_sorted() && gains[2] > 0.0, "{gains:?}");
    for stack in ["ETH", "IP-ETH", "UDP-IP-ETH"] {
        let ratio = received("integrated", stack, "eth") / received("layered", stack, "eth");
        assert!(ratio <= 1.05, "{stack}: {ratio}");
    }
    // One pass checks data and moves it.
    for (architecture, bytes) in
        [("direct", 1000), ("direct", 1400), ("integrated", 1000), ("integrated", 1400)]
    {
        let wanted = [("metric", "place_of_layered"), ("architecture", architecture)];
        let ratio = value(&rows, &wanted, ("bytes", bytes));
        assert!(ratio < 1.0, "{architecture}, {bytes} B: {ratio}");
    }
}

#[test]
fn tcp_scale() {
    let Some(rows) = counted("tcp-scale") else { return };
    let segment = |stack, connections| {
        value(&rows, &[("metric", "segment_instructions"), ("stack", stack)], ("connections", connections))
    };
    let grown = segment("throughline", 10_000) / segment("throughline", 1);
    assert!(grown <= 1.2, "{grown} times the instructions of one connection");
    assert!(segment("smoltcp", 100) > 4.0 * segment("smoltcp", 1), "what one set of all sockets costs");
}

#[test]
fn priority() {
    let (rows, _) = run("priority", &[]);
    let of = |metric: &str, architecture: &str, priorities: bool, flows: u64| {
        let found = rows.iter().filter(move |row| {
            row["metric"] == metric
                && row["architecture"] == architecture
                && row["priorities"] == priorities
                && row["background_flows"] == flows
        });
        found.map(|row| row["value"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    for flows in [8, 64] {
        for architecture in ["layered", "direct", "integrated"] {
            let before = of("served_before", architecture, false, flows);
            assert_eq!(before, [flows as f64; 2], "{architecture}: who came first is served first");
        }
        for architecture in ["direct", "integrated"] {
            assert_eq!(of("served_before", architecture, true, flows), [0.0; 4], "{architecture}");
        }
    }
    // Time is not repeatable, but this much is seen in any.
    for architecture in ["direct", "integrated"] {
        let medians = |priorities| of("round_trip_median", architecture, priorities, 64);
        let without = medians(false)[0];
        // Patient or not, in memory.
        let with = [medians(true)[0], medians(true)[1]];
        assert!(with.iter().all(|with| *with < without), "{architecture}: {with:?} and {without}");
    }
    let discarded = rows.iter().filter(|row| row["metric"] == "discarded");
    assert!(discarded.clone().count() > 0 && discarded.clone().all(|row| row["value"] == 0), "{rows:?}");
}
