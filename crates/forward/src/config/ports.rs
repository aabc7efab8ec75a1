//! What the file says of ports.

use std::ops::Range;

use throughline_stack::smoltcp::wire::IpCidr;
use toml::Spanned;

use super::{
    Fault, Link, PortConfig,
    tables::{AssignmentName, PortTable},
};
use crate::{Assignment, PortLabels};

/// Of a link of 1,000 Mb/s (IEEE 802.1D-1998, table 8-5).
const USUAL_COST: u32 = 4;

/// What a port has to do with labels.
fn labels(table: &PortTable, routes: bool) -> Result<PortLabels, Fault> {
    let new = match &table.new_labels {
        None => None,
        Some(name) => Some(match name.get_ref() {
            AssignmentName::Random => Assignment::Random,
            AssignmentName::Precomputed => Assignment::Precomputed,
            AssignmentName::Assigned if routes => {
                return Err((name.span(), "`assigned` labels are for bridges".to_owned()));
            }
            AssignmentName::Assigned => Assignment::Assigned,
        }),
    };
    let flow_labels = table.flow_labels.as_ref().is_some_and(|set| *set.get_ref());
    if let (true, false, Some(set)) = (flow_labels, routes, &table.flow_labels) {
        return Err((set.span(), "a bridge changes no packets".to_owned()));
    }
    Ok(PortLabels { known: table.labels, new, flow_labels })
}

/// Whether one host of a network can have this address, and others know it by that: not the first and the last of a network of
/// IPv4, which are those of all (RFC 1122, 3.2.1.3), and none that is on no wire.
fn is_of_a_host(cidr: &IpCidr) -> bool {
    match cidr {
        IpCidr::Ipv4(cidr) => {
            let address = cidr.address();
            let of_all = cidr.broadcast() == Some(address)
                || cidr.prefix_len() < 31 && cidr.network().address() == address;
            !(address.is_multicast() || address.is_broadcast() || address.is_loopback())
                && address.octets()[0] != 0
                && !of_all
        }
        IpCidr::Ipv6(cidr) => {
            let address = cidr.address();
            !(address.is_multicast() || address.is_unspecified() || address.is_loopback())
                && address.to_ipv4_mapped().is_none()
        }
    }
}

/// Where a port is told something of the spanning tree.
pub(super) fn of_tree(table: &PortTable) -> Option<Range<usize>> {
    let cost = table.path_cost.as_ref().map(Spanned::span);
    cost.or_else(|| table.hosts_only.as_ref().map(Spanned::span))
}

/// A port.
pub(super) fn check(port: &Spanned<PortTable>, routes: bool) -> Result<PortConfig, Fault> {
    let table = port.get_ref();
    let link = match (&table.interface, &table.tap) {
        (Some(name), None) => Link::Interface(name.clone()),
        (None, Some(name)) => Link::Tap(name.clone()),
        _ => return Err((port.span(), "a port is either an `interface` or a `tap`".to_owned())),
    };
    // The kernel's limit.
    if link.name().is_empty() || link.name().len() > 15 {
        return Err((port.span(), format!("`{}`: interfaces have names of 1 to 15 bytes", link.name())));
    }
    if let (false, Some(address)) = (routes, table.addresses.first()) {
        return Err((address.span(), "a bridge has no addresses".to_owned()));
    }
    if routes && table.addresses.is_empty() {
        return Err((port.span(), "a router has `addresses` at each port".to_owned()));
    }
    // As many as the protocol graph takes, with the one of the link.
    if let Some(address) = table.addresses.get(7) {
        return Err((address.span(), "more than 7 addresses at one port".to_owned()));
    }
    for address in &table.addresses {
        if !is_of_a_host(&address.get_ref().0) {
            return Err((address.span(), "no address that a router can have".to_owned()));
        }
    }
    if let (true, Some(span)) = (routes, of_tree(table)) {
        return Err((span, "routers take no part in the spanning tree".to_owned()));
    }
    if let Some(cost) = table.path_cost.as_ref().filter(|cost| *cost.get_ref() == 0) {
        return Err((cost.span(), "a link that costs nothing would be shorter than none".to_owned()));
    }
    let addresses = table.addresses.iter().map(|address| address.get_ref().0).collect();
    Ok(PortConfig {
        link,
        addresses,
        labels: labels(table, routes)?,
        filters: table.filters,
        path_cost: table.path_cost.as_ref().map_or(USUAL_COST, |cost| *cost.get_ref()),
        hosts_only: table.hosts_only.as_ref().is_some_and(|only| *only.get_ref()),
    })
}
