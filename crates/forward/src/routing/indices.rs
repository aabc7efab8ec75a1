//! Our indices, which neighbours are told, and theirs.

use std::collections::BTreeMap;

use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::{IpAddress, IpCidr},
};

use super::{Heard, Reason, authentication::Authentication};
use crate::threaded::{
    NO_INDEX,
    message::{self, Header, Kind, MOST_INDICES, Told},
};

/// Bounds on what neighbours may have us keep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub neighbors: usize,
    pub indices_each: usize,
    /// How long a neighbour is remembered that says nothing.
    pub silence: Duration,
}

/// Indices, ours and theirs.
#[derive(Debug)]
pub(super) struct Indices {
    router: u32,
    sequence: u64,
    bounds: Bounds,
    in_use: bool,
    ours: BTreeMap<IpCidr, u32>,
    theirs: BTreeMap<(u16, IpAddress), Neighbor>,
    /// The highest number that each has signed. Never forgotten, neither when it is silent nor when the link fails: what it
    /// said before could be said again otherwise. Who is here has had a key.
    numbers: BTreeMap<(u16, IpAddress), u64>,
}

/// Numbers that are remembered, for each neighbour there may be at a time.
const LIVES: usize = 16;

#[derive(Debug)]
struct Neighbor {
    heard: Instant,
    indices: BTreeMap<IpCidr, u32>,
}

impl Indices {
    pub fn new(router: u32, first_sequence: u64, bounds: Bounds) -> Self {
        let (ours, theirs, numbers) = Default::default();
        Self { router, sequence: first_sequence, bounds, in_use: false, ours, theirs, numbers }
    }

    /// Ours has been given, or taken. Whether that is new.
    pub fn assign(&mut self, prefix: IpCidr, index: u32) -> bool {
        self.in_use |= index != NO_INDEX;
        let before = match index {
            NO_INDEX => self.ours.remove(&prefix),
            _ => self.ours.insert(prefix, index),
        };
        before.unwrap_or(NO_INDEX) != index
    }

    /// Whether we have ever had any: if not, there is nothing to tell.
    pub fn in_use(&self) -> bool {
        self.in_use
    }

    pub fn ours(&self, prefix: IpCidr) -> u32 {
        self.ours.get(&prefix).copied().unwrap_or(NO_INDEX)
    }

    /// A neighbour's.
    pub fn theirs(&self, interface: u16, neighbor: IpAddress, prefix: IpCidr) -> u32 {
        let neighbor = self.theirs.get(&(interface, neighbor));
        neighbor.and_then(|neighbor| neighbor.indices.get(&prefix)).copied().unwrap_or(NO_INDEX)
    }

    /// Reads what a neighbour tells.
    pub fn read(
        &mut self,
        heard: &Heard,
        header: &Header,
        body: &[u8],
        now: Instant,
        authentication: &Authentication,
    ) -> Result<Vec<Told>, Reason> {
        let told = message::read_indices(header, body)?;
        self.accept(heard, header, now, authentication)?;
        Ok(told)
    }

    /// Whether a message is a neighbour's, and none that was there before.
    pub fn accept(
        &mut self,
        heard: &Heard,
        header: &Header,
        now: Instant,
        authentication: &Authentication,
    ) -> Result<(), Reason> {
        if header.sender == self.router {
            return Err(Reason::OwnId);
        }
        self.theirs.retain(|_, neighbor| neighbor.heard + self.bounds.silence > now);
        let key = (heard.interface, heard.from);
        if !self.theirs.contains_key(&key) && self.theirs.len() >= self.bounds.neighbors {
            return Err(Reason::TooManyNeighbors);
        }
        // Without a digest the number could be anybody's, and the highest would silence the neighbour.
        if matches!(authentication, Authentication::Keyed(_)) {
            self.is_new(key, header.sequence)?;
        }
        let new = || Neighbor { heard: now, indices: BTreeMap::new() };
        self.theirs.entry(key).or_insert_with(new).heard = now;
        Ok(())
    }

    fn is_new(&mut self, key: (u16, IpAddress), number: u64) -> Result<(), Reason> {
        let full = self.numbers.len() >= LIVES * self.bounds.neighbors;
        match self.numbers.get_mut(&key) {
            Some(last) if number <= *last => return Err(Reason::Replay),
            Some(last) => *last = number,
            None if full => return Err(Reason::TooManyNeighbors),
            None => drop(self.numbers.insert(key, number)),
        }
        Ok(())
    }

    /// Takes in indices that were read: `changed` is called for each prefix whose index is another now.
    pub fn take_in(
        &mut self,
        heard: &Heard,
        told: &[Told],
        mut changed: impl FnMut(IpCidr),
    ) -> Result<(), Reason> {
        let Some(neighbor) = self.theirs.get_mut(&(heard.interface, heard.from)) else { return Ok(()) };
        for Told { prefix, index } in told.iter().copied() {
            let full = neighbor.indices.len() >= self.bounds.indices_each;
            let before = match index {
                NO_INDEX => neighbor.indices.remove(&prefix),
                _ if full && !neighbor.indices.contains_key(&prefix) => return Err(Reason::TooManyRoutes),
                _ => neighbor.indices.insert(prefix, index),
            };
            if before.unwrap_or(NO_INDEX) != index {
                changed(prefix);
            }
        }
        Ok(())
    }

    /// Forgets all neighbours of an interface.
    pub fn forget(&mut self, interface: u16) {
        self.theirs.retain(|(at, _), _| *at != interface);
    }

    /// All of ours.
    pub fn all(&self) -> impl Iterator<Item = Told> {
        self.ours.iter().map(|(prefix, index)| Told { prefix: *prefix, index: *index })
    }

    /// The messages that tell them.
    pub fn tell(&mut self, kind: Kind, told: &[Told], authentication: &Authentication) -> Vec<Vec<u8>> {
        let mut message = |told: &[Told]| {
            let header = self.header(kind, told.len());
            message::write(header, &message::write_indices(told), authentication)
        };
        match told {
            // That nobody is heard is to be said.
            [] if kind == Kind::Hello => vec![message(&[])],
            _ => told.chunks(MOST_INDICES).map(message).collect(),
        }
    }

    /// The header of the next message.
    pub fn header(&mut self, kind: Kind, count: usize) -> Header {
        self.sequence += 1;
        Header { kind, sender: self.router, sequence: self.sequence, count: count as u16 }
    }
}
