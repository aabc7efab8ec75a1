//! Messages in.

use std::time::{Duration, Instant};

use throughline_vi::{Buffer, Completion, CompletionError, LENT_FRONT, SMALL_MESSAGE, State, Vi};
use throughline_wire::Message;

use super::octets::{FRONT, Octets, Rest};
use super::{COPIED, Link, LinkError};

/// While looks follow one another at once, one in so many is for messages that are not small.
const SMALL_LOOKS: u32 = 16;

/// Who waits for what is perhaps not wanted any more looks so often whether it is.
const LOOK_UP: Duration = Duration::from_millis(50);

/// The message received last.
#[derive(Debug)]
pub(super) enum Arrived {
    Nothing,
    /// Needed no buffer, and lies beside this: its length.
    Small(usize),
    /// Needed no buffer either, and lies where those do that are not small: its length.
    Copied(usize),
    /// Lies in the buffer where it was received.
    Buffer(Buffer),
    /// Lies in the peer's memory; the buffer was not needed.
    InPlace(Buffer),
    /// As `InPlace`, in memory that the peer lends: it may be changed there. Its first octets lie, so many, where those do that
    /// are small.
    Lent(usize),
    /// An answer whose rest lies in the request that it answers, from `start` on. The octets before that, so many, lie where those do
    /// that were copied.
    Returned {
        front: usize,
        request: Buffer,
        start: usize,
    },
    /// Lies in the peer's memory, which may change; its first octets, and no others, lie where those do that were copied. There is
    /// room for it in the buffer.
    Left(Buffer),
    /// Came in parts. Not whole before `missing` is zero.
    Parts {
        octets: Vec<u8>,
        missing: usize,
    },
}

/// Where messages lie that needed no buffer: small ones, others.
pub(super) type Beside<'a> = (&'a [u8; SMALL_MESSAGE], &'a [u8; COPIED]);

impl Arrived {
    #[inline]
    pub(super) fn octets<'a>(&'a self, (small, copied): Beside<'a>) -> &'a [u8] {
        match self {
            // What is in place, the VI knows.
            Self::Nothing | Self::InPlace(_) => &[],
            Self::Left(_) => &copied[..FRONT],
            Self::Lent(front) => small.get(..*front).unwrap_or_default(),
            Self::Returned { front, .. } => copied.get(..*front).unwrap_or_default(),
            Self::Small(len) => small.get(..*len).unwrap_or_default(),
            Self::Copied(len) => copied.get(..*len).unwrap_or_default(),
            Self::Buffer(buffer) => buffer,
            Self::Parts { octets, .. } => octets,
        }
    }

    /// Another one, in place of one that holds nothing which would have to be dropped: the compiler cannot see that.
    #[inline(always)]
    fn replace_plain(&mut self, arrived: Self) {
        debug_assert!(matches!(self, Self::Nothing | Self::Small(_) | Self::Copied(_)));
        std::mem::forget(std::mem::replace(self, arrived));
    }

    /// As [`octets`](Self::octets), for messages in place as well.
    #[inline(always)]
    pub(super) fn octets_at<'a>(&'a self, beside: Beside<'a>, vi: &'a Vi) -> &'a [u8] {
        match self {
            Self::InPlace(_) => vi.in_place().unwrap_or_default(),
            arrived => arrived.octets(beside),
        }
    }

    /// To be read; `rest` is for what is needed meanwhile.
    #[inline(always)]
    pub(super) fn open<'a>(
        &'a mut self,
        (small, copied): (&'a [u8; SMALL_MESSAGE], &'a mut [u8; COPIED]),
        vi: &'a mut Vi,
        rest: &'a mut Rest<'a>,
    ) -> Octets<'a> {
        match self {
            Self::Left(buffer) => match vi.left() {
                Some(left) => rest.left(left, &copied[..FRONT], buffer),
                None => Octets::whole(&[]),
            },
            Self::Lent(front) => match vi.lent_mut() {
                Some(message) => rest.lent(message, small.get(..*front).unwrap_or_default(), copied),
                None => Octets::whole(&[]),
            },
            Self::Returned { front, request, start } => rest.returned(
                copied.get(..*front).unwrap_or_default(),
                request.get(*start..).unwrap_or_default(),
            ),
            arrived => Octets::whole(arrived.octets_at((small, copied), vi)),
        }
    }
}

impl Link {
    /// Whether a message is there, to be [`received`](Self::received) and [`release`](Self::release)d.
    #[inline]
    pub(crate) fn try_receive(&mut self) -> Result<bool, LinkError> {
        if self.receive_small() { Ok(true) } else { self.try_receive_any() }
    }

