//! Several protocols that know a way to one prefix, and the owner: whose is used, and what follows when it goes.

use std::sync::{Arc, Mutex};

use throughline_forward::{
    Outgoing, PortId, PortLabels, Route, Router, RouterConfig, RouterPort,
    routing::{Action, Heard, Interface, Learned, Refusals, Routing},
    threaded::NO_INDEX,
};
use throughline_stack::{
    Host,
    smoltcp::{
        time::Instant,
        wire::{EthernetAddress, IpAddress, IpCidr},
    },
};

/// A protocol that finds what it is told to find.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    trust: u8,
    actions: Vec<Action>,
    index: Option<(IpCidr, u32)>,
    originated: Vec<IpCidr>,
}

impl Routing for Told {
    fn receive(&mut self, _: &Heard, _: &[u8], _: Instant) {}

    fn poll(&mut self, _: Instant, actions: &mut Vec<Action>) {
        actions.append(&mut self.0.lock().unwrap().actions);
    }

    fn poll_at(&self) -> Option<Instant> {
        None
    }

    fn originate(&mut self, prefix: IpCidr, _: u8, _: Instant) {
        self.0.lock().unwrap().originated.push(prefix);
    }

    fn withdraw(&mut self, prefix: IpCidr, _: Instant) {
        self.0.lock().unwrap().originated.retain(|other| *other != prefix);
    }

    fn assigned(&mut self, prefix: IpCidr, index: u32, _: Instant) {
        self.0.lock().unwrap().index = Some((prefix, index));
    }

    fn set_link(&mut self, _: u16, _: bool, _: Instant) {}

    fn trust(&self) -> u8 {
        self.0.lock().unwrap().trust
    }

    fn ports(&self) -> &'static [u16] {
        &[]
    }

    fn groups(&self) -> Vec<IpAddress> {
        Vec::new()
    }

    fn refusals(&self) -> &Refusals {
        unreachable!("nobody asks")
    }
}

/// Port n has network 10.0.n.0/24. Protocol n runs on port n and finds ways by 10.0.n.9.
struct Network {
    router: Router,
    protocols: [Told; 3],
    out: Outgoing,
}

impl Network {
    fn new(trusts: [u8; 3]) -> Self {
        let host = |n: u8| Host::new(EthernetAddress([2, 0, 0, 0, 0, n]), cidr(&format!("10.0.{n}.1/24")));
        let ports = (0..3).map(|n| RouterPort { host: host(n), labels: PortLabels::UNKNOWN }).collect();
        let config = RouterConfig { threaded: true, ..RouterConfig::default() };
        let mut router = Router::new(ports, config).unwrap();
        let protocols = [0_u8, 1, 2].map(|n| {
            let protocol = Told::default();
            protocol.0.lock().unwrap().trust = trusts[usize::from(n)];
            let interface = Interface::new(host(n).addresses[0]);
            let on = [(PortId(n.into()), interface)];
            router.add_protocol(Box::new(protocol.clone()), &on, Instant::ZERO).unwrap();
            protocol
        });
        Self { router, protocols, out: Outgoing::new(1500, 16) }
    }

    fn act(&mut self, protocol: usize, action: Action) {
        self.protocols[protocol].0.lock().unwrap().actions.push(action);
        self.router.poll(Instant::ZERO, &mut self.out);
    }

    fn finds(&mut self, protocol: usize, prefix: &str, metric: u32) {
        let next_hop = IpAddress::v4(10, 0, protocol as u8, 9);
        let prefix = cidr(prefix);
        self.act(protocol, Action::Use(Learned { prefix, next_hop, interface: 0, metric, next_index: 5 }));
    }

    fn loses(&mut self, protocol: usize, prefix: &str) {
        self.act(protocol, Action::Forget(cidr(prefix)));
    }

    /// The port by which a way leads.
    fn way(&mut self, to: [u8; 4]) -> Option<u16> {
        match self.router.route_to(to.into())? {
            Route::Out { port, .. } => Some(port.0),
            Route::Here => None,
        }
    }
}

/// The route that a protocol finds.
fn learned_by(protocol: u8) -> Route {
    Route::Out { port: PortId(protocol.into()), via: Some([10, 0, protocol, 9].into()) }
}

fn cidr(text: &str) -> IpCidr {
    text.parse().unwrap()
}

const FAR: &str = "10.9.0.0/16";
const THERE: [u8; 4] = [10, 9, 1, 1];

#[test]
fn the_protocol_that_is_trusted_more_is_used_at_once_and_the_other_when_it_has_no_way() {
    let mut network = Network::new([1, 2, 1]);
    network.finds(0, FAR, 1);
    assert_eq!(network.way(THERE), Some(0));
    // Metrics of different protocols are not compared.
    network.finds(1, FAR, 50);
    assert_eq!(network.way(THERE), Some(1));
    network.finds(0, FAR, 2);
    assert_eq!(network.way(THERE), Some(1), "what is trusted less has changed");
    network.loses(1, FAR);
    assert_eq!(network.way(THERE), Some(0));
    network.loses(0, FAR);
    assert_eq!(network.way(THERE), None);
}

