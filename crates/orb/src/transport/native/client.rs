//! The client's side of the native protocol: links to servers.
//!
//! A link carries one call at a time and belongs to the thread that made it: calls of one thread arrive in order, and no
//! lock is taken for a call. The server polls all links of all its clients together, so that many cost it little.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use throughline_giop::{NativeAddress, NativeProfile};
use throughline_wire::{Flow, Kind, TimeLeft};

use super::exchange::Attempt;
use super::link::{Link, LinkError, LinkOptions};
use super::oneways::{Asked, Fate};
use super::pipe::Pipe;
use super::window;
use crate::exception::{Completion, Kind as Exception, SystemException, minor};
use crate::native::Body;
use crate::transport::reactor::lock;

/// After a server could not be reached, calls take other ways for this long before it is tried again; twice as long after each
/// further failure. Where there are no other ways it is not twice as long.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// So often it becomes twice as long.
const MAX_DOUBLINGS: u32 = 8;

/// How long connecting may take: a server that is there answers at once, unless its answer is lost once or twice.
const CONNECT_WITHIN: Duration = Duration::from_millis(800);

/// A server of the native protocol, as its clients see it.
#[derive(Debug)]
pub(crate) struct NativeServer {
    id: u64,
    address: NativeAddress,
    options: LinkOptions,
    /// Not to be tried before then: for want of other ways, and otherwise.
    not_before: Mutex<Option<[Instant; 2]>>,
    /// How often connecting has failed since it succeeded.
    failures: AtomicU32,
    /// Microseconds that calls with little time have waited for a connection in vain since then, or since it was given up.
    waited: AtomicU64,
    /// Whether `not_before` says anything: looked at by every call.
    suspended: AtomicBool,
    closed: AtomicBool,
    /// It has answered before.
    proven: AtomicBool,
    /// Where the calls of futures go.
    pub(crate) pipe: Pipe,
}

/// Where the native protocol takes a reference's calls.
#[derive(Debug)]
pub(crate) struct NativeRoute {
    pub(crate) server: Arc<NativeServer>,
    pub(crate) slot: u32,
    pub(crate) nonce: u64,
    /// The server does not know the handle any more; another way may have another name for the object.
    pub(crate) stale: AtomicBool,
    /// The reference offers nothing else than this way.
    pub(crate) alone: bool,
    /// The reference offers nothing else than the native protocol.
    only: bool,
    /// What became of its oneways.
    pub(super) fate: Arc<Fate>,
}

impl NativeRoute {
    /// `ways`: how many the reference offers. `only`: all of them are of the native protocol.
    pub(crate) fn new(server: Arc<NativeServer>, profile: &NativeProfile, ways: usize, only: bool) -> Self {
        let NativeProfile { slot, nonce, .. } = *profile;
        let (stale, fate) = (AtomicBool::new(false), Arc::default());
        Self { server, slot, nonce, stale, alone: only && ways == 1, only, fate }
    }

    /// Where the server is.
    pub(crate) fn address(&self) -> &NativeAddress {
        &self.server.address
    }

    /// Whether calls should try it.
    #[inline]
    pub(crate) fn is_usable(&self) -> bool {
        !self.stale.load(Ordering::Relaxed)
            && (self.server.is_usable() || self.only && self.server.is_to_be_tried())
    }
}

impl fmt::Display for NativeRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.server.address {
            NativeAddress::Shm { name, .. } => write!(f, "shm:{name}"),
            NativeAddress::Udp { host, port } if host.contains(':') => write!(f, "udp://[{host}]:{port}"),
            NativeAddress::Udp { host, port } => write!(f, "udp://{host}:{port}"),
        }
    }
}

/// A thread's link to a server, and the call that uses it.
pub(crate) struct Own {
    pub(super) server: Arc<NativeServer>,
    pub(super) link: Link,
    pub(super) flow: Flow,
    pub(super) sequence: u32,
    /// What the request tells of the time that its call may take.
    pub(super) time_left: TimeLeft,
    /// Octets of the request in the link's registered memory.
    pub(super) used: usize,
    /// The request, if it does not fit there.
    pub(super) overflow: Vec<u8>,
    /// What the answer is, and where in it the body is.
    pub(super) kind: Kind,
    pub(super) body: Body,
    /// An answer has come by it.
    pub(super) proven: bool,
    pub(super) asked: Asked,
    /// The time of the last call was over before the server had its request, and until then it is waited for that.
    pub(super) owed_until: Option<Instant>,
}

thread_local! {
    /// The link that this thread used last, unless it is in use.
    static LAST: Cell<Option<Box<Own>>> = const { Cell::new(None) };
    /// The other links of this thread that are not in use.
    #[expect(clippy::vec_box, reason = "what is taken out and put back at every call should be small")]
    static LINKS: RefCell<Vec<Box<Own>>> = const { RefCell::new(Vec::new()) };
}

