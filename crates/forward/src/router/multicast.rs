//! Packets to groups: on by the ports that the configuration names, found by index where the routers of a link agree on one.
//!
//! A packet is sent on only if it came by the port that leads to its source (reverse path, RFC 1112 and RFC 5110), so that it
//! doesn't go round. Who is in a group is configured: there is neither IGMP nor MLD.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use super::{
    Next, Refused, Route, RouteError, Router, Seen, Way,
    control::group_hardware,
    counts::Leaves,
    fragment::{is_beyond, may_be_cut},
    icmp::Error,
};
use crate::{
    Outgoing, PortId,
    ip::pass,
    routing::authentication::Authentication,
    threaded::{Groups, GroupsConfig, NO_INDEX, message::INDEX_PORT},
};
use throughline_stack::{
    Message,
    smoltcp::{
        time::{Duration, Instant},
        wire::IpAddress,
    },
};

/// All routers of a link (RFC 1112; RFC 4291, 2.7.1).
const ROUTERS_V4: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 2);
const ROUTERS_V6: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 2);
/// Ports of a router that sends groups on: there is a bit for each.
pub(crate) const MOST_PORTS: usize = 64;
/// Groups that a router sends on, at most.
pub(crate) const MOST_GROUPS: usize = 1_023;

/// How a router agrees with others on the indices of groups.
#[derive(Clone, Debug)]
pub struct MulticastConfig {
    /// Who has the highest is the designated router of a link, and gives the indices out; who has 0 never.
    pub priority: u8,
    /// From one message to the next.
    pub period: Duration,
    /// How routers of a link know each other.
    pub authentication: Authentication,
    /// Our id among the routers.
    pub router: u32,
    /// Where sequence numbers begin: more than they ever were.
    pub first_sequence: u64,
}

impl MulticastConfig {
    /// Priority 1, every 10 s, whoever is on the link.
    pub fn new(router: u32) -> Self {
        Self {
            priority: 1,
            period: Duration::from_secs(10),
            authentication: Authentication::None,
            router,
            first_sequence: 1,
        }
    }
}

/// The groups that a router sends on.
#[derive(Default)]
pub(super) struct Multicast {
    /// Their ports, a bit for each.
    groups: HashMap<IpAddr, u64>,
    /// Of each port that labels are known behind, if indices are agreed on.
    links: Vec<Option<Link>>,
}

struct Link {
    own: IpAddr,
    groups: Groups,
}

impl Multicast {
    /// The index of a group for packets that are sent to the link of a port.
    pub fn index(&self, port: PortId, group: IpAddr) -> u32 {
        self.link(port).map_or(NO_INDEX, |link| link.groups.index(group.into()))
    }

    fn link(&self, port: PortId) -> Option<&Link> {
        self.links.get(port.index())?.as_ref()
    }

    /// The ports of a group but that which a packet came by: by its index, if that is the group's, and whether it was.
    #[inline]
    fn ports(&self, from: PortId, index: Option<u32>, group: IpAddr) -> Option<(u64, bool)> {
        let indexed = index.and_then(|index| self.link(from)?.groups.follow(index, group.into()));
        match indexed {
            Some(ports) => Some((ports, true)),
            None => Some((self.groups.get(&group)? & !bit(from), false)),
        }
    }
}

/// Those behind the first [`MOST_PORTS`] have none, and no group leaves by them.
fn bit(port: PortId) -> u64 {
    1_u64.checked_shl(port.0.into()).unwrap_or(0)
}

/// Whether packets to a group leave their link at all (RFC 5771, 4; RFC 4291, 2.7).
pub(crate) fn leaves_the_link(group: IpAddr) -> bool {
    match group {
        IpAddr::V4(group) => group.is_multicast() && group.octets()[..3] != [224, 0, 0],
        IpAddr::V6(group) => group.is_multicast() && group.octets()[1] & 0x0f > 2,
    }
}

