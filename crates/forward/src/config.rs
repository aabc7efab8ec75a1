//! What a forwarder is told to do: a file in TOML.

mod bridge;
mod check;
mod groups;
mod ports;
mod routes;
mod tables;

use std::{net::IpAddr, ops::Range};

use serde::Deserialize;
use throughline_stack::smoltcp::wire::IpCidr;

use self::tables::File;
use crate::{
    BridgeConfig, FilterBankConfig, MulticastConfig, PortId, PortLabels, Route, RouterConfig,
    SpanningTreeConfig, routing::authentication::Authentication,
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
    /// What its link costs in the spanning tree.
    pub path_cost: u32,
    /// Whether no other bridges may be there.
    pub hosts_only: bool,
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
    Bridge(BridgeSetup),
    /// A router.
    Router(RouterSetup),
}

/// What a bridge is told.
#[derive(Clone, Debug)]
pub struct BridgeSetup {
    /// How it works.
    pub config: BridgeConfig,
    /// Whether it takes part in the spanning tree, and how.
    pub spanning_tree: Option<SpanningTreeConfig>,
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
    /// Prefixes whose routes have threaded indices; all, if there are none.
    pub area: Vec<IpCidr>,
    /// Groups that it sends on, and by which ports.
    pub groups: Vec<(IpAddr, Vec<PortId>)>,
    /// How it agrees with others on their indices; its id and its first sequence number are set when it starts.
    pub multicast: Option<MulticastConfig>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
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

/// What is wrong, and at which bytes.
type Fault = (Range<usize>, String);

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
