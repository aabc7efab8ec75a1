//! Ten routers in virtual time: what links do, what liars say, and where packets go meanwhile.

mod routing_common;

use routing_common::{Network, TEN, address, stub};
use throughline_forward::{
    routing::{
        DistanceVector, DistanceVectorConfig, Heard, Interface, LinkState, LinkStateConfig, Reason, Routing,
        authentication::{Algorithm, Authentication, Key},
        rip::{Command, RIP_PORT, RouteEntry, Version, write_v2},
    },
    threaded::message::{self, Header, INDEX_PORT, Kind, Told},
};
use throughline_stack::smoltcp::wire::IpAddress;

fn distance_vector(node: usize, interfaces: Vec<Interface>) -> Box<dyn Routing> {
    Box::new(DistanceVector::new(DistanceVectorConfig::new(Version::Rip2, node as u32 + 1, interfaces)))
}

fn link_state(node: usize, interfaces: Vec<Interface>) -> Box<dyn Routing> {
    Box::new(LinkState::new(LinkStateConfig::new(node as u32 + 1, interfaces)))
}

fn secret(secret: &str) -> Authentication {
    Authentication::Keyed(vec![Key { id: 1, algorithm: Algorithm::HmacSha256, secret: secret.into() }])
}

/// One protocol, and how long it may take: to begin, and from when a link is silent until all know other ways.
type Protocol = (fn(usize, Vec<Interface>) -> Box<dyn Routing>, u64, u64);

/// RIP: from the last update to the timeout, then the others have to hear of it, and the metric counts up to other ways.
const DISTANCE_VECTOR: Protocol = (distance_vector, 40, 180 + 35 + 9 * 5);

/// Link state: until a neighbour that says nothing is none, the next hello says so if it still hears us, and then the time that
/// updates may be apart.
const LINK_STATE: Protocol = (link_state, 20, 40 + 11 + 5);

fn ten((routing, ..): Protocol) -> Network {
    Network::new(10, &TEN, &Authentication::None, routing)
}

fn links_fail_and_come_back(protocol: Protocol) {
    let mut network = ten(protocol);
    let begun = network.converge(protocol.1);
    let mut times = Vec::new();
    for (link, directions) in [(10, [false, false]), (3, [false, true]), (7, [true, false])] {
        network.carries[link] = directions;
        times.push(network.converge(protocol.2));
        network.carries[link] = [true; 2];
        times.push(network.converge(protocol.2));
    }
    println!(
        "begun in {begun} s; failed, came back: {times:?} s; {:?}; refused {}",
        network.fates,
        network.refused()
    );
    assert!(network.fates.threaded > 2 * network.fates.looked_up);
    assert!(network.fates.lost > 0, "nobody told the routers");
}

#[test]
fn distance_vectors_converge_when_links_fail() {
    links_fail_and_come_back(DISTANCE_VECTOR);
}

#[test]
fn link_states_converge_when_links_fail() {
    links_fail_and_come_back(LINK_STATE);
}

fn a_link_that_is_seen_to_fail(protocol: Protocol, most: u64) {
    let mut network = ten(protocol);
    network.converge(protocol.1);
    network.carries[0] = [false; 2];
    for (node, interface) in [(0, 0), (1, 0)] {
        network.nodes[node].routing.set_link(interface, false, network.now);
        network.poll(node);
    }
    let time = network.converge(most);
    println!("{time} s; {:?}", network.fates);
}

#[test]
fn distance_vectors_converge_at_once_when_a_link_is_seen_to_fail() {
    // Bad news and better ones travel at the pace of triggered updates; who only has the lost way waits for the next update.
    a_link_that_is_seen_to_fail(DISTANCE_VECTOR, 40);
}

#[test]
fn link_states_converge_at_once_when_a_link_is_seen_to_fail() {
    a_link_that_is_seen_to_fail(LINK_STATE, 2);
}

#[test]
fn between_areas_packets_go_by_hash_and_inside_by_index() {
    for protocol in [DISTANCE_VECTOR, LINK_STATE] {
        let mut network = ten(protocol);
        network.areas(|node| if node < 5 { 0..5 } else { 5..10 });
        network.converge(protocol.1);
        network.run(30);
        let before = network.fates;
        assert!(network.one_packet(0, 2, |fates| fates.threaded == 3 && fates.looked_up == 0));
        // The first packet of a flow is looked up, those after it are not.
        network.one_packet(0, 8, |_| true);
        assert!(
            network.one_packet(0, 8, |fates| fates.cached > 1 && fates.looked_up == 0 && fates.threaded == 0)
        );
        assert!(before.threaded > 0 && before.cached > 0);
        network.carries[12] = [false; 2];
        network.converge(protocol.2);
    }
}

