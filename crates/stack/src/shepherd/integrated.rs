//! Integrated: first all demultiplexing, then all changes of state.

use throughline_demux::Slot;

use super::{DEVICE, agrees, deliver, layered, process_or_wait};
use crate::{Demux, Discard, Graph, Layer, Marks, Message, Pop, ProtocolId, Upper, path::MAX_LAYERS};

/// The sessions whose state a message changes, bottom to top, and where each has its header.
///
/// Protocols without state to change are not in it: they cost nothing in the second phase.
pub(crate) struct Trail {
    layers: [(Layer, u32, u32); MAX_LAYERS],
    len: usize,
    /// Where the user's data begins.
    data: u32,
}

impl Trail {
    #[inline]
    fn push(&mut self, layer: Layer, header: usize, body: usize) {
        self.layers[self.len] = (layer, header as u32, body as u32);
        self.len += 1;
    }
}

/// Takes a frame through the layers above `bottom`.
pub(crate) fn integrated(graph: &mut Graph, bottom: ProtocolId, mut message: Message) {
    let whole = message.marks();
    let mut trail = Trail { layers: [(DEVICE, 0, 0); MAX_LAYERS], len: 0, data: 0 };
    let (mut at, mut below, mut claimed) = (bottom, DEVICE, None);
    loop {
        let header = message.position();
        let (session, upper) = match graph.protocols[at.index()].demux(below, &mut message) {
            Ok(Demux::Found(session, upper)) => (session, upper),
            Ok(Demux::Path(session, upper, path)) => {
                claimed = Some(path);
                (session, upper)
            }
            // A session is to be made, which needs those below to have agreed. Nothing has changed so far.
            Ok(Demux::Passive) => return again(graph, bottom, whole, message),
            // So must those below have done before this header counts: they may discard the message for another reason.
            Err(_) if trail.len > 0 => return again(graph, bottom, whole, message),
            Err(why) => return graph.cx.discard(at, why, message),
        };
        below = Layer { protocol: at, session };
        if !agrees(upper, claimed) {
            return graph.cx.discard(at, Discard::WrongPath, message);
        }
        if !graph.is_stateless(at) {
            trail.push(below, header, message.position());
        }
        match upper {
            Upper::Protocol(next) => at = next,
            Upper::User(path) if graph.cx.path(path).is_some_and(|path| path.is_complete()) => {
                trail.data = message.position() as u32;
                return process_or_wait(graph, at, path, message, Some(trail));
            }
            // The boundary between headers and data is not known: a fragment, a path whose first message was bad, or a
            // protocol that is its own user.
            Upper::User(_) | Upper::AfterPop | Upper::Itself => return again(graph, bottom, whole, message),
        }
    }
}

/// The layered way, from the beginning.
#[cold]
fn again(graph: &mut Graph, bottom: ProtocolId, whole: Marks, mut message: Message) {
    message.restore(whole);
    layered(graph, bottom, message);
}

/// The second phase: changes the state of the sessions in turn.
pub(super) fn process(graph: &mut Graph, trail: Trail, path: Slot, mut message: Message) {
    let mut at = ProtocolId(0);
    for (layer, header, body) in &trail.layers[..trail.len] {
        message.seek(*body as usize);
        at = layer.protocol;
        match graph
            .with(at, |protocol, lower| protocol.pop(layer.session, *header as usize, &mut message, lower))
        {
            Ok(Pop::Up) => {}
            Ok(Pop::Consumed | Pop::Exchanged(_)) => return graph.cx.pool.give(message),
            Err(why) => return graph.cx.discard(at, why, message),
        }
    }
    message.seek(trail.data as usize);
    deliver(graph, at, path, message);
}
