//! Calls in a steady state allocate nothing, on either side.
//!
//! The tests of this crate forbid no unsafe code: counting allocations takes an allocator.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{Echo, EchoRef, client, seen_by, server_with};
use throughline::rt::Operation;
use throughline::{
    Address, AsyncCall, LaneConfig, Orb, OrbConfig, Priority, SystemException, TrustedPeers, block_on,
};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: likewise.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

const CALLS: usize = 10_000;

/// By lanes, which take long to wake.
const CALLS_BY_LANES: usize = 2_000;

/// Calls under way at a time.
const MANY: usize = 64;

/// All transports in one test: another test's allocations would be counted too.
#[test]
fn calls_allocate_nothing() {
    for address in [Address::tcp("127.0.0.1", 0), Address::Shm(String::new())] {
        let server = || server_with(|c| c.listen = vec![address.clone()]);
        one_at_a_time(server(), CALLS, &format!("{address}"));
        one_at_a_time(with_lanes(server()), CALLS_BY_LANES, &format!("{address}, by lanes"));
    }
    many_under_way();
    for trusted in [false, true] {
        // SAFETY: the peers are this process, which uses the library alone.
        let trusted_peers = trusted.then(|| unsafe { TrustedPeers::promise() });
        for octets in [8 << 10, 60 << 10, 200 << 10, 1_000_000] {
            long_arguments(octets, trusted_peers);
        }
    }
}

fn one_at_a_time(server: Orb, count: usize, what: &str) {
    let client = client();
    let echo = echo_of(&server, &client);
    let calls = || (0..count).for_each(|_| echo.ping().unwrap());
    assert_steady(&format!("{count} calls, {what}"), 100, calls);
    server.shutdown(Duration::from_secs(2));
}

fn with_lanes(server: Orb) -> Orb {
    let lanes = server.create_lanes(&[LaneConfig::new(Priority::LOWEST, 2)]).unwrap();
    server.root().serve_in(&lanes).unwrap();
    server
}

/// Begun and waited for, and as futures.
fn many_under_way() {
    let server = server_with(|c| c.listen = vec![Address::Shm(String::new())]);
    let client = client();
    let echo = echo_of(&server, &client);
    let operation = Operation::new("ping", 0);
    let begin = || echo.0.begin::<(), SystemException>(operation, |_| Ok(()), |_| Ok(()), None);
    let future = || echo.0.call_async::<(), SystemException, _>(operation, |_| Ok(()), |_| Ok(())).begin();
    let mut begun = VecDeque::with_capacity(MANY);
    assert_steady("begun calls", 100, || keep_full(&mut begun, begin, |call| call.wait().unwrap()));
    let mut futures = VecDeque::with_capacity(MANY);
    assert_steady("futures", 100, || keep_full(&mut futures, future, |call| block_on(call).unwrap()));
    server.shutdown(Duration::from_secs(2));
}

fn keep_full<C>(pending: &mut VecDeque<C>, begin: impl Fn() -> C, wait: impl Fn(C)) {
    for _ in 0..CALLS {
        if pending.len() == MANY {
            pending.pop_front().into_iter().for_each(&wait);
        }
        pending.push_back(begin());
    }
    pending.drain(..).for_each(wait);
}

/// Arguments that the servant takes as a slice are read where they were received, or where the client has them; those that it
/// changes are in the reply meanwhile.
fn long_arguments(octets: usize, trusted_peers: Option<TrustedPeers>) {
    let config = || OrbConfig { trusted_peers, ..OrbConfig::default() };
    let server = Orb::start(OrbConfig { listen: vec![Address::Shm(String::new())], ..config() }).unwrap();
    let client = Orb::start(config()).unwrap();
    let echo = echo_of(&server, &client);
    let data = vec![7; octets / 4];
    let call = || assert_eq!(echo.sum(0, &data).unwrap().0, 7 * data.len() as u64);
    let what = format!("200 calls with {octets} octets, trusted: {}", trusted_peers.is_some());
    assert_steady(&what, 20, || (0..200).for_each(|_| call()));
    let mut moved = data.clone();
    let there_and_back = || (0..200).for_each(|_| echo.move_data(&mut moved).unwrap());
    assert_steady(&format!("{what}, and back"), 20, there_and_back);
    assert!(moved == data);
    server.shutdown(Duration::from_secs(2));
}

fn echo_of(server: &Orb, client: &Orb) -> EchoRef {
    let adapter = server.root().create_child("active", throughline::AdapterConfig::default()).unwrap();
    seen_by(client, &adapter.activate(Echo::default()).unwrap())
}

/// These calls come to allocate nothing at all, in whatever thread of either side. The first times buffers grow; and on a
/// machine so busy that a servant is not run for two ticks, another worker may be started for the calls behind it. After the
/// first time there are fewer such allocations than `most`.
fn assert_steady(what: &str, most: usize, mut calls: impl FnMut()) {
    let mut counts = Vec::with_capacity(8);
    while counts.len() < counts.capacity() {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        calls();
        let during = ALLOCATIONS.load(Ordering::Relaxed) - before;
        if during == 0 {
            return;
        }
        assert!(counts.is_empty() || during < most, "{during} allocations in {what}, before: {counts:?}");
        counts.push(during);
    }
    panic!("allocations in {what}, each time: {counts:?}");
}
