//! The rows as tables.

use crate::plot::{Plot, Series};
use crate::table::{figure, targets};
use crate::{Row, Table};

/// Everything that was measured.
pub(super) fn tables(rows: &[Row]) -> Vec<Table> {
    let of_one = |row: &&Row| row.text("metric") == "rate" && row.number("objects").is_some_and(|n| n <= 1.0);
    let mut outstanding = Table::new(
        "Calls outstanding, one object",
        ["over", "callers", "wait", "outstanding", "calls/s", "median, us"],
    );
    for row in rows.iter().filter(of_one) {
        outstanding.line([
            row.text("transport").to_owned(),
            row.text("callers").to_owned(),
            row.text("wait").to_owned(),
            cell(row, "outstanding"),
            figure(row.value()),
            median_of(rows, row),
        ]);
    }
    let outstanding = outstanding.remark(
        "one server, polling, on a core; its client on another; threads: each with a call at a time; begun: one thread, \
         which waits for the oldest of its calls; futures: tasks of one thread, each with a call at a time; floor: bytes \
         around a bare ring, the time between two arrivals",
    );
    let mut objects =
        Table::new("One call at a time, to one object after the other", ["over", "objects", "calls/s"]);
    let alone = |row: &&Row| {
        row.text("metric") == "rate"
            && row.text("callers") == "threads"
            && row.number("outstanding") == Some(1.0)
    };
    for row in rows.iter().filter(alone) {
        objects.line([row.text("transport").to_owned(), cell(row, "objects"), figure(row.value())]);
    }
    let targets = targets(rows, |row| {
        format!(
            "{}, {} outstanding ({})",
            row.text("metric").replace('_', " "),
            cell(row, "outstanding"),
            row.text("callers")
        )
    });
    let targets = targets.remark("the best of up to 64 outstanding over shared memory");
    let mut tables = vec![outstanding, objects, targets];
    tables.retain(|table| !table.is_empty());
    tables
}

fn cell(row: &Row, key: &str) -> String {
    figure(row.number(key).unwrap_or(f64::NAN))
}

fn median_of(rows: &[Row], rate: &Row) -> String {
    let keys = ["transport", "callers", "outstanding", "objects"];
    let same = |row: &&Row| {
        row.text("metric") == "latency_median" && keys.iter().all(|key| row.get(key) == rate.get(key))
    };
    rows.iter().find(same).map_or_else(|| "-".to_owned(), |row| figure(row.value()))
}

/// Rates against calls outstanding, a line for each transport and kind of callers.
pub(super) fn plot(rows: &[Row]) -> Plot {
    let of_one = |row: &&Row| row.text("metric") == "rate" && row.number("objects").is_some_and(|n| n <= 1.0);
    let mut series: Vec<Series> = Vec::new();
    for row in rows.iter().filter(of_one) {
        let name = format!("{}, {}", row.text("transport"), row.text("callers"));
        if series.last().is_none_or(|last| last.name != name) {
            series.push(Series { name, ..Series::default() });
        }
        let point = row.number("outstanding").map(|outstanding| (outstanding, row.value()));
        series.last_mut().into_iter().for_each(|last| last.line.extend(point));
    }
    Plot {
        title: "Calls a second by the number outstanding, one object".to_owned(),
        x: "calls outstanding".to_owned(),
        y: "calls/s".to_owned(),
        logarithmic: true,
        logarithmic_y: true,
        series,
    }
}
