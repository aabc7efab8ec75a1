//! Calls of futures by the native protocol: many under way at once on one link, shared by all threads.
//!
//! There is no reader thread. A future that is polled reads for all of them. When nothing is there, a worker of the ORB is
//! called by the system when something comes, and stays for a while; unless the thread [drives](super::drive) its futures
//! itself.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use throughline_demux::Handle;
use throughline_vi::Bell;
use throughline_wire::{Flags, Flow, Header, Message};

use super::client::NativeServer;
use super::drive;
use super::link::{Link, LinkError};
use super::park::Spin;
use super::pipe_calls::{PipeCalls, PipeFailure, PipeReply, SMALL, SmallReply};
use crate::native::Body;
use crate::transport::keeper::Watched;
use crate::transport::poller::{Event, Interest};
use crate::transport::reactor::{Reactor, Source, Worker, lock};

/// So many answers are taken at once before whom they belong to is woken.
const AT_ONCE: usize = 64;

/// A server's pipe. Connected when it is first needed.
#[derive(Debug)]
pub(crate) struct Pipe {
    state: Mutex<State>,
    reactor: Weak<Reactor>,
    /// The most calls under way.
    limit: usize,
}

#[derive(Debug, Default)]
struct State {
    joint: Option<Joint>,
    /// Somebody connects.
    connecting: bool,
    calls: PipeCalls,
    /// Futures that could not send for want of a buffer.
    stuck: Vec<Waker>,
    /// To be called once this is unlocked, since what they do is unknown.
    wakes: Vec<Waker>,
    /// A worker reads, or is called when there is something to read.
    attended: bool,
    /// The keeper looks at deadlines.
    watched: bool,
}

/// A connected link, and the worker's way to it.
#[derive(Debug)]
struct Joint {
    link: Link,
    bell: Bell,
    flow: Flow,
    handle: Option<Handle>,
}

/// What became of a request.
#[derive(Debug)]
pub(crate) enum Begun {
    /// It is on its way, under this number.
    Sent(u32),
    /// To be tried again when there is [room](NativeServer::poll_room), or a connection that somebody else makes.
    NoRoom,
    /// Arguments that fit into no registered buffer.
    TooLong,
    /// The caller is to [connect](NativeServer::connect_pipe).
    NotConnected,
    /// Too many calls are under way.
    Full,
}

/// The locked state. Wakers are called when it is unlocked.
struct Locked<'p> {
    pipe: &'p Pipe,
    guard: Option<MutexGuard<'p, State>>,
}

impl Deref for Locked<'_> {
    type Target = State;

    #[inline(always)]
    fn deref(&self) -> &State {
        self.guard.as_ref().expect("unlocked only at the end")
    }
}

impl DerefMut for Locked<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut State {
        self.guard.as_mut().expect("unlocked only at the end")
    }
}

impl Drop for Locked<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.guard.as_ref().is_some_and(|guard| !guard.wakes.is_empty()) {
            self.unlock_and_wake();
        }
    }
}

impl Locked<'_> {
    #[inline(never)]
    fn unlock_and_wake(&mut self) {
        let wakes = self.guard.as_mut().map(|guard| std::mem::take(&mut guard.wakes));
        self.guard = None;
        self.pipe.wake(wakes.unwrap_or_default());
    }
}

impl Pipe {
    pub(crate) fn new(reactor: Weak<Reactor>, limit: usize) -> Self {
        Self { state: Mutex::default(), reactor, limit }
    }

