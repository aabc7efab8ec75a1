//! The calls under way on one pipe: which reply is whose.
//!
//! A request's sequence number is the place of its call in this table, with a generation, so that a reply finds its call by
//! an index, and one that comes too late finds none.

use std::task::Waker;
use std::time::Instant;

use throughline_cdr::Reader;
use throughline_vi::SMALL_MESSAGE;
use throughline_wire::{Kind, Message};

use crate::native::Body;

/// Places that a sequence number can tell apart; the rest of its bits are the generation.
const INDEX_BITS: u32 = 20;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;

/// No place.
const NONE: u32 = INDEX_MASK;

/// Answers up to so many octets, header included, are kept without an allocation.
pub(crate) const SMALL: usize = 72;

/// An answer of more than [`SMALL`] octets, or one that says more than results do, copied out of registered memory so that
/// this serves the next one.
#[derive(Debug)]
pub(crate) struct PipeReply {
    kind: Kind,
    body: Body,
    message: Box<[u8]>,
}

/// An answer of at most [`SMALL`] octets that only has to be read.
#[derive(Debug)]
pub(crate) struct SmallReply {
    /// It is a user exception.
    pub(crate) user: bool,
    /// As wide as it is read: a byte would not come out of the processor's store buffer as a part of a word.
    len: u32,
    body: Body,
    octets: [u8; SMALL],
}

impl SmallReply {
    /// All zeros: nothing has to be fetched to write them.
    pub(crate) const EMPTY: Self = Self { user: false, len: 0, body: Body::NONE, octets: [0; SMALL] };

    /// A reader of the body.
    #[inline(always)]
    pub(crate) fn reader(&self) -> Reader<'_> {
        self.body.reader(self.octets.get(..self.len as usize).unwrap_or_default())
    }

    /// Where a message that may be the answer is received.
    #[inline(always)]
    pub(crate) fn line(&mut self) -> &mut [u8; SMALL_MESSAGE] {
        self.octets.first_chunk_mut().expect("a small message is no longer than that")
    }

    /// Whether what was received [there](Self::line), of this length, is the answer to this call and only has to be read. It is
    /// read then.
    #[inline(always)]
    pub(crate) fn answers(&mut self, id: u32, len: usize) -> bool {
        let message = self.octets.get(..len).unwrap_or_default();
        match Message::read_answer(message) {
            Some(answer) if answer.sequence == id => {
                self.put(answer.user_exception, Body::of_answer(answer.flags), len);
                true
            }
            _ => false,
        }
    }

    /// Octets behind the message are left as they were.
    #[inline(always)]
    fn put(&mut self, user: bool, body: Body, len: usize) {
        (self.user, self.body, self.len) = (user, body, len as u32);
    }
}

impl PipeReply {
    #[inline]
    pub(crate) fn new(kind: Kind, body: Body, message: &[u8]) -> Self {
        Self { kind, body, message: message.into() }
    }

    /// One that `Kind::is_reply`.
    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// A reader of the body.
    #[inline]
    pub(crate) fn reader(&self) -> Reader<'_> {
        self.body.reader(&self.message)
    }
}

/// Why a call got no answer.
#[derive(Clone, Debug)]
pub(crate) enum PipeFailure {
    /// The server has not carried it out: other ways may be taken.
    NotCarriedOut,
    /// The link broke, for this reason; nobody knows whether the call was carried out.
    Lost(String),
    /// The time is over.
    TimedOut,
}

/// What became of a call that was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// No answer is there yet.
    Waiting,
    /// A small answer was copied out, and the call is over.
    Small,
    /// Something else is there, to be [taken](PipeCalls::take), or the call is over.
    Other,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Free,
    Waiting,
    Small,
    Other,
}

