//! Where clients of the native protocol connect.

use std::io;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use throughline_giop::NativeAddress;
use throughline_vi::{ConnectError, Listener, LocalNetwork, Nic, ResourceError};

use super::link::{DISCRIMINATOR, Link, LinkError, LinkMemory, LinkOptions};
use super::nics;
use crate::transport::resolver;

/// Those that are for anybody (RFC 6335).
const FREE_PORTS: RangeInclusive<u16> = 49_152..=u16::MAX;

/// Looking up the name of an own address takes at most this long.
const LOOK_UP_WITHIN: Duration = Duration::from_secs(5);

/// Listens on one NIC.
#[derive(Debug)]
pub(super) struct LinkListener {
    nic: Nic,
    listener: Listener,
    memory: LinkMemory,
}

impl LinkListener {
    fn new(nic: Result<Nic, ResourceError>, memory: LinkMemory) -> io::Result<Self> {
        let error = |error| match error {
            ResourceError::AddressInUse => io::ErrorKind::AddrInUse.into(),
            other => io::Error::other(other),
        };
        let nic = nic.map_err(error)?;
        let listener = nic.listen(DISCRIMINATOR).map_err(error)?;
        Ok(Self { nic, listener, memory })
    }

    /// In shared memory, under a name of its own choice if none is given. Also what clients are to be told.
    pub(super) fn bind_shm(name: &str) -> io::Result<(Self, NativeAddress)> {
        let nic = if name.is_empty() { Nic::shm() } else { Nic::shm_at(name) };
        let listener = Self::new(nic, LinkMemory::SHM)?;
        let name = listener.nic.address().to_owned();
        Ok((listener, NativeAddress::Shm { machine: super::machine().to_owned(), name }))
    }

    /// At a UDP port of the first address that the name stands for. Also what clients are to be told.
    pub(super) fn bind_udp(
        host: &str,
        port: u16,
        published: Option<&str>,
    ) -> io::Result<(Self, NativeAddress)> {
        let found = resolver::SYSTEM.resolve(host, port, LOOK_UP_WITHIN)?;
        let address = *found.first().ok_or(io::ErrorKind::AddrNotAvailable)?;
        let listener = Self::new(Nic::udp(address), LinkMemory::UDP)?;
        let bound: SocketAddr = listener.nic.address().parse().map_err(io::Error::other)?;
        let host = crate::orb::published_host(host, published);
        Ok((listener, NativeAddress::Udp { host, port: bound.port() }))
    }

    /// At a port of a network within the process; at any that is free if none is given. Also what clients are to be told.
    pub(super) fn bind_local(
        network: &LocalNetwork,
        host: &str,
        port: u16,
        published: Option<&str>,
    ) -> io::Result<(Self, NativeAddress)> {
        let host = published.unwrap_or(host).to_owned();
        let mut ports = if port == 0 { FREE_PORTS } else { port..=port };
        let bind = |port| {
            let nic = Nic::local(network, &nics::local_name(&host, port));
            match Self::new(Ok(nic), LinkMemory::UDP) {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => None,
                bound => Some(bound.map(|listener| (listener, port))),
            }
        };
        let (listener, port) = ports.find_map(bind).ok_or(io::ErrorKind::AddrInUse)??;
        Ok((listener, NativeAddress::Udp { host, port }))
    }

    /// The next client, if one is there.
    pub(super) fn accept(&mut self, options: &LinkOptions) -> Result<Option<Link>, LinkError> {
        let request = match self.listener.wait(Some(Duration::ZERO)) {
            Ok(request) => request,
            Err(ConnectError::Timeout) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut link = Link::new(&self.nic, self.memory, options)?;
        link.accept(request)?;
        Ok(Some(link))
    }
}

impl AsFd for LinkListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}
