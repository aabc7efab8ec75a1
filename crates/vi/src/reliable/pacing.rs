//! Pacing: a window's packets leave spread over the round trip, not in one burst (RFC 9002, section 7.7).

use std::time::Duration;

/// A bucket of octets that may leave now, filled at a little more than a window per round trip.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    octets: u64,
    filled: Duration,
}

/// How fast the bucket fills, and how much it holds.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Octets per second.
    rate: u64,
    /// Octets that may leave at once.
    burst: u64,
}

impl Pace {
    /// The pace for a congestion window and a round-trip time. Twice the window per round trip while the window doubles,
    /// 5/4 of it later. A burst is ten packets, or as much as the caller's timers are late (`granularity`).
    pub fn new(
        window: u64,
        round_trip: Duration,
        starting: bool,
        packet: u16,
        granularity: Duration,
    ) -> Self {
        let nanos = round_trip.as_nanos().max(1);
        let per_round_trip = u128::from(if starting { window * 2 } else { window * 5 / 4 });
        let rate = u64::try_from(per_round_trip * 1_000_000_000 / nanos).unwrap_or(u64::MAX).max(1);
        let late = u128::from(rate) * granularity.as_nanos() / 1_000_000_000;
        Self { rate, burst: (10 * u64::from(packet)).max(u64::try_from(late).unwrap_or(u64::MAX)) }
    }
}

impl Pacer {
    /// A full bucket.
    pub fn new(now: Duration) -> Self {
        Self { octets: u64::MAX, filled: now }
    }

    /// Fills the bucket with what came in since.
    pub fn fill(&mut self, now: Duration, pace: Pace) {
        let nanos = now.saturating_sub(self.filled).as_nanos();
        let new = u64::try_from(u128::from(pace.rate) * nanos / 1_000_000_000).unwrap_or(u64::MAX);
        // Less than an octet is left to the next time, not lost.
        if new > 0 {
            self.filled = now;
        }
        self.octets = self.octets.saturating_add(new).min(pace.burst);
    }

    /// Whether a packet may leave now.
    pub fn is_open(&self, packet: u16) -> bool {
        self.octets >= u64::from(packet)
    }

    /// When a packet may leave.
    pub fn opens(&self, packet: u16, pace: Pace) -> Duration {
        let missing = u128::from(u64::from(packet).saturating_sub(self.octets));
        let nanos = (missing * 1_000_000_000).div_ceil(u128::from(pace.rate));
        self.filled + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Takes a packet's octets out.
    pub fn sent(&mut self, octets: u64) {
        self.octets = self.octets.saturating_sub(octets);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_window_takes_most_of_a_round_trip() {
        let ms = Duration::from_millis(1);
        let pace = Pace::new(100_000, 100 * ms, false, 1_000, ms / 1_000);
        let (mut pacer, mut now, mut sent) = (Pacer::new(ms), ms, 0);
        while sent < 100 {
            pacer.fill(now, pace);
            if pacer.is_open(1_000) {
                pacer.sent(1_000);
                sent += 1;
            } else {
                let next = pacer.opens(1_000, pace);
                assert!(next > now);
                now = next;
            }
        }
        // 100 packets less the burst of 10, at 125 a round trip.
        assert_eq!(now.as_millis(), 1 + 72);
    }
}
