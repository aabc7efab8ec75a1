//! The short way of short messages: one in a frame of its own, and neither looked at by what is for longer ones, for losses, or
//! for beginnings and ends. Where any of these has something to say, the general way is taken.

use std::time::Duration;

use super::{Connection, Transmit, Unsettled};
use crate::reliable::{Ecn, Level, MAX_SHORT, Sink, Source, frame::Lone, recovery::Piece};

impl<S: Source, R: Sink> Connection<S, R> {
    /// Whether nothing is being begun, doubted or ended.
    #[inline]
    fn is_calm(&self) -> bool {
        self.peer.heard
            && self.peer.validated
            && self.broken.is_none()
            && self.doubt.is_none()
            && self.finishing.is_none()
            && self.ends_after.is_none()
            && self.level != Level::Unreliable
    }

    /// Takes a frame in that came for this connection; `false` if it needs the [general way](Self::handle).
    #[inline]
    pub(in crate::reliable) fn handle_lone(
        &mut self,
        now: Duration,
        ecn: Ecn,
        frame: &Lone<'_>,
        octets: usize,
    ) -> bool {
        let Lone { header, acknowledgement, message, .. } = frame;
        if !self.is_calm() || !self.received.is_next(header.number) {
            return false;
        }
        let possible = acknowledgement.largest < self.recovery.next_number();
        let Some((credit, completed)) = self.believable(header).filter(|_| possible) else { return false };
        if !self.inbox.place_short(*message, frame.octets) {
            return false;
        }
        self.settle();
        self.stats.received += 1;
        self.peer.octets_from += octets as u64;
        self.peer.ack_delay = Duration::from_micros(8 * u64::from(header.promise));
        self.peer.last_heard = now;
        self.outbox.set_credit(credit, false);
        self.outbox.set_completed(completed);
        self.unsettled = Some(Unsettled { header: *acknowledgement, came: now });
        self.received.record(now, header.number, ecn, self.config.ack_policy());
        self.received.raise_floor(header.number.saturating_sub(header.floor.into()));
        true
    }

    /// Takes the oldest message, if it is a short one that needed no buffer: its length. Octets behind it are overwritten.
    #[inline]
    pub fn take_short(&mut self, into: &mut [u8; MAX_SHORT]) -> Option<usize> {
        self.inbox.take_short(into)
    }

    /// Whether the oldest message is a short one that [`take_short`](Self::take_short) gives.
    #[inline]
    pub(crate) fn has_short(&self) -> bool {
        self.inbox.has_short()
    }

    /// Posts a message of at most [`MAX_SHORT`] octets that leaves with others, by the next [`transmit`](Self::transmit); no
    /// posted message is refused because of it. Gives it back if anything is in the way.
    #[inline]
    pub(crate) fn post_short(&mut self, message: S) -> Result<(), S> {
        let free = self.is_calm() && message.len() <= MAX_SHORT;
        if free { self.outbox.post_short(message) } else { Err(message) }
    }

    /// Posts a message of at most [`MAX_SHORT`] octets and writes its frame into `buffer`, to leave at once. Gives it back if
    /// anything is in the way, which [`post_send`](Self::post_send) knows how to go round.
    #[inline]
    pub(in crate::reliable) fn transmit_lone(
        &mut self,
        now: Duration,
        message: S,
        buffer: &mut [u8],
    ) -> Result<Transmit, S> {
        let acknowledgement = self.received.lone(now);
        let free = self.is_calm()
            && self.outbox.is_free()
            && self.probes_due == 0
            && !self.config.pacing
            && message.len() <= MAX_SHORT
            && usize::from(self.mtu.current()).min(buffer.len()) >= Lone::MOST
            && self.window_is_open();
        let Some(acknowledgement) = acknowledgement.filter(|_| free) else { return Err(message) };
        let mut octets = [0; MAX_SHORT];
        let octets = &mut octets[..message.len()];
        message.read(0, octets);
        let leaving = self.outbox.post_leaving(message);
        let credit = self.inbox.credit();
        let frame = Lone {
            header: self.header(true, credit),
            acknowledgement,
            message: leaving.message as u32,
            octets,
        };
        let length = frame.write(buffer);
        self.received.is_said();
        self.limited = false;
        self.recovery.add_piece(Piece { message: leaving.message, start: 0, end: leaving.length });
        self.eliciting_sent(now, length as u16, credit);
        self.stats.sent += 1;
        self.peer.octets_to += length as u64;
        Ok(Transmit { length, ect: self.congestion.wants_marks() })
    }
}
