//! What lookups take on this machine: for packets of many flows in any order, and of one.

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use throughline_forward::threaded::{Prefix, Route, Table};
use throughline_forward::{FlowCache, FlowCacheConfig, FlowIndex};
use throughline_stack::smoltcp::time::{Duration as Time, Instant};

use super::table::{destinations, prefixes, router};
use crate::LabError;
use crate::timing::{Work, in_turns};

/// Flows whose packets come in any order.
const FLOWS: usize = 32_768;
/// As many places as there are routes in the Internet, and some.
const THREADED_PLACES: usize = 1 << 20;
/// For circuits.
const CIRCUIT_PLACES: usize = 65_536;
/// What routers cache for a flow: a port and a hardware address.
type Way = (u16, [u8; 6]);

/// One lookup, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// The longest prefix.
    pub(crate) long: f64,
    /// The source hash of a flow.
    pub(crate) source_hash: f64,
    /// The index of a flow.
    pub(crate) circuit: f64,
    /// The index of a destination among all routes.
    pub(crate) threaded: f64,
}

/// Times of lookups with so many routes: among many flows, and of one flow.
pub(super) fn measure(routes: usize, quick: bool) -> Result<[Times; 2], LabError> {
    let (rounds, batch) = if quick { (5, Duration::from_millis(2)) } else { (21, Duration::from_millis(10)) };
    let now = Instant::from_secs(1);
    let mut router = router(routes, FlowIndex::Never)?;
    let mut threaded = Table::<Ipv4Addr, THREADED_PLACES>::new(Time::ZERO);
    for prefix in prefixes().take(routes) {
        let prefix = Prefix::around(prefix.address(), prefix.prefix_len());
        prefix.map(|prefix| threaded.insert(prefix, onward(), now));
    }
    let mut circuits = Table::<Ipv4Addr, CIRCUIT_PLACES>::new(Time::ZERO);
    let mut cache = FlowCache::<u128, Way>::new(FlowCacheConfig::default())?;
    let mut flows = Vec::with_capacity(FLOWS);
    for (n, destination) in (0_u32..).zip(destinations(routes).take(FLOWS)) {
        // Odd, so that no two have the same place.
        let hash = n.wrapping_mul(0x9e37_79b9);
        cache.put(hash, destination.to_ipv6_mapped().to_bits(), (1, [2; 6]), now);
        let circuit =
            Prefix::around(destination, 32).map_or(0, |prefix| circuits.insert(prefix, onward(), now));
        let index = threaded.find(destination).map_or(0, |(.., index)| index);
        flows.push(Flow { destination, hash, circuit, index });
    }
    let mut times = Vec::new();
    for flows in [&flows[..], &flows[..1]] {
        let mut works: [Work<'_>; 4] = [
            each(flows, |flow| black_box(router.route_to(IpAddr::V4(flow.destination)).is_some())),
            each(flows, |flow| {
                cache.find(flow.hash, &flow.destination.to_ipv6_mapped().to_bits(), now).is_some()
            }),
            each(flows, |flow| circuits.follow(flow.circuit, flow.destination).is_some()),
            each(flows, |flow| threaded.follow(flow.index, flow.destination).is_some()),
        ];
        let measured = in_turns(&mut works, rounds, batch);
        let [long, source_hash, circuit, threaded] = [0, 1, 2, 3].map(|n| measured[n].median);
        times.push(Times { long, source_hash, circuit, threaded });
    }
    Ok([times[0], times[1]])
}

#[derive(Clone, Copy)]
struct Flow {
    destination: Ipv4Addr,
    hash: u32,
    circuit: u32,
    index: u32,
}

fn onward() -> Route<Ipv4Addr> {
    Route { port: 1, next_hop: None, next_index: 0, indexed: true }
}

/// A lookup for one flow after the other.
fn each<'a>(flows: &'a [Flow], mut found: impl FnMut(&Flow) -> bool + 'a) -> Work<'a> {
    let mut at = 0;
    Box::new(move |count| {
        for _ in 0..count {
            black_box(found(black_box(&flows[at])));
            at = if at + 1 < flows.len() { at + 1 } else { 0 };
        }
    })
}
