//! Distance vectors over RIPng: four routers in a row, in virtual time.

use std::collections::{BTreeMap, VecDeque};

use throughline_forward::{
    routing::{
        Action, DistanceVector, DistanceVectorConfig, Heard, Interface, Learned, Reason, Routing,
        rip::{Command, RIPNG_PORT, RouteEntry, Version, read_ng, write_ng},
    },
    threaded::NO_INDEX,
};
use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::{IpAddress, IpCidr, Ipv6Address},
};

const ROUTERS: usize = 4;

/// Router n has interface 0 to router n - 1 and interface 1 to router n + 1.
struct Row {
    routers: Vec<DistanceVector>,
    routes: Vec<BTreeMap<IpCidr, Learned>>,
    /// Whether the link behind each router carries.
    carries: [bool; ROUTERS],
    /// What was said on links since this was last emptied: by whom, by which interface, the port and the octets.
    said: Vec<(usize, u16, u16, Vec<u8>)>,
    now: Instant,
}

fn address(router: usize, interface: u16) -> IpAddress {
    Ipv6Address::new(0xfe80, 0, 0, 0, 0, 0, router as u16, interface + 1).into()
}

fn prefix(number: u16) -> IpCidr {
    IpCidr::new(Ipv6Address::new(0xfd00, number, 0, 0, 0, 0, 0, 0).into(), 48)
}

impl Row {
    fn new() -> Self {
        let router = |n| {
            let interface = |at| Interface::new(IpCidr::new(address(n, at), 64));
            let interfaces = vec![interface(0), interface(1)];
            DistanceVector::new(DistanceVectorConfig::new(Version::RipNg, n as u32 + 1, interfaces))
        };
        let mut row = Self {
            routers: (0..ROUTERS).map(router).collect(),
            routes: vec![BTreeMap::new(); ROUTERS],
            carries: [true; ROUTERS],
            said: Vec::new(),
            now: Instant::from_secs(1),
        };
        for n in 0..ROUTERS {
            row.routers[n].originate(prefix(n as u16), 1, row.now);
        }
        row
    }

    fn run(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.now += Duration::from_secs(1);
            let mut turns: VecDeque<usize> = (0..ROUTERS).collect();
            while let Some(n) = turns.pop_front() {
                let mut actions = Vec::new();
                self.routers[n].poll(self.now, &mut actions);
                if !actions.is_empty() {
                    turns.push_back(n);
                }
                actions.into_iter().for_each(|action| self.act(n, action));
            }
        }
    }

    fn act(&mut self, n: usize, action: Action) {
        match action {
            Action::Use(learned) => drop(self.routes[n].insert(learned.prefix, learned)),
            Action::Forget(prefix) => assert!(self.routes[n].remove(&prefix).is_some()),
            Action::Send { interface, port, from_port, bytes, .. } => {
                self.said.push((n, interface, port, bytes.clone()));
                let (link, other) =
                    if interface == 0 { (n.wrapping_sub(1), n.wrapping_sub(1)) } else { (n, n + 1) };
                if other < ROUTERS && self.carries[link] {
                    let from = address(n, interface);
                    let heard = Heard { interface: 1 - interface, from, from_port, port, hop_limit: 255 };
                    self.routers[other].receive(&heard, &bytes, self.now);
                }
            }
        }
    }

    /// Somebody on the link before router 0 tells it a route.
    fn tells(&mut self, heard: Heard, entry: RouteEntry) {
        let bytes = write_ng(Command::Response, &[entry]).remove(0);
        self.routers[0].receive(&heard, &bytes, self.now);
        self.run(1);
    }

    fn refused(&self, reason: Reason) -> u64 {
        self.routers[0].refusals().of(reason)
    }
}

fn stranger() -> Heard {
    let (from_port, port) = (RIPNG_PORT, RIPNG_PORT);
    Heard { interface: 0, from: address(99, 0), from_port, port, hop_limit: 255 }
}

fn route(number: u16, metric: u8) -> RouteEntry {
    RouteEntry { prefix: prefix(number), next_hop: None, tag: 0, metric }
}

#[test]
fn routes_go_both_ways_along_a_row_and_a_withdrawn_one_goes() {
    let mut row = Row::new();
    row.run(30);
    for n in 0..ROUTERS {
        for to in (0..ROUTERS).filter(|to| *to != n) {
            let learned = row.routes[n][&prefix(to as u16)];
            let (interface, next) = if to > n { (1, address(n + 1, 0)) } else { (0, address(n - 1, 1)) };
            let expected = Learned {
                prefix: prefix(to as u16),
                next_hop: next,
                interface,
                metric: n.abs_diff(to) as u32 + 1,
                next_index: NO_INDEX,
            };
            assert_eq!(learned, expected, "router {n}");
        }
    }
    let now = row.now;
    row.routers[3].withdraw(prefix(3), now);
    // Triggered updates, of at most 5 s each.
    row.run(3 * 5 + 1);
    assert!(row.routes.iter().all(|routes| !routes.contains_key(&prefix(3))));
    assert_eq!(row.routes[0].len(), 2);
}