    /// Whether a small message was there that needs no thought.
    #[inline(always)]
    fn receive_small(&mut self) -> bool {
        if !matches!(self.arrived, Arrived::Nothing) {
            return false;
        }
        let Some(len) = self.vi.receive_small(&mut self.small) else { return false };
        self.arrived.replace_plain(Arrived::Small(len));
        true
    }

    /// Takes the next message, if it needs no buffer and is there: its length, and its octets from the beginning. It need not be
    /// released.
    #[inline(always)]
    pub(crate) fn take_small(&mut self) -> Option<(usize, &[u8; SMALL_MESSAGE])> {
        if !matches!(self.arrived, Arrived::Nothing) {
            return None;
        }
        let len = self.vi.receive_small(&mut self.small)?;
        Some((len, &self.small))
    }

    /// As [`take_small`](Self::take_small), to where the caller wants it.
    #[inline(always)]
    pub(crate) fn take_small_to(&mut self, into: &mut [u8; SMALL_MESSAGE]) -> Option<usize> {
        if matches!(self.arrived, Arrived::Nothing) { self.vi.receive_small(into) } else { None }
    }

    #[inline(never)]
    fn try_receive_any(&mut self) -> Result<bool, LinkError> {
        if matches!(self.arrived, Arrived::Nothing)
            && let Some(len) = self.vi.receive_copied(&mut *self.copied)
        {
            self.arrived.replace_plain(Arrived::Copied(len));
            return Ok(true);
        }
        if self.lends.is_some() && self.receive_lent() {
            return Ok(true);
        }
        match self.vi.receive_done() {
            Some(completion) => self.take(completion),
            None if self.is_open() => Ok(false),
            None => Err(self.why_not()),
        }
    }

    /// Waits for a message; at most until `deadline`. The one received before is [released](Self::release).
    #[inline(always)]
    pub(crate) fn receive(&mut self, deadline: Option<Instant>) -> Result<(), LinkError> {
        let any = self.was_long();
        self.release();
        if self.look(any)?.is_some() { Ok(()) } else { self.receive_any(deadline) }
    }

    /// As [`receive`](Self::receive), for the answer to the one request that was sent just before.
    #[inline(always)]
    pub(crate) fn receive_answer(&mut self, deadline: Option<Instant>) -> Result<(), LinkError> {
        if self.eager == 0 || self.looks == 0 {
            return self.receive(deadline);
        }
        let any = self.was_long();
        self.release();
        self.claim_next();
        self.foresight.pass();
        let found = self.look(any)?;
        self.foresight.learn(found);
        if found.is_some() { Ok(()) } else { self.receive_any(deadline) }
    }

    /// Whether the message received last was not small, if it is still there: then the next one may be as long.
    #[inline(always)]
    fn was_long(&self) -> bool {
        !matches!(self.arrived, Arrived::Nothing | Arrived::Small(_))
    }

    /// Looks for a message for a while: after how many looks in vain there was one, or as if after many if it is not small. Mostly
    /// it comes soon, and nobody wants to know how late it is. For `any` message with each look, or mostly for small ones.
    #[inline(always)]
    fn look(&mut self, any: bool) -> Result<Option<u32>, LinkError> {
        for look in 0..self.looks {
            if self.receive_small() {
                return Ok(Some(look));
            }
            let eager = look < self.eager;
            // It may be one that is not small.
            if (any || !eager || look % SMALL_LOOKS == SMALL_LOOKS - 1) && self.try_receive_any()? {
                return Ok(Some(u32::MAX));
            }
            if !eager {
                // From here on other threads get the processor for a moment.
                std::hint::spin_loop();
            }
        }
        Ok(None)
    }

    /// As [`receive`](Self::receive), as long as the message is `wanted`.
    #[cold]
    pub(crate) fn receive_while(
        &mut self,
        deadline: Option<Instant>,
        wanted: &dyn Fn() -> bool,
    ) -> Result<(), LinkError> {
        self.release();
        loop {
            let soon = Instant::now() + LOOK_UP;
            let until = deadline.map_or(soon, |deadline| deadline.min(soon));
            let goes_on = || wanted() && deadline.is_none_or(|deadline| until < deadline);
            match self.receive_any(Some(until)) {
                Err(error) if error.is_timeout() && goes_on() => {}
                done => return done,
            }
        }
    }

    #[inline(never)]
    fn receive_any(&mut self, deadline: Option<Instant>) -> Result<(), LinkError> {
        loop {
            let timeout = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let completion = self.vi.receive_wait(timeout)?;
            if self.take(completion)? {
                return Ok(());
            }
            // More and more parts may come, and are there whenever they are looked for.
            if timeout.is_some_and(|timeout| timeout.is_zero()) {
                return Err(LinkError::Timeout);
            }
        }
    }

