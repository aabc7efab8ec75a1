//! Processes that are killed in the midst of native calls. They are this test binary, run again.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Echo, EchoRef, client, seen_by, server_with};
use throughline::{Address, Completion, Kind};

const PART: &str = "THROUGHLINE_TEST_PART";
const REFERENCE: &str = "THROUGHLINE_TEST_REFERENCE";

/// Not a test of its own: what the child processes run.
#[test]
fn child() {
    match std::env::var(PART).as_deref() {
        Ok("server") => {
            let server = server_with(|c| c.listen = vec![Address::Shm(String::new())]);
            let echo = server.root().activate(Echo::default()).unwrap();
            println!("\nREADY {}", echo.0);
            server.run();
        }
        Ok("client") => {
            let client = client();
            let reference = std::env::var(REFERENCE).unwrap();
            let echo = EchoRef(client.string_to_object(&reference).unwrap());
            let mut data: Vec<u32> = (0..100_000).collect();
            echo.ping().unwrap();
            println!("\nREADY now");
            std::io::stdout().flush().unwrap();
            loop {
                echo.ping().unwrap();
                echo.move_data(&mut data).unwrap();
            }
        }
        _ => {}
    }
}

/// Ends with this value, at the latest.
struct Process(Child);

impl Process {
    /// What it says once it is ready comes with it.
    fn start(part: &str, reference: &str) -> (Self, String) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture"])
            .env(PART, part)
            .env(REFERENCE, reference)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = lines.find_map(|line| line.unwrap().strip_prefix("READY ").map(str::to_owned));
        (Self(child), said.unwrap())
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_that_is_killed_ends_the_calls_of_its_clients() {
    let client = client();
    for wait in [0, 20, 200] {
        let (mut server, reference) = Process::start("server", "");
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

#[test]
fn clients_that_are_killed_leave_the_server_to_others() {
    let server = server_with(|c| c.listen = vec![Address::Shm(String::new())]);
    let own = server.root().activate(Echo::default()).unwrap();
    let client = client();
    let echo = seen_by(&client, &own);
    for n in 0..8 {
        let (mut other, _) = Process::start("client", &own.0.to_string());
        std::thread::sleep(Duration::from_millis(n * 7));
        other.kill();
        assert_eq!(echo.shout("still there").unwrap(), "STILL THERE");
    }
    // What they held is given back: nothing of their memory stays mapped.
    let mapped = || std::fs::read_to_string("/proc/self/maps").unwrap().matches("throughline-vi").count();
    let before = mapped();
    let (mut other, _) = Process::start("client", &own.0.to_string());
    assert!(mapped() > before);
    other.kill();
    let started = Instant::now();
    while mapped() > before && started.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(mapped(), before);
    server.shutdown(Duration::from_secs(2));
}
