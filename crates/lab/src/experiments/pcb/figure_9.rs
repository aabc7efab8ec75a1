//! Figure 9: what a lookup costs against the number of users; curves are the models, points the simulation.

use super::models::{Packet, describe, paper_model};
use super::settings::{Choice, RESPONSES, Setting, Traffic, USERS};
use super::{row, simulate};
use crate::plot::{Plot, Series};
use crate::{LabError, Options, Row, Sink};

/// The curves end here.
const MOST: u32 = 10_000;
/// Curves have a point every so many users.
const STEP: u32 = 250;

/// A curve of the figure.
struct Curve {
    name: String,
    choice: Choice,
    response: f64,
}

fn curves() -> Vec<Curve> {
    let of = |name: String, choice, response| Curve { name, choice, response };
    let mut curves = vec![of("BSD".to_owned(), Choice::BSD, 0.2)];
    curves.extend(
        RESPONSES
            .into_iter()
            .rev()
            .map(|response| of(format!("move to front, {response} s"), Choice::MOVE_TO_FRONT, response)),
    );
    curves.push(of("Sequent, 19 chains".to_owned(), Choice::sequent(19), 0.2));
    curves
}

/// Rows of the curves and of the points, and the picture where one is asked for.
pub(crate) fn rows(options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
    let mut plot = Plot {
        title: "Entries examined per packet, TPC/A (lines: models, points: simulation)".to_owned(),
        x: "users".to_owned(),
        y: "entries examined".to_owned(),
        ..Plot::default()
    };
    for curve in curves() {
        let model = (1..=MOST / STEP).filter_map(|n| {
            let users = n * STEP;
            let cost = paper_model(curve.choice, Traffic::Independent, users, curve.response, Packet::Both)?;
            Some((f64::from(users), cost))
        });
        let mut series = Series { name: curve.name.clone(), line: model.collect(), points: Vec::new() };
        for users in simulated(options.quick) {
            let model = series.line.iter().find(|(at, _)| *at == f64::from(users));
            model.map_or(Ok(()), |(_, cost)| sink.row(point(&curve, users, *cost, "model")))?;
            let cost = simulation(&curve, users, options)?;
            sink.row(point(&curve, users, cost, "simulation"))?;
            series.points.push((f64::from(users), cost));
        }
        plot.series.push(series);
    }
    match plot.save(options, "pcb-figure-9.svg")? {
        Some(path) => sink.note(&format!("figure 9 is in {}", path.display())),
        None => sink.note("figure 9 is drawn with --plots DIR"),
    }
    Ok(())
}

fn point(curve: &Curve, users: u32, cost: f64, source: &str) -> Row {
    let row = row("examined_mean", "entries", cost);
    let row = describe(row, curve.choice, Traffic::Independent, users, curve.response);
    row.with("packet", "both").with("source", source).with("figure", "9")
}

/// The numbers of users that are simulated here, all of them on the curves.
fn simulated(quick: bool) -> Vec<u32> {
    if quick { vec![500, USERS] } else { vec![500, 1000, USERS, 4000, 7000, MOST] }
}

fn simulation(curve: &Curve, users: u32, options: &Options) -> Result<f64, LabError> {
    let setting = Setting {
        traffic: Traffic::Independent,
        users,
        response: curve.response,
        packets: if options.quick { 50_000 } else { 300_000 },
        choices: vec![curve.choice],
    };
    let tried = simulate::simulate(&setting, options.seed)?;
    Ok(tried.iter().map(|subject| simulate::mean(subject, Packet::Both)).sum())
}
