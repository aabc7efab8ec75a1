//! The thread that carries what passes between streams and sockets.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrUnix, SocketFlags, SocketType, bind, connect,
    getsockname, listen, shutdown, socket_with, socketpair,
};

use crate::{Device, Driver, Graph, ListenerId, Metrics, OpenError, Participants, PathId, StreamError};

/// Events that are no relay's: its number is its slot.
const BELL: u64 = u64::MAX;
const DEVICE: u64 = u64::MAX - 1;
/// Bytes that are carried at a time, and are under way in one direction at most.
const PIECE: usize = 64 << 10;
/// Connections to a listening socket that wait to be accepted.
const BACKLOG: i32 = 4096;
/// How long the thread sleeps at most; what finds no room is tried again then.
pub(super) const NAP: Duration = Duration::from_millis(100);

/// Every stream of a graph that has a socket.
pub(super) struct Relays<D> {
    driver: Driver<D>,
    epoll: OwnedFd,
    bell: Arc<OwnedFd>,
    relays: Vec<Option<Relay>>,
    free: Vec<usize>,
    by_path: HashMap<PathId, usize>,
    listening: Vec<Listening>,
    piece: Box<[u8]>,
}

struct Listening {
    id: ListenerId,
    address: SocketAddrUnix,
    /// A path for which its socket, or the process, had no room; those behind it stay with the graph, which takes so many and no more.
    waiting: Option<PathId>,
}

/// What became of a stranger's stream.
enum Reached {
    Socket(PathId, OwnedFd),
    Nobody(PathId),
}

/// A stream and a socket.
struct Relay {
    path: PathId,
    socket: OwnedFd,
    reply: Option<Caller>,
    /// What the stream has no room for, and the socket.
    outward: Held,
    inward: Held,
    /// The socket has sent everything; the stream has.
    outward_ended: bool,
    inward_ended: bool,
    /// The socket's other end is closed, and it is not watched any more.
    hung: bool,
    /// What the socket is watched for.
    watched: epoll::EventFlags,
}

/// Who is told when the stream is connected, with the socket that he gets.
type Caller = (SyncSender<io::Result<OwnedFd>>, OwnedFd);

/// Bytes on their way, of which some are gone.
#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    gone: usize,
}

/// The socket or the stream is broken.
struct Broken;

