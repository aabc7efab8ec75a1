//! Routers of a link agree on the indices of groups.

use throughline_forward::{
    routing::{
        Reason,
        authentication::{Algorithm, Authentication, Key},
    },
    threaded::{
        Groups, GroupsConfig, NO_INDEX,
        message::{Header, Kind, Told, write, write_indices},
    },
};
use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::IpAddress,
};

struct Link {
    routers: Vec<(bool, Groups)>,
    now: Instant,
    refused: Vec<Reason>,
    /// What each has said.
    said: Vec<(usize, Vec<u8>)>,
}

fn address(router: usize) -> IpAddress {
    IpAddress::v4(10, 0, 0, router as u8 + 1)
}

fn group(n: u8) -> IpAddress {
    IpAddress::v4(239, 1, 1, n)
}

impl Link {
    fn new(priorities: &[u8]) -> Self {
        Self::with(priorities, &Authentication::None)
    }

    fn with(priorities: &[u8], authentication: &Authentication) -> Self {
        let router = |(n, priority): (usize, &u8)| {
            let authentication = authentication.clone();
            let usual = GroupsConfig::new(n as u32 + 1, address(n));
            let config = GroupsConfig { priority: *priority, authentication, ..usual };
            (true, Groups::new(config, Instant::ZERO))
        };
        let routers = priorities.iter().enumerate().map(router).collect();
        Self { routers, now: Instant::ZERO, refused: Vec::new(), said: Vec::new() }
    }

    fn run(&mut self, seconds: u64) {
        for _ in 0..seconds * 10 {
            for from in 0..self.routers.len() {
                if !self.routers[from].0 {
                    continue;
                }
                for message in self.routers[from].1.poll(self.now) {
                    self.said.push((from, message.clone()));
                    for (to, (up, router)) in self.routers.iter_mut().enumerate() {
                        if to != from && *up {
                            self.refused.extend(router.receive(address(from), &message, self.now).err());
                        }
                    }
                }
            }
            self.now += Duration::from_millis(100);
        }
    }

    fn groups(&mut self, router: usize) -> &mut Groups {
        &mut self.routers[router].1
    }

    fn designated(&self, router: usize) -> Option<IpAddress> {
        self.routers[router].1.designated(self.now)
    }

    /// Somebody says to the first router what another one has said.
    fn again(&mut self, router: usize, from: IpAddress) -> Vec<Result<(), Reason>> {
        let said: Vec<_> = self.said.iter().filter(|(by, _)| *by == router).cloned().collect();
        let now = self.now;
        said.iter().map(|(_, message)| self.groups(0).receive(from, message, now)).collect()
    }

    /// A router comes, with ports for these groups.
    fn begin(&mut self, priority: u8, groups: &[u8]) {
        let n = self.routers.len();
        let config = GroupsConfig { priority, ..GroupsConfig::new(n as u32 + 1, address(n)) };
        let mut router = Groups::new(config, self.now);
        groups.iter().for_each(|n| router.set_ports(group(*n), 1, self.now));
        self.routers.push((true, router));
    }
}

#[test]
fn the_designated_router_gives_indices_out() {
    let mut link = Link::new(&[1, 5, 5]);
    link.run(20);
    let now = link.now;
    assert!(link.routers.iter().all(|(_, router)| router.designated(now) == Some(address(2))));
    link.groups(0).set_ports(group(1), 0b0010, now);
    link.groups(1).set_ports(group(1), 0b1000, now);
    link.groups(1).set_ports(group(2), 0b0100, now);
    link.run(5);
    let [one, two] = [1, 2].map(|n| link.routers[2].1.index(group(n)));
    assert_ne!(one, two);
    assert!(link.routers.iter().all(|(_, router)| router.index(group(1)) == one && one != NO_INDEX));
    assert_eq!(link.groups(0).follow(one, group(1)), Some(0b0010));
    assert_eq!(link.groups(1).follow(one, group(1)), Some(0b1000));
    assert_eq!(link.groups(1).follow(one, group(2)), None, "another group's");
    assert_eq!(link.groups(1).follow(two, group(2)), link.groups(1).find(group(2)));
    for index in 0..5_000 {
        let found = link.groups(1).follow(index, group(2));
        assert!(found.is_none() || found == Some(0b0100));
    }

    // It goes; the next one keeps what was given out.
    link.routers[2].0 = false;
    link.run(45);
    assert_eq!(link.designated(0), Some(address(1)));
    assert_eq!(link.groups(0).index(group(1)), one);
    assert_eq!(link.groups(0).follow(one, group(1)), Some(0b0010));
    // What nobody wants any more is free again.
    let now = link.now;
    link.groups(1).set_ports(group(2), 0, now);
    link.run(45);
    assert_eq!(link.groups(0).index(group(2)), NO_INDEX);
    assert_eq!(link.groups(0).index(group(1)), one);
}

