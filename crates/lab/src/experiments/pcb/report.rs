//! The rows as tables.

use super::apart;
use crate::table::{figure, targets};
use crate::{Row, Table, Value};

/// Everything, the paper's figures first.
pub(crate) fn tables(rows: &[Row]) -> Vec<Table> {
    let mut tables = vec![means(rows), apart::table(rows), undisturbed(rows), spread(rows), hits(rows)];
    tables.extend([gains(rows), figure_9(rows)]);
    tables.push(targets(rows, |row| {
        let about = ["metric", "locator", "chains", "traffic", "response_s", "packet", "source", "from"];
        let about = about.iter().filter_map(|key| row.get(key)).map(plain);
        about.collect::<Vec<_>>().join(" ")
    }));
    tables.retain(|table| !table.is_empty());
    tables
}

pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.replace('_', " "))
}

/// What tells one line of a table from another.
pub(crate) fn about(row: &Row, keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| row.get(key).map_or_else(|| "-".to_owned(), plain)).collect()
}

/// A table with a column for each key, and for each figure. The metric needs no heading.
pub(crate) fn headed(title: &str, keys: &[&str], figures: &[&str]) -> Table {
    let keys = keys.iter().map(|key| if *key == "metric" { String::new() } else { key.replace('_', " ") });
    let head = keys.chain(figures.iter().map(|figure| (*figure).to_owned())).collect();
    Table { title: title.to_owned(), head, ..Table::default() }
}

/// The paper's figure, with what it says of it.
fn paper(row: &Row) -> String {
    format!("{} {}", row.text("paper_bound"), number(row.number("paper"))).trim_start().to_owned()
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), small)
}

/// As other figures, and very small ones in powers of ten.
pub(crate) fn small(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.01 { format!("{value:.2e}") } else { figure(value) }
}

/// Entries examined on average: paper, model, simulation.
fn means(rows: &[Row]) -> Table {
    let keys = ["locator", "chains", "hash", "traffic", "response_s", "packet"];
    let figures = ["paper", "model", "waiting", "simulated"];
    let mut table = headed("Entries examined per packet, 2,000 users", &keys, &figures)
        .remark("model: the paper's equations; waiting: the same users when they wait for their responses")
        .remark("tpc-a: users wait; independent: they do not, as the paper's equations have it");
    table.remarks.extend(keys_of_the_hash(rows));
    for row in all(rows, "examined_mean", "simulation") {
        let model = |source: &str, traffic: &str| {
            let found = all(rows, "examined_mean", source).find(|model| {
                model.text("traffic") == traffic
                    && ["locator", "chains", "response_s", "packet"]
                        .iter()
                        .all(|k| model.get(k) == row.get(k))
            });
            number(found.map(Row::value))
        };
        let users = row.text("traffic");
        // The paper's equations are for users who do not wait; beside those who do they stand for comparison.
        let equations = model("model", if users == "tpc-a" { "independent" } else { users });
        let waiting = model("model of users who wait", users);
        let figures = [paper(row), equations, waiting, small(row.value())];
        table.line(about(row, &keys).into_iter().chain(figures));
    }
    table
}

/// What a keyed hash makes of the paper's "under 9".
fn keys_of_the_hash(rows: &[Row]) -> Option<String> {
    let of = |metric: &str| rows.iter().find(|row| row.text("metric") == metric);
    let (least, most) = (of("examined_mean_least")?, of("examined_mean_most")?);
    let [from, to] = [least, most].map(|row| figure(row.value()));
    Some(format!(
        "sequent, 100 chains, keyed: {from} to {to} with {} keys; {} 9 is met by terminals numbered through and xor",
        least.get("keys").map_or_else(String::new, plain),
        least.text("paper_bound"),
    ))
}

pub(crate) fn all<'r>(rows: &'r [Row], metric: &'r str, source: &'r str) -> impl Iterator<Item = &'r Row> {
    rows.iter().filter(move |row| {
        row.text("metric") == metric && row.text("source") == source && row.get("figure").is_none()
    })
}

