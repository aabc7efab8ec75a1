//! Streams are ordered and repeatable, and have the statistics that they promise.

use std::collections::{HashMap, HashSet};

use throughline_demux::{AnyLocator, Examined, HashKind, Ipv4Connection, KeyHash, LocatorConfig, Strategy};

use super::*;

type Make = fn(u64) -> Stream;

const ALL: [(&str, Make); 9] = [
    ("tpc-a", |seed| Box::new(TpcA::default().events(seed))),
    ("independent", |seed| Box::new(TpcA { waits: false, ..TpcA::default() }.events(seed))),
    ("fixed", |seed| Box::new(TpcA { think: Think::Fixed(10.0), ..TpcA::default() }.events(seed))),
    ("polling", |seed| Box::new(Polling { delay: 1.0, ..Polling::default() }.events(seed))),
    ("trains", |seed| Box::new(Trains::default().events(seed))),
    ("popularity", |seed| Box::new(Popularity::default().events(seed))),
    ("churn", |seed| Box::new(Churn::default().events(seed))),
    ("scan", |seed| Box::new(Scan { first: 7, rate: 100.0 }.events(seed))),
    ("flood", |seed| Box::new(Flood { first: 7, flows: 50, rate: 100.0 }.events(seed))),
];

#[test]
fn in_order_and_repeatable() {
    for (name, make) in ALL {
        let some = |seed| make(seed).take(20_000).collect::<Vec<_>>();
        let packets = some(1);
        assert_eq!(packets.len(), 20_000, "{name}");
        assert!(packets.is_sorted_by_key(|packet| packet.time), "{name}");
        assert_eq!(packets, some(1), "{name}");
        assert_ne!(packets, some(2), "{name}");
    }
}

#[test]
fn at_the_same_moment_streams_come_in_the_order_given() {
    for streams in [2, 3, 7] {
        let at = |flow| (1..=4).map(move |time| Event { time, flow, kind: Kind::Data });
        let merged = together((0..streams).map(|flow| Box::new(at(flow)) as Stream));
        let flows: Vec<u32> = merged.map(|packet| packet.flow).collect();
        assert_eq!(flows, Vec::from_iter((0..streams).cycle().take(4 * streams as usize)));
    }
}

#[test]
fn as_many_are_counted_as_are_wanted() {
    let at = |time| Event { time, flow: 0, kind: Kind::Data };
    let came = |warm, packets| until_counted((0..100).map(at), warm, packets).count();
    assert_eq!([came(0, 7), came(10, 7), came(10, 1), came(99, 1), came(10, 0)], [7, 17, 11, 100, 0]);
}

/// Numbers and times that are as large as they can be stay so, or begin anew.
#[test]
fn streams_have_no_end() {
    let scan: Vec<u32> =
        Scan { first: u32::MAX - 1, rate: 100.0 }.events(1).map(|packet| packet.flow).take(4).collect();
    assert_eq!(scan, [u32::MAX - 1, u32::MAX, 0, 1]);
    // Nanoseconds have 585 years.
    let rare: Vec<Event> =
        Polling { interval: 3e8, delay: 10.0, ..Polling::default() }.events(1).take(200).collect();
    assert!(rare.len() == 200 && rare.is_sorted_by_key(|packet| packet.time));
}

#[test]
fn users_rate_and_think_time() {
    let (packets, response) = (400_000, 0.5);
    let all: Vec<Event> = TpcA { response, ..TpcA::default() }.events(3).take(packets).collect();
    let seconds = all[packets - 1].time as f64 / 1e9;
    // A transaction in 10.5 s, less what the truncation cuts off: 100 e^-10 / (1 - e^-10) of the mean.
    let cycle = 10.0 - 100.0 * (-10f64).exp() / -(-10f64).exp_m1() + response;
    let expected = 2.0 * 2000.0 / cycle;
    assert!((packets as f64 / seconds / expected - 1.0).abs() < 0.01);
    let mut last: HashMap<u32, Event> = HashMap::new();
    for packet in all {
        if let Some(before) = last.insert(packet.flow, packet) {
            let gap = packet.time - before.time;
            match packet.kind {
                Kind::Acknowledgement => assert_eq!((before.kind, gap), (Kind::Entry, 500_000_000)),
                Kind::Entry => assert!(before.kind == Kind::Acknowledgement && gap <= 100_000_000_000),
                _ => panic!("{packet:?}"),
            }
        }
    }
}

