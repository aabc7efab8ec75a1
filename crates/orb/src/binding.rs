//! Where a reference leads: addresses, object key and protocol version, taken out of an IOR once.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use throughline_cdr::{CodeSets, EncodeError};
use throughline_demux::{Handle, Slot};
use throughline_giop::codeset::{CodeSetContext, for_version, negotiate};
use throughline_giop::component::Address as Published;
use throughline_giop::profile::IiopProfile;
use throughline_giop::target::AddressingDisposition;
use throughline_giop::{Ior, NativeAddress, NativeProfile, Version};

use crate::exception::{SystemException, minor, shown};
use crate::object_key::ObjectKey;
use crate::orb::Orb;
use crate::transport::address::{Address, share};
use crate::transport::client::ClientConnection;
use crate::transport::endpoint::Endpoint;
use crate::transport::native::client::NativeRoute;

/// A reference made ready to be called.
#[derive(Debug)]
pub(crate) struct Binding {
    routes: Box<[Route]>,
    /// Ways by the native protocol, the fastest first. They are tried before all others.
    natives: Box<[NativeRoute]>,
    /// The route that worked last.
    current: AtomicUsize,
    /// The object is in this process: no route is needed.
    local_key: Option<Box<[u8]>>,
    ior: Ior,
    /// How the server wants to be told the object; almost always by its key.
    disposition: AtomicUsize,
}

/// A reference from a stranger may have as many addresses as its message holds; nobody needs more than this.
const MAX_ROUTES: usize = 32;

/// One address of the object, with what a request to it needs.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) key: Arc<[u8]>,
    pub(crate) version: Version,
    pub(crate) code_sets: CodeSets,
    /// The service context that announces the code sets; empty in GIOP 1.0, which has none.
    pub(crate) announcement: Box<[u8]>,
    /// Which profile of the reference this is.
    pub(crate) profile: u32,
}

impl Route {
    /// Text as a message to this server has it.
    #[inline]
    pub(crate) fn message_code_sets(&self) -> CodeSets {
        for_version(self.code_sets.narrow, self.code_sets.wide, self.version)
    }
}

impl Binding {
    pub(crate) fn new(orb: &Orb, ior: &Ior) -> Self {
        let profiles: Vec<_> = (0_u32..)
            .zip(&ior.profiles)
            .filter(|(_, p)| p.tag == throughline_giop::profile::TAG_INTERNET_IOP)
            .filter_map(|(index, p)| Some((index, IiopProfile::from_octets(&p.data).ok()?)))
            .collect();
        let local = profiles.iter().find(|(_, p)| p.addresses().iter().any(|a| orb.listens_at(a)));
        let local_key = local.map(|(_, p)| p.object_key.clone()).or_else(|| own_native_key(orb, ior));
        let local_key = local_key.map(Vec::into_boxed_slice);
        let routes = profiles.iter().flat_map(|(index, p)| routes(orb, *index, p)).take(MAX_ROUTES).collect();
        let natives =
            if local_key.is_none() && orb.config().native { native_routes(orb, ior) } else { Box::default() };
        Self {
            routes,
            natives,
            current: AtomicUsize::new(0),
            local_key,
            ior: ior.clone(),
            disposition: AtomicUsize::new(AddressingDisposition::Key as usize),
        }
    }

    /// The way by the native protocol, if the reference has one that works.
    #[inline]
    pub(crate) fn native(&self) -> Option<&NativeRoute> {
        self.natives.first().filter(|route| route.is_usable()).or_else(|| self.other_native())
    }

    #[cold]
    fn other_native(&self) -> Option<&NativeRoute> {
        self.natives.iter().find(|route| route.is_usable())
    }

    /// All ways by the native protocol.
    pub(crate) fn natives(&self) -> impl Iterator<Item = &NativeRoute> {
        self.natives.iter()
    }

    /// The server knows nothing of the handle that this way has; nor will it by another way.
    #[cold]
    pub(crate) fn note_stale(&self, route: &NativeRoute) {
        let same = |other: &&NativeRoute| (other.slot, other.nonce) == (route.slot, route.nonce);
        self.natives().filter(same).for_each(|other| other.stale.store(true, Ordering::Relaxed));
    }

