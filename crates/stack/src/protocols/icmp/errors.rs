//! Destination unreachable and time exceeded, from us and to us (RFC 792; RFC 1122, 3.2.2).

use smoltcp::wire::{
    Icmpv4DstUnreachable, Icmpv4Message, Icmpv4Packet, Icmpv4TimeExceeded, IpAddress, Ipv4Packet,
};

use super::{HEADER, Icmp, PROTOCOL};
use crate::{
    Host, Lower, Participants, Refusal, Refused, Report, SendError, Trouble,
    protocols::{ipv4, once::send_once},
    trouble::first_bytes,
};

/// The type and code that say it.
fn says(why: Refusal) -> (Icmpv4Message, u8) {
    match why {
        Refusal::NoPort => (Icmpv4Message::DstUnreachable, Icmpv4DstUnreachable::PortUnreachable.into()),
        Refusal::NoProtocol(_) => {
            (Icmpv4Message::DstUnreachable, Icmpv4DstUnreachable::ProtoUnreachable.into())
        }
        Refusal::Incomplete => (Icmpv4Message::TimeExceeded, Icmpv4TimeExceeded::FragExpired.into()),
    }
}

/// What a type and code say.
pub(super) fn said(what: Icmpv4Message, code: u8) -> Option<Trouble> {
    Some(match what {
        Icmpv4Message::DstUnreachable => match Icmpv4DstUnreachable::from(code) {
            Icmpv4DstUnreachable::PortUnreachable => Trouble::NoPort,
            Icmpv4DstUnreachable::ProtoUnreachable => Trouble::NoProtocol,
            Icmpv4DstUnreachable::FragRequired => Trouble::TooLong,
            Icmpv4DstUnreachable::NetProhibited
            | Icmpv4DstUnreachable::HostProhibited
            | Icmpv4DstUnreachable::CommProhibited => Trouble::Prohibited,
            _ => Trouble::Unreachable,
        },
        Icmpv4Message::TimeExceeded => Trouble::Expired,
        _ => return None,
    })
}

impl Icmp {
    /// What an error says of the packet that it quotes, if that is ours.
    pub(super) fn report(&self, trouble: Trouble, quote: &[u8], host: &Host) -> Option<Report> {
        let packet = Ipv4Packet::new_unchecked(quote.get(..ipv4::HEADER)?);
        let header = usize::from(packet.header_len());
        let first = first_bytes(quote.get(header..)?);
        let (local, remote) = (IpAddress::from(packet.src_addr()), packet.dst_addr().into());
        let sane = packet.version() == 4 && header >= ipv4::HEADER && packet.frag_offset() == 0;
        let protocol = packet.next_header().into();
        (sane && host.has(local)).then_some(Report {
            ip: self.below,
            local,
            remote,
            protocol,
            first,
            trouble,
        })
    }

    /// Tells the sender of a packet why it went no further.
    pub(super) fn send_error(&self, refused: Refused, lower: &mut Lower<'_>) -> Result<(), SendError> {
        let Refused { local, remote, why, mut quote, .. } = refused;
        quote.push(HEADER).map_err(|_| SendError::TooLong)?.fill(0);
        let mut packet = Icmpv4Packet::new_unchecked(quote.bytes_mut());
        let (what, code) = says(why);
        packet.set_msg_type(what);
        packet.set_msg_code(code);
        packet.fill_checksum();
        let participants = Participants {
            local_address: Some(local),
            remote_address: Some(remote),
            protocol: Some(PROTOCOL),
            ..Participants::default()
        };
        send_once(self.own, self.below, participants, quote, lower)
    }
}
