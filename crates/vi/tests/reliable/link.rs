//! A network in one direction: seeded, in virtual time.

use std::time::Duration;

use throughline_vi::reliable::Ecn;

/// SplitMix64: all that is drawn in a test follows from its seed.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        ((self.next() >> 11) as f64) < probability * (1u64 << 53) as f64
    }
}

/// What a network does to datagrams.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    pub loss: f64,
    pub duplication: f64,
    /// Datagrams that come later by up to `reordering_delay`.
    pub reordering: f64,
    pub reordering_delay: Duration,
    /// Datagrams of which one bit changes.
    pub corruption: f64,
    /// In one direction.
    pub delay: Duration,
    /// Octets per second.
    pub rate: Option<u64>,
    /// Octets that wait before more are dropped, and from which on they are marked.
    pub queue: u64,
    pub mark_from: u64,
    /// Longer datagrams are dropped.
    pub mtu: usize,
}

impl Conditions {
    pub const PERFECT: Self = Self {
        loss: 0.0,
        duplication: 0.0,
        reordering: 0.0,
        reordering_delay: Duration::ZERO,
        corruption: 0.0,
        delay: Duration::from_micros(50),
        rate: None,
        queue: u64::MAX,
        mark_from: u64::MAX,
        mtu: 1_472,
    };

    /// 10 % are lost, 10 % come twice, 10 % late.
    pub const BAD: Self = Self {
        loss: 0.1,
        duplication: 0.1,
        reordering: 0.1,
        reordering_delay: Duration::from_millis(2),
        corruption: 0.01,
        delay: Duration::from_millis(1),
        ..Self::PERFECT
    };
}

/// The state of one direction.
pub struct Link {
    pub conditions: Conditions,
    random: Random,
    /// When the queue will be empty.
    free_at: Duration,
    pub carried: u64,
}

/// A datagram on its way.
pub struct Delivery {
    pub at: Duration,
    pub ecn: Ecn,
    pub octets: Vec<u8>,
}

impl Link {
    pub fn new(conditions: Conditions, seed: u64) -> Self {
        Self { conditions, random: Random(seed), free_at: Duration::ZERO, carried: 0 }
    }

    /// What becomes of a datagram: no delivery, one or two.
    pub fn carry(&mut self, now: Duration, octets: &[u8], ect: bool, mut deliver: impl FnMut(Delivery)) {
        let c = self.conditions;
        if octets.len() > c.mtu || self.random.chance(c.loss) {
            return;
        }
        let Some((leaves, ecn)) = self.queue(now, octets.len() as u64, ect) else { return };
        self.carried += octets.len() as u64;
        let copies = 1 + u64::from(self.random.chance(c.duplication));
        for _ in 0..copies {
            let mut octets = octets.to_vec();
            if self.random.chance(c.corruption) {
                let bit = self.random.below(8 * octets.len() as u64) as usize;
                octets[bit / 8] ^= 1 << (bit % 8);
            }
            let late = if self.random.chance(c.reordering) { c.reordering_delay } else { Duration::ZERO };
            let late = Duration::from_nanos(self.random.below(late.as_nanos() as u64 + 1));
            deliver(Delivery { at: leaves + c.delay + late, ecn, octets });
        }
    }

    /// When a datagram has left the queue, if it found room there, and whether it was marked.
    fn queue(&mut self, now: Duration, octets: u64, ect: bool) -> Option<(Duration, Ecn)> {
        let ecn = if ect { Ecn::Capable } else { Ecn::NotCapable };
        let Some(rate) = self.conditions.rate else { return Some((now, ecn)) };
        let start = self.free_at.max(now);
        let waiting = (start - now).as_nanos() * u128::from(rate) / 1_000_000_000;
        if waiting > self.conditions.queue.into() {
            return None;
        }
        self.free_at = start + Duration::from_nanos(octets * 1_000_000_000 / rate);
        let marked = ect && waiting > self.conditions.mark_from.into();
        Some((self.free_at, if marked { Ecn::Marked } else { ecn }))
    }
}
