//! Two hosts on one wire, and messages between them.

use std::hint::black_box;

use throughline_stack::smoltcp::{
    time::Instant,
    wire::{EthernetAddress, IpCidr, Ipv4Address, Ipv4Cidr},
};
use throughline_stack::{Architecture, Config, Graph, Host, Message, Participants, PathId};

use super::Talks;
use crate::LabError;

/// What is above the lowest protocol, in the paper's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    Eth,
    Ip,
    Udp,
    Tcp,
}

impl Stack {
    pub(crate) const ALL: [Self; 4] = [Self::Eth, Self::Ip, Self::Udp, Self::Tcp];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Eth => "ETH",
            Self::Ip => "IP-ETH",
            Self::Udp => "UDP-IP-ETH",
            Self::Tcp => "TCP-IP-ETH",
        }
    }

    /// The protocol that the user is above.
    pub(crate) fn top(self, lowest: &'static str) -> &'static str {
        match self {
            Self::Eth => lowest,
            Self::Ip => "ipv4",
            Self::Udp => "udp",
            Self::Tcp => "tcp",
        }
    }

    pub(crate) fn description(self, lowest: &str, checksums: bool) -> String {
        let switch = if checksums { "on" } else { "off" };
        match self {
            Self::Eth => lowest.to_owned(),
            Self::Ip => format!("ipv4 > {lowest}; arp > eth"),
            Self::Udp => format!("udp(checksum={switch}) > ipv4 > {lowest}; arp > eth"),
            Self::Tcp => format!("tcp > ipv4 > {lowest}; arp > eth"),
        }
    }

    /// Whether the check sums of the transport are as in the paper's measurements: its UDP has none, every TCP has them.
    pub(crate) fn papers_checksums(self) -> bool {
        self == Self::Tcp
    }
}

/// How two hosts talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) stack: Stack,
    pub(crate) architecture: Architecture,
    /// `eth`, or `ethdaa` whose frames name paths.
    pub(crate) lowest: &'static str,
    /// Whether the transport computes and verifies check sums.
    pub(crate) checksums: bool,
}

impl Way {
    /// Whether users' data has a check sum that the graph's own code verifies.
    pub(crate) fn has_data_checked(self) -> bool {
        self.stack == Stack::Udp && self.checksums
    }

    /// Whether the paper has it.
    pub(crate) fn is_papers(self) -> bool {
        self.lowest == lowest(self.architecture) && self.checksums == self.stack.papers_checksums()
    }
}

/// The paper's lowest layer for an architecture.
pub(crate) fn lowest(architecture: Architecture) -> &'static str {
    if architecture == Architecture::Direct { "ethdaa" } else { "eth" }
}

pub(crate) const CLIENT: Ipv4Address = Ipv4Address::new(10, 0, 0, 1);
pub(crate) const SERVER: Ipv4Address = Ipv4Address::new(10, 0, 0, 2);
/// Paths between the hosts; all messages use the last.
const PATHS: u16 = 64;

fn host(address: Ipv4Address) -> Host {
    Host::new(hardware(address), IpCidr::Ipv4(Ipv4Cidr::new(address, 24)))
}

fn hardware(address: Ipv4Address) -> EthernetAddress {
    EthernetAddress([2, 0, 0, 0, 0, address.octets()[3]])
}

/// Whom path number `n` leads to, seen from the client of a server with this hardware address.
pub(crate) fn participants(stack: Stack, server: EthernetAddress, n: u16) -> Participants {
    let id = Participants::default().application(1 + u32::from(n));
    match stack {
        Stack::Eth => Participants { remote_hardware: Some(server), ethertype: Some(0x8900 + n), ..id },
        Stack::Ip => {
            Participants { remote_address: Some(SERVER.into()), protocol: Some(100 + n as u8), ..id }
        }
        Stack::Udp | Stack::Tcp => {
            Participants::to(SERVER, 6000 + n).from_port(5000 + n).application(1 + u32::from(n))
        }
    }
}

/// The same, seen from the server before anything has come.
pub(crate) fn listening(stack: Stack, server: EthernetAddress, n: u16) -> Participants {
    let client = participants(stack, server, n);
    Participants { local_port: client.remote_port, remote_port: None, ..client }
}

/// A client and a server, connected by [`PATHS`] paths.
pub(crate) struct Talk {
    pub(crate) client: Graph,
    pub(crate) server: Graph,
    from_client: PathId,
    from_server: PathId,
    pub(crate) now: Instant,
    user: User,
}

/// Who uses a path, at either end: of messages or of a stream.
pub(crate) struct User {
    is_stream: bool,
    /// What has come of a stream.
    buffer: Box<[u8]>,
}

/// What has come.
#[derive(Debug)]
pub(crate) enum Came {
    Message(Message),
    /// So many bytes, in the user's buffer.
    Bytes(usize),
}

impl User {
    pub(crate) fn new(stack: Stack) -> Self {
        Self { is_stream: stack == Stack::Tcp, buffer: vec![0; 2048].into_boxed_slice() }
    }

