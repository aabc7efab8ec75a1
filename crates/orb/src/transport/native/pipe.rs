//! Calls of futures by the native protocol: many under way at once on one link, shared by all threads.
//!
//! There is no reader thread. A future that is polled reads for all of them. When nothing is there, a worker of the ORB is
//! called by the system when something comes, and stays for a while; unless the thread [drives](super::drive) its futures
//! itself.

use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use throughline_demux::Handle;
use throughline_vi::{Bell, SMALL_MESSAGE};
use throughline_wire::{Flags, Flow, Header, Message};

use super::answers::{PipeReply, SmallReply};
use super::client::NativeServer;
use super::drive;
use super::link::{Link, LinkError};
use super::park::Spin;
use super::pipe_calls::{Found, PipeCalls, PipeFailure};
use crate::native::Body;
use crate::transport::keeper::Watched;
use crate::transport::poller::{Event, Interest};
use crate::transport::reactor::{Reactor, Source, Worker, lock, wake};

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
    /// The last one is over, and none of its calls has told that it failed.
    broke: bool,
    /// Somebody connects.
    connecting: bool,
    calls: PipeCalls,
    /// An answer was taken, and nothing sent since.
    took: bool,
    /// Futures that could not send for want of a buffer.
    stuck: Vec<Waker>,
    /// To be called once this is unlocked, since what they do is unknown.
    wakes: Vec<Waker>,
    /// Memory for those: who is woken may wake others before who woke him is done.
    spare_wakes: Vec<Vec<Waker>>,
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

impl Pipe {
    pub(crate) fn new(reactor: Weak<Reactor>, limit: usize) -> Self {
        Self { state: Mutex::default(), reactor, limit }
    }

    /// Works on the state under its lock. Wakers are called when it is unlocked, since what they do is unknown.
    #[inline(always)]
    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let mut state = lock(&self.state);
        let done = work(&mut state);
        if !state.wakes.is_empty() {
            self.unlock_and_wake(state);
        }
        done
    }

    #[inline(never)]
    fn unlock_and_wake(&self, mut state: MutexGuard<'_, State>) {
        let spare = state.spare_wakes.pop().unwrap_or_default();
        let mut wakes = std::mem::replace(&mut state.wakes, spare);
        drop(state);
        wakes.drain(..).for_each(wake);
        lock(&self.state).spare_wakes.push(wakes);
    }

    /// Connecting has ended; with a link if it succeeded.
    pub(crate) fn connected(&self, link: Option<Link>) {
        let joint = link.and_then(|link| {
            let bell = link.bell()?;
            Some(Joint { link, bell, flow: super::flows().next(), handle: None })
        });
        self.with(|state| {
            if joint.is_some() {
                (state.joint, state.broke) = (joint, false);
            }
            (state.connecting, state.attended) = (false, false);
            state.wakes.append(&mut state.stuck);
        });
    }

    /// Sends a request whose arguments are marshaled already.
    #[inline]
    pub(crate) fn send(&self, header: &Header, arguments: &[u8], deadline: Option<Instant>) -> Begun {
        self.with(|state| match state.send_small(header, arguments, deadline, self.limit) {
            Some(id) => Begun::Sent(id),
            None => self.send_any(state, header, arguments, deadline),
        })
    }

    #[inline(never)]
    fn send_any(
        &self,
        state: &mut State,
        header: &Header,
        arguments: &[u8],
        deadline: Option<Instant>,
    ) -> Begun {
        let begun = state.send(header, arguments, deadline, self.limit).unwrap_or_else(|error| {
            self.end(state, &error);
            Begun::NotConnected
        });
        match begun {
            Begun::NotConnected if std::mem::replace(&mut state.connecting, true) => Begun::NoRoom,
            begun => begun,
        }
    }

    /// Nobody wants the answer to this any more.
    pub(crate) fn forget(&self, id: u32) {
        let waker = self.with(|state| {
            let waker = state.calls.give_up(id);
            if state.calls.forsaken() >= AT_ONCE {
                // Perhaps nobody is polled who would read.
                self.read(state);
            }
            waker
        });
        drop(waker);
    }

    /// Reads what has come, [not all](AT_ONCE) if it is much, and gives it to its calls; how much it was.
    #[inline(never)]
    fn read(&self, state: &mut State) -> usize {
        let Some(joint) = &mut state.joint else { return 0 };
        let (found, result) = read(&mut joint.link, &mut state.calls, &mut state.wakes);
        if found > 0 && !state.stuck.is_empty() {
            state.wakes.append(&mut state.stuck);
        }
        if let Err(error) = result {
            self.end(state, &error);
        }
        found
    }

    /// The link is over, and with it all calls.
    #[cold]
    fn end(&self, state: &mut State, error: &LinkError) {
        let Some(joint) = state.joint.take() else { return };
        tracing::debug!(%error, "the futures' link is over");
        self.remove(&joint);
        (state.attended, state.broke) = (false, true);
        state.calls.end(&failure(error, &joint.link), |_| true, &mut state.wakes);
        state.calls.end_forsaken();
        state.wakes.append(&mut state.stuck);
    }

    fn remove(&self, joint: &Joint) {
        if let (Some(reactor), Some(handle)) = (self.reactor.upgrade(), joint.handle) {
            reactor.remove(&joint.bell, handle);
        }
    }

    /// A worker is called when something comes, unless one is there.
    fn attend(&self, state: &mut State, server: &Arc<NativeServer>) {
        if state.attended || state.is_idle() || state.joint.is_none() {
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
        if !self.call_for_attendance(state, &reactor) {
            let attendant = Attendant(Arc::downgrade(server));
            reactor.spawn(Box::new(move |worker| attendant.attend(worker)));
        }
    }

    /// From now on the worker sleeps; what came just before is read once more. False if that is more than is read at once: of what
    /// was there already nobody will tell, so that a worker must look.
    fn call_for_attendance(&self, state: &mut State, reactor: &Arc<Reactor>) -> bool {
        let Some(joint) = &state.joint else { return true };
        joint.bell.arm();
        let more = joint.bell.ready() && self.read(state) == AT_ONCE;
        let Some(Joint { bell, handle: Some(handle), .. }) = &state.joint else { return true };
        if more {
            bell.disarm();
        } else {
            reactor.arm(bell, *handle, Interest { read: true, write: false });
        }
        !more
    }

    /// Reads, until nothing more is expected or nothing has come for a while.
    fn attended(&self, reactor: &Arc<Reactor>, limit: Duration) {
        let mut spin = Spin::new(limit);
        if let Some(joint) = &lock(&self.state).joint {
            joint.bell.disarm();
            joint.bell.drain();
        }
        while self.with(|state| self.attend_once(state, reactor, &mut spin)) {
            std::hint::spin_loop();
        }
    }

    /// Whether to look again.
    fn attend_once(&self, state: &mut State, reactor: &Arc<Reactor>, spin: &mut Spin) -> bool {
        if self.read(state) > 0 {
            spin.found();
        }
        if state.joint.is_none() || state.is_idle() {
            state.attended = false;
            return false;
        }
        !spin.is_over() || !self.call_for_attendance(state, reactor)
    }
}

