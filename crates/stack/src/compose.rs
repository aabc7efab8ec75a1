//! Protocols made as a description says.

use smoltcp::wire::IpVersion;

use crate::{
    Host, Lookup, LookupError, OpenError, Protocol, ProtocolId,
    description::{Description, DescriptionError, Node},
    path::MAX_LAYERS,
    protocols::{
        arp::Arp,
        eth::Eth,
        ethdaa::EthDaa,
        icmp::Icmp,
        icmp6::Icmp6,
        ipv4::Ipv4,
        ipv6::{self, Ipv6},
        rpc::Rpc,
        tcp::{Buffers, Tcp},
        udp::Udp,
    },
};

/// Bytes of each buffer of a TCP connection, unless told otherwise.
const DEFAULT_BUFFER: usize = 64 * 1024;

/// What frames may carry: what every host of IPv4 must be able to forward (RFC 791), and the longest packet.
const MTU: std::ops::RangeInclusive<usize> = 68..=65_535;

/// Why there is no such graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComposeError {
    /// The description makes no sense.
    #[error(transparent)]
    Description(#[from] DescriptionError),
    /// There is no such protocol.
    #[error(
        "unknown protocol `{0}`; there are arp, eth, ethdaa, icmp, icmp6, ipv4, ipv6, rpc, sealed, tcp and udp"
    )]
    Unknown(String),
    /// A protocol stands on others than it can.
    #[error("`{protocol}` stands on {expected}")]
    Below {
        /// The protocol.
        protocol: String,
        /// What it can stand on.
        expected: &'static str,
    },
    /// A protocol has no such option, or the option no such value.
    #[error("`{protocol}` has no option `{option}={value}`: {help}")]
    Option {
        /// The protocol.
        protocol: String,
        /// The option.
        option: String,
        /// Its value.
        value: String,
        /// What there is.
        help: String,
    },
    /// A lookup that can't serve.
    #[error("`{protocol}`: {source}")]
    Lookup {
        /// The protocol.
        protocol: String,
        /// Why not.
        source: LookupError,
    },
    /// Two protocols want the same messages.
    #[error("`{protocol}` can't begin: {source}")]
    Start {
        /// The protocol.
        protocol: String,
        /// Why not.
        source: OpenError,
    },
    /// More layers than a path has places for.
    #[error("a graph has at most {MAX_LAYERS} layers")]
    TooHigh,
    /// The architecture needs a lowest protocol whose header names the path.
    #[error("direct demultiplexing needs a lowest protocol that names paths: `ethdaa`")]
    NotDirect,
    /// Frames are too short for the headers, or longer than lengths can say.
    #[error("frames carry {0} bytes; they must carry from {least} to {most}", least = MTU.start(), most = MTU.end())]
    Mtu(usize),
    /// Frames are too short for IPv6.
    #[error("frames carry {0} bytes, fewer than IPv6 demands: {least}", least = ipv6::LEAST_MTU)]
    NarrowV6(usize),
    /// Frames of more than one protocol can't be told apart.
    #[error("at most one `eth` and one `ethdaa` stand at the bottom")]
    Bottom,
}

/// The protocols of a description, those below first.
pub(crate) fn protocols(
    description: &Description,
    host: &Host,
) -> Result<Vec<Box<dyn Protocol>>, ComposeError> {
    if !MTU.contains(&host.mtu) {
        return Err(ComposeError::Mtu(host.mtu));
    }
    let mut made: Vec<Box<dyn Protocol>> = Vec::new();
    let mut heights: Vec<usize> = Vec::new();
    for node in &description.nodes {
        let height = node.below.iter().map(|below| heights[*below] + 1).max().unwrap_or(1);
        if height > MAX_LAYERS || made.len() > usize::from(u8::MAX) {
            return Err(ComposeError::TooHigh);
        }
        let protocol = make(node, ProtocolId(made.len() as u8), &made, host)?;
        made.push(protocol);
        heights.push(height);
    }
    Ok(made)
}

