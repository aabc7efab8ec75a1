//! One VI between a client and a server, as calls need it: a message out, a message in.
//!
//! A message that fits into a registered buffer is written and read there; for longer ones there are [longer](super::bulk)
//! buffers. What fits into none goes in parts, each with the number of octets still to come as its immediate data, and is put
//! together by the receiver.

use std::io;
use std::time::{Duration, Instant};

use throughline_cdr::Output;
use throughline_giop::NativeAddress;
use throughline_vi::{
    Bell, Buffer, Completion, CompletionError, ConnectError, ConnectionRequest, Nic, Reliability,
    ResourceError, SMALL_MESSAGE, SendDescriptor, State, TrustedPeers, Vi, ViAttributes, WaitError,
};
use throughline_wire::Flags;

use super::bulk::{Bulk, WHOLE};
use super::nics;
use crate::transport::resolver;

/// What the listeners of the native protocol listen to.
pub(super) const DISCRIMINATOR: &[u8] = b"throughline 1";

/// Registered memory of a link, in each direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkMemory {
    /// How many buffers.
    buffers: u32,
    /// Octets in each.
    size: u32,
    /// The most that are posted at a time for messages to come. On a fabric where nothing arrives that is not looked for, few
    /// are enough, and are in the caches.
    posted: u32,
    /// The receiver fetches long messages from where they lie.
    fetched: bool,
    /// So often a small message is looked for before the clock is looked at,
    looks: u32,
    /// and so often nothing but a small one.
    eager: u32,
}

impl LinkMemory {
    /// Buffers sent are free as soon as the receiver has looked.
    pub(super) const SHM: Self =
        Self { buffers: 16, size: 64 << 10, posted: 2, fetched: true, looks: 100, eager: 64 };
    /// Buffers sent are free only once the receiver has said so.
    pub(super) const UDP: Self =
        Self { buffers: 128, size: 16 << 10, posted: 128, fetched: false, looks: 50, eager: 0 };
}

/// Messages of more octets than this stay in their buffer until the receiver has fetched them, mostly before the next is
/// written. The same buffer then serves again.
const FETCHED: usize = 2048;

/// The longest message that is received whole if none may be longer than this.
fn whole(max_message: usize) -> u32 {
    u32::try_from(max_message).unwrap_or(u32::MAX).min(WHOLE)
}

/// A peer that does not take what it is sent loses its link after this.
const STALL: Duration = Duration::from_secs(30);

/// How long a link over UDP that is closed waits for the peer to have everything.
const SETTLE: Duration = Duration::from_millis(300);

/// Why a link is of no use any more, or yet.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    #[error("no connection: {0}")]
    Connect(#[from] ConnectError),
    #[error("no virtual interface: {0}")]
    Resource(#[from] ResourceError),
    #[error("the connection failed: {0}")]
    Broken(#[from] CompletionError),
    #[error("no message in time")]
    Timeout,
    #[error("the peer does not take what it is sent")]
    Stalled,
    #[error("a message of more than {0} octets")]
    TooLong(usize),
    #[error("the host has no address")]
    Unknown,
    #[error("the host is not known: {0}")]
    Name(io::Error),
    #[error("cannot wait: {0}")]
    Wait(WaitError),
    #[error("a message that is none of this protocol")]
    Nonsense,
    #[error("no worker can read: {0}")]
    Unattended(io::Error),
    #[error("the ORB was shut down")]
    ShutDown,
}

impl LinkError {
    pub(crate) fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout)
    }

    /// Nobody was there, or nobody wanted the connection.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Broken(CompletionError::NobodyListens | CompletionError::Refused))
    }

    /// The peer closed the connection in order.
    pub(crate) fn is_farewell(&self) -> bool {
        matches!(self, Self::Broken(CompletionError::Disconnected))
    }
}

impl From<WaitError> for LinkError {
    fn from(error: WaitError) -> Self {
        match error {
            WaitError::Timeout => Self::Timeout,
            other => Self::Wait(other),
        }
    }
}

