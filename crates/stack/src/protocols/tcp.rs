//! TCP (RFC 9293) by smoltcp: a session for each connection, with a socket set of its own.
//!
//! smoltcp's interface asks every socket of the set it is given. Here demultiplexing has found the connection before: the
//! set that is polled has one socket.

mod ahead;
mod alarm;
mod link;
mod marked;
mod numbers;
mod session;
mod work;

use std::collections::VecDeque;

use smoltcp::{
    iface::{Interface, SocketSet},
    socket::tcp::{self, State},
    time::{Duration, Instant},
    wire::{IpAddress, IpCidr, IpEndpoint, TcpPacket},
};
use throughline_demux::Slot;

use self::{
    link::Link,
    marked::{acknowledges, asks, is_marked, sequence},
    numbers::interface,
    session::Session,
    work::{Sends, push_all},
};
use super::{
    sums::{is_intact, with_len},
    transport::{Opened, Transport, key, key_of_sent, of_ports},
};
use crate::{
    Answer, Control, Demux, Discard, Enabled, Host, Layer, Lead, Lookup, LookupError, Lower, Message,
    OpenError, Participants, Pop, Protocol, ProtocolId, Reach, Report, SendError, StreamError, Upper,
    secret::Secret, sessions::Sessions, shepherd::AT_ONCE, timer_wheel::TimerWheel,
};

const PROTOCOL: u8 = 6;
/// Connections of strangers that have not answered yet. A new one takes the place of the oldest: so a flood of SYNs costs
/// a bounded amount of memory, and whoever answers sooner than a flood goes round gets in.
const HALF_OPEN: usize = 1024;
/// How long a stranger has to answer.
const HANDSHAKE: Duration = Duration::from_secs(30);
/// How long the other end may be silent while data, or an end, is unacknowledged, before it is given up.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long a connection that its user has closed waits for the other end to close too, or to take more of what was written before.
const LINGER: Duration = Duration::from_secs(60);
/// How long who has closed first waits for what may be left of a connection on its way: as long as smoltcp does.
const TIME_WAIT: Duration = Duration::from_secs(10);
/// No timer by which smoltcp repeats what it has sent, or asks for room, ends later.
const LONGEST: Duration = Duration::from_secs(60);
/// How long an acknowledgement waits for data to go with it: less than the shortest time after which smoltcp's senders
/// repeat, 10 ms.
const ACK_DELAY: Duration = Duration::from_millis(5);

/// Sizes of a connection's buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffers {
    pub receive: usize,
    pub send: usize,
}

/// Transmission Control Protocol.
pub(crate) struct Tcp {
    own: ProtocolId,
    transport: Transport,
    room: usize,
    buffers: Buffers,
    interface: Interface,
    secret: Secret,
    /// Bytes of a packet.
    mtu: usize,
    /// Our addresses, if there are more than the interface holds at a time.
    crowd: Vec<IpCidr>,
    sessions: Sessions<u64, Session>,
    wheel: TimerWheel,
    /// Connections of strangers that had not answered when they were put here, oldest first.
    half_open: VecDeque<(Slot, u64)>,
    /// Packets that smoltcp has made.
    made: Vec<Message>,
    /// For answers to segments of no connection.
    nobody: SocketSet<'static>,
    due: Vec<u32>,
    serial: u64,
}

impl Tcp {
    pub fn new(
        own: ProtocolId,
        below: &[(ProtocolId, &dyn Protocol)],
        addresses: &[IpCidr],
        buffers: Buffers,
        lookup: Lookup,
    ) -> Result<Self, LookupError> {
        let room = below.iter().map(|(_, below)| below.room()).min().unwrap_or(0);
        let whole = |below: &dyn Protocol| below.room() + link::network_header(below.version());
        let mtu = below.iter().map(|(_, below)| whole(*below)).min().unwrap_or(0);
        let mut secret = Secret::default();
        let mut interface = interface(&mut secret, mtu);
        let mut crowd = Vec::new();
        interface.update_ip_addrs(|own| match own.extend_from_slice(addresses) {
            Ok(()) => {}
            Err(_) => crowd = addresses.to_vec(),
        });
        Ok(Self {
            own,
            transport: Transport::new(own, PROTOCOL, below, secret.draw()),
            room,
            buffers,
            interface,
            secret,
            mtu,
            crowd,
            sessions: Sessions::new(lookup)?,
            wheel: TimerWheel::default(),
            half_open: VecDeque::new(),
            made: Vec::new(),
            nobody: SocketSet::new(Vec::new()),
            due: Vec::new(),
            serial: 0,
        })
    }

