//! UDP (RFC 768): a session for each pair of addresses and ports.

use std::collections::HashMap;

use smoltcp::wire::{IpAddress, IpVersion, UdpPacket};
use throughline_demux::Slot;

use crate::{
    Answer, Control, Demux, Discard, Enabled, Layer, Lookup, LookupError, Lower, Message, OpenError,
    Participants, Pop, Protocol, ProtocolId, SendError, Upper, ports::Ports, sessions::Sessions,
};

pub(crate) const HEADER: usize = 8;
const PROTOCOL: u8 = 17;

/// User Datagram Protocol, over either version of IP or both.
pub(crate) struct Udp {
    own: ProtocolId,
    below: Vec<(ProtocolId, Option<IpVersion>)>,
    room: usize,
    /// Whether datagrams bear check sums.
    checksums: bool,
    sessions: Sessions<u64, Session>,
    listeners: HashMap<u16, Slot>,
    ports: Ports,
}

#[derive(Clone, Copy)]
struct Session {
    local: IpAddress,
    remote: IpAddress,
    /// What the other sends to.
    group: IpAddress,
    local_port: u16,
    remote_port: u16,
    opened: bool,
    upper: Upper,
    below: Option<Layer>,
}

impl Default for Session {
    fn default() -> Self {
        let nobody = IpAddress::v4(0, 0, 0, 0);
        Self {
            local: nobody,
            remote: nobody,
            group: nobody,
            local_port: 0,
            remote_port: 0,
            opened: false,
            upper: Upper::Itself,
            below: None,
        }
    }
}

/// The session below and both ports in one word. Protocols have fewer than 2^24 sessions.
pub(super) fn key(below: Layer, remote_port: u16, local_port: u16) -> u64 {
    u64::from(below.protocol.0) << 56
        | u64::from(below.session.0) << 32
        | u64::from(remote_port) << 16
        | u64::from(local_port)
}

impl Udp {
    pub fn new(
        own: ProtocolId,
        below: &[(ProtocolId, &dyn Protocol)],
        checksums: bool,
        lookup: Lookup,
    ) -> Result<Self, LookupError> {
        let room = below.iter().map(|(_, below)| below.room()).min().unwrap_or(0) - HEADER;
        Ok(Self {
            own,
            below: below.iter().map(|(id, below)| (*id, below.version())).collect(),
            room,
            checksums,
            ports: Ports::new(lookup.config.seed),
            sessions: Sessions::new(lookup)?,
            listeners: HashMap::new(),
        })
    }

    /// Ports of the header at the front; the message ends where the header says.
    fn header(message: &mut Message) -> Result<(u16, u16), Discard> {
        let packet = UdpPacket::new_checked(message.bytes()).map_err(|_| Discard::Truncated)?;
        let (from, to, len) = (packet.src_port(), packet.dst_port(), usize::from(packet.len()));
        if to == 0 {
            return Err(Discard::Malformed);
        }
        message.truncate(len);
        Ok((from, to))
    }

    fn is_intact(&self, message: &Message, header: usize, addresses: (IpAddress, IpAddress)) -> bool {
        if !self.checksums || message.verified {
            return true;
        }
        UdpPacket::new_unchecked(message.from(header)).verify_checksum(&addresses.0, &addresses.1)
    }

    fn below_for(&self, address: IpAddress) -> Result<ProtocolId, OpenError> {
        let fits = |version: Option<IpVersion>| version.is_none_or(|version| version == address.version());
        self.below.iter().find(|(_, version)| fits(*version)).map(|(id, _)| *id).ok_or(OpenError::NoRoute)
    }
}

