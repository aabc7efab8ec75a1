//! The host that frames are sent to, and what becomes of them there.

use throughline_stack::{
    Architecture, Config, Discard, Graph, Host, Limits, ListenerId, Message, Participants, PathId, SendError,
    Urgency,
    smoltcp::{
        time::{Duration, Instant},
        wire::{EthernetAddress, IpCidr},
    },
};

use super::{
    Target,
    input::Input,
    link::{HONEST, LISTENING, OPENED, OURS, OWN_TYPE, STRANGERS, World, hardware, v4, v6},
    outcome::Outcome,
    sealed::{PRIVATE_AT, SHARED_AT, keys},
    transport::{OPENED_FROM, OPENED_TO, RPC_AT, TCP_AT, UDP_AT},
};
use crate::memory;

/// Frames of one input, at most.
const MOST_FRAMES: usize = 48;
/// What a host keeps when all paths are closed and all time has passed: buffers, and sessions that may be needed again.
const KEPT: usize = 1 << 17;
/// Errors that a host sends within one step for certain: the number of those beyond is blurred.
const CERTAIN: usize = 16;

/// How messages are taken to their users.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub architecture: Architecture,
    /// Whether they wait in a queue.
    pub queued: bool,
    /// Whether their data is moved to where it belongs.
    pub moved: bool,
}

/// A host with users.
struct Server {
    graph: Graph,
    way: Way,
    listeners: Vec<ListenerId>,
    opened: Vec<PathId>,
    paths: Vec<PathId>,
    world: World,
    now: Instant,
    outcome: Outcome,
    /// Whether the user leaves what comes where it is.
    sleeps: bool,
}

/// What becomes of the frames that are made of an input.
pub fn outcome(target: &Target, description: &str, way: Way, mut input: Input<'_>) -> Outcome {
    memory::peak();
    let mut server = Server::new(description, way);
    let made = memory::live();
    for _ in 0..MOST_FRAMES {
        if input.is_empty() {
            break;
        }
        server.step(target, &mut input);
    }
    server.sleeps = false;
    server.user();
    server.drain();
    let peak = memory::peak() - made;
    assert!(peak < target.most, "{peak} bytes were in use");
    // Connections and calls keep their places until they are closed and have ended.
    if target.honest != "udp" {
        server.end();
    }
    assert!(server.serves(target.honest, description), "{:?}", server.counts());
    server.end();
    let kept = memory::live().saturating_sub(made);
    assert!(kept < KEPT, "{kept} bytes are kept");
    server.outcome.discarded = server.counts();
    server.outcome.direct = way.architecture == Architecture::Direct;
    server.outcome
}

fn graph(description: &str, number: u8, architecture: Architecture, scheduling: Option<Urgency>) -> Graph {
    let mut host = Host::new(EthernetAddress(hardware(number)), IpCidr::new(v4(number).into(), 24));
    host.addresses.push(IpCidr::new(v6(number).into(), 64));
    let limits = Limits { paths: 16, received: 4, sent: 256, run_queue: 16, spare_buffers: 8 };
    let config = Config { architecture, scheduling, limits, ..Config::default() };
    Graph::compose(description, host, config).unwrap()
}

impl Server {
    fn new(description: &str, way: Way) -> Self {
        let scheduling = way.queued.then_some(Urgency::Arrival);
        let graph = graph(description, OURS, way.architecture, scheduling);
        let world = World {
            v6: !description.contains("ipv4"),
            naming: description.contains("ethdaa"),
            ..World::default()
        };
        let mut server = Self {
            graph,
            way,
            listeners: Vec::new(),
            opened: Vec::new(),
            paths: Vec::new(),
            world,
            now: Instant::ZERO,
            outcome: Outcome::default(),
            sleeps: false,
        };
        for (top, port) in [("udp", UDP_AT), ("tcp", TCP_AT), ("rpc", RPC_AT)] {
            let listener = server.graph.enable(top, Participants::at(port).application(LISTENING));
            server.listeners.extend(listener);
        }
        for port in [SHARED_AT, PRIVATE_AT] {
            let at = Participants::at(port).application(LISTENING).sealed(keys(port));
            server.listeners.extend(server.graph.enable("sealed", at));
        }
        let own_type = Participants { ethertype: Some(OWN_TYPE), ..Participants::default() };
        server.listeners.extend(server.graph.enable("eth", own_type));
        let to = server.world.ends(STRANGERS).0;
        for (id, top) in (OPENED..).zip(["udp", "tcp", "rpc"]) {
            let to = Participants::to(to, OPENED_TO).from_port(OPENED_FROM).application(id);
            server.opened.extend(server.graph.open(top, to));
        }
        let from = OPENED_FROM + 3;
        let to = Participants::to(to, OPENED_TO).from_port(from).application(OPENED + 3).sealed(keys(from));
        server.opened.extend(server.graph.open("sealed", to));
        server
    }