    /// Which of the native ways that is.
    #[inline]
    pub(crate) fn native_way(&self) -> Option<usize> {
        self.natives.iter().position(NativeRoute::is_usable)
    }

    /// The native way of this index.
    #[inline]
    pub(crate) fn native_at(&self, way: usize) -> Option<&NativeRoute> {
        self.natives.get(way)
    }

    /// Why the native protocol does not work at present, if the reference has a way by it.
    #[cold]
    pub(crate) fn native_failure(&self) -> Option<String> {
        let route = self.natives.first()?;
        let place = match route.address() {
            NativeAddress::Shm { .. } => " on this machine",
            NativeAddress::Udp { .. } => "",
        };
        let route = shown(&route.to_string());
        Some(format!("no connection to {route}{place}; is the server running?"))
    }

    /// The object key, empty when there is no usable profile.
    pub(crate) fn key(&self) -> &[u8] {
        match (&self.local_key, self.routes.first()) {
            (Some(key), _) => key,
            (None, Some(route)) => &route.key,
            (None, None) => &[],
        }
    }

    /// The object key, if the object is in this process.
    pub(crate) fn local_key(&self) -> Option<&[u8]> {
        self.local_key.as_deref()
    }

    pub(crate) fn ior(&self) -> &Ior {
        &self.ior
    }

    pub(crate) fn is_forwarded(&self, original: &Ior) -> bool {
        self.ior != *original
    }

    pub(crate) fn same_object(&self, other: &Self) -> bool {
        let address = |b: &Self| b.routes.first().map(|r| r.endpoint.address().clone());
        !self.key().is_empty() && self.key() == other.key() && address(self) == address(other)
    }

    /// The route that calls take, none when the reference has no usable profile.
    #[inline]
    pub(crate) fn route(&self) -> Option<&Route> {
        self.route_at(self.current())
    }

    /// The index of the route that calls take at present.
    #[inline]
    pub(crate) fn current(&self) -> usize {
        self.current.load(Ordering::Relaxed)
    }

    /// Calls take the next route from now on, unless they take another one than this already.
    #[cold]
    pub(crate) fn turn_from(&self, index: usize) {
        let next = (index + 1) % self.routes.len().max(1);
        let _ = self.current.compare_exchange(index, next, Ordering::Relaxed, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn route_at(&self, index: usize) -> Option<&Route> {
        self.routes.get(index)
    }

    /// How many routes there are.
    pub(crate) fn routes(&self) -> usize {
        self.routes.len()
    }

    /// The index of one of this binding's routes.
    pub(crate) fn index_of(&self, route: &Route) -> usize {
        self.routes.iter().position(|r| std::ptr::eq(r, route)).unwrap_or(0)
    }

    /// Connects by the first route that works, beginning with `first`, of which each has its share of the time.
    ///
    /// # Errors
    /// Why the last one does not work.
    pub(crate) fn connect(
        &self,
        first: usize,
        timeout: Duration,
        connect: impl Fn(&Endpoint, Duration) -> io::Result<Arc<ClientConnection>>,
    ) -> Result<(&Route, Arc<ClientConnection>), (Address, io::Error)> {
        let started = std::time::Instant::now();
        let mut last = None;
        for step in 0..self.routes.len() {
            let index = (first + step) % self.routes.len();
            let route = &self.routes[index];
            let left = timeout.saturating_sub(started.elapsed());
            match connect(&route.endpoint, share(left, self.routes.len() - step)) {
                Ok(connection) => {
                    self.current.store(index, Ordering::Relaxed);
                    return Ok((route, connection));
                }
                Err(e) => last = Some((route.endpoint.address().clone(), e)),
            }
        }
        Err(last.unwrap_or_else(|| (Address::tcp("", 0), io::ErrorKind::AddrNotAvailable.into())))
    }

    /// Why an argument cannot be written for this server, and what can be done about it.
    #[cold]
    pub(crate) fn unwritable(&self, error: EncodeError) -> SystemException {
        match (error, self.route().map(|route| route.version)) {
            (EncodeError::NoWideCharSet, Some(Version::V1_0)) => SystemException::from(error)
                .detail("GIOP 1.0 has no wide text; a corbaloc: means 1.0 unless it says corbaloc:iiop:1.2@host"),
            (EncodeError::NoWideCharSet, Some(_)) => SystemException::inv_objref(minor::WIDE_CODE_SET_NOT_TOLD)
                .detail("the server's reference tells no code set for wide text; use strings, or corbaloc:iiop:1.2@host"),
            _ => error.into(),
        }
    }

    /// How requests name the object.
    #[inline]
    pub(crate) fn disposition(&self) -> AddressingDisposition {
        match self.disposition.load(Ordering::Relaxed) {
            1 => AddressingDisposition::Profile,
            2 => AddressingDisposition::Reference,
            _ => AddressingDisposition::Key,
        }
    }

    pub(crate) fn set_disposition(&self, wanted: AddressingDisposition) {
        self.disposition.store(wanted as usize, Ordering::Relaxed);
    }
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.local_key, self.native(), self.route()) {
            (Some(_), _, _) => write!(f, "this process"),
            (None, Some(native), _) => write!(f, "{native}"),
            (None, None, Some(route)) => write!(f, "{}", route.endpoint.address()),
            (None, None, None) => write!(f, "no usable address"),
        }
    }
}

