//! Why there is no such router, or no such route.

use std::net::IpAddr;

use throughline_demux::ConfigError;
use throughline_stack::{ComposeError, smoltcp::wire::IpCidr};

use crate::PortId;

/// Why there is no such router.
#[derive(Debug, thiserror::Error)]
pub enum RouterError {
    /// A cache without places, or with too many.
    #[error("flow cache: {0}")]
    Cache(#[from] ConfigError),
    /// The router can't be a host on one of its networks.
    #[error("a port: {0}")]
    Port(#[from] ComposeError),
}

/// Why there is no such route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// There are fewer ports.
    #[error("there is no port {}", .0.0)]
    NoPort(PortId),
    /// The next router is not on the network of the port.
    #[error("the next router, {0}, is on no network of the port")]
    NotNear(IpAddr),
    /// Packets to this address are for no group, or for one that stays on its link.
    #[error("{0} is no group that routers send on")]
    NoGroup(IpAddr),
    /// There are as many groups as may be.
    #[error("more than 1,023 groups")]
    TooManyGroups,
    /// The router itself has this address.
    #[error("{0} is the router itself")]
    Ours(IpCidr),
}