impl Router {
    /// Sends packets to a group on by these ports, whichever of them they come by; by none, if there are none.
    ///
    /// # Errors
    /// [`RouteError`]; nothing has changed.
    pub fn set_group(&mut self, group: IpAddr, ports: &[PortId], now: Instant) -> Result<(), RouteError> {
        if !leaves_the_link(group) {
            return Err(RouteError::NoGroup(group));
        }
        let there = self.ports.len().min(MOST_PORTS);
        if let Some(port) = ports.iter().find(|port| port.index() >= there) {
            return Err(RouteError::NoPort(*port));
        }
        let mask = ports.iter().fold(0, |mask, port| mask | bit(*port));
        let multicast = self.multicast.get_or_insert_default();
        if mask == 0 {
            multicast.groups.remove(&group);
        } else if multicast.groups.len() < MOST_GROUPS || multicast.groups.contains_key(&group) {
            multicast.groups.insert(group, mask);
        } else {
            return Err(RouteError::TooManyGroups);
        }
        for (port, link) in (0..).map(PortId).zip(&mut multicast.links) {
            if let Some(link) = link {
                link.groups.set_ports(group.into(), mask & !bit(port), now);
            }
        }
        Ok(())
    }

    /// Agrees with the routers on the networks of those ports where labels are known on indices of the groups, from now on.
    pub fn agree_on_groups(&mut self, config: &MulticastConfig, now: Instant) {
        let link = |host: &throughline_stack::Host| {
            let mut addresses = host.addresses.iter().map(|cidr| cidr.address());
            let v4 = addresses.clone().find(|address| matches!(address, IpAddress::Ipv4(_)));
            // Of IPv6 the address on the link.
            let of_link =
                |address: &IpAddress| matches!(address, IpAddress::Ipv6(v6) if v6.is_unicast_link_local());
            let own = v4.or_else(|| addresses.find(of_link))?;
            let config = GroupsConfig {
                priority: config.priority,
                period: config.period,
                authentication: config.authentication.clone(),
                first_sequence: config.first_sequence,
                ..GroupsConfig::new(config.router, own)
            };
            Some(Link { own: own.into(), groups: Groups::new(config, now) })
        };
        let ports = self.ports.iter().map(|port| if port.labels { link(&port.host) } else { None });
        let links = ports.collect();
        let multicast = self.multicast.get_or_insert_default();
        multicast.links = links;
        let groups: Vec<(IpAddr, u64)> =
            multicast.groups.iter().map(|(group, ports)| (*group, *ports)).collect();
        for (port, link) in (0..).map(PortId).zip(&mut multicast.links) {
            let Some(link) = link else { continue };
            groups
                .iter()
                .for_each(|(group, ports)| link.groups.set_ports((*group).into(), ports & !bit(port), now));
        }
    }

    /// The index of a group on the network of a port: what packets to it carry there; [`NO_INDEX`] if it has none.
    pub fn group_index(&self, port: PortId, group: IpAddr) -> u32 {
        self.multicast.as_ref().map_or(NO_INDEX, |multicast| multicast.index(port, group))
    }

    /// Whether a datagram is about indices of groups; it was handed over then.
    pub(super) fn hear_groups(
        &mut self,
        port: PortId,
        seen: &Seen,
        to_port: u16,
        bytes: &[u8],
        now: Instant,
    ) -> bool {
        let to_routers = seen.ip.destination == ROUTERS_V4 || seen.ip.destination == ROUTERS_V6;
        if to_port != INDEX_PORT || !to_routers {
            return false;
        }
        let near = match seen.ip.source {
            IpAddr::V4(_) => {
                let from = IpAddress::from(seen.ip.source);
                self.ports[port.index()].host.addresses.iter().any(|cidr| cidr.contains_addr(&from))
            }
            IpAddr::V6(from) => from.is_unicast_link_local(),
        };
        // Nobody beyond the link can have sent it (RFC 5082).
        let near = near && seen.ip.hops == 255;
        let link =
            self.multicast.as_mut().and_then(|multicast| multicast.links.get_mut(port.index())?.as_mut());
        match link.filter(|_| near) {
            Some(link) => {
                if link.groups.receive(seen.ip.source.into(), bytes, now).is_err() {
                    self.counts.group_refusals += 1;
                }
                true
            }
            None => false,
        }
    }

