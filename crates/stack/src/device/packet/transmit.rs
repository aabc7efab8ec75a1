//! Frames collected and sent by one system call.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::{Message, Pool};

/// Frames of one system call, at most.
const MOST: usize = 64;

#[derive(Debug)]
pub(super) struct Transmit {
    socket: OwnedFd,
    waiting: Vec<Message>,
    /// Sent, and on their way back to a pool.
    done: Vec<Message>,
    batch: usize,
    pub(super) sent: u64,
    pub(super) unsent: u64,
}

impl Transmit {
    pub(super) fn new(socket: OwnedFd, batch: usize) -> Self {
        let batch = batch.clamp(1, MOST);
        let [waiting, done] = [Vec::with_capacity(batch), Vec::with_capacity(batch)];
        Self { socket, waiting, done, batch, sent: 0, unsent: 0 }
    }

    pub(super) fn give_back(&mut self, pool: &mut Pool) {
        self.done.drain(..).for_each(|message| pool.give(message));
    }

    /// Collects a frame. Those before it go first, so it comes back if they cannot.
    pub(super) fn send(&mut self, frame: Message) -> Result<(), (Message, io::Error)> {
        if self.waiting.len() >= self.batch {
            let _ = self.flush();
        }
        if self.waiting.len() >= self.batch {
            return Err((frame, io::ErrorKind::WouldBlock.into()));
        }
        self.waiting.push(frame);
        if self.waiting.len() == self.batch {
            // Those that find no place now are tried again by the next call.
            let _ = self.flush();
        }
        Ok(())
    }

    /// Sends all. Where there is no place, the rest waits; a frame that is refused otherwise is dropped and counted.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let mut fault = Ok(());
        while !self.waiting.is_empty() {
            let gone = match self.call() {
                Ok(count) => {
                    self.sent += count as u64;
                    count
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
                Err(error) if is_full(&error) => return Err(io::ErrorKind::WouldBlock.into()),
                Err(error) => {
                    self.unsent += 1;
                    fault = Err(error);
                    1
                }
            };
            self.done.extend(self.waiting.drain(..gone));
        }
        fault
    }

    /// One system call; how many frames went.
    fn call(&self) -> io::Result<usize> {
        match &self.waiting[..] {
            [frame] => self.call_with_one(frame),
            _ => self.call_with_all(),
        }
    }

    /// What answers at once sends one at a time, and waits for this: the call without lists is shorter.
    fn call_with_one(&self, frame: &Message) -> io::Result<usize> {
        let bytes = frame.bytes();
        let flags = libc::MSG_DONTWAIT;
        // SAFETY: the frame's bytes live during the call, which reads them.
        let sent = unsafe { libc::send(self.socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(1) }
    }

    fn call_with_all(&self) -> io::Result<usize> {
        // SAFETY: these structures of numbers and pointers may be all zeros.
        let (mut parts, mut headers): ([libc::iovec; MOST], [libc::mmsghdr; MOST]) = unsafe { mem::zeroed() };
        for ((part, header), frame) in parts.iter_mut().zip(&mut headers).zip(&self.waiting) {
            part.iov_base = frame.bytes().as_ptr().cast_mut().cast();
            part.iov_len = frame.len();
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
        }
        let count = self.waiting.len().min(MOST) as _;
        let flags = libc::MSG_DONTWAIT as _;
        // SAFETY: as many headers as said are filled in; they, their parts and the frames live during the call, which reads
        // the frames and writes only lengths into the headers.
        let sent = unsafe { libc::sendmmsg(self.socket.as_raw_fd(), headers.as_mut_ptr(), count, flags) };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}

/// Whether there is no place for now.
fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(libc::ENOBUFS)
}
