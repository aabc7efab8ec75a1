//! The sending side of one connection: whole messages in, as few system calls as the kernel allows.

use std::io;
use std::ops::Range;
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
    /// What the kernel has taken of all that ever waited.
    taken: u64,
    /// When the kernel last took bytes while others waited.
    stalled_since: Option<Instant>,
}

/// Messages from this length on, in octets, leave in two parts. Shorter ones are copied into the kernel before a peer
/// could wake.
pub(crate) const LONG: usize = 48 * 1024;
/// The first part of a long message: it wakes the peer while the rest is copied.
const HERALD: usize = 4096;

/// Sends as much of two parts as the kernel takes now, `ahead` octets of the second one with the first; how much that was.
fn send_now(socket: &Socket, first: &[u8], second: &[u8], ahead: usize) -> io::Result<usize> {
    let (herald, rest) = second.split_at(ahead.min(second.len()));
    let sent = taken(socket.try_send_both(first, herald))?;
    let more = sent == first.len() + herald.len() && !rest.is_empty();
    Ok(if more { sent + taken(socket.try_send(rest))? } else { sent })
}

fn taken(sent: io::Result<usize>) -> io::Result<usize> {
    match sent {
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(0),
        sent => sent,
    }
}

/// One message that leaves in parts. Until it has ended nobody else sends; if it never ends whole, neither does anybody
/// else afterwards, since the peer could not tell where the next message begins.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    pending: MutexGuard<'a, Pending>,
    outbox: &'a Outbox,
    socket: &'a Socket,
    length: usize,
    result: io::Result<()>,
    whole: bool,
}

impl Parts<'_> {
    /// Sends what is marshaled in `buffer`, then `block`, without joining them first. What the kernel does not take now
    /// is kept.
    pub(crate) fn put(&mut self, buffer: &[u8], block: &[u8]) {
        let ahead = if self.length == 0 && block.len() >= LONG { HERALD } else { block.len() };
        self.length += buffer.len() + block.len();
        let mut sent = 0;
        let something = !buffer.is_empty() || !block.is_empty();
        if something && self.pending.is_empty() && self.result.is_ok() {
            match send_now(self.socket, buffer, block, ahead) {
                Ok(taken) => sent = taken,
                Err(e) => self.result = Err(e),
            }
        }
        let of_block = sent.saturating_sub(buffer.len());
        self.pending.bytes.extend_from_slice(&buffer[sent.min(buffer.len())..]);
        self.pending.bytes.extend_from_slice(&block[of_block..]);
    }

    /// Ends the message, which must have `length` octets.
    pub(crate) fn end(mut self, length: usize) -> io::Result<Sent> {
        std::mem::replace(&mut self.result, Ok(()))?;
        if self.length != length {
            return Err(io::Error::other("a value was marshaled differently the second time"));
        }
        self.whole = true;
        self.outbox.flush_locked(&mut self.pending, self.socket)
    }
}

impl Drop for Parts<'_> {
    fn drop(&mut self) {
        if !self.whole {
            self.socket.shutdown();
        }
    }
}

/// What is left after an attempt to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The kernel has everything.
    All,
    /// Some bytes wait for the peer to read. They have left once so many that waited have: see [`Outbox::taken`].
    Waiting(u64),
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
        let sent = match message.len() {
            ..LONG => taken(socket.try_send(message))?,
            _ => send_now(socket, &[], message, HERALD)?,
        };
        if sent == message.len() {
            return Ok(Sent::All);
        }
        pending.bytes.extend_from_slice(&message[sent..]);
        self.flush_locked(&mut pending, socket)
    }

    /// Begins a message that is sent while it is marshaled.
    pub(crate) fn begin<'a>(&'a self, socket: &'a Socket) -> Parts<'a> {
        Parts { pending: self.lock(), outbox: self, socket, length: 0, result: Ok(()), whole: false }
    }

    fn flush_locked(&self, pending: &mut Pending, socket: &Socket) -> io::Result<Sent> {
        let result = pending.flush(socket);
        self.waiting.store(pending.len(), Ordering::Relaxed);
        result
    }

    /// Keeps `message` for the next [`flush`](Self::flush) or [`send`](Self::send). Where it lies among all that ever waited: it has
    /// left once so much of that has. See [`taken`](Self::taken).
    pub(crate) fn push(&self, message: &[u8]) -> Range<u64> {
        let mut pending = self.lock();
        pending.bytes.extend_from_slice(message);
        self.waiting.store(pending.len(), Ordering::Relaxed);
        let end = pending.taken + pending.len() as u64;
        end - message.len() as u64..end
    }

    /// Sends what waits, as far as the kernel takes it now.
    pub(crate) fn flush(&self, socket: &Socket) -> io::Result<Sent> {
        let mut pending = self.lock();
        if pending.is_empty() { Ok(Sent::All) } else { self.flush_locked(&mut pending, socket) }
    }

    /// How many of the bytes that waited the kernel has taken so far.
    pub(crate) fn taken(&self) -> u64 {
        self.lock().taken
    }

    /// How many bytes wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Whether nothing waits. Whoever has sent the last of it knows afterwards what the caller wrote before.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
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
                    self.taken += sent as u64;
                    self.stalled_since = None;
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    self.stalled_since.get_or_insert_with(Instant::now);
                    self.compact();
                    return Ok(Sent::Waiting(self.taken + self.len() as u64));
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
