//! Ten routers in virtual time: what links do, what liars say, and where packets go meanwhile.

mod routing_common;

use routing_common::{Network, TEN, address, stub};
use throughline_forward::{
    routing::{
        DistanceVector, DistanceVectorConfig, Heard, Interface, Reason, Routing,
        authentication::{Algorithm, Authentication, Key},
        rip::{Command, RIP_PORT, RouteEntry, Version, write_v2},
    },
    threaded::message::{self, Header, INDEX_PORT, Kind, Told},
};
use throughline_stack::smoltcp::wire::IpAddress;

fn distance_vector(node: usize, interfaces: Vec<Interface>) -> Box<dyn Routing> {
    Box::new(DistanceVector::new(DistanceVectorConfig::new(Version::Rip2, node as u32 + 1, interfaces)))
}

fn secret(secret: &str) -> Authentication {
    Authentication::Keyed(vec![Key { id: 1, algorithm: Algorithm::HmacSha256, secret: secret.into() }])
}

/// One protocol, and how long it may take: to begin, and from when a link is silent until all know other ways.
type Protocol = (fn(usize, Vec<Interface>) -> Box<dyn Routing>, u64, u64);

/// RIP: from the last update to the timeout, then the others have to hear of it, and the metric counts up to other ways.
const DISTANCE_VECTOR: Protocol = (distance_vector, 40, 180 + 35 + 9 * 5);

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

/// A stranger that takes part in no protocol sends to node 0 from the other end of its first link, or from elsewhere.
fn says(network: &mut Network, from: IpAddress, from_port: u16, port: u16, bytes: &[u8]) {
    let heard = Heard { interface: 0, from, from_port, port, hop_limit: 1 };
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
