//! Who bridges are, what they claim, and their times.

use throughline_stack::smoltcp::{time::Duration, wire::EthernetAddress};

/// A bridge: its priority, and one of its addresses. The lowest is the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BridgeId(u64);

impl BridgeId {
    /// The bridge with this priority and address.
    pub fn new(priority: u16, address: EthernetAddress) -> Self {
        let EthernetAddress([a, b, c, d, e, f]) = address;
        Self(u64::from(priority) << 48 | u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
    }

    pub(super) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) fn bits(self) -> u64 {
        self.0
    }
}

impl std::fmt::Display for BridgeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [_, _, a, b, c, d, e, f6] = self.0.to_be_bytes();
        write!(f, "{:04x}.{}", self.0 >> 48, EthernetAddress([a, b, c, d, e, f6]))
    }
}

/// That the root is this one, so far away, by this port of this bridge. The least is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub root: BridgeId,
    pub cost: u32,
    pub bridge: BridgeId,
    pub port: u16,
}

/// A time in 1/256 of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seconds(pub u16);

impl Seconds {
    pub const fn whole(seconds: u8) -> Self {
        Self((seconds as u16) << 8)
    }

    /// Rounded up.
    pub fn of(duration: Duration) -> Self {
        let parts = u128::from(duration.total_micros()) * 256;
        Self(parts.div_ceil(1_000_000).min(u16::MAX.into()) as u16)
    }

    pub fn duration(self) -> Duration {
        Duration::from_micros(u64::from(self.0) * 1_000_000 / 256)
    }
}

/// The times of the root, which all bridges use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub max_age: Seconds,
    pub hello: Seconds,
    pub forward_delay: Seconds,
}

impl Default for Times {
    /// The standard's (table 8-3).
    fn default() -> Self {
        Self { max_age: Seconds::whole(20), hello: Seconds::whole(2), forward_delay: Seconds::whole(15) }
    }
}

impl Times {
    /// Whether they are in the standard's bounds, but for the delay, of which the kernel's bridge allows 2 s.
    pub fn are_possible(&self) -> bool {
        let within =
            |time: Seconds, least, most| (Seconds::whole(least)..=Seconds::whole(most)).contains(&time);
        within(self.max_age, 6, 40) && within(self.hello, 1, 10) && within(self.forward_delay, 2, 30)
    }
}
