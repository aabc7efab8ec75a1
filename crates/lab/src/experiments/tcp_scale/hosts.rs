//! A client with many connections to a server, which is ours or plain smoltcp.

use std::collections::VecDeque;

use throughline_stack::smoltcp::{
    iface::{Config as InterfaceConfig, Interface, PollIngressSingleResult, SocketHandle, SocketSet},
    phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken},
    socket::tcp,
    time::{Duration, Instant},
    wire::{EthernetAddress, HardwareAddress, IpCidr, Ipv4Address, Ipv4Cidr},
};
use throughline_stack::{Config, Graph, Host, Limits, ListenerId, Message, Participants, PathId};

use crate::experiments::{discards, paths::failed};
use crate::{LabError, Row};

const CLIENT: Ipv4Address = Ipv4Address::new(10, 0, 0, 1);
const SERVER: Ipv4Address = Ipv4Address::new(10, 0, 0, 2);
/// Connections to one port of the server: fewer than a client has ports.
const PER_PORT: usize = 10_000;
const FIRST_PORT: u16 = 1000;
/// Bytes of each of a connection's two buffers.
pub(super) const BUFFER: usize = 2048;
/// What each segment carries.
pub(super) const DATA: [u8; 64] = [7; 64];

fn hardware(address: Ipv4Address) -> EthernetAddress {
    EthernetAddress([2, 0, 0, 0, 0, address.octets()[3]])
}

fn graph(address: Ipv4Address, connections: usize) -> Result<Graph, LabError> {
    let host = Host::new(hardware(address), IpCidr::Ipv4(Ipv4Cidr::new(address, 24)));
    let limits = Limits { paths: connections as u32 + 16, spare_buffers: 512, ..Limits::default() };
    let limit = connections + 16;
    let description = format!(
        "tcp(receive={BUFFER}, send={BUFFER}, limit={limit}, lookup=flow-table) > ipv4 > eth; arp > eth"
    );
    Graph::compose(&description, host, Config { limits, ..Config::default() }).map_err(failed)
}

/// Ports that so many connections need.
fn ports(connections: usize) -> u16 {
    connections.div_ceil(PER_PORT) as u16
}

/// A frame in memory of the graph that it goes to, as from a device: no graph gives more memory away than it is given.
fn received(graph: &mut Graph, frame: &Message) -> Message {
    let mut own = graph.message();
    let fits = own.append(frame.bytes());
    debug_assert!(fits.is_ok());
    own
}

/// A server that sends back what it is sent.
pub(super) trait Server {
    /// Takes a frame.
    fn arrive(&mut self, frame: Message);

    /// Takes frames that have arrived together.
    fn arrive_all(&mut self, frames: &mut Vec<Message>);

    /// Reads what has come of the connections that have something, and writes it back. How many had something.
    fn echo(&mut self) -> usize;

    /// The next frame it sends.
    fn transmit(&mut self) -> Option<Message>;

    /// A frame as the server's device hands it over: in memory of its own.
    fn receive(&mut self, frame: &Message) -> Message;

    /// Takes the memory of a frame back that its device has sent.
    fn release(&mut self, frame: Message);

    /// Lets time pass.
    fn tick(&mut self, now: Instant);

    /// The graph, if it is one.
    fn graph(&self) -> Option<&Graph> {
        None
    }
}

/// Ours: one lookup finds the connection of a segment.
pub(super) struct Ours {
    graph: Graph,
    listeners: Vec<ListenerId>,
    now: Instant,
}

impl Ours {
    pub(super) fn new(connections: usize) -> Result<Self, LabError> {
        let mut graph = graph(SERVER, connections)?;
        let listen = |port| graph.enable("tcp", Participants::at(FIRST_PORT + port)).map_err(failed);
        let listeners = (0..ports(connections)).map(listen).collect::<Result<_, _>>()?;
        Ok(Self { graph, listeners, now: Instant::ZERO })
    }
}

impl Server for Ours {
    #[inline(never)]
    fn arrive(&mut self, frame: Message) {
        self.graph.arrive(frame, self.now);
    }

    #[inline(never)]
    fn arrive_all(&mut self, frames: &mut Vec<Message>) {
        self.graph.arrive_all(frames, self.now);
    }

