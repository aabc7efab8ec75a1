//! A second socket of a listener, for a peer that is alone with it for a while.
//!
//! With each datagram the system looks for the way to its receiver, but to the peer of a connected socket it knows the way: that
//! saves a twelfth of the round trip of an empty call. So the peer gets a socket of the same address that is connected to it, and by
//! which all comes that it sends; what others send comes by the first socket as before.

use super::socket::{look, prepare};
use crate::fabric::datagram::Reception;
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, connect, socket_with, sockopt::set_socket_reuseport,
};
use std::{
    io,
    net::{SocketAddr, UdpSocket},
    os::fd::{AsFd, BorrowedFd},
};

/// A peer gets its socket when so many receptions in a row were its own,
const ALONE: u32 = 64;
/// and loses it when so many in a row were of others. What comes at that moment is lost, as on any way.
const FORGOTTEN: u32 = 256;
/// The first socket is looked at each time until so many receptions in a row came by the second,
const CALM: u32 = 64;
/// and then once in so many times.
const SELDOM: u32 = 16;
/// Of so many receptions by the second the system is asked whose they are.
const MIXED: u32 = 64;

/// The second socket, if there is one, and when which of both is looked at.
#[derive(Default)]
pub(super) struct Direct {
    second: Option<Second>,
    /// Receptions in a row by one socket: the peer's, or those of anybody by the first while there is a second.
    by_first: u32,
    by_second: u32,
    /// Whose the last one by the first socket was.
    last: Option<SocketAddr>,
    looks: u32,
    /// The system gives none.
    never: bool,
}

struct Second {
    socket: UdpSocket,
    peer: SocketAddr,
    /// Receptions until all that comes is the peer's.
    mixed: u32,
}

impl Direct {
    /// What has arrived by either socket. `everywhere`: by none, if it is nothing; otherwise the first may have been left out, and
    /// there may be a second from now on.
    #[inline(always)]
    pub(super) fn look(
        &mut self,
        first: &UdpSocket,
        into: &mut [u8],
        everywhere: bool,
    ) -> Option<Reception<SocketAddr>> {
        if self.second.is_none() {
            return self.look_at_first(first, into, everywhere);
        }
        self.looks = self.looks.wrapping_add(1);
        let turn = self.looks.is_multiple_of(SELDOM);
        if turn && let Some(reception) = self.look_at_first(first, into, everywhere) {
            return Some(reception);
        }
        if let Some(reception) = self.second.as_mut().and_then(|second| second.look(into)) {
            self.by_second = self.by_second.saturating_add(1);
            self.by_first = 0;
            return Some(reception);
        }
        let others = !turn && (everywhere || self.by_second < CALM);
        if others { self.look_at_first(first, into, everywhere) } else { None }
    }

    #[inline(never)]
    fn look_at_first(
        &mut self,
        first: &UdpSocket,
        into: &mut [u8],
        everywhere: bool,
    ) -> Option<Reception<SocketAddr>> {
        look(first, None, into, &mut false).map(|reception| self.note_first(first, reception, everywhere))
    }

    fn note_first(
        &mut self,
        first: &UdpSocket,
        reception: Reception<SocketAddr>,
        everywhere: bool,
    ) -> Reception<SocketAddr> {
        let peer = reception.from;
        let same = self.last.replace(peer) == Some(peer);
        self.by_second = 0;
        self.by_first = if same || self.second.is_some() { self.by_first.saturating_add(1) } else { 1 };
        if self.second.is_some() {
            self.forget();
        } else if self.by_first >= ALONE && !everywhere && !self.never {
            self.connect(first, peer);
        }
        reception
    }

    fn forget(&mut self) {
        if self.by_first >= FORGOTTEN {
            (self.second, self.last) = (None, None);
        }
    }

    #[cold]
    fn connect(&mut self, first: &UdpSocket, peer: SocketAddr) {
        match Second::new(first, peer) {
            Ok(second) => (self.second, self.by_first) = (Some(second), 0),
            Err(error) => {
                tracing::debug!(%error, "no socket for one peer");
                self.never = true;
            }
        }
    }

    /// The socket to send to this peer by.
    #[inline]
    pub(super) fn way_to(&self, peer: SocketAddr) -> Option<&UdpSocket> {
        self.second.as_ref().filter(|second| second.peer == peer).map(|second| &second.socket)
    }

    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.second.as_ref().map(|second| second.socket.as_fd())
    }
}