impl State {
    /// Whether nothing is to come. What nobody wants any more must be taken as well: a server whose answers are not loses patience.
    fn is_idle(&self) -> bool {
        self.calls.outstanding() == 0 && self.stuck.is_empty()
    }

    /// Sends a request that lies in one line of shared memory, which most do. None if that cannot be; then nothing has changed.
    #[inline(always)]
    fn send_small(
        &mut self,
        header: &Header,
        arguments: &[u8],
        deadline: Option<Instant>,
        limit: usize,
    ) -> Option<u32> {
        let joint = self.joint.as_mut()?;
        let mut message = [0; SMALL_MESSAGE];
        let used = header.size() + arguments.len();
        message.get_mut(header.size()..used)?.copy_from_slice(arguments);
        let id = self.calls.add(deadline, limit)?;
        let header = joint.header(header, id);
        let written = header.write(&mut message).is_ok();
        // Who takes an answer and sends a request will do so with the next answer, too.
        let more = std::mem::take(&mut self.took) && self.calls.has_answers();
        let (link, message) = (&mut joint.link, &message[..used]);
        if written && if more { link.send_small_with_more(message) } else { link.send_small(message) } {
            return Some(id);
        }
        self.calls.forget(id);
        None
    }

    /// Whoever is polled time and again is noted once: at the latest when there would be more notes than there is room for.
    fn note_stuck(&mut self, waker: &Waker) {
        let stuck = &mut self.stuck;
        if stuck.len() == stuck.capacity() {
            stuck.sort_unstable_by_key(|waker| waker.data());
            stuck.dedup_by(|one, other| one.will_wake(other));
            // As much room again, so that this is seldom done.
            stuck.reserve(stuck.len() + AT_ONCE);
        }
        stuck.push(waker.clone());
    }

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
        let header = joint.header(header, id);
        let written = write(&mut joint.link, &header, arguments);
        if !matches!(written, Ok(true)) {
            self.calls.forget(id);
        }
        written.map(|fits| if fits { Begun::Sent(id) } else { Begun::TooLong })
    }
}

