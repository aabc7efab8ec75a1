//! UDP sockets.

use super::direct::Direct;
use crate::{
    fabric::datagram::{Reception, Wire},
    reliable::{
        Ecn,
        batch::Run,
        udp::{self, ecn},
    },
};
use quinn_udp::{RecvMeta, UdpSocketState};
use rustix::{
    io::Errno,
    net::{
        RecvFlags, SendFlags, recv, recvfrom, send, sendto,
        sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery},
    },
};
use std::{
    io::{self, IoSliceMut},
    net::{SocketAddr, UdpSocket},
    os::fd::{AsFd, BorrowedFd},
};

/// Octets that may wait in a socket: what a window of long frames brings at once must not be lost for want of room.
const MOST_WAITING: usize = 2 << 20;

/// A socket, for all peers or connected to one.
pub(crate) struct UdpWire {
    socket: UdpSocket,
    /// The only peer.
    peer: Option<SocketAddr>,
    /// For peers on other machines: congestion marks, and many datagrams by one system call. On the loopback interface nothing
    /// marks, and datagrams are long; what the system does for these costs more than it brings.
    far: Option<UdpSocketState>,
    /// Of a socket for all peers on the loopback interface.
    direct: Direct,
    refused: bool,
}

/// What is set on every socket that is to be bound to such an address.
pub(super) fn prepare(socket: &UdpSocket, address: SocketAddr) -> io::Result<()> {
    // The system gives no more than it likes to, and takes memory for as much as waits.
    sockopt::set_socket_recv_buffer_size(socket, MOST_WAITING)?;
    // How long frames may be is found out by trying; none is cut into pieces.
    match address {
        SocketAddr::V4(_) => sockopt::set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::PROBE)?,
        SocketAddr::V6(_) => sockopt::set_ipv6_mtu_discover(socket, Ipv6PathMtuDiscovery::PROBE)?,
    }
    Ok(())
}

/// What has arrived at a socket on the loopback interface, if anything has, and whether the system said that nobody has the
/// address of its only `peer`.
///
/// It is inlined into whoever looks: after a system call the processor may have forgotten where the functions return to that were
/// called before it, so each of them costs a moment more.
#[inline(always)]
pub(super) fn look(
    socket: &UdpSocket,
    peer: Option<SocketAddr>,
    into: &mut [u8],
    refused: &mut bool,
) -> Option<Reception<SocketAddr>> {
    match receive(socket, peer, into) {
        Ok(reception) => reception,
        Err(Errno::WOULDBLOCK) => None,
        Err(error) => look_again(socket, peer, into, refused, error),
    }
}

/// That nobody has the peer's address is told before what came from there when somebody had.
#[cold]
fn look_again(
    socket: &UdpSocket,
    peer: Option<SocketAddr>,
    into: &mut [u8],
    refused: &mut bool,
    error: Errno,
) -> Option<Reception<SocketAddr>> {
    *refused |= error == Errno::CONNREFUSED;
    receive(socket, peer, into).unwrap_or_else(|error| {
        *refused |= error == Errno::CONNREFUSED;
        None
    })
}

#[inline(always)]
fn receive(
    socket: &UdpSocket,
    peer: Option<SocketAddr>,
    into: &mut [u8],
) -> Result<Option<Reception<SocketAddr>>, Errno> {
    let (len, from) = match peer {
        Some(peer) => recv(socket, into, RecvFlags::empty()).map(|(len, _)| (len, Some(peer))),
        None => recvfrom(socket, into, RecvFlags::empty())
            .map(|(len, _, from)| (len, from.and_then(|from| SocketAddr::try_from(from).ok()))),
    }?;
    Ok(from.map(|from| Reception { from, ecn: Ecn::NotCapable, len, each: len }))
}

impl UdpWire {
    pub(crate) fn bind(address: SocketAddr) -> io::Result<Self> {
        let mut wire = Self::bind_near(address)?;
        if !super::is_loopback(address) {
            wire.reach_far()?;
        }
        Ok(wire)
    }

    fn reach_far(&mut self) -> io::Result<()> {
        self.far = Some(udp::state_of(&self.socket)?);
        Ok(())
    }

    fn bind_near(address: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        prepare(&socket, address)?;
        Ok(Self { socket, peer: None, far: None, direct: Direct::default(), refused: false })
    }

