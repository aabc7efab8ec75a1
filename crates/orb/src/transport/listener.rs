//! The sockets that a server's connections are accepted from.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use throughline_demux::Handle;

use crate::dispatch::{Dispatcher, Session};
use crate::priority::Priority;
use crate::transport::poller::{Event, Interest};
use crate::transport::reactor::{Reactor, Source, Worker};
use crate::transport::server::{Accepted, ServerConnection, ServerLimits};
use crate::transport::socket::Socket;

/// A listening socket.
#[derive(Debug)]
pub(crate) struct Listener {
    fd: OwnedFd,
    handle: OnceLock<Handle>,
    reactor: Weak<Reactor>,
    dispatcher: Arc<Dispatcher>,
    limits: Arc<ServerLimits>,
    accepted: Arc<Accepted>,
    /// The most urgent that clients may be.
    most_urgent: Priority,
    /// Accepting failed for want of descriptors: try again at the next tick.
    paused: AtomicBool,
}

impl Listener {
    pub(crate) fn start(
        (fd, most_urgent): (OwnedFd, Priority),
        reactor: &Arc<Reactor>,
        dispatcher: Arc<Dispatcher>,
        limits: Arc<ServerLimits>,
        accepted: Arc<Accepted>,
    ) -> io::Result<Arc<Self>> {
        let listener = Arc::new(Self {
            fd,
            handle: OnceLock::new(),
            reactor: Arc::downgrade(reactor),
            dispatcher,
            limits,
            accepted,
            most_urgent,
            paused: AtomicBool::new(false),
        });
        let handle = reactor.register(&listener.fd, Arc::clone(&listener) as Arc<dyn Source>)?;
        let _ = listener.handle.set(handle);
        listener.arm(reactor);
        Ok(listener)
    }

    fn arm(&self, reactor: &Reactor) {
        if let Some(handle) = self.handle.get() {
            reactor.arm(&self.fd, *handle, Interest { read: true, write: false });
        }
    }

    /// Accepts what waits; false when the system has no more descriptors to give.
    fn accept_all(&self, reactor: &Arc<Reactor>) -> bool {
        use rustix::io::Errno;
        loop {
            match rustix::net::accept_with(&self.fd, rustix::net::SocketFlags::CLOEXEC) {
                Ok(fd) => self.admit(fd, reactor),
                Err(Errno::AGAIN) => return true,
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(e) => {
                    tracing::warn!(error = %e, "cannot accept connections for a moment");
                    return false;
                }
            }
        }
    }

    fn admit(&self, fd: OwnedFd, reactor: &Arc<Reactor>) {
        if self.accepted.connections.load(Ordering::Relaxed) >= self.limits.max_connections {
            tracing::warn!(limit = self.limits.max_connections, "connection refused: too many are open");
            return self.turn_away(fd);
        }
        // Fails on Unix-domain sockets, which have nothing to delay.
        let _ = rustix::net::sockopt::set_tcp_nodelay(&fd, true);
        let started = Socket::new(fd).and_then(|socket| {
            if let Some(after) = self.limits.keep_alive {
                socket.keep_alive(after);
            }
            let (dispatcher, limits) = (Arc::clone(&self.dispatcher), Arc::clone(&self.limits));
            let session = Session::new(self.most_urgent);
            ServerConnection::start(
                (socket, session),
                reactor,
                dispatcher,
                limits,
                Arc::clone(&self.accepted),
            )
        });
        if let Err(e) = started {
            tracing::warn!(error = %e, "connection refused");
        }
    }

    /// Closes a new connection in order, so that its client knows that nothing was begun.
    fn turn_away(&self, fd: OwnedFd) {
        let Ok(socket) = Socket::new(fd) else { return };
        let _ = socket.try_send(&self.dispatcher.close_connection());
        // With requests left unread it would be reset, and what was sent be lost to clients of many systems.
        let _ = socket.try_receive(&mut [0; 16 * 1024]);
    }
}

impl Source for Listener {
    fn ready(self: Arc<Self>, _event: Event, worker: &mut Worker) {
        if self.accept_all(&worker.reactor) {
            self.arm(&worker.reactor);
        } else {
            self.paused.store(true, Ordering::Relaxed);
        }
    }

    fn tick(self: Arc<Self>, reactor: &Arc<Reactor>) {
        if self.paused.swap(false, Ordering::Relaxed) {
            self.arm(reactor);
        }
    }

    fn close(&self) {
        if let (Some(reactor), Some(handle)) = (self.reactor.upgrade(), self.handle.get()) {
            reactor.remove(&self.fd, *handle);
        }
        // New connections are refused from here on, although the descriptor lives as long as this.
        let _ = rustix::net::shutdown(&self.fd, rustix::net::Shutdown::Both);
    }
}
