//! The client's side of IIOP: one connection, shared by all callers of its server.
//!
//! There is no reader thread. A blocking caller that finds nobody receiving receives itself, hands replies of
//! others to their callers, and passes the task on when its own has come. Futures, which cannot block, are read
//! for by a worker of the ORB as long as no blocking caller does it.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use throughline_cdr::{ByteOrder, CodeSets, EncodeError, Writer};
use throughline_demux::Handle;
use throughline_giop::connection::{Frame, Incoming, Role};
use throughline_giop::control::write_cancel_request;
use throughline_giop::header::{MessageType, Version};
use throughline_giop::locate::LocateReplyHeader;
use throughline_giop::reply::ReplyHeader;

use crate::large::LargeMessage;
use crate::transport::calls::{CallFailure, Caller, Calls, Wake};
use crate::transport::keeper::Watched;
use crate::transport::outbox::{LONG, Outbox, Sent};
use crate::transport::poller::{Event, Interest};
use crate::transport::reactor::{Reactor, Source, Worker, lock};
use crate::transport::server::fragment_limits;
use crate::transport::socket::{Socket, Wait};

/// What clients allow their connections.
#[derive(Clone, Debug)]
pub(crate) struct ClientLimits {
    pub(crate) max_message: usize,
    pub(crate) max_calls: usize,
    /// How blocking callers wait for their replies.
    pub(crate) wait: Wait,
    pub(crate) idle_timeout: Option<Duration>,
    /// After this long without an octet the server's machine is asked whether it is there.
    pub(crate) keep_alive: Option<Duration>,
    /// How long a worker that reads for futures stays with a silent connection.
    pub(crate) linger: Duration,
    /// Whether servers are told of calls that were given up.
    pub(crate) cancel_requests: bool,
}

/// A connection unused for this long is looked at before a request is entrusted to it.
const SUSPECT_AFTER: Duration = Duration::from_millis(100);

/// Calls that come less often are no steady use of a connection.
const UNSTEADY_AFTER: Duration = Duration::from_secs(1);

/// A server that has read nothing for this long is sent no more than fits into one message: those who gave up their calls
/// have left their requests behind.
const CHOKED_AFTER: Duration = Duration::from_secs(1);

/// A caller that waits to send looks up this often whether somebody still receives.
const LOOK_UP: Duration = Duration::from_millis(5);

/// What the caller that receives works with.
#[derive(Debug)]
struct Reading {
    inbox: Incoming,
    /// Callers whose replies came with the octets received last: woken together, after all of them have theirs. The
    /// first that runs then knows how many others are about to, and their next requests leave together too.
    wakes: Vec<Wake>,
}

/// One connection to one server.
#[derive(Debug)]
pub(crate) struct ClientConnection {
    socket: Socket,
    outbox: Outbox,
    calls: Mutex<Calls>,
    read: Mutex<Reading>,
    reactor: Weak<Reactor>,
    /// Registration in the epoll set: made when the first future calls.
    handle: OnceLock<Handle>,
    registering: Mutex<()>,
    limits: Arc<ClientLimits>,
    /// The code sets that the first requests announce.
    code_sets: CodeSets,
    /// A reply has come, so the server has seen the announcement.
    announced: AtomicBool,
    /// The minor version of GIOP of the last request: one that the server understands.
    minor_version: AtomicU8,
    dead: AtomicBool,
    /// A call was given up since what has come of replies was looked through.
    gave_up: AtomicBool,
    epoch: Instant,
    /// Milliseconds after `epoch` at which the last call ended.
    used_at: AtomicU64,
}

impl ClientConnection {
    pub(crate) fn new(
        socket: Socket,
        reactor: &Arc<Reactor>,
        limits: Arc<ClientLimits>,
        code_sets: CodeSets,
    ) -> Arc<Self> {
        let inbox = Incoming::new(Role::Client, fragment_limits(limits.max_message));
        Arc::new(Self {
            socket,
            outbox: Outbox::default(),
            calls: Mutex::default(),
            read: Mutex::new(Reading { inbox, wakes: Vec::new() }),
            reactor: Arc::downgrade(reactor),
            handle: OnceLock::new(),
            registering: Mutex::default(),
            limits,
            code_sets,
            announced: AtomicBool::new(false),
            minor_version: AtomicU8::new(0),
            dead: AtomicBool::new(false),
            gave_up: AtomicBool::new(false),
            epoch: Instant::now(),
            used_at: AtomicU64::new(0),
        })
    }

