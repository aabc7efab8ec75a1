//! Rows of results, as text and as JSON.

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};

/// Nanoseconds by one table.
#[derive(Serialize, Deserialize)]
pub struct Time {
    pub table: String,
    pub ns: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// Each lookup waits for the one before.
    Single,
    /// None does.
    Independent,
    Batched,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Independent => "independent",
            Self::Batched => "batched",
        }
    }
}

/// What was measured of all tables alike.
#[derive(Serialize, Deserialize)]
pub struct Row {
    pub flows: u64,
    pub what: String,
    /// How keys were looked up, if they were.
    pub mode: Option<Mode>,
    pub times: Vec<Time>,
}

/// Records by handle, no key compared.
pub const HANDLE: &str = "by handle";
/// The floor: records at known places, keys compared.
pub const KNOWN: &str = "known place";
pub const OURS: &str = "FlowTable";

impl Row {
    fn of(&self, table: &str) -> f64 {
        self.times.iter().find(|time| time.table == table).map_or(f64::NAN, |time| time.ns)
    }

    /// The shortest time of the tables of others.
    fn best_other(&self) -> f64 {
        let others = self.times.iter().filter(|time| ![HANDLE, KNOWN, OURS].contains(&time.table.as_str()));
        others.map(|time| time.ns).fold(f64::NAN, f64::min)
    }

    fn title(&self) -> String {
        self.mode.map_or_else(|| self.what.clone(), |mode| format!("{}, {}", self.what, mode.name()))
    }

    /// The names of the columns, which those of a row with `mode` are.
    pub fn header(&self) -> String {
        let tables: String = self.times.iter().map(|time| format!("{:>12}", time.table)).collect();
        format!(
            "{:<32}{tables}{:>19}{:>20}{:>15}",
            format!("{} flows, ns", self.flows),
            "best other / ours",
            "best other / known",
            "ours / handle"
        )
    }

    pub fn text(&self) -> String {
        let cell = |value: f64, digits: usize| {
            if value.is_nan() { "-".to_owned() } else { format!("{value:.digits$}") }
        };
        let blank = if self.mode.is_none() { format!("{:>12}{:>12}", "-", "-") } else { String::new() };
        let times: String = self.times.iter().map(|time| format!("{:>12}", cell(time.ns, 1))).collect();
        let (ours, best) = (self.of(OURS), self.best_other());
        let ratios = [best / ours, best / self.of(KNOWN), ours / self.of(HANDLE)].map(|ratio| cell(ratio, 2));
        format!("{:<32}{blank}{times}{:>19}{:>20}{:>15}", self.title(), ratios[0], ratios[1], ratios[2])
    }
}

/// Rows that were written as JSON.
pub fn read(file: &Path) -> Result<Vec<Row>, String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string());
    let rows = text.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
    rows.map_err(|error| format!("{}: {error}", file.display()))
}

/// All rows, under a header for each number of flows.
pub fn print(rows: &[Row]) {
    for (n, row) in rows.iter().enumerate() {
        if n == 0 || rows[n - 1].flows != row.flows {
            let header = rows[n..].iter().find(|row| row.mode.is_some()).unwrap_or(row).header();
            println!("{}{header}", if n == 0 { "" } else { "\n" });
        }
        println!("{}", row.text());
    }
}
