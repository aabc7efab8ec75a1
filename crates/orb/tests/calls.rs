//! Calls between two ORBs over sockets, and within one.

mod common;

use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use common::{Echo, EchoRef, client, seen_by, server, server_with};
use throughline::{AdapterConfig, AdapterError, Completion, Kind, Strategy, SystemException};

const GRACE: Duration = Duration::from_secs(2);

#[test]
fn calls_in_every_direction() {
    let (server, client) = (server(), client());
    let own = server.root().activate(Echo::default()).unwrap();
    let echo = seen_by(&client, &own);
    for reference in [&own, &echo] {
        reference.ping().unwrap();
        assert_eq!(reference.shout("grüße").unwrap(), "GRÜSSE");
        let mut data: Vec<u32> = (0..100_000).collect();
        reference.move_data(&mut data).unwrap();
        assert_eq!(data.len(), 100_000);
        assert_eq!(data[99_999], 99_999);
        assert!(reference.0.is_a(common::ID).unwrap());
        assert!(!reference.0.is_a("IDL:Other:1.0").unwrap());
        assert!(!reference.0.non_existent().unwrap());
    }
    server.root().deactivate(&own).unwrap();
    let gone = echo.ping().unwrap_err();
    assert_eq!((gone.kind, gone.completed), (Kind::ObjectNotExist, Completion::No));
    assert!(echo.0.non_existent().unwrap());
    server.shutdown(GRACE);
}

#[test]
fn every_strategy_finds_its_objects() {
    for objects in Strategy::ALL {
        for operations in Strategy::ALL {
            let (server, client) = (server(), client());
            let config = AdapterConfig { objects, operations, stable_keys: false };
            let adapter = server.root().create_child("a", config).unwrap();
            let references: Vec<_> = (0..20).map(|_| adapter.activate(Echo::default()).unwrap()).collect();
            if objects == Strategy::PerfectHash {
                adapter.freeze().unwrap();
            }
            for (n, reference) in references.iter().enumerate() {
                let echo = seen_by(&client, reference);
                echo.post(n as u32).unwrap();
                assert_eq!(echo.posted().unwrap(), [n as u32], "{objects} {operations}");
            }
            adapter.deactivate(&references[3]).unwrap();
            assert_eq!(seen_by(&client, &references[3]).ping().unwrap_err().kind, Kind::ObjectNotExist);
            seen_by(&client, &references[4]).ping().unwrap();
            server.shutdown(GRACE);
        }
    }
}

#[test]
fn oneways_are_carried_out_in_order() {
    let (server, client) = (server(), client());
    let echo = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    for n in 0..1000 {
        echo.post(n).unwrap();
    }
    assert_eq!(echo.posted().unwrap(), (0..1000).collect::<Vec<_>>());
    server.shutdown(GRACE);
}

#[test]
fn a_servant_that_panics_costs_only_its_caller() {
    let (server, client) = (server(), client());
    let echo = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    let e = echo.panic().unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Unknown, Completion::Maybe));
    echo.ping().unwrap();
    server.shutdown(GRACE);
}

#[test]
fn a_slow_call_does_not_hold_up_others_on_its_connection() {
    let (server, client) = (server(), client());
    let echo = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    let slow = {
        let echo = echo.clone();
        std::thread::spawn(move || echo.sleep(1500).unwrap())
    };
    std::thread::sleep(Duration::from_millis(50));
    let started = Instant::now();
    for _ in 0..10 {
        echo.ping().unwrap();
    }
    assert!(started.elapsed() < Duration::from_millis(700), "{:?}", started.elapsed());
    slow.join().unwrap();
    server.shutdown(GRACE);
}

#[test]
fn callbacks_nest() {
    let (a, b) = (server(), server());
    let at_a = a.root().activate(Echo::default()).unwrap();
    let at_b = b.root().activate(Echo::default()).unwrap();
    let started = Instant::now();
    // Every step goes over the same connection from b to a and from a to b.
    let from_b = seen_by(&b, &at_a);
    from_b.call_back(&at_b, 1).unwrap();
    let ping_pong = |depth| from_b.call_back(&EchoRef(at_a.0.clone()), depth);
    ping_pong(8).unwrap();
    assert!(started.elapsed() < Duration::from_millis(500), "{:?}", started.elapsed());
    a.shutdown(GRACE);
    b.shutdown(GRACE);
}

