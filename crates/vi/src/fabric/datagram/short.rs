//! The short way of small messages, without descriptors: from the wire to whoever asks for them, and from there to the wire.

use super::{
    Reception, Wire,
    message::{Outgoing, Small},
    roles::Role,
    state::{MOST_UNANSWERED, State},
    watch::{Sleepers, Watch},
};
use crate::{
    fabric::SMALL_MESSAGE,
    reliable::{Connection, frame::Lone},
};
use throughline_demux::Slot;

impl<W: Wire> State<W> {
    /// Takes in one datagram with one small message; `false` if it is something else.
    #[inline]
    pub(super) fn handle_short(
        &mut self,
        reception: &Reception<W::Address>,
        sleepers: &Sleepers,
        own: Option<Slot>,
    ) -> bool {
        if reception.len > Lone::MOST || reception.each < reception.len {
            return false;
        }
        let Self { incoming, endpoint, roles, now, .. } = self;
        let handled = endpoint.handle_short(*now, reception.from, reception.ecn, &incoming[..reception.len]);
        let Some(slot) = handled else { return false };
        match roles.get(slot.0 as usize) {
            Some(Role::Vi(member)) if own == Some(slot) => member.watch.is_looked_at(),
            Some(Role::Vi(member)) => sleepers.ring(&member.watch),
            _ => {
                // The provider's.
                endpoint.touch(slot);
                self.tell(sleepers, own);
            }
        }
        true
    }

    /// The next message of a VI, if it is small and needs no descriptor: its length. The VI is told if there is nothing else.
    #[inline]
    pub(super) fn take_small(
        &mut self,
        slot: Slot,
        watch: &Watch,
        into: &mut [u8; SMALL_MESSAGE],
    ) -> Option<usize> {
        let length = self.endpoint.take_short(slot, into);
        self.made_room(slot);
        if !self.endpoint.peek(slot)?.has_event() {
            watch.is_done();
        }
        length
    }

    /// Whether a small message of this VI lies ready.
    #[inline]
    pub(super) fn has_small(&self, slot: Slot) -> bool {
        self.endpoint.peek(slot).is_some_and(Connection::has_short)
    }

    /// Takes in what has come besides, where one datagram after the other comes: what is answered together leaves together.
    #[inline]
    pub(super) fn take_in_more(&mut self, sleepers: &Sleepers, own: Slot) {
        while self.in_row > 1 && self.unanswered + 1 < MOST_UNANSWERED && self.take_in(sleepers, Some(own)) {}
    }

    /// Has a small message of a VI leave with what else there is to send; `false` if that cannot be.
    #[inline]
    pub(super) fn post_small(&mut self, slot: Slot, message: &[u8]) -> bool {
        let small = Small::new(message).filter(|_| self.is_plain(slot));
        let connection = self.endpoint.posting(slot);
        let posted = connection.zip(small).map(|(to, small)| to.post_short(Outgoing::Small(small)));
        matches!(posted, Some(Ok(())))
    }

    /// Sends a small message of a VI at once, before what else there may be to send; `false` if it has to wait for anything.
    ///
    /// The frame is written, then given to the wire, and only then the connection learns that its number is taken: the peer need
    /// not wait for that. Between these steps nothing else can be sent, since the wire knows nothing of connections. A frame that the
    /// wire has no room for has left as far as the connection is concerned, waits as every other datagram does, and is sent before
    /// anything else.
    #[inline]
    pub(super) fn send_small(&mut self, slot: Slot, message: &[u8], sleepers: &Sleepers) -> bool {
        if !self.outgoing.is_empty() || !self.is_plain(slot) {
            return false;
        }
        let now = self.look_at_clock();
        let Self { endpoint, outgoing, wire, .. } = self;
        let passed = outgoing.pass(
            |buffer| endpoint.write_short(slot, now, message, buffer),
            |run, octets| wire.send(run, octets),
        );
        let Some(length) = passed else { return false };
        // The peer is at work by now.
        let small = Small::new(message).expect("what fits into a short frame is small");
        endpoint.short_left(slot, now, Outgoing::Small(small), length);
        (self.unanswered, self.put_off) = (0, true);
        if sleepers.any() {
            self.flush(sleepers, Some(slot));
            self.set_timer();
        }
        true
    }
}
