//! The way of a session's packets to their next hop, of either version of IP.

use smoltcp::wire::{EthernetAddress, IpAddress};
use throughline_demux::Slot;

use crate::{Control, Layer, Lower, Message, OpenError, Participants, ProtocolId, SendError, Upper};

/// A version of IP on frames that name no paths, by which all neighbours are reached.
#[derive(Clone, Copy)]
pub(super) struct Network {
    pub own: ProtocolId,
    /// The protocol of such frames, if there is one.
    pub below: Option<ProtocolId>,
    pub ethertype: u16,
}

impl Network {
    /// The session below that leads to a neighbour.
    fn link(&self, hardware: EthernetAddress, lower: &mut Lower<'_>) -> Result<Layer, OpenError> {
        let mut participants = Participants {
            remote_hardware: Some(hardware),
            ethertype: Some(self.ethertype),
            ..Participants::default()
        };
        lower.open(self.below.ok_or(OpenError::NoRoute)?, Upper::Protocol(self.own), &mut participants)
    }
}

/// See the module.
pub(super) struct Way {
    pub next_hop: IpAddress,
    /// The session below that leads there.
    pub link: Option<Layer>,
    /// Whether `link` is of this session's path alone.
    private: bool,
    /// Whether only somebody who sent first wants it.
    for_stranger: bool,
    /// The neighbours' generation at which `link` was right; `None` if it stays right.
    generation: Option<u32>,
}

impl Way {
    /// Nowhere.
    pub fn none(nobody: IpAddress) -> Self {
        Self { next_hop: nobody, link: None, private: false, for_stranger: false, generation: None }
    }

    /// That of a session for participants: by a session below of its own, of the protocol `private`, or to the neighbour that
    /// they name, or to one who is found when there is something to send.
    pub fn open(
        network: Network,
        private: Option<ProtocolId>,
        next_hop: IpAddress,
        participants: &mut Participants,
        lower: &mut Lower<'_>,
    ) -> Result<Self, OpenError> {
        let link = match (private, participants.remote_hardware) {
            (Some(below), _) => Some(lower.open(below, Upper::Protocol(network.own), participants)?),
            (None, Some(hardware)) => Some(network.link(hardware, lower)?),
            (None, None) => None,
        };
        // Where the user knows the neighbour's address, it stays right.
        let generation = participants.remote_hardware.is_none().then_some(u32::MAX);
        Ok(Self { next_hop, link, private: private.is_some(), for_stranger: false, generation })
    }

    /// That back to somebody who sent first, by the session below that his message came from if it is his path's alone.
    pub fn back(next_hop: IpAddress, below: Layer, private: bool) -> Self {
        Self { next_hop, link: private.then_some(below), private, for_stranger: true, generation: None }
    }

    /// Somebody here wants the session too.
    pub fn is_ours(&mut self) {
        self.for_stranger = false;
    }

    /// Whether the session below is of this session's path alone.
    pub fn is_private(&self) -> bool {
        self.private
    }

    /// Whether `link` still leads to the next hop.
    #[inline]
    pub fn is_current(&self, lower: &Lower<'_>) -> bool {
        self.generation.is_none_or(|generation| generation == lower.cx.neighbors.generation())
    }

    /// Finds the way of `session`, and sends a packet with its header; or has that wait for the next hop's address. Frames to
    /// many hosts have the address `group`.
    pub fn find(
        &mut self,
        session: Slot,
        network: Network,
        group: Option<EthernetAddress>,
        packet: Message,
        lower: &mut Lower<'_>,
    ) -> Result<(), SendError> {
        let found = group.or_else(|| lower.cx.neighbors.find(self.next_hop, lower.cx.now));
        let Some(hardware) = found else {
            let layer = Layer { protocol: network.own, session };
            return lower.cx.wait_for_neighbor(self.next_hop, layer, packet, self.for_stranger);
        };
        let link = match self.link {
            Some(link) if self.private => {
                lower.control(link, Control::Remote(hardware));
                link
            }
            old => {
                let link = network.link(hardware, lower).map_err(|_| SendError::NoRoute)?;
                if let Some(old) = old {
                    lower.close(old);
                }
                link
            }
        };
        self.link = Some(link);
        self.generation = Some(lower.cx.neighbors.generation());
        lower.push(link, packet)
    }
}
