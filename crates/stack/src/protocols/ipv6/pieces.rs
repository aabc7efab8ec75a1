//! Headers, and datagrams in pieces.

use smoltcp::wire::{IpProtocol, Ipv6Address, Ipv6FragmentHeader, Ipv6Packet};
use throughline_demux::Slot;

use super::{
    HEADER, HOP_LIMIT, ICMP6, Ipv6, MOST,
    extensions::{FRAGMENT, Piece, Walked},
    session::{Pair, Session},
};
use crate::protocols::pieces::{cut, exchange};
use crate::{Discard, Lower, Message, Pop, Protocol, Refusal, SendError};

/// What neighbour discovery demands of packets: so they come from neighbours (RFC 4861, 3.1).
const FROM_NEIGHBORS: u8 = 255;

impl Ipv6 {
    /// Puts a header in front of `message`, which is all of a datagram, or a piece of one.
    pub(super) fn write_header(
        session: &Session,
        message: &mut Message,
        piece: Option<Piece>,
    ) -> Result<(), SendError> {
        let mut next = session.protocol;
        if let Some(piece) = piece {
            let header = message.push(FRAGMENT).map_err(|_| SendError::TooLong)?;
            (header[0], header[1]) = (next, 0);
            let mut fields = Ipv6FragmentHeader::new_unchecked(&mut header[2..]);
            fields.clear_reserved();
            fields.set_frag_offset((piece.at / 8) as u16);
            fields.set_more_frags(piece.more);
            fields.set_ident(piece.ident);
            next = IpProtocol::Ipv6Frag.into();
        }
        let len = u16::try_from(message.len()).map_err(|_| SendError::TooLong)?;
        let header = message.push(HEADER).map_err(|_| SendError::TooLong)?;
        let mut packet = Ipv6Packet::new_unchecked(header);
        packet.set_version(6);
        packet.set_traffic_class(0);
        packet.set_flow_label(0);
        packet.set_payload_len(len);
        packet.set_next_header(next.into());
        packet.set_hop_limit(if session.protocol == ICMP6 { FROM_NEIGHBORS } else { HOP_LIMIT });
        packet.set_src_addr(session.local);
        packet.set_dst_addr(session.remote);
        Ok(())
    }

    /// Sends a message that is longer than a frame in pieces.
    #[cold]
    pub(super) fn push_fragments(
        &mut self,
        slot: Slot,
        message: Message,
        lower: &mut Lower<'_>,
    ) -> Result<(), SendError> {
        if message.len() > MOST {
            lower.give(message);
            return Err(SendError::TooLong);
        }
        self.next_ident = self.next_ident.wrapping_add(1);
        let (ident, step) = (self.next_ident, (self.room() - FRAGMENT) / 8 * 8);
        cut(message, step, lower, |mut piece, at, more, lower| {
            let session = self.sessions.get(slot).ok_or(SendError::NoPath)?;
            Self::write_header(session, &mut piece, Some(Piece { ident, at, more }))?;
            self.send(slot, piece, lower)
        })
    }

    /// Tells the sender of a datagram that pieces of it are missing, if its first has come.
    pub(super) fn refuse_incomplete(&self, pair: Pair, ident: u32, data: &[u8], lower: &mut Lower<'_>) {
        let (local, remote) = (Ipv6Address::from_bits(pair.local), Ipv6Address::from_bits(pair.remote));
        if data.is_empty() || local.is_multicast() {
            return;
        }
        let sender = Session { remote: local, local: remote, protocol: pair.protocol, ..Session::default() };
        let mut packet = Message::copied(HEADER + FRAGMENT, data);
        let first = Piece { ident, at: 0, more: true };
        if Self::write_header(&sender, &mut packet, Some(first)).is_ok() {
            let ends = (local.into(), remote.into());
            lower.refuse(self.own, ends, Refusal::Incomplete, packet.bytes());
        }
    }

    /// Adds a piece to its datagram, and exchanges it for that if it is complete.
    #[cold]
    pub(super) fn reassemble(
        &mut self,
        slot: Slot,
        piece: Piece,
        message: &mut Message,
        lower: &mut Lower<'_>,
    ) -> Result<Pop, Discard> {
        let Some(session) = self.sessions.get(slot) else { return Err(Discard::NoPort) };
        let pair = Pair {
            remote: session.remote.to_bits(),
            local: session.group.to_bits(),
            below: session.below_key(),
            protocol: session.protocol,
        };
        let (ident, now) = (piece.ident, lower.cx.now);
        let added = self.fragments.add((pair, ident), piece.at, message.bytes(), !piece.more, now)?;
        let Some(data) = added else { return Ok(Pop::Consumed) };
        let upper = session.upper;
        let sender = Session {
            remote: session.group,
            local: session.remote,
            protocol: session.protocol,
            ..Session::default()
        };
        exchange(message, &data, HEADER, upper, lower, |whole| {
            Self::write_header(&sender, whole, None)?;
            Self::forget_distance(whole);
            Ok(())
        })
    }

    /// Takes the headers between the first and the data out, since those above know nothing of them. The first began at
    /// `header`.
    #[cold]
    pub(super) fn flatten(header: usize, walked: &Walked, message: &mut Message) -> Result<(), Discard> {
        let len = u16::try_from(message.len()).map_err(|_| Discard::Malformed)?;
        let mut first = [0; HEADER];
        first.copy_from_slice(&message.since(header)[..HEADER]);
        message.push(HEADER).map_err(|_| Discard::Malformed)?.copy_from_slice(&first);
        let mut packet = Ipv6Packet::new_unchecked(message.bytes_mut());
        packet.set_payload_len(len);
        packet.set_next_header(walked.protocol.into());
        if walked.was_cut {
            Self::forget_distance(message);
        }
        message.mark_network();
        message.pop(HEADER);
        Ok(())
    }

    /// What came in pieces is no neighbour's word (RFC 6980): the hop limit no longer says so.
    fn forget_distance(packet: &mut Message) {
        Ipv6Packet::new_unchecked(packet.bytes_mut()).set_hop_limit(HOP_LIMIT);
    }
}