    fn header(message: &Message) -> Result<(u16, u16), Discard> {
        let packet = TcpPacket::new_checked(message.bytes()).map_err(|_| Discard::Truncated)?;
        Ok((packet.src_port(), packet.dst_port()))
    }

    /// Whether a segment asks for a new connection in the place of one that is over.
    #[inline]
    fn replaces(transport: &Transport, session: &mut Session, segment: &[u8], to: u16) -> bool {
        asks(segment) && session.makes_way(sequence(segment)) && transport.listener(to).is_some()
    }

    /// Hands a segment, with its header of IP, to smoltcp, with the sockets of its connection or none.
    fn process(
        interface: &mut Interface,
        sockets: &mut SocketSet<'static>,
        made: &mut Vec<Message>,
        packet: &[u8],
        lower: &mut Lower<'_>,
    ) {
        let now = lower.now();
        let mut link = Link::new(Some(packet), made, &mut lower.cx.pool);
        interface.poll_ingress_single(now, &mut link, sockets);
    }

    fn remove(&mut self, slot: Slot, lower: &mut Lower<'_>) {
        let Some(session) = self.sessions.remove(slot) else { return };
        // Whoever has heard of the connection has closed it.
        lower.forget_path(session.upper);
        self.transport.close(session.below, session.opened.then_some(session.local.1), lower);
    }

    /// A socket, and the set for it. Their memory is asked for in this order so that, as far as the allocator has it in a row,
    /// what a segment needs is on one page or two: the socket, the received bytes before it, and the first to be sent behind it.
    fn socket(&self) -> (tcp::Socket<'static>, SocketSet<'static>) {
        let receive = vec![0; self.buffers.receive];
        let set = SocketSet::new(Vec::with_capacity(1));
        let send = vec![0; self.buffers.send];
        let mut socket = tcp::Socket::new(tcp::SocketBuffer::new(receive), tcp::SocketBuffer::new(send));
        socket.set_nagle_enabled(false);
        socket.set_ack_delay(Some(ACK_DELAY));
        socket.set_congestion_control(tcp::CongestionControl::Cubic);
        (socket, set)
    }

    /// Makes room for one more stranger.
    fn bound_half_open(&mut self, lower: &mut Lower<'_>) {
        while self.half_open.len() >= HALF_OPEN {
            let Some((slot, serial)) = self.half_open.pop_front() else { return };
            let Some(session) = self.sessions.get(slot) else { continue };
            if session.serial == serial && session.state() == State::SynReceived {
                lower.cx.count(self.own, Discard::Sessions);
                self.remove(slot, lower);
            }
        }
    }

    /// Forgets the strangers who have not answered yet and whose listener is gone: nobody would hear of their connections, or end
    /// them.
    fn forget_half_open(&mut self, listener: Slot, lower: &mut Lower<'_>) {
        for at in 0..self.half_open.len() {
            let (slot, serial) = self.half_open[at];
            let Some(session) = self.sessions.get(slot) else { continue };
            if session.serial == serial
                && session.state() == State::SynReceived
                && lower.is_for(session.upper, listener)
            {
                self.remove(slot, lower);
            }
        }
    }

    /// Has the next connection begin with a number of its own.
    fn draw(&mut self) {
        let mut interface = interface(&mut self.secret, self.mtu);
        // No more than an interface holds, since one holds them.
        interface.update_ip_addrs(|own| own.extend(self.interface.ip_addrs().iter().copied()));
        self.interface = interface;
    }

