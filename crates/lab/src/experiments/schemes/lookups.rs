//! Table 1: what a lookup costs, the delay before the first packet, memory, and when it is set up.

use std::hint::black_box;
use std::net::Ipv4Addr;

use throughline_forward::threaded::{Prefix, Route, Table};
use throughline_forward::{FlowCache, FlowCacheConfig, FlowIndex};
use throughline_stack::smoltcp::time::{Duration, Instant};

use super::{Test, cell, measured, shown};
use crate::allocator::grown_by;
use crate::experiments::lookup_instructions::few_and_many;
use crate::experiments::setup_cost::{Outcome, Scheme, flows_of, router};
use crate::model::Hop;
use crate::{LabError, Row, Sink, callgrind};

/// Flows, destinations or routes whose memory is weighed.
const ENTRIES: usize = 32_768;
/// Half of them stay empty.
const PLACES: usize = 2 * ENTRIES;
/// What does not depend on the number of entries may differ by that much: masks that need an instruction more.
const CONSTANT: f64 = 1.25;
const MICROSECONDS: f64 = 1e3;

const FLOW_CACHE: &str = "crates/forward/src/flow_cache.rs";
const SPARED: Test = Test("crates/forward/tests/router.rs", "datagrams_and_answers_pass_between_networks");
const DISPLACED: Test = Test(FLOW_CACHE, "a_flood_of_flows_takes_no_memory");
const OWN_ENTRY: Test = Test("crates/forward/tests/threaded_table.rs", "an_index_leads_to_its_entry_only");
const TOPOLOGY: Test = Test(
    "crates/forward/tests/threaded_table.rs",
    "a_longer_prefix_within_closes_the_entry_while_it_is_there",
);
const AREAS: Test =
    Test("crates/forward/tests/areas.rs", "the_edge_puts_indices_on_what_stays_and_hashes_on_what_leaves");
const GROUPS: Test = Test(
    "crates/forward/tests/router_multicast.rs",
    "a_packet_to_a_group_goes_by_its_index_to_each_network_once",
);
const ROUTES: Test = Test("crates/forward/tests/router.rs", "routes_come_and_go");

pub(super) fn rows(sink: &mut dyn Sink) -> Result<Vec<Row>, LabError> {
    let mut rows = set_up()?;
    match callgrind::missing() {
        Some(missing) => sink.note(missing),
        None => rows.extend(costs()?),
    }
    match memory()? {
        Some(memory) => rows.extend(memory),
        None => sink.note("memory is not weighed: this program does not count its heap"),
    }
    rows.extend(when());
    Ok(rows)
}

/// Instructions of a lookup with many entries, beside those with few.
fn costs() -> Result<Vec<Row>, LabError> {
    let row = |(scheme, [few, many]): (&str, [f64; 2])| {
        let says = if scheme == "longest-prefix" { "grows with the depth of the tree" } else { "O(1)" };
        let row = cell(1, scheme, "lookup", says, "instructions", (many * 100.0).round() / 100.0);
        let row = row.with("with_few", (few * 100.0).round() / 100.0);
        measured(row, "instructions as of lookup-instructions, with few entries and with many")
    };
    let costs = few_and_many()?;
    let mut rows: Vec<Row> = costs.into_iter().map(row).collect();
    // A circuit is found as a threaded index is.
    if let Some((_, counts)) = costs.into_iter().find(|(scheme, _)| *scheme == "threaded") {
        rows.push(row(("virtual-circuit", counts)));
    }
    for (scheme, [few, many]) in costs {
        let growth = Row::new("schemes", "growth", "ratio", (many / few * 1000.0).round() / 1000.0)
            .claim("HDR-6")
            .with("scheme", scheme);
        rows.push(if scheme == "longest-prefix" { growth } else { growth.at_most(CONSTANT) });
    }
    Ok(rows)
}

