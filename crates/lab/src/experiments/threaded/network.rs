//! Ten routers on veth pairs, each on a thread of its own: a ring with two chords, and behind each a network with one host.

use std::{
    collections::BTreeSet,
    io,
    os::fd::BorrowedFd,
    process::Command,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use throughline_forward::{ForwardConfig, Forwarder, HEADROOM, Label, Node, insert_label};
use throughline_stack::{
    Device, DeviceCounts, End, Message, Packet, PacketConfig, PairConfig, Pool, pair,
    smoltcp::{
        time,
        wire::{EthernetAddress, IpCidr, Ipv4Packet},
    },
};
use throughline_wire::{Flow, RegionList};

use super::super::forwarding::failed;
use crate::LabError;

pub(super) const ROUTERS: usize = 10;
/// Two routers each. The first of them has the address that ends in 1.
const LINKS: [(usize, usize); 12] =
    [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8), (8, 9), (0, 9), (0, 5), (2, 7)];
/// The chord that fails, between routers 0 and 5.
pub(super) const CHORD: usize = 10;
/// The number of the packets' protocol (RFC 3692).
const PROBE: u8 = 253;
/// The hop limit that they begin with.
const HOPS: u8 = 32;
/// How long routers with nothing to do wait.
const NAP: Duration = Duration::from_micros(500);
const PATIENCE: Duration = Duration::from_secs(60);

/// How packets say where they are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Unlabelled,
    SourceHash,
    Threaded,
}

impl Way {
    pub(super) const ALL: [Self; 3] = [Self::Unlabelled, Self::SourceHash, Self::Threaded];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Unlabelled => "none",
            Self::SourceHash => "source-hash",
            Self::Threaded => "threaded",
        }
    }
}

/// A packet that has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    pub(super) number: u32,
    /// Routers passed.
    pub(super) hops: u8,
    /// Whether that is where it was sent to.
    pub(super) right: bool,
}

/// The routers at work.
pub(super) struct Network<'a> {
    nodes: &'a [Mutex<Node>],
    cables: Vec<Arc<AtomicBool>>,
    hosts: Vec<End>,
    pool: Pool,
    next: u32,
}

/// A device whose wire can be cut, in both directions, without anybody being told.
struct Cut {
    device: Packet,
    cut: Arc<AtomicBool>,
}

impl Device for Cut {
    fn hardware(&self) -> EthernetAddress {
        self.device.hardware()
    }

    fn mtu(&self) -> usize {
        self.device.mtu()
    }

    fn receive(&mut self, pool: &mut Pool) -> io::Result<Option<Message>> {
        while let Some(frame) = self.device.receive(pool)? {
            if !self.cut.load(Ordering::Relaxed) {
                return Ok(Some(frame));
            }
            pool.give(frame);
        }
        Ok(None)
    }

    fn send(&mut self, frame: Message, pool: &mut Pool) -> Result<(), (Message, io::Error)> {
        if self.cut.load(Ordering::Relaxed) {
            pool.give(frame);
            return Ok(());
        }
        self.device.send(frame, pool)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.device.flush()
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.device.fd()
    }

    fn clock(&mut self, now: time::Instant) {
        self.device.clock(now);
    }

    fn poll_at(&self) -> Option<time::Instant> {
        self.device.poll_at()
    }

    fn counts(&mut self) -> DeviceCounts {
        self.device.counts()
    }
}

/// Starts the routers in the thread's network namespace, lets `work` use them, and ends them.
pub(super) fn with_network<T>(
    protocol: &str,
    work: impl FnOnce(&mut Network<'_>) -> Result<T, LabError>,
) -> Result<T, LabError> {
    for (n, _) in LINKS.iter().enumerate() {
        let [one, other] = ends(n);
        ip(&format!("link add {one} type veth peer name {other}"))?;
        for name in [one, other] {
            // The kernel may be unable to speak IPv6 anyway.
            let _ = ip(&format!("link set {name} addrgenmode none"));
            ip(&format!("link set {name} up"))?;
        }
    }
    let cables: Vec<_> = LINKS.iter().map(|_| Arc::new(AtomicBool::new(false))).collect();
    let (mut nodes, mut hosts) = (Vec::new(), Vec::new());
    for router in 0..ROUTERS {
        let (node, host) = node(router, protocol, &cables)?;
        nodes.push(Mutex::new(node));
        hosts.push(host);
    }
    let over = AtomicBool::new(false);
    let result = thread::scope(|scope| {
        for node in &nodes {
            let over = &over;
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    if !lock(node).poll().is_ok_and(|busy| busy) {
                        thread::sleep(NAP);
                    }
                }
            });
        }
        let pool = Pool::new(2048, HEADROOM, 1024);
        let mut network = Network { nodes: &nodes, cables, hosts, pool, next: 0 };
        let result = network.introduce().and_then(|()| work(&mut network));
        over.store(true, Ordering::Relaxed);
        result
    });
    for n in 0..LINKS.len() {
        ip(&format!("link del {}", ends(n)[0]))?;
    }
    result
}

