//! Connecting: the memory files change hands over a Unix socket.

use super::{
    channel::Side,
    hello::{Control, Terms},
    link::ShmLink,
    socket::{self, Message},
    waking::Waker,
};
use crate::{
    ConnectError, Reliability, ResourceError,
    fabric::{Incoming, Link, Listen, Posted, readable, sleep},
    memory::Untrusted,
};
use rustix::{
    event::{PollFd, PollFlags, epoll},
    io::Errno,
    net::SocketFlags,
};
use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::{Duration, Instant},
};

/// Callers that have not yet said what they want; others wait, or the oldest is dropped.
const MAX_SILENT: usize = 32;
/// Callers of other users that are sent away at a time, lest they keep us busy.
const MAX_OTHERS: usize = 128;
/// How long every caller may be silent, however many there are.
const GRACE: Duration = Duration::from_millis(50);
/// How long a caller may be silent.
const PATIENCE: Duration = Duration::from_secs(2);

impl From<Untrusted> for ConnectError {
    fn from(untrusted: Untrusted) -> Self {
        Self::Protocol(untrusted.0)
    }
}

/// Connects as the active side.
pub(crate) fn connect(
    link: &mut ShmLink,
    address: &str,
    discriminator: &[u8],
    deadline: Option<Instant>,
) -> Result<(), ConnectError> {
    let name = socket::name(address, discriminator).ok_or(ConnectError::BadAddress)?;
    let socket = socket::new_socket()?;
    loop {
        match rustix::net::connect(&socket, &name) {
            Ok(()) => break,
            Err(Errno::CONNREFUSED) => return Err(ConnectError::NobodyListens),
            // The listener's backlog is full.
            Err(Errno::AGAIN) if deadline.is_none_or(|deadline| Instant::now() < deadline) => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(Errno::AGAIN) => return Err(ConnectError::Timeout),
            Err(errno) => return Err(errno.into()),
        }
    }
    same_user(&socket)?;
    socket::send(socket.as_fd(), &Control::Hello(link.terms()).to_bytes(), &link.files()?)?;
    if !readable(socket.as_fd(), deadline)? {
        return Err(ConnectError::Timeout);
    }
    let answer = match socket::receive(socket.as_fd()) {
        Err(Errno::CONNRESET) => return Err(ConnectError::Rejected),
        answer => answer?,
    };
    match Control::from_message(&answer) {
        Some(Control::Accept(terms)) => {
            if terms.reliability != link.terms().reliability {
                return Err(ConnectError::ReliabilityMismatch);
            }
            let (side, waker) = received(&answer, terms)?;
            link.admits(&side)?;
            link.connected(side, socket, waker);
            Ok(())
        }
        Some(Control::Reject { mismatch: true }) => Err(ConnectError::ReliabilityMismatch),
        Some(Control::Reject { .. }) => Err(ConnectError::Rejected),
        _ => Err(ConnectError::Protocol("no answer to a request")),
    }
}

fn received(message: &Message, terms: Terms) -> Result<(Side, Waker), ConnectError> {
    let (Some(file), Some(waker)) = (&message.file, &message.waker) else {
        let none = ConnectError::Protocol("not the files of a peer");
        return Err(if message.cut { Errno::MFILE.into() } else { none });
    };
    Ok((Side::of_peer(file, terms)?, Waker::new(waker)?))
}

/// The other process's [id](socket::peer), if it belongs to our user.
fn same_user(socket: &OwnedFd) -> Result<Option<u32>, ConnectError> {
    let (process, user) = socket::peer(socket)?;
    if user != rustix::process::geteuid().as_raw() {
        return Err(ConnectError::OtherUser(user));
    }
    Ok(process)
}

/// Where requests come in.
pub(crate) struct ShmListener {
    socket: OwnedFd,
    silent: Vec<(OwnedFd, Instant)>,
    /// Readable when one of those is.
    epoll: OwnedFd,
}

impl ShmListener {
    pub(crate) fn new(address: &str, discriminator: &[u8]) -> Result<Self, ResourceError> {
        let name = socket::name(address, discriminator).ok_or(ResourceError::OutOfRange("discriminator"))?;
        let socket = socket::new_socket()?;
        match rustix::net::bind(&socket, &name) {
            Err(Errno::ADDRINUSE) => return Err(ResourceError::AddressInUse),
            bound => bound?,
        }
        rustix::net::listen(&socket, 128)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        watch(&epoll, &socket)?;
        Ok(Self { socket, silent: Vec::new(), epoll })
    }

