//! The tables.

use crate::table::{figure, targets};
use crate::{Row, Table};

pub(super) fn tables(rows: &[Row]) -> Vec<Table> {
    vec![
        index(rows),
        information(rows),
        passing(rows),
        targets(rows, |row| format!("{} by {}", row.text("metric").replace('_', " "), row.text("scheme"))),
    ]
}

fn of<'r>(rows: &'r [Row], metric: &str) -> impl Iterator<Item = &'r Row> {
    rows.iter().filter(move |row| row.text("metric") == metric)
}

fn paper(row: &Row) -> String {
    let most = row.number("paper").map(figure).unwrap_or_default();
    row.number("paper_least").map_or(most.clone(), |least| format!("{} to {most}", figure(least)))
}

fn index(rows: &[Row]) -> Table {
    let mut table = Table::new(
        "Instructions from a flow id of 12 bytes to the index into 65,536 entries",
        ["scheme", "ours", "paper"],
    );
    for row in of(rows, "index") {
        table.line([row.text("scheme").to_owned(), figure(row.value()), paper(row)]);
    }
    table
}

fn information(rows: &[Row]) -> Table {
    let mut table = Table::new(
        "Instructions from a packet to its routing information",
        ["scheme", "table", "ours", "tables loaded", "paper"],
    )
    .remark("In a loop over 1,024 packets, the loop taken off. Index and hash are loaded from the packet.")
    .remark("ours: where tables lie is in registers, in a loop that calls nobody; tables loaded: it is loaded for each packet.")
    .remark("threaded compares the entry with the destination, which the paper's does not, and writes the next index.");
    for row in of(rows, "information") {
        let loaded = of(rows, "information_loaded").find(|other| {
            other.text("table") == row.text("table") && other.text("scheme") == row.text("scheme")
        });
        let loaded = loaded.map(|row| figure(row.value())).unwrap_or_default();
        let (scheme, lookup) = (row.text("scheme").to_owned(), row.text("table").to_owned());
        table.line([scheme, lookup, figure(row.value()), loaded, paper(row)]);
    }
    table
}

fn passing(rows: &[Row]) -> Table {
    let mut table =
        Table::new("Instructions past a header, and to the user's data", ["", "by", "ours", "paper"])
            .remark("headers: checked as the layers of the protocol graph check them, nobody looked up.")
            .remark(
                "graph: all that a layer costs of what arrives: also its sessions, and check sums of IPv4.",
            )
            .remark(
                "label: a checked DML header, and the region of the data; the same for any number of layers.",
            );
    for row in of(rows, "pass") {
        let what = format!("past {}", row.text("layer"));
        table.line([what, row.text("scheme").to_owned(), figure(row.value()), paper(row)]);
    }
    for (metric, what) in [("to_data", "to the data"), ("to_data_per_layer", "for each of 3 headers")] {
        for row in of(rows, metric) {
            let by = match row.number("regions") {
                Some(1.0) => "label of 1 region".to_owned(),
                Some(regions) => format!("label of {} regions", figure(regions)),
                None => row.text("scheme").to_owned(),
            };
            table.line([what.to_owned(), by, figure(row.value()), paper(row)]);
        }
    }
    table
}
