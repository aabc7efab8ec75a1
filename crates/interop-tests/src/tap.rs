//! TCP in the process, on a TAP interface, for the programs of the suite.

use std::error::Error;
use std::sync::Arc;

use throughline::{Network, StackNetwork};
use throughline_stack::smoltcp::wire::{EthernetAddress, IpAddress, IpCidr};
use throughline_stack::{Config, Driver, Graph, Host, Tap};

/// The network of a text such as `tap0=10.0.0.2/24`: the interface, which is made, and this end's address.
///
/// # Errors
/// What is wrong with the text, or why there is no such interface.
pub fn network(text: &str) -> Result<Arc<dyn Network>, Box<dyn Error>> {
    let wrong = || format!("`{text}` is not NAME=ADDRESS/LENGTH");
    let (name, address) = text.split_once('=').ok_or_else(wrong)?;
    let (address, length) = address.split_once('/').ok_or_else(wrong)?;
    let address: std::net::IpAddr = address.parse().map_err(|_| wrong())?;
    let address = IpCidr::new(IpAddress::from(address), length.parse().map_err(|_| wrong())?);
    let device = Tap::open(name, EthernetAddress([2, 0, 0, 0, 0, 2]))?;
    let host = Host::at(&device, address);
    let graph = Graph::compose("tcp > ipv4 > eth; icmp > ipv4; arp > eth", host, Config::default())?;
    Ok(Arc::new(StackNetwork::start(Driver::new(graph, device))?))
}
