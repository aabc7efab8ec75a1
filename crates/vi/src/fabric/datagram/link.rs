//! A VI's end of a connection over datagrams.

use super::{
    Door, Port, Wire,
    bell::Bell,
    connect::Request,
    hold::Hold,
    keeper, longer,
    message::{Outgoing, Place},
    remote::PARTS,
    roles::{Member, Role},
    state::State,
    watch::Watch,
};
use crate::{
    CompletionError, ConnectError, ProtectionTag, Reliability, ViAttributes,
    descriptor::{Operation, ReceiveDescriptor, SendDescriptor},
    fabric::{Arrival, Destination, Doorbell, Link, Posted, SMALL_MESSAGE, Sent, sleep},
    memory::Memory,
    reliable::{Arrived, Broken, Config, Ecn, Event, Level, Reason, ReceiveError},
};
use rustix::event::{PollFd, PollFlags};
use std::{
    any::Any,
    collections::VecDeque,
    io,
    sync::Arc,
    time::{Duration, Instant},
};
use throughline_demux::Slot;

/// The longest message of an unreliable VI: it fits into a datagram.
const MOST_UNRELIABLE: usize = 64_000;
/// Receptions taken in for others until the VI gets its turn.
const TURN: u32 = 64;

pub(crate) struct DatagramLink<D: Door> {
    door: Arc<D>,
    level: Level,
    tag: ProtectionTag,
    config: Config,
    pools: [Arc<Memory>; 2],
    /// The most octets of a message that the buffer posted for it is too short for.
    receive_longer: u32,
    up: Option<Up<D::Wire>>,
    taken: u64,
    hold: Hold,
    /// Nothing was there when a small message was looked for, and nobody has asked for another one since.
    looked: bool,
    news: News,
}

/// What happened on the connection, and the VI has not been told.
#[derive(Default)]
struct News {
    /// Sends that are complete, the oldest first, and how many ever were; the others fail.
    sent: VecDeque<(SendDescriptor, Result<usize, CompletionError>)>,
    acknowledged: u64,
    /// Messages that arrived.
    arrived: VecDeque<(ReceiveDescriptor, Result<Arrived, ReceiveError>)>,
    /// Descriptors that nothing will come for.
    unused: VecDeque<ReceiveDescriptor>,
    answered: bool,
    broken: Option<Broken>,
    /// Messages of more octets are longer than the VI's own buffers.
    long: u32,
}

struct Up<W: Wire> {
    port: Arc<Port<W>>,
    slot: Slot,
    peer: W::Address,
    watch: Arc<Watch>,
}

impl<W: Wire> Clone for Up<W> {
    fn clone(&self) -> Self {
        Self { port: self.port.clone(), slot: self.slot, peer: self.peer, watch: self.watch.clone() }
    }
}

impl<D: Door> DatagramLink<D> {
    pub(crate) fn new(door: Arc<D>, attributes: &ViAttributes) -> io::Result<Self> {
        let (depth, tag) = (attributes.queue_depth as usize, attributes.tag);
        let pools = [
            Memory::on_heap(attributes.send_buffers, attributes.send_buffer_size, tag)?,
            Memory::on_heap(attributes.receive_buffers, attributes.receive_buffer_size, tag)?,
        ];
        let level = match attributes.reliability {
            Reliability::Unreliable => Level::Unreliable,
            Reliability::ReliableDelivery => Level::Delivery,
            Reliability::ReliableReception => Level::Reception,
        };
        Ok(Self {
            door,
            level,
            tag,
            config: Config { max_sends: depth, max_receives: depth, ..config(attributes.reliability) },
            pools,
            receive_longer: attributes.receive_longer,
            up: None,
            taken: 0,
            hold: Hold::default(),
            looked: false,
            news: News::new(depth, attributes.receive_buffer_size),
        })
    }

    /// The connection of this VI has begun.
    fn begin(&mut self, state: &mut State<D::Wire>, up: Up<D::Wire>, posted: &mut Posted) {
        let member = Member::new(up.watch.clone(), self.tag, up.peer);
        state.set_role(up.slot, Role::Vi(Box::new(member)));
        if self.receive_longer != 0
            && let Some(connection) = state.endpoint.connection(up.slot)
        {
            connection.lengthen_by(longer::lengthen(self.receive_longer, self.tag));
        }
        self.news.lend(state, &up, posted);
        self.up = Some(up);
    }

    fn up(&self) -> &Up<D::Wire> {
        self.up.as_ref().expect("the VI asks connected links only")
    }

