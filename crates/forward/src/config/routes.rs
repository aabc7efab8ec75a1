//! What the file says of routes, and of the protocols that they are learned by.

use std::{collections::HashSet, net::Ipv6Addr};

use throughline_stack::smoltcp::wire::{IpCidr, Ipv4Cidr, Ipv6Cidr};
use toml::Spanned;

use super::{
    Fault, Periods, PortConfig, ProtocolConfig, ProtocolKind,
    tables::{AlgorithmName, KeyTable, Prefix, RouteTable, RoutingTable},
};
use crate::{
    PortId, Route,
    router::{is_of_the_link, is_ours},
    routing::{
        LinkStateTimers, Timers,
        authentication::{Algorithm, Authentication, Key, Password},
        rip::network,
    },
    threaded::source::whole,
};

/// The routes, each to another prefix than the others and the networks of the ports.
pub(super) fn all(
    tables: &[Spanned<RouteTable>],
    ports: &[PortConfig],
) -> Result<Vec<(IpCidr, Route)>, Fault> {
    let mut prefixes = HashSet::new();
    let checked = |table: &Spanned<RouteTable>| {
        let (to, route) = route(table, ports)?;
        let prefix = network(to);
        if !prefixes.insert(prefix) {
            return Err((table.span(), format!("there is a route to {prefix} already")));
        }
        let near = |port: &PortConfig| networks(port).any(|near| near == prefix);
        match ports.iter().position(near) {
            Some(at) if route != (Route::Out { port: PortId(at as u16), via: None }) => {
                Err((table.span(), format!("{prefix} is the network of `{}`", ports[at].link.name())))
            }
            _ => Ok((to, route)),
        }
    };
    tables.iter().map(checked).collect()
}

/// The networks of a port to which there are routes by that alone.
pub(super) fn networks(port: &PortConfig) -> impl Iterator<Item = IpCidr> {
    port.addresses.iter().filter(|cidr| !is_of_the_link(cidr)).map(|cidr| network(*cidr))
}

/// Whether packets to all of a prefix go no further than their link, or are refused: those to this network, to whoever sends, to
/// neighbours, to groups and to all (RFC 1812, 5.3.7; RFC 4291, 2.4 and 2.5).
fn is_never_routed(to: &IpCidr) -> bool {
    match to {
        IpCidr::Ipv4(to) => {
            let all = [
                ([0; 4], 8),
                ([127, 0, 0, 0], 8),
                ([169, 254, 0, 0], 16),
                ([224, 0, 0, 0], 4),
                ([255; 4], 32),
            ];
            all.iter().any(|(address, length)| Ipv4Cidr::new((*address).into(), *length).contains_subnet(to))
        }
        IpCidr::Ipv6(to) => {
            let all = [(0, 128), (1, 128), (0xffff << 32, 96), (0xfe80 << 112, 10), (0xff << 120, 8)];
            let prefix = |(bits, length)| Ipv6Cidr::new(Ipv6Addr::from_bits(bits), length);
            all.into_iter().any(|all| prefix(all).contains_subnet(to))
        }
    }
}

/// A route.
fn route(route: &Spanned<RouteTable>, ports: &[PortConfig]) -> Result<(IpCidr, Route), Fault> {
    let fault = |what: String| Err((route.span(), what));
    let RouteTable { to: Prefix(to), via, port } = route.get_ref();
    let speaks = |port: &PortConfig| {
        port.addresses.iter().any(|cidr| matches!(cidr, IpCidr::Ipv4(_)) == matches!(to, IpCidr::Ipv4(_)))
    };
    // Who speaks IPv6 has an address on the link, whatever others are in the file.
    let on_link = via.is_some_and(|via| is_of_the_link(&whole(via.into())));
    let near = |port: &PortConfig| match via {
        Some(_) if on_link => speaks(port),
        Some(via) => port.addresses.iter().any(|cidr| cidr.contains_addr(&(*via).into())),
        None => true,
    };
    if is_never_routed(to) {
        return fault(format!("nothing is routed to {to}"));
    }
    if let Some(via) = via
        && via.is_ipv4() != matches!(to, IpCidr::Ipv4(_))
    {
        return fault(format!("{to} and {via} are of different versions of IP"));
    }
    let found = match (port, via) {
        (None, Some(via)) if on_link && ports.iter().filter(|port| near(port)).count() > 1 => {
            return fault(format!("{via} may be on several links: on that of which `port`?"));
        }
        (Some(name), _) => ports.iter().position(|port| port.link.name() == name),
        (None, Some(_)) => ports.iter().position(near),
        (None, None) => return fault("a route leads `via` a router or out of a `port`".to_owned()),
    };
    let ours = |prefix: &IpCidr| ports.iter().any(|port| is_ours(prefix, &port.addresses));
    // On another link it may be somebody else's.
    let next = via.map(|via| whole(via.into())).filter(|next| {
        !is_of_the_link(next) || found.is_some_and(|index| is_ours(next, &ports[index].addresses))
    });
    if let Some(prefix) = next.iter().chain([to]).find(|prefix| ours(prefix)) {
        return fault(format!("{} is the router itself, or all on one of its networks", prefix.address()));
    }
    match (found, port, via) {
        (Some(index), Some(name), _) if !speaks(&ports[index]) => {
            fault(format!("`{name}` has no address of that version of IP"))
        }
        (Some(index), ..) if near(&ports[index]) => {
            Ok((*to, Route::Out { port: PortId(index as u16), via: *via }))
        }
        (None, Some(name), _) => fault(format!("there is no port `{name}`")),
        (_, _, Some(via)) => fault(format!("{via} is on no network of a port, or not of that one")),
        _ => fault("there is no such port".to_owned()),
    }
}

