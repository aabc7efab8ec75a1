//! One end of a reliable connection.

mod incoming;
mod outgoing;
mod short;
mod timers;

use std::time::Duration;

use super::{
    Broken, Config, Event, Lengthen, Level, MAX_MESSAGE, MAX_NAME, Reason, Sink, Source,
    congestion::Congestion,
    frame::{AckHeader, MAX_NUMBER, Opening, Route},
    inbox::Inbox,
    loose::{LooseInbox, LooseOutbox},
    mtu::PathMtu,
    outbox::Outbox,
    pacing::Pacer,
    received::Received,
    recovery::Recovery,
};

/// To an address that has not proved to be the peer's, so many times as much is sent as came from it.
const AMPLIFICATION: u64 = 3;
/// Messages that a peer may be ahead by, whatever credit it gives.
const MAX_CREDIT: u64 = 1 << 16;

/// One end of a connection: messages go in, datagrams come out, and the other way round.
///
/// After whatever changes something ([`post_send`](Self::post_send), [`post_receive`](Self::post_receive),
/// [`take_short`](Self::take_short), [`handle`](Self::handle), [`handle_timeout`](Self::handle_timeout), [`close`](Self::close)), call
/// [`transmit`](Self::transmit) and [`event`](Self::event) until they have nothing more to say.
pub struct Connection<S, R> {
    config: Config,
    /// Of the frames that this end sends.
    route: Route,
    level: Level,
    name: Name,
    outbox: Outbox<S>,
    inbox: Inbox<R>,
    loose_outbox: LooseOutbox<S>,
    loose_inbox: LooseInbox<R>,
    lengthen: Option<Lengthen<R>>,
    received: Received,
    recovery: Recovery,
    congestion: Box<dyn Congestion>,
    pacer: Pacer,
    mtu: PathMtu,
    peer: Peer,
    /// The credit in packets that are not known to be lost.
    told_credit: u64,
    /// The credit in packets that arrived.
    known_credit: u64,
    probes_due: u8,
    ping_due: bool,
    /// Whether the window, or the pace, kept something from being sent.
    limited: bool,
    /// Whether frames were filled to the last octet: then longer ones would help.
    fills_frames: bool,
    /// Since when packets have been under way without a break.
    waiting_since: Duration,
    connected_due: bool,
    broken: Option<Broken>,
    broken_due: bool,
    farewell: Option<Farewell>,
    finishing: Option<Finishing>,
    /// Whether the peer is still to hear that this side is finishing.
    notice_due: bool,
    /// The peer ended the connection after so many messages.
    ends_after: Option<u64>,
    doubt: Option<Doubt>,
    /// An acknowledgement that came with a message: what it means is found out once the answer has left.
    unsettled: Option<Unsettled>,
    /// To be shown with the opening.
    cookie: Option<u64>,
    stats: Stats,
}

/// An acknowledgement without gaps, and when it came.
#[derive(Clone, Copy)]
struct Unsettled {
    header: AckHeader,
    came: Duration,
    /// All packets of the peer's before are settled.
    floor: u64,
}

/// What is known of the peer.
struct Peer {
    heard: bool,
    /// Whether its address is known to be its own.
    validated: bool,
    last_heard: Duration,
    /// Whether it said that it has no memory for what it was sent.
    refuses: bool,
    ack_delay: Duration,
    marked: u32,
    octets_from: u64,
    octets_to: u64,
    knows_us: Known,
}

/// Whether the peer knows that this end is where it says. As long as it does not it may send only so much, and may be waiting to
/// hear more from here: an end that falls silent then would keep it from repeating what was lost (RFC 9002, 6.2.2.1).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// It has been sent no acknowledgement in a packet that it has to acknowledge.
    No,
    /// In this one, and all that follow.
    Asked(u64),
    Yes,
}

/// What the peer is told of the end, several times, since nobody acknowledges it.
#[derive(Clone, Copy)]
struct Farewell {
    reason: Reason,
    left: u8,
    at: Duration,
}

/// Until when the peer may take what was sent before the connection ends: longer while it does, but not for ever.
#[derive(Clone, Copy)]
struct Finishing {
    until: Duration,
    at_most: Duration,
}

/// A peer that takes what was sent, however slowly, has so many times as long as one that does not.
const PATIENCE: u32 = 12;

