//! A VI's end of a shared-memory connection: frames out, frames in.

mod staying;

use super::{
    channel::{Channel, NotShown, Side},
    connect,
    elsewhere::Elsewhere,
    exports::Exports,
    frame::{Extra, Head, Kind, SMALL},
    hello::Terms,
    lent::Lent,
    remote::{Limits, RemoteWindow},
    ring::{Consumer, Producer, Violation},
    waking::{self, Sleeper, Waker},
};
use crate::{
    Buffer, CompletionError, ConnectError, LENT_FRONT, MemoryHandle, ProtectionTag, Reliability,
    ResourceError, TrustedPeers, ViAttributes,
    descriptor::{Operation, ReceiveDescriptor, SendDescriptor},
    fabric::{Arrival, Destination, Doorbell, Link, NowAndThen, Posted, SMALL_MESSAGE, Sent},
    memory::{FilePart, Left, Memory, Spare, copy_in, copy_out},
};
use std::{
    any::Any,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::Arc,
};

pub(crate) struct ShmLink {
    terms: Terms,
    tag: ProtectionTag,
    exports: Arc<Exports>,
    inline_limit: usize,
    /// Messages mostly find it awake.
    wakeful: bool,
    receive_longer: u32,
    trusted: Option<TrustedPeers>,
    leave: bool,
    /// What the peer may show, its pools included.
    limits: Limits,
    side: Side,
    part: FilePart,
    pools: [Arc<Memory>; 2],
    /// Until it is connected: this side's sleeper, and what the peer is sent to wake it.
    waking: Option<(Sleeper, OwnedFd)>,
    /// That was sent to somebody.
    asked: bool,
    connected: Option<Connected>,
}

struct Connected {
    channel: Arc<Channel>,
    producer: Producer,
    consumer: Consumer,
    elsewhere: Elsewhere,
    /// That messages are read in place follows from this and nothing else.
    trusted: Option<TrustedPeers>,
    /// Messages may be left in the peer's memory, whoever that is,
    leave: bool,
    /// except now.
    may_lend: bool,
    /// The message in place or left, unless something was received since.
    lent: Option<Lent>,
    /// The peer's windows, as they were when it had shown or withdrawn so many.
    windows: Vec<RemoteWindow>,
    shown: u64,
    /// Every frame is acknowledged.
    reception: bool,
    inline_limit: usize,
    /// A message of fewer bytes than this lies in one line, and nobody is told that it was taken.
    small_below: usize,
    /// Many small messages are likely to be under way at a time.
    many: bool,
    /// When the socket is asked whether the peer is still there, and what it says.
    asks: NowAndThen,
}

impl ShmLink {
    pub(crate) fn new(attributes: &ViAttributes, exports: Arc<Exports>) -> Result<Self, ResourceError> {
        let (sends, receives) = (attributes.send_buffers, attributes.receive_buffers);
        let send_bytes = u64::from(sends) * u64::from(attributes.send_buffer_size);
        let pools = send_bytes + u64::from(receives) * u64::from(attributes.receive_buffer_size);
        let terms = Terms {
            reliability: attributes.reliability,
            ring_lines: attributes.ring_lines,
            pools,
            trusting: attributes.trusted.is_some(),
        };
        let (side, part) = Side::create(terms)?;
        let second = FilePart { offset: part.offset + send_bytes, ..part.clone() };
        let pools = [
            Memory::in_file(part.clone(), sends, attributes.send_buffer_size, attributes.tag),
            Memory::in_file(second, receives, attributes.receive_buffer_size, attributes.tag),
        ];
        let inline_limit = attributes.inline_limit as usize;
        let tag = attributes.tag;
        Ok(Self {
            terms,
            tag,
            exports,
            inline_limit,
            wakeful: !attributes.spin.is_zero(),
            receive_longer: attributes.receive_longer,
            trusted: attributes.trusted,
            leave: attributes.leave,
            limits: Limits { bytes: attributes.peer_memory, pieces: attributes.peer_pieces },
            side,
            part,
            pools,
            waking: Some(waking::sleeper()?),
            asked: false,
            connected: None,
        })
    }

    pub(crate) fn terms(&self) -> Terms {
        self.terms
    }

