//! Messages that arrived together wait below a protocol with very many sessions, so that what each needs is on its way from
//! memory while those before it are processed.

use std::ptr::without_provenance;

use throughline_demux::{Slot, prefetch_at};

use super::{DEVICE, direct, integrated, integrated::Search, layered, layered::Climb};
use crate::{Graph, Layer, Message, Protocol, ProtocolId, Reach, Upper, context::Context};

/// Sessions are looked for in groups of so many messages: the processor waits for their places in the table at the same time.
/// `FlowTable` looks for so many together.
pub(crate) const AT_ONCE: usize = 32;
/// What touches pages that the processor does not know is done for so many messages at a time: it waits for pages, but for
/// several together.
const TOGETHER: usize = 8;
/// How many messages before its turn what a message's session leads to is fetched, so that it is there when what that leads to
/// is asked for. What so few messages need fits into the nearest cache.
const AHEAD: usize = TOGETHER + 4;

/// See the module.
#[derive(Default)]
pub(crate) struct Parked {
    /// A bit for each protocol before which messages wait now.
    before: u64,
    /// Those that have gone on left their places, which are taken away some at a time.
    waiting: Vec<Option<Waiting>>,
    /// The session that was found for each.
    foreseen: Vec<Option<Slot>>,
    /// What is to be fetched next for each: apart, since that is looked at more often than they are.
    ahead: Vec<Ahead>,
    /// The first that still waits.
    next: usize,
    /// How far each step has come.
    begun: usize,
    led: usize,
    placed: usize,
}

struct Waiting {
    way: Way,
    message: Message,
}

/// How a message goes on.
pub(super) enum Way {
    Layered(Climb),
    Direct(ProtocolId),
    Integrated(Search),
}

impl Way {
    /// Whose header is at the front, and the session below.
    fn place(&self) -> (ProtocolId, Layer) {
        match self {
            Self::Layered(climb) => (climb.at, climb.below),
            Self::Direct(bottom) => (*bottom, DEVICE),
            Self::Integrated(search) => (search.at, search.below),
        }
    }
}

/// What is to be fetched next for a message.
#[derive(Clone, Copy)]
enum Ahead {
    /// Where what a session leads to begins.
    Beginning(Layer),
    /// What a session leads to, so many bytes at an address; then its data.
    Parts(Layer, usize, usize),
    /// Where the data of a session is.
    Data(Layer),
    /// The sessions of a path.
    Path(Slot),
    /// The session that a path's user sends by leads somewhere.
    Top(Layer),
    Nothing,
}

impl Parked {
    /// Has messages wait before these protocols, a bit for each.
    pub fn begin(&mut self, before: u64) {
        self.before = before;
    }

    /// Whether messages wait anywhere.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.before != 0
    }

    #[inline]
    pub fn stops_at(&self, protocol: ProtocolId) -> bool {
        self.before >> protocol.0 & 1 == 1
    }
}

/// Has a message wait; when there are enough, those before it go on.
#[inline(always)]
pub(super) fn park(graph: &mut Graph, way: Way, message: Message) {
    let parked = &mut graph.parked;
    parked.waiting.push(Some(Waiting { way, message }));
    let unsought = parked.waiting.len() - parked.ahead.len();
    if unsought == AT_ONCE {
        let are_first = parked.ahead.is_empty();
        seek(graph);
        // The first go on when as many more have come, and what they need with them.
        if !are_first {
            // What the others lead to is asked for when the next of them come.
            go_on(graph, AHEAD + TOGETHER);
        }
    } else if parked.begun < parked.ahead.len() {
        look_ahead(graph, AT_ONCE - unsought);
    }
}

/// Has all go on that wait.
pub(crate) fn resume(graph: &mut Graph) {
    if graph.parked.waiting.is_empty() {
        return;
    }
    seek(graph);
    go_on(graph, 0);
}

/// Looks for the sessions of the messages that came last, and starts to fetch them.
fn seek(graph: &mut Graph) {
    let Graph { protocols, parked: Parked { before, waiting, foreseen, ahead, .. }, .. } = graph;
    let first = ahead.len();
    let sought = &waiting[first..];
    foreseen.resize(waiting.len(), None);
    ahead.resize(waiting.len(), Ahead::Nothing);
    let mut left = *before;
    while left != 0 {
        let id = ProtocolId(left.trailing_zeros() as u8);
        left &= left - 1;
        foresee(&mut *protocols[id.index()], id, sought, &mut foreseen[first..], &mut ahead[first..]);
    }
}

