//! Round-trip times, estimated as in RFC 6298 and RFC 9002, section 5.

use std::time::Duration;

/// Smoothed round-trip time, its variation, and the least one seen. In nanoseconds, which divide faster than [`Duration`]s.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    smoothed: u64,
    variation: u64,
    /// What half of the round trips exceed, the peer's delay included: some that are very long change nothing.
    typical: u64,
    least: u64,
    sampled: bool,
}

impl RoundTrip {
    /// Before the first sample, `initial` is assumed.
    pub fn new(initial: Duration) -> Self {
        let initial = nanos(initial);
        Self { smoothed: initial, variation: initial / 2, typical: initial, least: initial, sampled: false }
    }

    /// Takes a sample in. `delay` is how long the peer says it waited before it acknowledged; the least round trip
    /// bounds what is believed of that.
    pub fn sample(&mut self, latest: Duration, delay: Duration) {
        let (latest, delay) = (nanos(latest), nanos(delay));
        if !self.sampled {
            let (variation, sampled) = (latest / 2, true);
            *self = Self { smoothed: latest, variation, typical: latest, least: latest, sampled };
            return;
        }
        self.least = self.least.min(latest);
        let without_delay = latest.saturating_sub(delay);
        let adjusted = if without_delay >= self.least { without_delay } else { latest };
        self.variation = (3 * self.variation + self.smoothed.abs_diff(adjusted)) / 4;
        self.smoothed = (7 * self.smoothed + adjusted) / 8;
        let step = (self.typical / 8).min(self.typical.abs_diff(latest));
        self.typical = if latest < self.typical { self.typical - step } else { self.typical + step };
    }

    /// The smoothed round-trip time.
    pub fn smoothed(&self) -> Duration {
        Duration::from_nanos(self.smoothed)
    }

    /// The median of the round trips, more or less, with the delay of acknowledgements.
    pub fn typical(&self) -> Duration {
        Duration::from_nanos(self.typical)
    }

    /// The least round-trip time measured.
    pub fn least(&self) -> Duration {
        Duration::from_nanos(self.least)
    }

    /// After how long it is worth to ask whether the last packets arrived: two round trips, as long as they take with the
    /// delay of acknowledgements (RFC 8985, section 7.2).
    pub fn early_timeout(&self, granularity: Duration) -> Duration {
        Duration::from_nanos(2 * self.typical) + granularity
    }

    /// After how long without an acknowledgement the peer is probed: smoothed + 4 x variation + the delay of its
    /// acknowledgements.
    pub fn probe_timeout(&self, granularity: Duration, delay: Duration) -> Duration {
        Duration::from_nanos(self.smoothed + (4 * self.variation).max(nanos(granularity))) + delay
    }
}

/// A minute at most: nothing here is longer, and sums of several fit.
fn nanos(time: Duration) -> u64 {
    const MOST: u64 = 60_000_000_000;
    match time.as_secs() {
        seconds @ ..60 => seconds * 1_000_000_000 + u64::from(time.subsec_nanos()),
        _ => MOST,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn figures_of_rfc_6298() {
        let mut rtt = RoundTrip::new(100 * MS);
        rtt.sample(80 * MS, Duration::ZERO);
        assert_eq!((rtt.smoothed(), rtt.variation), (80 * MS, nanos(40 * MS)));
        rtt.sample(160 * MS, Duration::ZERO);
        assert_eq!((rtt.smoothed(), rtt.variation), (90 * MS, nanos(50 * MS)));
        assert_eq!(rtt.probe_timeout(MS, 5 * MS), 295 * MS);
    }

    #[test]
    fn a_few_long_round_trips_are_not_typical() {
        let mut rtt = RoundTrip::new(100 * MS);
        for at in 0..1_000 {
            rtt.sample(if at % 5 == 4 { 400 * MS } else { 10 * MS }, Duration::ZERO);
        }
        assert!(rtt.typical() < 13 * MS && rtt.smoothed() > 50 * MS);
        (0..30).for_each(|_| rtt.sample(80 * MS, Duration::ZERO));
        assert_eq!(rtt.typical(), 80 * MS);
    }

    #[test]
    fn a_delay_that_cannot_be_is_not_believed() {
        let mut rtt = RoundTrip::new(100 * MS);
        rtt.sample(80 * MS, Duration::ZERO);
        rtt.sample(80 * MS, 79 * MS);
        assert_eq!(rtt.smoothed(), 80 * MS);
        rtt.sample(88 * MS, 8 * MS);
        assert_eq!(rtt.smoothed(), 80 * MS);
    }
}
