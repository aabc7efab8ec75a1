//! What neighbours send.

use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::IpAddress,
};

use super::{DistanceVector, port_of, routes::Offer};
use crate::{
    routing::{
        Heard, Reason,
        rip::{self, Command, EntryError, INFINITY, Message, RouteEntry, Version},
    },
    threaded::{
        message::{self, INDEX_PORT, Kind, MOST_INDICES},
        source::whole,
    },
};

/// Answers to requests for all routes in a second, for each link.
pub(super) const ANSWERS: u32 = 16;

impl DistanceVector {
    pub(super) fn take_in(&mut self, heard: &Heard, bytes: &[u8], now: Instant) -> Result<(), Reason> {
        port_of(heard.interface, &self.links)?.interface.is_neighbor(heard)?;
        let link = &mut self.links[usize::from(heard.interface)];
        let message = match self.config.version {
            Version::Rip2 => {
                rip::read_v2(bytes, &link.interface.authentication, heard.from, &mut link.sequences)?
            }
            Version::RipNg => rip::read_ng(bytes)?,
        };
        match message.command {
            Command::Request => self.answer(heard, &message, now),
            Command::Response if heard.from_port != self.config.version.port() => Err(Reason::Port),
            Command::Response if !self.neighbors.hear(heard.interface, heard.from, now)? => Err(Reason::Deaf),
            Command::Response => {
                self.consider(heard, &message.entries, now);
                Ok(())
            }
        }
    }

    fn consider(&mut self, heard: &Heard, entries: &[Result<RouteEntry, EntryError>], now: Instant) {
        for entry in entries {
            let result = entry
                .map_err(Reason::from)
                .and_then(|entry| self.offer(heard, &entry))
                .and_then(|offer| Ok((offer.prefix, self.routes.consider(offer, now)?)));
            match result {
                Ok((prefix, true)) => self.changed(prefix),
                Ok((_, false)) => {}
                Err(reason) => self.refusals.count(reason),
            }
        }
    }

    fn offer(&mut self, heard: &Heard, entry: &RouteEntry) -> Result<Offer, Reason> {
        let interface = &self.links[usize::from(heard.interface)].interface;
        let next_hop = match entry.next_hop {
            Some(hop) if hop == interface.address.address() => return Err(Reason::NextHop),
            // One that is not on the link counts as the sender (RFC 2453, 4.4).
            Some(hop @ IpAddress::Ipv4(_)) if !interface.address.contains_addr(&hop) => heard.from,
            Some(hop) => hop,
            None => heard.from,
        };
        Ok(Offer {
            prefix: entry.prefix,
            metric: entry.metric.saturating_add(interface.metric).min(INFINITY),
            tag: entry.tag,
            interface: heard.interface,
            from: heard.from,
            next_hop,
        })
    }

    fn answer(&mut self, heard: &Heard, message: &Message, now: Instant) -> Result<(), Reason> {
        let link = &mut self.links[usize::from(heard.interface)];
        if now >= link.second + Duration::from_secs(1) {
            (link.second, link.answers) = (now, ANSWERS);
        }
        link.answers = link.answers.checked_sub(1).ok_or(Reason::TooOften)?;
        if message.whole_table {
            self.tell_all(heard.interface, heard.from, heard.from_port);
            return Ok(());
        }
        let mut known = Vec::new();
        for entry in &message.entries {
            let entry = entry.map_err(Reason::from)?;
            let metric = self.routes.get(entry.prefix).map_or(INFINITY, |route| route.metric);
            known.push(RouteEntry { metric, next_hop: None, ..entry });
        }
        self.send_routes(heard.interface, heard.from, heard.from_port, Command::Response, &known);
        Ok(())
    }

    pub(super) fn take_in_indices(
        &mut self,
        heard: &Heard,
        bytes: &[u8],
        now: Instant,
    ) -> Result<(), Reason> {
        let link = port_of(heard.interface, &self.links)?;
        link.interface.is_neighbor(heard)?;
        if heard.from_port != INDEX_PORT {
            return Err(Reason::Port);
        }
        let authentication = link.interface.authentication.of(heard.from);
        let (header, body) = message::read(bytes, &authentication)?;
        let told = self.indices.read(heard, &header, body, now, &authentication)?;
        match header.kind {
            Kind::Indices => {
                let unsaid = &mut self.unsaid;
                self.indices.take_in(heard, &told, |prefix| {
                    unsaid.insert(prefix);
                })
            }
            Kind::Hello => {
                let us = whole(link.interface.address.address());
                // There may be more than it has said.
                let hears = told.len() == MOST_INDICES || told.iter().any(|told| told.prefix == us);
                match (self.neighbors.hears(heard.interface, heard.from, hears), hears) {
                    (true, true) => self.speaker.ask(heard.interface),
                    (true, false) => self.lose_those_of(heard, now),
                    _ => {}
                }
                Ok(())
            }
            _ => Err(Reason::Command),
        }
    }

    fn lose_those_of(&mut self, heard: &Heard, now: Instant) {
        for prefix in self.routes.from(heard.interface, heard.from) {
            self.routes.lose(prefix, now);
            self.changed(prefix);
        }
    }
}