    #[inline(never)]
    fn echo(&mut self) -> usize {
        let mut buffer = [0; 2 * DATA.len()];
        let mut count = 0;
        while let Some(path) = self.graph.ready() {
            match self.graph.read(path, &mut buffer) {
                Ok(len @ 1..) => {
                    let _ = self.graph.write(path, &buffer[..len]);
                    count += 1;
                }
                Ok(_) => {}
                Err(_) => self.graph.close(path),
            }
        }
        count
    }

    fn transmit(&mut self) -> Option<Message> {
        self.graph.transmit()
    }

    fn receive(&mut self, frame: &Message) -> Message {
        received(&mut self.graph, frame)
    }

    fn release(&mut self, frame: Message) {
        self.graph.release(frame);
    }

    fn graph(&self) -> Option<&Graph> {
        Some(&self.graph)
    }

    fn tick(&mut self, now: Instant) {
        self.now = now;
        self.graph.tick(now);
        for listener in &self.listeners {
            while self.graph.accepted(*listener).is_some() {}
        }
    }
}

/// smoltcp as its users run it: one interface, one set of all sockets.
pub(super) struct Plain {
    interface: Interface,
    sockets: SocketSet<'static>,
    handles: Vec<SocketHandle>,
    wire: Wire,
    now: Instant,
}

/// smoltcp's device: frames in, frames out.
#[derive(Default)]
struct Wire {
    received: VecDeque<Message>,
    sent: VecDeque<Message>,
}

impl Plain {
    pub(super) fn new(connections: usize) -> Self {
        let mut wire = Wire::default();
        let config = InterfaceConfig::new(HardwareAddress::Ethernet(hardware(SERVER)));
        let mut interface = Interface::new(config, &mut wire, Instant::ZERO);
        interface.update_ip_addrs(|own| own.extend([IpCidr::Ipv4(Ipv4Cidr::new(SERVER, 24))]));
        let mut sockets = SocketSet::new(Vec::with_capacity(connections));
        let handles = (0..connections)
            .map(|n| {
                let buffer = || tcp::SocketBuffer::new(vec![0; BUFFER]);
                let mut socket = tcp::Socket::new(buffer(), buffer());
                socket.set_nagle_enabled(false);
                // A socket that listens takes one connection: there is one for each that will come.
                let listening = socket.listen(FIRST_PORT + (n / PER_PORT) as u16);
                debug_assert!(listening.is_ok());
                sockets.add(socket)
            })
            .collect();
        Self { interface, sockets, handles, wire, now: Instant::ZERO }
    }
}

impl Server for Plain {
    #[inline(never)]
    fn arrive(&mut self, frame: Message) {
        self.wire.received.push_back(frame);
        self.interface.poll_ingress_single(self.now, &mut self.wire, &mut self.sockets);
    }

    #[inline(never)]
    fn arrive_all(&mut self, frames: &mut Vec<Message>) {
        self.wire.received.extend(frames.drain(..));
        let (now, wire, sockets) = (self.now, &mut self.wire, &mut self.sockets);
        while self.interface.poll_ingress_single(now, wire, sockets) != PollIngressSingleResult::None {}
    }

    #[inline(never)]
    fn echo(&mut self) -> usize {
        let mut buffer = [0; 2 * DATA.len()];
        let mut count = 0;
        for handle in &self.handles {
            let socket = self.sockets.get_mut::<tcp::Socket<'_>>(*handle);
            if socket.can_recv()
                && let Ok(len @ 1..) = socket.recv_slice(&mut buffer)
            {
                let _ = socket.send_slice(&buffer[..len]);
                count += 1;
            }
        }
        self.interface.poll_egress(self.now, &mut self.wire, &mut self.sockets);
        count
    }

    fn transmit(&mut self) -> Option<Message> {
        self.wire.sent.pop_front()
    }

    fn receive(&mut self, frame: &Message) -> Message {
        Message::copied(0, frame.bytes())
    }

    fn release(&mut self, _: Message) {}

    fn tick(&mut self, now: Instant) {
        self.now = now;
        self.interface.poll(now, &mut self.wire, &mut self.sockets);
    }
}

impl Device for Wire {
    type RxToken<'t> = Packet;
    type TxToken<'t> = Room<'t>;

