//! Ends in good order: what is under way is finished, everybody else is told, nothing is left.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::cell::RefCell;
use std::net::TcpStream;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, OnceLock, mpsc};
use std::time::{Duration, Instant};

use raw::{GRACE, LONG, Probe, Scene, block_on, number, ping, port_of, within};
use throughline::{Completion, Kind, Orb};
use throughline_giop::header::MessageType;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn calls_under_way_are_finished_and_idle_clients_told() {
    let scene = Scene::new();
    let (mut idle, mut slow, mut behind) = (scene.wire(), scene.wire(), scene.wire());
    for wire in [&mut idle, &mut slow, &mut behind] {
        wire.send(&ping(&scene.key, 7));
        wire.reply().unwrap();
    }
    slow.send(&number(&scene.key, "sleep", 1, 700));
    // A quick call after a slow one on the same connection.
    behind.send(&[number(&scene.key, "sleep", 1, 700), ping(&scene.key, 2)].concat());
    let (blocking, future) = (scene.probe.clone(), scene.probe.clone());
    let blocking = std::thread::spawn(move || blocking.sleep(700));
    let future = std::thread::spawn(move || block_on(future.sleep_async(700)));
    raw::eventually("all four calls", || scene.servant.runs() == 4);
    std::thread::sleep(Duration::from_millis(100));
    let (server, closed) = (scene.server.clone(), scene.server.closed());
    let runs = std::thread::spawn(move || server.run());
    let started = Instant::now();
    scene.server.shutdown(3 * SECOND);
    assert!(started.elapsed() < 2 * SECOND, "{:?}", started.elapsed());
    within(SECOND, move || runs.join().unwrap());
    block_on(closed);

    blocking.join().unwrap().unwrap();
    future.join().unwrap().unwrap();
    assert_eq!(slow.reply().unwrap().id, 1);
    assert_eq!(behind.reply().unwrap().id, 2);
    assert_eq!(behind.reply().unwrap().id, 1);
    for wire in [&mut idle, &mut slow, &mut behind] {
        assert_eq!(wire.other().unwrap().0.kind, MessageType::CloseConnection);
        wire.expect_closed();
    }
    assert_eq!(scene.servant.runs(), 4);
    assert!(TcpStream::connect(("127.0.0.1", port_of(&scene.server))).is_err());
}

