//! A process that may have no more threads. Alone in its program, since the limit is the process's.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use raw::{GRACE, LONG, Probe, Wire, ping};
use rustix::process::{Resource, Rlimit, Uid, getrlimit, setrlimit};
use rustix::thread::set_thread_uid;
use throughline::{Address, Orb, OrbConfig, OrbError};

fn has_threads() -> bool {
    std::thread::Builder::new().spawn(|| {}).is_ok()
}

#[test]
fn a_server_that_gets_no_thread_says_so() {
    let before = getrlimit(Resource::Nproc);
    setrlimit(Resource::Nproc, Rlimit { current: Some(0), maximum: before.maximum }).unwrap();
    // Nothing limits the administrator: this thread ceases to be his.
    if has_threads() && (set_thread_uid(Uid::from_raw(65_534)).is_err() || has_threads()) {
        eprintln!("SKIPPED: this process has as many threads as it likes");
        return;
    }
    let start = || {
        let listen = vec![Address::tcp("127.0.0.1", 0)];
        Orb::start(OrbConfig { listen, ..OrbConfig::default() })
    };
    let refused = start();
    assert!(matches!(refused, Err(OrbError::System(_))), "{refused:?}");
    setrlimit(Resource::Nproc, before).unwrap();
    let server = start().unwrap();
    let own = server.root().activate(Probe::default()).unwrap();
    let mut wire = Wire::to(&server);
    wire.0.set_read_timeout(Some(LONG)).unwrap();
    wire.send(&ping(&own.0.object_key(), 1));
    assert_eq!(wire.reply().unwrap().id, 1);
    server.shutdown(GRACE);
}
