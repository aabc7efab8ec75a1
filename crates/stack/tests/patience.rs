//! Expecting what is urgent: what may be begun meanwhile, and what may not.

mod hosts;

use std::time::{Duration, Instant};

use hosts::{CLIENT, Pair, SERVER};
use smoltcp::wire::{IpCidr, Ipv4Address, Ipv4Cidr};
use throughline_stack::{
    Architecture, Arrival, Config, Driver, Graph, Host, Message, PairConfig, Participants, PathId, Urgency,
    Workers, pair,
};

const DESCRIPTION: &str = "udp > ipv4 > ethdaa; arp > eth";
const URGENT: u16 = 9;
const PORTS: [u16; 4] = [6, 7, 8, URGENT];
const PATIENCE: Duration = Duration::from_micros(100);

fn config(architecture: Architecture, urgency: Urgency, patience: Duration) -> Config {
    Config { architecture, scheduling: Some(urgency), patience, ..Config::default() }
}

/// A path to a port, whose application id is the same; messages to [`URGENT`] bear a priority.
fn open(graph: &mut Graph, to: Ipv4Address, port: u16) -> PathId {
    let path = graph.open("udp", Participants::to(to, port).application(port.into())).unwrap();
    graph.set_priority(path, u32::from(port == URGENT) * 5);
    path
}

fn enable(server: &mut Graph, port: u16) {
    let listener = server.enable("udp", Participants::at(port).application(port.into())).unwrap();
    server.set_listener_priority(listener, u32::from(port == URGENT) * 5);
}

/// A client and a server that knows its paths already.
struct Talk {
    pair: Pair,
    paths: Vec<PathId>,
}

impl Talk {
    fn new(config: Config) -> Self {
        let mut pair = Pair::with(DESCRIPTION, config);
        let mut paths = Vec::new();
        for port in PORTS {
            enable(&mut pair.server, port);
            paths.push(open(&mut pair.client, SERVER, port));
            pair.client.send(paths[paths.len() - 1], Message::copied(128, b"hello")).unwrap();
            pair.exchange();
        }
        let mut talk = Self { pair, paths };
        talk.pair.pass(1);
        talk.taken();
        talk
    }

    /// Has a message to a port arrive, and nothing be done about it.
    fn arrive(&mut self, port: u16) {
        let at = PORTS.iter().position(|other| *other == port).unwrap();
        let text = port.to_string();
        self.pair.client.send(self.paths[at], Message::copied(128, text.as_bytes())).unwrap();
        let frame = self.pair.client.transmit().unwrap();
        self.pair.server.arrive(frame, self.pair.now);
    }

    fn pass(&mut self, time: Duration) {
        self.pair.now += time.into();
    }

    /// Ports whose messages the server begins now, in order.
    fn begun(&mut self) -> Vec<String> {
        while self.pair.server.run(self.pair.now) {}
        self.taken()
    }

    fn taken(&mut self) -> Vec<String> {
        let mut taken = Vec::new();
        while let Some(path) = self.pair.server.ready() {
            while let Some(message) = self.pair.server.receive(path) {
                taken.push(String::from_utf8(message.bytes().to_vec()).unwrap());
                self.pair.server.release(message);
            }
        }
        taken
    }
}

const ARCHITECTURES: [Architecture; 2] = [Architecture::Direct, Architecture::Integrated];

#[test]
fn one_message_in_the_meantime_and_all_when_the_time_is_over() {
    for architecture in ARCHITECTURES {
        let mut talk = Talk::new(config(architecture, Urgency::Priority, PATIENCE));
        for port in [6, 7, 8, URGENT] {
            talk.arrive(port);
        }
        assert_eq!(talk.begun(), ["9", "6"], "{architecture:?}");
        talk.pass(PATIENCE / 2);
        assert!(talk.begun().is_empty());
        talk.arrive(URGENT);
        assert_eq!(talk.begun(), ["9", "7"], "the next one has come");
        talk.pass(PATIENCE / 2);
        assert!(talk.begun().is_empty(), "it is expected from then on");
        talk.arrive(6);
        talk.pass(PATIENCE / 2);
        assert_eq!(talk.begun(), ["8", "6"]);
        talk.arrive(7);
        talk.arrive(8);
        assert_eq!(talk.begun(), ["7", "8"], "nothing is expected any more");
    }
}

#[test]
fn an_answer_is_expected_too() {
    for architecture in ARCHITECTURES {
        let mut talk = Talk::new(config(architecture, Urgency::Priority, PATIENCE));
        let path = open(&mut talk.pair.server, CLIENT, URGENT + 1);
        talk.pair.server.set_priority(path, 5);
        // Nobody listens there, which is no matter.
        talk.pair.server.send(path, Message::copied(128, b"a question")).unwrap();
        for port in [6, 7] {
            talk.arrive(port);
        }
        assert_eq!(talk.begun(), ["6"], "{architecture:?}");
        talk.pass(PATIENCE);
        assert_eq!(talk.begun(), ["7"]);
    }
}

#[test]
fn who_is_not_patient_begins_everything() {
    for architecture in ARCHITECTURES {
        for (urgency, patience) in
            [(Urgency::Priority, Duration::ZERO), (Urgency::Deadline, PATIENCE), (Urgency::Arrival, PATIENCE)]
        {
            let mut talk = Talk::new(config(architecture, urgency, patience));
            for port in [URGENT, 6, 7, 8] {
                talk.arrive(port);
            }
            assert_eq!(talk.begun(), ["9", "6", "7", "8"], "{architecture:?}, {urgency:?}");
        }
    }
}

/// Nobody tells threads when the time is over.
#[test]
fn workers_go_on_when_the_time_is_over() {
    let (ours, theirs) = pair(&PairConfig::default());
    let patience = Duration::from_millis(30);
    let driver = |end, address| {
        let host = Host::at(&end, IpCidr::Ipv4(Ipv4Cidr::new(address, 24)));
        let config = config(Architecture::Direct, Urgency::Priority, patience);
        Driver::new(Graph::compose(DESCRIPTION, host, config).unwrap(), end)
    };
    let (mut client, mut server) = (driver(ours, CLIENT), driver(theirs, SERVER));
    PORTS.into_iter().for_each(|port| enable(&mut server.graph, port));
    let paths = PORTS.map(|port| open(&mut client.graph, SERVER, port));
    let (to, came) = std::sync::mpsc::channel();
    let handler = move |_: &_, arrival: &mut Arrival| {
        let text = arrival.message.as_ref().map(|message| message.bytes().to_vec());
        let _ = to.send((text, Instant::now()));
    };
    let workers = Workers::start(server, 2, handler).unwrap();
    let begun = Instant::now();
    // The server's address is asked for first.
    let next = |client: &mut Driver<_>| loop {
        client.poll().unwrap();
        if let Ok(came) = came.try_recv() {
            return came;
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "nothing came");
    };
    let send = |client: &mut Driver<_>, path, text: &[u8]| {
        client.graph.send(path, Message::copied(128, text)).unwrap();
        client.poll().unwrap();
    };
    // The first message of a path makes it, and does not wait.
    for path in paths {
        send(&mut client, path, b"hello");
        next(&mut client);
    }
    send(&mut client, paths[3], b"urgent");
    let (text, urgent) = next(&mut client);
    assert_eq!(text.unwrap(), b"urgent");
    for path in &paths[..3] {
        send(&mut client, *path, b"other");
    }
    next(&mut client);
    let (_, second) = next(&mut client);
    next(&mut client);
    assert!(second - urgent >= patience / 2, "{:?}", second - urgent);
    assert!(workers.stop(Duration::from_secs(10)).is_ok());
}
