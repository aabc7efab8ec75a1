//! The server's side of IIOP: connections on which requests come in.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError, Weak};
use std::time::{Duration, Instant};

use throughline_cdr::{EncodeError, Writer};
use throughline_demux::Handle;
use throughline_giop::MessageHeader;
use throughline_giop::connection::{Frame, Incoming, ProtocolError, Reaction as PeerReaction, Role};
use throughline_giop::fragment::FragmentLimits;

use crate::backlog::Backlog;
use crate::dispatch::{Dispatcher, Reaction, Session};
use crate::lane_pool::{Job, Lane, Origin};
use crate::large::LargeMessage;
use crate::placement::Placed;
use crate::servant::Replier;
use crate::transport::outbox::{Outbox, Sent};
use crate::transport::poller::{Event, Interest};
use crate::transport::reactor::{Activity, Reactor, Source, Worker, lock};
use crate::transport::socket::{Socket, Wait};
use crate::transport::unfinished::{Part, Unfinished};

/// What a server allows each connection.
#[derive(Clone, Debug)]
pub(crate) struct ServerLimits {
    pub(crate) max_message: usize,
    pub(crate) max_connections: usize,
    /// What all connections together keep of messages whose ends are missing, in octets.
    pub(crate) max_unfinished: usize,
    /// How workers wait on the connections they stay with.
    pub(crate) wait: Wait,
    /// How long a worker stays with a silent connection.
    pub(crate) linger: Duration,
    /// After this long without a message a connection is closed.
    pub(crate) idle_timeout: Option<Duration>,
    /// After this long without an octet the client's machine is asked whether it is there.
    pub(crate) keep_alive: Option<Duration>,
    /// The rest of a message must follow its beginning, and a reply must be read, within this time.
    pub(crate) stall_timeout: Duration,
}

/// Replies that are ready while more requests wait in the receive buffer leave together, up to this many bytes.
const BATCH: usize = 64 * 1024;
/// A worker whose pool is exhausted serves this many messages of one connection before it looks at others.
const TURN: usize = 32;
/// Bytes that make no whole message keep a worker on a connection only if at least so many come while it lingers.
const FLOW: usize = 64 * 1024;
/// A reply buffer larger than this is not kept, in bytes.
const KEEP_REPLY: usize = 1024 * 1024;

/// What all connections accepted by an ORB have together.
#[derive(Debug, Default)]
pub(crate) struct Accepted {
    pub(crate) connections: AtomicUsize,
    unfinished: Unfinished,
}

/// A connection that clients send requests on.
#[derive(Debug)]
pub(crate) struct ServerConnection {
    socket: Socket,
    outbox: Outbox,
    /// Requests that lanes have taken, and that wait for the outbox.
    backlog: Backlog,
    handle: OnceLock<Handle>,
    reactor: Weak<Reactor>,
    dispatcher: Arc<Dispatcher>,
    limits: Arc<ServerLimits>,
    accepted: Arc<Accepted>,
    session: Session,
    read: Mutex<Incoming>,
    /// Its part of what all connections keep of messages whose ends are missing. Written with `read` locked, but for its end.
    unfinished: Part,
    /// The worker that has adopted the connection, 0 when none has. Only that worker receives. Written with `read`
    /// locked; read without the lock too, since a worker that receives may hold it for long.
    owner: AtomicU64,
    /// Servants at work for this connection while another worker may read from it.
    detached: AtomicUsize,
    /// The message under way comes so slowly that no worker stays for it. Used with `read` locked.
    trickles: AtomicBool,
    /// The client sends nothing more, but may read the answers to what it has sent.
    hushed: AtomicBool,
    closing: AtomicBool,
    removed: AtomicBool,
    epoch: Instant,
    /// Milliseconds after `epoch` at which the connection was last given back to the epoll set.
    parked_at: AtomicU64,
}

/// The right to read from a connection. Its owner holds it while it receives, and not while a servant runs.
type Reading<'c> = MutexGuard<'c, Incoming>;

