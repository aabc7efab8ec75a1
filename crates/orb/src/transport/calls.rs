//! Which caller is waiting for which reply: the table of calls under way on one connection.
//!
//! A request's number is the place of its caller in this table, with a generation, so that a reply finds its
//! caller by an index, and a reply that comes too late finds nobody. Generations come again, soon on a busy connection: the
//! place of a call that was given up is another's only once that reply has come, or many others were given up since.

use std::collections::VecDeque;
use std::task::Waker;
use std::thread::Thread;
use std::time::Instant;

use throughline_giop::connection::Frame;
use throughline_giop::fragment::Awaited;

use crate::transport::reactor::wake;

/// Places that a request id can number; the rest of its bits are the generation.
const INDEX_BITS: u32 = 20;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;

/// Places that a table keeps though no call needs them.
const KEEP: usize = 64;

/// Calls that were given up, the oldest first. Their places are others' once their replies have come, or so many others were given
/// up since. Some replies may have come.
#[derive(Debug, Default)]
pub(crate) struct GivenUp(VecDeque<u32>);

impl GivenUp {
    pub(crate) const MOST: usize = 1024;

    /// Adds one; which is not waited for any more, if they are too many.
    pub(crate) fn add(&mut self, id: u32) -> Option<u32> {
        self.0.push_back(id);
        if self.0.len() > Self::MOST { self.0.pop_front() } else { None }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Why a call got no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallFailure {
    /// The server has not and will not carry it out: safe to send again elsewhere.
    NotStarted,
    /// The connection ended while the call was under way.
    Lost(String),
    /// What the server sent is no GIOP message.
    Malformed(String),
    /// The request is longer than a message can be; none of it was sent.
    TooLarge,
    /// The server could not read the request.
    Refused,
    /// As above, when not all of it was sent.
    RefusedInPart,
    /// The time is over.
    TimedOut,
    /// Too many calls are under way.
    Full,
}

#[derive(Debug)]
enum Slot {
    Free {
        next: Option<u32>,
    },
    /// The call is over, but a reply may come.
    GivenUp,
    /// Nobody is to be woken: the caller reads for itself, or has not asked yet.
    Waiting,
    Parked(Thread),
    Polled(Waker),
    Done(Result<Frame, CallFailure>),
}

#[derive(Debug)]
struct Entry {
    generation: u32,
    slot: Slot,
    /// The caller is a future; it needs somebody to read for it.
    is_task: bool,
    /// When a future's time is over.
    deadline: Option<Instant>,
    /// That future was woken for its reply and has not taken it.
    woken: bool,
}

impl Entry {
    fn is(&self, id: u32) -> bool {
        self.generation == id >> INDEX_BITS
    }
}

/// The calls under way, and who receives their replies.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    entries: Vec<Entry>,
    free: Option<u32>,
    /// Generations of the places that the table had behind its end, the next one last: they go on there.
    generations: Vec<u16>,
    /// How many places have become free since it was seen whether so many are needed.
    freed: usize,
    given_up: GivenUp,
    active: usize,
    /// Calls of futures without a reply so far.
    tasks_waiting: usize,
    /// Futures that were woken for a reply which they have not taken yet.
    woken: usize,
    /// Somebody receives from the connection.
    pub(crate) has_reader: bool,
    /// Set when the connection has ended; no call is added any more.
    pub(crate) ended: Option<CallFailure>,
}

/// Who makes a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Caller {
    /// A thread, which looks at the clock itself.
    Thread,
    /// A future, with the time at which somebody must end it.
    Task(Option<Instant>),
}

/// Whom to wake, once the table is unlocked.
#[derive(Debug)]
pub(crate) enum Wake {
    Nobody,
    Thread(Thread),
    Task(Waker),
}

impl Wake {
    pub(crate) fn wake(self) {
        match self {
            Self::Nobody => {}
            Self::Thread(thread) => thread.unpark(),
            Self::Task(waker) => wake(waker),
        }
    }
}

