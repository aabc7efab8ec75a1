//! What is known, and until when.

use std::collections::{BTreeMap, BTreeSet};

use throughline_stack::smoltcp::{
    time::Instant,
    wire::{IpAddress, IpCidr},
};

use super::Timers;
use crate::routing::{Learned, Reason, rip::INFINITY};

/// Whom a route is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Via {
    /// The owner.
    Own,
    /// A neighbour, which may have told of another that is nearer.
    Neighbor { interface: u16, from: IpAddress, next_hop: IpAddress },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    pub metric: u8,
    pub tag: u16,
    pub via: Via,
    /// When it times out, or is forgotten if the metric is infinite.
    due: Option<Instant>,
    /// What the owner uses.
    said: Option<Learned>,
}

#[derive(Debug)]
pub(super) struct Routes {
    routes: BTreeMap<IpCidr, Route>,
    due: BTreeSet<(Instant, IpCidr)>,
    /// Routes of each neighbour.
    counts: BTreeMap<(u16, IpAddress), usize>,
    timers: Timers,
    most: usize,
}

/// What a neighbour tells of a prefix, with the cost of the link added.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub prefix: IpCidr,
    pub metric: u8,
    pub tag: u16,
    pub interface: u16,
    pub from: IpAddress,
    pub next_hop: IpAddress,
}

impl Routes {
    pub fn new(timers: Timers, most: usize) -> Self {
        Self { routes: BTreeMap::new(), due: BTreeSet::new(), counts: BTreeMap::new(), timers, most }
    }

    pub fn get(&self, prefix: IpCidr) -> Option<&Route> {
        self.routes.get(&prefix)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&IpCidr, &Route)> {
        self.routes.iter()
    }

    /// When something ends.
    pub fn next(&self) -> Option<Instant> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Takes an offer or leaves it (RFC 2453, 3.9.2). Whether anything that others are told is different now.
    pub fn consider(&mut self, offer: Offer, now: Instant) -> Result<bool, Reason> {
        let Some(route) = self.routes.get(&offer.prefix).copied() else {
            return if offer.metric < INFINITY { self.adopt(offer, now).map(|()| true) } else { Ok(false) };
        };
        let Via::Neighbor { interface, from, .. } = route.via else {
            // A prefix of our own that we have withdrawn is like any other.
            let free = route.metric == INFINITY && offer.metric < INFINITY;
            return if free { self.adopt(offer, now).map(|()| true) } else { Ok(false) };
        };
        let same = (interface, from) == (offer.interface, offer.from);
        let other = offer.metric != route.metric || route.via != offer.via() || offer.tag != route.tag;
        match (offer.metric, same) {
            (INFINITY, true) if route.metric < INFINITY => {
                self.lose(offer.prefix, now);
                Ok(true)
            }
            (INFINITY, _) => Ok(false),
            (_, true) => self.adopt(offer, now).map(|()| other),
            (metric, false) if metric < route.metric || self.is_old(&route, metric, now) => {
                self.adopt(offer, now).map(|()| true)
            }
            _ => Ok(false),
        }
    }

    /// Halfway to the timeout another neighbour that offers the same is taken.
    fn is_old(&self, route: &Route, metric: u8, now: Instant) -> bool {
        metric == route.metric && route.due.is_some_and(|due| now + self.timers.timeout / 2 >= due)
    }

    fn adopt(&mut self, offer: Offer, now: Instant) -> Result<(), Reason> {
        let who = (offer.interface, offer.from);
        let said = self.routes.get(&offer.prefix).and_then(|route| route.said);
        let his = |route: &&Route| route.neighbor() == Some(who);
        let has_it = self.routes.get(&offer.prefix).filter(his).is_some();
        if !has_it && self.counts.get(&who).copied().unwrap_or(0) >= self.most {
            return Err(Reason::TooManyRoutes);
        }
        self.take_out(offer.prefix);
        let due = Some(now + self.timers.timeout);
        self.put_in(
            offer.prefix,
            Route { metric: offer.metric, tag: offer.tag, via: offer.via(), due, said },
        );
        Ok(())
    }

    /// A route of the owner's, which no neighbour can change.
    pub fn own(&mut self, prefix: IpCidr, metric: u8, _now: Instant) {
        let said = self.take_out(prefix).and_then(|route| route.said);
        self.put_in(prefix, Route { metric, tag: 0, via: Via::Own, due: None, said });
    }

    /// There is no way any more: others are told so until it is forgotten.
    pub fn lose(&mut self, prefix: IpCidr, now: Instant) {
        if let Some(route) = self.take_out(prefix) {
            let due = Some(now + self.timers.garbage);
            self.put_in(prefix, Route { metric: INFINITY, due, ..route });
        }
    }

    /// Lets time pass. What timed out.
    pub fn expire(&mut self, now: Instant) -> Vec<IpCidr> {
        let mut lost = Vec::new();
        while let Some((due, prefix)) = self.due.first().copied()
            && due <= now
        {
            match self.take_out(prefix) {
                Some(route) if route.metric < INFINITY => {
                    let due = Some(now + self.timers.garbage);
                    self.put_in(prefix, Route { metric: INFINITY, due, ..route });
                    lost.push(prefix);
                }
                _ => {}
            }
        }
        lost
    }

    /// What the owner uses from now on; what he used before.
    pub fn said(&mut self, prefix: IpCidr, now: Option<Learned>) -> Option<Learned> {
        self.routes.get_mut(&prefix).and_then(|route| std::mem::replace(&mut route.said, now))
    }

    /// Prefixes that are reached by an interface.
    pub fn through(&self, interface: u16) -> Vec<IpCidr> {
        let through = |route: &Route| {
            route.metric < INFINITY && route.neighbor().is_some_and(|(at, _)| at == interface)
        };
        self.routes.iter().filter(|(_, route)| through(route)).map(|(prefix, _)| *prefix).collect()
    }

    /// Prefixes that are reached by a neighbour.
    pub fn from(&self, interface: u16, from: IpAddress) -> Vec<IpCidr> {
        let his = |route: &Route| route.metric < INFINITY && route.neighbor() == Some((interface, from));
        self.routes.iter().filter(|(_, route)| his(route)).map(|(prefix, _)| *prefix).collect()
    }

    fn take_out(&mut self, prefix: IpCidr) -> Option<Route> {
        let route = self.routes.remove(&prefix)?;
        if let Some(due) = route.due {
            self.due.remove(&(due, prefix));
        }
        if let Some(who) = route.neighbor()
            && let Some(count) = self.counts.get_mut(&who)
        {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&who);
            }
        }
        Some(route)
    }

    fn put_in(&mut self, prefix: IpCidr, route: Route) {
        if let Some(who) = route.neighbor() {
            *self.counts.entry(who).or_default() += 1;
        }
        if let Some(due) = route.due {
            self.due.insert((due, prefix));
        }
        self.routes.insert(prefix, route);
    }
}

impl Route {
    pub fn neighbor(&self) -> Option<(u16, IpAddress)> {
        match self.via {
            Via::Neighbor { interface, from, .. } => Some((interface, from)),
            Via::Own => None,
        }
    }
}

impl Offer {
    fn via(&self) -> Via {
        Via::Neighbor { interface: self.interface, from: self.from, next_hop: self.next_hop }
    }
}
