//! Two hosts on one wire, and messages between them.

use std::hint::black_box;

use throughline_stack::smoltcp::{
    time::Instant,
    wire::{EthernetAddress, IpCidr, Ipv4Address, Ipv4Cidr},
};
use throughline_stack::{Architecture, Config, Graph, Host, Message, Participants, PathId};

use crate::LabError;

/// What is above the lowest protocol, in the paper's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    Eth,
    Ip,
    Udp,
}

impl Stack {
    pub(crate) const ALL: [Self; 3] = [Self::Eth, Self::Ip, Self::Udp];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Eth => "ETH",
            Self::Ip => "IP-ETH",
            Self::Udp => "UDP-IP-ETH",
        }
    }

    /// The protocol that the user is above.
    fn top(self, lowest: &'static str) -> &'static str {
        match self {
            Self::Eth => lowest,
            Self::Ip => "ipv4",
            Self::Udp => "udp",
        }
    }

    fn description(self, lowest: &str, checksums: bool) -> String {
        let switch = if checksums { "on" } else { "off" };
        match self {
            Self::Eth => lowest.to_owned(),
            Self::Ip => format!("ipv4 > {lowest}; arp > eth"),
            Self::Udp => format!("udp(checksum={switch}) > ipv4 > {lowest}; arp > eth"),
        }
    }
}

/// How two hosts talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) stack: Stack,
    pub(crate) architecture: Architecture,
    /// `eth`, or `ethdaa` whose frames name paths.
    pub(crate) lowest: &'static str,
    /// Whether UDP computes and verifies check sums; the paper's does not.
    pub(crate) checksums: bool,
}

const CLIENT: Ipv4Address = Ipv4Address::new(10, 0, 0, 1);
const SERVER: Ipv4Address = Ipv4Address::new(10, 0, 0, 2);
/// Paths between the hosts; all messages use the last.
const PATHS: u16 = 64;

fn host(address: Ipv4Address) -> Host {
    Host::new(hardware(address), IpCidr::Ipv4(Ipv4Cidr::new(address, 24)))
}

fn hardware(address: Ipv4Address) -> EthernetAddress {
    EthernetAddress([2, 0, 0, 0, 0, address.octets()[3]])
}

/// Whom path number `n` leads to, seen from the client.
fn participants(stack: Stack, n: u16) -> Participants {
    let id = Participants::default().application(1 + u32::from(n));
    match stack {
        Stack::Eth => {
            Participants { remote_hardware: Some(hardware(SERVER)), ethertype: Some(0x8900 + n), ..id }
        }
        Stack::Ip => {
            Participants { remote_address: Some(SERVER.into()), protocol: Some(100 + n as u8), ..id }
        }
        Stack::Udp => Participants { local_port: Some(5000 + n), ..Participants::to(SERVER, 6000 + n) }
            .application(1 + u32::from(n)),
    }
}

/// The same, seen from the server before anything has come.
fn listening(stack: Stack, n: u16) -> Participants {
    let client = participants(stack, n);
    Participants { local_port: client.remote_port, remote_port: None, ..client }
}

/// A client and a server, connected by [`PATHS`] paths.
pub(crate) struct Talk {
    pub(crate) client: Graph,
    pub(crate) server: Graph,
    pub(crate) from_client: PathId,
    pub(crate) from_server: PathId,
    pub(crate) now: Instant,
}

impl Talk {
    pub(crate) fn new(way: Way) -> Result<Self, LabError> {
        let description = way.stack.description(way.lowest, way.checksums);
        let config = Config { architecture: way.architecture, ..Config::default() };
        let graph = |address| Graph::compose(&description, host(address), config).map_err(failed);
        let (mut client, mut server) = (graph(CLIENT)?, graph(SERVER)?);
        let top = way.stack.top(way.lowest);
        let mut paths = None;
        for n in 0..PATHS {
            let listener = server.enable(top, listening(way.stack, n)).map_err(failed)?;
            let path = client.open(top, participants(way.stack, n)).map_err(failed)?;
            client.send(path, Message::copied(128, b"hello")).map_err(failed)?;
            exchange(&mut client, &mut server);
            let accepted = server.accepted(listener).ok_or_else(|| failed("no path was made"))?;
            while let Some(path) = server.ready() {
                while let Some(message) = server.receive(path) {
                    server.release(message);
                }
            }
            paths = Some((path, accepted));
        }
        let (from_client, from_server) = paths.ok_or_else(|| failed("no paths"))?;
        Ok(Self { client, server, from_client, from_server, now: Instant::ZERO })
    }

    /// A frame from the client with so many bytes of data.
    pub(crate) fn request(&mut self, data: &[u8]) -> Result<Message, LabError> {
        let mut message = self.client.message();
        message.append(data).map_err(failed)?;
        self.client.send(self.from_client, message).map_err(failed)?;
        self.client.transmit().ok_or_else(|| failed("nothing to send"))
    }

    /// A message goes to the server and comes back; returns how many bytes came.
    pub(crate) fn round_trip(&mut self, data: &[u8]) -> Result<usize, LabError> {
        let request = self.request(data)?;
        self.server.arrive(request, self.now);
        let message = self.received()?;
        self.server.send(self.from_server, message).map_err(failed)?;
        let reply = self.server.transmit().ok_or_else(|| failed("no reply"))?;
        self.client.arrive(reply, self.now);
        let path = self.client.ready().ok_or_else(|| failed("the reply was not delivered"))?;
        let message = self.client.receive(path).ok_or_else(|| failed("the reply was not delivered"))?;
        let len = black_box(message.bytes()).len();
        self.client.release(message);
        Ok(len)
    }

    /// What has arrived at the server.
    pub(crate) fn received(&mut self) -> Result<Message, LabError> {
        let path = self.server.ready().ok_or_else(|| failed("the request was not delivered"))?;
        self.server.receive(path).ok_or_else(|| failed("the request was not delivered"))
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
