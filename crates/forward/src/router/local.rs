//! Packets to the router itself, what it says of packets, and the time.

use std::{iter, net::IpAddr};

use throughline_stack::{
    Message,
    smoltcp::{
        time::{Duration, Instant},
        wire::{EthernetAddress, IpAddress, IpCidr},
    },
};

use super::{
    ARP, Next, Refused, Router, Seen,
    anycast::is_of_all_routers,
    control::datagram_at,
    counts::Leaves,
    depart::address,
    headers::Inside,
    icmp::{self, Error, answer_echo, explain, is_echo_request, is_for_senders_to_many, may_be_answered},
};
use crate::{
    Label, Outgoing, Packet, PortId,
    frame::ETHERNET,
    ip::{IPV4, IPV6, Ip, is_source_routed},
    remove_label,
    threaded::NO_INDEX,
};

/// How often next hops that frames wait for are looked at.
const LOOK: Duration = Duration::from_millis(100);
/// From one time that ways are forgotten since neighbours have changed their addresses to the next.
const FORGET: Duration = Duration::from_millis(100);

impl Router {
    /// Does what is due, and says when something will be.
    pub fn poll(&mut self, now: Instant, out: &mut Outgoing) -> Option<Instant> {
        self.now = now;
        let mut next = None;
        for index in 0..self.ports.len() {
            let port = PortId(index as u16);
            let due = [self.ports[index].graph.tick(now), self.give_up(port, now, out)];
            next = due.into_iter().chain([next]).flatten().min();
            self.transmit(port, out);
        }
        let due = [self.route(now, out), self.tell_groups(now, out), self.answer_all(now, out)];
        next = due.into_iter().chain([next]).flatten().min();
        let forgets = self.neighbors_changed(now);
        // Those that are given up: who answers is found when he does.
        if !self.pending.is_empty() && self.look <= now {
            self.look = now + LOOK;
            self.settle(None, now, out);
        }
        let looks = (!self.pending.is_empty()).then_some(self.look);
        [next, forgets, looks].into_iter().flatten().min()
    }

    /// Neither IP nor readable: address resolution, or nothing for us.
    #[cold]
    pub(super) fn other(&mut self, port: PortId, frame: Message, now: Instant, out: &mut Outgoing) {
        match Packet::of(frame.bytes()) {
            Ok(Packet { ethertype: ARP, label: None, .. }) => self.hand_up(port, frame, now, out),
            _ => self.refuse(Refused::Protocol, frame, out),
        }
    }

    /// To a group or a broadcast address: sent on, if it is a group's, or of interest to the router's own users.
    pub(super) fn for_many(
        &mut self,
        port: PortId,
        frame: Message,
        seen: &Seen,
        now: Instant,
        out: &mut Outgoing,
    ) {
        let Some(frame) = self.spread(port, frame, seen, now, out) else { return };
        let Some(frame) = self.taken(port, frame, seen, now, out) else { return };
        self.refuse(Refused::Destination, frame, out);
    }

    /// To an address of ours.
    #[cold]
    pub(super) fn here(
        &mut self,
        port: PortId,
        frame: Message,
        seen: &Seen,
        now: Instant,
        out: &mut Outgoing,
    ) {
        // They would choose the way of answers, or this is not their end (RFC 7126, 4.3 and 4.4).
        let header = &frame.bytes()[seen.offset..][..seen.ip.header];
        if seen.ip.destination.is_ipv4() && is_source_routed(header) {
            return self.refuse(Refused::Malformed, frame, out);
        }
        let Some(frame) = self.taken(port, frame, seen, now, out) else { return };
        // A broadcast address of one of our networks is nobody's.
        let Some(ours) = self.answers_from(port, &seen.ip) else {
            return self.refuse(Refused::Destination, frame, out);
        };
        self.counts.local += 1;
        let Some((frame, inside)) = self.open(port, frame, seen, now, out) else { return };
        let Some((mut frame, seen)) = self.whole(port, frame, seen, &inside, now, out) else { return };
        if is_echo_request(&seen.ip, &frame.bytes()[seen.offset..]) {
            answer_echo(&seen.ip, ours, &mut frame.bytes_mut()[seen.offset..]);
            if remove_label(&mut frame).is_err() {
                return self.refuse(Refused::Label, frame, out);
            }
            return self.say(port, frame, now, out);
        }
        match unclaimed(&seen, &inside, &frame.bytes()[seen.offset..]) {
            Ok(error) => self.complain(port, error, frame, &seen, now, out),
            Err(why) => self.refuse(why, frame, out),
        }
    }

    /// Our address to answer a packet from: that which it was for, or another of ours if all routers of a network have that; `None` if
    /// it was for none of ours.
    fn answers_from(&self, port: PortId, ip: &Ip) -> Option<IpAddr> {
        let mut hosts = self.ports.iter().map(|port| &port.host);
        if hosts.clone().any(|host| host.has(ip.destination.into())) {
            return Some(ip.destination);
        }
        let shared = hosts.any(|host| is_of_all_routers(host, ip.destination));
        if shared { self.address_for(port, ip.source) } else { None }
    }