fn make(
    node: &Node,
    own: ProtocolId,
    made: &[Box<dyn Protocol>],
    host: &Host,
) -> Result<Box<dyn Protocol>, ComposeError> {
    let below = |allowed: &[&str], most, expected: &'static str| below(node, made, allowed, most, expected);
    let lookup_error = |source| ComposeError::Lookup { protocol: node.name.clone(), source };
    Ok(match node.name.as_str() {
        "eth" => {
            below(&[], 0, "nothing")?;
            Box::new(Eth::new(host, lookup(node, &[])?).map_err(lookup_error)?)
        }
        "ethdaa" => {
            below(&[], 0, "nothing")?;
            Box::new(EthDaa::new(host, lookup(node, &[])?).map_err(lookup_error)?)
        }
        "arp" => {
            let below = below(&["eth"], 1, "eth")?;
            options(node, &[])?;
            Box::new(Arp::new(own, below[0].0, host.clone()))
        }
        "ipv4" => {
            let below = below(&["eth", "ethdaa"], 1, "one of eth and ethdaa")?;
            Box::new(Ipv4::new(own, below[0], host.clone(), lookup(node, &[])?).map_err(lookup_error)?)
        }
        "ipv6" => {
            let below = below(&["eth", "ethdaa"], 2, "one or both of eth and ethdaa")?;
            if below.iter().any(|(_, below)| below.room() < ipv6::LEAST_MTU) {
                return Err(ComposeError::NarrowV6(host.mtu));
            }
            Box::new(Ipv6::new(own, &below, host.clone(), lookup(node, &[])?).map_err(lookup_error)?)
        }
        "icmp6" => {
            let below = below(&["ipv6"], 1, "ipv6")?;
            options(node, &[])?;
            Box::new(Icmp6::new(own, below[0].0, host.clone()))
        }
        "icmp" => {
            let below = below(&["ipv4"], 1, "ipv4")?;
            options(node, &[])?;
            Box::new(Icmp::new(own, below[0].0))
        }
        "udp" => {
            let below = below(&["ipv4", "ipv6"], 2, "one or both of ipv4 and ipv6")?;
            let checksums = switch(node, "checksum")?;
            if !checksums && below.iter().any(|(_, below)| below.version() == Some(IpVersion::Ipv6)) {
                return Err(wrong(node, "checksum", "IPv6 demands check sums"));
            }
            Box::new(Udp::new(own, &below, checksums, lookup(node, &["checksum"])?).map_err(lookup_error)?)
        }
        "tcp" => {
            let below = below(&["ipv4", "ipv6"], 2, "one or both of ipv4 and ipv6")?;
            let lookup = lookup(node, &["receive", "send"])?;
            let buffers = Buffers {
                receive: number(node, "receive", DEFAULT_BUFFER)?,
                send: number(node, "send", DEFAULT_BUFFER)?,
            };
            Box::new(Tcp::new(own, &below, &host.addresses, buffers, lookup).map_err(lookup_error)?)
        }
        #[cfg(feature = "ciphers")]
        "sealed" => {
            let below = below(&["udp"], 1, "udp")?;
            let sealed = crate::protocols::sealed::Sealed::new(own, below[0], lookup(node, &[])?);
            Box::new(sealed.map_err(lookup_error)?)
        }
        "rpc" => {
            let below = below(&["ipv4", "ipv6"], 2, "one or both of ipv4 and ipv6")?;
            Box::new(Rpc::new(own, &below, lookup(node, &[])?).map_err(lookup_error)?)
        }
        other => return Err(ComposeError::Unknown(other.into())),
    })
}

type Below<'a> = Vec<(ProtocolId, &'a dyn Protocol)>;

/// The protocols below a node, if it can stand on them.
fn below<'a>(
    node: &Node,
    made: &'a [Box<dyn Protocol>],
    allowed: &[&str],
    most: usize,
    expected: &'static str,
) -> Result<Below<'a>, ComposeError> {
    let fits = node.below.iter().all(|below| allowed.contains(&made[*below].name()));
    let enough = allowed.is_empty() == node.below.is_empty() && node.below.len() <= most;
    if !fits || !enough {
        return Err(ComposeError::Below { protocol: node.name.clone(), expected });
    }
    Ok(node.below.iter().map(|below| (ProtocolId(*below as u8), &*made[*below])).collect())
}

fn wrong(node: &Node, option: &str, help: impl Into<String>) -> ComposeError {
    let value = node.options.get(option).cloned().unwrap_or_default();
    ComposeError::Option { protocol: node.name.clone(), option: option.into(), value, help: help.into() }
}

/// Refuses options that a protocol does not have.
fn options(node: &Node, known: &[&str]) -> Result<(), ComposeError> {
    let unknown = node.options.keys().find(|option| !known.contains(&option.as_str()));
    unknown.map_or(Ok(()), |option| Err(wrong(node, option, format!("it has [{}]", known.join(", ")))))
}

fn switch(node: &Node, option: &str) -> Result<bool, ComposeError> {
    match node.options.get(option).map(String::as_str) {
        None | Some("on") => Ok(true),
        Some("off") => Ok(false),
        Some(_) => Err(wrong(node, option, "on or off")),
    }
}

fn number(node: &Node, option: &str, otherwise: usize) -> Result<usize, ComposeError> {
    let Some(text) = node.options.get(option) else { return Ok(otherwise) };
    let number = text.parse::<usize>().ok().filter(|number| (1..1 << 24).contains(number));
    number.ok_or_else(|| wrong(node, option, "a number from 1 to 16777215"))
}

/// The lookup that a node's options choose; `others` are options with other meanings.
fn lookup(node: &Node, others: &[&str]) -> Result<Lookup, ComposeError> {
    let known: Vec<&str> = ["lookup", "chains", "hash", "limit"].iter().chain(others).copied().collect();
    options(node, &known)?;
    let mut lookup = Lookup::default();
    if let Some(strategy) = node.options.get("lookup") {
        lookup.strategy = strategy
            .parse()
            .map_err(|error: throughline_demux::UnknownStrategy| wrong(node, "lookup", error.to_string()))?;
    }
    if let Some(hash) = node.options.get("hash") {
        lookup.config.hash = hash
            .parse()
            .map_err(|error: throughline_demux::UnknownHash| wrong(node, "hash", error.to_string()))?;
    }
    lookup.config.chains = number(node, "chains", lookup.config.chains)?;
    lookup.config.limit = number(node, "limit", lookup.config.limit)?;
    Ok(lookup)
}

/// The lowest protocols: the one for frames that name paths, and the one for all others.
pub(crate) fn bottoms(
    protocols: &[Box<dyn Protocol>],
    description: &Description,
) -> Result<(Option<ProtocolId>, Option<ProtocolId>), ComposeError> {
    let (mut naming, mut plain) = (None, None);
    let lowest = description.nodes.iter().enumerate().filter(|(_, node)| node.below.is_empty());
    for (index, _) in lowest {
        let place = if protocols[index].identifies() { &mut naming } else { &mut plain };
        if place.replace(ProtocolId(index as u8)).is_some() {
            return Err(ComposeError::Bottom);
        }
    }
    Ok((naming, plain))
}
