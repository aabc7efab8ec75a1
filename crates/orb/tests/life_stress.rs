//! Everybody at once: threads and futures on one connection, slow servants and quick ones, callers who give up.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use raw::{
    Asked, GRACE, LONG, Probe, ProbeRef, Random, Scene, Wire, block_on, client_with, ping, seen_by, within,
};
use throughline::{Kind, Wait};
use throughline_giop::reply::ReplyStatus;
use throughline_giop::request::Response;

const A_WHILE: Duration = Duration::from_secs(2);

/// One caller of many: calls this and that, and sees that every answer is its own.
fn caller(probe: &ProbeRef, seed: u64, until: Instant) -> usize {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut calls = 0;
    while Instant::now() < until {
        calls += 1;
        let text = format!("caller {seed} call {calls}");
        match random.below(9) {
            0 => assert_eq!(probe.text(&text).unwrap(), text),
            1 => assert_eq!(block_on(probe.text_async(&text)).unwrap(), text),
            2 => probe.ping().unwrap(),
            3 => block_on(probe.ping_async()).unwrap(),
            4 => probe.sleep(random.below(4) as u32).unwrap(),
            5 => {
                let size = random.below(100_000);
                assert_eq!(probe.blob(size as u32).unwrap().len(), size);
            }
            6 => gives_up(probe, &mut random),
            7 => together(probe, &mut random, &text),
            _ => drops(probe, &mut random),
        }
    }
    calls
}

/// A call whose time is about as long as the call.
fn gives_up(probe: &ProbeRef, random: &mut Random) {
    let hasty = probe.within(Duration::from_micros(500 + random.below(6000) as u64));
    let ms = random.below(6) as u32;
    let result = if random.below(2) == 0 { hasty.sleep(ms) } else { block_on(hasty.sleep_async(ms)) };
    if let Err(e) = result {
        assert!(matches!(e.kind, Kind::Timeout), "{e}");
    }
}

/// Several futures in one task.
fn together(probe: &ProbeRef, random: &mut Random, text: &str) {
    let mut calls: Vec<_> = (0..1 + random.below(12)).map(|_| Some(probe.text_async(text))).collect();
    block_on(std::future::poll_fn(|cx| {
        for call in &mut calls {
            if let Some(future) = call
                && let Poll::Ready(answer) = std::pin::Pin::new(future).poll(cx)
            {
                assert_eq!(answer.unwrap(), text);
                *call = None;
            }
        }
        if calls.iter().all(Option::is_none) { Poll::Ready(()) } else { Poll::Pending }
    }));
}

/// A future that is polled, and then no longer.
fn drops(probe: &ProbeRef, random: &mut Random) {
    let mut call = probe.sleep_async(random.below(3) as u32);
    let waker = std::task::Waker::noop();
    for _ in 0..random.below(3) {
        let _ = std::pin::Pin::new(&mut call).poll(&mut Context::from_waker(waker));
        std::thread::yield_now();
    }
}

/// Places for calls are limited: after everything, all of them are free.
#[track_caller]
fn has_places(probe: &ProbeRef, places: usize) {
    let mut all: Vec<_> = (0..places).map(|_| Box::pin(probe.sleep_async(20))).collect();
    let mut cx = Context::from_waker(std::task::Waker::noop());
    assert!(all.iter_mut().all(|call| call.as_mut().poll(&mut cx).is_pending()), "a place is lost");
    all.into_iter().for_each(|call| block_on(call).unwrap());
}

fn crowd(wait: Wait, connections: usize, threads: u64) {
    const PLACES: usize = 256;
    let scene = Scene::with(|c| {
        c.wait = wait;
        c.max_threads = 32;
    });
    let client = client_with(|c| {
        c.wait = wait;
        c.max_outstanding = PLACES;
        c.connections_per_server = connections;
    });
    let probe = seen_by(&client, &scene.own);
    probe.ping().unwrap();
    block_on(probe.ping_async()).unwrap();
    let until = Instant::now() + A_WHILE;
    let callers: Vec<_> = (0..threads)
        .map(|seed| {
            let probe = probe.clone();
            std::thread::spawn(move || caller(&probe, seed, until))
        })
        .collect();
    let calls: usize = within(A_WHILE + LONG, move || callers.into_iter().map(|c| c.join().unwrap()).sum());
    assert!(calls > 100, "{calls} calls in {A_WHILE:?}");
    has_places(&probe, PLACES / 2);
    client.shutdown(GRACE);
}

#[test]
fn threads_and_futures_on_one_connection() {
    crowd(Wait::Block, 1, 16);
}

