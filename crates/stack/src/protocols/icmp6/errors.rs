//! Destination unreachable, time exceeded and parameter problem, from us and to us (RFC 4443, 3).

use smoltcp::wire::{
    Icmpv6DstUnreachable, Icmpv6Message, Icmpv6Packet, Icmpv6ParamProblem, Icmpv6TimeExceeded, IpAddress,
    Ipv6Packet,
};

use super::{HEADER, Icmp6};
use crate::{
    Host, Lower, Participants, Refusal, Refused, Report, SendError, Trouble,
    protocols::{
        ipv6::{self, ICMP6, extensions},
        once::send_once,
    },
    trouble::first_bytes,
};

/// The type, the code and the word behind the check sum that say it.
fn says(why: Refusal) -> (Icmpv6Message, u8, u32) {
    match why {
        Refusal::NoPort => (Icmpv6Message::DstUnreachable, Icmpv6DstUnreachable::PortUnreachable.into(), 0),
        Refusal::NoProtocol(at) => {
            (Icmpv6Message::ParamProblem, Icmpv6ParamProblem::UnrecognizedNxtHdr.into(), at)
        }
        Refusal::Incomplete => {
            (Icmpv6Message::TimeExceeded, Icmpv6TimeExceeded::FragReassemExceeded.into(), 0)
        }
    }
}

/// What a type and code say.
pub(super) fn said(what: Icmpv6Message, code: u8) -> Option<Trouble> {
    Some(match (what, code) {
        (Icmpv6Message::DstUnreachable, code) => match Icmpv6DstUnreachable::from(code) {
            Icmpv6DstUnreachable::PortUnreachable => Trouble::NoPort,
            Icmpv6DstUnreachable::AdminProhibit
            | Icmpv6DstUnreachable::FailedPolicy
            | Icmpv6DstUnreachable::RejectRoute => Trouble::Prohibited,
            _ => Trouble::Unreachable,
        },
        (Icmpv6Message::PktTooBig, _) => Trouble::TooLong,
        (Icmpv6Message::TimeExceeded, _) => Trouble::Expired,
        (Icmpv6Message::ParamProblem, 1) => Trouble::NoProtocol,
        _ => return None,
    })
}

impl Icmp6 {
    /// What an error says of the packet that it quotes, if that is ours.
    pub(super) fn report(&self, trouble: Trouble, quote: &[u8], host: &Host) -> Option<Report> {
        let packet = Ipv6Packet::new_unchecked(quote.get(..ipv6::HEADER)?);
        let (local, remote) = (IpAddress::from(packet.src_addr()), packet.dst_addr().into());
        if packet.version() != 6 || !host.has(local) {
            return None;
        }
        let walked = extensions::walk(quote).ok()?;
        let first = first_bytes(quote.get(walked.len..)?);
        let is_first = walked.piece.is_none_or(|piece| piece.at == 0);
        let protocol = walked.protocol;
        is_first.then_some(Report { ip: self.below, local, remote, protocol, first, trouble })
    }

    /// Tells the sender of a packet why it went no further.
    pub(super) fn send_error(&self, refused: Refused, lower: &mut Lower<'_>) -> Result<(), SendError> {
        let Refused { local, remote, why, mut quote, .. } = refused;
        let (IpAddress::Ipv6(from), IpAddress::Ipv6(to)) = (local, remote) else {
            return Err(SendError::NoRoute);
        };
        let (what, code, word) = says(why);
        let header = quote.push(HEADER).map_err(|_| SendError::TooLong)?;
        header.fill(0);
        header[4..].copy_from_slice(&word.to_be_bytes());
        let mut packet = Icmpv6Packet::new_unchecked(quote.bytes_mut());
        packet.set_msg_type(what);
        packet.set_msg_code(code);
        packet.fill_checksum(&from, &to);
        let participants = Participants {
            local_address: Some(local),
            remote_address: Some(remote),
            protocol: Some(ICMP6),
            ..Participants::default()
        };
        send_once(self.own, self.below, participants, quote, lower)
    }
}
