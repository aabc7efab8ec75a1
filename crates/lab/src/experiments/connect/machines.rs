//! Two machines that talk: each handles one thing after another, in the order of arrival.

use std::time::Duration;

use throughline_demux::{AnyLocator, HashKind, Ipv4Connection, LocatorConfig, Strategy};

use crate::LabError;
use crate::traffic::{self, Agenda, Event, Kind, Subject, Tally, keys};

/// Sequent's default.
pub(crate) const CHAINS: usize = 19;
/// Messages that each connection sends.
const MESSAGES: u32 = 5;
/// From one machine to the other: a 100-byte message on Ethernet of 10 Mbit/s takes 0.12 ms with its headers.
const WIRE: Duration = Duration::from_micros(150);

/// What handling a packet takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    pub(crate) packet: Duration,
    pub(crate) entry: Duration,
}

/// Who connects to whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    pub(crate) strategy: Strategy,
    pub(crate) hash: HashKind,
    pub(crate) connections: u32,
    pub(crate) seed: u64,
}

impl Setup {
    /// An empty table for one end.
    pub(crate) fn locator(&self) -> Result<AnyLocator<Ipv4Connection>, LabError> {
        let config = LocatorConfig {
            limit: self.connections as usize,
            chains: CHAINS,
            hash: self.hash,
            ..LocatorConfig::seeded(self.seed)
        };
        Ok(self.strategy.locator(config)?)
    }
}

/// Who receives a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Server,
    Client,
}

/// How a run went.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) server: traffic::Costs,
    pub(crate) client: traffic::Costs,
    /// All packets in the order of their arrival.
    pub(crate) packets: Vec<(End, Event)>,
}

impl Run {
    /// Both ends together.
    pub(crate) fn total(&self) -> Tally {
        let mut total = self.server.total();
        total.merge(&self.client.total());
        total
    }
}

/// What a packet is called, from the kind that it is counted as.
pub(crate) fn describe(end: &str, kind: Kind) -> &'static str {
    match (end, kind) {
        (_, Kind::Open) => "SYN",
        (_, Kind::Entry) => "SYN, acknowledgement",
        ("server", Kind::Acknowledgement) => "acknowledgement of the SYN",
        (_, Kind::Acknowledgement) => "acknowledgement of a message",
        _ => "message",
    }
}

/// What waits to be handled, for the connection of that number.
#[derive(Clone, Copy)]
enum Work {
    /// At the client: open a connection.
    Connect,
    /// At the server.
    Syn,
    /// At the client.
    SynBack,
    /// At the server.
    Established,
    /// At the client: the application sends its next message.
    Send(u32),
    /// At the server.
    Message(u32),
    /// At the client.
    Acknowledged(u32),
}

/// A machine: its connections, what it received, and when it has time again.
struct Machine {
    end: End,
    connections: Subject<AnyLocator<Ipv4Connection>>,
    received: Vec<(End, Event)>,
    free: Duration,
    costs: Costs,
}

impl Machine {
    /// Looks the packet's connection up; when that is done.
    fn packet(&mut self, now: Duration, flow: u32, kind: Kind) -> Result<Duration, LabError> {
        let event = Event { time: now.as_nanos() as u64, flow, kind };
        self.received.push((self.end, event));
        let examined = self.connections.packet(&event, &keys::one_client(flow), true)?;
        let entries = u32::try_from(examined.entries).unwrap_or(u32::MAX);
        Ok(self.busy(now, self.costs.packet + self.costs.entry * entries))
    }

    /// Works for so long, after what came before; when that is done.
    fn busy(&mut self, now: Duration, length: Duration) -> Duration {
        self.free = self.free.max(now) + length;
        self.free
    }
}

/// The connections are opened at once, and each sends its messages.
pub(crate) fn run(setup: Setup, costs: Costs) -> Result<Run, LabError> {
    let machine = |end| -> Result<Machine, LabError> {
        let connections = Subject::new(setup.locator()?);
        Ok(Machine { end, connections, received: Vec::new(), free: Duration::ZERO, costs })
    };
    let (mut server, mut client) = (machine(End::Server)?, machine(End::Client)?);
    let mut agenda = Agenda::new();
    for connection in 0..setup.connections {
        agenda.at(0, (connection, Work::Connect));
    }
    while let Some((now, (flow, work))) = agenda.next() {
        let now = Duration::from_nanos(now);
        let mut at = |time: Duration, work| agenda.at(time.as_nanos() as u64, (flow, work));
        match work {
            Work::Connect => {
                client.connections.fill([flow], keys::one_client)?;
                at(client.busy(now, costs.packet) + WIRE, Work::Syn);
            }
            Work::Syn => at(server.packet(now, flow, Kind::Open)? + WIRE, Work::SynBack),
            Work::SynBack => {
                let done = client.packet(now, flow, Kind::Entry)?;
                at(done + WIRE, Work::Established);
                at(done, Work::Send(1));
            }
            Work::Established => {
                server.packet(now, flow, Kind::Acknowledgement)?;
            }
            Work::Send(message) => at(client.busy(now, Duration::ZERO) + WIRE, Work::Message(message)),
            Work::Message(message) => {
                at(server.packet(now, flow, Kind::Data)? + WIRE, Work::Acknowledged(message));
            }
            Work::Acknowledged(message) => {
                let done = client.packet(now, flow, Kind::Acknowledgement)?;
                if message < MESSAGES {
                    at(done, Work::Send(message + 1));
                }
            }
        }
    }
    let mut packets = server.received;
    packets.append(&mut client.received);
    packets.sort_by_key(|(_, packet)| packet.time);
    Ok(Run { server: server.connections.costs, client: client.connections.costs, packets })
}