#[derive(Debug)]
struct Entry<X> {
    /// The number of the call that is here, or that will be here next.
    id: u32,
    stage: Stage,
    /// The next free place, of one that is free.
    next: u32,
    deadline: Option<Instant>,
    waker: Option<Waker>,
    small: SmallReply,
    other: Option<Result<PipeReply, PipeFailure>>,
    note: X,
}

/// The table. Whoever has it may note something of each call.
#[derive(Debug)]
pub(crate) struct PipeCalls<X = ()> {
    entries: Vec<Entry<X>>,
    free: u32,
    waiting: usize,
    /// Calls whose answers nobody has taken. Another width than that of `waiting`: the compiler would change both as one, and
    /// wait for what was written to one of them just before.
    answered: u32,
    /// Calls that wait with somebody to be woken.
    wakers: usize,
}

impl<X> Default for PipeCalls<X> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: NONE, waiting: 0, answered: 0, wakers: 0 }
    }
}

impl<X: Default> PipeCalls<X> {
    /// A number for a new call; none if `limit` are under way.
    #[inline]
    pub(crate) fn add(&mut self, deadline: Option<Instant>, limit: usize) -> Option<u32> {
        self.add_noted(deadline, limit).map(|(id, _)| id)
    }

    /// As [`add`](Self::add), with the place for a note: it holds that of another call.
    #[inline(always)]
    pub(crate) fn add_noted(&mut self, deadline: Option<Instant>, limit: usize) -> Option<(u32, &mut X)> {
        // None is free, if it is no place.
        if self.free as usize >= self.entries.len() {
            self.grow(limit)?;
        }
        let entry = self.entries.get_mut(self.free as usize)?;
        self.free = entry.next;
        entry.deadline = deadline;
        entry.stage = Stage::Waiting;
        self.waiting += 1;
        Some((entry.id, &mut entry.note))
    }

    #[cold]
    fn grow(&mut self, limit: usize) -> Option<()> {
        let index = self.entries.len();
        if index >= limit.min(INDEX_MASK as usize) {
            return None;
        }
        self.free = index as u32;
        self.entries.push(Entry {
            id: self.free,
            stage: Stage::Free,
            next: NONE,
            deadline: None,
            waker: None,
            small: SmallReply::EMPTY,
            other: None,
            note: X::default(),
        });
        Some(())
    }

    /// The place for the answer to a call, if it is waited for. Whoever waits is to be woken.
    #[inline(always)]
    fn answer(&mut self, id: u32, stage: Stage, wakes: &mut Vec<Waker>) -> Option<&mut Entry<X>> {
        let entry = self.entries.get_mut((id & INDEX_MASK) as usize)?;
        if entry.id != id || entry.stage != Stage::Waiting {
            return None;
        }
        entry.stage = stage;
        self.waiting -= 1;
        self.answered += 1;
        if let Some(waker) = entry.waker.take() {
            self.wakers -= 1;
            wakes.push(waker);
        }
        Some(entry)
    }

    /// Gives a call its answer: of so many of these octets.
    #[inline(always)]
    pub(crate) fn deliver_small(
        &mut self,
        id: u32,
        (kind, body): (Kind, Body),
        (len, octets): (usize, &[u8; SMALL_MESSAGE]),
        wakes: &mut Vec<Waker>,
    ) {
        let user = match kind {
            Kind::Reply => false,
            Kind::UserException => true,
            _ => return self.deliver(id, (kind, body), octets.get(..len).unwrap_or_default(), wakes),
        };
        if let Some(entry) = self.answer(id, Stage::Small, wakes) {
            entry.small.octets[..SMALL_MESSAGE].copy_from_slice(octets);
            entry.small.put(user, body, len);
        }
    }

