//! Threads that take turns at a driver: what is urgent, what waits, and how it ends.

mod hosts;
mod kernel;

use std::collections::HashMap;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use hosts::{CLIENT, SERVER};
use kernel::{KERNEL, OURS, in_namespace, ip, until, without_ipv6};
use smoltcp::wire::{IpCidr, Ipv4Cidr};
use throughline_stack::{
    Access, Architecture, Arrival, Config, Device, Discard, Driver, End, Graph, Host, Limits, Message,
    Packet, PacketConfig, PairConfig, Participants, PathId, Stopped, Urgency, Workers, pair,
};

const SECOND: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(10);
/// Ports are application ids too.
const URGENT: u16 = 9;

fn config(architecture: Architecture) -> Config {
    let limits = Limits { received: 4096, ..Limits::default() };
    let (scheduling, sending) = (Some(Urgency::Priority), Urgency::Priority);
    Config { architecture, scheduling, sending, limits, ..Config::default() }
}

fn driver(end: End, address: smoltcp::wire::Ipv4Address, architecture: Architecture) -> Driver<End> {
    let host = Host::at(&end, IpCidr::Ipv4(Ipv4Cidr::new(address, 24)));
    let graph = Graph::compose("udp > ipv4 > ethdaa; arp > eth", host, config(architecture)).unwrap();
    Driver::new(graph, end)
}

/// A client, and workers who serve him. Messages to [`URGENT`] bear a priority.
struct Talk {
    client: Driver<End>,
    workers: Workers<End>,
    paths: HashMap<u16, PathId>,
}

impl Talk {
    fn new(
        architecture: Architecture,
        threads: usize,
        handler: impl Fn(&Access<End>, &mut Arrival) + Send + Sync + 'static,
    ) -> Self {
        let (ours, theirs) = pair(&PairConfig { queue: 8192, ..PairConfig::default() });
        let mut client = driver(ours, CLIENT, architecture);
        let mut server = driver(theirs, SERVER, architecture);
        let mut paths = HashMap::new();
        for port in [7, 8, URGENT] {
            let id = u32::from(port);
            server.graph.enable("udp", Participants::at(port).application(id)).unwrap();
            let to = Participants::to(SERVER, port).application(id);
            let path = client.graph.open("udp", to).unwrap();
            client.graph.set_priority(path, u32::from(port == URGENT));
            paths.insert(port, path);
        }
        let workers = Workers::start(server, threads, handler).unwrap();
        Self { client, workers, paths }
    }

    /// Sends something to a port. The first message of a path makes it, and does not wait.
    fn send(&mut self, port: u16, text: &str) {
        self.client.graph.send(self.paths[&port], Message::copied(128, text.as_bytes())).unwrap();
        self.client.poll().unwrap();
    }

    /// Has the paths made: the handler answers.
    fn connect(&mut self) {
        for port in [7, 8, URGENT] {
            self.send(port, "hello");
            self.answer(port);
        }
    }

    fn answer(&mut self, port: u16) -> String {
        let mut answer = None;
        until("no answer", || {
            self.client.poll().unwrap();
            answer = self.client.graph.receive(self.paths[&port]);
            answer.is_some()
        });
        String::from_utf8(answer.unwrap().bytes().to_vec()).unwrap()
    }
}

fn text(arrival: &Arrival) -> String {
    let message = arrival.message.as_ref().expect("there are no streams");
    String::from_utf8(message.bytes().to_vec()).unwrap()
}

/// A handler that sends everything back, and takes its time with some messages: it says that it has begun, and goes on when
/// it is told to.
struct Slow {
    begun: Sender<()>,
    go_on: Mutex<Receiver<()>>,
    /// What was handled, in the order of its beginning.
    log: Arc<Mutex<Vec<String>>>,
}

/// The test's side of it.
struct Control {
    begun: Receiver<()>,
    go_on: Sender<()>,
    log: Arc<Mutex<Vec<String>>>,
}

fn slow() -> (Slow, Control) {
    let ((begun, at_begun), (to_go_on, go_on)) = (channel(), channel());
    let log = Arc::new(Mutex::new(Vec::new()));
    let slow = Slow { begun, go_on: Mutex::new(go_on), log: log.clone() };
    (slow, Control { begun: at_begun, go_on: to_go_on, log })
}

impl Slow {
    fn handle(&self, access: &Access<End>, arrival: &mut Arrival) {
        let text = text(arrival);
        self.log.lock().unwrap().push(text.clone());
        if text.starts_with("slow") {
            self.begun.send(()).unwrap();
            let _ = self.go_on.lock().unwrap().recv_timeout(PATIENCE);
        }
        access.send(arrival.path, arrival.message.take().unwrap()).unwrap();
    }
}

#[test]
fn a_slow_handler_holds_nobody_back() {
    for architecture in Architecture::ALL {
        let (slow, control) = slow();
        let mut talk = Talk::new(architecture, 2, move |access, arrival| slow.handle(access, arrival));
        talk.connect();
        talk.send(7, "slow");
        control.begun.recv_timeout(PATIENCE).unwrap();
        for n in 0..100 {
            talk.send(URGENT, &format!("urgent {n}"));
            assert_eq!(talk.answer(URGENT), format!("urgent {n}"));
        }
        control.go_on.send(()).unwrap();
        assert_eq!(talk.answer(7), "slow");
    }
}

