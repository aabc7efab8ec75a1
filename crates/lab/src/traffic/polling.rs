//! A server that polls its clients, as in many shops' terminals.

use rand_distr::{Distribution, Uniform};

use super::agenda::Agenda;
use super::event::{Event, Kind, seconds};
use super::generator;

/// One client after another is polled and answers; the answers arrive at the server.
#[derive(Clone, Copy, Debug)]
pub struct Polling {
    /// How many.
    pub clients: u32,
    /// From one poll to the next, in seconds.
    pub interval: f64,
    /// Answers take up to this long, in seconds. Beyond `interval` they overtake each other.
    pub delay: f64,
}

impl Default for Polling {
    /// 2,000 clients in 10 s, answers in order.
    fn default() -> Self {
        Self { clients: 2000, interval: 0.005, delay: 0.004 }
    }
}

impl Polling {
    /// The answers, endlessly. None without clients.
    pub fn events(&self, seed: u64) -> impl Iterator<Item = Event> + use<> {
        let Self { clients, interval, delay } = *self;
        let mut generator = generator(seed);
        let delay = Uniform::new_inclusive(0, seconds(delay.max(0.0))).ok();
        let polls = (0..clients).cycle().enumerate().map(move |(n, flow)| {
            let answer = delay.map_or(0, |delay| delay.sample(&mut generator));
            let time = seconds(n as f64 * interval).saturating_add(answer);
            Event { time, flow, kind: Kind::Data }
        });
        InOrder::new(polls, seconds(interval), seconds(self.delay.max(0.0)))
    }
}

/// Puts in order what comes out of order by a bounded time.
struct InOrder<I> {
    source: I,
    agenda: Agenda<Event>,
    held: u64,
    /// No event is overtaken by one that comes so many or more later in the source.
    window: u64,
}

impl<I: Iterator<Item = Event>> InOrder<I> {
    fn new(source: I, interval: u64, delay: u64) -> Self {
        let window = delay / interval.max(1) + 1;
        Self { source, agenda: Agenda::new(), held: 0, window }
    }
}

impl<I: Iterator<Item = Event>> Iterator for InOrder<I> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        while self.held <= self.window {
            let Some(event) = self.source.next() else { break };
            self.agenda.at(event.time, event);
            self.held += 1;
        }
        self.held = self.held.saturating_sub(1);
        self.agenda.next().map(|(_, event)| event)
    }
}
