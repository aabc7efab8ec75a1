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

    use super::{Test, applications, carried, lookups};

    #[test]
    fn all_tests_that_cells_name_are_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let all: Vec<Test> =
            [lookups::TESTS, carried::TESTS, applications::TESTS].into_iter().flatten().copied().collect();
        assert!(all.len() > 10);
        for Test(file, name) in all {
            let text = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            let at = text.find(&format!("fn {name}(")).unwrap_or_else(|| panic!("no {name} in {file}"));
            assert!(text[..at].contains("#[test]"), "{name} in {file} is no test");
        }
    }
}
