//! The library's locators under simulated traffic.

use throughline_demux::{AnyLocator, Ipv4Connection, LocatorConfig, Strategy};

use super::models::{HUNDRED_CHAINS, Packet, claim, describe, mean_row, paper_model, waiting_model};
use super::row;
use super::settings::{Choice, Setting, Traffic};
use crate::traffic::{Subject, Tally, drive, keys};
use crate::{LabError, Row};

/// Simulated means are within so many per cent of the models: of the paper's main figures, and of all others.
const MAIN: f64 = 2.0;
const OTHERS: f64 = 3.0;

type Tried = Subject<AnyLocator<Ipv4Connection>>;

/// Runs a setting; what it cost each of its locators.
pub(crate) fn simulate(setting: &Setting, seed: u64) -> Result<Vec<Tried>, LabError> {
    let subjects = setting.choices.iter().map(|choice| subject(*choice, setting.users, seed));
    let mut subjects = subjects.collect::<Result<Vec<_>, _>>()?;
    drive(&mut subjects, setting.events(seed), setting.warm(), keys::terminal)?;
    Ok(subjects)
}

/// Runs a setting once for tables of one kind whose hash functions have different keys; what it cost each of them.
pub(crate) fn simulate_keys(setting: &Setting, choice: Choice, keys: &[u64]) -> Result<Vec<Tried>, LabError> {
    let subjects = keys.iter().map(|key| subject(choice, setting.users, *key));
    let mut subjects = subjects.collect::<Result<Vec<_>, _>>()?;
    drive(&mut subjects, setting.events(keys[0]), setting.warm(), keys::terminal)?;
    Ok(subjects)
}

/// A table with everybody's connection.
fn subject(choice: Choice, users: u32, seed: u64) -> Result<Tried, LabError> {
    let config = LocatorConfig {
        limit: users as usize,
        chains: choice.chains,
        hash: choice.hash,
        ..LocatorConfig::seeded(seed)
    };
    let mut subject = Subject::new(choice.strategy.locator(config)?);
    subject.fill(0..users, keys::terminal)?;
    Ok(subject)
}

/// Entries examined on average; of both kinds together, as much of either as of the other, as the models have it. (Of
/// transactions that overlap none, more entries are counted than acknowledgements.)
pub(crate) fn mean(subject: &Tried, packet: Packet) -> f64 {
    let of = |packet: Packet| subject.costs.over(packet.kinds());
    let (entries, acknowledgements) = (of(Packet::Entry), of(Packet::Acknowledgement));
    match packet {
        Packet::Both if acknowledgements.lookups() > 0 => {
            f64::midpoint(entries.mean(), acknowledgements.mean())
        }
        packet => of(packet).mean(),
    }
}

/// Runs a setting: rows of what it cost, and how far that is from the models.
pub(crate) fn rows(setting: &Setting, seed: u64) -> Result<Vec<Row>, LabError> {
    let subjects = simulate(setting, seed)?;
    let mut rows = Vec::new();
    for (choice, subject) in setting.choices.iter().zip(&subjects) {
        for packet in Packet::ALL {
            let tally = subject.costs.over(packet.kinds());
            if tally.lookups() > 0 {
                let mean = mean(subject, packet);
                rows.extend(costs(setting, *choice, packet, (mean, &tally)));
                rows.extend(deviations(setting, *choice, packet, mean));
            }
        }
    }
    rows.extend(gains(setting, &subjects));
    Ok(rows)
}

fn common(metric: &str, unit: &str, value: f64, setting: &Setting, choice: Choice, packet: Packet) -> Row {
    let row = describe(row(metric, unit, value), choice, setting.traffic, setting.users, setting.response);
    row.with("packet", packet.name()).with("source", "simulation")
}

