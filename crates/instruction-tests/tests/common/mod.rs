//! Instructions of programs that are built as users build them, counted by callgrind: unlike times they are the same on
//! every run. The environment's variable `THROUGHLINE_INSTRUCTIONS` names a folder that has them built.

use std::{path::PathBuf, process::Command, sync::OnceLock};

/// Iterations of the shorter and the longer run.
const RUNS: [u64; 2] = [1_000, 3_000];

/// A program of this crate.
pub struct Program(&'static str, OnceLock<Option<PathBuf>>);

impl Program {
    pub const fn new(name: &'static str) -> Self {
        Self(name, OnceLock::new())
    }

    fn path(&self) -> Option<&PathBuf> {
        self.1.get_or_init(|| build(self.0)).as_ref()
    }

    /// Whether instructions can be counted here; if not, that is said aloud.
    pub fn can_be_counted(&self) -> bool {
        self.path().is_some()
    }

    /// What one iteration executes.
    pub fn per_iteration(&self, what: &str) -> f64 {
        let [short, long] = RUNS.map(|iterations| self.total(what, iterations) as f64);
        (long - short) / (RUNS[1] - RUNS[0]) as f64
    }

    fn total(&self, what: &str, iterations: u64) -> u64 {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(self.path().expect("checked before"))
            .args([what, &iterations.to_string()])
            .output()
            .expect("valgrind runs");
        let report = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{report}");
        let collected = report.lines().find_map(|line| line.split("Collected :").nth(1));
        collected.and_then(|n| n.trim().parse().ok()).unwrap_or_else(|| panic!("no count in {report}"))
    }

    /// Counts `what` less `base`, prints it, and holds it to `most`.
    pub fn check(&self, what: &str, base: f64, most: f64) -> f64 {
        let count = self.per_iteration(what) - base;
        println!("{what}: {count:.1} instructions");
        assert!(count <= most, "{what}: {count:.1} instructions, at most {most} expected");
        count
    }
}

fn build(name: &str) -> Option<PathBuf> {
    if !cfg!(target_arch = "x86_64") {
        eprintln!("SKIPPED: the bounds on instructions are those of x86-64");
        return None;
    }
    if !Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: no valgrind here (Debian package `valgrind`), instructions are not counted");
        return None;
    }
    if let Some(built) = std::env::var_os("THROUGHLINE_INSTRUCTIONS") {
        return Some(PathBuf::from(built).join(name));
    }
    let build = Command::new(env!("CARGO"))
        .args(["build", "--release", "--bin", name, "--message-format=json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    let messages = String::from_utf8(build.stdout).expect("JSON is UTF-8");
    let path =
        messages.lines().rev().find_map(|line| line.split("\"executable\":\"").nth(1)?.split('"').next());
    Some(path.expect("the program has an executable").into())
}
