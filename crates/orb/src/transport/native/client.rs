//! The client's side of the native protocol: links to servers, and one call over a link.
//!
//! A link carries one call at a time and belongs to the thread that made it: calls of one thread arrive in order, and no
//! lock is taken for a call. The server polls all links of all its clients together, so that many cost it little.

use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use throughline_cdr::{EncodeError, Output, Reader, Writer};
use throughline_giop::{NativeAddress, NativeProfile};
use throughline_wire::{Flow, Header, Kind, Message, TimeLeft};

use super::link::{Link, LinkError, LinkOptions};
use super::pipe::Pipe;
use super::pipe_calls::PipeReply;
use crate::exception::{Completion, Kind as Exception, SystemException, minor};
use crate::interface::Operation;
use crate::native::{body_reader, body_writer};
use crate::transport::reactor::lock;

/// After a server could not be reached, calls take other ways for this long before it is tried again; twice as long after each
/// further failure.
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
    /// Not to be tried before then.
    not_before: Mutex<Option<Instant>>,
    /// How often connecting has failed since it succeeded.
    failures: AtomicU32,
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
    /// The reference offers nothing else than the native protocol.
    alone: bool,
}

impl NativeRoute {
    pub(crate) fn new(server: Arc<NativeServer>, profile: &NativeProfile, alone: bool) -> Self {
        let NativeProfile { slot, nonce, .. } = *profile;
        Self { server, slot, nonce, stale: AtomicBool::new(false), alone }
    }

    /// Where the server is.
    pub(crate) fn address(&self) -> &NativeAddress {
        &self.server.address
    }

