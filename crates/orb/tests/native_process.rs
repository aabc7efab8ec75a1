//! A server of native calls that is killed, or stopped. The server is this test binary, run again.

mod common;
#[path = "common/process.rs"]
mod process;

use std::time::{Duration, Instant};

use common::{Echo, EchoRef, client, server_with};
use process::Process;
use throughline::{Address, Completion, Kind};

/// Not a test of its own: what the child process runs.
#[test]
fn child() {
    if process::given().is_some() {
        let server = server_with(|c| c.listen = vec![Address::Shm(String::new())]);
        let echo = server.root().activate(Echo::default()).unwrap();
        println!("\nREADY {}", echo.0);
        server.run();
    }
}

#[test]
fn calls_of_a_server_that_is_stopped_end_in_time() {
    let limit = Duration::from_millis(200);
    for what in 0..3 {
        let client = client();
        let (server, reference) = Process::start("");
        let unlimited = EchoRef(client.string_to_object(&reference).unwrap());
        unlimited.ping().unwrap();
        let echo = EchoRef(unlimited.0.with_timeout(limit));
        server.stop();
        let started = Instant::now();
        let ended = match what {
            // More than there is memory for.
            0 => echo.move_data(&mut vec![1; 2_000_000]).unwrap_err().kind,
            // More than there is room for in the ring, and in buffers.
            1 => (0..1000).find_map(|n| echo.post(n).err()).unwrap().kind,
            _ => echo.ping().unwrap_err().kind,
        };
        let taken = started.elapsed();
        assert!(ended == Kind::Timeout && taken < Duration::from_secs(5), "{what}: {ended:?} {taken:?}");
    }
}

#[test]
fn a_server_that_is_killed_ends_the_calls_of_its_clients() {
    let client = client();
    for wait in [0, 20, 200] {
        let (mut server, reference) = Process::start("");
        let echo = EchoRef(client.string_to_object(&reference).unwrap());
        echo.ping().unwrap();
        std::thread::scope(|scope| {
            let slow = scope.spawn(|| {
                echo.ping().unwrap();
                let error = echo.sleep(60_000).unwrap_err();
                (error.kind, error.completed)
            });
            let busy = scope.spawn(|| {
                loop {
                    if let Err(error) = echo.ping() {
                        return error.kind;
                    }
                }
            });
            std::thread::sleep(Duration::from_millis(50 + wait));
            let started = Instant::now();
            server.kill();
            assert_eq!(slow.join().unwrap(), (Kind::CommFailure, Completion::Maybe));
            assert!([Kind::CommFailure, Kind::Transient].contains(&busy.join().unwrap()));
            assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
        });
    }
}
