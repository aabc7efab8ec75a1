//! What a forwarder is told to do: a file in TOML.

use std::{
    collections::{BTreeMap, HashSet},
    net::IpAddr,
    ops::Range,
};

use serde::{Deserialize, de::Error as _};
use throughline_stack::{
    Rate,
    smoltcp::{
        time::Duration,
        wire::{EthernetAddress, IpCidr},
    },
};
use toml::Spanned;

use crate::{
    Assignment, BridgeConfig, FilterBankConfig, FlowCacheConfig, FlowIndex, PortId, PortLabels, Route,
    RouterConfig,
    routing::authentication::{Algorithm, Authentication, Key, Password},
};

/// What a forwarder is told.
///
/// ```
/// let config = throughline_forward::ForwardConfig::parse(r#"
///     role = "router"
///
///     [[port]]
///     interface = "eth1"
///     addresses = ["10.0.1.1/24", "fd00:1::1/64"]
///
///     [[port]]
///     interface = "eth2"
///     addresses = ["10.0.2.1/24"]
///
///     [[route]]
///     to = "0.0.0.0/0"
///     via = "10.0.2.254"
/// "#)?;
/// assert_eq!(config.ports.len(), 2);
/// # Ok::<(), throughline_forward::ConfigFault>(())
/// ```
#[derive(Clone, Debug)]
pub struct ForwardConfig {
    /// Its ports, in order.
    pub ports: Vec<PortConfig>,
    /// What it is.
    pub role: Role,
    /// The banks of filters of those ports that have some.
    pub filters: FilterBankConfig,
}

/// A port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortConfig {
    /// What frames come from and go to.
    pub link: Link,
    /// The router's addresses there.
    pub addresses: Vec<IpCidr>,
    /// Whether the neighbours there know labels, and who gets one.
    pub labels: PortLabels,
    /// Whether programs of this machine may have copies of the frames that come in, by filters.
    pub filters: bool,
}

/// What a port is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// A network interface that exists, by AF_PACKET.
    Interface(String),
    /// A TAP interface, created if there is none.
    Tap(String),
}

impl Link {
    /// The name of the interface.
    pub fn name(&self) -> &str {
        match self {
            Self::Interface(name) | Self::Tap(name) => name,
        }
    }
}

/// What a forwarder is.
#[derive(Clone, Debug)]
pub enum Role {
    /// A bridge.
    Bridge(BridgeConfig),
    /// A router.
    Router(RouterSetup),
}

/// What a router is told.
#[derive(Clone, Debug)]
pub struct RouterSetup {
    /// How it works.
    pub config: RouterConfig,
    /// Routes besides those to the networks of its ports.
    pub routes: Vec<(IpCidr, Route)>,
    /// What else it learns routes by.
    pub protocols: Vec<ProtocolConfig>,
}

/// A routing protocol.
#[derive(Clone, Debug)]
pub struct ProtocolConfig {
    /// Which.
    pub kind: ProtocolKind,
    /// The ports it runs on.
    pub ports: Vec<PortId>,
    /// What passing one of their links costs.
    pub metric: u8,
    /// How neighbours show that they are.
    pub authentication: Authentication,
    /// Other periods than the usual ones.
    pub periods: Periods,
}

/// Periods of routing protocols, in seconds. All routers of a network must have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Periods {
    /// From one update to the next (RIP), or from one hello (link states).
    pub update_s: Option<f64>,
    /// After that time without one a neighbour, or its routes, are gone.
    pub timeout_s: Option<f64>,
    /// For that long others are told that a route is gone (RIP).
    pub garbage_s: Option<f64>,
    /// The most and, a fifth of it, the least time from one triggered update to the next (RIP).
    pub triggered_s: Option<f64>,
}

/// Which routing protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProtocolKind {
    /// RIP version 2, for IPv4.
    Rip,
    /// RIPng, for IPv6.
    Ripng,
    /// Link states, for IPv4.
    LinkState,
    /// Link states, for IPv6.
    LinkState6,
}

impl ProtocolKind {
    /// Whether its routes are of IPv6.
    pub fn is_v6(self) -> bool {
        matches!(self, Self::Ripng | Self::LinkState6)
    }
}

