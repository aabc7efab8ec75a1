//! A port of a bridge, as the spanning tree sees it.

use throughline_stack::smoltcp::time::Instant;

use super::{BridgeId, Claim, TreePort};

/// What a port may do (IEEE 802.1D-1998, 8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortState {
    /// Its link does not work, or another bridge was heard where there are to be hosts only.
    Disabled,
    /// It would close a circle.
    Blocking,
    /// It may be part of the tree: others must know before it is.
    Listening,
    /// It learns where stations are, and forwards nothing yet.
    Learning,
    /// It is part of the tree.
    Forwarding,
}

impl PortState {
    /// Whether sources of frames are learnt.
    pub fn learns(self) -> bool {
        matches!(self, Self::Learning | Self::Forwarding)
    }

    /// Whether frames of stations come and go by it.
    pub fn forwards(self) -> bool {
        self == Self::Forwarding
    }
}

impl std::fmt::Display for PortState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Disabled => "disabled",
            Self::Blocking => "blocking",
            Self::Listening => "listening",
            Self::Learning => "learning",
            Self::Forwarding => "forwarding",
        })
    }
}

pub(super) struct Port {
    pub id: u16,
    pub cost: u32,
    pub hosts: bool,
    pub state: PortState,
    /// The best claim of all who are on the network there: ours, if nobody's is better.
    pub claim: Claim,
    /// When that is too old.
    pub claim_ends: Option<Instant>,
    /// When the next state is reached.
    pub next_state: Option<Instant>,
    /// Before that time nothing more is said.
    pub hold: Option<Instant>,
    /// Something is to be said then.
    pub pending: bool,
    /// A change that was told us is to be acknowledged.
    pub acknowledge: bool,
    /// When a port that another bridge was heard by is given another chance.
    pub guarded: Option<Instant>,
}

impl Port {
    pub fn new(number: usize, port: &TreePort, own: BridgeId) -> Self {
        let id = u16::from(port.priority & 0xf0) << 8 | (number as u16 + 1);
        Self {
            id,
            cost: port.cost.max(1),
            hosts: port.hosts,
            state: PortState::Disabled,
            claim: Claim { root: own, cost: 0, bridge: own, port: id },
            claim_ends: None,
            next_state: None,
            hold: None,
            pending: false,
            acknowledge: false,
            guarded: None,
        }
    }

    pub fn is_on(&self) -> bool {
        self.state != PortState::Disabled
    }

    /// Whether we speak for the network there.
    pub fn is_designated(&self, own: BridgeId) -> bool {
        self.claim.bridge == own && self.claim.port == self.id
    }

    /// When something is to be done.
    pub fn due(&self) -> Option<Instant> {
        let hold = self.hold.filter(|_| self.pending);
        [self.claim_ends, self.next_state, hold, self.guarded].into_iter().flatten().min()
    }
}
