//! What neighbours are sent, and when.

use std::collections::BTreeSet;

use throughline_stack::smoltcp::{
    time::Instant,
    wire::{IpAddress, IpCidr},
};

use super::DistanceVector;
use crate::{
    routing::{
        Action,
        rip::{self, Command, INFINITY, RouteEntry, Version},
    },
    threaded::{
        NO_INDEX,
        message::{INDEX_PORT, Kind, MOST_INDICES, Told},
    },
};

#[derive(Debug)]
pub(super) struct Speaker {
    /// Routes that neighbours have not been told as they are now.
    pub changed: BTreeSet<IpCidr>,
    /// Interfaces whose neighbours are still to be asked.
    asking: BTreeSet<u16>,
    /// The next update; none before the first time.
    update: Option<Instant>,
    /// No triggered update before.
    held: Instant,
    /// Of RIP's authentication.
    sequence: u32,
}

impl Speaker {
    pub fn new(sequence: u32, interfaces: usize) -> Self {
        let asking = (0..interfaces as u16).collect();
        Self { changed: BTreeSet::new(), asking, update: None, held: Instant::ZERO, sequence }
    }

    pub fn ask(&mut self, interface: u16) {
        self.asking.insert(interface);
    }

    pub fn next(&self) -> Option<Instant> {
        if !self.asking.is_empty() {
            return Some(Instant::ZERO);
        }
        let triggered = (!self.changed.is_empty()).then_some(self.held);
        [triggered, Some(self.update.unwrap_or(Instant::ZERO))].into_iter().flatten().min()
    }
}

impl DistanceVector {
    /// Sends what is due.
    pub(super) fn speak(&mut self, now: Instant) {
        for interface in std::mem::take(&mut self.speaker.asking) {
            self.send_routes(interface, self.group(), self.config.version.port(), Command::Request, &[]);
        }
        self.neighbors.expire(now);
        for interface in std::mem::take(&mut self.neighbors.unsaid) {
            self.tell_heard(interface);
        }
        let timers = self.config.timers;
        if self.speaker.update.is_none_or(|update| update <= now) {
            let first = self.speaker.update.is_none();
            let jitter = timers.update / 6;
            self.speaker.update =
                Some(now + self.random.between(timers.update - jitter, timers.update + jitter));
            self.speaker.changed.clear();
            (0..self.links.len() as u16).for_each(|interface| {
                // Who has just begun has heard nobody yet.
                if !first {
                    self.tell_heard(interface);
                }
                self.tell_all(interface, self.group(), self.config.version.port());
            });
        } else if !self.speaker.changed.is_empty() && self.speaker.held <= now {
            let [least, most] = timers.triggered;
            self.speaker.held = now + self.random.between(least, most);
            let changed = std::mem::take(&mut self.speaker.changed);
            (0..self.links.len() as u16).for_each(|interface| {
                self.tell(interface, self.group(), self.config.version.port(), changed.iter().copied());
            });
        }
    }

    /// Tells all routes.
    pub(super) fn tell_all(&mut self, interface: u16, to: IpAddress, port: u16) {
        let all: Vec<IpCidr> = self.routes.iter().map(|(prefix, _)| *prefix).collect();
        self.tell(interface, to, port, all.into_iter());
    }

    /// Tells some routes: to the link they lead by, that they are infinitely far (split horizon with poisoned reverse).
    fn tell(&mut self, interface: u16, to: IpAddress, port: u16, prefixes: impl Iterator<Item = IpCidr>) {
        let (mut entries, mut told) = (Vec::new(), Vec::new());
        for prefix in prefixes {
            let Some(route) = self.routes.get(prefix) else { continue };
            let back = route.neighbor().is_some_and(|(learned_by, _)| learned_by == interface);
            let metric = if back { INFINITY } else { route.metric };
            entries.push(RouteEntry { prefix, next_hop: None, tag: route.tag, metric });
            if !back {
                let index = if metric < INFINITY { self.indices.ours(prefix) } else { NO_INDEX };
                told.push(Told { prefix, index });
            }
        }
        self.send_routes(interface, to, port, Command::Response, &entries);
        self.send_indices(interface, to, Kind::Indices, &told);
    }

    /// Tells whom we hear on a link. Who hears nobody tells that when he hears of somebody.
    fn tell_heard(&mut self, interface: u16) {
        let mut heard = self.neighbors.of(interface);
        heard.truncate(MOST_INDICES);
        self.send_indices(interface, self.group(), Kind::Hello, &heard);
    }

    pub(super) fn send_routes(
        &mut self,
        interface: u16,
        to: IpAddress,
        port: u16,
        command: Command,
        entries: &[RouteEntry],
    ) {
        let link = &self.links[usize::from(interface)];
        if !link.up {
            return;
        }
        let authentication = &link.interface.authentication;
        let messages = match self.config.version {
            Version::Rip2 => rip::write_v2(command, entries, authentication, &mut self.speaker.sequence),
            Version::RipNg => rip::write_ng(command, entries),
        };
        let from_port = self.config.version.port();
        let send = |bytes| Action::Send { interface, to, from_port, port, bytes };
        self.outbox.extend(messages.into_iter().map(send));
    }

    fn send_indices(&mut self, interface: u16, to: IpAddress, kind: Kind, told: &[Told]) {
        let link = &self.links[usize::from(interface)];
        if !link.up || !self.indices.in_use() {
            return;
        }
        let authentication = link.interface.authentication.of(link.interface.address.address());
        let messages = self.indices.tell(kind, told, &authentication);
        let send = |bytes| Action::Send { interface, to, from_port: INDEX_PORT, port: INDEX_PORT, bytes };
        self.outbox.extend(messages.into_iter().map(send));
    }
}
