//! Oneways that are sent just before the client's process ends, and those to objects that are gone.

mod common;
#[path = "common/process.rs"]
mod process;

use std::io::Write;
use std::time::{Duration, Instant};

use common::{Echo, EchoRef, client, seen_by, server_with};
use process::Process;
use throughline::rt::{Encode, Operation};
use throughline::{Adapter, AdapterConfig, Address, Completion, Kind, Orb, Strategy, SystemException};

const POSTS: u32 = 100;
const WAYS: [&str; 2] = ["shm:", "udp://127.0.0.1:0"];

/// Not a test of its own: what the child process runs.
#[test]
fn child() {
    let Some(reference) = process::given() else { return };
    let client = client();
    let echo = EchoRef(client.string_to_object(&reference).unwrap());
    (0..POSTS).for_each(|n| echo.post(n).unwrap());
    println!("\nREADY now");
    std::io::stdout().flush().unwrap();
    client.shutdown(Duration::ZERO);
    std::process::exit(0);
}

#[test]
fn oneways_outlive_the_process_that_sent_them() {
    for at in WAYS {
        let server = server_with(|c| c.listen = vec![at.parse().unwrap()]);
        let own = server.root().activate(Echo::default()).unwrap();
        let (_client, _) = Process::start(&own.0.to_string());
        let observer = client();
        let echo = seen_by(&observer, &own);
        wait_for(&echo, POSTS, 5);
        assert!(echo.posted().unwrap().into_iter().eq(0..POSTS));
        server.shutdown(Duration::from_secs(1));
    }
}

