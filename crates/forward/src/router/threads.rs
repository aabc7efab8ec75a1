//! The router's routes by threaded index, beside those by longest prefix.

use std::net::IpAddr;

use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::IpCidr,
};

use super::Resolved;
use crate::{
    PortId, Route,
    threaded::{NO_INDEX, Prefix, Table4, Table6, TableCounts},
};

/// Places of a table, for each version of IP.
const PLACES: usize = 65_536;
/// How long an index that was given back is nobody's.
const REST: Duration = Duration::from_secs(240);

/// Both tables, and the hardware addresses of the next hops in them.
pub(super) struct Threads {
    v4: Table4<PLACES>,
    v6: Table6<PLACES>,
    hops4: Box<[Option<Resolved>]>,
    hops6: Box<[Option<Resolved>]>,
    /// Prefixes outside have no index, if there are some here.
    area: Vec<IpCidr>,
    /// Counted, so that who has kept an index knows when to look again.
    changes: u32,
}

/// Where an index led.
#[derive(Clone, Copy)]
pub(super) struct Followed {
    pub port: PortId,
    /// The next router, if the destination is not on the port's network.
    pub via: Option<IpAddr>,
    /// What replaces the index.
    pub next_index: u32,
}

impl Threads {
    pub fn new() -> Self {
        let nobody = || vec![None; PLACES].into_boxed_slice();
        Self {
            v4: Table4::new(REST),
            v6: Table6::new(REST),
            hops4: nobody(),
            hops6: nobody(),
            area: Vec::new(),
            changes: 0,
        }
    }

    /// The entry that an index leads to, if it is the destination's.
    #[inline]
    pub fn follow(&mut self, index: u32, destination: IpAddr) -> Option<Followed> {
        let (step, via) = match destination {
            IpAddr::V4(destination) => {
                (self.v4.step(index, destination)?, self.v4.next_hop(index).map(IpAddr::V4))
            }
            IpAddr::V6(destination) => {
                (self.v6.step(index, destination)?, self.v6.next_hop(index).map(IpAddr::V6))
            }
        };
        Some(Followed { port: PortId(step.port()), via, next_index: step.next_index() })
    }

    /// What is known of the next hop of the entry with this index.
    #[inline]
    pub fn hop(&mut self, index: u32, destination: IpAddr) -> &mut Option<Resolved> {
        let place = index as usize & (PLACES - 1);
        if destination.is_ipv4() { &mut self.hops4[place] } else { &mut self.hops6[place] }
    }

    /// Takes in a route that the longest-prefix lookup has too. Its index here.
    pub fn insert(&mut self, prefix: IpCidr, route: Route, next_index: u32, now: Instant) -> u32 {
        self.changes = self.changes.wrapping_add(1);
        let (port, via) = match route {
            Route::Here => (0, None),
            Route::Out { port, via } => (port.0, via),
        };
        let indexed = route != Route::Here && self.is_in_area(prefix);
        let index = if let Some(prefix) = Prefix::of(prefix) {
            let next_hop = via.and_then(|via| if let IpAddr::V4(via) = via { Some(via) } else { None });
            self.v4.insert(prefix, crate::threaded::Route { port, next_hop, next_index, indexed }, now)
        } else if let Some(prefix) = Prefix::of(prefix) {
            let next_hop = via.and_then(|via| if let IpAddr::V6(via) = via { Some(via) } else { None });
            self.v6.insert(prefix, crate::threaded::Route { port, next_hop, next_index, indexed }, now)
        } else {
            NO_INDEX
        };
        if index != NO_INDEX {
            let hops = if matches!(prefix, IpCidr::Ipv4(_)) { &mut self.hops4 } else { &mut self.hops6 };
            hops[index as usize & (PLACES - 1)] = None;
        }
        index
    }

    /// Which prefixes have indices, with those within them; all, if there are none. Routes that are there already are to be taken in
    /// again.
    pub fn set_area(&mut self, area: Vec<IpCidr>) {
        self.area = area;
    }

    fn is_in_area(&self, prefix: IpCidr) -> bool {
        self.area.is_empty() || self.area.iter().any(|area| area.contains_subnet(&prefix))
    }

    /// The index of exactly this prefix at the next hop.
    pub fn next_index_of(&self, prefix: IpCidr) -> u32 {
        match (Prefix::of(prefix), Prefix::of(prefix)) {
            (Some(prefix), _) => self.v4.route(prefix).map_or(NO_INDEX, |route| route.next_index),
            (_, Some(prefix)) => self.v6.route(prefix).map_or(NO_INDEX, |route| route.next_index),
            _ => NO_INDEX,
        }
    }

    /// Forgets a route.
    pub fn remove(&mut self, prefix: IpCidr, now: Instant) {
        self.changes = self.changes.wrapping_add(1);
        if let Some(prefix) = Prefix::of(prefix) {
            self.v4.remove(prefix, now);
        } else if let Some(prefix) = Prefix::of(prefix) {
            self.v6.remove(prefix, now);
        }
    }

    /// The index of a prefix here.
    pub fn index_of(&self, prefix: IpCidr) -> u32 {
        match (Prefix::of(prefix), Prefix::of(prefix)) {
            (Some(prefix), _) => self.v4.index_of(prefix),
            (_, Some(prefix)) => self.v6.index_of(prefix),
            _ => NO_INDEX,
        }
    }

    /// The index of the longest prefix that a destination lies in; none, if it would lead nowhere, as longer prefixes lie within.
    pub fn index_for(&self, destination: IpAddr) -> u32 {
        let index = match destination {
            IpAddr::V4(destination) => {
                let found = self.v4.find(destination).map(|(.., index)| index);
                found.filter(|index| self.v4.follow(*index, destination).is_some())
            }
            IpAddr::V6(destination) => {
                let found = self.v6.find(destination).map(|(.., index)| index);
                found.filter(|index| self.v6.follow(*index, destination).is_some())
            }
        };
        index.unwrap_or(NO_INDEX)
    }

    /// The index at the next hop of the longest prefix that a destination lies in, if that is in the area.
    pub fn next_index_for(&self, destination: IpAddr) -> u32 {
        let next_index = match destination {
            IpAddr::V4(destination) => self
                .v4
                .find(destination)
                .filter(|(_, route, _)| route.indexed)
                .map(|(_, route, _)| route.next_index),
            IpAddr::V6(destination) => self
                .v6
                .find(destination)
                .filter(|(_, route, _)| route.indexed)
                .map(|(_, route, _)| route.next_index),
        };
        next_index.unwrap_or(NO_INDEX)
    }

    /// How often a route, or the index of one, has changed.
    pub fn changes(&self) -> u32 {
        self.changes
    }

    /// How often indices were of no use, of both versions of IP.
    pub fn counts(&self) -> TableCounts {
        let (v4, v6) = (self.v4.counts(), self.v6.counts());
        TableCounts { refused: v4.refused + v6.refused, without_index: v4.without_index + v6.without_index }
    }
}
