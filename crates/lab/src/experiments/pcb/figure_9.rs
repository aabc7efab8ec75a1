//! Figure 9: what a lookup costs against the number of users. Curves are the models, dots the users that the models assume,
//! who wait for nothing, and rings those of TPC/A, who wait for their responses.

use super::models::{Packet, describe, paper_model};
use super::settings::{Choice, RESPONSES, Setting, Traffic, USERS};
use super::{row, simulate};
use crate::plot::{Plot, Points, Series};
use crate::{LabError, Options, Row, Sink};

/// The curves end here.
const MOST: u32 = 10_000;
/// Curves have a point every so many users.
const STEP: u32 = 250;
/// What the picture says of itself.
const TITLE: &str =
    "Entries examined per packet: models (lines), users as in the models (dots), TPC/A (rings)";

/// A curve of the figure.
struct Curve {
    name: String,
    choice: Choice,
    response: f64,
}

impl Curve {
    fn new(name: impl Into<String>, choice: Choice, response: f64) -> Self {
        Self { name: name.into(), choice, response }
    }

    fn model(&self) -> Points {
        let cost = |n: u32| {
            let users = n * STEP;
            let cost = paper_model(self.choice, Traffic::Independent, users, self.response, Packet::Both)?;
            Some((f64::from(users), cost))
        };
        (1..=MOST / STEP).filter_map(cost).collect()
    }

    fn row(&self, traffic: Traffic, users: u32, cost: f64, source: &str) -> Row {
        let row = row("examined_mean", "entries", cost);
        let row = describe(row, self.choice, traffic, users, self.response);
        row.with("packet", "both").with("source", source).with("figure", "9")
    }
}

fn curves() -> Vec<Curve> {
    let to_front =
        |response| Curve::new(format!("move to front, {response} s"), Choice::MOVE_TO_FRONT, response);
    let mut curves = vec![Curve::new("BSD", Choice::BSD, 0.2)];
    curves.extend(RESPONSES.into_iter().rev().map(to_front));
    curves.push(Curve::new("Sequent, 19 chains", Choice::sequent(19), 0.2));
    curves
}

/// The numbers of users that are simulated here, all of them on the curves.
fn simulated(quick: bool) -> &'static [u32] {
    if quick { &[500, USERS] } else { &[500, 1000, USERS, 4000, 7000, MOST] }
}

/// How many simulations there are.
pub(crate) fn steps(options: &Options) -> u64 {
    (curves().len() * simulated(options.quick).len() * 2) as u64
}

/// Rows of the curves and of the points, and the picture where one is asked for.
pub(crate) fn rows(options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
    let mut plot = Plot {
        title: TITLE.to_owned(),
        x: "users".to_owned(),
        y: "entries examined".to_owned(),
        ..Plot::default()
    };
    let mut rings = Vec::new();
    for curve in curves() {
        let line = curve.model();
        for (users, cost) in &line {
            if simulated(options.quick).contains(&(*users as u32)) {
                sink.row(curve.row(Traffic::Independent, *users as u32, *cost, "model"))?;
            }
        }
        let dots = points(&curve, Traffic::Independent, options, sink)?;
        rings.push(points(&curve, Traffic::TpcA, options, sink)?);
        plot.series.push(Series { name: curve.name, line, points: dots });
    }
    match plot.save_with(options, "pcb-figure-9.svg", &rings)? {
        Some(path) => sink.note(&format!("figure 9 is in {}", path.display())),
        None => sink.note("figure 9 is drawn with --plots DIR"),
    }
    Ok(())
}

/// What the simulation says beside a curve.
fn points(
    curve: &Curve,
    traffic: Traffic,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Points, LabError> {
    let mut points = Vec::new();
    for users in simulated(options.quick).iter().copied() {
        sink.step(&format!("figure 9: {}, {}, {users} users", curve.name, traffic.name()));
        let cost = simulation(curve, traffic, users, options)?;
        sink.row(curve.row(traffic, users, cost, "simulation"))?;
        points.push((f64::from(users), cost));
    }
    Ok(points)
}

fn simulation(curve: &Curve, traffic: Traffic, users: u32, options: &Options) -> Result<f64, LabError> {
    let setting = Setting {
        traffic,
        users,
        response: curve.response,
        packets: if options.quick { 50_000 } else { 300_000 },
        choices: vec![curve.choice],
    };
    let tried = simulate::simulate(&setting, options.seed)?;
    Ok(tried.iter().map(|subject| simulate::mean(subject, Packet::Both)).sum())
}