impl<D: Device> Relays<D> {
    pub fn new(driver: Driver<D>, bell: Arc<OwnedFd>) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &*bell, epoll::EventData::new_u64(BELL), epoll::EventFlags::IN)?;
        let mut new = Self {
            driver,
            epoll,
            bell,
            relays: Vec::new(),
            free: Vec::new(),
            by_path: HashMap::new(),
            listening: Vec::new(),
            piece: vec![0; PIECE].into_boxed_slice(),
        };
        if let Some(fd) = new.driver.device().fd() {
            epoll::add(&new.epoll, fd, epoll::EventData::new_u64(DEVICE), epoll::EventFlags::IN)?;
        }
        Ok(new)
    }

    /// Everything that can be done now; then sleeps until there is something.
    ///
    /// # Errors
    /// Those of the device, or of the system. It may work later.
    pub fn turn(&mut self) -> io::Result<()> {
        let mut busy = self.driver.poll()?;
        self.accept();
        while let Some(path) = self.driver.graph.ready() {
            if let Some(slot) = self.by_path.get(&path) {
                self.stream_ready(*slot);
            }
            busy = true;
        }
        let pause = if busy { Duration::ZERO } else { self.driver.pause(NAP) };
        self.sleep(pause)?;
        self.driver.flush()?;
        Ok(())
    }

    fn sleep(&mut self, at_most: Duration) -> io::Result<()> {
        let time = Timespec { tv_sec: at_most.as_secs() as i64, tv_nsec: at_most.subsec_nanos().into() };
        let empty = epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) };
        let mut events = [empty; 64];
        let count = match epoll::wait(&self.epoll, &mut events[..], Some(&time)) {
            Ok(count) => count,
            Err(Errno::INTR) => 0,
            Err(error) => return Err(error.into()),
        };
        for event in &events[..count] {
            let flags = event.flags;
            match event.data.u64() {
                BELL => {
                    // How often it was rung does not matter.
                    let _ = rustix::io::read(&*self.bell, &mut [0; 8]);
                }
                DEVICE if flags.contains(epoll::EventFlags::ERR) => self.driver.hear(),
                DEVICE => {}
                slot => {
                    let hung = flags.intersects(epoll::EventFlags::HUP | epoll::EventFlags::ERR);
                    self.socket_ready(slot as usize, hung);
                }
            }
        }
        Ok(())
    }

    /// Opens a stream; the caller is told when it is connected, or that it is not.
    pub fn connect(&mut self, to: SocketAddr, reply: SyncSender<io::Result<OwnedFd>>) {
        let opened = self.open(to);
        match opened {
            Ok((path, ours, theirs)) => {
                if let Err(error) = self.add(path, ours, Some((reply.clone(), theirs))) {
                    drop(reply.send(Err(error)));
                }
            }
            // Nobody waits any more if that fails.
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    fn open(&mut self, to: SocketAddr) -> io::Result<(PathId, OwnedFd, OwnedFd)> {
        let flags = SocketFlags::CLOEXEC;
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        let participants = Participants::to(to.ip(), to.port());
        let path = self.driver.graph.open("tcp", participants).map_err(refused)?;
        Ok((path, ours, theirs))
    }

    /// See [`Sockets::metrics`](super::Sockets::metrics).
    pub fn metrics(&mut self, labels: &[(&str, &str)]) -> Metrics {
        self.driver.metrics(labels)
    }

    /// A listening socket for a port.
    pub fn listen(&mut self, port: u16) -> io::Result<OwnedFd> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        // The system finds a name.
        bind(&socket, &SocketAddrUnix::new_unnamed())?;
        let address = SocketAddrUnix::try_from(getsockname(&socket)?)?;
        listen(&socket, BACKLOG)?;
        let id = self.driver.graph.enable("tcp", Participants::at(port)).map_err(refused)?;
        self.listening.push(Listening { id, address, waiting: None });
        Ok(socket)
    }

    /// Connects strangers' streams to the listening sockets.
    fn accept(&mut self) {
        let mut place = 0;
        while let Some(listening) = self.listening.get_mut(place) {
            match listening.next(&mut self.driver.graph) {
                // The stream is closed if that fails: the stranger is told so.
                Some(Reached::Socket(path, socket)) => drop(self.add(path, socket, None)),
                Some(Reached::Nobody(path)) => {
                    let (gone, graph) = (self.listening.swap_remove(place), &mut self.driver.graph);
                    graph.close(path);
                    while let Some(path) = graph.accepted(gone.id) {
                        graph.close(path);
                    }
                    graph.disable(gone.id);
                }
                None => place += 1,
            }
        }
    }

    /// Begins to carry. What can't be watched is closed.
    fn add(&mut self, path: PathId, socket: OwnedFd, reply: Option<Caller>) -> io::Result<()> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.relays.push(None);
            self.relays.len() - 1
        });
        let token = epoll::EventData::new_u64(slot as u64);
        if let Err(error) = epoll::add(&self.epoll, &socket, token, epoll::EventFlags::empty()) {
            self.free.push(slot);
            self.driver.graph.close(path);
            return Err(error.into());
        }
        self.relays[slot] = Some(Relay::new(path, socket, reply));
        self.by_path.insert(path, slot);
        self.carry(slot);
        Ok(())
    }

    /// Something has changed at a stream: it is connected, or it is not, or there is something to carry.
    fn stream_ready(&mut self, slot: usize) {
        let Some(relay) = self.relays.get_mut(slot).and_then(Option::as_mut) else { return };
        if relay.reply.is_some() {
            let (path, graph) = (relay.path, &mut self.driver.graph);
            let result = graph.write(path, &[]);
            // What was said of its segments may be a lie, or pass: it is waited on.
            if result.is_ok() && !graph.is_connected(path) {
                return;
            }
            let Some((reply, theirs)) = relay.reply.take() else { return };
            let answer = result.map(|_| theirs).map_err(|_| io::ErrorKind::ConnectionRefused.into());
            let connected = answer.is_ok();
            // Who asked may have given up.
            if reply.send(answer).is_err() || !connected {
                return self.end(slot);
            }
        }
        self.carry(slot);
    }

    /// The socket is ready; `hung` if its other end is closed altogether.
    fn socket_ready(&mut self, slot: usize, hung: bool) {
        if let Some(relay) = self.relays.get_mut(slot).and_then(Option::as_mut)
            && hung
            && !std::mem::replace(&mut relay.hung, true)
        {
            // It would be said again and again.
            let _ = epoll::delete(&self.epoll, &relay.socket);
        }
        self.carry(slot);
    }

    /// Carries what there is, both ways, as far as there is room.
    fn carry(&mut self, slot: usize) {
        let Some(relay) = self.relays.get_mut(slot).and_then(Option::as_mut) else { return };
        if relay.reply.is_some() {
            return;
        }
        let graph = &mut self.driver.graph;
        let carried = loop {
            let progress = relay
                .outward(graph, &mut self.piece)
                .and_then(|out| relay.inward(graph, &mut self.piece).map(|inward| out | inward));
            match progress {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(broken) => break Err(broken),
            }
        };
        if carried.is_err() || relay.has_ended() || relay.watch(slot, &self.epoll).is_err() {
            self.end(slot);
        }
    }

    fn end(&mut self, slot: usize) {
        let Some(relay) = self.relays.get_mut(slot).and_then(Option::take) else { return };
        self.by_path.remove(&relay.path);
        self.free.push(slot);
        self.driver.graph.close(relay.path);
    }
}

