//! A process that may have little address space. Alone in its program, since the limit is the process's.
#![allow(missing_docs)]

use rustix::process::{Resource, Rlimit, setrlimit};
use throughline::{Address, Orb, OrbConfig, OrbError};

/// Bytes of address space that are taken.
fn taken() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    size.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}

#[test]
fn as_many_objects_as_have_no_room_are_refused() {
    let limit = Some(taken() + (300 << 20));
    setrlimit(Resource::As, Rlimit { current: limit, maximum: limit }).unwrap();
    let path = std::env::temp_dir().join(format!("throughline-few-{}.sock", std::process::id()));
    let listen = vec![Address::Unix(path.clone())];
    let many = OrbConfig { max_objects: 1 << 24, listen, ..OrbConfig::default() };
    let error = Orb::start(many).unwrap_err();
    assert!(matches!(error, OrbError::Objects { max_objects: 0x0100_0000, .. }), "{error}");
    assert!(error.to_string().contains("16777216 objects, the configured `max_objects`"), "{error}");
    assert!(!path.exists(), "a socket file is left of the ORB that did not start");
    let few = Orb::start(OrbConfig { max_objects: 1_000, ..OrbConfig::default() }).unwrap();
    few.shutdown(std::time::Duration::from_secs(1));
}
