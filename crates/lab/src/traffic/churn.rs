//! Connections that come and go.

use rand_distr::{Distribution, Geometric};

use super::agenda::Agenda;
use super::event::{Event, Kind};
use super::poisson::exponential;
use super::{Generator, generator};

/// So many connections at most at a time; each opens, sends some packets, and closes, and after another gap a new one takes
/// its place. So (packets + 1) / (packets + 2) of them are open on average.
#[derive(Clone, Copy, Debug)]
pub struct Churn {
    /// Connections at a time, those included that are about to open.
    pub connections: u32,
    /// Packets between opening and closing, on average; geometrically distributed.
    pub packets: f64,
    /// From one packet of a connection to its next, in seconds on average; exponentially distributed.
    pub gap: f64,
}

impl Default for Churn {
    /// 2,000 connections, 1,800 of them open, which send 8 packets in 9 seconds.
    fn default() -> Self {
        Self { connections: 2000, packets: 8.0, gap: 1.0 }
    }
}

impl Churn {
    /// The packets, endlessly. Every connection has a number of its own: 0, 1, 2 and on.
    pub fn events(&self, seed: u64) -> impl Iterator<Item = Event> + use<> {
        let mut generator = generator(seed);
        let mut agenda = Agenda::new();
        for _ in 0..self.connections {
            agenda.at(exponential(self.gap, &mut generator), Next::Open);
        }
        let more = Geometric::new(1.0 / (1.0 + self.packets)).ok();
        Run { gap: self.gap, more, agenda, generator, opened: 0 }
    }
}

enum Next {
    Open,
    Packet { flow: u32, more: u64 },
}

struct Run {
    gap: f64,
    more: Option<Geometric>,
    agenda: Agenda<Next>,
    generator: Generator,
    opened: u32,
}

impl Iterator for Run {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let (time, next) = self.agenda.next()?;
        let later = time.saturating_add(exponential(self.gap, &mut self.generator));
        let (flow, kind) = match next {
            Next::Open => {
                let (flow, more) = (self.opened, self.more.map_or(0, |m| m.sample(&mut self.generator)));
                self.opened = self.opened.wrapping_add(1);
                self.agenda.at(later, Next::Packet { flow, more });
                (flow, Kind::Open)
            }
            Next::Packet { flow, more: 0 } => {
                self.agenda.at(later, Next::Open);
                (flow, Kind::Close)
            }
            Next::Packet { flow, more } => {
                self.agenda.at(later, Next::Packet { flow, more: more - 1 });
                (flow, Kind::Data)
            }
        };
        Some(Event { time, flow, kind })
    }
}