#[test]
fn timeouts_end_calls() {
    let (server, client) = (server(), client());
    let echo = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    let impatient = EchoRef(echo.0.with_timeout(Duration::from_millis(100)));
    let started = Instant::now();
    let e = impatient.sleep(1000).unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::Maybe));
    assert!(started.elapsed() < Duration::from_millis(600));
    // The late reply finds nobody and harms nobody.
    echo.sleep(1000).unwrap();
    echo.ping().unwrap();
    let e = block_on(impatient.sleep_async(1000)).unwrap_err();
    assert_eq!(e.kind, Kind::Timeout);
    server.shutdown(GRACE);
}

#[test]
fn many_threads_share_a_connection() {
    let (server, client) = (server(), client());
    let echo = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    let threads: Vec<_> = (0..16)
        .map(|t| {
            let echo = echo.clone();
            std::thread::spawn(move || {
                for n in 0..200 {
                    assert_eq!(echo.shout(&format!("t{t} n{n}")).unwrap(), format!("T{t} N{n}"));
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(server.connection_count(), 1);
    server.shutdown(GRACE);
}

/// Every way to call from a thread that waits.
fn in_every_way(echo: &EchoRef) -> Vec<Result<(), SystemException>> {
    let begin = |echo: &EchoRef| {
        echo.0.begin(throughline::rt::Operation::new("ping", 0), |_| Ok(()), |_| Ok(()), None).wait()
    };
    let calls = [
        |echo: &EchoRef| echo.ping(),
        |echo: &EchoRef| block_on(echo.ping_async()),
        |echo: &EchoRef| throughline::block_on(echo.ping_async()),
        begin,
    ];
    let made = calls.map(|call| std::panic::catch_unwind(AssertUnwindSafe(|| call(echo))));
    made.into_iter().flatten().collect()
}

/// Calls when its thread ends, and tells what came of it.
struct Last(EchoRef, Sender<Vec<Result<(), SystemException>>>);

impl Drop for Last {
    fn drop(&mut self) {
        let Self(echo, ended) = self;
        let _ = ended.send(in_every_way(echo));
    }
}

#[test]
fn a_thread_calls_until_its_very_end() {
    thread_local!(static LAST: RefCell<Option<Last>> = const { RefCell::new(None) });
    let (server, client) = (server(), client());
    let [near, far] =
        ["shm:", "udp://127.0.0.1:0"].map(|at| server_with(|c| c.listen = vec![at.parse().unwrap()]));
    let own = server.root().activate(Echo::default()).unwrap();
    let by_shm = seen_by(&client, &near.root().activate(Echo::default()).unwrap());
    let by_udp = seen_by(&client, &far.root().activate(Echo::default()).unwrap());
    for echo in [seen_by(&client, &own), own, by_shm, by_udp] {
        let (ended, end) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            // It ends after what the ORB keeps for the thread from the first call on.
            LAST.set(Some(Last(echo.clone(), ended)));
            assert_eq!(in_every_way(&echo), [(); 4].map(Ok));
        });
        assert_eq!(end.recv().unwrap(), [(); 4].map(Ok));
        thread.join().unwrap();
    }
    server.shutdown(GRACE);
}

// Neither side may wait for the other to read: the server sends a reply while all callers send requests.
#[test]
fn large_calls_of_many_threads_on_one_connection() {
    let path = std::env::temp_dir().join(format!("throughline-large-{}.sock", std::process::id()));
    let (server, client) = (server_with(|c| c.listen = vec![throughline::Address::Unix(path)]), client());
    let echo = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    let echo = EchoRef(echo.0.with_timeout(Duration::from_secs(20)));
    std::thread::scope(|scope| {
        for t in 0..6 {
            scope.spawn({
                let echo = &echo;
                move || {
                    for _ in 0..20 {
                        let mut data = vec![t; 200_000];
                        echo.move_data(&mut data).unwrap();
                        assert_eq!(data, [t; 200_000]);
                    }
                }
            });
        }
    });
    assert_eq!(server.connection_count(), 1);
    server.shutdown(GRACE);
}

#[test]
fn futures_from_many_tasks() {
    let (server, client) = (server(), client());
    let own = server.root().activate(Echo::default()).unwrap();
    let echo = seen_by(&client, &own);
    for _ in 0..50 {
        let calls: Vec<_> = (0..32).map(|n| echo.shout_async(&format!("x{n}"))).collect();
        for (n, call) in calls.into_iter().enumerate() {
            assert_eq!(block_on(call).unwrap(), format!("X{n}"));
        }
    }
    block_on(echo.ping_async()).unwrap();
    assert_eq!(block_on(own.shout_async("local")).unwrap(), "LOCAL");
    // A future that is dropped cancels its call; the connection lives on.
    drop(echo.sleep_async(200));
    block_on(echo.ping_async()).unwrap();
    server.shutdown(GRACE);
}

#[test]
fn unix_domain_sockets() {
    let path = std::env::temp_dir().join(format!("throughline-test-{}.sock", std::process::id()));
    let server = server_with(|c| c.listen = vec![throughline::Address::Unix(path.clone())]);
    let client = client();
    let echo = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    assert_eq!(echo.shout("unix").unwrap(), "UNIX");
    server.shutdown(GRACE);
    assert!(!path.exists());
}

#[test]
fn a_server_that_shuts_down_is_found_again() {
    let (first, client) = (server(), client());
    first.root().activate_with_id("echo", Echo::default()).unwrap();
    let [address] = &first.addresses()[..] else { panic!() };
    let port = address.to_string().rsplit(':').next().unwrap().parse().unwrap();
    let text = format!("corbaloc::127.0.0.1:{port}/echo");
    let echo = EchoRef(client.string_to_object(&text).unwrap());
    echo.ping().unwrap();
    first.shutdown(GRACE);
    let e = echo.ping().unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Transient, Completion::No), "{e}");
    let second = server_with(|c| c.listen = vec![throughline::Address::tcp("127.0.0.1", port)]);
    second.root().activate_with_id("echo", Echo::default()).unwrap();
    echo.ping().unwrap();
    second.shutdown(GRACE);
}

#[test]
fn forwards_are_followed() {
    let (a, b, client) = (server(), server(), client());
    let target = b.root().activate(Echo::default()).unwrap();
    let moved = a.root().forward("moved", &target).unwrap();
    let echo = seen_by(&client, &moved);
    assert_eq!(echo.shout("here").unwrap(), "HERE");
    assert_eq!(block_on(seen_by(&client, &moved).shout_async("there")).unwrap(), "THERE");
    // Nothing need be known of the target's interface.
    let moved = a.root().forward("anything", &target.0).unwrap();
    let echo = EchoRef(client.string_to_object(&moved.to_string()).unwrap());
    assert_eq!(echo.shout("untyped").unwrap(), "UNTYPED");
    assert_eq!(EchoRef(moved.clone()).shout("local").unwrap(), "LOCAL");
    assert!(moved.is_a(common::ID).unwrap() && !moved.is_a("IDL:Other:1.0").unwrap());
    // A circle ends.
    let circle = a.root().reference_for_id::<EchoRef>("circle").unwrap();
    a.root().forward("circle", &circle).unwrap();
    assert_eq!(seen_by(&client, &circle).ping().unwrap_err().kind, Kind::Transient);
    assert_eq!(circle.ping().unwrap_err().kind, Kind::Transient);
    a.shutdown(GRACE);
    b.shutdown(GRACE);
}

#[test]
fn forwards_lead_to_servers_with_other_code_sets() {
    let old = server_with(|c| c.max_version = throughline::Version::V1_0);
    let (new, client) = (server(), server());
    let target = new.root().activate(Echo::default()).unwrap();
    let own = client.root().activate(Echo::default()).unwrap();
    for (id, target) in [("to-new", &target), ("to-own", &own)] {
        let moved = seen_by(&client, &old.root().forward(id, target).unwrap());
        // The old server is asked in ISO 8859-1, which has all of this text, the others in UTF-8.
        assert_eq!(moved.shout("grüne").unwrap(), "GRÜNE");
        assert_eq!(moved.shout("€").unwrap(), "€");
        let moved = seen_by(&client, &old.root().forward(&format!("{id}-data"), target).unwrap());
        let mut data = vec![7; 1000];
        moved.move_data(&mut data).unwrap();
        assert_eq!(data, [7; 1000]);
    }
    for orb in [old, new, client] {
        orb.shutdown(GRACE);
    }
}

#[test]
fn concurrent_activation_and_calls() {
    let server = server();
    for objects in [Strategy::Active, Strategy::DynamicHash, Strategy::Linear] {
        let config = AdapterConfig { objects, ..AdapterConfig::default() };
        let adapter = Arc::new(server.root().create_child(objects.name(), config).unwrap());
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for _ in 0..300 {
                        let reference = adapter.activate(Echo::default()).unwrap();
                        reference.post(1).unwrap();
                        assert_eq!(reference.posted().unwrap(), [1]);
                        adapter.deactivate(&reference).unwrap();
                        assert_eq!(reference.ping().unwrap_err().kind, Kind::ObjectNotExist);
                    }
                });
            }
        });
        assert!(adapter.is_empty());
    }
    server.shutdown(GRACE);
}

