//! Areas: threaded indices inside, source hashes between them, one bit of the label telling which.

mod line;
mod network;
mod packets;

use std::net::IpAddr;

use line::{Line, Setting};
use proptest::prelude::*;
use throughline_forward::{Assignment, Label, Packet, PortId, PortLabels, Route, Router, threaded::NO_INDEX};
use throughline_stack::smoltcp::{time::Duration, wire::IpCidr};
use throughline_wire::Flow;

/// Networks 0 to 2 and their routers are one area, network 3 is another, and router 2 is between them.
fn areas(outer: PortLabels) -> Line {
    let setting = Setting { outer, inner: PortLabels::KNOWN, inner_mtu: 1500, threaded: true, places: 16 };
    let mut line = Line::new(setting);
    let near: Vec<IpCidr> = (0..3).map(network).collect();
    for router in &mut line.routers[..2] {
        router.set_area(near.clone(), line.now);
    }
    let all = (0..4).map(network).collect();
    line.routers[2].set_area(all, line.now);
    line.run_for(40);
    line
}

fn network(n: u8) -> IpCidr {
    format!("10.0.{n}.0/24").parse().unwrap()
}

fn packet(to: [u8; 4], lives: u8, label: Option<Label>) -> Vec<u8> {
    let [router, sender] = [1, 2].map(|number| network::host(0, number).hardware);
    packets::v4((sender, router), ([10, 0, 0, 2], to), (253, lives), label)
}

/// Of each frame between routers of which the protocol is the packets': whether its label is an index.
fn threaded(line: &Line) -> Vec<bool> {
    let ours = |frame: &Vec<u8>| {
        let packet = Packet::of(frame).unwrap();
        (packet.bytes().get(9) == Some(&253)).then(|| packet.label.unwrap().threaded)
    };
    line.between.iter().filter_map(ours).collect()
}

#[test]
fn the_edge_puts_indices_on_what_stays_and_hashes_on_what_leaves() {
    let mut line = areas(PortLabels { new: Some(Assignment::Random), ..PortLabels::UNKNOWN });
    for n in 0..4 {
        let [first, second, third] =
            [0, 1, 2].map(|router| line.routers[router].index_of(network(n)) != NO_INDEX);
        assert_eq!([first, second, third], [n < 3, n < 3, true], "network {n}");
    }
    let path = line.hosts[0].open("10.0.3.2".parse::<IpAddr>().unwrap(), 7);
    line.hosts[0].send(path, b"neighbours are found");
    line.run();
    assert!(line.hosts[0].received(path).is_some());
    for (to, bit) in [([10, 0, 2, 3], true), ([10, 0, 3, 2], false)] {
        line.between.clear();
        let before = line.routers[1].counts().threaded;
        let hits = line.routers[1].flow_counts(PortId(0)).hits;
        for _ in 0..3 {
            line.enter(0, &packet(to, 64, None));
        }
        // Of network 2, the middle router is the last that has an index.
        let expected: &[bool] = if bit { &[true, false] } else { &[false, false] };
        assert_eq!(threaded(&line), expected.repeat(3), "to {to:?}");
        assert_eq!(line.routers[1].counts().threaded - before, if bit { 3 } else { 0 });
        // The first by source hash was looked up, unless the flow before has had its place.
        let found = line.routers[1].flow_counts(PortId(0)).hits - hits;
        assert!(if bit { found == 0 } else { (2..=3).contains(&found) }, "{found}");
    }
    assert!(line.routers.iter().all(|router| router.thread_counts().unwrap().refused == 0));
}

#[test]
fn an_area_can_be_another_at_any_time() {
    let mut line = areas(PortLabels::KNOWN);
    let now = line.now;
    line.routers[0].set_area(vec![network(0)], now);
    let has = |line: &Line, n| line.routers[0].index_of(network(n)) != NO_INDEX;
    assert_eq!([0, 1, 2, 3].map(|n| has(&line, n)), [true, false, false, false]);
    line.routers[0].set_area((0..4).map(network).collect(), now);
    assert_eq!([0, 1, 2, 3].map(|n| has(&line, n)), [true; 4]);
}

