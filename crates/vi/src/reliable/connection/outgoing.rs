//! What goes out.

use std::time::Duration;

use super::{AMPLIFICATION, Connection, FAREWELLS, Farewell, Known, Transmit};
use crate::reliable::{
    Level, Reason, Sink, Source,
    frame::{FrameWriter, Header, Opening, RESET, Reset},
    pacing::Pace,
};

/// No frame is begun in a buffer shorter than this: header, a full acknowledgement, a full opening, and some content.
const LEAST_BUFFER: usize = 512;

/// Why a frame is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Messages, as many as there is room for.
    Messages,
    /// To be acknowledged, with messages or without.
    Probe,
    /// To see whether so long a frame arrives.
    Length(u16),
    /// To tell the peer of credit, or to hear whether it lives.
    Ping,
    /// Only to acknowledge.
    Acknowledge,
}

impl<S: Source, R: Sink> Connection<S, R> {
    /// Writes the next datagram to be sent now into `buffer`, if there is any. A buffer shorter than 512 octets gets
    /// none; one that is shorter than frames may be makes them shorter.
    pub fn transmit(&mut self, now: Duration, buffer: &mut [u8]) -> Option<Transmit> {
        if buffer.len() < LEAST_BUFFER {
            return None;
        }
        if self.broken.is_some() {
            return self.transmit_reset(now, buffer);
        }
        if let Some(transmit) = self.transmit_loose(buffer) {
            return Some(transmit);
        }
        let Some(purpose) = self.purpose(now, buffer.len()) else { return self.transmit_notice(buffer) };
        let transmit = self.write(now, purpose, buffer);
        self.stats.sent += 1;
        self.peer.octets_to += transmit.length as u64;
        Some(transmit)
    }

    /// Whether [`transmit`](Self::transmit) may have something to say.
    #[inline]
    pub fn may_transmit(&self) -> bool {
        self.outbox.has_something()
            || self.received.due().is_some()
            || self.probes_due > 0
            || self.ping_due
            || self.fills_frames
            || self.notice_due
            || self.has_news_of_room()
            || self.broken.is_some()
            || self.level == Level::Unreliable
    }

    /// The next part of an unreliable message: nothing holds it back, but to an address that may be another's.
    fn transmit_loose(&mut self, buffer: &mut [u8]) -> Option<Transmit> {
        let end = usize::from(self.config.unreliable_frame).min(buffer.len());
        if !self.loose_outbox.has_something() || end > self.allowance() {
            return None;
        }
        let header = self.header(false, self.inbox.credit());
        let mut frame = FrameWriter::new(&mut buffer[..end], &header);
        if self.route.from_opener && !self.peer.heard {
            frame.open(&Opening { level: self.level, name: self.name.octets() });
            self.cookie.into_iter().for_each(|cookie| frame.cookie(cookie));
        }
        frame.unreliable();
        self.loose_outbox.write(&mut frame);
        let length = frame.finish();
        self.stats.sent += 1;
        self.peer.octets_to += length as u64;
        Some(Transmit { length, ect: false })
    }

    fn transmit_reset(&mut self, now: Duration, buffer: &mut [u8]) -> Option<Transmit> {
        let farewell = self.farewell.filter(|farewell| farewell.at <= now)?;
        let Farewell { reason, left, .. } = farewell;
        let affordable = self.allowance() >= RESET;
        let interval = self.recovery.timeout(Duration::ZERO) * (1 << (FAREWELLS - left).min(FAREWELLS));
        self.farewell =
            (left > 1 && affordable).then(|| Farewell { left: left - 1, at: now + interval, reason });
        if !affordable {
            return None;
        }
        // Nothing is sent again: whatever the peer has, it need not wait.
        Some(self.write_reset(reason, self.outbox.completed(), buffer))
    }

    /// Tells the peer, once all messages left that may, after which of them the connection ends. It may hear of it only now: this
    /// process may be gone when they are acknowledged.
    fn transmit_notice(&mut self, buffer: &mut [u8]) -> Option<Transmit> {
        let due = self.notice_due && !self.outbox.has_something() && self.allowance() >= RESET;
        if !due {
            return None;
        }
        self.notice_due = false;
        // Those that wait for room at the peer are among them.
        Some(self.write_reset(Reason::Closed, self.outbox.end(), buffer))
    }

