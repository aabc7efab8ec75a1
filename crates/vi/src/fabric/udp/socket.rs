//! UDP sockets.

use crate::{
    fabric::datagram::{Reception, Wire},
    reliable::Ecn,
};
use rustix::{
    io::Errno,
    net::{
        RecvFlags, SendFlags, recv, recvfrom, send, sendto,
        sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery},
    },
};
use std::{
    io,
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

    fn is_passing(&mut self, error: Errno) -> bool {
        self.refused |= error == Errno::CONNREFUSED;
        error == Errno::WOULDBLOCK
    }
}

impl Wire for UdpWire {
    type Address = SocketAddr;

    fn receive(&mut self, into: &mut [u8]) -> Option<Reception<SocketAddr>> {
        let received = match self.peer {
            Some(peer) => recv(&self.socket, into, RecvFlags::empty()).map(|(len, _)| (len, Some(peer))),
            None => recvfrom(&self.socket, into, RecvFlags::empty())
                .map(|(len, _, from)| (len, from.and_then(|from| SocketAddr::try_from(from).ok()))),
        };
        match received {
            Ok((len, from)) => Some(Reception { from: from?, ecn: Ecn::NotCapable, len, each: len }),
            Err(error) => {
                self.is_passing(error);
                None
            }
        }
    }

    fn send(&mut self, to: SocketAddr, _: bool, octets: &[u8]) -> bool {
        let sent = match self.peer {
            Some(_) => send(&self.socket, octets, SendFlags::empty()),
            None => sendto(&self.socket, octets, SendFlags::empty(), &to),
        };
        !sent.is_err_and(|error| self.is_passing(error))
    }

    /// Only what the own machine says is believed: strangers can forge what others say.
    fn is_refused(&mut self) -> bool {
        std::mem::take(&mut self.refused) && self.peer.is_some_and(super::is_loopback)
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
