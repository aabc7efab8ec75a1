//! Calls over a network that loses, duplicates and reorders datagrams: each is carried out exactly once.

mod common;

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use common::{Echo, EchoRef, client, server_with};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use throughline::rt::{DecodeError, Encode, Operation, Reader};
use throughline::{AsyncCall, CallFuture, LocalNetwork, Orb, OrbConfig, SystemException, block_on};
use throughline_giop::{NativeAddress, NativeProfile};

/// So many of a hundred datagrams are lost, as many doubled, and as many held back until others have overtaken them.
const PERCENT: u64 = 10;

/// Calls under way: a link has buffers for a few more, so that each is sent when it is begun.
const UNDER_WAY: usize = 120;

/// What is held back leaves when so long nothing has come.
const PAUSE: Duration = Duration::from_millis(1);

/// A way to a server, and back. Every socket of a client gets a socket of its own there, as behind a NAT.
struct Relay {
    port: u16,
    over: Arc<AtomicBool>,
    there: JoinHandle<u64>,
}

impl Relay {
    fn to(server: u16) -> Self {
        let front = UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = front.local_addr().unwrap().port();
        let over = Arc::new(AtomicBool::new(false));
        let there = std::thread::spawn({
            let over = Arc::clone(&over);
            move || carry_there(&front, server, &over)
        });
        Self { port, over, there }
    }

    /// Ends it; how many datagrams it lost.
    fn end(self) -> u64 {
        self.over.store(true, Ordering::Relaxed);
        self.there.join().unwrap()
    }
}

/// A socket of a client: what it sends leaves from `back`.
struct Client {
    address: SocketAddr,
    back: UdpSocket,
    there: Faults,
    answers: JoinHandle<u64>,
}

fn carry_there(front: &UdpSocket, server: u16, over: &Arc<AtomicBool>) -> u64 {
    let mut clients: Vec<Client> = Vec::new();
    front.set_nonblocking(true).unwrap();
    let mut datagram = [0; 1 << 16];
    while !over.load(Ordering::Relaxed) {
        let Some((length, from)) = next(front, || front.recv_from(&mut datagram)) else {
            clients
                .iter_mut()
                .for_each(|client| client.there.pass(None, |late| drop(client.back.send(late))));
            continue;
        };
        let known = clients.iter().position(|client| client.address == from);
        let at = known.unwrap_or_else(|| {
            clients.push(new_client(front, from, server, over));
            clients.len() - 1
        });
        let Client { back, there, .. } = &mut clients[at];
        there.pass(Some(&datagram[..length]), |datagram| drop(back.send(datagram)));
    }
    clients.into_iter().map(|client| client.there.lost + client.answers.join().unwrap()).sum()
}

fn new_client(front: &UdpSocket, address: SocketAddr, server: u16, over: &Arc<AtomicBool>) -> Client {
    let back = UdpSocket::bind("127.0.0.1:0").unwrap();
    back.connect(("127.0.0.1", server)).unwrap();
    back.set_nonblocking(true).unwrap();
    let answers = std::thread::spawn({
        let (front, back, over) = (front.try_clone().unwrap(), back.try_clone().unwrap(), Arc::clone(over));
        move || carry_back(&front, &back, address, &over)
    });
    Client { address, back, there: Faults::new(1), answers }
}

fn carry_back(front: &UdpSocket, back: &UdpSocket, client: SocketAddr, over: &AtomicBool) -> u64 {
    let mut faults = Faults::new(2);
    let mut datagram = [0; 1 << 16];
    while !over.load(Ordering::Relaxed) {
        let length = next(back, || back.recv(&mut datagram));
        let octets = length.map(|length| &datagram[..length]);
        faults.pass(octets, |datagram| drop(front.send_to(datagram, client)));
    }
    faults.lost
}

/// What has arrived, or arrives before the pause is over. A socket's own timeout is too coarse.
fn next<T>(socket: &UdpSocket, mut receive: impl FnMut() -> std::io::Result<T>) -> Option<T> {
    if let Some(received) = arrived(receive()) {
        return Some(received);
    }
    let pause = Timespec::try_from(PAUSE).unwrap();
    poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&pause)).unwrap();
    arrived(receive())
}

fn arrived<T>(received: std::io::Result<T>) -> Option<T> {
    received
        .inspect_err(|error| {
            // Or what was sent before found nobody.
            assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused));
        })
        .ok()
}

