//! IPv6 (RFC 8200): a session for each pair of addresses and protocol above.
//!
//! Link-local addresses and groups are of the one device that there is.

pub(super) mod extensions;
mod pieces;
mod session;
mod ways;

use smoltcp::{
    time::Instant,
    wire::{EthernetAddress, IpAddress, IpVersion, Ipv6Address, Ipv6Packet},
};
use throughline_demux::Slot;

use self::{
    extensions::Walked,
    session::{Pair, Session},
    ways::Ways,
};
use super::way::{Network, Way};
use crate::{
    Answer, Control, Demux, Discard, Enabled, Host, Layer, Lookup, LookupError, Lower, Message, OpenError,
    Participants, Pop, Protocol, ProtocolId, Refusal, Report, SendError, Upper, fragments::Fragments,
    secret::Secret, sessions::Sessions,
};

const ETHERTYPE: u16 = 0x86dd;
pub(crate) const HEADER: usize = 40;
/// What every link must carry (RFC 8200, 5).
pub(crate) const LEAST_MTU: usize = 1280;
/// The most bytes behind the header.
const MOST: usize = 65_535;
const HOP_LIMIT: u8 = 64;
pub(super) const ICMP6: u8 = 58;
/// Says that nothing follows.
const NOTHING: u8 = 59;

/// Internet Protocol, version 6.
pub(crate) struct Ipv6 {
    own: ProtocolId,
    ways: Ways,
    /// Bytes that a frame carries.
    frame: usize,
    host: Host,
    sessions: Sessions<Pair, Session>,
    enabled: Vec<(u8, Enabled)>,
    fragments: Fragments<(Pair, u32)>,
    next_ident: u32,
}

/// What the headers at the front of a message say.
struct Read {
    pair: Pair,
    walked: Walked,
}

impl Ipv6 {
    pub fn new(
        own: ProtocolId,
        below: &[(ProtocolId, &dyn Protocol)],
        host: Host,
        lookup: Lookup,
    ) -> Result<Self, LookupError> {
        let next_ident = Secret::default().draw() as u32;
        Ok(Self {
            own,
            ways: Ways::new(below),
            frame: below.iter().map(|(_, below)| below.room()).min().unwrap_or(0),
            host,
            sessions: Sessions::new(lookup)?,
            enabled: Vec::new(),
            fragments: Fragments::new(MOST),
            next_ident,
        })
    }

    fn header(&self, below: u32, message: &mut Message) -> Result<Read, Discard> {
        let packet = Ipv6Packet::new_checked(message.bytes()).map_err(|_| Discard::Truncated)?;
        if packet.version() != 6 {
            return Err(Discard::Malformed);
        }
        let (remote, to, len) = (packet.src_addr(), packet.dst_addr(), packet.total_len());
        // What is for one host does not come in a frame for many.
        if (message.to_many || !self.host.has(to.into())) && !self.host.is_group(to) {
            return Err(Discard::NotForUs);
        }
        // There may be a session for what we send to the group.
        if remote.is_multicast() {
            return Err(Discard::Source);
        }
        message.truncate(len);
        let walked = extensions::walk(message.bytes())?;
        let pair = Pair { remote: remote.to_bits(), local: to.to_bits(), below, protocol: walked.protocol };
        Ok(Read { pair, walked })
    }

    /// Takes the headers off, and says where the message goes.
    #[inline]
    fn found(read: &Read, upper: Upper, message: &mut Message) -> Upper {
        message.mark_network();
        message.pop(read.walked.len);
        if read.walked.piece.is_some() { Upper::AfterPop } else { upper }
    }

    fn enabled(&self, protocol: u8) -> Option<Enabled> {
        self.enabled.iter().find(|(enabled, _)| *enabled == protocol).map(|(_, user)| *user)
    }

    fn insert(&mut self, pair: Pair, session: Session, uses: u32, lower: &mut Lower<'_>) -> Option<Slot> {
        let (slot, gone) = self.sessions.insert(pair, session, uses).ok()?;
        if let Some(link) = gone.and_then(|gone| gone.way.link) {
            lower.close(link);
        }
        Some(slot)
    }

    /// What is below for what names no paths.
    fn network(&self) -> Network {
        Network { own: self.own, below: self.ways.plain, ethertype: ETHERTYPE }
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
        session.way.find(slot, network, group_hardware(session.way.next_hop), packet, lower)
    }