    /// What the peer is sent. Who was asked before, and did not answer, may have what he was sent: as long as he could write to the
    /// pipe nothing would tell that the peer is gone, so it is another one each time.
    pub(crate) fn files(&mut self) -> rustix::io::Result<[BorrowedFd<'_>; 2]> {
        if std::mem::replace(&mut self.asked, true) {
            self.waking = Some(waking::sleeper()?);
        }
        let (_, waker) = self.waking.as_ref().expect("the VI connects once");
        Ok([self.part.file.as_fd(), waker.as_fd()])
    }

    /// Whether the peer's side is not too large.
    pub(crate) fn admits(&self, peer: &Side) -> Result<(), ConnectError> {
        let admitted = peer.pools() <= self.limits.bytes;
        admitted.then_some(()).ok_or(ConnectError::Protocol("the peer's pools are larger than allowed"))
    }

    /// The peer's side has arrived and been checked, and is [admitted](Self::admits).
    pub(crate) fn connected(&mut self, peer: Side, socket: OwnedFd, waker: Waker) {
        // What was sent is closed: once the peer is gone nobody must be left who could write.
        let (sleeper, _) = self.waking.take().expect("the VI connects once");
        let producer = Producer::new(self.side.lines());
        let inline_limit = self.inline_limit.min(producer.longest_body());
        let consumer = Consumer::new(peer.lines());
        let Limits { bytes, pieces } = self.limits;
        let limits = Limits { bytes: bytes.saturating_sub(peer.pools()), pieces };
        let channel = Channel::new(self.side.clone(), peer, socket, (sleeper, waker)).limited_to(limits);
        let channel = if self.wakeful { channel.wakeful() } else { channel };
        let channel = Arc::new(if self.trusted.is_some() { channel.trusting() } else { channel });
        let lends = self.trusted.is_some() && channel.peer.trusts();
        self.exports.connected(self.tag, &channel);
        let reception = self.terms.reliability == Reliability::ReliableReception;
        self.connected = Some(Connected {
            channel,
            producer,
            consumer,
            elsewhere: Elsewhere::new(&self.part, lends, Spare::new(1, self.receive_longer, self.tag)),
            trusted: self.trusted,
            leave: self.leave,
            may_lend: true,
            lent: None,
            windows: Vec::new(),
            shown: 0,
            reception,
            inline_limit,
            small_below: if reception { 0 } else { inline_limit.min(SMALL) + 1 },
            many: false,
            asks: NowAndThen::new(),
        });
    }

    #[inline(always)]
    fn up(&mut self) -> &mut Connected {
        self.connected.as_mut().expect("the VI asks connected links only")
    }
}

impl Link for ShmLink {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn pools(&self) -> [Arc<Memory>; 2] {
        self.pools.clone()
    }

    fn connect(&mut self, to: &Destination<'_>, _: &mut Posted) -> Result<(), ConnectError> {
        connect::connect(self, to.address, to.discriminator, to.deadline)
    }

    fn doorbell(&self) -> Arc<dyn Doorbell> {
        self.connected.as_ref().expect("the VI asks connected links only").channel.clone()
    }

    #[inline]
    fn send(&mut self, descriptor: &mut SendDescriptor) -> Sent {
        self.up().send(descriptor)
    }

    #[inline]
    fn send_copied(&mut self, message: &[u8]) -> bool {
        self.up().send_copied(message)
    }

    #[inline]
    fn send_small(&mut self, message: &[u8]) -> bool {
        self.up().send_small(message)
    }

    #[inline]
    fn send_line(&mut self, octets: &[u8; SMALL_MESSAGE], len: usize) -> bool {
        self.up().send_line(octets, len)
    }

    #[inline]
    fn receive_small(&mut self, into: &mut [u8; SMALL_MESSAGE]) -> Option<usize> {
        self.up().receive_small(into)
    }

    #[inline]
    fn receive_copied(&mut self, into: &mut [u8]) -> Option<usize> {
        self.up().receive_copied(into)
    }

    fn expect_many(&mut self) {
        self.up().many = true;
    }

    fn acknowledged(&mut self) -> u64 {
        let up = self.up();
        if up.producer.grant(up.channel.peer_progress()).is_err() {
            up.channel.stop(CompletionError::Protocol);
        }
        up.producer.consumed()
    }

    fn expect_progress(&mut self, expected: bool) {
        let up = self.up();
        up.channel.expect(expected.then(|| up.producer.consumed()));
    }

    #[inline]
    fn receive(&mut self, posted: &mut Posted) -> Arrival {
        self.up().receive(posted.first())
    }

