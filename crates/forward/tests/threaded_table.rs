//! Whatever index a packet carries, it goes where the longest-prefix lookup sends it.

use std::net::{Ipv4Addr, Ipv6Addr};

use ip_network_table_deps_treebitmap::{IpLookupTable, address::Address as TreeAddress};
use proptest::prelude::*;
use throughline_forward::threaded::{Address, NO_INDEX, Prefix, Route, Table};
use throughline_stack::smoltcp::time::{Duration, Instant};

const REST: Duration = Duration::from_secs(240);

fn prefix(address: [u8; 4], length: u8) -> Prefix<Ipv4Addr> {
    Prefix::around(address.into(), length).unwrap()
}

fn route<A: Address>(port: u16, next_index: u32) -> Route<A> {
    Route { port, next_hop: None, next_index, indexed: true }
}

#[test]
fn an_index_leads_to_its_entry_only() {
    let mut table = Table::<Ipv4Addr, 16>::new(REST);
    let gateway = Ipv4Addr::new(10, 9, 0, 1);
    let way = Route { next_hop: Some(gateway), ..route(3, 640) };
    let index = table.insert(prefix([10, 1, 0, 0], 16), way, Instant::ZERO);
    let step = table.step(index, [10, 1, 2, 3].into()).unwrap();
    assert_eq!((step.port(), step.next_index()), (3, 640));
    assert_eq!(table.next_hop(index), Some(gateway));
    assert_eq!(table.step(index, [10, 2, 2, 3].into()), None, "another destination");
    assert_eq!(table.step(index + 1, [10, 1, 2, 3].into()), None, "another index");
    assert_eq!(table.step(NO_INDEX, [0, 0, 0, 0].into()), None);
    assert_eq!(table.counts().refused, 3);
}

#[test]
fn a_longer_prefix_within_closes_the_entry_while_it_is_there() {
    let mut table = Table::<Ipv4Addr, 16>::new(REST);
    let (outer, inner) = (prefix([10, 0, 0, 0], 8), prefix([10, 1, 0, 0], 16));
    let index = table.insert(outer, route(1, 0), Instant::ZERO);
    let within = Route { indexed: false, ..route(2, 0) };
    table.insert(inner, within, Instant::ZERO);
    assert_eq!(table.follow(index, [10, 1, 0, 1].into()), None);
    assert_eq!(table.follow(index, [10, 2, 0, 1].into()), None, "closed for all, which is one comparison");
    table.remove(inner, Instant::ZERO);
    assert_eq!(table.follow(index, [10, 1, 0, 1].into()).unwrap().port(), 1);
    assert_eq!(table.index_of(outer), index);
}

#[test]
fn indices_given_back_rest() {
    let mut table = Table::<Ipv4Addr, 2>::new(REST);
    let (one, two) = (prefix([10, 1, 0, 0], 16), prefix([10, 2, 0, 0], 16));
    let index = table.insert(one, route(1, 0), Instant::ZERO);
    assert_ne!(index, NO_INDEX);
    table.remove(one, Instant::from_secs(10));
    assert_eq!(table.follow(index, [10, 1, 0, 1].into()), None);
    assert_eq!(table.insert(two, route(1, 0), Instant::from_secs(100)), NO_INDEX);
    assert_eq!(table.counts().without_index, 1);
    assert_eq!(table.insert(two, route(1, 0), Instant::from_secs(250)), index);
}

/// Changes and packets: addresses are few, so that prefixes lie within each other.
#[derive(Clone, Debug)]
enum Event {
    Insert(u128, u8, u16, bool),
    Remove(usize),
    Packet(u32, u128),
}

fn event() -> impl Strategy<Value = Event> {
    let address = || {
        prop_oneof![
            3 => any::<u128>(),
            // The first octets and the last ones from few values.
            5 => (0_u128..4, 0_u128..4).prop_map(|(a, b)| a << 120 | b << 96 | b),
            1 => Just(0),
            1 => Just(u128::MAX),
        ]
    };
    prop_oneof![
        4 => (address(), any::<u8>(), any::<u16>(), any::<bool>()).prop_map(|(a, l, p, i)| Event::Insert(a, l, p, i)),
        1 => any::<usize>().prop_map(Event::Remove),
        8 => (prop_oneof![any::<u32>(), 0_u32..64], address())
            .prop_map(|(i, a)| Event::Packet(i, a)),
    ]
}

fn same_as_lookup<A: Address + TreeAddress>(
    events: &[Event],
    cut: fn(u128) -> A,
) -> Result<(), TestCaseError> {
    let mut table = Table::<A, 32>::new(Duration::from_secs(2));
    let mut plain = IpLookupTable::<A, Route<A>>::new();
    let mut prefixes = Vec::new();
    for (second, event) in events.iter().enumerate() {
        let now = Instant::from_secs(second as i64);
        match *event {
            Event::Insert(address, length, port, indexed) => {
                let prefix = Prefix::around(cut(address), length % (A::BITS + 1)).unwrap();
                let route = Route { indexed, ..route(port, port.into()) };
                table.insert(prefix, route, now);
                plain.insert(prefix.address(), prefix.length().into(), route);
                prefixes.push(prefix);
            }
            Event::Remove(which) if !prefixes.is_empty() => {
                let prefix = prefixes.swap_remove(which % prefixes.len());
                let known = plain.remove(prefix.address(), prefix.length().into()).is_some();
                prop_assert_eq!(table.remove(prefix, now), known);
            }
            Event::Packet(index, address) => same_step(&table, &plain, index, cut(address))?,
            Event::Remove(_) => {}
        }
    }
    // What has an index, and nothing within it, is reached by it.
    for (prefix, route, index) in table.routes().filter(|(_, _, index)| *index != NO_INDEX) {
        same_step(&table, &plain, index, prefix.address())?;
        let alone = !table.routes().any(|(other, ..)| other != prefix && prefix.covers(other));
        let step = table.follow(index, prefix.address());
        prop_assert_eq!(step.map(|step| step.port()), alone.then_some(route.port));
    }
    Ok(())
}

fn same_step<A: Address + TreeAddress>(
    table: &Table<A, 32>,
    plain: &IpLookupTable<A, Route<A>>,
    index: u32,
    destination: A,
) -> Result<(), TestCaseError> {
    let found = plain.longest_match(destination).map(|(_, _, route)| *route);
    prop_assert_eq!(table.find(destination).map(|(_, route, _)| route), found);
    if let Some(step) = table.follow(index, destination) {
        prop_assert_eq!(Some((step.port(), step.next_index())), found.map(|way| (way.port, way.next_index)));
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_index_decides_as_the_lookup_does_v4(events in prop::collection::vec(event(), 1..120)) {
        same_as_lookup::<Ipv4Addr>(&events, |bits| Ipv4Addr::from((bits >> 96) as u32))?;
    }

    #[test]
    fn any_index_decides_as_the_lookup_does_v6(events in prop::collection::vec(event(), 1..120)) {
        same_as_lookup::<Ipv6Addr>(&events, Ipv6Addr::from)?;
    }
}
