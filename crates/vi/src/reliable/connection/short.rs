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
            && !self.peer.refuses
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
        let floor = header.number.saturating_sub(header.floor.into());
        self.unsettled = Some(Unsettled { header: *acknowledgement, came: now, floor });
        self.received.record_next(now, ecn, self.config.ack_policy());
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

    /// Writes the frame of a message of at most [`MAX_SHORT`] octets into `buffer`, to leave at once; none if anything is in the
    /// way, which [`post_send`](Self::post_send) knows how to go round. The message is [posted](Self::lone_left) once the frame
    /// has left, before anything else.
    #[inline]
    pub(in crate::reliable) fn write_lone(
        &self,
        now: Duration,
        octets: &[u8],
        buffer: &mut [u8],
    ) -> Option<Transmit> {
        let acknowledgement = self.received.lone(now)?;
        let free = self.is_calm()
            && self.outbox.is_free()
            && !self.inbox.has_refused()
            && self.probes_due == 0
            && !self.config.pacing
            && octets.len() <= MAX_SHORT
            && usize::from(self.mtu.current()).min(buffer.len()) >= Lone::MOST
            && self.window_is_open();
        if !free {
            return None;
        }
        let header = self.header(true, self.inbox.credit());
        let message = self.outbox.next_leaving() as u32;
        let length = Lone { header, acknowledgement, message, octets }.write(buffer);
        Some(Transmit { length, ect: self.congestion.wants_marks() })
    }

    /// Posts the message whose frame, so long, [was written](Self::write_lone) at this time: what is remembered of it the peer
    /// need not wait for.
    #[inline]
    pub(in crate::reliable) fn lone_left(&mut self, now: Duration, message: S, length: usize) {
        let leaving = self.outbox.post_leaving(message);
        self.received.is_said();
        self.limited = false;
        self.recovery.add_piece(Piece { message: leaving.message, start: 0, end: leaving.length });
        self.eliciting_sent(now, length as u16, self.inbox.credit());
        self.stats.sent += 1;
        self.peer.octets_to += length as u64;
    }
}
