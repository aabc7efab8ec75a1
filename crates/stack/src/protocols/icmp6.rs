//! ICMPv6 (RFC 4443): answers echo requests, finds neighbours ([`discovery`]), and carries what is said of packets that went no
//! further ([`errors`]).

mod discovery;
mod errors;

use smoltcp::{
    time::Instant,
    wire::{Icmpv6Message, Icmpv6Packet, IpAddress, IpVersion, Ipv6Address, Ipv6Packet},
};
use throughline_demux::Slot;

use self::errors::said;
use super::ipv6::ICMP6;
use crate::{
    Answer, Control, Demux, Discard, Enabled, Host, Layer, Lower, Message, OpenError, Participants, Pop,
    Protocol, ProtocolId, Refused, SendError, Upper,
};

const HEADER: usize = 8;

/// Internet Control Message Protocol for IPv6, with neighbour discovery. A session here is the one below.
pub(crate) struct Icmp6 {
    own: ProtocolId,
    below: ProtocolId,
    host: Host,
}

/// What the header of IP says of a message.
struct From {
    session: Slot,
    remote: Ipv6Address,
    to: Ipv6Address,
    hop_limit: u8,
}

impl Icmp6 {
    pub fn new(own: ProtocolId, below: ProtocolId, host: Host) -> Self {
        Self { own, below, host }
    }

    fn header(message: &mut Message) -> Result<(), Discard> {
        if message.len() < HEADER {
            return Err(Discard::Truncated);
        }
        message.pop(HEADER);
        Ok(())
    }

    fn from(session: Slot, message: &Message) -> From {
        let packet = Ipv6Packet::new_unchecked(message.from(message.network()));
        From { session, remote: packet.src_addr(), to: packet.dst_addr(), hop_limit: packet.hop_limit() }
    }

    /// Sends the data of an echo request back.
    fn echo(&self, from: &From, request: &[u8], priority: u32, lower: &mut Lower<'_>) {
        let below = Layer { protocol: self.below, session: from.session };
        // Many may answer such a question, whose source may be another's address: not too often.
        if from.to.is_multicast() && !lower.cx.allowance.take(lower.cx.now) {
            return;
        }
        let Answer::Addresses { local: IpAddress::Ipv6(local), .. } =
            lower.control(below, Control::Addresses)
        else {
            return;
        };
        // The answer may be in pieces, as the question was.
        let mut reply = lower.message();
        if reply.append(request).is_err() {
            lower.give(reply);
            reply = Message::copied(lower.cx.pool.headroom(), request);
        }
        reply.priority = priority;
        let mut packet = Icmpv6Packet::new_unchecked(reply.bytes_mut());
        packet.set_msg_type(Icmpv6Message::EchoReply);
        packet.fill_checksum(&local, &from.remote);
        if lower.push(below, reply).is_err() {
            lower.cx.count(self.own, Discard::SendQueueFull);
        }
    }
}

impl Protocol for Icmp6 {
    fn name(&self) -> &'static str {
        "icmp6"
    }

    fn start(&mut self, lower: &mut Lower<'_>) -> Result<(), OpenError> {
        let participants = Participants { protocol: Some(ICMP6), ..Participants::default() };
        lower.enable(self.below, Enabled::Protocol(self.own), &participants)
    }

    fn demux(&mut self, below: Layer, message: &mut Message) -> Result<Demux, Discard> {
        Self::header(message)?;
        Ok(Demux::Found(below.session, Upper::Itself))
    }

    fn check(&mut self, _session: Slot, message: &mut Message) -> Result<Upper, Discard> {
        Self::header(message)?;
        Ok(Upper::Itself)
    }

    fn pop(
        &mut self,
        session: Slot,
        header: usize,
        message: &mut Message,
        lower: &mut Lower<'_>,
    ) -> Result<Pop, Discard> {
        let from = Self::from(session, message);
        let packet = Icmpv6Packet::new_unchecked(message.from(header));
        if !packet.verify_checksum(&from.remote, &from.to) {
            return Err(Discard::Checksum);
        }
        match (packet.msg_type(), packet.msg_code()) {
            (Icmpv6Message::EchoRequest, 0) => {
                self.echo(&from, packet.into_inner(), message.priority, lower);
            }
            (Icmpv6Message::NeighborSolicit, 0) => self.solicited(&from, packet.into_inner(), lower)?,
            (Icmpv6Message::NeighborAdvert, 0) => self.advertised(&from, packet.into_inner(), lower)?,
            (what, code) => {
                let report = said(what, code)
                    .and_then(|trouble| self.report(trouble, &packet.into_inner()[HEADER..], &lower.cx.host));
                lower.cx.reports.extend(report);
            }
        }
        Ok(Pop::Consumed)
    }

    fn ask(&mut self, neighbor: IpAddress, lower: &mut Lower<'_>) {
        if let IpAddress::Ipv6(neighbor) = neighbor {
            self.solicit(neighbor, lower);
        }
    }

    fn explains(&self) -> Option<ProtocolId> {
        Some(self.below)
    }

    fn explain(&mut self, refused: Refused, lower: &mut Lower<'_>) {
        if self.send_error(refused, lower) == Err(SendError::QueueFull) {
            lower.cx.count(self.own, Discard::SendQueueFull);
        }
    }

    fn tick(&mut self, now: Instant, lower: &mut Lower<'_>) -> Option<Instant> {
        let (again, given_up) = lower.cx.neighbors.due(now, IpVersion::Ipv6);
        for _ in 0..given_up {
            lower.cx.count(self.own, Discard::Unresolved);
        }
        for neighbor in again {
            self.ask(neighbor, lower);
        }
        lower.cx.neighbors.next_due()
    }
}
