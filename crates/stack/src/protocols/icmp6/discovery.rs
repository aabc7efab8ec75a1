//! Neighbour discovery (RFC 4861): solicitations and advertisements of neighbours. Routers are not asked for.

use smoltcp::{
    phy::{ChecksumCapabilities, Medium},
    wire::{
        EthernetAddress, HardwareAddress, IPV6_LINK_LOCAL_ALL_NODES, Icmpv6Packet, Icmpv6Repr, IpAddress,
        Ipv6Address, NdiscNeighborFlags, NdiscRepr, RawHardwareAddress,
    },
};

use super::{From, Icmp6};
use crate::{
    Discard, Lower, Participants, SendError,
    host::solicited_node,
    protocols::{ipv6::ICMP6, once::send_once},
};

/// What no router lets through (RFC 4861, 7.1): so it was sent by a neighbour.
const UNFORWARDED: u8 = 255;

/// What a message says, if it comes from a neighbour and is whole.
fn parse<'a>(from: &From, message: &'a [u8]) -> Result<NdiscRepr<'a>, Discard> {
    if from.hop_limit != UNFORWARDED {
        return Err(Discard::Source);
    }
    let packet = Icmpv6Packet::new_checked(message).map_err(|_| Discard::Truncated)?;
    NdiscRepr::parse(&packet).map_err(|_| Discard::Malformed)
}

/// The hardware address of an option, which must be of one host.
fn hardware(option: RawHardwareAddress) -> Result<EthernetAddress, Discard> {
    match option.parse(Medium::Ethernet) {
        Ok(HardwareAddress::Ethernet(address)) if address.is_unicast() => Ok(address),
        _ => Err(Discard::Malformed),
    }
}

impl Icmp6 {
    /// Somebody asks for an address.
    pub(super) fn solicited(
        &self,
        from: &From,
        message: &[u8],
        lower: &mut Lower<'_>,
    ) -> Result<(), Discard> {
        let NdiscRepr::NeighborSolicit { target_addr: target, lladdr } = parse(from, message)? else {
            return Err(Discard::Malformed);
        };
        let nobody = from.remote.is_unspecified();
        if target.is_multicast() || (nobody && (lladdr.is_some() || from.to != solicited_node(target))) {
            return Err(Discard::Malformed);
        }
        let hardware = lladdr.map(hardware).transpose()?;
        if !self.host.has(target.into()) {
            return Ok(());
        }
        // Who asks for us will be talked to.
        if let Some(hardware) = hardware {
            let waiting = lower.cx.neighbors.meet(from.remote.into(), hardware, lower.cx.now);
            lower.cx.released.extend(waiting);
        }
        // He has to be asked for, as any stranger: not in the places for our own questions.
        let (neighbors, asker) = (&lower.cx.neighbors, from.remote.into());
        let needs_none = nobody || hardware.is_some() || neighbors.is_asked(asker);
        let is_known = needs_none || neighbors.find(asker, lower.cx.now).is_some();
        if !is_known && !neighbors.has_places_for_strangers() {
            lower.cx.count(self.own, Discard::SendQueueFull);
            return Ok(());
        }
        // Who asks whether our address is free has none: all hear that it is not.
        let to = if nobody { IPV6_LINK_LOCAL_ALL_NODES } else { from.remote };
        let mut flags = NdiscNeighborFlags::OVERRIDE;
        flags.set(NdiscNeighborFlags::SOLICITED, !nobody);
        flags.set(NdiscNeighborFlags::ROUTER, lower.cx.routes);
        let advertisement =
            NdiscRepr::NeighborAdvert { flags, target_addr: target, lladdr: Some(self.host.hardware.into()) };
        lower.cx.neighbors.receive_guest(hardware.map(|hardware| (from.remote.into(), hardware)));
        self.say(target, to, advertisement, lower);
        lower.cx.neighbors.receive_guest(None);
        Ok(())
    }

    /// Somebody says what his hardware address is.
    pub(super) fn advertised(
        &self,
        from: &From,
        message: &[u8],
        lower: &mut Lower<'_>,
    ) -> Result<(), Discard> {
        let NdiscRepr::NeighborAdvert { flags, target_addr: target, lladdr } = parse(from, message)? else {
            return Err(Discard::Malformed);
        };
        let unasked = from.to.is_multicast();
        if target.is_multicast() || (unasked && flags.contains(NdiscNeighborFlags::SOLICITED)) {
            return Err(Discard::Malformed);
        }
        if self.host.has(target.into()) {
            return Err(Discard::Source);
        }
        let Some(hardware) = lladdr.map(hardware).transpose()? else { return Ok(()) };
        let (now, neighbors) = (lower.cx.now, &mut lower.cx.neighbors);
        let known = neighbors.find(target.into(), now);
        if known.is_some_and(|known| known != hardware) && !flags.contains(NdiscNeighborFlags::OVERRIDE) {
            return Ok(());
        }
        let waiting = neighbors.confirm(target.into(), hardware, now);
        lower.cx.released.extend(waiting);
        Ok(())
    }

    /// Asks for a neighbour.
    pub(super) fn solicit(&self, neighbor: Ipv6Address, lower: &mut Lower<'_>) {
        let Some(IpAddress::Ipv6(local)) = self.host.asks_from(neighbor.into()) else { return };
        let solicitation =
            NdiscRepr::NeighborSolicit { target_addr: neighbor, lladdr: Some(self.host.hardware.into()) };
        self.say(local, solicited_node(neighbor), solicitation, lower);
    }

    fn say(&self, local: Ipv6Address, to: Ipv6Address, what: NdiscRepr<'_>, lower: &mut Lower<'_>) {
        if self.send(local, to, what, lower).is_err() {
            lower.cx.count(self.own, Discard::SendQueueFull);
        }
    }

    fn send(
        &self,
        local: Ipv6Address,
        to: Ipv6Address,
        what: NdiscRepr<'_>,
        lower: &mut Lower<'_>,
    ) -> Result<(), SendError> {
        let participants = Participants {
            local_address: Some(local.into()),
            remote_address: Some(to.into()),
            protocol: Some(ICMP6),
            ..Participants::default()
        };
        let mut message = lower.message();
        let what = Icmpv6Repr::Ndisc(what);
        let bytes = message.push(what.buffer_len()).map_err(|_| SendError::TooLong)?;
        bytes.fill(0);
        what.emit(&local, &to, &mut Icmpv6Packet::new_unchecked(bytes), &ChecksumCapabilities::default());
        send_once(self.own, self.below, participants, message, lower)
    }
}
