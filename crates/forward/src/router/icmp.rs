//! What a router says of packets, and answers: ICMP (RFC 792, RFC 4443).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use throughline_stack::{
    Message,
    smoltcp::wire::{Icmpv4Packet, Icmpv6Packet, IpProtocol, Ipv4Packet, Ipv6Packet},
};

use crate::ip::{IPV4_HEADER, IPV6_HEADER, Ip};

/// Numbers of the protocols in IP.
pub(super) const ICMP: u8 = 1;
pub(super) const ICMP6: u8 = 58;
pub(super) const UDP: u8 = 17;

/// Headers of IPv6 between the first and the protocol above.
pub(super) const HOP_BY_HOP: u8 = 0;
pub(super) const ROUTING: u8 = 43;
pub(super) const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
pub(super) const DESTINATION_OPTIONS: u8 = 60;
/// Says that nothing follows.
pub(super) const NOTHING: u8 = 59;

const ECHO_REQUEST: u8 = 8;
const ECHO_REQUEST6: u8 = 128;
const REDIRECT6: u8 = 137;
/// Bytes before what an error quotes.
const ERROR_HEADER: usize = 8;
/// The most that an error may have in all (RFC 1812, 4.3.2.3; RFC 4443, 2.4 c).
const MOST: [usize; 2] = [576, 1280];
const HOPS: u8 = 64;

/// Why a packet goes no further, for its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Error {
    TimeExceeded,
    NoRoute,
    /// The destination, or the router before it, does not answer.
    NoHost,
    /// The next network carries packets of so many bytes at most.
    TooBig(u32),
    NoPort,
    /// With the place of the field that names the protocol; of IPv6 only.
    NoProtocol(u32),
    /// A header asks for what is not known here: which problem it is, and the place of the field; of IPv6 only.
    Parameter(u8, u32),
    /// Pieces have not come in time.
    Incomplete,
    /// The source is an address of the link, which means nothing where the packet would go; of IPv6 only.
    Scope,
}

impl Error {
    /// Type, code and the word behind the sum.
    fn v4(self) -> (u8, u8, u32) {
        match self {
            Self::NoRoute | Self::Scope | Self::Parameter(..) => (3, 0, 0),
            Self::NoHost => (3, 1, 0),
            Self::NoProtocol(_) => (3, 2, 0),
            Self::NoPort => (3, 3, 0),
            // RFC 1191.
            Self::TooBig(mtu) => (3, 4, mtu.min(0xffff)),
            Self::TimeExceeded => (11, 0, 0),
            Self::Incomplete => (11, 1, 0),
        }
    }

    fn v6(self) -> (u8, u8, u32) {
        match self {
            Self::NoRoute => (1, 0, 0),
            Self::Scope => (1, 2, 0),
            Self::NoHost => (1, 3, 0),
            Self::NoPort => (1, 4, 0),
            Self::TooBig(mtu) => (2, 0, mtu),
            Self::TimeExceeded => (3, 0, 0),
            Self::Incomplete => (3, 1, 0),
            Self::Parameter(problem, at) => (4, problem, at),
            Self::NoProtocol(named) => (4, 1, named),
        }
    }
}

/// Whether who sends to many may be told this: with IPv6 what the way carries (RFC 4443, 2.4 e), and nothing else (RFC 1122, 3.2.2).
pub(super) fn is_for_senders_to_many(error: Error, ip: &Ip) -> bool {
    matches!(error, Error::TooBig(_)) && ip.destination.is_ipv6()
}

/// Whether somebody may be told what became of his packet: not if it is an error itself or a redirection, or a later piece (RFC 1122,
/// 3.2.2; RFC 4443, 2.4 e).
pub(super) fn may_be_answered(ip: &Ip, packet: &[u8]) -> bool {
    let Some((protocol, at)) = above(ip, packet) else { return false };
    let kind = packet.get(at).copied();
    let error = match (protocol, ip.destination) {
        (ICMP, IpAddr::V4(_)) => !matches!(kind, Some(0 | 8 | 13..=18)),
        (ICMP6, IpAddr::V6(_)) => kind.is_none_or(|kind| kind < 128 || kind == REDIRECT6),
        _ => false,
    };
    let unspecified = match ip.source {
        IpAddr::V4(source) => source.is_unspecified(),
        IpAddr::V6(source) => source.is_unspecified(),
    };
    !(error || unspecified)
}

/// The protocol above IP and where it begins: behind the extension headers of IPv6 (RFC 8200, 4). `None` if that is in another
/// piece.
fn above(ip: &Ip, packet: &[u8]) -> Option<(u8, usize)> {
    let (mut protocol, mut at) = (ip.protocol, ip.header);
    if ip.destination.is_ipv4() {
        return (!ip.later_piece).then_some((protocol, at));
    }
    while let Some(&[next, length, high, low]) = packet.get(at..).and_then(<[u8]>::first_chunk) {
        let words = usize::from(length);
        at += match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => 8 * (words + 1),
            FRAGMENT if [high, low & 0xf8] != [0, 0] => return None,
            FRAGMENT => 8,
            AUTHENTICATION => 4 * (words + 2),
            _ => break,
        };
        protocol = next;
    }
    Some((protocol, at))
}