/// Somebody at the peer's address does not know the connection. It may be somebody else: what was sent to another one can
/// come here, and the other way round.
#[derive(Clone, Copy)]
struct Doubt {
    /// How often that was said, nothing else in between.
    denials: u8,
    /// What is said before this answers what was sent before the last denial. Then the peer is asked again.
    until: Duration,
    /// Whether that is still to be done.
    asks: bool,
}

/// After so many denials the connection is no more.
const DENIALS: u8 = 4;

/// So often the peer is told, unless it answers.
const FAREWELLS: u8 = 4;

/// The name in an opening.
#[derive(Clone, Copy)]
struct Name {
    octets: [u8; MAX_NAME],
    length: u8,
}

/// A datagram to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Octets of the datagram.
    pub length: usize,
    /// Whether queues may mark it: to be sent with ECT(0).
    pub ect: bool,
}

/// What a connection has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Datagrams sent, acknowledgements among them.
    pub sent: u64,
    /// Datagrams received.
    pub received: u64,
    /// Packets received more than once, or too late.
    pub duplicates: u64,
    /// Packets refused for want of a buffer.
    pub refused: u64,
    /// Packets that counted as lost.
    pub lost: u64,
    /// Times that the peer was probed after silence.
    pub probes: u64,
    /// Octets of a frame now.
    pub frame: u16,
    /// Octets that may be under way now.
    pub window: u64,
    /// The smoothed round trip.
    pub rtt: Duration,
}

impl<S: Source, R: Sink> Connection<S, R> {
    /// Opens a connection to whatever the peer has by a name of at most [`MAX_NAME`] octets; the rest is cut off.
    ///
    /// `random` is 128 bits nobody can guess: the connection's id, and where packet numbers start.
    pub fn open(config: &Config, level: Level, name: &[u8], random: [u64; 2], now: Duration) -> Self {
        let route = Route { connection: random[0], from_opener: true };
        Self::new(config, level, Name::new(name), route, random[1], now)
    }

    /// Answers an opening; `random` is 64 bits nobody can guess. The frame with the opening is to be
    /// [handled](Self::handle) next.
    pub fn accept(config: &Config, route: Route, opening: &Opening<'_>, random: u64, now: Duration) -> Self {
        let route = Route { from_opener: false, ..route };
        Self::new(config, opening.level, Name::new(opening.name), route, random, now)
    }

    /// The peer has shown that it is where it says, before there was a connection.
    pub(super) fn is_proved(&mut self) {
        self.peer.validated = true;
    }

    fn new(config: &Config, level: Level, name: Name, route: Route, random: u64, now: Duration) -> Self {
        // Half of the numbers are left, which is enough for ever.
        let first = random % (MAX_NUMBER / 2);
        // Whoever answers an opening is told of credit in the same frame as the first message.
        let credit = if route.from_opener { config.initial_credit } else { 0 };
        Self {
            route,
            level,
            name,
            outbox: Outbox::new(credit.into(), config.max_sends),
            inbox: Inbox::new(config.max_receives.min(MAX_CREDIT as usize)),
            loose_outbox: LooseOutbox::new(config.max_sends),
            loose_inbox: LooseInbox::new(config.max_receives),
            lengthen: None,
            received: Received::new(),
            recovery: Recovery::new(first, config.initial_rtt, config.granularity),
            congestion: (config.congestion)(config.first_frame()),
            pacer: Pacer::new(now),
            mtu: PathMtu::new(config.max_frame),
            peer: Peer::new(route.from_opener, now),
            told_credit: 0,
            known_credit: 0,
            probes_due: 0,
            // The peer hears of a connection even if there is no message for it, and of its answer at once.
            ping_due: true,
            limited: false,
            fills_frames: false,
            waiting_since: now,
            connected_due: false,
            broken: None,
            broken_due: false,
            farewell: None,
            finishing: None,
            notice_due: false,
            ends_after: None,
            doubt: None,
            unsettled: None,
            cookie: None,
            stats: Stats::default(),
            config: config.clone(),
        }
    }

    /// The connection's id and this end's direction.
    pub fn route(&self) -> Route {
        self.route
    }

    /// The level that was chosen when the connection was opened.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The name that the opener wanted to reach.
    pub fn name(&self) -> &[u8] {
        self.name.octets()
    }

    /// Why the connection is broken, if it is.
    pub fn broken(&self) -> Option<Broken> {
        self.broken
    }