    #[inline(always)]
    fn lock(&self) -> Locked<'_> {
        Locked { pipe: self, guard: Some(lock(&self.state)) }
    }

    fn wake(&self, mut wakes: Vec<Waker>) {
        wakes.drain(..).for_each(Waker::wake);
        // Its memory serves the next ones.
        let mut state = lock(&self.state);
        if state.wakes.capacity() == 0 {
            state.wakes = wakes;
        }
    }

    /// Connecting has ended; with a link if it succeeded.
    pub(crate) fn connected(&self, link: Option<Link>) {
        let mut state = self.lock();
        if let Some(link) = link
            && let Some(bell) = link.bell()
        {
            state.joint = Some(Joint { link, bell, flow: super::flows().next(), handle: None });
        }
        let state = &mut *state;
        (state.connecting, state.attended) = (false, false);
        state.wakes.append(&mut state.stuck);
    }

    /// Sends a request whose arguments are marshaled already.
    #[inline]
    pub(crate) fn send(&self, header: &Header, arguments: &[u8], deadline: Option<Instant>) -> Begun {
        let mut state = self.lock();
        let begun = state.send(header, arguments, deadline, self.limit);
        let begun = begun.unwrap_or_else(|error| {
            self.end(&mut state, &error);
            Begun::NotConnected
        });
        match begun {
            Begun::NotConnected if std::mem::replace(&mut state.connecting, true) => Begun::NoRoom,
            begun => begun,
        }
    }

    /// Nobody wants the answer to this any more.
    pub(crate) fn forget(&self, id: u32) {
        self.lock().calls.forget(id);
    }

    /// Reads what has come, and gives it to its calls; whether anything had.
    fn read(&self, state: &mut State) -> bool {
        let Some(joint) = &mut state.joint else { return false };
        let mut found = 0;
        let result = loop {
            if found == AT_ONCE {
                break Ok(());
            }
            match joint.link.try_receive() {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
            found += 1;
            match deliver(&mut state.calls, &joint.link) {
                Ok(waker) => state.wakes.extend(waker),
                Err(error) => break Err(error),
            }
            joint.link.release();
        };
        if found > 0 {
            state.wakes.append(&mut state.stuck);
        }
        if let Err(error) = result {
            self.end(state, &error);
        }
        found > 0
    }

    /// The link is over, and with it all calls.
    #[cold]
    fn end(&self, state: &mut State, error: &LinkError) {
        let Some(joint) = state.joint.take() else { return };
        tracing::debug!(%error, "the futures' link is over");
        // A server that says farewell has answered all that it has carried out, or is about to refuse the rest of it.
        let farewell = error.is_refusal() || error.is_farewell() && !joint.link.has_part();
        let failure =
            if farewell { PipeFailure::NotCarriedOut } else { PipeFailure::Lost(error.to_string()) };
        self.remove(&joint);
        state.attended = false;
        state.calls.end(&failure, |_| true, &mut state.wakes);
        state.wakes.append(&mut state.stuck);
    }

    fn remove(&self, joint: &Joint) {
        if let (Some(reactor), Some(handle)) = (self.reactor.upgrade(), joint.handle) {
            reactor.remove(&joint.bell, handle);
        }
    }

    /// A worker is called when something comes, unless one is there.
    fn attend(&self, state: &mut State, server: &Arc<NativeServer>) {
        let idle = state.calls.waiting() == 0 && state.stuck.is_empty();
        if state.attended || idle || state.joint.is_none() {
            return;
        }
        let (Some(joint), Some(reactor)) = (&mut state.joint, self.reactor.upgrade()) else { return };
        if joint.handle.is_none() {
            let source = Arc::new(Attendant(Arc::downgrade(server)));
            match reactor.register(&joint.bell, source) {
                Ok(handle) => joint.handle = Some(handle),
                Err(error) => return self.end(state, &LinkError::Unattended(error)),
            }
        }
        state.attended = true;
        self.call_for_attendance(state, &reactor);
    }

    /// From now on the worker sleeps; what came just before is read once more.
    fn call_for_attendance(&self, state: &mut State, reactor: &Arc<Reactor>) {
        let Some(joint) = &state.joint else { return };
        joint.bell.arm();
        if joint.bell.ready() {
            self.read(state);
        }
        if let Some(Joint { bell, handle: Some(handle), .. }) = &state.joint {
            reactor.arm(bell, *handle, Interest { read: true, write: false });
        }
    }

    /// Reads, until nothing more is expected or nothing has come for a while.
    fn attended(&self, reactor: &Arc<Reactor>, limit: Duration) {
        let mut spin = Spin::new(limit);
        if let Some(joint) = &self.lock().joint {
            joint.bell.disarm();
            joint.bell.drain();
        }
        loop {
            let mut state = self.lock();
            if self.read(&mut state) {
                spin.found();
            }
            if state.joint.is_none() || state.calls.waiting() == 0 && state.stuck.is_empty() {
                state.attended = false;
                return;
            }
            if spin.is_over() {
                return self.call_for_attendance(&mut state, reactor);
            }
            drop(state);
            std::hint::spin_loop();
        }
    }
}

impl State {
    #[inline]
    fn send(
        &mut self,
        header: &Header,
        arguments: &[u8],
        deadline: Option<Instant>,
        limit: usize,
    ) -> Result<Begun, LinkError> {
        let Some(joint) = &mut self.joint else { return Ok(Begun::NotConnected) };
        if !joint.link.has_room()? {
            return Ok(Begun::NoRoom);
        }
        let Some(id) = self.calls.add(deadline, limit) else { return Ok(Begun::Full) };
        let flags = header.flags.with(Flags::CONCURRENT);
        let header = Header { flow: joint.flow, sequence: id, flags, ..*header };
        let written = write(&mut joint.link, &header, arguments);
        if !matches!(written, Ok(true)) {
            self.calls.forget(id);
        }
        written.map(|fits| if fits { Begun::Sent(id) } else { Begun::TooLong })
    }
}

/// Whether the arguments fitted.
#[inline]
fn write(link: &mut Link, header: &Header, arguments: &[u8]) -> Result<bool, LinkError> {
    let room = link.room()?;
    let used = header.size() + arguments.len();
    let Some(place) = room.get_mut(header.size()..used) else { return Ok(false) };
    place.copy_from_slice(arguments);
    if header.write(room).is_err() {
        return Ok(false);
    }
    link.send(used).map(|()| true)
}

