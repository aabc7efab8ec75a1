//! The ORB: configuration, the root of the adapters, references from text, and the life of it all.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use throughline_demux::Handle;
use throughline_demux::shared::{AnyLocator, DynamicHash, Strategy};
use throughline_giop::codeset::CodeSetComponentInfo;
use throughline_giop::component::{Address as Published, orb_type};
use throughline_giop::profile::IiopProfile;
use throughline_giop::{Ior, NativeAddress, NativeProfile, Version};
use throughline_vi::{LocalNetwork, TrustedPeers};

use crate::adapter::{Adapter, AdapterConfig, AdapterError};
use crate::clients::Clients;
use crate::dispatch::{Dispatcher, Session};
use crate::ending::{Bringing, Ending, Waiter};
use crate::exception::SystemException;
use crate::initial::InitialReferences;
use crate::lane_pool::Pool;
use crate::lanes::{LaneConfig, Lanes, LanesError};
use crate::network::Network;
use crate::object_table::{ActiveObject, ObjectTable};
use crate::priority::{Priority, PriorityCounts, PriorityLimits};
use crate::reference::ObjectRef;
use crate::transport::address::Address;
use crate::transport::client::ClientLimits;
use crate::transport::endpoint::Endpoints;
use crate::transport::listener::Listener;
use crate::transport::native::Natives;
use crate::transport::native::link::LinkOptions;
use crate::transport::native::server::{NativeLimits, NativeListener};
use crate::transport::reactor::{Reactor, ReactorLimits, lock};
use crate::transport::server::{Accepted, ServerLimits};
use crate::transport::socket::Wait;

/// This ORB's number in the component that names the maker: `TL`. Not registered with the OMG.
const ORB_TYPE: u32 = 0x544c_0000;

/// Adapters in one ORB.
const MAX_ADAPTERS: u32 = 1 << 16;
/// Listeners and connections, of both kinds, in one ORB.
const MAX_SOURCES: u32 = 1 << 20;

