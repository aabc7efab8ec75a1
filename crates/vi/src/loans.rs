//! Messages lent: they stay in the sender's memory, where a trusted receiver reads and changes them, and come back.

use std::collections::VecDeque;

use crate::{Buffer, Vi};

/// So many of the first bytes of a message that is [lent](Vi::lend) come with the news of it.
pub const LENT_FRONT: usize = 48;

/// The most buffers that are away at a time.
const MAX_LOANS: usize = 8;

/// Buffers that the peer has, oldest first, with the tickets with which they are back.
#[derive(Default)]
pub(crate) struct Loans(VecDeque<(u64, Buffer)>);

impl Loans {
    /// The last one that is back if everything up to this ticket is; those before it return to their regions.
    fn back(&mut self, acknowledged: u64) -> Option<Buffer> {
        let mut last = None;
        while self.0.front().is_some_and(|(ticket, _)| *ticket <= acknowledged) {
            last = self.0.pop_front().map(|(_, buffer)| buffer);
        }
        last
    }
}

impl Vi {
    /// What the peer has and has not released it may still change, though this VI is no more: nobody gets that again.
    pub(crate) fn retire_loans(&mut self) {
        if !self.loans.0.is_empty() {
            let acknowledged = self.link.acknowledged();
            drop(self.loans.back(acknowledged));
            self.loans.0.drain(..).for_each(|(_, buffer)| buffer.retire());
        }
    }
}

impl Vi {
    /// Whether messages may be [lent](Self::lend): both sides were made with the promise that the other is to be
    /// [trusted](crate::ViAttributes::trusted), and share memory. False before the VI is connected.
    pub fn lends(&self) -> bool {
        self.link.lends()
    }

    /// Sends the first `len` bytes of a buffer of [lent](crate::Nic::register_lent) memory, without a descriptor and without a
    /// completion. The receiver may change them, and the buffer is [back](Self::take_back) when he has released the message.
    ///
    /// # Errors
    ///
    /// The buffer, if that cannot be done at once, the VI does not [lend](Self::lends), or too many are away. It can be posted, or
    /// sent from otherwise.
    ///
    /// # Panics
    ///
    /// If `len` exceeds the buffer's capacity.
    #[inline]
    pub fn lend(&mut self, buffer: Buffer, len: usize) -> Result<(), Buffer> {
        assert!(len <= buffer.capacity(), "a message is no longer than its buffer");
        if !self.may_send_at_once() || buffer.memory().tag() != self.tag() || self.loans.0.len() == MAX_LOANS
        {
            return Err(buffer);
        }
        let Some(ticket) = self.link.lend(&buffer, len) else { return Err(buffer) };
        // Not before: what was written a part of is not read as a whole before all that was written earlier has left the
        // processor's store buffer, and that is the message.
        self.loans.0.push_back((ticket, buffer));
        if let Some((_, buffer)) = self.loans.0.back_mut() {
            buffer.set_len(len);
        }
        Ok(())
    }

    /// The buffer [lent](Self::lend) last, as the peer left it, if everything lent is back. Others that are back return to their
    /// regions.
    #[inline]
    pub fn take_back(&mut self) -> Option<Buffer> {
        let heard = self.link.heard();
        let last = self.loans.back(heard);
        if self.loans.0.is_empty() { last } else { self.look_for_loans() }
    }

    /// The peer has said nothing of it [with a message](Self::send_and_release), but may have otherwise.
    #[cold]
    fn look_for_loans(&mut self) -> Option<Buffer> {
        if !self.state().is_connected() {
            return None;
        }
        let acknowledged = self.link.acknowledged();
        self.loans.back(acknowledged).filter(|_| self.loans.0.is_empty())
    }

    /// Buffers that are back return to their regions.
    pub(crate) fn reclaim_loans(&mut self) {
        if !self.loans.0.is_empty() {
            drop(self.look_for_loans());
        }
    }

    /// Takes the next message without a descriptor, if it is one that the peer [lends](Self::lend): its length. Its first bytes come
    /// with it, so that who needs no others does not touch the peer's memory; those beyond the length mean nothing. All of it is
    /// [there](Self::lent_mut) until it is [released](Self::release) or the next is received.
    #[inline]
    pub fn receive_lent(&mut self, front: &mut [u8; LENT_FRONT]) -> Option<usize> {
        if self.may_send_at_once() && self.has_received_nothing() {
            self.link.receive_lent(front)
        } else {
            None
        }
    }

    /// The message [received](Self::receive_lent) last, in the peer's memory, to be changed.
    #[inline]
    pub fn lent_mut(&mut self) -> Option<&mut [u8]> {
        self.link.lent_mut()
    }

    /// As [`send_small`](Self::send_small), of at most 48 bytes, and [releases](Self::release) the message in
    /// [lent memory](Self::receive_lent): who receives this one has the other back. False if that cannot be; then nothing is done.
    #[inline]
    pub fn send_and_release(&mut self, message: &[u8]) -> bool {
        self.may_send_at_once() && self.link.send_and_release(message)
    }
}
