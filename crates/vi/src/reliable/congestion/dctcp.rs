//! DCTCP (RFC 8257): for data centres, where switches mark early.

use std::time::Duration;

use super::{Acked, Congestion, Lost, initial_window, least_window};

/// The weight of a new window in the estimated share of marked packets.
const GAIN: f64 = 1.0 / 16.0;
/// On a path without ECN a round trip longer than the least one by this much stands for a mark.
const QUEUEING: Duration = Duration::from_micros(100);

/// The window shrinks in proportion to the share of packets that met a queue, as told by ECN marks, or by delay where
/// the path carries none.
#[derive(Clone, Debug)]
pub struct Dctcp {
    /// Whether delay tells of queues.
    delay_tells: bool,
    packet: u64,
    window: u64,
    threshold: u64,
    /// The share of marked packets, smoothed.
    alpha: f64,
    acked: u64,
    marked: u64,
    /// Acknowledgements of packets sent after this belong to the next window.
    window_end: Duration,
    recovering_until: Option<Duration>,
    /// Octets acknowledged that have not yet made the window grow.
    partial: u64,
}

impl Dctcp {
    /// Slow start from ten packets of so many octets.
    pub fn new(packet: u16) -> Self {
        let packet = packet.into();
        Self {
            delay_tells: true,
            packet,
            window: initial_window(packet),
            threshold: u64::MAX,
            alpha: 1.0,
            acked: 0,
            marked: 0,
            window_end: Duration::ZERO,
            recovering_until: None,
            partial: 0,
        }
    }

    /// For [`Config`](crate::reliable::Config).
    pub fn boxed(packet: u16) -> Box<dyn Congestion> {
        Box::new(Self::new(packet))
    }

    /// For peers on the same machine, for [`Config`](crate::reliable::Config). Delay there says that a process does not run, or
    /// is at work with what it got; losses alone tell that too much is under way.
    pub fn boxed_near(packet: u16) -> Box<dyn Congestion> {
        Box::new(Self { delay_tells: false, ..Self::new(packet) })
    }

    /// Marks, or delay in their place.
    fn marks(&self, acked: &Acked) -> u64 {
        if acked.ecn {
            return acked.marked;
        }
        let queued = self.delay_tells && acked.latest > acked.least + QUEUEING.max(acked.least / 4);
        if queued { acked.packets } else { 0 }
    }

    fn shrink(&mut self, window: f64) {
        self.window = (window as u64).max(least_window(self.packet));
        self.threshold = self.window;
        self.partial = 0;
    }

    /// At the end of a window its share of marks becomes part of the estimate.
    fn end_window(&mut self, now: Duration) {
        let share = self.marked as f64 / self.acked.max(1) as f64;
        self.alpha += GAIN * (share - self.alpha);
        if self.marked > 0 {
            self.shrink(self.window as f64 * (1.0 - self.alpha / 2.0));
        }
        (self.acked, self.marked, self.window_end) = (0, 0, now);
    }

    fn grow(&mut self, octets: u64) {
        if self.is_starting() {
            self.window += octets;
            return;
        }
        self.partial += octets;
        if self.partial >= self.window {
            self.partial -= self.window;
            self.window += self.packet;
        }
    }
}

impl Congestion for Dctcp {
    fn window(&self) -> u64 {
        self.window
    }

    fn is_starting(&self) -> bool {
        self.window < self.threshold
    }

    fn wants_marks(&self) -> bool {
        true
    }

    fn acknowledged(&mut self, now: Duration, acked: &Acked) {
        let marks = self.marks(acked);
        self.acked += acked.packets;
        self.marked += marks;
        let recovering = self.recovering_until.is_some_and(|until| acked.sent <= until);
        if marks > 0 && self.is_starting() {
            // The first mark ends slow start at once.
            self.threshold = self.window;
        } else if marks == 0 && acked.limited_by_window && !recovering {
            self.grow(acked.octets);
        }
        if acked.sent > self.window_end {
            self.end_window(now);
        }
    }

    fn lost(&mut self, now: Duration, lost: &Lost) {
        if lost.persistent {
            self.shrink(0.0);
        } else if self.recovering_until.is_none_or(|until| lost.sent > until) {
            self.shrink(self.window as f64 / 2.0);
        } else {
            return;
        }
        self.recovering_until = Some(now);
    }

    fn set_packet(&mut self, octets: u16) {
        let new = u64::from(octets);
        // As many packets as before, but for longer ones that the path has not been seen to carry in such numbers.
        if self.threshold == u64::MAX || new < self.packet {
            self.window = self.window * new / self.packet;
            self.threshold = if self.threshold == u64::MAX { u64::MAX } else { self.window };
        }
        self.packet = new;
        self.window = self.window.max(least_window(new));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_micros(100);

    fn acked(now: Duration, marked: u64, ecn: bool, latest: Duration) -> Acked {
        Acked {
            octets: 1_000,
            packets: 1,
            marked,
            ecn,
            sent: now - RTT,
            latest,
            smoothed: RTT,
            least: RTT,
            limited_by_window: true,
        }
    }

    /// Round trips in which every `nth` packet is marked; the windows at their ends.
    fn rounds(dctcp: &mut Dctcp, count: u32, nth: u64) -> Vec<u64> {
        let round = |n: u32| {
            let now = RTT * (n + 10);
            for packet in 0..dctcp.window() / 1_000 {
                dctcp.acknowledged(now, &acked(now, u64::from(packet % nth == nth - 1), true, RTT));
            }
            dctcp.window()
        };
        (0..count).map(round).collect()
    }

    #[test]
    fn shrinks_in_proportion_to_marks() {
        let mut few = Dctcp::new(1_000);
        rounds(&mut few, 5, u64::MAX);
        assert_eq!(few.window(), 320_000);
        let mut many = few.clone();
        rounds(&mut few, 300, 200);
        rounds(&mut many, 300, 2);
        assert!(few.alpha < 0.1, "{}", few.alpha);
        assert!(many.window() < few.window() / 4, "{} {}", many.window(), few.window());
    }

    #[test]
    fn delay_stands_for_marks_where_there_are_none() {
        let mut dctcp = Dctcp::new(1_000);
        let now = 20 * RTT;
        dctcp.acknowledged(now, &acked(now, 0, false, 4 * RTT));
        assert!(!dctcp.is_starting());
        assert!(dctcp.window() < 10_000);
        let mut near = Dctcp { delay_tells: false, ..Dctcp::new(1_000) };
        near.acknowledged(now, &acked(now, 0, false, 4 * RTT));
        assert!(near.is_starting() && near.window() > 10_000);
        let mut marked = Dctcp::new(1_000);
        marked.acknowledged(now, &acked(now, 0, true, 4 * RTT));
        assert!(marked.window() > 10_000);
    }

    #[test]
    fn a_window_that_loses_is_halved_once() {
        let mut dctcp = Dctcp::new(1_000);
        dctcp.lost(10 * RTT, &Lost { sent: 9 * RTT, persistent: false });
        dctcp.lost(10 * RTT, &Lost { sent: 9 * RTT + RTT / 2, persistent: false });
        assert_eq!(dctcp.window(), 5_000);
        dctcp.lost(12 * RTT, &Lost { sent: 11 * RTT, persistent: true });
        assert_eq!(dctcp.window(), 2_000);
    }
}
