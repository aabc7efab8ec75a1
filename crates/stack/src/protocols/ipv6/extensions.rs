//! Headers between that of IPv6 and the protocol above (RFC 8200, 4): skipped where they ask for nothing.
//!
//! Hop-by-hop and destination options are skipped if they may be; a routing header if it is done with. At most one header of a
//! fragment is read, and what is behind it must be the protocol above. Everything else, headers without end among it, is
//! refused, in silence: who sends it can't tell a refusal from a loss.

use smoltcp::wire::{
    IpProtocol, Ipv6ExtHeader, Ipv6FragmentHeader, Ipv6OptionFailureType, Ipv6OptionRepr,
    Ipv6OptionsIterator, Ipv6Packet,
};

use super::HEADER;
use crate::Discard;

/// Headers that a packet may have besides the first.
const MOST: usize = 8;
/// Options that a header may have (RFC 8504, 5.3).
const MOST_OPTIONS: usize = 16;
/// Bytes of the header of a fragment.
pub(super) const FRAGMENT: usize = 8;

/// What a packet's headers say.
pub(in crate::protocols) struct Walked {
    /// The protocol above.
    pub protocol: u8,
    /// Where that is said.
    pub named: usize,
    /// Bytes of all headers.
    pub len: usize,
    /// Which piece of a datagram this is; `None` if it is whole.
    pub piece: Option<Piece>,
    /// Whether there is a header of a fragment, be it of a whole datagram (RFC 6946).
    pub was_cut: bool,
}

/// A piece of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::protocols) struct Piece {
    pub ident: u32,
    pub at: usize,
    pub more: bool,
}

/// Goes through the headers of a packet, which ends where its first header says.
pub(in crate::protocols) fn walk(packet: &[u8]) -> Result<Walked, Discard> {
    let first = Ipv6Packet::new_unchecked(packet).next_header();
    let mut walked = Walked { protocol: 0, named: 6, len: HEADER, piece: None, was_cut: false };
    let mut next = first;
    for count in 0..=MOST {
        let rest = &packet[walked.len..];
        let at = walked.len;
        next = match next {
            IpProtocol::HopByHop if count > 0 => return Err(Discard::Malformed),
            IpProtocol::HopByHop | IpProtocol::Ipv6Opts | IpProtocol::Ipv6Route => {
                let header = Ipv6ExtHeader::new_checked(rest).map_err(|_| Discard::Truncated)?;
                if next == IpProtocol::Ipv6Route {
                    routed(&header)?
                } else {
                    options(header.payload())?
                }
                walked.len += 8 + 8 * usize::from(header.header_len());
                header.next_header()
            }
            IpProtocol::Ipv6Frag if walked.was_cut => return Err(Discard::Malformed),
            IpProtocol::Ipv6Frag => {
                let header = rest.get(..FRAGMENT).ok_or(Discard::Truncated)?;
                (walked.len, walked.was_cut) = (walked.len + FRAGMENT, true);
                walked.piece = piece(header);
                IpProtocol::from(header[0])
            }
            protocol => {
                walked.protocol = protocol.into();
                return Ok(walked);
            }
        };
        walked.named = at;
        let is_extension = matches!(
            next,
            IpProtocol::HopByHop | IpProtocol::Ipv6Opts | IpProtocol::Ipv6Route | IpProtocol::Ipv6Frag
        );
        if walked.piece.is_some() && is_extension {
            return Err(Discard::Malformed);
        }
    }
    Err(Discard::Malformed)
}

/// What the header of a fragment says, unless that is all of a datagram.
fn piece(header: &[u8]) -> Option<Piece> {
    let fields = Ipv6FragmentHeader::new_unchecked(&header[2..]);
    let piece =
        Piece { ident: fields.ident(), at: 8 * usize::from(fields.frag_offset()), more: fields.more_frags() };
    (piece.more || piece.at != 0).then_some(piece)
}

