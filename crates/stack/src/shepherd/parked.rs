//! Messages that arrived together wait below a protocol with very many sessions, so that what each needs is on its way from
//! memory while those before it are processed.

use throughline_demux::Slot;

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
    /// The first that still waits.
    next: usize,
    /// How far each step has come.
    begun: usize,
    led: usize,
    placed: usize,
    /// Those from here on have not been looked for.
    unsought: usize,
}

struct Waiting {
    way: Way,
    message: Message,
    /// The session that was found for it.
    foreseen: Option<Slot>,
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
    /// Where what a session leads to begins.
    Beginning(Layer),
    /// What a session leads to.
    Parts(Layer),
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
    parked.waiting.push(Some(Waiting { way, message, foreseen: None, ahead: Ahead::Nothing }));
    if parked.waiting.len() - parked.unsought == AT_ONCE {
        seek(graph);
        // What the others lead to is asked for when the next of them come.
        go_on(graph, AHEAD + TOGETHER);
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
    let Graph { protocols, parked: Parked { before, waiting, unsought, .. }, .. } = graph;
    let sought = &mut waiting[*unsought..];
    let mut left = *before;
    while left != 0 {
        let id = ProtocolId(left.trailing_zeros() as u8);
        left &= left - 1;
        let found = foresee(&mut *protocols[id.index()], id, sought);
        let here = sought.iter_mut().flatten().filter(|waiting| waiting.way.place().0 == id);
        for (waiting, slot) in here.zip(found) {
            let session = |session| Ahead::Beginning(Layer { protocol: id, session });
            waiting.foreseen = slot;
            waiting.ahead = slot.map_or(Ahead::Nothing, session);
        }
    }
    *unsought = waiting.len();
}

/// The sessions of those that wait before a protocol.
#[inline(always)]
fn foresee(
    protocol: &mut dyn Protocol,
    id: ProtocolId,
    waiting: &[Option<Waiting>],
) -> [Option<Slot>; AT_ONCE] {
    let messages = waiting.iter().flatten().filter_map(|waiting| {
        let (at, below) = waiting.way.place();
        (at == id).then_some((below, &waiting.message))
    });
    let messages: heapless::Vec<(Layer, &Message), AT_ONCE> = messages.take(AT_ONCE).collect();
    let mut found = [None; AT_ONCE];
    protocol.foresee(&messages, &mut found);
    found
}

/// Processes those that wait until so many are left.
fn go_on(graph: &mut Graph, left: usize) {
    while graph.parked.waiting.len() - graph.parked.next > left {
        look_ahead(graph);
        let next = graph.parked.next;
        graph.parked.next += 1;
        let Some(Waiting { way, message, foreseen, .. }) = graph.parked.waiting[next].take() else {
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
    for place in [&mut parked.begun, &mut parked.led, &mut parked.placed, &mut parked.unsought] {
        *place = place.saturating_sub(gone);
    }
}

/// Takes steps for those that follow the next.
#[inline(always)]
fn look_ahead(graph: &mut Graph) {
    let Graph { protocols, cx, parked, .. } = graph;
    let Parked { waiting, next, begun, led, placed, .. } = parked;
    let mut step = |done: &mut usize, to: usize| {
        let to = to.min(waiting.len());
        for waiting in waiting.get_mut(*done..to).into_iter().flatten().flatten() {
            waiting.ahead = advance(protocols, cx, waiting.ahead);
        }
        *done = to.max(*done);
    };
    let is_time = *placed <= *next;
    if is_time {
        step(begun, *next + AHEAD + TOGETHER);
    }
    step(led, *next + AHEAD);
    if is_time {
        step(placed, *next + TOGETHER);
    }
}

/// Starts to fetch what is next, and says what comes after that.
#[inline]
fn advance(protocols: &mut [Box<dyn Protocol>], cx: &mut Context, ahead: Ahead) -> Ahead {
    match ahead {
        Ahead::Nothing => Ahead::Nothing,
        Ahead::Beginning(layer) => {
            match protocols[layer.protocol.index()].fetch(layer.session, Reach::Beginning) {
                Some(Upper::User(path)) => {
                    // A protocol that takes messages in needs no more of it.
                    cx.paths.prefetch_beginning(path, 128);
                    Ahead::Parts(layer)
                }
                Some(Upper::Path(path)) => {
                    cx.paths.prefetch(path);
                    Ahead::Path(path)
                }
                _ => Ahead::Nothing,
            }
        }
        Ahead::Parts(layer) => {
            protocols[layer.protocol.index()].fetch(layer.session, Reach::Parts);
            Ahead::Data(layer)
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
            path.top.map_or(Ahead::Nothing, Ahead::Parts)
        }
    }
}
