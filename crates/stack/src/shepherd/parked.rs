//! Messages that arrived together wait below a protocol with very many sessions, until there are some: so that what the later
//! ones need is on its way from memory while the earlier ones are processed.

use std::mem;

use super::layered::{Climb, climb};
use crate::{Graph, Message, ProtocolId};

/// Messages that wait at most: more than a core has memory accesses outstanding, few enough for what they need to fit
/// into the nearest cache.
pub(crate) const AT_ONCE: usize = 16;

/// See the module.
#[derive(Default)]
pub(crate) struct Parked {
    /// A bit for each protocol before which messages wait now.
    before: u64,
    waiting: Vec<(Climb, Message)>,
}

impl Parked {
    /// Has messages wait before these protocols, a bit for each.
    pub fn begin(&mut self, before: u64) {
        self.before = before;
    }

    #[inline]
    pub fn stops_at(&self, protocol: ProtocolId) -> bool {
        self.before >> protocol.0 & 1 == 1
    }
}

/// Has a message wait; when there are enough, all go on.
pub(super) fn park(graph: &mut Graph, climb: Climb, message: Message) {
    graph.parked.waiting.push((climb, message));
    if graph.parked.waiting.len() >= AT_ONCE {
        resume(graph);
    }
}

/// Has all go on that wait.
pub(crate) fn resume(graph: &mut Graph) {
    if graph.parked.waiting.is_empty() {
        return;
    }
    // Those who go on wait nowhere else.
    let before = mem::take(&mut graph.parked.before);
    let mut waiting = mem::take(&mut graph.parked.waiting);
    let mut left = before;
    while left != 0 {
        let id = ProtocolId(left.trailing_zeros() as u8);
        left &= left - 1;
        let mut here =
            waiting.iter().filter(|(climb, _)| climb.at == id).map(|(climb, message)| (climb.below, message));
        graph.with(id, |protocol, lower| protocol.foresee(&mut here, lower));
    }
    for (way, message) in waiting.drain(..) {
        climb(graph, way, message);
    }
    graph.parked.waiting = waiting;
    graph.parked.before = before;
}