/// What is wrong with a configuration, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct ConfigFault {
    /// The line, from 1 on.
    pub line: usize,
    /// The column in characters, from 1 on.
    pub column: usize,
    /// What is wrong.
    pub what: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    role: Spanned<RoleName>,
    #[serde(default)]
    flows: Flows,
    #[serde(default)]
    bridge: Option<Spanned<BridgeTable>>,
    #[serde(default)]
    port: Vec<Spanned<PortTable>>,
    #[serde(default)]
    route: Vec<Spanned<RouteTable>>,
    #[serde(default)]
    routing: Vec<Spanned<RoutingTable>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RoleName {
    Bridge,
    Router,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flows {
    index: Option<IndexName>,
    places: Option<Spanned<usize>>,
    lifetime_s: Option<u64>,
    #[serde(default)]
    threaded: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum IndexName {
    Never,
    Carried,
    Computed,
    Either,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BridgeTable {
    addresses: Option<usize>,
    ageing_s: Option<u64>,
    floods_per_second: Option<u32>,
    flood_burst: Option<u32>,
    #[serde(default)]
    indices: BTreeMap<Spanned<String>, u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PortTable {
    interface: Option<String>,
    tap: Option<String>,
    #[serde(default)]
    addresses: Vec<Spanned<Prefix>>,
    #[serde(default)]
    labels: bool,
    new_labels: Option<Spanned<AssignmentName>>,
    flow_labels: Option<Spanned<bool>>,
    #[serde(default)]
    filters: bool,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AssignmentName {
    Random,
    Precomputed,
    Assigned,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RouteTable {
    to: Prefix,
    via: Option<IpAddr>,
    port: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoutingTable {
    protocol: ProtocolKind,
    ports: Option<Vec<String>>,
    metric: Option<u8>,
    password: Option<String>,
    key: Option<KeyTable>,
    #[serde(default)]
    periods: Periods,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyTable {
    id: u8,
    algorithm: AlgorithmName,
    secret: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum AlgorithmName {
    Md5,
    HmacSha256,
}

/// An address with the length of a prefix.
#[derive(Clone, Copy)]
struct Prefix(IpCidr);

impl<'de> Deserialize<'de> for Prefix {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let wrong =
            || D::Error::custom(format!("`{text}` is no address with a prefix length, such as 10.0.1.0/24"));
        text.parse().map(Self).map_err(|()| wrong())
    }
}

/// The largest cache that may be asked for: more would not be memory but a mistake.
const MOST_PLACES: usize = 1 << 26;

impl ForwardConfig {
    /// Reads a configuration.
    ///
    /// # Errors
    /// [`ConfigFault`], the first there is.
    pub fn parse(text: &str) -> Result<Self, ConfigFault> {
        let at = |range: Range<usize>, what: String| {
            let before = &text[..range.start.min(text.len())];
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            ConfigFault {
                line: before.matches('\n').count() + 1,
                column: before[line_start..].chars().count() + 1,
                what,
            }
        };
        let file: File = toml::from_str(text)
            .map_err(|error| at(error.span().unwrap_or(0..0), error.message().to_owned()))?;
        file.check().map_err(|(range, what)| at(range, what))
    }
}

/// What is wrong, and at which bytes.
type Fault = (Range<usize>, String);

impl File {
    fn check(self) -> Result<ForwardConfig, Fault> {
        let role = self.role.span();
        if self.port.len() < 2 {
            return Err((role, format!("{} ports: there is nothing to forward between", self.port.len())));
        }
        if self.port.len() > usize::from(u16::MAX) {
            return Err((role, "more than 65,535 ports".to_owned()));
        }
        let routes = matches!(self.role.get_ref(), RoleName::Router);
        let ports = self.port.iter().map(|port| check_port(port, routes)).collect::<Result<Vec<_>, _>>()?;
        let mut names = HashSet::new();
        for (port, table) in ports.iter().zip(&self.port) {
            if !names.insert(port.link.name()) {
                return Err((table.span(), format!("`{}` is a port already", port.link.name())));
            }
        }
        let cache = self.flows.cache()?;
        let role = match self.role.get_ref() {
            RoleName::Bridge => {
                if let Some(route) = self.route.first() {
                    return Err((route.span(), "a bridge has no routes".to_owned()));
                }
                if let Some(routing) = self.routing.first() {
                    return Err((routing.span(), "a bridge has no routing protocols".to_owned()));
                }
                Role::Bridge(bridge(self.bridge.as_ref().map(Spanned::get_ref), &self.flows, cache)?)
            }
            RoleName::Router => {
                if let Some(bridge) = &self.bridge {
                    return Err((bridge.span(), "this is a router; `role` says so".to_owned()));
                }
                let routes =
                    self.route.iter().map(|route| check_route(route, &ports)).collect::<Result<_, _>>()?;
                let protocol = |table| check_protocol(table, &ports);
                let protocols = self.routing.iter().map(protocol).collect::<Result<_, _>>()?;
                let config = RouterConfig { index: self.flows.index(), cache, threaded: self.flows.threaded };
                Role::Router(RouterSetup { config, routes, protocols })
            }
        };
        let filters = FilterBankConfig { cache, index: self.flows.index() };
        Ok(ForwardConfig { ports, role, filters })
    }
}

impl Flows {
    fn index(&self) -> FlowIndex {
        match self.index {
            None => FlowIndex::default(),
            Some(IndexName::Never) => FlowIndex::Never,
            Some(IndexName::Carried) => FlowIndex::Carried,
            Some(IndexName::Computed) => FlowIndex::Computed,
            Some(IndexName::Either) => FlowIndex::Either,
        }
    }

    fn cache(&self) -> Result<FlowCacheConfig, Fault> {
        let default = FlowCacheConfig::default();
        let places = match &self.places {
            None => default.places,
            Some(places) if (1..=MOST_PLACES).contains(places.get_ref()) => *places.get_ref(),
            Some(places) => return Err((places.span(), format!("not between 1 and {MOST_PLACES}"))),
        };
        Ok(FlowCacheConfig {
            places,
            lifetime: self.lifetime_s.map_or(default.lifetime, Duration::from_secs),
        })
    }
}

fn bridge(table: Option<&BridgeTable>, flows: &Flows, cache: FlowCacheConfig) -> Result<BridgeConfig, Fault> {
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

/// What a port has to do with labels.
fn check_labels(table: &PortTable, routes: bool) -> Result<PortLabels, Fault> {
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

fn check_port(port: &Spanned<PortTable>, routes: bool) -> Result<PortConfig, Fault> {
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
        if !address.get_ref().0.address().is_unicast() {
            return Err((address.span(), "no address that a router can have".to_owned()));
        }
    }
    let addresses = table.addresses.iter().map(|address| address.get_ref().0).collect();
    Ok(PortConfig { link, addresses, labels: check_labels(table, routes)?, filters: table.filters })
}

fn check_route(route: &Spanned<RouteTable>, ports: &[PortConfig]) -> Result<(IpCidr, Route), Fault> {
    let fault = |what: String| Err((route.span(), what));
    let RouteTable { to: Prefix(to), via, port } = route.get_ref();
    let near = |port: &PortConfig| {
        via.is_none_or(|via| port.addresses.iter().any(|cidr| cidr.contains_addr(&via.into())))
    };
    if let Some(via) = via
        && via.is_ipv4() != matches!(to, IpCidr::Ipv4(_))
    {
        return fault(format!("{to} and {via} are of different versions of IP"));
    }
    let found = match (port, via) {
        (Some(name), _) => ports.iter().position(|port| port.link.name() == name),
        (None, Some(_)) => ports.iter().position(near),
        (None, None) => return fault("a route leads `via` a router or out of a `port`".to_owned()),
    };
    match (found, port, via) {
        (Some(index), ..) if near(&ports[index]) => {
            Ok((*to, Route::Out { port: PortId(index as u16), via: *via }))
        }
        (None, Some(name), _) => fault(format!("there is no port `{name}`")),
        (_, _, Some(via)) => fault(format!("{via} is on no network of a port, or not of that one")),
        _ => fault("there is no such port".to_owned()),
    }
}

fn check_protocol(table: &Spanned<RoutingTable>, ports: &[PortConfig]) -> Result<ProtocolConfig, Fault> {
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
        (None, Some(KeyTable { id, algorithm, secret })) if *protocol != ProtocolKind::Ripng => {
            let algorithm = match algorithm {
                AlgorithmName::Md5 => Algorithm::KeyedMd5,
                AlgorithmName::HmacSha256 => Algorithm::HmacSha256,
            };
            Authentication::Keyed(vec![Key { id: *id, algorithm, secret: secret.clone().into_bytes() }])
        }
        _ => return fault("either a `password` of up to 16 bytes (RIP) or a `key` (not RIPng)".to_owned()),
    };
    let Periods { update_s, timeout_s, garbage_s, triggered_s } = *periods;
    let all = [update_s, timeout_s, garbage_s, triggered_s];
    // A millisecond to a day.
    if all.into_iter().flatten().any(|seconds| !(0.001..=86_400.0).contains(&seconds)) {
        return fault("a period that is not between 0.001 and 86,400 seconds".to_owned());
    }
    let ports = on.into_iter().map(|n| PortId(n as u16)).collect();
    Ok(ProtocolConfig { kind: *protocol, ports, metric, authentication, periods: *periods })
}
