//! UDP (RFC 768): a session for each pair of addresses and ports.

use smoltcp::wire::{IpAddress, IpVersion, UdpPacket};
use throughline_demux::Slot;

use super::{
    sums::{check, is_intact, pseudo, with_header},
    transport::{Opened, Transport, key, key_of_sent},
};
use crate::{
    Answer, Control, Demux, Discard, Enabled, Layer, Lookup, LookupError, Lower, Message, OpenError,
    Participants, Pop, Protocol, ProtocolId, Refusal, Report, SendError, Upper, secret::Secret,
    sessions::Sessions,
};

pub(crate) const HEADER: usize = 8;
const PROTOCOL: u8 = 17;

/// User Datagram Protocol, over either version of IP or both.
pub(crate) struct Udp {
    transport: Transport,
    room: usize,
    /// Whether datagrams bear check sums.
    checksums: bool,
    sessions: Sessions<u64, Session>,
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

impl Udp {
    pub fn new(
        own: ProtocolId,
        below: &[(ProtocolId, &dyn Protocol)],
        checksums: bool,
        lookup: Lookup,
    ) -> Result<Self, LookupError> {
        let room = below.iter().map(|(_, below)| below.room()).min().unwrap_or(0) - HEADER;
        Ok(Self {
            transport: Transport::new(own, PROTOCOL, below, Secret::default().draw()),
            room,
            checksums,
            sessions: Sessions::new(lookup)?,
        })
    }

    fn insert(&mut self, key: u64, session: Session, uses: u32, lower: &mut Lower<'_>) -> Option<Slot> {
        let (slot, gone) = self.sessions.insert(key, session, uses).ok()?;
        if let Some(gone) = gone {
            self.transport.close(gone.below, None, lower);
        }
        Some(slot)
    }

    /// A session for the protocol above that there is already, whoever made it, instead of one whose port and session below were
    /// taken just now.
    fn share(&mut self, key: &u64, upper: Upper, lower: &mut Lower<'_>) -> Option<Slot> {
        let (slot, session) = self.sessions.find(key)?;
        if session.upper != upper || matches!(upper, Upper::User(_)) {
            return None;
        }
        let port = session.opened.then_some(session.local_port);
        self.transport.close(session.below, port, lower);
        session.opened = true;
        self.sessions.hold(slot);
        Some(slot)
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

    /// Checks a datagram whose header begins at `header`, or leaves that to whoever moves its data to where it belongs.
    fn verify(
        &self,
        message: &mut Message,
        header: usize,
        (from, to): (IpAddress, IpAddress),
        later: bool,
    ) -> Result<(), Discard> {
        if !self.checksums || message.verified {
            return Ok(());
        }
        let datagram = message.from(header);
        let bytes: &[u8; HEADER] = datagram.first_chunk().ok_or(Discard::Truncated)?;
        if bytes[6..] == [0, 0] {
            // IPv6 has no check sum of its own: there must be one here (RFC 8200, 8.1).
            let may_be_missing = from.version() == IpVersion::Ipv4;
            return if may_be_missing { Ok(()) } else { Err(Discard::Checksum) };
        }
        let pseudo = pseudo(from, to, PROTOCOL, datagram.len());
        if later {
            let sum = with_header(pseudo, bytes);
            message.leave_unchecked(sum);
            return Ok(());
        }
        if is_intact(pseudo, datagram) { Ok(()) } else { Err(Discard::Checksum) }
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
        self.transport.start(lower)
    }

    fn demux(&mut self, below: Layer, message: &mut Message) -> Result<Demux, Discard> {
        let (from, to) = Self::header(message)?;
        if let Some((slot, session)) = self.sessions.find(&key(below, from, to)) {
            message.pop(HEADER);
            return Ok(Demux::Found(slot, session.upper));
        }
        // The sender of what nobody wants is told so.
        Ok(Demux::Passive)
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
        lower: &mut Lower<'_>,
    ) -> Result<Pop, Discard> {
        let Some(session) = self.sessions.get(slot) else { return Err(Discard::NoPort) };
        let addresses = (session.remote, session.group);
        // What is a user's now, nobody else will look at; and a protocol above leaves what is left to it, or checks it.
        let later = lower.cx.integrates;
        self.verify(message, header, addresses, later)?;
        Ok(Pop::Up)
    }

    fn accept(&mut self, below: Layer, message: &mut Message, lower: &mut Lower<'_>) -> Result<(), Discard> {
        let (from, to) = Self::header(message)?;
        let Answer::Addresses { local, remote, group } = lower.control(below, Control::Addresses) else {
            return Err(Discard::UnknownProtocol);
        };
        self.verify(message, message.position(), (remote, group), false)?;
        let upper = match self.transport.enabled(to) {
            Some(Enabled::Listener(listener)) => Upper::User(lower.passive_path(listener)?),
            // It may yet refuse: then the session goes when its place is needed.
            Some(Enabled::Protocol(above)) => Upper::Protocol(above),
            None => {
                if local == group {
                    let packet = message.from(message.network());
                    lower.refuse(below.protocol, (local, remote), Refusal::NoPort, packet);
                }
                return Err(Discard::NoPort);
            }
        };
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
        let uses = matches!(upper, Upper::User(_)).into();
        if self.insert(key(below, from, to), session, uses, lower).is_none() {
            lower.forget_path(upper);
            return Err(Discard::Sessions);
        }
        lower.hold(below);
        Ok(())
    }

    fn open(
        &mut self,
        upper: Upper,
        participants: &mut Participants,
        lower: &mut Lower<'_>,
    ) -> Result<Slot, OpenError> {
        let Opened { below, local, remote } = self.transport.open(participants, lower)?;
        let session = Session {
            local: local.0,
            remote: remote.0,
            group: local.0,
            local_port: local.1,
            remote_port: remote.1,
            opened: true,
            upper,
            below: Some(below),
        };
        let key = key(below, remote.1, local.1);
        if let Some(slot) = self.share(&key, upper, lower) {
            return Ok(slot);
        }
        self.insert(key, session, 1, lower).ok_or_else(|| {
            self.transport.close(Some(below), Some(local.1), lower);
            OpenError::Taken
        })
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
    }

    fn hold(&mut self, session: Slot) {
        self.sessions.hold(session);
    }

    fn close(&mut self, slot: Slot, lower: &mut Lower<'_>) {
        if !self.sessions.release(slot) {
            return;
        }
        let Some(session) = self.sessions.remove(slot) else { return };
        self.transport.close(session.below, session.opened.then_some(session.local_port), lower);
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
        packet.set_checksum(0);
        if self.checksums {
            let pseudo = pseudo(session.local, session.remote, PROTOCOL, usize::from(len));
            // None at all is what 0 means.
            let check = match check(pseudo, packet.as_ref()) {
                0 => 0xffff,
                check => check,
            };
            packet.set_checksum(check);
        }
        lower.push(below, message)
    }

    fn below(&mut self, session: Slot) -> Option<Layer> {
        self.sessions.get(session)?.below
    }

    fn trouble(&mut self, below: Layer, report: &Report, lower: &mut Lower<'_>) {
        if let Some((_, session)) = self.sessions.find(&key_of_sent(below, report)) {
            lower.trouble(session.upper, report.trouble);
        }
    }

    fn control(&mut self, session: Slot, control: Control) -> Answer {
        match (control, self.sessions.get(session)) {
            (Control::Addresses, Some(session)) => {
                Answer::Addresses { local: session.local, remote: session.remote, group: session.group }
            }
            (Control::Port, Some(session)) => Answer::Port(session.local_port),
            _ => Answer::Unknown,
        }
    }
}
