//! What is behind the headers of a packet to the router: those of IPv6 may be many (RFC 8200, 4).

use std::net::IpAddr;

use throughline_stack::{
    Message,
    smoltcp::{
        time::Instant,
        wire::{Ipv4Packet, Ipv6FragmentHeader},
    },
};

use super::{
    Refused, Router, Seen,
    icmp::{DESTINATION_OPTIONS, Error, FRAGMENT, HOP_BY_HOP, NOTHING, ROUTING},
};
use crate::{Outgoing, PortId, ip::Ip};

/// Extension headers that a packet may have.
const MOST: usize = 8;

/// Where the first headers name what follows them.
const IPV4_PROTOCOL: usize = 9;
const IPV6_NEXT_HEADER: usize = 6;
/// And that of IPv6 how much follows.
const IPV6_LENGTH: u32 = 4;

/// Parameter problems (RFC 4443, 3.4; RFC 7112, 5).
const ERRONEOUS: u8 = 0;
const UNKNOWN_OPTION: u8 = 2;
const INCOMPLETE: u8 = 3;

/// What is behind all headers of IP.
#[derive(Clone, Copy)]
pub(super) struct Inside {
    pub protocol: u8,
    /// Where that begins.
    pub at: usize,
    /// Where it is named.
    pub named: usize,
    pub piece: Option<Piece>,
}

/// A piece of a packet.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub ident: u32,
    /// Where it belongs in the packet.
    pub at: usize,
    pub more: bool,
    /// What it says that the packet has in it.
    pub protocol: u8,
    /// Where its data begin.
    pub begins: usize,
}

/// Why a packet is refused: its sender is told, or not.
enum Fault {
    Told(Error),
    Silent(Refused),
}

impl Router {
    /// A packet to us and what is in it; none if its headers ask for what can't be done, which its sender is told where he is to be.
    pub(super) fn open(
        &mut self,
        port: PortId,
        frame: Message,
        seen: &Seen,
        now: Instant,
        out: &mut Outgoing,
    ) -> Option<(Message, Inside)> {
        match Inside::of(&seen.ip, &frame.bytes()[seen.offset..]) {
            Ok(inside) => return Some((frame, inside)),
            Err(Fault::Told(error)) => self.complain(port, error, frame, seen, now, out),
            Err(Fault::Silent(why)) => self.refuse(why, frame, out),
        }
        None
    }
}

impl Inside {
    fn of(ip: &Ip, packet: &[u8]) -> Result<Self, Fault> {
        match ip.source {
            IpAddr::V4(_) => Ok(Self::v4(ip, packet)),
            IpAddr::V6(_) => Self::v6(ip, packet),
        }
    }

    fn v4(ip: &Ip, packet: &[u8]) -> Self {
        let header = Ipv4Packet::new_unchecked(packet);
        let piece = ip.piece.then(|| Piece {
            ident: header.ident().into(),
            at: header.frag_offset().into(),
            more: header.more_frags(),
            protocol: ip.protocol,
            begins: ip.header,
        });
        Self { protocol: ip.protocol, at: ip.header, named: IPV4_PROTOCOL, piece }
    }

    /// Goes through the headers up to one that is none of IPv6, or up to the data of a later piece.
    fn v6(ip: &Ip, packet: &[u8]) -> Result<Self, Fault> {
        let mut inside = Self { protocol: ip.protocol, at: ip.header, named: IPV6_NEXT_HEADER, piece: None };
        for _ in 0..=MOST {
            let (at, rest) = (inside.at, &packet[inside.at..]);
            let length = match inside.protocol {
                // Only in front (RFC 8200, 4.1).
                HOP_BY_HOP if at == ip.header => options(at, rest),
                DESTINATION_OPTIONS => options(at, rest),
                ROUTING => routing(at, rest),
                FRAGMENT if inside.piece.is_none() => inside.cut(rest),
                above if inside.piece.is_some() && rest.is_empty() && above != NOTHING => {
                    Err(Fault::Silent(Refused::Truncated))
                }
                _ => return Ok(inside),
            };
            let length = length.map_err(|fault| inside.of_first(fault))?;
            (inside.protocol, inside.named, inside.at) = (rest[0], at, at + length);
            if inside.piece.is_some_and(|piece| piece.at > 0) {
                return Ok(inside);
            }
        }
        Err(Fault::Silent(Refused::Malformed))
    }

    /// Why a packet is refused, of which the headers so far were read: if this is its first piece, all are to be in it (RFC 8200, 4.5).
    fn of_first(&self, fault: Fault) -> Fault {
        match fault {
            Fault::Silent(Refused::Truncated) if self.piece.is_some() => {
                Fault::Told(Error::Parameter(INCOMPLETE, 0))
            }
            fault => fault,
        }
    }

    /// Takes note of a piece, unless it is all of a packet (RFC 6946). Bytes of the header.
    fn cut(&mut self, rest: &[u8]) -> Result<usize, Fault> {
        const LENGTH: usize = 8;
        let header: &[u8; LENGTH] = rest.first_chunk().ok_or(Fault::Silent(Refused::Truncated))?;
        let fields = Ipv6FragmentHeader::new_unchecked(&header[2..]);
        let piece = Piece {
            ident: fields.ident(),
            at: 8 * usize::from(fields.frag_offset()),
            more: fields.more_frags(),
            protocol: header[0],
            begins: self.at + LENGTH,
        };
        // The next one would not begin where a piece can (RFC 8200, 4.5).
        if piece.more && !rest.len().is_multiple_of(8) {
            return Err(Fault::Told(Error::Parameter(ERRONEOUS, IPV6_LENGTH)));
        }
        self.piece = (piece.at > 0 || piece.more).then_some(piece);
        Ok(LENGTH)
    }
}

/// The bytes of an extension header, which is the first of these.
fn extension(rest: &[u8]) -> Result<&[u8], Fault> {
    let length = rest.get(1).map(|words| 8 * (usize::from(*words) + 1));
    length.and_then(|length| rest.get(..length)).ok_or(Fault::Silent(Refused::Truncated))
}

/// Looks at options, the header of which is at this byte of the packet: those that are not known say themselves what is to be done
/// (RFC 8200, 4.2). Bytes of the header.
fn options(at: usize, rest: &[u8]) -> Result<usize, Fault> {
    const PAD: u8 = 0;
    let header = extension(rest)?;
    let mut next = 2;
    while let Some(&kind) = header.get(next) {
        if kind == PAD {
            next += 1;
            continue;
        }
        let end = header.get(next + 1).map(|length| next + 2 + usize::from(*length));
        let Some(end) = end.filter(|end| *end <= header.len()) else {
            return Err(Fault::Silent(Refused::Malformed));
        };
        match kind >> 6 {
            0 => {}
            1 => return Err(Fault::Silent(Refused::Malformed)),
            _ => return Err(Fault::Told(Error::Parameter(UNKNOWN_OPTION, (at + next) as u32))),
        }
        next = end;
    }
    Ok(header.len())
}

/// Looks at a routing header, of which no type is known here: it has to be done with (RFC 8200, 4.4). Bytes of the header.
fn routing(at: usize, rest: &[u8]) -> Result<usize, Fault> {
    const KIND: usize = 2;
    let header = extension(rest)?;
    if header[KIND + 1] == 0 {
        return Ok(header.len());
    }
    Err(Fault::Told(Error::Parameter(ERRONEOUS, (at + KIND) as u32)))
}
