//! From a packet to its routing information: by threaded index, by source hash, by a hash that the node computes, and by the
//! longest prefix.

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use throughline_demux::{Carried, FlowId, KeyHash, Locator, Slot, SourceCache, XorFold};
use throughline_forward::threaded::{Address, Prefix, Route, Table};
use throughline_forward::{FlowCache, FlowCacheConfig, Router};
use throughline_stack::smoltcp::time::{Duration, Instant};

use super::{PACKETS, count};
use crate::LabError;
use crate::experiments::setup_cost::{destinations, router};

/// Entries of the caches, the paper's, and of the usual table of threaded indices.
pub(crate) const PLACES: usize = 65_536;
/// Of a table of threaded indices that has place for all routes of the Internet.
pub(crate) const LARGE: usize = 1 << 20;
/// Flows in the caches, each at a place of its own; as in the paper, half of the places stay empty.
const FLOWS: u32 = 32_768;
/// Places of tables so small that what does not depend on the size must cost the same.
const FEW: usize = 64;
/// Routes of the longest-prefix lookup: the paper's, and as many as the Internet has.
pub(crate) const ROUTES: [usize; 2] = [100, 1_000_000];

/// The word of a labelled frame, and the destination in an IPv4 or IPv6 packet behind a label without regions.
const WORD: usize = 18;
const DESTINATION_4: usize = 38 + 16;
const DESTINATION_6: usize = 38 + 24;

type Frame = [u8; 128];
/// What a header carries in the paper: a flow id of 12 bytes, and at a word boundary the source hash.
type Header = Carried<FlowId>;

/// Where a packet goes, which is what the lookups are for: port and hardware address in one word.
type Way = u64;

/// Counts all of them.
pub(super) fn play() -> Result<(), LabError> {
    caches()?;
    lifetimes()?;
    table::<Ipv4Addr, 4, FEW>("threaded-few", DESTINATION_4)?;
    table::<Ipv4Addr, 4, PLACES>("threaded", DESTINATION_4)?;
    table::<Ipv4Addr, 4, LARGE>("threaded-large", DESTINATION_4)?;
    table::<Ipv6Addr, 16, PLACES>("threaded-ipv6", DESTINATION_6)?;
    ROUTES.into_iter().try_for_each(longest_prefix)
}

/// The paper's: the place by the index, the flow id compared, the entry's number followed to the information.
struct Cache {
    keys: SourceCache<Header>,
    ways: Box<[Way]>,
}

impl Cache {
    fn new(places: usize) -> Result<Self, LabError> {
        Ok(Self { keys: SourceCache::with_places(places)?, ways: (0..places as u64).collect() })
    }

    #[inline(always)]
    fn find(&mut self, header: &Header) {
        let slot = self.keys.find(header);
        let way = slot.and_then(|slot| self.ways.get(slot.0 as usize));
        let Some(way) = way else { lost() };
        black_box(*way);
    }
}

fn caches() -> Result<(), LabError> {
    let mut few = Cache::new(FEW)?;
    let mut headers = headers(FEW as u32 / 2);
    (0..FEW as u32 / 2).try_for_each(|n| few.keys.insert(header(n), Slot(n)))?;
    in_registers("source-hash-few", &mut few, &mut headers, |cache, header| cache.find(header));

    let mut headers = self::headers(FLOWS);
    let mut carried = Cache::new(PLACES)?;
    (0..FLOWS).try_for_each(|n| carried.keys.insert(header(n), Slot(n)))?;
    in_turn("source-hash", &mut carried, &mut headers, |cache, header| cache.find(header));

    // Flows that XOR throws together displace one another: only those of the packets are put in, and the last ones stay.
    let mut computed = Cache::new(PLACES)?;
    for header in &headers {
        computed.keys.put(folded(header), Slot(header.index % FLOWS))?;
    }
    headers.retain(|header| computed.keys.find(&folded(header)).is_some());
    headers = headers.into_iter().cycle().take(PACKETS).collect();
    in_turn("xor", &mut computed, &mut headers, |cache, header| cache.find(&folded(header)));
    Ok(())
}

/// Packets of so many flows.
fn headers(flows: u32) -> Vec<Header> {
    (0..PACKETS as u32).map(|n| header(n * 31 % flows)).collect()
}

/// Counts with the tables' places and sizes in registers, as in a loop over a batch that calls nobody; and with those loaded for each
/// packet.
#[inline(always)]
fn in_turn<T, P>(label: &str, table: &mut T, packets: &mut [P], work: impl Fn(&mut T, &mut P) + Copy) {
    in_registers(label, table, packets, work);
    loaded(label, table, packets, work);
}

/// The table is nobody else's here, and the compiler knows that.
#[inline(never)]
fn in_registers<T, P>(label: &str, table: &mut T, packets: &mut [P], work: impl Fn(&mut T, &mut P)) {
    count(label, packets, |packet| work(table, packet));
}

