//! Priority lanes: which thread carries a call out, and what becomes of those that find their lane full.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use raw::{
    Asked, GRACE, Probe, ProbeRef, Random, Wire, client, eventually, number, seen_by, server_with, within,
};
use throughline::exception::minor;
use throughline::rt::{Operation, SystemException};
use throughline::{
    AdapterConfig, AdapterError, Completion, Kind, LaneConfig, LaneCounts, Lanes, LanesError, Orb, Priority,
    block_on,
};
use throughline_giop::ServiceContext;
use throughline_giop::codeset::CodeSetContext;
use throughline_giop::reply::ReplyStatus;
use throughline_giop::request::Response;
use throughline_giop::service_context::{CODE_SETS, RT_CORBA_PRIORITY};

const RUN: Operation = Operation::new("run", 10);
const LOW: Priority = Priority::LOWEST;

fn prio(n: i16) -> Priority {
    Priority::new(n).unwrap()
}

fn listening_at(address: &str) -> Orb {
    server_with(|c| c.listen = vec![address.parse().unwrap()])
}

/// An ORB whose root adapter serves in these lanes.
fn served_in(address: &str, lanes: &[LaneConfig]) -> (Orb, Lanes) {
    let server = listening_at(address);
    let lanes = server.create_lanes(lanes).unwrap();
    server.root().serve_in(&lanes).unwrap();
    (server, lanes)
}

fn urgent(probe: &ProbeRef, priority: i16) -> ProbeRef {
    ProbeRef(probe.0.with_priority(prio(priority)))
}

/// An object whose calls wait until something is sent, and tell that they have begun.
fn gate() -> (Probe, Receiver<()>, Sender<()>) {
    let ((begun, begins), (open, opened)) = (channel(), channel());
    let (begun, opened) = (Mutex::new(begun), Mutex::new(opened));
    let probe = Probe::running(move || {
        let _ = begun.lock().unwrap().send(());
        let _ = opened.lock().unwrap().recv();
    });
    (probe, begins, open)
}

const ADDRESSES: [&str; 3] = ["127.0.0.1:0", "shm:", "udp://127.0.0.1:0"];

#[test]
fn each_call_in_every_form_is_carried_out_by_its_lane() {
    for address in ADDRESSES {
        let lanes = [LaneConfig::new(prio(100), 1), LaneConfig::new(LOW, 2), LaneConfig::new(prio(1000), 1)];
        let (server, lanes) = served_in(address, &lanes);
        let names = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&names);
        let probe = Probe::running(move || {
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            noted.lock().unwrap().push(name);
        });
        let client = client();
        let probe = seen_by(&client, &server.root().activate(probe).unwrap());
        for (priority, lane) in [(0, 0), (99, 0), (100, 100), (512, 100), (1000, 1000), (32767, 1000)] {
            let probe = urgent(&probe, priority);
            probe.run().unwrap();
            block_on(probe.run_async()).unwrap();
            probe.0.begin::<(), SystemException>(RUN, |_| Ok(()), |_| Ok(()), None).wait().unwrap();
            probe.0.send_oneway(RUN, |_| Ok(())).unwrap();
            eventually("all have run", || names.lock().unwrap().len() == 4);
            let names = std::mem::take(&mut *names.lock().unwrap());
            assert_eq!(names, vec![format!("throughline-p{lane}"); 4], "{address}, {priority}");
        }
        let served: Vec<_> = lanes.counts().iter().map(|lane| lane.served).collect();
        assert_eq!(served, [8, 8, 8], "{address}");
        [server, client].iter().for_each(|orb| orb.shutdown(GRACE));
    }
}

