//! smoltcp with a dispatch that takes one step however many connections there are; what grows are waits for memory.
//!
//! smoltcp asks every socket of a set whether a packet is its own, and whether it has something to send. Here each
//! connection has a set of its own; a locator tells from addresses and ports which one a packet belongs to, and only
//! that set is polled. `cargo run --release -p throughline-demux --example smoltcp_dispatch` shows what both ways cost per
//! packet.
//!
//! What a real stack adds: a heap of each set's `poll_at`, so that retransmissions are sent in time, a reset for packets
//! of no connection, and removal, key first and then record, of connections that have closed.

use std::{
    collections::VecDeque,
    net::Ipv4Addr,
    time::{Duration, Instant as WallClock},
};

use smoltcp::{
    iface::{Config, Interface, SocketHandle, SocketSet},
    phy::{self, ChecksumCapabilities, Device, DeviceCapabilities, Medium},
    socket::tcp,
    time::Instant,
    wire::{HardwareAddress, IpCidr, IpProtocol, Ipv4Packet, TcpPacket},
};
use throughline_demux::{Arena, DynamicHash, Ipv4Connection, Keyed, Locator, Slot};

const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const PORT: u16 = 7;
const ROUNDS: usize = 20;
/// Rounds that pass until all connections are open.
const OPENING: usize = 3;
const WORDS: &[u8] = b"who is there?";

fn main() {
    println!("connections   one set   a set each   (server, ns per packet)");
    for connections in [10, 100, 1_000, 10_000] {
        let one_set = (connections <= 1_000).then(|| ns_per_packet(OneSet::new(connections), connections));
        let dispatched = ns_per_packet(Dispatched::new(SERVER, connections), connections);
        let one_set = one_set.map_or("-".into(), |ns| format!("{ns:.0}"));
        println!("{connections:>11}   {one_set:>7}   {dispatched:>10.0}");
    }
}

/// Packets on their way in and out.
#[derive(Default)]
struct Wire {
    received: VecDeque<Vec<u8>>,
    sent: VecDeque<Vec<u8>>,
}

/// One connection: its socket is alone in its set.
struct Path {
    sockets: SocketSet<'static>,
    socket: SocketHandle,
}

impl Path {
    fn new(socket: tcp::Socket<'static>) -> Self {
        let mut sockets = SocketSet::new(Vec::with_capacity(1));
        let socket = sockets.add(socket);
        Self { sockets, socket }
    }

    fn socket(&mut self) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut(self.socket)
    }
}

/// A host that finds the connection of a packet by its addresses and ports.
struct Dispatched {
    interface: Interface,
    wire: Wire,
    paths: Arena<Path>,
    locator: DynamicHash<Ipv4Connection>,
    /// Bytes that came back to a client.
    echoed: usize,
}

impl Dispatched {
    fn new(address: Ipv4Addr, connections: usize) -> Self {
        let mut wire = Wire::default();
        Self {
            interface: interface(address, &mut wire),
            wire,
            paths: Arena::new(connections as u32),
            // Strangers choose ports: so the hash function has a random seed.
            locator: DynamicHash::with_hash(Keyed::random(), connections),
            echoed: 0,
        }
    }

    /// Adds a connection that is found under `key` from now on; `None` if there are too many.
    fn add(&mut self, key: Ipv4Connection, socket: tcp::Socket<'static>) -> Option<Slot> {
        let handle = self.paths.insert(0, Path::new(socket)).ok()?;
        if self.locator.insert(key, handle.slot).is_err() {
            self.paths.remove(handle);
            return None;
        }
        Some(handle.slot)
    }

    fn connect(&mut self, port: u16) {
        let mut socket = socket();
        socket.connect(self.interface.context(), (SERVER, PORT), port).expect("a free port");
        let key = Ipv4Connection::new(SERVER, PORT, CLIENT, port);
        let slot = self.add(key, socket).expect("room for a connection");
        self.flush(slot, Instant::ZERO);
    }

    /// The connection of a packet. One that opens a connection to our port gets a new one, which listens.
    fn path_of(&mut self, packet: &[u8]) -> Option<Slot> {
        let (key, opens) = key_of(packet)?;
        let known = self.locator.find(&key);
        if known.is_some() || !opens || key.destination_port() != PORT {
            return known;
        }
        let mut socket = socket();
        socket.listen(PORT).ok()?;
        self.add(key, socket)
    }

    fn flush(&mut self, slot: Slot, now: Instant) {
        if let Some(path) = self.paths.exclusive().get_slot(slot) {
            self.interface.poll_egress(now, &mut self.wire, &mut path.sockets);
        }
    }

    /// Sends the same on every connection.
    fn send_all(&mut self, data: &[u8], now: Instant) {
        for slot in (0..self.paths.len() as u32).map(Slot) {
            if let Some(path) = self.paths.exclusive().get_slot(slot) {
                path.socket().send_slice(data).expect("an open connection");
            }
            self.flush(slot, now);
        }
    }
}

/// What a server does with the packets that have come in.
trait Server {
    fn wire(&mut self) -> &mut Wire;
    fn serve(&mut self, now: Instant);
}

