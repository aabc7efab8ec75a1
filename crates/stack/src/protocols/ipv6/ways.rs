//! What is below: frames that name paths, others, or both.

use super::ICMP6;
use crate::{Layer, Protocol, ProtocolId};

/// The protocols below. Where there are both kinds, users' packets leave in frames that name their paths, and those of ICMPv6,
/// which belong to no path, in others.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ways {
    pub plain: Option<ProtocolId>,
    pub naming: Option<ProtocolId>,
}

/// What keys contain of a session below: nothing, unless it is of one path. Protocols have fewer than 2^24 sessions.
pub(super) fn key(below: Layer, private: bool) -> u32 {
    if private { below.session.0 + 1 } else { 0 }
}

impl Ways {
    pub fn new(below: &[(ProtocolId, &dyn Protocol)]) -> Self {
        let first =
            |identifies| below.iter().find(|(_, below)| below.identifies() == identifies).map(|(id, _)| *id);
        Self { plain: first(false), naming: first(true) }
    }

    /// By which packets of a protocol leave.
    pub fn of(&self, protocol: u8) -> ProtocolId {
        let (first, second) =
            if protocol == ICMP6 { (self.plain, self.naming) } else { (self.naming, self.plain) };
        // There is one, or the graph would not have been made.
        first.or(second).unwrap_or(ProtocolId(0))
    }

    /// Whether sessions of a protocol below are of one path each.
    pub fn is_private(&self, below: ProtocolId) -> bool {
        self.naming == Some(below)
    }

    /// What keys contain of the session below.
    pub fn key(&self, below: Layer) -> u32 {
        key(below, self.is_private(below.protocol))
    }
}
