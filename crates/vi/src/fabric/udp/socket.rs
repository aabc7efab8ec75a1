//! UDP sockets.

use crate::{
    fabric::datagram::{Reception, Wire},
    reliable::Ecn,
};
use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};
use std::{
    io::{self, ErrorKind},
    net::{SocketAddr, UdpSocket},
    os::fd::{AsFd, BorrowedFd},
};

/// A socket, for all peers or connected to one.
pub(crate) struct UdpWire {
    socket: UdpSocket,
    /// The only peer.
    peer: Option<SocketAddr>,
    refused: bool,
}

impl UdpWire {
    pub(crate) fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        // How long frames may be is found out by trying; none is cut into pieces.
        match address {
            SocketAddr::V4(_) => sockopt::set_ip_mtu_discover(&socket, Ipv4PathMtuDiscovery::PROBE)?,
            SocketAddr::V6(_) => sockopt::set_ipv6_mtu_discover(&socket, Ipv6PathMtuDiscovery::PROBE)?,
        }
        Ok(Self { socket, peer: None, refused: false })
    }

    /// A socket of the same interface as `local` for this peer alone.
    pub(crate) fn connect(local: SocketAddr, peer: SocketAddr) -> io::Result<Self> {
        let mut wire = Self::bind(SocketAddr::new(local.ip(), 0))?;
        wire.socket.connect(peer)?;
        wire.peer = Some(peer);
        Ok(wire)
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    fn is_passing(&mut self, error: &io::Error) -> bool {
        self.refused |= error.kind() == ErrorKind::ConnectionRefused;
        error.kind() == ErrorKind::WouldBlock
    }
}

impl Wire for UdpWire {
    type Address = SocketAddr;

    fn receive(&mut self, into: &mut [u8]) -> Option<Reception<SocketAddr>> {
        let received = match self.peer {
            Some(peer) => self.socket.recv(into).map(|len| (len, peer)),
            None => self.socket.recv_from(into),
        };
        match received {
            Ok((len, from)) => Some(Reception { from, ecn: Ecn::NotCapable, len, each: len }),
            Err(error) => {
                self.is_passing(&error);
                None
            }
        }
    }

    fn send(&mut self, to: SocketAddr, _: bool, octets: &[u8]) -> bool {
        let sent = match self.peer {
            Some(_) => self.socket.send(octets),
            None => self.socket.send_to(octets, to),
        };
        !sent.is_err_and(|error| self.is_passing(&error))
    }

    /// Only what the own machine says is believed: strangers can forge what others say.
    fn is_refused(&mut self) -> bool {
        std::mem::take(&mut self.refused) && self.peer.is_some_and(super::is_loopback)
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
