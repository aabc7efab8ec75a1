//! The server's side of the native protocol: workers that poll the links of all clients, and run the servants.

mod leader;
mod line;
mod serve;

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use throughline_giop::NativeAddress;
use throughline_vi::{Exclusive, LocalNetwork};

use self::leader::Leading;
use self::line::Line;
use super::link::{Crowd, Link, LinkError, LinkOptions};
use super::listener::LinkListener;
use super::roles::{Part, Roles, Term};
use crate::dispatch::Dispatcher;
use crate::orb::PATIENCE;
use crate::priority::{Priority, PriorityLimits};
use crate::transport::address::Address;
use crate::transport::reactor::lock;

/// Workers that wait while another one leads.
const SPARE: usize = 2;

/// What a server allows its clients.
#[derive(Clone, Debug)]
pub(crate) struct NativeLimits {
    pub(crate) max_links: usize,
    pub(crate) max_threads: usize,
    pub(crate) link: LinkOptions,
    pub(crate) priorities: PriorityLimits,
    /// A client that takes no answers loses its link after this, or sooner where others need the workers that wait for it.
    pub(crate) stall_timeout: Duration,
}

/// What the workers share.
struct Shared {
    dispatcher: Arc<Dispatcher>,
    /// The most urgent that clients may be.
    limit: Priority,
    limits: NativeLimits,
    /// Workers, and threads of lanes, that wait for clients.
    crowd: Arc<Crowd>,
    roles: Roles,
    lines: Mutex<Arc<[Arc<Line>]>>,
    /// The line that the next leader looks at first.
    first: AtomicUsize,
    /// Counts changes of `lines`.
    changes: AtomicU64,
    /// Requests that lanes have.
    in_lanes: AtomicUsize,
    /// Wakes the leader for what no link tells.
    nudge: OwnedFd,
    stopping: AtomicBool,
}

/// Listens for clients, and serves them once started.
pub(crate) struct NativeListener {
    address: NativeAddress,
    /// Until it is started.
    listener: Option<LinkListener>,
    running: Option<Running>,
}

struct Running {
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
    /// Ends the accepting thread.
    stop: OwnedFd,
}

impl NativeListener {
    /// Clients are told the host that is `published`, if one is.
    pub(crate) fn bind(
        address: &Address,
        published: Option<&str>,
        datagrams: Option<&LocalNetwork>,
    ) -> io::Result<Self> {
        let (listener, address) = match (address, datagrams) {
            (Address::Shm(name), _) => LinkListener::bind_shm(name)?,
            (Address::Udp { host, port }, None) => LinkListener::bind_udp(host, *port, published)?,
            (Address::Udp { host, port }, Some(network)) => {
                LinkListener::bind_local(network, host, *port, published)?
            }
            _ => return Err(io::ErrorKind::Unsupported.into()),
        };
        Ok(Self { address, listener: Some(listener), running: None })
    }

    pub(crate) fn address(&self) -> &NativeAddress {
        &self.address
    }

    /// From now on clients are served.
    pub(crate) fn start(&mut self, dispatcher: &Arc<Dispatcher>, mut limits: NativeLimits) -> io::Result<()> {
        let Some(listener) = self.listener.take() else { return Ok(()) };
        let crowd = Arc::new(Crowd::new(limits.stall_timeout, limits.max_threads / 2));
        limits.link.crowd = Some(Arc::clone(&crowd));
        let event = || eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let shared = Arc::new(Shared {
            dispatcher: Arc::clone(dispatcher),
            limit: match self.address {
                NativeAddress::Shm { .. } => limits.priorities.machine,
                NativeAddress::Udp { .. } => limits.priorities.network,
            },
            limits,
            crowd,
            roles: Roles::new(),
            lines: Mutex::new(Arc::new([])),
            first: AtomicUsize::new(0),
            changes: AtomicU64::new(1),
            in_lanes: AtomicUsize::new(0),
            nudge: event()?,
            stopping: AtomicBool::new(false),
        });
        start_worker(&shared)?;
        let stop = event()?;
        let (served, stopped) = (Arc::clone(&shared), stop.try_clone()?);
        let accept = move || accept_all(listener, &served, &stopped);
        let accepting = std::thread::Builder::new().name("throughline-accept".to_owned()).spawn(accept)?;
        self.running = Some(Running { shared, accepting, stop });
        Ok(())
    }

    /// Lets no further request begin.
    pub(crate) fn begin_to_stop(&self) {
        let Some(Running { shared, stop, .. }) = &self.running else { return };
        shared.stopping.store(true, Ordering::Release);
        ring(stop);
        shared.roles.stop();
        shared.nudge();
    }

    /// Stops in order: requests under way are finished, within `grace`, or the time that idle workers have to notice.
    pub(crate) fn stop(&mut self, grace: Duration) {
        self.begin_to_stop();
        let Some(Running { shared, accepting, .. }) = self.running.take() else { return };
        let _ = accepting.join();
        // Those that only wait have the time to notice; but who is dropped by a servant would wait for that one.
        let grace = if in_worker() { grace } else { grace.max(PATIENCE) };
        let started = Instant::now();
        let mut ended = shared.roles.wait_for_end(grace);
        while shared.in_lanes.load(Ordering::Acquire) > 0 && ended {
            std::thread::sleep(Duration::from_millis(1));
            ended = started.elapsed() < grace;
        }
        if !ended {
            tracing::warn!("a servant called by the native protocol takes longer than the shutdown may");
        }
        let lines = std::mem::replace(&mut *lock(&shared.lines), Arc::new([]));
        lines.iter().for_each(|line| line.abandon());
    }
}

