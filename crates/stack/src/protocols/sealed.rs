//! Datagrams that nobody else can read, forge, or send again: a session for each pair of ends and key.
//!
//! ```text
//!        0        1        2        3        4        5        6        7
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!   0 |              id of the key        |          sequence number
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!   8 |           sequence number         |   data, encrypted ...
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!     ... and 16 bytes of tag, over the header too.
//! ```
//!
//! Big-endian. After ESP (RFC 4303) as it goes over UDP (RFC 3948), with authenticated encryption whose nonce is the key's salt and
//! the sequence number (RFC 8750): ids of keys chosen by the receiver, sequence numbers from 1 on, a window of those that have come.
//! Unlike ESP's, the number is there as a whole, and there is neither padding nor a number of a protocol above. Keys are agreed upon
//! by other means.
//!
//! A message that is to be opened in the pass that moves its data stays sealed in its path's queue. What is noted as come is what
//! was opened, so that nothing comes twice; messages of a path that its user never takes, or closes before, have not come.

use std::collections::HashMap;

use smoltcp::wire::IpAddress;
use throughline_demux::Slot;

use crate::{
    Answer, Control, Demux, Discard, Enabled, Layer, Lookup, LookupError, Lower, Message, OpenError,
    Participants, Pop, Protocol, ProtocolId, SendError, Upper,
    associations::{HEADER, number},
    manipulate::TAG,
    message::Seal,
    sessions::Sessions,
};

/// See the module.
pub(crate) struct Sealed {
    own: ProtocolId,
    below: ProtocolId,
    room: usize,
    sessions: Sessions<u64, Session>,
    /// By the ids of the keys that we receive by.
    known: HashMap<u32, Known>,
    /// Listeners at each port.
    ports: HashMap<u16, u32>,
}

struct Known {
    association: u32,
    /// Whoever listens, and at which port.
    listener: Option<(Slot, u16)>,
}

#[derive(Clone, Copy)]
struct Session {
    /// Of the key that we receive by.
    id: u32,
    association: u32,
    upper: Upper,
    below: Option<Layer>,
    addresses: Option<(IpAddress, IpAddress)>,
}

impl Default for Session {
    fn default() -> Self {
        Self { id: 0, association: 0, upper: Upper::Itself, below: None, addresses: None }
    }
}

/// The session below and the key's id in one word. Protocols have fewer than 2^24 sessions.
fn key(below: Layer, id: u32) -> u64 {
    u64::from(below.protocol.0) << 56 | u64::from(below.session.0) << 32 | u64::from(id)
}

fn addresses(below: Layer, lower: &mut Lower<'_>) -> Option<(IpAddress, IpAddress)> {
    match lower.control(below, Control::Addresses) {
        Answer::Addresses { local, remote, .. } => Some((local, remote)),
        _ => None,
    }
}

/// The header of a message, and the id of the key in it.
fn header(message: &Message) -> Result<([u8; HEADER], u32), Discard> {
    let bytes = message.bytes();
    let header: &[u8; HEADER] =
        bytes.first_chunk().filter(|_| bytes.len() >= HEADER + TAG).ok_or(Discard::Truncated)?;
    let [a, b, c, d, ..] = *header;
    Ok((*header, u32::from_be_bytes([a, b, c, d])))
}

impl Sealed {
    pub fn new(
        own: ProtocolId,
        (below, protocol): (ProtocolId, &dyn Protocol),
        lookup: Lookup,
    ) -> Result<Self, LookupError> {
        Ok(Self {
            own,
            below,
            room: protocol.room().saturating_sub(HEADER + TAG),
            sessions: Sessions::new(lookup)?,
            known: HashMap::new(),
            ports: HashMap::new(),
        })
    }

    /// The listener for what comes from a session below with a key.
    fn listener(&self, id: u32, below: Layer, lower: &mut Lower<'_>) -> Result<(u32, Slot), Discard> {
        let known = self.known.get(&id).ok_or(Discard::UnknownKey)?;
        match known.listener {
            Some((listener, port)) if lower.control(below, Control::Port) == Answer::Port(port) => {
                Ok((known.association, listener))
            }
            _ => Err(Discard::NoPort),
        }
    }

    fn release(&mut self, association: u32, lower: &mut Lower<'_>) {
        if let Some(id) = lower.cx.associations.release(association) {
            self.known.remove(&id);
        }
    }

    fn insert(&mut self, session: Session, below: Layer, lower: &mut Lower<'_>) -> Option<Slot> {
        let (slot, _) = self.sessions.insert(key(below, session.id), session, 1).ok()?;
        lower.cx.associations.hold(session.association);
        if let Upper::User(path) = session.upper
            && let Some(path) = lower.cx.path(path)
        {
            path.association = Some(session.association);
        }
        Some(slot)
    }
}

/// Opens a message that was found to be a session's, or leaves that to whoever moves its data to where it belongs.
fn open(
    Session { association, upper, .. }: Session,
    header: &[u8; HEADER],
    message: &mut Message,
    lower: &mut Lower<'_>,
) -> Result<(), Discard> {
    let associations = &mut lower.cx.associations;
    if message.seal == Seal::Opened {
        message.truncate(message.len() - TAG);
        message.seal = Seal::None;
        return associations.note(association, number(header));
    }
    associations.expects(association, number(header))?;
    message.leave_sealed();
    let Upper::User(path) = upper else { return Err(Discard::NoPort) };
    // Where a rate is set, what is forged must not count, which is known only now.
    let later = lower.cx.integrates && lower.cx.path(path).is_some_and(|path| !path.rated);
    if later { Ok(()) } else { lower.cx.settle(Some(association), message) }
}

