//! Waiting for what is urgent, before other work is begun that it would have to wait for.
//!
//! Who exchanges urgent messages one at a time has none under way while he thinks, and none here while one is on its way. Work
//! begun then is not interrupted: the next urgent message waits for all of it, on both hosts. It is the deceptive idleness of
//! Iyer and Druschel (2001), and the cure is theirs: to expect another one for a little while.

/// See the module. Ranks are those of the run queue, times are in microseconds.
#[derive(Debug)]
pub(crate) struct Patience {
    /// For how long another urgent message is expected. 0: never.
    most: u64,
    /// How urgent what is expected is.
    rank: u64,
    until: u64,
    /// Whether something less urgent was begun since.
    begun: bool,
}

impl Patience {
    pub fn new(most: u64) -> Self {
        Self { most, rank: 0, until: 0, begun: false }
    }

    /// Something urgent came or went: another one is expected.
    #[inline]
    pub fn expect(&mut self, rank: u64, now: u64) {
        if self.most > 0 && rank >= self.rank {
            (self.rank, self.until, self.begun) = (rank, now + self.most, false);
        }
    }

    /// Whether a message may be begun now: one as urgent as what is expected, one of all others in the meantime, and any when
    /// the time is over.
    #[inline]
    pub fn allows(&mut self, rank: u64, now: u64) -> bool {
        if rank < self.rank && now < self.until {
            return !std::mem::replace(&mut self.begun, true);
        }
        if rank < self.rank {
            self.rank = 0;
        }
        self.expect(rank, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_more_urgent_is_expected_alone() {
        let mut patience = Patience::new(10);
        assert!(patience.allows(1, 0) && patience.allows(0, 1) && !patience.allows(0, 2));
        assert!(patience.allows(3, 3), "more urgent");
        assert!(patience.allows(2, 4) && !patience.allows(2, 12), "less than what is expected now");
        assert!(patience.allows(2, 13), "the time is over");
        assert!(patience.allows(1, 14) && !patience.allows(1, 22) && patience.allows(1, 23));
    }

    #[test]
    fn nothing_is_expected_after_what_is_not_urgent() {
        let mut patience = Patience::new(10);
        assert!((0..5).all(|now| patience.allows(0, now)));
        patience.expect(0, 5);
        assert!(patience.allows(0, 5) && patience.allows(0, 5));
    }
}
