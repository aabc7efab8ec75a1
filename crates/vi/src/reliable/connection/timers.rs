//! What time brings.

use std::time::Duration;

use super::{Connection, Known};
use crate::reliable::{Broken, Reason, Sink, Source};

fn sooner(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// After so many timeouts in a row, long frames may be what does not arrive.
const LENGTH_SUSPECT: u32 = 3;
/// So many round trips pass at least before a silent peer is dead.
const ANSWERS: u32 = 4;
/// After so many timeouts a silent peer hears more from here, if it may not know yet that this end is where it says.
const UNKNOWN: u32 = 4;

impl<S: Source, R: Sink> Connection<S, R> {
    /// When to call [`handle_timeout`](Self::handle_timeout), and then [`transmit`](Self::transmit), at the latest.
    pub fn timeout(&self) -> Option<Duration> {
        if self.broken.is_some() {
            return self.farewell.map(|farewell| farewell.at);
        }
        let due = sooner(self.received.due(), self.recovery.deadline(self.peer.ack_delay));
        // Of these two only one is possible.
        let peer = self.asks_at().or_else(|| self.dies_at());
        let doubts = self.doubt.filter(|doubt| doubt.asks).map(|doubt| doubt.until);
        let end = self.finishing.map(|finishing| finishing.until);
        sooner(sooner(due, peer), sooner(self.pace_opens(), sooner(doubts, end)))
    }

    /// Time has passed; calls before the [timeout](Self::timeout) do nothing.
    pub fn handle_timeout(&mut self, now: Duration) {
        if self.broken.is_some() {
            return;
        }
        self.settle();
        if self.dies_at().is_some_and(|at| at <= now) {
            return self.break_off(Broken::TimedOut, Some(Reason::TimedOut));
        }
        if self.finishing.is_some_and(|finishing| finishing.until <= now) {
            // Otherwise the peer would take what it has for all there was.
            return self.reset(Reason::TimedOut);
        }
        if self.recovery.loss_is_due(now) {
            self.find_lost(now, self.recovery.probes());
        } else if self.recovery.deadline(self.peer.ack_delay).is_some_and(|at| at <= now) {
            self.probe(now);
        }
        self.ping_due |= self.asks_at().is_some_and(|at| at <= now) || self.doubts(now);
    }

    /// Whether somebody denied the connection, and is to be asked again now.
    fn doubts(&mut self, now: Duration) -> bool {
        let doubt = self.doubt.as_mut().filter(|doubt| doubt.asks && doubt.until <= now);
        doubt.map(|doubt| doubt.asks = false).is_some()
    }

    pub(super) fn probe(&mut self, now: Duration) {
        let outbox = &mut self.outbox;
        let octets = self.mtu.current();
        self.probes_due = self.recovery.probe(now, octets, |piece| outbox.send_again(piece));
        self.notice_due = self.finishing.is_some();
        self.stats.probes += 1;
        if self.recovery.probes() == LENGTH_SUSPECT && !self.peer.refuses {
            self.mtu.fall_back(now);
            self.congestion.set_packet(self.mtu.current());
        }
    }

    /// When a silent peer is asked whether it is alive, or heard all.
    fn asks_at(&self) -> Option<Duration> {
        let idle = self.recovery.count() == 0 && self.peer.heard && self.peer.validated;
        let interval = match self.peer.knows_us {
            Known::Yes => self.config.keep_alive,
            // What it asks for may not come here, and it may send nothing more.
            Known::No | Known::Asked(_) => Some(UNKNOWN * self.recovery.timeout(self.peer.ack_delay)),
        };
        interval.filter(|_| idle).map(|interval| self.peer.last_heard + interval)
    }

    /// When a peer that does not answer counts as dead. One that has not shown that it is where it says has been asked since the
    /// beginning, and is not heard until it answers.
    fn dies_at(&self) -> Option<Duration> {
        if !self.peer.validated {
            return Some(self.peer.last_heard + self.config.death);
        }
        let asked = self.recovery.count() > 0;
        asked.then(|| self.peer.last_heard.max(self.waiting_since) + self.death())
    }

    /// How long a peer that is asked may be silent: long enough that it can answer when it is asked for the third time.
    pub(super) fn death(&self) -> Duration {
        self.config.death.max(ANSWERS * self.recovery.rtt().typical())
    }
}
