//! The native protocol's transports: messages over Virtual Interfaces.
//!
//! A client's thread sends over its own [`link`] ([`client`]); a server's workers poll the links of all clients and
//! answer ([`server`]). What messages mean is [`crate::native`]'s business.

pub(crate) mod answers;
mod bulk;
pub(crate) mod client;
pub(crate) mod drive;
pub(crate) mod exchange;
pub(crate) mod link;
mod listener;
mod nics;
mod oneways;
mod park;
pub(crate) mod pipe;
pub(crate) mod pipe_calls;
pub(crate) mod plan;
mod roles;
pub(crate) mod server;
pub(crate) mod window;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use throughline_giop::NativeAddress;
use throughline_wire::FlowIds;

use self::client::NativeServer;
pub(crate) use self::link::Octets;
use self::pipe::Pipe;
use crate::orb::Orb;
use crate::transport::reactor::lock;

/// Buffers for messages that exceed registered memory are kept up to this many bytes.
const KEEP_OVERFLOW: usize = 4 << 20;

/// Servers known before those that nobody refers to are forgotten.
const FEW_SERVERS: usize = 64;

/// The flow ids of this process: one for each link.
fn flows() -> &'static FlowIds {
    static FLOWS: OnceLock<FlowIds> = OnceLock::new();
    FLOWS.get_or_init(|| FlowIds::new([crate::random::seed(), crate::random::seed()]))
}

/// What tells this machine, and its present run, from all others.
pub(crate) fn machine() -> &'static str {
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
        boot.map_or_else(|_| crate::orb::host_name(), |id| id.trim().to_owned())
    })
}

/// Whether it makes sense to try an address from here.
pub(crate) fn reaches(address: &NativeAddress) -> bool {
    match address {
        NativeAddress::Shm { machine: theirs, .. } => theirs == machine(),
        NativeAddress::Udp { .. } => true,
    }
}

/// The servers of the native protocol that an ORB has references to.
#[derive(Debug, Default)]
pub(crate) struct Natives(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    servers: HashMap<NativeAddress, Arc<NativeServer>>,
    /// With this many the unused ones are looked for: rarely enough that a stranger who sends many references
    /// does not pay for each with a look at all.
    prune_at: usize,
}

impl Known {
    fn prune(&mut self) {
        if self.servers.len() >= self.prune_at.max(FEW_SERVERS) {
            self.servers.retain(|_, server| Arc::strong_count(server) > 1 || server.close());
            self.prune_at = 2 * self.servers.len();
        }
    }
}

impl Natives {
    /// The server at an address; the same for all who ask while one of them holds it.
    pub(crate) fn at(&self, address: &NativeAddress, orb: &Orb) -> Arc<NativeServer> {
        let mut known = lock(&self.0);
        if let Some(server) = known.servers.get(address) {
            return Arc::clone(server);
        }
        known.prune();
        let pipe = Pipe::new(Arc::downgrade(orb.reactor()), orb.config().max_outstanding);
        let server = NativeServer::new(address.clone(), orb.link_options(), pipe);
        known.servers.insert(address.clone(), Arc::clone(&server));
        server
    }

    /// No more calls to any of them.
    pub(crate) fn close(&self) {
        let all = std::mem::take(&mut lock(&self.0).servers);
        // Tasks that wait for one of them are woken, and may ask for others at once.
        for server in all.into_values() {
            server.close();
        }
        client::drop_closed();
    }
}
