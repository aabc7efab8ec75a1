//! What a node looks at, and changes, in the header of a packet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use throughline_stack::smoltcp::wire::{Ipv4Packet, Ipv6Packet};

use crate::Refused;

pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const IPV6: u16 = 0x86dd;

/// Bytes of the shortest header of IPv4.
pub(crate) const IPV4_HEADER: usize = 20;
/// Bytes of IPv6's.
pub(crate) const IPV6_HEADER: usize = 40;
/// Before the addresses of IPv6.
const IPV6_HOP_LIMIT: usize = 7;
const IPV4_TTL: usize = 8;
const IPV4_SUM: usize = 10;

/// A destination as a key: an address of IPv6, or one of IPv4 in such (RFC 4291, 2.5.5.2), which no packet of IPv6 has.
pub(crate) type Key = [u64; 2];

/// What the header of a packet says, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ip {
    pub source: IpAddr,
    pub destination: IpAddr,
    /// The protocol above; of IPv6, the first header behind the fixed one.
    pub protocol: u8,
    /// Bytes of the header.
    pub header: usize,
    /// Bytes of the packet; the frame may have more.
    pub length: usize,
    /// Routers that it may still pass, this one included.
    pub hops: u8,
    /// Whether it is a piece of a packet that is not its beginning.
    pub later_piece: bool,
    /// Whether it is a piece at all.
    pub piece: bool,
}

impl Ip {
    /// Looks at a packet.
    #[inline]
    pub fn of(ethertype: u16, packet: &[u8]) -> Result<Self, Refused> {
        match ethertype {
            IPV4 => Self::v4(packet),
            IPV6 => Self::v6(packet),
            _ => Err(Refused::Protocol),
        }
    }

    /// RFC 1812, 5.2.2 and 5.3.7.
    #[inline]
    fn v4(bytes: &[u8]) -> Result<Self, Refused> {
        let packet = Ipv4Packet::new_unchecked(bytes.get(..IPV4_HEADER).ok_or(Refused::Truncated)?);
        let (header, length) = (usize::from(packet.header_len()), usize::from(packet.total_len()));
        if packet.version() != 4 || header < IPV4_HEADER || length < header {
            return Err(Refused::Malformed);
        }
        if bytes.len() < length {
            return Err(Refused::Truncated);
        }
        if sum(&bytes[..header]) != 0xffff {
            return Err(Refused::Checksum);
        }
        let (source, destination) = (packet.src_addr(), packet.dst_addr());
        // Nobody is called so, but for who does not know his name yet, and he sends to all.
        let nameless = source.is_unspecified() && destination.is_broadcast();
        let none = source.is_multicast() || source.is_broadcast() || source.is_loopback();
        if none || (is_of_network_0(source) && !nameless) {
            return Err(Refused::Source);
        }
        if destination.is_loopback() || is_of_network_0(destination) {
            return Err(Refused::Destination);
        }
        Ok(Self {
            source: source.into(),
            destination: destination.into(),
            protocol: packet.next_header().into(),
            header,
            length,
            hops: packet.hop_limit(),
            later_piece: packet.frag_offset() > 0,
            piece: packet.frag_offset() > 0 || packet.more_frags(),
        })
    }

    /// RFC 4291, 2.5.2 to 2.7.
    #[inline]
    fn v6(bytes: &[u8]) -> Result<Self, Refused> {
        let packet = Ipv6Packet::new_unchecked(bytes.get(..IPV6_HEADER).ok_or(Refused::Truncated)?);
        if packet.version() != 6 {
            return Err(Refused::Malformed);
        }
        let length = IPV6_HEADER + usize::from(packet.payload_len());
        if bytes.len() < length {
            return Err(Refused::Truncated);
        }
        let (source, destination) = (packet.src_addr(), packet.dst_addr());
        let to_many = destination.is_multicast();
        let none = source.is_multicast() || source.is_loopback() || is_mapped(source);
        if none || (source.is_unspecified() && !to_many) {
            return Err(Refused::Source);
        }
        if destination.is_loopback() || destination.is_unspecified() || is_mapped(destination) {
            return Err(Refused::Destination);
        }
        let protocol = packet.next_header().into();
        let piece = protocol == 44;
        let offset = bytes
            .get(IPV6_HEADER + 2..IPV6_HEADER + 4)
            .map_or(0, |field| field[0] as u16 * 32 + field[1] as u16 / 8);
        Ok(Self {
            source: source.into(),
            destination: destination.into(),
            protocol,
            header: IPV6_HEADER,
            length,
            hops: packet.hop_limit(),
            later_piece: piece && offset > 0,
            piece,
        })
    }