    /// As [`deliver_small`](Self::deliver_small), of any length.
    #[inline(never)]
    pub(crate) fn deliver(
        &mut self,
        id: u32,
        (kind, body): (Kind, Body),
        message: &[u8],
        wakes: &mut Vec<Waker>,
    ) {
        let plain = matches!(kind, Kind::Reply | Kind::UserException);
        if plain && message.len() <= SMALL {
            if let Some(entry) = self.answer(id, Stage::Small, wakes) {
                entry.small.octets[..message.len()].copy_from_slice(message);
                entry.small.put(kind == Kind::UserException, body, message.len());
            }
        } else if let Some(entry) = self.answer(id, Stage::Other, wakes) {
            entry.other = Some(Ok(PipeReply::new(kind, body, message)));
        }
    }

    /// Copies the answer to a call out, if it is there, small, and only has to be read; the call is over then.
    #[inline(always)]
    pub(crate) fn take_small(&mut self, id: u32, into: &mut SmallReply) -> Found {
        self.take_small_or(id, into, |_| false)
    }

    /// As [`take_small`](Self::take_small). If the answer is not there and nobody is to be woken for it, `receive` may fetch it;
    /// whether it has.
    #[inline(always)]
    pub(crate) fn take_small_or(
        &mut self,
        id: u32,
        into: &mut SmallReply,
        receive: impl FnOnce(&mut SmallReply) -> bool,
    ) -> Found {
        let Some(entry) = self.entries.get_mut((id & INDEX_MASK) as usize) else { return Found::Other };
        if entry.id != id {
            return Found::Other;
        }
        if entry.stage == Stage::Waiting {
            if entry.waker.is_some() || !receive(into) {
                return Found::Waiting;
            }
            self.waiting -= 1;
        } else if entry.stage == Stage::Small {
            into.octets = entry.small.octets;
            into.put(entry.small.user, entry.small.body, entry.small.len as usize);
            self.answered -= 1;
        } else {
            return Found::Other;
        }
        Self::release(&mut self.free, entry);
        Found::Small
    }

    /// The outcome of a call, if it is there; the call is over then.
    #[cold]
    pub(crate) fn take(&mut self, id: u32) -> Option<Result<PipeReply, PipeFailure>> {
        let entry = self.entries.get_mut((id & INDEX_MASK) as usize)?;
        if entry.id != id {
            return None;
        }
        let outcome = entry.other.take()?;
        self.answered -= 1;
        Self::release(&mut self.free, entry);
        Some(outcome)
    }

    /// What was noted of a call, or of the last one that had its place.
    #[cold]
    pub(crate) fn note(&self, id: u32) -> Option<&X> {
        self.entries.get((id & INDEX_MASK) as usize).map(|entry| &entry.note)
    }

    /// Nobody wants the answer any more.
    #[cold]
    pub(crate) fn forget(&mut self, id: u32) {
        let Some(entry) = self.entries.get_mut((id & INDEX_MASK) as usize) else { return };
        if entry.id != id || entry.stage == Stage::Free {
            return;
        }
        if entry.stage == Stage::Waiting {
            self.waiting -= 1;
            self.wakers -= usize::from(entry.waker.take().is_some());
        } else {
            self.answered -= 1;
        }
        entry.other = None;
        Self::release(&mut self.free, entry);
    }

    /// The number of the next call here is another one.
    #[inline(always)]
    fn release(free: &mut u32, entry: &mut Entry<X>) {
        entry.next = std::mem::replace(free, entry.id & INDEX_MASK);
        entry.id = entry.id.wrapping_add(1 << INDEX_BITS);
        entry.stage = Stage::Free;
    }

    /// Leaves word whom to wake when the answer comes.
    #[inline]
    pub(crate) fn register(&mut self, id: u32, waker: &Waker) {
        let Some(entry) = self.entries.get_mut((id & INDEX_MASK) as usize) else { return };
        if entry.id != id || entry.stage != Stage::Waiting {
            return;
        }
        match &mut entry.waker {
            Some(old) => old.clone_from(waker),
            none => {
                *none = Some(waker.clone());
                self.wakers += 1;
            }
        }
    }

