//! The protocols, each written once.

pub(crate) mod arp;
pub(crate) mod eth;
pub(crate) mod ethdaa;
pub(crate) mod icmp;
pub(crate) mod ipv4;
mod sums;
pub(crate) mod tcp;
mod transport;
pub(crate) mod udp;