#[test]
fn times_are_truncated_wherever_that_is() {
    // Of an exponential time of mean 1 that is at most `max`, the mean.
    let expected = |max: f64| 1.0 - max * (-max).exp() / -(-max).exp_m1();
    for max in [0.01, 0.5, 0.999, 1.0, 3.0] {
        let mut generator = generator(9);
        let think = Think::Exponential { mean: 1.0, max };
        let times: Vec<f64> = (0..50_000).map(|_| think.draw(&mut generator) as f64 / 1e9).collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        assert!((mean / expected(max) - 1.0).abs() < 0.02, "{max}: {mean}");
        assert!(times.iter().all(|time| *time <= max), "{max}");
    }
    let never = TpcA { think: Think::Exponential { mean: 1.0, max: 0.0 }, ..TpcA::default() };
    assert_eq!(never.events(1).take(100).count(), 100);
}

#[test]
fn users_who_do_not_wait_overlap_at_times() {
    let traffic = TpcA { waits: false, response: 2.0, ..TpcA::default() };
    let packets: Vec<Event> = traffic.events(4).take(200_000).collect();
    let seconds = packets[199_999].time as f64 / 1e9;
    assert!((200_000.0 / seconds / 400.0 - 1.0).abs() < 0.02, "0.1 transactions a second each");
    let overlapping = packets.iter().filter(|packet| packet.kind == Kind::Overlapping).count();
    // An entry has none before it within 2 s with probability e^-0.2; its acknowledgement none after it either.
    let expected = 1.0 - f64::midpoint((-0.2f64).exp(), (-0.4f64).exp());
    assert!((overlapping as f64 / 200_000.0 - expected).abs() < 0.01, "{overlapping}");
}

#[test]
fn polls_go_round() {
    let packets: Vec<Event> = Polling::default().events(5).take(4_000).collect();
    assert!(packets.iter().enumerate().all(|(n, packet)| packet.flow == n as u32 % 2000));
}

#[test]
fn trains_have_their_length() {
    let packets: Vec<Event> = Trains { rate: 0.01, ..Trains::default() }.events(6).take(100_000).collect();
    // So few trains that hardly any two meet.
    let trains = packets.windows(2).filter(|pair| pair[0].flow != pair[1].flow).count();
    assert!((100_000.0 / trains as f64 / 64.0 - 1.0).abs() < 0.15, "{trains} trains");
}

#[test]
fn the_most_popular_flow_of_two_thousand() {
    let mut counts: HashMap<u32, u32> = HashMap::new();
    for packet in Popularity::default().events(7).take(100_000) {
        *counts.entry(packet.flow).or_default() += 1;
    }
    let most = f64::from(*counts.values().max().unwrap()) / 100_000.0;
    // One over the harmonic number of 2,000.
    assert!((most - 1.0 / 8.178).abs() < 0.005, "{most}");
    for (exponent, bits) in [(1.0 - 1e-15, 16), (1.0 + 1e-15, 16), (1.0 + 1e-15, 20), (1.0 + 1e-12, 20)] {
        let close = Popularity { exponent, flows: 1 << bits, ..Popularity::default() };
        assert_eq!(close.events(7).take(100_000).count(), 100_000, "{exponent}, 2^{bits} flows");
    }
}

#[test]
fn floods_of_their_own_have_keys_of_their_own_that_collide() {
    let fold = |flow: u32| HashKind::XorFold.with_seed(0).hash(&keys::colliding(flow));
    let firsts = (0..100).map(|kind| kind << 24 | 77_777);
    assert_eq!(firsts.clone().map(keys::colliding).collect::<HashSet<_>>().len(), 100);
    assert!(firsts.map(fold).all(|hash| hash == fold(0)));
}

#[test]
fn connections_open_before_they_close() {
    let mut open = HashSet::new();
    for packet in Churn::default().events(8).take(200_000) {
        match packet.kind {
            Kind::Open => assert!(open.insert(packet.flow)),
            Kind::Close => assert!(open.remove(&packet.flow)),
            _ => assert!(open.contains(&packet.flow)),
        }
        assert!(open.len() <= 2000);
    }
    for packets in [0.0, 1.0, 8.0] {
        let expected = 2000.0 * (packets + 1.0) / (packets + 2.0);
        let mut open = 0;
        let mut after = |packet: Event| {
            open += i32::from(packet.kind == Kind::Open) - i32::from(packet.kind == Kind::Close);
            f64::from(open)
        };
        let all = Churn { packets, ..Churn::default() }.events(8);
        let open: Vec<f64> = all.take(300_000).map(&mut after).skip(100_000).collect();
        let mean = open.iter().sum::<f64>() / open.len() as f64;
        assert!((mean / expected - 1.0).abs() < 0.02, "{packets}: {mean} of {expected} open");
    }
}

