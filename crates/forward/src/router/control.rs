//! Routing protocols at work in a router: their datagrams come from and go to its ports, their routes into its tables.

use std::{collections::HashMap, net::IpAddr};

use throughline_stack::{
    Message,
    smoltcp::{
        time::Instant,
        wire::{EthernetAddress, IpAddress, IpCidr, IpProtocol, Ipv4Packet, Ipv6Packet, UdpPacket},
    },
};

use super::{Next, Refused, Route, RouteError, Router, Seen, Way, counts::Leaves, depart::address};
use crate::{
    Outgoing, PortId,
    frame::ETHERNET,
    ip::{IPV4, IPV4_HEADER, IPV6, IPV6_HEADER, Ip},
    routing::{Action, Heard, Interface, Learned, Routing, authentication::Authentication},
    threaded::{self, message::INDEX_PORT},
};

const UDP_HEADER: usize = 8;
/// As often a protocol may have more to do after its actions, before it has to wait for its next turn.
const TURNS: usize = 16;

/// A routing protocol, and which of its interfaces is which port.
pub(super) struct Protocol {
    pub(super) routing: Box<dyn Routing + Send>,
    pub(super) interfaces: Vec<(PortId, IpAddr)>,
    /// The ways that it has found, whether they are in use or not.
    pub(super) learned: HashMap<IpCidr, Learned>,
}

impl Router {
    /// Has a routing protocol run on these ports: its interfaces, in order, with the addresses that it was told. It tells
    /// others of the networks of all ports and of the routes that are configured.
    ///
    /// # Errors
    /// [`RouteError::NoPort`].
    pub fn add_protocol(
        &mut self,
        mut routing: Box<dyn Routing + Send>,
        interfaces: &[(PortId, Interface)],
        now: Instant,
    ) -> Result<(), RouteError> {
        if let Some((port, _)) = interfaces.iter().find(|(port, _)| port.index() >= self.ports.len()) {
            return Err(RouteError::NoPort(*port));
        }
        let ours = |(prefix, route): &(IpCidr, Route)| *route != Route::Here && !self.chosen.contains(prefix);
        for (prefix, _) in self.routes.iter().filter(ours) {
            routing.originate(prefix, 1, now);
        }
        if let Some(threads) = &self.threads {
            for (prefix, _) in self.routes.iter() {
                routing.assigned(prefix, threads.index_of(prefix), now);
            }
        }
        let interfaces =
            interfaces.iter().map(|(port, interface)| (*port, interface.address.address().into())).collect();
        self.protocols.push(Protocol { routing, interfaces, learned: HashMap::new() });
        Ok(())
    }

    /// The routing protocols, in the order in which they were added.
    pub fn protocols(&self) -> impl Iterator<Item = &dyn Routing> {
        self.protocols.iter().map(|protocol| &*protocol.routing as &dyn Routing)
    }

    /// Whether a datagram is for a routing protocol, or asks for an index; it was handed over, or answered, then.
    pub(super) fn hear(
        &mut self,
        port: PortId,
        seen: &Seen,
        frame: &[u8],
        now: Instant,
        out: &mut Outgoing,
    ) -> bool {
        let packet = &frame[seen.offset..];
        let Some(datagram) = datagram(seen, packet) else { return false };
        if let Some(answer) = self.answer(port, seen, &datagram) {
            let (ours, theirs) = (datagram.dst_port(), datagram.src_port());
            self.tell(port, (seen.ip.destination, ours), (seen.ip.source, theirs), &answer, now, out);
            return true;
        }
        if self.hear_groups(port, seen, datagram.dst_port(), datagram.payload(), now) {
            return true;
        }
        let (to, destination) = (datagram.dst_port(), IpAddress::from(seen.ip.destination));
        let mut heard = false;
        for protocol in &mut self.protocols {
            let interface = protocol.interfaces.iter().position(|(other, _)| *other == port);
            let (Some(interface), true) = (interface, protocol.routing.ports().contains(&to)) else {
                continue;
            };
            let ours = IpAddress::from(protocol.interfaces[interface].1) == destination;
            if !ours && !protocol.routing.groups().contains(&destination) {
                continue;
            }
            let what = Heard {
                interface: interface as u16,
                from: seen.ip.source.into(),
                from_port: datagram.src_port(),
                port: to,
                hop_limit: seen.ip.hops,
            };
            protocol.routing.receive(&what, datagram.payload(), now);
            heard = true;
        }
        heard
    }

    /// The answer to a source on one of our networks that asks for the index of a destination.
    fn answer(&self, port: PortId, seen: &Seen, datagram: &UdpPacket<&[u8]>) -> Option<Vec<u8>> {
        let threads = self.threads.as_ref()?;
        let host = &self.ports[port.index()].host;
        let near = host.addresses.iter().any(|cidr| cidr.contains_addr(&seen.ip.source.into()));
        if datagram.dst_port() != INDEX_PORT || !near || !host.has(seen.ip.destination.into()) {
            return None;
        }
        let EthernetAddress([.., a, b, c, d]) = host.hardware;
        let id = u32::from_be_bytes([a, b, c, d]);
        let find = |destination: IpAddr| match destination.is_multicast() {
            true => self.group_index(port, destination),
            false => threads.index_for(destination),
        };
        threaded::answer(datagram.payload(), id, &Authentication::None, find).ok()
    }

