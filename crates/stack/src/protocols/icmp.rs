//! ICMP (RFC 792): answers echo requests, and carries what is said of packets that went no further ([`errors`]).

mod errors;

use smoltcp::wire::{Icmpv4Message, Icmpv4Packet};
use throughline_demux::Slot;

use self::errors::said;
use crate::{
    Demux, Discard, Enabled, Layer, Lower, Message, OpenError, Participants, Pop, Protocol, ProtocolId,
    Refused, SendError, Upper,
};

const PROTOCOL: u8 = 1;
const HEADER: usize = 8;

/// Internet Control Message Protocol. A session here is the one below.
pub(crate) struct Icmp {
    own: ProtocolId,
    below: ProtocolId,
}

impl Icmp {
    pub fn new(own: ProtocolId, below: ProtocolId) -> Self {
        Self { own, below }
    }

    fn header(message: &mut Message) -> Result<(), Discard> {
        Icmpv4Packet::new_checked(message.bytes()).map_err(|_| Discard::Truncated)?;
        message.pop(HEADER);
        Ok(())
    }
}

impl Protocol for Icmp {
    fn name(&self) -> &'static str {
        "icmp"
    }

    fn start(&mut self, lower: &mut Lower<'_>) -> Result<(), OpenError> {
        let participants = Participants { protocol: Some(PROTOCOL), ..Participants::default() };
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
        let packet = Icmpv4Packet::new_unchecked(message.from(header));
        if !packet.verify_checksum() {
            return Err(Discard::Checksum);
        }
        if (packet.msg_type(), packet.msg_code()) != (Icmpv4Message::EchoRequest, 0) {
            let report = said(packet.msg_type(), packet.msg_code())
                .and_then(|trouble| self.report(trouble, packet.data(), &lower.cx.host));
            lower.cx.reports.extend(report);
            return Ok(Pop::Consumed);
        }
        let data = packet.into_inner();
        // The answer may be in pieces, as the question was.
        let mut reply = if data.len() <= lower.cx.pool.room() {
            let mut reply = lower.message();
            reply.append(data).map_err(|_| Discard::Truncated)?;
            reply
        } else {
            Message::copied(lower.cx.pool.headroom(), data)
        };
        reply.priority = message.priority;
        let mut packet = Icmpv4Packet::new_unchecked(reply.bytes_mut());
        packet.set_msg_type(Icmpv4Message::EchoReply);
        packet.fill_checksum();
        if lower.push(Layer { protocol: self.below, session }, reply).is_err() {
            lower.cx.count(self.own, Discard::SendQueueFull);
        }
        Ok(Pop::Consumed)
    }

    fn explains(&self) -> Option<ProtocolId> {
        Some(self.below)
    }

    fn explain(&mut self, refused: Refused, lower: &mut Lower<'_>) {
        if self.send_error(refused, lower) == Err(SendError::QueueFull) {
            lower.cx.count(self.own, Discard::SendQueueFull);
        }
    }
}
