//! Messages out.

use std::time::{Duration, Instant};

use throughline_vi::{Buffer, CompletionError, SMALL_MESSAGE, SendDescriptor};

use super::super::KEEP_OVERFLOW;
use super::{Link, LinkError};

/// Messages of more octets than this stay in their buffer until the receiver has fetched them, mostly before the next is
/// written. The same buffer then serves again.
const FETCHED: usize = 2048;

/// Requests of more octets than this are lent to servers that are trusted.
const LENT: usize = 128;

/// No more octets than this are claimed for the next message: they would not stay in the caches.
const CLAIMED: usize = 512 << 10;

/// A server that does not take what it is sent loses its link after this; a client, as the [crowd](super::Crowd) says.
const STALL: Duration = Duration::from_secs(30);

impl Link {
    /// Whether a message can be written now.
    #[inline]
    pub(crate) fn has_room(&mut self) -> Result<bool, LinkError> {
        if self.out.is_none() {
            self.out = self.next_buffer();
        }
        if self.out.is_none() && !self.is_open() { Err(self.why_not()) } else { Ok(self.out.is_some()) }
    }

    /// What is sent from now on waits for room no longer than this.
    #[inline(always)]
    pub(crate) fn give_up_at(&mut self, until: Option<Instant>) {
        self.until = until;
    }

    /// The memory that the next message is written to.
    #[inline(always)]
    pub(crate) fn room(&mut self) -> Result<&mut [u8], LinkError> {
        if self.out.is_none() {
            self.out = Some(self.buffer()?);
        }
        self.out.as_deref_mut().ok_or(LinkError::Stalled)
    }

    /// What [`room`](Self::room) gave; nothing if the message was sent since.
    #[inline]
    pub(crate) fn begun(&mut self) -> &mut [u8] {
        self.out.as_deref_mut().unwrap_or_default()
    }

    /// For whatever comes next: who has sent a long message may do so again.
    #[inline]
    pub(super) fn next_buffer(&mut self) -> Option<Buffer> {
        if self.bulk.is_open() { self.next_long_buffer() } else { self.vi.send_buffer() }
    }

    #[inline(never)]
    fn next_long_buffer(&mut self) -> Option<Buffer> {
        self.bulk.buffer().or_else(|| {
            self.vi.reclaim();
            self.bulk.buffer().or_else(|| self.vi.send_buffer())
        })
    }

    #[inline]
    fn buffer(&mut self) -> Result<Buffer, LinkError> {
        match self.next_buffer() {
            Some(buffer) => Ok(buffer),
            None => self.wait_for_buffer(Self::next_buffer),
        }
    }

    /// A buffer for a message that is longer than the link's own ones, if there are such.
    #[cold]
    fn long_buffer(&mut self) -> Result<Buffer, LinkError> {
        let begun = self.out.take();
        if let Some(buffer) = begun.filter(|buffer| self.is_long(buffer)) {
            return Ok(buffer);
        }
        if !self.bulk.open(self.vi.tag(), self.lends) {
            return self.buffer();
        }
        self.wait_for_buffer(|link| {
            // What comes meanwhile is taken in, or two who send each other much would wait for ever.
            drop(link.vi.send_done());
            link.bulk.buffer()
        })
    }

    /// Whether it is longer than the link's own buffers.
    #[inline]
    pub(super) fn is_long(&self, buffer: &Buffer) -> bool {
        buffer.capacity() > self.size
    }

    #[cold]
    fn wait_for_buffer(&mut self, find: impl Fn(&mut Self) -> Option<Buffer>) -> Result<Buffer, LinkError> {
        match self.crowd.clone() {
            Some(crowd) => crowd.wait(|| self.wait_for_buffer_for(|| crowd.patience(), find)),
            None => self.wait_for_buffer_for(|| STALL, find),
        }
    }

    fn wait_for_buffer_for(
        &mut self,
        patience: impl Fn() -> Duration,
        find: impl Fn(&mut Self) -> Option<Buffer>,
    ) -> Result<Buffer, LinkError> {
        let started = Instant::now();
        while started.elapsed() < patience() {
            if let Some(buffer) = find(self) {
                return Ok(buffer);
            }
            if !self.is_open() {
                return Err(LinkError::Broken(CompletionError::ConnectionLost));
            }
            if self.until.is_some_and(|until| Instant::now() >= until) {
                return Err(LinkError::Timeout);
            }
            if started.elapsed() < self.patience {
                std::thread::yield_now();
            } else {
                std::thread::sleep(Duration::from_micros(50));
                // A server may be gone, which nobody notices who only sends. Of clients the leader is told.
                if self.crowd.is_none() {
                    self.look_for_peer();
                    drop(self.vi.send_done());
                }
            }
        }
        // Whoever else has something to send need not wait as long again.
        self.abort();
        Err(LinkError::Stalled)
    }

    /// Sends what was written to [`room`](Self::room), up to `used`.
    #[inline(always)]
    pub(crate) fn send(&mut self, used: usize) -> Result<(), LinkError> {
        match self.out.as_deref().and_then(|out| out.get(..used)) {
            Some(message) if used <= SMALL_MESSAGE && self.vi.send_small(message) => Ok(()),
            _ => self.send_buffer(used),
        }
    }

    /// As [`send`](Self::send), of a request that is answered: one that is not short is lent to a server that is trusted.
    #[inline(always)]
    pub(crate) fn send_request(&mut self, used: usize) -> Result<(), LinkError> {
        self.on_loan = false;
        if used > LENT && self.lends.is_some() { self.send_lent(used) } else { self.send(used) }
    }

