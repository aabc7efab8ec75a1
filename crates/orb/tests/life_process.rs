//! A server that is killed in the middle of calls. The server is this test binary, run again.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use raw::{GRACE, LONG, Probe, ProbeRef, block_on, client, eventually, server_with};
use throughline::{Address, Completion, Kind, Orb};

const PORT: &str = "THROUGHLINE_TEST_PORT";

/// Not a test of its own: what the child process runs.
#[test]
fn child() {
    let Ok(port) = std::env::var(PORT) else { return };
    let server = server_with(|c| c.listen = vec![Address::tcp("127.0.0.1", port.parse().unwrap())]);
    server.root().activate_with_id("probe", Probe::default()).unwrap();
    println!("\nPORT {}", raw::port_of(&server));
    std::io::stdout().flush().unwrap();
    server.run();
}

struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(port: u16) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture"])
            .env(PORT, port.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.find_map(|l| l.unwrap().strip_prefix("PORT ").map(|p| p.parse().unwrap()));
        Self { child, port: port.unwrap() }
    }

    fn reference(&self, client: &Orb) -> ProbeRef {
        let text = format!("corbaloc::127.0.0.1:{}/probe", self.port);
        ProbeRef(client.string_to_object(&text).unwrap()).within(LONG)
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn killed_during_calls() {
    let mut server = Server::start(0);
    let client = client();
    let probe = server.reference(&client);
    probe.ping().unwrap();
    let calls: Vec<_> = (0..6)
        .map(|n| {
            let probe = probe.clone();
            std::thread::spawn(move || {
                let result =
                    if n % 2 == 0 { probe.sleep(20_000) } else { block_on(probe.sleep_async(15_000)) };
                (result, Instant::now())
            })
        })
        .collect();
    std::thread::sleep(Duration::from_millis(300));
    let killed = Instant::now();
    server.kill();
    for call in calls {
        let (result, ended) = call.join().unwrap();
        let e = result.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completion::Maybe), "{e}");
        assert!(ended.duration_since(killed) < Duration::from_secs(1));
    }
    // From now on nothing is carried out, and callers are told so.
    for e in [probe.ping().unwrap_err(), block_on(probe.ping_async()).unwrap_err()] {
        assert_eq!((e.kind, e.completed), (Kind::Transient, Completion::No), "{e}");
    }
    // Its successor at the same place is found by the same reference.
    let _second = Server::start(server.port);
    probe.ping().unwrap();
    block_on(probe.ping_async()).unwrap();
    client.shutdown(GRACE);
}

#[test]
fn killed_while_nobody_calls() {
    let mut server = Server::start(0);
    let client = client();
    let probe = server.reference(&client);
    for idle in [0, 200] {
        probe.ping().unwrap();
        server.kill();
        server = Server::start(server.port);
        std::thread::sleep(Duration::from_millis(idle));
        // Nothing was under way. Whether the call was carried out is known, or it just works.
        match probe.ping() {
            Ok(()) => {}
            Err(e) => assert_eq!((e.kind, idle), (Kind::CommFailure, 0), "{e}"),
        }
        probe.ping().unwrap();
    }
    client.shutdown(GRACE);
}

const SILENT_PORT: &str = "THROUGHLINE_TEST_SILENT_PORT";

/// Not a test of its own: a client whose call gets no answer.
#[test]
fn calling_child() {
    let Ok(port) = std::env::var(SILENT_PORT) else { return };
    let text = format!("corbaloc::127.0.0.1:{port}/probe");
    let probe = ProbeRef(client().string_to_object(&text).unwrap()).within(Duration::from_millis(800));
    let e = probe.ping().unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::Maybe), "{e}");
}

#[test]
fn a_call_that_is_interrupted_time_and_again_ends_in_time() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "calling_child"])
        .env(SILENT_PORT, silent.local_addr().unwrap().port().to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let _calls = silent.accept().unwrap();
    let (pid, started) = (rustix::process::Pid::from_child(&child), Instant::now());
    let ended = loop {
        std::thread::sleep(Duration::from_millis(200));
        match child.try_wait().unwrap() {
            None if started.elapsed() > LONG / 4 => break None,
            None => {}
            ended => break ended,
        }
        // This interrupts who waits for a while, as a signal does that is handled.
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        eventually("every thread has stopped or ended", || is_stopped(child.id()));
        rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    };
    child.wait().unwrap();
    assert!(ended.is_some_and(|status| status.success()), "{ended:?}");
}

/// Whether no thread of the process runs, or none is left: the signal reaches one after another.
fn is_stopped(pid: u32) -> bool {
    std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten().all(|task| {
        let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['T', 'Z']))
    })
}

#[test]
fn stopped_for_a_while() {
    let server = Server::start(0);
    let client = client();
    let probe = server.reference(&client);
    probe.ping().unwrap();
    let pid = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    eventually("every thread has stopped", || is_stopped(server.child.id()));
    for future in [false, true] {
        let (hasty, started) = (probe.within(Duration::from_millis(200)), Instant::now());
        let e = if future { block_on(hasty.ping_async()) } else { hasty.ping() }.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::Maybe), "{e}");
        assert!(started.elapsed() < Duration::from_secs(2));
    }
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    // The late replies find nobody.
    eventually("the server answers again", || probe.within(Duration::from_secs(1)).ping().is_ok());
    client.shutdown(GRACE);
}