    fn receive(&mut self, _: Instant) -> Option<(Packet, Room<'_>)> {
        Some((Packet(self.received.pop_front()?), Room(&mut self.sent)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Room<'_>> {
        Some(Room(&mut self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = 1514;
        capabilities
    }
}

struct Packet(Message);

impl RxToken for Packet {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(self.0.bytes())
    }
}

struct Room<'a>(&'a mut VecDeque<Message>);

impl TxToken for Room<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut message = Message::with_capacity(0, len);
        let result = f(&mut message.room_mut()[..len]);
        message.filled(len);
        self.0.push_back(message);
        result
    }
}

/// Many connections of one client to a server.
pub(super) struct Crowd<S> {
    pub(super) server: S,
    client: Graph,
    paths: Vec<PathId>,
    connections: usize,
    now: Instant,
}

impl<S: Server> Crowd<S> {
    /// Connects them all.
    pub(super) fn new(server: S, connections: usize) -> Result<Self, LabError> {
        let client = graph(CLIENT, connections)?;
        let mut crowd = Self { server, client, paths: Vec::new(), connections, now: Instant::ZERO };
        crowd.connect()?;
        Ok(crowd)
    }

    /// What both ends have discarded.
    pub(super) fn discarded(&self) -> Vec<Row> {
        discards::rows("tcp-scale", self.server.graph().into_iter().chain([&self.client]))
    }

    /// How many connections there are.
    pub(super) fn len(&self) -> usize {
        self.connections
    }

    /// Opens them all, and uses each once.
    pub(super) fn connect(&mut self) -> Result<(), LabError> {
        for n in 0..self.connections {
            let to = Participants::to(SERVER, FIRST_PORT + (n / PER_PORT) as u16);
            let to = to.from_port(10_000 + (n % PER_PORT) as u16);
            self.paths.push(self.client.open("tcp", to).map_err(failed)?);
            self.exchange();
            if n % 256 == 255 {
                self.pass();
            }
        }
        self.pass();
        self.pass();
        // In portions that the queues to the devices have room for.
        for first in (0..self.connections).step_by(256) {
            for path in &self.paths[first..self.connections.min(first + 256)] {
                if self.client.write(*path, &DATA) != Ok(DATA.len()) {
                    return Err(failed("not every connection was made"));
                }
            }
            self.exchange();
            self.server.echo();
            self.pass();
        }
        self.pass();
        if self.drain() != self.connections * DATA.len() {
            return Err(failed("not every connection works"));
        }
        Ok(())
    }

    /// Ends them all; returns when nothing is left of them at either end.
    pub(super) fn close(&mut self) -> Result<(), LabError> {
        for paths in std::mem::take(&mut self.paths).chunks(256) {
            paths.iter().for_each(|path| self.client.close(*path));
            self.exchange();
            self.server.echo();
            self.pass();
        }
        // The end that closed first remembers connections for ten seconds, lest old segments come late.
        for _ in 0..1_600 {
            self.pass();
        }
        Ok(())
    }

    /// Frames with data for these connections, one each.
    pub(super) fn requests(&mut self, numbers: impl Iterator<Item = usize>) -> Vec<Message> {
        numbers
            .filter_map(|n| {
                self.client.write(self.paths[n], &DATA).ok()?;
                let request = self.client.transmit()?;
                let received = self.server.receive(&request);
                self.client.release(request);
                Some(received)
            })
            .collect()
    }

    /// Takes the server's answers to the client. How many bytes came.
    pub(super) fn finish(&mut self) -> usize {
        self.exchange();
        let came = self.drain();
        self.pass();
        came
    }

    fn drain(&mut self) -> usize {
        let mut buffer = [0; BUFFER];
        let mut came = 0;
        while let Some(path) = self.client.ready() {
            came += self.client.read(path, &mut buffer).unwrap_or(0);
        }
        came
    }

    /// Time enough for acknowledgements that wait.
    fn pass(&mut self) {
        self.now += Duration::from_millis(7);
        self.client.tick(self.now);
        self.server.tick(self.now);
        self.exchange();
    }

    fn exchange(&mut self) {
        loop {
            match (self.client.transmit(), self.server.transmit()) {
                (None, None) => return,
                (request, reply) => {
                    if let Some(request) = request {
                        let received = self.server.receive(&request);
                        self.client.release(request);
                        self.server.arrive(received);
                    }
                    if let Some(reply) = reply {
                        let received = received(&mut self.client, &reply);
                        self.server.release(reply);
                        self.client.arrive(received, self.now);
                    }
                }
            }
        }
    }
}
