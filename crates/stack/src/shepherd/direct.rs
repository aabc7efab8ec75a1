//! Direct: the lowest layer's header names the path.

use throughline_demux::Slot;

use super::{DEVICE, Way, deliver, demux, layered, park, wait};
use crate::{Demux, Discard, Graph, Layer, Message, Pop, ProtocolId, Upper, path::MAX_LAYERS};

/// Takes a frame that names its path to it. Only one that `WAITS` stops where others wait.
pub(crate) fn direct<const WAITS: bool>(graph: &mut Graph, bottom: ProtocolId, message: Message) {
    if WAITS && graph.parked.stops_at(bottom) {
        return stop(graph, bottom, message);
    }
    follow::<WAITS>(graph, bottom, message, None);
}

/// Takes a frame that has waited to its path; its lowest session was `foreseen`, if there is one.
#[inline(never)]
pub(super) fn resume(graph: &mut Graph, bottom: ProtocolId, message: Message, foreseen: Option<Slot>) {
    follow::<false>(graph, bottom, message, foreseen);
}

#[inline(always)]
fn follow<const WAITS: bool>(
    graph: &mut Graph,
    bottom: ProtocolId,
    mut message: Message,
    foreseen: Option<Slot>,
) {
    let whole = message.marks();
    match demux(graph, bottom, DEVICE, &mut message, foreseen) {
        Ok(Demux::Found(_, Upper::Path(path))) if graph.cx.is_open(path) => go(graph, bottom, path, message),
        Ok(Demux::Found(_, Upper::Path(path))) if !is_fragment(graph, path, &mut message) => {
            match graph.cx.admit(path) {
                Ok(()) => go(graph, bottom, path, message),
                Err(why) => graph.cx.discard(bottom, why, message),
            }
        }
        Ok(_) => {
            message.restore(whole);
            layered::<WAITS>(graph, bottom, message);
        }
        Err(why) => graph.cx.discard(bottom, why, message),
    }
}

/// Has a frame wait where it is. Apart, so that those that do not wait are not moved about.
#[inline(never)]
fn stop(graph: &mut Graph, bottom: ProtocolId, message: Message) {
    park(graph, Way::Direct(bottom), message);
}

/// A message that was admitted waits, or does not.
#[inline]
fn go(graph: &mut Graph, bottom: ProtocolId, path: Slot, message: Message) {
    match graph.queue {
        Some(_) => wait(graph, bottom, path, message, None),
        None => process(graph, path, message),
    }
}

/// Whether a message is a part of one, which alone counts. Asked where it matters: without room, or with a rate.
#[cold]
fn is_fragment(graph: &mut Graph, slot: Slot, message: &mut Message) -> bool {
    let marks = message.marks();
    let mut is_fragment = false;
    // The lowest session has had its turn.
    for index in 1..MAX_LAYERS {
        let Some(layer) = layer(graph, slot, index) else { break };
        let checked = graph.protocols[layer.protocol.index()].check(layer.session, message);
        is_fragment = checked == Ok(Upper::AfterPop);
        if is_fragment || checked.is_err() {
            break;
        }
    }
    message.restore(marks);
    is_fragment
}

/// The session of a path at a layer, counted from the bottom.
#[inline]
fn layer(graph: &mut Graph, slot: Slot, index: usize) -> Option<Layer> {
    graph.cx.path(slot)?.layer(index)
}

/// Takes a message that was admitted through the sessions of its path, which confirm that it is theirs.
pub(super) fn process(graph: &mut Graph, slot: Slot, mut message: Message) {
    // The lowest session has had its turn.
    let mut at = ProtocolId(0);
    for index in 1..MAX_LAYERS {
        let Some(layer) = layer(graph, slot, index) else { break };
        let header = message.position();
        at = layer.protocol;
        if let Err(why) = graph.protocols[at.index()].check(layer.session, &mut message) {
            return refuse(graph, at, Some(slot), why, message);
        }
        if graph.is_stateless(at) {
            continue;
        }
        match graph.with(at, |protocol, lower| protocol.pop(layer.session, header, &mut message, lower)) {
            Ok(Pop::Up | Pop::Exchanged(_)) => {}
            Ok(Pop::Consumed) => return graph.cx.pool.give(message),
            Err(why) => {
                // What the highest protocol refuses has cost the path something.
                let is_highest = self::layer(graph, slot, index + 1).is_none();
                return refuse(graph, at, (!is_highest).then_some(slot), why, message);
            }
        }
    }
    deliver(graph, at, slot, message);
}

/// Discards a message; a path that was charged for it gets that back.
#[cold]
fn refuse(graph: &mut Graph, at: ProtocolId, owed: Option<Slot>, why: Discard, message: Message) {
    if let Some(slot) = owed {
        graph.cx.refund(slot);
    }
    graph.cx.discard(at, why, message);
}
