//! Faults on purpose, the same for the same seed.

use std::time::Duration;

/// What a [`LocalNetwork`](crate::LocalNetwork) does to messages. Shares are from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Faults {
    /// The same seed makes the same faults, if the same is sent in the same order.
    pub seed: u64,
    /// Share of messages that vanish.
    pub loss: f64,
    /// Share of messages that arrive twice.
    pub duplication: f64,
    /// Share of messages that overtake up to four others.
    pub reordering: f64,
    /// Share of messages in which a bit is flipped. They are recognised and dropped.
    pub corruption: f64,
    /// The longest delay, in the network's own time ([`LocalNetwork::advance`](crate::LocalNetwork::advance)). Each message
    /// is delayed at random up to it, so that they overtake one another.
    pub delay: Duration,
}

impl Faults {
    /// A network without faults.
    pub const NONE: Self = Self {
        seed: 0,
        loss: 0.0,
        duplication: 0.0,
        reordering: 0.0,
        corruption: 0.0,
        delay: Duration::ZERO,
    };

    /// Whether nothing is lost, overtaken or altered.
    pub(crate) fn none(&self) -> bool {
        Self { seed: 0, ..*self } == Self::NONE
    }
}

/// The dice.
pub(crate) struct Dice {
    pub(crate) faults: Faults,
    state: u64,
}

/// What happens to one message.
pub(crate) struct Fate {
    pub(crate) copies: usize,
    /// So many earlier ones it overtakes.
    pub(crate) overtakes: usize,
    /// Which bit is flipped, modulo the length.
    pub(crate) flipped: Option<u64>,
    pub(crate) delay: Duration,
}

impl Dice {
    pub(crate) fn new(faults: Faults) -> Self {
        Self { faults, state: faults.seed }
    }

    pub(crate) fn roll(&mut self) -> Fate {
        let faults = self.faults;
        let lost = self.happens(faults.loss);
        let twice = self.happens(faults.duplication);
        let overtakes = if self.happens(faults.reordering) { 1 + self.next() as usize % 4 } else { 0 };
        let flipped = self.happens(faults.corruption).then(|| self.next());
        let delay = faults.delay.mul_f64(self.share());
        Fate { copies: if lost { 0 } else { 1 + usize::from(twice) }, overtakes, flipped, delay }
    }

    fn happens(&mut self, share: f64) -> bool {
        self.share() < share
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }
}
