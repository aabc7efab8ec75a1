//! Whom we hear, and whether they hear us.
//!
//! RIP itself believes whoever it hears, so a link that has failed in one direction swallows packets for ever. Routers that tell
//! indices also tell whom they hear ([`Kind::Hello`](crate::threaded::message::Kind::Hello)); who is not among them takes no
//! routes from them.

use std::collections::BTreeMap;

use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::IpAddress,
};

use crate::{
    routing::Reason,
    threaded::{NO_INDEX, message::Told, source::whole},
};

#[derive(Debug)]
pub(super) struct Neighbors {
    known: BTreeMap<(u16, IpAddress), Neighbor>,
    most: usize,
    silence: Duration,
    /// Interfaces where others have not been told whom we hear.
    pub unsaid: Vec<u16>,
}

#[derive(Debug)]
struct Neighbor {
    heard: Instant,
    deaf: bool,
}

impl Neighbors {
    pub fn new(most: usize, silence: Duration) -> Self {
        Self { known: BTreeMap::new(), most, silence, unsaid: Vec::new() }
    }

    /// It says something. Whether it hears us, as far as it has said.
    pub fn hear(&mut self, interface: u16, from: IpAddress, now: Instant) -> Result<bool, Reason> {
        self.expire(now);
        let room = self.known.len() < self.most;
        match self.known.get_mut(&(interface, from)) {
            Some(neighbor) => {
                neighbor.heard = now;
                Ok(!neighbor.deaf)
            }
            None if !room => Err(Reason::TooManyNeighbors),
            None => {
                self.known.insert((interface, from), Neighbor { heard: now, deaf: false });
                self.unsaid.push(interface);
                Ok(true)
            }
        }
    }

    /// It says whether it hears us. Whether that is other than before.
    pub fn hears(&mut self, interface: u16, from: IpAddress, us: bool) -> bool {
        let neighbor = self.known.get_mut(&(interface, from));
        neighbor.is_some_and(|neighbor| std::mem::replace(&mut neighbor.deaf, !us) == us)
    }

    pub fn expire(&mut self, now: Instant) {
        let (silence, unsaid) = (self.silence, &mut self.unsaid);
        self.known.retain(|(interface, _), neighbor| {
            let stays = neighbor.heard + silence > now;
            if !stays {
                unsaid.push(*interface);
            }
            stays
        });
    }

    pub fn forget(&mut self, interface: u16) {
        self.known.retain(|(at, _), _| *at != interface);
    }

    /// Those of a link, as they are told.
    pub fn of(&self, interface: u16) -> Vec<Told> {
        let told = |address: IpAddress| Told { prefix: whole(address), index: NO_INDEX };
        self.known.keys().filter(|(at, _)| *at == interface).map(|(_, from)| told(*from)).collect()
    }
}