    /// Keeps a message, or a part of one; whether it is whole.
    #[inline]
    fn take(&mut self, completion: Completion) -> Result<bool, LinkError> {
        let Completion { result, immediate, buffer, .. } = completion;
        let len = result.map_err(|error| self.failed(error))?;
        if immediate.is_none() && matches!(self.arrived, Arrived::Nothing) {
            self.arrived = match buffer.len() == len {
                true => Arrived::Buffer(buffer),
                false if self.vi.in_place().is_some() => Arrived::InPlace(buffer),
                false => self.leave(buffer),
            };
            return Ok(true);
        }
        self.take_part(buffer, immediate.unwrap_or(0) as usize)
    }

    /// Whether a long message was there that the peer lends.
    #[inline]
    fn receive_lent(&mut self) -> bool {
        if !matches!(self.arrived, Arrived::Nothing) {
            return false;
        }
        let front = self.small.first_chunk_mut().expect("as long as a small message at least");
        let Some(len) = self.vi.receive_lent(front) else { return false };
        if Message::has_plain_header(front) {
            self.arrived.replace_plain(Arrived::Lent(len.min(LENT_FRONT)));
        } else {
            self.copy_lent();
        }
        true
    }

    /// Whose header is longer is rare.
    #[cold]
    fn copy_lent(&mut self) {
        let octets = self.vi.in_place().map_or_else(Vec::new, <[u8]>::to_vec);
        self.vi.release();
        self.arrived = Arrived::Parts { octets, missing: 0 };
    }

    /// The answer received last goes on in the request that was sent last, from `start` on. False if there is no such request.
    pub(crate) fn goes_on_in_request(&mut self, start: usize) -> bool {
        let Some(request) = self.take_back().filter(|request| start <= request.len()) else { return false };
        let Self { arrived, small, copied, .. } = self;
        let mut copy = |answer: &[u8]| {
            copied[..answer.len()].copy_from_slice(answer);
            answer.len()
        };
        let front = match arrived {
            Arrived::Copied(len) => *len,
            Arrived::Small(len) => copy(small.get(..*len).unwrap_or_default()),
            Arrived::Buffer(buffer) if buffer.len() <= COPIED => copy(buffer),
            _ => return false,
        };
        let returned = Arrived::Returned { front, request, start };
        if let Arrived::Buffer(buffer) = std::mem::replace(arrived, returned) {
            self.repost(buffer);
        }
        true
    }

    /// A message is with the peer. What is not long is copied all the same.
    fn leave(&mut self, buffer: Buffer) -> Arrived {
        let long = self.vi.left().filter(|left| left.len() > COPIED);
        let Some(left) = long else { return Arrived::Buffer(self.fetched(buffer, 0)) };
        let copied = left.copy(0, &mut self.copied[..FRONT]);
        debug_assert!(copied.is_ok(), "a long message has so many octets");
        Arrived::Left(buffer)
    }

    /// Copies the message that was left with the peer, but for the octets before `from`, which are those read already.
    fn fetched(&mut self, mut buffer: Buffer, from: usize) -> Buffer {
        if let Some(left) = self.vi.left() {
            buffer.set_len(left.len());
            buffer[..from].copy_from_slice(&self.copied[..from]);
            let copied = left.copy(from, &mut buffer[from..]);
            debug_assert!(copied.is_ok(), "as many as there are");
        }
        self.vi.release();
        buffer
    }

    /// What was left with the peer is copied.
    #[cold]
    pub(super) fn fetch(&mut self) {
        match std::mem::replace(&mut self.arrived, Arrived::Nothing) {
            Arrived::Left(buffer) => self.arrived = Arrived::Buffer(self.fetched(buffer, FRONT)),
            arrived => self.arrived = arrived,
        }
    }

    /// What is flushed when the VI stops does not say why it stopped.
    #[cold]
    fn failed(&self, error: CompletionError) -> LinkError {
        match self.vi.state() {
            State::Stopped(why) => LinkError::Broken(why),
            _ => LinkError::Broken(error),
        }
    }

    #[cold]
    fn take_part(&mut self, buffer: Buffer, missing: usize) -> Result<bool, LinkError> {
        let left = self.vi.left();
        let len = left.map_or(buffer.len(), |left| left.len());
        let (mut octets, expected) = match std::mem::replace(&mut self.arrived, Arrived::Nothing) {
            Arrived::Parts { octets, missing } if missing != 0 => (octets, missing),
            _ => (Vec::new(), len.saturating_add(missing)),
        };
        if octets.len().saturating_add(expected) > self.max_message {
            return Err(LinkError::TooLong(self.max_message));
        }
        if len == 0 || len.checked_add(missing) != Some(expected) {
            return Err(LinkError::Broken(CompletionError::Protocol));
        }
        match left {
            Some(left) => {
                let before = octets.len();
                octets.resize(before + len, 0);
                let copied = left.copy(0, &mut octets[before..]);
                debug_assert!(copied.is_ok(), "as many as there are");
            }
            None => octets.extend_from_slice(&buffer),
        }
        self.vi.release();
        self.arrived = Arrived::Parts { octets, missing };
        self.repost(buffer);
        Ok(missing == 0)
    }

