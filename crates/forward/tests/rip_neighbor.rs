//! FRR's ripd is our neighbour: each in a network namespace of its own, with a pair of veth devices between them.

mod frr;

use std::{
    io::ErrorKind,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket},
    thread::sleep,
    time::{Duration, Instant},
};

use frr::{Frr, PATIENCE, inside, run};
use throughline_forward::routing::{
    Action, DistanceVector, DistanceVectorConfig, Heard, Interface, Learned, Reason, Routing, Timers,
    authentication::{Algorithm, Authentication, Key, Password},
    rip::{RIP_PORT, Version},
};
use throughline_forward::threaded::message::INDEX_PORT;
use throughline_stack::smoltcp::{
    time::{Duration as Span, Instant as Clock},
    wire::{IpAddress, IpCidr},
};

const OURS: Ipv4Addr = Ipv4Addr::new(10, 200, 0, 1);
const THEIRS: Ipv4Addr = Ipv4Addr::new(10, 200, 0, 2);
const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 9);

/// The other side, with a network behind it.
fn start(test: &str, authentication: &str) -> Frr {
    let mut frr = Frr::new(test, "ripd");
    run("ip", &format!("address add {OURS}/24 dev v0"));
    run("ip", "link set v0 up");
    run("ip", "route add 224.0.0.0/4 dev v0");
    frr.inside("ip", &format!("address add {THEIRS}/24 dev v1"));
    frr.inside("ip", "address add 10.50.0.1/24 dev d0");
    frr.start(&format!(
        "router rip\n timers basic 5 15 5\n network v1\n network d0\n passive-interface d0\n\
         interface v1\n ip rip send version 2\n ip rip receive version 2\n{authentication}\n"
    ));
    frr
}

/// Our side, by the kernel's sockets.
struct Ours {
    routing: DistanceVector,
    sockets: [UdpSocket; 2],
    begun: Instant,
    routes: Vec<Learned>,
}