#[test]
fn the_highest_lane_that_is_not_above() {
    let server = listening_at("127.0.0.1:0");
    let mut random = Random(7);
    for _ in 0..100 {
        let mut priorities: Vec<i16> =
            (0..1 + random.below(6)).map(|_| random.below(40) as i16 * 800).collect();
        priorities.sort_unstable();
        priorities.dedup();
        // In whatever order they are told.
        let shuffled = priorities.iter().rev().map(|p| LaneConfig::new(prio(*p), 1));
        let lanes = server.create_lanes(&shuffled.collect::<Vec<_>>()).unwrap();
        for _ in 0..50 {
            let asked = random.below(32768) as i16;
            let expected = priorities.iter().rfind(|lane| **lane <= asked).unwrap_or(&priorities[0]);
            assert_eq!(lanes.lane_for(prio(asked)).get(), *expected, "{asked} of {priorities:?}");
        }
    }
    server.shutdown(GRACE);
}

#[test]
fn a_full_lane_refuses_and_the_others_serve() {
    for address in ADDRESSES {
        let small = LaneConfig { queue: 2, ..LaneConfig::new(LOW, 1) };
        let (server, lanes) = served_in(address, &[small, LaneConfig::new(prio(100), 1)]);
        let (gate, begins, open) = gate();
        let client = client();
        let slow = seen_by(&client, &server.root().activate(gate).unwrap());
        let quick = seen_by(&client, &server.root().activate(Probe::default()).unwrap());
        let callers: Vec<_> = (0..3)
            .map(|n| {
                let slow = slow.clone();
                let caller = std::thread::spawn(move || slow.run());
                // One runs, then two wait.
                eventually("it is there", || {
                    let lane = lanes.counts()[0];
                    (lane.served, lane.waiting) == (1, n)
                });
                caller
            })
            .collect();
        begins.recv().unwrap();
        let refused = SystemException::new(Kind::Transient, minor::LANE_FULL);
        assert_eq!(quick.ping().unwrap_err(), refused, "{address}");
        assert_eq!(block_on(quick.ping_async()).unwrap_err().completed, Completion::No);
        quick.post(7, 0).unwrap();
        eventually("the oneway was refused", || lanes.counts()[0].refused == 3);
        // As often as they like.
        for _ in 0..100 {
            urgent(&quick, 100).ping().unwrap();
        }
        let [low, high] = lanes.counts()[..] else { panic!("two lanes") };
        assert_eq!(low, LaneCounts { priority: LOW, waiting: 2, served: 1, refused: 3 });
        assert_eq!(high, LaneCounts { priority: prio(100), waiting: 0, served: 100, refused: 0 });
        (0..3).for_each(|_| open.send(()).unwrap());
        callers.into_iter().for_each(|caller| caller.join().unwrap().unwrap());
        assert_eq!(quick.posted().unwrap(), []);
        [server, client].iter().for_each(|orb| orb.shutdown(GRACE));
    }
}

/// On one connection: the requests in front wait, and most of them are refused, but those behind are read.
#[test]
fn a_full_lane_does_not_keep_others_from_being_read() {
    let small = LaneConfig { queue: 4, ..LaneConfig::new(LOW, 1) };
    let (server, lanes) = served_in("127.0.0.1:0", &[small, LaneConfig::new(prio(100), 1)]);
    let (gate, begins, open) = gate();
    let key = server.root().activate(gate).unwrap().0.object_key();
    let mut wire = Wire::to(&server);
    let run = |id| Asked::new(&key, "run", id).bytes(|_| {});
    wire.send(&run(0));
    begins.recv().unwrap();
    wire.send(&(1..64).flat_map(run).collect::<Vec<_>>());
    let hurry = [ServiceContext { id: RT_CORBA_PRIORITY, data: &[0, 0, 0, 100] }];
    wire.send(&Asked { contexts: &hurry, ..Asked::new(&key, "ping", 1000) }.bytes(|_| {}));
    // One runs, four wait, the next is refused; and all that before anything has been opened.
    for _ in 5..64 {
        let reply = wire.reply().unwrap();
        assert_eq!(reply.exception(), (Kind::Transient, minor::LANE_FULL, Completion::No), "{}", reply.id);
    }
    let reply = wire.reply().unwrap();
    assert_eq!((reply.id, reply.status), (1000, ReplyStatus::NoException));
    for id in 0..5 {
        open.send(()).unwrap();
        let reply = wire.reply().unwrap();
        assert_eq!((reply.id, reply.status), (id, ReplyStatus::NoException));
    }
    assert_eq!(lanes.counts()[0].refused, 59);
    server.shutdown(GRACE);
}

