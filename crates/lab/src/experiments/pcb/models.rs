//! The models: the paper's equations, and the same users when they wait.

use throughline_demux::Strategy;

use super::row;
use super::settings::{Choice, RATE, RESPONSES, Traffic, USERS};
use crate::traffic::Kind;
use crate::{Row, model};

/// What a packet costs on average: which packets a figure is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packet {
    Entry,
    Acknowledgement,
    Both,
}

impl Packet {
    pub(crate) const ALL: [Self; 3] = [Self::Entry, Self::Acknowledgement, Self::Both];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Acknowledgement => "acknowledgement",
            Self::Both => "both",
        }
    }

    /// The kinds of packets that it is of. Polled clients send [`Kind::Data`] only.
    pub(crate) const fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Entry => &[Kind::Entry],
            Self::Acknowledgement => &[Kind::Acknowledgement],
            Self::Both => &[Kind::Entry, Kind::Acknowledgement, Kind::Data],
        }
    }
}

/// Sequent with 100 chains at 0.2 s: the paper says less than this.
pub(crate) const HUNDRED_CHAINS: f64 = 9.0;

/// The paper's equation for a mean, where there is one.
pub(crate) fn paper_model(
    choice: Choice,
    traffic: Traffic,
    users: u32,
    response: f64,
    packet: Packet,
) -> Option<f64> {
    let (n, h) = (f64::from(users), choice.chains as f64);
    Some(match (choice.strategy, packet) {
        (Strategy::MoveToFront, Packet::Entry) if traffic == Traffic::Fixed => {
            model::move_to_front_entry_fixed(n)
        }
        (Strategy::MoveToFront, Packet::Both) if traffic == Traffic::Polled => {
            model::move_to_front_entry_fixed(n)
        }
        _ if !traffic.is_exponential() => return None,
        (Strategy::Bsd, _) => model::bsd(n),
        (Strategy::MoveToFront, Packet::Entry) => model::move_to_front_entry(n, RATE, response),
        (Strategy::MoveToFront, Packet::Acknowledgement) => {
            model::move_to_front_acknowledgement(n, RATE, response)
        }
        (Strategy::MoveToFront, Packet::Both) => model::move_to_front(n, RATE, response),
        (Strategy::Sequent, Packet::Entry) => model::sequent_simple(n, h),
        (Strategy::Sequent, Packet::Acknowledgement) => model::sequent_acknowledgement(n, h, RATE, response),
        (Strategy::Sequent, Packet::Both) => model::sequent(n, h, RATE, response),
        // Each chain is a list of N/H entries. Those ahead are what the equations count, examined is one more.
        (Strategy::ChainsMoveToFront, Packet::Entry) => {
            1.0 + model::move_to_front_entry(n / h, RATE, response)
        }
        (Strategy::ChainsMoveToFront, Packet::Acknowledgement) => {
            1.0 + model::move_to_front_acknowledgement(n / h, RATE, response)
        }
        (Strategy::ChainsMoveToFront, Packet::Both) => 1.0 + model::move_to_front(n / h, RATE, response),
        _ => return None,
    })
}

/// The model of users who wait, where it differs: entries *examined*, so that it is exact.
pub(crate) fn waiting_model(choice: Choice, users: u32, response: f64, packet: Packet) -> Option<f64> {
    // One list is one chain.
    let n = f64::from(users) / choice.chains as f64;
    let entry = || model::waiting_entry(n, RATE, response) + 1.0;
    let acknowledgement = || model::waiting_acknowledgement(n, RATE, response) + 1.0;
    let to_front = matches!(choice.strategy, Strategy::MoveToFront | Strategy::ChainsMoveToFront);
    to_front.then(|| match packet {
        Packet::Entry => entry(),
        Packet::Acknowledgement => acknowledgement(),
        Packet::Both => f64::midpoint(entry(), acknowledgement()),
    })
}

