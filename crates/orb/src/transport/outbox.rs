//! The sending side of one connection: whole messages in, as few system calls as the kernel allows.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::transport::socket::Socket;

/// Bytes that wait for the peer to read, and the order in which messages leave.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pending: Mutex<Pending>,
    /// The length of what waits, for those who only want to know. Written under the lock.
    waiting: AtomicUsize,
}

#[derive(Debug, Default)]
struct Pending {
    bytes: Vec<u8>,
    sent: usize,
    /// When the kernel last took bytes while others waited.
    stalled_since: Option<Instant>,
}

/// Messages from this length on, in octets, leave in two parts. Shorter ones are copied into the kernel before a peer
/// could wake.
const LONG: usize = 48 * 1024;
/// The first part of a long message: it wakes the peer while the rest is copied.
const HERALD: usize = 4096;

/// Sends as much as the kernel takes now; how much that was.
fn send_now(socket: &Socket, message: &[u8]) -> io::Result<usize> {
    if message.len() < LONG {
        return taken(socket.try_send(message));
    }
    let sent = taken(socket.try_send(&message[..HERALD]))?;
    if sent < HERALD { Ok(sent) } else { Ok(HERALD + taken(socket.try_send(&message[HERALD..]))?) }
}

fn taken(sent: io::Result<usize>) -> io::Result<usize> {
    match sent {
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(0),
        sent => sent,
    }
}

/// What is left after an attempt to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The kernel has everything.
    All,
    /// Some bytes wait for the peer to read.
    Waiting,
}

/// Memory kept by an empty outbox, in bytes.
const KEEP: usize = 64 * 1024;

impl Outbox {
    /// Sends `message` after everything that waits already. Never blocks: what the kernel does not take is kept.
    pub(crate) fn send(&self, socket: &Socket, message: &[u8]) -> io::Result<Sent> {
        let mut pending = self.lock();
        if !pending.is_empty() {
            pending.bytes.extend_from_slice(message);
            return self.flush_locked(&mut pending, socket);
        }
        let sent = send_now(socket, message)?;
        if sent == message.len() {
            return Ok(Sent::All);
        }
        pending.bytes.extend_from_slice(&message[sent..]);
        self.flush_locked(&mut pending, socket)
    }

    fn flush_locked(&self, pending: &mut Pending, socket: &Socket) -> io::Result<Sent> {
        let result = pending.flush(socket);
        self.waiting.store(pending.len(), Ordering::Relaxed);
        result
    }

    /// Keeps `message` for the next [`flush`](Self::flush) or [`send`](Self::send).
    pub(crate) fn push(&self, message: &[u8]) {
        let mut pending = self.lock();
        pending.bytes.extend_from_slice(message);
        self.waiting.store(pending.len(), Ordering::Relaxed);
    }

    /// Sends what waits, as far as the kernel takes it now.
    pub(crate) fn flush(&self, socket: &Socket) -> io::Result<Sent> {
        let mut pending = self.lock();
        if pending.is_empty() { Ok(Sent::All) } else { self.flush_locked(&mut pending, socket) }
    }

    /// How many bytes wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// For how long the peer has read nothing while bytes waited for it.
    pub(crate) fn stalled_for(&self, now: Instant) -> Option<Duration> {
        self.lock().stalled_since.map(|since| now.saturating_duration_since(since))
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        // A poisoned lock means that a thread died between two messages; the bytes are whole ones.
        self.pending.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Pending {
    fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn flush(&mut self, socket: &Socket) -> io::Result<Sent> {
        while !self.is_empty() {
            match socket.try_send(&self.bytes[self.sent..]) {
                Ok(sent) => {
                    self.sent += sent;
                    self.stalled_since = None;
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    self.stalled_since.get_or_insert_with(Instant::now);
                    self.compact();
                    return Ok(Sent::Waiting);
                }
                Err(e) => return Err(e),
            }
        }
        self.compact();
        self.stalled_since = None;
        Ok(Sent::All)
    }

    fn compact(&mut self) {
        if self.is_empty() {
            self.bytes.clear();
            self.bytes.shrink_to(KEEP);
            self.sent = 0;
        } else if self.sent >= self.bytes.len() / 2 {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }
}