    /// Connects to whoever asked.
    pub(super) fn accept(&mut self, request: &Request<D>, posted: &mut Posted) -> Result<(), ConnectError> {
        let (port, incoming) = (request.port.clone(), &request.incoming);
        let mut state = port.lock();
        // Whatever comes of it: who asks again is heard again.
        request.queue.forget(incoming);
        let watch = Arc::new(Watch::new()?);
        let now = state.look_at_clock();
        [self.config.max_frame, self.config.unreliable_frame] = self.door.frames(incoming.from);
        self.config.congestion = self.door.congestion(incoming.from);
        let slot = state.endpoint.accept(&self.config, incoming, now).map_err(io::Error::other)?;
        let up = Up { port: port.clone(), slot, peer: incoming.from, watch };
        self.begin(&mut state, up, posted);
        state.endpoint.handle(now, incoming.from, Ecn::NotCapable, &request.datagram);
        state.tell(&port.sleepers, None);
        state.touch();
        state.flush(&port.sleepers, None);
        Ok(())
    }

    fn open(&mut self, to: &Destination<'_>, posted: &mut Posted) -> Result<(), ConnectError> {
        let address = self.door.parse(to.address).ok_or(ConnectError::BadAddress)?;
        [self.config.max_frame, self.config.unreliable_frame] = self.door.frames(address);
        self.config.congestion = self.door.congestion(address);
        let port = Port::new(self.door.wire_to(address)?, self.door.windows().clone())?;
        let watch = Arc::new(Watch::new()?);
        let mut state = port.lock();
        let now = state.look_at_clock();
        let opened = state.endpoint.open(&self.config, address, self.level, to.discriminator, now);
        let slot = opened.map_err(io::Error::other)?;
        let up = Up { port: port.clone(), slot, peer: address, watch };
        self.begin(&mut state, up, posted);
        state.touch();
        Ok(())
    }

    /// Waits for the answer.
    fn wait_for_answer(&mut self, deadline: Option<Instant>) -> Result<(), ConnectError> {
        let up = self.up().clone();
        let bell = Bell { port: up.port.clone(), watch: up.watch.clone() };
        loop {
            {
                let mut state = up.port.lock();
                state.flush(&up.port.sleepers, Some(up.slot));
                self.news.pump(&mut state, &up);
            }
            // Even if the peer has closed it already.
            if self.news.answered || self.news.broken == Some(Broken::Reset(Reason::Closed)) {
                return Ok(());
            }
            if let Some(broken) = self.news.broken {
                return Err(no_connection(broken));
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(ConnectError::Timeout);
            }
            bell.arm();
            let slept = if bell.ready() {
                Ok(())
            } else {
                sleep(&mut [PollFd::from_borrowed_fd(bell.fd(), PollFlags::IN)], deadline)
            };
            bell.disarm();
            bell.drain();
            slept?;
        }
    }

    /// Forgets an attempt to connect.
    fn forget(&mut self, posted: &mut Posted) {
        self.end(CompletionError::Disconnected, posted);
        self.up = None;
        (self.taken, self.news) = (0, News::new(self.config.max_sends, self.news.long));
    }

    /// Takes in what has arrived until there is something for this VI.
    fn look(&mut self) {
        let Some(up) = &self.up else { return };
        if self.hold.end() {
            up.port.lock().flush(&up.port.sleepers, Some(up.slot));
        }
        let state = if up.watch.is_ready() { Some(up.port.lock()) } else { up.port.try_lock() };
        if let Some(mut state) = state {
            self.news.look(&mut state, up, News::any);
        }
    }

    /// Sends a small message at once, unless others are expected to follow; `false` if it cannot be.
    #[inline]
    fn put_small(&mut self, message: &[u8], with_more: bool) -> bool {
        let Some(up) = self.up.as_ref().filter(|_| self.level == Level::Delivery) else { return false };
        let mut state = up.port.lock();
        state.touch();
        let expected = with_more || !self.news.arrived.is_empty() || state.has_small(up.slot);
        if !expected && !self.hold.is_held() {
            return state.send_small(up.slot, message, &up.port.sleepers);
        }
        if !state.post_small(up.slot, message) {
            return false;
        }
        if !self.hold.waits(expected) {
            state.flush(&up.port.sleepers, Some(up.slot));
            if up.port.sleepers.any() {
                state.set_timer();
            }
        }
        true
    }