    /// Whether only hosts on the same link may see the packet.
    #[inline]
    pub fn is_of_the_link(&self) -> bool {
        is_link_local(self.source) || is_link_local(self.destination)
    }

    /// Whether it is of IPv6 and from an address of the link to one that need not be there (RFC 4007, 9).
    pub fn leaves_its_scope(&self) -> bool {
        self.source.is_ipv6() && is_link_local(self.source) && !is_link_local(self.destination)
    }

    /// Whether it is for many hosts.
    #[inline]
    pub fn is_to_many(&self) -> bool {
        match self.destination {
            IpAddr::V4(address) => address.is_multicast() || address.is_broadcast(),
            IpAddr::V6(address) => address.is_multicast(),
        }
    }
}

/// Whether the options of IPv4 in a header say by which routers the packet, and what answers it, is to go (RFC 791, 3.1): loosely
/// or strictly. So they do if they can't be read.
pub(crate) fn is_source_routed(header: &[u8]) -> bool {
    const END: u8 = 0;
    const NOTHING: u8 = 1;
    const LOOSE: u8 = 131;
    const STRICT: u8 = 137;
    let mut options = header.get(IPV4_HEADER..).unwrap_or_default();
    loop {
        options = match options {
            [] | [END, ..] => return false,
            [NOTHING, rest @ ..] => rest,
            [LOOSE | STRICT, ..] => return true,
            [_, length, ..] if *length >= 2 && usize::from(*length) <= options.len() => {
                &options[usize::from(*length)..]
            }
            _ => return true,
        };
    }
}

/// The sum of the words of a header, whose length is a multiple of 4, with the carries added (RFC 1071). Words are added in
/// pairs: the order of bytes and words makes no difference to whether all bits are set.
#[inline]
fn sum(header: &[u8]) -> u64 {
    let (pairs, _) = header.as_chunks::<4>();
    let sum: u64 = pairs.iter().map(|pair| u64::from(u32::from_ne_bytes(*pair))).sum();
    let folded = (sum >> 32) + (sum & 0xffff_ffff);
    let folded = (folded >> 16) + (folded & 0xffff);
    let folded = (folded >> 16) + (folded & 0xffff);
    (folded >> 16) + (folded & 0xffff)
}

/// Hosts on "this network", which no router knows (RFC 1812, 5.3.7).
#[inline]
fn is_of_network_0(address: Ipv4Addr) -> bool {
    address.octets()[0] == 0
}

/// An address of IPv4, as programs write it where one of IPv6 is wanted (RFC 4291, 2.5.5.2): on no wire, and in a [`Key`] that of
/// IPv4 itself.
#[inline]
fn is_mapped(address: Ipv6Addr) -> bool {
    address.to_bits() >> 32 == 0xffff
}

#[inline]
pub(crate) fn is_link_local(address: IpAddr) -> bool {
    match address {
        // RFC 3927, 7.
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// A destination as a key.
#[inline]
pub(crate) fn key(address: IpAddr) -> Key {
    match address {
        IpAddr::V4(address) => [0, 0xffff << 32 | u64::from(address.to_bits())],
        IpAddr::V6(address) => {
            let bits = address.to_bits();
            [(bits >> 64) as u64, bits as u64]
        }
    }
}

/// One router less that the packet may pass. The sum of IPv4 is not computed anew but changed by as much (RFC 1624).
///
/// # Panics
/// If there was none left, or the packet has no whole header.
#[inline]
pub(crate) fn pass(packet: &mut [u8], destination: IpAddr) {
    if destination.is_ipv6() {
        packet[IPV6_HOP_LIMIT] -= 1;
        return;
    }
    packet[IPV4_TTL] -= 1;
    // The word of TTL and protocol became less by 0x0100, so its complement's sum becomes more by that.
    let sum = u16::from_be_bytes([packet[IPV4_SUM], packet[IPV4_SUM + 1]]);
    let (sum, carry) = sum.overflowing_add(0x0100);
    packet[IPV4_SUM..IPV4_SUM + 2].copy_from_slice(&(sum + u16::from(carry)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changed_sum_is_that_of_the_changed_header() {
        for ident in 0..=u16::MAX {
            let mut bytes = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
            let mut packet = Ipv4Packet::new_unchecked(&mut bytes);
            packet.set_ident(ident);
            packet.fill_checksum();
            pass(&mut bytes, [10, 0, 0, 2].into());
            let ip = Ip::of(IPV4, &bytes).unwrap();
            assert_eq!(ip.hops, 63);
        }
    }
}