#[test]
fn under_load_every_call_is_carried_out_once_or_not_at_all() {
    for round in 0..10 {
        let scene = Scene::new();
        let executed = Arc::clone(&scene.servant.0);
        let calls: Vec<_> = (0..6)
            .map(|_| {
                let probe = scene.probe.clone();
                std::thread::spawn(move || {
                    let mut done = 0;
                    loop {
                        match probe.run() {
                            Ok(()) => done += 1,
                            Err(e) => {
                                assert_eq!((e.kind, e.completed), (Kind::Transient, Completion::No), "{e}");
                                return done;
                            }
                        }
                    }
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(30 + round * 7));
        scene.server.shutdown(GRACE);
        let done: usize = within(LONG, || calls.into_iter().map(|c| c.join().unwrap()).sum());
        assert_eq!(done, executed.runs.load(Ordering::SeqCst), "round {round}");
    }
}

#[test]
fn a_long_answer_on_its_way_arrives_though_its_client_goes_on_sending() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    wire.send(&number(&scene.key, "blob", 1, 2_000_000));
    raw::eventually("the call", || scene.servant.runs() == 1);
    let server = scene.server.clone();
    let ends = std::thread::spawn(move || server.shutdown(LONG));
    std::thread::sleep(Duration::from_millis(100));
    // The kernel has most of the answer, and waits for the client to read.
    wire.send(&ping(&scene.key, 2));
    std::thread::sleep(Duration::from_millis(100));
    let answer = wire.reply().expect("the answer");
    assert_eq!((answer.id, answer.message.len() > 2_000_000), (1, true));
    assert_eq!(wire.other().expect("a farewell").0.kind, MessageType::CloseConnection);
    ends.join().unwrap();
}

/// Whether a client is told of the end whose kernel has its last answer, and has not said so yet.
fn is_told_in_time(grace: Duration) -> bool {
    let scene = Scene::new();
    let mut wire = scene.wire();
    // After some answers the kernel puts off saying that it has them, for 40 ms and more.
    for id in 0..30 {
        wire.send(&number(&scene.key, "blob", id, 10_000));
        assert_eq!(wire.reply().unwrap().id, id);
    }
    scene.server.shutdown(grace);
    wire.other().is_some_and(|(header, _)| header.kind == MessageType::CloseConnection)
}

#[test]
fn clients_are_told_though_there_is_no_time_to_wait_for_them() {
    // A worker that stays with the connection may take longer to leave it.
    assert!((0..10).any(|_| is_told_in_time(Duration::from_millis(15))));
}

#[test]
fn a_client_that_never_reads_its_answer_is_waited_for_no_longer_than_at_other_times() {
    let scene = Scene::with(|c| c.stall_timeout = SECOND);
    let mut wire = scene.wire();
    // More than the client's side of the kernel has room for, and less than both sides have.
    wire.send(&number(&scene.key, "blob", 1, 2_000_000));
    raw::eventually("the call", || scene.servant.runs() == 1);
    let started = Instant::now();
    scene.server.shutdown(LONG);
    assert!(started.elapsed() < LONG / 2, "{:?}", started.elapsed());
}

#[test]
fn a_servant_may_shut_its_server_down() {
    let orb = Arc::new(OnceLock::<Orb>::new());
    let inside = Arc::clone(&orb);
    let servant = Probe::running(move || inside.get().unwrap().shutdown(2 * SECOND));
    let scene = Scene::of(servant, |_| {});
    orb.set(scene.server.clone()).unwrap();
    let slow = scene.probe.clone();
    let slow = std::thread::spawn(move || slow.sleep(500));
    raw::eventually("the slow call", || scene.servant.runs() == 1);
    let (probe, server) = (scene.probe.clone(), scene.server.clone());
    // The call that ends the server gets its reply, as does the one beside it.
    within(LONG, move || probe.run()).unwrap();
    within(LONG, move || server.run());
    slow.join().unwrap().unwrap();
    assert_eq!(scene.servant.runs(), 2);
}

#[test]
fn a_servant_that_is_dropped_may_shut_its_server_down() {
    for last in [false, true] {
        let server = raw::server();
        let (servant, orb) = (Probe::default(), server.clone());
        *servant.0.on_drop.lock().unwrap() = Some(Box::new(move || orb.shutdown(SECOND)));
        let own = server.root().activate(servant).unwrap();
        within(LONG, move || {
            if !last {
                server.root().deactivate(&own).unwrap();
            }
            // Drops the servant, if it is still there.
            server.shutdown(SECOND);
            server.run();
        });
    }
}

#[test]
fn servants_of_two_servers_that_are_dropped_may_shut_each_others_server_down() {
    let (servers, both) = ([(); 2].map(|()| raw::server()), Arc::new(Barrier::new(2)));
    for (own, other) in [(0, 1), (1, 0)] {
        let (servant, orb, both) = (Probe::default(), servers[other].clone(), Arc::clone(&both));
        *servant.0.on_drop.lock().unwrap() = Some(Box::new(move || {
            // Both servers are ending by now.
            both.wait();
            orb.shutdown(SECOND);
        }));
        servers[own].root().activate(servant).unwrap();
    }
    let ends = servers.map(|server| std::thread::spawn(move || server.shutdown(SECOND)));
    within(LONG, || ends.map(|end| end.join().unwrap()));
}

#[test]
fn a_servant_and_another_thread_may_shut_down_at_once() {
    let orb = Arc::new(OnceLock::<Orb>::new());
    let inside = Arc::clone(&orb);
    let servant = Probe::running(move || {
        std::thread::sleep(Duration::from_millis(200));
        inside.get().unwrap().shutdown(SECOND);
    });
    let scene = Scene::of(servant, |_| {});
    orb.set(scene.server.clone()).unwrap();
    let probe = scene.probe.clone();
    let call = std::thread::spawn(move || probe.run());
    raw::eventually("the call", || scene.servant.runs() == 1);
    let server = scene.server.clone();
    within(LONG, move || server.shutdown(SECOND));
    call.join().unwrap().unwrap();
}

#[test]
fn a_servant_that_does_not_end_does_not_keep_the_server() {
    let free = Arc::new(AtomicBool::new(false));
    let waits = Arc::clone(&free);
    let servant = Probe::running(move || {
        while !waits.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let scene = Scene::of(servant, |_| {});
    let probe = scene.probe.clone();
    let call = std::thread::spawn(move || probe.run());
    raw::eventually("the call", || scene.servant.runs() == 1);
    let (server, started) = (scene.server.clone(), Instant::now());
    within(LONG, move || server.shutdown(SECOND / 2));
    assert!(started.elapsed() < 3 * SECOND, "{:?}", started.elapsed());
    // Whether it completes is not known; that it would not be carried out is a lie.
    let e = call.join().unwrap().unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completion::Maybe), "{e}");
    assert_eq!(scene.servant.runs(), 1);
    free.store(true, Ordering::SeqCst);
}

#[test]
fn all_ways_to_a_server_share_the_time_that_it_has_to_end() {
    let listen = ["127.0.0.1:0", "shm:", "udp://127.0.0.1:0"].map(|address| address.parse().unwrap());
    let scene = Scene::with(|c| c.listen = listen.into());
    let by_iiop = raw::client_with(|c| c.native = false);
    for probe in [scene.probe.clone(), raw::seen_by(&by_iiop, &scene.own)] {
        std::thread::spawn(move || probe.sleep(4000));
    }
    raw::eventually("both calls", || scene.servant.runs() == 2);
    let started = Instant::now();
    scene.server.shutdown(SECOND * 3 / 2);
    // The threads of servants get half a second more.
    let took = started.elapsed();
    assert!((SECOND..3 * SECOND).contains(&took), "{took:?}");
    by_iiop.shutdown(Duration::ZERO);
}

#[test]
fn callers_of_an_orb_that_shuts_down_are_told() {
    let (scene, client) = (Scene::new(), raw::client());
    let probe = raw::seen_by(&client, &scene.own);
    probe.ping().unwrap();
    let (blocking, future) = (probe.clone(), probe.clone());
    let blocking = std::thread::spawn(move || blocking.sleep(3000));
    let future = std::thread::spawn(move || block_on(future.sleep_async(3000)));
    raw::eventually("both calls", || scene.servant.runs() == 2);
    let started = Instant::now();
    client.shutdown(GRACE);
    for call in [blocking, future] {
        let e = call.join().unwrap().unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completion::Maybe), "{e}");
    }
    assert!(started.elapsed() < SECOND);
    assert_eq!(probe.ping().unwrap_err().kind, Kind::BadInvOrder);
    assert_eq!(block_on(probe.ping_async()).unwrap_err().kind, Kind::BadInvOrder);
}

