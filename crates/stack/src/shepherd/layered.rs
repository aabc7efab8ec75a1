//! Layered: demultiplex, change state, demultiplex, change state.
//!
//! This is also how the other two treat messages that nobody has a path for yet, and fragments: only here are sessions made.

use throughline_demux::Slot;

use super::{DEVICE, Way, deliver, demux, next, park};
use crate::{Demux, Discard, Graph, Layer, Message, Pop, ProtocolId, Upper, path::MAX_LAYERS};

/// The sessions that a message has gone through, bottom to top.
type Passed = heapless::Vec<Layer, MAX_LAYERS>;

/// How far a message has come.
pub(super) struct Climb {
    /// Whose header is at its front.
    pub at: ProtocolId,
    /// The session it came from.
    pub below: Layer,
    passed: Passed,
    /// The path that the lowest layer named.
    claimed: Option<Slot>,
}

/// Takes a frame through the layers above `bottom`. Only one that `WAITS` stops where others wait.
pub(crate) fn layered<const WAITS: bool>(graph: &mut Graph, bottom: ProtocolId, message: Message) {
    let climb = Climb { at: bottom, below: DEVICE, passed: Passed::new(), claimed: None };
    if WAITS && graph.parked.stops_at(bottom) {
        return stop(graph, climb, message);
    }
    self::climb::<WAITS>(graph, climb, message, None);
}

/// Takes a message that has waited through the layers that are left; its session was `foreseen`, if there is one.
#[inline(never)]
pub(super) fn resume(graph: &mut Graph, climb: Climb, message: Message, foreseen: Option<Slot>) {
    self::climb::<false>(graph, climb, message, foreseen);
}

/// Has a message wait where it is. Apart, so that those that do not wait are not moved about.
#[inline(never)]
fn stop(graph: &mut Graph, climb: Climb, message: Message) {
    park(graph, Way::Layered(climb), message);
}

/// Takes a message through the layers that are left.
#[inline(always)]
fn climb<const WAITS: bool>(
    graph: &mut Graph,
    mut climb: Climb,
    mut message: Message,
    mut foreseen: Option<Slot>,
) {
    loop {
        let (at, header) = (climb.at, message.position());
        let (session, upper) = match find(graph, &climb, &mut message, foreseen.take()) {
            Ok(Demux::Found(session, upper)) => (session, upper),
            Ok(Demux::Passive) => return graph.cx.discard(at, Discard::Sessions, message),
            Err(why) => return graph.cx.discard(at, why, message),
        };
        climb.below = Layer { protocol: at, session };
        let upper = match next(graph, climb.below, upper, climb.passed.len(), &mut climb.claimed) {
            Ok(upper) => upper,
            Err(why) => return graph.cx.discard(at, why, message),
        };
        // No graph is higher.
        let _ = climb.passed.push(climb.below);
        if let Upper::User(path) = upper
            && let Err(why) = admit(graph, path, &climb.passed)
        {
            return graph.cx.discard(at, why, message);
        }
        match pop(graph, at, session, header, &mut message, upper) {
            Ok(Some(Upper::Protocol(next))) => climb.at = next,
            Ok(Some(Upper::User(path))) => {
                // Complete only now, and not asked for yet.
                if upper == Upper::AfterPop
                    && let Err(why) = admit(graph, path, &climb.passed)
                {
                    return graph.cx.discard(at, why, message);
                }
                return deliver(graph, at, path, message);
            }
            Ok(_) => return graph.cx.pool.give(message),
            Err(why) => return graph.cx.discard(at, why, message),
        }
        if WAITS && graph.parked.stops_at(climb.at) {
            return stop(graph, climb, message);
        }
    }
}

/// The session of a message, made if need be.
#[inline]
fn find(
    graph: &mut Graph,
    climb: &Climb,
    message: &mut Message,
    foreseen: Option<Slot>,
) -> Result<Demux, Discard> {
    let found = demux(graph, climb.at, climb.below, message, foreseen)?;
    if found == Demux::Passive {
        accept(graph, climb.at, climb.below, message, climb.claimed)
    } else {
        Ok(found)
    }
}

/// Has a session made, and finds it.
#[cold]
fn accept(
    graph: &mut Graph,
    at: ProtocolId,
    below: Layer,
    message: &mut Message,
    claimed: Option<Slot>,
) -> Result<Demux, Discard> {
    if claimed.is_some() {
        return Err(Discard::WrongPath);
    }
    let mut accepted = graph.with(at, |protocol, lower| protocol.accept(below, message, lower));
    if accepted == Err(Discard::Sessions)
        && let Some(unused) = graph.cx.unused_path(at)
    {
        graph.close(unused);
        accepted = graph.with(at, |protocol, lower| protocol.accept(below, message, lower));
    }
    accepted?;
    graph.protocols[at.index()].demux(below, message)
}

/// Changes a session's state; says where the message goes, or that it is used up.
#[inline]
fn pop(
    graph: &mut Graph,
    at: ProtocolId,
    session: Slot,
    header: usize,
    message: &mut Message,
    upper: Upper,
) -> Result<Option<Upper>, Discard> {
    if graph.is_stateless(at) {
        return Ok(Some(upper));
    }
    Ok(match graph.with(at, |protocol, lower| protocol.pop(session, header, message, lower))? {
        Pop::Up => Some(upper),
        Pop::Exchanged(upper) => Some(upper),
        Pop::Consumed => None,
    })
}

/// Asks whether there is room for a message; tells a path made just now which sessions it has.
#[inline]
fn admit(graph: &mut Graph, slot: Slot, passed: &Passed) -> Result<(), Discard> {
    if graph.cx.path(slot).is_some_and(|path| !path.is_complete()) {
        graph.set_layers(slot, passed.iter().copied());
    }
    graph.cx.admit(slot)
}