    /// Has the interface know our address of a connection.
    #[inline]
    fn face(&mut self, slot: Slot) {
        if !self.crowd.is_empty()
            && let Some(local) = self.sessions.get(slot).map(|session| session.local.0)
        {
            self.face_as(local);
        }
    }

    #[cold]
    fn face_as(&mut self, local: IpAddress) {
        let own = self.crowd.iter().find(|own| own.address() == local);
        self.interface.update_ip_addrs(|known| {
            known.clear();
            known.extend(own.copied());
        });
    }

    /// Answers a segment of no connection with a reset, or not, as smoltcp thinks right.
    fn refuse(&mut self, below: Layer, local: IpAddress, message: &Message, lower: &mut Lower<'_>) {
        if !self.crowd.is_empty() {
            self.face_as(local);
        }
        let packet = message.from(message.network());
        Self::process(&mut self.interface, &mut self.nobody, &mut self.made, packet, lower);
        push_all(&mut self.made, Some(below), lower);
    }
}

/// Whether an address is of more than one host: a connection has two ends (RFC 1122, 4.2.3.10).
fn is_for_many(address: IpAddress, host: &Host) -> bool {
    match address {
        IpAddress::Ipv4(address) => host.is_broadcast(address) || address.is_multicast(),
        IpAddress::Ipv6(address) => address.is_multicast(),
    }
}

impl Protocol for Tcp {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn room(&self) -> usize {
        self.room
    }

    fn start(&mut self, lower: &mut Lower<'_>) -> Result<(), OpenError> {
        self.transport.start(lower)
    }

    fn demux(&mut self, below: Layer, message: &mut Message) -> Result<Demux, Discard> {
        let (from, to) = Self::header(message)?;
        // Segments of no connection are answered too.
        let Some((slot, session)) = self.sessions.find(&key(below, from, to)) else {
            return Ok(Demux::Passive);
        };
        if Self::replaces(&self.transport, session, message.bytes(), to) {
            return Ok(Demux::Passive);
        }
        Ok(Demux::Found(slot, session.upper))
    }

    fn foresees(&self) -> bool {
        self.sessions.are_many()
    }

    fn foresee(&mut self, segments: &[(Layer, &Message)], found: &mut [Option<Slot>]) {
        // What is no segment is nobody's; it is found out again, and counted, when its turn has come.
        let of = |(below, segment): &(Layer, &Message)| {
            Self::header(segment).map_or(0, |(from, to)| key(*below, from, to))
        };
        let mut keys = [0; AT_ONCE];
        let keys = &mut keys[..segments.len()];
        for (key, segment) in keys.iter_mut().zip(segments) {
            *key = of(segment);
        }
        self.sessions.foresee(keys, found);
    }

    fn demux_foreseen(&mut self, below: Layer, segment: &mut Message, slot: Slot) -> Result<Demux, Discard> {
        let (from, to) = Self::header(segment)?;
        match self.sessions.confirm(slot, &key(below, from, to)) {
            Some(session) if !asks(segment.bytes()) => Ok(Demux::Found(slot, session.upper)),
            _ => self.demux(below, segment),
        }
    }

    fn fetch(&mut self, slot: Slot, reach: Reach) -> Option<Lead> {
        self.fetch_ahead(slot, reach)
    }

    fn check(&mut self, slot: Slot, message: &mut Message) -> Result<Upper, Discard> {
        let (from, to) = Self::header(message)?;
        let key = *self.sessions.key(slot).ok_or(Discard::WrongPath)?;
        if !of_ports(key, from, to) {
            return Err(Discard::WrongPath);
        }
        self.sessions.get(slot).map(|session| session.upper).ok_or(Discard::WrongPath)
    }