/// Round trips that the first packet of a flow waits for, beside half of one and its lookup: from a flow of one packet
/// through a node of ours.
pub(super) fn set_up() -> Result<Vec<Row>, LabError> {
    let Hop { round_trip, long, short } = Hop::FIGURE_2;
    let row = |(scheme, outcome): (Scheme, Outcome)| {
        let lookups = f64::from(outcome.long) * long + f64::from(outcome.short) * short;
        let waited = outcome.total / MICROSECONDS - round_trip / 2.0 - lookups;
        let (line, says, expected) = match scheme {
            Scheme::Datagram => ("longest-prefix", "none", 0.0),
            Scheme::Circuit => ("virtual-circuit", "1 round trip", 1.0),
            Scheme::SourceHash => ("source-hash", "none", 0.0),
            Scheme::Threaded => ("threaded", "none, once the first router has told the index", 0.0),
        };
        let waited = (waited / round_trip * 1000.0).round() / 1000.0;
        // The packet that sets a circuit up and its answer are looked up too.
        let row = cell(1, line, "set-up delay", says, "round trips", waited).at_most(expected + 0.01);
        measured(row, "a flow of one packet as of setup-cost")
    };
    Ok(flows_of(1)?.into_iter().map(row).collect())
}

/// Bytes of a flow, a circuit, a destination, a route; nothing if the heap is not counted.
fn memory() -> Result<Option<Vec<Row>>, LabError> {
    let (cache, hashed) = grown_by(|| {
        let config = FlowCacheConfig { places: PLACES, ..FlowCacheConfig::default() };
        FlowCache::<u128, (u16, [u8; 6])>::new(config)
    });
    drop(black_box(cache?));
    let (table, indexed) = grown_by(|| {
        let mut table = Table::<Ipv4Addr, PLACES>::new(Duration::ZERO);
        let route = Route { port: 1, next_hop: None, next_index: 0, indexed: true };
        for n in 0..ENTRIES as u32 {
            let prefix = Prefix::around(Ipv4Addr::from_bits(0x0b00_0000 + (n << 8)), 24);
            prefix.map(|prefix| table.insert(prefix, route, Instant::ZERO));
        }
        table
    });
    drop(black_box(table));
    // What a router has without any, its caches above all, is not of its routes.
    let (none, empty) = grown_by(|| router(0, FlowIndex::Never));
    drop(black_box(none?));
    let (routed, routes) = grown_by(|| router(ENTRIES, FlowIndex::Never));
    drop(black_box(routed?));
    let (Some(hashed), Some(indexed), Some(empty), Some(routes)) = (hashed, indexed, empty, routes) else {
        return Ok(None);
    };
    let row = |line, says, bytes: isize| {
        let each = (bytes as f64 / ENTRIES as f64 * 10.0).round() / 10.0;
        let row = cell(1, line, "memory", says, "bytes each", each).with("entries", ENTRIES as u64);
        measured(row, "heap that so many entries take")
    };
    Ok(Some(vec![
        row("longest-prefix", "routes", routes - empty),
        row("virtual-circuit", "flows, in a table twice as large", indexed),
        row("source-hash", "flows, in a table twice as large", hashed),
        row("threaded", "destinations, in a table twice as large", indexed),
    ]))
}

pub(super) fn when() -> Vec<Row> {
    let row = |line, says, test| {
        let row = cell(1, line, "when set up", says, "shown", 1.0);
        shown(row, test)
    };
    vec![
        row("longest-prefix", "when the topology changes", ROUTES),
        measured(
            cell(1, "virtual-circuit", "when set up", "when data is sent", "shown", 1.0),
            "the index comes with the answer to the flow's first packet, as of setup-cost",
        ),
        row("threaded", "for each destination", OWN_ENTRY),
        row("source-hash", "when data is sent", SPARED),
        row("source-hash", "never more than the table", DISPLACED),
        row("threaded", "when the topology changes", TOPOLOGY),
        row("threaded", "in one area; between areas by source hash", AREAS),
        row("threaded", "for a group, by the designated router of a link", GROUPS),
    ]
}
