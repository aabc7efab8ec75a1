//! The bridge's part in the spanning tree: what its ports may do, and what it says to other bridges.

use throughline_stack::{
    Message,
    smoltcp::{time::Instant, wire::EthernetAddress},
};

use super::Bridge;
use crate::{
    Outgoing, Packet, PortId,
    frame::ETHERNET,
    spanning_tree::{BRIDGES, SpanningTree, SpanningTreeConfig, TreePort},
};

/// The shortest frame without its check sequence.
const SHORTEST: usize = 60;

/// A bridge that takes part.
pub(super) struct Tree {
    tree: SpanningTree,
    /// The address of each port.
    hardware: Vec<EthernetAddress>,
}

impl Bridge {
    /// Takes part in the spanning tree from now on. No port forwards until others could have said that it may not, which takes
    /// twice the delay, but for those where there are only hosts.
    ///
    /// # Panics
    /// If there are more or fewer ports than the bridge has.
    pub fn span(&mut self, config: &SpanningTreeConfig, ports: &[TreePort], now: Instant) {
        assert_eq!(ports.len(), self.ports.len(), "each port");
        let hardware = ports.iter().map(|port| port.hardware).collect();
        self.tree = Some(Tree { tree: SpanningTree::new(config, ports, now), hardware });
        self.adopt();
    }

    /// What is known of the spanning tree, if the bridge takes part in it.
    pub fn spanning_tree(&self) -> Option<&SpanningTree> {
        self.tree.as_ref().map(|Tree { tree, .. }| tree)
    }

    /// Says that the link of a port works, or does not. While it does not, frames for those who were there go to all others, where
    /// they may be by now.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn set_link(&mut self, port: PortId, up: bool, now: Instant) {
        self.ports[port.index()].up = up;
        if let Some(Tree { tree, .. }) = &mut self.tree {
            tree.set_link(port, up, now);
            self.adopt();
        }
    }

    /// Does what is due, and says when something will be.
    pub fn poll(&mut self, now: Instant, out: &mut Outgoing) -> Option<Instant> {
        let Tree { tree, hardware } = self.tree.as_mut()?;
        let next = tree.poll(now, |port, bytes| {
            let mut message = out.pool.take();
            match framed(&mut message, hardware[port.index()], &bytes) {
                Some(()) => out.push(port, message),
                None => out.pool.give(message),
            }
        });
        self.adopt();
        next
    }

    /// A frame to a group that no bridge forwards to: of interest to this one, or to nobody.
    #[cold]
    pub(super) fn reserved(&mut self, port: PortId, frame: Message, now: Instant, out: &mut Outgoing) {
        let Some(Tree { tree, .. }) = &mut self.tree else { return self.refuse(frame, out) };
        let packet = Packet::of(frame.bytes()).ok().filter(|packet| packet.destination() == BRIDGES);
        // The field is a length: what follows is LLC.
        let said = packet.and_then(|packet| packet.bytes().get(..packet.ethertype.into()));
        let Some(said) = said else { return self.refuse(frame, out) };
        tree.receive(port, said, now);
        out.pool.give(frame);
        self.adopt();
    }

    /// Does as the tree says.
    fn adopt(&mut self) {
        let Some(Tree { tree, .. }) = &self.tree else { return };
        for (number, port) in (0..).map(PortId).zip(&mut self.ports) {
            port.state = tree.state(number);
        }
        self.ageing = tree.ageing().unwrap_or(self.config.ageing).min(self.config.ageing);
    }
}

/// Writes a frame to all bridges.
fn framed(message: &mut Message, from: EthernetAddress, bytes: &[u8]) -> Option<()> {
    message.append(&BRIDGES.0).ok()?;
    message.append(&from.0).ok()?;
    message.append(&(bytes.len() as u16).to_be_bytes()).ok()?;
    message.append(bytes).ok()?;
    message.append(&[0; SHORTEST][..SHORTEST.saturating_sub(ETHERNET + bytes.len())]).ok()
}
