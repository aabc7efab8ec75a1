//! What wakes a sleeper: a byte in a pipe, of which the sleeper has one end and the peer the other.
//!
//! A socket would do, but takes half as long again. And a pipe tells when the peer is gone, since then nobody is left to
//! write.

use crate::{ConnectError, memory::Untrusted};
use rustix::{
    fs::{FileType, Mode, OFlags},
    io::Errno,
    pipe::PipeFlags,
};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The sleeper's end.
pub(crate) struct Sleeper(OwnedFd);

/// The peer's end.
pub(crate) struct Waker(OwnedFd);

/// Why the sleeper was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// It was not.
    No,
    /// There is news in the ring.
    News,
    /// A word was sent over the socket.
    Word,
    /// The peer is gone.
    Gone,
}

const NEWS: u8 = 0;
const WORD: u8 = 1;
/// So many bytes are taken at a time; an honest peer writes one, and seldom two.
const AT_A_TIME: usize = 64;

/// A sleeper, and the file to be sent to the peer and then closed.
pub(crate) fn sleeper() -> rustix::io::Result<(Sleeper, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    // The kernel grants a user so much in all. That it is no smaller does no harm.
    let _ = rustix::pipe::fcntl_setpipe_size(&reader, 4096);
    Ok((Sleeper(reader), writer))
}

impl Sleeper {
    /// Takes what woke it. Does not wait.
    pub(crate) fn take(&self) -> Woken {
        let mut bytes = [NEWS; AT_A_TIME];
        match rustix::io::read(&self.0, &mut bytes) {
            Ok(0) => Woken::Gone,
            Ok(taken) if bytes[..taken].iter().all(|byte| *byte == NEWS) => Woken::News,
            Ok(_) => Woken::Word,
            Err(Errno::AGAIN | Errno::INTR) => Woken::No,
            Err(_) => Woken::Gone,
        }
    }

    /// Wakes it as the peer does, which is told of nothing.
    pub(crate) fn wake(&self) {
        self.write(NEWS);
    }

    /// As [`wake`](Self::wake), as if a word had been sent; whether it could be done.
    pub(crate) fn wake_to_listen(&self) -> bool {
        self.write(WORD)
    }

    /// What could write is closed again: once the peer is gone nobody must be left who could.
    fn write(&self, byte: u8) -> bool {
        let path = format!("/proc/self/fd/{}", self.0.as_raw_fd());
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let writer = rustix::fs::open(path, flags, Mode::empty());
        writer.and_then(|writer| rustix::io::write(&writer, &[byte])).is_ok()
    }
}

impl AsFd for Sleeper {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Waker {
    /// Of the file that the peer sent.
    ///
    /// It is opened anew: whether a write waits is a property of an open file, and that one the peer could still change.
    /// For reading, too, so that writing to a peer that is gone is an ordinary error and no signal.
    pub(crate) fn new(file: &OwnedFd) -> Result<Self, ConnectError> {
        let pipe = FileType::from_raw_mode(rustix::fs::fstat(file)?.st_mode) == FileType::Fifo;
        let writable = rustix::fs::fcntl_getfl(file)?.intersects(OFlags::WRONLY | OFlags::RDWR);
        if !pipe || !writable {
            return Err(Untrusted("what should wake the peer is no pipe").into());
        }
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// There is news in the ring.
    pub(crate) fn wake(&self) {
        self.write(NEWS);
    }

    /// A word was sent over the socket.
    pub(crate) fn send_word(&self) {
        self.write(WORD);
    }

    fn write(&self, byte: u8) {
        // A full pipe wakes as well.
        let _ = rustix::io::write(&self.0, &[byte]);
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn is_woken_once_and_learns_why() {
        let (sleeper, file) = sleeper().expect("a pipe");
        let waker = Waker::new(&file).expect("a pipe");
        drop(file);
        assert_eq!(sleeper.take(), Woken::No);
        waker.wake();
        assert_eq!((sleeper.take(), sleeper.take()), (Woken::News, Woken::No));
        waker.wake();
        waker.send_word();
        assert_eq!((sleeper.take(), sleeper.take()), (Woken::Word, Woken::No));
        // Never waits, however often.
        (0..1 << 17).for_each(|_| waker.wake());
        waker.send_word();
        drop(waker);
        while sleeper.take() == Woken::News {}
        assert_eq!(sleeper.take(), Woken::Gone);
    }

    #[test]
    fn one_that_is_gone_is_written_to_without_harm() {
        let (sleeper, file) = sleeper().expect("a pipe");
        let waker = Waker::new(&file).expect("a pipe");
        drop((sleeper, file));
        waker.wake();
    }

    #[test]
    fn takes_what_can_be_written_and_is_a_pipe() {
        let (sleeper, _file) = sleeper().expect("a pipe");
        let null = std::fs::OpenOptions::new().write(true).open("/dev/null").expect("always there");
        assert!(Waker::new(&sleeper.0).is_err());
        assert!(Waker::new(&null.into()).is_err());
    }
}