impl Calls {
    /// A number for a new request.
    pub(crate) fn add(&mut self, caller: Caller, limit: usize) -> Result<u32, CallFailure> {
        if self.ended.is_some() {
            // The connection was gone before this call was sent.
            return Err(CallFailure::NotStarted);
        }
        let index = self.free_index(limit).ok_or(CallFailure::Full)?;
        let entry = &mut self.entries[index as usize];
        entry.slot = Slot::Waiting;
        (entry.is_task, entry.deadline) = match caller {
            Caller::Thread => (false, None),
            Caller::Task(deadline) => (true, deadline),
        };
        self.active += 1;
        let is_task = entry.is_task;
        self.tasks_waiting += usize::from(is_task);
        Ok(entry.generation << INDEX_BITS | index)
    }

    fn free_index(&mut self, limit: usize) -> Option<u32> {
        if self.active >= limit {
            return None;
        }
        if let Some(index) = self.free {
            if let Slot::Free { next } = self.entries[index as usize].slot {
                self.free = next;
            }
            return Some(index);
        }
        let index = self.entries.len();
        if index >= 1 << INDEX_BITS {
            return None;
        }
        self.entries.push(Entry {
            generation: self.generations.pop().map_or(0, u32::from),
            slot: Slot::Free { next: None },
            is_task: false,
            deadline: None,
            woken: false,
        });
        Some(index as u32)
    }

    fn entry(&mut self, id: u32) -> Option<&mut Entry> {
        let entry = self.entries.get_mut((id & INDEX_MASK) as usize)?;
        let live = entry.is(id) && !matches!(entry.slot, Slot::Free { .. } | Slot::GivenUp);
        live.then_some(entry)
    }

    /// Gives a call its outcome.
    pub(crate) fn deliver(&mut self, id: u32, outcome: Result<Frame, CallFailure>) -> Wake {
        let Some(entry) = self.entry(id) else {
            self.end_given_up(id);
            return Wake::Nobody;
        };
        if matches!(entry.slot, Slot::Done(_)) {
            return Wake::Nobody;
        }
        let is_task = entry.is_task;
        let wake = match std::mem::replace(&mut entry.slot, Slot::Done(outcome)) {
            Slot::Parked(thread) => Wake::Thread(thread),
            Slot::Polled(waker) => Wake::Task(waker),
            _ => Wake::Nobody,
        };
        entry.woken = matches!(wake, Wake::Task(_));
        self.woken += usize::from(entry.woken);
        self.tasks_waiting -= usize::from(is_task);
        wake
    }

    /// Whether a call of this number has not ended.
    pub(crate) fn is_under_way(&mut self, id: u32) -> bool {
        self.entry(id).is_some()
    }

    /// Whether somebody waits for the reply to a call of this number.
    pub(crate) fn awaited(&self, id: u32) -> Awaited {
        let entry = self.entries.get((id & INDEX_MASK) as usize).filter(|entry| entry.is(id));
        match entry.map(|entry| &entry.slot) {
            None | Some(Slot::Free { .. }) => Awaited::No,
            Some(Slot::GivenUp | Slot::Done(Err(_))) => Awaited::NoLonger,
            Some(_) => Awaited::Yes,
        }
    }

    /// Whether the reply to a call is there.
    pub(crate) fn is_answered(&mut self, id: u32) -> bool {
        self.entry(id).is_some_and(|entry| matches!(entry.slot, Slot::Done(Ok(_))))
    }

    /// The outcome of a call, if it is there; the call is over then.
    pub(crate) fn take(&mut self, id: u32) -> Option<Result<Frame, CallFailure>> {
        let entry = self.entry(id)?;
        if !matches!(entry.slot, Slot::Done(_)) {
            return None;
        }
        let Slot::Done(outcome) = self.release(id)? else { return None };
        match &outcome {
            Err(CallFailure::TimedOut) => self.await_reply(id),
            _ => self.free(id),
        }
        Some(outcome)
    }

