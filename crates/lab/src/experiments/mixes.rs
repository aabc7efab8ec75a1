//! What each lookup makes of each kind of traffic: transactions, trains, both, popular flows, connections that come and
//! go, scans, floods.

use rand::seq::SliceRandom;
use throughline_demux::{AnyLocator, HashKind, Ipv4Connection, Locator, LocatorConfig, Strategy};

use crate::random::Random;
use crate::traffic::{
    Churn, Flood, Popularity, Scan, Stream, Subject, TpcA, Trains, drive, from_flow, generator, keys,
    seconds, together, until_counted,
};
use crate::{Experiment, LabError, Options, Row, Sink, Table};

/// Users, popular flows, connections: so many of each.
const FLOWS: u32 = 2000;
/// Flows of bulk transfers.
const BULK: u32 = 10;
/// Flows of strangers are numbered from here.
const STRANGERS: u32 = 1 << 20;
/// Nothing is counted before, so that lists have settled and floods have opened their flows.
const WARM: f64 = 100.0;
/// Chains of those lookups that have a fixed number.
const CHAINS: usize = 19;

/// What comes, and how many of its flows are there from the beginning.
struct Mix {
    name: &'static str,
    present: u32,
    events: fn(u64) -> Stream,
}

const MIXES: [Mix; 7] = [
    Mix { name: "transactions", present: FLOWS, events: transactions },
    Mix { name: "trains", present: FLOWS, events: |seed| Box::new(trains(FLOWS, 6.0).events(seed)) },
    Mix { name: "transactions and bulk", present: FLOWS + BULK, events: and_bulk },
    Mix {
        name: "popularity",
        present: FLOWS,
        events: |seed| Box::new(Popularity { flows: FLOWS, ..Popularity::default() }.events(seed)),
    },
    Mix {
        name: "connections come and go",
        present: 0,
        events: |seed| Box::new(Churn { connections: FLOWS, ..Churn::default() }.events(seed)),
    },
    Mix { name: "transactions under a scan", present: FLOWS, events: under_scan },
    Mix { name: "transactions under a flood", present: FLOWS, events: under_flood },
];

fn transactions(seed: u64) -> Stream {
    Box::new(TpcA { users: FLOWS, ..TpcA::default() }.events(seed))
}

const fn trains(flows: u32, rate: f64) -> Trains {
    Trains { flows, rate, length: 64.0, gap: 1e-4 }
}

fn and_bulk(seed: u64) -> Stream {
    let bulk = from_flow(FLOWS, trains(BULK, 6.0).events(seed.wrapping_add(1)));
    Box::new(together([transactions(seed), Box::new(bulk) as Stream]))
}

fn under_scan(seed: u64) -> Stream {
    let scan = Scan { first: STRANGERS, rate: 400.0 };
    Box::new(together([transactions(seed), Box::new(scan.events(seed.wrapping_add(1))) as Stream]))
}

fn under_flood(seed: u64) -> Stream {
    let flood = Flood { first: STRANGERS, flows: FLOWS, rate: 400.0 };
    Box::new(together([transactions(seed), Box::new(flood.events(seed.wrapping_add(1))) as Stream]))
}

/// Strangers know the XOR fold and choose their addresses and ports by it.
fn key(flow: u32) -> Ipv4Connection {
    match flow.checked_sub(STRANGERS) {
        Some(stranger) => keys::colliding(stranger),
        None => keys::terminal(flow),
    }
}

/// See the module.
pub(crate) struct Mixes;

impl Experiment for Mixes {
    fn name(&self) -> &'static str {
        "mixes"
    }

    fn purpose(&self) -> &'static str {
        "entries examined by each lookup under each kind of traffic, hostile ones included"
    }

    fn claims(&self) -> &'static [&'static str] {
        &[]
    }

    fn uses(&self) -> &'static [&'static str] {
        &["--seed"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        let packets = if options.quick { 20_000 } else { 200_000 };
        sink.ahead(MIXES.len() as u64);
        for mix in &MIXES {
            sink.step(mix.name);
            for row in measure(mix, packets, options.seed)? {
                sink.row(row)?;
            }
        }
        sink.note("the flood's flows collide under the XOR fold, which anyone can compute; under a keyed hash they do not");
        Ok(())
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        let of = |metric: &str, title: &str| {
            let rows = rows.iter().filter(|row| row.text("metric") == metric);
            Table::pivot(title, rows, ("traffic", "lookup"))
        };
        vec![
            of("examined_mean", "Entries examined per packet, mean"),
            of("examined_p99", "99th percentile"),
            of("examined_worst", "Worst"),
            of("cache_hit_rate", "Answered by a cache of one entry, per cent"),
            of("bytes", "Bytes of entries and tables"),
        ]
    }
}

/// The lookups that find a key as soon as it is inserted and need nothing but the key; chains by either hash.
fn choices() -> Vec<(Strategy, HashKind)> {
    let fit = Strategy::ALL.into_iter().filter(|s| !s.needs_index() && !s.must_freeze());
    let mut choices: Vec<_> = fit.map(|strategy| (strategy, HashKind::Keyed)).collect();
    choices.push((Strategy::Sequent, HashKind::XorFold));
    choices
}

fn measure(mix: &Mix, packets: usize, seed: u64) -> Result<Vec<Row>, LabError> {
    let mut subjects: Vec<Subject<AnyLocator<Ipv4Connection>>> = Vec::new();
    // In no order that would put those who send much to either end of a list. Its seed is another than that by which some are
    // popular, or it would be theirs.
    let mut present: Vec<u32> = (0..mix.present).collect();
    present.shuffle(&mut generator(Random::new(seed).next()));
    for (strategy, hash) in choices() {
        let config = LocatorConfig { chains: CHAINS, hash, ..LocatorConfig::seeded(seed) };
        let mut subject = Subject::new(strategy.locator(config)?);
        subject.fill(present.iter().copied(), key)?;
        subjects.push(subject);
    }
    let warm = seconds(WARM);
    let events = until_counted((mix.events)(seed), warm, packets);
    drive(&mut subjects, events, warm, key)?;
    let rows = choices().into_iter().zip(&subjects).flat_map(|((strategy, hash), subject)| {
        let lookup = match hash {
            HashKind::Keyed => strategy.name().to_owned(),
            _ => format!("{}, {}", strategy.name(), hash.name()),
        };
        figures(subject).map(|(metric, unit, value)| {
            let row = Row::new("mixes", metric, unit, (value * 1000.0).round() / 1000.0);
            let row = row.with("traffic", mix.name).with("lookup", lookup.clone());
            let chained = matches!(strategy, Strategy::Sequent | Strategy::ChainsMoveToFront);
            if chained { row.with("hash", hash.name()).with("chains", CHAINS) } else { row }
        })
    });
    Ok(rows.collect())
}

fn figures(subject: &Subject<AnyLocator<Ipv4Connection>>) -> [(&'static str, &'static str, f64); 5] {
    let total = subject.costs.total();
    [
        ("examined_mean", "entries", total.mean()),
        ("examined_p99", "entries", total.quantile(0.99) as f64),
        ("examined_worst", "entries", total.worst() as f64),
        ("cache_hit_rate", "%", 100.0 * total.hit_rate()),
        ("bytes", "bytes", subject.locator.bytes() as f64),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_is_one() {
        for mix in &MIXES {
            assert_eq!((mix.events)(u64::MAX).take(100).count(), 100, "{}", mix.name);
        }
    }
}
