//! The paper's three tables for what this system has: lookup schemes, what headers carry, and applications of source hashes. Each cell
//! is measured here or names the test that shows it.

mod applications;
mod carried;
mod lookups;
mod report;

use crate::{Experiment, LabError, Options, Row, Sink, Table};

/// See the module.
pub(crate) struct Schemes;

/// A test: its file from the root of the sources, and its name.
#[derive(Clone, Copy, Debug)]
struct Test(&'static str, &'static str);

impl Test {
    /// As a row names it.
    fn path(self) -> String {
        format!("{}::{}", self.0, self.1)
    }
}

impl Experiment for Schemes {
    fn name(&self) -> &'static str {
        "schemes"
    }

    fn purpose(&self) -> &'static str {
        "the paper's tables of lookup schemes, headers and applications, each cell measured or shown by a test"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["HDR-6"]
    }

    fn run(&self, _options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        sink.ahead(3);
        sink.step("lookup schemes");
        lookups::rows(sink)?.into_iter().try_for_each(|row| sink.row(row))?;
        sink.step("what labels carry");
        carried::rows()?.into_iter().try_for_each(|row| sink.row(row))?;
        sink.step("applications");
        applications::rows()?.into_iter().try_for_each(|row| sink.row(row))
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        report::tables(rows)
    }
}

/// A cell of a table: which column of which line, what it says, and the number behind it.
fn cell(table: u8, line: &str, column: &str, says: &str, unit: &str, value: f64) -> Row {
    Row::new("schemes", "cell", unit, value)
        .claim("HDR-6")
        .with("table", table)
        .with("line", line)
        .with("column", column)
        .with("says", says)
}

/// What is measured by this experiment itself.
fn measured(row: Row, what: &str) -> Row {
    row.with("backed_by", format!("measured: {what}"))
}

/// What a test shows.
fn shown(row: Row, test: Test) -> Row {
    row.with("backed_by", test.path())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{applications, carried, lookups};

    /// Whether a function of this name is a test: among the attributes and comments right before it is one that says so.
    fn is_a_test(text: &str, name: &str) -> bool {
        let Some(at) = text.find(&format!("fn {name}(")) else { return false };
        let before = text[..at].trim_end().lines().rev().map(str::trim);
        before
            .take_while(|line| line.starts_with("#[") || line.starts_with("///"))
            .any(|line| line == "#[test]")
    }

    #[test]
    fn what_is_a_test_is_told_from_what_is_not() {
        let text =
            "#[test]\nfn one() {}\n\nfn two() {}\n#[test]\n    /// Says what.\n    fn three(a in b) {}";
        assert_eq!(
            ["one", "two", "three", "four"].map(|name| is_a_test(text, name)),
            [true, false, true, false]
        );
    }

    #[test]
    fn every_cell_is_measured_or_names_a_test_that_there_is() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let tables = [
            lookups::set_up().unwrap(),
            lookups::when(),
            carried::rows().unwrap(),
            applications::rows().unwrap(),
        ];
        let mut tests = 0;
        for row in tables.iter().flatten() {
            let backed_by = row.text("backed_by");
            if backed_by.starts_with("measured: ") || backed_by == "the paper, table 2" {
                continue;
            }
            let (file, name) =
                backed_by.split_once("::").unwrap_or_else(|| panic!("a cell without ground: {row:?}"));
            let text = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(is_a_test(&text, name), "no test {name} in {file}");
            tests += 1;
        }
        assert!(tests > 10);
    }
}
