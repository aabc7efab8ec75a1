//! Text for people, and rows for programs.

use std::borrow::Cow;
use std::io::{self, Write};

use serde_json::Value;

use crate::failure::Failure;

/// Prints one JSON object in one line.
pub fn json_line(value: &Value) {
    line(&value.to_string());
}

/// A text without what would command the terminal, since peers and files have a say in what is printed: as in JSON, which stays
/// what it is.
pub fn shown(text: &str) -> Cow<'_, str> {
    let commands = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(commands) {
        return text.into();
    }
    let escaped = |c: char| if commands(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    text.chars().map(escaped).collect()
}

/// Prints a line, [`shown`] as it can be. A reader that has gone away, as `head` does, ends the process quietly; a full disk or the like with
/// status 1.
pub fn line(text: &str) {
    written(writeln!(io::stdout(), "{}", shown(text)));
}

/// Prints one [`line()`], whatever strangers have put into it: what comes after a line break could be taken for a line of ours.
pub fn one_line(text: &str) {
    line(&text.replace('\n', "\\u000a"));
}

/// Ends the process, as [`line()`] does, where standard output could not be written.
pub fn written(result: io::Result<()>) {
    let Err(error) = result else { return };
    if error.kind() == io::ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    let failure = Failure::new("cannot write to standard output").because(error);
    // Where standard error fails as well, the status is all that can be told.
    let _ = write!(io::stderr(), "{failure}");
    std::process::exit(1);
}

/// Tells a person something beside what is printed, in lines of standard error, [`shown`] as it can be. Where that cannot be
/// written, the command goes on without.
pub fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "{}", shown(text));
}

/// Columns whose widths follow their contents.
pub struct Table {
    rows: Vec<Vec<String>>,
    right: Vec<bool>,
}

impl Table {
    /// A table with these headings. Those that start with `>` stand, with all below them, at the right.
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        let right = headings.iter().map(|h| h.starts_with('>')).collect();
        Self { rows: vec![headings.iter().map(|h| h.trim_start_matches('>').to_owned()).collect()], right }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }

    /// Adds an empty line.
    pub fn gap(&mut self) {
        self.rows.push(Vec::new());
    }

    /// Prints the table, indented by two columns.
    pub fn print(&self) {
        let width = |at: usize| {
            self.rows.iter().filter_map(|r| r.get(at)).map(|c| c.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.right.len()).map(width).collect();
        for row in &self.rows {
            let mut text = String::new();
            for ((cell, width), right) in row.iter().zip(&widths).zip(&self.right) {
                let cell = if *right { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
                text.push_str("  ");
                text.push_str(&cell);
            }
            line(text.trim_end());
        }
    }
}
