//! Two hosts on a veth pair, in a network namespace of this thread's own.

use std::process::Command;
use std::time::{Duration, Instant};

use rustix::thread::{UnshareFlags, unshare_unsafe};
use throughline_stack::{Config, Driver, Graph, Host, Packet, PacketConfig, PathId};

use super::{
    Talks,
    stacks::{Side, Way, listening, participants},
    talk::{Came, User, failed},
};
use crate::LabError;

/// How long a frame may be on its way.
const PATIENCE: Duration = Duration::from_secs(2);
/// Places of a ring: one frame is under way.
const PLACES: usize = 64;

/// Gives the calling thread, and whom it starts, a network of its own, without any interface that is up. What keeps it from
/// that, otherwise.
pub(super) fn isolate() -> Result<(), String> {
    // SAFETY: the namespace of this thread alone is changed, and it has no descriptor of the former one.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }
        .map_err(|error| format!("no network namespace ({error}); root has them"))?;
    match Command::new("ip").arg("-V").output() {
        Ok(_) => Ok(()),
        Err(_) => Err("no command `ip` (Debian package `iproute2`)".to_owned()),
    }
}

fn ip(arguments: &str) -> Result<(), LabError> {
    let output = Command::new("ip").args(arguments.split(' ')).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr)))),
    }
}

/// A client and a server with one path, each with an end of a veth pair, both driven by this thread, which polls them.
pub(super) struct VethTalk {
    client: Driver<Packet>,
    server: Driver<Packet>,
    from_client: PathId,
    from_server: PathId,
    user: User,
}

impl VethTalk {
    /// The pair is number `n` of the namespace, whose other pairs carry nothing of this one.
    pub(super) fn new(way: Way, n: usize) -> Result<Self, LabError> {
        ip(&format!("link add c{n} type veth peer name s{n}"))?;
        for name in [format!("c{n}"), format!("s{n}")] {
            // The kernel may be unable to speak IPv6 anyway.
            let _ = ip(&format!("link set {name} addrgenmode none"));
            ip(&format!("link set {name} up"))?;
        }
        let mut client = driver(way, &format!("c{n}"), Side::Client)?;
        let mut server = driver(way, &format!("s{n}"), Side::Server)?;
        let (top, mut user) = (way.stack.top(way.lowest), User::new(way.stack));
        let hardware = throughline_stack::Device::hardware(server.device());
        let listener = server.graph.enable(top, listening(way.stack, hardware, 0)).map_err(failed)?;
        let path = client.graph.open(top, participants(way.stack, hardware, 0)).map_err(failed)?;
        let begun = Instant::now();
        let (mut sent, mut accepted, mut came) = (false, None, false);
        while accepted.is_none() || !came {
            sent = sent || user.send(&mut client.graph, path, b"hello").is_ok();
            client.poll()?;
            server.poll()?;
            accepted = accepted.or_else(|| server.graph.accepted(listener));
            if let Some(data) = user.receive(&mut server.graph) {
                user.consume(&mut server.graph, data);
                came = true;
            }
            if begun.elapsed() > PATIENCE {
                return Err(failed("the hosts on the veth pair do not find each other"));
            }
        }
        while client.graph.ready().is_some() {}
        let from_server = accepted.ok_or_else(|| failed("no path was made"))?;
        Ok(Self { client, server, from_client: path, from_server, user })
    }
}

fn driver(way: Way, name: &str, side: Side) -> Result<Driver<Packet>, LabError> {
    let device = Packet::open(name, &PacketConfig { ring: PLACES, ..PacketConfig::default() })?;
    let host = Host::at(&device, side.network(way.stack));
    let config = Config { architecture: way.architecture, ..Config::default() };
    let description = way.stack.description(way.lowest, way.checksums);
    Ok(Driver::new(Graph::compose(&description, host, config).map_err(failed)?, device))
}

/// Polls until something has come for the user.
fn arrived(driver: &mut Driver<Packet>, user: &mut User) -> Result<Came, LabError> {
    let mut begun = None;
    loop {
        driver.poll()?;
        if let Some(came) = user.receive(&mut driver.graph) {
            return Ok(came);
        }
        if begun.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return Err(failed("a message was lost on the veth pair"));
        }
    }
}

impl Talks for VethTalk {
    fn graphs(&self) -> [&Graph; 2] {
        [&self.client.graph, &self.server.graph]
    }

    fn round_trip(&mut self, data: &[u8]) -> Result<usize, LabError> {
        self.user.send(&mut self.client.graph, self.from_client, data)?;
        self.client.flush()?;
        let came = arrived(&mut self.server, &mut self.user)?;
        self.user.answer(&mut self.server.graph, self.from_server, came)?;
        self.server.flush()?;
        let came = arrived(&mut self.client, &mut self.user)?;
        Ok(self.user.consume(&mut self.client.graph, came))
    }
}