    /// Sends a message, with 32 bits of the caller's. It waits until the peer has a buffer for it.
    ///
    /// # Errors
    /// Gives the message back if it is longer than [`MAX_MESSAGE`], the limit of sends is reached, or the connection is
    /// broken.
    pub fn post_send(&mut self, message: S, immediate: Option<u32>) -> Result<(), S> {
        if self.broken.is_some() || message.len() > MAX_MESSAGE {
            return Err(message);
        }
        match self.level {
            Level::Unreliable => self.loose_outbox.post(message, immediate),
            _ => self.outbox.post(message, immediate),
        }
    }

    /// Gives a buffer for one message; messages take the buffers in the order posted.
    ///
    /// # Errors
    /// Gives the buffer back if the limit of receives is reached, or the connection is broken.
    pub fn post_receive(&mut self, buffer: R) -> Result<(), R> {
        if self.broken.is_some() {
            return Err(buffer);
        }
        match self.level {
            Level::Unreliable => self.loose_inbox.post(buffer),
            _ => self.inbox.post(buffer),
        }
    }

    /// From now on messages may be longer than the buffers posted for them, as far as those can be lengthened.
    pub fn lengthen_by(&mut self, lengthen: Lengthen<R>) {
        self.lengthen = Some(lengthen);
    }

    /// The next thing that happened.
    pub fn event(&mut self) -> Option<Event<S, R>> {
        let event = self.event_at_hand(true);
        if event.is_none() && self.settle() { self.event_at_hand(true) } else { event }
    }

    /// As [`event`](Self::event), but for acknowledgements that are put off; and without messages received and what comes after
    /// them, unless the caller takes messages or the connection is broken.
    pub(super) fn event_at_hand(&mut self, takes: bool) -> Option<Event<S, R>> {
        if std::mem::take(&mut self.connected_due) {
            return Some(Event::Connected);
        }
        if let Some(message) = self.outbox.take_complete(self.level) {
            return Some(Event::Sent(message, Ok(())));
        }
        if self.level == Level::Unreliable
            && let Some(message) = self.loose_outbox.take_gone()
        {
            return Some(Event::Sent(message, Ok(())));
        }
        if !takes && self.broken.is_none() {
            return None;
        }
        if let Some((buffer, arrived)) = self.inbox.take_complete() {
            return Some(Event::Received(buffer, Ok(arrived)));
        }
        if self.level == Level::Unreliable
            && let Some((buffer, result)) = self.loose_inbox.take_complete()
        {
            return Some(Event::Received(buffer, result));
        }
        self.broken.and_then(|broken| self.flush(broken))
    }

    /// Whether everything that was posted to be sent is complete, be it taken or not.
    pub fn all_sent(&self) -> bool {
        self.outbox.all_complete(self.level) && !self.loose_outbox.has_something()
    }

    /// Whether [`event`](Self::event) would return one.
    pub fn has_event(&self) -> bool {
        self.connected_due
            || self.outbox.has_complete(self.level)
            || self.inbox.has_complete()
            || self.level == Level::Unreliable
                && (self.loose_outbox.has_gone() || self.loose_inbox.has_complete())
            || self.broken.is_some() && self.has_outstanding()
    }

    fn has_outstanding(&self) -> bool {
        self.broken_due
            || !self.outbox.is_empty()
            || !self.inbox.is_empty()
            || self.loose_outbox.has_something()
            || !self.loose_inbox.is_empty()
    }

    /// Everything outstanding completes with an error.
    fn flush(&mut self, broken: Broken) -> Option<Event<S, R>> {
        if let Some(message) = self.outbox.take_oldest().or_else(|| self.loose_outbox.take_waiting()) {
            return Some(Event::Sent(message, Err(broken)));
        }
        let buffer = self.inbox.take_broken(broken).or_else(|| self.loose_inbox.take_posted(broken));
        if let Some((buffer, error)) = buffer {
            return Some(Event::Received(buffer, Err(error)));
        }
        std::mem::take(&mut self.broken_due).then_some(Event::Broken(broken))
    }

    /// Ends the connection at once. What is outstanding comes back with an error, and the peer is told if it can be.
    pub fn close(&mut self) {
        self.break_off(Broken::Closed, Some(Reason::Closed));
    }

