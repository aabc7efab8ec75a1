//! Both ends of a channel: who calls, and who answers each call once.

use smoltcp::time::{Duration, Instant};

use super::{super::transport::End, header::Call};
use crate::{Layer, Message, Upper};

/// How long a caller waits at first before it asks again, and at most.
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LEAST_WAIT: Duration = Duration::from_millis(10);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// How often a request is sent while nobody says anything.
const TRIES: u32 = 8;
/// How long a server remembers a call: a copy of the request is lost by then (RFC 9293's maximum segment lifetime is two
/// minutes; the datagrams below are at home in one site).
pub(super) const REMEMBERED: Duration = Duration::from_secs(60);
/// Incarnations of a caller that are known to be over.
const OVER: usize = 4;

/// See the module.
pub(super) struct Session {
    pub upper: Upper,
    pub below: Option<Layer>,
    pub local: End,
    pub remote: End,
    pub role: Role,
    /// When the wheel wakes it, if it is in the wheel.
    woken: Option<Instant>,
}

#[derive(Default)]
pub(super) enum Role {
    Caller(Caller),
    Server(Server),
    /// The session has been removed.
    #[default]
    None,
}

impl Default for Session {
    fn default() -> Self {
        let nobody = (smoltcp::wire::IpAddress::v4(0, 0, 0, 0), 0);
        Self {
            upper: Upper::Itself,
            below: None,
            local: nobody,
            remote: nobody,
            role: Role::None,
            woken: None,
        }
    }
}

impl Session {
    pub fn new(upper: Upper, below: Layer, local: End, remote: End, role: Role) -> Self {
        Self { upper, below: Some(below), local, remote, role, woken: None }
    }

    /// When it is due; whether the wheel must be told.
    pub fn arm(&mut self) -> Option<Instant> {
        let due = match &self.role {
            Role::Caller(caller) => caller.pending.as_ref().map(|pending| pending.due),
            Role::Server(server) => server.forgotten(),
            Role::None => None,
        }?;
        if self.woken.is_some_and(|woken| woken <= due) {
            return None;
        }
        self.woken = Some(due);
        Some(due)
    }

    /// The wheel has woken it, or another that had its slot.
    pub fn wake(&mut self, now: Instant) {
        if self.woken.is_some_and(|woken| woken <= now) {
            self.woken = None;
        }
    }
}

/// Who calls: one call at a time.
#[derive(Default)]
pub(super) struct Caller {
    pub pending: Option<Asked>,
    /// The time a call took lately, and how much that varies (RFC 6298).
    smoothed: Option<(Duration, Duration)>,
}

/// A call that has not been answered.
pub(super) struct Asked {
    pub call: Call,
    /// What was sent, to be sent again; its header is in front.
    pub request: Message,
    asked: Instant,
    pub due: Instant,
    /// How often it was sent since the server was heard of.
    tries: u32,
    /// Whether it was sent more than once: then nobody knows how long an answer took (Karn).
    repeated: bool,
}

impl Caller {
    pub fn ask(&mut self, call: Call, request: Message, now: Instant) {
        let due = now + self.wait(1);
        self.pending = Some(Asked { call, request, asked: now, due, tries: 1, repeated: false });
    }

    /// The answer has come. The memory of the request, if this call was pending.
    pub fn answered(&mut self, call: Call, now: Instant) -> Option<Message> {
        let asked = self.pending.take_if(|asked| asked.call == call)?;
        if !asked.repeated {
            self.measure(now - asked.asked);
        }
        Some(asked.request)
    }

    /// The server is at work: it gets all the time it needs, as long as it says so.
    pub fn patience(&mut self, call: Call, now: Instant) {
        let wait = LONGEST_WAIT;
        if let Some(asked) = self.pending.as_mut().filter(|asked| asked.call == call) {
            (asked.tries, asked.repeated, asked.due) = (1, true, now + wait);
        }
    }

    /// Whether it is time to ask again; `None` when that was done too often.
    pub fn again(&mut self, now: Instant) -> Option<bool> {
        let Some(asked) = self.pending.as_ref().filter(|asked| asked.due <= now) else { return Some(false) };
        let tries = asked.tries + 1;
        if tries > TRIES {
            return None;
        }
        let due = now + self.wait(tries);
        if let Some(asked) = &mut self.pending {
            (asked.tries, asked.repeated, asked.due) = (tries, true, due);
        }
        Some(true)
    }

    fn wait(&self, tries: u32) -> Duration {
        let first = self.smoothed.map_or(FIRST_WAIT, |(time, variation)| time + variation * 4);
        (first.max(LEAST_WAIT) * (1 << (tries - 1))).min(LONGEST_WAIT)
    }

    fn measure(&mut self, took: Duration) {
        let (time, variation) = self.smoothed.unwrap_or((took, took / 2));
        let off = if took > time { took - time } else { time - took };
        self.smoothed = Some(((time * 7 + took) / 8, (variation * 3 + off) / 4));
    }
}

/// Who answers.
pub(super) struct Server {
    /// The last call, if there was one.
    call: Option<Call>,
    pub state: State,
    /// Incarnations before this one. What still comes of them was answered long ago.
    over: heapless::Deque<u32, OVER>,
    used: Instant,
}

pub(super) enum State {
    /// The user has the request.
    Working,
    /// The reply, to be sent again if it is asked for; `None` if there is none, or was no room to keep it.
    Answered(Option<Message>),
}

/// What a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    /// Something new.
    New,
    /// What is being worked on, or something new before that is done.
    Early,
    /// What was answered last.
    Again,
    /// What was answered before.
    Old,
}

impl Server {
    pub fn new(now: Instant) -> Self {
        Self { call: None, state: State::Answered(None), over: heapless::Deque::new(), used: now }
    }

    pub fn asks(&self, call: Call) -> Asks {
        let Some(last) = self.call else { return Asks::New };
        let working = matches!(self.state, State::Working);
        if call.incarnation != last.incarnation {
            return match self.over.iter().any(|over| *over == call.incarnation) {
                true => Asks::Old,
                false if working => Asks::Early,
                false => Asks::New,
            };
        }
        match (call.sequence.wrapping_sub(last.sequence) as i32, working) {
            (..0, _) => Asks::Old,
            (0, false) => Asks::Again,
            (1.., false) => Asks::New,
            (0.., true) => Asks::Early,
        }
    }

    /// Begins to work on a new call. What was kept of the one before is returned.
    pub fn begin(&mut self, call: Call, now: Instant) -> Option<Message> {
        if let Some(last) = self.call.filter(|last| last.incarnation != call.incarnation) {
            if self.over.is_full() {
                self.over.pop_front();
            }
            // There is room now.
            let _ = self.over.push_back(last.incarnation);
        }
        (self.call, self.used) = (Some(call), now);
        match std::mem::replace(&mut self.state, State::Working) {
            State::Answered(kept) => kept,
            State::Working => None,
        }
    }

    /// The call that the user has been given and has not answered.
    pub fn working_on(&self) -> Option<Call> {
        self.call.filter(|_| matches!(self.state, State::Working))
    }

    /// The work on a call is over, with a reply to be sent again or none. However long that took, whoever waits may just have asked
    /// again.
    pub fn end(&mut self, kept: Option<Message>, now: Instant) {
        (self.state, self.used) = (State::Answered(kept), now);
    }

    /// When nothing of it needs to be known any more.
    pub fn forgotten(&self) -> Option<Instant> {
        matches!(self.state, State::Answered(_)).then_some(self.used + REMEMBERED)
    }
}