/// How links are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkOptions {
    /// How long to look for a message before sleeping.
    pub(crate) spin: Duration,
    /// The longest message accepted, in octets.
    pub(crate) max_message: usize,
    /// Messages may be read where the peer has them.
    pub(crate) trusted: Option<TrustedPeers>,
}

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct Link {
    vi: Vi,
    /// The buffer that the next message is written to.
    out: Option<Buffer>,
    bulk: Bulk,
    arrived: Arrived,
    /// Where messages go that need no buffer: their octets, from the beginning.
    small: [u8; SMALL_MESSAGE],
    /// See [`LinkMemory`]; none for who does not want to look at all.
    looks: u32,
    eager: u32,
    /// How long a buffer is looked for before sleeping in between.
    patience: Duration,
    /// Messages checked out.
    away: usize,
    /// Messages lent.
    lent: usize,
    /// The last answer to a message checked out was more than a [`Desk`] has room for.
    answers_long: bool,
    /// Registered buffers in each direction.
    buffers: u32,
    /// How many of those to receive into are not posted at first.
    spare: usize,
    /// The most that one of them holds.
    size: usize,
    /// What was sent is not with the peer before it says so, and nobody sends it again once this process has ended.
    settles: bool,
    /// Of the client, if it is on this machine.
    process: Option<u32>,
    max_message: usize,
}

/// Small requests whose sender may send others before it has the answer are worked on in memory of the worker's; so are answers
/// up to so many octets, header included.
const SMALL_ANSWER: usize = 2048;

/// A worker's memory for such requests, one at a time.
#[derive(Debug)]
pub(super) struct Desk {
    request: [u8; SMALL_MESSAGE],
    len: usize,
    answer: Box<[u8; SMALL_ANSWER]>,
    used: usize,
}

/// What was done with a small message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// There may be another one, or none.
    Nothing,
    /// It lies on the desk.
    OnDesk,
    /// It was [received](Link::received).
    Received,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self { request: [0; SMALL_MESSAGE], len: 0, answer: Box::new([0; SMALL_ANSWER]), used: 0 }
    }

    /// Has the request on it answered, with what `answer` writes, if it writes anything.
    #[inline(always)]
    pub(super) fn answer(&mut self, overflow: &mut Vec<u8>, answer: impl FnOnce(&[u8], Output<'_>)) {
        self.used = 0;
        let request = self.request.get(..self.len).unwrap_or_default();
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
        answer(self.message.octets(&self.small), Output::memory(&mut self.room, &mut self.used, overflow));
    }
}

/// The message received last.
#[derive(Debug)]
enum Arrived {
    Nothing,
    /// Needed no buffer, and lies beside this: its length.
    Small(usize),
    /// Lies in the buffer where it was received.
    Buffer(Buffer),
    /// Lies in the peer's memory; the buffer was not needed.
    InPlace(Buffer),
    /// Came in parts. Not whole before `missing` is zero.
    Parts {
        octets: Vec<u8>,
        missing: usize,
    },
}

impl Arrived {
    #[inline]
    fn octets<'a>(&'a self, small: &'a [u8; SMALL_MESSAGE]) -> &'a [u8] {
        match self {
            // What is in place, the VI knows.
            Self::Nothing | Self::InPlace(_) => &[],
            Self::Small(len) => small.get(..*len).unwrap_or_default(),
            Self::Buffer(buffer) => buffer,
            Self::Parts { octets, .. } => octets,
        }
    }

    /// As [`octets`](Self::octets), for messages in place as well.
    #[inline(always)]
    fn octets_at<'a>(&'a self, small: &'a [u8; SMALL_MESSAGE], vi: &'a Vi) -> &'a [u8] {
        match self {
            Self::InPlace(_) => vi.in_place().unwrap_or_default(),
            arrived => arrived.octets(small),
        }
    }
}

