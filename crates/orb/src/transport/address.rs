//! Where an endpoint is: a TCP host and port, a Unix-domain socket, shared memory, or a UDP host and port.

use std::fmt;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::exception::shown;
use crate::network::Network;
use crate::transport::resolver::{self, Resolver};

/// The address of an endpoint, as written in configuration: `iiop://host:port`, `host:port`, `[v6]:port`,
/// `unix:/path`, `shm:name` or `udp://host:port`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// TCP; the host is a name or a numeric address without brackets. Port 0 lets the system choose.
    Tcp {
        /// Host name or numeric IPv4/IPv6 address.
        host: String,
        /// Port in host order.
        port: u16,
    },
    /// A Unix-domain stream socket, as omniORB's `giop:unix:/path`.
    Unix(PathBuf),
    /// Shared memory, for clients on this machine that speak the native protocol: a name of up to 32 bytes without a
    /// slash. An empty one lets the ORB choose.
    Shm(String),
    /// UDP, for clients anywhere that speak the native protocol. Port 0 lets the system choose.
    Udp {
        /// Host name or numeric IPv4/IPv6 address, without brackets.
        host: String,
        /// Port in host order.
        port: u16,
    },
}

/// Why a text is not an [`Address`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an address; write iiop://host:port, [ipv6]:port, unix:/path, shm:name or udp://host:port"
)]
pub struct AddressError(String);

impl Address {
    /// A TCP address.
    pub fn tcp(host: impl Into<String>, port: u16) -> Self {
        Self::Tcp { host: host.into(), port }
    }

    /// Whether the native protocol is spoken there.
    pub(crate) fn is_native(&self) -> bool {
        matches!(self, Self::Shm(_) | Self::Udp { .. })
    }

    /// As [`connect`](Self::connect), by a network if it leads there.
    pub(crate) fn connect_by(&self, network: Option<&dyn Network>, timeout: Duration) -> io::Result<OwnedFd> {
        let by_network = match self {
            Self::Tcp { host, port } => network.and_then(|network| network.connect(host, *port, timeout)),
            _ => None,
        };
        by_network.unwrap_or_else(|| self.connect(timeout))
    }

    /// As [`listen`](Self::listen), by a network if the address is one of its own.
    pub(crate) fn listen_by(&self, network: Option<&dyn Network>) -> io::Result<(OwnedFd, Self)> {
        let by_network = match self {
            Self::Tcp { host, port } => network
                .and_then(|network| network.listen(host, *port))
                .map(|listening| listening.map(|(fd, port)| (fd, Self::tcp(host.clone(), port)))),
            _ => None,
        };
        by_network.unwrap_or_else(|| self.listen())
    }

    /// Connects, trying every address that the host name resolves to, within `timeout` in total, the time of the
    /// resolver included. One that does not answer leaves the others their shares of it.
    ///
    /// # Errors
    /// The last error of the operating system; `TimedOut` when the time is over.
    pub fn connect(&self, timeout: Duration) -> io::Result<OwnedFd> {
        match self {
            Self::Unix(path) => connect_unix(path, timeout),
            Self::Shm(_) | Self::Udp { .. } => Err(io::ErrorKind::Unsupported.into()),
            Self::Tcp { host, port } => connect_tcp(&resolver::SYSTEM, host, *port, timeout),
        }
    }