impl ServerConnection {
    pub(super) fn start(
        (socket, session): (Socket, Session),
        reactor: &Arc<Reactor>,
        dispatcher: Arc<Dispatcher>,
        limits: Arc<ServerLimits>,
        accepted: Arc<Accepted>,
    ) -> io::Result<Arc<Self>> {
        accepted.connections.fetch_add(1, Ordering::Relaxed);
        // A request is for servers; a reply here is a protocol error.
        let read = Incoming::new(Role::Server, fragment_limits(limits.max_message));
        let connection = Arc::new(Self {
            socket,
            outbox: Outbox::default(),
            backlog: Backlog::default(),
            handle: OnceLock::new(),
            reactor: Arc::downgrade(reactor),
            dispatcher,
            limits,
            accepted,
            session,
            read: Mutex::new(read),
            unfinished: Part::default(),
            owner: AtomicU64::new(0),
            detached: AtomicUsize::new(0),
            trickles: AtomicBool::new(false),
            hushed: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            removed: AtomicBool::new(false),
            epoch: Instant::now(),
            parked_at: AtomicU64::new(0),
        });
        // A connection that breaks at once raises an event at once: it must not be removed before its handle is known.
        let read = lock(&connection.read);
        let registered = reactor.register(&connection.socket, Arc::clone(&connection) as Arc<dyn Source>);
        let handle = registered.inspect_err(|_| {
            connection.say_farewell();
            connection.remove();
        })?;
        let _ = connection.handle.set(handle);
        drop(read);
        connection.arm(reactor, false);
        Ok(connection)
    }

    /// Waits in the epoll set: to be read from, or, while the peer does not take what it is sent, to be written to.
    fn arm(&self, reactor: &Reactor, has_output: bool) {
        if let Some(handle) = self.handle.get() {
            reactor.arm(&self.socket, *handle, Interest { read: !has_output, write: has_output });
        }
    }