/// Everything that can be configured, with its default.
#[derive(Clone, Debug)]
pub struct OrbConfig {
    /// Where to listen; none for a pure client.
    pub listen: Vec<Address>,
    /// The host name or address that references give for TCP addresses. By default the address listened at, or
    /// this machine's name when that is all of its addresses.
    pub publish_host: Option<String>,
    /// How the root adapter works; stable keys by `dynamic-hash`, so that `corbaloc:` has plain names to offer.
    pub root: AdapterConfig,
    /// The highest GIOP version spoken and published.
    pub max_version: Version,
    /// How callers and workers wait on connections in use.
    pub wait: Wait,
    /// Whether calls go by the native protocol where references offer it and it works. Without it all go by IIOP.
    pub native: bool,
    /// How long callers and servers of the native protocol look for a message before they sleep. Waking a thread on another
    /// core takes tens of microseconds, so looking for as long costs no more than twice what is best; where it is in vain time
    /// and again it is left out by itself. Zero sleeps at once; an hour polls, at the price of a core.
    pub native_spin: Duration,
    /// Whether processes on this machine that call, or are called, by shared memory are trusted to leave messages alone
    /// that they have sent. Then long ones (more than 2 KiB) are not copied before they are read: a servant finds a parameter
    /// `in sequence<octet>`, or of numbers, as a slice of the caller's memory, and other long values are copied once, from there
    /// to where they belong. Without it they are first copied out of reach, and what a peer does to its memory can do no
    /// harm. All of them belong to this process's user in any case.
    ///
    /// If both sides trust each other, requests of more than 128 octets are lent to the server, which may write to the client's
    /// memory as long as it has them. A servant then changes an `inout` sequence of numbers there ([`InOut`](crate::InOut)), if it is
    /// the last argument and the only result, and nothing of it is copied but by the client, from its value and back.
    pub trusted_peers: Option<TrustedPeers>,
    /// How long a call may take; none for ever, of which connecting takes 30 s at most, and as long each time that the call is
    /// forwarded, or goes back once from where nobody is. References can have [their own](ObjectRef::with_timeout).
    pub call_timeout: Option<Duration>,
    /// A connection on which nothing happens for this long is closed; the next call opens another.
    pub idle_timeout: Option<Duration>,
    /// How long nothing may come on a TCP connection, in either role, before the other machine is asked whether it is still there. If
    /// it does not answer for as long again, a minute in all unless configured, the connection has ended, and with it the calls that
    /// wait for replies: they would wait for ever, without a limit of their own, for a machine that has lost its power. One that
    /// answers may take as long as it likes with a call. With none nobody is asked. In whole seconds, at least one. What is sent to a
    /// machine that is gone already is sent again for as long as the system is configured to (`tcp_retries2`, about a quarter of an
    /// hour as a rule).
    pub keep_alive: Option<Duration>,
    /// A client that stops in the middle of a message, or does not read its replies, loses its connection after this.
    pub stall_timeout: Duration,
    /// How long a worker stays with a silent connection before it gives it back to the common set.
    pub linger: Duration,
    /// The largest message, in bytes, accepted from a peer.
    pub max_message: usize,
    /// Connections accepted at a time. One more is closed in order (`CloseConnection`): its client knows that nothing was begun, tries
    /// the reference's other addresses, and ends the call with `TRANSIENT`, not completed, if there is none.
    pub max_connections: usize,
    /// Bytes of messages whose ends have not come yet that all connections accepted keep together; one of
    /// [`max_message`](Self::max_message) in any case. Whoever sends more loses its connection, since many clients that each
    /// begin a large message, and go on with it slowly, would have all memory otherwise. While more than half of it is kept,
    /// whoever takes longer with a message than [`stall_timeout`](Self::stall_timeout) loses its connection, so that
    /// there is room for others again.
    pub max_unfinished: usize,
    /// Worker threads. Servants that block take one each.
    pub max_threads: usize,
    /// Workers that may stay with connections in use.
    pub max_lingering: usize,
    /// Objects active at a time. Address space for all of them is reserved at the start, 32 bytes each; memory is used
    /// as objects are activated. Limits on a process's address space (`ulimit -v`) count what is reserved, and so does
    /// a system that promises no more memory than it has (`vm.overcommit_memory=2`): fewer take less there. 16 million
    /// unless configured, and one million where addresses have 32 bits.
    pub max_objects: u32,
    /// Connections to each server. One keeps all calls of the process in order; with more, each calling thread
    /// keeps to one of them, which is faster for many blocking threads.
    pub connections_per_server: usize,
    /// Calls under way at a time on one connection.
    pub max_outstanding: usize,
    /// Whether servers are told (by `CancelRequest`) that a call was given up, because its time was over or its future
    /// dropped. Most servers do nothing with it, and omniORB 4.2 ceases to serve once it has got one: so not by default.
    pub cancel_requests: bool,
    /// Well-known references: a name, and a reference in any textual form.
    pub initial_references: Vec<(String, String)>,
    /// The most urgent that clients may be. By default as urgent as they say.
    pub priority_limits: PriorityLimits,
    /// Where TCP connections come from that are not the system's; what it does not lead to is the system's still.
    pub network: Option<Arc<dyn Network>>,
    /// What carries datagrams in place of the system's UDP: a network within this process that loses, doubles, damages and
    /// reorders them as it was made to. Hosts and ports of `udp:` addresses are then names in it. To try out what programs do
    /// when the real one does so; servers and clients need the same.
    ///
    /// ```
    /// # use std::time::Duration;
    /// use throughline::{Faults, LocalNetwork, Orb, OrbConfig};
    ///
    /// let faults = Faults { seed: 1, loss: 0.1, duplication: 0.1, reordering: 0.1, ..Faults::NONE };
    /// let network = LocalNetwork::new(faults);
    /// let with = |listen| OrbConfig { listen, datagrams: Some(network.clone()), ..OrbConfig::default() };
    /// let server = Orb::start(with(vec!["udp://bank:2809".parse()?]))?;
    /// let client = Orb::start(with(Vec::new()))?;
    /// assert_eq!(server.addresses()[0].to_string(), "udp://bank:2809");
    /// // ... calls from `client` to objects of `server`, and nobody hears them any more after this:
    /// network.cut("bank:2809");
    /// # server.shutdown(Duration::ZERO);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub datagrams: Option<LocalNetwork>,
}