    /// Our address to answer a stranger by, and where his packets go first.
    fn way_back(
        &self,
        remote: Ipv6Address,
        to: Ipv6Address,
        protocol: u8,
    ) -> Option<(Ipv6Address, IpAddress)> {
        // Who asks whether an address is free has none yet (RFC 4862, 5.4).
        if remote.is_unspecified() && protocol == ICMP6 && to.is_multicast() {
            return Some((self.host.for_group(to)?, remote.into()));
        }
        match self.host.route(remote.into())? {
            (IpAddress::Ipv6(local), next_hop) if Self::is_somewhere(remote) => Some((local, next_hop)),
            _ => None,
        }
    }

    /// Our address to talk to `remote` with, and where packets go first.
    fn way_to(&self, remote: Ipv6Address) -> Option<(IpAddress, IpAddress)> {
        if remote.is_multicast() {
            return Some((self.host.for_group(remote)?.into(), remote.into()));
        }
        self.host.route(remote.into()).filter(|_| Self::is_somewhere(remote))
    }

    /// Our address to talk to a neighbour with, whatever his network is.
    fn way_on_link(&self, remote: Ipv6Address) -> Option<(Ipv6Address, IpAddress)> {
        match self.host.asks_from(remote.into())? {
            IpAddress::Ipv6(local) if Self::is_somewhere(remote) => Some((local, remote.into())),
            _ => None,
        }
    }

    /// Whether an address may be a host's: some are nobody's on any wire (RFC 4291, 2.5; RFC 5156, 2.2).
    fn is_somewhere(address: Ipv6Address) -> bool {
        !(address.is_unspecified() || address.is_loopback() || address.to_ipv4_mapped().is_some())
    }

    /// The session of others between the same addresses, which is shared, unless it has a user or wants one.
    fn shared(&mut self, pair: &Pair, upper: Upper) -> Result<Option<Slot>, OpenError> {
        let Some((slot, session)) = self.sessions.find(pair) else { return Ok(None) };
        if session.upper != upper || matches!(upper, Upper::User(_)) {
            return Err(OpenError::Taken);
        }
        session.way.is_ours();
        self.sessions.hold(slot);
        Ok(Some(slot))
    }
}

/// Whether this is a question or an answer of neighbour discovery, which nobody beyond the link can have sent (RFC 4861, 7.1).
fn is_of_a_neighbor(packet: &Ipv6Packet<&[u8]>, walked: &Walked) -> bool {
    let kind = packet.as_ref().get(walked.len);
    packet.hop_limit() == 255
        && walked.protocol == ICMP6
        && walked.piece.is_none()
        && kind.is_some_and(|kind| matches!(kind, 135 | 136))
}

/// The address that frames to a group have (RFC 2464, 7).
fn group_hardware(next: IpAddress) -> Option<EthernetAddress> {
    match next {
        IpAddress::Ipv6(group) if group.is_multicast() => {
            let [.., a, b, c, d] = group.octets();
            Some(EthernetAddress([0x33, 0x33, a, b, c, d]))
        }
        _ => None,
    }
}

