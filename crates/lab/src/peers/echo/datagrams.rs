//! Messages over UDP, a datagram each. None is sent again: one that is lost ends the exchange.

use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use super::{Filled, Pipe, Waiting};

/// On the loopback interface a datagram that has not come by then will not come.
const LOST: Duration = Duration::from_secs(5);
/// How often a client that polls looks before it looks at the clock.
const LOOKS: u32 = 1 << 16;

/// A socket that knows its peer, or will from the first datagram.
pub(super) struct Datagrams {
    socket: UdpSocket,
    spare: Option<Filled>,
    wait: Waiting,
    client: bool,
    known: bool,
}

impl Datagrams {
    pub(super) fn listen(wait: Waiting, say: impl Fn(&str) -> io::Result<()>) -> io::Result<Self> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        say(&socket.local_addr()?.to_string())?;
        Self::new(socket, wait, false)
    }

    pub(super) fn connect(wait: Waiting, address: &str) -> io::Result<Self> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.connect(address)?;
        Self::new(socket, wait, true)
    }

    fn new(socket: UdpSocket, wait: Waiting, client: bool) -> io::Result<Self> {
        socket.set_nonblocking(wait == Waiting::Poll)?;
        // A server waits for as long as nobody asks.
        socket.set_read_timeout(client.then_some(LOST))?;
        Ok(Self { socket, spare: None, wait, client, known: client })
    }

    fn receive_into(&mut self, message: &mut [u8]) -> io::Result<usize> {
        if self.known {
            return self.socket.recv(message);
        }
        let (length, peer) = self.socket.recv_from(message)?;
        self.socket.connect(peer)?;
        self.known = true;
        Ok(length)
    }

    /// Looks for a datagram, for a while if this is a client.
    fn poll(&mut self, message: &mut [u8]) -> io::Result<usize> {
        let mut began = None;
        loop {
            for _ in 0..LOOKS {
                match self.receive_into(message) {
                    Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                    ended => return ended,
                }
            }
            if self.client && began.get_or_insert_with(Instant::now).elapsed() > LOST {
                return Err(ErrorKind::TimedOut.into());
            }
        }
    }
}

impl Pipe for Datagrams {
    type Message = Filled;

    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        loop {
            match self.socket.send(message) {
                Ok(_) => return Ok(()),
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn receive(&mut self) -> io::Result<Filled> {
        let mut message = Filled::from_spare(&mut self.spare);
        message.length = match self.wait {
            Waiting::Poll => self.poll(&mut message.bytes)?,
            Waiting::Block => self.receive_into(&mut message.bytes)?,
        };
        Ok(message)
    }

    fn release(&mut self, message: Filled) {
        self.spare = Some(message);
    }
}