    /// Ends a call whose request was not sent.
    pub(crate) fn forget(&mut self, id: u32) {
        if self.release(id).is_some() {
            self.free(id);
        }
    }

    /// Ends a call before its reply has come. True if it was still waiting for one. A waker is dropped once the table is
    /// unlocked: other calls may go with it.
    pub(crate) fn give_up(&mut self, id: u32) -> (bool, Option<Waker>) {
        let Some(slot) = self.release(id) else { return (false, None) };
        match slot {
            Slot::Done(Err(CallFailure::TimedOut)) => self.await_reply(id),
            Slot::Done(_) => self.free(id),
            _ => self.await_reply(id),
        }
        match slot {
            Slot::Done(_) => (false, None),
            Slot::Polled(waker) => (true, Some(waker)),
            _ => (true, None),
        }
    }

    /// Takes out what became of a call, which is over then. Its place is to be [free](Self::free), now or [later](Self::await_reply).
    fn release(&mut self, id: u32) -> Option<Slot> {
        let entry = self.entry(id)?;
        let (is_task, woken) = (entry.is_task, std::mem::take(&mut entry.woken));
        let slot = std::mem::replace(&mut entry.slot, Slot::GivenUp);
        self.active -= 1;
        self.woken -= usize::from(woken);
        self.tasks_waiting -= usize::from(is_task && !matches!(slot, Slot::Done(_)));
        Some(slot)
    }

    fn free(&mut self, id: u32) {
        let next = self.free.replace(id & INDEX_MASK);
        let entry = &mut self.entries[(id & INDEX_MASK) as usize];
        entry.generation = entry.generation.wrapping_add(1) & (u32::MAX >> INDEX_BITS);
        entry.slot = Slot::Free { next };
        self.freed += 1;
        // Seldom enough that a look at all places costs each call next to nothing.
        if self.freed > self.entries.len().max(KEEP) {
            self.freed = 0;
            if self.active < self.entries.len() / 4 {
                self.shrink();
            }
        }
    }

    /// Gives back the memory of free places at the end, which only more calls at a time need. Those before them are taken first
    /// from now on, so that others become free there.
    #[cold]
    pub(crate) fn shrink(&mut self) {
        if self.entries.len() <= KEEP {
            return;
        }
        let is_free = |entry: &Entry| matches!(entry.slot, Slot::Free { .. });
        let needed = self.entries.iter().rposition(|entry| !is_free(entry)).map_or(0, |last| last + 1);
        let behind = self.entries.drain(needed.max(KEEP)..);
        self.generations.extend(behind.rev().map(|entry| entry.generation as u16));
        self.entries.shrink_to_fit();
        self.free = None;
        for (index, entry) in self.entries.iter_mut().enumerate().rev().filter(|(_, entry)| is_free(entry)) {
            entry.slot = Slot::Free { next: self.free.replace(index as u32) };
        }
    }

    /// The place is free once the reply has come, or it has not come for long.
    #[cold]
    fn await_reply(&mut self, id: u32) {
        if let Some(oldest) = self.given_up.add(id) {
            self.end_given_up(oldest);
        }
    }

    /// The reply to a call has come that was given up; or it is not waited for any more.
    #[cold]
    fn end_given_up(&mut self, id: u32) {
        let entry = self.entries.get((id & INDEX_MASK) as usize);
        if entry.is_some_and(|entry| entry.is(id) && matches!(entry.slot, Slot::GivenUp)) {
            self.free(id);
        }
    }

    /// Leaves word whom to wake when the reply comes.
    pub(crate) fn park(&mut self, id: u32, thread: Thread) {
        if let Some(entry) = self.entry(id) {
            entry.slot = Slot::Parked(thread);
        }
    }