    /// Takes the right to read; none when another worker has it.
    fn adopt(&self, worker: &Worker) -> Option<Reading<'_>> {
        let read = lock(&self.read);
        let taken = self.owner.load(Ordering::Relaxed) != 0;
        if taken || self.removed.load(Ordering::Acquire) || worker.reactor.is_draining() {
            return None;
        }
        self.owner.store(worker.id, Ordering::Relaxed);
        Some(read)
    }

    /// Stays with the connection as long as messages come, then gives it back.
    fn serve(self: &Arc<Self>, worker: &mut Worker) {
        let Some(read) = self.adopt(worker) else { return };
        let stay = Stay::begin(self, worker);
        if let Some(read) = self.converse(read, worker, stay.lingers) {
            self.park(read, &stay.reactor);
        }
        drop(stay);
        worker.out.shrink_to(KEEP_REPLY);
    }

    /// Receives and handles messages. Returns the right to read when the connection falls silent; none when it
    /// was lost to another worker or the connection has ended.
    fn converse<'c>(
        self: &'c Arc<Self>,
        read: Reading<'c>,
        worker: &mut Worker,
        linger: bool,
    ) -> Option<Reading<'c>> {
        worker.turn = 0;
        let mut read = self.handle_messages(read, worker)?;
        // The event, or the other worker, says that something is there: look before waiting.
        let mut stay = false;
        let mut pieces = Pieces::default();
        loop {
            if self.outbox.waiting() > 0 || self.must_rest(worker) {
                return Some(read);
            }
            let received = match self.receive(&mut read, stay) {
                // No end of the stream, but the end of receiving from it: see `drain`.
                Ok(0) if worker.reactor.is_draining() => return Some(read),
                Ok(0) => {
                    self.hush(read, &worker.reactor);
                    return None;
                }
                Ok(received) => received,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Some(read),
                Err(_) => break,
            };
            let before = worker.turn;
            read = self.handle_messages(read, worker)?;
            let whole_message = worker.turn > before;
            if !whole_message {
                // Pieces have their turn as whole messages do: there may be no end of them.
                worker.turn += 1;
                if !self.may_keep(read.unfinished()) {
                    break;
                }
            }
            self.note_progress(whole_message, received, &mut pieces);
            stay = linger && !self.trickles.load(Ordering::Relaxed);
        }
        drop(read);
        self.remove();
        None
    }

    /// Nothing more will come. What is under way is answered, then the connection ends.
    fn hush(self: &Arc<Self>, read: Reading<'_>, reactor: &Arc<Reactor>) {
        if read.has_message() {
            // It was received before: the worker had to rest, and by the time it looked again need not any more.
            return self.park(read, reactor);
        }
        // In this order: whoever sees that nothing more will come sees that nobody reads.
        self.owner.store(0, Ordering::Relaxed);
        self.hushed.store(true, Ordering::SeqCst);
        let sent = self.flush_outbox();
        if matches!(sent, Ok(Sent::Waiting(_))) {
            self.arm(reactor, true);
        }
        drop(read);
        if self.sent(sent) {
            self.end_if_hushed();
        }
    }

    /// Whoever is last of those who answer, or of those who notice that nothing more will come, sees the others.
    fn end_if_hushed(&self) {
        if self.hushed.load(Ordering::SeqCst) && self.is_unused() {
            self.remove();
        }
    }

    /// Whether so much of messages whose ends are missing finds room beside what others keep: not all may have as much as
    /// each by itself.
    #[inline]
    fn may_keep(&self, octets: usize) -> bool {
        self.unfinished.is(octets) || self.keep(octets)
    }

    #[cold]
    fn keep(&self, octets: usize) -> bool {
        let limit = self.limits.max_unfinished;
        let share = limit / self.limits.max_connections.max(1);
        let fits =
            self.unfinished.keep(octets, &self.accepted.unfinished, (limit, share), self.epoch.elapsed());
        // Whoever has removed the connection meanwhile has not seen this, or this sees that.
        if self.removed.load(Ordering::SeqCst) {
            self.keep_nothing();
        }
        if !fits {
            tracing::warn!(limit, "connection closed: too many messages have no end yet");
        }
        fits
    }

    fn keep_nothing(&self) {
        self.unfinished.end(&self.accepted.unfinished);
    }

    /// Whether a message has taken too long now that there is little room for others.
    fn takes_room(&self) -> bool {
        self.accepted.unfinished.is_scarce(self.limits.max_unfinished)
            && self.unfinished.kept_for(self.epoch.elapsed()) > self.limits.stall_timeout
    }

    fn receive(&self, inbox: &mut Incoming, stay: bool) -> io::Result<usize> {
        let missing = inbox.missing();
        let space = inbox.space();
        let received = if !stay {
            self.socket.try_receive(space)
        } else if missing > 0 {
            // The length is known: let the kernel gather the rest.
            let want = missing.min(space.len());
            self.socket.receive_all(&mut space[..want], Some(self.limits.linger))
        } else {
            self.socket.receive(space, self.limits.wait, Some(self.limits.linger))
        }?;
        inbox.filled(received);
        Ok(received)
    }

    /// Judges whether a worker may stay. Whoever sends a byte now and then would otherwise keep one for ever.
    #[inline]
    fn note_progress(&self, whole_message: bool, received: usize, pieces: &mut Pieces) {
        let trickles = match whole_message {
            true => {
                *pieces = Pieces::default();
                Some(false)
            }
            false => pieces.add(received, self.limits.linger),
        };
        if let Some(trickles) = trickles.filter(|t| *t != self.trickles.load(Ordering::Relaxed)) {
            self.trickles.store(trickles, Ordering::Relaxed);
        }
    }

    /// Whether no further message is to be handled now: the client does not take its replies, the ORB shuts down, or
    /// other connections wait for a worker.
    #[inline]
    fn must_rest(&self, worker: &Worker) -> bool {
        self.outbox.waiting() > BATCH
            || worker.reactor.is_draining()
            || worker.turn >= TURN && worker.reactor.is_saturated()
    }

    /// Handles every whole message that was received, until it must rest, then sends what is to be sent.
    fn handle_messages<'c>(
        self: &'c Arc<Self>,
        mut read: Reading<'c>,
        worker: &mut Worker,
    ) -> Option<Reading<'c>> {
        loop {
            if self.must_rest(worker) {
                return Some(read);
            }
            let frame = match read.next() {
                Ok(Some(frame)) => frame,
                Ok(None) => return Some(read),
                Err(error) => {
                    drop(read);
                    self.refuse(&error);
                    return None;
                }
            };
            let more = read.has_message();
            drop(read);
            let goes_on = if self.dispatcher.has_lanes() {
                self.place_message(&frame, more, worker)
            } else {
                self.handle_message(&frame, more, worker)
            };
            worker.turn += 1;
            // The frame's memory is free again before the next bytes are received.
            drop(frame);
            if !goes_on {
                return None;
            }
            read = self.take_back(worker)?;
        }
    }

    /// The right to read, if the worker still has it after its servant.
    fn take_back(&self, worker: &Worker) -> Option<Reading<'_>> {
        if self.owner.load(Ordering::Relaxed) == worker.id {
            let read = lock(&self.read);
            if self.owner.load(Ordering::Relaxed) == worker.id {
                return Some(read);
            }
        }
        self.step_back(&worker.reactor);
        None
    }

    /// Others read now: sees to it that the reply leaves all the same.
    fn step_back(&self, reactor: &Reactor) {
        let mut sent = self.flush_outbox();
        // An owner sends what waits when it gives the connection back, at the latest.
        if matches!(sent, Ok(Sent::Waiting(_))) && self.owner.load(Ordering::Relaxed) == 0 {
            sent = self.send_later(reactor);
        }
        self.sent(sent);
        self.touch();
        self.detached.fetch_sub(1, Ordering::SeqCst);
        self.end_if_hushed();
    }

    /// Sees to it that what waits leaves once the client reads.
    fn send_later(&self, reactor: &Reactor) -> io::Result<Sent> {
        // With the lock held, nobody parks the connection with another interest meanwhile.
        let _read = lock(&self.read);
        let sent = self.flush_outbox();
        // If everything has left meanwhile, what the connection was parked with holds: requests that were received before may
        // wait for the kernel to take more.
        if matches!(sent, Ok(Sent::Waiting(_))) && self.owner.load(Ordering::Relaxed) == 0 {
            self.arm(reactor, true);
        }
        sent
    }

    /// The time of silence begins now.
    fn touch(&self) {
        let now = self.epoch.elapsed().as_millis() as u64;
        self.parked_at.store(now, Ordering::Relaxed);
    }

    fn silence(&self) -> Duration {
        let since = Duration::from_millis(self.parked_at.load(Ordering::Relaxed));
        self.epoch.elapsed().saturating_sub(since)
    }

    /// Runs one message; false when the connection is at its end.
    fn handle_message(&self, frame: &Frame, more: bool, worker: &mut Worker) -> bool {
        worker.out.clear();
        // Before the keeper may take this worker for one that is kept by its servant.
        self.session.nothing_overtakes();
        worker.activity.advance();
        let reaction =
            self.dispatcher.handle(&frame.header, frame, (&self.session, Some(self)), &mut worker.out);
        worker.activity.advance();
        // A worker that others have relieved does not come to the next message.
        let more = more && self.owner.load(Ordering::Relaxed) == worker.id;
        self.react(reaction, more, &worker.out)
    }

    /// As [`handle_message`](Self::handle_message), where some adapters serve in lanes.
    #[inline(never)]
    fn place_message(self: &Arc<Self>, frame: &Frame, more: bool, worker: &mut Worker) -> bool {
        worker.out.clear();
        let origin = || {
            self.detached.fetch_add(1, Ordering::Relaxed);
            Arc::clone(self) as Arc<dyn Origin>
        };
        match self.dispatcher.place((&frame.header, frame), &self.session, origin, &mut worker.out) {
            Placed::Here => self.handle_message(frame, more, worker),
            Placed::Taken | Placed::Refused => self.react(Reaction::Continue, more, &worker.out),
        }
    }

    /// Sends what a message asks for; false when the connection is at its end.
    #[inline]
    fn react(&self, reaction: Reaction, more: bool, out: &[u8]) -> bool {
        match reaction {
            Reaction::Continue if out.is_empty() => self.flush_before_waiting(more),
            Reaction::Continue if more && self.outbox.waiting() + out.len() < BATCH => {
                self.outbox.push(out);
                true
            }
            Reaction::Continue => self.sent(self.outbox.send(&self.socket, out)),
            Reaction::Close => {
                let _ = self.outbox.send(&self.socket, out);
                self.remove();
                false
            }
        }
    }

    /// Sends what waits, as far as the client takes it now.
    fn flush_outbox(&self) -> io::Result<Sent> {
        let sent = self.outbox.flush(&self.socket);
        self.note(&sent);
        sent
    }

    /// When everything has left, requests that waited for that go on.
    #[inline]
    fn note(&self, sent: &io::Result<Sent>) {
        if !self.backlog.is_empty() && matches!(sent, Ok(Sent::All)) {
            self.backlog.let_go();
        }
    }

    /// A message without a reply ends a batch: what was kept back must not wait for the next one.
    fn flush_before_waiting(&self, more: bool) -> bool {
        more || self.sent(self.flush_outbox())
    }

    fn sent(&self, result: io::Result<Sent>) -> bool {
        self.note(&result);
        if result.is_err() {
            self.remove();
        }
        result.is_ok()
    }

    /// Answers what is no acceptable message, if there is an answer to it, and closes.
    fn refuse(&self, why: &ProtocolError) {
        tracing::debug!(%why, "connection closed: malformed message");
        if why.reaction() == PeerReaction::MessageErrorAndClose {
            let _ = self.outbox.send(&self.socket, &self.dispatcher.message_error(why.answer_version()));
        }
        self.remove();
    }

    /// Gives the connection back to the epoll set.
    fn park(self: &Arc<Self>, mut read: Reading<'_>, reactor: &Arc<Reactor>) {
        self.touch();
        read.release();
        self.owner.store(0, Ordering::Relaxed);
        if !self.may_keep(read.unfinished()) {
            drop(read);
            return self.remove();
        }
        let has_output = matches!(self.flush_outbox(), Ok(Sent::Waiting(_)));
        let draining = reactor.is_draining();
        if has_output || !draining {
            self.arm(reactor, has_output);
        }
        // What waits has been received already, so no event will tell of it.
        let waits = !has_output && !draining && read.has_message();
        drop(read);
        if waits {
            let connection = Arc::clone(self);
            reactor.spawn(Box::new(move |worker| connection.serve(worker)));
        }
    }

    /// `worker`, which reads here, is kept by its servant: lets another one read on.
    pub(crate) fn relieve(self: &Arc<Self>, reactor: &Arc<Reactor>, worker: u64) {
        if self.owner.load(Ordering::Relaxed) != worker {
            return;
        }
        let read = match self.read.try_lock() {
            Ok(read) => read,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Somebody is receiving, so nobody is kept.
            Err(TryLockError::WouldBlock) => return,
        };
        if self.owner.load(Ordering::Relaxed) != worker {
            return;
        }
        if !self.session.is_ordered() {
            self.hand_over(read, reactor);
        } else {
            // Replies of earlier requests need not wait for this one.
            drop(read);
            let _ = self.flush_outbox();
        }
    }

    fn hand_over(self: &Arc<Self>, read: Reading<'_>, reactor: &Arc<Reactor>) {
        self.detached.fetch_add(1, Ordering::Relaxed);
        self.park(read, reactor);
        reactor.ensure_worker();
    }

    /// Whether nobody reads, no servant runs and no reply waits. Certain only with `read` locked.
    fn is_unused(&self) -> bool {
        self.owner.load(Ordering::Relaxed) == 0
            && self.detached.load(Ordering::SeqCst) == 0
            && self.outbox.waiting() == 0
    }

    /// Ends the connection, once.
    fn remove(&self) {
        if self.removed.swap(true, Ordering::SeqCst) {
            return;
        }
        self.socket.shutdown();
        self.accepted.connections.fetch_sub(1, Ordering::Relaxed);
        self.keep_nothing();
        if let (Some(reactor), Some(handle)) = (self.reactor.upgrade(), self.handle.get()) {
            reactor.remove(&self.socket, *handle);
        }
        self.backlog.end();
    }

    /// Tells the client, once, that no request will be carried out but those whose replies it has. The caller has `read` locked,
    /// so that no request begins, and has seen that none is under way.
    fn say_farewell(&self) {
        if self.closing.swap(true, Ordering::AcqRel) {
            return;
        }
        let sent = self.outbox.send(&self.socket, &self.dispatcher.close_connection());
        self.touch();
        if let (Ok(Sent::Waiting(_)), Some(reactor)) = (sent, self.reactor.upgrade()) {
            self.arm(&reactor, true);
        }
    }
}

