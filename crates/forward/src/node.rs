//! A forwarder at work: devices, and a bridge or a router between them.

use std::io;

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use throughline_stack::{
    Device, DeviceCounts, Host, Packet as PacketDevice, PacketConfig, Tap, is_passing,
    smoltcp::{
        time::{Duration, Instant},
        wire::{EthernetAddress, IpCidr},
    },
};

use throughline_demux::{NonceSource, OsNonces};
use throughline_vi::Nic;

use crate::{
    Bridge, BridgePort, BridgeSetup, FilterBank, ForwardConfig, Link, MulticastConfig, Outgoing, Packet,
    PortConfig, PortId, ProtocolConfig, ProtocolKind, Role, RouteError, Router, RouterError, RouterPort,
    RouterSetup, TreePort,
    filter::{Delivery, DeliveryConfig, View},
    frame::is_labelled,
    routing::{
        DistanceVector, DistanceVectorConfig, Interface, LinkState, LinkStateConfig, LinkStateTimers,
        Routing, Timers, rip::Version,
    },
};

/// Frames taken from a port before the next one has its turn.
const BATCH: usize = 64;
/// Buffers kept while nobody uses them.
const SPARE: usize = 4096;
/// How often consumers of filters are looked at, who come and go.
const CONSUMERS: Duration = Duration::from_millis(20);
/// How often links are looked at, which may fail.
const LINKS: Duration = Duration::from_millis(100);
/// How often devices that tell nobody of frames, or that had no room for some, are looked at.
const LOOK: std::time::Duration = std::time::Duration::from_millis(1);

/// A bridge or a router with its devices, on the thread that calls [`poll`](Self::poll).
pub struct Node {
    devices: Vec<Box<dyn Device>>,
    forwarder: Forwarder,
    out: Outgoing,
    begun: std::time::Instant,
    next: Option<Instant>,
    dropped: Vec<u64>,
    /// A device has frames that the wire had no place for.
    collected: bool,
    filters: Vec<Option<PortFilters>>,
    /// When filters' consumers were last looked at.
    looked: Instant,
    /// Whether the link of each device works, and when that is to be seen again.
    up: Vec<bool>,
    watch: Instant,
}

/// Who wants copies of the frames of a port.
struct PortFilters {
    /// Whether labels of the link are believed. They say only where to look first, yet who lies slows down others.
    labels: bool,
    bank: FilterBank,
    delivery: Delivery,
}

/// What a node is.
// There is one of them, and it is not moved.
#[allow(clippy::large_enum_variant)]
pub enum Forwarder {
    /// A learning bridge.
    Bridge(Bridge),
    /// A router.
    Router(Router),
}