    /// Does what the routing protocols want done by now, and says when they will want something.
    pub(super) fn route(&mut self, now: Instant, out: &mut Outgoing) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        let mut actions = Vec::new();
        for index in 0..self.protocols.len() {
            for _ in 0..TURNS {
                self.protocols[index].routing.poll(now, &mut actions);
                if actions.is_empty() {
                    break;
                }
                actions.drain(..).for_each(|action| self.act(index, action, now, out));
            }
            next = [next, self.protocols[index].routing.poll_at()].into_iter().flatten().min();
        }
        next
    }

    fn act(&mut self, protocol: usize, action: Action, now: Instant, out: &mut Outgoing) {
        match action {
            Action::Send { interface, to, from_port, port, bytes } => {
                let Some((by, from)) =
                    self.protocols[protocol].interfaces.get(usize::from(interface)).copied()
                else {
                    return;
                };
                self.tell(by, (from, from_port), (to.into(), port), &bytes, now, out);
            }
            Action::Use(learned) => self.learn(protocol, learned, now),
            Action::Forget(prefix) => self.unlearn(protocol, prefix, now),
        }
    }

    /// Sends a datagram to a neighbour, or to a group on the link.
    pub(super) fn tell(
        &mut self,
        port: PortId,
        from: (IpAddr, u16),
        to: (IpAddr, u16),
        bytes: &[u8],
        now: Instant,
        out: &mut Outgoing,
    ) {
        let mut message = out.pool.take();
        if packet(from, to, bytes, &mut message).is_none() {
            self.counts.refuse(Refused::NoRoom);
            return out.pool.give(message);
        }
        let next = match group_hardware(to.0) {
            Some(hardware) => Next::Known(Way { port, hardware }),
            None => match self.ports[port.index()].graph.neighbor(to.0.into(), now) {
                Some(hardware) => Next::Known(Way { port, hardware }),
                None => Next::Asked(port, to.0),
            },
        };
        self.depart(next, message, Leaves::Said, out);
    }
}

/// The datagram in a packet, if it is whole and not damaged.
pub(super) fn datagram<'a>(seen: &Seen, packet: &'a [u8]) -> Option<UdpPacket<&'a [u8]>> {
    let udp = seen.ip.protocol == super::icmp::UDP && !seen.ip.piece;
    if udp { datagram_at(seen.ip.header, &seen.ip, packet) } else { None }
}

/// The datagram that begins at this byte of a packet, if it is not damaged. With IPv6 none goes without a sum (RFC 8200, 8.1).
pub(super) fn datagram_at<'a>(at: usize, ip: &Ip, packet: &'a [u8]) -> Option<UdpPacket<&'a [u8]>> {
    let datagram = UdpPacket::new_checked(packet.get(at..ip.length)?).ok()?;
    if datagram.checksum() == 0 && ip.destination.is_ipv6() {
        return None;
    }
    datagram.verify_checksum(&ip.source.into(), &ip.destination.into()).then_some(datagram)
}

/// Writes a frame with a datagram, but for its hardware addresses.
fn packet(from: (IpAddr, u16), to: (IpAddr, u16), bytes: &[u8], message: &mut Message) -> Option<()> {
    message.append(bytes).ok()?;
    message.push(UDP_HEADER).ok()?.fill(0);
    let length = u16::try_from(message.len()).ok()?;
    let mut datagram = UdpPacket::new_unchecked(message.bytes_mut());
    datagram.set_src_port(from.1);
    datagram.set_dst_port(to.1);
    datagram.set_len(length);
    datagram.fill_checksum(&from.0.into(), &to.0.into());
    // So that it shows that nobody beyond the link has sent it (RFC 5082), or that it goes to no farther than the link.
    let hops = if from.1 == INDEX_PORT { 255 } else { 1 };
    let ethertype = match (from.0, to.0) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            message.push(IPV4_HEADER).ok()?.fill(0);
            let total = u16::try_from(message.len()).ok()?;
            let mut packet = Ipv4Packet::new_unchecked(message.bytes_mut());
            packet.set_version(4);
            packet.set_header_len(IPV4_HEADER as u8);
            // Internetwork control (RFC 1812, 5.3.2).
            packet.set_dscp(0x30);
            packet.set_total_len(total);
            packet.set_hop_limit(hops);
            packet.set_next_header(IpProtocol::Udp);
            packet.set_src_addr(from);
            packet.set_dst_addr(to);
            packet.fill_checksum();
            IPV4
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            message.push(IPV6_HEADER).ok()?.fill(0);
            let mut packet = Ipv6Packet::new_unchecked(message.bytes_mut());
            packet.set_version(6);
            packet.set_payload_len(length);
            // Nobody beyond the link can have sent it (RFC 2080, 2.4.2).
            packet.set_hop_limit(255);
            packet.set_next_header(IpProtocol::Udp);
            packet.set_src_addr(from);
            packet.set_dst_addr(to);
            IPV6
        }
        _ => return None,
    };
    let header = message.push(ETHERNET).ok()?;
    address(header, EthernetAddress::default(), EthernetAddress::default());
    header[12..].copy_from_slice(&ethertype.to_be_bytes());
    Some(())
}

/// The hardware address of a group (RFC 1112, 6.4; RFC 2464, 7).
pub(super) fn group_hardware(group: IpAddr) -> Option<EthernetAddress> {
    match group {
        IpAddr::V4(group) if group.is_multicast() => {
            let [_, b, c, d] = group.octets();
            Some(EthernetAddress([1, 0, 0x5e, b & 0x7f, c, d]))
        }
        IpAddr::V6(group) if group.is_multicast() => {
            let [.., a, b, c, d] = group.octets();
            Some(EthernetAddress([0x33, 0x33, a, b, c, d]))
        }
        _ => None,
    }
}