/// What one connection may keep of messages in fragments: two of the largest at a time.
pub(crate) fn fragment_limits(max_message: usize) -> FragmentLimits {
    FragmentLimits { max_message, max_total: max_message.saturating_mul(2), max_messages: 16 }
}

impl Origin for ServerConnection {
    fn carry_out(&self, header: Option<&MessageHeader>, message: &[u8], out: &mut Vec<u8>) {
        // Only whole messages of GIOP come from here, with their headers.
        let Some(header) = header else { return };
        let session = self.session.beside();
        let reaction = self.dispatcher.handle(header, message, (&session, Some(self)), out);
        self.session.predict_as(&session);
        self.react(reaction, false, out);
    }

    fn is_over(&self) {
        match self.reactor.upgrade() {
            Some(reactor) => self.step_back(&reactor),
            None => drop(self.detached.fetch_sub(1, Ordering::Release)),
        }
    }

    #[inline]
    fn waits(&self) -> bool {
        self.outbox.waiting() > BATCH || !self.backlog.is_empty()
    }

    fn keep(&self, lane: &Arc<Lane>, job: Job) -> Option<Job> {
        let job = self.backlog.keep(lane, job, self.outbox.waiting() > BATCH);
        if job.is_none() && self.outbox.is_empty() {
            // It has become so just now, perhaps before there was anything to let go.
            self.backlog.let_go();
        }
        job
    }
}

