//! Clients that do not read, do not finish what they begin, or take more than their share.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::collections::HashSet;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use raw::{Asked, GRACE, LONG, Said, Scene, Wire, number, ping};
use throughline::{Completion, Kind};
use throughline_cdr::ByteOrder;
use throughline_giop::header::{HEADER_LEN, MessageType};
use throughline_giop::reply::ReplyStatus;

const SECOND: Duration = Duration::from_secs(1);

fn blob(key: &[u8], id: u32, size: u32, ms: u32) -> Vec<u8> {
    Asked::new(key, "blob", id).bytes(|w| {
        w.write_u32(size);
        w.write_u32(ms);
    })
}

/// Reads replies until all of `ids` have come, in any order.
#[track_caller]
fn collect(wire: &mut Wire, ids: impl IntoIterator<Item = u32>) {
    let mut missing: HashSet<u32> = ids.into_iter().collect();
    while !missing.is_empty() {
        let answer = wire.reply().unwrap_or_else(|| panic!("closed before {missing:?}"));
        assert_eq!(answer.status, ReplyStatus::NoException);
        assert!(missing.remove(&answer.id), "reply to {} out of nowhere", answer.id);
    }
}

#[test]
fn the_reply_of_a_slow_call_is_sent_though_others_took_over_its_connection() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    // All in one segment: more requests wait while the slow servant runs.
    wire.send(&[number(&scene.key, "sleep", 1, 400), ping(&scene.key, 2), ping(&scene.key, 3)].concat());
    collect(&mut wire, 1..=3);
}

#[test]
fn a_large_reply_of_a_slow_call_arrives_whole() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    wire.send(&[blob(&scene.key, 1, 20_000_000, 300), ping(&scene.key, 2)].concat());
    assert_eq!(wire.reply().unwrap().id, 2);
    // By now the connection is parked, and the reply is more than the kernel takes.
    std::thread::sleep(Duration::from_millis(800));
    let answer = wire.reply().unwrap();
    assert_eq!((answer.id, answer.message.len() > 20_000_000), (1, true));
    wire.send(&ping(&scene.key, 3));
    collect(&mut wire, [3]);
}

#[test]
fn a_client_that_does_not_read_stops_being_served() {
    const REPLY: u32 = 4 << 20;
    let scene = Scene::new();
    let mut wire = scene.wire();
    let requests: Vec<u8> = (0..100).flat_map(|id| blob(&scene.key, id, REPLY, 0)).collect();
    wire.send(&requests);
    std::thread::sleep(SECOND);
    // What the kernel takes (a few MiB), what waits, and one in the making; not all 400 MiB.
    let made = scene.servant.runs();
    assert!(made <= 8, "{made} replies of 4 MiB were made for a client that reads none");
    scene.assert_alive();
    // When it reads again, everything comes.
    collect(&mut wire, 0..100);
    wire.send(&ping(&scene.key, 200));
    collect(&mut wire, [200]);
}

