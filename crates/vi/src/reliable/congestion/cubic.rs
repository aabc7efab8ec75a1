//! CUBIC (RFC 9438): for ordinary networks, where loss means congestion.

use std::time::Duration;

use super::{Acked, Congestion, Lost, initial_window, least_window};

/// Of the window that lost something, as much is kept.
const BETA: f64 = 0.7;
/// Packets per second cubed.
const C: f64 = 0.4;

/// The window grows by a cubic function of the time since the last loss, which is flat near the window of that loss.
#[derive(Clone, Debug)]
pub struct Cubic {
    packet: f64,
    /// Octets, as all windows here.
    window: f64,
    threshold: f64,
    /// The window at which there was loss.
    most: f64,
    /// What Reno would have by now.
    reno: f64,
    /// When growth since the last loss began.
    epoch: Option<Duration>,
    /// Losses of packets sent before this belong to a loss already answered.
    recovering_until: Option<Duration>,
}

impl Cubic {
    /// Slow start from ten packets of so many octets.
    pub fn new(packet: u16) -> Self {
        let octets = f64::from(packet);
        Self {
            packet: octets,
            window: initial_window(packet.into()) as f64,
            threshold: f64::INFINITY,
            most: 0.0,
            reno: 0.0,
            epoch: None,
            recovering_until: None,
        }
    }

    /// For [`Config`](crate::reliable::Config).
    pub fn boxed(packet: u16) -> Box<dyn Congestion> {
        Box::new(Self::new(packet))
    }

    fn reduce(&mut self, now: Duration, sent: Duration) {
        if self.recovering_until.is_some_and(|until| sent <= until) {
            return;
        }
        self.recovering_until = Some(now);
        // Fast convergence: whoever loses before reaching the earlier window leaves more to others.
        let shrinking = self.window < self.most;
        self.most = if shrinking { self.window * (1.0 + BETA) / 2.0 } else { self.window };
        self.window = (self.window * BETA).max(least_window(self.packet as u64) as f64);
        self.threshold = self.window;
        self.epoch = None;
    }

    /// The window that the cubic function wants at a time, in octets.
    fn target(&self, since: f64, from: f64) -> f64 {
        let (most, from) = (self.most.max(from) / self.packet, from / self.packet);
        let k = ((most - from) / C).cbrt();
        (C * (since - k).powi(3) + most) * self.packet
    }

    fn avoid_congestion(&mut self, now: Duration, acked: &Acked) {
        let begun = self.epoch.is_some();
        let epoch = *self.epoch.get_or_insert(now);
        if !begun {
            self.reno = self.window;
        }
        let since = (now - epoch + acked.smoothed).as_secs_f64();
        let octets = acked.octets as f64;
        let alpha = if self.reno < self.most { 3.0 * (1.0 - BETA) / (1.0 + BETA) } else { 1.0 };
        self.reno += alpha * self.packet * octets / self.window;
        let target =
            self.target(since, self.threshold.min(self.window)).clamp(self.window, 1.5 * self.window);
        let cubic = self.window + (target - self.window) * octets / self.window;
        self.window = cubic.max(self.reno);
    }
}

impl Congestion for Cubic {
    fn window(&self) -> u64 {
        self.window as u64
    }

    fn is_starting(&self) -> bool {
        self.window < self.threshold
    }

    fn wants_marks(&self) -> bool {
        true
    }

    fn acknowledged(&mut self, now: Duration, acked: &Acked) {
        if acked.marked > 0 {
            return self.reduce(now, acked.sent);
        }
        if self.recovering_until.is_some_and(|until| acked.sent <= until) || !acked.limited_by_window {
            return;
        }
        if self.is_starting() {
            self.window += acked.octets as f64;
        } else {
            self.avoid_congestion(now, acked);
        }
    }

    fn lost(&mut self, now: Duration, lost: &Lost) {
        self.reduce(now, lost.sent);
        if lost.persistent {
            self.window = least_window(self.packet as u64) as f64;
            self.epoch = None;
        }
    }

    fn set_packet(&mut self, octets: u16) {
        let new = f64::from(octets);
        // As many packets as before, but for longer ones that the path has not been seen to carry in such numbers.
        if self.threshold.is_infinite() || new < self.packet {
            self.window *= new / self.packet;
        }
        self.packet = new;
        self.window = self.window.max(least_window(octets.into()) as f64);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(50);

    fn acked(octets: u64, now: Duration) -> Acked {
        Acked {
            octets,
            packets: octets / 1_000,
            marked: 0,
            ecn: false,
            sent: now - RTT,
            latest: RTT,
            smoothed: RTT,
            least: RTT,
            limited_by_window: true,
        }
    }

    /// A round trip in which the whole window arrives.
    fn round(cubic: &mut Cubic, now: &mut Duration) {
        *now += RTT;
        let window = cubic.window();
        (0..window / 1_000).for_each(|_| cubic.acknowledged(*now, &acked(1_000, *now)));
    }

    #[test]
    fn doubles_then_grows_back_to_where_it_lost_and_beyond() {
        let (mut cubic, mut now) = (Cubic::new(1_000), RTT);
        for _ in 0..5 {
            round(&mut cubic, &mut now);
        }
        assert_eq!(cubic.window(), 320_000);
        cubic.lost(now, &Lost { sent: now, persistent: false });
        assert_eq!(cubic.window(), 224_000);
        // Other losses of the same window change nothing.
        cubic.lost(now + RTT / 2, &Lost { sent: now - RTT / 2, persistent: false });
        assert_eq!(cubic.window(), 224_000);
        // K = cbrt(320 * 0.3 / 0.4) = 6.2 s: 124 round trips.
        let mut at = Vec::new();
        for _ in 0..200 {
            round(&mut cubic, &mut now);
            at.push(cubic.window());
        }
        assert!((300_000..345_000).contains(&at[123]), "{}", at[123]);
        assert!(at[60] - at[0] > at[123] - at[90], "steep first");
        // 320 + 0.4 * (10 - 6.2)^3 = 342.
        assert!((335_000..350_000).contains(&at[199]), "{}", at[199]);
    }

    #[test]
    fn idle_callers_keep_their_window() {
        let (mut cubic, now) = (Cubic::new(1_000), 10 * RTT);
        cubic.acknowledged(now, &Acked { limited_by_window: false, ..acked(1_000, now) });
        assert_eq!(cubic.window(), 10_000);
    }

    #[test]
    fn marks_reduce_once_a_round_trip() {
        let (mut cubic, now) = (Cubic::new(1_000), 10 * RTT);
        let marked = Acked { marked: 1, ecn: true, ..acked(1_000, now) };
        cubic.acknowledged(now, &marked);
        cubic.acknowledged(now + RTT / 10, &marked);
        assert_eq!(cubic.window(), 7_000);
    }
}
