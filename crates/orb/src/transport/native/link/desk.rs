//! Requests that are worked on while others use their link: small ones at a worker's [`Desk`], others on an [`Errand`].

use throughline_cdr::Output;
use throughline_vi::{Buffer, SMALL_MESSAGE};
use throughline_wire::Flags;

use super::receive::Arrived;
use super::{COPIED, Link, LinkError};

/// Small requests are worked on in memory of the worker's; so are answers up to so many octets, header included.
const SMALL_ANSWER: usize = 2048;

/// After a longer answer so many requests are worked on in registered memory, whence a long answer need not be copied.
const LONG_ANSWERS: u32 = 32;

/// A worker's memory for such requests, one at a time.
#[derive(Debug)]
pub(crate) struct Desk {
    request: [u8; SMALL_MESSAGE],
    len: usize,
    answer: Box<[u8; SMALL_ANSWER]>,
    used: usize,
}

/// What was done with a small message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// There may be another one, or none.
    Nothing,
    /// It lies on the desk, and nobody needs the link before it is answered.
    Alone,
    /// It lies on the desk. Its sender may send others before it has the answer, or others have answers to bring.
    Shared,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self { request: [0; SMALL_MESSAGE], len: 0, answer: Box::new([0; SMALL_ANSWER]), used: 0 }
    }

    /// Has the request on it answered, with what `answer` writes, if it writes anything.
    #[inline(always)]
    pub(crate) fn answer(&mut self, overflow: &mut Vec<u8>, answer: impl FnOnce(&[u8], Output<'_>)) {
        self.used = 0;
        // Not `get`: what is read of one of two slices is read by a pointer for each field.
        let request = &self.request[..self.len.min(SMALL_MESSAGE)];
        answer(request, Output::memory(&mut *self.answer, &mut self.used, overflow));
    }
}

/// A message taken from its link, to be worked on while others use that, and the memory for its answer.
#[derive(Debug)]
pub(crate) struct Errand {
    message: Arrived,
    small: [u8; SMALL_MESSAGE],
    room: Buffer,
    used: usize,
}

impl Errand {
    /// Answers it with what `answer` writes, if it writes anything.
    #[inline]
    pub(crate) fn answer(&mut self, overflow: &mut Vec<u8>, answer: impl FnOnce(&[u8], Output<'_>)) {
        answer(
            self.message.octets((&self.small, &[0; COPIED])),
            Output::memory(&mut self.room, &mut self.used, overflow),
        );
    }
}

impl Link {
    /// Takes the next message, if it is small, and puts it on the desk.
    #[inline(always)]
    pub(crate) fn take_to(&mut self, desk: &mut Desk) -> Taken {
        if self.long_answers != 0 || !matches!(self.arrived, Arrived::Nothing) {
            return Taken::Nothing;
        }
        let Some(len) = self.vi.receive_small(&mut desk.request) else { return Taken::Nothing };
        desk.len = len;
        // Whoever brings the answer to a message that was lent needs the link.
        let concurrent = Flags::peek(&desk.request).has(Flags::CONCURRENT);
        if concurrent && !self.many {
            self.expect_many();
        }
        let shared = concurrent || self.has_errands();
        self.away += 1;
        if shared { Taken::Shared } else { Taken::Alone }
    }

    /// Sends the answer to the request on the desk; says so `before` waiting for room.
    #[inline(always)]
    pub(crate) fn send_from(
        &mut self,
        desk: &Desk,
        overflow: &mut Vec<u8>,
        before: impl FnOnce(),
    ) -> Result<(), LinkError> {
        self.away -= 1;
        if let Some(answer) = desk.answer.get(..desk.used)
            && desk.used <= SMALL_MESSAGE
            && overflow.is_empty()
            && (desk.used == 0 || self.vi.send_small(answer))
        {
            return Ok(());
        }
        before();
        match desk.answer.get(..desk.used) {
            Some(answer) if overflow.is_empty() => self.send_copy(answer),
            _ => {
                // The next ones are written where they are sent from.
                self.long_answers = LONG_ANSWERS;
                self.send_overflow(overflow)
            }
        }
    }

    /// The message received last was copied, and others use the link until its answer is there.
    pub(crate) fn lend(&mut self) {
        self.release();
        self.lent += 1;
    }

    /// Sends the answer to a message that was lent, if there is one.
    pub(crate) fn hand_back(&mut self, answer: &mut Vec<u8>) -> Result<(), LinkError> {
        self.lent -= 1;
        let sent = match answer.len() {
            0 => Ok(()),
            1..=SMALL_MESSAGE if self.vi.send_small(answer) => Ok(()),
            _ => self.send_copy(answer),
        };
        answer.clear();
        sent
    }

    /// The message received last leaves the link for a while. At least one buffer must stay posted, or the peer's next message
    /// would find none.
    #[inline]
    pub(crate) fn check_out(&mut self) -> Result<Errand, LinkError> {
        self.room()?;
        let Some(room) = self.out.take() else { return Err(LinkError::Stalled) };
        // The requests behind it would find no more room in the peer's memory.
        match self.arrived {
            Arrived::InPlace(_) | Arrived::Lent(_) => {
                let octets = self.received().to_vec();
                self.release();
                self.arrived = Arrived::Parts { octets, missing: 0 };
            }
            Arrived::Left(_) => self.fetch(),
            _ => {}
        }
        if let Arrived::Copied(len) = self.arrived {
            self.arrived = self.keep_copied(len);
        } else if matches!(self.arrived, Arrived::Buffer(_)) {
            self.post_another();
        }
        self.away += 1;
        let message = std::mem::replace(&mut self.arrived, Arrived::Nothing);
        Ok(Errand { message, small: self.small, room, used: 0 })
    }

    /// Copies a message to where it may stay.
    #[inline]
    fn keep_copied(&mut self, len: usize) -> Arrived {
        let message = &self.copied[..len.min(COPIED)];
        match self.vi.receive_buffer() {
            Some(mut buffer) => {
                buffer.set_len(message.len());
                buffer.copy_from_slice(message);
                Arrived::Buffer(buffer)
            }
            None => Arrived::Parts { octets: message.to_vec(), missing: 0 },
        }
    }

    /// The message comes back with its answer, which is sent.
    #[inline]
    pub(crate) fn check_in(&mut self, errand: Errand, overflow: &mut Vec<u8>) -> Result<(), LinkError> {
        let Errand { message, room, used, .. } = errand;
        self.away -= 1;
        self.answered(used);
        self.out = Some(room);
        let sent = self.send_answer(used, overflow);
        if let Arrived::Buffer(buffer) = message {
            // Back to the pool, and if that had no other that was posted in its place, it is posted itself.
            drop(buffer);
            if self.away >= self.spare {
                self.post_another();
            }
        }
        sent
    }

    /// So long was an answer that was written to registered memory.
    #[inline]
    pub(super) fn answered(&mut self, used: usize) {
        let long = used > SMALL_ANSWER;
        self.long_answers = if long { LONG_ANSWERS } else { self.long_answers.saturating_sub(1) };
    }

    /// Whether another message can be checked out.
    pub(crate) fn can_check_out(&self) -> bool {
        self.away + 1 < self.buffers as usize
    }

    /// Whether a message is checked out or lent.
    pub(crate) fn has_errands(&self) -> bool {
        self.away > 0 || self.lent > 0
    }
}
