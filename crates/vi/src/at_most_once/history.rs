//! What a server remembers of one caller.

use std::time::Duration;

use super::{CallerId, WINDOW, replies::Replies};

/// What is known of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It has not come in.
    Unseen,
    /// It is being carried out.
    UnderWay,
    /// It has been carried out, and this is its reply.
    Replied(u32),
    /// It has been carried out, and there is no reply.
    ReplyLost,
}

/// The calls of a caller that are not settled.
pub struct History {
    pub caller: CallerId,
    pub last_heard: Duration,
    /// Calls below are settled.
    settled: u64,
    /// Of `settled` and the calls that follow, each at its number modulo the window.
    window: Box<[Progress; WINDOW as usize]>,
    under_way: u32,
}

impl History {
    /// Of a caller that has just been heard of.
    pub fn new(caller: CallerId, settled: u64, now: Duration) -> Self {
        let window = Box::new([Progress::Unseen; WINDOW as usize]);
        Self { caller, last_heard: now, settled, window, under_way: 0 }
    }

    /// Starts anew for another caller, in the same memory. The replies must have been dropped.
    pub fn reuse(&mut self, caller: CallerId, settled: u64, now: Duration) {
        self.window.fill(Progress::Unseen);
        (self.caller, self.settled, self.last_heard, self.under_way) = (caller, settled, now, 0);
    }

    /// Calls below are settled: their replies are dropped.
    pub fn settle(&mut self, settled: u64, replies: &mut Replies) {
        let end = settled.min(self.settled + WINDOW);
        for number in self.settled..end {
            if let Progress::Replied(at) = self.set(number, Progress::Unseen) {
                replies.drop_reply(at);
            }
        }
        self.settled = self.settled.max(settled);
    }

    /// Drops all replies.
    pub fn settle_all(&mut self, replies: &mut Replies) {
        self.settle(self.settled + WINDOW, replies);
    }

    /// Whether a call is settled.
    pub fn is_settled(&self, number: u64) -> bool {
        number < self.settled
    }

    /// Whether a call is further ahead than callers may be.
    pub fn is_beyond(&self, number: u64) -> bool {
        number >= self.settled && number - self.settled >= WINDOW
    }

    /// What is known of a call that is neither settled nor beyond the window.
    pub fn progress(&self, number: u64) -> Progress {
        self.window[(number % WINDOW) as usize]
    }

    fn set(&mut self, number: u64, progress: Progress) -> Progress {
        std::mem::replace(&mut self.window[(number % WINDOW) as usize], progress)
    }

    /// A call is begun.
    pub fn begin(&mut self, number: u64) {
        self.set(number, Progress::UnderWay);
        self.under_way += 1;
    }

    /// A call is over; its reply is remembered unless nobody wants it any more. Returns whether it is.
    pub fn finish(&mut self, number: u64, outcome: Progress) -> bool {
        self.under_way -= 1;
        let wanted = !self.is_settled(number);
        if wanted {
            self.set(number, outcome);
        }
        wanted
    }

    /// Whether calls are being carried out.
    pub fn is_busy(&self) -> bool {
        self.under_way > 0
    }
}
