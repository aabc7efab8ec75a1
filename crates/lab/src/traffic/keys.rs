//! Who the flows are: keys for the numbers that streams name them by.

use std::net::Ipv4Addr;

use throughline_demux::Ipv4Connection;

const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const SERVICE: u16 = 1521;

/// Terminals with addresses of their own, numbered through 10.0.0.0/8, all with the same port, at one server: users
/// of a transaction system.
pub fn terminal(flow: u32) -> Ipv4Connection {
    let address = Ipv4Addr::from_bits(0x0a00_0000 | (flow & 0x00ff_ffff));
    Ipv4Connection::new(address, 1024 + (flow >> 24) as u16, SERVER, SERVICE)
}

/// Connections of a single client to one server: the ports are numbered through, from 1,024 on.
pub fn one_client(flow: u32) -> Ipv4Connection {
    let (host, port) = (flow / 64_000, 1024 + flow % 64_000);
    let client = Ipv4Addr::from_bits(Ipv4Addr::new(198, 18, 0, 1).to_bits().wrapping_add(host));
    Ipv4Connection::new(client, port as u16, SERVER, SERVICE)
}

/// Connections that a stranger who knows the XOR fold chooses: the address and the port change together, so that the
/// XOR of all 16-bit words stays what it is. Beyond 2^24 flows both ports change together, too.
pub fn colliding(flow: u32) -> Ipv4Connection {
    let (low, high, more) = (flow as u16, (flow >> 16) as u16 & 0xff, (flow >> 24) as u16);
    let address = Ipv4Addr::from_bits(0xcb00_0000 | flow & 0x00ff_ffff);
    Ipv4Connection::new(address, low ^ high ^ more, SERVER, SERVICE ^ more)
}
