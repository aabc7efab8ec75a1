//! What the hosts discarded while they talked: nothing, or it is told.

use super::{Talks, Way};
use crate::experiments::discards;
use crate::{Row, Table};

/// A row for each reason, way and protocol for which anything was discarded.
pub(super) fn rows<T: Talks>(ways: &[Way], talks: &[T], device: &str) -> Vec<Row> {
    let of = |(way, talk): (&Way, &T)| {
        let rows = discards::rows("paths", talk.graphs());
        let told = |row: Row| {
            let row = row.with("device", device).with("architecture", way.architecture.name());
            row.with("stack", way.stack.name()).with("lowest", way.lowest)
        };
        rows.into_iter().map(told).collect::<Vec<_>>()
    };
    ways.iter().zip(talks).flat_map(of).collect()
}

pub(super) fn table(rows: &[Row]) -> Table {
    discards::table(rows, ["device", "architecture", "stack", "lowest", "protocol", "reason", "value"])
}
