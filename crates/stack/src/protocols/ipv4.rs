//! IPv4 (RFC 791): a session for each pair of addresses and protocol above.

mod pieces;
mod session;

use smoltcp::{
    time::Instant,
    wire::{EthernetAddress, IpAddress, IpVersion, Ipv4Address, Ipv4Packet},
};
use throughline_demux::Slot;

use self::session::{Pair, Session};
use super::way::{Network, Way};
use crate::{
    Answer, Control, Demux, Discard, Enabled, Host, Layer, Lookup, LookupError, Lower, Message, OpenError,
    Participants, Pop, Protocol, ProtocolId, Refusal, Report, SendError, Upper, fragments::Fragments,
    secret::Secret, sessions::Sessions,
};

const ETHERTYPE: u16 = 0x0800;
pub(crate) const HEADER: usize = 20;
/// The most bytes behind the header.
const MOST: usize = 65_535 - HEADER;
const HOP_LIMIT: u8 = 64;
const ICMP: u8 = 1;

/// Internet Protocol, version 4.
pub(crate) struct Ipv4 {
    own: ProtocolId,
    below: ProtocolId,
    /// Whether sessions below are of one path each.
    private: bool,
    /// Bytes that a frame carries.
    frame: usize,
    host: Host,
    sessions: Sessions<Pair, Session>,
    enabled: Vec<(u8, Enabled)>,
    fragments: Fragments<(Pair, u16)>,
    next_ident: u16,
}

/// What the header at the front of a message says.
struct Read {
    pair: Pair,
    header: usize,
    is_fragment: bool,
}

impl Ipv4 {
    pub fn new(
        own: ProtocolId,
        below: (ProtocolId, &dyn Protocol),
        host: Host,
        lookup: Lookup,
    ) -> Result<Self, LookupError> {
        let next_ident = Secret::default().draw() as u16;
        Ok(Self {
            own,
            below: below.0,
            private: below.1.identifies(),
            frame: below.1.room(),
            host,
            sessions: Sessions::new(lookup)?,
            enabled: Vec::new(),
            fragments: Fragments::new(MOST),
            next_ident,
        })
    }

    fn header(&self, below: u32, message: &mut Message) -> Result<Read, Discard> {
        let packet = Ipv4Packet::new_checked(message.bytes()).map_err(|_| Discard::Truncated)?;
        let header = usize::from(packet.header_len());
        if packet.version() != 4 || header < HEADER {
            return Err(Discard::Malformed);
        }
        let to = packet.dst_addr();
        // What is for one host does not come in a frame for many (RFC 1122, 3.3.6).
        if (message.to_many || !self.host.has(to.into())) && !self.host.is_broadcast(to) {
            return Err(Discard::NotForUs);
        }
        let pair = Pair {
            remote: packet.src_addr().to_bits(),
            local: to.to_bits(),
            below,
            protocol: packet.next_header().into(),
        };
        let read = Read { pair, header, is_fragment: packet.more_frags() || packet.frag_offset() != 0 };
        let len = usize::from(packet.total_len());
        message.truncate(len);
        Ok(read)
    }

    /// Takes the header off, and says where the message goes.
    #[inline]
    fn found(read: &Read, upper: Upper, message: &mut Message) -> Upper {
        message.mark_network();
        message.pop(read.header);
        if read.is_fragment { Upper::AfterPop } else { upper }
    }

    fn enabled(&self, protocol: u8) -> Option<Enabled> {
        self.enabled.iter().find(|(enabled, _)| *enabled == protocol).map(|(_, user)| *user)
    }

    /// What keys contain of the session below.
    fn below_key(&self, below: Layer) -> u32 {
        if self.private { below.session.0 } else { 0 }
    }

    /// What is below for what names no paths.
    fn network(&self) -> Network {
        let below = (!self.private).then_some(self.below);
        Network { own: self.own, below, ethertype: ETHERTYPE }
    }

    /// Whether an address may be a host's, or all hosts': nobody is beyond the gateway within himself, or in this network
    /// without knowing it (RFC 1122, 3.2.1.3), and we are in no groups.
    fn is_somewhere(address: Ipv4Address) -> bool {
        !(address.is_multicast() || address.is_loopback() || address.octets()[0] == 0)
    }

    /// Sends a packet with its header.
    fn send(&mut self, slot: Slot, packet: Message, lower: &mut Lower<'_>) -> Result<(), SendError> {
        let Some(session) = self.sessions.get(slot) else { return Err(SendError::NoPath) };
        match session.way.link {
            Some(link) if session.way.is_current(lower) => lower.push(link, packet),
            _ => self.find_way(slot, packet, lower),
        }
    }

    #[cold]
    fn find_way(&mut self, slot: Slot, packet: Message, lower: &mut Lower<'_>) -> Result<(), SendError> {
        let network = self.network();
        let Some(session) = self.sessions.get(slot) else { return Err(SendError::NoPath) };
        let group = match session.way.next_hop {
            IpAddress::Ipv4(next) if self.host.is_broadcast(next) => Some(EthernetAddress::BROADCAST),
            _ => None,
        };
        session.way.find(slot, network, group, packet, lower)
    }