#[test]
fn of_protocols_that_are_trusted_alike_the_shortest_way_is_used() {
    let mut network = Network::new([1, 1, 1]);
    network.finds(1, FAR, 3);
    network.finds(0, FAR, 4);
    assert_eq!(network.way(THERE), Some(1));
    network.finds(0, FAR, 3);
    assert_eq!(network.way(THERE), Some(0), "the first of equals");
    network.finds(2, FAR, 2);
    assert_eq!(network.way(THERE), Some(2));
    network.finds(2, FAR, 9);
    assert_eq!(network.way(THERE), Some(0));
}

#[test]
fn what_is_configured_is_used_and_after_it_what_was_learned_meanwhile() {
    let mut network = Network::new([1, 2, 1]);
    let via = Route::Out { port: PortId(2), via: Some([10, 0, 2, 7].into()) };
    network.finds(0, FAR, 1);
    network.router.add_route(cidr(FAR), via).unwrap();
    network.finds(1, FAR, 1);
    network.loses(0, FAR);
    assert_eq!(network.way(THERE), Some(2));
    assert!(network.protocols.iter().all(|told| told.0.lock().unwrap().originated.contains(&cidr(FAR))));
    assert_eq!(network.router.remove_route(cidr(FAR)), Some(via));
    assert_eq!(network.way(THERE), Some(1));
    assert_eq!(network.router.remove_route(cidr(FAR)), None, "a protocol's");
    assert_eq!(network.way(THERE), Some(1));
    assert!(network.protocols.iter().all(|told| !told.0.lock().unwrap().originated.contains(&cidr(FAR))));
}

#[test]
fn a_network_whose_link_fails_is_reached_by_another_way() {
    let mut network = Network::new([1, 2, 1]);
    network.finds(0, "10.0.1.0/24", 2);
    assert_eq!(network.way([10, 0, 1, 7]), Some(1));
    network.router.set_link(PortId(1), false, Instant::ZERO);
    assert_eq!(network.way([10, 0, 1, 7]), Some(0));
    assert!(!network.protocols[0].0.lock().unwrap().originated.contains(&cidr("10.0.1.0/24")));
    network.router.set_link(PortId(1), true, Instant::ZERO);
    assert_eq!(network.way([10, 0, 1, 7]), Some(1));
    assert!(network.protocols[0].0.lock().unwrap().originated.contains(&cidr("10.0.1.0/24")));
    assert_eq!(network.way([10, 0, 1, 1]), None, "our own address");
}

#[test]
fn the_owners_routes_by_a_link_that_fails_are_set_aside_until_it_works() {
    let mut network = Network::new([1, 2, 1]);
    let via = |port: u16| Route::Out { port: PortId(port), via: Some([10, 0, port as u8, 7].into()) };
    let told = |network: &Network| network.protocols[0].0.lock().unwrap().originated.contains(&cidr(FAR));
    network.router.add_route(cidr(FAR), via(2)).unwrap();
    network.finds(1, FAR, 1);
    network.router.set_link(PortId(2), false, Instant::ZERO);
    assert_eq!((network.way(THERE), told(&network)), (Some(1), false));
    network.router.set_link(PortId(2), true, Instant::ZERO);
    assert_eq!((network.way(THERE), told(&network)), (Some(2), true));

    // What the owner says meanwhile holds.
    network.router.set_link(PortId(2), false, Instant::ZERO);
    assert_eq!(network.router.add_route(cidr(FAR), via(0)), Ok(Some(learned_by(1))));
    assert_eq!((network.way(THERE), told(&network)), (Some(0), true));
    assert_eq!(network.router.add_route(cidr(FAR), via(2)), Ok(Some(via(0))));
    assert_eq!((network.way(THERE), told(&network)), (Some(1), false));
    network.router.set_link(PortId(2), true, Instant::ZERO);
    assert_eq!(network.way(THERE), Some(2));
    network.router.set_link(PortId(2), false, Instant::ZERO);
    assert_eq!(network.router.remove_route(cidr(FAR)), Some(via(2)));
    network.router.set_link(PortId(2), true, Instant::ZERO);
    assert_eq!(network.way(THERE), Some(1), "what was taken away does not come back");
    network.loses(1, FAR);
    assert_eq!(network.way(THERE), None);
}

#[test]
fn the_index_is_the_same_whoever_has_found_the_way() {
    let mut network = Network::new([1, 2, 1]);
    let index_of = |network: &Network, n: usize| network.protocols[n].0.lock().unwrap().index;
    network.finds(0, FAR, 1);
    let index = network.router.index_of(cidr(FAR));
    assert_ne!(index, NO_INDEX);
    network.finds(1, FAR, 1);
    assert_eq!(network.router.index_of(cidr(FAR)), index);
    assert_eq!([0, 1].map(|n| index_of(&network, n)), [Some((cidr(FAR), index)); 2]);
    network.loses(1, FAR);
    assert_eq!(
        [0, 1].map(|n| index_of(&network, n)),
        [index, NO_INDEX].map(|index| Some((cidr(FAR), index)))
    );
}