/// What happens to datagrams of one direction.
struct Faults {
    random: u64,
    held: VecDeque<Vec<u8>>,
    lost: u64,
}

impl Faults {
    fn new(random: u64) -> Self {
        Self { random, held: VecDeque::new(), lost: 0 }
    }

    /// None: nothing has come for a while.
    fn pass(&mut self, datagram: Option<&[u8]>, mut send: impl FnMut(&[u8])) {
        if let Some(datagram) = datagram {
            match self.draw() {
                0 => self.lost += 1,
                1 => (0..2).for_each(|_| send(datagram)),
                2 => return self.held.push_back(datagram.to_vec()),
                _ => send(datagram),
            }
        }
        if datagram.is_none() || self.held.len() > 3 {
            self.held.drain(..).for_each(|datagram| send(&datagram));
        }
    }

    /// 0, 1 and 2 of a hundred so many times each.
    fn draw(&mut self) -> u64 {
        // splitmix64
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % 100 / PERCENT
    }
}

/// A reference to the object by this port.
fn by_port(client: &Orb, own: &EchoRef, port: u16) -> EchoRef {
    let mut ior = own.0.ior().clone();
    for profile in &mut ior.profiles {
        if let Some(Ok(mut native)) = NativeProfile::from_tagged(profile) {
            native.address = NativeAddress::Udp { host: "127.0.0.1".to_owned(), port };
            *profile = native.to_tagged().unwrap();
        }
    }
    EchoRef(client.reference(ior))
}

