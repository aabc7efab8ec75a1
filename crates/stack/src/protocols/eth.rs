//! Ethernet: a session for each neighbour and type of frame.

use smoltcp::wire::{EthernetAddress, EthernetFrame, EthernetProtocol};
use throughline_demux::Slot;

use crate::{
    Demux, Discard, Enabled, Host, Layer, Lookup, LookupError, Lower, Message, OpenError, Participants, Pop,
    Protocol, SendError, Upper, sessions::Sessions,
};

pub(crate) const HEADER: usize = 14;

/// Ethernet II.
pub(crate) struct Eth {
    own: EthernetAddress,
    room: usize,
    sessions: Sessions<u64, Session>,
    enabled: Vec<(u16, Enabled)>,
}

#[derive(Clone, Copy)]
struct Session {
    remote: EthernetAddress,
    ethertype: u16,
    upper: Upper,
}

impl Default for Session {
    fn default() -> Self {
        Self { remote: EthernetAddress::default(), ethertype: 0, upper: Upper::Itself }
    }
}

/// A neighbour's address and a type in one word.
fn key(remote: &[u8], ethertype: u16) -> u64 {
    let mut word = [0; 8];
    word[..6].copy_from_slice(&remote[..6]);
    word[6..].copy_from_slice(&ethertype.to_be_bytes());
    u64::from_ne_bytes(word)
}

impl Eth {
    pub fn new(host: &Host, lookup: Lookup) -> Result<Self, LookupError> {
        Ok(Self { own: host.hardware, room: host.mtu, sessions: Sessions::new(lookup)?, enabled: Vec::new() })
    }

    /// The key in the header at the front, if the frame is for this host.
    fn header(&self, message: &mut Message) -> Result<(u64, u16), Discard> {
        let bytes = message.bytes();
        if bytes.len() < HEADER {
            return Err(Discard::Truncated);
        }
        let to_many = for_us(self.own, bytes)?;
        let ethertype = u16::from_be_bytes([bytes[12], bytes[13]]);
        let key = key(&bytes[6..12], ethertype);
        message.to_many = to_many;
        Ok((key, ethertype))
    }

    fn enabled(&self, ethertype: u16) -> Option<Enabled> {
        self.enabled.iter().find(|(enabled, _)| *enabled == ethertype).map(|(_, user)| *user)
    }
}

/// Whether a frame is for many hosts, if its addresses are such that this one takes it.
#[inline]
pub(super) fn for_us(own: EthernetAddress, frame: &[u8]) -> Result<bool, Discard> {
    // A group's address has the lowest bit of its first byte set; who is in which group is for those above.
    let to_many = frame[0] & 1 == 1;
    if frame[..6] != own.0 && !to_many {
        return Err(Discard::NotForUs);
    }
    if frame[6] & 1 == 1 || frame[6..12] == own.0 {
        return Err(Discard::Source);
    }
    Ok(to_many)
}

impl Protocol for Eth {
    fn name(&self) -> &'static str {
        "eth"
    }

    fn stateless(&self) -> bool {
        true
    }

    fn demux(&mut self, _below: Layer, message: &mut Message) -> Result<Demux, Discard> {
        let (key, ethertype) = self.header(message)?;
        if let Some((slot, session)) = self.sessions.find(&key) {
            message.pop(HEADER);
            return Ok(Demux::Found(slot, session.upper));
        }
        self.enabled(ethertype).map(|_| Demux::Passive).ok_or(Discard::UnknownProtocol)
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
        let (key, ethertype) = self.header(message)?;
        let upper = match self.enabled(ethertype).ok_or(Discard::UnknownProtocol)? {
            Enabled::Protocol(protocol) => Upper::Protocol(protocol),
            Enabled::Listener(listener) => Upper::User(lower.passive_path(listener)?),
        };
        let uses = matches!(upper, Upper::User(_)).into();
        let remote = EthernetAddress::from_bytes(&message.bytes()[6..12]);
        let session = Session { remote, ethertype, upper };
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
        let remote = participants.remote_hardware.ok_or(OpenError::Missing("the remote hardware address"))?;
        let ethertype = participants.ethertype.ok_or(OpenError::Missing("the type of frames"))?;
        let key = key(remote.as_bytes(), ethertype);
        if let Some((slot, session)) = self.sessions.find(&key) {
            // Protocols share a session; a user has one alone.
            if session.upper != upper || matches!(upper, Upper::User(_)) {
                return Err(OpenError::Taken);
            }
            self.sessions.hold(slot);
            return Ok(slot);
        }
        let session = Session { remote, ethertype, upper };
        let (slot, _) = self.sessions.insert(key, session, 1).map_err(|_| OpenError::TooMany)?;
        Ok(slot)
    }

    fn enable(
        &mut self,
        user: Enabled,
        participants: &Participants,
        _lower: &mut Lower<'_>,
    ) -> Result<(), OpenError> {
        let ethertype = participants.ethertype.ok_or(OpenError::Missing("the type of frames"))?;
        match self.enabled(ethertype) {
            Some(other) if other != user => return Err(OpenError::Taken),
            Some(_) => {}
            None => self.enabled.push((ethertype, user)),
        }
        Ok(())
    }

    fn disable(&mut self, user: Enabled, participants: &Participants, _lower: &mut Lower<'_>) {
        self.enabled.retain(|enabled| Some(enabled.0) != participants.ethertype || enabled.1 != user);
    }

    fn hold(&mut self, session: Slot) {
        self.sessions.hold(session);
    }

    fn room(&self) -> usize {
        self.room
    }

    fn close(&mut self, session: Slot, _lower: &mut Lower<'_>) {
        let private =
            self.sessions.get(session).is_some_and(|session| matches!(session.upper, Upper::User(_)));
        // A session of a protocol stays for those who still send, until others need its place.
        if self.sessions.release(session) && private {
            self.sessions.remove(session);
        }
    }

    fn push(&mut self, session: Slot, mut message: Message, lower: &mut Lower<'_>) -> Result<(), SendError> {
        let Some(session) = self.sessions.get(session) else { return Err(SendError::NoPath) };
        if message.len() > self.room {
            return Err(SendError::TooLong);
        }
        let header = message.push(HEADER).map_err(|_| SendError::TooLong)?;
        write_header(header, session.remote, self.own, session.ethertype);
        lower.cx.transmit(message)
    }
}

pub(super) fn write_header(header: &mut [u8], to: EthernetAddress, from: EthernetAddress, ethertype: u16) {
    let mut frame = EthernetFrame::new_unchecked(header);
    frame.set_dst_addr(to);
    frame.set_src_addr(from);
    frame.set_ethertype(EthernetProtocol::from(ethertype));
}