    fn step(&mut self, target: &Target, input: &mut Input<'_>) {
        self.pass(Duration::from_millis(50));
        match input.byte() {
            // Mostly a frame.
            ..0xe0 => {
                let frame = (target.frame)(input, &self.world);
                self.graph.arrive(Message::copied(0, &frame), self.now);
            }
            ..0xf0 => self.pass(Duration::from_millis(100 << (input.byte() % 9))),
            ..0xf8 => {
                for path in self.opened.clone() {
                    let _ = self.graph.send(path, Message::copied(128, b"a question"));
                }
            }
            // What is opened only when it is taken would fill its queue with what is forged.
            _ => self.sleeps = !self.sleeps && target.honest != "sealed",
        }
        self.user();
        self.drain();
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.graph.tick(self.now);
    }

    /// What users do: they take what has come, and answer.
    fn user(&mut self) {
        while self.graph.run(self.now) {}
        for listener in &self.listeners {
            while let Some(path) = self.graph.accepted(*listener) {
                self.paths.push(path);
                self.outcome.accepted += 1;
            }
        }
        if self.sleeps {
            return;
        }
        while let Some(path) = self.graph.ready() {
            self.outcome.troubles.extend(self.graph.trouble(path));
            while let Some(data) = self.next(path) {
                self.outcome.delivered.push(data);
                let _ = self.graph.send(path, Message::copied(128, b"an answer"));
            }
            let mut stream = [0; 64];
            while let Ok(len @ 1..) = self.graph.read(path, &mut stream) {
                self.outcome.delivered.push(stream[..len].to_vec());
                let _ = self.graph.write(path, b"an answer");
            }
        }
    }

    fn next(&mut self, path: PathId) -> Option<Vec<u8>> {
        if self.way.moved {
            let mut place = vec![0; 65_536];
            let (len, ()) = self.graph.receive_into(path, &(), &mut place).unwrap()?;
            return Some(place[..len].to_vec());
        }
        let message = self.graph.receive(path)?;
        let data = message.bytes().to_vec();
        self.graph.release(message);
        Some(data)
    }

    /// Takes what the host sends.
    fn drain(&mut self) {
        for number in 0.. {
            let Some(frame) = self.graph.transmit() else { return };
            self.world.hear(frame.bytes());
            if number < CERTAIN {
                let mut to = [0; 6];
                to.copy_from_slice(&frame.bytes()[..6]);
                self.outcome.sent.push((frame.len(), to));
            }
            self.graph.release(frame);
        }
    }

    /// All is closed, and nobody says anything for long.
    fn end(&mut self) {
        for path in self.opened.drain(..).chain(self.paths.drain(..)) {
            self.graph.close(path);
        }
        for _ in 0..12 {
            self.pass(Duration::from_secs(15));
            self.user();
            while self.graph.transmit().is_some() {}
        }
    }

    /// Whether somebody honest, who has not been here before, is served.
    fn serves(&mut self, top: &str, description: &str) -> bool {
        let mut client = graph(description, HONEST, Architecture::Layered, None);
        let (_, ours) = self.world.ends(HONEST);
        let to = match top {
            "udp" => Participants::to(ours, UDP_AT),
            "tcp" => Participants::to(ours, TCP_AT),
            "sealed" => Participants::to(ours, PRIVATE_AT).sealed(keys(PRIVATE_AT).reversed()),
            _ => Participants::to(ours, RPC_AT),
        };
        client.tick(self.now);
        let path = client.open(top, to.application(LISTENING)).unwrap();
        let mut said = Err(SendError::QueueFull);
        let mut place = [0; 64];
        for _ in 0..40 {
            self.pass(Duration::from_millis(20));
            client.tick(self.now);
            if said.is_err() {
                said = client.send(path, Message::copied(128, b"good day"));
            }
            while let Some(frame) = client.transmit() {
                self.graph.arrive(frame, self.now);
            }
            self.user();
            while let Some(frame) = self.graph.transmit() {
                client.arrive(frame, self.now);
            }
            let answer = match client.receive(path) {
                Some(message) => message.bytes() == b"an answer",
                None => client.read(path, &mut place).is_ok_and(|len| &place[..len] == b"an answer"),
            };
            if answer {
                return true;
            }
        }
        false
    }

    fn counts(&self) -> Vec<(String, Discard, u64)> {
        self.graph.discarded().map(|(name, why, count)| (name.into(), why, count)).collect()
    }
}
