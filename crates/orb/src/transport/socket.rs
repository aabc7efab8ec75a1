//! A connected stream socket: one system call to receive, one to send, and a choice of how to wait.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, sockopt};

/// How a thread waits for the next message on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Wait {
    /// Sleep in the kernel at once: no processor time while nothing arrives.
    #[default]
    Block,
    /// Poll for this long, then sleep: the lowest latency while messages keep coming, at the price of a core.
    Spin(Duration),
}

/// A connected TCP or Unix-domain stream socket. Blocking mode; `try_*` calls never block.
#[derive(Debug)]
pub(crate) struct Socket {
    fd: OwnedFd,
    /// The receive timeout last given to the kernel in nanoseconds, 0 for none: set again only when it changes.
    receive_timeout: AtomicU64,
}

impl Socket {
    pub(crate) fn new(fd: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&fd, false)?;
        Ok(Self { fd, receive_timeout: AtomicU64::new(0) })
    }

    /// Has the system ask the peer's machine whether it is there when nothing has come for so long, and end the connection when it
    /// has not answered for as long again. Not on Unix-domain sockets: those end with the peer.
    pub(crate) fn keep_alive(&self, after: Duration) {
        const QUESTIONS: u32 = 3;
        // The kernel takes whole seconds, and not more of them than this.
        let seconds = |time: Duration| Duration::from_secs(time.as_secs().clamp(1, 32_767));
        // No TCP_USER_TIMEOUT: it would end connections to peers that are there and do not read for a while.
        let _ = sockopt::set_tcp_keepidle(&self.fd, seconds(after))
            .and_then(|()| sockopt::set_tcp_keepintvl(&self.fd, seconds(after / QUESTIONS)))
            .and_then(|()| sockopt::set_tcp_keepcnt(&self.fd, QUESTIONS))
            .and_then(|()| sockopt::set_socket_keepalive(&self.fd, true));
    }

    /// Receives what is there; `WouldBlock` when nothing is.
    #[inline]
    pub(crate) fn try_receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.receive_with(buffer, RecvFlags::DONTWAIT)
    }

    /// Whether there is something to receive: bytes, or the end of the stream. It stays where it is.
    pub(crate) fn has_something(&self) -> bool {
        self.receive_with(&mut [0], RecvFlags::DONTWAIT | RecvFlags::PEEK).is_ok()
    }

    /// Waits as `wait` says for at least one byte, for at most `timeout` or until a signal comes (then `WouldBlock`).
    pub(crate) fn receive(
        &self,
        buffer: &mut [u8],
        wait: Wait,
        timeout: Option<Duration>,
    ) -> io::Result<usize> {
        if let Wait::Spin(spin) = wait
            && let Some(result) = self.spin(buffer, timeout.map_or(spin, |t| t.min(spin)))
        {
            return result;
        }
        self.set_receive_timeout(timeout)?;
        self.receive_with(buffer, RecvFlags::empty())
    }

    /// Waits until the whole buffer is full (or end of stream, an error, a signal, `timeout`): one call for the rest of
    /// a message whose length is known.
    pub(crate) fn receive_all(&self, buffer: &mut [u8], timeout: Option<Duration>) -> io::Result<usize> {
        self.set_receive_timeout(timeout)?;
        self.receive_with(buffer, RecvFlags::WAITALL)
    }

    fn spin(&self, buffer: &mut [u8], spin: Duration) -> Option<io::Result<usize>> {
        let started = Instant::now();
        loop {
            // The clock costs as much as the call: ask it once in a few tries.
            for _ in 0..8 {
                match self.try_receive(buffer) {
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => std::hint::spin_loop(),
                    done => return Some(done),
                }
            }
            if started.elapsed() >= spin {
                return None;
            }
        }
    }

    #[inline]
    fn receive_with(&self, buffer: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
        match rustix::net::recv(&self.fd, buffer, flags) {
            Ok((_, received)) => Ok(received),
            // The kernel would count from the beginning: whoever waits looks at the clock before he goes on.
            Err(rustix::io::Errno::INTR) => Err(io::ErrorKind::WouldBlock.into()),
            Err(e) => Err(e.into()),
        }
    }

    fn set_receive_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        // The kernel reads zero as "for ever"; its clock has microseconds.
        let wanted = timeout.map_or(0, |t| (t.as_nanos() as u64).max(1_000));
        if self.receive_timeout.load(Ordering::Relaxed) != wanted {
            let value = (wanted != 0).then(|| Duration::from_nanos(wanted));
            sockopt::set_socket_timeout(&self.fd, sockopt::Timeout::Recv, value)?;
            self.receive_timeout.store(wanted, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Sends what the kernel takes now; `WouldBlock` when it takes nothing.
    #[inline]
    pub(crate) fn try_send(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match rustix::net::send(&self.fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(sent) => return Ok(sent),
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// As [`try_send`](Self::try_send), of two parts one after the other.
    pub(crate) fn try_send_both(&self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        let parts = [IoSlice::new(first), IoSlice::new(second)];
        loop {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match rustix::net::sendmsg(&self.fd, &parts, &mut SendAncillaryBuffer::default(), flags) {
                Ok(sent) => return Ok(sent),
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Waits until the kernel takes more bytes or, on demand, has some, for at most `timeout`.
    pub(crate) fn wait_ready(&self, read: bool, timeout: Duration) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let flags = if read { PollFlags::IN | PollFlags::OUT } else { PollFlags::OUT };
        let spec = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: i64::from(timeout.subsec_nanos()) };
        match poll(&mut [PollFd::new(&self.fd, flags)], Some(&spec)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// Whether the peer has what was sent, but for a packet at most. What is under way is lost to whoever still sends when the
    /// socket is closed. To be asked when nothing more will be sent: there is next to no room for it from now on.
    pub(crate) fn has_delivered(&self) -> bool {
        // A Unix-domain socket has nothing under way: the peer has it.
        if matches!(sockopt::socket_domain(&self.fd), Ok(AddressFamily::UNIX)) {
            return true;
        }
        // As little as there can be, so that it is free only when all is.
        let _ = sockopt::set_socket_send_buffer_size(&self.fd, 0);
        self.has_room()
    }

    /// Whether the kernel takes more, and not just the little that it takes now and then of what a peer does not read; or the
    /// socket is broken.
    pub(crate) fn has_room(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        !matches!(poll(&mut [PollFd::new(&self.fd, PollFlags::OUT)], Some(&at_once)), Ok(0))
    }

    /// Receives nothing more; every thread waiting for bytes returns. The peer is not told.
    pub(crate) fn stop_receiving(&self) {
        let _ = rustix::net::shutdown(&self.fd, Shutdown::Read);
    }

    /// Ends both directions; every thread waiting on the socket returns.
    pub(crate) fn shutdown(&self) {
        let _ = rustix::net::shutdown(&self.fd, Shutdown::Both);
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