impl Ours {
    fn new(authentication: Authentication) -> Self {
        let interface = Interface { authentication, ..Interface::new(IpCidr::new(OURS.into(), 24)) };
        let timers = Timers {
            update: Span::from_secs(3),
            timeout: Span::from_secs(12),
            garbage: Span::from_secs(6),
            ..Timers::default()
        };
        let config =
            DistanceVectorConfig { timers, ..DistanceVectorConfig::new(Version::Rip2, 1, vec![interface]) };
        let sockets = [RIP_PORT, INDEX_PORT].map(|port| {
            let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)).unwrap();
            socket.join_multicast_v4(&GROUP, &OURS).unwrap();
            socket.set_multicast_loop_v4(false).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        });
        Self { routing: DistanceVector::new(config), sockets, begun: Instant::now(), routes: Vec::new() }
    }

    fn now(&self) -> Clock {
        Clock::ZERO + Span::from_micros(self.begun.elapsed().as_micros() as u64)
    }

    fn turn(&mut self) {
        let now = self.now();
        let mut bytes = [0; 2048];
        for (socket, port) in self.sockets.iter().zip([RIP_PORT, INDEX_PORT]) {
            loop {
                match socket.recv_from(&mut bytes) {
                    Ok((len, SocketAddr::V4(from))) => {
                        let from_port = from.port();
                        let from: IpAddress = (*from.ip()).into();
                        let heard = Heard { interface: 0, from, from_port, port, hop_limit: 1 };
                        self.routing.receive(&heard, &bytes[..len], now);
                    }
                    Ok((_, from)) => panic!("IPv6 from {from}"),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    // Who has no socket for our unicast messages says so, which is heard here.
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
        let mut actions = Vec::new();
        self.routing.poll(now, &mut actions);
        for action in actions {
            match action {
                Action::Use(learned) => {
                    self.routes.retain(|known| known.prefix != learned.prefix);
                    self.routes.push(learned);
                    self.routing.assigned(learned.prefix, self.routes.len() as u32, now);
                }
                Action::Forget(prefix) => self.routes.retain(|known| known.prefix != prefix),
                Action::Send { to, from_port, port, bytes, .. } => {
                    let IpAddress::Ipv4(to) = to else { panic!("IPv4 only") };
                    let socket = &self.sockets[usize::from(from_port == INDEX_PORT)];
                    socket.send_to(&bytes, SocketAddrV4::new(to, port)).unwrap();
                }
            }
        }
    }

    fn route(&self, prefix: IpCidr) -> Option<Learned> {
        self.routes.iter().find(|known| known.prefix == prefix).copied()
    }
}

fn prefix(second: u8, length: u8) -> IpCidr {
    IpCidr::new(IpAddress::v4(10, second, 0, 0), length)
}

fn neighbors(test: &str, configuration: &str, authentication: Authentication) {
    if !inside(test, "ripd") {
        return;
    }
    let frr = start(test, configuration);
    let mut ours = Ours::new(authentication);
    ours.routing.originate(prefix(200, 24), 1, ours.now());
    ours.routing.originate(prefix(60, 16), 1, ours.now());
    ours.routing.assigned(prefix(60, 16), 77, ours.now());
    let until = |what: &str, ours: &mut Ours, done: &dyn Fn(&Ours) -> bool| {
        let begun = Instant::now();
        while !done(ours) {
            ours.turn();
            assert!(
                begun.elapsed() < PATIENCE,
                "{what}\n{:?}\n{}",
                ours.routing.refusals(),
                frr.logs("show ip rip status")
            );
            sleep(Duration::from_millis(20));
        }
    };
    let line =
        |what: &str| frr.show("show ip rip").lines().find(|line| line.contains(what)).map(str::to_owned);

    until("we learn theirs", &mut ours, &|ours| ours.route(prefix(50, 24)).is_some());
    let route = ours.route(prefix(50, 24)).unwrap();
    assert_eq!((route.next_hop, route.metric), (THEIRS.into(), 2));
    until("they learn ours", &mut ours, &|_| line("10.60.0.0/16").is_some());
    let shown = line("10.60.0.0/16").unwrap();
    assert!(shown.contains("R(n)") && shown.contains(&OURS.to_string()), "{shown}");
    until("their kernel has it", &mut ours, &|_| frr.inside("ip", "route").contains("10.60.0.0/16"));

    // It goes on undisturbed: of ours it counts no bad packet and no bad route.
    let later = Instant::now() + Duration::from_secs(8);
    until("time passes", &mut ours, &|_| Instant::now() > later);
    let status = frr.show("show ip rip status");
    let peer =
        status.lines().find(|line| line.trim_start().starts_with(&OURS.to_string())).unwrap_or_default();
    let counts: Vec<&str> = peer.split_whitespace().collect();
    assert_eq!(counts.get(1..3), Some(&["0", "0"][..]), "{status}");
    // Ours to refuse is one of theirs at most: ripd signs all but its first request.
    let refused: Vec<_> = ours.routing.refusals().iter().collect();
    assert!(matches!(refused[..], [] | [(Reason::Authentication, 1)]), "{refused:?}");

    let now = ours.now();
    ours.routing.withdraw(prefix(60, 16), now);
    until("they forget ours", &mut ours, &|_| !frr.inside("ip", "route").contains("10.60.0.0/16"));
    frr.inside("ip", "link set d0 down");
    until("we forget theirs", &mut ours, &|ours| ours.route(prefix(50, 24)).is_none());
}

#[test]
fn without_authentication() {
    neighbors("without_authentication", "", Authentication::None);
}

#[test]
fn with_a_password() {
    let configuration = " ip rip authentication mode text\n ip rip authentication string secret";
    let password = Password(*b"secret\0\0\0\0\0\0\0\0\0\0");
    neighbors("with_a_password", configuration, Authentication::Password(password));
}

#[test]
fn with_digests() {
    let configuration = " ip rip authentication mode md5\n ip rip authentication string secret";
    let key = Key { id: 1, algorithm: Algorithm::KeyedMd5, secret: b"secret".to_vec() };
    neighbors("with_digests", configuration, Authentication::Keyed(vec![key]));
}