    fn pop(
        &mut self,
        slot: Slot,
        _header: usize,
        message: &mut Message,
        lower: &mut Lower<'_>,
    ) -> Result<Pop, Discard> {
        self.face(slot);
        let Some(session) = self.sessions.get(slot) else { return Err(Discard::NoPort) };
        if !message.verified && !is_intact(with_len(session.pseudo, message.len()), message.bytes()) {
            return Err(Discard::Checksum);
        }
        if session.is_beginning() {
            self.narrow(slot, message.bytes(), lower);
        } else if session.is_behind_end(message.bytes()) {
            self.ignore_data(slot, message.bytes(), lower);
            self.work(slot, Sends::IfDue, lower);
            return Ok(Pop::Consumed);
        }
        if is_marked(message.bytes()) && !self.look_at_marked(slot, message, lower) {
            self.work(slot, Sends::IfDue, lower);
            return Ok(Pop::Consumed);
        }
        let Some(session) = self.sessions.get(slot) else { return Err(Discard::NoPort) };
        if acknowledges(message.bytes()) {
            if session.knows_already(message.bytes()) {
                return Ok(Pop::Consumed);
            }
            if session.note_acknowledged(message.bytes()) {
                self.hear(slot, message.bytes(), lower);
            }
        }
        let Some(session) = self.sessions.get(slot) else { return Err(Discard::NoPort) };
        let packet = message.from(message.network());
        Self::process(&mut self.interface, &mut session.sockets, &mut self.made, packet, lower);
        self.work(slot, Sends::IfDue, lower);
        Ok(Pop::Consumed)
    }

    fn accept(&mut self, below: Layer, message: &mut Message, lower: &mut Lower<'_>) -> Result<(), Discard> {
        let (from, to) = Self::header(message)?;
        let packet = TcpPacket::new_unchecked(message.bytes());
        let Answer::Addresses { local, remote, group } = lower.control(below, Control::Addresses) else {
            return Err(Discard::UnknownProtocol);
        };
        if !packet.verify_checksum(&remote, &group) {
            return Err(Discard::Checksum);
        }
        let opens = packet.syn() && !packet.ack() && !packet.rst() && !packet.fin() && local == group;
        let listener = match self.transport.listener(to) {
            Some(listener) if opens => listener,
            _ => {
                if local == group {
                    self.refuse(below, local, message, lower);
                }
                return Err(Discard::NoPort);
            }
        };
        if !lower.has_backlog(listener) {
            return Err(Discard::QueueFull);
        }
        self.bound_half_open(lower);
        let (mut socket, set) = self.socket();
        socket.set_timeout(Some(HANDSHAKE));
        socket.listen(IpEndpoint::new(local, to)).map_err(|_| Discard::Malformed)?;
        let path = lower.passive_path(listener)?;
        lower.pin_path(path);
        let key = key(below, from, to);
        let replaced = self.sessions.find(&key).map(|(old, _)| old);
        if let Some(old) = replaced {
            // What is below is for the new one.
            lower.hold(below);
            self.remove(old, lower);
        }
        self.serial += 1;
        let mut session = Session::new(set, socket, Upper::User(path), (local, to), (remote, from), below);
        session.serial = self.serial;
        match self.sessions.insert(key, session, 1) {
            Ok((slot, _)) => {
                self.half_open.push_back((slot, self.serial));
                if replaced.is_none() {
                    lower.hold(below);
                }
                Ok(())
            }
            Err(_) => {
                if replaced.is_some() {
                    lower.close(below);
                }
                lower.forget_path(Upper::User(path));
                Err(Discard::Sessions)
            }
        }
    }

    fn open(
        &mut self,
        upper: Upper,
        participants: &mut Participants,
        lower: &mut Lower<'_>,
    ) -> Result<Slot, OpenError> {
        if participants.remote_address.is_some_and(|remote| is_for_many(remote, lower.host())) {
            return Err(OpenError::NoRoute);
        }
        let Opened { below, local, remote } = self.transport.open(participants, lower)?;
        let (mut socket, set) = self.socket();
        socket.set_timeout(Some(PATIENCE));
        self.draw();
        let connected =
            socket.connect(self.interface.context(), IpEndpoint::from(remote), IpEndpoint::from(local));
        let mut session = Session::new(set, socket, upper, local, remote, below);
        session.opened = true;
        let inserted = match connected {
            Ok(()) => self.sessions.insert(key(below, remote.1, local.1), session, 1).ok(),
            Err(_) => None,
        };
        let Some((slot, _)) = inserted else {
            self.transport.close(Some(below), Some(local.1), lower);
            return Err(OpenError::Taken);
        };
        self.work(slot, Sends::First, lower);
        Ok(slot)
    }