impl Replier for ServerConnection {
    fn send_large(
        &self,
        reply: LargeMessage<'_>,
        encode: &mut dyn FnMut(&mut Writer<'_>) -> Result<(), EncodeError>,
    ) {
        self.sent(reply.send((&self.outbox, &self.socket), encode));
    }
}

impl Source for ServerConnection {
    fn ready(self: Arc<Self>, event: Event, worker: &mut Worker) {
        if event.writable {
            match self.flush_outbox() {
                Ok(Sent::All) => {}
                Ok(Sent::Waiting(_)) => return self.arm(&worker.reactor, true),
                Err(_) => return self.remove(),
            }
        }
        self.serve(worker);
    }

    fn tick(self: Arc<Self>, _reactor: &Arc<Reactor>) {
        if self.outbox.stalled_for(Instant::now()).is_some_and(|t| t > self.limits.stall_timeout) {
            // It may read, and no worker have come to send more.
            if self.socket.has_room() && self.sent(self.flush_outbox()) {
                return;
            }
            tracing::debug!("connection closed: the client does not read its replies");
            return self.remove();
        }
        if self.takes_room() {
            tracing::warn!(
                "connection closed: a message took long while much was kept of messages without an end"
            );
            return self.remove();
        }
        let Ok(read) = self.read.try_lock() else { return };
        // While replies wait, nothing is received: that the rest of a message is missing is not the client's fault.
        if self.owner.load(Ordering::Relaxed) != 0 || self.outbox.waiting() > 0 {
            return;
        }
        let silent = self.silence();
        let stalls = read.has_partial() && silent > self.limits.stall_timeout;
        let idle = self.limits.idle_timeout.is_some_and(|t| silent > t) && self.is_unused();
        // What is there and waits for a worker is not late.
        if !(stalls || idle) || read.has_message() || self.socket.has_something() {
            return;
        }
        if stalls {
            tracing::debug!("connection closed: the rest of a message did not come");
            self.remove();
        } else {
            self.say_farewell();
            self.remove();
        }
    }

