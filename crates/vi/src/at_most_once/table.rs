//! The server's side: which calls to carry out.

use std::{collections::VecDeque, time::Duration};

use throughline_demux::Slot;

use super::{
    CallId, CallerId, Times,
    history::{History, Progress},
    replies::Replies,
};
use crate::reliable::lookup::SourceTable;

/// No caller gets there; so that a window beyond it still ends at a number.
const MAX_NUMBER: u64 = u64::MAX / 2;

/// What a table may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Callers remembered at a time. A caller takes about 600 octets.
    pub callers: usize,
    /// Octets of replies kept.
    pub reply_octets: usize,
}

impl Default for Limits {
    /// 16,384 callers, 64 MB.
    fn default() -> Self {
        Self { callers: 16_384, reply_octets: 64 << 20 }
    }
}

/// What to do about a call that came in.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// Carry it out, and then [`reply`](CallTable::reply) or [`abandon`](CallTable::abandon). Nobody else will be told to.
    CarryOut(Ticket),
    /// It is being carried out. Do nothing.
    UnderWay,
    /// It has been carried out: send the reply again.
    Replied(&'a [u8]),
    /// It has been carried out, and its reply is no longer kept.
    ReplyLost,
    /// The caller has settled it: an old packet. Do nothing.
    Settled,
    /// It has not been carried out, and is not to be, as of now.
    Refused(Refusal),
}

/// Why a call is refused. The caller may repeat it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There are as many callers as the limit allows, and none may be forgotten yet.
    #[error("too many callers")]
    TooManyCallers,
    /// There are as many replies as the limit allows.
    #[error("too many replies are kept")]
    TooManyReplies,
    /// The caller has too many calls outstanding, or settles calls that it has not made.
    #[error("the call's number makes no sense")]
    Number,
    /// The table was lost in a crash, and copies of earlier calls may still come.
    #[error("calls of the time before a crash may still come")]
    Restarting,
}

/// The right, and the duty, to answer a call: a caller is remembered until all of its calls are answered or abandoned.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Ticket {
    slot: Slot,
    number: u64,
}

/// The callers heard of lately, and their replies.
pub struct CallTable {
    retention: Duration,
    limits: Limits,
    table: SourceTable<u64>,
    histories: Vec<History>,
    vacant: Vec<Slot>,
    /// Every caller once, and when it is to be looked at; the earliest first.
    ends: VecDeque<(Duration, Slot)>,
    replies: Replies,
    opens_at: Duration,
}

impl CallTable {
    /// A table that knows nobody. `seed` is 64 bits that nobody can guess.
    pub fn new(times: &Times, limits: Limits, seed: u64) -> Self {
        Self {
            retention: times.retention(),
            limits,
            table: SourceTable::new(limits.callers, seed),
            histories: Vec::new(),
            vacant: Vec::new(),
            ends: VecDeque::new(),
            replies: Replies::new(limits.reply_octets),
            opens_at: Duration::ZERO,
        }
    }

    /// A table in place of one that was lost at `now` or before. It refuses all calls as long as copies of earlier ones may
    /// come.
    pub fn after_crash(times: &Times, limits: Limits, seed: u64, now: Duration) -> Self {
        Self { opens_at: now + times.retention(), ..Self::new(times, limits, seed) }
    }