impl Link {
    /// One that is not connected.
    pub(super) fn new(nic: &Nic, memory: LinkMemory, options: LinkOptions) -> Result<Self, ResourceError> {
        let attributes = ViAttributes {
            send_buffers: memory.buffers,
            send_buffer_size: memory.size,
            receive_buffers: memory.buffers,
            receive_buffer_size: memory.size,
            spin: options.spin,
            receive_longer: if memory.fetched { whole(options.max_message) } else { 0 },
            trusted: options.trusted,
            ..ViAttributes::new(Reliability::ReliableDelivery)
        };
        let mut vi = nic.create_vi(&attributes)?;
        let size = vi.receive_buffer().map_or(0, |buffer| buffer.capacity());
        for _ in 0..memory.posted {
            let buffer = vi.receive_buffer();
            // There is room in the queue.
            let _ = buffer.map(|buffer| vi.post_receive(buffer));
        }
        let arrived = Arrived::Nothing;
        Ok(Self {
            vi,
            out: None,
            bulk: Bulk::new(memory.fetched.then(|| nic.clone())),
            arrived,
            small: [0; SMALL_MESSAGE],
            looks: if options.spin.is_zero() { 0 } else { memory.looks },
            eager: memory.eager,
            patience: options.spin.max(Duration::from_micros(100)),
            away: 0,
            lent: 0,
            answers_long: false,
            buffers: memory.buffers,
            spare: memory.buffers.saturating_sub(memory.posted) as usize,
            size,
            max_message: options.max_message,
            settles: false,
            process: None,
        })
    }

    /// Connects. `early`: without waiting for an answer, where the fabric can do without; then it may turn out later that nobody
    /// is there, and nobody can tell what became of what was sent.
    pub(crate) fn connect(
        address: &NativeAddress,
        timeout: Duration,
        options: LinkOptions,
        early: bool,
    ) -> Result<Self, LinkError> {
        match address {
            NativeAddress::Shm { name, .. } => {
                let mut link = Self::new(nics::shm()?, LinkMemory::SHM, options)?;
                link.vi.connect(name, DISCRIMINATOR, Some(timeout))?;
                Ok(link)
            }
            NativeAddress::Udp { host, port } => Self::connect_udp((host, *port), timeout, options, early),
        }
    }

    /// Tries every address that the name stands for; early, only the first.
    fn connect_udp(
        (host, port): (&str, u16),
        timeout: Duration,
        options: LinkOptions,
        early: bool,
    ) -> Result<Self, LinkError> {
        let deadline = Instant::now() + timeout;
        let mut last = LinkError::Unknown;
        for address in resolver::SYSTEM.resolve(host, port, timeout).map_err(LinkError::Name)? {
            let mut link = Self::new(nics::udp(address.is_ipv6())?, LinkMemory::UDP, options)?;
            let (vi, text) = (&mut link.vi, address.to_string());
            let left = deadline.saturating_duration_since(Instant::now());
            let connected = match early {
                true => vi.connect_early(&text, DISCRIMINATOR, Some(timeout)),
                false => vi.connect(&text, DISCRIMINATOR, Some(left)),
            };
            match connected {
                Ok(()) => {
                    link.settles = true;
                    return Ok(link);
                }
                Err(error) => last = error.into(),
            }
        }
        Err(last)
    }

    /// Connects it with a client.
    pub(super) fn accept(&mut self, request: ConnectionRequest) -> Result<(), LinkError> {
        self.process = request.process();
        Ok(request.accept(&mut self.vi)?)
    }

    /// The client's process, if it is on this machine.
    pub(crate) fn process(&self) -> Option<u32> {
        self.process
    }

