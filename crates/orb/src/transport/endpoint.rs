//! One server as its clients see it: an address, and the connections to it.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use throughline_cdr::CodeSets;

use crate::network::Network;
use crate::transport::address::Address;
use crate::transport::client::{ClientConnection, ClientLimits};
use crate::transport::reactor::{Reactor, lock};
use crate::transport::socket::Socket;

/// The connections to one address with one choice of code sets. Made when first needed, shared by all references
/// that lead there, replaced when they break.
#[derive(Debug)]
pub(crate) struct Endpoint {
    this: Weak<Self>,
    address: Address,
    code_sets: CodeSets,
    connections: Box<[ArcSwapOption<ClientConnection>]>,
    /// Whether somebody connects: callers who come at once share what one of them makes.
    connecting: (Mutex<bool>, Condvar),
    errands: Mutex<Errands>,
    /// The ORB makes no connections any more.
    closed: Arc<AtomicBool>,
    reactor: Weak<Reactor>,
    limits: Arc<ClientLimits>,
    network: Option<Arc<dyn Network>>,
}

/// What futures want to have done with a connection that is not there yet. One thread at a time does that, so that a server
/// that lets nobody in keeps no more than one.
#[derive(Default)]
struct Errands {
    waiting: VecDeque<Errand>,
    /// A thread is at it, or will be.
    attended: bool,
    /// The last one did not get there: those that wait need not all spend their time to find that out.
    in_vain: bool,
}

/// Is told whether the one before was in vain, and tells whether another will be.
type Errand = Box<dyn FnOnce(bool) -> bool + Send>;

impl std::fmt::Debug for Errands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} errands", self.waiting.len())
    }
}

impl Endpoint {
    /// The address of the server.
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// The connection of the calling thread, if it is there and usable.
    #[inline]
    pub(crate) fn connection(&self) -> Option<Arc<ClientConnection>> {
        self.usable(self.own_index())
    }

    /// Futures share the first connection: they may be polled by any thread, and stay in order.
    pub(crate) fn shared_connection(&self) -> Option<Arc<ClientConnection>> {
        self.usable(0)
    }

    fn usable(&self, index: usize) -> Option<Arc<ClientConnection>> {
        self.connections[index].load_full().filter(|c| c.is_usable())
    }

    fn own_index(&self) -> usize {
        if self.connections.len() == 1 { 0 } else { thread_number() % self.connections.len() }
    }

    /// The calling thread's connection, made now if need be, within `timeout`.
    ///
    /// # Errors
    /// Why the server cannot be connected to.
    pub(crate) fn connect(&self, timeout: Duration) -> io::Result<Arc<ClientConnection>> {
        self.connect_at(self.own_index(), timeout)
    }

    /// As [`connect`](Self::connect), for futures.
    pub(crate) fn connect_shared(&self, timeout: Duration) -> io::Result<Arc<ClientConnection>> {
        self.connect_at(0, timeout)
    }

    fn connect_at(&self, index: usize, timeout: Duration) -> io::Result<Arc<ClientConnection>> {
        if let Some(connection) = self.usable(index) {
            return Ok(connection);
        }
        let started = Instant::now();
        let _one_at_a_time = self.turn(timeout)?;
        if let Some(connection) = self.usable(index) {
            return Ok(connection);
        }
        let left = timeout.checked_sub(started.elapsed()).ok_or(io::ErrorKind::TimedOut)?;
        let reactor = self.reactor.upgrade().ok_or(io::ErrorKind::ConnectionAborted)?;
        let socket = Socket::new(self.address.connect_by(self.network.as_deref(), left)?)?;
        if let Some(after) = self.limits.keep_alive {
            socket.keep_alive(after);
        }
        tracing::debug!(address = %self.address, "connected");
        let connection = ClientConnection::new(socket, &reactor, Arc::clone(&self.limits), self.code_sets);
        self.connections[index].store(Some(Arc::clone(&connection)));
        // Who closes all says so before he looks for them.
        if self.closed.load(Ordering::SeqCst) {
            self.close();
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        reactor.keeper.watch_age(Weak::clone(&self.this));
        Ok(connection)
    }

    /// Has a thread do what needs a connection, after those who asked before. Dropped if there will be none any more.
    pub(crate) fn send_out(self: &Arc<Self>, errand: Errand) {
        let mut errands = lock(&self.errands);
        errands.waiting.push_back(errand);
        if !std::mem::replace(&mut errands.attended, true) {
            drop(errands);
            self.attend();
        }
    }

    fn attend(self: &Arc<Self>) {
        let attendance = Attendance { endpoint: Arc::clone(self), came: false };
        if let Some(reactor) = self.reactor.upgrade() {
            reactor.connect_apart(Box::new(move || attendance.run_errands()));
        }
    }

    /// Those who wait are told that nobody comes.
    fn drop_errands(&self) {
        let waiting = std::mem::take(&mut lock(&self.errands).waiting);
        drop(waiting);
    }

    /// The caller's turn to connect. Its own time counts, not that of whoever connects before.
    fn turn(&self, timeout: Duration) -> io::Result<Turn<'_>> {
        let (connecting, changed) = &self.connecting;
        let (mut connecting, _) = changed
            .wait_timeout_while(lock(connecting), timeout, |connecting| *connecting)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if *connecting {
            return Err(io::ErrorKind::TimedOut.into());
        }
        *connecting = true;
        Ok(Turn(self))
    }

