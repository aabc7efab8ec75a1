//! One connection: its socket, and when it is to be woken.

use smoltcp::{
    iface::{SocketHandle, SocketSet},
    socket::tcp::{self, RecvError, State},
    time::Instant,
    wire::IpAddress,
};

use super::PATIENCE;
use crate::{Layer, Lower, StreamError, Upper};

/// See the module.
pub(super) struct Session {
    /// A set of one socket; `None` in a session that has been removed.
    pub sockets: Option<SocketSet<'static>>,
    handle: Option<SocketHandle>,
    pub upper: Upper,
    pub local: (IpAddress, u16),
    pub remote: (IpAddress, u16),
    pub below: Option<Layer>,
    /// Whether we asked first.
    pub opened: bool,
    /// Whether the user has been told that there is a connection.
    announced: bool,
    /// Whether the user has closed it, and is gone.
    released: bool,
    /// Whether the user wanted to send more than there was room for.
    wants_room: bool,
    /// What the user was told last.
    told: Option<State>,
    /// When it ends, whatever the other end does.
    abort_at: Option<Instant>,
    /// When the wheel wakes it, if it is in the wheel.
    pub woken: Instant,
    in_wheel: bool,
    /// Tells it from others that had its slot before.
    pub serial: u64,
}

impl Default for Session {
    fn default() -> Self {
        let nobody = (IpAddress::v4(0, 0, 0, 0), 0);
        Self {
            sockets: None,
            handle: None,
            upper: Upper::Itself,
            local: nobody,
            remote: nobody,
            below: None,
            opened: false,
            announced: false,
            released: false,
            wants_room: false,
            told: None,
            abort_at: None,
            woken: Instant::ZERO,
            in_wheel: false,
            serial: 0,
        }
    }
}

impl Session {
    pub fn new(
        socket: tcp::Socket<'static>,
        upper: Upper,
        local: (IpAddress, u16),
        remote: (IpAddress, u16),
        below: Layer,
    ) -> Self {
        let mut sockets = SocketSet::new(Vec::with_capacity(1));
        let handle = Some(sockets.add(socket));
        Self { sockets: Some(sockets), handle, upper, local, remote, below: Some(below), ..Self::default() }
    }

    pub fn socket(&mut self) -> Option<&mut tcp::Socket<'static>> {
        Some(self.sockets.as_mut()?.get_mut(self.handle?))
    }

    pub fn state(&mut self) -> State {
        self.socket().map_or(State::Closed, |socket| socket.state())
    }

    /// Takes note of when the socket is due. Whether the wheel must be told: it knows one time, at which it wakes the
    /// session, perhaps too early.
    pub fn arm(&mut self, due: Option<Instant>, now: Instant) -> bool {
        let Some(due) = [due, self.abort_at].into_iter().flatten().min().map(|due| due.max(now)) else {
            return false;
        };
        if self.in_wheel && self.woken <= due {
            return false;
        }
        (self.woken, self.in_wheel) = (due, true);
        true
    }

    /// The wheel has woken it, or another that had its slot.
    pub fn wake(&mut self, now: Instant) {
        if self.woken <= now {
            self.in_wheel = false;
        }
        if self.abort_at.is_some_and(|abort| abort <= now)
            && let Some(socket) = self.socket()
        {
            socket.abort();
        }
    }

    /// Tells the user that there is a connection, data, room, or an end.
    pub fn tell(&mut self, lower: &mut Lower<'_>) {
        let Upper::User(path) = self.upper else { return };
        let (told, wants_room, opened) = (self.told, self.wants_room, self.opened);
        let Some(socket) = self.socket() else { return };
        let state = socket.state();
        if matches!(state, State::Listen | State::SynSent | State::SynReceived) {
            return;
        }
        let room = wants_room && socket.can_send();
        let news = socket.can_recv() || room || told != Some(state);
        if !self.announced && state != State::Closed {
            self.announced = true;
            if let Some(socket) = self.socket() {
                socket.set_timeout(Some(PATIENCE));
            }
            if !opened {
                lower.announce_path(path);
            }
        }
        self.told = Some(state);
        self.wants_room &= !room;
        if news {
            lower.list_path(path);
        }
    }

    /// Nobody has any use for it any more.
    pub fn has_ended(&mut self) -> bool {
        // One that was never announced has no user. If the other end took its SYN back, it listens again, for anybody.
        let unknown = !self.opened && !self.announced;
        match self.state() {
            State::Closed => self.released || unknown,
            State::Listen => unknown,
            _ => false,
        }
    }

    /// The user is gone; at `abort_at` the connection ends, whatever the other end does.
    pub fn release(&mut self, abort_at: Instant) {
        self.released = true;
        self.upper = Upper::Itself;
        self.abort_at = Some(abort_at);
        if let Some(socket) = self.socket() {
            // What was not read is lost: then the other end is told so, by a reset.
            if socket.can_recv() { socket.abort() } else { socket.close() }
        }
    }

    pub fn write(&mut self, data: &[u8]) -> Result<usize, StreamError> {
        let socket = self.socket().ok_or(StreamError::Closed)?;
        let written = match socket.state() {
            State::SynSent | State::SynReceived => 0,
            _ => socket.send_slice(data).map_err(|_| StreamError::Closed)?,
        };
        self.wants_room |= written < data.len();
        Ok(written)
    }

    /// Bytes read, and whether there was little room for more before.
    pub fn read(&mut self, into: &mut [u8]) -> Result<(usize, bool), StreamError> {
        let socket = self.socket().ok_or(StreamError::Closed)?;
        if matches!(socket.state(), State::SynSent | State::SynReceived) {
            return Ok((0, false));
        }
        let was_short = socket.recv_queue() * 4 >= socket.recv_capacity();
        match socket.recv_slice(into) {
            Ok(read) => Ok((read, was_short)),
            Err(RecvError::Finished) => Err(StreamError::Finished),
            Err(RecvError::InvalidState) => Err(StreamError::Closed),
        }
    }
}