#[test]
fn a_client_that_never_reads_is_disconnected() {
    let scene = Scene::with(|c| c.stall_timeout = SECOND);
    let mut wires: Vec<_> = (0..10).map(|_| scene.wire()).collect();
    for wire in &mut wires {
        let requests: Vec<u8> = (0..20).flat_map(|id| blob(&scene.key, id, 4 << 20, 0)).collect();
        wire.send(&requests);
    }
    raw::eventually("the connections", || scene.server.connection_count() >= 10);
    let started = Instant::now();
    while scene.server.connection_count() > 1 {
        scene.assert_alive();
        assert!(started.elapsed() < Duration::from_secs(8), "still {}", scene.server.connection_count());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(started.elapsed() > SECOND / 2);
}

#[test]
fn a_slow_reader_gets_everything() {
    let scene = Scene::with(|c| c.stall_timeout = 2 * SECOND);
    let mut wire = scene.wire();
    for id in 0..4 {
        wire.send(&blob(&scene.key, id, 4 << 20, 0));
    }
    // Slower than the timeout in total, but never silent for long.
    let mut missing = HashSet::from([0, 1, 2, 3]);
    while !missing.is_empty() {
        std::thread::sleep(Duration::from_millis(1200));
        // In any order: several workers may have taken the requests.
        let id = wire.reply().unwrap().id;
        assert!(missing.remove(&id), "reply to {id} out of nowhere");
    }
}

#[test]
fn requests_may_wait_for_as_long_as_a_reply_takes_to_be_read() {
    let scene = Scene::with(|c| c.stall_timeout = SECOND);
    let mut wire = scene.wire();
    wire.send(&[blob(&scene.key, 1, 16 << 20, 0), ping(&scene.key, 2)].concat());
    let whole = raw::reply(1, |w| w.write_u32(0)).len() + (16 << 20) + raw::reply(2, |_| {}).len();
    let mut received = vec![0; whole];
    // The second request is not late: the server has it, and waits for the client to read.
    for slice in received.chunks_mut(1 << 20) {
        std::thread::sleep(Duration::from_millis(200));
        std::io::Read::read_exact(&mut wire.0, slice).unwrap();
    }
    wire.send(&ping(&scene.key, 3));
    collect(&mut wire, [3]);
}

#[test]
fn half_a_message_is_not_waited_for_for_ever() {
    let scene = Scene::with(|c| c.stall_timeout = SECOND);
    let whole = ping(&scene.key, 1);
    let mut wires: Vec<_> = [1, 6, 11, 12, 20, whole.len() - 1].map(|cut| (cut, scene.wire())).into();
    for (cut, wire) in &mut wires {
        wire.send(&whole[..*cut]);
    }
    for (_, wire) in &mut wires {
        let started = Instant::now();
        wire.expect_closed();
        assert!(started.elapsed() < Duration::from_secs(6));
    }
    scene.assert_alive();
}

#[test]
fn what_waits_for_a_thread_is_not_late() {
    let scene = Scene::with(|c| (c.max_threads, c.stall_timeout) = (2, SECOND));
    let (whole, mut wires) = (ping(&scene.key, 1), [(); 3].map(|()| scene.wire()));
    let [received, half_received, keeps] = &mut wires;
    half_received.send(&whole[..20]);
    keeps.send(&number(&scene.key, "sleep", 2, 3000));
    raw::eventually("the first servant", || scene.servant.runs() == 1);
    received.send(&[number(&scene.key, "sleep", 2, 3000), whole.clone()].concat());
    raw::eventually("both threads are kept", || scene.servant.runs() == 2);
    // Stays in the kernel meanwhile.
    half_received.send(&whole[20..]);
    collect(received, 1..=2);
    collect(half_received, [1]);
    collect(keeps, [2]);
}

#[test]
fn who_reads_while_no_thread_can_send_more_is_not_taken_for_one_who_does_not() {
    const REPLY: usize = 16 << 20;
    let scene = Scene::with(|c| (c.max_threads, c.stall_timeout) = (2, SECOND * 3 / 2));
    let mut wires = [(); 3].map(|()| scene.wire());
    let [reads, busy @ ..] = &mut wires;
    reads.send(&blob(&scene.key, 1, REPLY as u32, 0));
    raw::eventually("the reply", || scene.servant.runs() == 1);
    for wire in busy.iter_mut() {
        wire.send(&number(&scene.key, "sleep", 2, 3500));
    }
    raw::eventually("both threads are kept", || scene.servant.runs() == 3);
    let started = Instant::now();
    collect(reads, [1]);
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    busy.iter_mut().for_each(|wire| collect(wire, [2]));
}

#[test]
fn many_half_messages_hold_nobody_up() {
    let scene = Scene::new();
    let whole = ping(&scene.key, 1);
    let mut wires: Vec<_> = (0..300).map(|_| scene.wire()).collect();
    let deadline = Instant::now() + SECOND;
    let (mut sent, mut slowest) = (0, Duration::ZERO);
    // Each byte of each connection alone, and a proper call in between.
    while Instant::now() < deadline {
        for wire in &mut wires {
            wire.send(&whole[sent..=sent]);
        }
        sent = (sent + 1).min(whole.len() - 2);
        let started = Instant::now();
        scene.probe.within(LONG).ping().unwrap();
        slowest = slowest.max(started.elapsed());
        if sent == whole.len() - 2 {
            break;
        }
    }
    assert!(slowest < SECOND, "a call took {slowest:?}");
    // Their calls are answered in the end.
    for wire in &mut wires {
        wire.send(&whole[sent..]);
        assert_eq!(wire.reply().unwrap().id, 1);
    }
}

/// How long five calls of a client take that has just come.
fn five_calls(scene: &Scene) -> Duration {
    let mut wire = scene.wire();
    let started = Instant::now();
    for id in 0..5 {
        wire.send(&ping(&scene.key, id));
        assert_eq!(wire.reply().unwrap().id, id);
    }
    started.elapsed()
}

#[test]
fn a_flood_on_one_connection_leaves_room_for_others_when_threads_are_few() {
    let scene = Scene::with(|c| c.max_threads = 2);
    let slow = scene.probe.clone();
    let stop = AtomicBool::new(false);
    std::thread::scope(|s| {
        // One thread is kept by a servant, the other one by the flood, if it lets itself be kept.
        s.spawn(move || slow.sleep(2500).unwrap());
        std::thread::sleep(Duration::from_millis(200));
        let mut flood = scene.wire();
        let mut reading = Wire::of(flood.0.try_clone().unwrap());
        let (key, stop_flood) = (&scene.key, &stop);
        s.spawn(move || {
            // More work than the server can ever do.
            let batch: Vec<u8> = (0..1000).flat_map(|id| number(key, "sleep", id, 1)).collect();
            while !stop_flood.load(Ordering::Relaxed) {
                flood.send(&batch);
            }
            let _ = flood.0.shutdown(std::net::Shutdown::Both);
        });
        s.spawn(move || while let Said::Reply(_) = reading.next() {});
        std::thread::sleep(Duration::from_millis(200));
        let took = five_calls(&scene);
        stop.store(true, Ordering::Relaxed);
        assert!(took < SECOND, "5 calls took {took:?} beside the flood");
    });
}

#[test]
fn a_flood_of_pieces_leaves_room_for_others_when_threads_are_few() {
    let scene = Scene::with(|c| c.max_threads = 2);
    let whole = ping(&scene.key, 1);
    let (flags, id) = (ByteOrder::NATIVE.flag() | 2, &whole[HEADER_LEN..][..4]);
    let beginning = raw::message((1, 2), flags, 0, 8, &whole[HEADER_LEN..][..8]);
    let pieces = raw::message((1, 2), flags, 7, 4, id).repeat(4096);
    let stop = AtomicBool::new(false);
    std::thread::scope(|s| {
        for _ in 0..4 {
            let mut flood = scene.wire();
            let (beginning, pieces, stop) = (&beginning, &pieces, &stop);
            s.spawn(move || {
                flood.send(beginning);
                let started = Instant::now();
                while !stop.load(Ordering::Relaxed) && started.elapsed() < LONG / 2 {
                    flood.send(pieces);
                }
            });
        }
        std::thread::sleep(Duration::from_millis(300));
        let took = five_calls(&scene);
        stop.store(true, Ordering::Relaxed);
        assert!(took < 3 * SECOND, "5 calls took {took:?} beside the flood");
    });
}

#[test]
fn busy_threads_hold_others_up_only_until_one_is_free() {
    let scene = Scene::with(|c| c.max_threads = 2);
    let slow: Vec<_> = (0..4).map(|_| scene.wire()).collect();
    let mut slow: Vec<_> = slow.into_iter().map(|w| (w, ())).collect();
    for (wire, ()) in &mut slow {
        wire.send(&number(&scene.key, "sleep", 1, 300));
    }
    std::thread::sleep(Duration::from_millis(50));
    let started = Instant::now();
    scene.probe.within(LONG).ping().unwrap();
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    for (wire, ()) in &mut slow {
        assert_eq!(wire.reply().unwrap().id, 1);
    }
}

#[test]
fn connections_over_the_limit_are_closed_at_once() {
    let scene = Scene::with(|c| c.max_connections = 8);
    scene.probe.ping().unwrap();
    let mut wires: Vec<_> = (0..7).map(|_| scene.wire()).collect();
    raw::eventually("seven more connections", || scene.server.connection_count() == 8);
    // In order, so that the client knows that nothing was begun, whether it has sent something already or not.
    for asks in [false, true] {
        let mut wire = scene.wire();
        if asks {
            wire.send(&ping(&scene.key, 1));
        }
        let (header, _) = wire.other().expect("closed without a word");
        assert_eq!(header.kind, MessageType::CloseConnection);
        wire.expect_closed();
    }
    for (id, wire) in (0..).zip(&mut wires) {
        wire.send(&ping(&scene.key, id));
        assert_eq!(wire.reply().unwrap().id, id);
    }
    wires.clear();
    raw::eventually("room again", || scene.server.connection_count() == 1);
    scene.assert_alive();
}

#[test]
fn a_call_over_the_limit_of_connections_is_known_not_to_have_begun() {
    let scene = Scene::with(|c| c.max_connections = 1);
    let wire = scene.wire();
    raw::eventually("one connection", || scene.server.connection_count() == 1);
    let ping = |future| match future {
        false => scene.probe.within(LONG).ping(),
        true => raw::block_on(scene.probe.within(LONG).ping_async()),
    };
    for future in [false, true] {
        let e = ping(future).unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Transient, Completion::No), "{e}");
    }
    drop(wire);
    raw::eventually("room again", || scene.server.connection_count() == 0);
    assert_eq!([false, true].map(ping), [Ok(()), Ok(())]);
}

