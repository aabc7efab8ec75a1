//! Calls over datagrams that may be lost, doubled and overtaken: each is executed at most once.
//!
//! After Birrell and Nelson, "Implementing Remote Procedure Calls" (1984), as the x-kernel has it: a reply acknowledges its
//! request, the next request of a channel acknowledges the reply. A path is a channel: one call at a time. Messages of a
//! caller's path are requests and the replies to them; a server's user answers each message before the next one comes.
//!
//! The server remembers of each channel the last call and its reply, until nothing of it can be under way any more. When
//! there is no room to remember, new channels are refused: nothing is executed twice because something was forgotten.

mod calls;
mod header;
mod session;

use smoltcp::time::Instant;
use throughline_demux::Slot;

use self::{
    header::{Call, HEADER, Header, Kind},
    session::{Caller, Role, Server, Session},
};
use super::transport::{Opened, Transport, key};
use crate::{
    Answer, Control, Demux, Discard, Enabled, Layer, Lookup, LookupError, Lower, Message, OpenError,
    Participants, Pop, Protocol, ProtocolId, Report, SendError, Upper, secret::Secret, sessions::Sessions,
    timer_wheel::TimerWheel,
};

/// Above IP: for experiments (RFC 3692).
const PROTOCOL: u8 = 253;
/// Bytes of replies that are kept in all.
const KEPT: usize = 16 << 20;

/// See the module.
pub(crate) struct Rpc {
    transport: Transport,
    room: usize,
    sessions: Sessions<u64, Session>,
    wheel: TimerWheel,
    due: Vec<u32>,
    /// Drawn when this host began; and the last call of any of its channels.
    last: Call,
    kept: usize,
}

impl Rpc {
    pub fn new(
        own: ProtocolId,
        below: &[(ProtocolId, &dyn Protocol)],
        lookup: Lookup,
    ) -> Result<Self, LookupError> {
        let mut secret = Secret::default();
        let drawn = secret.draw();
        let room = below.iter().map(|(_, below)| below.room()).min().unwrap_or(0);
        Ok(Self {
            transport: Transport::new(own, PROTOCOL, below, secret.draw()),
            room: room.saturating_sub(HEADER),
            sessions: Sessions::new(lookup)?,
            wheel: TimerWheel::default(),
            due: Vec::new(),
            last: Call { incarnation: (drawn >> 32) as u32, sequence: drawn as u32 },
            kept: 0,
        })
    }
}