    fn write_reset(&mut self, reason: Reason, messages: u64, buffer: &mut [u8]) -> Transmit {
        let length = Reset { route: self.route, reason, messages: messages as u32 }.write(buffer);
        self.stats.sent += 1;
        self.peer.octets_to += length as u64;
        Transmit { length, ect: false }
    }

    /// Octets that may be sent to the peer's address, which may be another's as long as it did not answer.
    fn allowance(&self) -> usize {
        if self.peer.validated {
            return usize::MAX;
        }
        let most = self.peer.octets_from.saturating_mul(AMPLIFICATION);
        usize::try_from(most.saturating_sub(self.peer.octets_to)).unwrap_or(usize::MAX)
    }

    fn purpose(&mut self, now: Duration, room: usize) -> Option<Purpose> {
        if self.allowance() < FrameWriter::HEADER + self.received.octets() {
            // There will be another acknowledgement when more has come in. Neither the window nor the pace is waited for.
            self.received.keep_silent();
            self.limited = false;
            return None;
        }
        let acknowledge = self.received.due().is_some_and(|due| due <= now);
        if self.probes_due > 0 && self.recovery.has_room_for_probe() {
            return Some(Purpose::Probe);
        }
        let has_messages = self.outbox.has_something();
        let open = self.window_is_open() && self.pace_is_open(now);
        self.limited = has_messages && !open;
        if open && let Some(length) = self.length_wanted(now, room) {
            return Some(Purpose::Length(length));
        }
        if open && has_messages {
            return Some(Purpose::Messages);
        }
        // Who acknowledges nothing is told by frames that nothing is remembered of.
        let may_ask = !self.recovery.is_full();
        if may_ask && (self.ping_due || self.has_news_of_room()) {
            return Some(Purpose::Ping);
        }
        let asks = may_ask && self.is_in_doubt();
        acknowledge.then_some(if asks { Purpose::Ping } else { Purpose::Acknowledge })
    }

    /// Whether the peer is to be asked for an acknowledgement, since one of both has not shown that it is where it says: who
    /// answers does. It is asked once, and again by probes.
    fn is_in_doubt(&self) -> bool {
        let asked = self.recovery.count() > 0;
        match self.peer.knows_us {
            Known::No => true,
            Known::Asked(_) => !asked,
            Known::Yes => !self.peer.validated && !asked,
        }
    }

    pub(super) fn window_is_open(&self) -> bool {
        let under_way = self.recovery.octets();
        let fits = under_way + u64::from(self.mtu.current()) <= self.congestion.window();
        !self.recovery.is_full() && (fits && !self.is_crowded() || under_way == 0)
    }

    /// Once the network has been too full, or lossy, packets count whatever their length: short messages wait, and leave
    /// together in frames that are full, or when packets have arrived.
    fn is_crowded(&self) -> bool {
        !self.congestion.is_starting()
            && self.recovery.count() as u64 >= self.most_packets()
            && !self.outbox.fills(usize::from(self.mtu.current()) - FrameWriter::HEADER)
    }

    /// As many packets as the peer acknowledges at a time are never too many.
    fn most_packets(&self) -> u64 {
        let packets = self.congestion.window() / u64::from(self.mtu.current());
        packets.max(self.config.ack_every.into())
    }

    pub(super) fn pace(&self) -> Pace {
        let (rtt, starting) = (self.recovery.rtt().smoothed(), self.congestion.is_starting());
        let packet = self.mtu.current();
        Pace::new(self.congestion.window(), rtt, starting, packet, self.config.granularity)
    }

    fn pace_is_open(&mut self, now: Duration) -> bool {
        if !self.config.pacing {
            return true;
        }
        self.pacer.fill(now, self.pace());
        self.pacer.is_open(self.mtu.current())
    }

    /// When something that waits for the pace may leave.
    pub(super) fn pace_opens(&self) -> Option<Duration> {
        let waits = self.config.pacing && self.limited && self.window_is_open();
        waits.then(|| self.pacer.opens(self.mtu.current(), self.pace()))
    }

