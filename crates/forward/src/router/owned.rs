//! The routes that the router's owner has set, and those that are in use.

use std::net::IpAddr;

use throughline_stack::smoltcp::{time::Instant, wire::IpCidr};

use super::{Route, RouteError, Router, is_of_the_link};
use crate::{
    PortId,
    routing::rip::network,
    threaded::{NO_INDEX, source::whole},
};

impl Router {
    /// Sets where packets with this prefix go, and returns where they went before.
    ///
    /// # Errors
    /// [`RouteError`]; nothing has changed.
    pub fn add_route(&mut self, prefix: IpCidr, route: Route) -> Result<Option<Route>, RouteError> {
        if let Route::Out { port, via } = route {
            let port = self.ports.get(port.index()).ok_or(RouteError::NoPort(port))?;
            let near =
                |via: &IpAddr| port.host.addresses.iter().any(|cidr| cidr.contains_addr(&(*via).into()));
            if let Some(via) = via.filter(|via| !near(via)) {
                return Err(RouteError::NotNear(via));
            }
            // An address of the link may be somebody else's here and ours elsewhere.
            let ours = |next: &IpCidr| match is_of_the_link(next) {
                true => port.host.has(next.address()),
                false => self.routes.get(*next) == Some(Route::Here),
            };
            if let Some(next) = via.map(|via| whole(via.into())).filter(ours) {
                return Err(RouteError::Ours(next));
            }
        }
        if self.routes.get(prefix) == Some(Route::Here) {
            return Err(RouteError::Ours(prefix));
        }
        let before = self.routes.get(prefix).or_else(|| self.set_aside.get(&network(prefix)).copied());
        self.configure(prefix, route, self.now);
        Ok(before)
    }

    /// Takes a route away, unless it leads to the router itself or was learned. Where it led. If a protocol has learned
    /// another way, that is used.
    pub fn remove_route(&mut self, prefix: IpCidr) -> Option<Route> {
        if self.routes.get(prefix) == Some(Route::Here) {
            return None;
        }
        let prefix = network(prefix);
        self.set_aside.remove(&prefix).or_else(|| self.withdraw(prefix, self.now))
    }

    /// Says that the link of a port works, or does not. While it does not, the owner's routes by that port are set aside: their
    /// destinations are reached by other ways, if there are any. When it works again, neighbours are asked for anew.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn set_link(&mut self, port: PortId, up: bool, now: Instant) {
        self.ports[port.index()].up = up;
        for protocol in &mut self.protocols {
            let at = protocol.interfaces.iter().position(|(other, _)| *other == port);
            if let Some(interface) = at {
                protocol.routing.set_link(interface as u16, up, now);
            }
        }
        let by_it = |route: &Route| matches!(route, Route::Out { port: by, .. } if *by == port);
        if up {
            let back = self.set_aside.extract_if(|_, route| by_it(route)).collect::<Vec<_>>();
            back.into_iter().for_each(|(prefix, route)| self.configure(prefix, route, now));
        } else {
            self.ports[port.index()].graph.forget_neighbors();
            self.changed();
            let owned = |(prefix, route): &(IpCidr, Route)| by_it(route) && !self.chosen.contains(prefix);
            let away = self.routes.iter().filter(owned).collect::<Vec<_>>();
            for (prefix, route) in away {
                self.withdraw(prefix, now);
                self.set_aside.insert(prefix, route);
            }
        }
    }

    /// From now on a route is what the owner says, whatever protocols have said or will say, and they tell of it; as soon as the
    /// link of its port works.
    fn configure(&mut self, prefix: IpCidr, route: Route, now: Instant) {
        let prefix = network(prefix);
        self.set_aside.remove(&prefix);
        if let Route::Out { port, .. } = route
            && !self.ports[port.index()].up
        {
            self.withdraw(prefix, now);
            self.set_aside.insert(prefix, route);
            return;
        }
        self.chosen.remove(&prefix);
        let index = self.set(prefix, route, NO_INDEX, now);
        for protocol in &mut self.protocols {
            protocol.routing.originate(prefix, 1, now);
            protocol.routing.assigned(prefix, index, now);
        }
    }

    /// The owner's way is of no use: that of a protocol is used, if one has any. Where it led.
    fn withdraw(&mut self, prefix: IpCidr, now: Instant) -> Option<Route> {
        if self.chosen.contains(&prefix) {
            return None;
        }
        let before = self.unset(prefix, now)?;
        for protocol in &mut self.protocols {
            protocol.routing.withdraw(prefix, now);
            protocol.routing.assigned(prefix, NO_INDEX, now);
        }
        self.choose(prefix, now);
        Some(before)
    }

    /// Takes a route into all tables. Its threaded index.
    pub(super) fn set(&mut self, prefix: IpCidr, route: Route, next_index: u32, now: Instant) -> u32 {
        // An index of the next hop alone changes no way.
        if self.routes.insert(prefix, route) != Some(route) {
            self.changed();
        }
        self.threads.as_mut().map_or(NO_INDEX, |threads| threads.insert(prefix, route, next_index, now))
    }

    pub(super) fn unset(&mut self, prefix: IpCidr, now: Instant) -> Option<Route> {
        let before = self.routes.remove(prefix)?;
        self.changed();
        if let Some(threads) = &mut self.threads {
            threads.remove(prefix, now);
        }
        Some(before)
    }

    /// All routes, in no order.
    pub fn routes(&self) -> impl Iterator<Item = (IpCidr, Route)> {
        self.routes.iter()
    }

    /// How many routes there are.
    pub fn route_count(&self) -> usize {
        self.routes.len()
    }

    /// The route that a packet to this address takes.
    pub fn route_to(&mut self, destination: IpAddr) -> Option<Route> {
        self.routes.find(destination).map(|hop| hop.route)
    }

    /// A route is another: what was found by the old ones holds no longer.
    pub(super) fn changed(&mut self) {
        self.ports.iter_mut().for_each(|port| port.cache.invalidate());
    }
}
