//! Calls by the native protocol over every fabric. Servers that listen there only can't be reached otherwise.

#![allow(clippy::redundant_closure)] // `Decode::decode` itself is a function of one lifetime.

#[macro_use]
mod common;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{Echo, EchoRef, client, seen_by, server_with};
use throughline::exception::minor;
use throughline::rt::{Dispatched, Interface, ServerCall, Skeleton, TypedReference, TypedSkeleton};
use throughline::{Adapter, AdapterConfig, Completion, Kind, Orb, OrbConfig, Strategy, block_on};

const GRACE: Duration = Duration::from_secs(2);

/// A server without IIOP.
fn server(at: &str) -> Orb {
    server_with(|c| c.listen = vec![at.parse().unwrap()])
}

/// A server with both, and an adapter whose objects keep their keys.
fn server_with_both(at: &str) -> (Orb, Adapter) {
    let server = server_with(|c| c.listen.push(at.parse().unwrap()));
    let config =
        AdapterConfig { objects: Strategy::DynamicHash, stable_keys: true, ..AdapterConfig::default() };
    let adapter = server.root().create_child("stable", config).unwrap();
    (server, adapter)
}

/// A UDP port that nobody has, at least for the moment.
fn unused_port() -> u16 {
    std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn served(server: &Orb) -> EchoRef {
    server.root().activate(Echo::default()).unwrap()
}

fn is_native(reference: &EchoRef) -> bool {
    [" at shm:", " at udp:"].iter().any(|way| format!("{:?}", reference.0).contains(way))
}

#[test]
fn ids_of_an_adapter_that_was_destroyed_lead_to_nobody_else() {
    let (server, adapter) = server_with_both("shm:");
    adapter.activate_with_id("a", Echo::default()).unwrap();
    adapter.destroy();
    // In the place of the old one.
    let _other = served(&server);
    let reference: EchoRef = adapter.reference_for_id("a").unwrap();
    let client = client();
    assert_eq!(seen_by(&client, &reference).ping().unwrap_err().kind, Kind::ObjectNotExist);
    server.shutdown(GRACE);
}

fn calls_in_every_direction(at: &str) {
    let (server, client) = (server(at), client());
    let own = served(&server);
    let echo = seen_by(&client, &own);
    assert!(is_native(&echo) && !is_native(&own));
    for reference in [&own, &echo] {
        reference.ping().unwrap();
        assert_eq!(reference.shout("grüße").unwrap(), "GRÜSSE");
        for length in [0, 1, 1_000, 4_000, 16_000, 100_000, 1_000_000] {
            let mut data: Vec<u32> = (0..length).collect();
            reference.move_data(&mut data).unwrap();
            assert!(data.iter().copied().eq(0..length), "{length}");
        }
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

fn oneways_are_carried_out_in_order(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    for n in 0..10_000 {
        echo.post(n).unwrap();
    }
    assert_eq!(echo.posted().unwrap(), (0..10_000).collect::<Vec<_>>());
    server.shutdown(GRACE);
}

fn an_operation_that_the_server_numbers_otherwise_is_found_by_what_it_is(at: &str) {
    use throughline::rt::{Decode, Operation};
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    let shout = |operation| {
        echo.0.call::<String, throughline::SystemException>(
            operation,
            |w| throughline::rt::Encode::encode("text", w),
            |r| Decode::decode(r),
        )
    };
    for index in [0, 1, 5, 1_000, u32::MAX] {
        assert_eq!(shout(Operation::new("shout", index)).unwrap(), "TEXT");
        assert_eq!(shout(Operation::new("whisper", index)).unwrap_err().kind, Kind::BadOperation);
    }
    server.shutdown(GRACE);
}

fn a_servant_that_panics_costs_only_its_caller(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    let e = echo.panic().unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Unknown, Completion::Maybe));
    echo.ping().unwrap();
    server.shutdown(GRACE);
}

fn servants_that_call_back_and_forth_wait_for_nobody_else(at: &str) {
    let (first, second) = (server(at), server(at));
    let (one, other) = (served(&first), served(&second));
    // Each calls the other object through its own server's eyes.
    let near = seen_by(&second, &one);
    seen_by(&client(), &other).call_back(&near, 12).unwrap();
    first.shutdown(GRACE);
    second.shutdown(GRACE);
}

fn slow_servants_hold_up_nobody_else(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| echo.sleep(700).unwrap());
        }
        std::thread::sleep(Duration::from_millis(100));
        echo.ping().unwrap();
        assert!(started.elapsed() < Duration::from_millis(600), "{:?}", started.elapsed());
    });
    assert!(started.elapsed() < Duration::from_millis(1_400), "{:?}", started.elapsed());
    server.shutdown(GRACE);
}

