//! Processes that are killed in the midst of long messages. They are this test binary, run again.

mod common;
#[path = "common/process.rs"]
mod process;

use std::time::{Duration, Instant};

use common::{Echo, EchoRef, client, seen_by};
use process::Process;
use throughline::{Address, Kind, Orb, OrbConfig, TrustedPeers};

const GRACE: Duration = Duration::from_secs(2);

/// Numbers of a message in one registered buffer, in a long one, and of one that goes in parts.
const COUNTS: [usize; 3] = [4_000, 100_000, 400_000];

fn config(trusted: bool) -> OrbConfig {
    // SAFETY: all processes are this test, which uses the library alone.
    let trusted_peers = trusted.then(|| unsafe { TrustedPeers::promise() });
    OrbConfig { trusted_peers, ..OrbConfig::default() }
}

fn server(trusted: bool) -> (Orb, EchoRef) {
    let listen = vec![Address::Shm(String::new())];
    let server = Orb::start(OrbConfig { listen, ..config(trusted) }).unwrap();
    let echo = server.root().activate(Echo::default()).unwrap();
    (server, echo)
}

fn move_data(echo: &EchoRef, count: usize, round: u32) -> Result<(), Kind> {
    let expected: Vec<u32> = (round..round + count as u32).collect();
    let mut data = expected.clone();
    echo.move_data(&mut data).map_err(|error| error.kind)?;
    assert!(data == expected, "{count} numbers were changed");
    Ok(())
}

/// Not a test of its own: what the child process runs. Without a reference to call it serves.
#[test]
fn child() {
    let Some(given) = process::given() else { return };
    let trusted = given.starts_with("trusted");
    let Some((_, reference)) = given.split_once(' ') else {
        let (server, echo) = server(trusted);
        println!("\nREADY {}", echo.0);
        return server.run();
    };
    let client = Orb::start(config(trusted)).unwrap();
    let echo = EchoRef(client.string_to_object(reference).unwrap());
    println!("\nREADY calling");
    for round in 0.. {
        for count in COUNTS {
            move_data(&echo, count, round).unwrap();
        }
    }
}

#[test]
fn a_server_killed_in_the_midst_of_long_messages_ends_the_calls_of_its_clients() {
    for trusted in [false, true] {
        for wait in [3, 14, 31] {
            let client = Orb::start(config(trusted)).unwrap();
            let (mut server, reference) = Process::start(if trusted { "trusted" } else { "wary" });
            let echo = EchoRef(client.string_to_object(&reference).unwrap());
            std::thread::scope(|scope| {
                let calling = COUNTS.map(|count| {
                    let echo = &echo;
                    scope.spawn(move || (0..).find_map(|round| move_data(echo, count, round).err()))
                });
                std::thread::sleep(Duration::from_millis(50 + wait));
                let started = Instant::now();
                server.kill();
                for call in calling {
                    let error = call.join().unwrap().unwrap();
                    assert!([Kind::CommFailure, Kind::Transient].contains(&error), "{error:?}");
                }
                assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
            });
        }
    }
}

#[test]
fn clients_killed_in_the_midst_of_long_messages_disturb_nobody_else() {
    for trusted in [false, true] {
        let (server, own) = server(trusted);
        let name = if trusted { "trusted" } else { "wary" };
        let client = client();
        let echo = seen_by(&client, &own);
        let started = Instant::now();
        for wait in [3, 14, 31, 8] {
            let (mut other, _) = Process::start(&format!("{name} {}", own.0));
            let until = Instant::now() + Duration::from_millis(50 + wait);
            let mut round = 0;
            while Instant::now() < until {
                move_data(&echo, COUNTS[round as usize % 3], round).unwrap();
                round += 1;
            }
            other.kill();
            for count in COUNTS {
                move_data(&echo, count, 1).unwrap();
            }
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
        server.shutdown(GRACE);
    }
}
