//! Who talks to whom: what a user knows when a session is opened.

use smoltcp::wire::{EthernetAddress, IpAddress};

/// The participants of a session. Each protocol reads what it knows; what may be left out, it fills in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Participants {
    /// The other end's hardware address; found by address resolution where there is an IP address.
    pub remote_hardware: Option<EthernetAddress>,
    /// What messages of a user directly above Ethernet are marked with.
    pub ethertype: Option<u16>,
    /// The application id at which we receive, demanded; without it a free one is assigned. Network-wide it is unique
    /// together with our hardware address.
    pub local_application: Option<u32>,
    /// The application id at which the other end receives; without it the same as ours.
    pub remote_application: Option<u32>,
    /// Our address; the one on the way to the other end, if left out.
    pub local_address: Option<IpAddress>,
    /// The other end's address.
    pub remote_address: Option<IpAddress>,
    /// The number of the protocol above IP; 253 and 254 are for experiments (RFC 3692).
    pub protocol: Option<u8>,
    /// Our port, demanded; without it, or if it is 0, a free one is assigned.
    pub local_port: Option<u16>,
    /// The other end's port; 0 is none.
    pub remote_port: Option<u16>,
    /// The keys of a sealed session. They are never used again.
    #[cfg(feature = "ciphers")]
    pub keys: Option<crate::Keys>,
}

impl Participants {
    /// An end that is reached at this address and port.
    pub fn to(address: impl Into<IpAddress>, port: u16) -> Self {
        Self { remote_address: Some(address.into()), remote_port: Some(port), ..Self::default() }
    }

    /// Anyone who sends to this port of ours.
    pub fn at(port: u16) -> Self {
        Self { local_port: Some(port), ..Self::default() }
    }

    /// With this port of ours.
    pub fn from_port(mut self, port: u16) -> Self {
        self.local_port = Some(port);
        self
    }

    /// With these keys.
    #[cfg(feature = "ciphers")]
    pub fn sealed(mut self, keys: crate::Keys) -> Self {
        self.keys = Some(keys);
        self
    }

    /// With this application id at both ends.
    pub fn application(mut self, id: u32) -> Self {
        self.local_application = Some(id);
        self
    }
}
