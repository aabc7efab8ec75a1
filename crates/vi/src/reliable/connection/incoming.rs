//! What comes in.

use std::{ops::Range, time::Duration};

use super::{Connection, DENIALS, Doubt, Known, MAX_CREDIT, Unsettled};
use crate::reliable::{
    Broken, Ecn, Level, Reason, Sink, Source,
    congestion::{Acked, Lost},
    expand,
    frame::{AckHeader, Acknowledgement, Datagram, Frame, Header, Reset, Retry},
    inbox::Placed,
    outbox::Outbox,
    recovery::{Losses, Packet, Pieces},
};

impl<S: Source, R: Sink> Connection<S, R> {
    /// Takes a datagram in that came for this connection; `octets` is how long it was, and `ecn` what its IP header said.
    /// What is wrong with it counts as if it had been lost.
    pub fn handle(&mut self, now: Duration, ecn: Ecn, datagram: &Datagram<'_>, octets: usize) {
        let route = datagram.route();
        let foreign =
            route.connection != self.route.connection || route.from_opener == self.route.from_opener;
        if foreign {
            return;
        }
        if self.broken.is_some() {
            self.hear_farewell(datagram);
            return;
        }
        self.stats.received += 1;
        self.peer.octets_from += octets as u64;
        match datagram {
            Datagram::Frame(frame) => self.handle_frame(now, ecn, frame),
            Datagram::Reset(reset) if reset.reason == Reason::Unknown => self.hear_denial(now),
            Datagram::Reset(reset) => self.hear_end(reset),
            Datagram::Retry(retry) => self.hear_retry(now, retry),
        }
        self.finish_if_done();
    }

    fn hear_end(&mut self, reset: &Reset) {
        if reset.reason == Reason::Closed && self.finishing.is_none() {
            // A count that is far behind is not believed, and the end comes at once.
            let messages = expand(reset.messages, self.inbox.completed());
            self.ends_after = Some(messages.unwrap_or_default());
        } else {
            let answer = (reset.reason == Reason::Closed).then_some(Reason::Closed);
            self.break_off(Broken::Reset(reset.reason), answer);
        }
    }

    /// Nothing of what was sent has been kept.
    fn hear_retry(&mut self, now: Duration, retry: &Retry) {
        if self.peer.heard || self.cookie == Some(retry.cookie) {
            return;
        }
        self.cookie = Some(retry.cookie);
        self.ping_due = true;
        if self.recovery.count() > 0 {
            self.probe(now);
        }
    }

    /// What has been refused is sent again. That does not mean congestion.
    fn hear_room(&mut self, now: Duration) {
        self.settle();
        self.peer.refuses = false;
        let Self { recovery, outbox, mtu, told_credit, known_credit, .. } = self;
        recovery.heard();
        recovery.find_refused(now, |packet, pieces| {
            mtu.refused(packet.number);
            send_again(packet, pieces, outbox, told_credit, *known_credit);
        });
    }

    /// A peer that has forgotten the connection says so whenever it is asked.
    fn hear_denial(&mut self, now: Duration) {
        let Doubt { denials, until, .. } =
            self.doubt.unwrap_or(Doubt { denials: 0, until: now, asks: false });
        if now < until {
            return;
        }
        if denials + 1 == DENIALS {
            return self.break_off(Broken::Reset(Reason::Unknown), None);
        }
        let until = now + self.recovery.timeout(Duration::ZERO);
        self.doubt = Some(Doubt { denials: denials + 1, until, asks: true });
    }

    /// The peer knows of the end when it says so, and hears of it again when it does not.
    fn hear_farewell(&mut self, datagram: &Datagram<'_>) {
        match (datagram, &mut self.farewell) {
            (Datagram::Reset(_), farewell) => *farewell = None,
            (Datagram::Frame(_), Some(farewell)) => farewell.at = Duration::ZERO,
            (Datagram::Frame(_), None) | (Datagram::Retry(_), _) => {}
        }
    }

    fn handle_frame(&mut self, now: Duration, ecn: Ecn, frame: &Frame<'_>) {
        let header = &frame.header;
        let Some((credit, completed)) = self.believable(header) else { return };
        self.peer.ack_delay = Duration::from_micros(8 * u64::from(header.promise));
        let had_refused = self.peer.refuses;
        self.peer.refuses |= frame.refused;
        if let Some(acknowledgement) = &frame.acknowledgement
            && self.hear_acknowledgement(now, acknowledgement, header.elicits).is_none()
        {
            return;
        }
        let first = !std::mem::replace(&mut self.peer.heard, true);
        self.connected_due |= first && self.route.from_opener;
        if self.peer.validated {
            self.peer.last_heard = now;
        }
        self.doubt = None;
        self.outbox.set_credit(credit, first);
        self.outbox.set_completed(completed);
        self.outbox.drop_silent(self.level);
        if had_refused && !frame.refused {
            self.hear_room(now);
        }
        if header.elicits {
            self.handle_content(now, ecn, frame);
        } else if frame.unreliable && self.level == Level::Unreliable {
            let Self { loose_inbox, lengthen, .. } = self;
            frame.segments().take(1).for_each(|segment| loose_inbox.place(&segment, lengthen));
        }
        self.received.raise_floor(header.number.saturating_sub(header.floor.into()));
    }

    /// The credit and the count of completed messages, unless the latter can't be.
    #[inline]
    pub(super) fn believable(&self, header: &Header) -> Option<(u64, u64)> {
        let begun = self.outbox.begun();
        let completed = expand(header.completed, self.outbox.completed())?;
        let credit = expand(header.credit, self.outbox.credit())?;
        (completed <= begun).then_some((credit.min(begun + MAX_CREDIT), completed))
    }