    /// Binds and listens. A Unix socket file left by a dead process is replaced; one in use is an error. What is yielded leads
    /// there from everywhere: with the port that was chosen, and the whole path if an address has room for it.
    ///
    /// # Errors
    /// Those of the operating system, `AddrInUse` among them.
    pub fn listen(&self) -> io::Result<(OwnedFd, Self)> {
        match self {
            Self::Tcp { host, port } => {
                let listener = TcpListener::bind((host.as_str(), *port))?;
                rustix::net::listen(&listener, BACKLOG)?;
                let port = listener.local_addr()?.port();
                listener.set_nonblocking(true)?;
                Ok((listener.into(), Self::Tcp { host: host.clone(), port }))
            }
            Self::Unix(path) => {
                if is_left_over(path) {
                    std::fs::remove_file(path)?;
                }
                let listener = UnixListener::bind(path)?;
                rustix::net::listen(&listener, BACKLOG)?;
                listener.set_nonblocking(true)?;
                Ok((listener.into(), Self::Unix(whole(path)?)))
            }
            // Not for streams of octets.
            Self::Shm(_) | Self::Udp { .. } => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

/// The path from the root, so that it does not matter where the process and its clients are. Where that is longer than an address may
/// be, those in the same folder find it by the other.
fn whole(path: &Path) -> io::Result<PathBuf> {
    let whole = std::path::absolute(path)?;
    let fits = rustix::net::SocketAddrUnix::new(&whole).is_ok();
    Ok(if fits { whole } else { path.to_owned() })
}

/// Connections that may wait to be accepted; the system has a limit of its own.
const BACKLOG: i32 = 4096;

/// Whether a socket is at `path`, and nobody listens there. Connecting to another kind of file is refused too.
fn is_left_over(path: &Path) -> bool {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket());
    is_socket
        && connect_unix(path, Duration::ZERO).is_err_and(|e| e.kind() == io::ErrorKind::ConnectionRefused)
}

/// The kernel lets a connecting thread wait for ever while too many others wait to be accepted: asks it not to wait, and
/// comes back.
fn connect_unix(path: &Path, timeout: Duration) -> io::Result<OwnedFd> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    let (address, started) = (SocketAddrUnix::new(path)?, Instant::now());
    loop {
        match connect(&fd, &address) {
            Ok(()) => return Ok(fd),
            Err(rustix::io::Errno::AGAIN) if started.elapsed() >= timeout => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            Err(rustix::io::Errno::AGAIN) => std::thread::sleep(Duration::from_millis(2)),
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// What the first of so many addresses that are left gets of the time that is: others may answer where it does not.
pub(crate) fn share(left: Duration, addresses: usize) -> Duration {
    left / u32::try_from(addresses).unwrap_or(u32::MAX).max(1)
}

fn connect_tcp(resolver: &'static Resolver, host: &str, port: u16, timeout: Duration) -> io::Result<OwnedFd> {
    let deadline = Instant::now() + timeout;
    let mut last = io::Error::new(io::ErrorKind::NotFound, format!("host `{}` has no address", shown(host)));
    let addresses = resolver.resolve(host, port, timeout)?;
    for (tried, address) in addresses.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match TcpStream::connect_timeout(address, share(left, addresses.len() - tried)) {
            Ok(stream) if leads_back(&stream) => last = io::ErrorKind::ConnectionRefused.into(),
            Ok(stream) => {
                // A call is one small message each way: never wait for more to fill a segment.
                stream.set_nodelay(true)?;
                return Ok(stream.into());
            }
            Err(e) => last = e,
        }
    }
    Err(last)
}

/// Where nobody listens on this machine, the system may choose the very port for the client's end, which is then connected with
/// itself.
fn leads_back(stream: &TcpStream) -> bool {
    stream.local_addr().is_ok_and(|own| stream.peer_addr().is_ok_and(|peer| peer == own))
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let error = || AddressError(text.to_owned());
        let rest = text.strip_prefix("giop:").unwrap_or(text);
        if let Some(path) = rest.strip_prefix("unix:") {
            return if path.is_empty() { Err(error()) } else { Ok(Self::Unix(path.into())) };
        }
        if let Some(name) = rest.strip_prefix("shm:") {
            return if name.contains('/') { Err(error()) } else { Ok(Self::Shm(name.to_owned())) };
        }
        let datagrams = rest.strip_prefix("udp://");
        let streams = || rest.strip_prefix("iiop://").or_else(|| rest.strip_prefix("tcp:"));
        let rest = datagrams.or_else(streams).unwrap_or(rest);
        let (host, port) = rest.rsplit_once(':').ok_or_else(error)?;
        let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
        if bare.is_none() && host.contains(':') {
            return Err(error());
        }
        let host = bare.unwrap_or(host);
        let host = if host.is_empty() { "0.0.0.0" } else { host }.to_owned();
        let port = port.parse().map_err(|_| error())?;
        Ok(if datagrams.is_some() { Self::Udp { host, port } } else { Self::Tcp { host, port } })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "iiop://[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "iiop://{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Shm(name) => write!(f, "shm:{name}"),
            Self::Udp { host, port } if host.contains(':') => write!(f, "udp://[{host}]:{port}"),
            Self::Udp { host, port } => write!(f, "udp://{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    #[test]
    fn names_are_looked_up_within_the_time_to_connect() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let resolver: &'static Resolver = Box::leak(Box::new(Resolver::new(|host| {
            if host == "slow" {
                std::thread::sleep(Duration::from_secs(3));
            }
            // The first address is nobody's.
            Ok([[127, 255, 255, 254], [127, 0, 0, 1]].map(|ip| SocketAddr::from((ip, 0))).into())
        })));
        let started = Instant::now();
        let e = connect_tcp(resolver, "slow", port, Duration::from_millis(100)).unwrap_err();
        assert_eq!(e.kind(), io::ErrorKind::TimedOut);
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
        connect_tcp(resolver, "quick", port, Duration::from_secs(10)).unwrap();
        Address::tcp("localhost", port).connect(Duration::from_secs(10)).unwrap();
    }

    #[test]
    fn an_address_that_does_not_answer_leaves_time_for_the_others() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let crowded = TcpListener::bind(("127.0.0.2", port)).unwrap();
        rustix::net::listen(&crowded, 0).unwrap();
        let address = crowded.local_addr().unwrap();
        let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(50));
        let crowd: Vec<_> = std::iter::from_fn(|| connect().ok()).take(4).collect();
        assert!(crowd.len() < 4, "the queue has no end");
        let resolver: &'static Resolver = Box::leak(Box::new(Resolver::new(|_| {
            Ok([[127, 0, 0, 2], [127, 0, 0, 1]].map(|ip| SocketAddr::from((ip, 0))).into())
        })));
        connect_tcp(resolver, "both", port, Duration::from_secs(1)).unwrap();
    }

    #[test]
    fn nobody_is_connected_with_himself() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        // Whoever connects is given ports of the other kind: all of them, one after another.
        let port = port ^ 1;
        let resolver: &'static Resolver = Box::leak(Box::new(Resolver::new(|_| panic!("asked"))));
        for _ in 0..60_000 {
            if let Ok(stream) = connect_tcp(resolver, "127.0.0.1", port, Duration::from_secs(10)) {
                let stream = TcpStream::from(stream);
                assert_ne!(stream.local_addr().unwrap(), stream.peer_addr().unwrap());
            }
        }
    }

    #[test]
    fn every_form_parses_and_prints() {
        for (text, printed) in [
            ("localhost:2809", "iiop://localhost:2809"),
            ("iiop://127.0.0.1:0", "iiop://127.0.0.1:0"),
            ("[::1]:99", "iiop://[::1]:99"),
            ("giop:tcp:host:1", "iiop://host:1"),
            ("giop:unix:/tmp/x", "unix:/tmp/x"),
            ("shm:bank", "shm:bank"),
            ("shm:", "shm:"),
            (":7", "iiop://0.0.0.0:7"),
            ("udp://localhost:7", "udp://localhost:7"),
            ("udp://[::1]:7", "udp://[::1]:7"),
            ("udp://:0", "udp://0.0.0.0:0"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), printed);
        }
        for wrong in ["", "host", "host:", "host:70000", "::1:5", "unix:", "shm:a/b"] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }
}