#[test]
fn futures_of_an_orb_that_is_down_do_not_hang() {
    let (scene, client) = (Scene::new(), raw::client());
    let probe = raw::seen_by(&client, &scene.own);
    // Made while the ORB was up, awaited when it is down; with a worker to ask for, and without.
    let (remote, local) = (probe.ping_async(), scene.own.ping_async());
    client.shutdown(GRACE);
    scene.server.shutdown(GRACE);
    assert!(block_on(remote).is_err());
    assert!(block_on(local).is_err());
}

#[test]
fn futures_that_wait_for_a_worker_end_with_the_orb() {
    // Both workers are kept, so the call of a local object waits for one.
    let scene = Scene::with(|c| c.max_threads = 2);
    let keep: Vec<_> = (0..2)
        .map(|_| {
            let mut wire = scene.wire();
            wire.send(&number(&scene.key, "sleep", 1, 1500));
            wire
        })
        .collect();
    raw::eventually("both servants", || scene.servant.runs() == 2);
    let own = scene.own.clone();
    let waits = std::thread::spawn(move || block_on(own.ping_async()));
    std::thread::sleep(Duration::from_millis(100));
    scene.server.shutdown(Duration::from_millis(100));
    assert!(waits.join().unwrap().is_err());
    drop(keep);
}

/// An executor that polls its task at once, where it is woken.
struct Polls(std::sync::Mutex<Option<std::pin::Pin<Box<dyn Future<Output = ()> + Send>>>>);

impl std::task::Wake for Polls {
    fn wake(self: Arc<Self>) {
        let waker = Arc::clone(&self).into();
        let mut task = self.0.lock().unwrap();
        let done = task.as_mut().unwrap().as_mut().poll(&mut std::task::Context::from_waker(&waker));
        if done.is_ready() {
            *task = None;
        }
    }
}

#[test]
fn who_waits_for_the_end_may_look_where_he_is_woken() {
    let server = raw::server();
    let task = Arc::new(Polls(std::sync::Mutex::new(Some(Box::pin(server.closed())))));
    std::task::Wake::wake(Arc::clone(&task));
    within(LONG, move || server.shutdown(SECOND));
    assert!(task.0.lock().unwrap().is_none());
}

