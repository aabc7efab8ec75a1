//! Clients that are killed in the midst of native calls: what they leave behind in the server's process, so alone in it. The
//! clients are this test binary, run again.

mod common;
#[path = "common/process.rs"]
mod process;

use std::io::Write;
use std::time::{Duration, Instant};

use common::{Echo, EchoRef, client, seen_by, server_with};
use process::Process;
use throughline::Address;

/// Not a test of its own: what the child processes run.
#[test]
fn child() {
    let Some(reference) = process::given() else { return };
    let client = client();
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

#[test]
fn clients_that_are_killed_leave_the_server_to_others() {
    let server = server_with(|c| c.listen = vec![Address::Shm(String::new())]);
    let own = server.root().activate(Echo::default()).unwrap();
    let client = client();
    let echo = seen_by(&client, &own);
    echo.ping().unwrap();
    let mapped = || std::fs::read_to_string("/proc/self/maps").unwrap().matches("throughline-vi").count();
    let before = mapped();
    for n in 0..8 {
        let (mut other, _) = Process::start(&own.0.to_string());
        assert!(mapped() > before);
        std::thread::sleep(Duration::from_millis(n * 7));
        other.kill();
        assert_eq!(echo.shout("still there").unwrap(), "STILL THERE");
    }
    // What they held is given back: nothing of their memory stays mapped.
    let started = Instant::now();
    while mapped() > before && started.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(mapped(), before);
    server.shutdown(Duration::from_secs(2));
}