#[test]
fn a_silent_link_is_noticed_after_the_timeout() {
    let mut row = Row::new();
    row.run(30);
    row.carries[1] = false;
    row.run(100);
    assert_eq!(row.routes[0].len(), 3, "nobody has said anything");
    row.run(180 + 35 + 2 * 5 - 100);
    assert_eq!(row.routes[0].keys().copied().collect::<Vec<_>>(), [prefix(1)]);
    row.carries[1] = true;
    row.run(45);
    assert_eq!(row.routes[0].len(), 3);
}

#[test]
fn what_was_learned_by_a_link_is_told_there_as_infinitely_far() {
    let mut row = Row::new();
    row.run(40);
    row.said.clear();
    row.run(40);
    let told = |by: (usize, u16)| {
        let updates = row.said.iter().filter(|(n, at, port, _)| (*n, *at) == by && *port == RIPNG_PORT);
        let entries = updates.flat_map(|(.., bytes)| read_ng(bytes).unwrap().entries);
        entries
            .map(|entry| entry.map(|entry| (entry.prefix, entry.metric)).unwrap())
            .collect::<BTreeMap<_, _>>()
    };
    let all = |metrics: [u8; 4]| (0..).map(prefix).zip(metrics).collect::<BTreeMap<_, _>>();
    assert_eq!(told((1, 0)), all([16, 1, 2, 3]));
    assert_eq!(told((1, 1)), all([2, 1, 16, 16]));
}

#[test]
fn more_routes_than_a_message_holds() {
    let mut row = Row::new();
    let now = row.now;
    (1_000..1_200).for_each(|number| row.routers[0].originate(prefix(number), 1, now));
    row.run(30);
    assert_eq!(row.routes[3].len(), 203);
    let longest = row.said.iter().map(|(.., bytes)| bytes.len()).max().unwrap();
    assert!((1_000..=1_280 - 48).contains(&longest), "{longest} octets");
}

#[test]
fn indices_are_told_beside_the_routes() {
    let mut row = Row::new();
    row.run(30);
    let now = row.now;
    row.routers[1].assigned(prefix(1), 77, now);
    row.run(6);
    assert_eq!(row.routes[0][&prefix(1)].next_index, 77);
    row.routers[1].assigned(prefix(1), NO_INDEX, now);
    row.run(6);
    assert_eq!(row.routes[0][&prefix(1)].next_index, NO_INDEX);
}

#[test]
fn only_neighbours_on_the_link_are_believed() {
    let mut row = Row::new();
    row.run(30);
    // Passed on by a router, from elsewhere, from a user's port.
    row.tells(Heard { hop_limit: 254, ..stranger() }, route(7, 1));
    row.tells(
        Heard { from: Ipv6Address::new(0xfd00, 0, 0, 0, 0, 0, 0, 1).into(), ..stranger() },
        route(7, 1),
    );
    row.tells(Heard { from: address(0, 0), ..stranger() }, route(7, 1));
    row.tells(Heard { from_port: 1_521, ..stranger() }, route(7, 1));
    let reasons = [Reason::HopLimit, Reason::NotANeighbor, Reason::Port].map(|reason| row.refused(reason));
    assert_eq!(reasons, [1, 2, 1]);
    assert_eq!(row.routes[0].len(), 3);
    // A neighbour without indices may tell whatever it likes, though not by a way that leads back to us.
    row.tells(stranger(), RouteEntry { next_hop: Some(address(0, 0)), ..route(7, 1) });
    assert_eq!((row.refused(Reason::NextHop), row.routes[0].len()), (0, 4));
}

#[test]
fn others_may_be_named_as_the_next_hop() {
    let mut row = Row::new();
    row.run(30);
    // The entry that names it is followed by those it is for (RFC 2080, 2.1.1).
    let hop = |address: IpAddress| {
        let IpAddress::Ipv6(address) = address else { panic!("IPv6 only") };
        [&address.octets()[..], &[0, 0, 0, 0xff]].concat()
    };
    let tell = |row: &mut Row, next: IpAddress, number| {
        let mut bytes = write_ng(Command::Response, &[route(number, 3)]).remove(0);
        bytes.splice(4..4, hop(next));
        let now = row.now;
        row.routers[0].receive(&stranger(), &bytes, now);
        row.run(1);
    };
    tell(&mut row, address(50, 0), 7);
    let learned = row.routes[0][&prefix(7)];
    assert_eq!((learned.next_hop, learned.metric), (address(50, 0), 4));
    tell(&mut row, address(0, 0), 8);
    assert_eq!(row.refused(Reason::NextHop), 1);
    assert!(!row.routes[0].contains_key(&prefix(8)));
}

#[test]
fn a_request_is_answered_to_the_port_it_came_from() {
    let mut row = Row::new();
    row.run(30);
    row.said.clear();
    let now = row.now;
    let ask = Heard { from_port: 4_444, ..stranger() };
    for _ in 0..100 {
        row.routers[0].receive(&ask, &write_ng(Command::Request, &[])[0], now);
    }
    let mut actions = Vec::new();
    row.routers[0].poll(now, &mut actions);
    let to_it = |action: &Action| matches!(action, Action::Send { to, port: 4_444, .. } if *to == ask.from);
    assert_eq!(actions.iter().filter(|action| to_it(action)).count(), 16);
    assert_eq!(row.refused(Reason::TooOften), 84);
}
