//! What a reference tells of the way of its calls.

#![allow(clippy::redundant_closure)] // `Decode::decode` itself is a function of one lifetime.

mod common;

use std::time::{Duration, Instant};

use common::{Echo, client, seen_by, server_with};
use throughline::rt::{Encode, Operation};
use throughline::{
    Address, AsyncCall, Begun, Completion, Orb, OrbConfig, SystemException, Transport, block_on,
};

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

#[test]
fn calls_that_fail_together_leave_a_way_out_for_no_longer_than_one_does() {
    let server = server_with(|c| c.listen.push(Address::Shm(String::new())));
    let client = client();
    let echo = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    block_on(echo.ping_async()).unwrap();
    let operation = Operation::new("sleep", 5);
    let sleep = || echo.0.call_async(operation, |w| 10_000_u32.encode(w), |_| Ok(())).begin();
    let calls: Vec<_> = (0..8).map(|_| sleep()).collect();
    server.shutdown(Duration::from_millis(50));
    for call in calls {
        let ended: Result<(), SystemException> = block_on(call);
        ended.unwrap_err();
    }
    let started = Instant::now();
    while transport(&echo) == Some(Transport::Iiop) {
        assert!(started.elapsed() < Duration::from_secs(3), "it is left out for longer than a second");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn begun_calls_that_fail_leave_no_other_way_out_than_theirs() {
    let udp = "udp://127.0.0.1:0".parse().unwrap();
    let server = server_with(|c| c.listen.extend([Address::Shm(String::new()), udp]));
    let client = client();
    let echo = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    echo.ping().unwrap();
    assert_eq!(transport(&echo), Some(Transport::Shm));
    let sleep = || echo.0.begin(Operation::new("sleep", 5), |w| 10_000_u32.encode(w), |_| Ok(()), None);
    let calls: Vec<Begun<'_, (), SystemException>> = (0..3).map(|_| sleep()).collect();
    // All servants are to run by then: what was not carried out would be tried by the other way, in vain.
    std::thread::sleep(Duration::from_millis(500));
    server.shutdown(Duration::from_millis(50));
    for call in calls {
        assert_eq!(call.wait().unwrap_err().completed, Completion::Maybe);
    }
    assert_ne!(transport(&echo), Some(Transport::Iiop));
}