#[test]
fn a_task_that_goes_on_where_its_call_timed_out_may_shut_down_too() {
    let (scene, client) = (Scene::new(), raw::client());
    let (probe, orb) = (raw::seen_by(&client, &scene.own), client.clone());
    let goes_on = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&goes_on);
    let task = async move {
        let e = probe.within(Duration::from_millis(50)).sleep_async(1000).await.unwrap_err();
        assert_eq!(e.kind, Kind::Timeout);
        told.store(true, Ordering::SeqCst);
        while !matches!(probe.ping(), Err(e) if e.kind == Kind::BadInvOrder) {
            std::thread::sleep(Duration::from_millis(5));
        }
        // Somebody else does so already, and waits for this thread.
        orb.shutdown(SECOND);
    };
    std::task::Wake::wake(Arc::new(Polls(std::sync::Mutex::new(Some(Box::pin(task))))));
    raw::eventually("the end of the call", || goes_on.load(Ordering::SeqCst));
    within(LONG, move || client.shutdown(SECOND));
}

#[test]
fn a_task_that_goes_on_where_the_end_reaches_its_call_may_have_references() {
    for at in ["127.0.0.1:0", "shm:", "udp://127.0.0.1:0"] {
        let scene = Scene::with(|c| c.listen = vec![at.parse().unwrap()]);
        let client = raw::client();
        let (probe, orb, own) = (raw::seen_by(&client, &scene.own), client.clone(), scene.own.clone());
        let task = async move {
            let e = probe.sleep_async(1000).await.unwrap_err();
            assert_eq!(e.kind, Kind::CommFailure);
            drop(probe);
            raw::seen_by(&orb, &own);
        };
        let task = Arc::new(Polls(std::sync::Mutex::new(Some(Box::pin(task)))));
        std::task::Wake::wake(Arc::clone(&task));
        raw::eventually("the call", || scene.servant.runs() == 1);
        within(LONG, move || client.shutdown(SECOND));
        assert!(task.0.lock().unwrap().is_none(), "{at}");
    }
}

struct Counts;

impl std::task::Wake for Counts {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn nothing_is_kept_of_tasks_that_wait_for_the_end_no_more() {
    let (server, task) = (raw::server(), Arc::new(Counts));
    let wakers = [(); 2].map(|()| Arc::clone(&task).into());
    for _ in 0..10 {
        let mut waits = std::pin::pin!(server.closed());
        for waker in &wakers {
            assert!(waits.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
        }
        assert_eq!(Arc::strong_count(&task), 1 + wakers.len() + 1);
    }
    assert_eq!(Arc::strong_count(&task), 1 + wakers.len());
    server.shutdown(SECOND);
}

#[test]
fn shutting_down_twice_is_the_same_as_once() {
    let scene = Scene::new();
    scene.probe.ping().unwrap();
    let (a, b) = (scene.server.clone(), scene.server.clone());
    let a = std::thread::spawn(move || a.shutdown(GRACE));
    let b = std::thread::spawn(move || b.shutdown(GRACE));
    within(LONG, move || {
        a.join().unwrap();
        b.join().unwrap();
    });
    scene.server.shutdown(GRACE);
    scene.server.run();
}

#[test]
fn the_file_of_a_unix_socket_goes_with_the_server() {
    let path = std::env::temp_dir().join(format!("throughline-life-{}.sock", std::process::id()));
    let server = raw::server_with(|c| c.listen = vec![throughline::Address::Unix(path.clone())]);
    assert!(path.exists());
    server.shutdown(GRACE);
    assert!(!path.exists());
}

/// Shuts its ORB down when its thread ends, and tells whether that went well.
struct Last(Orb, mpsc::Sender<bool>);

impl Drop for Last {
    fn drop(&mut self) {
        let ended = std::panic::catch_unwind(AssertUnwindSafe(|| self.0.shutdown(GRACE)));
        let _ = self.1.send(ended.is_ok());
    }
}

#[test]
fn a_thread_shuts_an_orb_down_at_its_very_end() {
    thread_local!(static LAST: RefCell<Option<Last>> = const { RefCell::new(None) });
    let (orb, other) = (raw::server(), raw::server());
    let (ended, end) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        // It ends after what the ORB keeps for the thread.
        LAST.set(Some(Last(orb, ended)));
        other.shutdown(GRACE);
    });
    assert_eq!(end.recv_timeout(LONG), Ok(true));
    thread.join().unwrap();
}