#[inline]
fn deliver(calls: &mut PipeCalls, link: &Link) -> Result<Option<Waker>, LinkError> {
    let bytes = link.received();
    let Ok(message) = Message::read(bytes) else { return Err(LinkError::Nonsense) };
    let Header { kind, sequence, .. } = message.header;
    if !kind.is_reply() {
        return Ok(None);
    }
    let body = Body::of(bytes, &message);
    Ok(match link.received_small() {
        Some(small) => calls.deliver(sequence, || Ok(PipeReply::small(kind, body, small))),
        None => calls.deliver(sequence, || Ok(PipeReply::new(kind, body, bytes))),
    })
}

impl NativeServer {
    /// The answer to a request, once it is there, if it is a small one that only has to be read; none if it is to be
    /// [taken](Self::take_reply). The task is woken when there is either.
    pub(crate) fn poll_small(
        self: &Arc<Self>,
        id: u32,
        cx: &mut Context<'_>,
        into: &mut [u8; SMALL],
    ) -> Poll<Option<SmallReply>> {
        let pipe = &self.pipe;
        let mut state = pipe.lock();
        if state.calls.expects(id) {
            pipe.read(&mut state);
            if state.calls.expects(id) {
                state.calls.register(id, cx.waker());
                if !drive::adopt(self) {
                    pipe.attend(&mut state, self);
                }
                return Poll::Pending;
            }
        }
        Poll::Ready(state.calls.take_small(id, into))
    }

    /// The answer to a request that is expected no longer.
    pub(crate) fn take_reply(&self, id: u32) -> Option<Result<PipeReply, PipeFailure>> {
        self.pipe.lock().calls.take(id)
    }

    /// Ready when a request may be tried again. Who has a deadline is woken in every tick of the keeper, to look at the clock.
    pub(crate) fn poll_room(self: &Arc<Self>, cx: &mut Context<'_>, has_deadline: bool) -> Poll<()> {
        let pipe = &self.pipe;
        let mut state = pipe.lock();
        let came = pipe.read(&mut state);
        let ready = match &mut state.joint {
            Some(joint) => came || joint.link.has_room().unwrap_or(true),
            None => !state.connecting,
        };
        if !ready {
            state.stuck.push(cx.waker().clone());
            if !drive::adopt(self) {
                pipe.attend(&mut state, self);
            }
        }
        drop(state);
        // Not before it has its place: the keeper forgets who waits for nothing.
        if !ready && has_deadline {
            self.watch_deadlines();
        }
        if ready { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Reads what has come; whether anything had.
    pub(crate) fn read_replies(&self) -> bool {
        let mut state = self.pipe.lock();
        self.pipe.read(&mut state)
    }

    /// From now on a worker reads.
    pub(crate) fn attend(self: &Arc<Self>) {
        let mut state = self.pipe.lock();
        self.pipe.attend(&mut state, self);
    }

    /// As [`attend`](Self::attend), if somebody is to be woken.
    pub(crate) fn attend_to_sleepers(self: &Arc<Self>) {
        let mut state = self.pipe.lock();
        if state.calls.has_wakers() || !state.stuck.is_empty() {
            self.pipe.attend(&mut state, self);
        }
    }

    /// The keeper looks after the deadlines of calls under way.
    pub(crate) fn watch_deadlines(self: &Arc<Self>) {
        let Some(reactor) = self.pipe.reactor.upgrade() else { return };
        if !std::mem::replace(&mut self.pipe.lock().watched, true) {
            let watched: Weak<Self> = Arc::downgrade(self);
            reactor.keeper.ensure_running(&reactor);
            reactor.keeper.watch(watched);
        }
    }

    /// Ends the futures' link.
    pub(crate) fn end_pipe(&self, error: &LinkError) {
        let mut state = self.pipe.lock();
        self.pipe.end(&mut state, error);
    }
}

impl Watched for NativeServer {
    fn expire(&self, now: Instant) -> bool {
        let mut state = self.pipe.lock();
        let due = |deadline: Option<Instant>| deadline.is_some_and(|deadline| deadline <= now);
        let state = &mut *state;
        let more = state.calls.end(&PipeFailure::TimedOut, due, &mut state.wakes);
        let more = more || !state.stuck.is_empty();
        state.wakes.append(&mut state.stuck);
        state.watched = more;
        more
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(joint) = state.joint.take() {
            self.remove(&joint);
        }
    }
}

/// What the ORB's workers know of a pipe.
#[derive(Debug)]
struct Attendant(Weak<NativeServer>);

impl Source for Attendant {
    fn ready(self: Arc<Self>, _: Event, worker: &mut Worker) {
        if let Some(server) = self.0.upgrade() {
            let linger = worker.reactor.try_linger();
            let limit = if linger { server.spin() } else { Duration::ZERO };
            server.pipe.attended(&worker.reactor, limit);
            if linger {
                worker.reactor.leave();
            }
        }
    }

    fn close(&self) {
        if let Some(server) = self.0.upgrade() {
            server.end_pipe(&LinkError::ShutDown);
        }
    }
}
