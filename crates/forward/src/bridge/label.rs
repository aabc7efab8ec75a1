//! Labels of frames that come without, and what the labels of stations say of both addresses.

use throughline_stack::{
    Message,
    smoltcp::{time::Instant, wire::EthernetAddress},
};
use throughline_wire::RegionList;

use super::Bridge;
use crate::{
    Assignment, Label, Packet, PortId,
    edge::{FlowKey, has_room},
    insert_label,
    ip::Ip,
    threaded::NO_INDEX,
};

/// The indices of a frame's two addresses, assigned together with the addresses: the paper's third way. They share the word
/// of the label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressIndices {
    /// That of whom the frame is for.
    pub destination: u16,
    /// That of whom it is from.
    pub source: u16,
}

impl AddressIndices {
    /// Those that a label carries, or any two numbers where it carries something else.
    #[inline]
    pub fn of(label: Label) -> Self {
        let word = label.flow.source_hash;
        Self { destination: word as u16, source: (word >> 16) as u16 }
    }

    /// As the word of a label.
    #[inline]
    pub fn word(self) -> u32 {
        u32::from(self.destination) | u32::from(self.source) << 16
    }
}

impl Bridge {
    /// Gives a frame of a station that knows no labels one, if those that it goes to know them and the link has room for it. Whether
    /// it has got one.
    #[inline]
    pub(super) fn give(&mut self, from: PortId, to: PortId, frame: &mut Message, now: Instant) -> bool {
        let to = &self.ports[to.index()];
        if !to.labels || !has_room(frame.len(), to.mtu) {
            return false;
        }
        let Some(new) = self.ports[from.index()].new else { return false };
        let label = Packet::of(frame.bytes()).ok().and_then(|packet| self.label(from, new, &packet, now));
        let given = label.is_some_and(|label| insert_label(frame, label, &RegionList::new()).is_ok());
        self.counts.labelled += u64::from(given);
        given
    }

    /// The label of a packet that has none. Only those of IP have one, as routers read no others behind it.
    #[inline]
    fn label(&mut self, from: PortId, new: Assignment, packet: &Packet<'_>, now: Instant) -> Option<Label> {
        let ip = Ip::of(packet.ethertype, packet.bytes()).ok()?;
        if new == Assignment::Assigned {
            let index = |address: EthernetAddress| self.indices.get(&address.0).copied();
            let (destination, source) = (index(packet.destination())?, index(packet.source())?);
            return Some(self.ids.assigned(AddressIndices { destination, source }));
        }
        let edge = self.ports[from.index()].edge.as_mut()?;
        edge.label(&FlowKey::of(&ip, packet.bytes()), now, 0, || NO_INDEX)
    }
}
