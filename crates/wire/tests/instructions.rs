//! Upper bounds on instructions, counted by callgrind: unlike times they are the same on every run.

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
fn written_and_read() {
    if example().is_none() {
        return;
    }
    // With the handing over of what is written and read, some 10 instructions.
    let base = per_iteration("nothing");
    check("write-request", base, 25.0);
    check("write-reply", base, 25.0);
    check("read-request", base, 52.0);
    check("read-reply", base, 36.0);
    check("read-region", base, 90.0);
}