    /// What is outstanding comes back, and the connection ends: in order if the VI disconnects.
    fn end(&mut self, why: CompletionError, posted: &mut Posted) {
        let Some(up) = self.up.clone() else { return };
        let mut state = up.port.lock();
        self.news.pump(&mut state, &up);
        let now = state.look_at_clock();
        if let Some(connection) = state.endpoint.connection(up.slot).filter(|it| it.broken().is_none()) {
            if why == CompletionError::Disconnected && self.news.broken.is_none() {
                let delivery = self.level != Level::Reception;
                let (sent, unused) = (&mut self.news.sent, &mut self.news.unused);
                let detach = |message: &mut Outgoing| {
                    let Some(descriptor) = message.detach() else { return };
                    // In the hands of the fabric, which is all that was promised.
                    let result = if delivery { Ok(descriptor.len()) } else { Err(why) };
                    sent.push_back((descriptor, result));
                };
                connection.finish(now, detach, |place| unused.extend(place.descriptor()));
            } else {
                connection.reset(told(why));
            }
        }
        self.news.pump(&mut state, &up);
        let left = state.leave(up.slot);
        self.news.sent.extend(left.into_iter().map(|descriptor| (descriptor, Err(why))));
        state.touch();
        state.flush(&up.port.sleepers, None);
        drop(state);
        up.port.sleepers.leave(&up.watch);
        let arrived = self.news.arrived.drain(..).map(|(descriptor, _)| descriptor);
        posted.put_all(arrived.chain(self.news.unused.drain(..)));
        let port: Arc<dyn keeper::Kept> = up.port;
        keeper::linger(&port);
    }
}

impl News {
    fn new(depth: usize, long: u32) -> Self {
        Self {
            long,
            sent: VecDeque::with_capacity(depth),
            arrived: VecDeque::with_capacity(depth),
            ..Self::default()
        }
    }

    /// Whether there is anything but sends.
    fn any(&self) -> bool {
        !self.arrived.is_empty() || self.broken.is_some()
    }

    fn look<W: Wire>(&mut self, state: &mut State<W>, up: &Up<W>, there: fn(&Self) -> bool) {
        if up.watch.is_ready() {
            self.pump(state, up);
            if there(self) {
                return;
            }
            if !self.any() {
                up.watch.is_done();
            }
        }
        if state.was_looked_at(&up.watch) {
            return;
        }
        state.touch();
        for _ in 0..TURN {
            let arrived = state.take_in(&up.port.sleepers, Some(up.slot));
            if !arrived {
                state.pause(&up.port.sleepers);
                state.looked_at(&up.watch);
            }
            if up.watch.is_ready() {
                return self.pump(state, up);
            }
            if !arrived {
                return;
            }
        }
    }

    /// Whether a long message has not been taken: others stay with the connection, which has memory for a few of them.
    fn has_long(&self) -> bool {
        self.arrived
            .back()
            .is_some_and(|(_, result)| matches!(result, Ok(arrived) if arrived.length > self.long as usize))
    }

    /// Takes what happened on the connection.
    fn pump<W: Wire>(&mut self, state: &mut State<W>, up: &Up<W>) {
        let (now, plain) = (state.now, state.is_plain(up.slot));
        while let Some(event) = state.endpoint.event_of(up.slot, now, !self.has_long()) {
            match event {
                Event::Connected => self.answered = true,
                Event::Sent(message, result) => {
                    if !plain {
                        self.take_finished(state, up);
                    }
                    self.sent(message, result);
                }
                Event::Received(place, Err(ReceiveError::Broken(_))) => {
                    self.unused.extend(place.descriptor());
                }
                Event::Received(place, result) => {
                    if let Some(descriptor) = place.descriptor() {
                        self.arrived.push_back((descriptor, result));
                    }
                }
                Event::Broken(broken) => self.broken = Some(broken),
            }
        }
        if !plain {
            self.take_finished(state, up);
        }
    }

    /// Takes remote DMA whose turn it is among the sends.
    fn take_finished<W: Wire>(&mut self, state: &mut State<W>, up: &Up<W>) {
        while let Some((descriptor, done)) = state.finished(up.slot, self.acknowledged + 1) {
            let len = descriptor.len();
            self.acknowledged += 1;
            self.sent
                .push_back((descriptor, if done { Ok(len) } else { Err(CompletionError::RemoteProtection) }));
        }
        if state.is_remote_broken(up.slot) {
            // Nothing that was posted will ever complete.
            self.broken = self.broken.or(Some(Broken::TimedOut));
        }
    }

