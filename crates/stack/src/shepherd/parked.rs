//! Messages that arrived together wait below a protocol with very many sessions, so that what each needs is on its way from
//! memory while those before it are processed.

use std::collections::VecDeque;
use std::mem;

use throughline_demux::Slot;

use super::{DEVICE, direct, integrated::Search, layered::Climb};
use crate::{Graph, Layer, Message, Protocol, ProtocolId, Reach, Upper, context::Context};

/// Sessions are looked for in groups of so many messages: the processor waits for their places in the table at the same time.
pub(crate) const AT_ONCE: usize = 8;
/// What a session leads to is asked for in so many steps, the last of them just before the message before is processed: that
/// takes longer than memory does, and what so few messages need fits into the nearest cache.
const STEPS: usize = 4;

/// See the module.
#[derive(Default)]
pub(crate) struct Parked {
    /// A bit for each protocol before which messages wait now.
    before: u64,
    waiting: VecDeque<Waiting>,
    /// How many of those that came last have not been looked for.
    unsought: usize,
}

struct Waiting {
    way: Way,
    message: Message,
    ahead: Ahead,
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
    /// What a session leads to.
    Session(Layer),
    /// The sessions of a path.
    Path(Slot),
    /// Where the data of a session is.
    Data(Layer),
    Nothing,
}

impl Parked {
    /// Has messages wait before these protocols, a bit for each.
    pub fn begin(&mut self, before: u64) {
        self.before = before;
    }

    #[inline]
    pub fn stops_at(&self, protocol: ProtocolId) -> bool {
        self.before >> protocol.0 & 1 == 1
    }
}

/// Has a message wait; when there are enough, those before it go on.
pub(super) fn park(graph: &mut Graph, way: Way, message: Message) {
    graph.parked.waiting.push_back(Waiting { way, message, ahead: Ahead::Nothing });
    graph.parked.unsought += 1;
    if graph.parked.unsought == AT_ONCE {
        seek(graph);
        while graph.parked.waiting.len() > AT_ONCE {
            go_on(graph);
        }
    }
}

/// Has all go on that wait.
pub(crate) fn resume(graph: &mut Graph) {
    if graph.parked.unsought > 0 {
        seek(graph);
    }
    while !graph.parked.waiting.is_empty() {
        go_on(graph);
    }
}

/// Looks for the sessions of the messages that came last, and starts to fetch them.
fn seek(graph: &mut Graph) {
    let Graph { protocols, parked: Parked { before, waiting, unsought }, .. } = graph;
    let first = waiting.len() - mem::take(unsought);
    let mut left = *before;
    while left != 0 {
        let id = ProtocolId(left.trailing_zeros() as u8);
        left &= left - 1;
        let messages = waiting.range(first..).map(|waiting| (waiting.way.place(), &waiting.message));
        let mut messages =
            messages.filter(|((at, _), _)| *at == id).map(|((_, below), message)| (below, message));
        let mut found = [None; AT_ONCE];
        protocols[id.index()].foresee(&mut messages, &mut found);
        let here = waiting.range_mut(first..).filter(|waiting| waiting.way.place().0 == id);
        for (waiting, slot) in here.zip(found) {
            let session = |session| Ahead::Session(Layer { protocol: id, session });
            waiting.ahead = slot.map_or(Ahead::Nothing, session);
        }
    }
}

/// Processes the first that waits, after a step for those that follow soon.
fn go_on(graph: &mut Graph) {
    let Graph { protocols, cx, parked, .. } = graph;
    for place in 1..=STEPS {
        match parked.waiting.get_mut(place) {
            Some(waiting) => waiting.ahead = advance(protocols, cx, waiting.ahead),
            None => break,
        }
    }
    let Some(Waiting { way, message, .. }) = graph.parked.waiting.pop_front() else { return };
    // Who goes on waits nowhere else.
    let before = mem::take(&mut graph.parked.before);
    match way {
        Way::Layered(climb) => super::layered::climb(graph, climb, message),
        Way::Direct(bottom) => direct(graph, bottom, message),
        Way::Integrated(search) => super::integrated::search(graph, search, message),
    }
    graph.parked.before = before;
}

/// Starts to fetch what is next, and says what comes after that.
#[inline]
fn advance(protocols: &mut [Box<dyn Protocol>], cx: &mut Context, ahead: Ahead) -> Ahead {
    match ahead {
        Ahead::Nothing => Ahead::Nothing,
        Ahead::Session(layer) => {
            let upper = protocols[layer.protocol.index()].fetch(layer.session, Reach::Parts);
            let Some(Upper::User(path) | Upper::Path(path)) = upper else { return Ahead::Nothing };
            cx.paths.prefetch(path);
            if upper == Some(Upper::Path(path)) { Ahead::Path(path) } else { Ahead::Data(layer) }
        }
        Ahead::Data(layer) => {
            protocols[layer.protocol.index()].fetch(layer.session, Reach::Data);
            Ahead::Nothing
        }
        Ahead::Path(slot) => {
            let Some(path) = cx.path(slot) else { return Ahead::Nothing };
            // The lowest one has been fetched.
            for layer in path.layers().skip(1) {
                protocols[layer.protocol.index()].fetch(layer.session, Reach::Session);
            }
            path.top.map_or(Ahead::Nothing, Ahead::Session)
        }
    }
}
