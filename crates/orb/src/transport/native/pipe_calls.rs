//! The calls under way on one pipe: which reply is whose.
//!
//! A request's sequence number is the place of its call in this table, with a generation, so that a reply finds its call by
//! an index, and one that comes too late finds none.

use std::task::Waker;
use std::time::Instant;

use throughline_cdr::Reader;
use throughline_vi::SMALL_MESSAGE;
use throughline_wire::Kind;

use crate::native::Body;

/// Places that a sequence number can tell apart; the rest of its bits are the generation.
const INDEX_BITS: u32 = 20;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;

/// Answers up to so many octets, header included, are kept without an allocation.
pub(crate) const SMALL: usize = 72;

/// An answer, copied out of registered memory so that this serves the next one.
#[derive(Debug)]
pub(crate) struct PipeReply {
    kind: Kind,
    body: Body,
    message: Octets,
}

/// An answer of at most [`SMALL`] octets that only has to be read.
pub(crate) struct SmallReply {
    /// In octets.
    pub(crate) len: usize,
    pub(crate) body: Body,
    /// It is a user exception.
    pub(crate) user: bool,
}

#[derive(Debug)]
enum Octets {
    Small { len: u8, octets: [u8; SMALL] },
    Large(Box<[u8]>),
}

impl PipeReply {
    #[inline]
    pub(crate) fn new(kind: Kind, body: Body, message: &[u8]) -> Self {
        let message = if message.len() <= SMALL {
            let mut octets = [0; SMALL];
            octets[..message.len()].copy_from_slice(message);
            Octets::Small { len: message.len() as u8, octets }
        } else {
            Octets::Large(message.into())
        };
        Self { kind, body, message }
    }

    /// One that needed no buffer, of so many of these octets.
    #[inline(always)]
    pub(crate) fn small(kind: Kind, body: Body, (len, octets): (usize, &[u8; SMALL_MESSAGE])) -> Self {
        let mut message = [0; SMALL];
        message[..SMALL_MESSAGE].copy_from_slice(octets);
        Self { kind, body, message: Octets::Small { len: len as u8, octets: message } }
    }

    /// One that `Kind::is_reply`.
    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// A reader of the body.
    #[inline]
    pub(crate) fn reader(&self) -> Reader<'_> {
        let octets = match &self.message {
            Octets::Small { len, octets } => &octets[..usize::from(*len)],
            Octets::Large(octets) => octets,
        };
        self.body.reader(octets)
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

#[derive(Debug)]
enum Slot {
    Free { next: Option<u32> },
    Waiting(Option<Waker>),
    Done(Result<PipeReply, PipeFailure>),
}

#[derive(Debug)]
struct Entry {
    generation: u32,
    deadline: Option<Instant>,
    slot: Slot,
}

/// The table.
#[derive(Debug, Default)]
pub(crate) struct PipeCalls {
    entries: Vec<Entry>,
    free: Option<u32>,
    waiting: usize,
    /// Calls that wait with somebody to be woken.
    wakers: usize,
}

impl PipeCalls {
    /// A number for a new call; none if `limit` are under way.
    #[inline]
    pub(crate) fn add(&mut self, deadline: Option<Instant>, limit: usize) -> Option<u32> {
        let index = match self.free {
            Some(index) => index,
            None => self.grow(limit)?,
        };
        let entry = &mut self.entries[index as usize];
        if let Slot::Free { next } = entry.slot {
            self.free = next;
        }
        entry.deadline = deadline;
        entry.slot = Slot::Waiting(None);
        self.waiting += 1;
        Some(entry.generation << INDEX_BITS | index)
    }

    #[cold]
    fn grow(&mut self, limit: usize) -> Option<u32> {
        let index = self.entries.len();
        if index >= limit.min(INDEX_MASK as usize) {
            return None;
        }
        self.entries.push(Entry { generation: 0, deadline: None, slot: Slot::Free { next: None } });
        Some(index as u32)
    }

    #[inline]
    fn entry(&mut self, id: u32) -> Option<&mut Entry> {
        let entry = self.entries.get_mut((id & INDEX_MASK) as usize)?;
        (entry.generation == id >> INDEX_BITS).then_some(entry)
    }

    /// Whether a reply to this is waited for.
    #[inline]
    pub(crate) fn expects(&mut self, id: u32) -> bool {
        matches!(self.entry(id), Some(Entry { slot: Slot::Waiting(_), .. }))
    }

    /// Gives a call its outcome, made only if it is waited for, and its waker to whoever asks for that.
    #[inline]
    pub(crate) fn deliver(
        &mut self,
        id: u32,
        outcome: impl FnOnce() -> Result<PipeReply, PipeFailure>,
    ) -> Option<Waker> {
        let entry = self.entry(id)?;
        let Slot::Waiting(waker) = &mut entry.slot else { return None };
        let waker = waker.take();
        entry.slot = Slot::Done(outcome());
        self.waiting -= 1;
        self.wakers -= usize::from(waker.is_some());
        waker
    }