    fn insert(&mut self, pair: Pair, session: Session, uses: u32, lower: &mut Lower<'_>) -> Option<Slot> {
        let (slot, gone) = self.sessions.insert(pair, session, uses).ok()?;
        if let Some(link) = gone.and_then(|gone| gone.way.link) {
            lower.close(link);
        }
        Some(slot)
    }
}

impl Protocol for Ipv4 {
    fn name(&self) -> &'static str {
        "ipv4"
    }

    fn version(&self) -> Option<IpVersion> {
        Some(IpVersion::Ipv4)
    }

    fn start(&mut self, lower: &mut Lower<'_>) -> Result<(), OpenError> {
        if self.private {
            return Ok(());
        }
        let participants = Participants { ethertype: Some(ETHERTYPE), ..Participants::default() };
        lower.enable(self.below, Enabled::Protocol(self.own), &participants)
    }

    fn demux(&mut self, below: Layer, message: &mut Message) -> Result<Demux, Discard> {
        let read = self.header(self.below_key(below), message)?;
        if let Some((slot, session)) = self.sessions.find(&read.pair) {
            let upper = session.heard()?;
            return Ok(Demux::Found(slot, Self::found(&read, upper, message)));
        }
        // The sender of what nobody wants is told so.
        Ok(Demux::Passive)
    }

    fn check(&mut self, slot: Slot, message: &mut Message) -> Result<Upper, Discard> {
        let Some(session) = self.sessions.get(slot) else { return Err(Discard::WrongPath) };
        let below = session.way.link.filter(|_| self.private).map_or(0, |link| link.session.0);
        let read = self.header(below, message)?;
        let upper = self.sessions.confirm(slot, &read.pair).ok_or(Discard::WrongPath)?.heard()?;
        Ok(Self::found(&read, upper, message))
    }

    fn pop(
        &mut self,
        session: Slot,
        header: usize,
        message: &mut Message,
        lower: &mut Lower<'_>,
    ) -> Result<Pop, Discard> {
        let packet = Ipv4Packet::new_unchecked(message.since(header));
        if !packet.verify_checksum() {
            return Err(Discard::Checksum);
        }
        if packet.more_frags() || packet.frag_offset() != 0 {
            return self.reassemble(session, header, message, lower);
        }
        Ok(Pop::Up)
    }

    fn accept(&mut self, below: Layer, message: &mut Message, lower: &mut Lower<'_>) -> Result<(), Discard> {
        let read = self.header(self.below_key(below), message)?;
        let packet = Ipv4Packet::new_unchecked(message.bytes());
        if !packet.verify_checksum() {
            return Err(Discard::Checksum);
        }
        let (remote, to) = (packet.src_addr(), packet.dst_addr());
        let possible = Self::is_somewhere(remote) && !self.host.is_broadcast(remote);
        let (local, next_hop) = match self.host.route(remote.into()) {
            Some((IpAddress::Ipv4(local), next_hop)) if possible => (local, next_hop),
            _ => return Err(Discard::Source),
        };
        let to_all = self.host.is_broadcast(to);
        if to_all && read.pair.protocol == ICMP {
            return Err(Discard::NotForUs);
        }
        let Some(user) = self.enabled(read.pair.protocol) else {
            if !to_all && packet.frag_offset() == 0 {
                let ends = (to.into(), remote.into());
                lower.refuse(self.own, ends, Refusal::NoProtocol(9), message.bytes());
            }
            return Err(Discard::UnknownProtocol);
        };
        let upper = match user {
            Enabled::Protocol(protocol) => Upper::Protocol(protocol),
            Enabled::Listener(listener) => Upper::User(lower.passive_path(listener)?),
        };
        let uses = matches!(upper, Upper::User(_)).into();
        let session = Session {
            remote,
            local: if to_all { local } else { to },
            group: to,
            protocol: read.pair.protocol,
            upper,
            to_all: false,
            way: Way::back(next_hop, below, self.private),
        };
        if self.insert(read.pair, session, uses, lower).is_none() {
            lower.forget_path(upper);
            return Err(Discard::Sessions);
        }
        if self.private {
            lower.hold(below);
        }
        Ok(())
    }

    fn open(
        &mut self,
        upper: Upper,
        participants: &mut Participants,
        lower: &mut Lower<'_>,
    ) -> Result<Slot, OpenError> {
        let Some(IpAddress::Ipv4(remote)) = participants.remote_address else {
            return Err(OpenError::Missing("the remote address"));
        };
        let protocol = participants.protocol.ok_or(OpenError::Missing("the protocol above"))?;
        // Frames that name paths carry none of a protocol without users.
        if self.private && protocol == ICMP && !matches!(upper, Upper::User(_)) {
            return Err(OpenError::NoRoute);
        }
        if !Self::is_somewhere(remote) {
            return Err(OpenError::NoRoute);
        }
        let to_all = self.host.is_broadcast(remote);
        let route = if to_all {
            self.host
                .addresses
                .iter()
                .map(|cidr| cidr.address())
                .find(|a| matches!(a, IpAddress::Ipv4(_)))
                .map(|local| (local, remote.into()))
        } else {
            self.host.route(remote.into())
        };
        let (local, next_hop) = route.ok_or(OpenError::NoRoute)?;
        let local = participants.local_address.unwrap_or(local);
        participants.local_address = Some(local);
        let IpAddress::Ipv4(local) = local else { return Err(OpenError::NoRoute) };
        if !self.host.has(local.into()) {
            return Err(OpenError::NoRoute);
        }
        let mut pair = Pair { remote: remote.to_bits(), local: local.to_bits(), below: 0, protocol };
        if !self.private
            && let Some((slot, session)) = self.sessions.find(&pair)
        {
            if session.upper != upper || matches!(upper, Upper::User(_)) {
                return Err(OpenError::Taken);
            }
            session.way.is_ours();
            self.sessions.hold(slot);
            return Ok(slot);
        }
        let private = self.private.then_some(self.below);
        let way = Way::open(self.network(), private, next_hop, participants, lower)?;
        let link = way.link;
        pair.below = link.map_or(0, |link| self.below_key(link));
        let session = Session { remote, local, group: local, protocol, upper, to_all, way };
        self.insert(pair, session, 1, lower).ok_or_else(|| {
            if let Some(link) = link {
                lower.close(link);
            }
            OpenError::TooMany
        })
    }

    fn enable(
        &mut self,
        user: Enabled,
        participants: &Participants,
        lower: &mut Lower<'_>,
    ) -> Result<(), OpenError> {
        let protocol = participants.protocol.ok_or(OpenError::Missing("the protocol above"))?;
        match self.enabled(protocol) {
            Some(other) if other != user => return Err(OpenError::Taken),
            Some(_) => {}
            None => self.enabled.push((protocol, user)),
        }
        if self.private && participants.local_application.is_some() {
            lower.enable(self.below, Enabled::Protocol(self.own), participants)?;
        }
        Ok(())
    }

    fn disable(&mut self, user: Enabled, participants: &Participants, lower: &mut Lower<'_>) {
        if matches!(user, Enabled::Listener(_)) {
            self.enabled.retain(|enabled| enabled.1 != user);
        }
        if self.private {
            lower.disable(self.below, Enabled::Protocol(self.own), participants);
        }
    }

    fn close(&mut self, slot: Slot, lower: &mut Lower<'_>) {
        let user = self.sessions.get(slot).is_some_and(|session| matches!(session.upper, Upper::User(_)));
        // A session that others may share stays for them, until its place is needed.
        if self.sessions.release(slot)
            && (user || self.private)
            && let Some(link) = self.sessions.remove(slot).and_then(|session| session.way.link)
        {
            lower.close(link);
        }
    }

    fn room(&self) -> usize {
        self.frame - HEADER
    }

    fn hold(&mut self, slot: Slot) {
        self.sessions.hold(slot);
    }

    fn push(&mut self, slot: Slot, mut message: Message, lower: &mut Lower<'_>) -> Result<(), SendError> {
        if message.len() > self.room() {
            return self.push_fragments(slot, message, lower);
        }
        let Some(session) = self.sessions.get(slot) else { return Err(SendError::NoPath) };
        Self::write_header(session, &mut message, None)?;
        self.send(slot, message, lower)
    }

    fn resume(&mut self, session: Slot, packet: Message, lower: &mut Lower<'_>) {
        if self.send(session, packet, lower).is_err() {
            lower.cx.count(self.own, Discard::Unresolved);
        }
    }

    fn below(&mut self, session: Slot) -> Option<Layer> {
        self.sessions.get(session)?.way.link
    }

    fn between(&mut self, report: &Report) -> Option<(Slot, Upper)> {
        let (IpAddress::Ipv4(local), IpAddress::Ipv4(remote)) = (report.local, report.remote) else {
            return None;
        };
        let (remote, local) = (remote.to_bits(), local.to_bits());
        let pair = Pair { remote, local, below: 0, protocol: report.protocol };
        self.sessions.find(&pair).map(|(slot, session)| (slot, session.upper))
    }

    fn control(&mut self, session: Slot, control: Control) -> Answer {
        match (control, self.sessions.get(session)) {
            (Control::Addresses, Some(session)) => Answer::Addresses {
                local: session.local.into(),
                remote: session.remote.into(),
                group: session.group.into(),
            },
            _ => Answer::Unknown,
        }
    }

    fn tick(&mut self, now: Instant, lower: &mut Lower<'_>) -> Option<Instant> {
        for ((pair, ident), data) in self.fragments.expire(now) {
            lower.cx.count(self.own, Discard::Incomplete);
            self.refuse_incomplete(pair, ident, &data, lower);
        }
        self.fragments.next_expiry()
    }
}
