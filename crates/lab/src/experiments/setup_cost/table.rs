//! A router with as many routes as wanted, and destinations behind them.

use std::net::Ipv4Addr;

use throughline_forward::{
    FlowCacheConfig, FlowIndex, PortId, PortLabels, Route, Router, RouterConfig, RouterPort,
};
use throughline_stack::Host;
use throughline_stack::smoltcp::time::Instant;
use throughline_stack::smoltcp::wire::{EthernetAddress, IpCidr, Ipv4Cidr};

use crate::LabError;
use crate::experiments::paths::failed;
use crate::random::Random;

/// The router's ports: towards the source, and towards the destinations.
pub(super) const INNER: PortId = PortId(0);
pub(super) const OUTER: PortId = PortId(1);
/// The source.
pub(super) const SOURCE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// The next router of all routes.
pub(super) const NEXT: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 2);

/// Lengths of prefixes, about as frequent as among those of the Internet.
const LENGTHS: [u8; 10] = [24, 24, 24, 24, 24, 24, 23, 22, 20, 16];

/// Who is where: station 1 is the router, 2 the neighbour.
pub(super) fn host(port: PortId, station: u8) -> Host {
    let address = Ipv4Addr::new(10, 0, port.0 as u8, station);
    Host::new(EthernetAddress([2, 0, 0, 0, port.0 as u8, station]), IpCidr::Ipv4(Ipv4Cidr::new(address, 24)))
}

/// A router of two ports with so many routes, all to the same next router.
///
/// # Errors
/// None that the parameters could cause.
pub(crate) fn router(routes: usize, index: FlowIndex) -> Result<Router, LabError> {
    let config = RouterConfig { index, cache: FlowCacheConfig::default(), threaded: false };
    with_routes(routes, config)
}

/// The same, with threaded indices of the routes of an area, one in 28 or so: a router has place for 65,535.
///
/// # Errors
/// As [`router`].
pub(super) fn indexed_router(routes: usize, index: FlowIndex) -> Result<Router, LabError> {
    let config = RouterConfig { index, cache: FlowCacheConfig::default(), threaded: true };
    with_routes(routes, config)
}

/// What lies in the area of [`indexed_router`].
const AREA: Ipv4Cidr = Ipv4Cidr::new(Ipv4Addr::new(64, 0, 0, 0), 5);

fn with_routes(routes: usize, config: RouterConfig) -> Result<Router, LabError> {
    let ports = [INNER, OUTER].map(|port| RouterPort { host: host(port, 1), labels: PortLabels::KNOWN });
    let mut router = Router::new(ports.into(), config).map_err(failed)?;
    router.set_area(vec![IpCidr::Ipv4(AREA)], Instant::ZERO);
    let route = Route::Out { port: OUTER, via: Some(NEXT.into()) };
    for prefix in prefixes().take(routes) {
        router.add_route(IpCidr::Ipv4(prefix), route).map_err(failed)?;
    }
    Ok(router)
}

/// Prefixes, the same at each call, some of them twice.
pub(super) fn prefixes() -> impl Iterator<Item = Ipv4Cidr> {
    let mut random = Random::new(1);
    (0..).map(move |n: usize| {
        let length = LENGTHS[n % LENGTHS.len()];
        let address = loop {
            let address = Ipv4Addr::from_bits(random.next() as u32);
            if !matches!(address.octets()[0], 0 | 10 | 127 | 224..) {
                break address;
            }
        };
        let mask = u32::MAX << (32 - length);
        Ipv4Cidr::new(Ipv4Addr::from_bits(address.to_bits() & mask), length)
    })
}

/// Destinations without end, each behind another of so many routes, in an order that has nothing to do with their addresses.
pub(crate) fn destinations(routes: usize) -> impl Iterator<Item = Ipv4Addr> {
    let prefixes: Vec<Ipv4Cidr> = prefixes().take(routes).collect();
    let mut random = Random::new(2);
    (0..).map(move |n: usize| {
        let prefix = prefixes[n % prefixes.len()];
        let behind = random.next() as u32 & (u32::MAX >> prefix.prefix_len());
        Ipv4Addr::from_bits(prefix.address().to_bits() | behind)
    })
}