#[test]
fn a_source_is_told_no_index_that_leads_nowhere() {
    let mut line = areas(PortLabels::KNOWN);
    let now = line.now;
    let router = &mut line.routers[0];
    router.set_area(Vec::new(), now);
    let route = Route::Out { port: PortId(1), via: Some([10, 0, 1, 3].into()) };
    let [outer, inner]: [IpCidr; 2] = ["10.9.0.0/16", "10.9.1.0/24"].map(|prefix| prefix.parse().unwrap());
    router.add_route(outer, route).unwrap();
    let told =
        |router: &Router| [[10, 9, 1, 1], [10, 9, 2, 1]].map(|to: [u8; 4]| router.index_for(to.into()));
    assert_eq!(told(router), [router.index_of(outer); 2]);
    // With a longer prefix within, the shorter one's entry is closed.
    router.add_route(inner, route).unwrap();
    assert_eq!(told(router), [router.index_of(inner), NO_INDEX]);
    router.remove_route(inner);
    assert_eq!(told(router), [router.index_of(outer); 2]);
}

#[derive(Clone, Debug)]
enum Step {
    Packet {
        network: u8,
        number: u8,
        lives: u8,
        label: Option<(bool, Option<u8>, u32)>,
    },
    /// A route of the first or the middle router comes or goes.
    Route {
        router: usize,
        network: u8,
        there: bool,
    },
    /// An area becomes another, from this network on.
    Area {
        router: usize,
        from: u8,
    },
    /// Indices that were given back may be others' after 240 seconds.
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let word = prop_oneof![0..12_u32, any::<u32>()];
    let label = prop::option::weighted(0.8, (any::<bool>(), prop::option::of(0..8_u8), word));
    // Mostly to the host at the other end.
    let network = prop::sample::select(vec![3_u8, 3, 3, 3, 0, 1, 2, 4, 5]);
    let number = prop::sample::select(vec![2_u8, 2, 2, 3, 9]);
    let lives = prop::sample::select(vec![64_u8, 64, 64, 1, 2, 3]);
    prop_oneof![
        10 => (network, number, lives, label)
            .prop_map(|(network, number, lives, label)| Step::Packet { network, number, lives, label }),
        2 => (0..2_usize, 4..6_u8, any::<bool>())
            .prop_map(|(router, network, there)| Step::Route { router, network, there }),
        1 => (0..3_usize, 0..4_u8).prop_map(|(router, from)| Step::Area { router, from }),
        1 => prop::sample::select(vec![1_u64, 31, 300]).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// With random, forged and stale indices and hashes, and the bit right or wrong, packets reach whom they reach without labels.
    #[test]
    fn no_bit_and_no_index_changes_a_destination(steps in prop::collection::vec(step(), 1..50)) {
        let mut with = areas(PortLabels::KNOWN);
        let plain = Setting {
            outer: PortLabels::UNKNOWN, inner: PortLabels::UNKNOWN, inner_mtu: 1500, threaded: false, places: 16,
        };
        let mut without = Line::new(plain);
        for line in [&mut with, &mut without] {
            let path = line.hosts[0].open("10.0.3.2".parse::<IpAddr>().unwrap(), 7);
            line.hosts[0].send(path, b"neighbours are found");
            line.run();
            line.reached = [Vec::new(), Vec::new()];
        }
        // What the first router told of its networks at some time.
        let mut told = [NO_INDEX; 8];
        for step in steps {
            for n in 0..8 {
                let index = with.routers[0].index_of(network(n));
                told[usize::from(n)] = if index == NO_INDEX { told[usize::from(n)] } else { index };
            }
            match step {
                Step::Packet { network, number, lives, label } => {
                    let label = label.map(|(threaded, of, word)| {
                        let source_hash = of.map_or(word, |of| told[usize::from(of)]);
                        Label { flow: Flow { id: word.into(), source_hash }, threaded }
                    });
                    let to = [10, 0, network, number];
                    with.enter(0, &packet(to, lives, label));
                    without.enter(0, &packet(to, lives, None));
                }
                Step::Route { router, network: n, there } => {
                    let via = Some([10, 0, router as u8 + 1, 3].into());
                    for line in [&mut with, &mut without] {
                        if there {
                            line.routers[router].add_route(network(n), Route::Out { port: PortId(1), via }).unwrap();
                        } else {
                            line.routers[router].remove_route(network(n));
                        }
                    }
                }
                Step::Area { router, from } => {
                    let now = with.now;
                    with.routers[router].set_area((from..6).map(network).collect(), now);
                }
                Step::Wait(seconds) => {
                    for line in [&mut with, &mut without] {
                        let mut left = seconds;
                        while left > 0 {
                            let step = left.min(10);
                            line.now += Duration::from_secs(step);
                            left -= step;
                            line.run();
                        }
                    }
                }
            }
        }
        let packets = |line: &Line| -> Vec<Vec<u8>> {
            let ours = line.reached[1].iter().map(|frame| Packet::of(frame).unwrap().bytes().to_vec());
            ours.filter(|packet| packet.get(9) == Some(&253)).collect()
        };
        prop_assert_eq!(packets(&with), packets(&without));
    }
}