    fn sent(&mut self, message: Outgoing, result: Result<(), Broken>) {
        let Some(descriptor) = message.descriptor() else { return };
        let len = descriptor.len();
        self.acknowledged += u64::from(result.is_ok());
        self.sent.push_back((descriptor, result.map(|()| len).map_err(reason)));
    }

    /// Gives all that is posted to the connection.
    fn lend<W: Wire>(&mut self, state: &mut State<W>, up: &Up<W>, posted: &mut Posted) {
        let Some(connection) = state.endpoint.posting(up.slot) else { return };
        while let Some(descriptor) = posted.lend() {
            if let Err(place) = connection.post_receive(Place::Lent(descriptor)) {
                self.unused.extend(place.descriptor());
            }
        }
    }
}

impl<D: Door> Link for DatagramLink<D> {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn pools(&self) -> [Arc<Memory>; 2] {
        self.pools.clone()
    }

    fn connect(&mut self, to: &Destination<'_>, posted: &mut Posted) -> Result<(), ConnectError> {
        self.open(to, posted)?;
        let answered = if to.early { Ok(()) } else { self.wait_for_answer(to.deadline) };
        answered.inspect_err(|_| self.forget(posted))
    }

    fn doorbell(&self) -> Arc<dyn Doorbell> {
        let up = self.up();
        Arc::new(Bell { port: up.port.clone(), watch: up.watch.clone() })
    }

    fn send(&mut self, descriptor: &mut SendDescriptor) -> Sent {
        let longest = if self.level == Level::Unreliable { MOST_UNRELIABLE } else { crate::MAX_MESSAGE };
        let is_message = descriptor.operation == Operation::Send;
        if is_message && descriptor.len() > longest || descriptor.len() > u32::MAX as usize {
            return Sent::Failed(CompletionError::TooLong);
        }
        Sent::HandOver
    }

    /// Nothing tells its sender that a message was received; who wants to know needs a descriptor.
    fn send_small(&mut self, message: &[u8]) -> bool {
        self.put_small(message, false)
    }

    fn send_small_with_more(&mut self, message: &[u8]) -> bool {
        self.put_small(message, true)
    }

    fn has_settled(&mut self) -> bool {
        let Some(up) = &self.up else { return true };
        let mut state = up.port.lock();
        state.looked_at(&up.watch);
        self.news.look(&mut state, up, |_| true);
        // Acknowledgements that came with messages are taken in now.
        self.hold.end();
        state.flush(&up.port.sleepers, Some(up.slot));
        let connection = state.endpoint.peek(up.slot);
        connection.is_none_or(|connection| connection.broken().is_some() || connection.all_sent())
    }

    fn receive_small(&mut self, into: &mut [u8; SMALL_MESSAGE]) -> Option<usize> {
        if !self.news.arrived.is_empty() {
            return None;
        }
        let up = self.up.as_ref()?;
        let waits = up.watch.is_ready() || self.hold.is_held();
        let mut state = if waits { up.port.lock() } else { up.port.try_lock()? };
        if up.watch.is_ready() {
            let taken = state.take_small(up.slot, &up.watch, into);
            // If there is anything else, it is taken otherwise.
            if taken.is_some() || up.watch.is_ready() {
                return taken;
            }
        }
        if self.hold.end() {
            state.flush(&up.port.sleepers, Some(up.slot));
        }
        if state.was_looked_at(&up.watch) {
            return None;
        }
        state.touch();
        if state.take_in(&up.port.sleepers, Some(up.slot)) {
            state.take_in_more(&up.port.sleepers, up.slot);
            return state.take_small(up.slot, &up.watch, into);
        }
        state.pause(&up.port.sleepers);
        state.looked_at(&up.watch);
        self.looked = !up.watch.is_ready();
        None
    }

    fn take(&mut self, descriptor: SendDescriptor) -> u64 {
        self.taken += 1;
        let up = self.up.as_ref().expect("the VI asks connected links only");
        let mut state = up.port.lock();
        let refused = state.post(up.slot, self.taken, descriptor);
        state.touch();
        // As long as there are messages that the application has not taken, it is about to do so.
        let expected = !self.news.arrived.is_empty() || state.has_small(up.slot);
        if !self.hold.waits(expected) {
            state.flush(&up.port.sleepers, Some(up.slot));
            if up.port.sleepers.any() {
                state.set_timer();
            }
        }
        if self.level == Level::Unreliable {
            // It has left.
            self.news.pump(&mut state, up);
        }
        if let Some(descriptor) = refused {
            // The connection is broken, which is noticed by whoever looks next. Those before come back before this one.
            self.news.pump(&mut state, up);
            self.news.sent.push_back((descriptor, Err(CompletionError::Flushed)));
        }
        self.taken
    }

