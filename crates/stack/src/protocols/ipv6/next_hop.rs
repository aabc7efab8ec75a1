//! The way to the next hop.

use smoltcp::wire::{EthernetAddress, IpAddress, Ipv6Address};
use throughline_demux::Slot;

use super::{ETHERTYPE, Ipv6};
use crate::{Control, Layer, Lower, Message, OpenError, Participants, ProtocolId, SendError, Upper};

/// The address that frames to a group have (RFC 2464, 7).
fn group_hardware(group: Ipv6Address) -> EthernetAddress {
    let [.., a, b, c, d] = group.octets();
    EthernetAddress([0x33, 0x33, a, b, c, d])
}

impl Ipv6 {
    /// Sends a packet with its header: by the session below that leads to the next hop.
    pub(super) fn send(
        &mut self,
        slot: Slot,
        packet: Message,
        lower: &mut Lower<'_>,
    ) -> Result<(), SendError> {
        let Some(session) = self.sessions.get(slot) else { return Err(SendError::NoPath) };
        let current =
            session.generation.is_none_or(|generation| generation == lower.cx.neighbors.generation());
        match session.link {
            Some(link) if current => lower.push(link, packet),
            _ => self.find_link(slot, packet, lower),
        }
    }

    #[cold]
    fn find_link(&mut self, slot: Slot, packet: Message, lower: &mut Lower<'_>) -> Result<(), SendError> {
        let Some(session) = self.sessions.get(slot) else { return Err(SendError::NoPath) };
        let IpAddress::Ipv6(next) = session.next_hop else { return Err(SendError::NoRoute) };
        let found = if next.is_multicast() {
            Some(group_hardware(next))
        } else {
            lower.cx.neighbors.find(session.next_hop, lower.cx.now)
        };
        let Some(hardware) = found else {
            let layer = Layer { protocol: self.own, session: slot };
            return lower.cx.wait_for_neighbor(session.next_hop, layer, packet);
        };
        let link = match session.link {
            Some(link) if session.private => {
                lower.control(link, Control::Remote(hardware));
                link
            }
            old => {
                let below = self.ways.plain.ok_or(SendError::NoRoute)?;
                let link = open_link(self.own, below, hardware, lower).map_err(|_| SendError::NoRoute)?;
                if let Some(old) = old {
                    lower.close(old);
                }
                link
            }
        };
        session.link = Some(link);
        session.generation = Some(lower.cx.neighbors.generation());
        lower.push(link, packet)
    }
}

/// The session below that leads to a neighbour.
pub(super) fn open_link(
    own: ProtocolId,
    below: ProtocolId,
    hardware: EthernetAddress,
    lower: &mut Lower<'_>,
) -> Result<Layer, OpenError> {
    let mut participants = Participants {
        remote_hardware: Some(hardware),
        ethertype: Some(ETHERTYPE),
        ..Participants::default()
    };
    lower.open(below, Upper::Protocol(own), &mut participants)
}