#[test]
fn the_most_urgent_is_handled_next() {
    for architecture in [Architecture::Direct, Architecture::Integrated] {
        let (slow, control) = slow();
        let mut talk = Talk::new(architecture, 1, move |access, arrival| slow.handle(access, arrival));
        talk.connect();
        talk.send(7, "slow");
        control.begun.recv_timeout(PATIENCE).unwrap();
        for text in ["a", "b", "c"] {
            talk.send(7, text);
            talk.send(8, text);
        }
        talk.send(URGENT, "urgent");
        control.go_on.send(()).unwrap();
        let answers = [7, 8].map(|port| (0..3).map(|_| talk.answer(port)).collect::<Vec<_>>());
        assert_eq!(answers[0][0], "slow");
        assert_eq!(answers[1], ["a", "b", "c"]);
        let log = control.log.lock().unwrap().clone();
        assert_eq!(log[3..], ["slow", "urgent", "a", "a", "b", "b", "c", "c"], "{architecture:?}");
    }
}

/// Messages of the path that is being handled wait where they cost nothing, and urgent ones pass them.
#[test]
fn what_waits_for_its_path_is_passed() {
    for architecture in [Architecture::Direct, Architecture::Integrated] {
        let (slow, control) = slow();
        let mut talk = Talk::new(architecture, 2, move |access, arrival| slow.handle(access, arrival));
        talk.connect();
        talk.send(7, "slow 1");
        control.begun.recv_timeout(PATIENCE).unwrap();
        // The other thread meets these, and must leave them.
        for text in ["slow 2", "slow 3"] {
            talk.send(7, text);
        }
        talk.send(8, "other");
        assert_eq!(talk.answer(8), "other");
        // Now both are busy.
        talk.send(8, "slow other");
        control.begun.recv_timeout(PATIENCE).unwrap();
        talk.send(URGENT, "urgent");
        control.go_on.send(()).unwrap();
        assert_eq!(talk.answer(URGENT), "urgent");
        (0..4).for_each(|_| control.go_on.send(()).unwrap());
        assert_eq!([0; 3].map(|_| talk.answer(7)), ["slow 1", "slow 2", "slow 3"]);
        let log = control.log.lock().unwrap().clone();
        let place = |text: &str| log.iter().position(|other| other == text).unwrap();
        assert!(place("urgent") < place("slow 2") && place("slow 2") < place("slow 3"), "{log:?}");
    }
}

#[test]
fn messages_of_a_path_keep_their_order_and_others_run_beside_them() {
    const EACH: usize = 500;
    for architecture in Architecture::ALL {
        let handled: Arc<Mutex<HashMap<PathId, Vec<usize>>>> = Arc::default();
        let inside: Arc<Mutex<Vec<PathId>>> = Arc::default();
        let meeting = Arc::new(Barrier::new(2));
        let (log, violations) = (handled.clone(), Arc::new(AtomicUsize::new(0)));
        let counted = violations.clone();
        let mut talk = Talk::new(architecture, 4, move |access, arrival| {
            let text = text(arrival);
            let Ok(number) = text.parse::<usize>() else {
                if text == "meet" {
                    meeting.wait();
                }
                return access.send(arrival.path, arrival.message.take().unwrap()).unwrap();
            };
            if inside.lock().unwrap().contains(&arrival.path) {
                counted.fetch_add(1, Ordering::Relaxed);
            }
            inside.lock().unwrap().push(arrival.path);
            std::thread::yield_now();
            log.lock().unwrap().entry(arrival.path).or_default().push(number);
            inside.lock().unwrap().retain(|path| *path != arrival.path);
        });
        talk.connect();
        // Two handlers that wait for each other: neither would end alone.
        talk.send(7, "meet");
        talk.send(8, "meet");
        assert_eq!([talk.answer(7), talk.answer(8)], ["meet", "meet"]);
        for n in 0..EACH {
            for port in [7, 8, URGENT] {
                talk.send(port, &n.to_string());
            }
        }
        until("messages were lost", || {
            handled.lock().unwrap().values().map(Vec::len).sum::<usize>() == 3 * EACH
        });
        assert_eq!(violations.load(Ordering::Relaxed), 0, "two threads in one path");
        for numbers in handled.lock().unwrap().values() {
            assert!(numbers.iter().copied().eq(0..EACH), "{architecture:?}: {numbers:?}");
        }
    }
}

