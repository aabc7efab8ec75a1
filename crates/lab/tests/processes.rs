//! Experiments that start servers and clients as processes: they run, and their rows are whole.

use std::io::Write;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

type Row = serde_json::Map<String, Value>;

/// One experiment measures at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn run(arguments: &[&str]) -> (Vec<Row>, String) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let output = Command::new(env!("CARGO_BIN_EXE_throughline-lab")).args(arguments).output().unwrap();
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{notes}");
    let lines = output.stdout.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    let rows: Vec<Row> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
    for row in &rows {
        assert!(
            ["experiment", "metric", "unit", "value"].iter().all(|key| row.contains_key(*key)),
            "{row:?}"
        );
    }
    (rows, notes)
}

#[test]
fn a_hot_object() {
    let (rows, _) = run(&["hot-object", "--quick", "--json"]);
    let rates: Vec<f64> =
        rows.iter().filter(|row| row["metric"] == "rate").filter_map(|row| row["value"].as_f64()).collect();
    assert_eq!(rates.len(), 2);
    assert!(rates.iter().all(|rate| *rate > 0.0));
    // The machine may be busy with something else: half is not the target, but tells a search from a step.
    assert!(rates[1] > rates[0] / 2.0, "{rates:?}");
}

#[test]
fn without_omniorb_the_rest_is_measured() {
    let (rows, notes) = run(&["iiop", "--quick", "--json", "--interop", "/nowhere"]);
    assert!(notes.contains("no comparison with omniORB"), "{notes}");
    let of = |metric: &str| rows.iter().filter(|row| row["metric"] == metric).count();
    assert!(of("latency_median") >= 4);
    assert_eq!(of("ours_over_omniorb"), 0);
    assert_eq!(of("rate_outstanding"), 1);
}

/// Says why a test is not made; straight to stderr, where the test harness does not swallow it.
fn skipped(notes: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {}", notes.trim_end());
}

/// The value of the only row with these keys.
fn value(rows: &[Row], wanted: &[(&str, Value)]) -> f64 {
    let found: Vec<_> =
        rows.iter().filter(|row| wanted.iter().all(|(k, v)| row.get(*k) == Some(v))).collect();
    assert_eq!(found.len(), 1, "rows with {wanted:?}");
    found[0]["value"].as_f64().unwrap()
}

#[test]
fn data_moves_in_every_way() {
    let (rows, notes) = run(&["move-data", "--quick", "--json"]);
    if rows.is_empty() && notes.contains("two processors") {
        return skipped(&notes);
    }
    let latency = |transport: &str, layer: &str, wait: &str, bytes: u32| {
        let wanted: [(&str, Value); 5] = [
            ("metric", "latency_one_way".into()),
            ("transport", transport.into()),
            ("layer", layer.into()),
            ("wait", wait.into()),
            ("bytes", bytes.into()),
        ];
        value(&rows, &wanted)
    };
    for wait in ["poll", "block"] {
        for transport in ["floor", "shm", "iiop", "unix", "udp"] {
            assert!(latency(transport, "raw", wait, 4) > 0.0, "{transport} {wait}");
            assert!(latency(transport, "raw", wait, 8_192) > 0.0, "{transport} {wait}");
        }
        assert!(latency("udp", "vi", wait, 4) > 0.0, "{wait}");
        for transport in ["shm", "iiop", "unix", "udp"] {
            for bytes in [4, 8_192, 65_536] {
                assert!(latency(transport, "object", wait, bytes) > 0.0, "{transport} {wait} {bytes}");
            }
        }
    }
    // Two system calls and a network stack lie between them: a factor of ten on an idle machine.
    assert!(latency("floor", "raw", "poll", 4) < latency("iiop", "object", "poll", 4));
    let shares: Vec<f64> = rows
        .iter()
        .filter(|row| row["metric"] == "marshaling_share")
        .filter_map(|row| row["value"].as_f64())
        .collect();
    assert_eq!(shares.len(), 24);
    assert!(shares.iter().all(|share| *share > 0.0), "{shares:?}");
    let judged: Vec<_> = rows.iter().filter(|row| row.contains_key("ok")).collect();
    assert_eq!(judged.len(), 4, "{judged:?}");
    for claim in ["VIA-1", "VIA-2", "VIA-3", "VIA-4", "VIA-5"] {
        assert!(rows.iter().any(|row| row.get("claim") == Some(&claim.into())), "{claim}");
    }
    assert_eq!(rows.iter().filter(|row| row.contains_key("paper")).count(), 6);
}

#[test]
fn calls_few_and_many() {
    let (rows, notes) = run(&["calls", "--quick", "--json"]);
    if rows.is_empty() && notes.contains("two processors") {
        return skipped(&notes);
    }
    let rate = |transport: &str, callers: &str, outstanding: u32, objects: u32| {
        let wanted: [(&str, Value); 5] = [
            ("metric", "rate".into()),
            ("transport", transport.into()),
            ("callers", callers.into()),
            ("outstanding", outstanding.into()),
            ("objects", objects.into()),
        ];
        value(&rows, &wanted)
    };
    for (transport, threads) in [("shm", [1, 2, 4, 8]), ("udp", [1, 2, 4, 8]), ("iiop", [1, 2, 8, 64])] {
        for n in threads {
            assert!(rate(transport, "threads", n, 1) > 0.0, "{transport} {n}");
        }
        for n in [100, 10_000] {
            assert!(rate(transport, "threads", 1, n) > 0.0, "{transport} {n}");
        }
    }
    for (transport, callers) in
        ["shm", "udp", "iiop"].into_iter().flat_map(|t| [(t, "begun"), (t, "futures")])
    {
        for n in [1, 4, 16, 64, 256] {
            assert!(rate(transport, callers, n, 1) > 0.0, "{transport} {callers} {n}");
        }
    }
    assert!(rate("floor", "ring", 64, 0) > rate("iiop", "threads", 1, 1));
    let judged = |metric: &str| value(&rows, &[("metric", metric.into())]);
    assert!(judged("rate_outstanding") > 0.0);
    let share = judged("rate_over_ring");
    assert!(share > 0.0 && share < 1.0, "calls do more than the ring alone: {share}");
}

#[test]
fn unknown_experiments_are_refused() {
    let status = Command::new(env!("CARGO_BIN_EXE_throughline-lab")).arg("no-such").status().unwrap();
    assert_eq!(status.code(), Some(2));
}
