//! Fragments after the first have no ports: their flow is known by the datagram that they are part of.
//!
//! Frames are shown once, in the order of the capture, so a fragment that comes before the first of its datagram has no
//! flow: it is [lost](crate::Seen::LostFragment).

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use crate::packet::Flow;

/// Datagrams remembered. The oldest is forgotten for a new one.
const DATAGRAMS: usize = 4096;

/// What the fragments of one datagram have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DatagramId {
    /// Who sent it.
    pub from: IpAddr,
    /// Who receives it.
    pub to: IpAddr,
    /// Its identification.
    pub id: u32,
    /// Its protocol, where that is part of its identity (IPv4).
    pub protocol: u8,
}

/// The datagrams whose first fragments were seen, in bounded memory.
#[derive(Debug, Default)]
pub struct Fragments {
    /// With the number of the beginning that each is of: identifications are used again.
    flows: HashMap<DatagramId, (Flow, u64)>,
    order: VecDeque<DatagramId>,
    begun: u64,
}

impl Fragments {
    /// Takes note of a first fragment.
    pub fn begin(&mut self, id: DatagramId, flow: Flow) {
        self.flows.insert(id, (flow, self.begun));
        self.order.push_back(id);
        self.begun += 1;
        if self.order.len() > DATAGRAMS
            && let Some(oldest) = self.order.pop_front()
        {
            let number = self.begun - 1 - DATAGRAMS as u64;
            if self.flows.get(&oldest).is_some_and(|(_, of)| *of == number) {
                self.flows.remove(&oldest);
            }
        }
    }

    /// The flow of a later fragment.
    pub fn find(&self, id: &DatagramId) -> Option<Flow> {
        self.flows.get(id).map(|(flow, _)| *flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Tuple;

    #[test]
    fn the_oldest_is_forgotten() {
        let id = |id| DatagramId { from: [1; 4].into(), to: [2; 4].into(), id, protocol: 17 };
        let flow = Flow::V4(Tuple { from: (1, 2), to: (3, 4), protocol: 17 });
        let mut fragments = Fragments::default();
        for n in 0..=DATAGRAMS as u32 {
            fragments.begin(id(n), flow);
        }
        assert_eq!((fragments.find(&id(0)), fragments.find(&id(1))), (None, Some(flow)));
        assert_eq!(fragments.flows.len(), DATAGRAMS);
    }

    #[test]
    fn an_identification_that_is_used_again_is_that_of_the_newest() {
        let id = |id| DatagramId { from: [1; 4].into(), to: [2; 4].into(), id, protocol: 17 };
        let flow = |port| Flow::V4(Tuple { from: (1, port), to: (3, 4), protocol: 17 });
        let mut fragments = Fragments::default();
        for n in 0..DATAGRAMS as u32 {
            fragments.begin(id(n), flow(1));
        }
        fragments.begin(id(0), flow(2));
        for n in 1..DATAGRAMS as u32 {
            fragments.begin(id(10_000 + n), flow(1));
            assert_eq!(fragments.find(&id(0)), Some(flow(2)), "{n} after it");
        }
        fragments.begin(id(1), flow(1));
        assert_eq!((fragments.find(&id(0)), fragments.flows.len()), (None, DATAGRAMS));
        for _ in 0..3 * DATAGRAMS {
            fragments.begin(id(0), flow(3));
        }
        assert_eq!((fragments.flows.len(), fragments.order.len()), (1, DATAGRAMS));
    }
}
