//! The time that calls within one process may take; and calls that may take none, or little.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use raw::{GRACE, LONG, Probe, block_on, eventually, server_with};
use throughline::{Completion, Kind, Orb};

const SHORT: Duration = Duration::from_millis(80);
/// Every way to be reached.
const ADDRESSES: [&str; 3] = ["iiop://127.0.0.1:0", "shm:", "udp://127.0.0.1:0"];

fn own(threads: usize, servant: &Probe) -> (Orb, raw::ProbeRef) {
    let orb = server_with(|c| c.max_threads = threads);
    let probe = orb.root().activate(servant.clone()).unwrap();
    (orb, probe)
}

/// A servant that works as long as the gate is closed.
fn gated() -> (Arc<Mutex<()>>, Probe) {
    let gate = Arc::new(Mutex::new(()));
    let servant = Probe::running({
        let gate = Arc::clone(&gate);
        move || drop(gate.lock())
    });
    (gate, servant)
}

#[test]
fn a_future_ends_in_time_and_the_servant_in_its_own() {
    let (gate, ended) = (Arc::new(Mutex::new(())), Arc::new(AtomicUsize::new(0)));
    let servant = {
        let (gate, ended) = (Arc::clone(&gate), Arc::clone(&ended));
        Probe::running(move || {
            drop(gate.lock());
            ended.fetch_add(1, Ordering::SeqCst);
        })
    };
    let (orb, probe) = own(8, &servant);
    let closed = gate.lock().unwrap();
    let started = Instant::now();
    let e = block_on(probe.within(SHORT).run_async()).unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::Maybe), "{e}");
    assert!(started.elapsed() >= SHORT && started.elapsed() < LONG / 4, "{:?}", started.elapsed());
    assert_eq!((servant.runs(), ended.load(Ordering::SeqCst)), (1, 0));
    // The next call has nothing to do with the answer to this one.
    assert_eq!(block_on(probe.within(LONG).text_async("next")).unwrap(), "next");
    drop(closed);
    eventually("end of the servant", || ended.load(Ordering::SeqCst) == 1);
    block_on(probe.within(LONG).run_async()).unwrap();
    block_on(probe.run_async()).unwrap();
    orb.shutdown(GRACE);
}

#[test]
fn what_no_worker_has_begun_in_time_is_not_begun_at_all() {
    let servant = Probe::default();
    let (orb, probe) = own(2, &servant);
    let mut cx = Context::from_waker(Waker::noop());
    let mut busy: Vec<_> = (0..2).map(|_| Box::pin(probe.sleep_async(700))).collect();
    assert!(busy.iter_mut().all(|call| call.as_mut().poll(&mut cx).is_pending()));
    eventually("two servants at work", || servant.runs() == 2);
    let e = block_on(probe.within(SHORT).sleep_async(1)).unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::No), "{e}");
    busy.into_iter().for_each(|call| block_on(call).unwrap());
    block_on(probe.ping_async()).unwrap();
    assert_eq!(servant.runs(), 2);
    orb.shutdown(GRACE);
}

#[test]
fn a_blocking_call_returns_when_the_servant_does() {
    let servant = Probe::default();
    let (orb, probe) = own(8, &servant);
    let started = Instant::now();
    probe.within(SHORT).sleep(200).unwrap();
    assert!(started.elapsed() >= Duration::from_millis(200));
    orb.shutdown(GRACE);
}

#[test]
fn a_call_that_may_take_no_time_ends_at_once() {
    let (gate, servant) = gated();
    let client = raw::client();
    let listen = |address: &str| server_with(|c| c.listen = vec![address.parse().unwrap()]);
    let servers = ADDRESSES.map(listen);
    for server in &servers {
        let own = server.root().activate(servant.clone()).unwrap();
        let probe = raw::seen_by(&client, &own);
        for connected in [false, true] {
            if connected {
                probe.ping().unwrap();
                block_on(probe.ping_async()).unwrap();
            }
            // Whoever waited for the servant would do so for ever.
            let closed = gate.lock().unwrap();
            let hasty = probe.within(Duration::ZERO);
            for called in [hasty.run(), block_on(hasty.run_async())] {
                let e = called.unwrap_err();
                let not_connected = (Kind::Transient, Completion::No);
                assert!(e.kind == Kind::Timeout || (e.kind, e.completed) == not_connected, "{server:?}, {e}");
            }
            drop(closed);
        }
        // Nor has it done harm.
        probe.within(LONG).ping().unwrap();
        block_on(probe.within(LONG).ping_async()).unwrap();
    }
    client.shutdown(GRACE);
    servers.iter().for_each(|server| server.shutdown(GRACE));
}

#[test]
fn a_call_does_not_wait_for_the_servant_of_one_before_it_whose_time_is_over() {
    let (gate, servant) = gated();
    let client = raw::client();
    for address in ADDRESSES {
        let server = server_with(|c| (c.listen, c.max_threads) = (vec![address.parse().unwrap()], 16));
        let probe = raw::seen_by(&client, &server.root().activate(servant.clone()).unwrap());
        probe.ping().unwrap();
        let closed = gate.lock().unwrap();
        let limits = [0, 1, 2, 3, 5, 10, 20];
        for limit in limits {
            probe.post(limit, 0).unwrap();
            let e = probe.within(Duration::from_millis(limit.into())).run().unwrap_err();
            assert_eq!(e.kind, Kind::Timeout, "{address}, {limit} ms: {e}");
            let answered = probe.within(LONG / 4).ping();
            assert_eq!(answered, Ok(()), "{address}, after {limit} ms");
        }
        drop(closed);
        // Nothing is lost with the links that were left.
        eventually("the oneways", || servant.0.posted.lock().unwrap().len() == limits.len());
        servant.0.posted.lock().unwrap().clear();
        server.shutdown(GRACE);
    }
    client.shutdown(GRACE);
}
