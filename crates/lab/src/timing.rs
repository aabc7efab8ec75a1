//! Time of short pieces of code: batches in turns, and the median of the batches.

use std::time::{Duration, Instant};

/// What is timed: does its work so many times.
pub(crate) type Work<'a> = Box<dyn FnMut(u64) + 'a>;

/// The time of one repetition, over all batches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PerRepetition {
    /// Nanoseconds.
    pub(crate) median: f64,
    /// Nanoseconds.
    pub(crate) min: f64,
}

/// Times several pieces of work against each other: in every round each has its turn, so that what disturbs the
/// machine for a while disturbs all of them.
pub(crate) fn in_turns(works: &mut [Work<'_>], rounds: usize, batch: Duration) -> Vec<PerRepetition> {
    let counts: Vec<u64> = works.iter_mut().map(|work| calibrate(work, batch)).collect();
    let mut times = vec![Vec::with_capacity(rounds); works.len()];
    for _ in 0..rounds {
        for ((work, count), times) in works.iter_mut().zip(&counts).zip(&mut times) {
            times.push(time(work, *count).as_nanos() as f64 / *count as f64);
        }
    }
    times.iter_mut().map(|times| summary(times)).collect()
}

/// How often the work is to be repeated to take about as long as `batch`. Warms up on the way.
fn calibrate(work: &mut Work<'_>, batch: Duration) -> u64 {
    let mut count = 1;
    loop {
        let taken = time(work, count);
        if taken * 4 >= batch || count >= 1 << 40 {
            let scale = batch.as_secs_f64() / taken.as_secs_f64().max(1e-9);
            return ((count as f64 * scale) as u64).max(1);
        }
        count *= 2;
    }
}

fn time(work: &mut Work<'_>, count: u64) -> Duration {
    let started = Instant::now();
    work(count);
    started.elapsed()
}

fn summary(times: &mut [f64]) -> PerRepetition {
    PerRepetition { median: median(times), min: times.first().copied().unwrap_or(f64::NAN) }
}

/// The median; sorts. Not a number when there is none.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}
