//! Which way the calls of a reference go.

use std::fmt;

use throughline_giop::NativeAddress;

use crate::reference::ObjectRef;
use crate::transport::address::Address;

/// What carries a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// The object is in this process.
    Local,
    /// The native protocol over shared memory.
    Shm,
    /// The native protocol over UDP.
    Udp,
    /// IIOP: GIOP over TCP.
    Iiop,
    /// GIOP over a Unix-domain socket.
    Unix,
}

impl Transport {
    /// `local`, `shm`, `udp`, `iiop` or `unix`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Shm => "shm",
            Self::Udp => "udp",
            Self::Iiop => "iiop",
            Self::Unix => "unix",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A transport, and where it leads. `Display` is the address: `shm:bank`, `iiop://host:2809`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Way {
    /// What carries calls.
    pub transport: Transport,
    address: String,
}

impl Way {
    fn native(address: &NativeAddress) -> Self {
        match address {
            NativeAddress::Shm { name, .. } => {
                Self { transport: Transport::Shm, address: format!("shm:{name}") }
            }
            NativeAddress::Udp { host, port } => {
                let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
                Self { transport: Transport::Udp, address: format!("udp://{host}:{port}") }
            }
        }
    }

    fn stream(address: &Address) -> Self {
        let transport = match address {
            Address::Unix(_) => Transport::Unix,
            _ => Transport::Iiop,
        };
        Self { transport, address: address.to_string() }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}

impl ObjectRef {
    /// The way that the next call takes first; right after a call, the one that it took. None when the reference has no
    /// address that can be used from here. A call whose way does not work takes another, unseen by its caller: this tells.
    pub fn way(&self) -> Option<Way> {
        let binding = self.binding();
        if binding.local_key().is_some() {
            return Some(Way { transport: Transport::Local, address: "this process".to_owned() });
        }
        let native = binding.native().map(|route| Way::native(route.address()));
        native.or_else(|| binding.route().map(|route| Way::stream(route.endpoint.address())))
    }
}