/// The packet that tells the sender, from an address of ours, in an empty message; `None` when it has no room.
pub(super) fn explain(
    error: Error,
    from: IpAddr,
    ip: &Ip,
    packet: &[u8],
    message: &mut Message,
) -> Option<()> {
    match (from, ip.source) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let quote = packet.len().min(MOST[0] - IPV4_HEADER - ERROR_HEADER);
            message.append(&packet[..quote]).ok()?;
            let header = message.push(ERROR_HEADER).ok()?;
            write(header, error.v4());
            Icmpv4Packet::new_unchecked(message.bytes_mut()).fill_checksum();
            header4(message, from, to)
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let quote = packet.len().min(MOST[1] - IPV6_HEADER - ERROR_HEADER);
            message.append(&packet[..quote]).ok()?;
            let header = message.push(ERROR_HEADER).ok()?;
            write(header, error.v6());
            Icmpv6Packet::new_unchecked(message.bytes_mut()).fill_checksum(&from, &to);
            header6(message, from, to, HOPS)
        }
        _ => None,
    }
}

fn write(header: &mut [u8], (kind, code, word): (u8, u8, u32)) {
    header[..4].copy_from_slice(&[kind, code, 0, 0]);
    header[4..].copy_from_slice(&word.to_be_bytes());
}

fn header4(message: &mut Message, from: Ipv4Addr, to: Ipv4Addr) -> Option<()> {
    message.push(IPV4_HEADER).ok()?.fill(0);
    let length = message.len() as u16;
    let mut packet = Ipv4Packet::new_unchecked(message.bytes_mut());
    packet.set_version(4);
    packet.set_header_len(IPV4_HEADER as u8);
    packet.set_total_len(length);
    packet.set_hop_limit(HOPS);
    packet.set_next_header(IpProtocol::Icmp);
    packet.set_src_addr(from);
    packet.set_dst_addr(to);
    packet.fill_checksum();
    Some(())
}

/// Puts a header of IPv6 before a message of ICMPv6.
pub(super) fn header6(message: &mut Message, from: Ipv6Addr, to: Ipv6Addr, hops: u8) -> Option<()> {
    let length = message.len() as u16;
    message.push(IPV6_HEADER).ok()?.fill(0);
    let mut packet = Ipv6Packet::new_unchecked(message.bytes_mut());
    packet.set_version(6);
    packet.set_payload_len(length);
    packet.set_hop_limit(hops);
    packet.set_next_header(IpProtocol::Icmpv6);
    packet.set_src_addr(from);
    packet.set_dst_addr(to);
    Some(())
}

/// Whether a packet asks for an echo and has no damage.
pub(super) fn is_echo_request(ip: &Ip, packet: &[u8]) -> bool {
    if ip.piece {
        return false;
    }
    let data = &packet[ip.header..ip.length];
    match (ip.protocol, ip.source, ip.destination) {
        (ICMP, IpAddr::V4(_), _) => {
            data.len() >= ERROR_HEADER
                && data[..2] == [ECHO_REQUEST, 0]
                && Icmpv4Packet::new_unchecked(data).verify_checksum()
        }
        (ICMP6, IpAddr::V6(from), IpAddr::V6(to)) => {
            data.len() >= ERROR_HEADER
                && data[..2] == [ECHO_REQUEST6, 0]
                && Icmpv6Packet::new_unchecked(data).verify_checksum(&from, &to)
        }
        _ => false,
    }
}

/// Makes the answer of a packet that [is an echo request](is_echo_request), in its place, from this address.
pub(super) fn answer_echo(ip: &Ip, from: IpAddr, packet: &mut [u8]) {
    match (ip.source, from) {
        (IpAddr::V4(to), IpAddr::V4(from)) => {
            packet[ip.header] = 0;
            Icmpv4Packet::new_unchecked(&mut packet[ip.header..]).fill_checksum();
            let mut packet = Ipv4Packet::new_unchecked(packet);
            packet.set_src_addr(from);
            packet.set_dst_addr(to);
            packet.set_hop_limit(HOPS);
            // What its sender has found out of the way here says nothing of the way back.
            packet.set_dont_frag(false);
            packet.fill_checksum();
        }
        (IpAddr::V6(to), IpAddr::V6(from)) => {
            packet[ip.header] = 129;
            Icmpv6Packet::new_unchecked(&mut packet[ip.header..]).fill_checksum(&from, &to);
            let mut packet = Ipv6Packet::new_unchecked(packet);
            packet.set_src_addr(from);
            packet.set_dst_addr(to);
            packet.set_hop_limit(HOPS);
        }
        _ => {}
    }
}