/// Whether the options of a header may be skipped.
fn options(options: &[u8]) -> Result<(), Discard> {
    for (count, option) in Ipv6OptionsIterator::new(options).enumerate() {
        match option.map_err(|_| Discard::Malformed)? {
            _ if count == MOST_OPTIONS => return Err(Discard::Malformed),
            Ipv6OptionRepr::Unknown { type_, .. }
                if Ipv6OptionFailureType::from(type_) != Ipv6OptionFailureType::Skip =>
            {
                return Err(Discard::Malformed);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a packet has been wherever its routing header sent it. We forward nothing.
fn routed(header: &Ipv6ExtHeader<&[u8]>) -> Result<(), Discard> {
    let segments_left = header.payload()[1];
    if segments_left == 0 { Ok(()) } else { Err(Discard::NotForUs) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UDP: u8 = 17;
    const OPTIONS: u8 = 60;
    const ROUTING: u8 = 43;
    const CUT: u8 = 44;

    /// A packet with these headers; each names the next.
    fn packet(headers: &[(u8, &[u8])], last: u8) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        let names: Vec<u8> = headers.iter().map(|(name, _)| *name).chain([last]).collect();
        bytes[6] = names[0];
        for ((_, header), next) in headers.iter().zip(&names[1..]) {
            bytes.push(*next);
            bytes.extend_from_slice(&header[1..]);
        }
        bytes.extend([0; 16]);
        bytes
    }

    fn walked(headers: &[(u8, &[u8])]) -> Result<(u8, usize), Discard> {
        walk(&packet(headers, UDP)).map(|walked| (walked.protocol, walked.len))
    }

    #[test]
    fn what_asks_for_nothing_is_skipped() {
        let padded = [0, 0, 1, 4, 0, 0, 0, 0];
        assert_eq!(walked(&[]), Ok((UDP, 40)));
        assert_eq!(walked(&[(0, &padded), (OPTIONS, &padded)]), Ok((UDP, 56)));
        // A routing header that is done with.
        let routing = [0, 0, 0, 0, 9, 9, 9, 9];
        assert_eq!(walked(&[(OPTIONS, &padded), (ROUTING, &routing), (OPTIONS, &padded)]), Ok((UDP, 64)));
        // An unknown option that may be skipped.
        assert_eq!(walked(&[(OPTIONS, &[0, 0, 0x1e, 4, 1, 2, 3, 4])]), Ok((UDP, 48)));
        // All of a datagram, with the header of a fragment.
        let whole = walk(&packet(&[(CUT, &[0; 8]), (OPTIONS, &padded)], UDP)).unwrap();
        assert_eq!((whole.protocol, whole.len, whole.piece, whole.was_cut), (UDP, 56, None, true));
        assert_eq!((whole.named, walk(&packet(&[], UDP)).unwrap().named), (48, 6));
    }

    #[test]
    fn a_piece_is_known_as_one() {
        let piece = |last: [u8; 8]| walk(&packet(&[(CUT, &last)], UDP)).unwrap().piece.unwrap();
        assert_eq!(piece([0, 0, 0, 1, 0, 0, 0, 7]), Piece { ident: 7, at: 0, more: true });
        assert_eq!(
            piece([0, 0, 0xff, 0xf8, 1, 2, 3, 4]),
            Piece { ident: 0x0102_0304, at: 65_528, more: false }
        );
    }

    #[test]
    fn the_rest_is_refused() {
        let padded = [0, 0, 1, 4, 0, 0, 0, 0];
        let first: [u8; 8] = [0, 0, 0, 1, 0, 0, 0, 7];
        let many = [(OPTIONS, &padded[..]); MOST + 1];
        let crowd = [0, 3].into_iter().chain([0; 30]).collect::<Vec<u8>>();
        for (headers, why) in [
            (&many[..], Discard::Malformed),
            // Hop-by-hop options anywhere but in front.
            (&[(OPTIONS, &padded), (0, &padded)], Discard::Malformed),
            // An option that forbids to go on, one that ends beyond its header, and very many.
            (&[(OPTIONS, &[0, 0, 0x80, 4, 0, 0, 0, 0])], Discard::Malformed),
            (&[(OPTIONS, &[0, 0, 1, 9, 0, 0, 0, 0])], Discard::Malformed),
            (&[(OPTIONS, &crowd)], Discard::Malformed),
            // On to somewhere else.
            (&[(ROUTING, &[0, 0, 0, 1, 0, 0, 0, 0])], Discard::NotForUs),
            // Longer than the packet.
            (&[(OPTIONS, &[0, 200, 1, 4, 0, 0, 0, 0])], Discard::Truncated),
            // Pieces of pieces, and pieces of headers.
            (&[(CUT, &[0; 8]), (CUT, &first)], Discard::Malformed),
            (&[(CUT, &first), (OPTIONS, &padded)], Discard::Malformed),
        ] as [(&[(u8, &[u8])], Discard); 9]
        {
            assert_eq!(walked(headers), Err(why), "{headers:?}");
        }
        assert_eq!(walked(&many[1..]), Ok((UDP, HEADER + 8 * MOST)));
        // The headers of a packet that ends before they do.
        let whole = packet(&[(OPTIONS, &padded), (CUT, &first)], UDP);
        for end in HEADER..HEADER + 16 {
            assert_eq!(walk(&whole[..end]).err(), Some(Discard::Truncated), "{end}");
        }
    }
}
