//! The three tables.

use crate::table::{figure, targets};
use crate::{Row, Table};

const TITLES: [&str; 3] =
    ["Table 1: lookup schemes", "Table 2: what headers carry", "Table 3: applications of source hashes"];

pub(super) fn tables(rows: &[Row]) -> Vec<Table> {
    let mut tables: Vec<Table> =
        (1..).zip(TITLES).map(|(number, title)| cells(rows, number, title)).collect();
    tables.push(targets(rows, |row| match row.text("metric") {
        "growth" => format!("{}: instructions with many entries over those with few", row.text("scheme")),
        _ => format!("{}: {}", row.text("line"), row.text("column")),
    }));
    tables.retain(|table| !table.is_empty());
    tables
}

fn cells(rows: &[Row], number: i64, title: &str) -> Table {
    let mut table = Table::new(title, ["", "", "", "", "unit", "backed by"]);
    // What the paper says that others don't carry need not be told.
    let told = |row: &&Row| row.value() != 0.0 || row.text("backed_by") != "the paper, table 2";
    for row in rows.iter().filter(|row| row.number("table") == Some(number as f64)).filter(told) {
        let value = match row.text("unit") {
            "shown" | "carried" => String::new(),
            _ => figure(row.value()),
        };
        let unit = if value.is_empty() { "" } else { row.text("unit") };
        table.line([
            row.text("line").to_owned(),
            row.text("column").to_owned(),
            row.text("says").to_owned(),
            value,
            unit.to_owned(),
            row.text("backed_by").to_owned(),
        ]);
    }
    table
}