    /// As [`close`](Self::close), with another reason to tell the peer.
    pub fn reset(&mut self, reason: Reason) {
        self.break_off(Broken::Closed, Some(reason));
    }

    /// Ends the connection once the peer has what was sent. Nothing more is received: the buffers posted come back. What
    /// is sent must stay as it is; `detach` may replace it by a copy. A peer that takes nothing for as long as a
    /// [dead](Config::death) one is waited for, or not all in 12 times as long, is told that something is lost.
    pub fn finish(&mut self, now: Duration, detach: impl FnMut(&mut S), returned: impl FnMut(R)) {
        self.settle();
        self.outbox.sources().for_each(detach);
        self.inbox.take_all().for_each(returned);
        let at_most = now + PATIENCE * self.config.death;
        self.finishing = Some(Finishing { until: now, at_most });
        self.goes_on(now);
        self.notice_due = true;
        self.finish_if_done();
    }

    /// Ends the connection if either side wanted that, and the other one has all that was sent.
    fn finish_if_done(&mut self) {
        if self.ends_after.is_some_and(|messages| self.inbox.completed() >= messages) {
            self.break_off(Broken::Reset(Reason::Closed), Some(Reason::Closed));
            // Whoever said farewell needs one answer.
            self.farewell.iter_mut().for_each(|farewell| farewell.left = 1);
        } else if self.finishing.is_some() && self.outbox.all_arrived() {
            self.close();
        }
    }

    /// The peer takes what was sent, or has taken some of it.
    fn goes_on(&mut self, now: Duration) {
        let death = self.death();
        if let Some(Finishing { until, at_most }) = &mut self.finishing {
            *until = (*at_most).min(now + death);
        }
    }

    fn break_off(&mut self, broken: Broken, reset: Option<Reason>) {
        if self.broken.is_none() {
            self.settle();
            self.broken = Some(broken);
            self.broken_due = true;
            self.farewell = reset.map(|reason| Farewell { reason, left: FAREWELLS, at: Duration::ZERO });
            self.outbox.stop();
        }
    }

    /// Nobody has the peer's address (any more).
    pub fn unreachable(&mut self) {
        // What was sent again may have been taken the first time, by somebody who is gone since; and what was sent before
        // another message, too.
        let repeated = self.stats.lost > 0 || self.stats.probes > 0;
        let several = self.stats.sent > 1 && self.outbox.begun() > 1;
        let asked = self.peer.heard || (repeated || several) && !self.all_sent();
        let reason = if asked { Reason::Unknown } else { Reason::NobodyListens };
        self.farewell = None;
        self.break_off(Broken::Reset(reason), None);
    }

    /// Whether nothing more will come: broken, all events taken, the peer told.
    pub fn is_finished(&self) -> bool {
        self.broken.is_some() && !self.broken_due && self.farewell.is_none()
    }

    /// Whether the peer is known to be where it says.
    pub fn is_verified(&self) -> bool {
        self.peer.validated
    }

    /// Asks the peer whether it is there.
    pub(crate) fn ask(&mut self) {
        self.ping_due = true;
    }

    /// Whether the peer has answered.
    pub(crate) fn has_heard(&self) -> bool {
        self.peer.heard
    }

    /// When anything came from the peer, or the connection began.
    pub(crate) fn last_heard(&self) -> Duration {
        self.peer.last_heard
    }

    /// Figures.
    pub fn stats(&self) -> Stats {
        let (frame, window) = (self.mtu.current(), self.congestion.window());
        Stats { frame, window, rtt: self.recovery.rtt().smoothed(), ..self.stats }
    }
}

impl Peer {
    /// What an opener knows, or whoever it opens to.
    fn new(opener: bool, now: Duration) -> Self {
        Self {
            heard: false,
            // Whoever opens is the one who chose the address.
            validated: opener,
            knows_us: if opener { Known::No } else { Known::Yes },
            last_heard: now,
            refuses: false,
            ack_delay: Duration::ZERO,
            marked: 0,
            octets_from: 0,
            octets_to: 0,
        }
    }
}

impl Name {
    fn new(name: &[u8]) -> Self {
        let mut octets = [0; MAX_NAME];
        let length = name.len().min(MAX_NAME);
        octets[..length].copy_from_slice(&name[..length]);
        Self { octets, length: length as u8 }
    }

    fn octets(&self) -> &[u8] {
        &self.octets[..self.length.into()]
    }
}
