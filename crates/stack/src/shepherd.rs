//! Shepherds: three ways to take a message through the same layers.
//!
//! All begin with a frame and its lowest protocol, and end with the message in the hands of a path's user, or of a protocol
//! that is its own user. They deliver the same messages, whatever comes.

mod direct;
mod integrated;
mod layered;
mod parked;

use throughline_demux::Slot;

pub(crate) use direct::direct;
pub(crate) use integrated::{Trail, integrated};
pub(crate) use layered::layered;
pub(crate) use parked::{AT_ONCE, Parked, resume};

use crate::{Discard, Graph, Layer, Message, PathId, ProtocolId, Upper};

/// What the lowest protocol is given for a session below: the device.
pub(crate) const DEVICE: Layer = Layer { protocol: ProtocolId(u8::MAX), session: Slot(0) };

/// A message whose path is known, and which has not been processed.
pub(crate) struct Pending {
    /// It may be closed meanwhile.
    path: PathId,
    message: Message,
    /// Where its headers begin, if demultiplexing has been done; otherwise the path's sessions confirm it.
    trail: Option<Trail>,
}

/// Processes a message that has waited.
pub(crate) fn run(graph: &mut Graph, pending: Pending) {
    let Pending { path: id, message, trail } = pending;
    let Some(path) = graph.cx.path_of(id) else { return graph.cx.pool.give(message) };
    path.pending -= 1;
    match trail {
        Some(trail) => integrated::process(graph, &trail, id.0.slot, message),
        None => direct::process(graph, id.0.slot, message),
    }
}

/// Puts a message into the run queue, if its receiver has room: before anything is spent on it.
fn wait(graph: &mut Graph, at: ProtocolId, slot: Slot, message: Message, trail: Option<Trail>) {
    let (Some(id), Some(path)) = (graph.cx.paths.handle_at(slot).map(PathId), graph.cx.path(slot)) else {
        return graph.cx.discard(at, Discard::NoPort, message);
    };
    if !path.has_room() && !graph.cx.weed(slot) {
        return graph.cx.discard(at, Discard::QueueFull, message);
    }
    let Some(path) = graph.cx.path(slot) else { return };
    path.pending += 1;
    let (priority, now) = (message.priority, graph.cx.now.total_micros() as u64);
    let Some(queue) = &mut graph.queue else { return };
    if let Err(refused) = queue.push(priority, now, Pending { path: id, message, trail }) {
        if let Some(path) = graph.cx.path_of(refused.path) {
            path.pending -= 1;
        }
        graph.cx.discard(at, Discard::QueueFull, refused.message);
    }
}

/// Hands a message to the user of a path.
#[inline]
fn deliver(graph: &mut Graph, at: ProtocolId, path: Slot, message: Message) {
    if let Err((why, message)) = graph.cx.deliver(path, message) {
        graph.cx.discard(at, why, message);
    }
}

/// Where a message goes from the session of a layer (counted from the bottom), and whether it may: it may not when that is
/// off the path that the lowest layer named, which is remembered.
#[inline]
fn next(graph: &mut Graph, upper: Upper, layer: usize, claimed: &mut Option<Slot>) -> Result<Upper, Discard> {
    match (upper, *claimed) {
        (Upper::Path(slot), _) => {
            *claimed = Some(slot);
            let path = graph.cx.path(slot).ok_or(Discard::UnknownApplication)?;
            Ok(path.layer(layer + 1).map_or(Upper::User(slot), |above| Upper::Protocol(above.protocol)))
        }
        (Upper::User(path), Some(claimed)) if path != claimed => Err(Discard::WrongPath),
        (Upper::Itself, Some(_)) => Err(Discard::WrongPath),
        (upper, _) => Ok(upper),
    }
}