    /// As [`park`](Self::park), for a future. Whoever was to be woken before is dropped as by [`give_up`](Self::give_up).
    pub(crate) fn register(&mut self, id: u32, waker: &Waker) -> Option<Waker> {
        let slot = &mut self.entry(id)?.slot;
        if matches!(slot, Slot::Polled(old) if old.will_wake(waker)) {
            return None;
        }
        match std::mem::replace(slot, Slot::Polled(waker.clone())) {
            Slot::Polled(old) => Some(old),
            _ => None,
        }
    }

    /// The thread that no longer receives looks for one that can: a parked caller.
    pub(crate) fn successor(&self) -> Wake {
        self.entries
            .iter()
            .find_map(|e| match &e.slot {
                Slot::Parked(thread) => Some(Wake::Thread(thread.clone())),
                _ => None,
            })
            .unwrap_or(Wake::Nobody)
    }

    #[cfg(test)]
    pub(crate) fn is_parked(&mut self, id: u32) -> Option<bool> {
        self.entry(id).map(|e| matches!(e.slot, Slot::Parked(_)))
    }

    /// Ends every call with `failure`, and the table with it.
    pub(crate) fn end(&mut self, failure: &CallFailure) -> Vec<Wake> {
        self.ended.get_or_insert_with(|| failure.clone());
        let ids: Vec<u32> = (0_u32..)
            .zip(&self.entries)
            .filter(|(_, e)| matches!(e.slot, Slot::Waiting | Slot::Parked(_) | Slot::Polled(_)))
            .map(|(index, e)| e.generation << INDEX_BITS | index)
            .collect();
        ids.into_iter().map(|id| self.deliver(id, Err(failure.clone()))).collect()
    }

    /// Ends the table if no call is under way, so that none begins any more; whether none was.
    pub(crate) fn end_unused(&mut self, failure: CallFailure) -> bool {
        if self.active == 0 {
            self.ended.get_or_insert(failure);
        }
        self.active == 0
    }

    /// The calls of futures whose time is over, and whether others have a deadline too.
    pub(crate) fn expired(&self, now: Instant) -> (Vec<u32>, bool) {
        let waiting = |e: &&Entry| matches!(e.slot, Slot::Waiting | Slot::Polled(_));
        let mut more = false;
        let mut expired = Vec::new();
        for (index, entry) in (0_u32..).zip(&self.entries).filter(|(_, e)| waiting(e)) {
            match entry.deadline {
                Some(deadline) if deadline <= now => expired.push(entry.generation << INDEX_BITS | index),
                deadline => more |= deadline.is_some(),
            }
        }
        (expired, more)
    }

    /// How many calls are under way.
    pub(crate) fn active(&self) -> usize {
        self.active
    }

    /// Whether some future needs its reply received for it.
    pub(crate) fn tasks_waiting(&self) -> bool {
        self.tasks_waiting > 0
    }