    /// A call came in.
    pub fn receive(&mut self, now: Duration, call: &CallId) -> Verdict<'_> {
        let number = call.number;
        let slot = match self.hear(now, call) {
            Ok(slot) => slot,
            Err(refusal) => return Verdict::Refused(refusal),
        };
        let history = &mut self.histories[slot.0 as usize];
        if history.is_settled(number) {
            return Verdict::Settled;
        }
        if history.is_beyond(number) {
            return Verdict::Refused(Refusal::Number);
        }
        match history.progress(number) {
            Progress::Unseen if self.replies.is_full() => Verdict::Refused(Refusal::TooManyReplies),
            Progress::Unseen => {
                history.begin(number);
                Verdict::CarryOut(Ticket { slot, number })
            }
            Progress::UnderWay => Verdict::UnderWay,
            Progress::Replied(at) => Verdict::Replied(self.replies.get(at)),
            Progress::ReplyLost => Verdict::ReplyLost,
        }
    }

    /// A caller told what is settled, without a call.
    pub fn acknowledge(&mut self, now: Duration, call: &CallId) {
        if let Some(slot) = self.table.find(&call.caller).filter(|_| is_sensible(call)) {
            self.hear_known(now, slot, call.settled);
        }
    }

    /// The caller's place, which is made if it is not known.
    fn hear(&mut self, now: Duration, call: &CallId) -> Result<Slot, Refusal> {
        if !is_sensible(call) {
            return Err(Refusal::Number);
        }
        if let Some(slot) = self.table.find(&call.caller) {
            self.hear_known(now, slot, call.settled);
            return Ok(slot);
        }
        if now < self.opens_at {
            return Err(Refusal::Restarting);
        }
        self.forget(now);
        self.admit(now, call.caller, call.settled).ok_or(Refusal::TooManyCallers)
    }

    fn hear_known(&mut self, now: Duration, slot: Slot, settled: u64) {
        let history = &mut self.histories[slot.0 as usize];
        history.last_heard = history.last_heard.max(now);
        history.settle(settled, &mut self.replies);
    }

    fn admit(&mut self, now: Duration, caller: CallerId, settled: u64) -> Option<Slot> {
        let slot = match self.vacant.last() {
            Some(slot) => *slot,
            None if self.histories.len() < self.limits.callers => Slot(self.histories.len() as u32),
            None => return None,
        };
        if !self.table.insert(&caller, slot) {
            return None;
        }
        match self.vacant.pop() {
            Some(slot) => self.histories[slot.0 as usize].reuse(caller, settled, now),
            None => self.histories.push(History::new(caller, settled, now)),
        }
        self.ends.push_back((now + self.retention, slot));
        Some(slot)
    }

    /// A call has been carried out. Send the reply; it is kept for the case that it gets lost. Returns whether there was
    /// room to.
    pub fn reply(&mut self, ticket: Ticket, reply: &[u8]) -> bool {
        let kept = self.replies.keep(reply);
        let wanted = self.finish(ticket, kept.map_or(Progress::ReplyLost, Progress::Replied));
        if let Some(at) = kept.filter(|_| !wanted) {
            self.replies.drop_reply(at);
        }
        kept.is_some()
    }

    /// A call has been carried out, or was begun and failed, and has no reply.
    pub fn abandon(&mut self, ticket: Ticket) {
        self.finish(ticket, Progress::ReplyLost);
    }

    fn finish(&mut self, ticket: Ticket, outcome: Progress) -> bool {
        self.histories[ticket.slot.0 as usize].finish(ticket.number, outcome)
    }

    /// When to call [`forget`](Self::forget); new callers have it called, too.
    pub fn timeout(&self) -> Option<Duration> {
        self.ends.front().map(|(at, _)| *at)
    }

    /// Forgets callers of whose calls no copy can come any more.
    pub fn forget(&mut self, now: Duration) {
        while let Some((_, slot)) = self.ends.front().copied().filter(|(at, _)| *at <= now) {
            self.ends.pop_front();
            let history = &mut self.histories[slot.0 as usize];
            let end = history.last_heard + self.retention;
            if history.is_busy() || end > now {
                // Looked at again at its end at the earliest: so nobody is looked at more than once in a retention.
                self.ends.push_back((now + self.retention, slot));
                continue;
            }
            history.settle_all(&mut self.replies);
            self.table.remove(&history.caller);
            self.vacant.push(slot);
        }
    }

    /// How many callers are remembered.
    pub fn callers(&self) -> usize {
        self.histories.len() - self.vacant.len()
    }

    /// Octets of the replies kept.
    pub fn reply_octets(&self) -> usize {
        self.replies.octets()
    }
}

/// Whether a call's numbers are those of a caller who began with 0 and settled only what he had called.
fn is_sensible(call: &CallId) -> bool {
    call.settled <= call.number && call.number <= MAX_NUMBER
}
