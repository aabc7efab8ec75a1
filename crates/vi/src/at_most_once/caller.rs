//! The caller's side: calls repeated until their replies come.

use std::time::Duration;

use super::{Call, CallId, CallerId, Times, WINDOW};
use crate::reliable::rtt::RoundTrip;

/// No repetition comes sooner after the one before.
const LEAST_INTERVAL: Duration = Duration::from_millis(1);
/// Intervals double up to so many times.
const MAX_DOUBLINGS: u32 = 8;
/// What is settled is told after so long a time without a call that could tell it.
const ACKNOWLEDGE_AFTER: Duration = Duration::from_millis(200);

/// A call of which it is not known whether it was carried out: no reply came in time. It will not be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenUp<Q> {
    /// The call's number.
    pub number: u64,
    /// Its request.
    pub request: Q,
}

struct Outstanding<Q> {
    request: Q,
    began: Duration,
    /// When it is sent, for the first time or again.
    send_at: Duration,
    sent: u32,
}

/// One who calls a server. Requests are of type `Q`, perhaps a buffer; they are shown whenever they are to be sent.
pub struct Caller<Q> {
    id: CallerId,
    times: Times,
    next: u64,
    settled: u64,
    /// The calls from `settled` on, each at its number modulo the window.
    window: Box<[Option<Outstanding<Q>>]>,
    round_trip: RoundTrip,
    /// When news of what is settled is sent by itself.
    acknowledge_at: Option<Duration>,
}

impl<Q> Caller<Q> {
    /// A caller whose id and index are random. `initial` is assumed for the time until a reply.
    pub fn new(id: CallerId, times: Times, initial: Duration) -> Self {
        let window = (0..WINDOW).map(|_| None).collect();
        let round_trip = RoundTrip::new(initial);
        Self { id, times, next: 0, settled: 0, window, round_trip, acknowledge_at: None }
    }

    /// Who calls.
    pub fn id(&self) -> CallerId {
        self.id
    }

    /// Makes a call and returns its number.
    ///
    /// # Errors
    /// Gives the request back if too many calls are outstanding: the oldest that is not settled is [`WINDOW`] calls ago.
    pub fn call(&mut self, now: Duration, request: Q) -> Result<u64, Q> {
        if self.next - self.settled >= WINDOW {
            return Err(request);
        }
        let number = self.next;
        self.next += 1;
        self.window[place(number)] = Some(Outstanding { request, began: now, send_at: now, sent: 0 });
        Ok(number)
    }

    /// What is to be sent now, if anything is.
    pub fn transmit(&mut self, now: Duration) -> Option<(CallId, Call<&Q>)> {
        let (id, settled) = (self.id, self.settled);
        let due = |number: &u64| {
            self.waiting(*number).is_some_and(|call| call.send_at <= now && self.may_send(call, now))
        };
        if let Some(number) = (settled..self.next).find(due) {
            self.acknowledge_at = None;
            let interval = self.interval();
            let call = self.window[place(number)].as_mut().expect("just found");
            call.send_at = now + interval * (1 << call.sent.min(MAX_DOUBLINGS));
            call.sent += 1;
            return Some((CallId { caller: id, number, settled }, Call::Request(&call.request)));
        }
        self.acknowledge_at.take_if(|at| *at <= now)?;
        Some((CallId { caller: id, number: self.next, settled }, Call::Acknowledgement))
    }

    fn waiting(&self, number: u64) -> Option<&Outstanding<Q>> {
        self.window[place(number)].as_ref()
    }

    /// The server forgets what it carried out when calls can't be repeated any more: not one later.
    fn may_send(&self, call: &Outstanding<Q>, now: Duration) -> bool {
        now - call.began < self.times.repeats
    }

    fn interval(&self) -> Duration {
        self.round_trip.probe_timeout(LEAST_INTERVAL, Duration::ZERO)
    }

    /// A reply came. Gives the request back if it is the first reply of an outstanding call; others are to be ignored.
    pub fn reply(&mut self, now: Duration, number: u64) -> Option<Q> {
        if !(self.settled..self.next).contains(&number) {
            return None;
        }
        let call = self.window[place(number)].take()?;
        if call.sent == 1 {
            // Only then is it known which packet was answered.
            self.round_trip.sample(now.saturating_sub(call.began), Duration::ZERO);
        }
        self.settle(now);
        Some(call.request)
    }

    fn settle(&mut self, now: Duration) {
        while self.settled < self.next && self.window[place(self.settled)].is_none() {
            self.settled += 1;
            self.acknowledge_at = Some(now + ACKNOWLEDGE_AFTER);
        }
    }

    /// A call that got no reply in time. To be called until there is none.
    pub fn give_up(&mut self, now: Duration) -> Option<GivenUp<Q>> {
        let over = |call: &Outstanding<Q>| now.saturating_sub(call.began) >= self.times.repeats;
        let number = (self.settled..self.next).find(|number| self.waiting(*number).is_some_and(over))?;
        let call = self.window[place(number)].take()?;
        self.settle(now);
        Some(GivenUp { number, request: call.request })
    }

    /// When to ask [`give_up`](Self::give_up) and [`transmit`](Self::transmit) again.
    pub fn timeout(&self) -> Option<Duration> {
        let calls = (self.settled..self.next).filter_map(|number| self.waiting(number));
        let times = calls.map(|call| call.send_at.min(call.began + self.times.repeats));
        times.chain(self.acknowledge_at).min()
    }

    /// How many calls wait for their replies.
    pub fn outstanding(&self) -> usize {
        (self.settled..self.next).filter(|number| self.waiting(*number).is_some()).count()
    }
}

fn place(number: u64) -> usize {
    (number % WINDOW) as usize
}
