//! Oneways that are sent just before the client's process ends.

mod common;
#[path = "common/process.rs"]
mod process;

use std::io::Write;
use std::time::{Duration, Instant};

use common::{Echo, EchoRef, client, seen_by, server_with};
use process::Process;

const POSTS: u32 = 100;

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
    for at in ["shm:", "udp://127.0.0.1:0"] {
        let server = server_with(|c| c.listen = vec![at.parse().unwrap()]);
        let own = server.root().activate(Echo::default()).unwrap();
        let (_client, _) = Process::start(&own.0.to_string());
        let observer = client();
        let echo = seen_by(&observer, &own);
        let started = Instant::now();
        while echo.posted().unwrap().len() < POSTS as usize {
            assert!(started.elapsed() < Duration::from_secs(5), "{at}: {:?}", echo.posted());
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(echo.posted().unwrap().into_iter().eq(0..POSTS));
        server.shutdown(Duration::from_secs(1));
    }
}