#[test]
fn as_many_come_as_the_rate_says() {
    for rate in [1e-3, 1.0, 1e8, 1e9] {
        let last = Scan { first: 0, rate }.events(3).take(100_000).last().unwrap();
        let measured = 100_000.0 / (last.time as f64 / 1e9);
        assert!((measured / rate - 1.0).abs() < 0.02, "{measured} for {rate}");
    }
}

#[test]
fn strays_are_all_new_and_floods_go_round() {
    let strays = Scan { first: 7, rate: 100.0 }.events(1).take(1000);
    assert!(strays.map(|packet| packet.flow).eq(7..1007));
    let flood = Flood { first: 7, flows: 50, rate: 100.0 }.events(1).take(100);
    assert!(flood.map(|packet| packet.flow).eq((7..57).chain(7..57)));
}

#[test]
fn without_flows_nothing_comes() {
    assert_eq!(TpcA { users: 0, ..TpcA::default() }.events(1).count(), 0);
    assert_eq!(Polling { clients: 0, ..Polling::default() }.events(1).count(), 0);
    assert_eq!(Trains { flows: 0, ..Trains::default() }.events(1).count(), 0);
    assert_eq!(Popularity { flows: 0, ..Popularity::default() }.events(1).count(), 0);
    assert_eq!(Churn { connections: 0, ..Churn::default() }.events(1).count(), 0);
    assert_eq!(Flood { first: 0, flows: 0, rate: 1.0 }.events(1).count(), 0);
}

#[test]
fn tallies() {
    let mut tally = Tally::default();
    for entries in 1..=100 {
        tally.add(true, Examined { entries, cache_hit: entries == 1 });
    }
    tally.merge(&Tally::default());
    assert_eq!((tally.lookups(), tally.entries(), tally.mean()), (100, 5050, 50.5));
    assert_eq!((tally.quantile(0.99), tally.quantile(0.5), tally.worst()), (99, 50, 100));
    assert_eq!((tally.hit_rate(), tally.found()), (0.01, 100));
    assert_eq!((Tally::default().worst(), Tally::default().quantile(0.99)), (0, 0));
}

#[test]
fn connections_come_and_go_in_every_locator() {
    let make = |strategy: Strategy| Subject::new(strategy.locator(LocatorConfig::seeded(1)).unwrap());
    // Those that find a key as soon as it is inserted, and need nothing but the key.
    let fit = |strategy: &Strategy| !strategy.needs_index() && !strategy.must_freeze();
    let mut subjects: Vec<_> = Strategy::ALL.into_iter().filter(fit).map(make).collect();
    let churn = Churn { connections: 200, ..Churn::default() };
    let scan = Scan { first: 1 << 24, rate: 10.0 };
    let both = together([Box::new(churn.events(1)) as Stream, Box::new(scan.events(2))]);
    drive(&mut subjects, both.take(20_000), 0, keys::terminal).unwrap();
    let found = |subject: &Subject<AnyLocator<Ipv4Connection>>| {
        subject.costs.kinds().map(|(kind, tally)| (kind, tally.lookups(), tally.found())).collect::<Vec<_>>()
    };
    let first = found(&subjects[0]);
    for (kind, lookups, found) in &first {
        let expected = if matches!(kind, Kind::Open | Kind::Stray) { 0 } else { *lookups };
        assert_eq!(*found, expected, "{kind:?}");
    }
    assert!(subjects.iter().all(|subject| found(subject) == first));
}

#[test]
fn floods_hit_the_hash_that_they_know() {
    let make = |hash| {
        let config = LocatorConfig { chains: 100, hash, ..LocatorConfig::seeded(9) };
        Subject::new(Strategy::Sequent.locator(config).unwrap())
    };
    let mut subjects = [HashKind::XorFold, HashKind::Keyed].map(make);
    let flood = Flood { first: 0, flows: 2000, rate: 100.0 };
    drive(&mut subjects, flood.events(1).take(20_000), 0, keys::colliding).unwrap();
    let mean = |at: usize| subjects[at].costs.of(Kind::Data).mean();
    assert!(mean(0) > 900.0, "all in one chain: {}", mean(0));
    assert!(mean(1) < 15.0, "{}", mean(1));
}