    fn drain(&self) {
        // Wakes a worker that waits for the next request; the client notices nothing.
        self.socket.stop_receiving();
    }

    fn is_quiet(&self) -> bool {
        if self.removed.load(Ordering::Acquire) {
            return true;
        }
        let Ok(_read) = self.read.try_lock() else { return false };
        if self.is_unused() {
            // First, for there is no room for it any more once it was asked whether all has arrived.
            self.say_farewell();
        }
        // Who does not read loses his answers now as at other times.
        self.is_unused() && (self.socket.has_delivered() || self.silence() > self.limits.stall_timeout)
    }

    fn close(&self) {
        if self.is_unused() {
            // Without an owner the lock is held for moments only.
            let _read = lock(&self.read);
            if self.is_unused() {
                self.say_farewell();
            }
        }
        // No farewell where a servant still runs: that its request was not carried out would be a lie.
        self.remove();
    }
}

/// What has come since the last whole message, or since the flow of bytes was last found good.
#[derive(Default)]
struct Pieces {
    since: Option<Instant>,
    bytes: usize,
}

impl Pieces {
    /// Whether bytes trickle rather than flow, once it is known.
    #[cold]
    fn add(&mut self, received: usize, linger: Duration) -> Option<bool> {
        self.bytes += received;
        if self.bytes >= FLOW {
            *self = Self::default();
            return Some(false);
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        (since.elapsed() >= linger).then_some(true)
    }
}

/// A worker's stay with a connection. It ends in order even if a panic ends it.
struct Stay {
    connection: Arc<ServerConnection>,
    reactor: Arc<Reactor>,
    activity: Arc<Activity>,
    lingers: bool,
}

impl Stay {
    fn begin(connection: &Arc<ServerConnection>, worker: &Worker) -> Self {
        let reactor = Arc::clone(&worker.reactor);
        let lingers = reactor.try_linger();
        reactor.keeper.work();
        *lock(&worker.activity.connection) = Some(Arc::clone(connection));
        WORKER.set(true);
        CURRENT.set(Some((Arc::clone(connection), worker.id)));
        Self { connection: Arc::clone(connection), reactor, activity: Arc::clone(&worker.activity), lingers }
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.connection.remove();
        }
        CURRENT.set(None);
        *lock(&self.activity.connection) = None;
        self.reactor.keeper.rest();
        if self.lingers {
            self.reactor.leave();
        }
    }
}

thread_local! {
    /// The connection that this worker has adopted, and the worker's id.
    static CURRENT: std::cell::RefCell<Option<(Arc<ServerConnection>, u64)>> = const { std::cell::RefCell::new(None) };
    /// This thread has run servants: what is asked first, since it costs least.
    pub(crate) static WORKER: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// A servant is about to wait for another object. If that object's answer depends on a request that comes over
/// the connection which this thread reads from, nobody else would read it: let others read.
#[inline]
pub(crate) fn before_waiting() {
    if WORKER.get() {
        let_others_read();
    }
}

#[cold]
fn let_others_read() {
    crate::transport::native::server::before_waiting();
    // Fails only while the thread is ending.
    let current = CURRENT.try_with(|current| current.borrow().clone());
    let Some((connection, worker)) = current.ok().flatten() else { return };
    if connection.owner.load(Ordering::Relaxed) != worker {
        // Others read already, and may hold the lock for long.
        return;
    }
    let Some(reactor) = connection.reactor.upgrade() else { return };
    let read = lock(&connection.read);
    if connection.owner.load(Ordering::Relaxed) == worker {
        connection.hand_over(read, &reactor);
    }
}

/// Whether the calling thread is a worker that runs a servant.
pub(crate) fn in_worker() -> bool {
    CURRENT.try_with(|current| current.borrow().is_some()).unwrap_or(false)
        || crate::lane_pool::in_lane()
        || crate::transport::native::server::in_worker()
}

#[cfg(test)]
mod tests;
