//! Virtual interfaces: a send queue and a receive queue, and one connection.

mod waiting;

pub(crate) use waiting::deadline;

use crate::{
    Bell, Buffer, Completion, CompletionError, ConnectError, MAX_DISCRIMINATOR, PostError, PostRefused,
    ProtectionTag, ReceiveDescriptor, Reliability, ResourceError, SendDescriptor, State, ViAttributes,
    completion_queue::Member,
    fabric::{Arrival, Destination, Doorbell, Fabric, Incoming, Link, Posted, SMALL_MESSAGE, Sent, Spin},
    loans::Loans,
    memory::{Left, Pool},
};
use std::{
    collections::VecDeque,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

/// A virtual interface.
///
/// Work is posted into two queues, and completions are taken from them in the order of posting, by polling
/// ([`send_done`](Self::send_done), [`receive_done`](Self::receive_done)) or blocking ([`send_wait`](Self::send_wait),
/// [`receive_wait`](Self::receive_wait)). One thread at a time uses it; it may move between threads.
///
/// The work is carried out by whoever posts and polls. A side that neither polls nor waits takes in nothing.
pub struct Vi {
    pub(crate) link: Box<dyn Link>,
    doorbell: Option<Arc<dyn Doorbell>>,
    member: Option<Arc<Member>>,
    state: State,
    tag: ProtectionTag,
    reliability: Reliability,
    depth: usize,
    spin: Spin,
    /// What ended the last sleep is not yet taken in: the message that it was about is, first.
    was_woken: bool,
    send_pool: Pool,
    receive_pool: Pool,
    /// Receive descriptors nothing has arrived for.
    posted: Posted,
    /// Receives that completed otherwise than by being polled for.
    received: VecDeque<Completion>,
    /// Sends carried out and not acknowledged, and behind them those blocked.
    sending: VecDeque<Outgoing>,
    blocked: usize,
    sent: VecDeque<Completion>,
    pub(crate) loans: Loans,
}

struct Outgoing {
    /// Unless the link has it.
    descriptor: Option<SendDescriptor>,
    result: Result<usize, CompletionError>,
    /// It is complete once this is acknowledged.
    ticket: u64,
}

impl Vi {
    pub(crate) fn new(fabric: &dyn Fabric, attributes: &ViAttributes) -> Result<Self, ResourceError> {
        let attributes = attributes.checked()?;
        let link = fabric.link(&attributes)?;
        let [sends, receives] = link.pools();
        let depth = attributes.queue_depth as usize;
        Ok(Self {
            link,
            doorbell: None,
            member: None,
            state: State::Idle,
            tag: attributes.tag,
            reliability: attributes.reliability,
            depth,
            spin: Spin::new(attributes.spin),
            was_woken: false,
            send_pool: Pool::new(sends),
            receive_pool: Pool::new(receives),
            posted: Posted::new(depth),
            received: VecDeque::with_capacity(depth),
            loans: Loans::default(),
            sending: VecDeque::with_capacity(depth),
            blocked: 0,
            sent: VecDeque::with_capacity(depth),
        })
    }

    /// What the VI is doing, as far as it knows: that the peer is gone is noticed by polling or waiting.
    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    /// Tells others whether there is something to do for it; none before it is connected.
    pub fn bell(&self) -> Option<Bell> {
        self.doorbell.clone().map(Bell::new)
    }

    /// Its reliability level.
    pub fn reliability(&self) -> Reliability {
        self.reliability
    }

    /// The tag of the memory it may touch.
    pub fn tag(&self) -> ProtectionTag {
        self.tag
    }

    /// A buffer of the VI's own to send from, at its full length; `None` while all are in use.
    #[inline]
    pub fn send_buffer(&mut self) -> Option<Buffer> {
        self.send_pool.take().or_else(|| self.reclaim_send_buffer())
    }

    #[cold]
    fn reclaim_send_buffer(&mut self) -> Option<Buffer> {
        if self.state.is_connected() {
            self.link.progress();
        }
        self.progress_sends();
        self.send_pool.take()
    }

    /// Looks which sends are complete, so that the buffers of those without a completion return to their regions.
    /// [`send_buffer`](Self::send_buffer) does so itself where it is of use.
    #[inline]
    pub fn reclaim(&mut self) {
        self.progress_sends();
        self.reclaim_loans();
    }

    /// A buffer of the VI's own to receive into; `None` while all are in use.
    pub fn receive_buffer(&mut self) -> Option<Buffer> {
        self.receive_pool.take()
    }

    /// Posts as many receive descriptors with buffers of the VI's own as there are, or the queue holds.
    pub fn post_own_receives(&mut self) {
        while self.posted.has_room(self.received.len()) {
            let Some(buffer) = self.receive_pool.take() else { break };
            self.posted.push(buffer.into());
        }
        if self.state.is_connected() {
            self.link.posted(&mut self.posted);
        }
    }

    /// Connects to whoever listens there. Receives should have been posted before: a message could come at once.
    ///
    /// # Errors
    ///
    /// See [`ConnectError`]. The VI stays idle.
    pub fn connect(
        &mut self,
        address: &str,
        discriminator: &[u8],
        timeout: Option<Duration>,
    ) -> Result<(), ConnectError> {
        let deadline = deadline(timeout);
        self.connect_to(&Destination { address, discriminator, deadline, early: false })
    }

    /// As [`connect`](Self::connect), but where the fabric can, without waiting for the answer: sends posted leave with
    /// the question. If nobody listens there, or the listener refuses, the VI stops with
    /// [`CompletionError::NobodyListens`] or [`CompletionError::Refused`]; without an answer it stops as when the
    /// connection is lost. So it does if nobody is there when messages are sent a second time, or further ones: somebody may have
    /// taken them the first time, or those before.
    ///
    /// # Errors
    ///
    /// See [`ConnectError`]. The VI stays idle.
    pub fn connect_early(
        &mut self,
        address: &str,
        discriminator: &[u8],
        timeout: Option<Duration>,
    ) -> Result<(), ConnectError> {
        let deadline = deadline(timeout);
        self.connect_to(&Destination { address, discriminator, deadline, early: true })
    }

    fn connect_to(&mut self, to: &Destination<'_>) -> Result<(), ConnectError> {
        if to.discriminator.len() > MAX_DISCRIMINATOR {
            return Err(ConnectError::BadAddress);
        }
        self.require_idle()?;
        self.link.connect(to, &mut self.posted)?;
        self.now_connected();
        Ok(())
    }

    pub(crate) fn accept(&mut self, request: Box<dyn Incoming>) -> Result<(), ConnectError> {
        let refusal = match self.require_idle() {
            Ok(()) if request.reliability() == self.reliability => None,
            Ok(()) => Some(ConnectError::ReliabilityMismatch),
            Err(error) => Some(error),
        };
        if let Some(refusal) = refusal {
            request.reject(matches!(refusal, ConnectError::ReliabilityMismatch));
            return Err(refusal);
        }
        request.accept(&mut *self.link, &mut self.posted)?;
        self.now_connected();
        Ok(())
    }

    fn require_idle(&self) -> Result<(), ConnectError> {
        if self.state == State::Idle { Ok(()) } else { Err(ConnectError::NotIdle) }
    }

    fn now_connected(&mut self) {
        self.state = State::Connected;
        let doorbell = self.link.doorbell();
        self.link.posted(&mut self.posted);
        if let Some(member) = &self.member {
            member.connected(doorbell.clone());
        }
        self.doorbell = Some(doorbell);
    }

    /// From now on this completion queue tells when the VI has completions.
    pub(crate) fn link_to(&mut self, member: Arc<Member>) {
        if let Some(doorbell) = &self.doorbell {
            member.connected(doorbell.clone());
        }
        if let Some(before) = self.member.replace(member) {
            before.unlink();
        }
        self.tell_member();
    }

    /// Posts work to the send queue.
    ///
    /// # Errors
    ///
    /// The descriptor comes back if the queue is full or the VI is not connected. All other errors come with the
    /// completion.
    #[inline]
    pub fn post_send(
        &mut self,
        descriptor: impl Into<SendDescriptor>,
    ) -> Result<(), PostError<SendDescriptor>> {
        let mut descriptor = descriptor.into();
        if let Err(reason) = self.may_send() {
            return Err(PostError { reason, descriptor });
        }
        if self.blocked != 0 {
            self.hold_back(descriptor);
            return Ok(());
        }
        let sent = self.carry_out(&mut descriptor);
        self.conclude(descriptor, sent);
        Ok(())
    }

    /// Sends a message of at most [`SMALL_MESSAGE`] bytes at once, from memory that need not be registered, without a
    /// descriptor and without a completion. False if that cannot be, for instance since the fabric knows no such short cut,
    /// or the message is longer: then post a descriptor.
    #[inline]
    pub fn send_small(&mut self, message: &[u8]) -> bool {
        self.may_send_at_once() && self.link.send_small(message)
    }

    /// As [`send_small`](Self::send_small), where the first `len` octets are the message. The peer may see the others, which
    /// saves looking at how many there are.
    #[inline]
    pub fn send_line(&mut self, octets: &[u8; SMALL_MESSAGE], len: usize) -> bool {
        self.may_send_at_once() && self.link.send_line(octets, len)
    }

    /// Sends a message of any length at once, from memory that need not be registered, without a descriptor and without a
    /// completion, if the fabric copies such; whether it did. Otherwise post it.
    ///
    /// That is quicker: a descriptor is written in pieces and read as a whole, for which a processor waits until it is done with
    /// all that was written before, and that is the message.
    #[inline]
    pub fn send_copied(&mut self, message: &[u8]) -> bool {
        self.may_send_at_once() && self.link.send_copied(message)
    }

    /// As [`send_small`](Self::send_small), by whoever is about to send more, or to receive: where it helps the message waits for
    /// those that follow, but not for long, and not for somebody who was slow before.
    #[inline]
    pub fn send_small_with_more(&mut self, message: &[u8]) -> bool {
        self.may_send_at_once() && self.link.send_small_with_more(message)
    }

    /// Whether the peer has, or can get without this process, all that was sent [without a descriptor](Self::send_small); or
    /// the connection is over. Looks what has happened.
    pub fn has_settled(&mut self) -> bool {
        !self.state.is_connected() || self.link.has_settled()
    }

    /// Takes the next message without a descriptor, if it is of at most [`SMALL_MESSAGE`] bytes and lies where the fabric can
    /// give it at once: its length. Bytes behind it may be overwritten. `None` says nothing about other messages, which
    /// [`receive_done`](Self::receive_done) gives. Shared memory for an answer of that size is fetched meanwhile.
    #[inline]
    pub fn receive_small(&mut self, into: &mut [u8; SMALL_MESSAGE]) -> Option<usize> {
        if !self.may_receive_at_once() {
            return None;
        }
        self.link.receive_small(into)
    }

    /// As [`receive_small`](Self::receive_small), of any length up to that of `into`, unless the message has immediate data. Bytes
    /// behind it stay as they are.
    #[inline]
    pub fn receive_copied(&mut self, into: &mut [u8]) -> Option<usize> {
        if !self.may_receive_at_once() {
            return None;
        }
        self.link.receive_copied(into)
    }

    /// Whether nothing else is to be done first.
    #[inline(always)]
    fn may_receive_at_once(&self) -> bool {
        self.has_received_nothing() && self.sending.is_empty()
    }

    /// Whether the next message is the one that comes next from the link.
    #[inline(always)]
    pub(crate) fn has_received_nothing(&self) -> bool {
        self.state.is_connected() && self.received.is_empty()
    }

    /// Whether nothing waits for room.
    #[inline(always)]
    pub(crate) fn may_send_at_once(&self) -> bool {
        self.state.is_connected() && self.blocked == 0
    }

    /// From now on many [small messages](Self::receive_small) are likely to be under way at a time, in each direction: shared
    /// memory for the second next one is fetched ahead, too. Where each message waits for the answer to the one before, that
    /// would only disturb the peer. Does nothing before the VI is connected.
    pub fn expect_many(&mut self) {
        if self.state.is_connected() {
            self.link.expect_many();
        }
    }

    #[inline]
    fn may_send(&mut self) -> Result<(), PostRefused> {
        if !self.state.is_connected() {
            return Err(PostRefused::NotConnected);
        }
        if self.sending.len() + self.sent.len() < self.depth {
            return Ok(());
        }
        self.link.progress();
        self.progress_sends();
        let room = self.sending.len() + self.sent.len() < self.depth;
        if room { Ok(()) } else { Err(PostRefused::QueueFull) }
    }

    #[inline]
    fn carry_out(&mut self, descriptor: &mut SendDescriptor) -> Sent {
        let strange = |buffer: &Buffer| buffer.memory().tag() != self.tag;
        if strange(&descriptor.buffer) || descriptor.more.iter().any(strange) {
            return Sent::Failed(CompletionError::Protection);
        }
        self.link.send(descriptor)
    }

    #[inline]
    fn conclude(&mut self, descriptor: SendDescriptor, sent: Sent) {
        match sent {
            // Completions come in the order of posting.
            Sent::Done(len) if self.sending.is_empty() => self.complete_send(descriptor, Ok(len)),
            Sent::Done(len) => {
                self.sending.push_back(Outgoing { descriptor: Some(descriptor), result: Ok(len), ticket: 0 });
            }
            Sent::Until(ticket) => {
                let result = Ok(descriptor.len());
                self.sending.push_back(Outgoing { descriptor: Some(descriptor), result, ticket });
                self.link.expect_progress(true);
            }
            Sent::HandOver => {
                let ticket = self.link.take(descriptor);
                self.sending.push_back(Outgoing { descriptor: None, result: Ok(0), ticket });
            }
            Sent::Blocked => self.hold_back(descriptor),
            Sent::Failed(why) => self.failed_send(descriptor, why),
            Sent::Broken(why) => {
                self.hold_back(descriptor);
                self.lost(why);
            }
        }
    }

    #[cold]
    fn failed_send(&mut self, descriptor: SendDescriptor, why: CompletionError) {
        if self.reliability != Reliability::Unreliable {
            self.hold_back(descriptor);
            return self.stop(why);
        }
        if self.sending.is_empty() {
            return self.complete_send(descriptor, Err(why));
        }
        self.sending.push_back(Outgoing { descriptor: Some(descriptor), result: Err(why), ticket: 0 });
    }

    #[cold]
    fn hold_back(&mut self, descriptor: SendDescriptor) {
        self.sending.push_back(Outgoing { descriptor: Some(descriptor), result: Ok(0), ticket: u64::MAX });
        self.blocked += 1;
        self.link.expect_progress(true);
        if self.blocked == 1 {
            // Those behind it change nothing.
            self.tell_of_patience(None);
        }
    }

    /// Who sleeps by a queue may not sleep as long as he thinks: for ever, or as long as he was told.
    #[cold]
    fn tell_of_patience(&self, told: Option<Instant>) {
        let earlier = |patience| told.is_none_or(|told| patience < told);
        if let Some(member) = self.member.as_ref().filter(|_| self.patience().is_some_and(earlier)) {
            member.kick();
        }
    }

    fn patience(&self) -> Option<Instant> {
        self.doorbell.as_ref()?.patience()
    }

    #[inline(always)]
    fn complete_send(&mut self, descriptor: SendDescriptor, result: Result<usize, CompletionError>) {
        if descriptor.signaled || result.is_err() {
            self.sent.push_back(descriptor.completed(result));
            self.tell_member();
        } else {
            let SendDescriptor { buffer, more, .. } = descriptor;
            self.send_pool.keep(buffer);
            if more.is_empty() {
                // There is nothing to drop, which the compiler cannot see.
                std::mem::forget(more);
            } else {
                self.keep_all(more.into());
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn complete_late(&mut self, descriptor: SendDescriptor, result: Result<usize, CompletionError>) {
        self.complete_send(descriptor, result);
    }

    #[cold]
    fn keep_all(&mut self, buffers: Vec<Buffer>) {
        buffers.into_iter().for_each(|buffer| self.send_pool.keep(buffer));
    }

    /// Completes what has been acknowledged, and tries again what was blocked.
    #[inline]
    fn progress_sends(&mut self) {
        if !self.sending.is_empty() && self.state.is_connected() {
            self.progress_outstanding();
        }
    }

    #[cold]
    fn progress_outstanding(&mut self) {
        self.complete_acknowledged();
        let mut told = if self.blocked == 0 { None } else { self.patience() };
        while self.blocked != 0 && self.state.is_connected() {
            let at = self.sending.len() - self.blocked;
            let outgoing = self.sending.remove(at).expect("as many as blocked");
            let mut descriptor = outgoing.descriptor.expect("blocked ones are here");
            self.blocked -= 1;
            let sent = self.carry_out(&mut descriptor);
            let goes_on = self.reliability == Reliability::Unreliable;
            let whole = descriptor.len();
            let (descriptor, result, ticket) = match sent {
                Sent::HandOver => (None, Ok(0), self.link.take(descriptor)),
                Sent::Done(len) => (Some(descriptor), Ok(len), 0),
                Sent::Until(ticket) => (Some(descriptor), Ok(whole), ticket),
                Sent::Failed(why) if goes_on => (Some(descriptor), Err(why), 0),
                Sent::Blocked | Sent::Failed(_) | Sent::Broken(_) => (Some(descriptor), Ok(0), u64::MAX),
            };
            self.sending.insert(at, Outgoing { descriptor, result, ticket });
            match sent {
                Sent::Blocked => {
                    self.blocked += 1;
                    self.tell_of_patience(told);
                    break;
                }
                Sent::Failed(why) if !goes_on => {
                    self.blocked += 1;
                    return self.stop(why);
                }
                Sent::Broken(why) => {
                    self.blocked += 1;
                    return self.lost(why);
                }
                // Whoever fell asleep since was not told of the next one.
                Sent::HandOver | Sent::Done(_) | Sent::Until(_) | Sent::Failed(_) => told = None,
            }
        }
        self.complete_acknowledged();
        self.link.expect_progress(!self.sending.is_empty());
    }

    fn complete_acknowledged(&mut self) {
        let acknowledged = self.link.acknowledged();
        while self.sending.len() > self.blocked && self.sending[0].ticket <= acknowledged {
            let outgoing = self.sending.pop_front().expect("just seen");
            if let Some(descriptor) = outgoing.descriptor {
                self.complete_late(descriptor, outgoing.result);
            } else if let Some((descriptor, result)) = self.link.give_back() {
                self.complete_late(descriptor, result);
                if let Err(why) = result
                    && self.reliability != Reliability::Unreliable
                {
                    return self.end(why, CompletionError::Flushed);
                }
            }
        }
    }

    /// Posts a place for a message.
    ///
    /// # Errors
    ///
    /// The descriptor comes back if the queue is full or the VI has stopped.
    #[inline]
    pub fn post_receive(
        &mut self,
        descriptor: impl Into<ReceiveDescriptor>,
    ) -> Result<(), PostError<ReceiveDescriptor>> {
        let descriptor = descriptor.into();
        if let State::Stopped(_) = self.state {
            return Err(PostError { reason: PostRefused::NotConnected, descriptor });
        }
        if !self.posted.has_room(self.received.len()) {
            return Err(PostError { reason: PostRefused::QueueFull, descriptor });
        }
        self.posted.push(descriptor);
        if self.state.is_connected() {
            self.link.posted(&mut self.posted);
        }
        Ok(())
    }

    /// The next completion of the send queue, if there is one now.
    #[inline]
    pub fn send_done(&mut self) -> Option<Completion> {
        self.progress_sends();
        if self.sent.is_empty() && self.state.is_connected() && !self.sending.is_empty() {
            self.notice_end();
        }
        let completion = self.sent.pop_front();
        if let Some(completion) = &completion {
            if completion.result.is_err() && !self.state.is_connected() {
                self.link.takes_back();
            }
            self.tell_member();
        }
        completion
    }

    /// The next completion of the receive queue, if there is one now.
    ///
    /// Hand the buffer back with [`post_receive`](Self::post_receive) once you have read it.
    #[inline]
    pub fn receive_done(&mut self) -> Option<Completion> {
        if !self.received.is_empty() || !self.state.is_connected() {
            return self.take_received();
        }
        if self.blocked != 0 {
            self.progress_blocked();
        }
        let found = self.poll();
        if found.is_none() {
            // Whoever finds something has better things to do.
            self.progress_sends();
        }
        found
    }

    /// Ahead of a message. What is blocked when the peer has stopped ends the connection, but not before all that came is received.
    #[cold]
    fn progress_blocked(&mut self) {
        if self.link.over().is_none() {
            self.progress_sends();
        }
    }

    #[cold]
    fn take_received(&mut self) -> Option<Completion> {
        let completion = self.received.pop_front();
        if completion.as_ref().is_some_and(|completion| completion.result.is_ok()) {
            // One that was left before is over now.
            self.link.release();
        }
        self.tell_member();
        completion
    }

    #[inline]
    fn poll(&mut self) -> Option<Completion> {
        match self.link.receive(&mut self.posted) {
            Arrival::Message { len, immediate } => {
                let descriptor = self.posted.pop().expect("the link had it");
                Some(descriptor.completed(Ok(len), immediate))
            }
            Arrival::Nothing => None,
            other => {
                self.failed_receive(other);
                self.take_received()
            }
        }
    }

    #[cold]
    fn failed_receive(&mut self, arrival: Arrival) {
        let why = match arrival {
            Arrival::TooLong => CompletionError::TooLong,
            Arrival::Overrun => CompletionError::ReceiveQueueEmpty,
            Arrival::Broken(why) => why,
            Arrival::Nothing | Arrival::Message { .. } => return,
        };
        if arrival == Arrival::TooLong
            && let Some(descriptor) = self.posted.pop()
        {
            self.received.push_back(failed(descriptor, why));
        }
        if self.reliability != Reliability::Unreliable || matches!(arrival, Arrival::Broken(_)) {
            self.stop(why);
        }
    }

    /// The message received last, if it was left in the peer's memory: see [`ViAttributes::trusted`]. Its completion has the
    /// right length, and an empty buffer. It is there until it is [released](Self::release) or the next is received, and the
    /// peer's memory is occupied as long.
    #[inline]
    pub fn in_place(&self) -> Option<&[u8]> {
        self.link.in_place()
    }

    /// The message received last, if it was left in the peer's memory: see [`ViAttributes::leave`]. Its completion has the right
    /// length, and an empty buffer with room for it. It is there until it is [released](Self::release) or the next is received,
    /// and the peer's memory is occupied as long.
    #[inline]
    pub fn left(&self) -> Option<Left<'_>> {
        self.link.left()
    }

    /// The message [in place](Self::in_place), or [left](Self::left), is not needed any more.
    #[inline]
    pub fn release(&mut self) {
        self.link.release();
    }

    /// Looks whether the peer has gone while only sends are outstanding; messages that came are kept.
    #[cold]
    fn notice_end(&mut self) {
        self.link.progress();
        self.progress_sends();
        if !self.state.is_connected() || !self.sent.is_empty() {
            return;
        }
        if !self.has_place() {
            return self.notice_end_with_unread();
        }
        // Several may have to be kept, in their order.
        match self.link.receive_to_keep(&mut self.posted) {
            Arrival::Message { len, immediate } => {
                let descriptor = self.posted.pop().expect("the link had it");
                self.received.push_back(descriptor.completed(Ok(len), immediate));
            }
            other => self.failed_receive(other),
        }
        self.tell_member();
    }

    /// Whether there is a place for a message.
    fn has_place(&self) -> bool {
        !self.posted.is_empty() && self.received.len() < self.depth
    }

    /// As [`notice_end`](Self::notice_end), without a place for messages: what lies unread is there for whoever posts one.
    fn notice_end_with_unread(&mut self) {
        if let Some(why) = self.link.gone() {
            self.stop(why);
        } else if let Some(why) = self.link.over() {
            self.end_sends(why);
        }
    }

    /// A send found the connection gone. What came before is there for whoever receives it: as long there are no sends, but it is
    /// not stopped.
    #[cold]
    fn lost(&mut self, why: CompletionError) {
        if self.link.over().is_some() && self.link.gone().is_none() {
            self.end_sends(why);
        } else {
            self.stop(why);
        }
    }

    /// The peer has stopped, and messages lie unread.
    fn end_sends(&mut self, why: CompletionError) {
        self.complete_acknowledged();
        self.link.expect_progress(false);
        self.link.takes_back();
        self.fail_sends(why);
    }

    /// The connection is over: everything outstanding completes.
    #[cold]
    fn stop(&mut self, why: CompletionError) {
        if !self.state.is_connected() {
            return;
        }
        self.complete_acknowledged();
        if self.state.is_connected() {
            self.end(why, why);
        }
    }

    /// As [`stop`](Self::stop); `first` is the error of the oldest send.
    fn end(&mut self, why: CompletionError, first: CompletionError) {
        tracing::debug!(%why, "VI stopped");
        self.state = State::Stopped(why);
        self.link.close(why, &mut self.posted);
        self.fail_sends(first);
        while let Some(descriptor) = self.posted.pop() {
            self.received.push_back(failed(descriptor, CompletionError::Flushed));
        }
        self.tell_member();
    }

    /// All sends complete, the oldest with the `first` error.
    fn fail_sends(&mut self, mut first: CompletionError) {
        self.blocked = 0;
        while let Some(outgoing) = self.sending.pop_front() {
            let taken = || self.link.give_back().map(|(descriptor, result)| (descriptor, result.ok()));
            let Some((descriptor, done)) = outgoing.descriptor.map(|it| (it, None)).or_else(taken) else {
                continue;
            };
            self.complete_late(descriptor, done.ok_or(first));
            if done.is_none() {
                first = CompletionError::Flushed;
            }
        }
    }

    /// Ends the connection. What is outstanding completes with an error, here and at the peer; what was sent before still
    /// arrives there, but for messages the peer has not taken when such a completion gives their buffers back. Over datagrams
    /// the process must last that long, and a peer is waited for that takes some of it every five seconds at least, or four
    /// round trips, and all within a minute; another one is told that the connection is lost.
    pub fn disconnect(&mut self) {
        self.stop(CompletionError::Disconnected);
    }

    /// Breaks the connection: as [`disconnect`](Self::disconnect), but the peer is told that it is lost, since what it waits for
    /// may or may not have been done.
    pub fn abort(&mut self) {
        self.stop(CompletionError::ConnectionLost);
    }

    /// Tells the completion queue whether completions lie here.
    #[inline]
    fn tell_member(&self) {
        if let Some(member) = &self.member {
            member.has_completions(!self.sent.is_empty() || !self.received.is_empty());
        }
    }
}

impl Drop for Vi {
    fn drop(&mut self) {
        self.retire_loans();
        if self.state.is_connected() {
            self.link.close(CompletionError::Disconnected, &mut self.posted);
        }
        if let Some(member) = &self.member {
            member.unlink();
        }
    }
}

impl fmt::Debug for Vi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vi")
            .field("state", &self.state)
            .field("reliability", &self.reliability)
            .field("receives_posted", &self.posted.len())
            .field("sends_outstanding", &self.sending.len())
            .finish_non_exhaustive()
    }
}

fn failed(mut descriptor: ReceiveDescriptor, why: CompletionError) -> Completion {
    descriptor.set_len(0);
    descriptor.completed(Err(why), None)
}
