//! Messages that graphs discarded: shown where there were any.

use std::collections::BTreeMap;

use throughline_stack::Graph;

use crate::table::figure;
use crate::{Row, Table};

const METRIC: &str = "discarded";

/// A row for each protocol and reason of these graphs together.
pub(super) fn rows<'g>(experiment: &str, graphs: impl IntoIterator<Item = &'g Graph>) -> Vec<Row> {
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for (protocol, why, count) in graphs.into_iter().flat_map(Graph::discarded) {
        *counts.entry((protocol, why.name())).or_default() += count;
    }
    let row = |((protocol, why), count): ((&str, &str), u64)| {
        Row::new(experiment, METRIC, "messages", count as f64).with("protocol", protocol).with("reason", why)
    };
    counts.into_iter().map(row).collect()
}

/// The table of such rows, by these keys and their values; empty without any.
pub(super) fn table<const N: usize>(rows: &[Row], keys: [&str; N]) -> Table {
    let mut table = Table::new("Messages discarded, both hosts", keys);
    for row in rows.iter().filter(|row| row.text("metric") == METRIC) {
        table.line(keys.map(|key| shown(row, key)));
    }
    table
}

fn shown(row: &Row, key: &str) -> String {
    row.number(key).map_or_else(|| row.text(key).to_owned(), figure)
}
