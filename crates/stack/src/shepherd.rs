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
use parked::{Way, park};

use crate::{Demux, Discard, Graph, Layer, Message, PathId, ProtocolId, Upper, run_queue::Entry};

/// What the lowest protocol is given for a session below: the device.
pub(crate) const DEVICE: Layer = Layer { protocol: ProtocolId(u8::MAX), session: Slot(0) };

/// A message whose path is known, and which has not been processed.
#[derive(Debug)]
pub(crate) struct Pending {
    /// It may be closed meanwhile.
    path: PathId,
    message: Message,
    /// Where its headers begin, if demultiplexing has been done; otherwise the path's sessions confirm it.
    trail: Option<Trail>,
}

impl Pending {
    /// The message, which is not going to be processed.
    pub fn into_message(self) -> Message {
        self.message
    }
}

/// Processes a message that has waited. If a worker has an earlier one of the path, it waits on, and nothing is spent on it.
pub(crate) fn run(graph: &mut Graph, entry: Entry<Pending>) {
    let id = entry.item.path;
    let Some(path) = graph.cx.path_of(id) else { return graph.cx.pool.give(entry.item.message) };
    if path.handled {
        return path.held.push(entry);
    }
    let Pending { message, trail, .. } = entry.item;
    path.pending -= 1;
    match trail {
        Some(trail) => integrated::process(graph, &trail, id.0.slot, message),
        None => direct::process(graph, id.0.slot, message),
    }
}

/// Puts a message that was admitted into the run queue: before anything is spent on it.
fn wait(graph: &mut Graph, at: ProtocolId, slot: Slot, mut message: Message, trail: Option<Trail>) {
    let now = graph.cx.micros();
    let (Some(id), Some(path)) = (graph.cx.paths.handle_at(slot).map(PathId), graph.cx.path(slot)) else {
        return graph.cx.discard(at, Discard::NoPort, message);
    };
    let Some(queue) = &mut graph.queue else { return };
    if path.priority != 0 {
        message.priority = path.priority;
    }
    let rank = queue.rank(message.priority, now);
    path.rank = if path.pending > 0 { rank.min(path.rank) } else { rank };
    path.pending += 1;
    if let Err(refused) = queue.insert(path.rank, Pending { path: id, message, trail }) {
        if let Some(path) = graph.cx.path_of(refused.path) {
            path.pending -= 1;
            graph.cx.refund(refused.path.0.slot);
        }
        graph.cx.discard(at, Discard::QueueFull, refused.message);
    }
}

/// Hands a message that was admitted to the user of a path.
#[inline]
fn deliver(graph: &mut Graph, at: ProtocolId, path: Slot, message: Message) {
    if let Err(message) = graph.cx.deliver(path, message) {
        graph.cx.discard(at, Discard::NoPort, message);
    }
}

/// Who has a message; `foreseen`, most likely, if that is known.
#[inline(always)]
fn demux(
    graph: &mut Graph,
    at: ProtocolId,
    below: Layer,
    message: &mut Message,
    foreseen: Option<Slot>,
) -> Result<Demux, Discard> {
    let protocol = &mut graph.protocols[at.index()];
    match foreseen {
        Some(session) => protocol.demux_foreseen(below, message, session),
        None => protocol.demux(below, message),
    }
}

/// Where a message goes from a session at a height (counted from the bottom), and whether it may: it may not when that is
/// off the path that the lowest layer named, which is remembered.
#[inline]
fn next(
    graph: &mut Graph,
    session: Layer,
    upper: Upper,
    height: usize,
    claimed: &mut Option<Slot>,
) -> Result<Upper, Discard> {
    match (upper, *claimed) {
        (Upper::Path(slot), _) => {
            *claimed = Some(slot);
            let path = graph.cx.path(slot).ok_or(Discard::UnknownApplication)?;
            Ok(path.layer(height + 1).map_or(Upper::User(slot), |above| Upper::Protocol(above.protocol)))
        }
        (Upper::User(path), Some(claimed)) if path != claimed => Err(Discard::WrongPath),
        (Upper::Itself, Some(_)) => Err(Discard::WrongPath),
        (Upper::AfterPop, Some(claimed)) => of_path(graph, session, height, claimed),
        (upper, _) => Ok(upper),
    }
}

/// A part of a message is kept with parts of the same path only, as far as its sessions are known.
#[cold]
fn of_path(graph: &mut Graph, session: Layer, height: usize, claimed: Slot) -> Result<Upper, Discard> {
    let own = graph.cx.path(claimed).and_then(|path| path.layer(height));
    if own.is_none_or(|own| own == session) { Ok(Upper::AfterPop) } else { Err(Discard::WrongPath) }
}
