//! TPC/A: users enter a transaction, wait for the response, and think.

use rand::RngExt;

use super::agenda::Agenda;
use super::event::{Event, Kind, seconds};
use super::poisson::exponential;
use super::{Generator, generator};

/// How long users think, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Think {
    /// Negative exponential, without times beyond `max`. TPC/A wants a mean of 10 s or more, and a `max` of at
    /// least ten times that.
    Exponential {
        /// Before truncation.
        mean: f64,
        /// No longer than this; infinite for no truncation.
        max: f64,
    },
    /// Always the same, as clients have it that act on a clock.
    Fixed(f64),
}

/// A run of TPC/A, as the database server receives it.
///
/// Each transaction takes four packets: the transaction ([`Kind::Entry`]), its acknowledgement by the transport, the
/// response, and the acknowledgement of that ([`Kind::Acknowledgement`]). The server receives the first and the last,
/// `response` seconds apart; flow i is user i's connection.
#[derive(Clone, Copy, Debug)]
pub struct TpcA {
    /// How many users; each has a connection.
    pub users: u32,
    /// How long they think.
    pub think: Think,
    /// The response time, in seconds.
    pub response: f64,
    /// Whether a user waits for the response before thinking about the next transaction, as TPC/A has it and people
    /// do. If not, users enter transactions however close together, as McKenney and Dove's models assume; packets of
    /// transactions that overlap with another of the same user are [`Kind::Overlapping`], since the models have none.
    pub waits: bool,
}

impl Default for TpcA {
    /// 2,000 users thinking for 10 s on average, responses after 0.2 s.
    fn default() -> Self {
        Self { users: 2000, think: Think::Exponential { mean: 10.0, max: 100.0 }, response: 0.2, waits: true }
    }
}

impl TpcA {
    /// What the server receives, endlessly. Users begin at random points of their thinking.
    pub fn events(&self, seed: u64) -> impl Iterator<Item = Event> + use<> {
        let mut generator = generator(seed);
        let mut agenda = Agenda::new();
        for user in 0..self.users {
            agenda.at(self.first(&mut generator), Next::Entry(user));
        }
        let users = vec![User::default(); self.users as usize];
        Run { traffic: *self, generator, agenda, users, response: seconds(self.response) }
    }

    /// When a user is first heard of: exponential times have no memory, clocks are anywhere in their period.
    fn first(&self, generator: &mut Generator) -> u64 {
        match self.think {
            Think::Exponential { .. } => self.think.draw(generator),
            Think::Fixed(time) => generator.random_range(0..seconds(time + self.response).max(1)),
        }
    }
}

impl Think {
    pub(super) fn draw(self, generator: &mut Generator) -> u64 {
        match self {
            Self::Fixed(time) => seconds(time),
            // So short a time is hardly ever drawn: the inverse of the distribution instead.
            Self::Exponential { mean, max } if max < mean => {
                let part: f64 = generator.random();
                seconds((-mean * (part * (-max / mean).exp_m1()).ln_1p()).clamp(0.0, max))
            }
            Self::Exponential { mean, max } => loop {
                let time = exponential(mean, generator);
                if time <= seconds(max) {
                    return time;
                }
            },
        }
    }
}

enum Next {
    Entry(u32),
    Acknowledgement {
        user: u32,
        /// Which of the user's transactions it ends.
        transaction: u32,
        /// Whether no other was under way when that was entered.
        alone: bool,
    },
}

/// How far a user's transactions have come.
#[derive(Clone, Default)]
struct User {
    entered: u32,
    acknowledged: u32,
}

struct Run {
    traffic: TpcA,
    generator: Generator,
    agenda: Agenda<Next>,
    users: Vec<User>,
    response: u64,
}

impl Run {
    fn think_from(&mut self, time: u64, user: u32) {
        let think = self.traffic.think.draw(&mut self.generator);
        self.agenda.at(time.saturating_add(think), Next::Entry(user));
    }
}

impl Iterator for Run {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let (time, next) = self.agenda.next()?;
        match next {
            Next::Entry(user) => {
                let state = &mut self.users[user as usize];
                let alone = state.entered == state.acknowledged;
                state.entered = state.entered.wrapping_add(1);
                let transaction = state.entered;
                let acknowledgement = Next::Acknowledgement { user, transaction, alone };
                self.agenda.at(time.saturating_add(self.response), acknowledgement);
                if !self.traffic.waits {
                    self.think_from(time, user);
                }
                Some(Event { time, flow: user, kind: if alone { Kind::Entry } else { Kind::Overlapping } })
            }
            Next::Acknowledgement { user, transaction, alone } => {
                let state = &mut self.users[user as usize];
                let alone = alone && state.entered == transaction;
                state.acknowledged = transaction;
                if self.traffic.waits {
                    self.think_from(time, user);
                }
                let kind = if alone { Kind::Acknowledgement } else { Kind::Overlapping };
                Some(Event { time, flow: user, kind })
            }
        }
    }
}
