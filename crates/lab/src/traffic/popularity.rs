//! Some flows send more than others.

use rand::seq::SliceRandom;
use rand_distr::{Distribution, Zipf};

use super::event::{Event, Kind};
use super::generator;
use super::poisson::Moments;

/// Packets at random moments, their flows by Zipf's law: the k-th most popular sends in proportion to k^-exponent.
#[derive(Clone, Copy, Debug)]
pub struct Popularity {
    /// How many flows.
    pub flows: u32,
    /// 0 is uniform; the Internet is said to be near 1.
    pub exponent: f64,
    /// Packets per second, of all flows.
    pub rate: f64,
}

impl Default for Popularity {
    /// 2,000 flows, exponent 1, 400 packets a second.
    fn default() -> Self {
        Self { flows: 2000, exponent: 1.0, rate: 400.0 }
    }
}

impl Popularity {
    /// The packets, endlessly. Which flows are popular is random too. None without flows, or with an exponent below 0.
    pub fn events(&self, seed: u64) -> impl Iterator<Item = Event> + use<> {
        let mut generator = generator(seed);
        let mut flows: Vec<u32> = (0..self.flows).collect();
        flows.shuffle(&mut generator);
        // So close to 1 the distribution divides by next to nothing, and has ranks beyond the last.
        let exponent = if (self.exponent - 1.0).abs() < 1e-6 { 1.0 } else { self.exponent };
        let rank = Zipf::new(f64::from(self.flows), exponent).ok();
        let mut moments = Moments::new(self.rate);
        std::iter::from_fn(move || {
            let rank = rank?.sample(&mut generator) as usize;
            let flow = *flows.get(rank.saturating_sub(1))?;
            Some(Event { time: moments.next(&mut generator), flow, kind: Kind::Data })
        })
    }
}