    /// Gives a packet to a routing protocol or to the graph of its port; it comes back if it is for neither.
    fn taken(
        &mut self,
        port: PortId,
        frame: Message,
        seen: &Seen,
        now: Instant,
        out: &mut Outgoing,
    ) -> Option<Message> {
        if self.hear(port, seen, frame.bytes(), now, out) {
            self.heard(frame, now, out);
        } else if self.is_control(seen, frame.bytes()) {
            if self.advertise(port, seen, frame.bytes(), now, out) {
                out.pool.give(frame);
            } else {
                self.hand_up(port, frame, now, out);
            }
        } else {
            return Some(frame);
        }
        None
    }

    /// Whether a packet to us is for the graph of its port: routing protocols, neighbour discovery.
    fn is_control(&self, seen: &Seen, frame: &[u8]) -> bool {
        let above = &frame[seen.offset + seen.ip.header..];
        match (seen.ip.protocol, seen.ip.destination) {
            (icmp::ICMP6, IpAddr::V6(_)) => above.first().is_some_and(|kind| (133..=137).contains(kind)),
            (icmp::UDP, _) if !seen.ip.piece => above
                .get(2..4)
                .is_some_and(|port| self.control.contains(&u16::from_be_bytes([port[0], port[1]]))),
            _ => false,
        }
    }

    /// A routing protocol has got a datagram.
    fn heard(&mut self, frame: Message, now: Instant, out: &mut Outgoing) {
        self.counts.local += 1;
        out.pool.give(frame);
        self.route(now, out);
    }

    /// Gives a frame to the router as a host.
    fn hand_up(&mut self, port: PortId, mut frame: Message, now: Instant, out: &mut Outgoing) {
        if remove_label(&mut frame).is_err() {
            return self.refuse(Refused::Label, frame, out);
        }
        self.counts.local += 1;
        self.ports[port.index()].graph.arrive(frame, now);
        self.transmit(port, out);
        self.neighbors_changed(now);
        if !self.pending.is_empty() {
            self.settle(Some(port), now, out);
        }
    }

    /// Of what is of a link nothing leaves it. Who sends beyond it from his address there is told.
    #[cold]
    pub(super) fn keep(
        &mut self,
        port: PortId,
        frame: Message,
        seen: &Seen,
        now: Instant,
        out: &mut Outgoing,
    ) {
        if seen.ip.leaves_its_scope() {
            self.complain(port, Error::Scope, frame, seen, now, out);
        } else {
            self.refuse(Refused::Destination, frame, out);
        }
    }

    /// Counts a packet that goes no further, and tells its sender.
    #[cold]
    pub(super) fn complain(
        &mut self,
        port: PortId,
        error: Error,
        frame: Message,
        seen: &Seen,
        now: Instant,
        out: &mut Outgoing,
    ) {
        let packet = &frame.bytes()[seen.offset..];
        let to_many = frame.bytes()[0] & 1 == 1 || seen.ip.is_to_many();
        let may = !to_many || is_for_senders_to_many(error, &seen.ip);
        if may && may_be_answered(&seen.ip, packet) && self.allowance.take(now) {
            let from = self.answers_from(port, &seen.ip).or_else(|| self.address_for(port, seen.ip.source));
            let mut message = out.pool.take();
            let said = from.and_then(|from| explain(error, from, &seen.ip, packet, &mut message));
            match said.and_then(|()| framed(&mut message, seen.ip.source)) {
                Some(()) => self.say(port, message, now, out),
                None => out.pool.give(message),
            }
        }
        self.refuse(why(error), frame, out);
    }

    /// Our address of the same kind as this one, and of the same reach: on the network of a port, or else on another.
    pub(super) fn address_for(&self, port: PortId, remote: IpAddr) -> Option<IpAddr> {
        let near = |cidr: &&IpCidr| match (cidr.address(), remote) {
            (IpAddress::Ipv4(_), IpAddr::V4(_)) => true,
            (IpAddress::Ipv6(own), IpAddr::V6(remote)) => {
                own.is_unicast_link_local() == remote.is_unicast_link_local()
            }
            _ => false,
        };
        let (first, all) = (&self.ports[port.index()], &self.ports);
        let of_link = matches!(remote, IpAddr::V6(remote) if remote.is_unicast_link_local());
        let others = all.iter().filter(|_| !of_link);
        let mut addresses = iter::once(first).chain(others).flat_map(|port| &port.host.addresses);
        addresses.find(near).map(|cidr| cidr.address().into())
    }