fn undisturbed(rows: &[Row]) -> Table {
    let mut table = Table::new(
        "Nobody else on the chain sends during a response time of 0.2 s: probability",
        ["locator", "chains", "traffic", "source", "paper", "value"],
    )
    .remark("others' silence: the part of others who are silent that long, to the power of their number");
    let probability = |p: f64| if p < 1e-3 { format!("{p:.2e}") } else { format!("{p:.4}") };
    if let Some(row) = all(rows, "undisturbed", "model").find(|row| row.number("chains") == Some(51.0)) {
        table.remarks.push(format!(
            "51 chains: equation 9 gives {}; the paper's {} leaves out that users do not disturb themselves",
            probability(row.value()),
            row.number("paper").map_or_else(String::new, figure),
        ));
    }
    for row in rows.iter().filter(|row| row.text("metric") == "undisturbed") {
        let figures = [row.number("paper").map_or_else(String::new, probability), probability(row.value())];
        table.line(about(row, &["locator", "chains", "traffic", "source"]).into_iter().chain(figures));
    }
    table
}

/// Mean, 99th percentile and worst, at 0.2 s.
fn spread(rows: &[Row]) -> Table {
    let keys = ["locator", "chains", "hash", "traffic", "packet"];
    let mut table = Table::new(
        "Entries examined, response time 0.2 s: mean, 99th percentile, worst",
        ["locator", "chains", "hash", "traffic", "packet", "mean", "p99", "worst"],
    );
    let fast = |row: &&Row| row.number("response_s").is_none_or(|response| response == 0.2);
    for row in all(rows, "examined_mean", "simulation").filter(fast) {
        let other = |metric: &'static str| {
            let same =
                |other: &&Row| ["response_s"].iter().chain(&keys).all(|key| other.get(key) == row.get(key));
            number(all(rows, metric, "simulation").find(same).map(Row::value))
        };
        let figures = [small(row.value()), other("examined_p99"), other("examined_worst")];
        table.line(about(row, &keys).into_iter().chain(figures));
    }
    table
}

fn hits(rows: &[Row]) -> Table {
    let keys = ["locator", "chains", "traffic", "response_s", "packet", "source"];
    let mut table = Table::new(
        "Cache hits in per cent, all packets",
        ["locator", "chains", "traffic", "response s", "packet", "source", "paper", "value"],
    )
    .remark("the paper's H/N lets any user send the next packet; after an entry its user is silent till the response");
    let wanted = |row: &&Row| row.text("metric") == "cache_hit_rate" && row.number("response_s") == Some(0.2);
    for row in rows.iter().filter(wanted).filter(|row| row.text("hash") != "keyed") {
        let figures = [number(row.number("paper")), small(row.value())];
        table.line(about(row, &keys).into_iter().chain(figures));
    }
    table
}

fn gains(rows: &[Row]) -> Table {
    let mut table = Table::new(
        "Fewer entries examined, by what factor (the paper: at most 2 by moving to the front, about 5 by 100 chains)",
        ["chains", "traffic", "by", "factor"],
    );
    for row in rows.iter().filter(|row| row.text("metric") == "gain") {
        table.line(about(row, &["chains", "traffic", "by"]).into_iter().chain([small(row.value())]));
    }
    table
}

fn figure_9(rows: &[Row]) -> Table {
    let points: Vec<Row> = rows
        .iter()
        .filter(|row| row.get("figure").is_some())
        .map(|row| {
            let [locator, response, source, traffic] = ["locator", "response_s", "source", "traffic"]
                .map(|key| row.get(key).map_or_else(String::new, plain));
            let by = if source == "model" { source } else { format!("{source}, {traffic}") };
            row.clone().with("curve", format!("{locator} {response} s, {by}"))
        })
        .collect();
    Table::pivot("Figure 9: entries examined per packet, by users", &points, ("curve", "users"))
}
