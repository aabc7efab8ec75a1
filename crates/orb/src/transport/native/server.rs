//! The server's side of the native protocol: workers that poll the links of all clients, and run the servants.

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use throughline_cdr::Output;
use throughline_giop::{MessageHeader, NativeAddress};
use throughline_vi::Bell;
use throughline_wire::Flags;

use super::link::{Desk, Foresight, Link, LinkError, LinkOptions, Taken};
use super::listener::LinkListener;
use super::park::{Parking, Spin};
use super::roles::{Part, Roles, Term};
use crate::dispatch::Dispatcher;
use crate::lane_pool::Origin;
use crate::placement::Placed;
use crate::priority::{Priority, PriorityLimits};
use crate::transport::address::Address;
use crate::transport::reactor::lock;

/// Workers that wait while another one leads.
const SPARE: usize = 2;

/// So many messages of one link are served before others are looked at.
const TURN: usize = 32;

/// So many looks at the only line follow those of a turn.
const STAY: u32 = 256;

/// So many looks in vain, and the system is asked whether clients are gone.
const LOOKS_BEFORE_ASKING: u32 = 1 << 16;

/// What a server allows its clients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NativeLimits {
    pub(crate) max_links: usize,
    pub(crate) max_threads: usize,
    pub(crate) link: LinkOptions,
    pub(crate) priorities: PriorityLimits,
}

/// One client's link.
struct Line {
    link: Mutex<Link>,
    bell: Bell,
    /// The client's process, if it is on this machine.
    process: Option<u32>,
    /// Whose line it is.
    server: Weak<Shared>,
}

impl Line {
    /// Waits for a message for a moment, unless others need the link; whether there may be one. The first look is put off as a
    /// client's is.
    #[inline]
    fn stay(&self, link: &Link, foresight: &mut Foresight) -> bool {
        if link.has_errands() {
            return false;
        }
        foresight.pass();
        let found = (0..STAY).find(|_| self.bell.ready());
        foresight.learn(found);
        found.is_some()
    }

    /// The server stops while servants that this client called may still run: nobody will have their answers.
    fn abandon(&self) {
        if let Ok(mut link) = self.link.try_lock()
            && link.has_errands()
        {
            link.abort();
        }
    }
}

impl Origin for Line {
    fn carry_out(&self, _: Option<&MessageHeader>, message: &[u8], out: &mut Vec<u8>) {
        let Some(server) = self.server.upgrade() else { return };
        CALLER.set(self.process);
        server.handle(message, Output::vector(out));
        CALLER.set(None);
        let sent = lock(&self.link).hand_back(out);
        if let Err(error) = sent {
            server.end(self, &error);
        }
        // The leader may have found a message there and the link in use, and sleep: it saw the message before it tried the lock.
        fence(Ordering::SeqCst);
        if self.bell.ready() {
            server.nudge();
        }
    }

    fn is_over(&self) {
        if let Some(server) = self.server.upgrade() {
            server.in_lanes.fetch_sub(1, Ordering::Release);
        }
    }
}

/// What a worker works with.
struct Memory {
    desk: Desk,
    /// For answers that fit nowhere else.
    overflow: Vec<u8>,
    foresight: Foresight,
}

/// The lines in the order in which a leader looks at them.
struct Round {
    lines: Arc<[Arc<Line>]>,
    /// How far that is from their own order.
    start: usize,
    /// There is only one, and who leads may look at it for a while.
    lingers: bool,
}

/// What the workers share.
struct Shared {
    dispatcher: Arc<Dispatcher>,
    /// The most urgent that clients may be.
    limit: Priority,
    limits: NativeLimits,
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
    pub(crate) fn bind(address: &Address, published: Option<&str>) -> io::Result<Self> {
        let (listener, address) = match address {
            Address::Shm(name) => LinkListener::bind_shm(name)?,
            Address::Udp { host, port } => LinkListener::bind_udp(host, *port, published)?,
            _ => return Err(io::ErrorKind::Unsupported.into()),
        };
        Ok(Self { address, listener: Some(listener), running: None })
    }

    pub(crate) fn address(&self) -> &NativeAddress {
        &self.address
    }

