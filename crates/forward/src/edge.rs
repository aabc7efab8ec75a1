//! Where packets of hosts that know no labels enter: each flow is given one.
//!
//! Packets get their label when they leave towards neighbours that know labels, and lose it where they leave to others, so hosts
//! notice nothing. The labels of flows are kept in a [`FlowCache`] of their own for each port, which a flood of new flows can't make
//! larger: flows that find no room in it go without a label, and so by the long way.

use throughline_demux::{KeyHash, Keyed};
use throughline_stack::smoltcp::time::Instant;
use throughline_wire::{PLAIN_BYTES, precomputed_hash};

use crate::{
    Assignment, FlowCache, FlowCacheConfig, Label, Labeller,
    frame::ETHERNET,
    ip::{Ip, key},
    threaded::NO_INDEX,
};

/// Bytes that a label takes of what the link carries.
pub(crate) const LABEL: usize = PLAIN_BYTES;

/// What a port has to do with labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortLabels {
    /// The neighbours there know labels: those that come from there are used, and packets leave with theirs. From other ports
    /// labels are taken off, unread.
    pub known: bool,
    /// What comes without a label is given one of this kind, when it leaves by a port where they are known.
    pub new: Option<Assignment>,
    /// Packets of IPv6 whose sender has left the flow label 0 are given one (RFC 6437, 3), for routers that know no other labels.
    pub flow_labels: bool,
}

impl PortLabels {
    /// Of a port whose neighbours know labels, and put them on themselves.
    pub const KNOWN: Self = Self { known: true, new: None, flow_labels: false };
    /// Of a port whose neighbours know none.
    pub const UNKNOWN: Self = Self { known: false, new: None, flow_labels: false };
}

/// What makes packets of one flow: addresses, protocol and, where there are some, ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct FlowKey([u64; 5]);

impl FlowKey {
    /// Of a packet whose header was looked at.
    #[inline]
    pub fn of(ip: &Ip, packet: &[u8]) -> Self {
        // TCP, UDP, DCCP, SCTP and UDP-Lite begin with their ports. Pieces but the first have none, so the first's are not looked at.
        let with_ports = matches!(ip.protocol, 6 | 17 | 33 | 132 | 136) && !ip.piece;
        let above = packet.get(ip.header..).filter(|_| with_ports);
        let ports = above.and_then(|above| above.first_chunk()).map_or(0, |ports| u32::from_be_bytes(*ports));
        let ([a, b], [c, d]) = (key(ip.source), key(ip.destination));
        Self([a, b, c, d, u64::from(ip.protocol) << 32 | u64::from(ports)])
    }

    /// The destination, the same for all who send there.
    fn shared(&self) -> u64 {
        let Self([_, _, high, low, _]) = *self;
        // An address of IPv4, with the prefix of those, is its own number.
        if high == 0 { low } else { u64::from(precomputed_hash(high)) << 32 ^ low }
    }
}

/// What a flow was given.
#[derive(Clone, Copy, Debug, Default)]
struct Given {
    id: u64,
    source_hash: u32,
    /// Of the destination at the next hop, as far as it was known ...
    index: u32,
    /// ... after so many changes.
    changes: u32,
}

/// The flows of a port and their labels.
pub(crate) struct Edge {
    labels: PortLabels,
    ids: Labeller,
    flows: FlowCache<FlowKey, Given>,
    /// Nobody can foresee which flows collide.
    hash: Keyed,
}

impl Edge {
    /// What there is to do at such a port; `None` if nothing.
    pub fn new(
        labels: PortLabels,
        cache: FlowCacheConfig,
    ) -> Result<Option<Self>, throughline_demux::ConfigError> {
        if labels.new.is_none() && !labels.flow_labels {
            return Ok(None);
        }
        Ok(Some(Self { labels, ids: Labeller::new(), flows: FlowCache::new(cache)?, hash: Keyed::random() }))
    }

    /// Whether packets get labels, and what of: `None` if only the flow label of IPv6 is set.
    pub fn assignment(&self) -> Option<Assignment> {
        self.labels.new
    }

    /// Whether the flow label of IPv6 is set where it is 0.
    pub fn sets_flow_labels(&self) -> bool {
        self.labels.flow_labels
    }

    /// The label of a flow; `None` if there is no room to remember one. Routers may know an index, which may be another after each
    /// change.
    #[inline]
    pub fn label(
        &mut self,
        flow: &FlowKey,
        now: Instant,
        changes: u32,
        index: impl FnOnce() -> u32,
    ) -> Option<Label> {
        let hash = self.hash.hash(flow) as u32;
        let given = match self.flows.find(hash, flow, now) {
            Some(given) if given.changes == changes => given,
            known => {
                self.give(flow, hash, known, Given { changes, index: index(), ..Given::default() }, now)?
            }
        };
        Some(given.label())
    }

