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
    mean: f64,
    now: u64,
}

impl Moments {
    /// So many per second.
    pub(crate) fn new(rate: f64) -> Self {
        Self { mean: 1.0 / rate, now: 0 }
    }

    pub(crate) fn next(&mut self, generator: &mut Generator) -> u64 {
        self.now = self.now.saturating_add(exponential(self.mean, generator));
        self.now
    }
}