#[test]
fn an_object_without_an_id_of_its_own_gets_one_that_nobody_has() {
    let server = server();
    let stable = |objects| AdapterConfig { objects, stable_keys: true, ..AdapterConfig::default() };
    for objects in [Strategy::Linear, Strategy::DynamicHash, Strategy::PerfectHash] {
        let adapter = server.root().create_child(&format!("{objects}"), stable(objects)).unwrap();
        // As somebody does who has kept them since before a restart.
        let kept = ["object_0", "object_1", "object_3"]
            .map(|id| adapter.activate_with_id(id, Echo::default()).unwrap());
        let new = [(); 2].map(|()| adapter.activate(Echo::default()).unwrap());
        assert_eq!(adapter.activate_with_id("object_4", Echo::default()), Err(AdapterError::ObjectExists));
        assert_eq!(adapter.len(), 5);
        if objects == Strategy::PerfectHash {
            adapter.freeze().unwrap();
        }
        kept.iter().chain(&new).for_each(|object| object.ping().unwrap());
        let keys = new.map(|object| String::from_utf8(object.0.object_key()).unwrap());
        assert_eq!(keys, ["object_2", "object_4"].map(|id| format!("{objects}/{id}")));
    }
    server.shutdown(GRACE);
}

#[test]
fn an_adapter_that_was_destroyed_takes_nothing_from_others() {
    let server = server();
    for objects in Strategy::ALL {
        let stable_keys = objects == Strategy::Linear;
        let config = AdapterConfig { objects, stable_keys, ..AdapterConfig::default() };
        let adapter = server.root().create_child(&format!("{objects}"), config).unwrap();
        let before: Vec<_> = (0..8).map(|_| adapter.activate(Echo::default()).unwrap()).collect();
        if objects == Strategy::PerfectHash {
            adapter.freeze().unwrap();
        }
        adapter.destroy();
        // In the places of the old ones.
        let others: Vec<_> = (0..8).map(|_| server.root().activate(Echo::default()).unwrap()).collect();
        for gone in &before {
            assert_eq!(adapter.deactivate(gone), Err(AdapterError::NotActive), "{objects}");
        }
        assert!(adapter.is_empty());
        others.iter().for_each(|other| other.ping().unwrap());
    }
    server.shutdown(GRACE);
}

