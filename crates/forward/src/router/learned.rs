//! Which way to a prefix is used: the owner's, or else that of the protocol which is trusted most.

use std::cmp::Reverse;

use throughline_stack::smoltcp::{time::Instant, wire::IpCidr};

use super::{Route, Router};
use crate::{PortId, routing::Learned, threaded::NO_INDEX};

impl Router {
    /// A protocol has found a way, or another than before.
    pub(super) fn learn(&mut self, protocol: usize, learned: Learned, now: Instant) {
        let Some(protocol) = self.protocols.get_mut(protocol) else { return };
        if usize::from(learned.interface) < protocol.interfaces.len() {
            protocol.learned.insert(learned.prefix, learned);
            self.choose(learned.prefix, now);
        }
    }

    /// It has none any more.
    pub(super) fn unlearn(&mut self, protocol: usize, prefix: IpCidr, now: Instant) {
        let protocol = &mut self.protocols[protocol];
        if protocol.learned.remove(&prefix).is_some() {
            protocol.routing.assigned(prefix, NO_INDEX, now);
            self.choose(prefix, now);
        }
    }

    /// Has the best of the ways that were learned used, unless the owner has one.
    pub(super) fn choose(&mut self, prefix: IpCidr, now: Instant) {
        let mut index = self.index_of(prefix);
        if self.chosen.contains(&prefix) || self.routes.get(prefix).is_none() {
            let Some((port, best)) = self.best(prefix) else {
                if self.chosen.remove(&prefix) {
                    self.unset(prefix, now);
                }
                return;
            };
            self.chosen.insert(prefix);
            let route = Route::Out { port, via: Some(best.next_hop.into()) };
            index = self.set(prefix, route, best.next_index, now);
        }
        // An index is of the table's entry, whoever has found the way.
        for protocol in self.protocols.iter_mut().filter(|protocol| protocol.learned.contains_key(&prefix)) {
            protocol.routing.assigned(prefix, index, now);
        }
    }

    /// Of the protocol that is trusted most; of two alike the shortest, and then of that which was added first.
    fn best(&self, prefix: IpCidr) -> Option<(PortId, Learned)> {
        let ways = self.protocols.iter().rev().filter_map(|protocol| {
            let learned = protocol.learned.get(&prefix)?;
            let (port, _) = protocol.interfaces[usize::from(learned.interface)];
            Some(((protocol.routing.trust(), Reverse(learned.metric)), port, *learned))
        });
        // Of equals the last.
        ways.max_by_key(|(worth, ..)| *worth).map(|(_, port, learned)| (port, learned))
    }
}
