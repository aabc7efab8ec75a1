//! Integrated: first all demultiplexing, then all changes of state.

use throughline_demux::Slot;

use super::{DEVICE, Way, deliver, demux, layered, next, park, wait};
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

/// How far the first phase has come.
pub(super) struct Search {
    bottom: ProtocolId,
    whole: Marks,
    /// Whose header is at the front.
    pub at: ProtocolId,
    /// The session it came from.
    pub below: Layer,
    /// Sessions found.
    height: usize,
    /// The path that the lowest layer named.
    claimed: Option<Slot>,
    trail: Trail,
}

/// Takes a frame through the layers above `bottom`. Only one that `WAITS` stops where others wait.
pub(crate) fn integrated<const WAITS: bool>(graph: &mut Graph, bottom: ProtocolId, message: Message) {
    let trail = Trail { layers: heapless::Vec::new(), data: 0 };
    let whole = message.marks();
    let search = Search { bottom, whole, at: bottom, below: DEVICE, height: 0, claimed: None, trail };
    if WAITS && graph.parked.stops_at(bottom) {
        return stop(graph, search, message);
    }
    self::search::<WAITS>(graph, search, message, None);
}

/// Takes a message that has waited through the layers that are left; its session was `foreseen`, if there is one.
#[inline(never)]
pub(super) fn resume(graph: &mut Graph, search: Search, message: Message, foreseen: Option<Slot>) {
    self::search::<false>(graph, search, message, foreseen);
}

/// Has a message wait where it is. Apart, so that those that do not wait are not moved about.
#[inline(never)]
fn stop(graph: &mut Graph, search: Search, message: Message) {
    park(graph, Way::Integrated(search), message);
}

/// The first phase, or what is left of it.
#[inline(always)]
fn search<const WAITS: bool>(
    graph: &mut Graph,
    search: Search,
    mut message: Message,
    mut foreseen: Option<Slot>,
) {
    let Search { bottom, whole, mut at, mut below, mut height, mut claimed, mut trail } = search;
    loop {
        let header = message.position();
        let (session, upper) = match demux(graph, at, below, &mut message, foreseen.take()) {
            Ok(Demux::Found(session, upper)) => (session, upper),
            // A session is to be made, which needs those below to have agreed. Nothing has changed so far.
            Ok(Demux::Passive) => return again::<WAITS>(graph, bottom, whole, message),
            // So must those below have done before this header counts: they may discard the message for another reason.
            Err(_) if !trail.layers.is_empty() => return again::<WAITS>(graph, bottom, whole, message),
            Err(why) => return graph.cx.discard(at, why, message),
        };
        below = Layer { protocol: at, session };
        let upper = match next(graph, below, upper, height, &mut claimed) {
            Ok(upper) => upper,
            Err(_) if !trail.layers.is_empty() => return again::<WAITS>(graph, bottom, whole, message),
            Err(why) => return graph.cx.discard(at, why, message),
        };
        height += 1;
        if !graph.is_stateless(at) {
            let (header, body) = (header as u32, message.position() as u32);
            // No graph is higher.
            let _ = trail.layers.push(Passed { layer: below, header, body });
        }
        match upper {
            Upper::Protocol(next) => {
                at = next;
                if WAITS && graph.parked.stops_at(at) {
                    return stop(graph, Search { bottom, whole, at, below, height, claimed, trail }, message);
                }
            }
            Upper::User(path) => {
                let admitted = if graph.cx.is_open(path) {
                    Ok(())
                } else if graph.cx.path(path).is_some_and(|path| path.is_complete()) {
                    graph.cx.admit(path)
                } else {
                    // Its first message was bad: its sessions are not known.
                    return again::<WAITS>(graph, bottom, whole, message);
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
                return again::<WAITS>(graph, bottom, whole, message);
            }
        }
    }
}

/// The layered way, from the beginning.
#[cold]
fn again<const WAITS: bool>(graph: &mut Graph, bottom: ProtocolId, whole: Marks, mut message: Message) {
    message.restore(whole);
    layered::<WAITS>(graph, bottom, message);
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
