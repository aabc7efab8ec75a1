//! An [`Endpoint`] on a UDP socket, polled or waited for.

use std::{
    io::{self, IoSliceMut},
    net::{SocketAddr, UdpSocket},
    os::fd::AsRawFd,
    time::{Duration, Instant},
};

use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use throughline_demux::{OsNonces, Slot};

use super::{
    Config, Connection, Ecn, Endpoint, EndpointConfig, Event, Handled, Incoming, Level, Reason, Sink, Source,
    TooMany,
    batch::{Batch, Run},
};

/// Receptions of one system call, each of which may bring many datagrams of a peer (GRO).
const RECEPTIONS: usize = 1;
/// Polls in vain until the clock is looked at.
const POLLS_PER_LOOK: u32 = 8;
/// The most octets that a reception brings.
const RECEPTION: usize = 1 << 16;

/// What a server decides about those who want connections.
pub trait Accept<S, R> {
    /// Somebody wants a connection: how to configure it, or `None` to refuse it.
    fn incoming(&mut self, incoming: &Incoming<SocketAddr>) -> Option<Config>;

    /// There is a connection, whose first frame comes in next: the place to post buffers.
    fn accepted(&mut self, slot: Slot, connection: &mut Connection<S, R>);
}

/// Refuses everybody.
#[derive(Clone, Copy, Debug, Default)]
pub struct RefuseAll;

impl<S, R> Accept<S, R> for RefuseAll {
    fn incoming(&mut self, _: &Incoming<SocketAddr>) -> Option<Config> {
        None
    }

    fn accepted(&mut self, _: Slot, _: &mut Connection<S, R>) {}
}

/// Connections over a UDP socket. It does nothing by itself: whoever uses it calls [`poll`](Self::poll), again and again or
/// after [`wait`](Self::wait).
pub struct UdpEndpoint<S, R> {
    socket: UdpSocket,
    state: UdpSocketState,
    endpoint: Endpoint<SocketAddr, S, R>,
    /// When time began.
    origin: Instant,
    /// The time when it was last looked at.
    now: Duration,
    /// Polls since then.
    polls: u32,
    received: Box<[u8]>,
    batch: Batch<SocketAddr>,
}

impl<S: Source, R: Sink> UdpEndpoint<S, R> {
    /// Binds a socket; port 0 is any.
    ///
    /// # Errors
    /// Of the system.
    pub fn bind(address: SocketAddr, config: EndpointConfig) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        let state = state_of(&socket)?;
        let batch = Batch::new();
        let received = vec![0; RECEPTIONS * RECEPTION].into();
        let endpoint = Endpoint::new(config, OsNonces::default());
        Ok(Self {
            socket,
            state,
            endpoint,
            origin: Instant::now(),
            now: Duration::ZERO,
            polls: 0,
            received,
            batch,
        })
    }

    /// The address of the socket.
    ///
    /// # Errors
    /// Of the system.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Looks at the clock, which takes as long as all else that is done for a short message.
    fn look_at_clock(&mut self) -> Duration {
        self.now = self.origin.elapsed();
        self.polls = 0;
        self.now
    }

    /// Opens a connection; see [`Endpoint::open`].
    ///
    /// # Errors
    /// [`TooMany`].
    pub fn open(
        &mut self,
        config: &Config,
        to: SocketAddr,
        level: Level,
        name: &[u8],
    ) -> Result<Slot, TooMany> {
        let now = self.look_at_clock();
        self.endpoint.open(config, to, level, name, now)
    }

    /// A connection; what is posted is sent by [`flush`](Self::flush) or [`poll`](Self::poll).
    pub fn connection(&mut self, slot: Slot) -> Option<&mut Connection<S, R>> {
        self.endpoint.connection(slot)
    }

    /// The next event of any connection. To be called until there is none, after each [`poll`](Self::poll).
    pub fn event(&mut self) -> Option<(Slot, Event<S, R>)> {
        self.endpoint.event(self.now)
    }

    /// Takes in what has arrived and looks at the clock. Returns whether anything arrived; if not, what is due is sent.
    /// Otherwise take the [events](Self::event) first and then [`flush`](Self::flush), so that an acknowledgement leaves with
    /// the answer.
    ///
    /// # Errors
    /// Of the system, if the socket is of no use any more. That packets can't be sent counts as loss.
    pub fn poll(&mut self, accept: &mut impl Accept<S, R>) -> io::Result<bool> {
        let arrived = self.receive(accept)?;
        self.polls += 1;
        if !arrived && self.polls < POLLS_PER_LOOK {
            return Ok(false);
        }
        if !arrived {
            self.look_at_clock();
        }
        if self.endpoint.timeout().is_some_and(|at| at <= self.now) {
            self.endpoint.handle_timeout(self.now);
        }
        if !arrived {
            self.flush()?;
        }
        Ok(arrived)
    }

    /// Sends what is due.
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn flush(&mut self) -> io::Result<()> {
        if self.batch.is_empty() && !self.endpoint.may_transmit() {
            return Ok(());
        }
        // Between the last look and now the caller may have been busy.
        let now = self.look_at_clock();
        while self.send_batch() && self.batch.fill(now, &mut self.endpoint, self.state.max_gso_segments()) {}
        Ok(())
    }

    /// Sends what is in the batch; `false` if the socket has no room for it.
    fn send_batch(&mut self) -> bool {
        let Some((run, octets)) = self.batch.run() else { return true };
        let has_room = send(&self.socket, &self.state, &run, octets);
        if has_room {
            self.batch.left();
        }
        has_room
    }

    fn receive(&mut self, accept: &mut impl Accept<S, R>) -> io::Result<bool> {
        let mut metas = [RecvMeta::default(); RECEPTIONS];
        let mut chunks = self.received.chunks_exact_mut(RECEPTION);
        let mut slices: [_; RECEPTIONS] =
            std::array::from_fn(|_| IoSliceMut::new(chunks.next().expect("as many as receptions")));
        let count = match self.state.recv((&self.socket).into(), &mut slices, &mut metas) {
            Ok(count) => count,
            Err(error) if is_passing(&error) => return Ok(false),
            Err(error) => return Err(error),
        };
        let now = self.look_at_clock();
        for (meta, octets) in metas[..count].iter().zip(self.received.chunks_exact(RECEPTION)) {
            for datagram in octets[..meta.len].chunks(meta.stride.max(1)) {
                handle(&mut self.endpoint, now, meta, datagram, accept);
            }
        }
        Ok(count > 0)
    }

    /// Sleeps until something arrives, or is due, or the time is over.
    ///
    /// # Errors
    /// Of the system.
    pub fn wait(&mut self, most: Option<Duration>) -> io::Result<()> {
        let due = self.endpoint.timeout().map(|at| at.saturating_sub(self.origin.elapsed()));
        let flags = if self.batch.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
        let time = [due, most].into_iter().flatten().min().and_then(|time| Timespec::try_from(time).ok());
        match poll(&mut [PollFd::new(&self.socket, flags)], time.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        self.polls = POLLS_PER_LOOK;
        Ok(())
    }
}

