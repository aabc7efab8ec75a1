//! Routers on our links.

use std::collections::BTreeMap;

use throughline_stack::smoltcp::{time::Instant, wire::IpAddress};

use super::advertisement::Name;
use crate::{routing::Reason, threaded::message::Header};

#[derive(Debug)]
pub(super) struct Neighbor {
    pub router: u32,
    /// Of its last hello.
    pub number: u64,
    pub heard: Instant,
    /// Whether it hears us too: only then is the link one.
    pub two_way: bool,
    /// What it has not acknowledged, and when that is sent again.
    pub unacknowledged: BTreeMap<Name, Instant>,
}

pub(super) type At = (u16, IpAddress);

#[derive(Debug)]
pub(super) struct Neighbors {
    pub known: BTreeMap<At, Neighbor>,
    pub most: usize,
}

impl Neighbors {
    /// It says hello. Whether it now is a neighbour that was none, or none any more.
    pub fn hello(&mut self, at: At, header: &Header, hears_us: bool, now: Instant) -> Result<bool, Reason> {
        let router = header.sender;
        let room = self.known.len() < self.most;
        let neighbor = match self.known.get_mut(&at) {
            Some(neighbor) => neighbor,
            None if !room => return Err(Reason::TooManyNeighbors),
            None => self.known.entry(at).or_insert(Neighbor {
                router,
                number: header.sequence,
                heard: now,
                two_way: false,
                unacknowledged: BTreeMap::new(),
            }),
        };
        neighbor.heard = now;
        // Who has begun anew knows nothing of what we have told; his first hello, which would say so, may be lost.
        let anew = neighbor.number >> 16 != header.sequence >> 16;
        let other = neighbor.two_way != hears_us || neighbor.router != router || anew && hears_us;
        (neighbor.router, neighbor.number) = (router, header.sequence);
        neighbor.two_way = hears_us;
        if other {
            neighbor.unacknowledged.clear();
        }
        Ok(other)
    }

    pub fn is_two_way(&self, at: At, router: u32) -> bool {
        self.known.get(&at).is_some_and(|neighbor| neighbor.two_way && neighbor.router == router)
    }

    /// Those that hear us.
    pub fn two_way(&self) -> impl Iterator<Item = (At, &Neighbor)> {
        self.known.iter().filter(|(_, neighbor)| neighbor.two_way).map(|(at, neighbor)| (*at, neighbor))
    }

    /// Routers heard on a link, and the numbers of their last hellos.
    pub fn heard_on(&self, interface: u16) -> impl Iterator<Item = (u32, u64)> {
        let here = self.known.iter().filter(move |((at, _), _)| *at == interface);
        here.map(|(_, neighbor)| (neighbor.router, neighbor.number))
    }
}