/// A stranger that takes part in no protocol sends to node 0 from the other end of its first link, or from elsewhere.
fn says(network: &mut Network, from: IpAddress, from_port: u16, port: u16, bytes: &[u8]) {
    let heard = Heard { interface: 0, from, from_port, port, hop_limit: 255 };
    network.hear(0, &heard, bytes);
    network.poll(0);
}

fn refused(network: &Network, reason: Reason) -> u64 {
    network.nodes[0].routing.refusals().of(reason)
}

#[test]
fn forged_distance_vectors_are_refused_and_counted() {
    let mut network = Network::new(10, &TEN, &secret("ours"), distance_vector);
    network.converge(40);
    let neighbor = address(0, 1);
    let entry = RouteEntry { prefix: stub(5), next_hop: None, tag: 0, metric: 1 };
    let forged = |authentication: &Authentication, sequence: u32| {
        write_v2(Command::Response, &[entry], authentication, &mut { sequence }).remove(0)
    };
    says(&mut network, neighbor, RIP_PORT, RIP_PORT, &forged(&Authentication::None, 9_999));
    assert_eq!(refused(&network, Reason::Authentication), 1);
    says(&mut network, neighbor, RIP_PORT, RIP_PORT, &forged(&secret("theirs"), 9_999));
    assert_eq!(refused(&network, Reason::Digest), 1);
    says(&mut network, neighbor, RIP_PORT, RIP_PORT, &forged(&secret("ours"), 0));
    assert_eq!(refused(&network, Reason::Replay), 1);
    says(&mut network, IpAddress::v4(10, 77, 0, 1), RIP_PORT, RIP_PORT, &forged(&secret("ours"), 9_999));
    says(&mut network, address(0, 0), RIP_PORT, RIP_PORT, &forged(&secret("ours"), 9_999));
    assert_eq!(refused(&network, Reason::NotANeighbor), 2);
    let header = Header { kind: Kind::Indices, sender: 2, sequence: u64::MAX, count: 1 };
    let told = message::write_indices(&[Told { prefix: stub(5), index: 77 }]);
    says(&mut network, neighbor, INDEX_PORT, INDEX_PORT, &message::write(header, &told, &secret("theirs")));
    assert_eq!(refused(&network, Reason::Digest), 2);
    assert_eq!(network.refused(), 6);
    assert!(network.converged(), "nothing of it had any effect");
}

#[test]
fn who_lies_on_a_link_without_authentication_misdelivers_nothing() {
    let mut network = ten(DISTANCE_VECTOR);
    network.converge(40);
    let (neighbor, prefix) = (address(0, 1), stub(5));
    let says_route = |network: &mut Network, from_port, metric: u8| {
        let entry = RouteEntry { prefix, next_hop: None, tag: 0, metric };
        let mut bytes = write_v2(Command::Response, &[entry], &Authentication::None, &mut 0).remove(0);
        // What `write_v2` would not write.
        bytes[23] = metric;
        says(network, neighbor, from_port, RIP_PORT, &bytes);
    };
    says_route(&mut network, RIP_PORT, 0);
    says_route(&mut network, RIP_PORT, 99);
    assert_eq!(refused(&network, Reason::Metric), 2);
    says_route(&mut network, 9_999, 1);
    assert_eq!(refused(&network, Reason::Port), 1);
    // Infinity, from a neighbour that is not on the way: nothing.
    says_route(&mut network, RIP_PORT, 16);
    assert!(network.converged());
    // In the neighbour's name, indices that are not his: looked up there.
    let header = Header { kind: Kind::Indices, sender: 2, sequence: 1, count: 2 };
    let told = [Told { prefix: stub(1), index: 5 }, Told { prefix: stub(2), index: 6 }];
    let told = message::write_indices(&told);
    says(
        &mut network,
        neighbor,
        INDEX_PORT,
        INDEX_PORT,
        &message::write(header, &told, &Authentication::None),
    );
    let before = network.fates;
    network.run(120);
    assert!(network.fates.looked_up > before.looked_up);
    assert_eq!(network.fates.lost, before.lost);
    assert_eq!(network.fates.unreachable, before.unreachable);
    // Its next update puts that right.
    assert!(network.converged());
}

/// A message of the link-state protocol, as the router at the other end of the first link of node 0 would send it.
fn forged_update(sequence: u64, body: &[u8], authentication: &Authentication) -> Vec<u8> {
    let header = Header { kind: Kind::Update, sender: 2, sequence, count: 1 };
    message::write(header, body, &authentication.of(address(0, 1)))
}

