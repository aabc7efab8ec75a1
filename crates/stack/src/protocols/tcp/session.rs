//! One connection: its socket, and when it is to be woken.

use std::ptr::without_provenance;

use smoltcp::{
    iface::SocketSet,
    socket::{
        Socket,
        tcp::{self, RecvError, State},
    },
    time::Instant,
    wire::{IpAddress, TcpPacket, TcpSeqNumber},
};

use throughline_demux::prefetch_at;

use super::{
    super::{sums::pseudo, transport::End},
    LINGER, LONGEST, PATIENCE, PROTOCOL, TIME_WAIT,
    alarm::Alarm,
    marked::{distance, goes_on, is_marked},
};
use crate::{Layer, Lower, SendError, StreamError, Upper};

/// Less than the shortest segment whose length everybody takes: who takes less than that in a minute is not waited for.
const CRUMB: u32 = 536;

/// See the module. In this order what segments need is in two cache lines; the third is for the beginning and the end.
#[repr(C)]
pub(super) struct Session {
    /// A set of one socket; of none in a session that has been removed.
    pub sockets: SocketSet<'static>,
    /// The address of the socket, which asking the set for it would read.
    socket_at: usize,
    /// When it is woken.
    alarm: Alarm,
    /// When it ends, unless the other end still takes what there is to send; or, if its user only sends no more, unless the
    /// other end has heard that; or, if both have said all and its user has not closed it yet, when it
    /// [need not wait](Self::has_waited) any more.
    abort_at: Option<Instant>,
    pub upper: Upper,
    pub below: Option<Layer>,
    /// The sum of the pseudo header of what comes, without its length.
    pub pseudo: u16,
    /// What the user was told last.
    told: Option<State>,
    /// Whether we asked first.
    pub opened: bool,
    /// Whether the user has been told that there is a connection.
    announced: bool,
    /// Whether the user has closed it, and is gone.
    released: bool,
    /// Whether the user wanted to send more than there was room for.
    wants_room: bool,
    /// Tells it from others that had its slot before.
    pub serial: u64,
    pub local: End,
    pub remote: End,
    /// The sequence number of the first byte that the user has not read.
    pub unread: TcpSeqNumber,
    /// Bytes of a released connection that the other end had not acknowledged when it was last looked at.
    left: u32,
    /// The first byte that the other end has not acknowledged.
    pub unacknowledged: TcpSeqNumber,
    /// So that each begins at a cache line.
    rest: [u32; 1],
}

// With the 32 bytes that come before it in its place.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(
        crate::sessions::Sessions::<u64, Session>::PLACE == 192
            && std::mem::offset_of!(Session, serial) == 96
    )
};

impl Default for Session {
    fn default() -> Self {
        let nobody = (IpAddress::v4(0, 0, 0, 0), 0);
        Self {
            sockets: SocketSet::new(Vec::new()),
            socket_at: 0,
            alarm: Alarm::default(),
            abort_at: None,
            upper: Upper::Itself,
            below: None,
            pseudo: 0,
            told: None,
            opened: false,
            announced: false,
            released: false,
            wants_room: false,
            serial: 0,
            local: nobody,
            remote: nobody,
            unread: TcpSeqNumber::default(),
            left: 0,
            unacknowledged: TcpSeqNumber::default(),
            rest: [0; 1],
        }
    }
}

impl Session {
    /// A session of a socket, in a set that has room for it alone.
    pub fn new(
        mut sockets: SocketSet<'static>,
        socket: tcp::Socket<'static>,
        upper: Upper,
        local: End,
        remote: End,
        below: Layer,
    ) -> Self {
        sockets.add(socket);
        let socket_at = sockets.iter().next().map_or(0, |(_, socket)| std::ptr::from_ref(socket).addr());
        let pseudo = pseudo(remote.0, local.0, PROTOCOL, 0);
        Self { sockets, socket_at, upper, local, remote, below: Some(below), pseudo, ..Self::default() }
    }

