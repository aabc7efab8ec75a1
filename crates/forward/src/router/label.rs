//! The label of a packet as it comes and as it leaves.

use throughline_stack::{
    Message,
    smoltcp::{time::Instant, wire::Ipv6Packet},
};
use throughline_wire::{Flow, RegionList, precomputed_hash};

use super::{Refused, Router, Seen};
use crate::{
    Label, PortId, clear_index,
    edge::{FlowKey, LABEL, flow_label, has_room},
    frame::{ETHERNET, begin_index, is_labelled},
    insert_label, remove_label, set_index,
    threaded::NO_INDEX,
};

impl Router {
    /// Takes the label off a frame from neighbours who are said to know none.
    #[inline]
    pub(super) fn distrust(&mut self, frame: &mut Message) -> Result<(), Refused> {
        if is_labelled(frame.bytes()) {
            self.counts.distrusted += 1;
            remove_label(frame).map_err(|_| Refused::Label)?;
        }
        Ok(())
    }

    /// Gives a packet that leaves the label that it should have behind this port: the index of the next hop in that which it came
    /// with, or a new one; and none where the neighbours know none, or where the link has no room for it. So a packet
    /// as long as the link allows goes without, and no host has to send shorter ones.
    #[inline]
    pub(super) fn label(
        &mut self,
        from: PortId,
        to: PortId,
        frame: &mut Message,
        seen: &mut Seen,
        now: Instant,
    ) -> Result<(), Refused> {
        let labelled = seen.offset > ETHERNET;
        let to = &self.ports[to.index()];
        if !labelled {
            let room = to.labels && has_room(frame.len(), to.host.mtu);
            self.give(from, room, frame, seen, now);
            return Ok(());
        }
        if !to.labels || frame.len() > ETHERNET + to.host.mtu {
            remove_label(frame).map_err(|_| Refused::Label)?;
            seen.offset = ETHERNET;
            self.counts.unlabelled += 1;
        } else if let Some(Label { flow, threaded }) = seen.label {
            match seen.next_index {
                // From here on by source hash.
                NO_INDEX if threaded => clear_index(frame.bytes_mut(), precomputed_hash(flow.id)),
                NO_INDEX => {}
                index if threaded => set_index(frame.bytes_mut(), index),
                index => begin_index(frame.bytes_mut(), index),
            }
        }
        Ok(())
    }

    /// Gives a packet without label the one of its flow, if there is room for it, and a flow label of IPv6, if it has none.
    #[inline]
    fn give(&mut self, from: PortId, room: bool, frame: &mut Message, seen: &mut Seen, now: Instant) {
        let Some(edge) = &mut self.ports[from.index()].edge else { return };
        let wanted = edge.assignment().is_some() && room;
        let set = edge.sets_flow_labels() && seen.ip.destination.is_ipv6() && seen.label.is_none();
        if !wanted && !set {
            return;
        }
        let (threads, destination) = (&self.threads, seen.ip.destination);
        let changes = threads.as_ref().map_or(0, |threads| threads.changes());
        let of_group = destination.is_multicast();
        let index = || match threads {
            Some(threads) if !of_group => threads.next_index_for(destination),
            _ => NO_INDEX,
        };
        let flow = FlowKey::of(&seen.ip, &frame.bytes()[seen.offset..]);
        let Some(label) = edge.label(&flow, now, changes, index) else { return };
        // Of a group, each link has its own.
        let label = match seen.next_index {
            NO_INDEX => label,
            index => Label { flow: Flow { source_hash: index, ..label.flow }, threaded: true },
        };
        if set {
            Ipv6Packet::new_unchecked(&mut frame.bytes_mut()[seen.offset..])
                .set_flow_label(flow_label(label));
        }
        if wanted && insert_label(frame, label, &RegionList::new()).is_ok() {
            seen.offset = ETHERNET + LABEL;
            self.counts.labelled += 1;
        }
    }
}
