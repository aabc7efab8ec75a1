//! Threads, descriptors and ORBs: none is left when it is not needed. One test at a time, since all count what the
//! process has.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use raw::{
    GRACE, Probe, Scene, block_on, client, client_with, descriptors, eventually, seen_by, server, threads,
};
use throughline::{AdapterConfig, Strategy};

static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads of ORBs.
fn workers() -> usize {
    threads("throughline-")
}

#[test]
fn a_hundred_orbs_leave_nothing() {
    let _alone = alone();
    let cycle = || {
        let scene = Scene::new();
        scene.probe.ping().unwrap();
        block_on(scene.probe.ping_async()).unwrap();
        let mut wire = scene.wire();
        wire.send(&raw::ping(&scene.key, 1));
        wire.reply().unwrap();
        let weak = Arc::downgrade(&scene.servant.0);
        drop(scene);
        drop(wire);
        weak
    };
    cycle();
    eventually("no thread of the first", || workers() == 0);
    let before = descriptors();
    let servants: Vec<_> = (0..100).map(|_| cycle()).collect();
    eventually("no thread left", || workers() == 0);
    eventually("no descriptor left", || descriptors() <= before);
    assert!(servants.iter().all(|s| s.strong_count() == 0), "servants outlive their ORB");
}

#[test]
fn an_orb_that_is_dropped_ends() {
    let _alone = alone();
    let before = descriptors();
    let (server, client) = (server(), client());
    let config = AdapterConfig { objects: Strategy::DynamicHash, ..AdapterConfig::default() };
    let child = server.root().create_child("below", config).unwrap();
    let servant = Probe::default();
    let weak = Arc::downgrade(&servant.0);
    let own = child.activate(servant).unwrap();
    // What is kept of a reference does not hold it.
    child.forward("moved", &own).unwrap();
    server.register_initial_reference("Probe", &own.0);
    let probe = seen_by(&client, &own);
    probe.ping().unwrap();
    block_on(probe.ping_async()).unwrap();
    // An adapter that is held holds its ORB; a reference does.
    drop(server);
    probe.ping().unwrap();
    drop(own);
    probe.ping().unwrap();
    drop(child);
    eventually("the server's threads ended", || weak.strong_count() == 0);
    assert!(probe.ping().is_err());
    drop((client, probe));
    eventually("no thread left", || workers() == 0);
    eventually("no descriptor left", || descriptors() <= before);
}

#[test]
fn shutting_down_ends_every_thread_and_socket() {
    let _alone = alone();
    let before = descriptors();
    let scene = Scene::new();
    let wires: Vec<_> = (0..50).map(|_| scene.wire()).collect();
    std::thread::scope(|s| {
        for _ in 0..8 {
            s.spawn(|| scene.probe.sleep(50).unwrap());
        }
    });
    assert!(workers() >= 2);
    scene.client.shutdown(GRACE);
    scene.server.shutdown(GRACE);
    drop(wires);
    // References and the ORBs themselves still exist.
    eventually("no thread left", || workers() == 0);
    let left = descriptors().saturating_sub(before);
    assert!(left <= 4, "{left} descriptors are left beside two epoll sets");
}

#[test]
fn a_client_of_blocking_calls_has_no_threads() {
    let _alone = alone();
    let (server, client) = (server(), client());
    let probe = seen_by(&client, &server.root().activate(Probe::default()).unwrap());
    probe.ping().unwrap();
    // The names of threads do not tell whose they are. What is left without the server is the client's.
    server.shutdown(GRACE);
    eventually("no thread is the client's", || workers() == 0);
    assert!(probe.ping().is_err());
    client.shutdown(GRACE);
}

#[test]
fn an_idle_connection_that_was_closed_keeps_no_descriptor() {
    const IDLE: Duration = Duration::from_millis(300);
    let _alone = alone();
    for future in [true, false] {
        let (servers, client) = ([(); 8].map(|()| server()), client_with(|c| c.idle_timeout = Some(IDLE)));
        let own = |server: &throughline::Orb| server.root().activate(Probe::default()).unwrap();
        let probes = servers.each_ref().map(|server| seen_by(&client, &own(server)));
        let before = descriptors();
        for probe in &probes {
            if future { block_on(probe.ping_async()) } else { probe.ping() }.unwrap();
        }
        assert!(descriptors() >= before + probes.len());
        std::thread::sleep(2 * IDLE);
        // A client of blocking calls looks when it gets to know many other servers.
        let references = if future { 0 } else { 20 };
        let text = |n| format!("corbaloc::127.0.0.{n}:1/x");
        let others: Vec<_> = (1..=references).map(|n| client.string_to_object(&text(n)).unwrap()).collect();
        eventually("no descriptor left", || descriptors() <= before);
        probes.iter().for_each(|probe| probe.ping().unwrap());
        drop(others);
        client.shutdown(GRACE);
        servers.iter().for_each(|server| server.shutdown(GRACE));
    }
}

#[test]
fn workers_without_work_end() {
    let _alone = alone();
    let scene = Scene::new();
    std::thread::scope(|s| {
        for _ in 0..20 {
            s.spawn(|| scene.probe.sleep(200).unwrap());
        }
    });
    let busy = workers();
    assert!(busy >= 10, "{busy}");
    let started = std::time::Instant::now();
    while workers() > 4 {
        assert!(started.elapsed() < Duration::from_secs(25), "still {} threads", workers());
        std::thread::sleep(Duration::from_millis(100));
    }
    scene.assert_alive();
}

#[test]
fn a_servant_whose_end_panics_costs_no_worker() {
    let _alone = alone();
    let ends = Arc::new(AtomicUsize::new(0));
    let scene = Scene::with(|c| c.max_threads = 2);
    for _ in 0..8 {
        let servant = Probe::default();
        let counted = Arc::clone(&ends);
        *servant.0.on_drop.lock().unwrap() = Some(Box::new(move || {
            counted.fetch_add(1, Ordering::SeqCst);
            std::panic::resume_unwind(Box::new("as asked"));
        }));
        let own = scene.server.root().activate(servant).unwrap();
        let key = own.0.object_key();
        let mut wire = scene.wire();
        wire.send(&raw::number(&key, "sleep", 1, 100));
        std::thread::sleep(Duration::from_millis(30));
        // The call under way holds the servant last: it is dropped on a worker.
        scene.server.root().deactivate(&own).unwrap();
        // The connection may have to end for it, but in order.
        if let Some(answer) = wire.reply() {
            assert_eq!(answer.id, 1);
        }
    }
    assert_eq!(ends.load(Ordering::SeqCst), 8);
    scene.assert_alive();
}

#[test]
fn a_servant_may_use_its_adapter_when_it_ends() {
    let _alone = alone();
    let scene = Scene::new();
    let adapter = scene.server.root().create_child("a", AdapterConfig::default()).unwrap();
    let seen = Arc::new(AtomicUsize::new(usize::MAX));
    let servant = Probe::default();
    let (inside, count) = (adapter.clone(), Arc::clone(&seen));
    *servant.0.on_drop.lock().unwrap() = Some(Box::new(move || count.store(inside.len(), Ordering::SeqCst)));
    let own = adapter.activate(servant).unwrap();
    raw::within(Duration::from_secs(5), move || adapter.deactivate(&own).unwrap());
    assert_eq!(seen.load(Ordering::SeqCst), 0);
}