/// The claim that a figure belongs to, and the paper's number where it prints one.
pub(crate) fn claim(
    choice: Choice,
    traffic: Traffic,
    response: f64,
    packet: Packet,
) -> Option<(&'static str, Option<f64>)> {
    let at = RESPONSES.iter().position(|r| *r == response);
    let pick = |figures: [f64; 4]| at.map(|at| figures[at]);
    match (choice.strategy, choice.chains, packet) {
        (Strategy::MoveToFront, _, _) if traffic == Traffic::Fixed => {
            Some(("PCB-3", (packet == Packet::Entry).then_some(2000.0)))
        }
        (_, _, Packet::Both) if traffic == Traffic::Polled => {
            Some(("PCB-3", (choice.strategy == Strategy::MoveToFront).then_some(2000.0)))
        }
        _ if !traffic.is_exponential() => None,
        (Strategy::Bsd, ..) => Some(("PCB-1", Some(1001.0))),
        (Strategy::MoveToFront, _, Packet::Entry) => Some(("PCB-2", pick([1019.0, 1045.0, 1086.0, 1150.0]))),
        (Strategy::MoveToFront, _, Packet::Acknowledgement) => {
            Some(("PCB-2", pick([78.0, 190.0, 362.0, 659.0])))
        }
        (Strategy::MoveToFront, _, Packet::Both) => Some(("PCB-2", pick([549.0, 618.0, 724.0, 904.0]))),
        (Strategy::Sequent, 19, Packet::Both) if response == 0.2 => Some(("PCB-4", Some(53.0))),
        (Strategy::Sequent, 100, Packet::Both) if response == 0.2 => Some(("PCB-4", Some(HUNDRED_CHAINS))),
        (Strategy::Sequent, ..) => Some(("PCB-4", None)),
        (Strategy::ChainsMoveToFront, ..) => Some(("PCB-7", None)),
        _ => None,
    }
}

/// The keys that all rows of a choice have.
pub(crate) fn describe(row: Row, choice: Choice, traffic: Traffic, users: u32, response: f64) -> Row {
    let row =
        row.with("locator", choice.strategy.name()).with("users", users).with("traffic", traffic.name());
    let row = if traffic == Traffic::Polled { row } else { row.with("response_s", response) };
    if choice.is_chained() { row.with("chains", choice.chains).with("hash", choice.hash.name()) } else { row }
}

/// All figures that the paper computes, computed again.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let choices =
        [Choice::BSD, Choice::MOVE_TO_FRONT, Choice::sequent(19), Choice::sequent(51), Choice::sequent(100)];
    for choice in choices {
        for response in RESPONSES {
            for packet in Packet::ALL {
                rows.extend(mean_rows(choice, response, packet));
            }
        }
    }
    for choice in [19, 51, 100].map(|chains| Choice::sequent(chains).to_front()) {
        rows.extend(Packet::ALL.into_iter().flat_map(|packet| mean_rows(choice, RESPONSES[0], packet)));
    }
    for (traffic, packet) in [(Traffic::Fixed, Packet::Entry), (Traffic::Polled, Packet::Both)] {
        let (choice, response) = (Choice::MOVE_TO_FRONT, RESPONSES[0]);
        let value = paper_model(choice, traffic, USERS, response, packet);
        rows.extend(
            value.map(|value| mean_row(choice, traffic, response, packet, value).with("source", "model")),
        );
    }
    let n = f64::from(USERS);
    let simple = row("examined_mean", "entries", model::sequent_simple(n, 19.0));
    let simple = describe(simple, Choice::sequent(19), Traffic::Independent, USERS, 0.2);
    rows.push(simple.with("packet", "any").with("source", "equation 7").claim("PCB-4").paper(53.6));
    for (choice, claim, value, paper) in [
        (Choice::BSD, "PCB-1", model::bsd_hit_rate(n), 0.05),
        (Choice::sequent(19), "PCB-4", model::sequent_hit_rate(n, 19.0), 0.95),
    ] {
        let hits = row("cache_hit_rate", "%", 100.0 * value);
        let hits = describe(hits, choice, Traffic::Independent, USERS, 0.2);
        rows.push(hits.with("packet", "both").with("source", "model").claim(claim).paper(paper));
    }
    rows
}

/// A mean, with the paper's where it prints one.
pub(crate) fn mean_row(choice: Choice, traffic: Traffic, response: f64, packet: Packet, value: f64) -> Row {
    let row = describe(row("examined_mean", "entries", value), choice, traffic, USERS, response);
    beside_paper(row.with("packet", packet.name()), choice, traffic, response, packet)
}

/// Adds the claim, and the paper's figure where it prints one; of 100 chains it says that they take less than that.
pub(crate) fn beside_paper(row: Row, choice: Choice, traffic: Traffic, response: f64, packet: Packet) -> Row {
    let Some((claim, paper)) = claim(choice, traffic, response, packet) else { return row };
    let row = row.claim(claim);
    let Some(paper) = paper else { return row };
    let row = row.paper(paper);
    if paper == HUNDRED_CHAINS { row.with("paper_bound", "under") } else { row }
}

fn mean_rows(choice: Choice, response: f64, packet: Packet) -> Vec<Row> {
    let of = |value, traffic, source: &str| {
        mean_row(choice, traffic, response, packet, value).with("source", source)
    };
    let paper = paper_model(choice, Traffic::Independent, USERS, response, packet);
    let waiting = waiting_model(choice, USERS, response, packet);
    let paper = paper.map(|value| of(value, Traffic::Independent, "model"));
    paper
        .into_iter()
        .chain(waiting.map(|value| of(value, Traffic::TpcA, "model of users who wait")))
        .collect()
}