/// An advertisement of router `origin` that claims to be next to the prefix of node 5.
fn claim(origin: u8, sequence: u32) -> Vec<u8> {
    let mut body = vec![0, 0, 0, origin, 0, 0, 0, 0];
    body.extend(sequence.to_be_bytes());
    body.extend([0, 0, 0, 0, 0, 1, 0, 0]);
    body.extend([4, 16, 0, 0, 10, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    body
}

#[test]
fn forged_link_states_are_refused_and_counted() {
    let mut network = Network::new(10, &TEN, &secret("ours"), link_state);
    network.converge(20);
    let before = network.refused();
    let neighbor = address(0, 1);
    let mut say = |bytes: &[u8]| says(&mut network, neighbor, INDEX_PORT, INDEX_PORT, bytes);
    say(&forged_update(u64::MAX, &claim(2, 9), &Authentication::None));
    say(&forged_update(u64::MAX, &claim(2, 9), &secret("theirs")));
    say(&forged_update(1, &claim(2, 9), &secret("ours")));
    let mut short = claim(2, 9);
    short.pop();
    say(&forged_update(u64::MAX - 1, &short, &secret("ours")));
    let mut loopback = claim(2, 9);
    loopback[24] = 127;
    say(&forged_update(u64::MAX, &loopback, &secret("ours")));
    for reason in [Reason::Authentication, Reason::Digest, Reason::Replay, Reason::Length, Reason::Prefix] {
        assert_eq!(refused(&network, reason), 1, "{reason}");
    }
    assert_eq!(network.refused(), before + 5);
    assert!(network.converged(), "nothing of it had any effect");
}

#[test]
fn who_speaks_in_our_name_is_answered() {
    let mut network = ten(LINK_STATE);
    network.converge(20);
    // Node 0 is router 1: it hears that it is elsewhere, and tells everybody where it is.
    let bytes = forged_update(u64::MAX, &claim(1, 1_000), &Authentication::None);
    says(&mut network, address(0, 1), INDEX_PORT, INDEX_PORT, &bytes);
    network.run(5);
    assert!(network.converged());
    // In the name of node 1: believed until node 1 hears of it, which takes no longer than flooding.
    let bytes = forged_update(u64::MAX, &claim(2, 2_000), &Authentication::None);
    says(&mut network, address(0, 1), INDEX_PORT, INDEX_PORT, &bytes);
    let time = network.converge(10);
    println!("{time} s");
    // Of those who are no neighbours nothing is believed.
    let count = refused(&network, Reason::NotANeighbor);
    let header = Header { kind: Kind::Update, sender: 77, sequence: 1, count: 1 };
    let bytes = message::write(header, &claim(77, 1), &Authentication::None);
    says(&mut network, address(0, 1), INDEX_PORT, INDEX_PORT, &bytes);
    says(&mut network, IpAddress::v4(10, 99, 0, 1), INDEX_PORT, INDEX_PORT, &bytes);
    assert_eq!(refused(&network, Reason::NotANeighbor), count + 2);
    assert!(network.converged());
}

#[test]
fn the_highest_number_in_our_name_silences_us_for_a_minute_not_for_an_hour() {
    let mut network = ten(LINK_STATE);
    network.converge(20);
    let bytes = forged_update(u64::MAX, &claim(1, u32::MAX), &Authentication::None);
    says(&mut network, address(0, 1), INDEX_PORT, INDEX_PORT, &bytes);
    network.run(5);
    assert!(!network.converged(), "others have to forget it first");
    let time = network.converge(60 + 5 + 5);
    println!("{time} s");
}

/// Nor the one before it: ours would be the highest, and all that we say later would be taken for what we have said.
#[test]
fn a_number_near_the_highest_in_our_name_does_not_hide_what_is_new() {
    let mut network = ten(LINK_STATE);
    network.converge(20);
    let bytes = forged_update(u64::MAX, &claim(1, u32::MAX - 1), &Authentication::None);
    says(&mut network, address(0, 1), INDEX_PORT, INDEX_PORT, &bytes);
    network.run(5);
    network.converge(60 + 5 + 5);
    let now = network.now;
    network.nodes[0].routing.originate("10.77.0.0/16".parse().unwrap(), 1, now);
    network.poll(0);
    network.run(5);
    assert!(network.nodes[5].table.find([10, 77, 0, 1].into()).is_some());
}

#[test]
fn what_a_router_far_away_sends_is_not_heard() {
    for protocol in [DISTANCE_VECTOR, LINK_STATE] {
        let mut network = ten(protocol);
        network.converge(protocol.1);
        let bytes = forged_update(u64::MAX, &claim(2, 2_000), &Authentication::None);
        let (from, from_port, port) = (address(0, 1), INDEX_PORT, INDEX_PORT);
        let heard = Heard { interface: 0, from, from_port, port, hop_limit: 254 };
        network.hear(0, &heard, &bytes);
        assert_eq!(refused(&network, Reason::HopLimit), 1);
        network.run(5);
        assert!(network.converged());
    }
}
