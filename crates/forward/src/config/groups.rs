//! What the file says of multicast groups.

use std::{collections::HashSet, net::IpAddr};

use throughline_stack::smoltcp::time::Duration;
use toml::Spanned;

use super::{
    Fault, PortConfig,
    routes::keyed,
    tables::{GroupTable, MulticastTable},
};
use crate::{
    MulticastConfig, PortId,
    router::{MOST_GROUPS, MOST_PORTS, leaves_the_link},
};

/// The groups, each once.
pub(super) fn all(
    tables: &[Spanned<GroupTable>],
    ports: &[PortConfig],
) -> Result<Vec<(IpAddr, Vec<PortId>)>, Fault> {
    if let Some(table) = tables.get(MOST_GROUPS) {
        return Err((table.span(), format!("more than {MOST_GROUPS} groups")));
    }
    let mut addresses = HashSet::new();
    let checked = |table: &Spanned<GroupTable>| {
        let (address, ports) = group(table, ports)?;
        if !addresses.insert(address) {
            return Err((table.span(), format!("there is the group {address} already")));
        }
        Ok((address, ports))
    };
    tables.iter().map(checked).collect()
}

/// A group that is sent on, and its ports.
fn group(table: &Spanned<GroupTable>, ports: &[PortConfig]) -> Result<(IpAddr, Vec<PortId>), Fault> {
    let fault = |what: String| Err((table.span(), what));
    let GroupTable { address, ports: names } = table.get_ref();
    if !leaves_the_link(*address) {
        return fault(format!("{address} is no group that routers send on"));
    }
    let number = |name: &String| ports.iter().position(|port| port.link.name() == name);
    if let Some(name) = names.iter().find(|name| number(name).is_none()) {
        return fault(format!("there is no port `{name}`"));
    }
    let numbers: Vec<usize> = names.iter().filter_map(number).collect();
    if numbers.is_empty() || numbers.iter().any(|number| *number >= MOST_PORTS) {
        return fault(format!("no port, or one behind the first {MOST_PORTS}"));
    }
    Ok((*address, numbers.into_iter().map(|number| PortId(number as u16)).collect()))
}

/// How routers agree on the indices of groups, if there are some.
pub(super) fn agreement(
    table: Option<&Spanned<MulticastTable>>,
    groups: &[(IpAddr, Vec<PortId>)],
    threaded: bool,
) -> Result<Option<MulticastConfig>, Fault> {
    let usual = MulticastConfig::new(0);
    let Some(table) = table else { return Ok((threaded && !groups.is_empty()).then_some(usual)) };
    let fault = |what: &str| Err((table.span(), what.to_owned()));
    let MulticastTable { priority, period_s, key } = table.get_ref();
    if !threaded {
        return fault("indices of groups are threaded ones: set `threaded`");
    }
    if period_s.is_some_and(|seconds| !(0.001..=86_400.0).contains(&seconds)) {
        return fault("a period that is not between 0.001 and 86,400 seconds");
    }
    let authentication = match key.as_ref().map(|key| keyed(key, true)) {
        None => usual.authentication.clone(),
        Some(Ok(authentication)) => authentication,
        Some(Err(what)) => return fault(what),
    };
    Ok(Some(MulticastConfig {
        priority: priority.unwrap_or(usual.priority),
        period: period_s.map_or(usual.period, |seconds| Duration::from_micros((seconds * 1e6) as u64)),
        authentication,
        ..usual
    }))
}