    /// Those beyond [`MAX_SILENT`] wait in the kernel's queue.
    fn take_callers(&mut self) -> Result<(), ConnectError> {
        let mut others = 0;
        while self.silent.len() < MAX_SILENT && others < MAX_OTHERS {
            match rustix::net::accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(caller) => match same_user(&caller) {
                    Ok(_) => {
                        watch(&self.epoll, &caller)?;
                        self.silent.push((caller, Instant::now() + PATIENCE));
                    }
                    Err(error) => {
                        others += 1;
                        tracing::debug!(%error, "a caller is sent away");
                    }
                },
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    /// All callers are silent: the one that has been so for the longest goes, unless all have only just come.
    #[cold]
    fn make_room(&mut self) {
        let longest = self.silent.first().map(|(_, until)| until.saturating_duration_since(Instant::now()));
        if longest.is_some_and(|left| left + GRACE < PATIENCE) {
            self.silent.remove(0);
        } else {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The first caller that has said what it wants. Those that are gone, are silent for too long, belong to others or
    /// talk nonsense are dropped.
    fn first_request(&mut self) -> Option<Request> {
        let mut at = 0;
        while at < self.silent.len() {
            match socket::receive(self.silent[at].0.as_fd()) {
                Ok(message) => {
                    let (socket, _) = self.silent.remove(at);
                    let _ = epoll::delete(&self.epoll, &socket);
                    match Request::new(socket, &message) {
                        Ok(request) => return Some(request),
                        Err(error) => tracing::debug!(%error, "request for a connection refused"),
                    }
                }
                Err(Errno::AGAIN | Errno::INTR) if Instant::now() < self.silent[at].1 => at += 1,
                Err(_) => drop(self.silent.remove(at)),
            }
        }
        None
    }
}

impl Listen for ShmListener {
    fn next(&mut self, deadline: Option<Instant>) -> Result<Option<Box<dyn Incoming>>, ConnectError> {
        loop {
            self.take_callers()?;
            if let Some(request) = self.first_request() {
                return Ok(Some(Box::new(request)));
            }
            let full = self.silent.len() == MAX_SILENT;
            if full {
                self.make_room();
            }
            // Callers who say nothing may come without an end.
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(None);
            }
            if full {
                continue;
            }
            let patience = self.silent.first().map(|(_, until)| *until);
            let until = deadline.into_iter().chain(patience).min();
            sleep(&mut [PollFd::new(&self.epoll, PollFlags::IN)], until)?;
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// Makes `epoll` readable when `socket` is. A socket that is closed is left out by itself.
fn watch(epoll: &OwnedFd, socket: &OwnedFd) -> Result<(), Errno> {
    epoll::add(epoll, socket, epoll::EventData::new_u64(0), epoll::EventFlags::IN)
}

/// A request whose memory has been checked and mapped.
struct Request {
    socket: OwnedFd,
    process: Option<u32>,
    reliability: Reliability,
    side: Side,
    waker: Waker,
}

impl Request {
    fn new(socket: OwnedFd, message: &Message) -> Result<Self, ConnectError> {
        let process = same_user(&socket)?;
        let Some(Control::Hello(terms)) = Control::from_message(message) else {
            return Err(ConnectError::Protocol("not a request"));
        };
        let (side, waker) = received(message, terms)?;
        Ok(Self { process, reliability: terms.reliability, side, waker, socket })
    }
}

impl Incoming for Request {
    fn reliability(&self) -> Reliability {
        self.reliability
    }

    fn process(&self) -> Option<u32> {
        self.process
    }

    fn accept(self: Box<Self>, link: &mut dyn Link, _: &mut Posted) -> Result<(), ConnectError> {
        let link = link.as_any().downcast_mut::<ShmLink>().ok_or(ConnectError::OtherFabric)?;
        link.admits(&self.side)?;
        socket::send(self.socket.as_fd(), &Control::Accept(link.terms()).to_bytes(), &link.files()?)?;
        link.connected(self.side, self.socket, self.waker);
        Ok(())
    }

    fn reject(self: Box<Self>, mismatch: bool) {
        let _ = socket::send(self.socket.as_fd(), &Control::Reject { mismatch }.to_bytes(), &[]);
    }
}
