//! From IP packets to flows.

use std::net::IpAddr;

use etherparse::{IpNumber, Ipv6ExtensionSlice, LaxIpSlice, LaxIpv4Slice, LaxIpv6Slice, ip_number};

use crate::fragments::{DatagramId, Fragments};

/// The bits of a TCP header that say where a connection begins and ends.
pub const FIN: u8 = 1;
/// See [`FIN`].
pub const SYN: u8 = 2;
/// See [`FIN`].
pub const RST: u8 = 4;

/// Who sends, who receives, and by which protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tuple<A> {
    /// Address and port of the sender.
    pub from: (A, u16),
    /// Address and port of the receiver.
    pub to: (A, u16),
    /// 6 for TCP, 17 for UDP.
    pub protocol: u8,
}

impl<A: Ord + Copy> Tuple<A> {
    /// The same for both directions of a connection; whether the two ends changed places.
    pub fn undirected(self) -> (Self, bool) {
        if self.from <= self.to {
            return (self, false);
        }
        (Self { from: self.to, to: self.from, protocol: self.protocol }, true)
    }
}

/// The flow of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Of IPv4, addresses as numbers.
    V4(Tuple<u32>),
    /// Of IPv6.
    V6(Tuple<u128>),
}

impl Flow {
    /// Who receives.
    pub fn receiver(&self) -> IpAddr {
        match self {
            Self::V4(tuple) => IpAddr::from(tuple.to.0.to_be_bytes()),
            Self::V6(tuple) => IpAddr::from(tuple.to.0.to_be_bytes()),
        }
    }
}

/// What an IP packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Part of a flow, with the bits of its TCP header.
    Flow(Flow, u8),
    /// Part of a datagram whose beginning, which has the ports if there are any, was not seen, or comes later.
    LostFragment,
    /// Around other packets or frames, which are not looked into, by this protocol; [`carrier_name`] has its name.
    Carrier(u8),
    /// Neither TCP nor UDP, nor one of those.
    OtherProtocol,
    /// Cut off before its ports, or malformed.
    Broken,
}

/// The name of a protocol of IP that carries packets or frames of its own.
pub const fn carrier_name(protocol: u8) -> Option<&'static str> {
    Some(match protocol {
        4 => "IPv4 in IP",
        41 => "IPv6 in IP",
        47 => "GRE",
        97 => "Ethernet in IP",
        115 => "L2TP",
        137 => "MPLS in IP",
        _ => return None,
    })
}

/// Looks into an IP packet.
pub fn look(packet: &[u8], fragments: &mut Fragments) -> Seen {
    match LaxIpSlice::from_slice(packet) {
        Ok((LaxIpSlice::Ipv4(ip), None)) => look_v4(&ip, fragments),
        // What is taken for a header there is payload.
        Ok((LaxIpSlice::Ipv4(ip), Some(_))) if ip.header().fragments_offset().value() > 0 => {
            look_v4(&ip, fragments)
        }
        Ok((LaxIpSlice::Ipv6(ip), None)) => look_v6(&ip, fragments),
        Ok((LaxIpSlice::Ipv6(ip), Some(_))) if is_later_fragment(&ip) => look_v6(&ip, fragments),
        _ => Seen::Broken,
    }
}

fn look_v4(ip: &LaxIpv4Slice<'_>, fragments: &mut Fragments) -> Seen {
    let header = ip.header();
    let (source, destination) = (header.source(), header.destination());
    let make = |protocol, [from, to]: [u16; 2]| {
        let (source, destination) = (u32::from_be_bytes(source), u32::from_be_bytes(destination));
        Flow::V4(Tuple { from: (source, from), to: (destination, to), protocol })
    };
    let part = header.is_fragmenting_payload().then(|| Part {
        id: DatagramId {
            from: source.into(),
            to: destination.into(),
            id: u32::from(header.identification()),
            protocol: header.protocol().0,
        },
        first: header.fragments_offset().value() == 0,
        carries: header.protocol(),
    });
    transport(ip.payload().ip_number.0, ip.payload().payload, part, fragments, make)
}

fn look_v6(ip: &LaxIpv6Slice<'_>, fragments: &mut Fragments) -> Seen {
    let header = ip.header();
    let (source, destination) = (header.source(), header.destination());
    let make = |protocol, [from, to]: [u16; 2]| {
        let (source, destination) = (u128::from_be_bytes(source), u128::from_be_bytes(destination));
        Flow::V6(Tuple { from: (source, from), to: (destination, to), protocol })
    };
    let part = fragment_of(ip).map(|(id, first, carries)| Part {
        id: DatagramId { from: source.into(), to: destination.into(), id, protocol: 0 },
        first,
        carries,
    });
    transport(ip.payload().ip_number.0, ip.payload().payload, part, fragments, make)
}

/// Identification, whether the fragment is the first, and what it is of, if the packet is part of a datagram.
fn fragment_of(ip: &LaxIpv6Slice<'_>) -> Option<(u32, bool, IpNumber)> {
    if !ip.is_payload_fragmented() {
        return None;
    }
    ip.extensions().clone().into_iter().find_map(|extension| match extension {
        Ipv6ExtensionSlice::Fragment(head) => {
            Some((head.identification(), head.fragment_offset().value() == 0, head.next_header()))
        }
        _ => None,
    })
}

fn is_later_fragment(ip: &LaxIpv6Slice<'_>) -> bool {
    fragment_of(ip).is_some_and(|(_, first, _)| !first)
}

/// A fragment's place.
struct Part {
    id: DatagramId,
    first: bool,
    /// What the datagram carries, or the header that lies before that.
    carries: IpNumber,
}

impl Part {
    /// What it is, if the beginning of its datagram is not known: without ports, nothing is lost with that.
    fn lost(&self) -> Seen {
        match self.carries {
            // Encrypted: what ports there are, the beginning does not show either.
            ip_number::ENCAP_SEC => Seen::OtherProtocol,
            ip_number::TCP | ip_number::UDP => Seen::LostFragment,
            further if further.is_ipv6_ext_header_value() => Seen::LostFragment,
            IpNumber(other) => without_ports(other),
        }
    }
}

/// What a packet of another protocol than TCP and UDP is.
const fn without_ports(protocol: u8) -> Seen {
    if carrier_name(protocol).is_some() { Seen::Carrier(protocol) } else { Seen::OtherProtocol }
}

fn transport(
    protocol: u8,
    payload: &[u8],
    part: Option<Part>,
    fragments: &mut Fragments,
    make: impl Fn(u8, [u16; 2]) -> Flow,
) -> Seen {
    if let Some(part) = part.as_ref().filter(|part| !part.first) {
        return fragments.find(&part.id).map_or_else(|| part.lost(), |flow| Seen::Flow(flow, 0));
    }
    if protocol != ip_number::TCP.0 && protocol != ip_number::UDP.0 {
        return without_ports(protocol);
    }
    let Some([a, b, c, d]) = payload.first_chunk().copied() else {
        return Seen::Broken;
    };
    let flow = make(protocol, [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])]);
    if let Some(part) = part {
        fragments.begin(part.id, flow);
    }
    let bits = payload.get(13).filter(|_| protocol == ip_number::TCP.0).copied().unwrap_or(0);
    Seen::Flow(flow, bits & (FIN | SYN | RST))
}
