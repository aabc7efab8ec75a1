//! How many flows are in use within a window of packets.
//!
//! A packet keeps its flow in the windows that end at it and at the packets that follow, until the flow's next packet
//! takes over. So the mean number of flows among the last `T` packets is the sum over all packets of the lesser of `T`
//! and the distance to the flow's next packet, or to the end, divided by the number of packets (Denning 1968).

use super::binned::Binned;
use super::tally::Tally;

/// What is needed for the curve, in bounded memory.
#[derive(Clone, Debug)]
pub struct WorkingSet {
    intervals: Tally,
    /// Where flows had their last packets.
    last: Binned<u64>,
}

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Packets in the window.
    pub window: u64,
    /// Flows in it, in the mean.
    pub flows: f64,
}

impl WorkingSet {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { intervals: Tally::default(), last: Binned::new(1) }
    }

    /// A flow has had a packet again after so many.
    #[inline]
    pub fn again(&mut self, interval: u64) {
        self.intervals.add(interval);
    }

    /// The packet with this number was the last of its flow.
    pub fn last(&mut self, number: u64) {
        *self.last.at(number) += 1;
    }

    /// The curve at windows that double, up to all packets, of which there are so many, and of so many flows. Windows at
    /// the beginning are not full yet.
    pub fn curve(&self, packets: u64, flows: u64) -> Vec<Point> {
        let doubling = std::iter::successors(Some(1_u64), |window| window.checked_mul(2));
        let windows = doubling.take_while(|window| *window < packets).chain((packets > 0).then_some(packets));
        // Long intervals are told by the ends of their ranges, so that the mean may come out above what is possible.
        let most = |window: u64| window.min(flows) as f64;
        windows.map(|window| Point { window, flows: self.flows(window, packets).min(most(window)) }).collect()
    }

    fn flows(&self, window: u64, packets: u64) -> f64 {
        let mut sum = 0.0;
        let mut before = 0;
        for (interval, below) in self.intervals.cumulative() {
            sum += interval.min(window) as f64 * (below - before) as f64;
            before = below;
        }
        for (bin, count) in self.last.bins().iter().enumerate().filter(|(_, count)| **count > 0) {
            let middle = bin as f64 * self.last.width() as f64 + (self.last.width() - 1) as f64 / 2.0;
            sum += (packets as f64 - middle).clamp(1.0, window as f64) * *count as f64;
        }
        sum / packets as f64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;
    use crate::random::Random;

    #[test]
    fn the_curve_is_that_of_windows() {
        let mut random = Random::new(1);
        let trace: Vec<u32> = (0..400).map(|_| random.clone().below(30) / 3 + random.below(12)).collect();
        let mut set = WorkingSet::new();
        let mut seen = HashMap::new();
        for (number, flow) in trace.iter().enumerate() {
            if let Some(last) = seen.insert(*flow, number) {
                set.again((number - last) as u64);
            }
        }
        seen.values().for_each(|number| set.last(*number as u64));
        for point in set.curve(trace.len() as u64, seen.len() as u64) {
            let count = |end: usize| {
                let start = (end + 1).saturating_sub(point.window as usize);
                trace[start..=end].iter().collect::<HashSet<_>>().len()
            };
            let mean = (0..trace.len()).map(count).sum::<usize>() as f64 / trace.len() as f64;
            assert!((mean - point.flows).abs() <= 0.02 * mean, "{point:?}: {mean}");
        }
    }

    /// Flows that take turns, of which one misses one: long windows have nearly all, and there are no more.
    #[test]
    fn no_more_than_there_are() {
        for flows in [128, 1024, 8192] {
            let packets = flows * 200;
            let mut set = WorkingSet::new();
            (flows + 1..packets).for_each(|_| set.again(flows));
            set.again(2 * flows);
            (packets - flows..packets).for_each(|number| set.last(number));
            for point in set.curve(packets, flows) {
                assert!(point.flows <= point.window.min(flows) as f64, "{flows}: {point:?}");
            }
        }
    }
}