type Posting = CallFuture<SystemException, fn(&mut Reader<'_>) -> Result<(), DecodeError>>;

fn post(echo: &EchoRef, n: u32) -> Posting {
    echo.0.call_async(Operation::new("post", 2), |w| n.encode(w), |_| Ok(()))
}

fn report(what: &str, calls: u32, began: Instant, lost: Option<u64>) {
    let took = began.elapsed().as_secs_f64();
    let lost = lost.map_or(String::new(), |lost| format!(", {lost} datagrams lost"));
    println!("{what}: {calls} calls in {took:.2} s, {:.0} a second{lost}", f64::from(calls) / took);
}

/// A server, and networks that lose datagrams on the way to it.
enum Way {
    /// Of the system: each client has a relay.
    Udp(u16),
    /// Within the process.
    Local(LocalNetwork),
}

/// A client's network.
enum Network {
    Relay(Relay),
    Local,
}

impl Way {
    fn udp() -> (Self, Orb) {
        let server = server_with(|c| c.listen = vec!["udp://127.0.0.1:0".parse().unwrap()]);
        let Some(throughline::Address::Udp { port, .. }) = server.addresses().pop() else {
            panic!("no address")
        };
        (Self::Udp(port), server)
    }

    fn local() -> (Self, Orb) {
        let share = PERCENT as f64 / 100.0;
        let faults = throughline::Faults {
            seed: 5,
            loss: share,
            duplication: share,
            reordering: share,
            ..throughline::Faults::NONE
        };
        let network = LocalNetwork::new(faults);
        let server = server_with(|c| {
            c.listen = vec!["udp://server:0".parse().unwrap()];
            c.datagrams = Some(network.clone());
        });
        (Self::Local(network), server)
    }

    /// A client that sees the object through a network of its own.
    fn client(&self, own: &EchoRef) -> (EchoRef, Network) {
        match self {
            Self::Udp(port) => {
                let relay = Relay::to(*port);
                (by_port(&client(), own, relay.port), Network::Relay(relay))
            }
            Self::Local(network) => {
                let config = OrbConfig { datagrams: Some(network.clone()), ..OrbConfig::default() };
                let client = Orb::start(config).unwrap();
                (EchoRef(client.reference(own.0.ior().clone())), Network::Local)
            }
        }
    }
}

impl Network {
    /// Ends it; how many datagrams it lost, if it has counted.
    fn end(self) -> Option<u64> {
        match self {
            Self::Relay(relay) => Some(relay.end()),
            Self::Local => None,
        }
    }
}

/// So many calls, some waited for one by one, others with many under way, others oneways.
fn each_once((way, server): (Way, Orb), calls: u32) {
    let own = server.root().activate(Echo::default()).unwrap();
    let (echo, network) = way.client(&own);
    let (mut pending, began) = (VecDeque::new(), Instant::now());
    for n in 0..calls {
        pending.push_back(post(&echo, n).begin());
        if pending.len() == UNDER_WAY {
            block_on(pending.pop_front().unwrap()).unwrap();
        }
    }
    pending.into_iter().for_each(|call| block_on(call).unwrap());
    let lost = network.end();
    report("under way together", calls, began, lost);
    assert!(lost.is_none_or(|lost| lost > u64::from(calls) / 1000), "{lost:?} datagrams lost");
    let (echo, network) = way.client(&own);
    let (few, began) = (calls / 100, Instant::now());
    for n in 0..few {
        echo.post(calls + 2 * n).unwrap();
        block_on(post(&echo, calls + 2 * n + 1)).unwrap();
    }
    assert_eq!(echo.shout("all of them").unwrap(), "ALL OF THEM");
    let lost = network.end();
    report("one by one, each after a oneway", few, began, lost);
    assert!(lost.is_none_or(|lost| lost > 0));
    let mut posted = own.posted().unwrap();
    posted.sort_unstable();
    assert!(posted.into_iter().eq(0..calls + 2 * few), "each exactly once");
    server.shutdown(Duration::from_secs(2));
}

/// From 20 KB, which is longer than a link's own buffers, to 1.6 MB, which goes in two parts.
fn long_ones_come_whole((way, server): (Way, Orb)) {
    let own = server.root().activate(Echo::default()).unwrap();
    let (echo, network) = way.client(&own);
    for (seed, count) in [5_000, 60_000, 400_000, 250_000, 10].into_iter().cycle().take(15).enumerate() {
        let sent: Vec<u32> = (0..count).map(|n: u32| n.wrapping_mul(seed as u32 + 7)).collect();
        let mut data = sent.clone();
        echo.move_data(&mut data).unwrap();
        assert!(data == sent, "{count} numbers were changed");
    }
    assert!(network.end().is_none_or(|lost| lost > 0));
    server.shutdown(Duration::from_secs(2));
}

#[test]
fn each_of_a_million_calls_is_carried_out_once() {
    each_once(Way::udp(), 1_000_000);
}

#[test]
fn each_of_a_million_calls_is_carried_out_once_within_the_process() {
    each_once(Way::local(), 1_000_000);
}

#[test]
fn long_arguments_and_results_come_whole() {
    long_ones_come_whole(Way::udp());
}

#[test]
fn long_arguments_and_results_come_whole_within_the_process() {
    long_ones_come_whole(Way::local());
}

/// A network within the process is nobody else's, and its ports are like others.
#[test]
fn networks_within_the_process_are_apart() {
    let network = || LocalNetwork::new(throughline::Faults::NONE);
    let (ours, theirs) = (network(), network());
    let orb = |listen: &[&str], network: &LocalNetwork| {
        let listen = listen.iter().map(|address| address.parse().unwrap()).collect();
        Orb::start(OrbConfig { listen, datagrams: Some(network.clone()), ..OrbConfig::default() })
    };
    let server = orb(&["udp://bank:0", "udp://bank:7"], &ours).unwrap();
    let ports: Vec<_> = server.addresses().iter().map(ToString::to_string).collect();
    assert_eq!(ports, ["udp://bank:49152", "udp://bank:7"]);
    assert!(orb(&["udp://bank:7"], &ours).is_err(), "taken");
    drop(orb(&["udp://bank:7"], &theirs).unwrap());
    let own = server.root().activate(Echo::default()).unwrap();
    let seen_from = |network: &LocalNetwork| {
        let client = orb(&[], network).unwrap();
        EchoRef(client.reference(own.0.ior().clone())).shout("here")
    };
    assert_eq!(seen_from(&ours).unwrap(), "HERE");
    let error = seen_from(&theirs).unwrap_err();
    assert_eq!(error.kind, throughline::Kind::Transient, "{error}");
    server.shutdown(Duration::from_secs(2));
}

#[test]
fn who_is_cut_off_is_not_reached() {
    let (Way::Local(network), server) = Way::local() else { panic!("another way") };
    let own = server.root().activate(Echo::default()).unwrap();
    let (echo, _) = Way::Local(network.clone()).client(&own);
    assert_eq!(echo.shout("here").unwrap(), "HERE");
    network.cut("server:49152");
    let began = Instant::now();
    let error = echo.shout("gone").unwrap_err();
    assert!([throughline::Kind::CommFailure, throughline::Kind::Transient].contains(&error.kind), "{error}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    server.shutdown(Duration::from_secs(2));
}
