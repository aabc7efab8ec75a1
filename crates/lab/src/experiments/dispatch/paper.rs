//! The paper's figures beside ours: ratios and shares, since the machines are thirty years apart.

use super::world::CONVENTIONAL;
use crate::{Row, Value};

/// The paper's largest configuration.
const OBJECTS: u32 = 500;
const OPERATIONS: u32 = 100;
/// Calls that table 1 adds up.
const CALLS: f64 = 50_000.0;

/// Table 1, worst case: milliseconds in `OA::find`, in `Object::find`, in the skeleton, on a 168 MHz UltraSPARC.
const TABLE_1: [(&str, [f64; 3]); 4] = [
    ("linear", [12_122.73, 3_617.48, 249.65]),
    ("dynamic-hash", [670.56, 265.39, 253.62]),
    ("perfect-hash", [346.42, 78.67, 253.62]),
    ("active", [280.45, 36.71, 249.94]),
];
const STEPS: [&str; 3] = ["find-object", "find-operation", "skeleton"];

/// Section 4.2: the share of `OA::dispatch` and what it calls in the server's time, in per cent.
const SHARES: [(&str, f64); 4] =
    [("linear", 95.0), ("dynamic-hash", 63.0), ("perfect-hash", 50.0), ("active", 20.0)];

/// Rows for TAO-2 to TAO-5, computed from the times at 500 objects and 100 operations.
pub(crate) fn beside(times: &[Row]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (strategy, paper) in TABLE_1 {
        rows.extend(worst_over_random(times, strategy));
        rows.extend(table_1(times, strategy, paper));
    }
    for (strategy, paper) in SHARES {
        rows.extend(share(times, strategy, &STEPS, "TAO-4").map(|row| row.paper(paper)));
    }
    let conventional = CONVENTIONAL.to_string();
    rows.extend(share(times, &conventional, &STEPS[..2], "TAO-5").map(|row| row.paper(17.0)));
    rows
}

/// TAO-2: linear 1.87; active and perfect hashing are flat. The paper gives no number for dynamic hashing.
fn worst_over_random(times: &[Row], strategy: &str) -> Option<Row> {
    let sum = |invocation: &str| sum(times, strategy, invocation, &STEPS[..2]);
    let row = row("worst_over_random", "ratio", sum("worst-case")? / sum("random")?, strategy).claim("TAO-2");
    match strategy {
        "linear" => Some(row.paper(1.87)),
        "dynamic-hash" => Some(row),
        _ => Some(row.paper(1.0)),
    }
}

/// TAO-3: milliseconds for 50,000 calls, and each step relative to active demultiplexing.
fn table_1(times: &[Row], strategy: &str, paper: [f64; 3]) -> Vec<Row> {
    let active = TABLE_1[3].1;
    let mut rows = Vec::new();
    for (i, step) in STEPS.iter().enumerate() {
        let ns = |strategy: &str| sum(times, strategy, "worst-case", &[step]);
        let (Some(own), Some(base)) = (ns(strategy), ns("active")) else { continue };
        let add = |row: Row| row.with("invocation", "worst-case").with("step", *step).claim("TAO-3");
        rows.push(add(row("time_of_50000", "ms", own * CALLS / 1e6, strategy)).paper(paper[i]));
        rows.push(add(row("relative_to_active", "ratio", own / base, strategy)).paper(paper[i] / active[i]));
    }
    rows
}

/// TAO-4 and TAO-5: what part of a message's time goes into these steps.
fn share(times: &[Row], strategy: &str, steps: &[&str], claim: &str) -> Option<Row> {
    let part = sum(times, strategy, "worst-case", steps)?;
    let whole = sum(times, strategy, "worst-case", &["message"])?;
    let row = row("share_of_message", "%", 100.0 * part / whole, strategy);
    Some(row.with("invocation", "worst-case").with("step", steps.join("+")).claim(claim))
}

fn sum(times: &[Row], strategy: &str, invocation: &str, steps: &[&str]) -> Option<f64> {
    let ns = |step: &&str| {
        let wanted: [(&str, Value); 6] = [
            ("metric", "time".into()),
            ("strategy", strategy.into()),
            ("objects", OBJECTS.into()),
            ("operations", OPERATIONS.into()),
            ("invocation", invocation.into()),
            ("step", (*step).into()),
        ];
        times.iter().find(|row| row.matches(&wanted)).map(Row::value)
    };
    steps.iter().map(ns).sum()
}

fn row(metric: &str, unit: &str, value: f64, strategy: &str) -> Row {
    Row::new("dispatch", metric, unit, (value * 1000.0).round() / 1000.0)
        .with("strategy", strategy)
        .with("objects", OBJECTS)
        .with("operations", OPERATIONS)
}
