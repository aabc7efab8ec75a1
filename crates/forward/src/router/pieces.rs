//! Packets of ICMP to the router that come in pieces, or behind extension headers: as others come (RFC 791, 3.2; RFC 8200, 4.5).

use std::net::IpAddr;

use throughline_stack::{
    Discard, Fragments, Message,
    smoltcp::{
        time::Instant,
        wire::{Ipv4Packet, Ipv6FragmentHeader, Ipv6Packet},
    },
};

use super::{
    Refused, Router, Seen,
    headers::{Inside, Piece},
    icmp::{Error, FRAGMENT, ICMP, ICMP6},
    local::framed,
};
use crate::{
    HEADROOM, Outgoing, PortId,
    frame::ETHERNET,
    ip::{IPV4, IPV4_HEADER, IPV6, IPV6_HEADER, Ip},
    threaded::NO_INDEX,
};

/// The most bytes of a packet behind its header.
const MOST_DATA: usize = 65_535;

/// Pieces of packets to the router that came by a port.
pub(super) type Pieces = Fragments<Whole>;

/// What the pieces of a packet have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Whole {
    source: IpAddr,
    destination: IpAddr,
    ident: u32,
}

pub(super) fn pieces() -> Pieces {
    Fragments::new(MOST_DATA)
}

impl Router {
    /// A packet to us that is whole, without extension headers if it is of ICMP; none while pieces of such a one are missing, or if
    /// they don't go together.
    pub(super) fn whole(
        &mut self,
        port: PortId,
        frame: Message,
        seen: &Seen,
        inside: &Inside,
        now: Instant,
        out: &mut Outgoing,
    ) -> Option<(Message, Seen)> {
        let packet = &frame.bytes()[seen.offset..];
        let of_icmp = |protocol| protocol == if seen.ip.source.is_ipv4() { ICMP } else { ICMP6 };
        let whole = match inside.piece {
            Some(piece) if of_icmp(piece.protocol) => match self.add(port, &seen.ip, &piece, packet, now) {
                Ok(Some(data)) => rebuilt(&seen.ip, packet, &data),
                Ok(None) => {
                    out.pool.give(frame);
                    return None;
                }
                Err(_) => None,
            },
            None if of_icmp(inside.protocol) && inside.at > seen.ip.header => {
                rebuilt(&seen.ip, packet, &packet[inside.at..])
            }
            _ => return Some((frame, *seen)),
        };
        if whole.is_some() {
            out.pool.give(frame);
        } else {
            self.refuse(Refused::Malformed, frame, out);
        }
        whole
    }

    /// Adds a piece to the others: the data of the packet, if it is the last one missing.
    fn add(
        &mut self,
        port: PortId,
        ip: &Ip,
        piece: &Piece,
        packet: &[u8],
        now: Instant,
    ) -> Result<Option<Vec<u8>>, Discard> {
        let key = Whole { source: ip.source, destination: ip.destination, ident: piece.ident };
        let pieces = &mut self.ports[port.index()].pieces;
        pieces.add(key, piece.at, &packet[piece.begins..], !piece.more, now)
    }

    /// Gives up packets of which pieces are missing, and tells their senders (RFC 792; RFC 4443, 3.3). When some will be given up.
    pub(super) fn give_up(&mut self, port: PortId, now: Instant, out: &mut Outgoing) -> Option<Instant> {
        for (key, first) in self.ports[port.index()].pieces.expire(now) {
            match begun(&key, &first) {
                Some((frame, seen)) => self.complain(port, Error::Incomplete, frame, &seen, now, out),
                None => self.counts.refuse(Refused::Incomplete),
            }
        }
        self.ports[port.index()].pieces.next_expiry()
    }
}

/// A packet of ICMP with these data, which came as others say: without options and extension headers, and whole.
fn rebuilt(ip: &Ip, packet: &[u8], data: &[u8]) -> Option<(Message, Seen)> {
    let mut message = Message::copied(HEADROOM, data);
    match ip.source {
        IpAddr::V4(_) => {
            let length = u16::try_from(IPV4_HEADER + data.len()).ok()?;
            message.push(IPV4_HEADER).ok()?.copy_from_slice(&packet[..IPV4_HEADER]);
            let mut packet = Ipv4Packet::new_unchecked(message.bytes_mut());
            packet.set_header_len(IPV4_HEADER as u8);
            packet.set_total_len(length);
            packet.clear_flags();
            packet.set_frag_offset(0);
            packet.fill_checksum();
        }
        IpAddr::V6(_) => {
            let length = u16::try_from(data.len()).ok()?;
            message.push(IPV6_HEADER).ok()?.copy_from_slice(&packet[..IPV6_HEADER]);
            let mut packet = Ipv6Packet::new_unchecked(message.bytes_mut());
            packet.set_payload_len(length);
            packet.set_next_header(ICMP6.into());
        }
    }
    let seen = ours(&mut message, ip.source)?;
    Some((message, seen))
}

/// The beginning of a packet of which other pieces are missing, as it came; `None` if it has not come.
fn begun(key: &Whole, first: &[u8]) -> Option<(Message, Seen)> {
    if first.is_empty() {
        return None;
    }
    let mut message = Message::copied(HEADROOM, first);
    match (key.source, key.destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            message.push(IPV4_HEADER).ok()?.fill(0);
            let length = u16::try_from(message.len()).ok()?;
            let mut packet = Ipv4Packet::new_unchecked(message.bytes_mut());
            packet.set_version(4);
            packet.set_header_len(IPV4_HEADER as u8);
            packet.set_total_len(length);
            packet.set_ident(key.ident as u16);
            packet.set_more_frags(true);
            packet.set_hop_limit(1);
            packet.set_next_header(ICMP.into());
            packet.set_src_addr(source);
            packet.set_dst_addr(destination);
            packet.fill_checksum();
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let header = message.push(8).ok()?;
            header.fill(0);
            header[0] = ICMP6;
            let mut fields = Ipv6FragmentHeader::new_unchecked(&mut header[2..]);
            fields.set_more_frags(true);
            fields.set_ident(key.ident);
            let length = u16::try_from(message.len()).ok()?;
            message.push(IPV6_HEADER).ok()?.fill(0);
            let mut packet = Ipv6Packet::new_unchecked(message.bytes_mut());
            packet.set_version(6);
            packet.set_payload_len(length);
            packet.set_hop_limit(1);
            packet.set_next_header(FRAGMENT.into());
            packet.set_src_addr(source);
            packet.set_dst_addr(destination);
        }
        _ => return None,
    }
    let seen = ours(&mut message, key.source)?;
    Some((message, seen))
}

/// Looks at a packet that was made here, in a frame.
fn ours(message: &mut Message, source: IpAddr) -> Option<Seen> {
    let ethertype = if source.is_ipv4() { IPV4 } else { IPV6 };
    let ip = Ip::of(ethertype, message.bytes()).ok()?;
    framed(message, source)?;
    Some(Seen { ip, offset: ETHERNET, label: None, next_index: NO_INDEX })
}