    fn length_wanted(&mut self, now: Duration, room: usize) -> Option<u16> {
        if !self.fills_frames || !self.peer.heard {
            return None;
        }
        // One that is cut would tell of a length that it has not.
        let room = room.min(self.allowance());
        self.mtu.wanted(now).filter(|length| usize::from(*length) <= room)
    }

    /// Whether the peer may have to wait for room that there is.
    #[inline]
    pub(crate) fn has_news_of_room(&self) -> bool {
        self.credit_is_news() || self.room_is_news()
    }

    /// Whether there may be room for a message that was refused.
    #[inline]
    pub(in crate::reliable) fn room_is_news(&self) -> bool {
        self.inbox.room_is_news() && self.broken.is_none()
    }

    /// Whether the peer knows of less than half of the credit that it could have.
    #[inline]
    fn credit_is_news(&self) -> bool {
        let (credit, completed) = (self.inbox.credit(), self.inbox.completed());
        let unknown = credit > self.told_credit;
        unknown && 2 * self.told_credit.saturating_sub(completed) < credit - completed && self.peer.heard
    }

    fn write(&mut self, now: Duration, purpose: Purpose, buffer: &mut [u8]) -> Transmit {
        let elicits = purpose != Purpose::Acknowledge;
        let length = match purpose {
            Purpose::Length(length) => length,
            _ => self.mtu.current(),
        };
        let end = usize::from(length).min(buffer.len()).min(self.allowance());
        let credit = self.inbox.credit();
        let header = self.header(elicits, credit);
        let number = header.number;
        let mut frame = FrameWriter::new(&mut buffer[..end], &header);
        self.received.acknowledge(now, &mut frame);
        if self.inbox.has_refused() {
            frame.refused();
        }
        if self.route.from_opener && !self.peer.heard {
            frame.open(&Opening { level: self.level, name: self.name.octets() });
            self.cookie.into_iter().for_each(|cookie| frame.cookie(cookie));
        }
        if elicits {
            self.inbox.told_room();
            self.add_messages(&mut frame);
            if purpose == Purpose::Probe || self.waits_for_room() {
                frame.at_once();
            }
        }
        if let Purpose::Length(length) = purpose {
            frame.pad(length.into());
            self.mtu.probe_sent(number, length);
        }
        let length = frame.finish();
        if elicits {
            self.eliciting_sent(now, length as u16, credit);
        }
        Transmit { length, ect: elicits && self.congestion.wants_marks() }
    }

    #[inline]
    pub(super) fn header(&self, elicits: bool, credit: u64) -> Header {
        Header {
            route: self.route,
            elicits,
            number: self.recovery.next_number(),
            credit: credit as u32,
            completed: self.inbox.completed() as u32,
            floor: self.recovery.floor_distance(),
            promise: self.config.promise(),
        }
    }

    /// Whether more is to be sent than the window has room for, beside the packet that is being written.
    fn waits_for_room(&self) -> bool {
        let packet = u64::from(self.mtu.current());
        let full = self.recovery.octets() + 2 * packet > self.congestion.window();
        self.outbox.has_something() && (full || self.recovery.count() as u64 + 1 >= self.most_packets())
    }

    fn add_messages(&mut self, frame: &mut FrameWriter<'_>) {
        let mut fresh = true;
        while let Some(piece) = self.outbox.write(frame, fresh) {
            self.recovery.add_piece(piece);
            fresh = false;
        }
        self.fills_frames |= self.outbox.has_something();
    }

    #[inline]
    pub(super) fn eliciting_sent(&mut self, now: Duration, length: u16, credit: u64) {
        if self.recovery.count() == 0 {
            self.waiting_since = now;
        }
        if self.peer.knows_us == Known::No && self.received.has_any() {
            self.peer.knows_us = Known::Asked(self.recovery.next_number());
        }
        self.recovery.sent(now, length, credit);
        self.pacer.sent(length.into());
        self.told_credit = self.told_credit.max(credit);
        self.probes_due = self.probes_due.saturating_sub(1);
        self.ping_due = false;
    }
}