fn lock(node: &Mutex<Node>) -> MutexGuard<'_, Node> {
    node.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ends(link: usize) -> [String; 2] {
    [format!("l{link}a"), format!("l{link}b")]
}

/// A router, and the far end of the wire to its host.
fn node(router: usize, protocol: &str, cables: &[Arc<AtomicBool>]) -> Result<(Node, End), LabError> {
    let mut text = format!(
        "role = \"router\"\nflows = {{ threaded = true }}\n[[routing]]\n{protocol}\n\
         [[port]]\ninterface = \"host\"\naddresses = [\"10.1.{router}.1/24\"]\nlabels = true\n"
    );
    let hardware = [own(router), EthernetAddress([2, 0, 0, 2, 0, router as u8])];
    let (far, near) = pair(&PairConfig { hardware: [hardware[0], hardware[1]], ..PairConfig::default() });
    let mut devices: Vec<Box<dyn Device>> = vec![Box::new(near)];
    for (n, link) in LINKS.iter().enumerate() {
        let side = match link {
            (one, _) if *one == router => 0,
            (_, other) if *other == router => 1,
            _ => continue,
        };
        let name = &ends(n)[side];
        text += &format!(
            "[[port]]\ninterface = \"{name}\"\naddresses = [\"10.2.{n}.{}/24\"]\nlabels = true\n",
            side + 1
        );
        let device = Packet::open(name, &PacketConfig { ring: 256, ..PacketConfig::default() })?;
        devices.push(Box::new(Cut { device, cut: Arc::clone(&cables[n]) }));
    }
    let config = ForwardConfig::parse(&text).map_err(failed)?;
    Ok((Node::new(&config, devices).map_err(failed)?, far))
}

/// The hardware address of a router's host.
fn own(router: usize) -> EthernetAddress {
    EthernetAddress([2, 0, 0, 1, 0, router as u8])
}