    fn gone(&mut self) -> Option<CompletionError> {
        self.up().gone()
    }

    fn over(&mut self) -> Option<CompletionError> {
        self.up().over()
    }

    #[inline]
    fn in_place(&self) -> Option<&[u8]> {
        self.connected.as_ref()?.in_place()
    }

    fn lends(&self) -> bool {
        self.connected.as_ref().is_some_and(|up| up.elsewhere.lends())
    }

    #[inline]
    fn lend(&mut self, buffer: &Buffer, len: usize) -> Option<u64> {
        self.up().lend(buffer, len)
    }

    #[inline]
    fn heard(&self) -> u64 {
        self.connected.as_ref().map_or(0, |up| up.producer.consumed())
    }

    #[inline]
    fn receive_lent(&mut self, front: &mut [u8; LENT_FRONT]) -> Option<usize> {
        self.up().receive_lent(front)
    }

    #[inline]
    fn lent_mut(&mut self) -> Option<&mut [u8]> {
        self.connected.as_mut()?.lent_mut()
    }

    #[inline]
    fn send_and_release(&mut self, message: &[u8]) -> bool {
        self.up().send_and_release(message)
    }

    #[inline]
    fn left(&self) -> Option<Left<'_>> {
        self.connected.as_ref()?.left()
    }

    #[inline]
    fn release(&mut self) {
        if let Some(up) = &mut self.connected {
            up.release();
        }
    }

    fn receive_to_keep(&mut self, posted: &mut Posted) -> Arrival {
        self.up().receive_to_keep(posted.first())
    }

    fn takes_back(&mut self) {
        if let Some(up) = &self.connected {
            up.channel.take_back();
        }
    }

    fn close(&mut self, why: CompletionError, _: &mut Posted) {
        if let Some(up) = &self.connected {
            up.channel.say_bye(why);
        }
    }
}

impl Connected {
    /// A small message, and nothing that needs thought.
    #[inline(always)]
    fn send(&mut self, descriptor: &mut SendDescriptor) -> Sent {
        let plain = descriptor.operation == Operation::Send
            && descriptor.immediate.is_none()
            && descriptor.more.is_empty();
        let len = descriptor.buffer.len();
        if plain && len < self.small_below && self.producer.push_small(&descriptor.buffer) {
            self.channel.wake_peer();
            return Sent::Done(len);
        }
        self.send_any(descriptor)
    }

    #[inline(always)]
    fn send_small(&mut self, message: &[u8]) -> bool {
        let small = message.len() < self.small_below;
        let sent = small && (self.producer.push_small(message) || self.push_small_again(message));
        if sent {
            self.channel.wake_peer();
        }
        sent
    }

    #[inline(always)]
    fn send_line(&mut self, octets: &[u8; SMALL_MESSAGE], len: usize) -> bool {
        let small = len < self.small_below;
        let sent = small && (self.producer.push_line(octets, len) || self.push_small_again(&octets[..len]));
        if sent {
            self.channel.wake_peer();
        }
        sent
    }

    /// There was no room, as far as this side knew.
    #[cold]
    fn push_small_again(&mut self, message: &[u8]) -> bool {
        self.producer.grant(self.channel.peer_progress()).is_ok() && self.producer.push_small(message)
    }

    #[inline(always)]
    fn receive_small(&mut self, into: &mut [u8; SMALL_MESSAGE]) -> Option<usize> {
        let (len, extra) = self.consumer.take_small(into)?;
        // Who gets a small message often answers it.
        self.producer.prepare();
        if self.many {
            // A line takes longer to come than the work on one message does.
            self.producer.prepare_another();
            self.consumer.fetch_another();
        }
        self.took_small(extra, into);
        Some(len)
    }

    /// A small message was taken, and lies there.
    #[inline(always)]
    fn took_small(&mut self, extra: Extra, line: &[u8; SMALL]) {
        self.channel.consumed(self.consumer.position());
        if extra.is_any() || self.consumer.is_due() {
            self.attend(extra, line);
        }
    }

    /// What else is to be done.
    #[inline(never)]
    fn attend(&mut self, extra: Extra, line: &[u8; SMALL]) {
        if extra.progress()
            && let Some(progress) = line.last_chunk()
            && self.producer.hear(u64::from_ne_bytes(*progress)).is_err()
        {
            self.channel.stop(CompletionError::Protocol);
        }
        if extra.acknowledge() || self.consumer.is_due() {
            self.tell();
        }
    }