    /// From now on clients are served.
    pub(crate) fn start(&mut self, dispatcher: &Arc<Dispatcher>, limits: NativeLimits) -> io::Result<()> {
        let Some(listener) = self.listener.take() else { return Ok(()) };
        let event = || eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let shared = Arc::new(Shared {
            dispatcher: Arc::clone(dispatcher),
            limit: match self.address {
                NativeAddress::Shm { .. } => limits.priorities.machine,
                NativeAddress::Udp { .. } => limits.priorities.network,
            },
            limits,
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

    /// Stops in order: requests under way are finished, within `grace`.
    pub(crate) fn stop(&mut self, grace: Duration) {
        let Some(Running { shared, accepting, stop }) = self.running.take() else { return };
        shared.stopping.store(true, Ordering::Release);
        ring(&stop);
        let _ = accepting.join();
        shared.roles.stop();
        shared.nudge();
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
        match listener.accept(shared.limits.link) {
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
    LEADING.with_borrow(|leading| {
        if let Some((shared, term)) = leading
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
    LEADING.with_borrow(Option::is_some)
}

fn work(shared: &Arc<Shared>) {
    crate::transport::server::WORKER.set(true);
    while let Part::Lead { term, needs_watcher } = shared.roles.wait(SPARE, shared.limits.max_threads) {
        if needs_watcher {
            start_another(shared);
        }
        LEADING.set(Some((Arc::clone(shared), term)));
        if let Err(error) = shared.lead(term) {
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
            link: Mutex::new(link),
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

    /// Looks at all links until the term is over.
    fn lead(&self, term: Term) -> io::Result<()> {
        let mut spin = Spin::new(self.limits.link.spin);
        let (mut seen, mut looks) = (0, 0_u32);
        let mut memory = Memory { desk: Desk::new(), overflow: Vec::new(), foresight: Foresight::default() };
        let mut parking = Parking::new(self.nudge.as_fd())?;
        let mut round = Round { lines: Arc::new([]), start: 0, lingers: false };
        while self.roles.lasts(term) {
            let changes = self.changes.load(Ordering::Acquire);
            if changes != seen {
                seen = changes;
                round = self.round();
                parking.watch(round.lines.iter().map(|line| &line.bell))?;
            }
            if self.look(&round, term, &mut memory) {
                spin.found();
                continue;
            }
            looks = looks.wrapping_add(1);
            if spin.is_over() {
                self.sleep(&parking, &round.lines, (seen, term))?;
                spin.slept();
            } else if looks.is_multiple_of(LOOKS_BEFORE_ASKING) {
                parking.look(round.lines.iter().map(|line| &line.bell))?;
            } else {
                spin.pause();
            }
        }
        Ok(())
    }

    #[cold]
    fn sleep(&self, parking: &Parking, lines: &[Arc<Line>], (seen, term): (u64, Term)) -> io::Result<()> {
        self.roles.sleep();
        let slept = parking.sleep(lines.iter().map(|line| &line.bell), || {
            self.changes.load(Ordering::Acquire) != seen
                || !self.roles.lasts(term)
                // A link whose servant still runs, with another worker, is that worker's.
                || lines.iter().any(|line| line.bell.ready() && line.link.try_lock().is_ok())
        });
        self.roles.wake();
        slept
    }

    /// Serves what is there; whether anything was.
    #[inline]
    fn look(&self, round: &Round, term: Term, memory: &mut Memory) -> bool {
        let mut found = false;
        for line in &*round.lines {
            if line.bell.ready() {
                found |= self.serve(line, term, memory, round.lingers);
                if !self.roles.lasts(term) {
                    self.go_on_behind(line, round);
                    break;
                }
            }
        }
        found
    }

    /// All lines, beginning with those that the last leader did not come to.
    #[cold]
    fn round(&self) -> Round {
        let lines = lock(&self.lines);
        let start = self.first.load(Ordering::Relaxed) % lines.len().max(1);
        let rotated = || lines.iter().cycle().skip(start).take(lines.len()).cloned().collect();
        Round {
            lines: if start == 0 { Arc::clone(&lines) } else { rotated() },
            start,
            lingers: lines.len() == 1 && !self.limits.link.spin.is_zero(),
        }
    }

    /// The lead was lost in a servant of this line: the next leader begins behind it. Otherwise a few lines whose servants
    /// take long would be all that is ever served.
    #[cold]
    fn go_on_behind(&self, line: &Arc<Line>, round: &Round) {
        let at = round.lines.iter().position(|other| Arc::ptr_eq(other, line)).unwrap_or(0);
        self.first.store(round.start + at + 1, Ordering::Relaxed);
    }

    /// Serves what this line has; whether it had anything. A worker that `lingers`, and whose client waits for each answer, stays
    /// for a moment, and finds the next request without all that comes before.
    fn serve(&self, line: &Arc<Line>, term: Term, memory: &mut Memory, mut lingers: bool) -> bool {
        let mut link = match line.link.try_lock() {
            Ok(link) => link,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Another worker is in a servant that this link called.
            Err(TryLockError::WouldBlock) => return false,
        };
        if self.dispatcher.has_lanes() {
            return self.serve_beside_lanes(line, link, term, &mut memory.overflow);
        }
        CALLER.set(line.process);
        for served in 0..TURN {
            let ran = match link.take_to(&mut memory.desk) {
                Taken::Alone => self.run_alone(link, term, memory),
                Taken::Shared => {
                    lingers = false;
                    self.run_from_desk(line, link, term, memory)
                }
                Taken::Nothing => match link.try_receive() {
                    Ok(true) => self.run_received(line, link, term, &mut memory.overflow),
                    Ok(false) if served > 0 && lingers && line.stay(&link, &mut memory.foresight) => continue,
                    Ok(false) => return served > 0,
                    Err(error) => Err(error),
                },
            };
            match ran {
                Ok(Some(guard)) => link = guard,
                Ok(None) => return true,
                Err(error) => return self.end(line, &error),
            }
        }
        true
    }

    /// As [`serve`](Self::serve), where some adapters serve in lanes.
    #[inline(never)]
    fn serve_beside_lanes<'l>(
        &self,
        line: &'l Arc<Line>,
        mut link: MutexGuard<'l, Link>,
        term: Term,
        overflow: &mut Vec<u8>,
    ) -> bool {
        CALLER.set(line.process);
        for served in 0..TURN {
            match link.try_receive() {
                Ok(true) => {}
                Ok(false) => return served > 0,
                Err(error) => return self.end(line, &error),
            }
            let origin = || {
                self.in_lanes.fetch_add(1, Ordering::Relaxed);
                Arc::clone(line) as Arc<dyn Origin>
            };
            let placed = match self.dispatcher.place_native(link.received(), self.limit, origin, overflow) {
                Placed::Here => self.run_received(line, link, term, overflow),
                Placed::Taken => {
                    link.lend();
                    Ok(Some(link))
                }
                Placed::Refused => {
                    link.lend();
                    link.hand_back(overflow).map(|()| Some(link))
                }
            };
            match placed {
                Ok(Some(guard)) => link = guard,
                Ok(None) => return true,
                Err(error) => return self.end(line, &error),
            }
        }
        true
    }

    /// Serves the request received last. Gives the link back if this worker still leads.
    #[inline(always)]
    fn run_received<'l>(
        &self,
        line: &'l Line,
        mut link: MutexGuard<'l, Link>,
        term: Term,
        overflow: &mut Vec<u8>,
    ) -> Result<Option<MutexGuard<'l, Link>>, LinkError> {
        // Whoever brings the answer to a message that was lent needs the link.
        let shared = Flags::peek(link.received()).has(Flags::CONCURRENT) || link.has_errands();
        if shared && link.can_check_out() {
            return self.run_errand(line, link, term, overflow);
        }
        self.roles.beat(term);
        let answered = link.answer(overflow, |request, output| self.handle(request, output));
        let leads = self.roles.beat(term);
        answered.map(|()| leads.then_some(link))
    }

    /// Serves a small request that lies on the worker's desk. Gives the link back if this worker still leads.
    #[inline(always)]
    fn run_alone<'l>(
        &self,
        mut link: MutexGuard<'l, Link>,
        term: Term,
        Memory { desk, overflow, .. }: &mut Memory,
    ) -> Result<Option<MutexGuard<'l, Link>>, LinkError> {
        self.roles.beat(term);
        desk.answer(overflow, |request, output| self.handle(request, output));
        link.send_from(desk, overflow)?;
        Ok(self.roles.beat(term).then_some(link))
    }

    /// As [`run_errand`](Self::run_errand), with a small request that lies on the worker's desk.
    #[inline]
    fn run_from_desk<'l>(
        &self,
        line: &'l Line,
        link: MutexGuard<'l, Link>,
        term: Term,
        memory: &mut Memory,
    ) -> Result<Option<MutexGuard<'l, Link>>, LinkError> {
        drop(link);
        let Memory { desk, overflow, .. } = memory;
        self.roles.beat(term);
        desk.answer(overflow, |request, output| self.handle(request, output));
        let leads = self.roles.beat(term);
        let mut link = lock(&line.link);
        link.send_from(desk, overflow)?;
        Ok(leads.then_some(link))
    }

    /// Serves a request whose sender may send others before it has the answer: a worker that takes the lead serves them.
    /// Gives the link back if this worker still leads.
    #[inline]
    fn run_errand<'l>(
        &self,
        line: &'l Line,
        mut link: MutexGuard<'l, Link>,
        term: Term,
        overflow: &mut Vec<u8>,
    ) -> Result<Option<MutexGuard<'l, Link>>, LinkError> {
        let mut errand = link.check_out()?;
        drop(link);
        self.roles.beat(term);
        errand.answer(overflow, |request, output| self.handle(request, output));
        let leads = self.roles.beat(term);
        let mut link = lock(&line.link);
        link.check_in(errand, overflow)?;
        Ok(leads.then_some(link))
    }

    #[inline]
    fn handle(&self, request: &[u8], output: Output<'_>) {
        self.dispatcher.handle_native(request, output, self.limit);
    }

    #[cold]
    fn end(&self, line: &Line, error: &LinkError) -> bool {
        tracing::debug!(%error, "a client of the native protocol is gone");
        self.dismiss(line);
        true
    }
}