    /// Ends connections that have been idle for too long, and lets go of what has ended; false when none is left.
    pub(crate) fn close_idle(&self) -> bool {
        let mut some = false;
        for place in &self.connections {
            let connection = place.load_full();
            if connection.as_ref().is_some_and(|connection| connection.close_if_idle()) {
                // Unless there is another one by now.
                place.compare_and_swap(&connection, None);
            } else {
                some |= connection.is_some();
            }
        }
        some
    }

    /// Ends every connection.
    pub(crate) fn close(&self) {
        use crate::transport::reactor::Source;
        self.drop_errands();
        for connection in self.connections.iter().filter_map(|c| c.swap(None)) {
            connection.close();
        }
    }
}

/// Ends when the connection is made, or cannot be made.
struct Turn<'e>(&'e Endpoint);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let (connecting, changed) = &self.0.connecting;
        *lock(connecting) = false;
        changed.notify_one();
    }
}

/// A thread's turn to run errands until none waits.
struct Attendance {
    endpoint: Arc<Endpoint>,
    came: bool,
}

impl Attendance {
    fn run_errands(mut self) {
        self.came = true;
        // When there will be no threads any more, what waits is dropped.
        while self.run_errand() && self.endpoint.reactor.upgrade().is_some_and(|r| !r.is_stopping()) {}
    }

    /// Whether there was one.
    fn run_errand(&self) -> bool {
        let (errand, in_vain) = {
            let mut errands = lock(&self.endpoint.errands);
            (errands.waiting.pop_front(), errands.in_vain)
        };
        let Some(errand) = errand else { return false };
        let in_vain = errand(in_vain);
        lock(&self.endpoint.errands).in_vain = in_vain;
        true
    }
}

impl Drop for Attendance {
    /// Another thread comes to what is left, also after a panic of somebody's waker.
    fn drop(&mut self) {
        let mut errands = lock(&self.endpoint.errands);
        errands.attended = self.came && !errands.waiting.is_empty();
        errands.in_vain &= errands.attended;
        // Nobody else will come either.
        let given_up = if self.came { VecDeque::new() } else { std::mem::take(&mut errands.waiting) };
        let more = errands.attended;
        drop(errands);
        drop(given_up);
        if more {
            self.endpoint.attend();
        }
    }
}

/// A small number for the calling thread, the same throughout its life.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|n| *n)
}

/// All servers that an ORB has references to.
#[derive(Debug)]
pub(crate) struct Endpoints {
    /// Kept although no reference leads there any more: the next one finds the connection open.
    known: Mutex<Known>,
    reactor: Weak<Reactor>,
    limits: Arc<ClientLimits>,
    /// Connections to each server: one keeps all calls in order, several serve many blocking threads better.
    connections: usize,
    closed: Arc<AtomicBool>,
    network: Option<Arc<dyn Network>>,
}

#[derive(Debug, Default)]
struct Known {
    endpoints: HashMap<(Address, CodeSets), Arc<Endpoint>>,
    /// With this many the unused ones are looked for: rarely enough that a stranger who sends many references
    /// does not pay for each with a look at all.
    prune_at: usize,
}

/// Endpoints known before unused ones are looked for.
const FEW_ENDPOINTS: usize = 16;

impl Known {
    fn prune(&mut self) {
        if self.endpoints.len() >= self.prune_at {
            self.endpoints.retain(|_, endpoint| endpoint.close_idle() || Arc::strong_count(endpoint) > 1);
            self.prune_at = (2 * self.endpoints.len()).max(FEW_ENDPOINTS);
        }
    }
}

impl Endpoints {
    pub(crate) fn new(
        reactor: &Arc<Reactor>,
        limits: ClientLimits,
        connections: usize,
        network: Option<Arc<dyn Network>>,
    ) -> Self {
        Self {
            known: Mutex::default(),
            reactor: Arc::downgrade(reactor),
            limits: Arc::new(limits),
            connections: connections.max(1),
            closed: Arc::default(),
            network,
        }
    }

    /// The endpoint at an address; the same for all who ask while one of them holds it.
    pub(crate) fn at(&self, address: &Address, code_sets: CodeSets) -> Arc<Endpoint> {
        let mut known = lock(&self.known);
        let key = (address.clone(), code_sets);
        if let Some(endpoint) = known.endpoints.get(&key) {
            return Arc::clone(endpoint);
        }
        known.prune();
        let endpoint = Arc::new_cyclic(|this| Endpoint {
            this: Weak::clone(this),
            address: address.clone(),
            code_sets,
            connections: (0..self.connections).map(|_| ArcSwapOption::empty()).collect(),
            connecting: Default::default(),
            errands: Mutex::default(),
            closed: Arc::clone(&self.closed),
            reactor: self.reactor.clone(),
            limits: Arc::clone(&self.limits),
            network: self.network.clone(),
        });
        known.endpoints.insert(key, Arc::clone(&endpoint));
        endpoint
    }

    /// Ends every connection to every server, and those that are being made.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let all: Vec<_> = lock(&self.known).endpoints.drain().map(|(_, endpoint)| endpoint).collect();
        all.iter().for_each(|endpoint| endpoint.close());
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.close();
    }
}