    /// A message in the ring.
    #[inline]
    fn receive_copied(&mut self, into: &mut [u8]) -> Option<usize> {
        // Nonsense is for `receive` to find.
        let head = self.consumer.peek().ok().flatten()?;
        let message = into.get_mut(..head.len()).filter(|_| head.is_plain_message())?;
        self.consumer.copy(head, 0, message);
        self.producer.prepare();
        let len = message.len();
        self.advance(head, Arrival::Message { len, immediate: None });
        Some(len)
    }

    /// A message that fits into the ring.
    #[inline]
    fn send_copied(&mut self, message: &[u8]) -> bool {
        let head = Head::new(Kind::Message, message.len());
        let sent = message.len() <= self.inline_limit && !self.reception && self.find_room(head);
        if sent {
            self.producer.push(head, 0, [message]);
            self.channel.wake_peer();
            self.producer.claim(head.lines());
        }
        sent
    }

    #[inline(never)]
    fn send_any(&mut self, descriptor: &mut SendDescriptor) -> Sent {
        let len = descriptor.len();
        match descriptor.operation {
            Operation::Send => {}
            Operation::Write(_) | Operation::Read(_) => return self.remote_dma(descriptor, len),
            Operation::Receive => unreachable!("not a send descriptor"),
        }
        if len > self.inline_limit {
            return self.send_elsewhere(descriptor, len);
        }
        let head = Head::new(Kind::Message, len)
            .with_immediate(descriptor.immediate.is_some())
            .with_acknowledge(self.reception);
        if !self.find_room(head) {
            return self.blocked();
        }
        let immediate = descriptor.immediate.unwrap_or(0);
        if descriptor.more.is_empty() {
            self.producer.push(head, immediate, [&*descriptor.buffer]);
        } else {
            let segments = std::iter::once(&descriptor.buffer).chain(descriptor.more.iter());
            self.producer.push(head, immediate, segments.map(|buffer| &**buffer));
        }
        self.channel.wake_peer();
        self.producer.claim(head.lines());
        if self.reception { Sent::Until(self.producer.position()) } else { Sent::Done(len) }
    }

    /// The message stays where it is, and the frame says where.
    #[cold]
    fn send_elsewhere(&mut self, descriptor: &SendDescriptor, len: usize) -> Sent {
        if len > crate::MAX_MESSAGE {
            return Sent::Failed(CompletionError::TooLong);
        }
        let len_of_body = match self.elsewhere.describe(descriptor, &self.channel) {
            Ok(body) => body.len(),
            Err(NotShown::Yet) => return self.blocked(),
            Err(NotShown::Ever(why)) => return self.not_described(why),
        };
        let head = Head::new(Kind::Elsewhere, len_of_body)
            .with_immediate(descriptor.immediate.is_some())
            .with_acknowledge(true);
        if !self.find_room(head) {
            return self.blocked();
        }
        self.producer.push(head, descriptor.immediate.unwrap_or(0), [self.elsewhere.body()]);
        self.channel.wake_peer();
        Sent::Until(self.producer.position())
    }

    /// A peer that is gone cannot be shown memory, whatever memory it is.
    fn not_described(&self, why: CompletionError) -> Sent {
        self.channel.listen();
        self.channel.stopped().map_or(Sent::Failed(why), Sent::Broken)
    }

    /// One-sided: the peer's processor has no part in it.
    #[cold]
    fn remote_dma(&mut self, descriptor: &mut SendDescriptor, len: usize) -> Sent {
        match self.try_remote_dma(descriptor, len) {
            Ok(sent) => sent,
            Err(why) => Sent::Failed(why),
        }
    }

