//! Packetization layer path MTU discovery for datagrams (RFC 8899): how long frames may be, found by probing with padded
//! ones, since nothing that a stranger could forge is asked.

use std::time::Duration;

/// What every path is assumed to carry, in octets of a frame: `BASE_PLPMTU`.
pub const BASE: u16 = 1_200;
/// Probes of one size that may be lost before the size counts as too long: `MAX_PROBES`.
const MAX_PROBES: u8 = 3;
/// The search ends when the answer is known this closely.
const CLOSE_ENOUGH: u16 = 16;
/// Frames longer than [`BASE`] lost one after another, none acknowledged between: the path no longer carries them.
const BLACK_HOLE: u8 = 12;
/// When a search that ended begins again: `PMTU_RAISE_TIMER`.
const RAISE: Duration = Duration::from_secs(600);

/// The search for the longest frame that the path carries.
#[derive(Clone, Debug)]
pub struct PathMtu {
    /// Known to work.
    current: u16,
    /// The configured most.
    most: u16,
    /// The shortest known not to work, or one more than `most`.
    too_long: u16,
    probe: Option<Probe>,
    losses: u8,
    long_lost: u8,
    search_at: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    number: u64,
    size: u16,
}

impl PathMtu {
    /// Starts from [`BASE`], or `most` if that is less.
    pub fn new(most: u16) -> Self {
        let current = BASE.min(most);
        Self {
            current,
            most,
            too_long: most.saturating_add(1),
            probe: None,
            losses: 0,
            long_lost: 0,
            search_at: Duration::ZERO,
        }
    }

    /// Octets that frames may have.
    pub fn current(&self) -> u16 {
        self.current
    }

    /// How long a frame should be sent now to see whether it arrives.
    pub fn wanted(&mut self, now: Duration) -> Option<u16> {
        if self.probe.is_some() || now < self.search_at {
            return None;
        }
        if self.too_long <= self.current.saturating_add(CLOSE_ENOUGH) {
            // What was too long then may be carried when the search begins again.
            self.too_long = self.most.saturating_add(1);
            self.search_at = now + RAISE;
            return None;
        }
        self.candidate()
    }

    /// The most at first, since that is what most paths carry; then the middle of what is open.
    fn candidate(&self) -> Option<u16> {
        let untried = self.too_long > self.most;
        let size = if untried { self.most } else { self.current + (self.too_long - self.current) / 2 };
        (size > self.current).then_some(size)
    }

    /// A probe left.
    pub fn probe_sent(&mut self, number: u64, size: u16) {
        self.probe = Some(Probe { number, size });
    }

    /// A frame arrived. Returns whether longer ones may be sent now.
    pub fn acknowledged(&mut self, number: u64, size: u16) -> bool {
        if size > BASE {
            self.long_lost = 0;
        }
        let Some(probe) = self.probe.take_if(|probe| probe.number == number) else { return false };
        self.losses = 0;
        let raised = probe.size > self.current;
        self.current = self.current.max(probe.size);
        raised
    }

    /// A frame was lost. Returns whether it was a probe, whose loss says nothing of congestion.
    pub fn lost(&mut self, now: Duration, number: u64, size: u16) -> bool {
        if let Some(probe) = self.probe.take_if(|probe| probe.number == number) {
            self.losses += 1;
            if self.losses >= MAX_PROBES {
                self.losses = 0;
                self.too_long = probe.size;
            }
            return true;
        }
        if size > BASE {
            self.long_lost += 1;
            if self.long_lost >= BLACK_HOLE {
                self.fall_back(now);
            }
        }
        false
    }

    /// A frame was refused by the peer: if it was a probe, nothing is known of its length.
    pub fn refused(&mut self, number: u64) {
        self.probe.take_if(|probe| probe.number == number);
    }

    /// Nothing is heard at all: perhaps for the length of what is sent.
    pub fn fall_back(&mut self, now: Duration) {
        if self.current > BASE {
            *self = Self { search_at: now + RAISE, ..Self::new(self.most) };
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Searches on a path that carries `limit`, and returns the probes that took.
    fn search(mtu: &mut PathMtu, limit: u16, now: Duration) -> usize {
        let mut probes = 0;
        while let Some(size) = mtu.wanted(now) {
            probes += 1;
            mtu.probe_sent(probes, size);
            if size <= limit {
                assert!(mtu.acknowledged(probes, size));
            } else {
                assert!(mtu.lost(now, probes, size));
            }
        }
        probes as usize
    }

    #[test]
    fn finds_what_the_path_carries() {
        for limit in [1_200, 1_201, 1_400, 1_452, 1_472, 4_000, 8_972, 9_000, 65_507] {
            for most in [1_200, 1_472, 8_972, 65_507] {
                let mut mtu = PathMtu::new(most);
                let probes = search(&mut mtu, limit, Duration::ZERO);
                let expected = limit.min(most);
                assert!(mtu.current() <= expected && mtu.current() + CLOSE_ENOUGH >= expected);
                assert!(probes <= 3 * 14, "{probes} probes");
                assert_eq!(search(&mut mtu, limit, RAISE / 2), 0);
            }
        }
    }

    #[test]
    fn a_path_that_becomes_narrower_is_noticed_and_tried_again() {
        let mut mtu = PathMtu::new(9_000);
        search(&mut mtu, 9_000, Duration::ZERO);
        for number in 100..112 {
            assert_eq!(mtu.current(), 9_000);
            assert!(!mtu.lost(Duration::ZERO, number, 9_000));
        }
        assert_eq!(mtu.current(), BASE);
        search(&mut mtu, 1_500, RAISE);
        assert!(mtu.current() > 1_480);
        search(&mut mtu, 9_000, 3 * RAISE);
        assert_eq!(mtu.current(), 9_000);
    }

    #[test]
    fn short_frames_that_are_lost_say_nothing() {
        let mut mtu = PathMtu::new(9_000);
        search(&mut mtu, 9_000, Duration::ZERO);
        (100..200).for_each(|number| assert!(!mtu.lost(Duration::ZERO, number, 100)));
        assert_eq!(mtu.current(), 9_000);
    }
}
