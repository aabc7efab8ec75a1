//! How packets leave: with the right headers, in pieces where they must, and once their next hop is known.

use std::net::IpAddr;

use throughline_stack::{
    Message,
    smoltcp::{time::Instant, wire::EthernetAddress},
};

use super::{
    Next, Refused, Route, Router, Seen, Way,
    counts::Leaves,
    fragment::{LEAST_MTU, is_beyond, may_be_cut, piece, piece_of_ipv6},
    icmp::Error,
};
use crate::{
    Outgoing, PortId,
    frame::ETHERNET,
    ip::{Ip, pass},
};

impl Router {
    /// Sends a packet of somebody else on.
    #[inline]
    pub(super) fn forward(
        &mut self,
        from: PortId,
        next: Next,
        mut frame: Message,
        seen: &mut Seen,
        now: Instant,
        out: &mut Outgoing,
    ) {
        let Some(port) = port_of(next) else { return };
        let to = &self.ports[port.index()];
        let fits = seen.ip.length <= to.host.mtu;
        if !fits {
            let (mtu, packet) = (to.host.mtu as u32, &frame.bytes()[seen.offset..]);
            if !may_be_cut(&seen.ip, packet) {
                return self.complain(from, Error::TooBig(mtu), frame, seen, now, out);
            }
            if is_beyond(&seen.ip, packet) {
                return self.refuse(Refused::Malformed, frame, out);
            }
        }
        pass(&mut frame.bytes_mut()[seen.offset..], seen.ip.destination);
        if let Err(why) = self.label(from, port, &mut frame, seen, now) {
            return self.refuse(why, frame, out);
        }
        let what = Leaves::Forwarded;
        if fits {
            self.depart(next, frame, what, out);
        } else {
            self.cut(next, frame, &seen.ip, what, out);
        }
    }

    /// Sends a packet of the router's own, in pieces where it is longer than the network carries; of IPv6, which nobody else cuts,
    /// also where it may be longer than others on its way carry.
    pub(super) fn originate(&mut self, next: Next, frame: Message, ip: &Ip, out: &mut Outgoing) {
        let Some(port) = port_of(next) else { return self.refuse(Refused::Destination, frame, out) };
        let mtu = self.ports[port.index()].host.mtu;
        let most = if self.leads_beyond(ip) { mtu.min(LEAST_MTU) } else { mtu };
        let fits = ip.length <= most;
        // Who sends a packet of IPv6 may cut it, and nobody else.
        if !fits && ip.destination.is_ipv4() && !may_be_cut(ip, &frame.bytes()[ETHERNET..]) {
            return self.refuse(Refused::TooBig, frame, out);
        }
        let what = Leaves::Said;
        if fits {
            self.depart(next, frame, what, out);
        } else {
            self.cut(next, frame, ip, what, out);
        }
    }

    /// Whether a packet of IPv6 goes on from the next network by other routers.
    fn leads_beyond(&mut self, ip: &Ip) -> bool {
        ip.destination.is_ipv6()
            && !ip.is_of_the_link()
            && self
                .routes
                .find(ip.destination)
                .is_some_and(|hop| matches!(hop.route, Route::Out { via: Some(_), .. }))
    }

    /// Sends a packet in pieces, which have no labels. It ends where a packet can.
    #[cold]
    pub(super) fn cut(&mut self, next: Next, frame: Message, ip: &Ip, mut what: Leaves, out: &mut Outgoing) {
        let Some(port) = port_of(next) else { return };
        let mtu = self.ports[port.index()].host.mtu;
        let number = if ip.destination.is_ipv6() { self.secret.draw() as u32 } else { 0 };
        let (mut at, mut departed) = (Some(0), 0);
        while let Some(begins) = at {
            let mut message = out.pool.take();
            let packet = &frame.bytes()[ETHERNET..];
            let cut = match ip.destination {
                IpAddr::V4(_) => piece(ip, packet, begins, mtu, &mut message),
                IpAddr::V6(_) => piece_of_ipv6(ip, packet, begins, number, &mut message),
            };
            let header = message.push(ETHERNET);
            let (Ok(rest), Ok(header)) = (cut, header) else {
                out.pool.give(message);
                self.take_back(next, departed, out);
                return self.refuse(Refused::NoRoom, frame, out);
            };
            header.copy_from_slice(&frame.bytes()[..ETHERNET]);
            at = rest;
            // Without one of them the others are of no use.
            if !self.depart(next, message, std::mem::replace(&mut what, Leaves::Piece), out) {
                self.take_back(next, departed, out);
                break;
            }
            departed += 1;
        }
        out.pool.give(frame);
    }

    /// The last frames that have departed wait no longer, if they do: their packet is refused, and counted.
    fn take_back(&mut self, next: Next, departed: usize, out: &mut Outgoing) {
        if let Next::Asked(port, hop) = next {
            self.pending.take_back(port, hop, departed).into_iter().for_each(|frame| out.pool.give(frame));
        }
    }

    /// Sends a frame whose packet is ready, or lets it wait: whether it does, and is not refused. It is counted when it leaves.
    #[inline]
    pub(super) fn depart(
        &mut self,
        next: Next,
        mut frame: Message,
        what: Leaves,
        out: &mut Outgoing,
    ) -> bool {
        match next {
            Next::Known(Way { port, hardware }) => {
                address(frame.bytes_mut(), hardware, self.ports[port.index()].host.hardware);
                self.counts.leave(what);
                out.push(port, frame);
                true
            }
            Next::Asked(port, hop) => self.wait(port, hop, frame, what, out),
            Next::Here => {
                self.refuse(Refused::Destination, frame, out);
                false
            }
        }
    }

    #[cold]
    fn wait(&mut self, port: PortId, hop: IpAddr, frame: Message, what: Leaves, out: &mut Outgoing) -> bool {
        // So many are asked for that it is not.
        let asked = self.ports[port.index()].graph.awaits_neighbor(hop.into());
        let waits = if asked { self.pending.wait(port, hop, frame, what) } else { Err(frame) };
        let refused = waits.map_err(|frame| self.refuse(Refused::Waiting, frame, out));
        // The question.
        self.transmit(port, out);
        refused.is_ok()
    }

    /// Takes what a graph has to send.
    pub(super) fn transmit(&mut self, port: PortId, out: &mut Outgoing) {
        while let Some(frame) = self.ports[port.index()].graph.transmit() {
            out.push(port, frame);
        }
    }
}

#[inline]
fn port_of(next: Next) -> Option<PortId> {
    match next {
        Next::Known(Way { port, .. }) | Next::Asked(port, _) => Some(port),
        Next::Here => None,
    }
}

/// Writes the addresses of a frame.
#[inline]
pub(super) fn address(frame: &mut [u8], to: EthernetAddress, from: EthernetAddress) {
    frame[..6].copy_from_slice(&to.0);
    frame[6..12].copy_from_slice(&from.0);
}