    fn enable(
        &mut self,
        user: Enabled,
        participants: &Participants,
        lower: &mut Lower<'_>,
    ) -> Result<(), OpenError> {
        self.transport.enable(user, participants, lower)
    }

    fn disable(&mut self, user: Enabled, participants: &Participants, lower: &mut Lower<'_>) {
        self.transport.disable(user, participants, lower);
        if let Enabled::Listener(listener) = user {
            self.forget_half_open(listener, lower);
        }
    }

    fn hold(&mut self, session: Slot) {
        self.sessions.hold(session);
    }

    /// The user has done with the connection; it ends when the other end has everything and has closed too.
    fn close(&mut self, slot: Slot, lower: &mut Lower<'_>) {
        let now = lower.now();
        if let Some(session) = self.sessions.get(slot) {
            session.release(now + LINGER);
        }
        self.work(slot, Sends::First, lower);
    }

    fn push(&mut self, slot: Slot, message: Message, lower: &mut Lower<'_>) -> Result<(), SendError> {
        // Part of a message would be taken for one.
        let fits =
            self.sessions.get(slot).map_or(Err(SendError::NoPath), |session| session.fits(message.len()));
        let sent = fits.and_then(|()| match self.write(slot, message.bytes(), lower) {
            Ok(written) if written == message.len() => Ok(()),
            Ok(_) => Err(SendError::QueueFull),
            Err(_) => Err(SendError::NoPath),
        });
        lower.give(message);
        sent
    }

    fn write(&mut self, slot: Slot, data: &[u8], lower: &mut Lower<'_>) -> Result<usize, StreamError> {
        let session = self.sessions.get(slot).ok_or(StreamError::Closed)?;
        let written = session.write(data)?;
        if written > 0 {
            self.work(slot, Sends::First, lower);
        }
        Ok(written)
    }

    fn read(&mut self, slot: Slot, into: &mut [u8], lower: &mut Lower<'_>) -> Result<usize, StreamError> {
        let session = self.sessions.get(slot).ok_or(StreamError::Closed)?;
        let (read, was_short) = session.read(into)?;
        // The other end may wait to hear of room.
        if was_short {
            self.work(slot, Sends::First, lower);
        }
        Ok(read)
    }

    fn shutdown(&mut self, slot: Slot, lower: &mut Lower<'_>) {
        let now = lower.now();
        if let Some(session) = self.sessions.get(slot) {
            session.shut(now + PATIENCE);
        }
        self.work(slot, Sends::First, lower);
    }

    fn below(&mut self, session: Slot) -> Option<Layer> {
        self.sessions.get(session)?.below
    }

    /// The user is told, and the connection goes on: it may be a lie, and it may pass (RFC 5927).
    fn trouble(&mut self, below: Layer, report: &Report, lower: &mut Lower<'_>) {
        if let Some((_, session)) = self.sessions.find(&key_of_sent(below, report)) {
            lower.trouble(session.upper, report.trouble);
        }
    }

    fn control(&mut self, session: Slot, control: Control) -> Answer {
        match (control, self.sessions.get(session)) {
            (Control::Addresses, Some(session)) => {
                Answer::Addresses { local: session.local.0, remote: session.remote.0, group: session.local.0 }
            }
            _ => Answer::Unknown,
        }
    }

    fn tick(&mut self, now: Instant, lower: &mut Lower<'_>) -> Option<Instant> {
        let due = &mut self.due;
        self.wheel.advance(now, |slot| due.push(slot));
        let mut due = std::mem::take(&mut self.due);
        for slot in due.drain(..).map(Slot) {
            if self.sessions.get(slot).is_some_and(|session| session.wake(now)) {
                self.work(slot, Sends::IfDue, lower);
            }
        }
        self.due = due;
        self.wheel.next()
    }
}
