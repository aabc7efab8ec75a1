//! What neighbours with a key have said, said again by somebody without: after they have fallen silent, to a router that has
//! begun anew, and from another address.

use std::collections::BTreeMap;

use throughline_forward::routing::{
    Action, DistanceVector, DistanceVectorConfig, Heard, Interface, Learned, LinkState, LinkStateConfig,
    Reason, Routing,
    authentication::{Algorithm, Authentication, Key},
    rip::Version,
};
use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::{IpAddress, IpCidr},
};

const FAR: IpAddress = IpAddress::v4(10, 9, 0, 0);

fn address(router: u32) -> IpAddress {
    IpAddress::v4(10, 200, 0, router as u8)
}

fn interfaces(router: u32) -> Vec<Interface> {
    let key = Key { id: 1, algorithm: Algorithm::HmacSha256, secret: b"ours".to_vec() };
    let authentication = Authentication::Keyed(vec![key]);
    vec![Interface { authentication, ..Interface::new(IpCidr::new(address(router), 24)) }]
}

/// A router that begins at a time in seconds.
type Make = fn(u32, u32) -> Box<dyn Routing>;

fn distance_vector(router: u32, first_sequence: u32) -> Box<dyn Routing> {
    let config = DistanceVectorConfig::new(Version::Rip2, router, interfaces(router));
    Box::new(DistanceVector::new(DistanceVectorConfig { first_sequence, ..config }))
}

fn link_state(router: u32, first_sequence: u32) -> Box<dyn Routing> {
    let config = LinkStateConfig::new(router, interfaces(router));
    Box::new(LinkState::new(LinkStateConfig { first_sequence, ..config }))
}

/// Router 2 tells router 1 of a prefix.
struct Link {
    routers: [Box<dyn Routing>; 2],
    routes: BTreeMap<IpCidr, Learned>,
    /// What router 2 has said: from and to which port.
    said: Vec<(u16, u16, Vec<u8>)>,
    now: Instant,
}

impl Link {
    /// Both know each other, and the second one's prefix with its index.
    fn new(make: Make) -> Self {
        let routers = [make(1, 1_000), make(2, 1_000)];
        let mut link =
            Self { routers, routes: BTreeMap::new(), said: Vec::new(), now: Instant::from_secs(1) };
        let now = link.now;
        link.routers[1].originate(IpCidr::new(FAR, 16), 1, now);
        for router in &mut link.routers {
            router.assigned(IpCidr::new(FAR, 16), 7, now);
        }
        link.run(100, true);
        assert!(link.routes[&IpCidr::new(FAR, 16)].next_index == 7 && link.said.len() > 10);
        link
    }

    fn run(&mut self, seconds: u64, both: bool) {
        for _ in 0..seconds {
            self.now += Duration::from_secs(1);
            for _ in 0..8 {
                self.turn(0, both);
                if both {
                    self.turn(1, both);
                }
            }
        }
    }

    fn turn(&mut self, at: usize, both: bool) {
        let mut actions = Vec::new();
        self.routers[at].poll(self.now, &mut actions);
        for action in actions {
            match action {
                Action::Use(learned) if at == 0 => drop(self.routes.insert(learned.prefix, learned)),
                Action::Forget(prefix) if at == 0 => drop(self.routes.remove(&prefix)),
                Action::Send { from_port, port, bytes, .. } => {
                    if at == 1 {
                        self.said.push((from_port, port, bytes.clone()));
                    }
                    if both {
                        let heard = heard(address(at as u32 + 1), from_port, port);
                        self.routers[1 - at].receive(&heard, &bytes, self.now);
                    }
                }
                _ => {}
            }
        }
    }

    /// Somebody says to router 1 all that router 2 has said, as often as it likes.
    fn again(&mut self, from: IpAddress) -> usize {
        for (from_port, port, bytes) in self.said.clone() {
            self.routers[0].receive(&heard(from, from_port, port), &bytes, self.now);
            self.run(1, false);
        }
        self.said.len()
    }

    fn refused(&self, reason: Reason) -> usize {
        self.routers[0].refusals().of(reason) as usize
    }
}

fn heard(from: IpAddress, from_port: u16, port: u16) -> Heard {
    Heard { interface: 0, from, from_port, port, hop_limit: 255 }
}

#[test]
fn after_a_silence_nothing_of_before_is_believed() {
    for make in [distance_vector, link_state] as [Make; 2] {
        let mut link = Link::new(make);
        link.run(400, false);
        assert!(link.routes.is_empty(), "it is silent");
        let said = link.again(address(2));
        assert_eq!((link.refused(Reason::Replay), link.routes.len()), (said, 0));
        // When it speaks itself, it is heard.
        link.run(100, true);
        assert_eq!(link.routes[&IpCidr::new(FAR, 16)].next_index, 7);
    }
}

#[test]
fn nor_when_the_link_has_failed_in_between() {
    for make in [distance_vector, link_state] as [Make; 2] {
        let mut link = Link::new(make);
        let now = link.now;
        link.routers[0].set_link(0, false, now);
        link.routers[0].set_link(0, true, now);
        link.run(1, false);
        let said = link.again(address(2));
        assert_eq!((link.refused(Reason::Replay), link.routes.len()), (said, 0));
    }
}

#[test]
fn nor_by_a_router_that_has_begun_anew() {
    // Who only hears cannot know that it was said to another life. With link states each says what he has heard of us, and
    // nothing of ours is as old as that.
    let mut link = Link::new(link_state);
    link.routers[0] = link_state(1, 2_000);
    link.routes.clear();
    link.again(address(2));
    assert!(link.routes.is_empty());
    assert!(link.refused(Reason::NotANeighbor) > 0);
    link.run(100, true);
    assert_eq!(link.routes.len(), 1);
}

#[test]
fn nor_in_the_name_of_another_address() {
    // All there is with link states; with distance vectors what concerns indices, for RIP has its own rules.
    let mut link = Link::new(link_state);
    let said = link.again(address(3));
    assert_eq!(link.refused(Reason::Digest), said);
    let mut link = Link::new(distance_vector);
    let ours = link.said.iter().filter(|(from_port, ..)| *from_port != 520).count();
    link.again(address(3));
    assert!(ours > 3 && link.refused(Reason::Digest) == ours);
}