    /// A new label, or a known one with another index.
    #[cold]
    fn give(
        &mut self,
        key: &FlowKey,
        hash: u32,
        known: Option<Given>,
        new: Given,
        now: Instant,
    ) -> Option<Given> {
        let shared = self.labels.new == Some(Assignment::Precomputed);
        let (id, source_hash) = known.map_or_else(
            || {
                let label = if shared { Labeller::precomputed(key.shared()) } else { self.ids.random() };
                (label.flow.id, label.flow.source_hash)
            },
            |known| (known.id, known.source_hash),
        );
        let given = Given { id, source_hash, ..new };
        // One that all know need not be remembered.
        (self.flows.put(hash, *key, given, now) || shared).then_some(given)
    }
}

impl Given {
    #[inline]
    fn label(&self) -> Label {
        let threaded = self.index != NO_INDEX;
        let source_hash = if threaded { self.index } else { self.source_hash };
        Label { flow: throughline_wire::Flow { id: self.id, source_hash }, threaded }
    }
}

/// The flow label of IPv6 for a flow: 20 bits of its id's hash, and never 0, so that it says something.
#[inline]
pub(crate) fn flow_label(label: Label) -> u32 {
    (precomputed_hash(label.flow.id) & 0x000f_ffff).max(1)
}

/// Whether a frame still fits its link, of which the longest packet is known, with a label.
#[inline]
pub(crate) fn has_room(frame: usize, mtu: usize) -> bool {
    frame + LABEL <= ETHERNET + mtu
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use throughline_stack::smoltcp::time::Duration;

    const NOW: Instant = Instant::ZERO;

    fn edge(new: Assignment, places: usize) -> Edge {
        let cache = FlowCacheConfig { places, lifetime: Duration::from_secs(30) };
        Edge::new(PortLabels { new: Some(new), ..PortLabels::UNKNOWN }, cache).unwrap().unwrap()
    }

    fn flow(source: u32, destination: u32) -> FlowKey {
        let [a, b] = [source, destination].map(|bits| key(Ipv4Addr::from_bits(bits).into()));
        FlowKey([a[0], a[1], b[0], b[1], 17 << 32])
    }

    #[test]
    fn a_flow_keeps_its_label_and_no_other_has_it() {
        let mut edge = edge(Assignment::Random, 1024);
        let mut given = |flow| edge.label(&flow, NOW, 0, || NO_INDEX).unwrap();
        let first = given(flow(1, 2));
        assert_eq!(given(flow(1, 2)), first);
        assert_ne!(given(flow(1, 3)).flow.id, first.flow.id);
        assert!(!first.threaded);
        let again = self::edge(Assignment::Random, 1024).label(&flow(1, 2), NOW, 0, || NO_INDEX).unwrap();
        assert_ne!(again.flow.id, first.flow.id, "after a new start");
    }

    #[test]
    fn all_edges_give_precomputed_labels_alike() {
        let mut labels = [1, 7].map(|source| {
            edge(Assignment::Precomputed, 16).label(&flow(source, 2), NOW, 0, || NO_INDEX).unwrap()
        });
        assert_eq!(labels[0], labels[1]);
        labels[1] = edge(Assignment::Precomputed, 16).label(&flow(1, 3), NOW, 0, || NO_INDEX).unwrap();
        assert_ne!(labels[0].flow, labels[1].flow);
    }

    #[test]
    fn an_index_is_asked_for_again_after_each_change_and_the_id_stays() {
        let mut edge = edge(Assignment::Random, 16);
        let first = edge.label(&flow(1, 2), NOW, 0, || 5).unwrap();
        assert!(first.threaded && first.flow.source_hash == 5);
        assert_eq!(edge.label(&flow(1, 2), NOW, 0, || panic!("nothing has changed")), Some(first));
        let then = edge.label(&flow(1, 2), NOW, 1, || NO_INDEX).unwrap();
        assert!(!then.threaded && then.flow.id == first.flow.id);
    }

    #[test]
    fn a_flood_takes_no_memory_and_those_without_room_go_unlabelled() {
        let mut edge = edge(Assignment::Random, 2);
        let bytes = edge.flows.bytes();
        let mut known = || [1, 3].map(|n| edge.label(&flow(n, 2), NOW, 0, || NO_INDEX).unwrap());
        let labels = known();
        assert_eq!(known(), labels);
        for n in 4..1_000 {
            assert_eq!(edge.label(&flow(n, 9), NOW, 0, || NO_INDEX), None);
            let known = [1, 3].map(|n| edge.label(&flow(n, 2), NOW, 0, || NO_INDEX).unwrap());
            assert_eq!(known, labels, "who sends is not displaced by who begins");
        }
        assert_eq!(edge.flows.bytes(), bytes);
    }

    #[test]
    fn pieces_of_a_packet_are_one_flow() {
        let ip = |piece| Ip {
            source: Ipv4Addr::new(10, 0, 0, 1).into(),
            destination: Ipv4Addr::new(10, 0, 0, 2).into(),
            protocol: 17,
            header: 20,
            length: 40,
            hops: 9,
            later_piece: false,
            piece,
        };
        let (one, other) = ([1; 40], [2; 40]);
        assert_ne!(FlowKey::of(&ip(false), &one), FlowKey::of(&ip(false), &other));
        assert_eq!(FlowKey::of(&ip(true), &one), FlowKey::of(&ip(true), &other));
        assert_eq!(
            FlowKey::of(&ip(false), &one[..22]),
            FlowKey::of(&ip(true), &one),
            "ports that are not there"
        );
    }
}
