//! Experiments that start servers and clients as processes: they run, and their rows are whole.

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

#[test]
fn unknown_experiments_are_refused() {
    let status = Command::new(env!("CARGO_BIN_EXE_throughline-lab")).arg("no-such").status().unwrap();
    assert_eq!(status.code(), Some(2));
}
