//! Two hosts: one asks, on one path urgently and on many others beside it, and the other sends everything back.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use throughline_stack::smoltcp::wire::{IpCidr, Ipv4Address, Ipv4Cidr};
use throughline_stack::{
    Architecture, Config, Device, Discard, Driver, Graph, Host, ListenerId, Participants, PathId, Urgency,
};

use super::super::paths::failed;
use crate::LabError;

/// How messages are taken through the layers, and whether the urgent ones are told from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) architecture: Architecture,
    pub(crate) priorities: bool,
    /// Whether another urgent message is expected for a while after each.
    pub(crate) patient: bool,
}

impl Way {
    /// All that there are: in the layered architecture the path is known too late.
    pub(crate) const ALL: [Self; 7] = [
        Self::of(Architecture::Layered, false, false),
        Self::of(Architecture::Direct, false, false),
        Self::of(Architecture::Direct, true, false),
        Self::of(Architecture::Direct, true, true),
        Self::of(Architecture::Integrated, false, false),
        Self::of(Architecture::Integrated, true, false),
        Self::of(Architecture::Integrated, true, true),
    ];

    const fn of(architecture: Architecture, priorities: bool, patient: bool) -> Self {
        Self { architecture, priorities, patient }
    }

    pub(crate) fn name(self) -> String {
        let priorities = if self.priorities { "with" } else { "without" };
        let patience = if self.patient { " and patience" } else { "" };
        format!("{} {priorities} priorities{patience}", self.architecture.name())
    }

    /// For how long an urgent message is expected.
    pub(crate) fn patience(self) -> Duration {
        if self.patient { PATIENCE } else { Duration::ZERO }
    }

    /// As in the paper, UDP has no check sums, and the direct architecture stands on the Ethernet whose header names the path
    /// and the priority. The others have it from the path.
    fn graph<D: Device>(self, device: &D, address: Ipv4Address) -> Result<Graph, LabError> {
        let lowest = if self.architecture == Architecture::Direct { "ethdaa" } else { "eth" };
        let config = Config {
            architecture: self.architecture,
            scheduling: self.priorities.then_some(Urgency::Priority),
            patience: self.patience(),
            sending: if self.priorities { Urgency::Priority } else { Urgency::Arrival },
            ..Config::default()
        };
        let host = Host::at(device, IpCidr::Ipv4(Ipv4Cidr::new(address, 24)));
        let description = format!("udp(checksum=off) > ipv4 > {lowest}; arp > eth");
        Graph::compose(&description, host, config).map_err(failed)
    }
}

const CLIENT: Ipv4Address = Ipv4Address::new(10, 78, 0, 1);
const SERVER: Ipv4Address = Ipv4Address::new(10, 78, 0, 2);
/// The urgent path's; those of the others follow.
const PORT: u16 = 6000;
const URGENT: u32 = 1;
static DATA: [u8; 1500] = [7; 1500];
/// When nothing comes for so long, something was lost.
const LOST: Duration = Duration::from_secs(5);
/// About three urgent exchanges over veth: so long the next urgent message is expected.
const PATIENCE: Duration = Duration::from_micros(20);

/// Sends everything back.
pub(crate) struct Server<D> {
    driver: Driver<D>,
    listener: ListenerId,
    /// Known when the first urgent message has come.
    urgent: Option<PathId>,
    priorities: bool,
    /// Messages served, and how many of them when the urgent one was last.
    pub(crate) served: u64,
    pub(crate) urgent_served_at: Option<u64>,
}

impl<D: Device> Server<D> {
    /// One that expects an urgent flow and so many others.
    pub(crate) fn new(way: Way, device: D, others: u16) -> Result<Self, LabError> {
        let mut graph = way.graph(&device, SERVER)?;
        let mut enable = |n| {
            let at = Participants::at(PORT + n).application(u32::from(PORT + n));
            graph.enable("udp", at).map_err(failed)
        };
        let listener = enable(0)?;
        (1..=others).try_for_each(|n| enable(n).map(|_| ()))?;
        let driver = Driver::new(graph, device);
        let priorities = way.priorities;
        Ok(Self { driver, listener, urgent: None, priorities, served: 0, urgent_served_at: None })
    }

    /// Does what there is to do, at most one message's work where there are priorities. Whether there was anything.
    pub(crate) fn step(&mut self) -> Result<bool, LabError> {
        let busy = self.driver.poll()?;
        while let Some(path) = self.driver.graph.ready() {
            if self.urgent.is_none() {
                self.meet();
            }
            while let Some(message) = self.driver.graph.receive(path) {
                if self.urgent == Some(path) {
                    self.urgent_served_at = Some(self.served);
                }
                self.served += 1;
                self.driver.graph.send(path, message).map_err(failed)?;
            }
        }
        Ok(self.driver.flush()? | busy)
    }

    /// What went no further, and why.
    pub(crate) fn discarded(&self) -> Discarded {
        discarded(&self.driver.graph)
    }

