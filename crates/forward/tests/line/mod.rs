//! Routers in a row between two hosts that know nothing of labels. Network n is 10.0.n.0/24 and fd00:n::/64; router n has port 0
//! to network n and port 1 to network n + 1.
#![allow(dead_code, reason = "each test program uses some of it")]

use throughline_forward::{
    FlowCacheConfig, FlowIndex, HEADROOM, Outgoing, Packet, PortId, PortLabels, Route, Router, RouterConfig,
    RouterPort,
    routing::{DistanceVector, DistanceVectorConfig, Interface, rip::Version},
};
use throughline_stack::{
    Host, Message,
    smoltcp::{
        time::{Duration, Instant},
        wire::IpCidr,
    },
};

use crate::network::{TestHost, host};

pub const ROUTERS: u16 = 3;

/// How the routers work.
#[derive(Clone, Copy)]
pub struct Setting {
    /// Of the ports towards the hosts.
    pub outer: PortLabels,
    /// Of those between routers.
    pub inner: PortLabels,
    /// The longest packet between routers.
    pub inner_mtu: usize,
    /// Routes are learned, with their indices.
    pub threaded: bool,
    pub places: usize,
}

pub struct Line {
    pub routers: Vec<Router>,
    pub hosts: [TestHost; 2],
    pub out: Outgoing,
    pub now: Instant,
    /// Frames on networks between routers, in order.
    pub between: Vec<Vec<u8>>,
    /// Frames that reached a host, in order.
    pub reached: [Vec<Vec<u8>>; 2],
}

impl Line {
    pub fn new(setting: Setting) -> Self {
        let routers = (0..ROUTERS).map(|n| router(n, setting)).collect();
        Self {
            routers,
            hosts: [TestHost::new(0, 1500), TestHost::new(ROUTERS, 1500)],
            out: Outgoing::new(2000, 256),
            now: Instant::from_secs(1),
            between: Vec::new(),
            reached: [Vec::new(), Vec::new()],
        }
    }

    /// Lets so many seconds pass, and all frames arrive.
    pub fn run_for(&mut self, seconds: u64) {
        for _ in 0..seconds * 2 {
            self.run();
            self.now += Duration::from_millis(500);
        }
    }

    /// Carries frames until there are none, at one time.
    pub fn run(&mut self) {
        for _ in 0..100 {
            if !self.step() {
                return;
            }
        }
        panic!("frames without end");
    }

    fn step(&mut self) -> bool {
        let mut any = false;
        for end in 0..2 {
            let host = &mut self.hosts[end];
            host.echo();
            host.graph.tick(self.now);
            while let Some(frame) = self.hosts[end].graph.transmit() {
                any = true;
                self.enter(end, frame.bytes());
            }
        }
        for n in 0..self.routers.len() {
            self.routers[n].poll(self.now, &mut self.out);
            any |= self.carry(n);
        }
        any
    }

    /// A frame of one of the hosts comes to its router.
    pub fn enter(&mut self, end: usize, frame: &[u8]) {
        let (n, port) = if end == 0 { (0, PortId(0)) } else { (self.routers.len() - 1, PortId(1)) };
        self.routers[n].arrive(port, Message::copied(HEADROOM, frame), self.now, &mut self.out);
        self.carry(n);
    }

    /// Takes what router `n` has sent to whom it reaches, and so on. Whether there was anything.
    fn carry(&mut self, n: usize) -> bool {
        let leave = |n: usize, out: &mut Outgoing| {
            out.frames.drain(..).map(|(port, frame)| (n, port, frame)).collect::<Vec<_>>()
        };
        let mut under_way = leave(n, &mut self.out);
        let any = !under_way.is_empty();
        while let Some((n, PortId(port), frame)) = under_way.pop() {
            let to = if port == 1 { n.checked_add(1) } else { n.checked_sub(1) };
            match to.filter(|to| *to < self.routers.len()) {
                Some(to) => {
                    self.between.push(frame.bytes().to_vec());
                    let copy = Message::copied(HEADROOM, frame.bytes());
                    self.routers[to].arrive(PortId(1 - port), copy, self.now, &mut self.out);
                    under_way.extend(leave(to, &mut self.out));
                }
                None => {
                    let end = usize::from(port);
                    self.reached[end].push(frame.bytes().to_vec());
                    self.hosts[end].graph.arrive(Message::copied(HEADROOM, frame.bytes()), self.now);
                }
            }
            self.out.pool.give(frame);
        }
        any
    }

    /// Frames of IP between routers: how many have labels, and how many of these an index; and how many have none.
    pub fn labelled(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for frame in &self.between {
            let packet = Packet::of(frame).unwrap();
            match packet.label.filter(|_| packet.offset > 14) {
                Some(label) => {
                    counts[0] += 1;
                    counts[1] += usize::from(label.threaded);
                }
                None => counts[2] += usize::from(matches!(packet.ethertype, 0x0800 | 0x86dd)),
            }
        }
        counts
    }

    /// No host has got a frame with a label.
    pub fn hosts_notice_nothing(&self) {
        for frame in self.reached.iter().flatten() {
            assert_eq!(Packet::of(frame).unwrap().offset, 14, "a label for a host");
        }
        assert!(self.hosts.iter().all(|host| host.discarded() == 0));
    }
}

/// What a router is called on its networks.
fn hosts(n: u16, setting: Setting) -> [Host; 2] {
    let mtu = |network| if network == 0 || network == ROUTERS { 1500 } else { setting.inner_mtu };
    // On its left network it is the second, unless that is the first host's.
    let left = if n == 0 { 1 } else { 3 };
    [Host { mtu: mtu(n), ..host(n, left) }, Host { mtu: mtu(n + 1), ..host(n + 1, 1) }]
}

fn router(n: u16, setting: Setting) -> Router {
    let hosts = hosts(n, setting);
    let outer = [n == 0, n + 1 == ROUTERS];
    let mut port = 0;
    let ports = hosts.clone().map(|host| {
        let labels = if outer[port] { setting.outer } else { setting.inner };
        port += 1;
        RouterPort { host, labels }
    });
    let cache = FlowCacheConfig { places: setting.places, ..FlowCacheConfig::default() };
    let config = RouterConfig { index: FlowIndex::Either, cache, threaded: setting.threaded };
    let mut router = Router::new(ports.into(), config).unwrap();
    if setting.threaded {
        let interfaces = (0..).map(PortId).zip(hosts.map(|host| Interface::new(host.addresses[0])));
        // Hosts are told nothing.
        let interfaces: Vec<_> = interfaces.filter(|(port, _)| !outer[usize::from(port.0)]).collect();
        let told = interfaces.iter().map(|(_, interface)| interface.clone()).collect();
        let config = DistanceVectorConfig::new(Version::Rip2, n.into(), told);
        let protocol = Box::new(DistanceVector::new(config));
        router.add_protocol(protocol, &interfaces, Instant::from_secs(1)).unwrap();
    }
    for network in (0..=ROUTERS).filter(|network| *network != n && *network != n + 1) {
        let (port, near, number) = if network > n { (1, n + 1, 3) } else { (0, n, 1) };
        let mut add = |prefix: String, via: String| {
            let prefix: IpCidr = prefix.parse().unwrap();
            let via = Some(via.parse().unwrap());
            router.add_route(prefix, Route::Out { port: PortId(port), via }).unwrap();
        };
        // Those of IPv4 are learned otherwise.
        if !setting.threaded {
            add(format!("10.0.{network}.0/24"), format!("10.0.{near}.{number}"));
        }
        add(format!("fd00:{network:x}::/64"), format!("fd00:{near:x}::{number}"));
    }
    router
}