    /// The message received last.
    #[inline(always)]
    pub(crate) fn received(&mut self) -> &[u8] {
        match self.arrived {
            Arrived::Lent(_) => return self.vi.in_place().unwrap_or_default(),
            Arrived::Left(_) => self.fetch(),
            Arrived::Returned { .. } => self.join(),
            _ => {}
        }
        self.at_hand()
    }

    /// An answer and its rest in the request become one message.
    #[cold]
    fn join(&mut self) {
        if let Arrived::Returned { front, request, start } = &self.arrived {
            let octets = [&self.copied[..*front], request.get(*start..).unwrap_or_default()].concat();
            self.arrived = Arrived::Parts { octets, missing: 0 };
        }
    }

    /// As [`received`](Self::received), or the first octets if the others are with the peer, or in a request.
    #[inline(always)]
    pub(crate) fn at_hand(&self) -> &[u8] {
        self.arrived.octets_at((&self.small, &self.copied), &self.vi)
    }

    /// Octets in the message received last.
    #[inline(always)]
    pub(crate) fn received_len(&self) -> usize {
        match self.arrived {
            Arrived::Left(_) | Arrived::Lent(_) => self.vi.left().map_or(0, |left| left.len()),
            Arrived::Returned { front, ref request, start } => front + request.len().saturating_sub(start),
            _ => self.at_hand().len(),
        }
    }

    /// The message received last, to be read.
    #[inline(always)]
    pub(crate) fn open<T>(&mut self, read: impl FnOnce(Octets<'_>) -> T) -> T {
        let mut rest = Rest::default();
        read(self.arrived.open((&self.small, &mut self.copied), &mut self.vi, &mut rest))
    }

    /// Whether a message began to arrive that is not whole.
    pub(crate) fn has_part(&self) -> bool {
        matches!(self.arrived, Arrived::Parts { .. })
    }

    /// So many octets are missing of a message that began to arrive.
    pub(crate) fn missing(&self) -> usize {
        if let Arrived::Parts { missing, .. } = self.arrived { missing } else { 0 }
    }

    /// The message received last is not needed any more; one of which a part is missing is not received yet.
    #[inline(always)]
    pub(crate) fn release(&mut self) {
        match &self.arrived {
            Arrived::Nothing => {}
            Arrived::Small(..) | Arrived::Copied(..) => self.arrived.replace_plain(Arrived::Nothing),
            Arrived::Buffer(_)
            | Arrived::InPlace(_)
            | Arrived::Lent(_)
            | Arrived::Left(_)
            | Arrived::Returned { .. }
            | Arrived::Parts { .. } => self.release_buffer(),
        }
    }

    #[inline(never)]
    pub(super) fn release_buffer(&mut self) {
        match std::mem::replace(&mut self.arrived, Arrived::Nothing) {
            Arrived::Buffer(buffer) => self.repost(buffer),
            Arrived::Lent(_) => self.vi.release(),
            Arrived::InPlace(buffer) | Arrived::Left(buffer) => {
                self.vi.release();
                self.repost(buffer);
            }
            // The others follow.
            Arrived::Parts { octets, missing } if missing != 0 => {
                self.arrived = Arrived::Parts { octets, missing };
            }
            Arrived::Nothing | Arrived::Small(..) | Arrived::Copied(..) | Arrived::Parts { .. } => {}
            // Its lines are in this processor's caches: the next message goes there.
            Arrived::Returned { mut request, .. } if self.out.is_none() => {
                request.set_full();
                self.out = Some(request);
            }
            Arrived::Returned { .. } => {}
        }
    }

    /// The message received last is not needed any more, if it occupies the peer's memory.
    #[inline]
    pub(crate) fn release_in_place(&mut self) {
        if matches!(
            self.arrived,
            Arrived::InPlace(_) | Arrived::Lent(_) | Arrived::Left(_) | Arrived::Returned { .. }
        ) {
            self.release_buffer();
        }
    }

    #[inline]
    pub(super) fn repost(&mut self, buffer: Buffer) {
        if self.is_long(&buffer) {
            // One of the link's own had been posted, and is free.
            return self.post_another();
        }
        // Refused only if more were posted than there are.
        let _ = self.vi.post_receive(buffer);
    }

    #[cold]
    pub(super) fn post_another(&mut self) {
        if let Some(buffer) = self.vi.receive_buffer() {
            let _ = self.vi.post_receive(buffer);
        }
    }
}
