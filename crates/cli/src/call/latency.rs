//! Many calls, timed one by one.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value as Json, json};
use throughline::ObjectRef;

use super::invocation::{Ended, Invocation};
use crate::dynamic::Value;
use crate::statistics::{Samples, grouped, time};

/// What takes longer shows how far it is.
const QUIET: Duration = Duration::from_secs(2);
/// Calls between two looks at the clock for that.
const STRIDE: u32 = 256;

/// What calls took.
pub struct Latency {
    first: Duration,
    later: Samples,
    total: Duration,
}

/// Calls `count` times; what the last one returned. The first connects, and is not among the others.
pub fn calls(
    invocation: &Invocation<'_>,
    object: &ObjectRef,
    count: u32,
) -> Result<(Vec<Value>, Latency), Ended> {
    let started = Instant::now();
    let mut results = invocation.call(object)?;
    let first = started.elapsed();
    let (mut later, started) = (Samples::default(), Instant::now());
    let progress = ProgressBar::with_draw_target(Some(count.into()), ProgressDrawTarget::hidden());
    let mut told = Instant::now();
    for done in 1..count {
        let begun = Instant::now();
        results = invocation.call(object)?;
        later.add(begun.elapsed().as_nanos() as f64);
        if (done % STRIDE == 0 || told.elapsed() > QUIET) && started.elapsed() > QUIET {
            show(&progress, done);
            told = Instant::now();
        }
    }
    progress.finish_and_clear();
    Ok((results, Latency { first, later, total: started.elapsed() }))
}

fn show(progress: &ProgressBar, done: u32) {
    if progress.is_hidden() {
        progress.set_draw_target(ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("calls {wide_bar} {pos}/{len} {eta}") {
            progress.set_style(style);
        }
    }
    progress.set_position(done.into());
}

impl Latency {
    /// For people.
    pub fn text(&self, way: &str) -> String {
        let first = format!("{} for the first, which connects", time(self.first.as_nanos() as f64));
        if self.later.count() == 0 {
            return format!("over {way}: {first}");
        }
        let rate = self.later.count() as f64 / self.total.as_secs_f64();
        format!(
            "{} calls over {way}: median {}, p99 {}, slowest {}, {} a second; {first}",
            grouped(self.later.count() as f64),
            time(self.later.median()),
            time(self.later.p99()),
            time(self.later.quantile(1.0)),
            grouped(rate),
        )
    }

    /// For programs, in nanoseconds; null, not 0, where there is no call after the first.
    pub fn json(&self) -> Json {
        let [median, p99, max] =
            [0.5, 0.99, 1.0].map(|share| (self.later.count() > 0).then(|| self.later.quantile(share)));
        json!({"calls": self.later.count(), "first": self.first.as_nanos() as u64, "median": median, "p99": p99,
            "max": max, "total": self.total.as_nanos() as u64})
    }
}