#[test]
fn threads_and_futures_that_spin_on_several_connections() {
    crowd(Wait::Spin(Duration::from_micros(50)), 3, 6);
}

#[test]
fn patient_callers_beside_hasty_ones() {
    // Whoever receives for all may give up at any time: somebody else must take over. A patient caller that nobody
    // receives for would wait for ever.
    let scene = Scene::new();
    let until = Instant::now() + A_WHILE;
    let callers: Vec<_> = (0..12_u64)
        .map(|n| {
            let probe = scene.probe.clone();
            std::thread::spawn(move || {
                let mut random = Random(n + 1);
                while Instant::now() < until {
                    if n % 3 == 0 {
                        probe.sleep(random.below(3) as u32).unwrap();
                    } else {
                        let hasty = probe.within(Duration::from_micros(200 + random.below(3000) as u64));
                        let _ = hasty.sleep(random.below(4) as u32);
                    }
                }
            })
        })
        .collect();
    within(A_WHILE + LONG, move || callers.into_iter().for_each(|c| c.join().unwrap()));
}

/// Sends requests of every kind by hand, pipelined, and sees that each gets its one reply.
fn pipeline(mut wire: Wire, key: &[u8], seed: u64, rounds: u32) {
    let mut random = Random(seed + 1);
    for round in 0..rounds {
        let mut missing = HashSet::new();
        let mut bytes = Vec::new();
        for id in 0..1 + random.below(30) as u32 {
            let id = round * 100 + id;
            let ms = if random.below(8) == 0 { random.below(60) as u32 } else { 0 };
            bytes.extend(match random.below(6) {
                0 => raw::number(key, "sleep", id, ms),
                1 => Asked::new(key, "blob", id).bytes(|w| {
                    w.write_u32(random.below(300_000) as u32);
                    w.write_u32(ms);
                }),
                2 => Asked { response: Response::None, ..Asked::new(key, "post", id) }.bytes(|w| {
                    w.write_u32(id);
                    w.write_u32(ms / 8);
                }),
                3 => raw::cancel(id ^ 1),
                _ => ping(key, id),
            });
            if !bytes.is_empty() && matches!(bytes_kind(&bytes), Last::Answered(last) if last == id) {
                missing.insert(id);
            }
        }
        let mut at = 0;
        while at < bytes.len() {
            let piece = (1 + random.below(700)).min(bytes.len() - at);
            wire.send(&bytes[at..at + piece]);
            at += piece;
        }
        while !missing.is_empty() {
            let answer = wire.reply().unwrap_or_else(|| panic!("closed before {missing:?}"));
            assert_eq!(answer.status, ReplyStatus::NoException);
            assert!(missing.remove(&answer.id), "a reply to {} out of nowhere", answer.id);
        }
    }
}

enum Last {
    Answered(u32),
    NotAnswered,
}

/// Whether the last message of several wants an answer.
fn bytes_kind(bytes: &[u8]) -> Last {
    use throughline_giop::header::{MessageHeader, MessageType};
    use throughline_giop::request::RequestHeader;
    let mut rest = bytes;
    let mut last = Last::NotAnswered;
    while !rest.is_empty() {
        let header = MessageHeader::of(rest, 1 << 30).unwrap();
        let (message, later) = rest.split_at(header.message_len());
        last = Last::NotAnswered;
        if header.kind == MessageType::Request {
            let request = RequestHeader::read(&header, message).unwrap();
            if request.response.is_expected() {
                last = Last::Answered(request.request_id);
            }
        }
        rest = later;
    }
    last
}

fn pipelines(threads: usize) {
    let scene = Scene::with(|c| c.max_threads = threads);
    let all: Vec<_> = (0..6)
        .map(|seed| {
            let (wire, key) = (scene.wire(), scene.key.clone());
            std::thread::spawn(move || pipeline(wire, &key, seed, 12))
        })
        .collect();
    within(2 * LONG, move || all.into_iter().for_each(|p| p.join().unwrap()));
    scene.assert_alive();
}

#[test]
fn slow_and_quick_requests_pipelined() {
    pipelines(64);
}

#[test]
fn slow_and_quick_requests_pipelined_with_few_threads() {
    pipelines(3);
}

#[test]
fn slow_calls_on_one_connection_run_beside_each_other() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    let started = Instant::now();
    wire.send(&(0..10).flat_map(|id| raw::number(&scene.key, "sleep", id, 500)).collect::<Vec<_>>());
    let ids: HashSet<_> = (0..10).map(|_| wire.reply().unwrap().id).collect();
    assert_eq!(ids.len(), 10);
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