    pub(crate) fn send(&self, graph: &mut Graph, path: PathId, data: &[u8]) -> Result<(), LabError> {
        if self.is_stream {
            return match graph.write(path, data) {
                Ok(len) if len == data.len() => Ok(()),
                other => Err(failed(format!("written: {other:?}"))),
            };
        }
        let mut message = graph.message();
        message.append(data).map_err(failed)?;
        graph.send(path, message).map_err(failed)
    }

    /// What has arrived for the path that has something.
    #[inline]
    pub(crate) fn receive(&mut self, graph: &mut Graph) -> Option<Came> {
        let path = graph.ready()?;
        if self.is_stream {
            return graph.read(path, &mut self.buffer).ok().filter(|len| *len > 0).map(Came::Bytes);
        }
        graph.receive(path).map(Came::Message)
    }

    /// Sends back what came.
    #[inline]
    pub(crate) fn answer(&self, graph: &mut Graph, path: PathId, came: Came) -> Result<(), LabError> {
        match came {
            Came::Message(message) => graph.send(path, message).map_err(failed),
            Came::Bytes(len) => self.send(graph, path, &self.buffer[..len]),
        }
    }

    /// Looks at what came, and how much it was.
    #[inline]
    pub(crate) fn consume(&self, graph: &mut Graph, came: Came) -> usize {
        match came {
            Came::Message(message) => {
                let len = black_box(message.bytes()).len();
                graph.release(message);
                len
            }
            Came::Bytes(len) => black_box(&self.buffer[..len]).len(),
        }
    }
}

impl Talk {
    pub(crate) fn new(way: Way) -> Result<Self, LabError> {
        let Way { stack, .. } = way;
        let description = stack.description(way.lowest, way.checksums);
        let config = Config { architecture: way.architecture, ..Config::default() };
        let graph = |address| Graph::compose(&description, host(address), config).map_err(failed);
        let (mut client, mut server) = (graph(CLIENT)?, graph(SERVER)?);
        let (top, mut user, to) = (stack.top(way.lowest), User::new(stack), hardware(SERVER));
        let mut paths = None;
        for n in 0..PATHS {
            let listener = server.enable(top, listening(stack, to, n)).map_err(failed)?;
            let path = client.open(top, participants(stack, to, n)).map_err(failed)?;
            exchange(&mut client, &mut server);
            user.send(&mut client, path, b"hello")?;
            exchange(&mut client, &mut server);
            let accepted = server.accepted(listener).ok_or_else(|| failed("no path was made"))?;
            while let Some(came) = user.receive(&mut server) {
                user.consume(&mut server, came);
            }
            // That a connection was made.
            while client.ready().is_some() {}
            paths = Some((path, accepted));
        }
        let (from_client, from_server) = paths.ok_or_else(|| failed("no paths"))?;
        Ok(Self { client, server, from_client, from_server, now: Instant::ZERO, user })
    }

    /// A frame from the client with so many bytes of data.
    pub(crate) fn request(&mut self, data: &[u8]) -> Result<Message, LabError> {
        self.user.send(&mut self.client, self.from_client, data)?;
        self.client.transmit().ok_or_else(|| failed("nothing to send"))
    }

    /// What has arrived at the server.
    pub(crate) fn received(&mut self) -> Result<Came, LabError> {
        self.user.receive(&mut self.server).ok_or_else(|| failed("the request was not delivered"))
    }

    /// Moves the message that has arrived at the server to a place of its length.
    pub(crate) fn received_into(&mut self, place: &mut [u8]) -> Result<(), LabError> {
        let path = self.server.ready().ok_or_else(|| failed("the request was not delivered"))?;
        match self.server.receive_into(path, &(), place) {
            Ok(Some((len, ()))) if len == place.len() => Ok(()),
            _ => Err(failed("the request was not delivered")),
        }
    }

    /// Takes it back to the client; returns how many bytes came.
    pub(crate) fn answered(&mut self, came: Came) -> Result<usize, LabError> {
        self.user.answer(&mut self.server, self.from_server, came)?;
        let reply = self.server.transmit().ok_or_else(|| failed("no reply"))?;
        self.client.arrive(reply, self.now);
        let came =
            self.user.receive(&mut self.client).ok_or_else(|| failed("the reply was not delivered"))?;
        Ok(self.user.consume(&mut self.client, came))
    }
}

fn exchange(client: &mut Graph, server: &mut Graph) {
    loop {
        let frames = (client.transmit(), server.transmit());
        match frames {
            (None, None) => return,
            (request, reply) => {
                request.into_iter().for_each(|frame| server.arrive(frame, Instant::ZERO));
                reply.into_iter().for_each(|frame| client.arrive(frame, Instant::ZERO));
            }
        }
    }
}

pub(crate) fn failed(error: impl ToString) -> LabError {
    LabError::Child { who: "the protocol graph".to_owned(), what: error.to_string() }
}

impl Talks for Talk {
    fn round_trip(&mut self, data: &[u8]) -> Result<usize, LabError> {
        let request = self.request(data)?;
        self.server.arrive(request, self.now);
        let came = self.received()?;
        self.answered(came)
    }
}
