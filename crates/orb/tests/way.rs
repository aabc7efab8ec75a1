//! What a reference tells of the way of its calls.

#![allow(clippy::redundant_closure)] // `Decode::decode` itself is a function of one lifetime.

mod common;

use std::time::Duration;

use common::{Echo, client, seen_by, server_with};
use throughline::{Address, Orb, OrbConfig, Transport};

fn transport(reference: &common::EchoRef) -> Option<Transport> {
    reference.0.way().map(|way| way.transport)
}

#[test]
fn the_way_is_the_one_that_calls_take() {
    let server = server_with(|c| c.listen.push(Address::Shm(String::new())));
    let own = server.root().activate(Echo::default()).unwrap();
    assert_eq!(transport(&own), Some(Transport::Local));
    let (best, plain) = (client(), Orb::start(OrbConfig { native: false, ..OrbConfig::default() }).unwrap());
    let (shm, iiop) = (seen_by(&best, &own), seen_by(&plain, &own));
    for (reference, expected, address) in
        [(&shm, Transport::Shm, "shm:"), (&iiop, Transport::Iiop, "iiop://")]
    {
        reference.ping().unwrap();
        let way = reference.0.way().unwrap();
        assert_eq!(way.transport, expected);
        assert!(way.to_string().starts_with(address), "{way}");
    }
    server.shutdown(Duration::from_secs(1));
    // The server of shared memory is gone: that is noticed when it is tried, and another way is taken.
    assert!(shm.ping().is_err());
    assert_eq!(transport(&shm), Some(Transport::Iiop));
}

#[test]
fn a_reference_without_a_usable_address_has_none() {
    let client = client();
    assert_eq!(client.reference(throughline::Ior::NIL).way(), None);
}

#[test]
fn a_reference_by_id_has_the_ways_of_the_object_that_is_there() {
    let server = server_with(|c| c.listen.push(Address::Shm(String::new())));
    let client = client();
    let seen = |id| seen_by(&client, &server.root().reference_for_id::<common::EchoRef>(id).unwrap());
    assert_eq!(transport(&seen("echo")), Some(Transport::Iiop));
    let first = server.root().activate_with_id("echo", Echo::default()).unwrap();
    let early = seen("echo");
    assert_eq!(transport(&early), Some(Transport::Shm));
    early.ping().unwrap();
    // Another object takes its place: the handle is stale, the key still leads to who has the id.
    server.root().deactivate(&first).unwrap();
    server.root().activate_with_id("echo", Echo::default()).unwrap();
    early.ping().unwrap();
    assert_eq!((transport(&early), transport(&seen("echo"))), (Some(Transport::Iiop), Some(Transport::Shm)));
    server.shutdown(Duration::from_secs(1));
}
