//! What the experiments must show on any machine, run as users run them.
//!
//! Instructions are counted in a release build only: `cargo test --release -p throughline-lab --test experiments`.

mod dispatch;
mod lookups;

use std::io::Write;
use std::process::Command;

type Row = serde_json::Map<String, serde_json::Value>;

/// The rows of an experiment with `--quick --json` and more, and what it said besides.
fn run(experiment: &str, more: &[&str]) -> (Vec<Row>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_throughline-lab"))
        .args([experiment, "--quick", "--json"])
        .args(more)
        .output()
        .unwrap();
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{notes}");
    let lines = output.stdout.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    let rows: Vec<Row> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
    for row in &rows {
        let keys = ["experiment", "metric", "unit", "value"];
        assert!(keys.iter().all(|key| row.contains_key(*key)), "{row:?}");
        assert!(row.values().all(|value| !value.is_object() && !value.is_array()), "{row:?}");
    }
    (rows, notes)
}

/// Says why a test is not made; straight to stderr, where the test harness does not swallow it.
fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {}", why.trim_end());
}