#[test]
fn connections_that_open_and_close_at_once_leave_nothing() {
    let scene = Scene::new();
    scene.probe.ping().unwrap();
    for round in 0..3000_u32 {
        let mut wire = scene.wire();
        match round % 4 {
            0 => {}
            1 => wire.send(&ping(&scene.key, round)),
            2 => wire.send(b"GIO"),
            _ => {
                // Closing with unread data resets the connection.
                let linger = rustix::net::sockopt::set_socket_linger(&wire.0, Some(Duration::ZERO));
                linger.unwrap();
                wire.send(&ping(&scene.key, round));
            }
        }
    }
    scene.assert_alive();
    raw::eventually("one connection left", || scene.server.connection_count() <= 1);
}

#[test]
fn a_client_that_closes_its_sending_side_gets_its_replies() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    wire.send(&[ping(&scene.key, 1), ping(&scene.key, 2)].concat());
    wire.hush();
    collect(&mut wire, 1..=2);
    wire.expect_closed();
    // Those of servants that take long, and long ones, too.
    let mut wire = scene.wire();
    wire.send(&[number(&scene.key, "sleep", 1, 300), blob(&scene.key, 2, 20_000_000, 200)].concat());
    wire.hush();
    collect(&mut wire, 1..=2);
    wire.expect_closed();
    raw::eventually("no connection is left", || scene.server.connection_count() == 0);
    scene.server.shutdown(GRACE);
}

