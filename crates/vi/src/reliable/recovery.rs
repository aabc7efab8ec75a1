//! Packets under way: what was in them, which arrived, which are lost (RFC 9002, sections 5 and 6).

use std::{
    collections::{VecDeque, vec_deque},
    ops::Range,
    time::Duration,
};

use super::{ROOM, missing::Missing, rtt::RoundTrip};

/// Packets remembered. The distance to the oldest one must fit into a frame's floor.
const MAX_REMEMBERED: usize = 1 << 15;
/// Of these, so many are for probes of a peer that acknowledges nothing: more than leave until it is dead, if it is silent.
const FOR_PROBES: usize = 1 << 10;
/// Packets acknowledged after one that is missing, until that counts as lost: `kPacketThreshold`. It rises where packets
/// are seen to arrive later.
const LEAST_THRESHOLD: u64 = 3;
/// It does not rise further.
const MOST_THRESHOLD: u64 = 1_000;
/// Eighths of a round trip that a packet may be later than others. They rise likewise, to a whole one.
const LEAST_LATENESS: u32 = 1;
const MOST_LATENESS: u32 = 8;
/// So often after something arrived, or was sent after a pause, the peer is probed early: the last packets have no successors
/// that would show their loss.
const EARLY_PROBES: u8 = 3;
/// Packets that leave when the peer has been silent for longer.
const PROBES: u8 = 2;
/// Probe timeouts double up to so many times.
const MAX_DOUBLINGS: u32 = 6;

/// A part of a message that was in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which message.
    pub message: u64,
    /// The octets from here
    pub start: u32,
    /// to here.
    pub end: u32,
}

/// A packet that was sent and wants to be acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Its number.
    pub number: u64,
    /// Octets of the frame.
    pub size: u16,
    /// When it was sent.
    pub sent: Duration,
    /// The credit that it told the peer of.
    pub credit: u64,
    state: State,
    /// The first of its pieces, counted from the beginning of the connection, and how many.
    pieces: (u64, u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    UnderWay,
    /// Its content is being sent again; an acknowledgement may still come.
    Lost,
    Arrived,
}

impl Packet {
    /// It is no more among those under way, of which there are so many octets and so many.
    fn is_lost(&mut self, octets: &mut u64, count: &mut usize) {
        self.state = State::Lost;
        *octets -= u64::from(self.size);
        *count -= 1;
    }
}

/// The pieces of a packet.
pub type Pieces<'a> = vec_deque::Iter<'a, Piece>;

/// What an acknowledgement changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrivals {
    /// Packets that were not known to have arrived.
    pub packets: u64,
    /// Their octets.
    pub octets: u64,
    /// When the latest of them was sent.
    pub sent: Duration,
}

/// What counts as lost since it was last looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Losses {
    /// When the latest of them was sent; if they mean congestion.
    pub congestion: Option<Duration>,
}

/// The packets under way, and the timers for them.
#[derive(Debug)]
pub struct Recovery {
    packets: VecDeque<Packet>,
    /// The number of the first of `packets`.
    first: u64,
    /// Those of them that have not arrived.
    missing: Missing,
    /// None of those before this number is under way.
    settled: u64,
    pieces: VecDeque<Piece>,
    /// Which piece the first of `pieces` is.
    first_piece: u64,
    octets: u64,
    count: usize,
    largest_acked: Option<u64>,
    rtt: RoundTrip,
    latest: Duration,
    granularity: Duration,
    loss_at: Option<Duration>,
    probes: u32,
    /// Early probes that are left.
    early: u8,
    /// When the latest packet was sent, or the peer probed.
    waiting_since: Duration,
    threshold: u64,
    /// Eighths of a round trip.
    lateness: u32,
    /// Packets looked at, whether or not they were found.
    #[cfg(test)]
    looks: u64,
}

impl Recovery {
    /// Nothing under way; the first packet will have this number.
    pub fn new(first: u64, initial_rtt: Duration, granularity: Duration) -> Self {
        Self {
            packets: VecDeque::with_capacity(ROOM),
            first,
            missing: Missing::new(first),
            settled: first,
            pieces: VecDeque::with_capacity(ROOM),
            first_piece: 0,
            octets: 0,
            count: 0,
            largest_acked: None,
            rtt: RoundTrip::new(initial_rtt),
            latest: initial_rtt,
            granularity,
            loss_at: None,
            probes: 0,
            early: 0,
            waiting_since: Duration::ZERO,
            threshold: LEAST_THRESHOLD,
            lateness: LEAST_LATENESS,
            #[cfg(test)]
            looks: 0,
        }
    }