    /// Sends a message that needs neither buffer nor descriptor, if the fabric can do without; whether it was sent.
    #[inline(always)]
    pub(crate) fn send_small(&mut self, message: &[u8]) -> bool {
        self.vi.send_small(message)
    }

    /// As [`send_small`](Self::send_small), of so many of these octets; the peer may see the others, too.
    #[inline(always)]
    pub(crate) fn send_line(&mut self, octets: &[u8; SMALL_MESSAGE], len: usize) -> bool {
        self.vi.send_line(octets, len)
    }

    /// As [`send_small`](Self::send_small), where more is about to be sent: then they leave together, if that helps.
    #[inline(always)]
    pub(crate) fn send_small_with_more(&mut self, message: &[u8]) -> bool {
        self.vi.send_small_with_more(message)
    }

    #[inline(never)]
    fn send_buffer(&mut self, used: usize) -> Result<(), LinkError> {
        if self
            .out
            .as_ref()
            .and_then(|out| out.get(..used))
            .is_some_and(|message| self.vi.send_copied(message))
        {
            return Ok(());
        }
        let Some(mut buffer) = self.out.take() else { return Err(LinkError::Stalled) };
        buffer.set_len(used);
        self.post(SendDescriptor::new(buffer))?;
        if used <= FETCHED {
            // While the message is on its way there is time for this.
            self.out = self.next_buffer();
        } else if self.left {
            // Who sends one alone needs memory for one only.
            self.claims = used.min(self.long).min(CLAIMED);
            self.long = used;
        }
        Ok(())
    }

    /// Who has sent two long messages may send a third: while this one is fetched, the lines of the next buffer are taken from the
    /// peer, who fetched the one before from there. In time that is spent waiting, mostly.
    #[inline(always)]
    pub(super) fn claim_next(&mut self) {
        if self.claims != 0 {
            self.claim_buffer();
        }
    }

    #[inline(never)]
    fn claim_buffer(&mut self) {
        let len = std::mem::take(&mut self.claims);
        if self.out.is_none() {
            // So that it is that one.
            self.vi.reclaim();
            self.out = self.next_buffer();
        }
        if let Some(out) = &mut self.out {
            out.claim(len);
        }
    }

    /// Sends a request that the server may change, if it lies in memory that is lent; if not, the next one will.
    fn send_lent(&mut self, used: usize) -> Result<(), LinkError> {
        let Some(mut buffer) = self.out.take() else { return Err(LinkError::Stalled) };
        if self.is_long(&buffer) {
            match self.vi.lend(buffer, used) {
                Ok(()) => {
                    self.on_loan = true;
                    return Ok(());
                }
                Err(refused) => buffer = refused,
            }
        } else {
            self.bulk.open(self.vi.tag(), self.lends);
        }
        buffer.set_len(used);
        self.post(SendDescriptor::new(buffer))
    }

    /// The request that was sent last, as the server left it, if it was lent and is back.
    pub(super) fn take_back(&mut self) -> Option<Buffer> {
        if std::mem::take(&mut self.on_loan) { self.vi.take_back() } else { None }
    }

    /// Sends an answer with which the request is the client's again.
    #[inline]
    pub(super) fn send_returned(&mut self, used: usize) -> Result<(), LinkError> {
        match self.out.as_deref().and_then(|out| out.get(..used)) {
            Some(answer) if self.vi.send_and_release(answer) => Ok(()),
            _ => {
                self.release();
                self.send(used)
            }
        }
    }

    #[inline]
    fn post(&mut self, descriptor: SendDescriptor) -> Result<(), LinkError> {
        let posted = self.vi.post_send(descriptor.unsignaled());
        posted.map_err(|_| self.why_not())
    }

    /// Sends a message that did not fit into the registered buffer that it was to be written to: whole, if it fits into a long
    /// one, otherwise in parts.
    #[cold]
    pub(crate) fn send_large(&mut self, message: &[u8]) -> Result<(), LinkError> {
        let mut rest = message;
        while !rest.is_empty() {
            let mut buffer = self.long_buffer()?;
            let (part, after) = rest.split_at(rest.len().min(buffer.capacity()));
            buffer.set_len(part.len());
            buffer.copy_from_slice(part);
            rest = after;
            let missing = u32::try_from(rest.len()).map_err(|_| LinkError::TooLong(u32::MAX as usize))?;
            let descriptor = SendDescriptor::new(buffer);
            let whole = part.len() == message.len();
            self.post(if whole { descriptor } else { descriptor.immediate(missing) })?;
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn send_copy(&mut self, message: &[u8]) -> Result<(), LinkError> {
        if self.vi.send_copied(message) {
            return Ok(());
        }
        let room = self.room()?;
        let Some(place) = room.get_mut(..message.len()) else { return self.send_large(message) };
        place.copy_from_slice(message);
        self.send(message.len())
    }

    #[inline(always)]
    pub(super) fn send_answer(&mut self, used: usize, overflow: &mut Vec<u8>) -> Result<(), LinkError> {
        if !overflow.is_empty() {
            self.send_overflow(overflow)
        } else if used != 0 {
            self.send(used)
        } else {
            Ok(())
        }
    }

    #[cold]
    pub(super) fn send_overflow(&mut self, overflow: &mut Vec<u8>) -> Result<(), LinkError> {
        let sent = self.send_large(overflow);
        overflow.clear();
        overflow.shrink_to(KEEP_OVERFLOW);
        sent
    }
}