impl Listening {
    /// The next stranger's stream, unless there is none or the socket has no room.
    fn next(&mut self, graph: &mut Graph) -> Option<Reached> {
        let path = self.waiting.take().or_else(|| graph.accepted(self.id))?;
        match reached(&self.address) {
            Ok(socket) => Some(Reached::Socket(path, socket)),
            // The socket was closed.
            Err(Errno::CONNREFUSED) => Some(Reached::Nobody(path)),
            // It has no room, or this process may have no more files, as strangers can bring about.
            Err(_) => {
                self.waiting = Some(path);
                None
            }
        }
    }
}

impl Relay {
    fn new(path: PathId, socket: OwnedFd, reply: Option<Caller>) -> Self {
        Self {
            path,
            socket,
            reply,
            outward: Held::default(),
            inward: Held::default(),
            outward_ended: false,
            inward_ended: false,
            hung: false,
            watched: epoll::EventFlags::empty(),
        }
    }

    /// From the socket to the stream. Whether anything moved.
    fn outward(&mut self, graph: &mut Graph, piece: &mut [u8]) -> Result<bool, Broken> {
        if !self.outward.is_empty() {
            let written = graph.write(self.path, self.outward.bytes())?;
            self.outward.take(written);
            return Ok(written > 0);
        }
        if self.outward_ended {
            return Ok(false);
        }
        let len = match rustix::net::recv(&self.socket, &mut *piece, RecvFlags::DONTWAIT) {
            Ok((_, len)) => len,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(false),
            Err(_) => return Err(Broken),
        };
        if len == 0 {
            self.outward_ended = true;
            graph.shutdown(self.path)?;
            return Ok(true);
        }
        let written = graph.write(self.path, &piece[..len])?;
        self.outward.hold(&piece[written..len]);
        Ok(true)
    }

    /// From the stream to the socket. Whether anything moved.
    fn inward(&mut self, graph: &mut Graph, piece: &mut [u8]) -> Result<bool, Broken> {
        if !self.inward.is_empty() {
            let sent = send(&self.socket, self.inward.bytes())?;
            self.inward.take(sent);
            return Ok(sent > 0);
        }
        if self.inward_ended {
            return Ok(false);
        }
        match graph.read(self.path, piece) {
            Ok(0) => Ok(false),
            Ok(len) => {
                let sent = send(&self.socket, &piece[..len])?;
                self.inward.hold(&piece[sent..len]);
                Ok(true)
            }
            Err(StreamError::Finished) => {
                self.inward_ended = true;
                // If it fails there is nobody to be told.
                let _ = shutdown(&self.socket, Shutdown::Write);
                Ok(true)
            }
            Err(_) => Err(Broken),
        }
    }

    /// Both have sent everything, or what the stream sends nobody will read.
    fn has_ended(&self) -> bool {
        let all_out = self.outward_ended && self.outward.is_empty();
        all_out && (self.hung || self.inward_ended && self.inward.is_empty())
    }

    /// Watches the socket for what is waited for there.
    fn watch(&mut self, slot: usize, epoll: &OwnedFd) -> Result<(), Broken> {
        let mut wanted = epoll::EventFlags::empty();
        wanted.set(epoll::EventFlags::IN, !self.outward_ended && self.outward.is_empty());
        wanted.set(epoll::EventFlags::OUT, !self.inward.is_empty());
        if !self.hung && self.watched != wanted {
            self.watched = wanted;
            let token = epoll::EventData::new_u64(slot as u64);
            epoll::modify(epoll, &self.socket, token, wanted).map_err(|_| Broken)?;
        }
        Ok(())
    }
}

impl Held {
    fn is_empty(&self) -> bool {
        self.gone == self.bytes.len()
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[self.gone..]
    }

    fn take(&mut self, len: usize) {
        self.gone += len;
        if self.is_empty() {
            self.bytes.clear();
            self.gone = 0;
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
}

impl From<StreamError> for Broken {
    fn from(_: StreamError) -> Self {
        Self
    }
}

/// What the socket has room for is sent.
fn send(socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Broken> {
    match rustix::net::send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Ok(sent) => Ok(sent),
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        Err(_) => Err(Broken),
    }
}

/// A connection to a listening socket, if it has room.
fn reached(address: &SocketAddrUnix) -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, address)?;
    Ok(socket)
}

fn refused(error: OpenError) -> io::Error {
    let kind = match error {
        OpenError::Taken => io::ErrorKind::AddrInUse,
        OpenError::NoRoute => io::ErrorKind::HostUnreachable,
        OpenError::TooMany => io::ErrorKind::QuotaExceeded,
        OpenError::Missing(_) => io::ErrorKind::InvalidInput,
        OpenError::NotForUsers | OpenError::NoProtocol => io::ErrorKind::NotConnected,
    };
    io::Error::new(kind, error)
}
