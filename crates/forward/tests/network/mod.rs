//! Hosts around a router: network n is 10.0.n.0/24 and fd00:n::/64, the router's address there ends in 1, the host's in 2.
#![allow(dead_code, reason = "each test program uses some of it")]

use std::net::IpAddr;

use throughline_forward::{
    FlowCacheConfig, FlowIndex, HEADROOM, Outgoing, PortId, PortLabels, Router, RouterConfig, RouterPort,
};
use throughline_stack::{
    Config, Graph, Host, ListenerId, Message, Participants, PathId,
    smoltcp::{
        time::{Duration, Instant},
        wire::{EthernetAddress, IpCidr, Ipv4Packet},
    },
};

/// Routes of each network that a router has from the beginning: the network, itself and the broadcast address of IPv4; the
/// network, itself and the address of all routers of IPv6; and its address on the link.
pub const ROUTED: usize = 3 + 3 + 1;

pub struct Network {
    pub router: Router,
    pub hosts: Vec<TestHost>,
    pub out: Outgoing,
    pub now: Instant,
}

/// A host that answers what it gets at port 7 with the same.
pub struct TestHost {
    pub graph: Graph,
    echo: ListenerId,
    /// The hop limit of all that it sends, if not the usual one.
    pub lives: Option<u8>,
    /// Whether routers may cut its packets of IPv4.
    pub may_be_cut: bool,
    own: Vec<PathId>,
}

impl Network {
    /// Two networks, where everybody knows everybody's hardware address.
    pub fn acquainted() -> Self {
        let mut network = Self::new(2, FlowIndex::Computed, 1500);
        for server in ["10.0.1.2", "fd00:1::2"] {
            let path = network.hosts[0].open(server.parse().unwrap(), 7);
            network.hosts[0].send(path, b"here");
            network.run();
            assert!(network.hosts[0].received(path).is_some());
        }
        network
    }

    pub fn new(networks: u16, index: FlowIndex, mtu: usize) -> Self {
        Self::with_mtus(&vec![mtu; networks.into()], index)
    }

    pub fn with_mtus(mtus: &[usize], index: FlowIndex) -> Self {
        let ports = (0..).zip(mtus).map(|(number, mtu)| {
            let host = Host { mtu: *mtu, ..host(number, 1) };
            RouterPort { host, labels: PortLabels::UNKNOWN }
        });
        let config = RouterConfig {
            index,
            cache: FlowCacheConfig { places: 256, ..FlowCacheConfig::default() },
            ..RouterConfig::default()
        };
        let router = Router::new(ports.collect(), config).unwrap();
        let hosts = (0..).zip(mtus).map(|(number, mtu)| TestHost::new(number, *mtu)).collect();
        Self { router, hosts, out: Outgoing::new(1500, 256), now: Instant::from_secs(1) }
    }

    /// Carries frames until there are none, at one time.
    pub fn run(&mut self) {
        for _ in 0..100 {
            let mut any = false;
            for number in 0..self.hosts.len() {
                let host = &mut self.hosts[number];
                host.echo();
                host.graph.tick(self.now);
                while let Some(frame) = host.graph.transmit() {
                    any = true;
                    let mut frame = Message::copied(HEADROOM, frame.bytes());
                    host.change(frame.bytes_mut());
                    self.router.arrive(PortId(number as u16), frame, self.now, &mut self.out);
                }
            }
            self.router.poll(self.now, &mut self.out);
            for (port, frame) in self.out.frames.drain(..) {
                any = true;
                self.hosts[usize::from(port.0)]
                    .graph
                    .arrive(Message::copied(HEADROOM, frame.bytes()), self.now);
                self.out.pool.give(frame);
            }
            if !any {
                return;
            }
        }
        panic!("frames without end");
    }

    /// As [`run`](Self::run), for so many seconds.
    pub fn run_for(&mut self, seconds: u64) {
        for _ in 0..seconds * 10 {
            self.run();
            self.now += Duration::from_millis(100);
        }
    }
}

/// The addresses of a host on a network.
pub fn host(network: u16, number: u8) -> Host {
    let hardware = EthernetAddress([2, 0, 0, network as u8, 0, number]);
    let v4: IpCidr = format!("10.0.{network}.{number}/24").parse().unwrap();
    let v6: IpCidr = format!("fd00:{network:x}::{number}/64").parse().unwrap();
    let mut host = Host::new(hardware, v4);
    host.addresses.push(v6);
    host
}

impl TestHost {
    pub fn new(network: u16, mtu: usize) -> Self {
        let mut host = Host { mtu, ..host(network, 2) };
        host.gateway = Some(format!("10.0.{network}.1").parse().unwrap());
        host.gateway6 = Some(format!("fd00:{network:x}::1").parse().unwrap());
        let description = "udp > ipv4 > eth; udp > ipv6 > eth; arp > eth; icmp > ipv4; icmp6 > ipv6";
        let mut graph = Graph::compose(description, host, Config::default()).unwrap();
        let echo = graph.enable("udp", Participants::at(7)).unwrap();
        Self { graph, echo, lives: None, may_be_cut: false, own: Vec::new() }
    }

    pub fn open(&mut self, to: IpAddr, port: u16) -> PathId {
        let path = self.graph.open("udp", Participants::to(to, port)).unwrap();
        self.own.push(path);
        path
    }

    pub fn send(&mut self, path: PathId, data: &[u8]) {
        self.graph.send(path, Message::copied(HEADROOM, data)).unwrap();
    }

    pub fn received(&mut self, path: PathId) -> Option<Vec<u8>> {
        let message = self.graph.receive(path)?;
        let data = message.bytes().to_vec();
        self.graph.release(message);
        Some(data)
    }

    pub fn discarded(&self) -> u64 {
        self.graph.discarded().map(|(_, _, count)| count).sum()
    }

    pub fn echo(&mut self) {
        let _ = self.graph.accepted(self.echo);
        while let Some(path) = self.graph.ready() {
            if self.own.contains(&path) {
                continue;
            }
            while let Some(message) = self.graph.receive(path) {
                let _ = self.graph.send(path, Message::copied(HEADROOM, message.bytes()));
                self.graph.release(message);
            }
        }
    }

    /// Makes of a frame what this host would have sent.
    fn change(&self, frame: &mut [u8]) {
        match frame[12..14] {
            [8, 0] => {
                let mut packet = Ipv4Packet::new_unchecked(&mut frame[14..]);
                packet.set_hop_limit(self.lives.unwrap_or(packet.hop_limit()));
                packet.set_dont_frag(packet.dont_frag() && !self.may_be_cut);
                packet.fill_checksum();
            }
            [0x86, 0xdd] => frame[14 + 7] = self.lives.unwrap_or(frame[14 + 7]),
            _ => {}
        }
    }
}