    /// Whether calls should try it.
    #[inline]
    pub(crate) fn is_usable(&self) -> bool {
        !self.stale.load(Ordering::Relaxed) && self.server.is_usable()
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

/// A thread's link to a server.
struct Own {
    server: Arc<NativeServer>,
    link: Link,
    flow: Flow,
    sequence: u32,
}

thread_local! {
    /// The links of this thread that are not in use.
    #[expect(clippy::vec_box, reason = "what is taken out and put back at every call should be small")]
    static LINKS: RefCell<Vec<Box<Own>>> = const { RefCell::new(Vec::new()) };
    /// What does not fit into registered memory.
    static OVERFLOW: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Closes the calling thread's links to servers that nobody uses any more.
pub(crate) fn drop_closed() {
    // Fails only while the thread is ending, when they are closed anyway.
    let _ = LINKS.try_with(|links| {
        links.borrow_mut().retain(|own| !own.server.closed.load(Ordering::Acquire));
    });
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
    pub(crate) fn connect_pipe(&self) {
        let link = self.new_link(false).inspect_err(|error| self.suspend(error));
        self.pipe.connected(link.ok());
    }

    /// The links of all threads are closed when they are next looked at. False, for who keeps servers that are open.
    pub(crate) fn close(&self) -> bool {
        self.closed.store(true, Ordering::Release);
        self.end_pipe(&LinkError::ShutDown);
        false
    }

    /// Whether it is worth trying.
    #[inline]
    pub(crate) fn is_usable(&self) -> bool {
        !self.suspended.load(Ordering::Relaxed) || self.may_be_back()
    }

    #[cold]
    fn may_be_back(&self) -> bool {
        let mut not_before = lock(&self.not_before);
        let back = not_before.is_none_or(|then| Instant::now() >= then);
        if back {
            *not_before = None;
            self.suspended.store(false, Ordering::Relaxed);
        }
        back
    }

    #[cold]
    pub(crate) fn suspend(&self, why: &dyn fmt::Display) {
        tracing::debug!(address = ?self.address, error = %why, "the native protocol does not work; another way is taken");
        let failures = self.failures.fetch_add(1, Ordering::Relaxed).min(MAX_DOUBLINGS);
        *lock(&self.not_before) = Instant::now().checked_add(RETRY_AFTER * (1 << failures));
        self.proven.store(false, Ordering::Relaxed);
        self.suspended.store(true, Ordering::Relaxed);
    }

    /// No answer came, or a part of one only.
    #[cold]
    fn lost(&self, error: &LinkError, answered: bool) -> Result<Attempt, SystemException> {
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
    #[inline]
    fn link(self: &Arc<Self>, alone: bool) -> Option<Box<Own>> {
        let own = LINKS.with_borrow_mut(|links| {
            let at = links.iter().position(|own| own.server.id == self.id)?;
            Some(links.swap_remove(at))
        });
        match own {
            Some(own) if own.link.is_open() => Some(own),
            _ => self.connect(alone),
        }
    }

    /// A connected link. Where the server has answered before, or there is no other way to it, the first call need not wait for
    /// the connection. Otherwise it must: a call that may have arrived can't take another way.
    fn new_link(&self, alone: bool) -> Result<Link, LinkError> {
        let early = alone || self.proven.load(Ordering::Relaxed);
        let link = Link::connect(&self.address, CONNECT_WITHIN, self.options, early)?;
        if !early {
            self.proven();
        }
        Ok(link)
    }

    /// The server has answered.
    fn proven(&self) {
        self.proven.store(true, Ordering::Relaxed);
        self.failures.store(0, Ordering::Relaxed);
    }

    #[cold]
    fn connect(self: &Arc<Self>, alone: bool) -> Option<Box<Own>> {
        drop_closed();
        match self.new_link(alone) {
            Ok(link) => {
                tracing::debug!(address = ?self.address, "connected by the native protocol");
                let flow = super::flows().next();
                Some(Box::new(Own { server: Arc::clone(self), link, flow, sequence: 0 }))
            }
            Err(error) => {
                self.suspend(&error);
                None
            }
        }
    }
}

/// An answer, in the memory where it was received.
pub(crate) struct NativeReply {
    own: Option<Box<Own>>,
    kind: Kind,
}

impl NativeReply {
    /// What kind of answer it is: one that `Kind::is_reply`.
    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// A copy that needs no link.
    pub(crate) fn detach(&self) -> PipeReply {
        PipeReply::new(self.kind, self.own.as_ref().map_or(&[][..], |own| own.link.received()))
    }

    /// Reads the body.
    #[inline]
    pub(crate) fn read<T>(&self, read: impl FnOnce(Reader<'_>) -> T) -> T {
        let bytes = self.own.as_ref().map_or(&[][..], |own| own.link.received());
        match Message::read(bytes) {
            Ok(message) => read(body_reader(bytes, &message)),
            // It was read before; so this is an empty body.
            Err(_) => read(Reader::new(&[], throughline_cdr::ByteOrder::NATIVE)),
        }
    }
}

impl Drop for NativeReply {
    fn drop(&mut self) {
        if let Some(own) = self.own.take() {
            // The buffer with the answer is released while the next answer is waited for.
            // Fails only while the thread is ending.
            let _ = LINKS.try_with(|links| links.borrow_mut().push(own));
        }
    }
}

/// How an attempt ended.
pub(crate) enum Attempt {
    /// The call has an answer.
    Answered(NativeReply),
    /// A oneway is on its way.
    Sent,
    /// Nothing was sent: another way must be taken.
    NotPossible,
}

/// Sends a request and waits for its answer, if there is to be one.
///
/// # Errors
/// System exceptions of this side: an argument that can't be written, time that is over, a server that is gone.
#[inline]
pub(crate) fn exchange(
    route: &NativeRoute,
    operation: Operation,
    deadline: Option<Instant>,
    wants_reply: bool,
    encode: impl Fn(&mut Writer<'_>) -> Result<(), EncodeError>,
) -> Result<Attempt, SystemException> {
    let Some(mut own) = route.server.link(route.alone) else { return Ok(Attempt::NotPossible) };
    own.sequence = own.sequence.wrapping_add(1);
    let kind = if wants_reply { Kind::Request } else { Kind::Oneway };
    let header =
        Header { flow: own.flow, sequence: own.sequence, ..request(route, operation, deadline, kind) };
    if let Err(error) = send(&mut own.link, &header, &encode)? {
        route.server.suspend(&error);
        return Ok(Attempt::NotPossible);
    }
    if !wants_reply {
        // Dropping it gives the link back.
        drop(NativeReply { own: Some(own), kind: Kind::Reply });
        return Ok(Attempt::Sent);
    }
    crate::transport::server::before_waiting();
    wait(own, deadline)
}

/// The header of a request on a link yet unknown.
#[inline(always)]
pub(crate) fn request(
    route: &NativeRoute,
    operation: Operation,
    deadline: Option<Instant>,
    kind: Kind,
) -> Header {
    Header {
        slot: route.slot,
        nonce: route.nonce,
        operation: u16::try_from(operation.index).unwrap_or(u16::MAX),
        check: operation.check(),
        time_left: deadline.map_or(TimeLeft::FOREVER, |deadline| {
            TimeLeft::new(deadline.saturating_duration_since(Instant::now()))
        }),
        ..Header::new(kind)
    }
}

/// Marshals the request straight into memory that the fabric sends from.
#[inline]
fn send(
    link: &mut Link,
    header: &Header,
    encode: &impl Fn(&mut Writer<'_>) -> Result<(), EncodeError>,
) -> Result<Result<(), LinkError>, SystemException> {
    let room = match link.room() {
        Ok(room) => room,
        Err(error) => return Ok(Err(error)),
    };
    let mut overflow = OVERFLOW.take();
    let mut used = header.size();
    let written = header.write(room);
    debug_assert!(written.is_ok(), "registered buffers are larger than headers");
    let encoded = encode(&mut body_writer(Output::memory(room, &mut used, &mut overflow)));
    let sent = match encoded {
        Ok(()) if overflow.is_empty() => Ok(link.send(used)),
        Ok(()) => Ok(link.send_large(&overflow)),
        Err(error) => Err(error.into()),
    };
    overflow.clear();
    if overflow.capacity() > 0 && overflow.capacity() <= super::KEEP_OVERFLOW {
        OVERFLOW.set(overflow);
    }
    sent
}

#[inline]
fn wait(mut own: Box<Own>, deadline: Option<Instant>) -> Result<Attempt, SystemException> {
    loop {
        if let Err(error) = own.link.receive(deadline) {
            return own.server.lost(&error, own.link.has_part());
        }
        let kind = match Message::read(own.link.received()) {
            Ok(Message { header, .. }) if header.sequence != own.sequence => None,
            Ok(Message { header, .. }) if header.kind.is_reply() => Some(header.kind),
            Ok(_) => None,
            Err(error) => return Err(nonsense(&error.to_string())),
        };
        if let Some(kind) = kind {
            return Ok(Attempt::Answered(NativeReply { own: Some(own), kind }));
        }
    }
}

#[cold]
fn nonsense(why: &str) -> SystemException {
    SystemException::new(Exception::CommFailure, minor::PEER_TALKS_NONSENSE)
        .completed(Completion::Maybe)
        .detail(why.to_owned())
}