impl Protocol for Udp {
    fn name(&self) -> &'static str {
        "udp"
    }

    fn room(&self) -> usize {
        self.room
    }

    fn stateless(&self) -> bool {
        !self.checksums
    }

    fn start(&mut self, lower: &mut Lower<'_>) -> Result<(), OpenError> {
        let participants = Participants { protocol: Some(PROTOCOL), ..Participants::default() };
        self.below
            .iter()
            .try_for_each(|(id, _)| lower.enable(*id, Enabled::Protocol(self.own), &participants))
    }

    fn demux(&mut self, below: Layer, message: &mut Message) -> Result<Demux, Discard> {
        let (from, to) = Self::header(message)?;
        if let Some((slot, session)) = self.sessions.find(&key(below, from, to)) {
            message.pop(HEADER);
            return Ok(Demux::Found(slot, session.upper));
        }
        if self.listeners.contains_key(&to) { Ok(Demux::Passive) } else { Err(Discard::NoPort) }
    }

    fn check(&mut self, slot: Slot, message: &mut Message) -> Result<Upper, Discard> {
        let (from, to) = Self::header(message)?;
        let session = self.sessions.get(slot).ok_or(Discard::WrongPath)?;
        if (session.remote_port, session.local_port) != (from, to) {
            return Err(Discard::WrongPath);
        }
        message.pop(HEADER);
        Ok(session.upper)
    }

    fn pop(
        &mut self,
        slot: Slot,
        header: usize,
        message: &mut Message,
        _lower: &mut Lower<'_>,
    ) -> Result<Pop, Discard> {
        let Some(session) = self.sessions.get(slot) else { return Err(Discard::NoPort) };
        let addresses = (session.remote, session.group);
        if self.is_intact(message, header, addresses) { Ok(Pop::Up) } else { Err(Discard::Checksum) }
    }

    fn accept(&mut self, below: Layer, message: &mut Message, lower: &mut Lower<'_>) -> Result<(), Discard> {
        let (from, to) = Self::header(message)?;
        let listener = *self.listeners.get(&to).ok_or(Discard::NoPort)?;
        let Answer::Addresses { local, remote, group } = lower.control(below, Control::Addresses) else {
            return Err(Discard::UnknownProtocol);
        };
        if !self.is_intact(message, message.position(), (remote, group)) {
            return Err(Discard::Checksum);
        }
        let upper = Upper::User(lower.passive_path(listener)?);
        let session = Session {
            local,
            remote,
            group,
            local_port: to,
            remote_port: from,
            opened: false,
            upper,
            below: Some(below),
        };
        self.sessions.insert(key(below, from, to), session, 1).map_err(|_| Discard::Sessions)?;
        lower.hold(below);
        Ok(())
    }

    fn open(
        &mut self,
        upper: Upper,
        participants: &mut Participants,
        lower: &mut Lower<'_>,
    ) -> Result<Slot, OpenError> {
        let remote = participants.remote_address.ok_or(OpenError::Missing("the remote address"))?;
        let remote_port = participants.remote_port.ok_or(OpenError::Missing("the remote port"))?;
        let local_port = self.ports.take(participants.local_port)?;
        participants.protocol = Some(PROTOCOL);
        let opened = lower.open(self.below_for(remote)?, Upper::Protocol(self.own), participants);
        let below = opened.inspect_err(|_| self.ports.give(local_port))?;
        let local = participants.local_address.unwrap_or(remote);
        let session = Session {
            local,
            remote,
            group: local,
            local_port,
            remote_port,
            opened: true,
            upper,
            below: Some(below),
        };
        match self.sessions.insert(key(below, remote_port, local_port), session, 1) {
            Ok((slot, _)) => {
                participants.local_port = Some(local_port);
                Ok(slot)
            }
            Err(_) => {
                self.ports.give(local_port);
                lower.close(below);
                Err(OpenError::Taken)
            }
        }
    }

    fn enable(
        &mut self,
        user: Enabled,
        participants: &Participants,
        lower: &mut Lower<'_>,
    ) -> Result<(), OpenError> {
        let port = participants.local_port.ok_or(OpenError::Missing("a local port"))?;
        let Enabled::Listener(listener) = user else { return Err(OpenError::NotForUsers) };
        if self.listeners.contains_key(&port) {
            return Err(OpenError::Taken);
        }
        let below = Participants { protocol: Some(PROTOCOL), ..*participants };
        self.below.iter().try_for_each(|(id, _)| lower.enable(*id, Enabled::Protocol(self.own), &below))?;
        self.listeners.insert(port, listener);
        Ok(())
    }

    fn disable(&mut self, user: Enabled, participants: &Participants, lower: &mut Lower<'_>) {
        if let Some(port) = participants.local_port {
            self.listeners.retain(|other, listener| *other != port || Enabled::Listener(*listener) != user);
        }
        for (id, _) in &self.below {
            lower.disable(*id, Enabled::Protocol(self.own), participants);
        }
    }

    fn hold(&mut self, session: Slot) {
        self.sessions.hold(session);
    }

    fn close(&mut self, slot: Slot, lower: &mut Lower<'_>) {
        if !self.sessions.release(slot) {
            return;
        }
        let Some(session) = self.sessions.remove(slot) else { return };
        if session.opened {
            self.ports.give(session.local_port);
        }
        if let Some(below) = session.below {
            lower.close(below);
        }
    }

    fn push(&mut self, slot: Slot, mut message: Message, lower: &mut Lower<'_>) -> Result<(), SendError> {
        let Some(session) = self.sessions.get(slot) else { return Err(SendError::NoPath) };
        let below = session.below.ok_or(SendError::NoPath)?;
        let len = u16::try_from(message.len() + HEADER).map_err(|_| SendError::TooLong)?;
        message.push(HEADER).map_err(|_| SendError::TooLong)?;
        let mut packet = UdpPacket::new_unchecked(message.bytes_mut());
        packet.set_src_port(session.local_port);
        packet.set_dst_port(session.remote_port);
        packet.set_len(len);
        if self.checksums {
            packet.fill_checksum(&session.local, &session.remote);
        } else {
            packet.set_checksum(0);
        }
        lower.push(below, message)
    }

    fn below(&mut self, session: Slot) -> Option<Layer> {
        self.sessions.get(session)?.below
    }

    fn control(&mut self, session: Slot, control: Control) -> Answer {
        match (control, self.sessions.get(session)) {
            (Control::Addresses, Some(session)) => {
                Answer::Addresses { local: session.local, remote: session.remote, group: session.group }
            }
            (Control::MaxMessage, _) => Answer::Bytes(65_535 - 20 - HEADER),
            _ => Answer::Unknown,
        }
    }
}
