//! Simulated figures that are not the paper's: which ones, how far off they are, and why.

use super::report::{about, all, headed, plain, small};
use super::settings::RATE;
use crate::{Row, Table};

/// Figures further from the paper's than so many per cent are listed.
const FAR: f64 = 2.0;

/// All that the simulation says otherwise than the paper.
pub(crate) fn table(rows: &[Row]) -> Table {
    let keys = ["metric", "locator", "chains", "hash", "traffic", "response_s", "packet", "source"];
    let title = "Simulated figures more than 2 % from the paper's, or not under its bound";
    let mut table = headed(title, &keys, &["paper", "value", "off by %"]);
    for row in rows.iter().filter(|row| row.text("source").starts_with("simulation")) {
        if let Some(off) = off(row) {
            let paper = row.number("paper").map_or_else(String::new, fine);
            let paper = format!("{} {paper}", row.text("paper_bound")).trim_start().to_owned();
            let figures = [paper, fine(row.value()), format!("{off:+.1}")];
            table.line(about(row, &keys).into_iter().chain(figures));
        }
    }
    table.remarks.extend(remarks(rows));
    table
}

/// So that figures which are a few per cent apart differ.
fn fine(value: f64) -> String {
    if (0.001..1.0).contains(&value) { format!("{value:.4}") } else { small(value) }
}

/// By how many per cent a figure is off, if that is far. The gains have no figures of the paper's, only rough bounds.
fn off(row: &Row) -> Option<f64> {
    let paper = row.number("paper").filter(|_| row.text("metric") != "gain")?;
    let off = 100.0 * (row.value() / paper - 1.0);
    let far = if row.text("paper_bound") == "under" { off >= 0.0 } else { off.abs() > FAR };
    far.then_some(off)
}

fn remarks(rows: &[Row]) -> Vec<String> {
    let mut remarks = vec![
        "hit rates: the paper lets any user send the next packet; whoever entered a transaction is silent till the \
         response"
            .to_owned(),
        "keyed: chains are as long as chance has it, those of the xor fold of terminals numbered through are even"
            .to_owned(),
    ];
    remarks.extend(fewer_acknowledgements(rows));
    remarks.extend(cut_off(rows));
    remarks
}

/// What waiting does where it does most.
fn fewer_acknowledgements(rows: &[Row]) -> Option<String> {
    const SLOW: f64 = 2.0;
    let of = |source, traffic: &str| {
        all(rows, "examined_mean", source).find(|row| {
            (row.text("locator"), row.text("packet")) == ("move-to-front", "acknowledgement")
                && (row.text("traffic"), row.number("response_s")) == (traffic, Some(SLOW))
        })
    };
    let (model, simulated) = (of("model", "independent")?, of("simulation", "tpc-a")?);
    Some(format!(
        "{SLOW} s: users who wait (tpc-a) send {:.0} % less than the paper's equations have them send; their \
         acknowledgements examine {:.1} % less",
        100.0 * (1.0 - 1.0 / (1.0 + RATE * SLOW)),
        100.0 * (1.0 - simulated.value() / model.value()),
    ))
}

/// What the limit of think times does to the smallest of figures.
fn cut_off(rows: &[Row]) -> Option<String> {
    let of = |source| {
        all(rows, "undisturbed", source)
            .find(|row| (row.text("traffic"), row.text("locator")) == ("tpc-a", "bsd"))
    };
    let (model, simulated) = (of("model of users who wait")?, of("simulation, others' silence")?);
    Some(format!(
        "{}: the paper's users do not wait; think times cut off at 100 s make those who do busier, which to the power of \
         1,999 is {:.1} % less than their model has",
        model.number("paper").map_or_else(String::new, |paper| plain(&paper.into())),
        100.0 * (1.0 - simulated.value() / model.value()),
    ))
}