    fn try_remote_dma(
        &mut self,
        descriptor: &mut SendDescriptor,
        len: usize,
    ) -> Result<Sent, CompletionError> {
        if let Some(why) = self.channel.stopped() {
            return Ok(Sent::Broken(why));
        }
        let buffers = std::iter::once(&mut descriptor.buffer).chain(descriptor.more.iter_mut());
        match descriptor.operation {
            Operation::Write(to) => {
                let head = Head::new(Kind::Written, 0).with_immediate(true).with_acknowledge(self.reception);
                if descriptor.immediate.is_some() && !self.find_room(head) {
                    return Ok(self.blocked());
                }
                let mut place = self.window(to.handle)?.for_writing(to, len)?;
                for buffer in buffers {
                    // SAFETY: `len` bytes from the beginning are inside the window, which only copies like this touch.
                    unsafe {
                        copy_in(buffer, place);
                        place = place.add(buffer.len());
                    }
                }
                if let Some(immediate) = descriptor.immediate {
                    self.producer.push(head, immediate, []);
                    self.channel.wake_peer();
                    if self.reception {
                        return Ok(Sent::Until(self.producer.position()));
                    }
                }
            }
            Operation::Read(from) => {
                let mut place = self.window(from.handle)?.for_reading(from, len)?;
                for buffer in buffers {
                    // SAFETY: as above.
                    unsafe {
                        copy_out(place, buffer);
                        place = place.add(buffer.len());
                    }
                }
            }
            Operation::Send | Operation::Receive => {}
        }
        Ok(Sent::Done(len))
    }

    /// The peer's window of this name.
    fn window(&mut self, handle: MemoryHandle) -> Result<&RemoteWindow, CompletionError> {
        let shown = self.channel.peer_shown();
        if shown != self.shown {
            let (windows, all) = self.channel.windows();
            self.windows = windows;
            if all {
                self.shown = shown;
            }
        }
        let found = self.windows.iter().find(|window| window.handle() == handle);
        found.ok_or(CompletionError::RemoteProtection)
    }

    #[inline(always)]
    fn find_room(&mut self, head: Head) -> bool {
        self.producer.has_room(head) || self.look_for_room(head)
    }

    #[cold]
    fn look_for_room(&mut self, head: Head) -> bool {
        self.producer.grant(self.channel.peer_progress()).is_ok() && self.producer.has_room(head)
    }

    #[cold]
    fn blocked(&mut self) -> Sent {
        let progress = self.channel.peer_progress();
        if self.producer.grant(progress).is_err() {
            return Sent::Broken(CompletionError::Protocol);
        }
        match self.channel.stopped() {
            Some(why) => Sent::Broken(why),
            None => Sent::Blocked,
        }
    }

    /// A small message, and nothing that needs thought.
    #[inline(always)]
    fn receive(&mut self, mut posted: Option<&mut ReceiveDescriptor>) -> Arrival {
        if let Some(descriptor) = &mut posted
            && let Some(place) = descriptor.buffer.whole_mut().first_chunk_mut()
            && let Some((len, extra)) = self.consumer.take_small(place)
        {
            self.channel.consumed(self.consumer.position());
            if extra.is_any() || self.consumer.is_due() {
                let line = *place;
                self.attend(extra, &line);
            }
            descriptor.buffer.set_len(len);
            if !descriptor.more.is_empty() {
                descriptor.set_len(len);
            }
            return Arrival::Message { len, immediate: None };
        }
        self.receive_any(posted)
    }

    #[inline(never)]
    fn receive_any(&mut self, posted: Option<&mut ReceiveDescriptor>) -> Arrival {
        let head = match self.consumer.peek() {
            Ok(Some(head)) if self.hear(head).is_err() => return Arrival::Broken(CompletionError::Protocol),
            Ok(Some(head)) => head,
            Ok(None) => return self.nothing(),
            Err(Violation) => return Arrival::Broken(CompletionError::Protocol),
        };
        let arrival = match posted {
            None => Arrival::Overrun,
            Some(descriptor) => match self.take(head, descriptor) {
                Ok(arrival) => arrival,
                Err(Violation) => return Arrival::Broken(self.why_not_taken()),
            },
        };
        self.advance(head, arrival)
    }

    /// What a message lies in may have been refused, which is no nonsense.
    #[cold]
    fn why_not_taken(&self) -> CompletionError {
        use CompletionError::{NotMapped, Protocol, TooMuchMemory};
        self.channel.stopped().filter(|why| matches!(why, NotMapped | TooMuchMemory)).unwrap_or(Protocol)
    }

    #[cold]
    fn gone(&mut self) -> Option<CompletionError> {
        // A message that lies with the peer is the one before our position, which stays where it is as long as nothing is received.
        let lent = self.lent().is_some();
        let next =
            if lent { Ok(self.consumer.has_next()) } else { self.consumer.peek().map(|head| head.is_some()) };
        let arrival = match next {
            Ok(true) => Arrival::Nothing,
            Ok(false) => self.nothing(),
            Err(Violation) => Arrival::Broken(CompletionError::Protocol),
        };
        if let Arrival::Broken(why) = arrival { Some(why) } else { None }
    }

