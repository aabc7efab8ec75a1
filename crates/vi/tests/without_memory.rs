//! Where the system has no more memory, whoever asks for it is told so, whatever the fabric.
#![cfg(not(any(loom, miri)))]
#![allow(missing_docs)]

mod common;

use common::{LOOPBACK, Result};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::{fmt::Debug, fs, io::ErrorKind};
use throughline_vi::{
    Faults, LocalNetwork, Nic, ProtectionTag, Reliability, ResourceError, Rights, ViAttributes,
};

/// Of address space that the process may have besides what it has: less than is asked for.
const LEFT: u64 = 256 << 20;
/// Half a gigabyte.
const MANY: u32 = 512;
const LARGE: u32 = 1 << 20;

fn is_refused<T: Debug>(made: std::result::Result<T, ResourceError>) -> bool {
    matches!(made, Err(ResourceError::Io(error)) if error.kind() == ErrorKind::OutOfMemory)
}

#[test]
fn memory_that_there_is_not_is_an_error() -> Result {
    let status = fs::read_to_string("/proc/self/status")?;
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.split_whitespace().next());
    let most = Some(size.ok_or("no size")?.parse::<u64>()? * 1024 + LEFT);
    setrlimit(Resource::As, Rlimit { current: most, maximum: most })?;
    let network = LocalNetwork::new(Faults::NONE);
    for nic in [Nic::shm()?, Nic::udp(LOOPBACK)?, Nic::local(&network, "memory")] {
        let tag = ProtectionTag::new();
        let rights = Rights { remote_write: true, remote_read: true };
        assert!(is_refused(nic.register(MANY, LARGE, tag)), "{nic:?}");
        assert!(is_refused(nic.register_window((MANY * LARGE) as usize, tag, rights)), "{nic:?}");
        let few = ViAttributes::new(Reliability::Unreliable);
        assert!(is_refused(nic.create_vi(&ViAttributes {
            send_buffers: MANY,
            send_buffer_size: LARGE,
            ..few.clone()
        })));
        assert!(is_refused(nic.create_vi(&ViAttributes {
            receive_buffers: MANY,
            receive_buffer_size: LARGE,
            ..few.clone()
        })));
        nic.create_vi(&few)?;
    }
    Ok(())
}
