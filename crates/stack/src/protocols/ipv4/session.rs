//! What a session is found by, and what it remembers.

use std::hash::{Hash, Hasher};

use smoltcp::wire::Ipv4Address;
use throughline_demux::Key;

use crate::{Discard, Upper, protocols::way::Way};

/// What a session is found by: the addresses and the protocol above, and, where sessions below are of one path each, the
/// session below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub remote: u32,
    pub local: u32,
    pub below: u32,
    pub protocol: u8,
}

impl Hash for Pair {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.remote) << 32 | u64::from(self.local));
        state.write_u64(u64::from(self.below) << 8 | u64::from(self.protocol));
    }
}

impl Key for Pair {}

/// The other end of packets of one protocol, and the way there.
pub(super) struct Session {
    pub remote: Ipv4Address,
    pub local: Ipv4Address,
    /// What packets of this session are addressed to: `local`, or a broadcast.
    pub group: Ipv4Address,
    pub protocol: u8,
    pub upper: Upper,
    /// Whether `remote` is a broadcast.
    pub to_all: bool,
    pub way: Way,
}

impl Session {
    /// Where a message goes that came from `remote`. Nobody sends from the address of all.
    #[inline]
    pub fn heard(&self) -> Result<Upper, Discard> {
        if self.to_all { Err(Discard::Source) } else { Ok(self.upper) }
    }
}

impl Default for Session {
    fn default() -> Self {
        let nobody = Ipv4Address::UNSPECIFIED;
        Self {
            remote: nobody,
            local: nobody,
            group: nobody,
            protocol: 0,
            upper: Upper::Itself,
            to_all: false,
            way: Way::none(nobody.into()),
        }
    }
}
