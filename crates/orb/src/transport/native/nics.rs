//! The NICs by which this process reaches servers.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use throughline_vi::{LocalNetwork, Nic, ResourceError};

/// The NIC of shared memory.
pub(super) fn shm() -> Result<&'static Nic, ResourceError> {
    static SHM: OnceLock<Nic> = OnceLock::new();
    made(&SHM, Nic::shm)
}

/// The NIC of UDP, for servers of one version of IP.
pub(super) fn udp(v6: bool) -> Result<&'static Nic, ResourceError> {
    static V4: OnceLock<Nic> = OnceLock::new();
    static V6: OnceLock<Nic> = OnceLock::new();
    if v6 {
        made(&V6, || Nic::udp(SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))))
    } else {
        made(&V4, || Nic::udp(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))))
    }
}

/// A NIC of a network within the process, under a name that no other has.
pub(super) fn local(network: &LocalNetwork) -> Nic {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    Nic::local(network, &format!("client {}", COUNT.fetch_add(1, Ordering::Relaxed)))
}

/// The name there of a server's NIC.
pub(super) fn local_name(host: &str, port: u16) -> String {
    format!("{host}:{port}")
}

/// Unlike `OnceLock::get_or_try_init`, which is not stable, two threads may make it at once; one of them keeps its.
fn made(
    nic: &'static OnceLock<Nic>,
    make: impl FnOnce() -> Result<Nic, ResourceError>,
) -> Result<&'static Nic, ResourceError> {
    if let Some(nic) = nic.get() {
        return Ok(nic);
    }
    let made = make()?;
    Ok(nic.get_or_init(|| made))
}