fn costs(setting: &Setting, choice: Choice, packet: Packet, (mean, tally): (f64, &Tally)) -> Vec<Row> {
    let of = |metric, unit, value| {
        let row = common(metric, unit, value, setting, choice, packet);
        match claim(choice, setting.traffic, setting.response, packet) {
            Some((claim, _)) => row.claim(claim),
            None => row,
        }
    };
    let mean = mean_row(choice, setting.traffic, setting.response, packet, mean);
    let mut mean = mean.with("source", "simulation").with("packets", tally.lookups());
    let hundred = choice == Choice::sequent(100) && packet == Packet::Both && setting.response == 0.2;
    if hundred && setting.traffic == Traffic::TpcA {
        mean = mean.under(HUNDRED_CHAINS);
    }
    let mut rows = vec![
        mean,
        of("examined_p99", "entries", tally.quantile(0.99) as f64),
        of("examined_worst", "entries", tally.worst() as f64),
    ];
    if matches!(choice.strategy, Strategy::Bsd | Strategy::Sequent) {
        let hits = of("cache_hit_rate", "%", 100.0 * tally.hit_rate());
        rows.push(match (choice, packet) {
            _ if !setting.traffic.is_exponential() => hits,
            (Choice::BSD, Packet::Both) => hits.paper(0.05),
            (choice, Packet::Both) if choice == Choice::sequent(19) => hits.paper(0.95),
            _ => hits,
        });
    }
    rows
}

/// How far the simulation is from the paper's equations, and from the model of users who wait.
///
/// Targets are set where like is compared with like, and for the paper's main figures always. With many chains the
/// paper's equation 10 is not like: it leaves out the look at the cache before a walk.
fn deviations(setting: &Setting, choice: Choice, packet: Packet, mean: f64) -> Vec<Row> {
    let Setting { traffic, users, response, .. } = *setting;
    let off = |model: f64, of: &str| {
        let per_cent = 100.0 * (mean / model - 1.0).abs();
        common("deviation", "%", per_cent, setting, choice, packet).with("from", of)
    };
    let main = response == 0.2
        && packet == Packet::Both
        && [Choice::BSD, Choice::MOVE_TO_FRONT, Choice::sequent(19)].contains(&choice);
    let paper = paper_model(choice, traffic, users, response, packet).map(|model| {
        let row = off(model, "model");
        match traffic {
            _ if main => row.at_most(MAIN),
            Traffic::TpcA => row,
            _ if choice.strategy == Strategy::Sequent => row,
            _ => row.at_most(OTHERS),
        }
    });
    let waiting = (traffic == Traffic::TpcA)
        .then(|| waiting_model(choice, users, response, packet))
        .flatten()
        .map(|model| off(model, "model of users who wait").at_most(if main { MAIN } else { OTHERS }));
    paper.into_iter().chain(waiting).collect()
}

/// PCB-7: what moving to the front adds to chains, and what more chains do.
fn gains(setting: &Setting, subjects: &[Tried]) -> Vec<Row> {
    let mean_of = |strategy, chains| {
        let at = setting.choices.iter().position(|choice| {
            (choice.strategy, choice.chains, choice.hash.name()) == (strategy, chains, "xor")
        })?;
        Some(mean(&subjects[at], Packet::Both))
    };
    let mut rows = Vec::new();
    for chains in [19, 51, 100] {
        let Some((plain, to_front)) =
            mean_of(Strategy::Sequent, chains).zip(mean_of(Strategy::ChainsMoveToFront, chains))
        else {
            continue;
        };
        let choice = Choice::sequent(chains);
        let gain = |value, from: &str| {
            common("gain", "factor", value, setting, choice, Packet::Both).with("by", from).claim("PCB-7")
        };
        rows.push(gain(plain / to_front, "moving to the front").paper(2.0));
        if let Some(nineteen) = mean_of(Strategy::Sequent, 19).filter(|_| chains == 100) {
            rows.push(gain(nineteen / plain, "more chains than 19").paper(5.0));
        }
    }
    rows
}