fn routes(orb: &Orb, index: u32, profile: &IiopProfile) -> Vec<Route> {
    let offered = profile.code_sets().and_then(Result::ok);
    let version = profile.version.min(orb.max_version());
    let (code_sets, announcement) = match offered {
        Some(offered) if version > Version::V1_0 => {
            let context: CodeSetContext = negotiate(&offered);
            let chosen = context.code_sets(version).unwrap_or_default();
            (chosen, context.to_octets(throughline_cdr::ByteOrder::NATIVE))
        }
        // A server that says nothing of code sets gets what every ORB understands.
        _ => (for_version(CodeSets::DEFAULT.narrow, None, version), Vec::new()),
    };
    let key: Arc<[u8]> = profile.object_key.as_slice().into();
    addresses(profile)
        .iter()
        .take(MAX_ROUTES)
        .map(|address| Route {
            endpoint: orb.endpoints().at(address, code_sets),
            key: Arc::clone(&key),
            version,
            code_sets,
            announcement: announcement.clone().into_boxed_slice(),
            profile: index,
        })
        .collect()
}

/// The key of an own object whose reference has no other address of this ORB than a native one.
fn own_native_key(orb: &Orb, ior: &Ior) -> Option<Vec<u8>> {
    let mut profiles = ior.profiles.iter().filter_map(NativeProfile::from_tagged).filter_map(Result::ok);
    let own = profiles.find(|profile| orb.serves_at(&profile.address))?;
    let handle = Handle { slot: Slot(own.slot), nonce: own.nonce };
    let tag = orb.table().objects.get_any(handle).map_or(0, |record| record.tag());
    Some(ObjectKey::Active { tag, handle }.to_bytes())
}

/// The native ways that can be tried from here, shared memory first.
fn native_routes(orb: &Orb, ior: &Ior) -> Box<[NativeRoute]> {
    let profiles = ior.profiles.iter().filter_map(NativeProfile::from_tagged).filter_map(Result::ok);
    let mut usable: Vec<_> =
        profiles.filter(|profile| crate::transport::native::reaches(&profile.address)).collect();
    usable.sort_by_key(|profile| !matches!(profile.address, NativeAddress::Shm { .. }));
    usable.truncate(MAX_ROUTES);
    let only = !ior.profiles.iter().any(|p| p.tag == throughline_giop::profile::TAG_INTERNET_IOP);
    let server = |profile: &NativeProfile| orb.natives().at(&profile.address, orb);
    let route = |profile: &NativeProfile| NativeRoute::new(server(profile), profile, usable.len(), only);
    usable.iter().map(route).collect()
}

/// The addresses that can be tried from here, Unix-domain sockets of this machine first: they are the fastest.
fn addresses(profile: &IiopProfile) -> Vec<Address> {
    let usable = |published: &Published| match published {
        Published::Tcp { host, port } => Some(Address::tcp(host.clone(), *port)),
        Published::Unix { host, path } => {
            (crate::orb::host_name() == *host).then(|| Address::Unix(path.into()))
        }
    };
    let mut all: Vec<_> = profile.addresses().iter().filter_map(usable).collect();
    all.sort_by_key(|a| !matches!(a, Address::Unix(_)));
    all
}
