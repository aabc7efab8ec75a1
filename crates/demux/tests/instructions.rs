//! Upper bounds on instructions, counted by callgrind: unlike times they are the same on every run.
#![cfg(not(loom))]

use std::{path::PathBuf, process::Command, sync::OnceLock};

/// Iterations of the shorter and the longer run.
const RUNS: [u64; 2] = [1_000, 3_000];

/// The example, built as users build; `None`, said aloud, where instructions can't be counted.
fn example() -> Option<&'static PathBuf> {
    static EXAMPLE: OnceLock<Option<PathBuf>> = OnceLock::new();
    EXAMPLE.get_or_init(build).as_ref()
}

fn build() -> Option<PathBuf> {
    if !cfg!(target_arch = "x86_64") {
        eprintln!("SKIPPED: the bounds on instructions are those of x86-64");
        return None;
    }
    if !Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: no valgrind here (Debian package `valgrind`), instructions are not counted");
        return None;
    }
    let build = Command::new(env!("CARGO"))
        .args(["build", "--release", "--example", "instructions", "--message-format=json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    let messages = String::from_utf8(build.stdout).expect("JSON is UTF-8");
    let path =
        messages.lines().rev().find_map(|line| line.split("\"executable\":\"").nth(1)?.split('"').next());
    Some(path.expect("the example has an executable").into())
}

/// What one iteration executes.
fn per_iteration(what: &str) -> f64 {
    let [short, long] = RUNS.map(|iterations| total(what, iterations) as f64);
    (long - short) / (RUNS[1] - RUNS[0]) as f64
}

fn total(what: &str, iterations: u64) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(example().expect("checked before"))
        .args([what, &iterations.to_string()])
        .output()
        .expect("valgrind runs");
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{report}");
    let collected = report.lines().find_map(|line| line.split("Collected :").nth(1));
    collected.and_then(|n| n.trim().parse().ok()).unwrap_or_else(|| panic!("no count in {report}"))
}

/// Counts `what` less `base`, prints it, and holds it to `most`.
fn check(what: &str, base: f64, most: f64) -> f64 {
    let count = per_iteration(what) - base;
    println!("{what}: {count:.1} instructions");
    assert!(count <= most, "{what}: {count:.1} instructions, at most {most} expected");
    count
}

#[test]
fn handle_to_record() {
    if example().is_none() {
        return;
    }
    let base = per_iteration("no-object:2");
    let one = check("get:2", base, 13.5);
    // The same for the first and the last of few and of many.
    for what in ["get-first:1000000", "get:1000000"] {
        // Start-up may differ by an instruction or two between runs, which is nothing per iteration.
        let count = check(what, base, 13.5);
        assert!((count - one).abs() < 0.01, "{what}: {count}, not {one}");
    }
    check("get-slot:1000", base, 9.0);
    check("release:1000", base, 18.0);
    check("stale:1000", base, 12.0);
    // From the handle in registers.
    check("exclusive:1000", per_iteration("no-handle:1000"), 8.0);
}

#[test]
fn flow_to_slot() {
    if example().is_none() {
        return;
    }
    let base = per_iteration("no-flow:1000");
    check("direct:1000", base, 8.0);
    check("source-cache:1000", base, 20.0);
    // A chain begins with an index of the entry, one step more.
    check("source-hash:1000", base, 25.0);
}

#[test]
fn name_to_index() {
    if example().is_none() {
        return;
    }
    let base = per_iteration("no-name:8");
    for length in 0..=24 {
        check(&format!("perfect:{length}"), base, 60.0);
    }
    check("perfect:54", base, 120.0);
    check("predicted:16", base, 25.0);
}
