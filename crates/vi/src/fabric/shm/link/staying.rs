//! Messages that stay where their sender has them: in lent memory, in place, or left.

use super::{
    super::{
        frame::{FRONT, Head, Kind, MAX_BODY},
        lent::Lent,
    },
    Connected,
};
use crate::{Buffer, TrustedPeers, descriptor::ReceiveDescriptor, fabric::Arrival, memory::Left};

impl Connected {
    /// The message before the consumer's position, if it is one in place or left: the peer has not been told that it was consumed.
    #[inline]
    pub(super) fn lent(&self) -> Option<&Lent> {
        self.lent.as_ref().filter(|lent| lent.is_before(self.consumer.position()))
    }

    #[inline]
    pub(super) fn in_place(&self) -> Option<&[u8]> {
        let TrustedPeers { .. } = self.trusted?;
        // SAFETY: the promise is that the peer leaves it alone until it is told, for which `self` must be borrowed exclusively. Where
        // something is received it is told, and the position is another, but for what is received to be kept: then neither. As long
        // its memory is `leave_mapped`.
        self.lent().map(|lent| unsafe { lent.bytes() })
    }

    #[inline]
    pub(super) fn left(&self) -> Option<Left<'_>> {
        // SAFETY: until the position is another its memory is `leave_mapped`.
        self.lent().map(|lent| unsafe { lent.left() })
    }

    #[inline]
    pub(super) fn release(&mut self) {
        if self.lent.take().is_some() {
            self.consumed(true);
        }
    }

    /// A message from lent memory.
    #[inline]
    pub(super) fn lend(&mut self, buffer: &Buffer, len: usize) -> Option<u64> {
        let place = self.elsewhere.place_lent(buffer, &self.channel)?;
        let front = buffer.whole().first_chunk()?;
        if len > MAX_BODY || !self.find_room(Head::new(Kind::Lent, len)) {
            return None;
        }
        self.producer.push_lent(len, place, front);
        self.channel.wake_peer();
        Some(self.producer.position())
    }

    /// A message in lent memory. Nonsense is for `receive` to find.
    #[inline]
    pub(super) fn receive_lent(&mut self, front: &mut [u8; FRONT]) -> Option<usize> {
        let head = self.consumer.peek().ok().flatten()?;
        if head.kind() != Kind::Lent || head.progress() || !self.may_lend {
            return None;
        }
        let place = self.consumer.lent(front);
        let len = head.len();
        self.elsewhere.leave_mapped(self.lent().map(Lent::address));
        let start = self.elsewhere.receive_lent(place, len, &self.channel)?;
        let before = self.consumer.position();
        self.consumer.advance(head);
        // SAFETY: all of it is in memory that the peer lends, which stays mapped as long as this may be looked at, to be written to
        // as well.
        self.lent = Some(unsafe { Lent::new(start, len, true, self.consumer.position()) });
        self.keep(before);
        self.producer.prepare();
        Some(len)
    }

    #[inline]
    pub(super) fn lent_mut(&mut self) -> Option<&mut [u8]> {
        let TrustedPeers { .. } = self.trusted?;
        let position = self.consumer.position();
        let lent = self.lent.as_mut().filter(|lent| lent.is_before(position))?;
        // SAFETY: as for `in_place`.
        unsafe { lent.bytes_mut() }
    }

    /// A small message that also says that the one in lent memory is released.
    #[inline]
    pub(super) fn send_and_release(&mut self, message: &[u8]) -> bool {
        let position = self.consumer.position();
        if self.reception || self.lent().is_none() || !self.producer.push_with_progress(message, position) {
            return false;
        }
        self.lent = None;
        self.channel.consumed(position);
        self.consumer.published();
        self.channel.wake_peer();
        true
    }

    /// Receives a message that is kept for later: it is not left where it is, and one that was left before stays.
    pub(super) fn receive_to_keep(&mut self, posted: Option<&mut ReceiveDescriptor>) -> Arrival {
        self.pass_padding_beside_left();
        self.may_lend = false;
        let arrival = self.receive_any(posted);
        self.may_lend = true;
        arrival
    }

    /// Ahead of a message that is received to be kept. Otherwise padding would come between it and the one that was left.
    #[cold]
    fn pass_padding_beside_left(&mut self) {
        if self.lent().is_some() {
            // Nonsense is for `receive` to find.
            let _ = self.consumer.peek();
            let position = self.consumer.position();
            self.lent.iter_mut().for_each(|lent| lent.stay(position));
        }
    }

    /// Whether a message lies with the peer that was received before the one from this position on: it is there still, and the peer
    /// hears of neither until it is released.
    #[cold]
    pub(super) fn stays(&mut self, before: u64) -> bool {
        let position = self.consumer.position();
        let Some(lent) = self.lent.as_mut().filter(|lent| lent.is_before(before)) else { return false };
        lent.stay(position);
        self.channel.taken(position);
        true
    }

    /// The message before our position lies with the peer until it is released, or the next is received; what came `before` is over,
    /// and may have lain there, too.
    #[inline]
    pub(super) fn keep(&mut self, before: u64) {
        self.channel.consumed(before);
        if self.consumer.was_due(before) {
            self.channel.publish_progress();
        }
        self.consumer.tell_with_next();
        self.channel.taken(self.consumer.position());
    }
}