impl Drop for NativeListener {
    fn drop(&mut self) {
        self.stop(Duration::ZERO);
    }
}

fn ring(event: &OwnedFd) {
    // Full only when it is readable anyway.
    let _ = rustix::io::write(event, &1_u64.to_ne_bytes());
}

fn accept_all(mut listener: LinkListener, shared: &Arc<Shared>, stop: &OwnedFd) {
    loop {
        let waited =
            poll(&mut [PollFd::new(&listener, PollFlags::IN), PollFd::new(stop, PollFlags::IN)], None);
        if shared.stopping.load(Ordering::Acquire) {
            return;
        }
        if matches!(waited, Err(error) if error != rustix::io::Errno::INTR) {
            std::thread::sleep(Duration::from_millis(10));
        }
        match listener.accept(&shared.limits.link) {
            Ok(Some(link)) => shared.admit(link),
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "a client of the native protocol was not admitted");
                // Whatever is scarce is so for a while.
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

fn start_worker(shared: &Arc<Shared>) -> io::Result<()> {
    let worker = Arc::clone(shared);
    let started =
        std::thread::Builder::new().name("throughline-native".to_owned()).spawn(move || work(&worker));
    started.map(drop)
}

fn start_another(shared: &Arc<Shared>) {
    if let Err(error) = start_worker(shared) {
        tracing::warn!(%error, "no thread for the native protocol");
        shared.roles.not_started();
    }
}

thread_local! {
    /// The process that the servant on this thread, if one runs, was called by.
    static CALLER: Cell<Option<u32>> = const { Cell::new(None) };
    /// The server whose worker this thread is, and the last term in which it led.
    static LEADING: RefCell<Option<(Arc<Shared>, Term)>> = const { RefCell::new(None) };
}

/// A servant is about to wait for another object: somebody else must look at the links meanwhile.
pub(crate) fn before_waiting() {
    // Fails only while the thread is ending, when it leads no more.
    let _ = LEADING.try_with(|leading| {
        if let Some((shared, term)) = &*leading.borrow()
            && shared.roles.give_up(*term, shared.limits.max_threads)
        {
            start_another(shared);
        }
    });
}

/// The process that has called the servant on this thread, if that is known.
pub(crate) fn caller() -> Option<u32> {
    CALLER.get()
}

/// Whether the calling thread is a worker that runs a servant.
pub(crate) fn in_worker() -> bool {
    LEADING.try_with(|leading| leading.borrow().is_some()).unwrap_or(false)
}

fn work(shared: &Arc<Shared>) {
    crate::transport::server::WORKER.set(true);
    // Before it is needed in a hurry. If it fails, whatever is scarce may not be so when this worker leads.
    let mut kept = shared.prepare_to_lead().ok();
    while let Part::Lead { term, needs_watcher } = shared.roles.wait(SPARE, shared.limits.max_threads) {
        if needs_watcher {
            start_another(shared);
        }
        LEADING.set(Some((Arc::clone(shared), term)));
        if let Err(error) = lead(shared, term, &mut kept) {
            tracing::error!(%error, "the native protocol's workers cannot wait");
            shared.roles.give_up(term, 0);
            // Whatever is scarce is so for a while.
            std::thread::sleep(Duration::from_millis(10));
        }
        LEADING.set(None);
        // Links whose turn was interrupted by the loss of the lead are looked at again.
        shared.nudge();
    }
}

/// Leads with what was kept from the last term.
fn lead<'s>(shared: &'s Shared, term: Term, kept: &mut Option<Leading<'s>>) -> io::Result<()> {
    let leading = match kept {
        Some(leading) => leading,
        None => kept.insert(shared.prepare_to_lead()?),
    };
    shared.lead(term, leading)
}

impl Shared {
    fn nudge(&self) {
        ring(&self.nudge);
    }

    fn admit(self: &Arc<Self>, link: Link) {
        let mut lines = lock(&self.lines);
        if lines.len() >= self.limits.max_links {
            tracing::warn!(
                limit = self.limits.max_links,
                "a client of the native protocol is refused: too many"
            );
            return;
        }
        let Some(bell) = link.bell() else { return };
        let line = Arc::new(Line {
            bell,
            process: link.process(),
            server: Arc::downgrade(self),
            link: Exclusive::new(link),
        });
        *lines = lines.iter().cloned().chain([line]).collect();
        drop(lines);
        self.changes.fetch_add(1, Ordering::Release);
        self.nudge();
    }

    #[cold]
    fn dismiss(&self, line: &Line) {
        let mut lines = lock(&self.lines);
        *lines = lines.iter().filter(|other| !std::ptr::eq(&***other, line)).cloned().collect();
        drop(lines);
        self.changes.fetch_add(1, Ordering::Release);
    }

    #[cold]
    fn end(&self, line: &Line, error: &LinkError) -> bool {
        tracing::debug!(%error, "a client of the native protocol is gone");
        self.dismiss(line);
        true
    }
}