/// Why there is no such node.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// A device can't be opened.
    #[error("{name}: {source}")]
    Device {
        /// The interface's name.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// A router can't be made of this.
    #[error(transparent)]
    Router(#[from] RouterError),
    /// A bridge can't be made of this.
    #[error("flow cache: {0}")]
    Cache(#[from] throughline_demux::ConfigError),
    /// Consumers of filters can't be waited for.
    #[error("filters: {0}")]
    Filters(#[from] throughline_vi::ResourceError),
    /// A route that can't be.
    #[error("a route: {0}")]
    Route(#[from] RouteError),
}

impl Node {
    /// Opens the devices of a configuration.
    ///
    /// # Errors
    /// [`NodeError`].
    pub fn open(config: &ForwardConfig) -> Result<Self, NodeError> {
        let bridges = matches!(config.role, Role::Bridge(_));
        let open = |port: &PortConfig| {
            let name = port.link.name().to_owned();
            open_link(&port.link, bridges).map_err(|source| NodeError::Device { name, source })
        };
        let devices = config.ports.iter().map(open).collect::<Result<_, _>>()?;
        Self::new(config, devices)
    }

    /// A node with devices that there are already, one for each port of the configuration.
    ///
    /// # Errors
    /// [`NodeError`].
    ///
    /// # Panics
    /// If there are more or less devices than ports.
    pub fn new(config: &ForwardConfig, devices: Vec<Box<dyn Device>>) -> Result<Self, NodeError> {
        assert_eq!(devices.len(), config.ports.len(), "a device for each port");
        let forwarder = match &config.role {
            Role::Bridge(bridge) => {
                let ports = devices.iter().zip(&config.ports);
                let ports = ports.map(|(device, port)| BridgePort { labels: port.labels, mtu: device.mtu() });
                let BridgeSetup { config: how, spanning_tree } = bridge;
                let mut bridge = Bridge::new(&ports.collect::<Vec<_>>(), how.clone())?;
                if let Some(tree) = spanning_tree {
                    let port = |(hardware, port): (EthernetAddress, &PortConfig)| TreePort {
                        cost: port.path_cost,
                        hosts: port.hosts_only,
                        ..TreePort::new(hardware)
                    };
                    let hardware = devices.iter().map(|device| device.hardware());
                    let ports: Vec<TreePort> = hardware.zip(&config.ports).map(port).collect();
                    bridge.span(tree, &ports, Instant::ZERO);
                }
                Forwarder::Bridge(bridge)
            }
            Role::Router(RouterSetup { config: how, routes, protocols, area, groups, multicast }) => {
                let host = |device: &dyn Device, port: &PortConfig| Host {
                    hardware: device.hardware(),
                    mtu: device.mtu(),
                    addresses: port.addresses.clone(),
                    ..Host::default()
                };
                let ports = devices.iter().zip(&config.ports);
                let ports = ports
                    .map(|(device, port)| RouterPort { host: host(&**device, port), labels: port.labels });
                let mut router = Router::new(ports.collect(), *how)?;
                router.set_area(area.clone(), Instant::ZERO);
                for (group, ports) in groups {
                    router.set_group(*group, ports, Instant::ZERO)?;
                }
                if let Some(config) = multicast {
                    let (router_id, first_sequence) = (id(&router), u64::from(seconds_since_1970()) << 32);
                    let config = MulticastConfig { router: router_id, first_sequence, ..config.clone() };
                    router.agree_on_groups(&config, Instant::ZERO);
                }
                for (prefix, route) in routes {
                    router.add_route(*prefix, *route)?;
                }
                for protocol in protocols {
                    add_protocol(&mut router, protocol)?;
                }
                Forwarder::Router(router)
            }
        };
        let mtu = devices.iter().map(|device| device.mtu()).max().unwrap_or(0);
        let filters =
            config.ports.iter().map(|port| PortFilters::of(port, config)).collect::<Result<_, _>>()?;
        Ok(Self {
            filters,
            looked: Instant::ZERO,
            up: vec![true; devices.len()],
            watch: Instant::ZERO,
            dropped: vec![0; devices.len()],
            collected: false,
            devices,
            forwarder,
            out: Outgoing::new(mtu, SPARE),
            begun: std::time::Instant::now(),
            next: Some(Instant::ZERO),
        })
    }

    /// The time since the node was made, as it knows it.
    pub fn now(&self) -> Instant {
        Instant::from_micros(self.begun.elapsed().as_micros() as i64)
    }

    /// Takes in frames that have arrived, and sends what is to be sent. Whether there was anything.
    ///
    /// # Errors
    /// Those of a device, with its port.
    pub fn poll(&mut self) -> Result<bool, (PortId, io::Error)> {
        let now = self.now();
        if self.watch <= now {
            self.watch_links(now);
        }
        let mut busy = false;
        for index in 0..self.devices.len() {
            let port = PortId(index as u16);
            busy |= self.take_in(port, now).map_err(|error| (port, error))?;
        }
        if self.next.is_some_and(|next| next <= now) || busy {
            self.next = match &mut self.forwarder {
                Forwarder::Router(router) => router.poll(now, &mut self.out),
                Forwarder::Bridge(bridge) => bridge.poll(now, &mut self.out),
            };
        }
        self.send(now)?;
        if now >= self.looked + CONSUMERS {
            self.looked = now;
            self.filters.iter_mut().flatten().for_each(PortFilters::look);
        }
        Ok(busy)
    }

    /// Where programs ask for copies of the frames of a port, and by which name: a [`Subscriber`](crate::filter::Subscriber)
    /// connects there. `None` if the port has no filters.
    pub fn filters(&self, port: PortId) -> Option<&str> {
        self.filters.get(port.index())?.as_ref().map(|filters| filters.delivery.address())
    }

    fn take_in(&mut self, port: PortId, now: Instant) -> io::Result<bool> {
        let device = &mut self.devices[port.index()];
        device.clock(now);
        for taken in 0..BATCH {
            let frame = match device.receive(&mut self.out.pool) {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(taken > 0),
                Err(error) if is_passing(&error) => return Ok(taken > 0),
                Err(error) => return Err(error),
            };
            if let Some(filters) = &mut self.filters[port.index()] {
                filters.show(frame.bytes(), now);
            }
            match &mut self.forwarder {
                Forwarder::Bridge(bridge) => bridge.arrive(port, frame, now, &mut self.out),
                Forwarder::Router(router) => router.arrive(port, frame, now, &mut self.out),
            }
        }
        Ok(true)
    }

    /// A port that has no room loses what is for it, as on every wire.
    fn send(&mut self, now: Instant) -> Result<(), (PortId, io::Error)> {
        let Outgoing { frames, pool } = &mut self.out;
        if frames.is_empty() && !self.collected {
            return Ok(());
        }
        self.collected = false;
        for (port, frame) in frames.drain(..) {
            let device = &mut self.devices[port.index()];
            device.clock(now);
            if let Err((frame, _)) = device.send(frame, pool) {
                self.dropped[port.index()] += 1;
                pool.give(frame);
            }
        }
        for (index, device) in self.devices.iter_mut().enumerate() {
            match device.flush() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.collected = true,
                Err(error) if !is_passing(&error) => return Err((PortId(index as u16), error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Tells of links that fail and work again.
    fn watch_links(&mut self, now: Instant) {
        self.watch = now + LINKS;
        for (index, device) in self.devices.iter_mut().enumerate() {
            let up = device.is_up();
            if std::mem::replace(&mut self.up[index], up) == up {
                continue;
            }
            let port = PortId(index as u16);
            match &mut self.forwarder {
                Forwarder::Router(router) => router.set_link(port, up, now),
                Forwarder::Bridge(bridge) => bridge.set_link(port, up, now),
            }
            self.next = Some(now);
        }
    }

    /// Sleeps until a frame arrives, something is due, or the time is over.
    ///
    /// # Errors
    /// Those of the system.
    pub fn wait(&mut self, at_most: std::time::Duration) -> io::Result<()> {
        let now = self.now();
        let due = self.devices.iter().filter_map(|device| device.poll_at()).chain(self.next).min();
        let left = due.map_or(Duration::MAX, |due| if due > now { due - now } else { Duration::ZERO });
        let mut left = std::time::Duration::from(left).min(at_most).min(LINKS.into());
        if self.filters.iter().any(Option::is_some) {
            left = left.min(CONSUMERS.into());
        }
        let fds: Vec<_> = self.devices.iter().filter_map(|device| device.fd()).collect();
        // Neither when a full device has room, nor what comes to one without a descriptor, is told.
        if self.collected || fds.len() < self.devices.len() {
            left = left.min(LOOK);
        }
        let mut fds: Vec<_> = fds.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        let time = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        let polled = poll(&mut fds, Some(&time));
        if fds.iter().any(|fd| fd.revents().contains(PollFlags::ERR)) {
            self.watch = now;
        }
        match polled {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The bridge or router.
    pub fn forwarder(&mut self) -> &mut Forwarder {
        &mut self.forwarder
    }

    /// What became of the frames of a port's device, and how many it had no room for.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn device_counts(&mut self, port: PortId) -> (DeviceCounts, u64) {
        (self.devices[port.index()].counts(), self.dropped[port.index()])
    }
}

impl PortFilters {
    fn of(port: &PortConfig, config: &ForwardConfig) -> Result<Option<Self>, NodeError> {
        if !port.filters {
            return Ok(None);
        }
        let bank = FilterBank::new(config.filters)?;
        let delivery =
            Delivery::listen(&Nic::shm()?, port.link.name().as_bytes(), DeliveryConfig::default())?;
        Ok(Some(Self { labels: port.labels.known, bank, delivery }))
    }

    /// Lets those have a frame who want it.
    #[inline]
    fn show(&mut self, frame: &[u8], now: Instant) {
        if !self.bank.is_empty()
            && let Ok(mut packet) = Packet::of(frame)
        {
            packet.label = packet.label.filter(|_| self.labels || !is_labelled(frame));
            self.delivery.deliver(self.bank.consumers(&packet, now), &View::from(&packet));
        }
    }

    fn look(&mut self) {
        // What the system refuses, it refuses somebody who came: those who are there go on.
        let _ = self.delivery.poll(&mut self.bank);
    }
}

fn open_link(link: &Link, promiscuous: bool) -> io::Result<Box<dyn Device>> {
    Ok(match link {
        Link::Interface(name) => {
            Box::new(PacketDevice::open(name, &PacketConfig { promiscuous, ..PacketConfig::default() })?)
        }
        Link::Tap(name) => Box::new(Tap::open(name, unused_address())?),
    })
}

/// Of the range that everybody may use. Nobody else on the network has it, wherever other forwarders run: it says who a bridge is,
/// and a router.
fn unused_address() -> EthernetAddress {
    let [a, b, c, d, e, ..] = OsNonces::default().next_nonce().to_le_bytes();
    EthernetAddress([2, a, b, c, d, e])
}

/// Has a router learn routes by a protocol.
fn add_protocol(router: &mut Router, protocol: &ProtocolConfig) -> Result<(), RouteError> {
    let v6 = protocol.kind.is_v6();
    let own = |port: &PortId| {
        // Of IPv6 the address on the link.
        let is = |cidr: &&IpCidr| match cidr {
            IpCidr::Ipv4(_) => !v6,
            IpCidr::Ipv6(cidr) => v6 && cidr.address().is_unicast_link_local(),
        };
        router.host(*port).addresses.iter().find(is).copied()
    };
    let interface = |port: &PortId| {
        let (metric, authentication) = (protocol.metric, protocol.authentication.clone());
        Some((*port, Interface { metric, authentication, ..Interface::new(own(port)?) }))
    };
    let interfaces: Vec<_> = protocol.ports.iter().filter_map(interface).collect();
    let (id, seconds) = (id(router), seconds_since_1970());
    let all = interfaces.iter().map(|(_, interface)| interface.clone()).collect();
    let routing: Box<dyn Routing + Send> = match protocol.kind {
        ProtocolKind::Rip | ProtocolKind::Ripng => {
            let version = if v6 { Version::RipNg } else { Version::Rip2 };
            let config = DistanceVectorConfig::new(version, id, all);
            let usual = config.timers;
            let most = period(protocol.periods.triggered_s, usual.triggered[1]);
            let least = protocol.periods.triggered_s.map_or(usual.triggered[0], |_| most / 5);
            let timers = Timers {
                update: period(protocol.periods.update_s, usual.update),
                timeout: period(protocol.periods.timeout_s, usual.timeout),
                garbage: period(protocol.periods.garbage_s, usual.garbage),
                triggered: [least, most],
            };
            Box::new(DistanceVector::new(DistanceVectorConfig { timers, first_sequence: seconds, ..config }))
        }
        ProtocolKind::LinkState | ProtocolKind::LinkState6 => {
            let config = LinkStateConfig::new(id, all);
            let usual = config.timers;
            let timers = LinkStateTimers {
                hello: period(protocol.periods.update_s, usual.hello),
                dead: period(protocol.periods.timeout_s, usual.dead),
                ..usual
            };
            Box::new(LinkState::new(LinkStateConfig { timers, first_sequence: seconds, ..config }))
        }
    };
    router.add_protocol(routing, &interfaces, Instant::ZERO)
}

fn period(seconds: Option<f64>, usual: Duration) -> Duration {
    seconds.map_or(usual, |seconds| Duration::from_micros((seconds * 1e6) as u64))
}

/// A number that no other router has: the end of the hardware address of the first port.
fn id(router: &Router) -> u32 {
    let EthernetAddress([.., a, b, c, d]) = router.host(PortId(0)).hardware;
    u32::from_be_bytes([a, b, c, d])
}

/// More than it was in any life of this router before.
fn seconds_since_1970() -> u32 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(1, |since| since.as_secs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tap_has_the_address_of_another() {
        let [one, other] = [(); 2].map(|()| unused_address());
        assert_ne!(one, other);
        assert!(one.is_unicast() && one.0[0] == 2);
    }
}