    /// The number of the next packet.
    pub fn next_number(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// How far back the oldest packet is that still matters.
    pub fn floor_distance(&self) -> u16 {
        u16::try_from(self.packets.len()).unwrap_or(u16::MAX)
    }

    /// Octets under way.
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Packets under way.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether no more packets can be remembered for now, but for probes.
    pub fn is_full(&self) -> bool {
        self.packets.len() >= MAX_REMEMBERED - FOR_PROBES
    }

    /// Whether a probe can be remembered, too.
    pub fn has_room_for_probe(&self) -> bool {
        self.packets.len() < MAX_REMEMBERED
    }

    /// The round trip as measured.
    pub fn rtt(&self) -> &RoundTrip {
        &self.rtt
    }

    /// The latest sample of the round trip.
    pub fn latest(&self) -> Duration {
        self.latest
    }

    /// How many probe timeouts passed since anything was acknowledged.
    pub fn probes(&self) -> u32 {
        self.probes
    }

    /// Adds a piece to the packet about to be sent.
    pub fn add_piece(&mut self, piece: Piece) {
        self.pieces.push_back(piece);
    }

    /// A packet with the pieces added since the last one leaves. It has [`next_number`](Self::next_number).
    pub fn sent(&mut self, now: Duration, size: u16, credit: u64) {
        let before =
            self.packets.back().map_or(self.first_piece, |last| last.pieces.0 + u64::from(last.pieces.1));
        let count = self.first_piece + self.pieces.len() as u64 - before;
        let (number, state, pieces) = (self.next_number(), State::UnderWay, (before, count as u16));
        self.packets.push_back(Packet { number, size, sent: now, credit, state, pieces });
        self.missing.add(number);
        self.octets += u64::from(size);
        self.count += 1;
        self.waiting_since = now;
    }

    /// Packets were acknowledged, as the ranges say, the latest first; `delay` is how long the peer waited.
    ///
    /// `None` if a packet is among them that was never sent: the acknowledgement is forged.
    pub fn acknowledged(
        &mut self,
        now: Duration,
        delay: Duration,
        ranges: impl Iterator<Item = Range<u64>>,
        mut arrived: impl FnMut(&Packet, Pieces<'_>),
    ) -> Option<Arrivals> {
        let mut ranges = ranges.peekable();
        let largest = ranges.peek()?.end - 1;
        if largest >= self.next_number() {
            return None;
        }
        let before = self.largest_acked;
        self.largest_acked = before.max(Some(largest));
        let mut arrivals = Arrivals::default();
        for range in ranges {
            // Not those that arrived before: a peer may name thousands of them each time.
            let mut start = range.start.max(self.first);
            while let Some(number) = self.missing.first(start, range.end) {
                self.arrived(number, &mut arrivals, &mut arrived);
                start = number + 1;
            }
        }
        if arrivals.packets > 0 {
            self.heard();
            // Only the largest tells the time: those before it may have been acknowledged late.
            if before.is_none_or(|before| largest > before) {
                self.latest = now.saturating_sub(arrivals.sent);
                self.rtt.sample(self.latest, delay);
            }
        }
        Some(arrivals)
    }

    /// The peer shows that it is there: it is probed early again.
    pub fn heard(&mut self) {
        (self.probes, self.early) = (0, EARLY_PROBES);
    }

    fn arrived(&mut self, number: u64, arrivals: &mut Arrivals, told: &mut impl FnMut(&Packet, Pieces<'_>)) {
        let packet = &mut self.packets[(number - self.first) as usize];
        match packet.state {
            State::Arrived => return,
            State::UnderWay => {
                self.octets -= u64::from(packet.size);
                self.count -= 1;
            }
            // It was only late. Wait longer from now on.
            State::Lost => {
                let late = self.largest_acked.unwrap_or(number).saturating_sub(number) + 1;
                self.threshold = self.threshold.max(late.min(MOST_THRESHOLD));
                self.lateness = (self.lateness + 1).min(MOST_LATENESS);
            }
        }
        packet.state = State::Arrived;
        self.missing.remove(number);
        arrivals.packets += 1;
        arrivals.octets += u64::from(packet.size);
        arrivals.sent = arrivals.sent.max(packet.sent);
        told(packet, pieces_of(&self.pieces, self.first_piece, packet));
    }

    /// Finds what is lost: packets that others have overtaken by too much. `lost` says whether the loss of a packet means
    /// congestion.
    pub fn find_lost(&mut self, now: Duration, mut lost: impl FnMut(&Packet, Pieces<'_>) -> bool) -> Losses {
        self.loss_at = None;
        let mut losses = Losses::default();
        let Some(largest) = self.largest_acked else { return losses };
        if self.count == 0 {
            self.forget(now);
            return losses;
        }
        let delay = self.lateness();
        let overtaken = (largest + 1).saturating_sub(self.first) as usize;
        let start = self.first_unsettled().min(overtaken);
        let mut settled = largest + 1;
        for packet in self.packets.range_mut(start..overtaken) {
            #[cfg(test)]
            (self.looks += 1);
            if packet.state != State::UnderWay {
                continue;
            }
            let late_at = packet.sent + delay;
            if late_at > now && largest - packet.number < self.threshold {
                self.loss_at = Some(self.loss_at.map_or(late_at, |at| at.min(late_at)));
                settled = settled.min(packet.number);
                continue;
            }
            packet.is_lost(&mut self.octets, &mut self.count);
            if lost(packet, pieces_of(&self.pieces, self.first_piece, packet)) {
                losses.congestion = losses.congestion.max(Some(packet.sent));
            }
        }
        self.settled = self.settled.max(settled);
        self.forget(now);
        losses
    }

    /// Packets that are not acknowledged though they could be may have been refused, and are not lost to the network. `refused`
    /// is shown them.
    pub fn find_refused(&mut self, now: Duration, mut refused: impl FnMut(&Packet, Pieces<'_>)) {
        let delay = self.lateness();
        let start = self.first_unsettled();
        self.settled = self.next_number();
        for packet in self.packets.range_mut(start..) {
            #[cfg(test)]
            (self.looks += 1);
            if packet.state != State::UnderWay {
                continue;
            }
            if packet.sent + delay > now {
                // Those behind it were sent later.
                self.settled = packet.number;
                break;
            }
            packet.is_lost(&mut self.octets, &mut self.count);
            refused(packet, pieces_of(&self.pieces, self.first_piece, packet));
        }
        self.forget(now);
    }

    /// How long after it was sent a packet is lost that others have overtaken.
    fn lateness(&self) -> Duration {
        // Not of the latest, as RFC 9002 has it: only packets that others have overtaken are lost, whatever queues do.
        (self.rtt.typical() * (8 + self.lateness) / 8).max(self.granularity)
    }

    /// Forgets the oldest packets, as far as nothing more is expected of them.
    fn forget(&mut self, now: Duration) {
        let mut patience = None;
        while let Some(oldest) = self.packets.front() {
            let long = || self.lateness() + self.timeout(Duration::ZERO);
            let settled = match oldest.state {
                State::UnderWay => false,
                State::Lost => oldest.sent + *patience.get_or_insert_with(long) <= now || self.is_full(),
                State::Arrived => true,
            };
            if !settled {
                break;
            }
            let pieces = oldest.pieces.1;
            for _ in 0..pieces {
                self.pieces.pop_front();
            }
            self.first_piece += u64::from(pieces);
            self.first += 1;
            self.packets.pop_front();
        }
        self.missing.forget_before(self.first);
    }

    /// The time without an acknowledgement after which the peer is probed, before any doubling.
    pub fn timeout(&self, ack_delay: Duration) -> Duration {
        self.rtt.probe_timeout(self.granularity, ack_delay)
    }

    /// When to call [`find_lost`](Self::find_lost), or [`probe`](Self::probe) if nothing counts as lost then.
    pub fn deadline(&self, ack_delay: Duration) -> Option<Duration> {
        if self.count == 0 {
            return self.loss_at;
        }
        let timeout = self.timeout(ack_delay);
        let doubled = match self.early {
            0 => timeout * (1 << self.probes.min(MAX_DOUBLINGS)),
            left => timeout.min(self.rtt.early_timeout(self.granularity) * (1 << (EARLY_PROBES - left))),
        };
        self.loss_at.or_else(|| Some(self.waiting_since + doubled))
    }

    /// Whether losses are due to be found.
    pub fn loss_is_due(&self, now: Duration) -> bool {
        self.loss_at.is_some_and(|at| at <= now)
    }

    /// The peer was silent for too long: shows what is in the oldest packets under way, to be sent again; two of them at
    /// least, and as many as make up so many octets. Those with parts of the oldest message come first, since others may have
    /// been refused until that is there. Returns how many packets should leave.
    pub fn probe(&mut self, now: Duration, octets: u16, mut again: impl FnMut(Piece)) -> u8 {
        let early = self.early > 0;
        if early {
            self.early -= 1;
        } else {
            self.probes += 1;
        }
        self.waiting_since = now;
        let (mut all, mut count) = (0, 0);
        let oldest =
            self.under_way().flat_map(|packet| self.pieces_of(packet)).map(|piece| piece.message).min();
        let first = |packet: &&Packet| self.pieces_of(packet).any(|piece| Some(piece.message) == oldest);
        let packets = self.under_way().filter(first).chain(self.under_way().filter(|packet| !first(packet)));
        for packet in packets {
            all += u64::from(packet.size);
            count += 1;
            if count > 2 && all > u64::from(octets) {
                break;
            }
            self.pieces_of(packet).for_each(|piece| again(*piece));
        }
        if early { 1 } else { PROBES }
    }

    /// Where among the packets the first may be that is under way.
    fn first_unsettled(&self) -> usize {
        self.settled.saturating_sub(self.first) as usize
    }

    fn under_way(&self) -> impl Iterator<Item = &Packet> {
        self.packets.range(self.first_unsettled()..).filter(|packet| packet.state == State::UnderWay)
    }

    fn pieces_of(&self, packet: &Packet) -> Pieces<'_> {
        pieces_of(&self.pieces, self.first_piece, packet)
    }
}

fn pieces_of<'a>(pieces: &'a VecDeque<Piece>, first: u64, packet: &Packet) -> Pieces<'a> {
    let start = (packet.pieces.0 - first) as usize;
    pieces.range(start..start + usize::from(packet.pieces.1))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn sent(count: u64) -> Recovery {
        let mut recovery = Recovery::new(100, 10 * MS, MS);
        for n in 0..count {
            recovery.add_piece(Piece { message: n, start: 0, end: 10 });
            recovery.sent(MS * n as u32, 100, n);
        }
        recovery
    }

    fn lost(recovery: &mut Recovery, now: Duration) -> Vec<u64> {
        let mut lost = Vec::new();
        recovery.find_lost(now, |packet, pieces| {
            assert!(pieces.clone().eq([&Piece { message: packet.number - 100, start: 0, end: 10 }]));
            lost.push(packet.number);
            true
        });
        lost
    }

    fn acknowledge(recovery: &mut Recovery, now: Duration, ranges: &[(u64, u64)]) -> Option<Arrivals> {
        let ranges = ranges.iter().map(|range| range.0..range.1);
        recovery.acknowledged(now, Duration::ZERO, ranges, |_, _| ())
    }

    #[test]
    fn three_later_ones_make_a_packet_lost() {
        let mut recovery = sent(5);
        let arrivals = acknowledge(&mut recovery, 10 * MS, &[(101, 104)]).unwrap();
        assert_eq!((arrivals.packets, arrivals.sent, recovery.count()), (3, 3 * MS, 2));
        assert_eq!(lost(&mut recovery, 7 * MS), [100]);
        assert_eq!(recovery.count(), 1);
    }

    #[test]
    fn time_makes_a_packet_lost() {
        let mut recovery = sent(2);
        acknowledge(&mut recovery, 9 * MS, &[(101, 102)]).unwrap();
        assert_eq!(lost(&mut recovery, 8 * MS), []);
        // 9/8 of the round trip of 8 ms.
        assert_eq!(recovery.deadline(Duration::ZERO), Some(9 * MS));
        assert_eq!(lost(&mut recovery, 9 * MS), [100]);
    }

    #[test]
    fn who_was_late_makes_others_wait_longer() {
        let mut recovery = sent(10);
        acknowledge(&mut recovery, 20 * MS, &[(104, 106)]).unwrap();
        assert_eq!(lost(&mut recovery, 4 * MS), [100, 101, 102]);
        acknowledge(&mut recovery, 20 * MS, &[(104, 106), (100, 101)]).unwrap();
        assert_eq!(recovery.threshold, 6);
    }

    /// The first of many packets is never acknowledged, and every other one only later; each acknowledgement names all that arrived.
    #[test]
    fn an_acknowledgement_costs_what_is_new_in_it() {
        for (lag, refuses) in [(0, false), (2, false), (900, false), (0, true)] {
            let mut recovery = sent(2);
            let mut most = 0;
            for n in 2..30_000 {
                recovery.sent(MS, 100, n);
                let before = recovery.looks + recovery.missing.looks;
                let latest = 100 + n - n % 2;
                let ranges = [(latest, latest + 1), (101, latest.saturating_sub(lag).max(102))];
                acknowledge(&mut recovery, MS, &ranges[..1 + usize::from(n > lag + 2)]).unwrap();
                if refuses {
                    recovery.find_refused(MS, |_, _| ());
                } else {
                    recovery.find_lost(MS, |_, _| false);
                }
                most = most.max(recovery.looks + recovery.missing.looks - before);
            }
            assert_eq!(recovery.packets.len(), 30_000, "{lag} {refuses}");
            assert!(most < 30_000 / 64 + 2 * MOST_THRESHOLD, "{lag} {refuses}: {most}");
        }
    }

    #[test]
    fn what_was_not_sent_cannot_be_acknowledged() {
        let mut recovery = sent(2);
        assert!(acknowledge(&mut recovery, MS, &[(102, 103)]).is_none());
        assert!(acknowledge(&mut recovery, MS, &[(5, 7)]).is_some());
        assert_eq!(recovery.count(), 2);
    }

    #[test]
    fn after_an_arrival_the_first_probes_are_early_and_bring_all_there_is() {
        let mut recovery = sent(4);
        acknowledge(&mut recovery, 10 * MS, &[(100, 101)]).unwrap();
        let mut pieces = Vec::new();
        for doubled in 0..EARLY_PROBES {
            // Twice the round trip of 10 ms, and the granularity.
            let at = recovery.deadline(100 * MS).unwrap();
            assert_eq!(at - recovery.waiting_since, 21 * MS * (1 << doubled));
            assert_eq!(recovery.probe(at, 1_000, |piece| pieces.push(piece.message)), 1);
        }
        assert_eq!(pieces, [1, 2, 3].repeat(EARLY_PROBES.into()));
        assert_eq!(recovery.probes(), 0);
        assert!(recovery.deadline(100 * MS).unwrap() - recovery.waiting_since > 100 * MS);
    }

    #[test]
    fn probes_show_the_oldest_message_first() {
        let mut recovery = sent(2);
        for message in [2, 0, 3] {
            recovery.add_piece(Piece { message, start: 10, end: 20 });
            recovery.sent(10 * MS, 100, 0);
        }
        let mut pieces = Vec::new();
        recovery.probe(20 * MS, 200, |piece| pieces.push((piece.message, piece.start)));
        assert_eq!(pieces, [(0, 0), (0, 10)]);
        pieces.clear();
        acknowledge(&mut recovery, 20 * MS, &[(103, 104), (100, 101)]).unwrap();
        recovery.probe(30 * MS, 200, |piece| pieces.push((piece.message, piece.start)));
        assert_eq!(pieces, [(1, 0), (2, 10)]);
    }

    #[test]
    fn what_is_refused_is_what_could_have_been_acknowledged() {
        let mut recovery = sent(3);
        acknowledge(&mut recovery, 10 * MS, &[(100, 101)]).unwrap();
        let mut refused = Vec::new();
        // 9/8 of the round trip of 10 ms after it was sent.
        recovery.find_refused(Duration::from_micros(12_250), |packet, _| refused.push(packet.number));
        assert_eq!((refused, recovery.count()), (vec![101], 1));
    }

    #[test]
    fn probes_show_the_oldest_and_become_rarer() {
        let mut recovery = sent(3);
        let first = recovery.deadline(MS).unwrap();
        let mut pieces = Vec::new();
        assert_eq!(recovery.probe(first, 200, |piece| pieces.push(piece.message)), PROBES);
        assert_eq!(pieces, [0, 1]);
        let second = recovery.deadline(MS).unwrap();
        assert_eq!(second - first, 2 * (first - 2 * MS));
    }
}