impl Protocol for Sealed {
    fn name(&self) -> &'static str {
        "sealed"
    }

    fn room(&self) -> usize {
        self.room
    }

    fn demux(&mut self, below: Layer, message: &mut Message) -> Result<Demux, Discard> {
        let (_, id) = header(message)?;
        if let Some((slot, session)) = self.sessions.find(&key(below, id)) {
            message.pop(HEADER);
            return Ok(Demux::Found(slot, session.upper));
        }
        if self.known.contains_key(&id) { Ok(Demux::Passive) } else { Err(Discard::UnknownKey) }
    }

    fn check(&mut self, slot: Slot, message: &mut Message) -> Result<Upper, Discard> {
        let (_, id) = header(message)?;
        let session = self.sessions.get(slot).ok_or(Discard::WrongPath)?;
        if session.id != id {
            return Err(Discard::WrongPath);
        }
        message.pop(HEADER);
        Ok(session.upper)
    }

    fn pop(
        &mut self,
        slot: Slot,
        at: usize,
        message: &mut Message,
        lower: &mut Lower<'_>,
    ) -> Result<Pop, Discard> {
        let session = *self.sessions.get(slot).ok_or(Discard::NoPort)?;
        let header = *message.since(at).first_chunk().ok_or(Discard::Truncated)?;
        let opened = open(session, &header, message, lower);
        if let (Err(_), Upper::User(path)) = (opened, session.upper) {
            lower.cx.refund(path);
        }
        opened.map(|()| Pop::Up)
    }

    /// A message that is not authentic makes no path.
    fn accept(&mut self, below: Layer, message: &mut Message, lower: &mut Lower<'_>) -> Result<(), Discard> {
        let (header, id) = header(message)?;
        let (association, listener) = self.listener(id, below, lower)?;
        if message.seal != Seal::Opened {
            lower.cx.associations.expects(association, number(&header))?;
            if !message.is_intact() {
                return Err(Discard::Checksum);
            }
            lower.cx.associations.open_whole(association, message.bytes_mut())?;
            message.seal = Seal::Opened;
        }
        let upper = Upper::User(lower.passive_path(listener)?);
        let addresses = addresses(below, lower);
        let session = Session { id, association, upper, below: Some(below), addresses };
        if self.insert(session, below, lower).is_none() {
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
        let keys = participants.keys.ok_or(OpenError::Missing("the keys"))?;
        let id = keys.receive().id();
        if self.known.contains_key(&id) {
            return Err(OpenError::Taken);
        }
        let below = lower.open(self.below, Upper::Protocol(self.own), participants)?;
        let association = lower.cx.associations.insert(keys);
        self.known.insert(id, Known { association, listener: None });
        let addresses = addresses(below, lower);
        let slot =
            self.insert(Session { id, association, upper, below: Some(below), addresses }, below, lower);
        // From now on it is the session's alone, or nobody's.
        self.release(association, lower);
        slot.ok_or_else(|| {
            lower.close(below);
            OpenError::TooMany
        })
    }

    fn enable(
        &mut self,
        user: Enabled,
        participants: &Participants,
        lower: &mut Lower<'_>,
    ) -> Result<(), OpenError> {
        let keys = participants.keys.ok_or(OpenError::Missing("the keys"))?;
        let port = participants.local_port.ok_or(OpenError::Missing("a local port"))?;
        let Enabled::Listener(listener) = user else { return Err(OpenError::NotForUsers) };
        let id = keys.receive().id();
        if self.known.contains_key(&id) {
            return Err(OpenError::Taken);
        }
        lower.enable(self.below, Enabled::Protocol(self.own), participants)?;
        *self.ports.entry(port).or_default() += 1;
        let association = lower.cx.associations.insert(keys);
        self.known.insert(id, Known { association, listener: Some((listener, port)) });
        Ok(())
    }

    fn disable(&mut self, user: Enabled, participants: &Participants, lower: &mut Lower<'_>) {
        let id = participants.keys.map(|keys| keys.receive().id());
        let Some(known) = id.and_then(|id| self.known.get_mut(&id)) else { return };
        let ours = |(listener, _): &mut (Slot, u16)| Enabled::Listener(*listener) == user;
        let Some((_, port)) = known.listener.take_if(ours) else { return };
        let association = known.association;
        self.release(association, lower);
        if let Some(count) = self.ports.get_mut(&port) {
            *count -= 1;
            if *count == 0 {
                self.ports.remove(&port);
                lower.disable(self.below, Enabled::Protocol(self.own), participants);
            }
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
        self.release(session.association, lower);
        session.below.into_iter().for_each(|below| lower.close(below));
    }

    fn push(&mut self, slot: Slot, mut message: Message, lower: &mut Lower<'_>) -> Result<(), SendError> {
        let session = *self.sessions.get(slot).ok_or(SendError::NoPath)?;
        let below = session.below.ok_or(SendError::NoPath)?;
        lower.cx.associations.seal(session.association, &mut message)?;
        lower.push(below, message)
    }

    fn below(&mut self, session: Slot) -> Option<Layer> {
        self.sessions.get(session)?.below
    }

    fn control(&mut self, session: Slot, control: Control) -> Answer {
        match (control, self.sessions.get(session).and_then(|session| session.addresses)) {
            (Control::Addresses, Some((local, remote))) => Answer::Addresses { local, remote, group: local },
            _ => Answer::Unknown,
        }
    }
}
