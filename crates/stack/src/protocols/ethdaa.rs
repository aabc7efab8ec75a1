//! Ethernet with a direct association of applications: the header names the path.
//!
//! ```text
//!          0        1        2        3        4        5        6        7
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!   0 |              destination's address                  |   source's
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!   8 |    address                        |      type       | application id
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!  16 |                 |       deadline or priority        |
//!     +--------+--------+--------+--------+--------+--------+
//! ```
//!
//! Big-endian. There is no field for the protocol above: the path knows it.
//!
//! An application id is unique on its machine, and with the machine's address in the network. It is demanded or assigned
//! when a path is opened. Paths are told apart by the sender's address and the id, so that a server's id serves one path
//! to each machine.

use std::collections::HashMap;

use smoltcp::wire::EthernetAddress;
use throughline_demux::Slot;

use super::eth::{for_us, write_header};
use crate::{
    Answer, Control, Demux, Discard, Enabled, Host, Layer, Lead, Lookup, LookupError, Lower, Message,
    OpenError, Participants, Pop, Protocol, Reach, SendError, Upper, sessions::Sessions, shepherd::AT_ONCE,
};

/// The type of frames, from those that IEEE 802 sets aside for experiments.
pub const ETHERTYPE: u16 = 0x88b5;
pub(crate) const HEADER: usize = 22;
/// Ids that are assigned begin here; smaller ones are for those who demand theirs.
const FIRST_ASSIGNED: u32 = 1 << 16;

/// The extended Ethernet.
pub(crate) struct EthDaa {
    own: EthernetAddress,
    room: usize,
    sessions: Sessions<u128, Session>,
    enabled: HashMap<u32, Enabled>,
    /// Ids of paths that were opened.
    taken: HashMap<u32, Slot>,
    next: u32,
}

#[derive(Clone, Copy)]
struct Session {
    /// `None` until the address is known: then nothing can be received here either.
    remote: Option<EthernetAddress>,
    local_id: u32,
    remote_id: u32,
    opened: bool,
    /// The path, once there is one; then `above` is what was there before.
    upper: Upper,
    above: Upper,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            remote: None,
            local_id: 0,
            remote_id: 0,
            opened: false,
            upper: Upper::Itself,
            above: Upper::Itself,
        }
    }
}

fn key(remote: &[u8], id: u32) -> u128 {
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&remote[..6]);
    bytes[8..12].copy_from_slice(&id.to_ne_bytes());
    u128::from_ne_bytes(bytes)
}

/// The key in a header.
fn key_of(header: &[u8]) -> u128 {
    key(&header[6..12], word(header, 14))
}