    /// What a frame says of the other direction.
    #[inline(always)]
    fn hear(&mut self, head: Head) -> Result<(), Violation> {
        self.consumer.progress(head).map_or(Ok(()), |progress| self.producer.hear(progress))
    }

    #[inline(always)]
    fn take(&mut self, head: Head, descriptor: &mut ReceiveDescriptor) -> Result<Arrival, Violation> {
        let immediate = self.consumer.immediate(head);
        if head.kind() != Kind::Message {
            return self.take_other(head, immediate, descriptor);
        }
        let len = head.len();
        if len > descriptor.capacity() {
            return Ok(Arrival::TooLong);
        }
        descriptor.set_len(len);
        let first = descriptor.buffer.len();
        self.consumer.copy(head, 0, &mut descriptor.buffer);
        if first != len {
            let mut from = first;
            for buffer in descriptor.more.iter_mut() {
                self.consumer.copy(head, from, buffer);
                from += buffer.len();
            }
        }
        Ok(Arrival::Message { len, immediate })
    }

    #[cold]
    fn take_other(
        &mut self,
        head: Head,
        immediate: Option<u32>,
        descriptor: &mut ReceiveDescriptor,
    ) -> Result<Arrival, Violation> {
        if head.kind() == Kind::Written {
            descriptor.set_len(0);
            return Ok(Arrival::Message { len: 0, immediate });
        }
        let arrival = self.take_elsewhere(head, immediate, descriptor)?;
        if self.channel.peer_took_back() {
            // The peer has stopped, and says why; its sender knows that the message may be lost.
            self.lent = None;
            self.channel.listen();
            let why = self.channel.stopped().unwrap_or(CompletionError::ConnectionLost);
            return Ok(Arrival::Broken(why));
        }
        Ok(arrival)
    }

    /// A message that lies in the peer's memory.
    fn take_elsewhere(
        &mut self,
        head: Head,
        immediate: Option<u32>,
        descriptor: &mut ReceiveDescriptor,
    ) -> Result<Arrival, Violation> {
        let body = self.elsewhere.read_body(&self.consumer, head)?;
        self.elsewhere.leave_mapped(self.lent().map(Lent::address));
        if (self.leave || self.trusted.is_some())
            && self.may_lend
            && let Some((start, len)) =
                self.elsewhere.lend(body, &self.channel, (descriptor, self.trusted.is_none()))?
        {
            let position = self.consumer.position() + head.lines();
            // SAFETY: all of it is in the peer's memory, which stays mapped as long as this may be looked at.
            let lent = unsafe { Lent::new(start, len, false, position) };
            // SAFETY: as above.
            unsafe { lent.left() }.prefetch(0);
            self.lent = Some(lent);
            descriptor.set_len(0);
            return Ok(Arrival::Message { len, immediate });
        }
        let len = self.elsewhere.fetch(body, &self.channel, descriptor)?;
        Ok(len.map_or(Arrival::TooLong, |len| Arrival::Message { len, immediate }))
    }

    /// Goes on behind the frame. A VI that stops for this frame does not claim to have consumed it.
    #[inline(always)]
    fn advance(&mut self, head: Head, arrival: Arrival) -> Arrival {
        let before = self.consumer.position();
        let tell = self.consumer.advance(head);
        if !self.may_lend && self.stays(before) {
            return arrival;
        }
        let taken = matches!(arrival, Arrival::Message { .. }) || !self.reception;
        if self.lent().is_some() {
            self.keep(before);
        } else if taken {
            self.consumed(tell);
        }
        arrival
    }

    #[inline(always)]
    fn consumed(&mut self, tell: bool) {
        self.channel.consumed(self.consumer.position());
        if tell {
            self.tell();
        }
    }

    #[inline]
    fn tell(&mut self) {
        self.consumer.published();
        self.channel.publish_progress();
    }

    #[inline]
    fn over(&mut self) -> Option<CompletionError> {
        if self.asks.is_due() {
            self.channel.listen();
        }
        self.channel.stopped()
    }

    #[inline]
    fn nothing(&mut self) -> Arrival {
        match self.over() {
            // It may have published something just before.
            Some(why) if !self.consumer.has_next() => Arrival::Broken(why),
            _ => Arrival::Nothing,
        }
    }
}