/// A link that is not in use any more, for the thread's next call. Fails only while the thread is ending.
#[inline]
pub(super) fn keep(own: Box<Own>) {
    let other = LAST.try_with(|last| last.replace(Some(own)));
    // In use meanwhile: a servant called back, or a thread calls several servers in turn.
    if let Ok(Some(other)) = other {
        let _ = LINKS.try_with(|links| links.borrow_mut().push(other));
    }
}

/// As [`keep`], where the next call must [see](Own::settled) first whether it can use it.
#[cold]
pub(super) fn set_aside(own: Box<Own>) {
    let _ = LINKS.try_with(|links| links.borrow_mut().push(own));
}

/// Closes the calling thread's links to servers that nobody uses any more.
pub(crate) fn drop_closed() {
    // Fails only while the thread is ending, when they are closed anyway.
    let _ = LINKS.try_with(|links| {
        let last = LAST.try_with(Cell::take).ok().flatten();
        links.borrow_mut().extend(last);
        links.borrow_mut().retain(|own| !own.server.is_closed());
    });
    window::drop_closed();
}

/// How long a call waits for a connection. Half of its time is for other ways, if there are any.
pub(super) fn patience(alone: bool, deadline: Option<Instant>) -> Duration {
    let ways = if alone { 1 } else { 2 };
    let share = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()) / ways);
    share.map_or(CONNECT_WITHIN, |share| share.min(CONNECT_WITHIN))
}

