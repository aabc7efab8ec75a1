//! What is simulated: traffic, and the locators under it.

use throughline_demux::{HashKind, Strategy};

use crate::traffic::{Polling, Stream, Think, TpcA, seconds, until_counted};

/// The paper's number of users, unless a row says otherwise.
pub(crate) const USERS: u32 = 2000;
/// Transactions per user and second.
pub(crate) const RATE: f64 = 0.1;
/// The paper's response times, in seconds.
pub(crate) const RESPONSES: [f64; 4] = [0.2, 0.5, 1.0, 2.0];
/// Lists have settled when practically everybody has had a turn; nothing is counted before.
const WARM: f64 = 100.0;

/// A locator with what it needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) strategy: Strategy,
    pub(crate) chains: usize,
    pub(crate) hash: HashKind,
}

impl Choice {
    pub(crate) const BSD: Self = Self::plain(Strategy::Bsd);
    pub(crate) const MOVE_TO_FRONT: Self = Self::plain(Strategy::MoveToFront);

    const fn plain(strategy: Strategy) -> Self {
        Self { strategy, chains: 1, hash: HashKind::XorFold }
    }

    pub(crate) const fn sequent(chains: usize) -> Self {
        Self { strategy: Strategy::Sequent, chains, hash: HashKind::XorFold }
    }

    pub(crate) const fn keyed(self) -> Self {
        Self { hash: HashKind::Keyed, ..self }
    }

    pub(crate) const fn to_front(self) -> Self {
        Self { strategy: Strategy::ChainsMoveToFront, ..self }
    }

    /// Whether it has chains to choose from.
    pub(crate) fn is_chained(self) -> bool {
        matches!(self.strategy, Strategy::Sequent | Strategy::ChainsMoveToFront)
    }
}

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Traffic {
    /// Users wait and think.
    TpcA,
    /// As the models assume.
    Independent,
    /// Users wait, and think for the same time always.
    Fixed,
    /// Clients answer when they are polled.
    Polled,
}

impl Traffic {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::TpcA => "tpc-a",
            Self::Independent => "independent",
            Self::Fixed => "fixed-think-time",
            Self::Polled => "polling",
        }
    }

    /// Whether think times are exponential, as the paper's equations have them.
    pub(crate) const fn is_exponential(self) -> bool {
        matches!(self, Self::TpcA | Self::Independent)
    }
}

/// Users as the models have them: they wait for nothing, and may think for ever.
pub(crate) fn independent(users: u32, response: f64) -> TpcA {
    let think = Think::Exponential { mean: 1.0 / RATE, max: f64::INFINITY };
    TpcA { users, response, think, waits: false }
}

/// One simulation.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) traffic: Traffic,
    pub(crate) users: u32,
    pub(crate) response: f64,
    pub(crate) packets: usize,
    pub(crate) choices: Vec<Choice>,
}

impl Setting {
    pub(crate) fn describe(&self) -> String {
        format!("{}, {} users, {} s", self.traffic.name(), self.users, self.response)
    }

    /// What is counted begins here, in nanoseconds.
    pub(crate) fn warm(&self) -> u64 {
        seconds(WARM)
    }

    /// As many packets as are to be counted, after the warming up.
    pub(crate) fn events(&self, seed: u64) -> Stream {
        let users = TpcA { users: self.users, response: self.response, ..TpcA::default() };
        let endless: Stream = match self.traffic {
            Traffic::TpcA => Box::new(users.events(seed)),
            Traffic::Independent => Box::new(independent(self.users, self.response).events(seed)),
            Traffic::Fixed => Box::new(TpcA { think: Think::Fixed(1.0 / RATE), ..users }.events(seed)),
            Traffic::Polled => Box::new(Polling { clients: self.users, ..Polling::default() }.events(seed)),
        };
        Box::new(until_counted(endless, self.warm(), self.packets))
    }
}

/// All of them but those of figure 9.
pub(crate) fn all(quick: bool) -> Vec<Setting> {
    let packets = if quick { 100_000 } else { 1_000_000 };
    let few = packets / 4;
    let of = |traffic, response, packets, choices: &[Choice]| Setting {
        traffic,
        users: USERS,
        response,
        packets,
        choices: choices.to_vec(),
    };
    let chained = [19, 51, 100].map(Choice::sequent);
    let classic = [Choice::BSD, Choice::MOVE_TO_FRONT, chained[0], chained[2]];
    let every: Vec<Choice> = classic
        .into_iter()
        .chain([chained[1]])
        .chain(chained.map(Choice::to_front))
        .chain([chained[0].keyed(), chained[2].keyed()])
        .collect();
    let mut settings = Vec::new();
    for response in RESPONSES {
        let choices = if response == RESPONSES[0] { &every[..] } else { &classic[..] };
        settings.push(of(Traffic::TpcA, response, packets, choices));
        settings.push(of(Traffic::Independent, response, packets, &classic));
    }
    settings.push(of(Traffic::Fixed, RESPONSES[0], few, &classic));
    settings.push(of(Traffic::Polled, 0.0, few, &classic));
    settings
}
