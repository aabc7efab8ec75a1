//! Packets of IPv4 cut to what the next network carries (RFC 791, 3.2), and of IPv6 to what all carry (RFC 8200, 4.5).

use throughline_stack::{
    Message, NoRoom,
    smoltcp::wire::{Ipv4Packet, Ipv6FragmentHeader, Ipv6Packet},
};

use super::icmp::FRAGMENT;
use crate::ip::{IPV6_HEADER, Ip};

/// Options whose first bit is set are copied to every piece; the others are of the first alone (RFC 791, 3.1).
const COPIED: u8 = 0x80;

/// What every network of IPv6 carries (RFC 8200, 5).
pub(super) const LEAST_MTU: usize = 1280;

/// Whether the packet may be cut.
pub(super) fn may_be_cut(ip: &Ip, packet: &[u8]) -> bool {
    ip.destination.is_ipv4() && !Ipv4Packet::new_unchecked(packet).dont_frag()
}

/// Whether the data of the packet, which is a piece itself, ends where no packet can: its pieces would be told to lie elsewhere.
pub(super) fn is_beyond(ip: &Ip, packet: &[u8]) -> bool {
    let at = usize::from(Ipv4Packet::new_unchecked(packet).frag_offset());
    at + ip.length - ip.header > usize::from(u16::MAX)
}

/// Writes the next piece of a packet, which begins at this byte of its data, and is at most `mtu` bytes long, to an empty
/// message. Where the next one begins; `None` after the last.
///
/// # Errors
/// [`NoRoom`] in the message.
pub(super) fn piece(
    ip: &Ip,
    packet: &[u8],
    at: usize,
    mtu: usize,
    message: &mut Message,
) -> Result<Option<usize>, NoRoom> {
    let whole = Ipv4Packet::new_unchecked(packet);
    let mut options = [0; 40];
    let options = options_of(&packet[20..ip.header], at > 0, &mut options);
    let header = 20 + options.len();
    let data = &packet[ip.header..ip.length];
    let room = (mtu.max(header + 8) - header) & !7;
    let end = data.len().min(at + room);
    message.append(&packet[..20])?;
    message.append(options)?;
    message.append(&data[at..end])?;
    let mut piece = Ipv4Packet::new_unchecked(message.bytes_mut());
    piece.set_header_len(header as u8);
    piece.set_total_len((header + end - at) as u16);
    piece.set_more_frags(whole.more_frags() || end < data.len());
    piece.set_frag_offset(whole.frag_offset() + at as u16);
    piece.fill_checksum();
    Ok((end < data.len()).then_some(end))
}

/// The same for a packet of IPv6 of our own, which has no extension headers: so short that every network carries it, since
/// nobody is asked what those on its way do. Its pieces have this number.
///
/// # Errors
/// [`NoRoom`] in the message.
pub(super) fn piece_of_ipv6(
    ip: &Ip,
    packet: &[u8],
    at: usize,
    number: u32,
    message: &mut Message,
) -> Result<Option<usize>, NoRoom> {
    const HEADER: usize = 8;
    let data = &packet[ip.header..ip.length];
    let end = data.len().min(at + LEAST_MTU - IPV6_HEADER - HEADER);
    message.append(&packet[..IPV6_HEADER])?;
    message.append(&[ip.protocol, 0, 0, 0, 0, 0, 0, 0])?;
    message.append(&data[at..end])?;
    let mut fields = Ipv6FragmentHeader::new_unchecked(&mut message.bytes_mut()[IPV6_HEADER + 2..]);
    fields.set_frag_offset((at / 8) as u16);
    fields.set_more_frags(end < data.len());
    fields.set_ident(number);
    let mut piece = Ipv6Packet::new_unchecked(message.bytes_mut());
    piece.set_payload_len((HEADER + end - at) as u16);
    piece.set_next_header(FRAGMENT.into());
    Ok((end < data.len()).then_some(end))
}

/// The options of the first piece, or of a later one, up to a multiple of four bytes.
fn options_of<'a>(options: &'a [u8], later: bool, into: &'a mut [u8; 40]) -> &'a [u8] {
    if !later || options.is_empty() {
        return options;
    }
    let (mut from, mut to) = (0, 0);
    while let Some(&kind) = options.get(from) {
        let length = match (kind, options.get(from + 1)) {
            (0, _) => break,
            (1, _) => 1,
            (_, Some(&length)) if length >= 2 && from + usize::from(length) <= options.len() => length.into(),
            // What can't be read is left out, with all behind it.
            _ => break,
        };
        if kind & COPIED != 0 {
            into[to..to + length].copy_from_slice(&options[from..from + length]);
            to += length;
        }
        from += length;
    }
    &into[..to.next_multiple_of(4)]
}
