//! A router in memory with 16 networks, its routes, and the packets of flows that it forwards.

use std::net::{IpAddr, Ipv4Addr};

use throughline_forward::{
    FlowIndex, HEADROOM, Label, Outgoing, PortId, PortLabels, Route, Router, RouterConfig, RouterPort,
    insert_label,
};
use throughline_stack::{
    Host, Message,
    smoltcp::{
        time::Instant,
        wire::{
            ArpOperation, ArpPacket, ArpRepr, EthernetAddress, IpAddress, IpCidr, IpProtocol, Ipv4Packet,
        },
    },
};
use throughline_wire::{FlowIds, RegionList};

use crate::{LabError, random::Random};

/// Interfaces of the paper's router.
pub(super) const PORTS: u16 = 16;
/// Bytes of the smallest frame without its check sequence.
const FRAME: usize = 60;
const NOW: Instant = Instant::from_micros_const(1_000_000);

/// Prefixes of IPv4 in an Internet routing table (November 2015), per million, by length from 8 on.
const LENGTHS: [u32; 17] = [
    28, 21, 59, 160, 434, 838, 1_707, 2_973, 21_676, 13_045, 21_836, 45_166, 65_193, 69_482, 107_796, 94_950,
    554_636,
];

/// How packets' flows are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    /// Not at all: the longest prefix is looked for each time.
    None,
    /// By a hash that the router computes.
    Computed,
    /// By the hash in a DML header.
    Carried,
}

impl Scheme {
    pub(super) const ALL: [Self; 3] = [Self::None, Self::Computed, Self::Carried];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Computed => "computed-hash",
            Self::Carried => "source-hash",
        }
    }

    fn index(self) -> FlowIndex {
        match self {
            Self::None => FlowIndex::Never,
            Self::Computed => FlowIndex::Computed,
            Self::Carried => FlowIndex::Carried,
        }
    }
}

/// A router, and a frame of each flow that comes to it by its first port.
pub(super) struct Network {
    router: Router,
    out: Outgoing,
    frames: Vec<Vec<u8>>,
    destinations: Vec<IpAddr>,
    next: usize,
}

impl Network {
    /// With so many routes, and so many flows to destinations that have one.
    pub(super) fn new(scheme: Scheme, routes: u32, flows: u32, seed: u64) -> Result<Self, LabError> {
        let port = |n| RouterPort { host: host(n, 1), labels: PortLabels::KNOWN };
        let config = RouterConfig { index: scheme.index(), ..RouterConfig::default() };
        let mut router = Router::new((0..PORTS).map(port).collect(), config).map_err(failed)?;
        let mut random = Random::new(seed);
        let mut prefixes = Vec::new();
        while router.route_count() < routes as usize + usize::from(PORTS) * 3 {
            let prefix = prefix(&mut random);
            let port = 1 + random.below(u32::from(PORTS) - 1) as u16;
            let via = Some(IpAddr::from([10, 0, port as u8, 2]));
            router.add_route(prefix, Route::Out { port: PortId(port), via }).map_err(failed)?;
            prefixes.push(prefix);
        }
        let ids = FlowIds::new([random.next(), random.next()]);
        let (mut frames, mut destinations) = (Vec::new(), Vec::new());
        for _ in 0..flows {
            let destination = within(prefixes[random.below(prefixes.len() as u32) as usize], &mut random);
            destinations.push(destination.into());
            let mut message = Message::copied(HEADROOM, &frame(destination));
            if scheme == Scheme::Carried {
                let label = Label { flow: ids.next(), threaded: false };
                insert_label(&mut message, label, &RegionList::new()).map_err(failed)?;
            }
            frames.push(message.bytes().to_vec());
        }
        let mut network = Self { router, out: Outgoing::new(1500, 256), frames, destinations, next: 0 };
        network.introduce();
        // All flows are known, as far as they are kept.
        (0..3 * flows).for_each(|_| network.forward());
        Ok(network)
    }

