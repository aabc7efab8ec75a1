//! The TCP of a protocol graph.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use throughline_stack::smoltcp::wire::IpCidr;
use throughline_stack::{Device, Driver, Sockets};

use super::Network;

/// TCP in this process, by a graph of `throughline-stack` on a device of its own. It leads to the networks of its host's
/// addresses. A thread of its own drives it.
///
/// ```no_run
/// use std::sync::Arc;
/// use throughline::{Orb, OrbConfig, StackNetwork};
/// use throughline_stack::smoltcp::wire::{IpCidr, Ipv4Address};
/// use throughline_stack::{Config, Driver, Graph, Host, Packet, PacketConfig};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Packet::open("veth0", &PacketConfig::default())?;
/// let host = Host::at(&device, IpCidr::new(Ipv4Address::new(10, 0, 0, 2).into(), 24));
/// let graph = Graph::compose("tcp > ipv4 > eth; icmp > ipv4; arp > eth", host, Config::default())?;
/// let network = StackNetwork::start(Driver::new(graph, device))?;
/// let orb = Orb::start(OrbConfig {
///     network: Some(Arc::new(network)),
///     listen: vec!["iiop://10.0.0.2:2809".parse()?],
///     ..OrbConfig::default()
/// })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct StackNetwork {
    sockets: Sockets,
    addresses: Vec<IpCidr>,
}

/// Ports that are tried when any will do: some of those that RFC 6335 leaves to programs.
const TRIED: u16 = 64;

impl StackNetwork {
    /// Begins to drive a graph in which there is `tcp`.
    ///
    /// # Errors
    /// Those of the system.
    pub fn start<D: Device + 'static>(driver: Driver<D>) -> io::Result<Self> {
        let addresses = driver.graph.host().addresses.clone();
        Ok(Self { sockets: Sockets::start(driver)?, addresses })
    }

    fn listen_anywhere(&self) -> io::Result<(OwnedFd, u16)> {
        let first = crate::random::seed() as u16;
        let mut tried = Err(io::ErrorKind::AddrInUse.into());
        for n in 0..TRIED {
            let port = 0xc000 | first.wrapping_add(n);
            tried = self.sockets.listen(port).map(|socket| (socket, port));
            if !tried.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse) {
                break;
            }
        }
        tried
    }
}

impl Network for StackNetwork {
    fn connect(&self, host: &str, port: u16, timeout: Duration) -> Option<io::Result<OwnedFd>> {
        let address: IpAddr = host.parse().ok()?;
        let near = self.addresses.iter().any(|network| network.contains_addr(&address.into()));
        near.then(|| self.sockets.connect(SocketAddr::new(address, port), timeout))
    }

    fn listen(&self, host: &str, port: u16) -> Option<io::Result<(OwnedFd, u16)>> {
        let address: IpAddr = host.parse().ok()?;
        let ours = self.addresses.iter().any(|network| network.address() == address.into());
        ours.then(|| match port {
            0 => self.listen_anywhere(),
            port => self.sockets.listen(port).map(|socket| (socket, port)),
        })
    }
}