impl Joint {
    /// The header as it is sent here.
    #[inline(always)]
    fn header(&self, header: &Header, id: u32) -> Header {
        Header { flow: self.flow, sequence: id, flags: header.flags.with(Flags::CONCURRENT), ..*header }
    }
}

/// Whether the arguments fitted.
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

/// Gives what has come to its calls, but not for ever: how much it was, and whether the link goes on.
#[inline(always)]
pub(super) fn read<X: Default>(
    link: &mut Link,
    calls: &mut PipeCalls<X>,
    wakes: &mut Vec<Waker>,
) -> (usize, Result<(), LinkError>) {
    let mut found = 0;
    while found < AT_ONCE {
        let come = match link.take_small() {
            Some(small) => deliver_small(calls, small, wakes),
            None => read_any(link, calls, wakes),
        };
        match come {
            Ok(true) => found += 1,
            Ok(false) => break,
            Err(error) => return (found, Err(error)),
        }
    }
    (found, Ok(()))
}

/// Why the calls on a link that is over have no answer.
#[cold]
pub(super) fn failure(error: &LinkError, link: &Link) -> PipeFailure {
    // A server that says farewell has answered all that it has carried out, or is about to refuse the rest of it.
    let farewell = error.is_refusal() || error.is_farewell() && !link.has_part();
    if farewell { PipeFailure::NotCarriedOut } else { PipeFailure::Lost(error.to_string()) }
}

#[inline(always)]
pub(super) fn deliver_small<X: Default>(
    calls: &mut PipeCalls<X>,
    (len, octets): (usize, &[u8; SMALL_MESSAGE]),
    wakes: &mut Vec<Waker>,
) -> Result<bool, LinkError> {
    let bytes = octets.get(..len).unwrap_or_default();
    let Ok(message) = Message::read(bytes) else { return Err(LinkError::Nonsense) };
    let Header { kind, sequence, .. } = message.header;
    if kind.is_reply() {
        calls.deliver_small(sequence, (kind, Body::of(bytes, &message)), (len, octets), wakes);
    }
    Ok(true)
}

/// Takes a message of any length, or a part of one, if there is one.
#[inline(never)]
fn read_any<X: Default>(
    link: &mut Link,
    calls: &mut PipeCalls<X>,
    wakes: &mut Vec<Waker>,
) -> Result<bool, LinkError> {
    let missing = link.missing();
    if !link.try_receive()? {
        // Others may be there behind a part: nobody tells of what came before he was asked to.
        return Ok(link.missing() != missing);
    }
    deliver_received(link, calls, wakes).map(|()| true)
}

/// Gives the message received last to its call.
pub(super) fn deliver_received<X: Default>(
    link: &mut Link,
    calls: &mut PipeCalls<X>,
    wakes: &mut Vec<Waker>,
) -> Result<(), LinkError> {
    let bytes = link.received();
    let Ok(message) = Message::read(bytes) else { return Err(LinkError::Nonsense) };
    let Header { kind, sequence, .. } = message.header;
    if kind.is_reply() {
        calls.deliver(sequence, (kind, Body::of(bytes, &message)), bytes, wakes);
    }
    link.release();
    Ok(())
}

impl NativeServer {
    /// Whether the answer to a request is a small one that only has to be read, once it is there; otherwise it is to be
    /// [taken](Self::take_reply). The task is woken when there is either.
    #[inline]
    pub(crate) fn poll_small(
        self: &Arc<Self>,
        id: u32,
        cx: &mut Context<'_>,
        into: &mut SmallReply,
    ) -> Poll<bool> {
        let polled = self.pipe.with(|state| {
            let mut found = state.calls.take_small(id, into);
            // As long as there are answers, those whose they are have been woken; reading would send what waits for theirs.
            if found == Found::Waiting && !state.calls.has_answers() {
                self.pipe.read(state);
                found = state.calls.take_small(id, into);
            }
            state.took |= found != Found::Waiting;
            if found == Found::Waiting {
                return Err(self.wait_for(state, id, cx.waker()));
            }
            Ok(found == Found::Small)
        });
        match polled {
            Ok(small) => Poll::Ready(small),
            Err(replaced) => {
                drop(replaced);
                Poll::Pending
            }
        }
    }