/// The routing protocols, none of which runs twice on a port: what is heard there would be for one of them only.
pub(super) fn protocols(
    tables: &[Spanned<RoutingTable>],
    ports: &[PortConfig],
) -> Result<Vec<ProtocolConfig>, Fault> {
    let mut running = HashSet::new();
    let checked = |table: &Spanned<RoutingTable>| {
        let checked = protocol(table, ports)?;
        let twice = checked.ports.iter().find(|port| !running.insert((checked.kind, **port)));
        match twice.map(|port| ports[port.index()].link.name()) {
            Some(name) => Err((table.span(), format!("that protocol runs on `{name}` already"))),
            None => Ok(checked),
        }
    };
    tables.iter().map(checked).collect()
}

/// A routing protocol.
fn protocol(table: &Spanned<RoutingTable>, ports: &[PortConfig]) -> Result<ProtocolConfig, Fault> {
    let fault = |what: String| Err((table.span(), what));
    let RoutingTable { protocol, ports: names, metric, password, key, periods } = table.get_ref();
    let number = |name: &String| ports.iter().position(|port| port.link.name() == name);
    let speaks = |port: &PortConfig| {
        port.addresses.iter().any(|cidr| matches!(cidr, IpCidr::Ipv6(_)) == protocol.is_v6())
    };
    let on = match names {
        None => (0..ports.len()).filter(|n| speaks(&ports[*n])).collect(),
        Some(names) => {
            if let Some(name) = names.iter().find(|name| number(name).is_none()) {
                return fault(format!("there is no port `{name}`"));
            }
            let mut seen = HashSet::new();
            if let Some(name) = names.iter().find(|name| !seen.insert(*name)) {
                return fault(format!("`{name}` is named twice"));
            }
            names.iter().filter_map(number).collect::<Vec<_>>()
        }
    };
    if let Some(port) = on.iter().find(|n| !speaks(&ports[**n])) {
        return fault(format!("`{}` has no address of that version of IP", ports[*port].link.name()));
    }
    let metric = metric.unwrap_or(1);
    if on.is_empty() || !(1..=15).contains(&metric) {
        return fault("no port that it can run on, or a metric that is not between 1 and 15".to_owned());
    }
    let authentication = match (password, key) {
        (None, None) => Authentication::None,
        (Some(password), None) if *protocol == ProtocolKind::Rip && password.len() <= 16 => {
            let mut padded = [0; 16];
            padded[..password.len()].copy_from_slice(password.as_bytes());
            Authentication::Password(Password(padded))
        }
        (None, Some(key)) if *protocol != ProtocolKind::Ripng => {
            keyed(key, *protocol != ProtocolKind::Rip).map_err(|what| (table.span(), what.to_owned()))?
        }
        _ => return fault("either a `password` of up to 16 bytes (RIP) or a `key` (not RIPng)".to_owned()),
    };
    let Periods { update_s, timeout_s, garbage_s, triggered_s } = *periods;
    if !matches!(protocol, ProtocolKind::Rip | ProtocolKind::Ripng) && garbage_s.or(triggered_s).is_some() {
        return fault("only RIP has the periods `garbage_s` and `triggered_s`".to_owned());
    }
    let all = [update_s, timeout_s, garbage_s, triggered_s];
    // A millisecond to a day.
    if all.into_iter().flatten().any(|seconds| !(0.001..=86_400.0).contains(&seconds)) {
        return fault("a period that is not between 0.001 and 86,400 seconds".to_owned());
    }
    let (usual_update, usual_timeout) = usual_s(*protocol);
    let (update, timeout) = (update_s.unwrap_or(usual_update), timeout_s.unwrap_or(usual_timeout));
    if timeout <= update {
        return fault(format!(
            "who is heard every {update} s is given up after {timeout} s, before he is heard again: `timeout_s` is to be longer than \
             `update_s`"
        ));
    }
    let ports = on.into_iter().map(|n| PortId(n as u16)).collect();
    Ok(ProtocolConfig { kind: *protocol, ports, metric, authentication, periods: *periods })
}

/// The usual `update_s` and `timeout_s`.
fn usual_s(protocol: ProtocolKind) -> (f64, f64) {
    let (update, timeout) = match protocol {
        ProtocolKind::Rip | ProtocolKind::Ripng => {
            let usual = Timers::default();
            (usual.update, usual.timeout)
        }
        ProtocolKind::LinkState | ProtocolKind::LinkState6 => {
            let usual = LinkStateTimers::default();
            (usual.hello, usual.dead)
        }
    };
    (update.secs() as f64, timeout.secs() as f64)
}

/// Authentication with a key, of RIP's messages or of our own, in which id 0 says that there is no key.
pub(super) fn keyed(
    KeyTable { id, algorithm, secret }: &KeyTable,
    ours: bool,
) -> Result<Authentication, &'static str> {
    if ours && *id == 0 {
        return Err("there is no key of id 0, but for RIP");
    }
    if secret.is_empty() {
        return Err("a `key` with an empty `secret`, which everybody has");
    }
    let algorithm = match algorithm {
        AlgorithmName::Md5 => Algorithm::KeyedMd5,
        AlgorithmName::HmacSha256 => Algorithm::HmacSha256,
    };
    Ok(Authentication::Keyed(vec![Key { id: *id, algorithm, secret: secret.clone().into_bytes() }]))
}
