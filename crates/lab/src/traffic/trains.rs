//! Packet trains: what a transfer of much data looks like.

use rand::RngExt;
use rand_distr::{Distribution, Geometric};

use super::agenda::Agenda;
use super::event::{Event, Kind};
use super::poisson::{Moments, exponential};
use super::{Generator, generator};

/// Trains under way at a time, at most.
const MOST_UNDER_WAY: usize = 1 << 22;

/// Trains of packets of one flow each (Jain and Routhier): they come at random and run beside each other. Those that come while
/// 4,194,304 are under way have one packet each.
#[derive(Clone, Copy, Debug)]
pub struct Trains {
    /// How many flows; each train belongs to one of them, all equally likely.
    pub flows: u32,
    /// Trains per second, of all flows.
    pub rate: f64,
    /// Packets per train on average, at least 1; geometrically distributed.
    pub length: f64,
    /// From one packet of a train to the next, in seconds on average; exponentially distributed.
    pub gap: f64,
}

impl Default for Trains {
    /// 100 flows, 10 trains of 64 packets a second, packets 0.1 ms apart.
    fn default() -> Self {
        Self { flows: 100, rate: 10.0, length: 64.0, gap: 1e-4 }
    }
}

impl Trains {
    /// The packets, endlessly. None without flows.
    pub fn events(&self, seed: u64) -> impl Iterator<Item = Event> + use<> {
        self.run(seed, MOST_UNDER_WAY)
    }

    fn run(&self, seed: u64, most: usize) -> Run {
        let mut agenda = Agenda::new();
        let mut generator = generator(seed);
        let mut starts = Moments::new(self.rate);
        if self.flows > 0 {
            agenda.at(starts.next(&mut generator), Next::Train);
        }
        // A probability out of range would be a length below 1: then all trains have one packet.
        let more = Geometric::new(1.0 / self.length).ok();
        Run { traffic: *self, more, starts, agenda, generator, most }
    }
}

enum Next {
    Train,
    Packet { flow: u32, more: u64 },
}

struct Run {
    traffic: Trains,
    more: Option<Geometric>,
    starts: Moments,
    agenda: Agenda<Next>,
    generator: Generator,
    /// Things in the agenda, at most, beside the next train.
    most: usize,
}

impl Iterator for Run {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let (time, next) = self.agenda.next()?;
        let (flow, more) = match next {
            Next::Packet { flow, more } => (flow, more),
            Next::Train => {
                self.agenda.at(self.starts.next(&mut self.generator), Next::Train);
                let flow = self.generator.random_range(0..self.traffic.flows);
                (flow, self.more.map_or(0, |more| more.sample(&mut self.generator)))
            }
        };
        if more > 0 && self.agenda.len() <= self.most {
            let gap = exponential(self.traffic.gap, &mut self.generator);
            self.agenda.at(time.saturating_add(gap), Next::Packet { flow, more: more - 1 });
        }
        Some(Event { time, flow, kind: Kind::Data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trains_that_never_end_take_bounded_memory() {
        let crowded = Trains { flows: 7, rate: 1e9, length: 1e9, gap: 3e8 };
        let mut run = crowded.run(1, 1_000);
        assert_eq!(run.by_ref().take(10_000).count(), 10_000);
        assert_eq!(run.agenda.len(), 1_001);
        // Others notice nothing.
        let few = Trains::default();
        assert!(few.run(1, 1_000).take(10_000).eq(few.events(1).take(10_000)));
    }
}