/// Requests that overtake those with which a connection began are read as the client said there.
#[test]
fn code_sets_hold_for_requests_that_overtake() {
    let (server, _) = served_in("127.0.0.1:0", &[LaneConfig::new(LOW, 1), LaneConfig::new(prio(9), 1)]);
    let (gate, begins, open) = gate();
    let key = server.root().activate(gate).unwrap().0.object_key();
    let mut wire = Wire::to(&server);
    wire.send(&Asked::new(&key, "run", 1).bytes(|_| {}));
    begins.recv().unwrap();
    let utf8 =
        CodeSetContext { char_data: 0x0501_0001, wchar_data: 0 }.to_octets(throughline_cdr::ByteOrder::Big);
    let told = [ServiceContext { id: CODE_SETS, data: &utf8 }];
    // It waits behind the first.
    wire.send(&Asked { contexts: &told, ..Asked::new(&key, "ping", 2) }.bytes(|_| {}));
    let hurry = [ServiceContext { id: RT_CORBA_PRIORITY, data: &[0, 0, 0, 9] }];
    let text = Asked { contexts: &hurry, ..Asked::new(&key, "text", 3) };
    // By ISO 8859-1 these are other characters, two of which it does not have.
    wire.send(&text.bytes(|w| w.write_octets("\u{20ac}\0".as_bytes()).unwrap()));
    let reply = wire.reply().unwrap();
    assert_eq!((reply.id, reply.status), (3, ReplyStatus::NoException));
    assert_eq!(reply.reader().read_octets().unwrap(), "\u{20ac}\0".as_bytes());
    open.send(()).unwrap();
    assert_eq!([wire.reply().unwrap().id, wire.reply().unwrap().id], [1, 2]);
    server.shutdown(GRACE);
}

#[test]
fn adapters_without_lanes_serve_as_before() {
    let server = listening_at("127.0.0.1:0");
    let lanes = server.create_lanes(&[LaneConfig { queue: 1, ..LaneConfig::new(LOW, 1) }]).unwrap();
    let before = server.root().create_child("before", AdapterConfig::default()).unwrap();
    let with = server.root().create_child("with", AdapterConfig::default()).unwrap();
    with.serve_in(&lanes).unwrap();
    let below = with.create_child("below", AdapterConfig::default()).unwrap();
    let client = client();
    for (adapter, served) in [(before, 0), (with, 1), (below, 2)] {
        let probe = seen_by(&client, &adapter.activate(Probe::default()).unwrap());
        probe.ping().unwrap();
        assert_eq!(lanes.counts()[0].served, served, "{}", adapter.path());
    }
    [server, client].iter().for_each(|orb| orb.shutdown(GRACE));
}

#[test]
fn large_arguments_and_results_and_servants_that_panic() {
    for address in ADDRESSES {
        let (server, lanes) = served_in(address, &[LaneConfig::new(LOW, 2)]);
        let client = client();
        let probe = seen_by(&client, &server.root().activate(Probe::default()).unwrap());
        for octets in [0, 100, 10_000, 300_000, 3_000_000] {
            assert_eq!(probe.take(&vec![1; octets]).unwrap(), octets as u32, "{address}");
            assert!(probe.blob(octets as u32).unwrap().iter().all(|b| *b == 7));
            assert_eq!(block_on(probe.blob_async(octets as u32)).unwrap().len(), octets);
        }
        assert_eq!(probe.panic().unwrap_err().kind, Kind::Unknown);
        probe.panic_oneway().unwrap();
        probe.ping().unwrap();
        assert_eq!(lanes.counts()[0].served, 18, "{address}");
        [server, client].iter().for_each(|orb| orb.shutdown(GRACE));
    }
}

