//! The protocols, each written once.

pub(crate) mod arp;
pub(crate) mod eth;
pub(crate) mod ethdaa;
pub(crate) mod icmp;
pub(crate) mod icmp6;
pub(crate) mod ipv4;
pub(crate) mod ipv6;
mod once;
mod pieces;
pub(crate) mod rpc;
#[cfg(feature = "ciphers")]
pub(crate) mod sealed;
mod sums;
pub(crate) mod tcp;
mod transport;
pub(crate) mod udp;
mod way;