/// The place of a session whose remote address is not known: no sender has this address, which is a group's.
fn place_holder(id: u32) -> u128 {
    key(&[0xff; 6], id)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

impl EthDaa {
    pub fn new(host: &Host, lookup: Lookup) -> Result<Self, LookupError> {
        Ok(Self {
            own: host.hardware,
            room: host.mtu + super::eth::HEADER - HEADER,
            sessions: Sessions::new(lookup)?,
            enabled: HashMap::new(),
            taken: HashMap::new(),
            next: FIRST_ASSIGNED,
        })
    }

    fn header(&self, message: &mut Message) -> Result<(u128, u32), Discard> {
        let bytes = message.bytes();
        if bytes.len() < HEADER {
            return Err(Discard::Truncated);
        }
        let to_many = for_us(self.own, bytes)?;
        let id = word(bytes, 14);
        let (key, priority) = (key_of(bytes), word(bytes, 18));
        (message.priority, message.to_many) = (priority, to_many);
        Ok((key, id))
    }

    /// The id demanded, if it is free, or one that is.
    fn local_id(&mut self, demanded: Option<u32>) -> Result<u32, OpenError> {
        let is_free = |id: &u32| !self.taken.contains_key(id) && !self.enabled.contains_key(id);
        if let Some(id) = demanded {
            return is_free(&id).then_some(id).ok_or(OpenError::Taken);
        }
        // There are more ids than sessions.
        let mut ids = (self.next..=u32::MAX).chain(FIRST_ASSIGNED..self.next);
        let id = ids.find(is_free).ok_or(OpenError::TooMany)?;
        self.next = id.checked_add(1).unwrap_or(FIRST_ASSIGNED);
        Ok(id)
    }

    /// Puts a session where messages of its remote end are looked for.
    fn set_remote(&mut self, slot: Slot, remote: EthernetAddress) {
        let Some(session) = self.sessions.get(slot) else { return };
        if session.remote == Some(remote) {
            return;
        }
        session.remote = Some(remote);
        let key = key(remote.as_bytes(), session.local_id);
        self.sessions.set_key(slot, key);
    }
}

impl Protocol for EthDaa {
    fn name(&self) -> &'static str {
        "ethdaa"
    }

    fn stateless(&self) -> bool {
        true
    }

    fn identifies(&self) -> bool {
        true
    }

    fn demux(&mut self, _below: Layer, message: &mut Message) -> Result<Demux, Discard> {
        let (key, id) = self.header(message)?;
        if let Some((slot, session)) = self.sessions.find(&key) {
            message.pop(HEADER);
            return Ok(Demux::Found(slot, session.upper));
        }
        if self.enabled.contains_key(&id) { Ok(Demux::Passive) } else { Err(Discard::UnknownApplication) }
    }

    fn foresees(&self) -> bool {
        self.sessions.are_many()
    }

    fn foresee(&mut self, frames: &[(Layer, &Message)], found: &mut [Option<Slot>]) {
        // What is no frame is nobody's; it is found out again, and counted, when its turn has come.
        let of = |(_, frame): &(Layer, &Message)| frame.bytes().get(..HEADER).map_or(0, key_of);
        let keys: heapless::Vec<u128, AT_ONCE> = frames.iter().take(AT_ONCE).map(of).collect();
        self.sessions.foresee(&keys, &mut found[..keys.len()]);
    }

    fn demux_foreseen(&mut self, below: Layer, frame: &mut Message, session: Slot) -> Result<Demux, Discard> {
        let (key, _) = self.header(frame)?;
        let Some(session_found) = self.sessions.confirm(session, &key) else {
            return self.demux(below, frame);
        };
        frame.pop(HEADER);
        Ok(Demux::Found(session, session_found.upper))
    }

    fn fetch(&mut self, session: Slot, reach: Reach) -> Option<Lead> {
        if reach == Reach::Session {
            self.sessions.prefetch(session);
            return None;
        }
        Some(Lead { upper: self.sessions.get(session)?.upper, parts: 0, len: 0 })
    }

    fn check(&mut self, session: Slot, message: &mut Message) -> Result<Upper, Discard> {
        let (key, _) = self.header(message)?;
        let upper = self.sessions.confirm(session, &key).ok_or(Discard::WrongPath)?.upper;
        message.pop(HEADER);
        Ok(upper)
    }

    fn pop(&mut self, _: Slot, _: usize, _: &mut Message, _: &mut Lower<'_>) -> Result<Pop, Discard> {
        Ok(Pop::Up)
    }

    fn accept(&mut self, _below: Layer, message: &mut Message, lower: &mut Lower<'_>) -> Result<(), Discard> {
        let (key, id) = self.header(message)?;
        let upper = match *self.enabled.get(&id).ok_or(Discard::UnknownApplication)? {
            Enabled::Protocol(protocol) => Upper::Protocol(protocol),
            Enabled::Listener(listener) => Upper::User(lower.passive_path(listener)?),
        };
        let uses = matches!(upper, Upper::User(_)).into();
        let remote = Some(EthernetAddress::from_bytes(&message.bytes()[6..12]));
        let session = Session { remote, local_id: id, remote_id: id, opened: false, upper, above: upper };
        if self.sessions.insert(key, session, uses).is_err() {
            lower.forget_path(upper);
            return Err(Discard::Sessions);
        }
        Ok(())
    }

    fn open(
        &mut self,
        upper: Upper,
        participants: &mut Participants,
        _lower: &mut Lower<'_>,
    ) -> Result<Slot, OpenError> {
        let local_id = self.local_id(participants.local_application)?;
        let remote_id = participants.remote_application.unwrap_or(local_id);
        let remote = participants.remote_hardware;
        let key = remote.map_or(place_holder(local_id), |remote| key(remote.as_bytes(), local_id));
        let session = Session { remote, local_id, remote_id, opened: true, upper, above: upper };
        let (slot, _) = self.sessions.insert(key, session, 1).map_err(|_| OpenError::TooMany)?;
        self.taken.insert(local_id, slot);
        participants.local_application = Some(local_id);
        Ok(slot)
    }

    fn enable(
        &mut self,
        user: Enabled,
        participants: &Participants,
        _lower: &mut Lower<'_>,
    ) -> Result<(), OpenError> {
        let id = participants.local_application.ok_or(OpenError::Missing("an application id"))?;
        if self.taken.contains_key(&id) || self.enabled.get(&id).is_some_and(|other| *other != user) {
            return Err(OpenError::Taken);
        }
        self.enabled.insert(id, user);
        Ok(())
    }

    fn disable(&mut self, user: Enabled, participants: &Participants, _lower: &mut Lower<'_>) {
        self.enabled.retain(|id, enabled| Some(*id) != participants.local_application || *enabled != user);
    }

    fn hold(&mut self, session: Slot) {
        self.sessions.hold(session);
    }

    fn room(&self) -> usize {
        self.room
    }

    fn close(&mut self, session: Slot, _lower: &mut Lower<'_>) {
        if !self.sessions.release(session) {
            return;
        }
        if let Some(session) = self.sessions.remove(session)
            && session.opened
        {
            self.taken.remove(&session.local_id);
        }
    }

    fn push(&mut self, session: Slot, mut message: Message, lower: &mut Lower<'_>) -> Result<(), SendError> {
        let Some(session) = self.sessions.get(session) else { return Err(SendError::NoPath) };
        if message.len() > self.room {
            return Err(SendError::TooLong);
        }
        let priority = message.priority;
        let header = message.push(HEADER).map_err(|_| SendError::TooLong)?;
        write_header(header, session.remote.ok_or(SendError::NoRoute)?, self.own, ETHERTYPE);
        header[14..18].copy_from_slice(&session.remote_id.to_be_bytes());
        header[18..22].copy_from_slice(&priority.to_be_bytes());
        lower.cx.transmit(message)
    }

    fn control(&mut self, session: Slot, control: Control) -> Answer {
        match control {
            Control::Remote(address) => self.set_remote(session, address),
            Control::Path(path) => {
                if let Some(session) = self.sessions.get(session) {
                    session.upper = path.map_or(session.above, Upper::Path);
                }
            }
            _ => return Answer::Unknown,
        }
        Answer::Done
    }
}