/// The table may be anybody's: after each packet it may be another.
#[inline(never)]
fn loaded<T, P>(label: &str, table: &mut T, packets: &mut [P], work: impl Fn(&mut T, &mut P)) {
    let table = black_box(table);
    count(&super::loaded(label), packets, |packet| work(table, packet));
}

/// The cache that nodes have, whose answers hold for some time and until something changes.
fn lifetimes() -> Result<(), LabError> {
    let now = black_box(Instant::from_secs(1));
    let config = FlowCacheConfig { places: PLACES, ..FlowCacheConfig::default() };
    let mut packets: Vec<(u32, [u8; 12])> = (0..PACKETS as u32).map(|n| flow(n * 31 % FLOWS)).collect();
    let mut cache = FlowCache::<[u8; 12], Way>::new(config)?;
    for n in 0..FLOWS {
        let (hash, id) = flow(n);
        cache.put(hash, id, n.into(), now);
    }
    // Some flow may have found both of its places taken.
    packets.retain(|(hash, id)| cache.find(*hash, id, now).is_some());
    packets = packets.into_iter().cycle().take(PACKETS).collect();
    in_turn("flow-cache", &mut cache, &mut packets, |cache, (hash, id)| {
        let Some(way) = cache.find(*hash, id, now) else { lost() };
        black_box(way);
    });
    Ok(())
}

/// Index and destination are read from the frame, and the next hop's index is written in the former's place.
fn table<A, const N: usize, const SIZE: usize>(label: &str, destination: usize) -> Result<(), LabError>
where
    A: Address + From<[u8; N]>,
{
    let mut table = Table::<A, SIZE>::new(Duration::ZERO);
    let mut frames = Vec::with_capacity(PACKETS);
    for n in 0..PACKETS as u16 {
        let mut octets = [0; N];
        octets[0] = 10;
        octets[1..3].copy_from_slice(&(n % (SIZE / 2).min(PACKETS) as u16).to_be_bytes());
        let Some(prefix) = Prefix::around(A::from(octets), 24) else { lost() };
        let mut route = Route { port: n, next_hop: None, next_index: 0, indexed: true };
        // Its own index for the next one: a frame can be used again.
        route.next_index = table.insert(prefix, route, Instant::ZERO);
        table.insert(prefix, route, Instant::ZERO);
        let mut frame: Frame = [0; 128];
        frame[WORD..WORD + 4].copy_from_slice(&route.next_index.to_le_bytes());
        frame[destination..destination + N].copy_from_slice(&octets);
        frames.push(frame);
    }
    in_turn(label, &mut table, &mut frames, |table, frame| {
        let index = u32::from_le_bytes(octets(frame, WORD));
        let Some(step) = table.follow(index, A::from(octets(frame, destination))) else { lost() };
        frame[WORD..WORD + 4].copy_from_slice(&step.next_index().to_le_bytes());
        black_box(step);
    });
    Ok(())
}

#[inline(always)]
fn octets<const N: usize>(frame: &Frame, at: usize) -> [u8; N] {
    *frame[at..].first_chunk().unwrap_or_else(|| lost())
}

/// The long way, to destinations drawn evenly among the routes.
fn longest_prefix(routes: usize) -> Result<(), LabError> {
    let mut router: Router = router(routes, throughline_forward::FlowIndex::Never)?;
    let mut packets: Vec<IpAddr> = destinations(routes).take(PACKETS).map(IpAddr::V4).collect();
    count(&format!("longest-prefix {routes}"), &mut packets, |destination| {
        let Some(route) = router.route_to(*destination) else { lost() };
        black_box(route);
    });
    Ok(())
}

fn header(n: u32) -> Header {
    let (index, id) = flow(n);
    Carried { index, key: FlowId::new(id) }
}

/// The source hash and the id of a flow.
fn flow(n: u32) -> (u32, [u8; 12]) {
    let mut id = [0; 12];
    id[..4].copy_from_slice(&(0xc0a8_0001 + n).to_be_bytes());
    id[4..8].copy_from_slice(&0x0a00_0007_u32.to_be_bytes());
    // A number that the source has drawn; one that counts would cancel out with the address under XOR.
    id[8..].copy_from_slice(&n.wrapping_mul(0x85eb_ca6b).to_be_bytes());
    // Odd, so that no two flows have the same low bits.
    (n.wrapping_mul(0x9e37_79b9), id)
}

/// As a node would that is told no index.
#[inline(always)]
fn folded(header: &Header) -> Header {
    Carried { index: XorFold.hash(&header.key) as u32, key: header.key }
}

#[cold]
fn lost() -> ! {
    panic!("a packet's routing information is not found")
}