    /// A socket of the same interface as `local` for this peer alone.
    pub(crate) fn connect(local: SocketAddr, peer: SocketAddr) -> io::Result<Self> {
        let mut wire = Self::bind_near(SocketAddr::new(local.ip(), 0))?;
        wire.socket.connect(peer)?;
        if !super::is_loopback(peer) {
            wire.reach_far()?;
        }
        wire.peer = Some(peer);
        Ok(wire)
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    #[inline(never)]
    fn receive_from_far(&mut self, into: &mut [u8]) -> Option<Reception<SocketAddr>> {
        let (state, mut meta) = (self.far.as_ref()?, [RecvMeta::default()]);
        let received = state.recv((&self.socket).into(), &mut [IoSliceMut::new(into)], &mut meta);
        let [RecvMeta { addr, len, stride, .. }] = meta;
        match received {
            // A peer's address may be written in several ways.
            Ok(1..) => {
                Some(Reception { from: self.peer.unwrap_or(addr), ecn: ecn(&meta[0]), len, each: stride })
            }
            Ok(0) | Err(_) => None,
        }
    }
}

impl Wire for UdpWire {
    type Address = SocketAddr;

    #[inline(always)]
    fn receive(&mut self, into: &mut [u8], everywhere: bool) -> Option<Reception<SocketAddr>> {
        if self.far.is_some() {
            self.receive_from_far(into)
        } else if self.peer.is_some() {
            look(&self.socket, self.peer, into, &mut self.refused)
        } else {
            self.direct.look(&self.socket, into, everywhere)
        }
    }

    fn most_together(&self) -> usize {
        self.far.as_ref().map_or(1, UdpSocketState::max_gso_segments)
    }

    fn send(&mut self, run: &Run<SocketAddr>, octets: &[u8]) -> bool {
        if let Some(state) = &self.far {
            return udp::send(&self.socket, state, run, octets);
        }
        let way = if self.peer.is_some() { Some(&self.socket) } else { self.direct.way_to(run.to) };
        let sent = match way {
            Some(socket) => send(socket, octets, SendFlags::empty()),
            None => sendto(&self.socket, octets, SendFlags::empty(), &run.to),
        };
        self.refused |= sent == Err(Errno::CONNREFUSED);
        sent != Err(Errno::WOULDBLOCK)
    }

    /// Only what the own machine says is believed: strangers can forge what others say.
    fn is_refused(&mut self) -> bool {
        std::mem::take(&mut self.refused) && self.peer.is_some_and(super::is_loopback)
    }

    fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::once(self.socket.as_fd()).chain(self.direct.fd())
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn far_wire() -> UdpWire {
        let mut wire = UdpWire::bind_near(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        wire.reach_far().unwrap();
        wire
    }

    fn receive(wire: &mut UdpWire) -> (Vec<Vec<u8>>, Ecn) {
        let mut buffer = vec![0; 1 << 16];
        let reception = wire.receive(&mut buffer, true).expect("what was sent is there at once");
        let datagrams = buffer[..reception.len].chunks(reception.each).map(<[u8]>::to_vec).collect();
        (datagrams, reception.ecn)
    }

    #[test]
    fn many_datagrams_leave_together_and_say_that_they_may_be_marked() {
        let [mut one, mut other] = [far_wire(), far_wire()];
        let run = Run { to: other.address().unwrap(), ect: true, segment: 1_000, octets: 3_500 };
        let octets: Vec<u8> = (0..run.octets).map(|at| at as u8).collect();
        assert!(one.most_together() >= 4, "{} together", one.most_together());
        assert!(one.send(&run, &octets));
        let mut datagrams = Vec::new();
        while datagrams.len() < 4 {
            let (more, ecn) = receive(&mut other);
            datagrams.extend(more);
            assert_eq!(ecn, Ecn::Capable);
        }
        assert!(datagrams.iter().map(Vec::as_slice).eq(octets.chunks(1_000)));
        assert!(other.receive(&mut [0; 100], true).is_none());
    }

    #[test]
    fn what_came_before_the_peer_ended_is_received_before_its_end() {
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let peer = UdpSocket::bind(local).unwrap();
        let mut wire = UdpWire::connect(local, peer.local_addr().unwrap()).unwrap();
        peer.send_to(b"farewell", wire.address().unwrap()).unwrap();
        drop(peer);
        let run = Run { to: local, ect: false, segment: 1, octets: 1 };
        // The system says by the next one what became of this.
        assert!(wire.send(&run, b"?"));
        assert_eq!(receive(&mut wire).0, [b"farewell"]);
        assert!(wire.receive(&mut [0; 100], true).is_none());
        assert!(wire.is_refused() && !wire.is_refused());
    }

    #[test]
    fn marks_are_noticed() {
        let mut wire = far_wire();
        let to = wire.address().unwrap();
        let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        // CE, as if a queue on the way had marked it.
        sockopt::set_ip_tos(&sender, 3).unwrap();
        sender.send_to(b"mark", to).unwrap();
        assert_eq!(receive(&mut wire), (vec![b"mark".to_vec()], Ecn::Marked));
        sockopt::set_ip_tos(&sender, 0).unwrap();
        sender.send_to(b"none", to).unwrap();
        assert_eq!(receive(&mut wire).1, Ecn::NotCapable);
    }
}
