//! The tables of the file, as they are written.

use std::{collections::BTreeMap, net::IpAddr};

use serde::{Deserialize, de::Error as _};
use throughline_stack::smoltcp::wire::IpCidr;
use toml::Spanned;

use super::{Periods, ProtocolKind};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) role: Spanned<RoleName>,
    #[serde(default)]
    pub(super) flows: Flows,
    #[serde(default)]
    pub(super) bridge: Option<Spanned<BridgeTable>>,
    #[serde(default)]
    pub(super) port: Vec<Spanned<PortTable>>,
    #[serde(default)]
    pub(super) route: Vec<Spanned<RouteTable>>,
    #[serde(default)]
    pub(super) routing: Vec<Spanned<RoutingTable>>,
    #[serde(default)]
    pub(super) group: Vec<Spanned<GroupTable>>,
    #[serde(default)]
    pub(super) multicast: Option<Spanned<MulticastTable>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RoleName {
    Bridge,
    Router,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Flows {
    pub(super) index: Option<IndexName>,
    pub(super) places: Option<Spanned<usize>>,
    pub(super) lifetime_s: Option<Spanned<u64>>,
    pub(super) threaded: Option<Spanned<bool>>,
    #[serde(default)]
    pub(super) area: Vec<Spanned<Prefix>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum IndexName {
    Never,
    Carried,
    Computed,
    Either,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BridgeTable {
    pub(super) addresses: Option<Spanned<usize>>,
    pub(super) ageing_s: Option<Spanned<u64>>,
    pub(super) floods_per_second: Option<u32>,
    pub(super) flood_burst: Option<u32>,
    pub(super) spanning_tree: Option<Spanned<TreeTable>>,
    #[serde(default)]
    pub(super) indices: BTreeMap<Spanned<String>, u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TreeTable {
    pub(super) priority: Option<u16>,
    pub(super) max_age_s: Option<f64>,
    pub(super) hello_s: Option<f64>,
    pub(super) forward_delay_s: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PortTable {
    pub(super) interface: Option<String>,
    pub(super) tap: Option<String>,
    #[serde(default)]
    pub(super) addresses: Vec<Spanned<Prefix>>,
    #[serde(default)]
    pub(super) labels: bool,
    pub(super) new_labels: Option<Spanned<AssignmentName>>,
    pub(super) flow_labels: Option<Spanned<bool>>,
    #[serde(default)]
    pub(super) filters: bool,
    pub(super) path_cost: Option<Spanned<u32>>,
    pub(super) hosts_only: Option<Spanned<bool>>,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AssignmentName {
    Random,
    Precomputed,
    Assigned,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RouteTable {
    pub(super) to: Prefix,
    pub(super) via: Option<IpAddr>,
    pub(super) port: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoutingTable {
    pub(super) protocol: ProtocolKind,
    pub(super) ports: Option<Vec<String>>,
    pub(super) metric: Option<u8>,
    pub(super) password: Option<String>,
    pub(super) key: Option<KeyTable>,
    #[serde(default)]
    pub(super) periods: Periods,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupTable {
    pub(super) address: IpAddr,
    pub(super) ports: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MulticastTable {
    pub(super) priority: Option<u8>,
    pub(super) period_s: Option<f64>,
    pub(super) key: Option<KeyTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyTable {
    pub(super) id: u8,
    pub(super) algorithm: AlgorithmName,
    pub(super) secret: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AlgorithmName {
    Md5,
    HmacSha256,
}

/// An address with the length of a prefix.
#[derive(Clone, Copy)]
pub(super) struct Prefix(pub(super) IpCidr);

impl<'de> Deserialize<'de> for Prefix {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let wrong =
            || D::Error::custom(format!("`{text}` is no address with a prefix length, such as 10.0.1.0/24"));
        text.parse().map(Self).map_err(|()| wrong())
    }
}
