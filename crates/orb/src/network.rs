//! TCP that is not the system's.

#[cfg(feature = "stack")]
mod stack;

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

#[cfg(feature = "stack")]
pub use stack::StackNetwork;

/// Where connections of IIOP come from, if not from the system: see [`OrbConfig::network`](crate::OrbConfig::network).
///
/// What it gives are stream sockets, or descriptors that can be used as such.
pub trait Network: fmt::Debug + Send + Sync {
    /// Connects to a port of a host, within `timeout`. `None` when this network does not lead there: then the system is
    /// asked.
    fn connect(&self, host: &str, port: u16, timeout: Duration) -> Option<io::Result<OwnedFd>>;

    /// A socket to accept connections from that come to a port of this host's, and the port; 0 is any that is free. `None`
    /// when the host is none of this network's addresses.
    fn listen(&self, host: &str, port: u16) -> Option<io::Result<(OwnedFd, u16)>>;
}
