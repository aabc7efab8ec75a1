//! The address that all routers on a network of IPv6 have (RFC 4291, 2.6.1): the first of its addresses. Who sends there has an answer
//! from one of them, by an address that it has alone.

use std::net::IpAddr;

use throughline_stack::{
    Host, Message,
    smoltcp::{
        phy::{ChecksumCapabilities, Medium},
        time::{Duration, Instant},
        wire::{
            EthernetAddress, HardwareAddress, Icmpv6Packet, Icmpv6Repr, IpAddress, IpCidr, Ipv6Address,
            NdiscNeighborFlags, NdiscRepr, RawHardwareAddress,
        },
    },
};

use super::{
    Next, Router, Seen, Way,
    counts::Leaves,
    icmp::{self, header6},
    is_of_the_link,
    local::framed,
};
use crate::{Outgoing, PortId, routing::rip::network, threaded::source::whole};

/// No router has sent such a packet on (RFC 4861, 7.1).
const UNFORWARDED: u8 = 255;
/// Answers are so late at most, since others have the same address and are not to answer all at once (RFC 4861, 7.2.7 and 10).
const LATEST: Duration = Duration::from_secs(1);
/// Answers that are late; those beyond leave at once.
const MOST: usize = 64;

/// An answer that waits for its time.
pub(super) struct Late {
    due: Instant,
    port: PortId,
    to: Ipv6Address,
    /// His hardware address, if he has said it.
    hardware: Option<EthernetAddress>,
    frame: Message,
}

/// That address of a network, as a prefix. Where it has two addresses or one, each is a host's (RFC 6164, 6).
pub(super) fn of_all_routers(cidr: &IpCidr) -> Option<IpCidr> {
    let shared = matches!(cidr, IpCidr::Ipv6(_)) && cidr.prefix_len() < 127 && !is_of_the_link(cidr);
    shared.then(|| whole(network(*cidr).address()))
}

/// Whether a host at a port of a router answers to an address as one of all routers there.
pub(super) fn is_of_all_routers(host: &Host, address: IpAddr) -> bool {
    let is = |cidr: &IpCidr| of_all_routers(cidr) == Some(whole(address.into()));
    host.addresses.iter().any(is) && !host.has(address.into())
}

impl Router {
    /// Answers a neighbour who asks for the hardware address of any router. Whether he has asked for that.
    pub(super) fn advertise(
        &mut self,
        port: PortId,
        seen: &Seen,
        frame: &[u8],
        now: Instant,
        out: &mut Outgoing,
    ) -> bool {
        let message = &frame[seen.offset + seen.ip.header..];
        let Some((from, target, hardware)) = asked(seen, message) else { return false };
        if !is_of_all_routers(self.host(port), target.into()) {
            return false;
        }
        self.counts.local += 1;
        let Some(IpAddr::V6(ours)) = self.address_for(port, from.into()) else { return true };
        let mut answer = out.pool.take();
        match advertisement(self.host(port).hardware, (ours, from), target, &mut answer) {
            Some(()) => {
                let delay = Duration::from_micros(self.secret.draw() % (LATEST.total_micros() + 1));
                let late = Late { due: now + delay, port, to: from, hardware, frame: answer };
                match self.late.len() < MOST {
                    true => self.late.push(late),
                    false => self.answer_late(late, now, out),
                }
            }
            None => out.pool.give(answer),
        }
        true
    }

    /// Gives the answers whose time has come, and says when that of others will come.
    pub(super) fn answer_all(&mut self, now: Instant, out: &mut Outgoing) -> Option<Instant> {
        let due: Vec<_> = self.late.extract_if(.., |late| late.due <= now).collect();
        due.into_iter().for_each(|late| self.answer_late(late, now, out));
        self.late.iter().map(|late| late.due).min()
    }

    fn answer_late(
        &mut self,
        Late { port, to, hardware, frame, .. }: Late,
        now: Instant,
        out: &mut Outgoing,
    ) {
        let graph = &mut self.ports[port.index()].graph;
        let hardware = hardware.or_else(|| graph.neighbor_for_stranger(to.into(), now));
        let next =
            hardware.map_or(Next::Asked(port, to.into()), |hardware| Next::Known(Way { port, hardware }));
        self.depart(next, frame, Leaves::Said, out);
    }
}

/// Who asks for which address, and his hardware address if he says it; `None` if it is no question for one, or not a neighbour's. Who
/// asks whether an address is free is told nothing: this one may be of many.
fn asked(seen: &Seen, message: &[u8]) -> Option<(Ipv6Address, Ipv6Address, Option<EthernetAddress>)> {
    let (IpAddr::V6(from), IpAddr::V6(to)) = (seen.ip.source, seen.ip.destination) else { return None };
    let packet = Icmpv6Packet::new_checked(message).ok()?;
    let neighbor = seen.ip.protocol == icmp::ICMP6 && seen.ip.hops == UNFORWARDED && !from.is_unspecified();
    if !neighbor || packet.msg_code() != 0 || !packet.verify_checksum(&from, &to) {
        return None;
    }
    let NdiscRepr::NeighborSolicit { target_addr, lladdr } = NdiscRepr::parse(&packet).ok()? else {
        return None;
    };
    let hardware = |option: RawHardwareAddress| match option.parse(Medium::Ethernet) {
        Ok(HardwareAddress::Ethernet(address)) if address.is_unicast() => Some(address),
        _ => None,
    };
    let hardware = match lladdr {
        Some(option) => Some(hardware(option)?),
        None => None,
    };
    Some((from, target_addr, hardware))
}

/// Says that the address is to be found here, or with others (RFC 4861, 7.2.7), in a frame whose addresses are still to be written.
fn advertisement(
    hardware: EthernetAddress,
    (from, to): (Ipv6Address, Ipv6Address),
    target_addr: Ipv6Address,
    message: &mut Message,
) -> Option<()> {
    let flags = NdiscNeighborFlags::ROUTER | NdiscNeighborFlags::SOLICITED;
    let advert = NdiscRepr::NeighborAdvert { flags, target_addr, lladdr: Some(hardware.into()) };
    let advert = Icmpv6Repr::Ndisc(advert);
    let bytes = message.push(advert.buffer_len()).ok()?;
    bytes.fill(0);
    advert.emit(&from, &to, &mut Icmpv6Packet::new_unchecked(bytes), &ChecksumCapabilities::default());
    header6(message, from, to, UNFORWARDED)?;
    framed(message, IpAddress::from(to).into())
}
