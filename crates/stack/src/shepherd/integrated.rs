//! Integrated: first all demultiplexing, then all changes of state.

use throughline_demux::Slot;

use super::{DEVICE, deliver, layered, next, wait};
use crate::{Demux, Discard, Graph, Layer, Marks, Message, Pop, ProtocolId, Upper, path::MAX_LAYERS};

/// The sessions whose state a message changes, bottom to top, and where each has its header.
///
/// Protocols without state to change are not in it: they cost nothing in the second phase.
#[derive(Debug)]
pub(crate) struct Trail {
    layers: heapless::Vec<Passed, MAX_LAYERS>,
    /// Where the user's data begins.
    data: u32,
}

#[derive(Debug)]
struct Passed {
    layer: Layer,
    header: u32,
    body: u32,
}

/// Takes a frame through the layers above `bottom`.
pub(crate) fn integrated(graph: &mut Graph, bottom: ProtocolId, mut message: Message) {
    let whole = message.marks();
    let mut trail = Trail { layers: heapless::Vec::new(), data: 0 };
    let (mut at, mut below, mut claimed, mut height) = (bottom, DEVICE, None, 0);
    loop {
        let header = message.position();
        let (session, upper) = match graph.protocols[at.index()].demux(below, &mut message) {
            Ok(Demux::Found(session, upper)) => (session, upper),
            // A session is to be made, which needs those below to have agreed. Nothing has changed so far.
            Ok(Demux::Passive) => return again(graph, bottom, whole, message),
            // So must those below have done before this header counts: they may discard the message for another reason.
            Err(_) if !trail.layers.is_empty() => return again(graph, bottom, whole, message),
            Err(why) => return graph.cx.discard(at, why, message),
        };
        let upper = match next(graph, upper, height, &mut claimed) {
            Ok(upper) => upper,
            Err(_) if !trail.layers.is_empty() => return again(graph, bottom, whole, message),
            Err(why) => return graph.cx.discard(at, why, message),
        };
        below = Layer { protocol: at, session };
        height += 1;
        if !graph.is_stateless(at) {
            let (header, body) = (header as u32, message.position() as u32);
            // No graph is higher.
            let _ = trail.layers.push(Passed { layer: below, header, body });
        }
        match upper {
            Upper::Protocol(next) => at = next,
            Upper::User(path) => {
                let admitted = if graph.cx.is_open(path) {
                    Ok(())
                } else if graph.cx.path(path).is_some_and(|path| path.is_complete()) {
                    graph.cx.admit(path)
                } else {
                    // Its first message was bad: its sessions are not known.
                    return again(graph, bottom, whole, message);
                };
                if let Err(why) = admitted {
                    return graph.cx.discard(at, why, message);
                }
                trail.data = message.position() as u32;
                return match graph.queue {
                    Some(_) => wait(graph, at, path, message, Some(trail)),
                    None => process(graph, &trail, path, message),
                };
            }
            // The boundary between headers and data is not known: a fragment, or a protocol that is its own user.
            Upper::AfterPop | Upper::Itself | Upper::Path(_) => {
                return again(graph, bottom, whole, message);
            }
        }
    }
}

/// The layered way, from the beginning.
#[cold]
fn again(graph: &mut Graph, bottom: ProtocolId, whole: Marks, mut message: Message) {
    message.restore(whole);
    layered(graph, bottom, message);
}

/// Discards a message that was admitted. Only what the highest protocol refuses has cost its path anything.
#[cold]
fn refuse(graph: &mut Graph, at: ProtocolId, slot: Slot, why: Discard, message: Message) {
    let top = graph.cx.path(slot).and_then(|path| path.top);
    if top.is_none_or(|top| top.protocol != at) {
        graph.cx.refund(slot);
    }
    graph.cx.discard(at, why, message);
}

/// The second phase: changes the state of the sessions in turn.
#[inline(always)]
pub(super) fn process(graph: &mut Graph, trail: &Trail, path: Slot, mut message: Message) {
    let mut at = ProtocolId(0);
    for Passed { layer, header, body } in &trail.layers {
        message.seek(*body as usize);
        at = layer.protocol;
        match graph
            .with(at, |protocol, lower| protocol.pop(layer.session, *header as usize, &mut message, lower))
        {
            Ok(Pop::Up) => {}
            Ok(Pop::Consumed | Pop::Exchanged(_)) => return graph.cx.pool.give(message),
            Err(why) => return refuse(graph, at, path, why, message),
        }
    }
    message.seek(trail.data as usize);
    deliver(graph, at, path, message);
}