    /// The code sets of text on this connection.
    pub(crate) fn code_sets(&self) -> CodeSets {
        self.code_sets
    }

    /// Whether requests must still tell the server the code sets.
    pub(crate) fn must_announce(&self) -> bool {
        !self.announced.load(Ordering::Relaxed)
    }

    /// Whether requests can be sent. A connection that was idle for a while is asked whether the server has
    /// closed it: one that closed it silently would otherwise cost a call its certainty.
    pub(crate) fn is_usable(&self) -> bool {
        if self.dead.load(Ordering::Acquire) {
            return false;
        }
        let now = self.epoch.elapsed().as_millis() as u64;
        let idle = now.saturating_sub(self.used_at.load(Ordering::Relaxed));
        if idle > SUSPECT_AFTER.as_millis() as u64 && lock(&self.calls).active() == 0 {
            self.used_at.store(now, Ordering::Relaxed);
            self.look();
        }
        !self.dead.load(Ordering::Acquire)
    }

    /// Receives what waits on a connection without calls: replies that come too late, or the server's farewell.
    fn look(&self) {
        {
            let mut calls = lock(&self.calls);
            if calls.has_reader || calls.active() > 0 {
                return;
            }
            calls.has_reader = true;
        }
        let mut read = lock(&self.read);
        let result = self.receive_all_there(&mut read);
        drop(read);
        if let Err(failure) = result {
            self.end(&failure);
        }
        self.stop_reading();
    }

    /// Late replies, and what is behind them; no more than the longest of them, should there be no end.
    fn receive_all_there(&self, read: &mut Reading) -> Result<(), CallFailure> {
        let mut left = self.limits.max_message;
        loop {
            let received = self.try_receive(&mut read.inbox)?;
            self.deliver_all(read)?;
            left = left.saturating_sub(received);
            if received == 0 || left == 0 {
                return Ok(());
            }
        }
    }

    /// A number for a new request of a blocking caller. Each is ended by `wait`, `forget` or `cancel`.
    pub(crate) fn reserve(&self, version: Version) -> Result<u32, CallFailure> {
        self.minor_version.store(version.minor(), Ordering::Relaxed);
        lock(&self.calls).add(Caller::Thread, self.limits.max_calls)
    }

    /// A number for a new request of a future. Each is ended by `poll`, `forget` or `cancel`.
    ///
    /// None where sending has failed, also while another caller still receives: such a connection is not
    /// [registered](Self::register) any more, so that nobody might read for the future once that caller has his reply.
    pub(crate) fn reserve_task(
        self: &Arc<Self>,
        version: Version,
        deadline: Option<Instant>,
    ) -> Result<u32, CallFailure> {
        let choked = self.is_choked();
        if self.dead.load(Ordering::Acquire) {
            return Err(CallFailure::NotStarted);
        }
        if choked {
            return Err(CallFailure::Full);
        }
        self.minor_version.store(version.minor(), Ordering::Relaxed);
        let id = lock(&self.calls).add(Caller::Task(deadline), self.limits.max_calls)?;
        if deadline.is_some()
            && let Some(reactor) = self.reactor.upgrade()
        {
            let watched: Weak<Self> = Arc::downgrade(self);
            reactor.keeper.watch(watched);
        }
        Ok(id)
    }

    fn is_choked(&self) -> bool {
        let stalled = || self.outbox.stalled_for(Instant::now()).is_some_and(|time| time > CHOKED_AFTER);
        let choked = || self.outbox.waiting() > self.limits.max_message && stalled();
        // The server may read again, and nobody have tried to send since the last call was given up.
        choked() && {
            self.flush();
            choked()
        }
    }