    #[inline]
    pub fn socket(&mut self) -> Option<&mut tcp::Socket<'static>> {
        let (_, Socket::Tcp(socket)) = self.sockets.iter_mut().next()?;
        Some(socket)
    }

    /// Starts to fetch the beginning of the socket, and says where that is.
    #[inline]
    pub fn prefetch_socket(&self) -> usize {
        prefetch_at(without_provenance(self.socket_at), 1);
        self.socket_at
    }

    #[inline]
    pub fn state(&mut self) -> State {
        self.socket().map_or(State::Closed, |socket| socket.state())
    }

    /// Whether the user has not heard of it yet.
    #[inline]
    pub fn is_beginning(&self) -> bool {
        !self.announced
    }

    /// Whether a segment has data in the window and behind the end that the other one has said.
    #[inline]
    pub fn is_behind_end(&mut self, segment: &[u8]) -> bool {
        let has_ended =
            matches!(self.told, Some(State::CloseWait | State::LastAck | State::Closing | State::TimeWait));
        has_ended && self.reaches_into_window(segment)
    }

    #[cold]
    fn reaches_into_window(&mut self, segment: &[u8]) -> bool {
        let packet = TcpPacket::new_unchecked(segment);
        let at = distance(self.next_to_come(), packet.seq_number());
        let len = packet.payload().len() as i32;
        goes_on(segment) && len > 0 && at.saturating_add(len) > 0 && at < self.room() as i32
    }

    /// Takes note of when the socket is due: by when the wheel is to wake the session, if it does not do so already.
    #[inline]
    pub fn arm(&mut self, due: Option<Instant>, now: Instant) -> Option<Instant> {
        let due = match (due, self.abort_at) {
            (Some(due), Some(abort)) => due.min(abort),
            (due, abort) => due.or(abort)?,
        };
        let due = due.max(now);
        self.alarm.set(due).then_some(due)
    }

    /// Whether the wheel wakes it by then.
    #[inline]
    pub fn is_woken_by(&self, time: Instant) -> bool {
        self.alarm.is_set_by(time)
    }

    /// The wheel has woken it, or another that had its slot. Whether there is anything to do.
    pub fn wake(&mut self, now: Instant) -> bool {
        if !self.alarm.rings(now) {
            return false;
        }
        if self.abort_at.is_some_and(|abort| abort <= now) {
            self.run_out(now);
        }
        true
    }

    /// The time is over that the other end had for what was last said.
    #[cold]
    fn run_out(&mut self, now: Instant) {
        let (state, released) = (self.state(), self.released);
        if state == State::TimeWait && !released || released && self.gets_on() {
            self.abort_at = released.then_some(now + LINGER).or(self.abort_at);
            return;
        }
        let Some(socket) = self.socket() else { return };
        let unheard = matches!(state, State::FinWait1 | State::Closing | State::LastAck);
        let sends = socket.send_queue() > 0;
        if released || unheard && !sends {
            socket.abort();
        }
        // While there is data, that is what is waited for.
        if !released {
            self.abort_at = (unheard && sends).then_some(now + PATIENCE);
        }
    }

    /// Whether the other end still takes what its user wrote before he closed the connection, and not by crumbs, or has just taken the
    /// last of it and may close now.
    fn gets_on(&mut self) -> bool {
        let before = self.left;
        let left = self.socket().map_or(0, |socket| socket.send_queue() as u32);
        self.left = left;
        let taken = before.saturating_sub(left);
        taken >= CRUMB || taken > 0 && left == 0
    }

    /// Whether both ends have said all so long ago that nothing is left of it on its way, and its user has not closed it: he may have
    /// data to read, and smoltcp would forget that together with the connection.
    #[inline]
    pub fn has_waited(&mut self, now: Instant) -> bool {
        self.abort_at.is_some_and(|end| end <= now) && !self.released && self.state() == State::TimeWait
    }

    /// Takes note of what a segment acknowledges. Whether that is news which smoltcp would not take, since all data of the segment came
    /// before or finds no room: of two ends that repeat what the other one has, neither would hear that it came.
    #[inline]
    pub fn note_acknowledged(&mut self, segment: &[u8]) -> bool {
        let packet = TcpPacket::new_unchecked(segment);
        let acknowledged = packet.ack_number();
        let ahead = distance(self.unacknowledged, acknowledged);
        if !self.announced {
            // Before there is a connection it is the number that we began with.
            self.unacknowledged = acknowledged;
        } else if ahead > 0 {
            let Some(socket) = self.socket() else { return false };
            // As smoltcp has it: what was never written, or an end that was not said, nobody can have.
            let says_end = matches!(socket.state(), State::FinWait1 | State::Closing | State::LastAck);
            let (sends, takes) = (socket.send_queue() + usize::from(says_end), socket.recv_capacity());
            let at = distance(self.next_to_come(), packet.seq_number());
            // Elsewhere it may be a guess.
            if ahead as usize <= sends && at.unsigned_abs() as usize <= takes.max(segment.len()) {
                self.unacknowledged = acknowledged;
                let len = (segment.len() - usize::from(packet.header_len())) as i32;
                return at < 0 && at + len <= 0 || at <= 0 && len > 0 && self.room() == 0;
            }
        }
        false
    }

    /// Whether a segment that is nothing but an acknowledgement says once more that all data has come, but not the end behind it.
    /// smoltcp would repeat the data then, which is none, and the end no more.
    #[inline]
    pub fn knows_already(&mut self, segment: &[u8]) -> bool {
        self.abort_at.is_some() && !is_marked(segment) && self.awaits_end_alone() && {
            let packet = TcpPacket::new_unchecked(segment);
            // What lies before is a question whether we are there, or have room.
            distance(self.next_to_come(), packet.seq_number()) >= 0
                && packet.ack_number() == self.unacknowledged
                && segment.len() == usize::from(packet.header_len())
        }
    }

    #[cold]
    fn awaits_end_alone(&mut self) -> bool {
        let is_said = matches!(self.state(), State::FinWait1 | State::Closing);
        is_said && self.socket().is_some_and(|socket| socket.send_queue() == 0)
    }

    /// Whether there is data that the other end has not acknowledged, and smoltcp, which is due then, has no timer by which it would
    /// go on with it.
    #[inline]
    pub fn is_stuck(&mut self, due: Option<Instant>, now: Instant) -> bool {
        due.is_none_or(|due| due > now + LONGEST) && self.owes_data()
    }

    #[inline]
    fn owes_data(&mut self) -> bool {
        self.socket().is_some_and(|socket| socket.send_queue() > 0 && socket.state() != State::Closed)
    }

    /// Nobody is given up for being silent when there is nothing to acknowledge (RFC 1122, 4.2.3.6). Before there is a
    /// connection the time for an answer counts.
    #[inline]
    pub fn mind_silence(&mut self) {
        let announced = self.announced;
        if let Some(socket) = self.socket()
            && announced
        {
            let owes = socket.send_queue() > 0;
            socket.set_timeout(owes.then_some(PATIENCE));
        }
    }

    /// Tells the user that there is a connection, data, room, or an end.
    #[inline]
    pub fn tell(&mut self, lower: &mut Lower<'_>) {
        let Upper::User(path) = self.upper else { return };
        let Some((_, Socket::Tcp(socket))) = self.sockets.iter_mut().next() else { return };
        let state = socket.state();
        if matches!(state, State::Listen | State::SynSent | State::SynReceived) {
            return;
        }
        let room = self.wants_room && socket.can_send();
        let news = socket.can_recv() || room || self.told != Some(state);
        if !self.announced && state != State::Closed {
            socket.set_timeout(None);
            self.announced = true;
            lower.announce_path(path);
        }
        if state == State::TimeWait && self.told != Some(state) {
            self.abort_at = Some(lower.now() + TIME_WAIT);
        }
        self.told = Some(state);
        self.wants_room &= !room;
        if news {
            lower.list_path(path);
        }
    }

    /// The sequence number of what comes next from the other end of a connection.
    pub fn next_to_come(&mut self) -> TcpSeqNumber {
        let unread = self.unread;
        let Some(socket) = self.socket() else { return unread };
        let ended =
            matches!(socket.state(), State::CloseWait | State::LastAck | State::Closing | State::TimeWait);
        unread + socket.recv_queue() + usize::from(ended)
    }

    /// Bytes that there is room for.
    pub fn room(&mut self) -> usize {
        self.socket().map_or(0, |socket| socket.recv_capacity() - socket.recv_queue())
    }

    /// Whether the connection is over but for waiting, and a new one between the same ends, which begins with this number, can be told
    /// from what is left of it on its way (RFC 9293, 3.6.1).
    #[cold]
    pub fn makes_way(&mut self, sequence: TcpSeqNumber) -> bool {
        self.released && self.state() == State::TimeWait && distance(self.next_to_come(), sequence) >= 0
    }

    /// Nobody has any use for it any more.
    #[inline]
    pub fn has_ended(&mut self) -> bool {
        // One that was never announced has no user. If the other end took its SYN back, it listens again, for anybody.
        match self.state() {
            State::Closed => self.released || !self.opened && !self.announced,
            State::Listen => !self.opened && !self.announced,
            _ => false,
        }
    }

    /// Whether the user has heard that it is over, for good.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.told == Some(State::Closed)
    }

    /// The user is gone; at `abort_at` the connection ends, unless the other end is still taking what he wrote.
    pub fn release(&mut self, abort_at: Instant) {
        self.released = true;
        self.upper = Upper::Itself;
        self.abort_at = Some(abort_at);
        self.left = self.socket().map_or(0, |socket| socket.send_queue() as u32);
        if let Some(socket) = self.socket() {
            // What was not read is lost: then the other end is told so, by a reset.
            if socket.can_recv() { socket.abort() } else { say_end(socket) }
        }
    }

    /// The user has said all; by then the other end has heard that, or is given up.
    pub fn shut(&mut self, abort_at: Instant) {
        if !self.released {
            self.abort_at = Some(abort_at);
        }
        if let Some(socket) = self.socket() {
            say_end(socket);
        }
    }

    /// Data that nobody will read is answered with a reset, so that who sends it learns of that (RFC 1122, 4.2.2.13).
    pub fn refuse_late_data(&mut self) {
        if self.released
            && let Some(socket) = self.socket()
            && socket.can_recv()
        {
            socket.abort();
        }
    }

    /// Whether there is room for so many bytes, or will ever be: then the user is told when there is more.
    pub fn fits(&mut self, len: usize) -> Result<(), SendError> {
        let socket = self.socket().ok_or(SendError::NoPath)?;
        let (room, most) = (socket.send_capacity() - socket.send_queue(), socket.send_capacity());
        if len > most {
            return Err(SendError::TooLong);
        }
        if len > room && socket.may_send() {
            self.wants_room = true;
            return Err(SendError::QueueFull);
        }
        Ok(())
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
            Ok(read) => {
                self.unread += read;
                Ok((read, was_short))
            }
            Err(RecvError::Finished) => Err(StreamError::Finished),
            Err(RecvError::InvalidState) => Err(StreamError::Closed),
        }
    }
}

/// Says that nothing more will be sent. A connection that has not come about ends by that; of one that both ends have asked for
/// smoltcp would take the beginning for acknowledged.
fn say_end(socket: &mut tcp::Socket<'static>) {
    if socket.state() == State::SynReceived { socket.abort() } else { socket.close() }
}