impl Second {
    /// What others send between the moments when it is bound and when it is connected comes by it, too.
    fn new(first: &UdpSocket, peer: SocketAddr) -> io::Result<Self> {
        let local = first.local_addr()?;
        let family = if local.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = UdpSocket::from(socket_with(family, SocketType::DGRAM, flags, None)?);
        prepare(&socket, local)?;
        set_socket_reuseport(&socket, true)?;
        // At this moment other processes of the same user could take the address as well, at no other.
        set_socket_reuseport(first, true)?;
        let bound = bind(&socket, &local);
        set_socket_reuseport(first, false)?;
        bound?;
        connect(&socket, &peer)?;
        set_socket_reuseport(&socket, false)?;
        Ok(Self { socket, peer, mixed: MIXED })
    }

    /// The system tells the sender only if it is asked to, which takes it time.
    #[inline(always)]
    fn look(&mut self, into: &mut [u8]) -> Option<Reception<SocketAddr>> {
        let peer = (self.mixed == 0).then_some(self.peer);
        let reception = look(&self.socket, peer, into, &mut false)?;
        self.mixed = self.mixed.saturating_sub(1);
        Some(reception)
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const ANY: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

    struct Listener {
        first: UdpSocket,
        direct: Direct,
        address: SocketAddr,
    }

    impl Listener {
        fn new() -> Self {
            let first = UdpSocket::bind(ANY).unwrap();
            first.set_nonblocking(true).unwrap();
            let address = first.local_addr().unwrap();
            Self { first, direct: Direct::default(), address }
        }

        fn peer(&self) -> UdpSocket {
            let peer = UdpSocket::bind(ANY).unwrap();
            peer.connect(self.address).unwrap();
            peer
        }

        fn look(&mut self, everywhere: bool) -> Option<SocketAddr> {
            self.direct.look(&self.first, &mut [0; 100], everywhere).map(|reception| reception.from)
        }

        /// Hears this peer so often, and of each message in time.
        fn hear(&mut self, peer: &UdpSocket, times: u32) {
            for _ in 0..times {
                peer.send(b"request").unwrap();
                let from = (0..SELDOM).find_map(|_| self.look(false));
                assert_eq!(from, Some(peer.local_addr().unwrap()));
                assert_eq!(self.look(true), None);
            }
        }

        fn answers(&self, peer: &UdpSocket) -> bool {
            let to = peer.local_addr().unwrap();
            let way = self.direct.way_to(to);
            match way {
                Some(second) => second.send(b"answer").unwrap(),
                None => self.first.send_to(b"answer", to).unwrap(),
            };
            // It takes only what comes from the listener's address.
            peer.recv(&mut [0; 100]).unwrap() == b"answer".len() && way.is_some()
        }
    }

    #[test]
    fn who_is_alone_gets_a_socket_until_others_are() {
        let mut listener = Listener::new();
        let [a, b] = [listener.peer(), listener.peer()];
        for peer in [&a, &b, &a] {
            listener.hear(peer, ALONE - 1);
        }
        assert!(!listener.answers(&a));
        listener.hear(&a, 1);
        assert!(listener.answers(&a) && !listener.answers(&b));
        for _ in 0..3 {
            listener.hear(&a, 2 * CALM);
            listener.hear(&b, FORGOTTEN - 1);
            assert!(listener.answers(&a) && !listener.answers(&b));
        }
        listener.hear(&b, 1);
        assert!(listener.direct.fd().is_none() && !listener.answers(&a));
        listener.hear(&a, 1);
        listener.hear(&b, ALONE);
        assert!(!listener.answers(&a) && listener.answers(&b));
    }

    #[test]
    fn nobody_waits_for_ever_behind_who_is_quick() {
        let mut listener = Listener::new();
        let [a, b] = [listener.peer(), listener.peer()];
        listener.hear(&a, ALONE + 2 * CALM);
        (0..2 * SELDOM).for_each(|_| drop(a.send(b"request")));
        b.send(b"request").unwrap();
        let heard: Vec<_> = (0..SELDOM).filter_map(|_| listener.look(false)).collect();
        assert_eq!(heard.len(), SELDOM as usize);
        assert!(heard.contains(&b.local_addr().unwrap()));
    }

    #[test]
    fn where_it_is_slept_the_sockets_stay_the_same_and_the_address_is_the_listeners_alone() {
        let mut listener = Listener::new();
        let a = listener.peer();
        for _ in 0..2 * ALONE {
            a.send(b"request").unwrap();
            assert!(listener.look(true).is_some() && listener.direct.fd().is_none());
        }
        listener.hear(&a, 1);
        assert!(listener.direct.fd().is_some());
        let other = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None).unwrap();
        set_socket_reuseport(&other, true).unwrap();
        assert!(bind(&other, &listener.address).is_err());
    }
}
