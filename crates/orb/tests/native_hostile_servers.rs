//! Servers of the native protocol that are not there, or say nothing.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use raw::{BadServer, GRACE, ProbeRef, block_on, client};
use throughline_giop::{NativeAddress, NativeProfile};

/// Less than it takes to give a native way up for lack of an answer.
const LIMIT: Duration = Duration::from_millis(500);

#[test]
fn a_way_that_does_not_answer_leaves_time_for_another() {
    // Nobody reads what comes here.
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    for future in [false, true] {
        let client = client();
        let server = BadServer::new(|_, mut wire| {
            while let Some(heard) = wire.request() {
                wire.send(&heard.answer());
            }
        });
        let mut ior = server.reference(&client).0.ior().clone();
        let address = NativeAddress::Udp { host: "127.0.0.1".into(), port };
        ior.profiles.push(NativeProfile { address, slot: 0, nonce: 1 }.to_tagged().unwrap());
        let probe = ProbeRef(client.reference(ior)).within(LIMIT);
        let started = Instant::now();
        let called = if future { block_on(probe.ping_async()) } else { probe.ping() };
        assert_eq!(called, Ok(()), "future: {future}, after {:?}", started.elapsed());
        assert!(started.elapsed() < LIMIT, "future: {future}: {:?}", started.elapsed());
        client.shutdown(GRACE);
    }
}
