//! What comes from neighbours, and how it goes on to the others.

use throughline_stack::smoltcp::time::Instant;

use super::{
    LinkState,
    advertisement::{Advertisement, Name, read_names, write_name},
    database::{self, Compared},
    neighbors::At,
};
use crate::{
    routing::{Action, Heard, Reason},
    threaded::message::{self, Header, INDEX_PORT, Kind, number},
};

impl LinkState {
    pub(super) fn take_in(&mut self, heard: &Heard, bytes: &[u8], now: Instant) -> Result<(), Reason> {
        let interface =
            self.config.interfaces.get(usize::from(heard.interface)).ok_or(Reason::NotANeighbor)?;
        interface.is_neighbor(heard)?;
        if heard.from_port != INDEX_PORT {
            return Err(Reason::Port);
        }
        let authentication = interface.authentication.of(heard.from);
        let (header, body) = message::read(bytes, &authentication)?;
        self.indices.accept(heard, &header, now, &authentication)?;
        let at = (heard.interface, heard.from);
        if header.kind == Kind::Hello {
            return self.hello(at, &header, body, now);
        }
        if !self.neighbors.is_two_way(at, header.sender) {
            return Err(Reason::NotANeighbor);
        }
        match header.kind {
            Kind::Indices => {
                let told = message::read_indices(&header, body)?;
                let paths = &mut self.paths_at;
                self.indices.take_in(heard, &told, |_| *paths = Some(paths.unwrap_or(now)))
            }
            Kind::Update => self.update(at, Advertisement::read(body)?, now),
            Kind::Acknowledge => {
                let names = read_names(body)?;
                self.acknowledged(at, &names);
                Ok(())
            }
            _ => Err(Reason::Command),
        }
    }

    /// A hello lists the routers that its sender hears, and the upper half of the last hello's number of each: what was said
    /// to us in an earlier life shows by it that it is old.
    fn hello(&mut self, at: At, header: &Header, body: &[u8], now: Instant) -> Result<(), Reason> {
        let (heard, rest) = body.as_chunks::<{ super::HEARD }>();
        if !rest.is_empty() || heard.len() != usize::from(header.count) {
            return Err(Reason::Length);
        }
        let (us, begun) = (u64::from(self.config.router), u64::from(self.config.first_sequence));
        let hears_us = heard.iter().any(|entry| number(entry, 0, 4) == us && number(entry, 4, 4) >= begun);
        let new = !self.neighbors.known.contains_key(&at);
        if self.neighbors.hello(at, header, hears_us, now)? {
            self.adjacency_changed(now);
            if hears_us {
                // It may know nothing yet.
                let names: Vec<Name> = self.database.names().collect();
                names.into_iter().for_each(|name| self.send_later(at, name, now));
                self.tell_indices_at = Some(now);
            }
        }
        // It learns at once that it is heard.
        if new {
            self.hello_at = self.hello_at.min(now);
        }
        Ok(())
    }

    fn update(&mut self, at: At, advertisement: Advertisement, now: Instant) -> Result<(), Reason> {
        let (name, sequence) = (advertisement.name(), advertisement.sequence);
        match self.database.compare(&advertisement, now) {
            Compared::Newer if advertisement.origin == self.config.router && sequence == u32::MAX => {
                self.begin_again(advertisement, now);
                self.acknowledge(at, name, sequence);
            }
            // Of a life of ours before this one, or forged: ours gets a higher number.
            Compared::Newer if advertisement.origin == self.config.router => {
                self.sequence = self.sequence.max(sequence.saturating_add(1));
                self.foreign.insert(advertisement.part);
                self.originate_at.get_or_insert(now);
                self.acknowledge(at, name, sequence);
            }
            Compared::Newer => {
                self.database.store(advertisement, now)?;
                self.flood(name, Some(at), now);
                self.acknowledge(at, name, sequence);
                self.paths_at.get_or_insert(now + self.config.timers.paths);
            }
            Compared::Same => {
                self.acknowledged(at, &[(name, sequence)]);
                self.acknowledge(at, name, sequence);
            }
            Compared::Older => self.send_later(at, name, now),
        }
        Ok(())
    }

