//! Tables and the figure.

use super::{MICROSECONDS, Scheme, Setting, model};
use crate::plot::{Plot, Series};
use crate::table::{figure, grouped, targets};
use crate::{Row, Table};

pub(super) fn tables(rows: &[Row]) -> Vec<Table> {
    let mut tables = vec![lookups(rows)];
    tables.extend(["figure 2", "many flows", "one flow"].map(|times| totals(rows, times)));
    tables.push(crossings(rows));
    tables.push(real(rows));
    tables.push(targets(&missed(rows), |row| {
        format!(
            "{} with the times of {}, {} packets",
            row.text("metric").replace('_', " "),
            row.text("times"),
            figure(row.number("packets").unwrap_or(f64::NAN))
        )
    }));
    tables.retain(|table| !table.is_empty());
    tables
}

fn of<'r>(rows: &'r [Row], metric: &str) -> impl Iterator<Item = &'r Row> {
    rows.iter().filter(move |row| row.text("metric") == metric)
}

/// Targets, and of those that say that the measured time is the model's only the worst.
fn missed(rows: &[Row]) -> Vec<Row> {
    let worst = of(rows, "off_model").max_by(|one, other| one.value().total_cmp(&other.value()));
    of(rows, "circuit_behind_source_hash").chain(worst).cloned().collect()
}

fn lookups(rows: &[Row]) -> Table {
    let mut table = Table::new("One lookup, ns", ["by", "many flows", "one flow", "paper"])
        .remark("many flows: 32,768, whose packets come in any order; one flow: nothing else in between.");
    for row in of(rows, "lookup_ns").filter(|row| row.text("flows") == "many") {
        let one = of(rows, "lookup_ns")
            .find(|other| other.text("flows") == "one" && other.text("scheme") == row.text("scheme"));
        let paper = row.number("paper").map(figure).unwrap_or_default();
        let one = one.map_or(f64::NAN, Row::value);
        table.line([row.text("scheme").to_owned(), figure(row.value()), figure(one), paper]);
    }
    table
}

fn totals(rows: &[Row], times: &str) -> Table {
    let chosen = of(rows, "total_ms").filter(|row| row.text("times") == times);
    Table::pivot(
        format!("Until all packets have been sent on, ms: a round trip of 60 ms, lookups as of {times}"),
        chosen,
        ("packets", "scheme"),
    )
}

fn crossings(rows: &[Row]) -> Table {
    let mut table = Table::new("Crossing points of the model", ["times", "", "from packets on"]);
    for row in of(rows, "crossing") {
        let what = format!("{} faster than {}", row.text("faster"), row.text("than"));
        table.line([row.text("times").to_owned(), what, figure(row.value())]);
    }
    for row in of(rows, "circuit_behind_source_hash") {
        let packets = grouped(row.number("packets").unwrap_or(0.0) as u64);
        let (what, when) = match row.value() > 0.0 {
            true => ("behind", "never"),
            false => ("ahead", "always"),
        };
        let gap = figure(row.value().abs());
        table.line([
            row.text("times").to_owned(),
            format!("virtual-circuit {what} source-hash by {gap} us at {packets} packets"),
            when.to_owned(),
        ]);
    }
    table
}

fn real(rows: &[Row]) -> Table {
    Table::pivot(
        "Over a veth pair in real time, ms: a round trip of 2 ms, one processor for both ends",
        of(rows, "veth_total_ms"),
        ("packets", "scheme"),
    )
}

/// As figure 2: the model as curves, what was measured as points.
pub(super) fn plot(setting: &Setting, rows: &[Row]) -> Plot {
    let series = |scheme: Scheme| {
        let hop = setting.hop(scheme);
        let line = (1..=1000).map(|n| (f64::from(n), model(&hop, scheme, n) / MICROSECONDS / 1e3)).collect();
        let points = of(rows, "total_ms")
            .filter(|row| row.text("scheme") == scheme.name() && row.text("times") == setting.name)
            .map(|row| (row.number("packets").unwrap_or(f64::NAN), row.value()))
            .collect();
        Series { name: scheme.name().to_owned(), line, points }
    };
    Plot {
        title: format!(
            "n packets through one hop, R = 60 ms, lookups as of {}: model and measured",
            setting.name
        ),
        x: "packets".to_owned(),
        y: "ms until all have been sent on".to_owned(),
        logarithmic: true,
        logarithmic_y: false,
        series: Scheme::ALL.map(series).into(),
    }
}