/// Waits until so many posts have arrived, for so many seconds.
#[track_caller]
fn wait_for(echo: &EchoRef, posts: u32, seconds: u64) {
    let started = Instant::now();
    while echo.posted().unwrap().len() < posts as usize {
        assert!(started.elapsed() < Duration::from_secs(seconds), "{:?}: {:?}", echo.0, echo.posted());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A server of so many objects, and a client: both, the objects, and they as the client sees them.
fn serving(at: &str, objects: usize) -> (Orb, Orb, Vec<EchoRef>, Vec<EchoRef>) {
    let (server, client) = (server_with(|c| c.listen = vec![at.parse().unwrap()]), client());
    let owns: Vec<_> = (0..objects).map(|_| server.root().activate(Echo::default()).unwrap()).collect();
    let echoes = owns.iter().map(|own| seen_by(&client, own)).collect();
    (server, client, owns, echoes)
}

/// A server whose adapter has an object that keeps its key, called "a".
fn naming(listen: Vec<Address>) -> (Orb, Adapter, EchoRef) {
    let server = server_with(|c| c.listen = listen);
    let config =
        AdapterConfig { objects: Strategy::DynamicHash, stable_keys: true, ..AdapterConfig::default() };
    let adapter = server.root().create_child("named", config).unwrap();
    let own = adapter.activate_with_id("a", Echo::default()).unwrap();
    (server, adapter, own)
}

/// By IIOP, and by these ways.
fn beside_iiop(ways: &[&str]) -> Vec<Address> {
    let others = ways.iter().map(|at| at.parse().unwrap());
    [Address::tcp("127.0.0.1", 0)].into_iter().chain(others).collect()
}

/// Posts until that ends otherwise, or `done`.
fn post_until(echo: &EchoRef, done: impl Fn() -> bool) -> Result<u32, SystemException> {
    for n in 0..1000 {
        echo.post(n)?;
        std::thread::sleep(Duration::from_millis(2));
        if done() {
            return Ok(n);
        }
    }
    Ok(1000)
}

#[test]
fn oneways_reach_an_object_that_was_activated_anew() {
    for at in WAYS {
        let (server, adapter, own) = naming(beside_iiop(&[at]));
        let client = client();
        // Of the second copy, nobody has used the object when it was there.
        let [echo, other] = [(); 2].map(|()| seen_by(&client, &own));
        post_until(&echo, || !own.posted().unwrap().is_empty()).unwrap();
        adapter.deactivate(&own).unwrap();
        let anew = adapter.activate_with_id("a", Echo::default()).unwrap();
        let received = || anew.posted().unwrap().len();
        assert!(post_until(&echo, || received() > 0).unwrap() < 1000, "{at}: nothing arrives");
        let before = received();
        assert!(post_until(&other, || received() > before).unwrap() < 1000, "{at}: nothing arrives");
        server.shutdown(Duration::from_secs(1));
    }
}

#[test]
fn oneways_to_an_object_that_is_gone_for_good_are_an_error() {
    for at in WAYS {
        let (server, _client, owns, echoes) = serving(at, 2);
        let (own, echo, stays) = (&owns[0], &echoes[0], &echoes[1]);
        post_until(echo, || own.posted().unwrap().len() > 10).unwrap();
        server.root().deactivate(own).unwrap();
        let gone = post_until(echo, || false).unwrap_err();
        assert_eq!((gone.kind, gone.completed), (Kind::ObjectNotExist, Completion::No), "{at}");
        // The other object's calls are by the same link.
        for n in 0..1000 {
            stays.post(n).unwrap();
        }
        assert!(stays.posted().unwrap().into_iter().eq(0..1000), "{at}");
        assert_eq!(echo.post(0).unwrap_err().kind, Kind::ObjectNotExist);
        server.shutdown(Duration::from_secs(1));
    }
}

#[test]
fn oneways_to_many_objects_that_are_gone_are_an_error_each() {
    for at in WAYS {
        let (server, _client, owns, echoes) = serving(at, 200);
        owns.iter().for_each(|own| server.root().deactivate(own).unwrap());
        let mut failed = 0;
        for _ in 0..50 {
            failed = echoes.iter().filter(|echo| echo.post(0).is_err()).count();
            if failed == echoes.len() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(failed, echoes.len(), "{at}");
        server.shutdown(Duration::from_secs(1));
    }
}

/// As a oneway, what a servant takes time for.
fn send(echo: &EchoRef, operation: (&'static str, u32), number: u32) {
    let operation = Operation::new(operation.0, operation.1);
    echo.0.send_oneway(operation, |w| number.encode(w)).unwrap();
}

#[test]
fn oneways_outlive_the_thread_that_sent_them_behind_some_that_are_acknowledged() {
    for at in WAYS {
        let (server, _client, owns, echoes) = serving(at, 4);
        let all = move || {
            echoes[..3].iter().for_each(|echo| send(echo, ("sleep", 5), 200));
            (0..POSTS).for_each(|n| echoes[3].post(n).unwrap());
        };
        std::thread::spawn(all).join().unwrap();
        let own = &owns[3];
        wait_for(own, POSTS, 5);
        assert!(own.posted().unwrap().into_iter().eq(0..POSTS), "{at}");
        server.shutdown(Duration::from_secs(1));
    }
}

#[test]
fn oneways_are_carried_out_though_nobody_reads_what_became_of_those_before() {
    for at in WAYS {
        let (server, _client, owns, echoes) = serving(at, 201);
        let (echo, gone) = echoes.split_first().unwrap();
        owns[1..].iter().for_each(|own| server.root().deactivate(own).unwrap());
        // While it runs, there is nothing to read; afterwards, nobody does.
        send(echo, ("sleep", 5), 1000);
        gone.iter().for_each(|gone| gone.post(0).unwrap());
        echo.post(1).unwrap();
        wait_for(&owns[0], 1, 10);
        server.shutdown(Duration::from_secs(1));
    }
}

#[test]
fn a_servant_that_finds_another_object_gone_is_not_gone_itself() {
    for at in WAYS {
        let (server, _client, owns, echoes) = serving(at, 2);
        let (echo, other) = (&echoes[0], &echoes[1]);
        server.root().deactivate(&owns[1]).unwrap();
        let operation = Operation::new("call_back", 7);
        echo.0
            .send_oneway(operation, |w| {
                Some(other.clone()).encode(w)?;
                1_u32.encode(w)
            })
            .unwrap();
        for n in 0..10 {
            std::thread::sleep(Duration::from_millis(20));
            echo.post(n).unwrap();
        }
        assert_eq!(echo.posted().unwrap().len(), 10, "{at}");
        server.shutdown(Duration::from_secs(1));
    }
}

#[test]
fn oneways_that_have_found_another_way_are_not_lost_on_a_third() {
    let (server, adapter, own) = naming(beside_iiop(&WAYS));
    let client = client();
    let echo = seen_by(&client, &own);
    post_until(&echo, || !own.posted().unwrap().is_empty()).unwrap();
    adapter.deactivate(&own).unwrap();
    let anew = adapter.activate_with_id("a", Echo::default()).unwrap();
    let received = || anew.posted().unwrap().len();
    assert!(post_until(&echo, || received() > 0).unwrap() < 1000, "nothing arrives");
    let before = received();
    (0..POSTS).for_each(|n| echo.post(n).unwrap());
    assert!(echo.posted().unwrap().into_iter().skip(before).eq(0..POSTS));
    server.shutdown(Duration::from_secs(1));
}

#[test]
fn results_of_what_is_sent_as_a_oneway_wait_for_nobody() {
    for at in WAYS {
        let (server, _client, owns, echoes) = serving(at, 1);
        let echo = &echoes[0];
        let data = vec![7_u32; 4 << 20];
        let move_data = Operation::new("move_data", 4);
        echo.0.send_oneway(move_data, |w| data.encode(w)).unwrap();
        echo.post(1).unwrap();
        wait_for(&owns[0], 1, 10);
        server.shutdown(Duration::from_secs(1));
    }
}

#[test]
fn oneways_find_an_object_again_whose_server_was_started_again() {
    for at in [&format!("shm:oneways-{}", std::process::id()), WAYS[1]] {
        let (server, _, own) = naming(beside_iiop(&[at]));
        let client = client();
        let echo = seen_by(&client, &own);
        post_until(&echo, || !own.posted().unwrap().is_empty()).unwrap();
        let addresses = server.addresses();
        server.shutdown(Duration::from_secs(1));
        if let Address::Udp { port, .. } = addresses[1] {
            // Its port is free once its last link is closed.
            let started = Instant::now();
            while let Err(e) = std::net::UdpSocket::bind(("127.0.0.1", port)) {
                assert!(started.elapsed() < Duration::from_secs(10), "{e}");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        let (server, _, own) = naming(addresses);
        let lost = post_until(&echo, || !own.posted().unwrap().is_empty()).unwrap();
        // Fewer than the ring has room for: it is not what tells.
        assert!(lost < 200, "{at}: {lost}");
        let before = own.posted().unwrap().len();
        (0..POSTS).for_each(|n| echo.post(n).unwrap());
        assert!(echo.posted().unwrap().into_iter().skip(before).eq(0..POSTS));
        server.shutdown(Duration::from_secs(1));
    }
}

#[test]
fn oneways_to_a_server_that_has_ended_wait_for_nobody() {
    let (server, _client, owns, echoes) = serving(WAYS[0], 1);
    let (own, echo) = (&owns[0], &echoes[0]);
    post_until(echo, || !own.posted().unwrap().is_empty()).unwrap();
    server.shutdown(Duration::from_secs(1));
    let started = Instant::now();
    assert!((0..1000).any(|n| echo.post(n).is_err()));
    assert!(started.elapsed() < Duration::from_secs(10));
}