    /// Ends all calls that wait, those `over` alone. The wakers go to `wakes`; whether any of the others has a deadline.
    pub(crate) fn end(
        &mut self,
        failure: &PipeFailure,
        over: impl Fn(Option<Instant>) -> bool,
        wakes: &mut Vec<Waker>,
    ) -> bool {
        let mut more = false;
        for at in 0..self.entries.len() {
            let Entry { id, stage, deadline, .. } = self.entries[at];
            if stage != Stage::Waiting {
                continue;
            }
            if !over(deadline) {
                more |= deadline.is_some();
            } else if let Some(entry) = self.answer(id, Stage::Other, wakes) {
                entry.other = Some(Err(failure.clone()));
            }
        }
        more
    }

    /// Whether any number is given out.
    #[cold]
    pub(crate) fn in_use(&self) -> bool {
        self.entries.iter().any(|entry| entry.stage != Stage::Free)
    }

    /// How many calls have no answer yet.
    #[inline]
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Whether there are answers that nobody has taken.
    #[inline]
    pub(crate) fn has_answers(&self) -> bool {
        self.answered > 0
    }

    /// Whether somebody is to be woken for one of them.
    #[inline]
    pub(crate) fn has_wakers(&self) -> bool {
        self.wakers > 0
    }
}

#[cfg(test)]
mod tests {
    use throughline_wire::{Header, PLAIN_BYTES};

    use super::*;

    fn fail(calls: &mut PipeCalls<()>, failure: &PipeFailure) {
        calls.end(failure, |_| true, &mut Vec::new());
    }

    fn answer(calls: &mut PipeCalls, id: u32, kind: Kind, octets: &[u8]) {
        calls.deliver(id, (kind, Body::NONE), octets, &mut Vec::new());
    }

    fn expects(calls: &mut PipeCalls, id: u32) -> bool {
        calls.take_small(id, &mut { SmallReply::EMPTY }) == Found::Waiting
    }

    fn octets(mut reader: Reader<'_>) -> Vec<u8> {
        std::iter::from_fn(|| reader.read_u8().ok()).collect()
    }

    #[test]
    fn a_late_answer_finds_nobody() {
        let mut calls = PipeCalls::<()>::default();
        let first = calls.add(None, 8).unwrap();
        calls.forget(first);
        let second = calls.add(None, 8).unwrap();
        assert_eq!(first & INDEX_MASK, second & INDEX_MASK);
        assert!(!expects(&mut calls, first) && expects(&mut calls, second));
        answer(&mut calls, first, Kind::Reply, &[1]);
        calls.forget(first);
        let mut small = SmallReply::EMPTY;
        assert_eq!(calls.take_small(first, &mut small), Found::Other);
        assert_eq!(calls.take_small(second, &mut small), Found::Waiting);
        assert!(calls.take(second).is_none());
        fail(&mut calls, &PipeFailure::NotCarriedOut);
        assert_eq!(calls.take_small(second, &mut small), Found::Other);
        assert!(matches!(calls.take(second), Some(Err(PipeFailure::NotCarriedOut))));
        assert!(calls.take(second).is_none());
        assert_eq!(calls.waiting(), 0);
    }

    #[test]
    fn answers_come_out_as_they_went_in() {
        let mut calls = PipeCalls::<()>::default();
        let mut small = SmallReply::EMPTY;
        for len in [0, 1, 55, 56, 57, SMALL, SMALL + 1, 1000] {
            let message: Vec<u8> = (0..len).map(|at| (at + len) as u8).collect();
            for kind in [Kind::Reply, Kind::UserException, Kind::SystemException, Kind::Forward] {
                let id = calls.add(None, 1).expect("the place before is free again");
                match message.len() {
                    len @ 0..=SMALL_MESSAGE => {
                        let mut padded = [0xEE; SMALL_MESSAGE];
                        padded[..len].copy_from_slice(&message);
                        calls.deliver_small(id, (kind, Body::NONE), (len, &padded), &mut Vec::new());
                    }
                    _ => answer(&mut calls, id, kind, &message),
                }
                if calls.take_small(id, &mut small) == Found::Small {
                    assert!(len <= SMALL && small.user == (kind == Kind::UserException));
                    assert_eq!(octets(small.reader()), message);
                } else {
                    let reply = calls.take(id).expect("it is there").expect("an answer");
                    assert!(len > SMALL || reply.kind() != Kind::Reply);
                    assert_eq!((reply.kind(), octets(reply.reader())), (kind, message.clone()));
                }
            }
        }
    }

