//! What a server of the native protocol costs while nobody calls: measured for the whole process, so alone in it.

mod common;

use std::time::Duration;

use common::{Echo, client, seen_by, server_with};
use throughline::Address;

#[test]
fn an_idle_server_uses_no_processor_time() {
    let server = server_with(|c| c.listen = vec![Address::Shm(String::new())]);
    let client = client();
    let echo = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    echo.ping().unwrap();
    // Looking and watching end.
    std::thread::sleep(Duration::from_millis(1_200));
    let before = processor_time();
    std::thread::sleep(Duration::from_millis(1_000));
    let used = processor_time() - before;
    assert!(used < Duration::from_millis(5), "{used:?} in a second");
    echo.ping().unwrap();
    server.shutdown(Duration::from_secs(2));
}

fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