    fn give_back(&mut self) -> Option<(SendDescriptor, Result<usize, CompletionError>)> {
        self.news.sent.pop_front()
    }

    fn acknowledged(&mut self) -> u64 {
        self.news.acknowledged
    }

    fn receive(&mut self, posted: &mut Posted) -> Arrival {
        if self.news.arrived.is_empty() && !std::mem::take(&mut self.looked) {
            self.look();
        }
        if let Some((descriptor, result)) = self.news.arrived.pop_front() {
            posted.put_first(descriptor);
            return match result {
                Ok(Arrived { length, immediate }) => {
                    if let Some(first) = posted.first() {
                        first.set_len(length);
                    }
                    Arrival::Message { len: length, immediate }
                }
                Err(_) => Arrival::TooLong,
            };
        }
        self.news.broken.map_or(Arrival::Nothing, |broken| Arrival::Broken(reason(broken)))
    }

    fn gone(&mut self) -> Option<CompletionError> {
        self.news.broken.filter(|_| self.news.arrived.is_empty()).map(reason)
    }

    fn progress(&mut self) {
        // Messages that wait say nothing of buffers that come back.
        if self.news.sent.is_empty()
            && let Some(up) = &self.up
        {
            let mut state = up.port.lock();
            if self.hold.end() {
                state.flush(&up.port.sleepers, Some(up.slot));
            }
            // They are wanted now: that somebody else has looked before does not do.
            state.looked_at(&up.watch);
            self.news.look(&mut state, up, |news| !news.sent.is_empty());
            if self.news.sent.is_empty() {
                // Acknowledgements that came with messages are taken in now.
                state.flush(&up.port.sleepers, Some(up.slot));
                self.news.pump(&mut state, up);
            }
        }
    }

    fn posted(&mut self, posted: &mut Posted) {
        let Some(up) = &self.up else { return };
        let mut state = up.port.lock();
        self.news.lend(&mut state, up, posted);
        state.made_room(up.slot);
    }

    fn close(&mut self, why: CompletionError, posted: &mut Posted) {
        self.end(why, posted);
    }
}

/// How connections of providers behave.
pub(super) fn provider_config() -> Config {
    Config { max_sends: PARTS, max_receives: PARTS, ..config(Reliability::ReliableReception) }
}

/// How connections behave: acknowledgements leave with answers, or within a millisecond if the application polls or
/// waits; if it does not, the keeper sends them.
fn config(reliability: Reliability) -> Config {
    let delay = match reliability {
        // Whose sender waits for the acknowledgement.
        Reliability::ReliableReception => Duration::ZERO,
        _ => Duration::from_millis(1),
    };
    Config {
        granularity: Duration::from_micros(250),
        ack_delay: delay,
        ack_promise: Duration::from_millis(10),
        keep_alive: Some(Duration::from_secs(10)),
        ..Config::data_center()
    }
}

/// Why a VI stops whose connection broke.
fn reason(broken: Broken) -> CompletionError {
    match broken {
        Broken::Closed | Broken::Reset(Reason::Closed) => CompletionError::Disconnected,
        Broken::TooLong | Broken::Reset(Reason::TooLong) => CompletionError::TooLong,
        Broken::Violation => CompletionError::Protocol,
        Broken::Reset(Reason::NobodyListens) => CompletionError::NobodyListens,
        Broken::Reset(Reason::Refused | Reason::OtherLevel) => CompletionError::Refused,
        Broken::TimedOut | Broken::Reset(Reason::Unknown | Reason::Violation | Reason::TimedOut) => {
            CompletionError::ConnectionLost
        }
    }
}

/// What the peer is told when a VI stops.
fn told(why: CompletionError) -> Reason {
    match why {
        CompletionError::TooLong => Reason::TooLong,
        CompletionError::Protocol => Reason::Violation,
        CompletionError::ConnectionLost => Reason::TimedOut,
        _ => Reason::Closed,
    }
}

/// Why there is no connection.
fn no_connection(broken: Broken) -> ConnectError {
    match broken {
        Broken::Reset(Reason::NobodyListens) => ConnectError::NobodyListens,
        Broken::Reset(Reason::OtherLevel) => ConnectError::ReliabilityMismatch,
        Broken::Reset(_) | Broken::Closed => ConnectError::Rejected,
        Broken::TimedOut => ConnectError::Timeout,
        Broken::TooLong | Broken::Violation => ConnectError::Protocol("the answer contradicts itself"),
    }
}
