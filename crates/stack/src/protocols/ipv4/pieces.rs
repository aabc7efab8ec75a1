//! Headers, and datagrams in pieces.

use smoltcp::wire::{Ipv4Address, Ipv4Packet};
use throughline_demux::Slot;

use super::{
    HEADER, HOP_LIMIT, Ipv4, MOST,
    session::{Pair, Session},
};
use crate::protocols::pieces::{cut, exchange};
use crate::{Discard, Lower, Message, Pop, Protocol, Refusal, SendError};

impl Ipv4 {
    /// Puts a header in front of `message`, which is `at` bytes behind the start of a datagram with this number, or all of
    /// it (`None`).
    pub(super) fn write_header(
        session: &Session,
        message: &mut Message,
        fragment: Option<(u16, usize, bool)>,
    ) -> Result<(), SendError> {
        let len = u16::try_from(message.len() + HEADER).map_err(|_| SendError::TooLong)?;
        let header = message.push(HEADER).map_err(|_| SendError::TooLong)?;
        let mut packet = Ipv4Packet::new_unchecked(header);
        packet.set_version(4);
        packet.set_header_len(HEADER as u8);
        packet.set_dscp(0);
        packet.set_ecn(0);
        packet.set_total_len(len);
        packet.clear_flags();
        let (ident, at, more) = fragment.unwrap_or_default();
        packet.set_ident(ident);
        packet.set_dont_frag(fragment.is_none());
        packet.set_more_frags(more);
        packet.set_frag_offset(at as u16);
        packet.set_hop_limit(HOP_LIMIT);
        packet.set_next_header(session.protocol.into());
        packet.set_src_addr(session.local);
        packet.set_dst_addr(session.remote);
        packet.fill_checksum();
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
        let (ident, step) = (self.next_ident, self.room() / 8 * 8);
        cut(message, step, lower, |mut piece, at, more, lower| {
            let session = self.sessions.get(slot).ok_or(SendError::NoPath)?;
            Self::write_header(session, &mut piece, Some((ident, at, more)))?;
            self.send(slot, piece, lower)
        })
    }

    /// Tells the sender of a datagram that pieces of it are missing, if its first has come.
    pub(super) fn refuse_incomplete(&self, pair: Pair, ident: u16, data: &[u8], lower: &mut Lower<'_>) {
        let (local, remote) = (Ipv4Address::from_bits(pair.local), Ipv4Address::from_bits(pair.remote));
        if data.is_empty() || !self.host.has(local.into()) {
            return;
        }
        let sender = Session { remote: local, local: remote, protocol: pair.protocol, ..Session::default() };
        let mut packet = Message::copied(HEADER, data);
        if Self::write_header(&sender, &mut packet, Some((ident, 0, true))).is_ok() {
            let ends = (local.into(), remote.into());
            lower.refuse(self.own, ends, Refusal::Incomplete, packet.bytes());
        }
    }

    /// Adds a piece to its datagram, and exchanges it for that if it is complete.
    #[cold]
    pub(super) fn reassemble(
        &mut self,
        slot: Slot,
        header: usize,
        message: &mut Message,
        lower: &mut Lower<'_>,
    ) -> Result<Pop, Discard> {
        let Some(session) = self.sessions.get(slot) else { return Err(Discard::NoPort) };
        let packet = Ipv4Packet::new_unchecked(message.since(header));
        let (ident, at, more) = (packet.ident(), usize::from(packet.frag_offset()), packet.more_frags());
        let pair = Pair {
            remote: session.remote.to_bits(),
            local: packet.dst_addr().to_bits(),
            below: session.way.link.filter(|_| self.private).map_or(0, |link| link.session.0),
            protocol: session.protocol,
        };
        let Some(data) = self.fragments.add((pair, ident), at, message.bytes(), !more, lower.cx.now)? else {
            return Ok(Pop::Consumed);
        };
        let upper = session.upper;
        let sender = Session {
            remote: packet.dst_addr(),
            local: session.remote,
            protocol: session.protocol,
            ..Session::default()
        };
        exchange(message, &data, HEADER, upper, lower, |whole| Self::write_header(&sender, whole, None))
    }
}
