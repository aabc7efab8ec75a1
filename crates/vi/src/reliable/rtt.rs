//! Round-trip times, estimated as in RFC 6298 and RFC 9002, section 5.

use std::time::Duration;

/// Smoothed round-trip time, its variation, and the least one seen.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    smoothed: Duration,
    variation: Duration,
    /// As it is, smoothed: the peer's delay included.
    whole: Duration,
    least: Duration,
    sampled: bool,
}

impl RoundTrip {
    /// Before the first sample, `initial` is assumed.
    pub fn new(initial: Duration) -> Self {
        Self { smoothed: initial, variation: initial / 2, whole: initial, least: initial, sampled: false }
    }

    /// Takes a sample in. `delay` is how long the peer says it waited before it acknowledged; the least round trip
    /// bounds what is believed of that.
    pub fn sample(&mut self, latest: Duration, delay: Duration) {
        if !self.sampled {
            let (variation, sampled) = (latest / 2, true);
            *self = Self { smoothed: latest, variation, whole: latest, least: latest, sampled };
            return;
        }
        self.least = self.least.min(latest);
        let without_delay = latest.saturating_sub(delay);
        let adjusted = if without_delay >= self.least { without_delay } else { latest };
        self.variation = (3 * self.variation + self.smoothed.abs_diff(adjusted)) / 4;
        self.smoothed = (7 * self.smoothed + adjusted) / 8;
        self.whole = (7 * self.whole + latest) / 8;
    }

    /// The smoothed round-trip time.
    pub fn smoothed(&self) -> Duration {
        self.smoothed
    }

    /// The least round-trip time measured.
    pub fn least(&self) -> Duration {
        self.least
    }

    /// After how long it is worth to ask whether the last packets arrived: two round trips, as long as they take with the
    /// delay of acknowledgements (RFC 8985, section 7.2).
    pub fn early_timeout(&self, granularity: Duration) -> Duration {
        2 * self.whole + granularity
    }

    /// After how long without an acknowledgement the peer is probed: smoothed + 4 x variation + the delay of its
    /// acknowledgements.
    pub fn probe_timeout(&self, granularity: Duration, delay: Duration) -> Duration {
        self.smoothed + (4 * self.variation).max(granularity) + delay
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
        assert_eq!((rtt.smoothed(), rtt.variation), (80 * MS, 40 * MS));
        rtt.sample(160 * MS, Duration::ZERO);
        assert_eq!((rtt.smoothed(), rtt.variation), (90 * MS, 50 * MS));
        assert_eq!(rtt.probe_timeout(MS, 5 * MS), 295 * MS);
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