    /// Sends the request `id` and waits until the kernel has it, or the server has answered it already.
    pub(crate) fn send(
        self: &Arc<Self>,
        id: u32,
        message: &[u8],
        deadline: Option<Instant>,
    ) -> Result<(), CallFailure> {
        self.sent((id, message.len()), self.outbox.send(&self.socket, message), deadline)
    }

    /// As [`send`](Self::send), of a message with large blocks.
    pub(crate) fn send_large(
        self: &Arc<Self>,
        id: u32,
        message: LargeMessage<'_>,
        encode: impl FnOnce(&mut Writer<'_>) -> Result<(), EncodeError>,
        deadline: Option<Instant>,
    ) -> Result<(), CallFailure> {
        let length = message.length;
        self.sent((id, length), message.send((&self.outbox, &self.socket), encode), deadline)
    }

    fn sent(
        self: &Arc<Self>,
        (id, length): (u32, usize),
        result: io::Result<Sent>,
        deadline: Option<Instant>,
    ) -> Result<(), CallFailure> {
        let (error, begun) = match result {
            Ok(Sent::All) => return Ok(()),
            Ok(Sent::Waiting(end)) => {
                let Err(e) = self.push_through(id, end, deadline) else { return Ok(()) };
                let taken = self.outbox.taken();
                if taken >= end {
                    // What others have put behind it did not leave. This one did, and may be carried out.
                    return Ok(());
                }
                if e.kind() == io::ErrorKind::TimedOut && self.leaves_behind(id) {
                    return Err(CallFailure::TimedOut);
                }
                (e, taken + length as u64 > end)
            }
            // Shorter ones leave at once, or not at all.
            Err(e) => (e, length >= LONG),
        };
        let failure = self.send_failed(&error);
        let mut calls = lock(&self.calls);
        if calls.is_answered(id) {
            // A server that knows the answer need not read on.
            return Ok(());
        }
        // One that has refused what it has seen of this message would do so again.
        let refused = begun && calls.ended == Some(CallFailure::Refused);
        Err(if refused { CallFailure::RefusedInPart } else { failure })
    }

    /// Whether what waits of the request `id` leaves without its caller, by a worker: where others have calls under way, which
    /// the end of the connection would end, and the server reads.
    fn leaves_behind(self: &Arc<Self>, id: u32) -> bool {
        let alone = {
            let mut calls = lock(&self.calls);
            calls.active() == usize::from(calls.is_under_way(id))
        };
        let reads = || self.outbox.stalled_for(Instant::now()).is_none_or(|time| time < CHOKED_AFTER);
        let leaves =
            !alone && self.outbox.waiting() <= self.limits.max_message && reads() && self.register().is_ok();
        if leaves {
            self.arm();
        }
        leaves
    }

    fn is_answered(&self, id: u32) -> bool {
        lock(&self.calls).is_answered(id)
    }

    /// Sends what the kernel did not take at once, up to `end`. The server may not read on before its replies are read: as
    /// long as no other caller receives, this one does, while it waits to send.
    fn push_through(&self, id: u32, end: u64, deadline: Option<Instant>) -> io::Result<()> {
        while self.outbox.flush(&self.socket)? != Sent::All
            && self.outbox.taken() < end
            && !self.is_answered(id)
        {
            let left = deadline.map_or(LOOK_UP, |d| d.saturating_duration_since(Instant::now()).min(LOOK_UP));
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if !self.receive_meanwhile() {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            let nobody_reads = !lock(&self.calls).has_reader;
            self.socket.wait_ready(nobody_reads, left)?;
        }
        Ok(())
    }

    /// Receives what waits, unless another caller does; false when that is the end of the connection.
    fn receive_meanwhile(&self) -> bool {
        if std::mem::replace(&mut lock(&self.calls).has_reader, true) {
            return true;
        }
        let mut read = lock(&self.read);
        let result = self.try_receive(&mut read.inbox).and_then(|_| self.deliver_all(&mut read));
        drop(read);
        if let Err(failure) = &result {
            self.end(failure);
        }
        self.stop_reading();
        result.is_ok()
    }

    /// Keeps a message until the next `flush`, so that several leave together; where in the [outbox](Outbox::push).
    pub(crate) fn push(&self, message: &[u8]) -> Range<u64> {
        self.outbox.push(message)
    }

    /// Why a call has failed whose request was [pushed](Self::push) to there: what has not left whole is not carried out.
    pub(crate) fn failure_of(&self, place: &Range<u64>, failure: CallFailure) -> CallFailure {
        match failure {
            CallFailure::Lost(_) | CallFailure::Malformed(_) | CallFailure::Refused => {}
            failure => return failure,
        }
        let taken = self.outbox.taken();
        if taken >= place.end {
            return failure;
        }
        // As in `sent`.
        let refused = taken > place.start && failure == CallFailure::Refused;
        if refused { CallFailure::RefusedInPart } else { CallFailure::NotStarted }
    }

    fn send_failed(&self, e: &io::Error) -> CallFailure {
        if e.kind() == io::ErrorKind::TimedOut {
            // Half a message is on the wire: nothing else can follow on this connection.
            self.end(&CallFailure::Lost("a request could not be sent in time".to_owned()));
            return CallFailure::TimedOut;
        }
        self.hear_last_words(e);
        CallFailure::NotStarted
    }

    /// Sending failed, so nothing new is sent here. But the server may have said before it closed that it has not
    /// started what waits for a reply: whoever receives finds out, or this thread if nobody does.
    fn hear_last_words(&self, e: &io::Error) {
        self.dead.store(true, Ordering::Release);
        if std::mem::replace(&mut lock(&self.calls).has_reader, true) {
            return;
        }
        let mut read = lock(&self.read);
        let failure = loop {
            match self.socket.try_receive(read.inbox.space()) {
                Ok(0) | Err(_) => break CallFailure::Lost(e.to_string()),
                Ok(received) => read.inbox.filled(received),
            }
            if let Err(failure) = self.deliver_all(&mut read) {
                break failure;
            }
        };
        drop(read);
        self.end(&failure);
        self.stop_reading();
    }

    /// Waits for the reply to request `id`.
    pub(crate) fn wait(&self, id: u32, deadline: Option<Instant>) -> Result<Frame, CallFailure> {
        loop {
            {
                let mut calls = lock(&self.calls);
                if let Some(outcome) = calls.take(id) {
                    return outcome;
                }
                if !calls.has_reader {
                    calls.has_reader = true;
                    drop(calls);
                    return self.read_until(id, deadline);
                }
                calls.park(id, std::thread::current());
            }
            match deadline.map(|d| d.saturating_duration_since(Instant::now())) {
                None => std::thread::park(),
                Some(Duration::ZERO) => return self.give_up(id),
                Some(left) => std::thread::park_timeout(left),
            }
        }
    }

    /// The time is over: the reply is not waited for any more, and the server told so.
    fn give_up(&self, id: u32) -> Result<Frame, CallFailure> {
        let arrived = lock(&self.calls).take(id);
        match arrived {
            Some(outcome) => outcome,
            None => {
                self.cancel(id);
                // Whoever stopped receiving may have asked this caller to go on.
                self.find_reader();
                Err(CallFailure::TimedOut)
            }
        }
    }

    /// Ends a call whose request was not sent.
    pub(crate) fn forget(&self, id: u32) {
        lock(&self.calls).forget(id);
    }

    /// Ends a call whose reply nobody wants any more.
    pub(crate) fn cancel(&self, id: u32) {
        let (waited, waker) = lock(&self.calls).give_up(id);
        drop(waker);
        if waited {
            self.gave_up.store(true, Ordering::Release);
            self.drop_pieces();
            self.send_cancel(id);
        }
    }

    /// Drops what has come of replies that nobody waits for any more; or whoever receives at present does so before he goes on, or
    /// when he ends.
    fn drop_pieces(&self) {
        if self.gave_up.load(Ordering::Relaxed)
            && let Ok(mut read) = self.read.try_lock()
        {
            self.drop_pieces_of(&mut read);
        }
    }

    #[cold]
    fn drop_pieces_of(&self, read: &mut Reading) {
        if self.gave_up.swap(false, Ordering::Acquire) {
            read.inbox.forget(|id| lock(&self.calls).awaited(id));
        }
    }

    fn send_cancel(&self, id: u32) {
        if self.limits.cancel_requests && !self.dead.load(Ordering::Acquire) {
            let mut message = Vec::new();
            let version = match self.minor_version.load(Ordering::Relaxed) {
                0 => Version::V1_0,
                1 => Version::V1_1,
                _ => Version::V1_2,
            };
            write_cancel_request(&mut message, version, ByteOrder::NATIVE, id);
            // Best effort: if it cannot be sent, whoever reads next learns why.
            let _ = self.outbox.send(&self.socket, &message);
        }
    }

    /// Receives, as the only reader, until the reply to `id` has come; then lets others receive.
    fn read_until(&self, id: u32, deadline: Option<Instant>) -> Result<Frame, CallFailure> {
        let mut read = lock(&self.read);
        let outcome = loop {
            if let Err(failure) = self.deliver_all(&mut read) {
                self.end(&failure);
            }
            if let Some(outcome) = lock(&self.calls).take(id) {
                break outcome;
            }
            let timeout = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            if timeout == Some(Duration::ZERO) {
                self.cancel(id);
                break Err(CallFailure::TimedOut);
            }
            if let Err(failure) = self.receive(&mut read.inbox, self.limits.wait, timeout) {
                self.end(&failure);
            }
        };
        drop(read);
        self.stop_reading();
        outcome
    }

    /// Ends the role of the reader: a parked caller takes it, or a worker for the futures.
    fn stop_reading(&self) {
        let now = self.epoch.elapsed().as_millis() as u64;
        self.used_at.store(now, Ordering::Relaxed);
        self.drop_pieces();
        lock(&self.calls).has_reader = false;
        self.find_reader();
    }

    /// Sees to it that somebody receives as long as calls are under way.
    fn find_reader(&self) {
        let successor = {
            let calls = lock(&self.calls);
            if calls.has_reader || calls.active() == 0 {
                return;
            }
            calls.successor()
        };
        match successor {
            Wake::Nobody => self.arm(),
            wake => wake.wake(),
        }
    }

    /// Receives some bytes, or none: a timeout is no failure.
    fn receive(
        &self,
        inbox: &mut Incoming,
        wait: Wait,
        timeout: Option<Duration>,
    ) -> Result<usize, CallFailure> {
        let missing = inbox.missing();
        let space = inbox.space();
        let received = if missing > 0 {
            let want = missing.min(space.len());
            self.socket.receive_all(&mut space[..want], timeout)
        } else {
            self.socket.receive(space, wait, timeout)
        };
        note_received(inbox, received)
    }

    /// Hands every whole message that was received to its caller.
    fn deliver_all(&self, read: &mut Reading) -> Result<(), CallFailure> {
        let result = self.deliver_each(read);
        read.wakes.drain(..).for_each(Wake::wake);
        result
    }

    fn deliver_each(&self, read: &mut Reading) -> Result<(), CallFailure> {
        if self.gave_up.load(Ordering::Relaxed) {
            self.drop_pieces_of(read);
        }
        loop {
            let malformed = |e: &dyn std::fmt::Display| CallFailure::Malformed(e.to_string());
            let next = read.inbox.next_awaited(|id| lock(&self.calls).awaited(id));
            let Some(frame) = next.map_err(|e| malformed(&e))? else { return Ok(()) };
            let header = frame.header;
            let id = match header.kind {
                MessageType::Reply => ReplyHeader::read(&header, &frame).map(|r| r.request_id),
                MessageType::LocateReply => LocateReplyHeader::read(&header, &frame).map(|r| r.request_id),
                // Whoever leaves has answered all that it began to answer, or else nobody knows what it has done.
                MessageType::CloseConnection if read.inbox.is_assembling() => {
                    return Err(CallFailure::Malformed("a farewell in the middle of a reply".to_owned()));
                }
                MessageType::CloseConnection => return Err(CallFailure::NotStarted),
                MessageType::MessageError => return Err(CallFailure::Refused),
                _ => return Err(CallFailure::Malformed(format!("a {:?} from a server", header.kind))),
            }
            .map_err(|e| malformed(&e))?;
            self.announced.store(true, Ordering::Relaxed);
            match lock(&self.calls).deliver(id, Ok(frame)) {
                Wake::Nobody => {}
                wake => read.wakes.push(wake),
            }
        }
    }

    /// Ends the connection and every call on it.
    pub(crate) fn end(&self, failure: &CallFailure) {
        self.dead.store(true, Ordering::Release);
        self.socket.shutdown();
        let wakes = lock(&self.calls).end(failure);
        wakes.into_iter().for_each(Wake::wake);
        // Registering, if it is under way, ends before; or it begins after and sees that the connection is dead.
        let _one_at_a_time = lock(&self.registering);
        if let (Some(reactor), Some(handle)) = (self.reactor.upgrade(), self.handle.get()) {
            reactor.remove(&self.socket, *handle);
        }
    }

    /// Ends the connection if it has been unused for longer than configured; true when it has ended. One that is not in steady use
    /// gives back the memory that only long replies, or many calls at a time, need.
    pub(crate) fn close_if_idle(&self) -> bool {
        let now = self.epoch.elapsed().as_millis() as u64;
        let idle = Duration::from_millis(now.saturating_sub(self.used_at.load(Ordering::Relaxed)));
        let is_old = self.limits.idle_timeout.is_some_and(|t| idle > t);
        let mut calls = lock(&self.calls);
        // A call that began after this look would be told that it had not, and be made anew, though the server has it.
        if is_old && calls.end_unused(CallFailure::NotStarted) {
            self.dead.store(true, Ordering::Release);
            drop(calls);
            self.end(&CallFailure::NotStarted);
            return true;
        }
        let (has_ended, is_unused) = (calls.ended.is_some(), calls.active() == 0 && idle > UNSTEADY_AFTER);
        if is_unused {
            calls.shrink();
        }
        drop(calls);
        if is_unused && let Ok(mut read) = self.read.try_lock() {
            self.drop_pieces_of(&mut read);
            read.inbox.release();
        }
        has_ended
    }

    /// Lets a worker read for the futures, and write what waits, if that is needed.
    fn arm(&self) {
        let (Some(reactor), Some(handle)) = (self.reactor.upgrade(), self.handle.get()) else { return };
        let calls = lock(&self.calls);
        let interest =
            Interest { read: !calls.has_reader && calls.tasks_waiting(), write: self.outbox.waiting() > 0 };
        if interest != Interest::default() {
            reactor.arm(&self.socket, *handle, interest);
        }
    }

    /// Makes sure that workers can read for futures.
    pub(crate) fn register(self: &Arc<Self>) -> io::Result<()> {
        if self.handle.get().is_none() {
            let _one_at_a_time = lock(&self.registering);
            if self.handle.get().is_none() && !self.dead.load(Ordering::Acquire) {
                let reactor = self.reactor.upgrade().ok_or(io::ErrorKind::ConnectionAborted)?;
                let handle = reactor.register(&self.socket, Arc::clone(self) as Arc<dyn Source>)?;
                let _ = self.handle.set(handle);
            }
        }
        Ok(())
    }

    /// Asks for the reply to `id` on behalf of a future. `fresh`: for the first time, so that its request may
    /// still wait to be sent.
    pub(crate) fn poll(
        self: &Arc<Self>,
        id: u32,
        fresh: bool,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Frame, CallFailure>> {
        let (more_to_come, has_reader, _replaced) = {
            let mut calls = lock(&self.calls);
            if let Some(outcome) = calls.take(id) {
                drop(calls);
                self.flush_if_last();
                return Poll::Ready(outcome);
            }
            let replaced = calls.register(id, cx.waker());
            (calls.more_to_come(), calls.has_reader, replaced)
        };
        if fresh && self.outbox.waiting() > 0 {
            if more_to_come {
                // Other futures are about to run and send: leave together. The keeper sees to it that a future
                // that does not run holds nobody up for longer than a tick.
                if let Some(reactor) = self.reactor.upgrade() {
                    reactor.keeper.flush_soon(Arc::downgrade(self));
                }
            } else {
                self.flush();
            }
        }
        if fresh && !has_reader {
            self.arm();
        }
        Poll::Pending
    }

    /// What was kept back leaves when the last woken future has run.
    fn flush_if_last(self: &Arc<Self>) {
        if self.outbox.waiting() > 0 && !lock(&self.calls).more_to_come() {
            self.flush();
        }
    }

    /// Sends what was kept back.
    pub(crate) fn flush(&self) {
        match self.outbox.flush(&self.socket) {
            Ok(Sent::All) => {}
            Ok(Sent::Waiting(_)) => self.arm(),
            Err(e) => {
                self.send_failed(&e);
            }
        }
    }

    /// Reads for the futures until none waits, or, after `linger` of silence, gives the connection back.
    fn read_for_tasks(&self, mut read: MutexGuard<'_, Reading>, linger: bool) {
        let mut waits = false;
        let mut piecemeal_since = None;
        loop {
            let before = lock(&self.calls).active();
            let result = match waits {
                false => self.try_receive(&mut read.inbox),
                true => self.receive(&mut read.inbox, Wait::Block, Some(self.limits.linger)),
            };
            if let Err(failure) = result.and_then(|_| self.deliver_all(&mut read)) {
                return self.end(&failure);
            }
            let calls = lock(&self.calls);
            let silent = if !waits || calls.active() < before {
                piecemeal_since = None;
                false
            } else {
                // A server that sends a reply octet by octet does not keep a worker: the epoll set waits for the rest.
                let since = *piecemeal_since.get_or_insert_with(Instant::now);
                !read.inbox.has_partial() || since.elapsed() >= self.limits.linger
            };
            if !linger || !calls.tasks_waiting() && !calls.more_to_come() || silent {
                return;
            }
            drop(calls);
            waits = true;
        }
    }

    fn try_receive(&self, inbox: &mut Incoming) -> Result<usize, CallFailure> {
        let received = self.socket.try_receive(inbox.space());
        note_received(inbox, received)
    }
}

fn note_received(inbox: &mut Incoming, received: io::Result<usize>) -> Result<usize, CallFailure> {
    match received {
        Ok(0) => Err(CallFailure::Lost("the server closed the connection".to_owned())),
        Ok(received) => {
            inbox.filled(received);
            Ok(received)
        }
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(0),
        Err(e) => Err(CallFailure::Lost(e.to_string())),
    }
}

impl Watched for ClientConnection {
    fn expire(&self, now: Instant) -> bool {
        let (expired, more) = lock(&self.calls).expired(now);
        for id in expired {
            let wake = lock(&self.calls).deliver(id, Err(CallFailure::TimedOut));
            self.gave_up.store(true, Ordering::Release);
            self.send_cancel(id);
            wake.wake();
        }
        self.drop_pieces();
        more
    }
}

impl Source for ClientConnection {
    fn ready(self: Arc<Self>, event: Event, worker: &mut Worker) {
        if event.writable {
            self.flush();
        }
        let received = {
            let mut calls = lock(&self.calls);
            if calls.ended.is_some() {
                return;
            }
            std::mem::replace(&mut calls.has_reader, true)
        };
        if self.outbox.waiting() > 0 {
            // Whoever receives now, or goes on when this worker leaves: perhaps nobody else sends what waits.
            self.arm();
        }
        if received {
            return;
        }
        let linger = worker.reactor.try_linger();
        self.read_for_tasks(lock(&self.read), linger);
        if linger {
            worker.reactor.leave();
        }
        self.stop_reading();
    }

    fn tick(self: Arc<Self>, _reactor: &Arc<Reactor>) {
        self.close_if_idle();
    }

    fn close(&self) {
        self.end(&CallFailure::Lost("the ORB was shut down".to_owned()));
    }
}

impl Drop for ClientConnection {
    fn drop(&mut self) {
        self.socket.shutdown();
    }
}

#[cfg(test)]
mod tests;