fn handle<S: Source, R: Sink>(
    endpoint: &mut Endpoint<SocketAddr, S, R>,
    now: Duration,
    meta: &RecvMeta,
    datagram: &[u8],
    accept: &mut impl Accept<S, R>,
) {
    let ecn = ecn(meta);
    let Handled::Incoming(incoming) = endpoint.handle(now, meta.addr, ecn, datagram) else { return };
    let Some(config) = accept.incoming(&incoming) else {
        return endpoint.refuse(&incoming, Reason::Refused);
    };
    // Without room for it, the opener asks again later.
    let Ok(slot) = endpoint.accept(&config, &incoming, now) else { return };
    accept.accepted(slot, endpoint.connection(slot).expect("just accepted"));
    endpoint.handle(now, meta.addr, ecn, datagram);
}

/// Has the system tell of marks, and take and give many datagrams at a time.
pub(crate) fn state_of(socket: &UdpSocket) -> io::Result<UdpSocketState> {
    let state = UdpSocketState::new(socket.into())?;
    // The library asks for the time of each arrival and has no room for all that the system tells: of datagrams that came
    // together the marks would be left out.
    let (off, length) = (0 as libc::c_int, size_of::<libc::c_int>() as libc::socklen_t);
    // SAFETY: the system reads so many octets of `off`, which lives until then.
    let failed = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const off).cast(),
            length,
        )
    } != 0;
    let error = failed.then(io::Error::last_os_error);
    // What emulates Linux may not know that option, and then does not tell of the time either.
    match error.filter(|error| error.raw_os_error() != Some(libc::ENOPROTOOPT)) {
        Some(error) => Err(error),
        None => Ok(state),
    }
}

/// Sends datagrams by one system call; `false` if the socket has no room for them. Whatever else is wrong, they are lost.
pub(crate) fn send(socket: &UdpSocket, state: &UdpSocketState, run: &Run<SocketAddr>, octets: &[u8]) -> bool {
    let transmit = Transmit {
        destination: run.to,
        ecn: run.ect.then_some(EcnCodepoint::Ect0),
        contents: octets,
        segment_size: (run.octets > run.segment).then_some(run.segment),
        src_ip: None,
    };
    let sent = state.try_send(socket.into(), &transmit);
    !sent.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

/// What the IP header of datagrams said of congestion.
pub(crate) fn ecn(meta: &RecvMeta) -> Ecn {
    match meta.ecn {
        None => Ecn::NotCapable,
        Some(EcnCodepoint::Ce) => Ecn::Marked,
        Some(_) => Ecn::Capable,
    }
}

/// Errors that say nothing of the socket: nothing there, or an earlier datagram could not be delivered.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, HostUnreachable, Interrupted, NetworkUnreachable, WouldBlock};
    matches!(
        error.kind(),
        WouldBlock | Interrupted | ConnectionRefused | HostUnreachable | NetworkUnreachable
    )
}