    /// There is no higher number: what is forged is taken back.
    fn begin_again(&mut self, forged: Advertisement, now: Instant) {
        let name = forged.name();
        let gone = Advertisement { age: super::OLDEST, links: Vec::new(), prefixes: Vec::new(), ..forged };
        match self.database.store(gone, now) {
            Ok(()) => self.flood(name, None, now),
            Err(reason) => self.refusals.count(reason),
        }
        self.count_anew(now);
    }

    /// When all have forgotten what was taken back we count from 1 again (RFC 2328, 12.1.6).
    pub(super) fn count_anew(&mut self, now: Instant) {
        self.sequence = 0;
        self.silent_until = now + database::REMEMBERED + self.config.timers.retransmit;
        self.originate_at = Some(self.silent_until);
        self.refresh_at = self.refresh_at.max(self.silent_until);
    }

    /// Sends one to all neighbours, but to whom it came from.
    pub(super) fn flood(&mut self, name: Name, but: Option<At>, now: Instant) {
        let all: Vec<At> = self.neighbors.two_way().map(|(at, _)| at).filter(|at| but != Some(*at)).collect();
        all.into_iter().for_each(|at| self.send_later(at, name, now));
        if let Some(neighbor) = but.and_then(|at| self.neighbors.known.get_mut(&at)) {
            neighbor.unacknowledged.remove(&name);
        }
    }

    /// Until it is acknowledged.
    fn send_later(&mut self, at: At, name: Name, now: Instant) {
        if let Some(neighbor) = self.neighbors.known.get_mut(&at) {
            neighbor.unacknowledged.insert(name, now);
        }
    }

    fn acknowledged(&mut self, at: At, names: &[(Name, u32)]) {
        let Some(neighbor) = self.neighbors.known.get_mut(&at) else { return };
        for (name, sequence) in names {
            let ours = self.database.get(*name).map(|stored| stored.advertisement.sequence);
            if ours == Some(*sequence) {
                neighbor.unacknowledged.remove(name);
            }
        }
    }

    fn acknowledge(&mut self, at: At, name: Name, sequence: u32) {
        self.send(at.0, at.1, Kind::Acknowledge, 1, &write_name(name, sequence));
    }

    /// Sends what was not acknowledged, the first time or again.
    pub(super) fn send_updates(&mut self, now: Instant) {
        let again = now + self.config.timers.retransmit;
        let mut due = Vec::new();
        for (at, neighbor) in &mut self.neighbors.known {
            for (name, when) in neighbor.unacknowledged.iter_mut().filter(|(_, when)| **when <= now) {
                *when = again;
                due.push((*at, *name));
            }
        }
        for ((interface, to), name) in due {
            let Some(stored) = self.database.get(name) else {
                if let Some(neighbor) = self.neighbors.known.get_mut(&(interface, to)) {
                    neighbor.unacknowledged.remove(&name);
                }
                continue;
            };
            // A hop takes time, however little; so that nothing goes round for ever.
            let age = self.database.age(stored, now).saturating_add(1).min(super::OLDEST);
            let body = stored.advertisement.write(age);
            self.send(interface, to, Kind::Update, 1, &body);
        }
    }

    pub(super) fn send(
        &mut self,
        interface: u16,
        to: throughline_stack::smoltcp::wire::IpAddress,
        kind: Kind,
        count: usize,
        body: &[u8],
    ) {
        if !self.up[usize::from(interface)] {
            return;
        }
        let header = self.indices.header(kind, count);
        let ours = &self.config.interfaces[usize::from(interface)];
        let bytes = message::write(header, body, &ours.authentication.of(ours.address.address()));
        self.outbox.push(Action::Send { interface, to, from_port: INDEX_PORT, port: INDEX_PORT, bytes });
    }
}
