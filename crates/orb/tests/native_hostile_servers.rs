//! Servers of the native protocol that are not there, say nothing, or take nothing.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::net::UdpSocket;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use raw::{BadServer, GRACE, LONG, ProbeRef, block_on, client};
use throughline::Ior;
use throughline_giop::{NativeAddress, NativeProfile};
use throughline_vi::{Nic, Reliability, ViAttributes};

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

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn who_waits_for_a_server_that_takes_nothing_is_noted_once_however_often_it_is_polled() {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let nic = Nic::shm().unwrap();
    let (machine, name) = (boot.trim().to_owned(), nic.address().to_owned());
    let mut listener = nic.listen(b"throughline 1").unwrap();
    let mut vi = nic.create_vi(&ViAttributes::new(Reliability::ReliableDelivery)).unwrap();
    let deaf = std::thread::spawn(move || {
        listener.wait(Some(LONG)).unwrap().accept(&mut vi).unwrap();
        vi
    });
    let client = client();
    let profile = NativeProfile { address: NativeAddress::Shm { machine, name }, slot: 0, nonce: 1 };
    let ior = Ior { type_id: raw::ID.into(), profiles: vec![profile.to_tagged().unwrap()] };
    let probe = ProbeRef(client.reference(ior));
    let task = Arc::new(Nobody);
    let waker = Waker::from(Arc::clone(&task));
    let mut cx = Context::from_waker(&waker);
    // More than there is room for.
    let mut calls: Vec<_> = (0..1000).map(|_| Box::pin(probe.ping_async())).collect();
    assert!(calls[0].as_mut().poll(&mut cx).is_pending());
    let vi = deaf.join().unwrap();
    for _ in 0..100 {
        assert!(calls.iter_mut().all(|call| call.as_mut().poll(&mut cx).is_pending()));
    }
    assert!(Arc::strong_count(&task) < 5 * calls.len(), "{}", Arc::strong_count(&task));
    drop(calls);
    raw::eventually("nobody is noted", || Arc::strong_count(&task) == 2);
    drop(vi);
    client.shutdown(GRACE);
}