    fn handle_content(&mut self, now: Duration, ecn: Ecn, frame: &Frame<'_>) {
        let number = frame.header.number;
        if self.received.is_duplicate(number) {
            self.stats.duplicates += 1;
            return self.received.hurry(now);
        }
        let mut stored = true;
        for segment in frame.segments() {
            match self.inbox.place(&segment, &mut self.lengthen) {
                Placed::Stored => {}
                Placed::NoRoom => stored = false,
                Placed::TooLong => return self.break_off(Broken::TooLong, Some(Reason::TooLong)),
                Placed::Contradiction => return self.break_off(Broken::Violation, Some(Reason::Violation)),
            }
        }
        if stored {
            self.received.record(now, number, ecn, self.config.ack_policy());
            if frame.at_once {
                self.received.hurry(now);
            }
        } else {
            // The peer is told how much room there is.
            self.stats.refused += 1;
            self.received.hurry(now);
        }
    }

    /// `None` if the acknowledgement is forged. One that comes with a message is put off until the answer has left: most tell
    /// nothing that the answer depends on.
    fn hear_acknowledgement(
        &mut self,
        now: Duration,
        acknowledgement: &Acknowledgement<'_>,
        with_message: bool,
    ) -> Option<()> {
        self.settle();
        let header = acknowledgement.header;
        if with_message && acknowledgement.is_whole() && self.peer.validated && self.peer.heard {
            let possible = header.largest < self.recovery.next_number();
            return possible.then(|| self.unsettled = Some(Unsettled { header, came: now, floor: 0 }));
        }
        self.acknowledged(now, &header, acknowledgement.ranges())
    }

    /// Takes in what was put off; whether there was anything.
    pub fn settle(&mut self) -> bool {
        let Some(Unsettled { header, came, floor }) = self.unsettled.take() else { return false };
        if self.broken.is_none() {
            let end = header.largest + 1;
            self.acknowledged(came, &header, std::iter::once(end - u64::from(header.first)..end));
            self.outbox.drop_silent(self.level);
            self.received.raise_floor(floor);
        }
        true
    }

    /// `None` if the acknowledgement is forged.
    fn acknowledged(
        &mut self,
        now: Duration,
        header: &AckHeader,
        ranges: impl Iterator<Item = Range<u64>>,
    ) -> Option<()> {
        let delay = Duration::from_micros(header.delay.into()).min(self.peer.ack_delay);
        let (probes, under_way) = (self.recovery.probes(), self.recovery.octets());
        let (mtu, outbox, known) = (&mut self.mtu, &mut self.outbox, &mut self.known_credit);
        let (mut longer, mut some) = (false, false);
        let arrivals = self.recovery.acknowledged(now, delay, ranges, |packet, mut pieces| {
            longer |= mtu.acknowledged(packet.number, packet.size);
            *known = packet.credit.max(*known);
            some |= pieces.len() > 0;
            pieces.by_ref().for_each(|piece| outbox.arrived(piece));
        })?;
        if some {
            self.goes_on(now);
        }
        if longer {
            self.congestion.set_packet(self.mtu.current());
        }
        if arrivals.packets == 0 {
            return Some(());
        }
        self.peer.validated = true;
        if let Known::Asked(number) = self.peer.knows_us
            && number <= header.largest
        {
            self.peer.knows_us = Known::Yes;
        }
        let rtt = self.recovery.rtt();
        let acked = Acked {
            octets: arrivals.octets,
            packets: arrivals.packets,
            marked: newly_marked(&mut self.peer.marked, header.marked).min(arrivals.packets),
            ecn: header.ecn,
            sent: arrivals.sent,
            latest: self.recovery.latest().saturating_sub(delay),
            smoothed: rtt.smoothed(),
            least: rtt.least(),
            limited_by_window: self.limited || 2 * under_way > self.congestion.window(),
        };
        self.congestion.acknowledged(now, &acked);
        self.find_lost(now, probes);
        Some(())
    }

    /// Finds lost packets and has their content sent again. `probes` is how often the peer was probed in vain.
    pub(super) fn find_lost(&mut self, now: Duration, probes: u32) {
        let (mtu, outbox, stats) = (&mut self.mtu, &mut self.outbox, &mut self.stats);
        let (told, known) = (&mut self.told_credit, self.known_credit);
        // Then the network need not have lost it.
        let refused = self.peer.refuses;
        let before = mtu.current();
        let Losses { congestion } = self.recovery.find_lost(now, |packet, pieces| {
            stats.lost += 1;
            send_again(packet, pieces, outbox, told, known);
            if refused {
                mtu.refused(packet.number);
            }
            !refused && !mtu.lost(now, packet.number, packet.size)
        });
        if let Some(sent) = congestion {
            self.congestion.lost(now, &Lost { sent, persistent: probes >= 3 });
        }
        if self.mtu.current() != before {
            self.congestion.set_packet(self.mtu.current());
        }
    }
}

/// Has the content of a packet that did not arrive sent again: messages, and the credit that it told the peer of, if it was the
/// last to do so; `known` is what others told it.
fn send_again<S: Source>(
    packet: &Packet,
    pieces: Pieces<'_>,
    outbox: &mut Outbox<S>,
    told: &mut u64,
    known: u64,
) {
    if packet.credit >= *told {
        *told = known;
    }
    pieces.for_each(|piece| outbox.send_again(*piece));
}

/// How many more marks there are than before, counted in 31 bits. Counts of old frames, which are less, change nothing.
fn newly_marked(known: &mut u32, told: u32) -> u64 {
    let new = told.wrapping_sub(*known) & (u32::MAX >> 1);
    if new > u32::MAX >> 2 {
        return 0;
    }
    *known = told;
    new.into()
}