impl Default for OrbConfig {
    fn default() -> Self {
        Self {
            listen: Vec::new(),
            publish_host: None,
            root: AdapterConfig {
                objects: Strategy::DynamicHash,
                operations: Strategy::Active,
                stable_keys: true,
            },
            max_version: Version::V1_2,
            wait: Wait::Block,
            native: true,
            native_spin: Duration::from_micros(50),
            trusted_peers: None,
            call_timeout: None,
            idle_timeout: Some(Duration::from_secs(180)),
            keep_alive: Some(Duration::from_secs(30)),
            stall_timeout: Duration::from_secs(30),
            linger: Duration::from_millis(50),
            max_message: 64 * 1024 * 1024,
            max_connections: 16_384,
            max_unfinished: 1024 * 1024 * 1024,
            max_threads: 256,
            max_lingering: 64,
            max_objects: if usize::BITS < 64 { 1 << 20 } else { 1 << 24 },
            connections_per_server: 1,
            max_outstanding: 65_536,
            cancel_requests: false,
            initial_references: Vec::new(),
            priority_limits: PriorityLimits::default(),
            network: None,
            datagrams: None,
        }
    }
}

/// Why an ORB could not be started.
#[derive(Debug, thiserror::Error)]
pub enum OrbError {
    /// An address could not be listened at.
    #[error("cannot listen at {address}: {error}")]
    Listen {
        /// The address as configured.
        address: Address,
        /// What the system says.
        error: io::Error,
    },
    /// The system refused something else.
    #[error("cannot start the ORB: {0}")]
    System(#[from] io::Error),
    /// There is no address space for so many objects.
    #[error("cannot reserve address space for {max_objects} objects, the configured `max_objects`: {error}")]
    Objects {
        /// As configured.
        max_objects: u32,
        /// Why not.
        error: throughline_demux::ConfigError,
    },
    /// The root adapter's configuration does not fit together.
    #[error("the root adapter cannot be made: {0}")]
    Root(#[from] AdapterError),
}

/// An object request broker: it serves the objects of its adapters and calls the objects of others. Cheap to clone;
/// all clones are the same ORB.
///
/// A pure client needs no thread but the caller's. A server's threads are its own: it runs the same under a plain
/// `main` and inside an async runtime.
#[derive(Clone)]
pub struct Orb(Arc<Inner>);

/// A reference to an ORB that does not keep it alive.
#[derive(Clone, Debug, Default)]
pub(crate) struct WeakOrb(Weak<Inner>);

struct Inner {
    config: OrbConfig,
    table: Arc<ObjectTable>,
    dispatcher: OnceLock<Arc<Dispatcher>>,
    reactor: Arc<Reactor>,
    endpoints: Endpoints,
    /// What references to own objects say, in the order of preference.
    published: Vec<Published>,
    /// Where the native protocol reaches this ORB, in the order of preference.
    published_native: Vec<NativeAddress>,
    natives: Natives,
    clients: Clients,
    native_listeners: Mutex<Vec<NativeListener>>,
    root: OnceLock<Adapter>,
    listeners: Mutex<Vec<Arc<Listener>>>,
    accepted: Arc<Accepted>,
    /// The files of its Unix-domain sockets, and which they were.
    unix_files: Vec<(PathBuf, Option<FileId>)>,
    initial: InitialReferences,
    lanes: Mutex<Vec<Lanes>>,
    down: AtomicBool,
    ending: Ending,
}

impl Orb {
    /// An ORB with the defaults: a pure client.
    ///
    /// # Errors
    /// [`OrbError::System`] when the process has no descriptor left.
    pub fn client() -> Result<Self, OrbError> {
        Self::start(OrbConfig::default())
    }

    /// An ORB that listens at the given addresses, otherwise with the defaults.
    ///
    /// # Errors
    /// [`OrbError`].
    pub fn listening_at(addresses: &[Address]) -> Result<Self, OrbError> {
        Self::start(OrbConfig { listen: addresses.to_vec(), ..OrbConfig::default() })
    }

    /// An ORB as configured. Requests are answered from now on, objects may be activated before or after.
    ///
    /// # Errors
    /// [`OrbError`].
    pub fn start(config: OrbConfig) -> Result<Self, OrbError> {
        let reactor = Reactor::new(ReactorLimits {
            threads: config.max_threads.max(2),
            lingering: config.max_lingering.min(config.max_threads.saturating_sub(1)),
            sources: MAX_SOURCES,
        })?;
        let table = Arc::new(ObjectTable {
            objects: crate::random::arena(config.max_objects)
                .map_err(|error| OrbError::Objects { max_objects: config.max_objects, error })?,
            adapters: crate::random::arena(MAX_ADAPTERS).map_err(io::Error::other)?,
            stable: AnyLocator::DynamicHash(DynamicHash::with_capacity_limit(
                usize::MAX,
                crate::random::seed(),
            )),
        });
        let mut bound = Vec::new();
        let (shared, streams): (Vec<_>, Vec<_>) =
            config.listen.iter().partition(|address| address.is_native());
        for address in streams {
            let error = |error| OrbError::Listen { address: address.clone(), error };
            let listening = address.listen_by(config.network.as_deref());
            bound.push(listening.map_err(error).inspect_err(|_| unlink(&bound))?);
        }
        let mut natives = Vec::new();
        for address in shared {
            let error = |error| OrbError::Listen { address: address.clone(), error };
            let published = config.publish_host.as_deref();
            let bind = NativeListener::bind(address, published, config.datagrams.as_ref());
            natives.push(bind.map_err(error).inspect_err(|_| unlink(&bound))?);
        }
        let addresses: Vec<Address> = bound.iter().map(|(_, address)| address.clone()).collect();
        let limits = ClientLimits {
            max_message: config.max_message,
            max_calls: config.max_outstanding,
            wait: config.wait,
            idle_timeout: config.idle_timeout,
            keep_alive: config.keep_alive,
            linger: config.linger,
            cancel_requests: config.cancel_requests,
        };
        let orb = Self(Arc::new(Inner {
            endpoints: Endpoints::new(
                &reactor,
                limits,
                config.connections_per_server,
                config.network.clone(),
            ),
            published_native: natives.iter().map(|listener| listener.address().clone()).collect(),
            natives: Natives::default(),
            clients: Clients::default(),
            native_listeners: Mutex::default(),
            published: addresses
                .iter()
                .filter_map(|a| published(a, config.publish_host.as_deref()))
                .collect(),
            initial: InitialReferences::new(&config.initial_references),
            unix_files: addresses
                .iter()
                .filter_map(unix_path)
                .map(|path| (path.clone(), file_id(&path)))
                .collect(),
            config,
            table: Arc::clone(&table),
            dispatcher: OnceLock::new(),
            reactor,
            root: OnceLock::new(),
            listeners: Mutex::default(),
            accepted: Arc::default(),
            lanes: Mutex::default(),
            down: AtomicBool::new(false),
            ending: Ending::default(),
        }));
        let dispatcher = Arc::new(Dispatcher::new(table, orb.downgrade()));
        let _ = orb.0.dispatcher.set(Arc::clone(&dispatcher));
        let _ = orb.0.root.set(Adapter::root(&orb, orb.0.config.root)?.in_tree());
        orb.listen(bound, &dispatcher)?;
        let limits = NativeLimits {
            max_links: orb.0.config.max_connections,
            max_threads: orb.0.config.max_threads.max(2),
            link: orb.link_options(),
            priorities: orb.0.config.priority_limits,
            stall_timeout: orb.0.config.stall_timeout,
        };
        for mut listener in natives {
            listener.start(&dispatcher, limits.clone())?;
            lock(&orb.0.native_listeners).push(listener);
        }
        Ok(orb)
    }

    fn listen(
        &self,
        bound: Vec<(std::os::fd::OwnedFd, Address)>,
        dispatcher: &Arc<Dispatcher>,
    ) -> Result<(), OrbError> {
        let config = &self.0.config;
        let limits = Arc::new(ServerLimits {
            max_message: config.max_message,
            max_connections: config.max_connections,
            max_unfinished: config.max_unfinished.max(config.max_message),
            wait: config.wait,
            linger: config.linger,
            idle_timeout: config.idle_timeout,
            keep_alive: config.keep_alive,
            stall_timeout: config.stall_timeout,
        });
        for (fd, address) in bound {
            let (dispatcher, limits) = (Arc::clone(dispatcher), Arc::clone(&limits));
            let accepted = Arc::clone(&self.0.accepted);
            let PriorityLimits { network, machine } = config.priority_limits;
            let limit = if matches!(address, Address::Unix(_)) { machine } else { network };
            let listener = Listener::start((fd, limit), &self.0.reactor, dispatcher, limits, accepted)?;
            lock(&self.0.listeners).push(listener);
            tracing::info!(%address, "listening");
        }
        Ok(())
    }

    /// The root of the tree of adapters.
    pub fn root(&self) -> &Adapter {
        // Set before `start` returns; nobody has the ORB before that.
        self.0.root.get().expect("an ORB has a root adapter from its start")
    }

    /// What was configured.
    pub fn config(&self) -> &OrbConfig {
        &self.0.config
    }

    /// Where this ORB is reached, as its references say.
    pub fn addresses(&self) -> Vec<Address> {
        let own = |p: &Published| match p {
            Published::Tcp { host, port } => Address::tcp(host.clone(), *port),
            Published::Unix { path, .. } => Address::Unix(path.into()),
        };
        let native = |p: &NativeAddress| match p {
            NativeAddress::Shm { name, .. } => Address::Shm(name.clone()),
            NativeAddress::Udp { host, port } => Address::Udp { host: host.clone(), port: *port },
        };
        let inner = &self.0;
        inner.published.iter().map(own).chain(inner.published_native.iter().map(native)).collect()
    }

    /// Connections from clients that are open now.
    pub fn connection_count(&self) -> usize {
        self.0.accepted.connections.load(Ordering::Relaxed)
    }

    /// Starts the threads of a set of priority [lanes](crate::lanes), for adapters to [serve in](Adapter::serve_in).
    ///
    /// # Errors
    /// [`LanesError`].
    pub fn create_lanes(&self, lanes: &[LaneConfig]) -> Result<Lanes, LanesError> {
        let lanes = Lanes(Pool::start(crate::lanes::checked(lanes)?)?);
        let mut all = lock(&self.0.lanes);
        all.push(lanes.clone());
        // Whoever shuts down sets this first, then takes what is there.
        if self.0.down.load(Ordering::Acquire) {
            all.retain(|other| !Arc::ptr_eq(&other.0, &lanes.0));
            drop(all);
            lanes.0.stop(Duration::ZERO);
            return Err(LanesError::ShutDown);
        }
        drop(all);
        Ok(lanes)
    }

    pub(crate) fn has_lanes(&self, lanes: &Lanes) -> bool {
        lock(&self.0.lanes).iter().any(|own| Arc::ptr_eq(&own.0, &lanes.0))
    }

    /// Some adapter serves in lanes.
    pub(crate) fn use_lanes(&self) {
        self.dispatcher().use_lanes();
    }

    /// What clients have said of priorities that was not taken as it was said.
    pub fn priority_counts(&self) -> PriorityCounts {
        self.dispatcher().judge.counts()
    }

    /// Finds an active object by its object key: the first half of every dispatch.
    #[inline(always)]
    pub fn find_object(&self, object_key: &[u8]) -> Option<ActiveObject<'_>> {
        self.0.table.find(object_key)
    }

    /// Handles one whole GIOP message as a connection of this ORB would, and appends what it would send to `out`.
    /// Nothing is received or sent: this is the ORB without a network. All that a thread hands over, to whatever ORB, counts as
    /// said by one client over one connection: once that has chosen its code sets, text is taken to be in these.
    ///
    /// # Errors
    /// When the bytes are not one whole message.
    pub fn handle_message(
        &self,
        message: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), throughline_giop::HeaderError> {
        thread_local! {
            static SESSION: Session = Session::new(Priority::HIGHEST);
        }
        let header = throughline_giop::MessageHeader::of(message, self.0.config.max_message)?;
        let dispatcher = self.dispatcher();
        SESSION.with(|session| dispatcher.handle(&header, message, (session, None), out));
        Ok(())
    }

    /// Waits until the ORB is shut down, by [`shutdown`](Self::shutdown) from another thread or a servant.
    pub fn run(&self) {
        self.0.ending.wait();
    }

    /// As [`run`](Self::run), as a future for any runtime.
    pub fn closed(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut waiter = Waiter::new(self.clone());
        std::future::poll_fn(move |cx| waiter.poll(cx))
    }

    /// Shuts down in order: no new connections, requests under way are finished, and answers that clients are slow to read
    /// have arrived (within `grace`), clients are told that nothing more will be answered, connections close, threads end, objects
    /// are dropped. A thread whose servant takes longer than that is left to itself. A client that does not read is waited for
    /// no longer than [`stall_timeout`](OrbConfig::stall_timeout).
    ///
    /// Calls that this ORB has under way end with `COMM_FAILURE`, but for blocking ones by the native protocol, whose links are
    /// their threads': those end when the server answers, or their time is over.
    ///
    /// Waits for the end; but not within a servant, whose own reply is among what is to be finished: there it returns
    /// at once, and the rest happens on another thread. Nor does a servant wait that is dropped because the ORB shuts down, or another
    /// one does, for an end that has begun.
    pub fn shutdown(&self, grace: Duration) {
        let is_first = !self.0.down.swap(true, Ordering::AcqRel);
        if crate::transport::server::in_worker() {
            let orb = self.clone();
            let end = move || orb.end(grace);
            if is_first && let Err(e) = std::thread::Builder::new().spawn(end) {
                tracing::error!(error = %e, "no thread to shut down on");
                self.0.down.store(false, Ordering::Release);
            }
        } else if is_first {
            self.end(grace);
        } else if !Bringing::is_here() {
            self.run();
        }
    }

    fn end(&self, grace: Duration) {
        let (inner, _here) = (&self.0, Bringing::begin());
        // As long as nobody else can take their places.
        inner.clean_up();
        for listener in lock(&inner.listeners).drain(..) {
            crate::transport::reactor::Source::close(&*listener);
        }
        let deadline = Instant::now().checked_add(grace);
        let left =
            || deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
        let natives: Vec<_> = lock(&inner.native_listeners).drain(..).collect();
        // All at once, so that each has all the time.
        natives.iter().for_each(NativeListener::begin_to_stop);
        let sources = inner.reactor.begin_to_drain();
        natives.into_iter().for_each(|mut listener| listener.stop(left()));
        inner.reactor.drain(sources, deadline);
        inner.natives.close();
        inner.endpoints.close();
        inner.reactor.stop(PATIENCE);
        inner.stop_lanes();
        self.root().destroy();
        inner.ending.finish();
    }

    /// Who brings its end about, and who waits for that.
    pub(crate) fn ending(&self) -> &Ending {
        &self.0.ending
    }

    /// Turns text into a reference: `IOR:`, `corbaloc:` (also `corbaloc:rir:`) or `corbaname:`. Only the last asks a
    /// server.
    ///
    /// # Errors
    /// `BAD_PARAM` with what is wrong with the text, or what the name service answers.
    pub fn string_to_object(&self, text: &str) -> Result<ObjectRef, SystemException> {
        crate::initial::string_to_object(self, text)
    }

    /// A well-known object by its name, such as `NameService`: from the configuration, or one of this ORB's own.
    ///
    /// # Errors
    /// `BAD_PARAM` when nobody has configured the name, or what it is configured as leads back to it.
    pub fn resolve_initial_reference(&self, name: &str) -> Result<ObjectRef, SystemException> {
        self.0.initial.resolve(self, name)
    }

    /// Makes an object known under a name to `corbaloc:rir:` and
    /// [`resolve_initial_reference`](Self::resolve_initial_reference) of this process.
    pub fn register_initial_reference(&self, name: &str, object: &ObjectRef) {
        self.0.initial.register(name, object);
    }

    /// A reference from its data.
    pub fn reference(&self, ior: Ior) -> ObjectRef {
        ObjectRef::new(self, ior)
    }

    /// A reference to an object of this ORB. Without a handle, it is reached by its key only.
    pub(crate) fn reference_to_own(&self, key: &[u8], handle: Option<Handle>, type_id: &str) -> ObjectRef {
        let profile = own_profile(&self.0.published, self.0.config.max_version, key);
        let iiop = profile.and_then(|p| Ior::of_iiop(type_id, &p).ok());
        let tells_key = iiop.is_some();
        let mut ior = iiop.unwrap_or(Ior { type_id: type_id.to_owned(), profiles: Vec::new() });
        if let Some(Handle { slot, nonce }) = handle {
            let native = |address: &NativeAddress| {
                NativeProfile { address: address.clone(), slot: slot.0, nonce }.to_tagged().ok()
            };
            ior.profiles.extend(self.0.published_native.iter().filter_map(native));
        }
        if tells_key { ObjectRef::new(self, ior) } else { ObjectRef::by_handle(self, ior, key) }
    }

    /// Whether references have ways by the native protocol.
    pub(crate) fn serves_natively(&self) -> bool {
        !self.0.published_native.is_empty()
    }

    /// Whether a native address is one of this ORB's own.
    pub(crate) fn serves_at(&self, address: &NativeAddress) -> bool {
        self.0.published_native.contains(address)
    }

    /// How links of the native protocol are made.
    pub(crate) fn link_options(&self) -> LinkOptions {
        let OrbConfig { native_spin, max_message, trusted_peers, datagrams, .. } = &self.0.config;
        LinkOptions {
            crowd: None,
            spin: *native_spin,
            max_message: *max_message,
            trusted: *trusted_peers,
            datagrams: datagrams.clone(),
        }
    }

    /// The clients that objects live for.
    pub(crate) fn clients(&self) -> &Clients {
        &self.0.clients
    }

    pub(crate) fn natives(&self) -> &Natives {
        &self.0.natives
    }

    /// Whether an address in a profile is one of this ORB's own.
    pub(crate) fn listens_at(&self, address: &Published) -> bool {
        self.0.published.contains(address)
    }

    pub(crate) fn table(&self) -> &Arc<ObjectTable> {
        &self.0.table
    }

    pub(crate) fn endpoints(&self) -> &Endpoints {
        &self.0.endpoints
    }

    pub(crate) fn reactor(&self) -> &Arc<Reactor> {
        &self.0.reactor
    }

    pub(crate) fn max_version(&self) -> Version {
        self.0.config.max_version
    }

    pub(crate) fn call_timeout(&self) -> Option<Duration> {
        self.0.config.call_timeout
    }

    pub(crate) fn downgrade(&self) -> WeakOrb {
        WeakOrb(Arc::downgrade(&self.0))
    }

    /// A reference to it that does not keep it alive, lent.
    #[inline]
    pub(crate) fn weak(&self) -> &WeakOrb {
        self.dispatcher().context()
    }

    pub(crate) fn dispatcher(&self) -> &Arc<Dispatcher> {
        self.0.dispatcher.get().expect("an ORB has a dispatcher from its start")
    }

    /// # Errors
    /// `BAD_INV_ORDER` once the ORB has been shut down.
    pub(crate) fn check_up(&self) -> Result<(), SystemException> {
        if self.0.down.load(Ordering::Acquire) {
            return Err(SystemException::shut_down());
        }
        Ok(())
    }
}

impl WeakOrb {
    pub(crate) fn upgrade(&self) -> Option<Orb> {
        self.0.upgrade().map(Orb)
    }
}

impl std::fmt::Debug for Orb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Orb").field("addresses", &self.addresses()).finish_non_exhaustive()
    }
}

