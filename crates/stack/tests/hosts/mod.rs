//! Two graphs with a wire between them that loses nothing.
#![allow(dead_code, reason = "each test uses what it needs")]

use smoltcp::{
    time::{Duration, Instant},
    wire::{EthernetAddress, IpCidr, Ipv4Address, Ipv4Cidr},
};
use throughline_stack::{Architecture, Config, ETHERNET_MTU, Graph, Host, Urgency};

pub const CLIENT: Ipv4Address = Ipv4Address::new(10, 0, 0, 1);
pub const SERVER: Ipv4Address = Ipv4Address::new(10, 0, 0, 2);

pub struct Pair {
    pub client: Graph,
    pub server: Graph,
    pub now: Instant,
    /// Everything sent, in order.
    pub frames: Vec<Vec<u8>>,
}

pub fn host(address: Ipv4Address) -> Host {
    let hardware = EthernetAddress([2, 0, 0, 0, 0, address.octets()[3]]);
    Host::new(hardware, IpCidr::Ipv4(Ipv4Cidr::new(address, 24)))
}

pub fn data(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8).collect()
}

impl Pair {
    pub fn new(description: &str, architecture: Architecture) -> Self {
        Self::with(description, Config { architecture, ..Config::default() })
    }

    pub fn queued(description: &str, architecture: Architecture, urgency: Urgency) -> Self {
        Self::with(description, Config { architecture, scheduling: Some(urgency), ..Config::default() })
    }

    pub fn with(description: &str, config: Config) -> Self {
        Self::narrow(description, config, ETHERNET_MTU)
    }

    /// With frames that carry `mtu` bytes.
    pub fn narrow(description: &str, config: Config, mtu: usize) -> Self {
        let graph = |address| {
            let host = Host { mtu, ..host(address) };
            Graph::compose(description, host, config).unwrap()
        };
        Self { client: graph(CLIENT), server: graph(SERVER), now: Instant::ZERO, frames: Vec::new() }
    }

    pub fn server_hardware(&self) -> EthernetAddress {
        host(SERVER).hardware
    }

    /// Carries frames to and fro until there are none.
    pub fn exchange(&mut self) {
        loop {
            let mut any = false;
            for turn in 0..2 {
                let (from, to) = match turn {
                    0 => (&mut self.client, &mut self.server),
                    _ => (&mut self.server, &mut self.client),
                };
                while let Some(frame) = from.transmit() {
                    self.frames.push(frame.bytes().to_vec());
                    to.arrive(frame, self.now);
                    any = true;
                }
                while to.run(self.now) {}
            }
            if !any {
                return;
            }
        }
    }

    /// Lets so many milliseconds pass.
    pub fn pass(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
        self.client.tick(self.now);
        self.server.tick(self.now);
        self.exchange();
    }
}