impl Network<'_> {
    /// Has each router know its host.
    fn introduce(&mut self) -> Result<(), LabError> {
        (0..ROUTERS).try_for_each(|router| self.say_hello(router))
    }

    /// A question by ARP for the router's address.
    fn say_hello(&mut self, router: usize) -> Result<(), LabError> {
        let mut hello = vec![0xff; 6];
        hello.extend(own(router).0);
        hello.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
        hello.extend(own(router).0);
        hello.extend([10, 1, router as u8, 9, 0, 0, 0, 0, 0, 0, 10, 1, router as u8, 1]);
        self.send(router, &hello)
    }

    fn send(&mut self, router: usize, frame: &[u8]) -> Result<(), LabError> {
        let mut message = self.pool.take();
        message.append(frame).map_err(failed)?;
        self.hosts[router].send(message, &mut self.pool).map_err(|(_, error)| LabError::Io(error))
    }

    /// Asks a router.
    fn ask<T>(
        &self,
        router: usize,
        question: impl FnOnce(&mut throughline_forward::Router) -> T,
    ) -> Option<T> {
        match lock(&self.nodes[router]).forwarder() {
            Forwarder::Router(router) => Some(question(router)),
            Forwarder::Bridge(_) => None,
        }
    }

    /// The time until all routers know all networks.
    pub(super) fn converge(&mut self) -> Result<Duration, LabError> {
        let begun = Instant::now();
        loop {
            let knows = |router: usize| {
                // Ten networks with hosts, twelve links; of each port its address and a broadcast address.
                let ports = 1 + LINKS.iter().filter(|(a, b)| *a == router || *b == router).count();
                let expected = ROUTERS + LINKS.len() + 2 * ports;
                self.ask(router, |router| router.route_count() == expected).unwrap_or(false)
            };
            if (0..ROUTERS).all(knows) {
                return Ok(begun.elapsed());
            }
            if begun.elapsed() > PATIENCE {
                return Err(failed("the routers do not know all networks after a minute"));
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends a numbered packet from a router's host to another's.
    pub(super) fn probe(&mut self, from: usize, to: usize, way: Way) -> Result<u32, LabError> {
        self.next += 1;
        let mut bytes = vec![0; 60];
        bytes[..6].copy_from_slice(&[2, 0, 0, 2, 0, from as u8]);
        bytes[6..12].copy_from_slice(&own(from).0);
        bytes[12..14].copy_from_slice(&[8, 0]);
        bytes[34..38].copy_from_slice(&self.next.to_be_bytes());
        let mut packet = Ipv4Packet::new_unchecked(&mut bytes[14..]);
        packet.set_version(4);
        packet.set_header_len(20);
        packet.set_total_len(46);
        packet.set_hop_limit(HOPS);
        packet.set_next_header(PROBE.into());
        packet.set_src_addr([10, 1, from as u8, 9].into());
        packet.set_dst_addr([10, 1, to as u8, 9].into());
        packet.fill_checksum();
        let mut message = Message::copied(HEADROOM, &bytes);
        let flow = |source_hash| Flow { id: (from * ROUTERS + to) as u64, source_hash };
        let label = match way {
            Way::Unlabelled => None,
            Way::SourceHash => Some(Label { flow: flow(0x5eed ^ to as u32), threaded: false }),
            Way::Threaded => {
                let prefix: IpCidr = format!("10.1.{to}.0/24").parse().map_err(|()| failed("no prefix"))?;
                let index = self.ask(from, |router| router.index_of(prefix)).unwrap_or(0);
                Some(Label { flow: flow(index), threaded: true })
            }
        };
        if let Some(label) = label {
            insert_label(&mut message, label, &RegionList::new()).map_err(failed)?;
        }
        self.send(from, message.bytes())?;
        Ok(self.next)
    }

    /// What has arrived at the hosts.
    pub(super) fn arrived(&mut self) -> Result<Vec<Arrived>, LabError> {
        let mut all = Vec::new();
        for router in 0..ROUTERS {
            while let Some(frame) = self.hosts[router].receive(&mut self.pool)? {
                let packet = throughline_forward::Packet::of(frame.bytes()).map_err(failed)?;
                let (ethertype, bytes) = (packet.ethertype, packet.bytes());
                if ethertype == 0x0800 && bytes[9] == PROBE {
                    let number = u32::from_be_bytes([bytes[20], bytes[21], bytes[22], bytes[23]]);
                    let right = bytes[16..20] == [10, 1, router as u8, 9];
                    all.push(Arrived { number, hops: HOPS - bytes[8], right });
                }
                self.pool.give(frame);
                if ethertype == 0x0806 {
                    self.say_hello(router)?;
                }
            }
        }
        Ok(all)
    }

    /// Cuts the wire of a link, or mends it. Nobody is told.
    pub(super) fn cut(&self, link: usize, cut: bool) {
        self.cables[link].store(cut, Ordering::Relaxed);
    }

    /// Packets that were led by a threaded index, of all routers, and indices that were of no use.
    pub(super) fn led(&self) -> (u64, u64) {
        let counts = (0..ROUTERS).filter_map(|router| {
            self.ask(router, |router| {
                (router.counts().threaded, router.thread_counts().map_or(0, |counts| counts.refused))
            })
        });
        counts.fold((0, 0), |all, each| (all.0 + each.0, all.1 + each.1))
    }

    /// Waits for packets, for so long at most. Those that did not come.
    pub(super) fn await_all(
        &mut self,
        mut missing: BTreeSet<u32>,
        time: Duration,
        mut see: impl FnMut(Arrived),
    ) -> Result<BTreeSet<u32>, LabError> {
        let begun = Instant::now();
        while !missing.is_empty() && begun.elapsed() < time {
            for arrived in self.arrived()? {
                missing.remove(&arrived.number);
                see(arrived);
            }
            thread::sleep(Duration::from_micros(200));
        }
        Ok(missing)
    }
}

fn ip(arguments: &str) -> Result<(), LabError> {
    let output = Command::new("ip").args(arguments.split(' ')).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim()))),
    }
}