    /// Tells others what is to be told by now, and says when there will be more.
    pub(super) fn tell_groups(&mut self, now: Instant, out: &mut Outgoing) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        for index in 0..self.multicast.as_ref().map_or(0, |multicast| multicast.links.len()) {
            let port = PortId(index as u16);
            let link = self.multicast.as_mut().and_then(|multicast| multicast.links[index].as_mut());
            let Some(Link { own, groups }) = link else { continue };
            let own = *own;
            let to = if own.is_ipv4() { IpAddr::V4(ROUTERS_V4) } else { IpAddr::V6(ROUTERS_V6) };
            let messages = groups.poll(now);
            next = [next, Some(groups.poll_at().max(now))].into_iter().flatten().min();
            for message in messages {
                self.tell(port, (own, INDEX_PORT), (to, INDEX_PORT), &message, now, out);
            }
        }
        next
    }

    /// Sends a packet to a group on by all its ports but that which it came by; it comes back if it is of no group that is sent on.
    #[inline]
    pub(super) fn spread(
        &mut self,
        from: PortId,
        mut frame: Message,
        seen: &Seen,
        now: Instant,
        out: &mut Outgoing,
    ) -> Option<Message> {
        let group = seen.ip.destination;
        let multicast = self.multicast.as_ref().filter(|_| leaves_the_link(group));
        let Some(multicast) = multicast else { return Some(frame) };
        let index = seen.label.filter(|label| label.threaded).map(|label| label.flow.source_hash);
        let Some((mut ports, indexed)) = multicast.ports(from, index, group) else { return Some(frame) };
        self.counts.threaded += u64::from(indexed);
        self.counts.group_misses += u64::from(index.is_some() && !indexed);
        if let Err(why) = self.may_spread(from, seen) {
            self.refuse(why, frame, out);
            return None;
        }
        pass(&mut frame.bytes_mut()[seen.offset..], group);
        while ports & ports.wrapping_sub(1) != 0 {
            let port = lowest(&mut ports);
            let mut copy = out.pool.take();
            match copy.append(frame.bytes()) {
                Ok(()) => self.leave(from, port, copy, seen, now, out),
                Err(_) => self.refuse(Refused::NoRoom, copy, out),
            }
        }
        match ports {
            0 => out.pool.give(frame),
            _ => self.leave(from, lowest(&mut ports), frame, seen, now, out),
        }
        None
    }

    /// Whether it came from where its source is, and may pass another router.
    #[inline]
    fn may_spread(&mut self, from: PortId, seen: &Seen) -> Result<(), Refused> {
        match self.routes.find(seen.ip.source).map(|hop| hop.route) {
            Some(Route::Out { port, .. }) if port == from && !seen.ip.is_of_the_link() => {}
            _ => return Err(Refused::WrongWay),
        }
        // Of packets to many nobody is told that.
        if seen.ip.hops > 1 { Ok(()) } else { Err(Refused::TimeExceeded) }
    }

    /// One copy leaves.
    #[inline]
    fn leave(
        &mut self,
        from: PortId,
        port: PortId,
        mut frame: Message,
        seen: &Seen,
        now: Instant,
        out: &mut Outgoing,
    ) {
        let mut seen = *seen;
        let group = seen.ip.destination;
        let Some(hardware) = group_hardware(group) else { return out.pool.give(frame) };
        let fits = seen.ip.length <= self.ports[port.index()].host.mtu;
        if !fits {
            let (mtu, packet) = (self.ports[port.index()].host.mtu as u32, &frame.bytes()[seen.offset..]);
            if !may_be_cut(&seen.ip, packet) {
                return self.complain(from, Error::TooBig(mtu), frame, &seen, now, out);
            }
            if is_beyond(&seen.ip, packet) {
                return self.refuse(Refused::Malformed, frame, out);
            }
        }
        seen.next_index = self.group_index(port, group);
        if let Err(why) = self.label(from, port, &mut frame, &mut seen, now) {
            return self.refuse(why, frame, out);
        }
        let (next, what) = (Next::Known(Way { port, hardware }), Leaves::Forwarded);
        if fits {
            self.depart(next, frame, what, out);
        } else {
            self.cut(next, frame, &seen.ip, what, out);
        }
    }
}

/// Takes the port of the lowest bit out of a set that has one.
#[inline]
fn lowest(ports: &mut u64) -> PortId {
    let port = PortId(ports.trailing_zeros() as u16);
    *ports &= ports.wrapping_sub(1);
    port
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_by_a_port_without_a_bit_goes_to_all_of_the_group() {
        let group = IpAddr::from([239, 1, 1, 1]);
        let multicast = Multicast { groups: HashMap::from([(group, 0b11)]), links: Vec::new() };
        let ports = |from| multicast.ports(PortId(from), None, group);
        assert_eq!(
            [0, 2, 63, 64, u16::MAX].map(ports),
            [0b10, 0b11, 0b11, 0b11, 0b11].map(|set| Some((set, false)))
        );
    }
}