fn calls_end_in_time_and_late_replies_disturb_nobody(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    let hasty = EchoRef(echo.0.with_timeout(Duration::from_millis(150)));
    for _ in 0..3 {
        let e = hasty.sleep(400).unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::Maybe));
        assert_eq!(hasty.shout("a").unwrap(), "A");
    }
    server.shutdown(GRACE);
}

fn many_threads_call_many_objects(at: &str) {
    let (server, client) = (server(at), client());
    let objects: Vec<_> = (0..50).map(|_| seen_by(&client, &served(&server))).collect();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let objects = &objects;
            scope.spawn(move || {
                for round in 0..500 {
                    let text = format!("{n} and {round}");
                    assert_eq!(objects[(n * 7 + round) % 50].shout(&text).unwrap(), text.to_uppercase());
                }
            });
        }
    });
    server.shutdown(GRACE);
}

fn many_threads_that_connect_at_once_are_all_let_in(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    let gate = std::sync::Barrier::new(100);
    std::thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| {
                gate.wait();
                echo.ping().unwrap();
            });
        }
    });
    server.shutdown(GRACE);
}

fn without_shared_memory_calls_go_by_iiop(at: &str) {
    let (server, adapter) = server_with_both(at);
    let client = client();
    let own = adapter.activate_with_id("a", Echo::default()).unwrap();
    let echo = seen_by(&client, &own);
    assert!(is_native(&echo));
    echo.ping().unwrap();
    // The same object with a native address at which nobody listens.
    let mut ior = own.0.ior().clone();
    for profile in &mut ior.profiles {
        if let Some(Ok(mut native)) = throughline_giop::NativeProfile::from_tagged(profile) {
            match &mut native.address {
                throughline_giop::NativeAddress::Shm { name, .. } => name.push_str(".gone"),
                throughline_giop::NativeAddress::Udp { port, .. } => *port = unused_port(),
            }
            *profile = native.to_tagged().unwrap();
        }
    }
    let detour = EchoRef(client.reference(ior));
    assert_eq!(detour.shout("by iiop").unwrap(), "BY IIOP");
    assert!(!is_native(&detour));
    server.shutdown(GRACE);
}

fn a_key_leads_further_than_a_stale_handle(at: &str) {
    let (server, adapter) = server_with_both(at);
    let client = client();
    let own = adapter.activate_with_id("a", Echo::default()).unwrap();
    let echo = seen_by(&client, &own);
    echo.post(1).unwrap();
    assert_eq!(echo.posted().unwrap(), [1]);
    adapter.deactivate(&own).unwrap();
    assert_eq!(echo.ping().unwrap_err().kind, Kind::ObjectNotExist);
    adapter.activate_with_id("a", Echo::default()).unwrap();
    assert_eq!(echo.posted().unwrap(), [], "another object of the same name");
    server.shutdown(GRACE);
}

fn clients_follow_an_object_that_has_moved(at: &str) {
    let (old, new, client) = (server(at), server(at), client());
    let (adapter, config) =
        (old.root(), AdapterConfig { objects: Strategy::DynamicHash, ..AdapterConfig::default() });
    let adapter = adapter.create_child("moved", config).unwrap();
    let moved = adapter.forward("a", &seen_by(&old, &served(&new))).unwrap();
    // A server that only forwards is reached natively; what it forwards to is, too.
    let echo = seen_by(&client, &moved);
    assert_eq!(echo.shout("here").unwrap(), "HERE");
    old.shutdown(GRACE);
    assert_eq!(echo.shout("still").unwrap(), "STILL");
    new.shutdown(GRACE);
}

