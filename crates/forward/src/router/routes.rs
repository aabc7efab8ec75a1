//! Where packets go: the longest prefix that their destination has.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use ip_network_table_deps_treebitmap::IpLookupTable;
use throughline_stack::smoltcp::wire::{IpCidr, Ipv4Cidr, Ipv6Cidr};

use crate::PortId;

/// Where packets go that have a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// To the router itself.
    Here,
    /// Out of a port: to the router at this address, or to the destination itself.
    Out {
        /// The port.
        port: PortId,
        /// The next router; without one the destination is on the port's network.
        via: Option<IpAddr>,
    },
}

/// The place of a [`Route`] among those that are different from one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HopId(u32);

/// What many prefixes share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop<T> {
    pub route: Route,
    /// What is known of it.
    pub known: T,
    prefixes: u32,
}

/// The routes, by prefix: a tree bitmap (Eatherton, Varghese and Dittia, 2004) for each version of IP.
pub(super) struct Routes<T> {
    v4: IpLookupTable<Ipv4Addr, HopId>,
    v6: IpLookupTable<Ipv6Addr, HopId>,
    hops: Vec<Hop<T>>,
    by_route: HashMap<Route, HopId>,
    unused: Vec<HopId>,
}

impl<T: Default> Routes<T> {
    pub fn new() -> Self {
        Self {
            v4: IpLookupTable::new(),
            v6: IpLookupTable::new(),
            hops: Vec::new(),
            by_route: HashMap::new(),
            unused: Vec::new(),
        }
    }

    /// Sets the route of a prefix, and returns the one before.
    pub fn insert(&mut self, prefix: IpCidr, route: Route) -> Option<Route> {
        let hop = self.hold(route);
        let before = match network(prefix) {
            IpCidr::Ipv4(prefix) => self.v4.insert(prefix.address(), prefix.prefix_len().into(), hop),
            IpCidr::Ipv6(prefix) => self.v6.insert(prefix.address(), prefix.prefix_len().into(), hop),
        };
        before.map(|hop| self.release(hop))
    }

    /// Takes the route of a prefix away.
    pub fn remove(&mut self, prefix: IpCidr) -> Option<Route> {
        let before = match network(prefix) {
            IpCidr::Ipv4(prefix) => self.v4.remove(prefix.address(), prefix.prefix_len().into()),
            IpCidr::Ipv6(prefix) => self.v6.remove(prefix.address(), prefix.prefix_len().into()),
        };
        before.map(|hop| self.release(hop))
    }

    /// The route of exactly this prefix.
    pub fn get(&self, prefix: IpCidr) -> Option<Route> {
        let hop = match network(prefix) {
            IpCidr::Ipv4(prefix) => self.v4.exact_match(prefix.address(), prefix.prefix_len().into()),
            IpCidr::Ipv6(prefix) => self.v6.exact_match(prefix.address(), prefix.prefix_len().into()),
        };
        hop.map(|hop| self.hops[hop.0 as usize].route)
    }

    /// The longest prefix that an address has.
    #[inline]
    pub fn find(&mut self, address: IpAddr) -> Option<&mut Hop<T>> {
        let hop = match address {
            IpAddr::V4(address) => self.v4.longest_match(address).map(|(.., hop)| *hop),
            IpAddr::V6(address) => self.v6.longest_match(address).map(|(.., hop)| *hop),
        };
        self.hops.get_mut(hop?.0 as usize)
    }

    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (IpCidr, Route)> {
        let v4 = self
            .v4
            .iter()
            .map(|(address, length, hop)| (IpCidr::Ipv4(Ipv4Cidr::new(address, length as u8)), hop));
        let v6 = self
            .v6
            .iter()
            .map(|(address, length, hop)| (IpCidr::Ipv6(Ipv6Cidr::new(address, length as u8)), hop));
        v4.chain(v6).map(|(prefix, hop)| (prefix, self.hops[hop.0 as usize].route))
    }

    fn hold(&mut self, route: Route) -> HopId {
        let (hops, unused) = (&mut self.hops, &mut self.unused);
        let id = *self.by_route.entry(route).or_insert_with(|| {
            let hop = Hop { route, known: T::default(), prefixes: 0 };
            match unused.pop() {
                Some(id) => {
                    hops[id.0 as usize] = hop;
                    id
                }
                None => {
                    hops.push(hop);
                    HopId(hops.len() as u32 - 1)
                }
            }
        });
        self.hops[id.0 as usize].prefixes += 1;
        id
    }

    fn release(&mut self, id: HopId) -> Route {
        let hop = &mut self.hops[id.0 as usize];
        hop.prefixes -= 1;
        if hop.prefixes == 0 {
            self.by_route.remove(&hop.route);
            self.unused.push(id);
        }
        hop.route
    }
}

/// A prefix without the bits behind it.
fn network(prefix: IpCidr) -> IpCidr {
    match prefix {
        IpCidr::Ipv4(prefix) => IpCidr::Ipv4(prefix.network()),
        IpCidr::Ipv6(prefix) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix.prefix_len())).unwrap_or(0);
            let address = Ipv6Addr::from_bits(prefix.address().to_bits() & mask);
            IpCidr::Ipv6(Ipv6Cidr::new(address, prefix.prefix_len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> IpCidr {
        text.parse().unwrap()
    }

    fn out(port: u16) -> Route {
        Route::Out { port: PortId(port), via: None }
    }

    #[test]
    fn the_longest_prefix_decides() {
        let mut routes = Routes::<()>::new();
        routes.insert(prefix("0.0.0.0/0"), out(0));
        routes.insert(prefix("10.0.0.0/8"), out(1));
        routes.insert(prefix("10.1.2.3/16"), out(2));
        routes.insert(prefix("fd00::1/64"), out(3));
        let mut found = |address: &str| routes.find(address.parse().unwrap()).map(|hop| hop.route);
        assert_eq!(found("11.0.0.1"), Some(out(0)));
        assert_eq!(found("10.2.0.1"), Some(out(1)));
        assert_eq!(found("10.1.255.1"), Some(out(2)));
        assert_eq!(found("fd00::77"), Some(out(3)));
        assert_eq!(found("fd01::77"), None);
        assert_eq!(routes.remove(prefix("10.1.0.0/16")), Some(out(2)));
        assert_eq!(routes.find("10.1.255.1".parse().unwrap()).map(|hop| hop.route), Some(out(1)));
        assert_eq!(routes.len(), 3);
    }

    #[test]
    fn routes_alike_share_a_hop_which_is_used_again() {
        let mut routes = Routes::<()>::new();
        for third in 0..=255 {
            routes.insert(prefix(&format!("10.0.{third}.0/24")), out(third % 2));
        }
        assert_eq!(routes.hops.len(), 2);
        for third in 0..=255 {
            assert_eq!(routes.insert(prefix(&format!("10.0.{third}.0/24")), out(2)), Some(out(third % 2)));
        }
        assert_eq!(routes.hops.len(), 3);
        routes.insert(prefix("11.0.0.0/24"), out(4));
        assert_eq!(routes.hops.len(), 3);
        assert_eq!(routes.get(prefix("11.0.0.0/24")), Some(out(4)));
        assert_eq!(routes.iter().count(), 257);
    }
}
