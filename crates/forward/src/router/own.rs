//! The router's own addresses, which nothing from outside comes from (RFC 1812, 5.3.7).

use std::net::IpAddr;

use throughline_stack::smoltcp::wire::{IpAddress, IpCidr};

use super::{Port, Router};
use crate::{PortId, ip::is_link_local};

/// Addresses that the router has, or that stand for all on one of its networks of IPv4.
pub(super) struct Own {
    /// In order.
    addresses: Vec<IpAddr>,
    /// The last bytes that any of them has, so that nearly all others are told from them at a glance.
    ends: [bool; 256],
}

impl Own {
    pub fn of(ports: &[Port]) -> Self {
        let broadcast = |cidr: &IpCidr| match cidr {
            IpCidr::Ipv4(cidr) => cidr.broadcast().map(IpAddress::from),
            IpCidr::Ipv6(_) => None,
        };
        let all = ports.iter().flat_map(|port| &port.host.addresses);
        let all = all.flat_map(|cidr| [Some(cidr.address()), broadcast(cidr)]).flatten();
        let mut addresses: Vec<IpAddr> = all.map(IpAddr::from).collect();
        addresses.sort_unstable();
        let mut ends = [false; 256];
        addresses.iter().for_each(|address| ends[usize::from(last(*address))] = true);
        Self { addresses, ends }
    }
}

impl Router {
    /// Whether a packet that came by a port says that the router itself has sent it.
    #[inline]
    pub(super) fn is_own(&self, port: PortId, source: IpAddr) -> bool {
        self.own.ends[usize::from(last(source))] && self.has(port, source)
    }

    #[cold]
    fn has(&self, port: PortId, source: IpAddr) -> bool {
        // An address of the link may be somebody else's here and ours elsewhere.
        match is_link_local(source) {
            true => self.ports[port.index()].host.has(source.into()),
            false => self.own.addresses.binary_search(&source).is_ok(),
        }
    }
}

#[inline]
fn last(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(address) => address.octets()[3],
        IpAddr::V6(address) => address.octets()[15],
    }
}
