//! Calls in a steady state allocate nothing, on either side.
//!
//! The tests of this crate forbid no unsafe code: counting allocations takes an allocator.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{Echo, client, seen_by, server, server_with};
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

/// Both transports in one test: another test's allocations would be counted too.
#[test]
fn blocking_calls_allocate_nothing() {
    // The keeper allocates a little at each of its ticks of 10 ms, however many calls there are.
    let during = allocations(server());
    assert!(during < CALLS / 10, "{during} allocations in {CALLS} calls over TCP");
    println!("{during} allocations in {CALLS} calls over TCP");
    let during = allocations(server_with(|c| c.listen = vec![Address::Shm(String::new())]));
    assert_eq!(during, 0, "allocations in {CALLS} calls over shared memory");
    for address in [Address::tcp("127.0.0.1", 0), Address::Shm(String::new())] {
        let during = allocations(with_lanes(server_with(|c| c.listen = vec![address.clone()])));
        assert!(during < CALLS / 10, "{during} allocations in {CALLS} calls by lanes, {address}");
        println!("{during} allocations in {CALLS} calls by lanes, {address}");
    }
    many_under_way();
    for trusted in [false, true] {
        // SAFETY: the peers are this process, which uses the library alone.
        let trusted_peers = trusted.then(|| unsafe { TrustedPeers::promise() });
        for octets in [8 << 10, 60 << 10, 200 << 10, 1_000_000] {
            let during = allocations_with_long_arguments(octets, trusted_peers);
            // On a busy machine the servant may take longer than a tick, and a worker that is new to it takes the lead.
            assert!(
                during < 20,
                "{during} allocations in 200 calls with {octets} octets, trusted: {trusted}"
            );
        }
    }
}

/// Arguments that the servant takes as a slice are read where they were received, or where the client has them.
fn allocations_with_long_arguments(octets: usize, trusted_peers: Option<TrustedPeers>) -> usize {
    let config = || OrbConfig { trusted_peers, ..OrbConfig::default() };
    let server = Orb::start(OrbConfig { listen: vec![Address::Shm(String::new())], ..config() }).unwrap();
    let client = Orb::start(config()).unwrap();
    let adapter = server.root().create_child("active", throughline::AdapterConfig::default()).unwrap();
    let echo = seen_by(&client, &adapter.activate(Echo::default()).unwrap());
    let data = vec![7; octets / 4];
    let call = || assert_eq!(echo.sum(0, &data).unwrap().0, 7 * data.len() as u64);
    (0..20).for_each(|_| call());
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    (0..200).for_each(|_| call());
    let during = ALLOCATIONS.load(Ordering::Relaxed) - before;
    server.shutdown(Duration::from_secs(2));
    during
}

/// Sixty-four at a time: begun and waited for, and as futures.
fn many_under_way() {
    let server = server_with(|c| c.listen = vec![Address::Shm(String::new())]);
    let client = client();
    let adapter = server.root().create_child("active", throughline::AdapterConfig::default()).unwrap();
    let echo = seen_by(&client, &adapter.activate(Echo::default()).unwrap());
    let operation = Operation::new("ping", 0);
    let begin = || echo.0.begin::<(), SystemException>(operation, |_| Ok(()), |_| Ok(()), None);
    let future = || echo.0.call_async::<(), SystemException, _>(operation, |_| Ok(()), |_| Ok(())).begin();
    let begun = || allocated(begin, |call| call.wait().unwrap());
    let futures = || allocated(future, |call| block_on(call).unwrap());
    // The tables grow with the first ones.
    begun();
    futures();
    let during = (begun(), futures());
    // As below: the lead may change, and the keeper's ticks are counted. One for each 64 calls would be more.
    let most = CALLS / 100;
    assert!(during.0 < most && during.1 < most, "{during:?} allocations in {CALLS} begun calls and futures");
    server.shutdown(Duration::from_secs(2));
}

fn allocated<C>(begin: impl Fn() -> C, wait: impl Fn(C)) -> usize {
    let mut pending = std::collections::VecDeque::with_capacity(64);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for _ in 0..CALLS {
        if pending.len() == 64 {
            pending.pop_front().into_iter().for_each(&wait);
        }
        pending.push_back(begin());
    }
    pending.into_iter().for_each(wait);
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

const CALLS: usize = 10_000;

fn with_lanes(server: Orb) -> Orb {
    let lanes = server.create_lanes(&[LaneConfig::new(Priority::LOWEST, 2)]).unwrap();
    server.root().serve_in(&lanes).unwrap();
    server
}

fn allocations(server: Orb) -> usize {
    let client = client();
    let adapter = server.root().create_child("active", throughline::AdapterConfig::default()).unwrap();
    let echo = seen_by(&client, &adapter.activate(Echo::default()).unwrap());
    for _ in 0..1_000 {
        echo.ping().unwrap();
    }
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for _ in 0..CALLS {
        echo.ping().unwrap();
    }
    let during = ALLOCATIONS.load(Ordering::Relaxed) - before;
    server.shutdown(Duration::from_secs(2));
    during
}