    /// Whether woken futures are about to run: what they will send can leave together with what waits.
    pub(crate) fn more_to_come(&self) -> bool {
        self.woken > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_reply_finds_nobody() {
        let mut calls = Calls::default();
        let first = calls.add(Caller::Thread, 8).unwrap();
        calls.forget(first);
        let second = calls.add(Caller::Thread, 8).unwrap();
        assert_ne!(first, second);
        assert_eq!(first & INDEX_MASK, second & INDEX_MASK);
        calls.deliver(first, Err(CallFailure::TimedOut));
        assert_eq!(calls.take(second).map(|_| ()), None);
        calls.deliver(second, Err(CallFailure::Refused));
        assert!(matches!(calls.take(second), Some(Err(CallFailure::Refused))));
        assert_eq!(calls.active(), 0);
    }

    #[test]
    fn the_table_has_a_limit_and_reuses_places() {
        let mut calls = Calls::default();
        let ids: Vec<_> = (0..4).map(|_| calls.add(Caller::Task(None), 4).unwrap()).collect();
        assert_eq!(calls.add(Caller::Task(None), 4), Err(CallFailure::Full));
        calls.forget(ids[2]);
        assert_eq!(calls.add(Caller::Task(None), 4).unwrap() & INDEX_MASK, ids[2] & INDEX_MASK);
        assert!(calls.tasks_waiting());
    }

    #[test]
    fn the_place_of_a_call_that_was_given_up_is_free_when_its_reply_comes_or_many_others_were_given_up() {
        let mut calls = Calls::default();
        let give_up = |calls: &mut Calls, by_keeper: bool| {
            let id = calls.add(Caller::Task(None), 1).unwrap();
            if by_keeper {
                calls.deliver(id, Err(CallFailure::TimedOut));
                assert!(calls.take(id).is_some());
            } else {
                assert!(calls.give_up(id).0);
            }
            // It is over.
            calls.forget(id);
            assert!(!calls.give_up(id).0 && calls.take(id).is_none());
            id
        };
        for by_keeper in [false, true] {
            let late = give_up(&mut calls, by_keeper);
            let other = calls.add(Caller::Thread, 1).unwrap();
            assert_ne!(late & INDEX_MASK, other & INDEX_MASK);
            calls.deliver(late, Err(CallFailure::Refused));
            calls.deliver(late, Err(CallFailure::Refused));
            calls.forget(other);
            let ids = [(); 2].map(|()| calls.add(Caller::Thread, 2).unwrap());
            assert!(ids.iter().any(|id| id & INDEX_MASK == late & INDEX_MASK));
            ids.into_iter().for_each(|id| calls.forget(id));
        }
        for n in 0..3 * GivenUp::MOST {
            give_up(&mut calls, n % 2 == 0);
        }
        assert!(calls.entries.len() <= GivenUp::MOST + 2 && calls.given_up.len() <= GivenUp::MOST);
        assert_eq!((calls.active(), calls.tasks_waiting()), (0, false));
    }

    #[test]
    fn a_table_that_was_long_is_short_again_and_no_number_comes_again_soon() {
        const MANY: usize = 300;
        let mut calls = Calls::default();
        let mut seen = std::collections::HashSet::new();
        let mut long = 0;
        for round in 1..=3 {
            let ids: Vec<_> = (0..MANY).map(|_| calls.add(Caller::Thread, MANY).unwrap()).collect();
            long = long.max(calls.entries.len());
            assert!(ids.iter().all(|id| seen.insert(*id)), "round {round}");
            // As long as one of the last is under way, the others before it are used.
            let (last, others) = ids.split_last().unwrap();
            others.iter().for_each(|id| calls.forget(*id));
            let single = |calls: &mut Calls| {
                let id = calls.add(Caller::Thread, MANY).unwrap();
                calls.forget(id);
                id
            };
            assert!((0..MANY + round).all(|_| seen.insert(single(&mut calls))), "round {round}");
            calls.forget(*last);
            assert!((0..2 * MANY).all(|_| seen.insert(single(&mut calls))), "round {round}");
            assert!(calls.entries.len() <= KEEP && calls.entries.capacity() <= 2 * KEEP);
            assert_eq!(calls.active(), 0);
        }
        assert_eq!(long, MANY);
    }

    #[test]
    fn the_end_reaches_every_caller() {
        let mut calls = Calls::default();
        let a = calls.add(Caller::Thread, 8).unwrap();
        let b = calls.add(Caller::Task(None), 8).unwrap();
        calls.end(&CallFailure::Lost("gone".into()));
        for id in [a, b] {
            assert!(matches!(calls.take(id), Some(Err(CallFailure::Lost(_)))));
        }
        assert_eq!(calls.add(Caller::Thread, 8), Err(CallFailure::NotStarted));
        assert!(!calls.tasks_waiting() && !calls.more_to_come());
    }

    #[test]
    fn no_call_begins_once_there_were_none() {
        let mut calls = Calls::default();
        let id = calls.add(Caller::Thread, 8).unwrap();
        assert!(!calls.end_unused(CallFailure::NotStarted));
        calls.forget(id);
        assert!(calls.end_unused(CallFailure::NotStarted));
        assert_eq!(calls.add(Caller::Thread, 8), Err(CallFailure::NotStarted));
    }
}
