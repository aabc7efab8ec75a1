//! The calls under way on one pipe: which reply is whose.
//!
//! A request's sequence number is the place of its call in this table, with a generation, so that a reply finds its call by
//! an index, and one that comes too late finds none. Generations come again, soon where calls are quick: the place of a call that
//! was given up is another's only once that reply has come, or many others were given up since.

use std::task::Waker;
use std::time::Instant;

use throughline_vi::SMALL_MESSAGE;
use throughline_wire::Kind;

use super::answers::{PipeReply, SMALL, SmallReply};
use crate::native::Body;
use crate::transport::calls::GivenUp;

/// Places that a sequence number can tell apart; the rest of its bits are the generation.
const INDEX_BITS: u32 = 20;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;

/// No place.
const NONE: u32 = INDEX_MASK;

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
    /// The call is over, but a reply may come.
    GivenUp,
    Waiting,
    Small,
    Other,
    /// As `Other`, and no reply comes any more.
    Last,
}

/// In this order: what every call needs, a note of 80 octets included, are two lines of the processor's cache.
#[derive(Debug)]
#[repr(C, align(64))]
struct Entry<X> {
    /// The number of the call that is here, or that will be here next.
    id: u32,
    /// The next free place, of one that is free.
    next: u32,
    stage: Stage,
    waker: Option<Waker>,
    deadline: Option<Instant>,
    note: X,
    small: SmallReply,
    other: Option<Result<PipeReply, PipeFailure>>,
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
    given_up: GivenUp,
    /// Places of calls that were given up and whose replies may come.
    forsaken: usize,
}

impl<X> Default for PipeCalls<X> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            free: NONE,
            waiting: 0,
            answered: 0,
            wakers: 0,
            given_up: GivenUp::default(),
            forsaken: 0,
        }
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
        // None is free, if it is no place. There are more than the limit where some were given up.
        if self.free as usize >= self.entries.len() || self.entries.len() > limit {
            self.make_room(limit)?;
        }
        let entry = self.entries.get_mut(self.free as usize)?;
        self.free = entry.next;
        entry.deadline = deadline;
        entry.stage = Stage::Waiting;
        self.waiting += 1;
        Some((entry.id, &mut entry.note))
    }

    #[cold]
    fn make_room(&mut self, limit: usize) -> Option<()> {
        if self.waiting + self.answered as usize >= limit {
            return None;
        }
        let index = self.entries.len();
        if (self.free as usize) < index {
            return Some(());
        }
        if index >= INDEX_MASK as usize {
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
            Self::end_if_given_up((&mut self.free, &mut self.forsaken), entry, id);
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
        if entry.stage == Stage::Other && matches!(outcome, Err(PipeFailure::TimedOut)) {
            entry.stage = Stage::GivenUp;
            self.forsaken += 1;
            self.await_reply(id);
        } else {
            Self::release(&mut self.free, entry);
        }
        Some(outcome)
    }

    /// What was noted of a call, or of the last one that had its place.
    #[cold]
    pub(crate) fn note(&self, id: u32) -> Option<&X> {
        self.entries.get((id & INDEX_MASK) as usize).map(|entry| &entry.note)
    }

    /// Ends a call whose request was not sent.
    #[cold]
    pub(crate) fn forget(&mut self, id: u32) {
        if self.close(id).is_some() {
            self.end_given_up(id);
        }
    }

    /// Nobody wants the answer any more. Who waited for it is dropped once the table is unlocked: other calls may go with him.
    #[cold]
    pub(crate) fn give_up(&mut self, id: u32) -> Option<Waker> {
        let (may_come, waker) = self.close(id)?;
        if may_come {
            self.await_reply(id)
        } else {
            self.end_given_up(id)
        }
        waker
    }

    /// Ends a call, but for its place; whether its reply may still come, and who waited for it. None if it has ended.
    fn close(&mut self, id: u32) -> Option<(bool, Option<Waker>)> {
        let entry = self.entries.get_mut((id & INDEX_MASK) as usize)?;
        if entry.id != id || matches!(entry.stage, Stage::Free | Stage::GivenUp) {
            return None;
        }
        let stage = std::mem::replace(&mut entry.stage, Stage::GivenUp);
        let waited = stage == Stage::Waiting;
        let waker = entry.waker.take();
        self.forsaken += 1;
        if waited {
            self.waiting -= 1;
            self.wakers -= usize::from(waker.is_some());
        } else {
            self.answered -= 1;
        }
        let timed_out = matches!(entry.other.take(), Some(Err(PipeFailure::TimedOut)));
        Some((waited || timed_out && stage == Stage::Other, waker))
    }

    /// The place is free once the reply has come, or it has not come for long.
    #[cold]
    fn await_reply(&mut self, id: u32) {
        if let Some(oldest) = self.given_up.add(id) {
            self.end_given_up(oldest);
        }
    }

    /// The reply to a call has come that was given up; or it is not waited for any more.
    fn end_given_up(&mut self, id: u32) {
        if let Some(entry) = self.entries.get_mut((id & INDEX_MASK) as usize) {
            Self::end_if_given_up((&mut self.free, &mut self.forsaken), entry, id);
        }
    }

    /// No replies come any more: the places of calls that were given up are free, and those of calls that have ended once their
    /// outcome is taken.
    #[cold]
    pub(crate) fn end_forsaken(&mut self) {
        for at in 0..self.entries.len() {
            if self.entries[at].stage == Stage::Other {
                self.entries[at].stage = Stage::Last;
            }
            self.end_given_up(self.entries[at].id);
        }
    }

    #[cold]
    fn end_if_given_up((free, forsaken): (&mut u32, &mut usize), entry: &mut Entry<X>, id: u32) {
        if entry.id == id && entry.stage == Stage::GivenUp {
            *forsaken -= 1;
            Self::release(free, entry);
        }
    }

    /// The number of the next call here is another one.
    #[inline(always)]
    fn release(free: &mut u32, entry: &mut Entry<X>) {
        entry.next = std::mem::replace(free, entry.id & INDEX_MASK);
        entry.id = entry.id.wrapping_add(1 << INDEX_BITS);
        entry.stage = Stage::Free;
    }

    /// Leaves word whom to wake when the answer comes. Who was to be woken before is dropped as by [`give_up`](Self::give_up).
    #[inline]
    pub(crate) fn register(&mut self, id: u32, waker: &Waker) -> Option<Waker> {
        let entry = self.entries.get_mut((id & INDEX_MASK) as usize)?;
        let known = entry.waker.as_ref().is_some_and(|old| old.will_wake(waker));
        if entry.id != id || entry.stage != Stage::Waiting || known {
            return None;
        }
        let replaced = entry.waker.replace(waker.clone());
        self.wakers += usize::from(replaced.is_none());
        replaced
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
        self.entries.iter().any(|entry| !matches!(entry.stage, Stage::Free | Stage::GivenUp))
    }

    /// How many calls have no answer yet.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// How many calls were given up whose replies may come.
    #[cold]
    pub(crate) fn forsaken(&self) -> usize {
        self.forsaken
    }

    /// How many replies may come yet, wanted or not.
    #[inline]
    pub(crate) fn outstanding(&self) -> usize {
        self.waiting + self.forsaken
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
mod tests;