impl Protocol for Ipv6 {
    fn name(&self) -> &'static str {
        "ipv6"
    }

    fn version(&self) -> Option<IpVersion> {
        Some(IpVersion::Ipv6)
    }

    fn start(&mut self, lower: &mut Lower<'_>) -> Result<(), OpenError> {
        let Some(plain) = self.ways.plain else { return Ok(()) };
        let participants = Participants { ethertype: Some(ETHERTYPE), ..Participants::default() };
        lower.enable(plain, Enabled::Protocol(self.own), &participants)
    }

    fn demux(&mut self, below: Layer, message: &mut Message) -> Result<Demux, Discard> {
        let read = self.header(self.ways.key(below), message)?;
        if let Some((slot, session)) = self.sessions.find(&read.pair) {
            let upper = session.upper;
            return Ok(Demux::Found(slot, Self::found(&read, upper, message)));
        }
        // The sender of what nobody wants is told so.
        Ok(Demux::Passive)
    }

    fn check(&mut self, slot: Slot, message: &mut Message) -> Result<Upper, Discard> {
        let below = self.sessions.get(slot).ok_or(Discard::WrongPath)?.below_key();
        let read = self.header(below, message)?;
        let upper = self.sessions.confirm(slot, &read.pair).ok_or(Discard::WrongPath)?.upper;
        Ok(Self::found(&read, upper, message))
    }

    fn pop(
        &mut self,
        session: Slot,
        header: usize,
        message: &mut Message,
        lower: &mut Lower<'_>,
    ) -> Result<Pop, Discard> {
        if message.position() - header == HEADER {
            return Ok(Pop::Up);
        }
        let walked = extensions::walk(message.from(header))?;
        match walked.piece {
            Some(piece) => self.reassemble(session, piece, message, lower),
            None => Self::flatten(header, &walked, message).map(|()| Pop::Up),
        }
    }

    fn accept(&mut self, below: Layer, message: &mut Message, lower: &mut Lower<'_>) -> Result<(), Discard> {
        let read = self.header(self.ways.key(below), message)?;
        let packet = Ipv6Packet::new_unchecked(message.bytes());
        let (remote, to, protocol) = (packet.src_addr(), packet.dst_addr(), read.pair.protocol);
        // A host sends what is for others to its gateway, whoever asks on the link in their name; a router knows who is there.
        let near = || self.way_on_link(remote).filter(|_| is_of_a_neighbor(&packet, &read.walked));
        let first = if lower.cx.routes { near() } else { None };
        let way = first.or_else(|| self.way_back(remote, to, protocol)).or_else(near);
        let (local, next_hop) = way.ok_or(Discard::Source)?;
        let Some(user) = self.enabled(protocol) else {
            let is_first = read.walked.piece.is_none_or(|piece| piece.at == 0);
            if !to.is_multicast() && is_first && protocol != NOTHING {
                let why = Refusal::NoProtocol(read.walked.named as u32);
                lower.refuse(self.own, (to.into(), remote.into()), why, message.bytes());
            }
            return Err(Discard::UnknownProtocol);
        };
        let upper = match user {
            Enabled::Protocol(protocol) => Upper::Protocol(protocol),
            Enabled::Listener(listener) => Upper::User(lower.passive_path(listener)?),
        };
        let private = self.ways.is_private(below.protocol);
        let session = Session {
            remote,
            local: if to.is_multicast() { local } else { to },
            group: to,
            protocol,
            upper,
            way: Way::back(next_hop, below, private),
        };
        if self.insert(read.pair, session, matches!(upper, Upper::User(_)).into(), lower).is_none() {
            lower.forget_path(upper);
            return Err(Discard::Sessions);
        }
        if private {
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
        let Some(IpAddress::Ipv6(remote)) = participants.remote_address else {
            return Err(OpenError::Missing("the remote address"));
        };
        let protocol = participants.protocol.ok_or(OpenError::Missing("the protocol above"))?;
        let way = self.way_to(remote).or_else(|| {
            // Who asks for us and has said where he is gets his answer.
            let asks = protocol == ICMP6 && lower.cx.neighbors.find(remote.into(), lower.cx.now).is_some();
            let (local, next_hop) = self.way_on_link(remote).filter(|_| asks)?;
            Some((local.into(), next_hop))
        });
        let (local, next_hop) = way.ok_or(OpenError::NoRoute)?;
        let IpAddress::Ipv6(local) = *participants.local_address.get_or_insert(local) else {
            return Err(OpenError::NoRoute);
        };
        if !self.host.has(local.into()) {
            return Err(OpenError::NoRoute);
        }
        let below = self.ways.of(protocol);
        let private = self.ways.is_private(below);
        // Frames that name paths carry none of a protocol without users.
        if private && protocol == ICMP6 && !matches!(upper, Upper::User(_)) {
            return Err(OpenError::NoRoute);
        }
        let mut pair = Pair { remote: remote.to_bits(), local: local.to_bits(), below: 0, protocol };
        if !private && let Some(slot) = self.shared(&pair, upper)? {
            return Ok(slot);
        }
        let way = Way::open(self.network(), private.then_some(below), next_hop, participants, lower)?;
        let link = way.link;
        let session = Session { remote, local, group: local, protocol, upper, way };
        pair.below = session.below_key();
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
        if let Some(naming) = self.ways.naming
            && participants.local_application.is_some()
        {
            lower.enable(naming, Enabled::Protocol(self.own), participants)?;
        }
        Ok(())
    }

    fn disable(&mut self, user: Enabled, participants: &Participants, lower: &mut Lower<'_>) {
        if matches!(user, Enabled::Listener(_)) {
            self.enabled.retain(|enabled| enabled.1 != user);
        }
        if let Some(naming) = self.ways.naming {
            lower.disable(naming, Enabled::Protocol(self.own), participants);
        }
    }

    fn close(&mut self, slot: Slot, lower: &mut Lower<'_>) {
        let Some(session) = self.sessions.get(slot) else { return };
        let alone = session.way.is_private() || matches!(session.upper, Upper::User(_));
        // A session that others may share stays for them, until its place is needed.
        if self.sessions.release(slot)
            && alone
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
        if session.remote.is_unspecified() {
            return Err(SendError::NoRoute);
        }
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
        let (IpAddress::Ipv6(local), IpAddress::Ipv6(remote)) = (report.local, report.remote) else {
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
