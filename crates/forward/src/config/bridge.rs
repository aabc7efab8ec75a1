//! What the file says of a bridge.

use std::collections::{BTreeMap, HashSet};

use throughline_stack::{
    Rate,
    smoltcp::{time::Duration, wire::EthernetAddress},
};
use toml::Spanned;

use super::{
    Fault,
    check::seconds,
    tables::{BridgeTable, Flows, TreeTable},
};
use crate::{
    BridgeConfig, BridgeSetup, FlowCacheConfig, FlowIndex, SpanningTreeConfig, spanning_tree::MOST_PORTS,
};

/// What a bridge is told.
pub(super) fn check(
    table: Option<&BridgeTable>,
    flows: &Flows,
    cache: FlowCacheConfig,
    ports: usize,
) -> Result<BridgeSetup, Fault> {
    let default = BridgeConfig::default();
    let index = matches!(flows.index(), FlowIndex::Carried | FlowIndex::Either);
    let Some(table) = table else {
        return Ok(BridgeSetup { config: BridgeConfig { index, cache, ..default }, spanning_tree: None });
    };
    let config = BridgeConfig {
        addresses: addresses(table.addresses.as_ref(), default.addresses)?,
        ageing: seconds(table.ageing_s.as_ref(), default.ageing)?,
        flood: Rate {
            per_second: table.floods_per_second.unwrap_or(default.flood.per_second),
            burst: table.flood_burst.unwrap_or(default.flood.burst),
        },
        index,
        cache,
        indices: stations(&table.indices)?,
    };
    let tree = |table| tree(table, ports);
    Ok(BridgeSetup { config, spanning_tree: table.spanning_tree.as_ref().map(tree).transpose()? })
}

/// The most addresses that a bridge may be told to remember, in about a gigabyte: who makes up senders can fill as much.
const MOST_ADDRESSES: usize = 1 << 24;

/// So many addresses, or as many as usual.
fn addresses(given: Option<&Spanned<usize>>, usual: usize) -> Result<usize, Fault> {
    match given {
        None => Ok(usual),
        Some(given) if *given.get_ref() <= MOST_ADDRESSES => Ok(*given.get_ref()),
        Some(given) => Err((given.span(), format!("more than {MOST_ADDRESSES} addresses"))),
    }
}

/// Its part in the spanning tree, with so many ports.
fn tree(table: &Spanned<TreeTable>, ports: usize) -> Result<SpanningTreeConfig, Fault> {
    if ports > MOST_PORTS {
        return Err((
            table.span(),
            format!("{ports} ports: a bridge of a spanning tree has {MOST_PORTS} at most"),
        ));
    }
    let default = SpanningTreeConfig::default();
    let TreeTable { priority, max_age_s, hello_s, forward_delay_s } = table.get_ref();
    let time = |seconds: &Option<f64>, default| {
        seconds.map_or(default, |seconds| Duration::from_micros((seconds * 1e6) as u64))
    };
    let tree = SpanningTreeConfig {
        priority: priority.unwrap_or(default.priority),
        max_age: time(max_age_s, default.max_age),
        hello: time(hello_s, default.hello),
        forward_delay: time(forward_delay_s, default.forward_delay),
    };
    if tree.are_times_possible() {
        return Ok(tree);
    }
    let what = "times that would not do: `max_age_s` is 6 to 40, `hello_s` 1 to 10, `forward_delay_s` 2 to 30; \
                and max_age_s is at least 2 * (hello_s + 1), and at most 2 * (forward_delay_s - 1)";
    Err((table.span(), what.to_owned()))
}

/// The indices of stations, each once: an address can be written in several ways.
fn stations(given: &BTreeMap<Spanned<String>, u16>) -> Result<Vec<(EthernetAddress, u16)>, Fault> {
    let mut given: Vec<_> = given.iter().collect();
    given.sort_by_key(|(address, _)| address.span().start);
    let mut addresses = HashSet::new();
    let checked = |given: (&Spanned<String>, &u16)| {
        let (address, index) = station(given)?;
        if !addresses.insert(address.0) {
            return Err((given.0.span(), format!("the station {} has an index already", given.0.get_ref())));
        }
        Ok((address, index))
    };
    given.into_iter().map(checked).collect()
}

/// The index of a station by its address.
fn station((address, index): (&Spanned<String>, &u16)) -> Result<(EthernetAddress, u16), Fault> {
    let text = address.get_ref();
    match text.parse::<EthernetAddress>() {
        Ok(parsed) if parsed.is_unicast() => Ok((parsed, *index)),
        _ => Err((address.span(), format!("`{text}` is no address of a station, such as 02:00:00:00:00:01"))),
    }
}
