//! The file as a whole, and what it says of flows.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use throughline_stack::smoltcp::{time::Duration, wire::IpCidr};
use toml::Spanned;

use super::{
    Fault, ForwardConfig, PortConfig, Role, RouterSetup, bridge, groups, ports, routes,
    tables::{File, Flows, IndexName, PortTable, RoleName},
};
use crate::{FilterBankConfig, FlowCacheConfig, FlowIndex, RouterConfig, router::is_of_the_link};

/// The largest cache that may be asked for: more would not be memory but a mistake.
const MOST_PLACES: usize = 1 << 26;
/// The longest time, in seconds, likewise: three decades.
const MOST_SECONDS: u64 = 1_000_000_000;

impl File {
    pub(super) fn check(self) -> Result<ForwardConfig, Fault> {
        let role = self.role.span();
        if self.port.len() < 2 {
            return Err((role, format!("{} ports: there is nothing to forward between", self.port.len())));
        }
        if self.port.len() > usize::from(u16::MAX) {
            return Err((role, "more than 65,535 ports".to_owned()));
        }
        let routes = matches!(self.role.get_ref(), RoleName::Router);
        let ports = self.port.iter().map(|port| ports::check(port, routes)).collect::<Result<Vec<_>, _>>()?;
        let (mut names, mut addresses) = (HashSet::new(), HashSet::new());
        for (port, table) in ports.iter().zip(&self.port) {
            if !names.insert(port.link.name()) {
                return Err((table.span(), format!("`{}` is a port already", port.link.name())));
            }
            // Those of a link mean something there only.
            let known = |cidr: &&IpCidr| !is_of_the_link(cidr) && !addresses.insert(cidr.address());
            if let Some(known) = port.addresses.iter().find(known) {
                return Err((
                    table.span(),
                    format!("the router has the address {} already", known.address()),
                ));
            }
        }
        apart(&ports, &self.port)?;
        let cache = self.flows.cache()?;
        let role = match self.role.get_ref() {
            RoleName::Bridge => {
                if let Some(route) = self.route.first() {
                    return Err((route.span(), "a bridge has no routes".to_owned()));
                }
                if let Some(routing) = self.routing.first() {
                    return Err((routing.span(), "a bridge has no routing protocols".to_owned()));
                }
                if let Some(group) = self.group.first() {
                    return Err((group.span(), "a bridge sends groups to all ports".to_owned()));
                }
                if let Some(multicast) = &self.multicast {
                    return Err((multicast.span(), "a bridge sends groups to all ports".to_owned()));
                }
                if let Some(span) = self.flows.of_routes() {
                    return Err((span, "a bridge has no routes, and so no indices of them".to_owned()));
                }
                let table = self.bridge.as_ref().map(Spanned::get_ref);
                let spans = table.is_some_and(|table| table.spanning_tree.is_some());
                let of_tree = self.port.iter().find_map(|port| ports::of_tree(port.get_ref()));
                if let Some(span) = of_tree.filter(|_| !spans) {
                    return Err((
                        span,
                        "this one takes no part in a spanning tree: a bridge with `[bridge.spanning_tree]` does".to_owned(),
                    ));
                }
                Role::Bridge(bridge::check(table, &self.flows, cache, ports.len())?)
            }
            RoleName::Router => {
                if let Some(bridge) = &self.bridge {
                    return Err((bridge.span(), "this is a router; `role` says so".to_owned()));
                }
                let routes = routes::all(&self.route, &ports)?;
                let protocols = routes::protocols(&self.routing, &ports)?;
                let config =
                    RouterConfig { index: self.flows.index(), cache, threaded: self.flows.threaded() };
                let groups = groups::all(&self.group, &ports)?;
                let multicast = groups::agreement(self.multicast.as_ref(), &groups, self.flows.threaded())?;
                Role::Router(RouterSetup {
                    config,
                    routes,
                    protocols,
                    area: self.flows.area()?,
                    groups,
                    multicast,
                })
            }
        };
        let filters = FilterBankConfig { cache, index: self.flows.index() };
        Ok(ForwardConfig { ports, role, filters })
    }
}

/// Refuses a network that two ports are on: packets to it would leave by one of them only.
fn apart(ports: &[PortConfig], tables: &[Spanned<PortTable>]) -> Result<(), Fault> {
    let mut known = HashMap::new();
    for (port, table) in ports.iter().zip(tables) {
        for network in routes::networks(port) {
            let first = *known.entry(network).or_insert(port.link.name());
            if first != port.link.name() {
                return Err((table.span(), format!("{network} is the network of `{first}` already")));
            }
        }
    }
    Ok(())
}

impl Flows {
    /// Where it says something of indices of routes.
    fn of_routes(&self) -> Option<Range<usize>> {
        let threaded = self.threaded.as_ref().filter(|threaded| *threaded.get_ref());
        threaded.map(Spanned::span).or_else(|| self.area.first().map(Spanned::span))
    }

    pub(super) fn threaded(&self) -> bool {
        self.threaded.as_ref().is_some_and(|threaded| *threaded.get_ref())
    }

    fn area(&self) -> Result<Vec<IpCidr>, Fault> {
        match self.area.first() {
            Some(first) if !self.threaded() => {
                Err((first.span(), "an area is that of threaded indices: set `threaded`".to_owned()))
            }
            _ => Ok(self.area.iter().map(|prefix| prefix.get_ref().0).collect()),
        }
    }

    pub(super) fn index(&self) -> FlowIndex {
        match self.index {
            None => FlowIndex::default(),
            Some(IndexName::Never) => FlowIndex::Never,
            Some(IndexName::Carried) => FlowIndex::Carried,
            Some(IndexName::Computed) => FlowIndex::Computed,
            Some(IndexName::Either) => FlowIndex::Either,
        }
    }

    fn cache(&self) -> Result<FlowCacheConfig, Fault> {
        let default = FlowCacheConfig::default();
        let places = match &self.places {
            None => default.places,
            Some(places) if (1..=MOST_PLACES).contains(places.get_ref()) => *places.get_ref(),
            Some(places) => return Err((places.span(), format!("not between 1 and {MOST_PLACES}"))),
        };
        Ok(FlowCacheConfig { places, lifetime: seconds(self.lifetime_s.as_ref(), default.lifetime)? })
    }
}

/// So many seconds, or as long as usual.
pub(super) fn seconds(given: Option<&Spanned<u64>>, usual: Duration) -> Result<Duration, Fault> {
    match given {
        None => Ok(usual),
        Some(given) if *given.get_ref() <= MOST_SECONDS => Ok(Duration::from_secs(*given.get_ref())),
        Some(given) => Err((given.span(), format!("not between 0 and {MOST_SECONDS} seconds"))),
    }
}