    /// Sends a packet of the router's own, in a frame whose addresses are still to be written.
    fn say(&mut self, port: PortId, mut frame: Message, now: Instant, out: &mut Outgoing) {
        let Ok(packet) = Packet::of(frame.bytes()) else { return out.pool.give(frame) };
        let Ok(ip) = Ip::of(packet.ethertype, packet.bytes()) else { return out.pool.give(frame) };
        frame.truncate(ETHERNET + ip.length);
        let mut seen = Seen { ip, offset: ETHERNET, label: None::<Label>, next_index: NO_INDEX };
        // Link-local addresses mean something on one link only: back where it came from.
        let next = if ip.is_of_the_link() {
            match self.ports[port.index()].graph.neighbor_for_stranger(ip.destination.into(), now) {
                Some(hardware) => Ok(Next::Known(super::Way { port, hardware })),
                None => Ok(Next::Asked(port, ip.destination)),
            }
        } else {
            self.next(None, &mut seen, now)
        };
        match next {
            Ok(next) => self.originate(next, frame, &ip, out),
            Err(_) => self.refuse(Refused::NoRoute, frame, out),
        }
    }

    /// Forgets ways by addresses that have changed, or says when it will: who changes his time and again would have all flows looked
    /// for anew with each packet.
    fn neighbors_changed(&mut self, now: Instant) -> Option<Instant> {
        for port in &mut self.ports {
            let generation = port.graph.neighbors_generation();
            self.stale |= std::mem::replace(&mut port.generation, generation) != generation;
        }
        if self.stale && self.forget <= now {
            self.stale = false;
            self.forget = now + FORGET;
            self.changed();
        }
        self.stale.then_some(self.forget)
    }

    /// Sends what waited for neighbours on the network of a port, or of all, that have answered, and gives up what waits for those that
    /// do not.
    #[cold]
    fn settle(&mut self, of: Option<PortId>, now: Instant, out: &mut Outgoing) {
        let ports = &self.ports;
        let settled = self.pending.settle(of, |port, hop| {
            let graph = &ports[port.index()].graph;
            // Known, or given up.
            (!graph.awaits_neighbor(hop.into())).then(|| graph.known_neighbor(hop.into(), now))
        });
        for (port, hardware, frames) in settled {
            for (mut frame, what) in frames {
                match hardware {
                    Some(hardware) => {
                        address(frame.bytes_mut(), hardware, self.ports[port.index()].host.hardware);
                        self.counts.leave(what);
                        out.push(port, frame);
                    }
                    None => self.unanswered(frame, what, now, out),
                }
            }
            self.transmit(port, out);
        }
    }

    /// Tells the sender of a packet that waited in vain.
    fn unanswered(&mut self, frame: Message, what: Leaves, now: Instant, out: &mut Outgoing) {
        if what == Leaves::Piece {
            return out.pool.give(frame);
        }
        let packet = Packet::of(frame.bytes()).ok();
        let seen = packet.and_then(|packet| {
            let ip = Ip::of(packet.ethertype, packet.bytes()).ok()?;
            Some(Seen { ip, offset: packet.offset, label: packet.label, next_index: NO_INDEX })
        });
        let Some(seen) = seen else { return self.refuse(Refused::NoHost, frame, out) };
        // The way back tells from which of our addresses.
        let back = match self.routes.find(seen.ip.source).map(|hop| hop.route) {
            Some(super::Route::Out { port, .. }) => port,
            // Our own packets.
            _ => return self.refuse(Refused::NoHost, frame, out),
        };
        self.complain(back, Error::NoHost, frame, &seen, now, out);
    }
}

/// Puts room for the header of Ethernet before a packet of ours.
pub(super) fn framed(packet: &mut Message, to: IpAddr) -> Option<()> {
    let ethertype = if to.is_ipv4() { IPV4 } else { IPV6 };
    let header = packet.push(ETHERNET).ok()?;
    address(header, EthernetAddress::default(), EthernetAddress::default());
    header[12..].copy_from_slice(&ethertype.to_be_bytes());
    Some(())
}

/// What the sender of a packet to us is told that nobody here takes; if nothing, why it is refused. What is damaged may not be his, and
/// of messages of ICMP that we don't know nobody is told (RFC 1122, 3.2.2 and 4.1.3.4; RFC 4443, 2.4 b).
fn unclaimed(seen: &Seen, inside: &Inside, packet: &[u8]) -> Result<Error, Refused> {
    let v6 = seen.ip.destination.is_ipv6();
    let whole = inside.piece.is_none();
    match inside.protocol {
        // Nobody is told of a later piece.
        _ if inside.piece.is_some_and(|piece| piece.at > 0) => Err(Refused::NoPort),
        icmp::ICMP if !v6 => Err(Refused::NoPort),
        icmp::ICMP6 | icmp::NOTHING if v6 => Err(Refused::NoPort),
        icmp::UDP if whole && datagram_at(inside.at, &seen.ip, packet).is_none() => Err(Refused::Checksum),
        icmp::UDP => Ok(Error::NoPort),
        _ => Ok(Error::NoProtocol(inside.named as u32)),
    }
}

fn why(error: Error) -> Refused {
    match error {
        Error::TimeExceeded => Refused::TimeExceeded,
        Error::NoRoute => Refused::NoRoute,
        Error::NoHost => Refused::NoHost,
        Error::TooBig(_) => Refused::TooBig,
        Error::NoPort | Error::NoProtocol(_) => Refused::NoPort,
        Error::Parameter(..) => Refused::Malformed,
        Error::Incomplete => Refused::Incomplete,
        Error::Scope => Refused::Destination,
    }
}