    #[test]
    fn the_table_has_a_limit_and_uses_places_again() {
        let mut calls = PipeCalls::<()>::default();
        let ids: Vec<_> = (0..4).map(|_| calls.add(None, 4).unwrap()).collect();
        assert!(calls.add(None, 4).is_none());
        calls.forget(ids[2]);
        assert_eq!(calls.add(None, 4).unwrap() & INDEX_MASK, 2);
        assert!(calls.add(None, 4).is_none());
        assert_eq!(calls.waiting(), 4);
    }

    #[test]
    fn only_calls_whose_time_is_over_end() {
        let mut calls = PipeCalls::<()>::default();
        let now = Instant::now();
        let [over, later, never] = [Some(now), now.checked_add(std::time::Duration::from_secs(60)), None]
            .map(|d| calls.add(d, 8).unwrap());
        let due = |deadline: Option<Instant>| deadline.is_some_and(|d| d <= now);
        assert!(calls.end(&PipeFailure::TimedOut, due, &mut Vec::new()));
        assert!(matches!(calls.take(over), Some(Err(PipeFailure::TimedOut))));
        assert!(expects(&mut calls, later) && expects(&mut calls, never));
        assert!(!calls.end(&PipeFailure::NotCarriedOut, |_| true, &mut Vec::new()));
        assert_eq!(calls.waiting(), 0);
    }

    #[test]
    fn whoever_waits_is_woken_once() {
        let mut calls = PipeCalls::<()>::default();
        let mut wakes = Vec::new();
        let id = calls.add(None, 8).unwrap();
        calls.register(id, Waker::noop());
        calls.register(id, Waker::noop());
        assert!(calls.has_wakers());
        calls.deliver(id, (Kind::Reply, Body::NONE), &[], &mut wakes);
        calls.deliver(id, (Kind::Reply, Body::NONE), &[], &mut wakes);
        assert_eq!((wakes.len(), calls.has_wakers(), calls.waiting()), (1, false, 0));
    }
    #[test]
    fn who_waits_may_fetch_the_answer_to_where_it_is_read() {
        let mut calls = PipeCalls::<u8>::default();
        let (id, note) = calls.add_noted(None, 1).unwrap();
        *note = 7;
        let mut small = SmallReply::EMPTY;
        assert_eq!(calls.take_small_or(id, &mut small, |_| false), Found::Waiting);
        let fetch = |into: &mut SmallReply, of: u32| {
            let header = Header { sequence: of, ..Header::new(Kind::Reply) };
            header.write(into.line()).unwrap()[0] = 42;
            into.answers(id, PLAIN_BYTES + 1)
        };
        let other = id.wrapping_add(1 << INDEX_BITS);
        assert_eq!(calls.take_small_or(id, &mut small, |into| fetch(into, other)), Found::Waiting);
        assert_eq!(calls.waiting(), 1);
        assert_eq!(calls.take_small_or(id, &mut small, |into| fetch(into, id)), Found::Small);
        assert_eq!((octets(small.reader()), calls.waiting()), (vec![42], 0));
        assert_eq!(calls.take_small_or(id, &mut small, |_| unreachable!("it is over")), Found::Other);
        // Of the call that had the place.
        assert_eq!(calls.add_noted(None, 1).map(|(id, note)| (id, *note)), Some((other, 7)));
    }
}
