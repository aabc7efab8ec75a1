//! Packets of strangers who mean harm.

use std::iter;

use super::event::{Event, Kind};
use super::generator;
use super::poisson::Moments;

/// A scan: every packet is for another flow, and none of them exists.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    /// The first of the flows; give one beyond those that exist.
    pub first: u32,
    /// Packets per second.
    pub rate: f64,
}

impl Scan {
    /// The packets, endlessly: behind the last flow that has a number the first that has one is next.
    pub fn events(&self, seed: u64) -> impl Iterator<Item = Event> + use<> {
        let (mut generator, mut moments) = (generator(seed), Moments::new(self.rate));
        let flows = iter::successors(Some(self.first), |flow| Some(flow.wrapping_add(1)));
        flows.map(move |flow| Event { time: moments.next(&mut generator), flow, kind: Kind::Stray })
    }
}

/// A hash flood: a stranger opens flows, then sends a packet to each of them in turn for ever.
///
/// What makes them collide is their keys; the stream only names the flows.
#[derive(Clone, Copy, Debug)]
pub struct Flood {
    /// The first of the flows; give one beyond those of others.
    pub first: u32,
    /// How many flows.
    pub flows: u32,
    /// Packets per second.
    pub rate: f64,
}

impl Flood {
    /// The packets, endlessly. None without flows.
    pub fn events(&self, seed: u64) -> impl Iterator<Item = Event> + use<> {
        let (mut generator, mut moments) = (generator(seed), Moments::new(self.rate));
        let flows = self.first..self.first.saturating_add(self.flows);
        let opens = flows.clone().map(|flow| (flow, Kind::Open));
        let data = flows.map(|flow| (flow, Kind::Data)).cycle();
        opens.chain(data).map(move |(flow, kind)| Event { time: moments.next(&mut generator), flow, kind })
    }
}