    /// Has the router know the hosts that its routes lead to.
    fn introduce(&mut self) {
        for port in 0..PORTS {
            let (own, other) = (host(port, 1), host(port, 2));
            let repr = ArpRepr::EthernetIpv4 {
                operation: ArpOperation::Request,
                source_hardware_addr: other.hardware,
                source_protocol_addr: Ipv4Addr::new(10, 0, port as u8, 2),
                target_hardware_addr: EthernetAddress::default(),
                target_protocol_addr: Ipv4Addr::new(10, 0, port as u8, 1),
            };
            let mut bytes = vec![0; 14 + repr.buffer_len()];
            bytes[..6].copy_from_slice(&own.hardware.0);
            bytes[6..12].copy_from_slice(&other.hardware.0);
            bytes[12..14].copy_from_slice(&[8, 6]);
            repr.emit(&mut ArpPacket::new_unchecked(&mut bytes[14..]));
            self.router.arrive(PortId(port), Message::copied(HEADROOM, &bytes), NOW, &mut self.out);
        }
        self.out.frames.clear();
    }

    /// Forwards a packet of the next flow: copies it into a message, as a device would, and takes what leaves.
    #[inline]
    pub(super) fn forward(&mut self) {
        let mut message = self.out.pool.take();
        let _ = message.append(&self.frames[self.next]);
        self.next = if self.next + 1 == self.frames.len() { 0 } else { self.next + 1 };
        self.router.arrive(PortId(0), message, NOW, &mut self.out);
        while let Some((_, frame)) = self.out.frames.pop() {
            self.out.pool.give(frame);
        }
    }

    /// Packets forwarded so far, and of those how many by the cache.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.router.counts().forwarded, self.router.flow_counts(PortId(0)).hits)
    }

    /// The flows' destinations.
    pub(super) fn destinations(&self) -> &[IpAddr] {
        &self.destinations
    }

    /// The router.
    pub(super) fn router(&mut self) -> &mut Router {
        &mut self.router
    }
}

pub(super) fn host(network: u16, number: u8) -> Host {
    let address = IpCidr::new(IpAddress::v4(10, 0, network as u8, number), 24);
    Host::new(EthernetAddress([2, 0, 0, network as u8, 0, number]), address)
}

/// A prefix whose length is as frequent as in the Internet.
fn prefix(random: &mut Random) -> IpCidr {
    let mut drawn = random.below(LENGTHS.iter().sum());
    let mut length = 8;
    for count in LENGTHS {
        if drawn < count {
            break;
        }
        drawn -= count;
        length += 1;
    }
    // From 11.0.0.0 to 223.255.255.255; 10.0.0.0/8 is the networks'.
    let bits = (11 + random.below(213)) << 24 | random.below(1 << 24);
    let address = Ipv4Addr::from_bits(bits & (u32::MAX << (32 - length)));
    match address.octets()[0] {
        // Not these: nobody there, or this host.
        127 => prefix(random),
        _ => IpCidr::new(address.into(), length),
    }
}

fn within(prefix: IpCidr, random: &mut Random) -> Ipv4Addr {
    let IpCidr::Ipv4(prefix) = prefix else { return Ipv4Addr::UNSPECIFIED };
    let host = random.next() as u32 & (u32::MAX >> prefix.prefix_len());
    Ipv4Addr::from_bits(prefix.address().to_bits() | host)
}

/// The smallest frame with a packet to this address, for the router's first port.
pub(super) fn frame(destination: Ipv4Addr) -> Vec<u8> {
    let mut bytes = vec![0; FRAME];
    bytes[..6].copy_from_slice(&host(0, 1).hardware.0);
    bytes[6..12].copy_from_slice(&host(0, 2).hardware.0);
    bytes[12..14].copy_from_slice(&[8, 0]);
    let mut packet = Ipv4Packet::new_unchecked(&mut bytes[14..]);
    packet.set_version(4);
    packet.set_header_len(20);
    packet.set_total_len((FRAME - 14) as u16);
    packet.set_hop_limit(64);
    packet.set_next_header(IpProtocol::Udp);
    packet.set_src_addr(Ipv4Addr::new(10, 0, 0, 2));
    packet.set_dst_addr(destination);
    packet.fill_checksum();
    bytes
}

pub(crate) fn failed(error: impl std::fmt::Display) -> LabError {
    LabError::Child { who: "forwarder".to_owned(), what: error.to_string() }
}
