//! Segments that begin or end a connection, or pretend to. smoltcp takes more of them for true than RFC 9293 and RFC 5961 allow,
//! and says nothing to others that they have answered.

use smoltcp::{
    phy::ChecksumCapabilities,
    socket::tcp::State,
    wire::{IpProtocol, IpRepr, TcpControl, TcpPacket, TcpRepr, TcpSeqNumber},
};
use throughline_demux::Slot;

use super::{Tcp, session::Session};
use crate::{Lower, Message};

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;
/// Where these are in the header.
const FLAGS: usize = 13;

/// Whether a segment, whose header is whole, is one of these.
#[inline]
pub(super) fn is_marked(segment: &[u8]) -> bool {
    segment[FLAGS] & (FIN | SYN | RST) != 0
}

/// Whether a segment is one of a connection that goes on.
pub(super) fn goes_on(segment: &[u8]) -> bool {
    segment[FLAGS] & (SYN | RST) == 0
}

/// Whether a segment asks for a connection.
#[inline]
pub(super) fn asks(segment: &[u8]) -> bool {
    segment[FLAGS] & (FIN | SYN | RST | ACK) == SYN
}

/// The sequence number of a segment whose header is whole.
pub(super) fn sequence(segment: &[u8]) -> TcpSeqNumber {
    TcpPacket::new_unchecked(segment).seq_number()
}

/// Whether a segment, whose header is whole, acknowledges anything.
#[inline]
pub(super) fn acknowledges(segment: &[u8]) -> bool {
    segment[FLAGS] & ACK != 0
}

/// How far a sequence number is behind another one.
pub(super) fn distance(from: TcpSeqNumber, to: TcpSeqNumber) -> i32 {
    to.0.wrapping_sub(from.0)
}

impl Tcp {
    /// Does what smoltcp would not do with such a segment. Whether it is to have the segment now.
    #[cold]
    pub(super) fn look_at_marked(
        &mut self,
        slot: Slot,
        message: &mut Message,
        lower: &mut Lower<'_>,
    ) -> bool {
        let Some(session) = self.sessions.get(slot) else { return false };
        let packet = TcpPacket::new_unchecked(message.bytes());
        let (state, sequence) = (session.state(), packet.seq_number());
        match state {
            State::Closed => true,
            State::Listen | State::SynSent => {
                if packet.syn() {
                    session.unread = sequence + 1;
                }
                if state == State::Listen {
                    self.draw();
                }
                true
            }
            _ if packet.rst() => {
                let ahead = distance(session.next_to_come(), sequence);
                // Who guesses a number in the window does not end a connection; who is asked knows the right one (RFC 5961, 3.2).
                if ahead > 0 && (ahead as usize) < session.room() && state != State::SynReceived {
                    let acknowledged = packet.ack_number();
                    self.challenge(slot, acknowledged, lower);
                }
                ahead == 0
            }
            State::SynReceived if packet.syn() => true,
            // Who has forgotten the connection, and asks for it again, learns that it is there, and can end it (RFC 5961, 4.2).
            _ if packet.syn() => {
                let acknowledged = packet.ack_number();
                self.challenge(slot, acknowledged, lower);
                false
            }
            _ if packet.payload().is_empty() || !packet.ack() => true,
            _ => {
                self.end_behind_data(slot, message, lower);
                false
            }
        }
    }

    /// Takes an end only if all data before it has come. smoltcp takes it too if it has cut some off, since it lies beyond the window,
    /// and not if that data has come before.
    fn end_behind_data(&mut self, slot: Slot, message: &mut Message, lower: &mut Lower<'_>) {
        let Some(session) = self.sessions.get(slot) else { return };
        let packet = TcpPacket::new_unchecked(message.bytes());
        let end = packet.seq_number() + packet.payload().len();
        let (acknowledged, window) = (packet.ack_number(), packet.window_len());
        message.bytes_mut()[FLAGS] &= !FIN;
        let data = message.from(message.network());
        Self::process(&mut self.interface, &mut session.sockets, &mut self.made, data, lower);
        if session.next_to_come() == end {
            self.hand(slot, TcpControl::Fin, (end, acknowledged), window, lower);
        }
    }

    /// Has smoltcp say what it waits for, once a second at most. It does so when it hears the byte before that one, unless it takes
    /// the acknowledgement for an old one. That is true of one half of all numbers; which, it alone knows.
    fn challenge(&mut self, slot: Slot, acknowledged: TcpSeqNumber, lower: &mut Lower<'_>) {
        let Some(session) = self.sessions.get(slot) else { return };
        let before = TcpSeqNumber(session.next_to_come().0.wrapping_sub(1));
        let made = self.made.len();
        for other_half in [0, i32::MIN] {
            let acknowledged = TcpSeqNumber(acknowledged.0.wrapping_add(other_half));
            if self.made.len() == made {
                self.hand(slot, TcpControl::None, (before, acknowledged), 0, lower);
            }
        }
    }

