//! Rows of results and what they say of the targets, as text and as JSON.

use serde::{Deserialize, Serialize};

use crate::ways::SIZES;

/// What was measured of one way, for messages of one size there and back.
#[derive(Clone, Serialize, Deserialize)]
pub struct Row {
    pub way: String,
    /// How both ends wait: `poll`, `adapt`, `block`; `-` where nobody waits.
    pub wait: String,
    /// Calls under way at any time.
    pub outstanding: u32,
    pub bytes: u32,
    /// Of a round trip; with several outstanding of single calls, or of the time between two answers.
    pub median_ns: f64,
    pub p99_ns: f64,
    pub rate_per_s: f64,
}

/// The way of rows that tell what a copy takes.
const COPY: &str = "memcpy";

impl Row {
    /// A copy within one process.
    pub fn copy(bytes: u32, ns: f64) -> Self {
        let (way, wait) = (COPY.into(), "-".into());
        Self { way, wait, outstanding: 1, bytes, median_ns: ns, p99_ns: ns, rate_per_s: 1e9 / ns }
    }
}

/// What is to be reached, and what was.
#[derive(Serialize, Deserialize)]
pub struct Target {
    pub what: String,
    pub value: f64,
    /// `at most` or `at least`.
    pub kind: String,
    pub bound: f64,
    pub met: bool,
}

#[derive(Serialize, Deserialize)]
pub struct Report {
    pub rows: Vec<Row>,
    pub targets: Vec<Target>,
}

/// The row of a way, if it was measured.
pub fn find<'a>(rows: &'a [Row], way: &str, wait: &str, outstanding: u32, bytes: u32) -> Option<&'a Row> {
    rows.iter()
        .find(|row| (&*row.way, &*row.wait, row.outstanding, row.bytes) == (way, wait, outstanding, bytes))
}

pub fn copy(rows: &[Row], bytes: u32) -> Option<f64> {
    find(rows, COPY, "-", 1, bytes).map(|row| row.median_ns)
}

impl Report {
    pub fn print(&self) {
        self.print_alone();
        self.print_many();
        println!("\n{:<66}{:>9}{:>18}", "target", "value", "");
        for Target { what, value, kind, bound, met } in &self.targets {
            let verdict =
                if *met { "met".to_owned() } else { format!("missed by {:.0} %", missed(*value, *bound)) };
            println!("{what:<66}{:>9}  {kind} {bound:<8} {verdict}", figure(*value));
        }
    }

    fn print_alone(&self) {
        let sizes: String = SIZES.iter().map(|bytes| format!("{:>10} B", bytes)).collect();
        println!("{:<32}{:<8}{sizes}{:>14}", "round trip, us: median", "wait", "p99, 4 B");
        for row in self.rows.iter().filter(|row| row.outstanding == 1 && row.bytes == SIZES[0]) {
            let of = |bytes| find(&self.rows, &row.way, &row.wait, 1, bytes);
            let cells: String = SIZES.iter().map(|bytes| cell(of(*bytes).map(|row| row.median_ns))).collect();
            println!("{:<32}{:<8}{cells}{:>14}", row.way, row.wait, figure(row.p99_ns / 1e3));
        }
        for row in self.rows.iter().filter(|row| row.way == COPY) {
            println!("a copy of {} B within one process: {} us", row.bytes, figure(row.median_ns / 1e3));
        }
    }

    fn print_many(&self) {
        println!(
            "\n{:<32}{:<8}{:>12}{:>12}",
            "small calls, many outstanding", "wait", "outstanding", "per second"
        );
        for row in self.rows.iter().filter(|row| row.outstanding > 1) {
            println!("{:<32}{:<8}{:>12}{:>12.0}", row.way, row.wait, row.outstanding, row.rate_per_s);
        }
    }
}

fn cell(ns: Option<f64>) -> String {
    format!("{:>12}", ns.map_or_else(|| "-".to_owned(), |ns| figure(ns / 1e3)))
}

/// By how much, in per cent of the bound.
fn missed(value: f64, bound: f64) -> f64 {
    100.0 * (value - bound).abs() / bound
}

/// Three significant figures.
fn figure(value: f64) -> String {
    let digits = match value.abs() {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        value if value >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}
