//! Messages over streams: TCP, and sockets of the Unix domain. A message tells its own length.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use super::{Filled, Pipe, Waiting};

/// A connected stream.
pub(super) struct Stream<S> {
    stream: S,
    spare: Option<Filled>,
}

impl<S> Stream<S> {
    fn new(stream: S) -> Self {
        Self { stream, spare: None }
    }
}

impl Stream<TcpStream> {
    pub(super) fn listen_tcp(wait: Waiting, say: impl Fn(&str) -> io::Result<()>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        say(&listener.local_addr()?.to_string())?;
        Self::prepared(listener.accept()?.0, wait)
    }

    pub(super) fn connect_tcp(wait: Waiting, address: &str) -> io::Result<Self> {
        Self::prepared(TcpStream::connect(address)?, wait)
    }

    fn prepared(stream: TcpStream, wait: Waiting) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(wait == Waiting::Poll)?;
        Ok(Self::new(stream))
    }
}

impl Stream<UnixStream> {
    pub(super) fn listen_unix(wait: Waiting, say: impl Fn(&str) -> io::Result<()>) -> io::Result<Self> {
        let name = format!("throughline-echo-{}", std::process::id());
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        say(&name)?;
        Self::ready(listener.accept()?.0, wait)
    }

    pub(super) fn connect_unix(wait: Waiting, name: &str) -> io::Result<Self> {
        Self::ready(UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?)?, wait)
    }

    fn ready(stream: UnixStream, wait: Waiting) -> io::Result<Self> {
        stream.set_nonblocking(wait == Waiting::Poll)?;
        Ok(Self::new(stream))
    }
}

impl<S: Read + Write> Pipe for Stream<S> {
    type Message = Filled;

    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let mut rest = message;
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Filled> {
        let mut message = Filled::from_spare(&mut self.spare);
        let (mut filled, mut length) = (0, None);
        // One message at a time is on its way, so nothing of another can follow it.
        while length.is_none_or(|length| filled < length) {
            match self.stream.read(&mut message.bytes[filled..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(received) => filled += received,
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                Err(e) => return Err(e),
            }
            length = message.bytes[..filled].first_chunk().map(|bytes| u32::from_le_bytes(*bytes) as usize);
        }
        message.length = filled;
        Ok(message)
    }

    fn release(&mut self, message: Filled) {
        self.spare = Some(message);
    }
}