#[test]
fn who_comes_later_and_is_designated_keeps_what_was_given_out() {
    let mut link = Link::new(&[]);
    link.begin(1, &[7, 8]);
    link.run(20);
    let before = [7, 8].map(|n| link.groups(0).index(group(n)));
    assert!(before[0] != before[1] && !before.contains(&NO_INDEX));
    // It would have given them out in another order, since it has one group more.
    link.begin(5, &[3, 7, 8]);
    link.run(14);
    assert_eq!(link.designated(1), Some(address(0)), "it listens first");
    link.run(20);
    for router in 0..2 {
        assert_eq!(link.designated(router), Some(address(1)));
        assert_eq!([7, 8].map(|n| link.groups(router).index(group(n))), before);
        assert!(!before.contains(&link.groups(router).index(group(3))));
    }
    assert_eq!(link.refused, []);
}

/// Messages cross: who gave indices out until now may not know yet that somebody else does.
#[test]
fn what_was_designated_until_now_is_no_liar() {
    let mut link = Link::new(&[]);
    link.begin(1, &[1]);
    link.run(20);
    link.begin(5, &[]);
    link.run(16);
    assert_eq!(link.designated(1), Some(address(1)));
    let (mut late, now) = (Groups::new(GroupsConfig::new(3, address(2)), Instant::ZERO), link.now);
    late.set_ports(group(9), 1, now);
    let messages = late.poll(now);
    assert_eq!(messages.len(), 2);
    messages.iter().for_each(|message| assert_eq!(link.groups(1).receive(address(2), message, now), Ok(())));
    assert_eq!(link.groups(1).index(group(9)), NO_INDEX, "nothing of it is used");
    // A period later it must have heard.
    link.run(10);
    let now = link.now;
    let messages = late.poll(now);
    assert_eq!(link.groups(1).receive(address(2), &messages[1], now), Err(Reason::NotANeighbor));
}

#[test]
fn only_the_designated_router_is_believed() {
    let mut link = Link::new(&[1, 5]);
    link.run(20);
    let config = GroupsConfig { priority: 9, ..GroupsConfig::new(9, address(8)) };
    let mut liar = Groups::new(config, Instant::ZERO);
    liar.set_ports(group(1), 1, link.now);
    let messages = liar.poll(link.now);
    // It does not say that it would be designated, and gives out indices all the same.
    let now = link.now;
    assert_eq!(link.groups(0).receive(address(8), &messages[1], now), Err(Reason::NotANeighbor));
    assert_eq!(link.groups(0).receive(address(0), &messages[1], now), Err(Reason::OwnId));
    assert_eq!(link.groups(0).receive(address(8), &messages[1][..40], now), Err(Reason::NotANeighbor));
    assert_eq!(link.groups(0).index(group(1)), NO_INDEX);
}

#[test]
fn what_a_router_with_a_key_has_said_is_of_no_use_to_others() {
    let key = Key { id: 1, algorithm: Algorithm::HmacSha256, secret: b"ours".to_vec() };
    let mut link = Link::with(&[1, 5], &Authentication::Keyed(vec![key]));
    link.run(20);
    assert_eq!((link.designated(0), &link.refused[..]), (Some(address(1)), &[][..]));
    // In the name of another address.
    assert!(link.again(1, address(7)).iter().all(|said| *said == Err(Reason::Digest)));
    // When it has fallen silent.
    link.routers[1].0 = false;
    link.run(45);
    assert_eq!(link.designated(0), Some(address(0)));
    assert!(link.again(1, address(1)).iter().all(|said| *said == Err(Reason::Replay)));
    assert_eq!(link.designated(0), Some(address(0)));
}

/// A message about these prefixes and indices, as the router of this number says it.
fn message(kind: Kind, router: u32, told: &[(&str, u32)]) -> Vec<u8> {
    let told: Vec<Told> =
        told.iter().map(|(prefix, index)| Told { prefix: prefix.parse().unwrap(), index: *index }).collect();
    let header = Header { kind, sender: router, sequence: 1_000, count: told.len() as u16 };
    write(header, &write_indices(&told), &Authentication::None)
}

#[test]
fn of_a_message_with_a_fault_nothing_is_used() {
    let mut link = Link::new(&[1, 5]);
    link.run(20);
    let now = link.now;
    for (wrong, why) in [
        (("10.0.0.1/32", 7), Reason::Prefix),
        (("239.1.1.2/31", 7), Reason::Prefix),
        (("239.1.1.2/32", NO_INDEX), Reason::Metric),
        (("239.1.1.2/32", 1_024), Reason::Metric),
    ] {
        let told = message(Kind::Groups, 2, &[("239.1.1.1/32", 3), wrong]);
        assert_eq!(link.groups(0).receive(address(1), &told, now), Err(why));
        assert_eq!(link.groups(0).index(group(1)), NO_INDEX, "{wrong:?}");
    }
    let wanted = message(Kind::WantGroups, 1, &[("239.1.1.1/32", 0), ("10.0.0.1/32", 0)]);
    assert_eq!(link.groups(1).receive(address(0), &wanted, now), Err(Reason::Prefix));
    assert_eq!(link.groups(1).index(group(1)), NO_INDEX);
    let told = message(Kind::Groups, 2, &[("239.1.1.1/32", 3), ("239.1.1.1/32", 4)]);
    assert_eq!(link.groups(0).receive(address(1), &told, now), Ok(()));
    assert_eq!(link.groups(0).index(group(1)), 4);
}