fn what_is_forwarded_to_where_nobody_is_ends_without_going_in_circles(at: &str) {
    let (old, new, client) = (server(at), server(at), client());
    let config = AdapterConfig { objects: Strategy::DynamicHash, ..AdapterConfig::default() };
    let adapter = old.root().create_child("moved", config).unwrap();
    let echo = seen_by(&client, &adapter.forward("a", &seen_by(&old, &served(&new))).unwrap());
    echo.ping().unwrap();
    new.shutdown(GRACE);
    for _ in 0..3 {
        let error = echo.ping().unwrap_err();
        assert_eq!((error.kind, error.minor), (Kind::Transient, minor::CONNECT_FAILED), "{error}");
    }
    old.shutdown(GRACE);
}

/// Sends its callers to where the object is at present.
#[derive(Clone)]
struct Signpost(Arc<Mutex<EchoRef>>);

impl Skeleton for Signpost {
    fn interface(&self) -> &'static Interface {
        EchoRef::interface()
    }

    fn invoke(&self, _: u32, call: &mut ServerCall<'_>) -> Dispatched {
        call.forward(&self.0.lock().unwrap().0)
    }
}

impl TypedSkeleton for Signpost {
    type Reference = EchoRef;
}

fn an_object_that_has_left_where_it_was_forwarded_to_is_asked_for_again(at: &str) {
    let (old, new, client) = (server(at), server(at), client());
    let first = served(&new);
    let signpost = Signpost(Arc::new(Mutex::new(seen_by(&old, &first))));
    let moves = old.root().activate(signpost.clone()).unwrap();
    let (echo, future) = (seen_by(&client, &moves), seen_by(&client, &moves));
    let call = || [echo.ping(), block_on(future.ping_async())];
    assert_eq!(call(), [Ok(()), Ok(())]);
    new.root().deactivate(&first).unwrap();
    // Nobody knows where it is now.
    assert_eq!(call().map(|ended| ended.unwrap_err().kind), [Kind::ObjectNotExist; 2]);
    *signpost.0.lock().unwrap() = seen_by(&old, &served(&new));
    assert_eq!(call(), [Ok(()), Ok(())]);
    old.shutdown(GRACE);
    new.shutdown(GRACE);
}

fn a_server_that_is_gone_is_an_error_and_one_that_comes_back_is_found(at: &str) {
    let own = match at {
        "shm:" => format!("shm:throughline-test-{}", std::process::id()),
        _ => format!("udp://127.0.0.1:{}", unused_port()),
    };
    // A port is free once the connections of its last owner have ended.
    let listen = || {
        let config = || OrbConfig { listen: vec![own.parse().unwrap()], ..OrbConfig::default() };
        let started = Instant::now();
        loop {
            match Orb::start(config()) {
                Ok(orb) => return orb,
                Err(e) => assert!(started.elapsed() < Duration::from_secs(5), "{e}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let (server, client) = (listen(), client());
    let echo = seen_by(&client, &served(&server));
    echo.ping().unwrap();
    server.shutdown(GRACE);
    drop(server);
    let started = Instant::now();
    let gone = echo.ping().unwrap_err().to_string();
    assert_eq!(gone.contains("on this machine"), at == "shm:", "{gone}");
    assert!(started.elapsed() < Duration::from_secs(2));
    let server = listen();
    let again = seen_by(&client, &served(&server));
    let found = (0..50).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        again.ping().is_ok()
    });
    assert!(found);
    assert_eq!(echo.ping().unwrap_err().kind, Kind::ObjectNotExist, "a handle of the server's earlier life");
    server.shutdown(GRACE);
}

over! {
    calls_in_every_direction
    oneways_are_carried_out_in_order
    an_operation_that_the_server_numbers_otherwise_is_found_by_what_it_is
    a_servant_that_panics_costs_only_its_caller
    servants_that_call_back_and_forth_wait_for_nobody_else
    slow_servants_hold_up_nobody_else
    calls_end_in_time_and_late_replies_disturb_nobody
    many_threads_call_many_objects
    many_threads_that_connect_at_once_are_all_let_in
    without_shared_memory_calls_go_by_iiop
    a_key_leads_further_than_a_stale_handle
    clients_follow_an_object_that_has_moved
    what_is_forwarded_to_where_nobody_is_ends_without_going_in_circles
    an_object_that_has_left_where_it_was_forwarded_to_is_asked_for_again
    a_server_that_is_gone_is_an_error_and_one_that_comes_back_is_found
}