impl NativeServer {
    pub(crate) fn new(address: NativeAddress, options: LinkOptions, pipe: Pipe) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            address,
            options,
            not_before: Mutex::default(),
            failures: AtomicU32::new(0),
            waited: AtomicU64::new(0),
            suspended: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            proven: AtomicBool::new(false),
            pipe,
        })
    }

    /// How long to look for an answer before sleeping.
    pub(crate) fn spin(&self) -> Duration {
        self.options.spin
    }

    /// Connects the pipe, or finds that there is no way to the server at present.
    ///
    /// False if there was not time enough to find out: calls with more of it may try.
    pub(crate) fn connect_pipe(&self, alone: bool, deadline: Option<Instant>) -> bool {
        let link = self.new_link(false, patience(alone, deadline)).ok();
        let found = link.is_some() || !self.is_usable();
        self.pipe.connected(link.filter(|_| !self.is_closed()).map(Link::without_oneways));
        // Who closes it says so before he ends the pipe.
        if self.is_closed() {
            self.end_pipe(&LinkError::ShutDown);
        }
        found
    }

    /// The links of all threads are closed when they are next looked at. False, for who keeps servers that are open.
    pub(crate) fn close(&self) -> bool {
        self.closed.store(true, Ordering::Release);
        self.end_pipe(&LinkError::ShutDown);
        false
    }

    /// Whether nobody uses it any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Whether it shares memory with this process.
    pub(super) fn is_near(&self) -> bool {
        matches!(self.address, NativeAddress::Shm { .. })
    }

    /// Whether it is worth trying.
    #[inline]
    pub(crate) fn is_usable(&self) -> bool {
        !self.suspended.load(Ordering::Relaxed) || self.may_be_back()
    }

    /// Whether it is time to look for it once more, for those who have no other way to it.
    #[cold]
    fn is_to_be_tried(&self) -> bool {
        lock(&self.not_before).is_none_or(|[then, _]| Instant::now() >= then)
    }

    #[cold]
    fn may_be_back(&self) -> bool {
        let mut not_before = lock(&self.not_before);
        let back = not_before.is_none_or(|[_, then]| Instant::now() >= then);
        if back {
            *not_before = None;
            self.suspended.store(false, Ordering::Relaxed);
        }
        back
    }

    /// Calls that fail together, or before anybody could try it again, tell of one failure.
    #[cold]
    pub(crate) fn suspend(&self, why: &dyn fmt::Display) {
        self.waited.store(0, Ordering::Relaxed);
        tracing::debug!(address = ?self.address, error = %why, "the native protocol does not work; another way is taken");
        let now = Instant::now();
        let mut not_before = lock(&self.not_before);
        if not_before.is_none_or(|[then, _]| now >= then) {
            let failures = self.failures.fetch_add(1, Ordering::Relaxed).min(MAX_DOUBLINGS);
            *not_before = Some([now + RETRY_AFTER, now + RETRY_AFTER * (1 << failures)]);
        }
        self.proven.store(false, Ordering::Relaxed);
        self.suspended.store(true, Ordering::Relaxed);
    }

    /// No answer came, or a part of one only.
    #[cold]
    pub(super) fn lost(&self, error: &LinkError, answered: bool) -> Result<Attempt, SystemException> {
        if error.is_timeout() {
            return Err(SystemException::new(Exception::Timeout, minor::REPLY_TIMEOUT)
                .completed(Completion::Maybe)
                .detail("no reply within the time that the call may take"));
        }
        self.suspend(error);
        if error.is_refusal() || error.is_farewell() && !answered {
            // A server that says farewell has at least begun to answer all that it has carried out.
            return Ok(Attempt::NotPossible);
        }
        Err(SystemException::new(Exception::CommFailure, minor::CONNECTION_LOST)
            .completed(Completion::Maybe)
            .detail(error.to_string()))
    }

    /// This thread's link, made now if need be; none if that is not possible.
    ///
    /// # Errors
    /// If the server has yet to take what it was sent before, and the time is over.
    #[inline]
    pub(super) fn link(
        self: &Arc<Self>,
        alone: bool,
        deadline: Option<Instant>,
    ) -> Result<Option<Box<Own>>, Box<SystemException>> {
        // Fails only while the thread is ending, when it has none any more.
        match LAST.try_with(Cell::take).ok().flatten() {
            Some(own) if own.server.id == self.id && own.link.is_open() => Ok(Some(own)),
            other => self.other_link(other, alone, deadline),
        }
    }

    #[inline(never)]
    fn other_link(
        self: &Arc<Self>,
        last: Option<Box<Own>>,
        alone: bool,
        deadline: Option<Instant>,
    ) -> Result<Option<Box<Own>>, Box<SystemException>> {
        let own = LINKS.try_with(|links| {
            let mut links = links.borrow_mut();
            links.extend(last);
            let at = links.iter().position(|own| own.server.id == self.id)?;
            Some(links.swap_remove(at))
        });
        let own = match own.ok().flatten() {
            Some(own) if own.owed_until.is_some() => own.settled(deadline)?,
            own => own,
        };
        match own {
            Some(own) if own.link.is_open() => Ok(Some(own)),
            _ => Ok(self.connect(alone, deadline)),
        }
    }

    /// A connected link; otherwise calls take other ways for a while, unless there was too little time to find out. Where the server
    /// has answered before, or there is no other way to it, the first call need not wait for the connection over a network. Otherwise
    /// it must: a call that may have arrived can't take another way.
    pub(super) fn new_link(&self, alone: bool, within: Duration) -> Result<Link, LinkError> {
        let early = !self.is_near() && (alone || self.proven.load(Ordering::Relaxed));
        let connected = Link::connect(&self.address, within, &self.options, early);
        match &connected {
            Ok(_) if early => {}
            Ok(_) => self.proven(),
            Err(error) if error.is_connect_timeout() && !self.is_given_up_after(within) => {}
            Err(error) => self.suspend(error),
        }
        connected
    }

    /// Whether calls have waited for so long in vain, together. It says little of a server that it takes longer than one of them had.
    fn is_given_up_after(&self, another: Duration) -> bool {
        let another = another.as_micros() as u64;
        self.waited.fetch_add(another, Ordering::Relaxed) + another >= CONNECT_WITHIN.as_micros() as u64
    }

    /// The server has answered.
    #[cold]
    pub(super) fn proven(&self) {
        self.proven.store(true, Ordering::Relaxed);
        self.failures.store(0, Ordering::Relaxed);
        self.waited.store(0, Ordering::Relaxed);
    }

    #[cold]
    fn connect(self: &Arc<Self>, alone: bool, deadline: Option<Instant>) -> Option<Box<Own>> {
        drop_closed();
        let link = self.new_link(alone, patience(alone, deadline)).ok()?;
        tracing::debug!(address = ?self.address, "connected by the native protocol");
        let (server, flow) = (Arc::clone(self), super::flows().next());
        let (overflow, body) = (Vec::new(), Body::NONE);
        Some(Box::new(Own {
            server,
            link,
            flow,
            sequence: 0,
            time_left: TimeLeft::FOREVER,
            used: 0,
            overflow,
            kind: Kind::Reply,
            body,
            proven: false,
            asked: Asked::default(),
            owed_until: None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orb::Orb;

    #[test]
    fn what_was_waited_in_vain_before_a_connection_counts_no_more() {
        let orb = Orb::client().unwrap();
        let address = NativeAddress::Udp { host: "127.0.0.1".into(), port: 1 };
        let pipe = Pipe::new(Arc::downgrade(orb.reactor()), 1);
        let server = NativeServer::new(address, orb.link_options(), pipe);
        let waited = || server.is_given_up_after(CONNECT_WITHIN / 2);
        assert_eq!([waited(), waited()], [false, true]);
        server.proven();
        assert_eq!([waited(), waited()], [false, true]);
        orb.shutdown(Duration::ZERO);
    }
}
