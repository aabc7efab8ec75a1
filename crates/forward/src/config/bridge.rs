//! What the file says of a bridge.

use throughline_stack::{
    Rate,
    smoltcp::{time::Duration, wire::EthernetAddress},
};
use toml::Spanned;

use super::{
    Fault,
    tables::{BridgeTable, Flows},
};
use crate::{BridgeConfig, FlowCacheConfig, FlowIndex};

/// What a bridge is told.
pub(super) fn check(
    table: Option<&BridgeTable>,
    flows: &Flows,
    cache: FlowCacheConfig,
) -> Result<BridgeConfig, Fault> {
    let default = BridgeConfig::default();
    let index = matches!(flows.index(), FlowIndex::Carried | FlowIndex::Either);
    let Some(table) = table else { return Ok(BridgeConfig { index, cache, ..default }) };
    Ok(BridgeConfig {
        addresses: table.addresses.unwrap_or(default.addresses),
        ageing: table.ageing_s.map_or(default.ageing, Duration::from_secs),
        flood: Rate {
            per_second: table.floods_per_second.unwrap_or(default.flood.per_second),
            burst: table.flood_burst.unwrap_or(default.flood.burst),
        },
        index,
        cache,
        indices: table.indices.iter().map(station).collect::<Result<_, _>>()?,
    })
}

/// The index of a station by its address.
fn station((address, index): (&Spanned<String>, &u16)) -> Result<(EthernetAddress, u16), Fault> {
    let text = address.get_ref();
    match text.parse::<EthernetAddress>() {
        Ok(parsed) if parsed.is_unicast() => Ok((parsed, *index)),
        _ => Err((address.span(), format!("`{text}` is no address of a station, such as 02:00:00:00:00:01"))),
    }
}