/// The call under way holds its servant last, so that it is dropped by whoever has carried it out, who has an answer to send.
#[test]
fn a_servant_whose_end_panics_has_answered_before() {
    for (address, in_lane) in ADDRESSES.into_iter().flat_map(|address| [(address, false), (address, true)]) {
        let server = listening_at(address);
        if in_lane {
            let lanes = server.create_lanes(&[LaneConfig::new(LOW, 1)]).unwrap();
            server.root().serve_in(&lanes).unwrap();
        }
        let (gate, begins, open) = gate();
        *gate.0.on_drop.lock().unwrap() = Some(Box::new(|| std::panic::resume_unwind(Box::new("as asked"))));
        let own = server.root().activate(gate).unwrap();
        let client = client();
        let probe = seen_by(&client, &own);
        let caller = std::thread::spawn(move || probe.within(Duration::from_secs(10)).run());
        begins.recv().unwrap();
        server.root().deactivate(&own).unwrap();
        open.send(()).unwrap();
        assert_eq!(caller.join().unwrap(), Ok(()), "{address}, in a lane: {in_lane}");
        [server, client].iter().for_each(|orb| orb.shutdown(GRACE));
    }
}

/// What is under way when the ORB shuts down is finished, also what has not begun.
#[test]
fn a_shutdown_waits_for_what_waits_in_lanes() {
    for address in ADDRESSES {
        let (server, lanes) = served_in(address, &[LaneConfig::new(LOW, 1)]);
        let (gate, begins, open) = gate();
        let client = client();
        let probe = seen_by(&client, &server.root().activate(gate).unwrap());
        let callers = [(); 4].map(|()| {
            let probe = probe.clone();
            std::thread::spawn(move || probe.run())
        });
        begins.recv().unwrap();
        eventually("the others wait", || lanes.counts()[0].waiting == 3);
        let opens = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            (0..4).for_each(|_| open.send(()).unwrap());
        });
        within(Duration::from_secs(15), move || server.shutdown(Duration::from_secs(10)));
        callers.into_iter().for_each(|caller| caller.join().unwrap().unwrap());
        opens.join().unwrap();
        client.shutdown(GRACE);
    }
}

#[test]
fn a_shutdown_within_a_lane() {
    for address in ADDRESSES {
        let (server, _) = served_in(address, &[LaneConfig::new(LOW, 1)]);
        let ends = server.clone();
        let probe = Probe::running(move || ends.shutdown(GRACE));
        let client = client();
        let probe = seen_by(&client, &server.root().activate(probe).unwrap());
        within(Duration::from_secs(10), move || probe.run()).unwrap();
        within(Duration::from_secs(10), move || server.run());
        client.shutdown(GRACE);
    }
}

#[test]
fn a_shutdown_that_does_not_wait() {
    for address in ADDRESSES {
        let (server, lanes) = served_in(address, &[LaneConfig::new(LOW, 1)]);
        let (gate, begins, open) = gate();
        let client = client();
        let probe = seen_by(&client, &server.root().activate(gate).unwrap());
        let call = || {
            let probe = probe.clone();
            std::thread::spawn(move || probe.run().unwrap_err())
        };
        let runs = call();
        begins.recv().unwrap();
        let waits = call();
        eventually("one waits", || lanes.counts()[0].waiting == 1);
        let started = Instant::now();
        server.shutdown(Duration::from_millis(50));
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
        // What runs may have done anything; what waits never begins.
        let (runs, waits) = (runs.join().unwrap(), waits.join().unwrap());
        assert_eq!((runs.kind, runs.completed), (Kind::CommFailure, Completion::Maybe), "{address}: {runs}");
        assert!([Kind::CommFailure, Kind::Transient].contains(&waits.kind), "{address}: {waits}");
        drop(open);
        assert!(begins.recv().is_err(), "{address}");
        client.shutdown(GRACE);
    }
}