#[test]
fn oneways_are_carried_out_in_order_whatever_runs_beside_them() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    let mut random = Random(5);
    let mut bytes = Vec::new();
    for n in 0..300 {
        if n % 20 == 0 {
            bytes.extend(raw::number(&scene.key, "sleep", 1000 + n, 40));
        }
        let ms = if n % 7 == 0 { random.below(30) as u32 } else { 0 };
        bytes.extend(Asked { response: Response::None, ..Asked::new(&scene.key, "post", n) }.bytes(|w| {
            w.write_u32(n);
            w.write_u32(ms);
        }));
        if n % 50 == 49 {
            bytes.extend(
                Asked { response: Response::None, ..Asked::new(&scene.key, "panic_oneway", n) }.bytes(|_| {}),
            );
        }
    }
    wire.send(&bytes);
    for _ in 0..15 {
        wire.reply().unwrap();
    }
    // The last oneways may still run.
    raw::eventually("all of them", || scene.servant.0.posted.lock().unwrap().len() == 300);
    assert_eq!(*scene.servant.0.posted.lock().unwrap(), (0..300).collect::<Vec<_>>());
}

#[test]
fn oneways_that_panic() {
    let scene = Scene::with(|c| c.max_threads = 2);
    for n in 0..50 {
        scene.probe.panic_oneway().unwrap();
        scene.probe.post(n, 0).unwrap();
        assert_eq!(scene.probe.panic().unwrap_err().kind, Kind::Unknown);
    }
    assert_eq!(scene.probe.posted().unwrap().len(), 50);
}

#[test]
fn calls_from_within_servants_are_quick() {
    let inner = Scene::new();
    let target = Arc::new(OnceLock::<ProbeRef>::new());
    let (inside, millis) = (Arc::clone(&target), Arc::new(AtomicUsize::new(0)));
    let took = Arc::clone(&millis);
    let servant = Probe::running(move || {
        let probe = inside.get().unwrap();
        // Long enough for another worker to take over the connection that this call came by.
        std::thread::sleep(Duration::from_millis(80));
        let started = Instant::now();
        (0..30).for_each(|_| probe.ping().unwrap());
        took.store(started.elapsed().as_millis() as usize, Ordering::SeqCst);
    });
    let outer = Scene::of(servant, |_| {});
    // The outer server is a client of the inner one.
    let probe = ProbeRef(outer.server.string_to_object(&inner.own.0.to_string()).unwrap());
    probe.ping().unwrap();
    target.set(probe).unwrap();
    // More requests on the connection of the call, so that another worker waits there for the next one meanwhile.
    let mut wire = outer.wire();
    wire.send(&Asked::new(&outer.key, "run", 1).bytes(|_| {}));
    let mut missing = 1;
    for id in 2..40 {
        wire.send(&ping(&outer.key, id));
        missing += 1;
        std::thread::sleep(Duration::from_millis(30));
        if millis.load(Ordering::SeqCst) > 0 {
            break;
        }
    }
    (0..missing).for_each(|_| drop(wire.reply().unwrap()));
    let millis = millis.load(Ordering::SeqCst);
    assert!(millis < 300, "30 inner calls took {millis} ms");
}

#[test]
fn objects_come_and_go_under_fire() {
    let scene = Scene::new();
    let stop = Arc::new(AtomicBool::new(false));
    let current = Arc::new(std::sync::Mutex::new(scene.own.clone()));
    let callers: Vec<_> = (0..4)
        .map(|_| {
            let (stop, current, client) = (Arc::clone(&stop), Arc::clone(&current), scene.client.clone());
            std::thread::spawn(move || {
                let mut served = 0;
                while !stop.load(Ordering::Relaxed) {
                    let own = current.lock().unwrap().clone();
                    match seen_by(&client, &own).ping() {
                        Ok(()) => served += 1,
                        Err(e) => assert_eq!(e.kind, Kind::ObjectNotExist, "{e}"),
                    }
                }
                served
            })
        })
        .collect();
    let adapter = scene.server.root().create_child("a", throughline::AdapterConfig::default()).unwrap();
    for _ in 0..2000 {
        let next = adapter.activate(Probe::default()).unwrap();
        let before = std::mem::replace(&mut *current.lock().unwrap(), next);
        if before != scene.own {
            adapter.deactivate(&before).unwrap();
        }
    }
    stop.store(true, Ordering::Relaxed);
    let served: usize = within(LONG, move || callers.into_iter().map(|c| c.join().unwrap()).sum());
    assert!(served > 0);
}