#[test]
fn a_client_that_leaves_is_gone_when_its_calls_are() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    wire.send(&[number(&scene.key, "sleep", 1, 300), number(&scene.key, "sleep", 2, 600)].concat());
    raw::eventually("both servants", || scene.servant.runs() == 2);
    drop(wire);
    raw::eventually("no connection is left", || scene.server.connection_count() == 0);
    scene.assert_alive();
}

#[test]
fn whoever_takes_long_with_a_message_leaves_when_others_need_the_room() {
    const MIB: usize = 1 << 20;
    let scene =
        Scene::with(|c| (c.stall_timeout, c.max_message, c.max_unfinished) = (SECOND, 4 * MIB, 16 * MIB));
    let begun = raw::message((1, 2), ByteOrder::NATIVE.flag(), 0, 4 * MIB as u32 - 12, &vec![0; 3 * MIB]);
    // Never silent for as long as a stalled client may be.
    let trickle = |wires: &mut [Wire], seconds| {
        for _ in 0..seconds * 5 {
            std::thread::sleep(SECOND / 5);
            wires.iter_mut().for_each(|wire| _ = wire.0.write(&[0]));
            scene.assert_alive();
        }
    };
    let begin = |count| -> Vec<Wire> {
        let mut wires: Vec<_> = (0..count).map(|_| scene.wire()).collect();
        wires.iter_mut().for_each(|wire| wire.send(&begun));
        wires
    };
    // There is room enough beside two, whatever time they take.
    let mut few = begin(2);
    trickle(&mut few, 3);
    raw::eventually("two, and the probe", || scene.server.connection_count() == 1 + 2);
    // There is none beside three more.
    let mut more = begin(3);
    trickle(&mut more, 4);
    raw::eventually("no more than there is room for", || scene.server.connection_count() <= 1 + 2);
    scene.probe.take(&vec![1; 3 * MIB]).unwrap();
}