    /// Says which path is urgent, once it is there.
    fn meet(&mut self) {
        self.urgent = self.driver.graph.accepted(self.listener);
        if let Some(path) = self.urgent.filter(|_| self.priorities) {
            self.driver.graph.set_priority(path, URGENT);
        }
    }
}

/// Asks, and keeps one message of each of the other flows under way.
pub(crate) struct Client<D> {
    driver: Driver<D>,
    urgent: PathId,
    others: Vec<PathId>,
    /// Messages of the others that came back.
    returned: u64,
}

/// What happened while urgent messages were exchanged.
#[derive(Debug)]
pub(crate) struct Exchanged {
    /// How long each exchange took, in nanoseconds.
    pub(crate) times: Vec<u32>,
    /// Messages of the other flows that came back meanwhile.
    pub(crate) others: u64,
}

impl<D: Device> Client<D> {
    pub(crate) fn new(way: Way, device: D, others: u16) -> Result<Self, LabError> {
        let mut graph = way.graph(&device, CLIENT)?;
        let mut open = |n| {
            let to = Participants::to(SERVER, PORT + n).from_port(PORT + n);
            graph.open("udp", to.application(u32::from(PORT + n))).map_err(failed)
        };
        let urgent = open(0)?;
        let others = (1..=others).map(open).collect::<Result<_, _>>()?;
        if way.priorities {
            graph.set_priority(urgent, URGENT);
        }
        Ok(Self { driver: Driver::new(graph, device), urgent, others, returned: 0 })
    }

    /// Has all paths made, one after another; `turn` is what the server does meanwhile.
    pub(crate) fn connect(&mut self, mut turn: impl FnMut() -> Result<(), LabError>) -> Result<(), LabError> {
        let paths: Vec<_> = std::iter::once(self.urgent).chain(self.others.iter().copied()).collect();
        for path in paths {
            self.send(path, 1)?;
            let begun = Instant::now();
            while !self.step(path, false)? {
                turn()?;
                is_in_time(begun)?;
            }
        }
        Ok(())
    }

    /// What went no further, and why.
    pub(crate) fn discarded(&self) -> Discarded {
        discarded(&self.driver.graph)
    }

    fn send(&mut self, path: PathId, len: usize) -> Result<(), LabError> {
        let mut message = self.driver.graph.message();
        message.append(&DATA[..len]).map_err(failed)?;
        self.driver.graph.send(path, message).map_err(failed)?;
        self.driver.flush()?;
        Ok(())
    }

    /// Sends a message of each of the other flows.
    pub(crate) fn send_others(&mut self, len: usize) -> Result<(), LabError> {
        self.others.clone().into_iter().try_for_each(|path| self.send(path, len))
    }

    /// Sends the urgent one.
    pub(crate) fn send_urgent(&mut self) -> Result<(), LabError> {
        self.send(self.urgent, 1)
    }

    /// So many urgent exchanges, each after the other.
    pub(crate) fn exchanges(&mut self, count: usize) -> Result<Exchanged, LabError> {
        let (mut times, before) = (Vec::with_capacity(count), self.returned);
        for _ in 0..count {
            let begun = Instant::now();
            self.send_urgent()?;
            while !self.step(self.urgent, true)? {
                is_in_time(begun)?;
            }
            times.push(u32::try_from(begun.elapsed().as_nanos()).unwrap_or(u32::MAX));
        }
        Ok(Exchanged { times, others: self.returned - before })
    }

    /// Takes what has come; what was not urgent goes out again, if that is wanted. Whether anything came by `path`.
    fn step(&mut self, awaited: PathId, again: bool) -> Result<bool, LabError> {
        let busy = self.driver.poll()?;
        let mut came = false;
        while let Some(path) = self.driver.graph.ready() {
            while let Some(message) = self.driver.graph.receive(path) {
                came |= path == awaited;
                self.returned += u64::from(path != self.urgent);
                if again && path != self.urgent {
                    self.driver.graph.send(path, message).map_err(failed)?;
                } else {
                    self.driver.graph.release(message);
                }
            }
        }
        if !(self.driver.flush()? | busy) {
            pause();
        }
        Ok(came)
    }
}

/// Messages that a protocol discarded for some reason.
pub(crate) type Discarded = BTreeMap<(String, String), u64>;

fn discarded(graph: &Graph) -> Discarded {
    let counted =
        |(protocol, why, count): (&str, Discard, u64)| ((protocol.to_owned(), why.to_string()), count);
    graph.discarded().map(counted).collect()
}

fn is_in_time(begun: Instant) -> Result<(), LabError> {
    if begun.elapsed() > LOST { Err(failed("a message was lost")) } else { Ok(()) }
}

/// Lets go of the processor where there is none for the other host.
pub(crate) fn pause() {
    static IS_ALONE: LazyLock<bool> =
        LazyLock::new(|| thread::available_parallelism().is_ok_and(|processors| processors.get() == 1));
    if *IS_ALONE {
        thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}
