//! What a session is found by, and what it remembers.

use std::hash::{Hash, Hasher};

use smoltcp::wire::Ipv6Address;
use throughline_demux::Key;

use super::ways::key;
use crate::{Upper, protocols::way::Way};

/// What a session is found by: the addresses and the protocol above, and, where sessions below are of one path each, the
/// session below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub remote: u128,
    pub local: u128,
    pub below: u32,
    pub protocol: u8,
}

impl Hash for Pair {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.remote);
        state.write_u128(self.local);
        state.write_u64(u64::from(self.below) << 8 | u64::from(self.protocol));
    }
}

impl Key for Pair {}

/// The other end of packets of one protocol, and the way there.
pub(super) struct Session {
    pub remote: Ipv6Address,
    pub local: Ipv6Address,
    /// What packets of this session are addressed to: `local`, or a group.
    pub group: Ipv6Address,
    pub protocol: u8,
    pub upper: Upper,
    pub way: Way,
}

impl Session {
    /// What keys contain of the session below.
    pub fn below_key(&self) -> u32 {
        self.way.link.map_or(0, |link| key(link, self.way.is_private()))
    }
}

impl Default for Session {
    fn default() -> Self {
        let nobody = Ipv6Address::UNSPECIFIED;
        Self {
            remote: nobody,
            local: nobody,
            group: nobody,
            protocol: 0,
            upper: Upper::Itself,
            way: Way::none(nobody.into()),
        }
    }
}
