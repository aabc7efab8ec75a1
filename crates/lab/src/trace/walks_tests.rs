//! Walks told by distance are those of the lists themselves.

use std::collections::BTreeMap;

use throughline_demux::{Examined, HashKind, Locator, LocatorConfig, Slot, Strategy};

use super::live::{Arrival, Live};
use super::options::Options;
use super::tally::Tally;
use super::walks::Walks;
use crate::random::Random;

/// The library's own locator, walked.
struct Real {
    locator: throughline_demux::AnyLocator<u64>,
    examined: Tally,
    hits: u64,
}

/// Flows come, go and are looked up: in trains, at random, and once only.
fn packets(random: &mut Random, batch: u64, number: &mut u64) -> Vec<Arrival<u64>> {
    let mut all = Vec::new();
    while all.len() < 200 {
        let span = 1 + random.below(400);
        let key = batch * 7 + u64::from(random.below(span) / 2);
        for _ in 0..1 + random.below(6) / 4 * random.below(8) {
            *number += 1;
            all.push(Arrival { key, reversed: false, bits: 0, time: *number / 4, number: *number });
        }
    }
    all
}

#[test]
fn walks_are_those_of_the_lists() {
    for chains in [1, 2, 19, 100, 300] {
        let options = Options { flows: 5000, idle: 300, chains, seed: 7, ..Options::default() };
        let mut live = Live::new(&options).unwrap();
        let mut walks = Walks::new(live.counts_chains());
        let config = LocatorConfig { chains, hash: HashKind::Keyed, ..LocatorConfig::seeded(7) };
        let mut lists: BTreeMap<&str, Real> = Strategy::ALL
            .into_iter()
            .filter(|strategy| strategy.is_list())
            .map(|strategy| (strategy.name(), strategy.locator(config).unwrap()))
            .map(|(name, locator)| (name, Real { locator, examined: Tally::default(), hits: 0 }))
            .collect();
        let (mut random, mut number) = (Random::new(5), 0);
        for batch in 0..60 {
            let packets = packets(&mut random, batch, &mut number);
            let mut found = Vec::new();
            live.arrive(&packets, &mut found);
            for (packet, found) in packets.iter().zip(&found) {
                walks.add(found);
                for real in lists.values_mut() {
                    let (slot, Examined { entries, cache_hit }) = real.locator.find_counted(&packet.key);
                    assert_eq!(slot, (!found.new).then_some(Slot(found.slot)));
                    if found.new {
                        real.locator.insert_new(packet.key, Slot(found.slot)).unwrap();
                    }
                    real.examined.add(entries);
                    real.hits += u64::from(cache_hit);
                }
            }
            let mut gone = |key, _, _, _| {
                lists.values_mut().for_each(|real| assert!(real.locator.remove(&key).is_some()));
            };
            live.expire(number / 4, &mut gone);
            live.evict(live.len().saturating_sub(4_800), u64::MAX, &mut gone);
        }
        assert!((100..3000).contains(&live.len()), "flows came and went: {}", live.len());
        let told: Vec<_> = walks.walked().collect();
        assert_eq!(told.len(), 5);
        for told in told {
            let real = &lists[told.strategy.name()];
            assert_eq!((&told.examined, told.cache_hits), (&real.examined, real.hits), "{}", told.strategy);
            assert!(real.examined.mean() > 1.0, "{}, {chains} chains", told.strategy);
        }
    }
}