/// The sessions of those that wait before a protocol.
#[inline(always)]
fn foresee(
    protocol: &mut dyn Protocol,
    id: ProtocolId,
    waiting: &[Option<Waiting>],
    foreseen: &mut [Option<Slot>],
    ahead: &mut [Ahead],
) {
    let mut messages: heapless::Vec<(Layer, &Message), AT_ONCE> = heapless::Vec::new();
    let mut places: heapless::Vec<u8, AT_ONCE> = heapless::Vec::new();
    for (place, waiting) in waiting.iter().enumerate() {
        let Some(Waiting { way, message }) = waiting else { continue };
        let (at, below) = way.place();
        // No more wait than are looked for at once.
        if at == id && messages.push((below, message)).is_ok() {
            let _ = places.push(place as u8);
        }
    }
    let mut found = [None; AT_ONCE];
    protocol.foresee(&messages, &mut found);
    for (place, slot) in places.iter().zip(found) {
        let place = usize::from(*place);
        foreseen[place] = slot;
        let session = |session| Ahead::Beginning(Layer { protocol: id, session });
        ahead[place] = slot.map_or(Ahead::Nothing, session);
    }
}

/// Processes those that wait until so many are left.
fn go_on(graph: &mut Graph, left: usize) {
    while graph.parked.waiting.len() - graph.parked.next > left {
        look_ahead(graph, 0);
        let parked = &mut graph.parked;
        let next = parked.next;
        parked.next += 1;
        let (Some(Waiting { way, message }), foreseen) = (parked.waiting[next].take(), parked.foreseen[next])
        else {
            continue;
        };
        // Who goes on waits nowhere else.
        match way {
            Way::Layered(climb) => layered::resume(graph, climb, message, foreseen),
            Way::Direct(bottom) => direct::resume(graph, bottom, message, foreseen),
            Way::Integrated(search) => integrated::resume(graph, search, message, foreseen),
        }
    }
    let parked = &mut graph.parked;
    let gone = std::mem::take(&mut parked.next);
    parked.waiting.drain(..gone);
    parked.foreseen.drain(..gone);
    parked.ahead.drain(..gone);
    for place in [&mut parked.begun, &mut parked.led, &mut parked.placed] {
        *place = place.saturating_sub(gone);
    }
}

/// Takes steps for those that follow the next, or, so many before its turn has come, for those that will.
#[inline(always)]
fn look_ahead(graph: &mut Graph, early: usize) {
    let Graph { protocols, cx, parked, .. } = graph;
    let Parked { ahead, next, begun, led, placed, .. } = parked;
    let reached = |distance: usize| (*next + distance).saturating_sub(early);
    let is_time = next.wrapping_sub(early) % TOGETHER == 0;
    if is_time {
        step(protocols, cx, ahead, begun, reached(AHEAD + TOGETHER));
    }
    step(protocols, cx, ahead, led, reached(AHEAD));
    if is_time {
        step(protocols, cx, ahead, placed, reached(TOGETHER));
    }
}

/// Takes a step for those that it was not taken for, as far as one of them.
#[inline(always)]
fn step(
    protocols: &mut [Box<dyn Protocol>],
    cx: &mut Context,
    ahead: &mut [Ahead],
    done: &mut usize,
    to: usize,
) {
    let to = to.min(ahead.len());
    while *done < to {
        advance(protocols, cx, &mut ahead[*done]);
        *done += 1;
    }
}

/// Starts to fetch what is next, and says what comes after that.
#[inline(always)]
fn advance(protocols: &mut [Box<dyn Protocol>], cx: &mut Context, ahead: &mut Ahead) {
    *ahead = match *ahead {
        Ahead::Nothing => return,
        Ahead::Parts(layer, at, len) => {
            prefetch_at(without_provenance(at), len);
            Ahead::Data(layer)
        }
        Ahead::Data(layer) => {
            protocols[layer.protocol.index()].fetch(layer.session, Reach::Data);
            Ahead::Nothing
        }
        Ahead::Beginning(layer) => begin(protocols, cx, layer),
        Ahead::Path(path) => lead(protocols, cx, path),
        Ahead::Top(layer) => {
            if let Some(lead) = protocols[layer.protocol.index()].fetch(layer.session, Reach::Beginning) {
                prefetch_at(without_provenance(lead.parts), lead.len);
            }
            Ahead::Nothing
        }
    }
}

/// From a session to what it leads to, and to its path.
#[inline]
fn begin(protocols: &mut [Box<dyn Protocol>], cx: &mut Context, layer: Layer) -> Ahead {
    let Some(lead) = protocols[layer.protocol.index()].fetch(layer.session, Reach::Beginning) else {
        return Ahead::Nothing;
    };
    match lead.upper {
        Upper::User(path) => {
            // A protocol that takes messages in needs no more of it.
            cx.paths.prefetch_beginning(path, 128);
            Ahead::Parts(layer, lead.parts, lead.len)
        }
        Upper::Path(path) => {
            cx.paths.prefetch(path);
            Ahead::Path(path)
        }
        _ => Ahead::Nothing,
    }
}

/// From a path to its sessions.
#[inline(never)]
fn lead(protocols: &mut [Box<dyn Protocol>], cx: &mut Context, path: Slot) -> Ahead {
    let Some(path) = cx.path(path) else { return Ahead::Nothing };
    // The lowest one has been fetched.
    for layer in path.layers().skip(1) {
        protocols[layer.protocol.index()].fetch(layer.session, Reach::Session);
    }
    path.top.map_or(Ahead::Nothing, Ahead::Top)
}