impl Protocol for Rpc {
    fn name(&self) -> &'static str {
        "rpc"
    }

    fn room(&self) -> usize {
        self.room
    }

    fn start(&mut self, lower: &mut Lower<'_>) -> Result<(), OpenError> {
        self.transport.start(lower)
    }

    fn demux(&mut self, below: Layer, message: &mut Message) -> Result<Demux, Discard> {
        let header = Header::read(message.bytes())?;
        if let Some((slot, session)) = self.sessions.find(&key(below, header.from, header.to))
            && session.upper != Upper::Itself
        {
            message.pop(HEADER);
            return Ok(Demux::Found(slot, session.upper));
        }
        self.transport.listener(header.to).map(|_| Demux::Passive).ok_or(Discard::NoPort)
    }

    fn check(&mut self, slot: Slot, message: &mut Message) -> Result<Upper, Discard> {
        let header = Header::read(message.bytes())?;
        let session = self.sessions.get(slot).ok_or(Discard::WrongPath)?;
        if (session.remote.1, session.local.1) != (header.from, header.to) {
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
        if !Header::is_intact(message.from(header)) {
            return Err(Discard::Checksum);
        }
        let Header { kind, call, .. } = Header::read(message.from(header))?;
        let Some(session) = self.sessions.get(slot) else { return Err(Discard::NoPort) };
        match (&mut session.role, kind) {
            (Role::Server(_), Kind::Request) => {
                // A call that its user would not get must not count as executed.
                if !lower.has_room(session.upper) {
                    return Err(Discard::QueueFull);
                }
                self.request(slot, call, lower).map(|()| Pop::Up)
            }
            (Role::Caller(caller), Kind::Reply) => {
                let request = caller.answered(call, lower.now()).ok_or(Discard::Duplicate)?;
                lower.give(request);
                Ok(Pop::Up)
            }
            (Role::Caller(caller), Kind::Working) => {
                caller.patience(call, lower.now());
                self.arm(slot);
                Ok(Pop::Consumed)
            }
            _ => Err(Discard::Malformed),
        }
    }

    fn accept(&mut self, below: Layer, message: &mut Message, lower: &mut Lower<'_>) -> Result<(), Discard> {
        let header = Header::read(message.bytes())?;
        if !Header::is_intact(message.bytes()) {
            return Err(Discard::Checksum);
        }
        let listener = self.transport.listener(header.to).ok_or(Discard::NoPort)?;
        if header.kind != Kind::Request {
            return Err(Discard::NoPort);
        }
        if !lower.has_backlog(listener) {
            return Err(Discard::QueueFull);
        }
        let key = key(below, header.from, header.to);
        // Its user has closed it, but it is remembered.
        if let Some((slot, _)) = self.sessions.find(&key) {
            return self.reopen(slot, listener, header.call, lower);
        }
        let Answer::Addresses { local, remote, .. } = lower.control(below, Control::Addresses) else {
            return Err(Discard::UnknownProtocol);
        };
        let path = lower.passive_path(listener)?;
        lower.pin_path(path);
        let role = Role::Server(Server::new(lower.now()));
        let upper = Upper::User(path);
        let session = Session::new(upper, below, (local, header.to), (remote, header.from), role);
        let Ok((slot, _)) = self.sessions.insert(key, session, 1) else {
            lower.forget_path(upper);
            return Err(Discard::Sessions);
        };
        lower.hold(below);
        self.arm(slot);
        Ok(())
    }

    fn open(
        &mut self,
        upper: Upper,
        participants: &mut Participants,
        lower: &mut Lower<'_>,
    ) -> Result<Slot, OpenError> {
        let Opened { below, local, remote } = self.transport.open(participants, lower)?;
        let session = Session::new(upper, below, local, remote, Role::Caller(Caller::default()));
        match self.sessions.insert(key(below, remote.1, local.1), session, 1) {
            Ok((slot, _)) => Ok(slot),
            Err(_) => {
                self.transport.close(Some(below), Some(local.1), lower);
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
        self.transport.enable(user, participants, lower)
    }

    fn disable(&mut self, user: Enabled, participants: &Participants, lower: &mut Lower<'_>) {
        self.transport.disable(user, participants, lower);
    }

    /// A server's channel is remembered after its user has closed it.
    fn close(&mut self, slot: Slot, lower: &mut Lower<'_>) {
        let Some(session) = self.sessions.get(slot) else { return };
        let Role::Server(server) = &mut session.role else { return self.remove(slot, lower) };
        session.upper = Upper::Itself;
        if server.working_on().is_some() {
            server.end(None, lower.now());
        }
        self.arm(slot);
    }

    fn push(&mut self, slot: Slot, message: Message, lower: &mut Lower<'_>) -> Result<(), SendError> {
        let Some(session) = self.sessions.get(slot) else { return Err(SendError::NoPath) };
        match &session.role {
            Role::Caller(_) => self.call(slot, message, lower),
            Role::Server(_) => self.reply(slot, message, lower),
            Role::None => Err(SendError::NoPath),
        }
    }

    fn below(&mut self, session: Slot) -> Option<Layer> {
        self.sessions.get(session)?.below
    }

    /// Whoever called is told, and the call goes on: it may be a lie, and it may pass.
    fn trouble(&mut self, below: Layer, report: &Report, lower: &mut Lower<'_>) {
        let [.., a, b, c, d] = report.first;
        let (from, to) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        if let Some((_, session)) = self.sessions.find(&key(below, to, from)) {
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
        for slot in due.drain(..) {
            self.wake(Slot(slot), now, lower);
        }
        self.due = due;
        self.wheel.next()
    }
}

#[cfg(test)]
mod tests {
    use throughline_demux::{LocatorConfig, Strategy};

    use super::*;

    /// Servers are told the numbers of calls; the seed by which channels are found is nobody's business.
    #[test]
    fn numbers_of_calls_tell_nothing_of_what_channels_are_found_by() {
        let rpc = |seed| {
            let config = LocatorConfig { limit: 10, ..LocatorConfig::seeded(seed) };
            let rpc = Rpc::new(ProtocolId(1), &[], Lookup { strategy: Strategy::DynamicHash, config });
            rpc.unwrap().last
        };
        let (one, other) = (rpc(7), rpc(7));
        assert_ne!((one.incarnation, one.sequence), (other.incarnation, other.sequence));
    }
}