/// One thread's oneway to a lane is carried out while its next call, to an object without lanes, runs; and that call needs the lane.
#[test]
fn a_servant_beside_lanes_may_call_into_them() {
    for address in ADDRESSES {
        let server = listening_at(address);
        let lanes = server.create_lanes(&[LaneConfig::new(LOW, 1)]).unwrap();
        let with = server.root().create_child("with", AdapterConfig::default()).unwrap();
        with.serve_in(&lanes).unwrap();
        let (gate, begins, open) = gate();
        let [client, inner] = [(); 2].map(|()| client());
        let gated = with.activate(gate).unwrap();
        let (slow, lane) = (seen_by(&client, &gated), seen_by(&inner, &gated));
        let beside = Probe::running(move || {
            open.send(()).unwrap();
            // The oneway ends, and what ends it has time to wait for this.
            std::thread::sleep(Duration::from_millis(50));
            lane.within(Duration::from_secs(5)).ping().unwrap();
        });
        let beside = seen_by(&client, &server.root().activate(beside).unwrap());
        slow.0.send_oneway(RUN, |_| Ok(())).unwrap();
        begins.recv().unwrap();
        beside.run().unwrap_or_else(|e| panic!("{address}: {e}"));
        [server, client, inner].iter().for_each(|orb| orb.shutdown(GRACE));
    }
}

/// A servant in a lane knows who calls.
#[test]
fn what_lives_for_a_caller_can_be_activated_in_a_lane() {
    for (address, known) in [("shm:", true), ("127.0.0.1:0", false)] {
        let (server, _) = served_in(address, &[LaneConfig::new(LOW, 1)]);
        let (root, activated) = (server.root().clone(), Arc::new(Mutex::new(None)));
        let noted = Arc::clone(&activated);
        let probe = Probe::running(move || {
            *noted.lock().unwrap() = Some(root.activate_for_caller(Probe::default()).map(drop));
        });
        let client = client();
        seen_by(&client, &server.root().activate(probe).unwrap()).run().unwrap();
        let expected = if known { Ok(()) } else { Err(AdapterError::NoCaller) };
        assert_eq!(*activated.lock().unwrap(), Some(expected), "{address}");
        [server, client].iter().for_each(|orb| orb.shutdown(GRACE));
    }
}

/// Nobody else suffers, and nothing is kept for ever, when clients leave while their requests wait.
#[test]
fn clients_that_leave() {
    let (server, lanes) = served_in("127.0.0.1:0", &[LaneConfig::new(LOW, 1)]);
    let own = server.root().activate(Probe::default()).unwrap();
    let key = own.0.object_key();
    for _ in 0..20 {
        let mut wire = Wire::to(&server);
        (0..10).for_each(|id| wire.send(&number(&key, "sleep", id, 1)));
    }
    let client = client();
    seen_by(&client, &own).ping().unwrap();
    eventually("all are over", || lanes.counts()[0].waiting == 0);
    eventually("only one is connected", || server.connection_count() == 1);
    [server, client].iter().for_each(|orb| orb.shutdown(GRACE));
}

/// A client that does not read its replies keeps no thread of a lane for long.
#[test]
fn a_client_that_does_not_read() {
    let (server, _) = served_in("127.0.0.1:0", &[LaneConfig::new(LOW, 1)]);
    let own = server.root().activate(Probe::default()).unwrap();
    let key = own.0.object_key();
    let mut deaf = Wire::to(&server);
    for id in 0..50 {
        deaf.send(&Asked::new(&key, "blob", id).bytes(|w| w.write_u32(1 << 20)));
    }
    let client = client();
    let probe = seen_by(&client, &own);
    let started = Instant::now();
    (0..20).for_each(|_| probe.ping().unwrap());
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    // It has all its replies in the end.
    for _ in 0..50 {
        assert_eq!(deaf.reply().unwrap().status, ReplyStatus::NoException);
    }
    [server, client].iter().for_each(|orb| orb.shutdown(GRACE));
}

