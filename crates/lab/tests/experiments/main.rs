//! What the experiments must show on any machine, run as users run them.
//!
//! Instructions are counted in a release build only: `cargo test --release -p throughline-lab --test experiments`. Or the
//! variable `THROUGHLINE_LAB` names the program of such a build, which is then what all tests run.

mod dispatch;
mod filter;
mod forward;
mod ilp;
mod lookups;
mod stack;

use std::ffi::OsString;
use std::io::Write;
use std::process::Command;

type Row = serde_json::Map<String, serde_json::Value>;

/// The program of a release build, if one is named.
fn released() -> Option<OsString> {
    std::env::var_os("THROUGHLINE_LAB")
}

/// Whether instructions can be counted; if not, that is said aloud.
fn counts() -> bool {
    let counts = released().is_some() || !cfg!(debug_assertions);
    if !counts {
        skipped("instructions are those of a release build");
    }
    counts
}

/// The rows of an experiment with `--quick --json` and more, and what it said besides. There are none, and it fails, where the
/// machine lacks all that it needs.
fn run(experiment: &str, more: &[&str]) -> (Vec<Row>, String) {
    let output = Command::new(released().unwrap_or_else(|| env!("CARGO_BIN_EXE_throughline-lab").into()))
        .args([experiment, "--quick", "--json"])
        .args(more)
        .output()
        .unwrap();
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    let lacking = output.status.code() == Some(1) && notes.contains("nothing was measured");
    assert!(output.status.success() || lacking, "{notes}");
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