    #[inline(never)]
    fn wait_for(self: &Arc<Self>, state: &mut State, id: u32, waker: &Waker) -> Option<Waker> {
        let replaced = state.calls.register(id, waker);
        if !drive::adopt(self) {
            self.pipe.attend(state, self);
        }
        replaced
    }

    /// The answer to a request that is expected no longer. The first call that failed with its link leaves out this way; not the
    /// others, nor one that is asked when there is another link.
    pub(crate) fn take_reply(&self, id: u32) -> Option<Result<PipeReply, PipeFailure>> {
        let (outcome, broke) = self.pipe.with(|state| {
            let outcome = state.calls.take(id);
            let failed = matches!(outcome, Some(Err(PipeFailure::NotCarriedOut | PipeFailure::Lost(_))));
            (outcome, failed && std::mem::take(&mut state.broke))
        });
        if broke {
            self.suspend(&"the futures' link is over");
        }
        outcome
    }

    /// Ready when a request may be tried again. Who has a deadline is woken in every tick of the keeper, to look at the clock.
    pub(crate) fn poll_room(self: &Arc<Self>, cx: &mut Context<'_>, has_deadline: bool) -> Poll<()> {
        let pipe = &self.pipe;
        let ready = pipe.with(|state| {
            let came = pipe.read(state) > 0;
            let ready = match &mut state.joint {
                Some(joint) => came || joint.link.has_room().unwrap_or(true),
                None => !state.connecting,
            };
            if !ready {
                state.note_stuck(cx.waker());
                if !drive::adopt(self) {
                    pipe.attend(state, self);
                }
            }
            ready
        });
        // Not before it has its place: the keeper forgets who waits for nothing.
        if !ready && has_deadline {
            self.watch_deadlines();
        }
        if ready { Poll::Ready(()) } else { Poll::Pending }
    }

    /// A request that waited for room is given up. Other futures of the same task may wait for it, too: it looks again.
    pub(crate) fn forget_stuck(&self, waker: &Waker) {
        self.pipe.with(|state| {
            let noted = state.stuck.len();
            state.stuck.retain(|other| !other.will_wake(waker));
            if state.stuck.len() < noted {
                state.wakes.push(waker.clone());
            }
        });
    }

    /// Reads what has come; whether anything had.
    pub(crate) fn read_replies(&self) -> bool {
        self.pipe.with(|state| self.pipe.read(state) > 0)
    }

    /// From now on a worker reads.
    pub(crate) fn attend(self: &Arc<Self>) {
        self.pipe.with(|state| self.pipe.attend(state, self));
    }

    /// As [`attend`](Self::attend), if somebody is to be woken.
    pub(crate) fn attend_to_sleepers(self: &Arc<Self>) {
        self.pipe.with(|state| {
            if state.calls.has_wakers() || !state.stuck.is_empty() {
                self.pipe.attend(state, self);
            }
        });
    }

    /// The keeper looks after the deadlines of calls under way.
    pub(crate) fn watch_deadlines(self: &Arc<Self>) {
        let Some(reactor) = self.pipe.reactor.upgrade() else { return };
        if !self.pipe.with(|state| std::mem::replace(&mut state.watched, true)) {
            let watched: Weak<Self> = Arc::downgrade(self);
            reactor.keeper.ensure_running(&reactor);
            reactor.keeper.watch(watched);
        }
    }

    /// Ends the futures' link.
    pub(crate) fn end_pipe(&self, error: &LinkError) {
        self.pipe.with(|state| self.pipe.end(state, error));
    }
}

impl Watched for NativeServer {
    fn expire(&self, now: Instant) -> bool {
        let due = |deadline: Option<Instant>| deadline.is_some_and(|deadline| deadline <= now);
        self.pipe.with(|state| {
            let more = state.calls.end(&PipeFailure::TimedOut, due, &mut state.wakes);
            let more = more || !state.stuck.is_empty();
            state.wakes.append(&mut state.stuck);
            state.watched = more;
            more
        })
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

impl Attendant {
    fn attend(&self, worker: &mut Worker) {
        if let Some(server) = self.0.upgrade() {
            let linger = worker.reactor.try_linger();
            let limit = if linger { server.spin() } else { Duration::ZERO };
            server.pipe.attended(&worker.reactor, limit);
            if linger {
                worker.reactor.leave();
            }
        }
    }
}

impl Source for Attendant {
    fn ready(self: Arc<Self>, _: Event, worker: &mut Worker) {
        self.attend(worker);
    }

    fn close(&self) {
        if let Some(server) = self.0.upgrade() {
            server.end_pipe(&LinkError::ShutDown);
        }
    }
}