#[test]
fn an_adapter_that_is_destroyed_again_takes_nothing_from_its_successor() {
    let server = server();
    let config =
        AdapterConfig { objects: Strategy::DynamicHash, stable_keys: true, ..AdapterConfig::default() };
    let first = server.root().create_child("bank", config).unwrap();
    first.destroy();
    let second = server.root().create_child("bank", config).unwrap();
    let object = seen_by(&client(), &second.activate_with_id("a", Echo::default()).unwrap());
    first.destroy();
    object.ping().unwrap();
    assert!(server.root().child("bank").is_some());
    server.shutdown(GRACE);
}

#[test]
fn an_adapter_that_is_being_destroyed_takes_nothing_from_one_made_meanwhile() {
    let server = server();
    // All objects are looked at when an adapter is destroyed.
    (0..50_000).for_each(|_| drop(server.root().activate(Echo::default()).unwrap()));
    for _ in 0..20 {
        let old = server.root().create_child("old", AdapterConfig::default()).unwrap();
        old.activate(Echo::default()).unwrap();
        let made: Vec<_> = std::thread::scope(|s| {
            let destroyed = s.spawn(|| old.destroy());
            let mut made = Vec::new();
            while !destroyed.is_finished() {
                let name = format!("new{}", made.len());
                let adapter = server.root().create_child(&name, AdapterConfig::default()).unwrap();
                let object = adapter.activate(Echo::default()).unwrap();
                made.push((adapter, object));
                std::thread::sleep(Duration::from_micros(100));
            }
            made
        });
        for (adapter, object) in made {
            object.ping().unwrap();
            adapter.destroy();
        }
    }
    server.shutdown(GRACE);
}

/// A runtime of one future.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut cx = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => std::thread::park_timeout(Duration::from_secs(20)),
        }
    }
}