/// How long threads may take to end that have nothing to do any more.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);

impl Inner {
    fn stop_lanes(&self) {
        let all = std::mem::take(&mut *lock(&self.lanes));
        all.iter().for_each(|lanes| lanes.0.stop(PATIENCE));
    }

    /// Removes the files of sockets. In the place of one that somebody else has removed may be another's, which stays.
    fn clean_up(&self) {
        for (path, _) in self.unix_files.iter().filter(|(path, own)| file_id(path) == *own) {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if !*self.down.get_mut() {
            self.clean_up();
            let sources = self.reactor.begin_to_drain();
            self.reactor.drain(sources, Some(Instant::now() + PATIENCE));
            self.endpoints.close();
            self.reactor.stop(PATIENCE);
            self.stop_lanes();
        }
    }
}

/// One profile with all addresses: clients try them in turn.
fn own_profile(published: &[Published], version: Version, key: &[u8]) -> Option<IiopProfile> {
    let (host, port, first) = published
        .iter()
        .enumerate()
        .find_map(|(i, p)| match p {
            Published::Tcp { host, port } => Some((host.clone(), *port, Some(i))),
            Published::Unix { .. } => None,
        })
        // Port 0 says that another component has the address.
        .unwrap_or_else(|| (host_name(), 0, None));
    let mut components = Vec::new();
    if version > Version::V1_0 {
        components.push(orb_type(ORB_TYPE));
        components.push(CodeSetComponentInfo::ours().to_component().ok()?);
        for (_, address) in published.iter().enumerate().filter(|(i, _)| Some(*i) != first) {
            components.push(address.to_component().ok()?);
        }
    }
    (!published.is_empty()).then(|| IiopProfile { version, host, port, object_key: key.to_vec(), components })
}

/// What an IIOP profile says of an address, if it is one of IIOP.
fn published(address: &Address, host: Option<&str>) -> Option<Published> {
    match address {
        Address::Tcp { host: bound, port } => {
            Some(Published::Tcp { host: published_host(bound, host), port: *port })
        }
        Address::Unix(path) => {
            Some(Published::Unix { host: host_name(), path: path.to_string_lossy().into_owned() })
        }
        Address::Shm(_) | Address::Udp { .. } => None,
    }
}

/// What clients are told of the host that was bound to.
pub(crate) fn published_host(bound: &str, told: Option<&str>) -> String {
    let everywhere = ["0.0.0.0", "::", ""].contains(&bound);
    let own = || if everywhere { host_name() } else { bound.to_owned() };
    told.map_or_else(own, str::to_owned)
}

/// Takes back what was bound when the rest could not be.
fn unlink(bound: &[(std::os::fd::OwnedFd, Address)]) {
    for path in bound.iter().filter_map(|(_, address)| unix_path(address)) {
        let _ = std::fs::remove_file(path);
    }
}

/// Device and number of a file. No other has them as long as a socket is bound to it.
type FileId = (u64, u64);

fn file_id(path: &Path) -> Option<FileId> {
    std::fs::symlink_metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

fn unix_path(address: &Address) -> Option<PathBuf> {
    match address {
        Address::Unix(path) => Some(path.clone()),
        Address::Tcp { .. } | Address::Shm(_) | Address::Udp { .. } => None,
    }
}

/// The name of this machine.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
