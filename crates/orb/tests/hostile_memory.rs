//! What strangers can make a process allocate: in proportion to what they send, up to limits. Every allocation of the
//! process is counted, so there is one test at a time.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use raw::{Asked, BadServer, Scene, Wire, block_on, client_with};
use throughline_cdr::{ByteOrder, Encode};
use throughline_giop::profile::IiopProfile;
use throughline_giop::{Ior, NativeAddress, NativeProfile};

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grown(by: usize) {
    let live = LIVE.fetch_add(by, Ordering::Relaxed) + by;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: everything is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(ptr, layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        grown(new_size);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static ALONE: Mutex<()> = Mutex::new(());

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Counts from now on what is allocated beyond what was.
struct Count(#[expect(dead_code, reason = "held")] MutexGuard<'static, ()>, usize);

impl Count {
    fn start() -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut count = Self(alone, 0);
        count.restart();
        count
    }
    fn restart(&mut self) {
        self.1 = LIVE.load(Ordering::Relaxed);
        PEAK.store(self.1, Ordering::Relaxed);
    }
    fn peak(&self) -> usize {
        PEAK.load(Ordering::Relaxed).saturating_sub(self.1)
    }
    fn now(&self) -> usize {
        LIVE.load(Ordering::Relaxed).saturating_sub(self.1)
    }
}

#[test]
fn announcements_cost_nothing() {
    let mut count = Count::start();
    let scene = Scene::new();
    scene.assert_alive();
    count.restart();
    // As much as a message may have, and never a byte of it.
    let header = raw::message((1, 2), 0, 0, 64 << 20, &[]);
    let header = [&header[..8], &((64_u32 << 20) - 12).to_be_bytes()].concat();
    let mut wires: Vec<Wire> = (0..50).map(|_| scene.wire()).collect();
    wires.iter_mut().for_each(|wire| wire.send(&header));
    raw::eventually("all of them", || scene.server.connection_count() >= 51);
    std::thread::sleep(Duration::from_millis(200));
    scene.assert_alive();
    let each = count.peak() / wires.len();
    assert!(each < MIB, "{each} bytes for a header of 12");
    // 4 GiB are refused at once.
    count.restart();
    for _ in 0..50 {
        let mut wire = scene.wire();
        wire.send(&raw::message((1, 2), 0, 0, u32::MAX, &[0; 100]));
        wire.expect_message_error();
    }
    assert!(count.peak() < 4 * MIB, "{}", count.peak());
}

#[test]
fn idle_connections_are_cheap() {
    let mut count = Count::start();
    let scene = Scene::new();
    scene.assert_alive();
    count.restart();
    let mut wires: Vec<Wire> = (0..500).map(|_| scene.wire()).collect();
    for wire in &mut wires {
        wire.send(&raw::ping(&scene.key, 1));
        wire.reply().unwrap();
    }
    let each = count.now() / wires.len();
    assert!(each < 24 * KIB, "{each} bytes for an idle connection");
    // After a message of a megabyte, it is not kept for long.
    count.restart();
    let large = Asked::new(&scene.key, "take", 1).bytes(|w| vec![1_u8; MIB].encode(w).unwrap());
    for wire in wires.iter_mut().take(50) {
        wire.send(&large);
        wire.reply().unwrap();
    }
    // Their workers stay with them for a moment, in case more of the kind follow.
    raw::eventually("less kept after large messages", || count.now() / 50 < 24 * KIB);
}

#[test]
fn lengths_that_lie_cost_nothing() {
    let mut count = Count::start();
    let scene = Scene::new();
    scene.assert_alive();
    let mut wire = scene.wire();
    count.restart();
    for operation in ["text", "take", "nest", "wide"] {
        for length in [1 << 20, 1 << 28, u32::MAX] {
            wire.send(&raw::number(&scene.key, operation, 1, length));
            wire.reply().unwrap().exception();
        }
    }
    assert!(count.peak() < MIB, "{}", count.peak());
}

#[test]
fn a_message_costs_little_more_than_itself() {
    let mut count = Count::start();
    let scene = Scene::new();
    scene.assert_alive();
    let large = Asked::new(&scene.key, "take", 1).bytes(|w| vec![1_u8; 32 * MIB].encode(w).unwrap());
    let mut wire = scene.wire();
    count.restart();
    wire.send(&large);
    wire.reply().unwrap();
    // The message, its buffer while it grows, and the servant's copy of its argument.
    assert!(count.peak() < 4 * 32 * MIB, "{} MiB", count.peak() / MIB);
    wire.send(&raw::ping(&scene.key, 1));
    wire.reply().unwrap();
    raw::eventually("it is given back", || count.now() < 2 * MIB);
}

#[test]
fn beginnings_of_messages_are_kept_within_a_limit_for_all_connections() {
    let mut count = Count::start();
    let scene = Scene::with(|c| (c.max_message, c.max_unfinished) = (4 * MIB, 16 * MIB));
    scene.assert_alive();
    let connections = || scene.server.connection_count();
    raw::eventually("only the probe's is left", || connections() == 1);
    let first = raw::message((1, 2), ByteOrder::NATIVE.flag(), 0, 4 * MIB as u32 - 12, &vec![0; 3 * MIB]);
    let fragments = (0..3_u32).map(|id| {
        let piece = [&id.to_ne_bytes()[..], &vec![0; MIB - 4]].concat();
        raw::message((1, 2), ByteOrder::NATIVE.flag() | 2, 0, MIB as u32, &piece)
    });
    for beginnings in [vec![first], fragments.collect()] {
        count.restart();
        // As many as there is room for stay; and what they keep is given back when they leave.
        for _ in 0..2 {
            let begin = |count| -> Vec<Wire> {
                let mut wires: Vec<Wire> = (0..count).map(|_| scene.wire()).collect();
                wires.iter_mut().for_each(|wire| beginnings.iter().for_each(|octets| wire.send(octets)));
                wires
            };
            let wires = begin(25);
            raw::eventually("five are left", || connections() <= 1 + 5);
            // Of these, what is still on its way.
            std::thread::sleep(Duration::from_millis(300));
            scene.assert_alive();
            let mut more = begin(20);
            more.iter_mut().for_each(Wire::expect_closed);
            scene.assert_alive();
            raw::eventually("who was there has stayed", || connections() == 1 + 5);
            drop((wires, more));
            raw::eventually("all have left", || connections() == 1);
        }
        // Buffers grow by doubling.
        assert!(count.peak() < 2 * 16 * MIB + 24 * MIB, "{} MiB", count.peak() / MIB);
    }
    scene.probe.take(&vec![1; 3 * MIB]).unwrap();
}

#[test]
fn fragments_are_kept_within_limits() {
    let mut count = Count::start();
    let scene = Scene::with(|c| c.max_message = MIB);
    scene.assert_alive();
    count.restart();
    let native = ByteOrder::NATIVE.flag();
    let mut wires: Vec<Wire> = (0..10).map(|_| scene.wire()).collect();
    for wire in &mut wires {
        for id in 0..16_u32 {
            wire.send(&raw::message((1, 2), native | 2, 0, 8, &[id.to_ne_bytes(), [0; 4]].concat()));
            let piece = [&id.to_ne_bytes()[..], &[0; 100 * KIB]].concat();
            wire.send(&raw::message((1, 2), native | 2, 7, piece.len() as u32, &piece));
        }
    }
    scene.assert_alive();
    std::thread::sleep(Duration::from_millis(200));
    let each = count.peak() / wires.len();
    // Two of the largest, vectors that have grown by doubling, and the receive buffer.
    assert!(each < 6 * MIB, "{each}");
    drop(wires);
    raw::eventually("it is given back", || count.now() < 4 * MIB);
}

#[test]
fn replies_that_nobody_reads_are_few() {
    let mut count = Count::start();
    let scene = Scene::new();
    scene.assert_alive();
    count.restart();
    let mut wires: Vec<Wire> = (0..5).map(|_| scene.wire()).collect();
    for wire in &mut wires {
        let requests: Vec<u8> =
            (0..200).flat_map(|id| raw::number(&scene.key, "blob", id, 2 << 20)).collect();
        wire.send(&requests);
    }
    std::thread::sleep(Duration::from_secs(1));
    let each = count.peak() / wires.len();
    assert!(each < 16 * MIB, "{each} bytes for a client that does not read");
    scene.assert_alive();
}

/// A reference with many addresses, each of them another.
fn reference(profiles: u32, first: u32) -> Ior {
    let profile = |n: u32| {
        let n = first + n;
        let profile = IiopProfile {
            version: throughline::Version::V1_2,
            host: format!("10.{}.{}.{}", n >> 16 & 255, n >> 8 & 255, n & 255),
            port: 1,
            object_key: vec![1; 16],
            components: Vec::new(),
        };
        Ior::of_iiop("IDL:X:1.0", &profile).unwrap().profiles.remove(0)
    };
    Ior { type_id: "IDL:X:1.0".to_owned(), profiles: (0..profiles).map(profile).collect() }
}

/// A reference with one profile, which has a large key and many addresses.
fn alternatives(addresses: u32) -> Ior {
    let component = |n: u32| {
        throughline_giop::component::Address::Tcp { host: format!("h{n}"), port: 1 }.to_component().unwrap()
    };
    let profile = IiopProfile {
        version: throughline::Version::V1_2,
        host: "h".to_owned(),
        port: 1,
        object_key: vec![1; MIB],
        components: (0..addresses).map(component).collect(),
    };
    Ior::of_iiop("IDL:X:1.0", &profile).unwrap()
}

/// A reference to a place of its own that the native protocol leads to.
fn native_reference(n: u32) -> Ior {
    let host = format!("10.{}.{}.{}", n >> 16 & 255, n >> 8 & 255, n & 255);
    let profile = NativeProfile { address: NativeAddress::Udp { host, port: 1 }, slot: 0, nonce: 1 };
    Ior { type_id: "IDL:X:1.0".to_owned(), profiles: vec![profile.to_tagged().unwrap()] }
}

/// How long this thread has run: unlike the time on the clock it doesn't depend on what else the machine does.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split_whitespace().next().unwrap().parse().unwrap())
}

#[test]
fn references_from_strangers_cost_little() {
    let mut count = Count::start();
    let scene = Scene::new();
    scene.assert_alive();
    // As a client would get it in a result, or a servant as an argument.
    let ior = reference(50_000, 0);
    let size = ior.to_octets(ByteOrder::NATIVE).unwrap().len();
    count.restart();
    let started = processor_time();
    drop(scene.client.reference(ior.clone()));
    let spent = processor_time() - started;
    assert!(spent < Duration::from_secs(2), "{spent:?}");
    assert!(count.peak() < 6 * size + 4 * MIB, "{} for a reference of {size}", count.peak());
    drop(ior);
    // The same in one profile.
    let alternatives = alternatives(50_000);
    let size = alternatives.to_octets(ByteOrder::NATIVE).unwrap().len();
    count.restart();
    drop(scene.client.reference(alternatives));
    assert!(count.peak() < 5 * size + MIB, "{} for a reference of {size}", count.peak());
    // Many references at a time, each to a place of its own, kept and dropped.
    let started = processor_time();
    let many: Vec<_> = (0..80_000).map(|n| scene.client.reference(reference(1, n))).collect();
    drop(many);
    for n in 0..20_000 {
        drop(scene.client.reference(reference(1, n)));
    }
    let spent = processor_time() - started;
    assert!(spent < Duration::from_secs(4), "{spent:?}");
    count.restart();
    for n in 0..20_000 {
        drop(scene.client.reference(reference(1, n)));
    }
    assert!(count.peak() < 4 * MIB, "{}", count.peak());
}

#[test]
fn native_references_from_strangers_cost_little() {
    let mut count = Count::start();
    let scene = Scene::new();
    scene.assert_alive();
    count.restart();
    let started = processor_time();
    let many: Vec<_> = (0..20_000).map(|n| scene.client.reference(native_reference(n))).collect();
    assert!(count.now() < many.len() * 2 * KIB, "{} for {} references", count.now(), many.len());
    drop(many);
    for n in 0..20_000 {
        drop(scene.client.reference(native_reference(n)));
    }
    let spent = processor_time() - started;
    assert!(spent < Duration::from_secs(2), "{spent:?}");
    count.restart();
    for n in 0..20_000 {
        drop(scene.client.reference(native_reference(n)));
    }
    assert!(count.peak() < 4 * MIB, "{}", count.peak());
}

#[test]
fn a_server_cannot_fill_its_client() {
    let mut count = Count::start();
    for future in [false, true] {
        let client = client_with(|c| c.max_message = MIB);
        let bad = BadServer::new(|n, mut wire| {
            let Some(heard) = wire.request() else { return };
            let native = ByteOrder::NATIVE.flag();
            if n == 0 {
                // Fragments without end, of several replies.
                for id in 0..16_u32 {
                    let start = [id.to_ne_bytes(), [0; 4], [0; 4]].concat();
                    wire.send(&raw::message((1, 2), native | 2, 1, 12, &start));
                    let piece = [&id.to_ne_bytes()[..], &[0; 500 * KIB]].concat();
                    wire.send(&raw::message((1, 2), native | 2, 7, piece.len() as u32, &piece));
                }
            } else {
                wire.send(&raw::message((1, 2), native, 1, u32::MAX.to_be(), &heard.id.to_ne_bytes()));
            }
        });
        let probe = bad.reference(&client).within(Duration::from_secs(5));
        count.restart();
        for _ in 0..2 {
            let e = if future { block_on(probe.ping_async()) } else { probe.ping() }.unwrap_err();
            assert_eq!(e.kind, throughline::Kind::CommFailure, "{e}");
        }
        assert!(count.peak() < 12 * MIB, "{}", count.peak());
        client.shutdown(raw::GRACE);
    }
}

#[test]
fn a_long_reply_costs_an_idle_client_nothing() {
    const LENGTH: u32 = 8 << 20;
    let mut count = Count::start();
    for future in [true, false] {
        let client = client_with(|_| {});
        let bad = BadServer::new(|_, mut wire| {
            while let Some(heard) = wire.request() {
                let length = if heard.operation == "blob" { LENGTH } else { 0 };
                wire.send(&raw::reply(heard.id, |w| w.write_octets(&vec![1; length as usize]).unwrap()));
            }
        });
        let probe = bad.reference(&client).within(raw::LONG);
        if future { block_on(probe.ping_async()) } else { probe.ping() }.unwrap();
        count.restart();
        let blob = if future { block_on(probe.blob_async(LENGTH)) } else { probe.blob(LENGTH) };
        assert_eq!(blob.unwrap().len(), LENGTH as usize);
        assert!(count.peak() > LENGTH as usize);
        std::thread::sleep(Duration::from_secs(2));
        // A client of blocking calls looks when it gets to know many other servers.
        let references = if future { 0 } else { 20 };
        let text = |n| format!("corbaloc::127.0.0.{n}:1/x");
        let others: Vec<_> = (1..=references).map(|n| client.string_to_object(&text(n)).unwrap()).collect();
        raw::eventually("little memory", || count.now() < MIB);
        probe.ping().unwrap();
        drop(others);
        client.shutdown(raw::GRACE);
    }
}

#[test]
fn what_has_come_of_a_reply_is_dropped_with_its_call() {
    const PIECE: usize = 250 * KIB;
    let mut count = Count::start();
    let client = client_with(|_| {});
    let bad = BadServer::new(|_, mut wire| {
        let native = ByteOrder::NATIVE.flag();
        while let Some(heard) = wire.request() {
            if heard.operation == "ping" {
                wire.send(&heard.answer());
                continue;
            }
            let start = [heard.id.to_ne_bytes(), [0; 4], [0; 4]].concat();
            wire.send(&raw::message((1, 2), native | 2, 1, 12, &start));
            let piece = [&heard.id.to_ne_bytes()[..], &[0; PIECE - 4]].concat();
            let piece = raw::message((1, 2), native | 2, 7, PIECE as u32, &piece);
            (0..32).for_each(|_| wire.send(&piece));
        }
    });
    let probe = bad.reference(&client).within(raw::LONG);
    probe.ping().unwrap();
    block_on(probe.ping_async()).unwrap();
    let enough = |count: &Count| count.peak() > 20 * PIECE;
    let nearly_nothing = |count: &Count, how| {
        raw::eventually(how, || count.now() < MIB);
        probe.ping().unwrap();
    };
    count.restart();
    let mut dropped = probe.blob_async(1);
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(std::pin::Pin::new(&mut dropped).poll(&mut cx).is_pending());
    raw::eventually("most of it", || enough(&count));
    drop(dropped);
    nearly_nothing(&count, "little memory after a future was dropped");
    for future in [false, true] {
        let mut limit = Duration::from_millis(200);
        count.restart();
        while !enough(&count) {
            let probe = probe.within(limit);
            let e = if future { block_on(probe.blob_async(1)) } else { probe.blob(1) }.unwrap_err();
            assert_eq!(e.kind, throughline::Kind::Timeout, "{e}");
            limit *= 2;
        }
        nearly_nothing(&count, "little memory when the time was over");
    }
    client.shutdown(raw::GRACE);
}

#[test]
fn many_calls_at_a_time_cost_an_idle_client_nothing() {
    const CALLS: usize = 40_000;
    let mut count = Count::start();
    let client = client_with(|_| {});
    let bad = BadServer::new(|_, mut wire| {
        wire.request().into_iter().for_each(|heard| wire.send(&heard.answer()));
        let ids: Vec<_> = (0..CALLS).map_while(|_| Some(wire.request()?.id)).collect();
        ids.into_iter().for_each(|id| wire.send(&raw::reply(id, |_| {})));
        while let Some(heard) = wire.request() {
            wire.send(&heard.answer());
        }
    });
    let probe = bad.reference(&client);
    block_on(probe.ping_async()).unwrap();
    count.restart();
    let mut calls: Vec<_> = (0..CALLS).map(|_| probe.ping_async()).collect();
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    for call in &mut calls {
        assert!(std::pin::Pin::new(call).poll(&mut cx).is_pending());
    }
    for call in calls {
        block_on(call).unwrap();
    }
    raw::eventually("little memory", || count.now() < MIB);
    probe.ping().unwrap();
    client.shutdown(raw::GRACE);
}