/// Nor much memory: what it has asked for is carried out as it reads.
#[test]
fn answers_are_not_piled_up_for_a_client_that_does_not_read() {
    let (server, lanes) = served_in("127.0.0.1:0", &[LaneConfig::new(LOW, 1), LaneConfig::new(prio(9), 1)]);
    let own = server.root().activate(Probe::default()).unwrap();
    let key = own.0.object_key();
    let mut deaf = Wire::to(&server);
    let hurry = [ServiceContext { id: RT_CORBA_PRIORITY, data: &[0, 0, 0, 9] }];
    for id in 0..120 {
        let contexts = if id % 3 == 0 { &hurry[..] } else { &[] };
        deaf.send(&Asked { contexts, ..Asked::new(&key, "blob", id) }.bytes(|w| w.write_u32(1 << 20)));
        deaf.send(&post(&key, id, 0));
    }
    let served = || lanes.counts().iter().map(|lane| lane.served).sum::<u64>();
    eventually("some are carried out", || served() > 0);
    std::thread::sleep(Duration::from_millis(300));
    // The system has room for a few megabytes.
    assert!(served() < 60, "{}", served());
    // Others are served meanwhile, and it has all its answers in the end.
    let client = client();
    let probe = seen_by(&client, &own);
    (0..20).for_each(|_| probe.ping().unwrap());
    let mut answered: Vec<u32> = (0..120)
        .map(|_| {
            let reply = deaf.reply().unwrap();
            assert_eq!(reply.status, ReplyStatus::NoException);
            reply.id
        })
        .collect();
    answered.sort_unstable();
    assert!(answered.into_iter().eq(0..120));
    eventually("the oneways are carried out", || probe.posted().unwrap().len() == 120);
    assert!(probe.posted().unwrap().into_iter().eq(0..120), "in their order");
    [server, client].iter().for_each(|orb| orb.shutdown(GRACE));
}

#[test]
fn oneways_of_a_lane_with_one_thread_keep_their_order() {
    let (server, _) = served_in("127.0.0.1:0", &[LaneConfig::new(LOW, 1)]);
    let own = server.root().activate(Probe::default()).unwrap();
    let key = own.0.object_key();
    let mut wire = Wire::to(&server);
    for n in 0..200 {
        let post = Asked { response: Response::None, ..Asked::new(&key, "post", n) };
        wire.send(&post.bytes(|w| {
            w.write_u32(n);
            w.write_u32(0);
        }));
    }
    wire.send(&Asked::new(&key, "posted", 1000).bytes(|_| {}));
    let posted: Vec<u32> = throughline::rt::Decode::decode(&mut wire.reply().unwrap().reader()).unwrap();
    assert!(posted.into_iter().eq(0..200));
    server.shutdown(GRACE);
}

/// An adapter without lanes beside one with a lane of one thread, whose objects are called over one connection.
fn beside_a_lane() -> (Orb, Lanes, [Vec<u8>; 2]) {
    let server = listening_at("127.0.0.1:0");
    let lanes = server.create_lanes(&[LaneConfig::new(LOW, 1)]).unwrap();
    let with = server.root().create_child("with", AdapterConfig::default()).unwrap();
    with.serve_in(&lanes).unwrap();
    let keys = [server.root(), &with].map(|it| it.activate(Probe::default()).unwrap().0.object_key());
    (server, lanes, keys)
}

fn post(key: &[u8], n: u32, ms: u32) -> Vec<u8> {
    let post = Asked { response: Response::None, ..Asked::new(key, "post", n) };
    post.bytes(|w| {
        w.write_u32(n);
        w.write_u32(ms);
    })
}

/// A call that a lane begins meanwhile is not what tells whether the next request has to wait.
#[test]
fn oneways_beside_a_lane_keep_their_order() {
    let (server, _, [plain, laned]) = beside_a_lane();
    let mut wire = Wire::to(&server);
    wire.send(&number(&laned, "sleep", 1, 50));
    wire.send(&number(&laned, "sleep", 2, 0));
    wire.send(&post(&plain, 1, 300));
    wire.send(&post(&plain, 2, 0));
    assert_eq!([wire.reply().unwrap().id, wire.reply().unwrap().id], [1, 2]);
    wire.send(&Asked::new(&plain, "posted", 3).bytes(|_| {}));
    let posted: Vec<u32> = throughline::rt::Decode::decode(&mut wire.reply().unwrap().reader()).unwrap();
    assert_eq!(posted, [1, 2]);
    server.shutdown(GRACE);
}