    /// Whether the peer was there when it was last looked for.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.vi.state() == State::Connected
    }

    /// Tells others than the link's owner that there is something to receive.
    pub(crate) fn bell(&self) -> Option<Bell> {
        self.vi.bell()
    }

    /// Whether a message can be written now.
    #[inline]
    pub(crate) fn has_room(&mut self) -> Result<bool, LinkError> {
        if self.out.is_none() {
            self.out = self.next_buffer();
        }
        if self.out.is_none() && !self.is_open() { Err(self.why_not()) } else { Ok(self.out.is_some()) }
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
    fn next_buffer(&mut self) -> Option<Buffer> {
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
        if !self.bulk.open(self.vi.tag()) {
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
    fn is_long(&self, buffer: &Buffer) -> bool {
        buffer.capacity() > self.size
    }

    #[cold]
    fn wait_for_buffer(&mut self, find: impl Fn(&mut Self) -> Option<Buffer>) -> Result<Buffer, LinkError> {
        let started = Instant::now();
        while started.elapsed() < STALL {
            if let Some(buffer) = find(self) {
                return Ok(buffer);
            }
            if !self.is_open() {
                return Err(LinkError::Broken(CompletionError::ConnectionLost));
            }
            if started.elapsed() < self.patience {
                std::thread::yield_now();
            } else {
                std::thread::sleep(Duration::from_micros(50));
            }
        }
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

    /// Sends a message that needs neither buffer nor descriptor, if the fabric can do without; whether it was sent.
    #[inline(always)]
    pub(crate) fn send_small(&mut self, message: &[u8]) -> bool {
        self.vi.send_small(message)
    }

    #[inline(never)]
    fn send_buffer(&mut self, used: usize) -> Result<(), LinkError> {
        let Some(mut buffer) = self.out.take() else { return Err(LinkError::Stalled) };
        buffer.set_len(used);
        self.post(SendDescriptor::new(buffer))?;
        if used <= FETCHED {
            // While the message is on its way there is time for this.
            self.out = self.next_buffer();
        }
        Ok(())
    }

    #[inline]
    fn post(&mut self, descriptor: SendDescriptor) -> Result<(), LinkError> {
        let posted = self.vi.post_send(descriptor.unsignaled());
        posted.map_err(|_| self.why_not())
    }

    #[cold]
    fn why_not(&self) -> LinkError {
        match self.vi.state() {
            State::Stopped(why) => LinkError::Broken(why),
            _ => LinkError::Stalled,
        }
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
        self.arrived = Arrived::Small(len);
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

    #[inline(never)]
    fn try_receive_any(&mut self) -> Result<bool, LinkError> {
        match self.vi.receive_done() {
            Some(completion) => self.take(completion),
            None if self.is_open() => Ok(false),
            None => Err(self.why_not()),
        }
    }

    /// Waits for a message; at most until `deadline`. The one received before is [released](Self::release).
    #[inline(always)]
    pub(crate) fn receive(&mut self, deadline: Option<Instant>) -> Result<(), LinkError> {
        self.release();
        // Mostly the answer comes soon, and nobody wants to know how late it is.
        for look in 0..self.looks {
            if self.receive_small() {
                return Ok(());
            }
            if look >= self.eager {
                // It may be one that is not small. From here on other threads get the processor for a moment.
                if self.try_receive_any()? {
                    return Ok(());
                }
                std::hint::spin_loop();
            }
        }
        self.receive_any(deadline)
    }

    #[inline(never)]
    fn receive_any(&mut self, deadline: Option<Instant>) -> Result<(), LinkError> {
        loop {
            let timeout = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let completion = self.vi.receive_wait(timeout)?;
            if self.take(completion)? {
                return Ok(());
            }
        }
    }

    /// Keeps a message, or a part of one; whether it is whole.
    #[inline]
    fn take(&mut self, completion: Completion) -> Result<bool, LinkError> {
        let Completion { result, immediate, buffer, .. } = completion;
        let len = result.map_err(|error| self.failed(error))?;
        if immediate.is_none() && matches!(self.arrived, Arrived::Nothing) {
            let in_place = buffer.len() != len;
            self.arrived = if in_place { Arrived::InPlace(buffer) } else { Arrived::Buffer(buffer) };
            return Ok(true);
        }
        self.take_part(buffer, immediate.unwrap_or(0) as usize)
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
        let part = self.vi.in_place().unwrap_or(&buffer);
        let (mut octets, expected) = match std::mem::replace(&mut self.arrived, Arrived::Nothing) {
            Arrived::Parts { octets, missing } if missing != 0 => (octets, missing),
            _ => (Vec::new(), part.len().saturating_add(missing)),
        };
        if octets.len().saturating_add(expected) > self.max_message {
            return Err(LinkError::TooLong(self.max_message));
        }
        if part.is_empty() || part.len().checked_add(missing) != Some(expected) {
            return Err(LinkError::Broken(CompletionError::Protocol));
        }
        octets.extend_from_slice(part);
        self.vi.release();
        self.arrived = Arrived::Parts { octets, missing };
        self.repost(buffer);
        Ok(missing == 0)
    }

    /// The message received last.
    #[inline(always)]
    pub(crate) fn received(&self) -> &[u8] {
        self.arrived.octets_at(&self.small, &self.vi)
    }

    /// Takes the next message, if it is small, and puts it on the desk if its sender may send others before it has the answer.
    #[inline(always)]
    pub(super) fn take_to(&mut self, desk: &mut Desk) -> Taken {
        if self.answers_long || !matches!(self.arrived, Arrived::Nothing) {
            return Taken::Nothing;
        }
        let Some(len) = self.vi.receive_small(&mut desk.request) else { return Taken::Nothing };
        if !Flags::peek(&desk.request).has(Flags::CONCURRENT) {
            self.small = desk.request;
            self.arrived = Arrived::Small(len);
            return Taken::Received;
        }
        desk.len = len;
        self.away += 1;
        Taken::OnDesk
    }

    /// Sends the answer to the request on the desk.
    #[inline(always)]
    pub(super) fn send_from(&mut self, desk: &Desk, overflow: &mut Vec<u8>) -> Result<(), LinkError> {
        self.away -= 1;
        match desk.answer.get(..desk.used) {
            Some(answer) if desk.used <= SMALL_MESSAGE && overflow.is_empty() => {
                if desk.used == 0 || self.vi.send_small(answer) { Ok(()) } else { self.send_copy(answer) }
            }
            Some(answer) if overflow.is_empty() => self.send_copy(answer),
            _ => {
                // The next ones are written where they are sent from.
                self.answers_long = true;
                self.send_overflow(overflow)
            }
        }
    }

    #[inline(never)]
    fn send_copy(&mut self, message: &[u8]) -> Result<(), LinkError> {
        let room = self.room()?;
        let Some(place) = room.get_mut(..message.len()) else { return self.send_large(message) };
        place.copy_from_slice(message);
        self.send(message.len())
    }

    /// The message received last was copied, and others use the link until its answer is there.
    pub(super) fn lend(&mut self) {
        self.release();
        self.lent += 1;
    }

    /// Sends the answer to a message that was lent, if there is one.
    pub(super) fn hand_back(&mut self, answer: &mut Vec<u8>) -> Result<(), LinkError> {
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
        if matches!(self.arrived, Arrived::InPlace(_)) {
            // The requests behind it would find no more room in the peer's memory.
            let octets = self.received().to_vec();
            self.release();
            self.arrived = Arrived::Parts { octets, missing: 0 };
        }
        if matches!(self.arrived, Arrived::Buffer(_)) {
            self.post_another();
        }
        self.away += 1;
        let message = std::mem::replace(&mut self.arrived, Arrived::Nothing);
        Ok(Errand { message, small: self.small, room, used: 0 })
    }

    /// The message comes back with its answer, which is sent.
    #[inline]
    pub(crate) fn check_in(&mut self, errand: Errand, overflow: &mut Vec<u8>) -> Result<(), LinkError> {
        let Errand { message, room, used, .. } = errand;
        self.away -= 1;
        self.answers_long = used > SMALL_ANSWER;
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

    /// Whether another message can be checked out.
    pub(crate) fn can_check_out(&self) -> bool {
        self.away + 1 < self.buffers as usize
    }

    /// Whether a message is checked out or lent.
    pub(crate) fn has_errands(&self) -> bool {
        self.away > 0 || self.lent > 0
    }

    /// Breaks the connection, so that the peer does not take what it waits for as not carried out.
    pub(crate) fn abort(&mut self) {
        self.vi.abort();
    }

    /// Whether a message began to arrive that is not whole.
    pub(crate) fn has_part(&self) -> bool {
        matches!(self.arrived, Arrived::Parts { .. })
    }

    /// The message received last is not needed any more.
    #[inline(always)]
    pub(crate) fn release(&mut self) {
        match &self.arrived {
            Arrived::Nothing => {}
            Arrived::Small(..) => self.arrived = Arrived::Nothing,
            Arrived::Buffer(_) | Arrived::InPlace(_) | Arrived::Parts { .. } => self.release_buffer(),
        }
    }

    #[inline(never)]
    fn release_buffer(&mut self) {
        match std::mem::replace(&mut self.arrived, Arrived::Nothing) {
            Arrived::Buffer(buffer) => self.repost(buffer),
            Arrived::InPlace(buffer) => {
                self.vi.release();
                self.repost(buffer);
            }
            Arrived::Nothing | Arrived::Small(..) | Arrived::Parts { .. } => {}
        }
    }

    /// The message received last is not needed any more, if it occupies the peer's memory.
    #[inline]
    pub(crate) fn release_in_place(&mut self) {
        if matches!(self.arrived, Arrived::InPlace(_)) {
            self.release_buffer();
        }
    }

    #[inline]
    fn repost(&mut self, buffer: Buffer) {
        if self.is_long(&buffer) {
            // One of the link's own had been posted, and is free.
            return self.post_another();
        }
        // Refused only if more were posted than there are.
        let _ = self.vi.post_receive(buffer);
    }

    #[cold]
    fn post_another(&mut self) {
        if let Some(buffer) = self.vi.receive_buffer() {
            let _ = self.vi.post_receive(buffer);
        }
    }

    /// Answers the message received last with what `answer` writes, if it writes anything.
    #[inline]
    pub(crate) fn answer(
        &mut self,
        overflow: &mut Vec<u8>,
        answer: impl FnOnce(&[u8], Output<'_>),
    ) -> Result<(), LinkError> {
        self.room()?;
        let Self { vi, out, arrived, small, .. } = self;
        let mut used = 0;
        answer(
            arrived.octets_at(small, vi),
            Output::memory(out.as_deref_mut().unwrap_or_default(), &mut used, overflow),
        );
        let sent = self.send_answer(used, overflow);
        // Not before: the answer does not wait for this.
        self.release();
        sent
    }

    #[inline(always)]
    fn send_answer(&mut self, used: usize, overflow: &mut Vec<u8>) -> Result<(), LinkError> {
        if !overflow.is_empty() {
            self.send_overflow(overflow)
        } else if used != 0 {
            self.send(used)
        } else {
            Ok(())
        }
    }

    #[cold]
    fn send_overflow(&mut self, overflow: &mut Vec<u8>) -> Result<(), LinkError> {
        let sent = self.send_large(overflow);
        overflow.clear();
        overflow.shrink_to(super::KEEP_OVERFLOW);
        sent
    }
}

impl Drop for Link {
    /// Oneways over UDP, sent just before the process ends, would be lost with it.
    fn drop(&mut self) {
        if self.settles && self.is_open() {
            self.settle();
        }
    }
}

impl Link {
    /// Waits until all buffers are back and small messages are acknowledged, which is when the peer has everything that was sent; for
    /// a moment only.
    #[cold]
    fn settle(&mut self) {
        let started = Instant::now();
        let mut back: Vec<Buffer> = self.out.take().into_iter().collect();
        while started.elapsed() < SETTLE && self.is_open() {
            if back.len() < self.buffers as usize
                && let Some(buffer) = self.vi.send_buffer()
            {
                back.push(buffer);
                continue;
            }
            if back.len() == self.buffers as usize && self.vi.has_settled() {
                return;
            }
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}