impl Server for Dispatched {
    fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    fn serve(&mut self, now: Instant) {
        while let Some(packet) = self.wire.received.pop_front() {
            let Some(slot) = self.path_of(&packet) else { continue };
            let mut paths = self.paths.exclusive();
            let Some(path) = paths.get_slot(slot) else { continue };
            // The interface takes the packet from where it was, and sees this connection only.
            self.wire.received.push_front(packet);
            self.interface.poll_ingress_single(now, &mut self.wire, &mut path.sockets);
            self.echoed += echo(path.socket());
            self.interface.poll_egress(now, &mut self.wire, &mut path.sockets);
        }
    }
}

/// A server as smoltcp has it: all sockets in one set.
struct OneSet {
    interface: Interface,
    wire: Wire,
    sockets: SocketSet<'static>,
    handles: Vec<SocketHandle>,
}

impl OneSet {
    fn new(connections: usize) -> Self {
        let mut wire = Wire::default();
        let mut sockets = SocketSet::new(Vec::with_capacity(connections));
        let listening = |_| {
            let mut socket = socket();
            socket.listen(PORT).expect("a port");
            sockets.add(socket)
        };
        let handles = (0..connections).map(listening).collect();
        Self { interface: interface(SERVER, &mut wire), wire, sockets, handles }
    }
}

impl Server for OneSet {
    fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    fn serve(&mut self, now: Instant) {
        self.interface.poll(now, &mut self.wire, &mut self.sockets);
        for handle in &self.handles {
            echo(self.sockets.get_mut(*handle));
        }
        self.interface.poll(now, &mut self.wire, &mut self.sockets);
    }
}

/// Connects, then has every connection echo a few times; what the server took for each packet it was sent.
fn ns_per_packet(mut server: impl Server, connections: usize) -> f64 {
    let mut client = Dispatched::new(CLIENT, connections);
    (0..connections).for_each(|n| client.connect(10_000 + n as u16));
    let mut time = Duration::ZERO;
    let mut packets = 0;
    for round in 0..ROUNDS {
        let now = Instant::from_millis(round as i64);
        if round >= OPENING {
            client.send_all(WORDS, now);
        }
        server.wire().received.append(&mut client.wire.sent);
        let (arrived, start) = (server.wire().received.len(), WallClock::now());
        server.serve(now);
        if round >= OPENING {
            time += start.elapsed();
            packets += arrived;
        }
        client.wire.received.append(&mut server.wire().sent);
        client.serve(now);
    }
    assert_eq!(client.echoed, connections * (ROUNDS - OPENING) * WORDS.len());
    time.as_nanos() as f64 / packets as f64
}

/// Takes what was received, and sends it back from the server's port. Returns how much stays with a client.
fn echo(socket: &mut tcp::Socket<'_>) -> usize {
    let mut data = [0; 64];
    let mut echoed = 0;
    let is_server = socket.local_endpoint().is_some_and(|endpoint| endpoint.port == PORT);
    while let Ok(n @ 1..) = socket.recv_slice(&mut data) {
        if is_server {
            socket.send_slice(&data[..n]).expect("what came in fits on the way out");
        } else {
            echoed += n;
        }
    }
    echoed
}

/// Whose packet it is, and whether it opens a connection.
fn key_of(packet: &[u8]) -> Option<(Ipv4Connection, bool)> {
    let ip = Ipv4Packet::new_checked(packet).ok()?;
    if ip.next_header() != IpProtocol::Tcp {
        return None;
    }
    let tcp = TcpPacket::new_checked(ip.payload()).ok()?;
    let key = Ipv4Connection::new(ip.src_addr(), tcp.src_port(), ip.dst_addr(), tcp.dst_port());
    Some((key, tcp.syn() && !tcp.ack()))
}

fn socket() -> tcp::Socket<'static> {
    let buffer = || tcp::SocketBuffer::new(vec![0; 128]);
    tcp::Socket::new(buffer(), buffer())
}

fn interface(address: Ipv4Addr, wire: &mut Wire) -> Interface {
    let mut interface = Interface::new(Config::new(HardwareAddress::Ip), wire, Instant::ZERO);
    interface.update_ip_addrs(|addresses| {
        addresses.push(IpCidr::new(address.into(), 8)).expect("room for one address");
    });
    interface
}

impl Device for Wire {
    type RxToken<'a> = Received;
    type TxToken<'a> = ToSend<'a>;

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = 1_500;
        capabilities.checksum = ChecksumCapabilities::ignored();
        capabilities
    }

    fn receive(&mut self, _now: Instant) -> Option<(Received, ToSend<'_>)> {
        Some((Received(self.received.pop_front()?), ToSend(&mut self.sent)))
    }

    fn transmit(&mut self, _now: Instant) -> Option<ToSend<'_>> {
        Some(ToSend(&mut self.sent))
    }
}

struct Received(Vec<u8>);

impl phy::RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, use_packet: F) -> R {
        use_packet(&self.0)
    }
}

struct ToSend<'a>(&'a mut VecDeque<Vec<u8>>);

impl phy::TxToken for ToSend<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, fill: F) -> R {
        let mut packet = vec![0; len];
        let result = fill(&mut packet);
        self.0.push_back(packet);
        result
    }
}