/// Nor is a oneway: requests behind a slow call are carried out beside it.
#[test]
fn oneways_in_a_lane_hold_up_nobody_beside_it() {
    let (server, lanes, [plain, laned]) = beside_a_lane();
    let mut wire = Wire::to(&server);
    (0..400).for_each(|n| wire.send(&post(&laned, n, 2)));
    wire.send(&number(&plain, "sleep", 1, 500));
    wire.send(&number(&plain, "sleep", 2, 0));
    assert_eq!([wire.reply().unwrap().id, wire.reply().unwrap().id], [2, 1]);
    eventually("all were carried out", || lanes.counts()[0].served == 400);
    server.shutdown(GRACE);
}

#[test]
fn sets_of_lanes_that_cannot_be() {
    let [server, other] = [(); 2].map(|()| listening_at("127.0.0.1:0"));
    let lane = |priority| LaneConfig::new(prio(priority), 1);
    let wrong = [
        vec![],
        vec![lane(3), lane(3)],
        vec![LaneConfig { threads: 0, ..lane(0) }],
        vec![LaneConfig { threads: 1025, ..lane(0) }],
        vec![LaneConfig { queue: 0, ..lane(0) }],
        vec![LaneConfig { nice: 20, ..lane(0) }],
    ];
    for lanes in wrong {
        assert!(matches!(server.create_lanes(&lanes), Err(LanesError::Config(_))), "{lanes:?}");
    }
    let lanes = server.create_lanes(&[lane(1), lane(0)]).unwrap();
    assert_eq!(other.root().serve_in(&lanes), Err(AdapterError::ForeignLanes));
    assert_eq!(server.root().serve_in(&lanes), Ok(()));
    assert_eq!(server.root().serve_in(&lanes), Err(AdapterError::HasLanes));
    server.shutdown(GRACE);
    assert!(matches!(server.create_lanes(&[lane(0)]), Err(LanesError::ShutDown)));
    other.shutdown(GRACE);
}

/// How much each thread gives way whose name begins so. The system keeps 15 characters of a name.
fn giving_way(name: &str) -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok())
        .filter(|stat| stat.contains(&format!("({name})")))
        .map(|stat| stat.rsplit(')').next().unwrap().split_whitespace().nth(16).unwrap().to_owned())
        .collect()
}

#[test]
fn threads_of_a_lane_give_way_and_end_with_the_orb() {
    let lane = LaneConfig { nice: 7, ..LaneConfig::new(prio(321), 3) };
    let (server, _) = served_in("127.0.0.1:0", &[lane]);
    let threads = || giving_way("throughline-p32");
    // Who starts the tests may have given way already.
    let nice = rustix::process::getpriority_process(None).unwrap().max(7).to_string();
    eventually("all have begun", || threads() == [&*nice; 3]);
    server.shutdown(GRACE);
    eventually("all have ended", || threads().is_empty());
}

/// A program that was started to give way is not made more urgent by its lanes, whatever it may do.
#[test]
fn threads_of_a_lane_give_way_no_less_than_who_makes_it() {
    let lanes = [LaneConfig { nice: 7, ..LaneConfig::new(prio(654), 1) }, LaneConfig::new(prio(656), 1)];
    let nice = rustix::process::getpriority_process(None).unwrap().max(12);
    let (server, lanes) = std::thread::spawn(move || {
        // On Linux this is the calling thread's alone.
        rustix::process::setpriority_process(None, nice).unwrap();
        let server = listening_at("127.0.0.1:0");
        let lanes = server.create_lanes(&lanes).unwrap();
        (server, lanes)
    })
    .join()
    .unwrap();
    server.root().serve_in(&lanes).unwrap();
    let client = client();
    let probe = seen_by(&client, &server.root().activate(Probe::default()).unwrap());
    // A thread that has served has given way before.
    [654, 656].iter().for_each(|lane| urgent(&probe, *lane).ping().unwrap());
    assert_eq!(giving_way("throughline-p65"), vec![nice.to_string(); 2]);
    [server, client].iter().for_each(|orb| orb.shutdown(GRACE));
}
