//! ARP (RFC 826): hardware addresses of IPv4 neighbours.

use smoltcp::{
    time::Instant,
    wire::{ArpOperation, ArpPacket, ArpRepr, EthernetAddress, IpAddress, IpVersion, Ipv4Address},
};
use throughline_demux::Slot;

use super::once::send_once;
use crate::{
    Demux, Discard, Enabled, Host, Layer, Lower, Message, OpenError, Participants, Pop, Protocol, ProtocolId,
    SendError, Upper,
};

const ETHERTYPE: u16 = 0x0806;

/// Address Resolution Protocol. A session here is the one below.
pub(crate) struct Arp {
    own: ProtocolId,
    below: ProtocolId,
    host: Host,
}

impl Arp {
    pub fn new(own: ProtocolId, below: ProtocolId, host: Host) -> Self {
        Self { own, below, host }
    }

    fn parse(bytes: &[u8]) -> Result<ArpRepr, Discard> {
        let packet = ArpPacket::new_checked(bytes).map_err(|_| Discard::Truncated)?;
        ArpRepr::parse(&packet).map_err(|_| Discard::Malformed)
    }

    fn send(&self, to: EthernetAddress, repr: ArpRepr, lower: &mut Lower<'_>) -> Result<(), SendError> {
        let participants =
            Participants { remote_hardware: Some(to), ethertype: Some(ETHERTYPE), ..Participants::default() };
        let mut message = lower.message();
        let header = message.push(repr.buffer_len()).map_err(|_| SendError::TooLong)?;
        repr.emit(&mut ArpPacket::new_unchecked(header));
        send_once(self.own, self.below, participants, message, lower)
    }

    fn answer(&self, to: EthernetAddress, address: Ipv4Address, ours: Ipv4Address, lower: &mut Lower<'_>) {
        let reply = ArpRepr::EthernetIpv4 {
            operation: ArpOperation::Reply,
            source_hardware_addr: self.host.hardware,
            source_protocol_addr: ours,
            target_hardware_addr: to,
            target_protocol_addr: address,
        };
        if self.send(to, reply, lower).is_err() {
            lower.cx.count(self.own, Discard::SendQueueFull);
        }
    }
}

impl Protocol for Arp {
    fn name(&self) -> &'static str {
        "arp"
    }

    fn start(&mut self, lower: &mut Lower<'_>) -> Result<(), OpenError> {
        let participants = Participants { ethertype: Some(ETHERTYPE), ..Participants::default() };
        lower.enable(self.below, Enabled::Protocol(self.own), &participants)
    }

    fn demux(&mut self, below: Layer, message: &mut Message) -> Result<Demux, Discard> {
        let len = Self::parse(message.bytes())?.buffer_len();
        message.pop(len);
        Ok(Demux::Found(below.session, Upper::Itself))
    }

    fn check(&mut self, _session: Slot, message: &mut Message) -> Result<Upper, Discard> {
        let len = Self::parse(message.bytes())?.buffer_len();
        message.pop(len);
        Ok(Upper::Itself)
    }

    fn pop(
        &mut self,
        _session: Slot,
        header: usize,
        message: &mut Message,
        lower: &mut Lower<'_>,
    ) -> Result<Pop, Discard> {
        let ArpRepr::EthernetIpv4 {
            operation,
            source_hardware_addr: hardware,
            source_protocol_addr: address,
            target_protocol_addr: target,
            ..
        } = Self::parse(message.since(header))?
        else {
            return Err(Discard::Malformed);
        };
        if !hardware.is_unicast() || self.host.has(address.into()) {
            return Err(Discard::Source);
        }
        let (now, for_us) = (lower.cx.now, self.host.has(target.into()));
        // Who asks for us will be answered, and talked to: he is learnt. Of others only news about those we know is taken.
        let asks = for_us && operation == ArpOperation::Request && !address.is_unspecified();
        let waiting = if asks {
            lower.cx.neighbors.meet(address.into(), hardware, now)
        } else {
            lower.cx.neighbors.confirm(address.into(), hardware, now)
        };
        lower.cx.released.extend(waiting);
        if for_us && operation == ArpOperation::Request {
            self.answer(hardware, address, target, lower);
        }
        Ok(Pop::Consumed)
    }

    fn ask(&mut self, neighbor: IpAddress, lower: &mut Lower<'_>) {
        let IpAddress::Ipv4(address) = neighbor else { return };
        let Some(IpAddress::Ipv4(ours)) = self.host.asks_from(neighbor) else { return };
        let request = ArpRepr::EthernetIpv4 {
            operation: ArpOperation::Request,
            source_hardware_addr: self.host.hardware,
            source_protocol_addr: ours,
            target_hardware_addr: EthernetAddress::default(),
            target_protocol_addr: address,
        };
        if self.send(EthernetAddress::BROADCAST, request, lower).is_err() {
            lower.cx.count(self.own, Discard::SendQueueFull);
        }
    }

    fn tick(&mut self, now: Instant, lower: &mut Lower<'_>) -> Option<Instant> {
        let (again, given_up) = lower.cx.neighbors.due(now, IpVersion::Ipv4);
        for _ in 0..given_up {
            lower.cx.count(self.own, Discard::Unresolved);
        }
        for address in again {
            self.ask(address, lower);
        }
        lower.cx.neighbors.next_due()
    }
}