    /// Has smoltcp go on that has data on its way, or to send, and has stopped the timer by which it would repeat it. It does
    /// that when room is told of that lies before what it has sent, and when there is none at the time at which it would
    /// repeat. After three acknowledgements that say the same it repeats the first data, whatever room there is, and if none
    /// is on its way it sends what fits into this little room; so the other end is heard of.
    #[cold]
    pub(super) fn go_on(&mut self, slot: Slot, lower: &mut Lower<'_>) {
        // The first two, which differ, are new to it.
        for window in [2, 1, 1, 1, 1] {
            let Some(session) = self.sessions.get(slot) else { return };
            let (next, acknowledged) = (session.next_to_come(), session.unacknowledged);
            self.hand(slot, TcpControl::None, (next, acknowledged), window, lower);
        }
    }

    /// Has smoltcp hear what a segment acknowledges that it would not take otherwise (RFC 9293, 3.10.7.4, where there is no room).
    #[cold]
    pub(super) fn hear(&mut self, slot: Slot, segment: &[u8], lower: &mut Lower<'_>) {
        let Some(session) = self.sessions.get(slot) else { return };
        let window = TcpPacket::new_unchecked(segment).window_len();
        let (next, acknowledged) = (session.next_to_come(), session.unacknowledged);
        self.hand(slot, TcpControl::None, (next, acknowledged), window, lower);
    }

    /// Has smoltcp hear what a segment acknowledges whose data lies behind the end (RFC 9293, 3.10.7.4): it would take that.
    #[cold]
    pub(super) fn ignore_data(&mut self, slot: Slot, segment: &[u8], lower: &mut Lower<'_>) {
        let Some(session) = self.sessions.get(slot) else { return };
        if acknowledges(segment) {
            session.note_acknowledged(segment);
            let (next, packet) = (session.next_to_come(), TcpPacket::new_unchecked(segment));
            let numbers = (next, packet.ack_number());
            self.hand(slot, TcpControl::None, numbers, packet.window_len(), lower);
        }
    }

    /// Ends a connection that has [waited](Session::has_waited) so that what has come stays for its user, who is told of the end behind
    /// it. smoltcp leaves that alone at a reset, and not when it ends by itself.
    #[cold]
    pub(super) fn conclude(&mut self, slot: Slot, lower: &mut Lower<'_>) {
        let Some(session) = self.sessions.get(slot) else { return };
        let end = session.next_to_come();
        self.hand(slot, TcpControl::Rst, (end, TcpSeqNumber(0)), 0, lower);
    }

    /// Has smoltcp know, before there is a connection, how much it takes of what comes. In a SYN a window has no scale (RFC 7323, 2.2), but
    /// smoltcp gives it one, and would take what lies beyond its buffer until it has told another window. So it is asked for
    /// one, by a byte that came before, and that is not sent.
    #[cold]
    pub(super) fn narrow(&mut self, slot: Slot, segment: &[u8], lower: &mut Lower<'_>) {
        let Some(session) = self.sessions.get(slot) else { return };
        if session.state() != State::SynReceived
            || session.room() <= u16::MAX.into()
            || !acknowledges(segment)
        {
            return;
        }
        let acknowledged = TcpPacket::new_unchecked(segment).ack_number();
        let before = TcpSeqNumber(session.next_to_come().0.wrapping_sub(1));
        let made = self.made.len();
        self.hand_data(slot, TcpControl::None, (before, acknowledged), (0, &[0]), lower);
        self.made.drain(made..).for_each(|answer| lower.give(answer));
    }

    /// Hands smoltcp a segment without data, as if it had come from the other end.
    fn hand(
        &mut self,
        slot: Slot,
        control: TcpControl,
        numbers: (TcpSeqNumber, TcpSeqNumber),
        window: u16,
        lower: &mut Lower<'_>,
    ) {
        self.hand_data(slot, control, numbers, (window, &[]), lower);
    }

    /// As [`hand`](Self::hand), with a byte or none.
    fn hand_data(
        &mut self,
        slot: Slot,
        control: TcpControl,
        (seq_number, acknowledged): (TcpSeqNumber, TcpSeqNumber),
        (window_len, payload): (u16, &[u8]),
        lower: &mut Lower<'_>,
    ) {
        let Some(session) = self.sessions.get(slot) else { return };
        let Session { local, remote, .. } = *session;
        let segment = TcpRepr {
            src_port: remote.1,
            dst_port: local.1,
            control,
            seq_number,
            ack_number: Some(acknowledged),
            window_len,
            window_scale: None,
            max_seg_size: None,
            sack_permitted: false,
            sack_ranges: [None; 3],
            timestamp: None,
            payload,
        };
        let packet = IpRepr::new(remote.0, local.0, IpProtocol::Tcp, segment.buffer_len(), 64);
        let (header, len) = (packet.header_len(), packet.buffer_len());
        // The longer of the headers of IP, one of TCP without options, and a byte.
        let mut bytes = [0; smoltcp::wire::IPV6_HEADER_LEN + smoltcp::wire::TCP_HEADER_LEN + 1];
        let unchecked = ChecksumCapabilities::ignored();
        packet.emit(&mut bytes[..], &unchecked);
        let place = &mut TcpPacket::new_unchecked(&mut bytes[header..len]);
        segment.emit(place, &remote.0, &local.0, &unchecked);
        Self::process(&mut self.interface, &mut session.sockets, &mut self.made, &bytes[..len], lower);
    }
}