    /// Copies the answer to a call out, if it is there, small, and only has to be read; the call is over then.
    #[inline]
    pub(crate) fn take_small(&mut self, id: u32, into: &mut [u8; SMALL]) -> Option<SmallReply> {
        let next = self.free;
        let entry = self.entry(id)?;
        let Slot::Done(Ok(PipeReply { kind, body, message: Octets::Small { len, octets } })) = &entry.slot
        else {
            return None;
        };
        let user = match kind {
            Kind::Reply => false,
            Kind::UserException => true,
            _ => return None,
        };
        let reply = SmallReply { len: usize::from(*len), body: *body, user };
        *into = *octets;
        // There is nothing to drop in what was there, which the compiler cannot see.
        std::mem::forget(std::mem::replace(&mut entry.slot, Slot::Free { next }));
        entry.generation = entry.generation.wrapping_add(1) & (u32::MAX >> INDEX_BITS);
        self.free = Some(id & INDEX_MASK);
        Some(reply)
    }

    /// The outcome of a call, if it is there; the call is over then.
    #[inline]
    pub(crate) fn take(&mut self, id: u32) -> Option<Result<PipeReply, PipeFailure>> {
        if !matches!(self.entry(id)?.slot, Slot::Done(_)) {
            return None;
        }
        match self.release(id) {
            Some(Slot::Done(outcome)) => Some(outcome),
            _ => None,
        }
    }

    /// Nobody wants the answer any more.
    pub(crate) fn forget(&mut self, id: u32) {
        if let Some(Slot::Waiting(waker)) = self.release(id) {
            self.waiting -= 1;
            self.wakers -= usize::from(waker.is_some());
        }
    }

    #[inline]
    fn release(&mut self, id: u32) -> Option<Slot> {
        let next = self.free;
        let entry = self.entry(id)?;
        entry.generation = entry.generation.wrapping_add(1) & (u32::MAX >> INDEX_BITS);
        let slot = std::mem::replace(&mut entry.slot, Slot::Free { next });
        self.free = Some(id & INDEX_MASK);
        Some(slot)
    }

    /// Leaves word whom to wake when the answer comes.
    #[inline]
    pub(crate) fn register(&mut self, id: u32, waker: &Waker) {
        if let Some(Entry { slot: Slot::Waiting(place), .. }) = self.entry(id) {
            match place {
                Some(old) => old.clone_from(waker),
                none => {
                    *none = Some(waker.clone());
                    self.wakers += 1;
                }
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
        for entry in &mut self.entries {
            let Slot::Waiting(waker) = &mut entry.slot else { continue };
            if over(entry.deadline) {
                self.wakers -= usize::from(waker.is_some());
                wakes.extend(waker.take());
                entry.slot = Slot::Done(Err(failure.clone()));
                self.waiting -= 1;
            } else {
                more |= entry.deadline.is_some();
            }
        }
        more
    }

    /// How many calls have no answer yet.
    #[inline]
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Whether somebody is to be woken for one of them.
    #[inline]
    pub(crate) fn has_wakers(&self) -> bool {
        self.wakers > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_answer_finds_nobody() {
        let mut calls = PipeCalls::default();
        let first = calls.add(None, 8).unwrap();
        calls.forget(first);
        let second = calls.add(None, 8).unwrap();
        assert_eq!(first & INDEX_MASK, second & INDEX_MASK);
        assert!(!calls.expects(first) && calls.expects(second));
        assert!(calls.deliver(first, || Err(PipeFailure::TimedOut)).is_none());
        assert!(calls.take(second).is_none());
        calls.deliver(second, || Err(PipeFailure::NotCarriedOut));
        assert!(matches!(calls.take(second), Some(Err(PipeFailure::NotCarriedOut))));
        assert!(calls.take(second).is_none());
        assert_eq!(calls.waiting(), 0);
    }

    #[test]
    fn the_table_has_a_limit_and_uses_places_again() {
        let mut calls = PipeCalls::default();
        let ids: Vec<_> = (0..4).map(|_| calls.add(None, 4).unwrap()).collect();
        assert!(calls.add(None, 4).is_none());
        calls.forget(ids[2]);
        assert_eq!(calls.add(None, 4).unwrap() & INDEX_MASK, 2);
        assert_eq!(calls.waiting(), 4);
    }

    #[test]
    fn only_calls_whose_time_is_over_end() {
        let mut calls = PipeCalls::default();
        let now = Instant::now();
        let [over, later, never] = [Some(now), now.checked_add(std::time::Duration::from_secs(60)), None]
            .map(|d| calls.add(d, 8).unwrap());
        let due = |deadline: Option<Instant>| deadline.is_some_and(|d| d <= now);
        assert!(calls.end(&PipeFailure::TimedOut, due, &mut Vec::new()));
        assert!(matches!(calls.take(over), Some(Err(PipeFailure::TimedOut))));
        assert!(calls.expects(later) && calls.expects(never));
        assert!(!calls.end(&PipeFailure::NotCarriedOut, |_| true, &mut Vec::new()));
        assert_eq!(calls.waiting(), 0);
    }
}
