//! PCB-5: how often nobody else on the same chain sends between a transaction and the acknowledgement of its response.
//!
//! With one chain this never happens in a run of any length, so it is computed from what does happen: the part of the
//! others who are silent for a response time, to the power of their number. For 19 and 51 chains the same is shown
//! beside what really happened.
//!
//! Truncating the think times at 100 s, as TPC/A allows, makes users a little busier. To the power of 1,999 that is some per
//! cent: so much less is the figure for one chain, and it is held to no target there.

use std::collections::VecDeque;

use super::models::describe;
use super::row;
use super::settings::{Choice, RATE, RESPONSES, Traffic, USERS, independent};
use crate::traffic::{Event, Kind, TpcA, seconds};
use crate::{LabError, Options, Row, Sink, model};

/// The response time that the paper's figures are for.
const RESPONSE: f64 = RESPONSES[0];

/// Chains, the paper's figure, and whether it can be counted.
const CASES: [(usize, f64, bool); 3] = [(1, 1.9e-35, false), (19, 0.015, true), (51, 0.21, true)];

/// Whoever sent something in the last response time.
struct Active {
    last: Vec<Option<u64>>,
    window: VecDeque<(u64, u32)>,
    users: u32,
    length: u64,
}

impl Active {
    fn new(users: u32, length: u64) -> Self {
        Self { last: vec![None; users as usize], window: VecDeque::new(), users: 0, length }
    }

    /// Forgets who has been silent for longer, up to `now`.
    fn forget(&mut self, now: u64) {
        while let Some((time, user)) = self.window.front().copied().filter(|(t, _)| t + self.length < now) {
            self.window.pop_front();
            self.users -= u32::from(self.last[user as usize] == Some(time));
        }
    }

    fn packet(&mut self, event: &Event) {
        self.forget(event.time);
        let last = self.last[event.flow as usize].replace(event.time);
        if last == Some(event.time) {
            // One of two at the same moment is enough in the window: both would be the user's last, and each take him off.
            return;
        }
        self.users += u32::from(last.is_none_or(|last| last + self.length < event.time));
        self.window.push_back((event.time, event.flow));
    }
}

/// What was counted in one run.
#[derive(Default)]
struct Counts {
    acknowledgements: u64,
    /// Other users active before them, added up.
    active: u64,
    /// By case: how often the last packet on the chain was the user's own.
    undisturbed: [u64; CASES.len()],
}

fn count(traffic: TpcA, packets: usize, seed: u64) -> Counts {
    let mut active = Active::new(traffic.users, seconds(traffic.response));
    let mut counts = Counts::default();
    let mut last = CASES.map(|(chains, ..)| vec![u32::MAX; chains]);
    for event in traffic.events(seed).skip(packets / 20).take(packets) {
        active.forget(event.time);
        let counted = event.kind == Kind::Acknowledgement;
        if counted {
            counts.acknowledgements += 1;
            // The user's own transaction was a response time ago, still in the window.
            counts.active += u64::from(active.users.saturating_sub(1));
        }
        for ((last, undisturbed), (chains, ..)) in last.iter_mut().zip(&mut counts.undisturbed).zip(CASES) {
            let chain = &mut last[event.flow as usize % chains];
            *undisturbed += u64::from(counted && *chain == event.flow);
            *chain = event.flow;
        }
        active.packet(&event);
    }
    counts
}

/// Kinds of traffic, and whether the users wait.
const TRAFFIC: [(Traffic, bool); 2] = [(Traffic::Independent, false), (Traffic::TpcA, true)];

/// How many simulations there are.
pub(crate) const STEPS: u64 = TRAFFIC.len() as u64;

/// Model, extrapolation and count for each case, for users who wait and for those of the models.
pub(crate) fn rows(options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
    for (traffic, waits) in TRAFFIC {
        let packets = match traffic {
            _ if options.quick => 500_000,
            // To the power of 1,999 the packets' chance is 80 times as much: of so many it is a quarter of the target.
            Traffic::Independent => 240_000_000,
            _ => 60_000_000,
        };
        sink.step(&format!("{}, response times in which nobody else sends", traffic.name()));
        let users = match traffic {
            Traffic::TpcA => TpcA { users: USERS, response: RESPONSE, ..TpcA::default() },
            _ => independent(USERS, RESPONSE),
        };
        let counts = count(users, packets, options.seed);
        for case in 0..CASES.len() {
            let rows = case_rows(case, &counts, (traffic, waits), options.quick);
            rows.into_iter().try_for_each(|row| sink.row(row))?;
        }
    }
    Ok(())
}

fn case_rows(case: usize, counts: &Counts, (traffic, waits): (Traffic, bool), quick: bool) -> Vec<Row> {
    let (chains, paper, countable) = CASES[case];
    let expected = expected(chains, waits);
    let model = if waits { "model of users who wait" } else { "model" };
    let of = |value, source: &str| {
        let choice = if chains == 1 { Choice::BSD } else { Choice::sequent(chains) };
        let row = describe(row("undisturbed", "probability", value), choice, traffic, USERS, RESPONSE);
        row.with("source", source).claim("PCB-5")
    };
    let off = |value: f64, source: &str| {
        let row = of(100.0 * (value / expected - 1.0).abs(), source).with("metric", "deviation");
        let row = row.with("unit", "%").with("packet", "acknowledgement").with("from", model);
        if quick || (waits && chains == 1) { row } else { row.at_most(3.0) }
    };
    let n = f64::from(USERS);
    let silent = 1.0 - counts.active as f64 / counts.acknowledgements as f64 / (n - 1.0);
    let computed = silent.powf(n / chains as f64 - 1.0);
    let mut rows = vec![
        of(expected, model).paper(paper),
        of(computed, "simulation, others' silence").paper(paper),
        off(computed, "simulation, others' silence"),
    ];
    if countable {
        let counted = counts.undisturbed[case] as f64 / counts.acknowledgements as f64;
        rows.extend([of(counted, "simulation").paper(paper), off(counted, "simulation")]);
    }
    rows
}

fn expected(chains: usize, waits: bool) -> f64 {
    let model = if waits { model::waiting_undisturbed } else { model::undisturbed };
    model(f64::from(USERS), chains as f64, RATE, RESPONSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_who_send_twice_at_a_moment_are_one() {
        let mut active = Active::new(2, 10);
        for (time, flow) in [(1, 1), (5, 0), (5, 0), (5, 1)] {
            active.packet(&Event { time, flow, kind: Kind::Entry });
        }
        assert_eq!(active.users, 2);
        active.forget(15);
        assert_eq!(active.users, 2, "the window's end is in it");
        active.packet(&Event { time: 16, flow: 1, kind: Kind::Entry });
        assert_eq!(active.users, 1, "the other has been silent");
        active.forget(27);
        assert_eq!(active.users, 0);
    }
}
