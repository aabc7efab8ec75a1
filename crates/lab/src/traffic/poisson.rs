//! Moments that know nothing of each other.

use rand_distr::{Distribution, Exp1};

use super::{Generator, event::seconds};

/// An exponentially distributed time of that mean in seconds, in nanoseconds.
pub(crate) fn exponential(mean: f64, generator: &mut Generator) -> u64 {
    let unit: f64 = Exp1.sample(generator);
    seconds(mean * unit)
}

/// The moments of a Poisson process, in nanoseconds.
#[derive(Debug)]
pub(crate) struct Moments {
    /// In nanoseconds.
    mean: f64,
    now: u64,
    /// What of a nanosecond has passed since: many moments in one would be more than their rate otherwise.
    part: f64,
}

impl Moments {
    /// So many per second.
    pub(crate) fn new(rate: f64) -> Self {
        Self { mean: 1e9 / rate, now: 0, part: 0.0 }
    }

    pub(crate) fn next(&mut self, generator: &mut Generator) -> u64 {
        let unit: f64 = Exp1.sample(generator);
        let passed = self.part + self.mean * unit;
        self.part = passed.fract();
        self.now = self.now.saturating_add(passed as u64);
        self.now
    }
}
