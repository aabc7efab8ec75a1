//! What nodes send frames through.

use throughline_stack::{Message, Pool};

/// A port of a node: its number in the order in which the ports were named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortId(pub u16);

impl PortId {
    /// The number as an index.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0.into()
    }
}

/// Frames that leave a node, and memory for those that it makes.
#[derive(Debug)]
pub struct Outgoing {
    /// Each with the port that it leaves through, in order.
    pub frames: Vec<(PortId, Message)>,
    /// Where messages come from and go to.
    pub pool: Pool,
}

/// Room before a frame: for labels, and for the headers of what a node says itself.
pub const HEADROOM: usize = 128;

impl Outgoing {
    /// Nothing so far; memory for frames that carry up to `mtu` bytes, of which at most `spare` are kept while nobody uses
    /// them.
    pub fn new(mtu: usize, spare: usize) -> Self {
        // The headers of the link with a VLAN tag, and of a label.
        let pool = Pool::new(HEADROOM + mtu + 18 + 64, HEADROOM, spare);
        Self { frames: Vec::with_capacity(spare.min(1024)), pool }
    }

    /// One frame more.
    #[inline]
    pub fn push(&mut self, port: PortId, frame: Message) {
        self.frames.push((port, frame));
    }
}
