//! Tables and the plot.

use super::{FLOWS, Scheme};
use crate::plot::{Plot, Series};
use crate::table::{figure, targets};
use crate::{Row, Table};

fn number(row: &Row, key: &str) -> f64 {
    row.number(key).unwrap_or(f64::NAN)
}

/// Whether all filters say the same of all packets of a flow, and flows are few.
fn is_plain(row: &Row) -> bool {
    row.text("traffic") == "made" && number(row, "per_packet") == 0.0 && number(row, "flows") == FLOWS as f64
}

pub(super) fn tables(rows: &[Row]) -> Vec<Table> {
    let of = |metric: &str| rows.iter().filter(|row| row.text("metric") == metric).collect::<Vec<_>>();
    let mut times = Table::new(
        "Nanoseconds per packet; cache of 65,536 flows",
        ["filters", "run for each packet", "traffic", "flows", "scheme", "ns", "times faster", "hits %"],
    )
    .remark("libpcap: its interpreter runs all programs; none: ours does. Hits are of packets whose flow was seen before.")
    .remark("made: packets of 60 bytes, of any flow in turn; captured: those of the capture in their order, again and again.")
    .remark("source-hash: packets have labels, which are read; the others have none.");
    let (speedups, hits) = (of("speedup"), of("hits"));
    for row in of("time") {
        let keys = ["filters", "per_packet", "traffic", "flows", "scheme"];
        let same = |other: &&&Row| keys.iter().all(|key| row.get(key) == other.get(key));
        let cell = |all: &[&Row], factor: f64| {
            all.iter().find(same).map_or(String::new(), |row| figure(row.value() * factor))
        };
        let [filters, per_packet, flows] =
            ["filters", "per_packet", "flows"].map(|key| figure(number(row, key)));
        let counts = [filters, per_packet, row.text("traffic").to_owned(), flows];
        let found =
            [row.text("scheme").to_owned(), figure(row.value()), cell(&speedups, 1.0), cell(&hits, 100.0)];
        times.line(counts.into_iter().chain(found));
    }
    let counted = of("instructions");
    let instructions =
        Table::pivot("Instructions per packet", counted.iter().copied(), ("scheme", "filters"));
    let verdicts = targets(rows, |row| {
        format!("times faster, {} filters, {}", number(row, "filters"), row.text("scheme"))
    });
    let all = [times, instructions, verdicts];
    all.into_iter().filter(|table| !table.is_empty()).collect()
}

/// Time against the number of filters.
pub(super) fn plot(rows: &[Row]) -> Plot {
    let of = |scheme: Scheme| {
        let of_scheme =
            |row: &&Row| row.text("metric") == "time" && row.text("scheme") == scheme.name() && is_plain(row);
        let line: Vec<(f64, f64)> =
            rows.iter().filter(of_scheme).map(|row| (number(row, "filters"), row.value())).collect();
        Series { name: scheme.name().to_owned(), points: line.clone(), line }
    };
    Plot {
        title: "Time to find the consumers of a packet".to_owned(),
        x: "filters".to_owned(),
        y: "ns per packet".to_owned(),
        logarithmic: true,
        logarithmic_y: true,
        series: Scheme::ALL.map(of).into(),
    }
}
