//! Direct: the lowest layer's header names the path.

use throughline_demux::Slot;

use super::{DEVICE, deliver, layered, wait};
use crate::{Demux, Graph, Message, Pop, ProtocolId, Upper, path::MAX_LAYERS};

/// Takes a frame that names its path to it.
pub(crate) fn direct(graph: &mut Graph, bottom: ProtocolId, mut message: Message) {
    let whole = message.marks();
    match graph.protocols[bottom.index()].demux(DEVICE, &mut message) {
        Ok(Demux::Found(_, Upper::Path(path))) if graph.queue.is_some() => {
            wait(graph, bottom, path, message, None)
        }
        Ok(Demux::Found(_, Upper::Path(path))) => process(graph, path, message),
        Ok(_) => {
            message.restore(whole);
            layered(graph, bottom, message);
        }
        Err(why) => graph.cx.discard(bottom, why, message),
    }
}

/// Takes a message through the sessions of its path, which confirm that it is theirs.
pub(super) fn process(graph: &mut Graph, slot: Slot, mut message: Message) {
    // The lowest session has had its turn.
    let mut at = ProtocolId(0);
    for index in 1..MAX_LAYERS {
        let Some(layer) = graph.cx.path(slot).and_then(|path| path.layer(index)) else { break };
        let header = message.position();
        at = layer.protocol;
        if let Err(why) = graph.protocols[at.index()].check(layer.session, &mut message) {
            return graph.cx.discard(at, why, message);
        }
        if graph.is_stateless(at) {
            continue;
        }
        match graph.with(at, |protocol, lower| protocol.pop(layer.session, header, &mut message, lower)) {
            Ok(Pop::Up | Pop::Exchanged(_)) => {}
            Ok(Pop::Consumed) => return graph.cx.pool.give(message),
            Err(why) => return graph.cx.discard(at, why, message),
        }
    }
    deliver(graph, at, slot, message);
}