#[test]
fn they_stop_when_told_to() {
    let (slow, control) = slow();
    let mut talk =
        Talk::new(Architecture::Integrated, 3, move |access, arrival| slow.handle(access, arrival));
    talk.connect();
    let access = talk.workers.access();
    talk.send(7, "slow");
    control.begun.recv_timeout(PATIENCE).unwrap();
    let workers = talk.workers.stop(Duration::from_millis(30)).expect_err("a handler is at work");
    assert!(access.with(|graph| graph.discarded().next().is_none()).is_ok());
    control.go_on.send(()).unwrap();
    let (mut driver, error) = workers.stop(PATIENCE).expect("nothing is at work");
    assert!(error.is_none());
    assert_eq!(access.with(|_| ()), Err(Stopped));
    // The driver works on without them.
    talk.client.graph.send(talk.paths[&8], Message::copied(128, b"once more")).unwrap();
    talk.client.poll().unwrap();
    let mut came = None;
    until("nothing came", || {
        driver.poll().unwrap();
        came = driver.graph.ready().and_then(|path| driver.graph.receive(path));
        came.is_some()
    });
    assert_eq!(came.unwrap().bytes(), b"once more");
}

#[test]
fn they_end_with_their_last_owner() {
    let ended = Arc::new(());
    let mine = ended.clone();
    let talk = Talk::new(Architecture::Layered, 2, move |_, _| {
        let _ = &mine;
    });
    drop(talk);
    until("threads remain", || Arc::strong_count(&ended) == 1);
}

#[test]
fn a_handler_that_panics_loses_its_message() {
    let mut talk = Talk::new(Architecture::Direct, 1, |access: &Access<End>, arrival: &mut Arrival| {
        assert_ne!(text(arrival), "panic", "as the test wants");
        access.send(arrival.path, arrival.message.take().unwrap()).unwrap();
    });
    talk.connect();
    talk.send(7, "panic");
    talk.send(7, "after");
    assert_eq!(talk.answer(7), "after");
}

fn kernel_workers(
    handler: impl Fn(&Access<Packet>, &mut Arrival) + Send + Sync + 'static,
) -> Workers<Packet> {
    ip("link add tl0 type veth peer name tl1");
    for name in ["tl0", "tl1"] {
        without_ipv6(name);
        ip(&format!("link set {name} up"));
    }
    ip("addr add 10.77.0.1/24 dev tl0");
    let device = Packet::open("tl1", &PacketConfig::default()).unwrap();
    let host = Host::at(&device, IpCidr::new(OURS.into(), 24));
    let mut graph =
        Graph::compose("udp > ipv4 > eth; tcp > ipv4; arp > eth", host, config(Architecture::Integrated))
            .unwrap();
    graph.enable("udp", Participants::at(7)).unwrap();
    graph.enable("tcp", Participants::at(80)).unwrap();
    Workers::start(Driver::new(graph, device), 3, handler).unwrap()
}

/// Datagrams and a stream are sent back.
fn echo<D: Device>(access: &Access<D>, arrival: &mut Arrival) {
    let path = arrival.path;
    if let Some(message) = arrival.message.take() {
        return access.send(path, Message::copied(128, message.bytes())).unwrap();
    }
    let _ = access.with(|graph| {
        let mut buffer = [0; 1000];
        match graph.read(path, &mut buffer) {
            Ok(len) => graph.write(path, &buffer[..len]).map(|_| ()),
            Err(_) => graph.shutdown(path),
        }
    });
}

#[test]
fn the_kernel_is_answered() {
    in_namespace(|| {
        let workers = kernel_workers(echo);
        let socket = UdpSocket::bind((KERNEL, 0)).unwrap();
        socket.connect((OURS, 7)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut echo = [0; 4000];
        for len in [0, 1, 1000, 1472, 3000] {
            for round in 0..50 {
                let data = vec![round; len];
                socket.send(&data).unwrap();
                let came = socket.recv(&mut echo).unwrap();
                assert_eq!(echo[..came], data);
            }
        }
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect((OURS, 80)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        for round in 0..50 {
            stream.write_all(&[round; 700]).unwrap();
            let mut back = [0; 700];
            stream.read_exact(&mut back).unwrap();
            assert_eq!(back, [round; 700]);
        }
        let (driver, error) = workers.stop(SECOND).expect("nothing is at work");
        assert!(error.is_none());
        assert_eq!(driver.graph.discarded().next(), None);
    });
}

/// The one who sleeps at the device learns that there is something to do sooner.
#[test]
fn who_sleeps_is_woken_by_what_others_do() {
    in_namespace(|| {
        let workers = kernel_workers(echo);
        let access = workers.access();
        let send = |to: Ipv4Addr, port| {
            let path = access.with(|graph| graph.open("udp", Participants::to(to, port))).unwrap().unwrap();
            access.send(path, Message::copied(128, b"from another thread")).unwrap();
        };
        let socket = UdpSocket::bind((KERNEL, 0)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        send(KERNEL, socket.local_addr().unwrap().port());
        let mut data = [0; 100];
        assert_eq!(socket.recv(&mut data).unwrap(), b"from another thread".len());
        // Nobody is there: questions are repeated, and in the end what waits is given up.
        send(Ipv4Addr::new(10, 77, 0, 99), 7);
        until("nothing was given up", || {
            std::thread::sleep(Duration::from_millis(20));
            let unresolved =
                |graph: &mut Graph| graph.discarded().any(|(_, why, _)| why == Discard::Unresolved);
            access.with(unresolved).unwrap()
        });
    });
}
