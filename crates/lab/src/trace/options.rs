//! What an analysis can be told.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// How to look at a capture.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether the two directions of a connection are one flow, as for the hosts at its ends, or two.
    pub both_directions: bool,
    /// Only what these addresses receive, if given.
    pub to: Option<Network>,
    /// Flows kept at once, 16 at least. A sixteenth of them, up to 4,096, is room for those that come next.
    pub flows: usize,
    /// Nanoseconds after which a silent flow is taken for over.
    pub idle: u64,
    /// Chains of the lookups that have a fixed number.
    pub chains: usize,
    /// Seed of the lookups' hash functions.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { both_directions: true, to: None, flows: 1 << 20, idle: 300_000_000_000, chains: 19, seed: 1 }
    }
}

/// Addresses that begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

/// The text is no address, with or without a number of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an address, or a network such as 192.0.2.0/24")]
pub struct NotANetwork;

impl Network {
    /// Whether an address is one of them.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(mine), IpAddr::V4(other)) => {
                let differing = mine.to_bits() ^ other.to_bits();
                differing.leading_zeros() >= u32::from(self.bits)
            }
            (IpAddr::V6(mine), IpAddr::V6(other)) => {
                let differing = mine.to_bits() ^ other.to_bits();
                differing.leading_zeros() >= u32::from(self.bits)
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Self, NotANetwork> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(a, b)| (a, Some(b)));
        let address: IpAddr = address.parse().map_err(|_| NotANetwork)?;
        let all = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(all), str::parse).map_err(|_| NotANetwork)?;
        if bits > all { Err(NotANetwork) } else { Ok(Self { address, bits }) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks() {
        let holds = |network: &str, address: &str| {
            network.parse::<Network>().unwrap().contains(address.parse().unwrap())
        };
        assert!(holds("192.0.2.0/24", "192.0.2.255") && !holds("192.0.2.0/24", "192.0.3.0"));
        assert!(holds("192.0.2.1", "192.0.2.1") && !holds("192.0.2.1", "192.0.2.0"));
        assert!(holds("0.0.0.0/0", "1.2.3.4") && !holds("0.0.0.0/0", "::1"));
        assert!(holds("2001:db8::/32", "2001:db8:1::") && !holds("2001:db8::/32", "2001:db9::"));
        for wrong in ["", "x", "1.2.3.4/33", "1.2.3.4/", "::/129", "1.2.3.4/-1"] {
            assert_eq!(wrong.parse::<Network>(), Err(NotANetwork), "{wrong}");
        }
    }
}
