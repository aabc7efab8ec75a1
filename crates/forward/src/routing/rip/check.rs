//! Entries: what may be told.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use throughline_stack::smoltcp::wire::{IpAddress, IpCidr};

use super::INFINITY;

/// A route, as a message tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteEntry {
    /// Where it leads.
    pub prefix: IpCidr,
    /// Who is a better next hop than the sender, if anybody is.
    pub next_hop: Option<IpAddress>,
    /// Handed on as it is.
    pub tag: u16,
    /// 1 to 16, where 16 is infinity.
    pub metric: u8,
}

/// Why an entry is refused, which leaves the message's others as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// Of another address family.
    #[error("address family {0}")]
    Family(u16),
    /// The bits of the mask are not contiguous, or more than an address has.
    #[error("a mask that is no prefix")]
    Mask,
    /// Loopback, multicast, class E, link-local, or within 0.0.0.0/8.
    #[error("a prefix that nobody may tell")]
    Prefix,
    /// Bits of the address are set behind the prefix.
    #[error("an address with bits behind its prefix")]
    Host,
    /// Not from 1 to 16.
    #[error("metric {0}")]
    Metric(u8),
}

impl RouteEntry {
    /// Of a response.
    pub(super) fn checked(self) -> Result<Self, EntryError> {
        if !(1..=INFINITY).contains(&self.metric) {
            return Err(EntryError::Metric(self.metric));
        }
        if !may_be_told(self.prefix) {
            return Err(EntryError::Prefix);
        }
        if self.prefix != network(self.prefix) {
            return Err(EntryError::Host);
        }
        Ok(self)
    }
}

/// The same prefix without the bits behind it.
pub(crate) fn network(prefix: IpCidr) -> IpCidr {
    match prefix {
        IpCidr::Ipv4(prefix) => IpCidr::Ipv4(prefix.network()),
        IpCidr::Ipv6(prefix) => {
            let behind = u128::MAX.checked_shr(prefix.prefix_len().into()).unwrap_or(0);
            let first = Ipv6Addr::from_bits(prefix.address().to_bits() & !behind);
            IpCidr::new(first.into(), prefix.prefix_len())
        }
    }
}

/// Whether a prefix is of addresses that are somewhere in the network (RFC 2453, 3.9.2; RFC 2080, 2.4.2).
pub(crate) fn may_be_told(prefix: IpCidr) -> bool {
    match IpAddr::from(prefix.address()) {
        address if address.is_unspecified() => prefix.prefix_len() == 0,
        IpAddr::V4(address) => {
            !address.is_loopback() && address.octets()[0] != 0 && address < Ipv4Addr::new(224, 0, 0, 0)
        }
        IpAddr::V6(address) => {
            !address.is_loopback() && !address.is_multicast() && !address.is_unicast_link_local()
        }
    }
}
