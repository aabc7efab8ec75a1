//! The protocol graph and the kernel's stack, over AF_PACKET and TAP.

mod kernel;

use std::{
    net::UdpSocket,
    process::{Command, Stdio},
};

use kernel::{KERNEL, OURS, in_namespace, ip, skipped, until, without_ipv6};
use smoltcp::wire::{EthernetAddress, IpCidr};
use throughline_stack::{
    Architecture, Config, Device, Driver, Graph, Host, Message, Packet, PacketConfig, Participants, Tap,
};

const GRAPH: &str = "udp > ipv4 > eth; icmp > ipv4; arp > eth";
/// Frames of these carry no path.
const ARCHITECTURES: [Architecture; 2] = [Architecture::Layered, Architecture::Integrated];

fn driver<D: Device>(device: D, architecture: Architecture) -> Driver<D> {
    let host = Host::at(&device, IpCidr::new(OURS.into(), 24));
    let config = Config { architecture, ..Config::default() };
    Driver::new(Graph::compose(GRAPH, host, config).unwrap(), device)
}

fn veth() -> Packet {
    ip("link add tl0 type veth peer name tl1");
    for name in ["tl0", "tl1"] {
        without_ipv6(name);
        ip(&format!("link set {name} up"));
    }
    ip("addr add 10.77.0.1/24 dev tl0");
    Packet::open("tl1", &PacketConfig::default()).unwrap()
}

fn tap() -> Tap {
    let tap = Tap::open("tl0", EthernetAddress([2, 0, 0, 0, 0, 2])).unwrap();
    without_ipv6("tl0");
    ip("addr add 10.77.0.1/24 dev tl0");
    ip("link set tl0 up");
    tap
}

/// Sends everything back that comes.
fn serve<D: Device>(driver: &mut Driver<D>) {
    while driver.poll().unwrap() {
        while let Some(path) = driver.graph.ready() {
            while let Some(message) = driver.graph.receive(path) {
                driver.graph.send(path, Message::copied(128, message.bytes())).unwrap();
                driver.graph.release(message);
            }
        }
        driver.flush().unwrap();
    }
}

/// Datagrams of the kernel's in one piece and in many, and back.
fn datagrams<D: Device>(driver: &mut Driver<D>) {
    driver.graph.enable("udp", Participants::at(7)).unwrap();
    let socket = UdpSocket::bind((KERNEL, 0)).unwrap();
    socket.connect((OURS, 7)).unwrap();
    socket.set_nonblocking(true).unwrap();
    let data: Vec<u8> = (0..=250).cycle().take(65_507).collect();
    let mut echo = vec![0; 65_536];
    for len in [0, 1, 100, 1400, 1472, 1473, 5000, 65_507] {
        socket.send(&data[..len]).unwrap();
        until(
            &format!("no echo of {len} bytes; discarded {:?}", driver.graph.discarded().collect::<Vec<_>>()),
            || {
                serve(driver);
                matches!(socket.recv(&mut echo), Ok(came) if came == len)
            },
        );
        assert_eq!(echo[..len], data[..len]);
    }
    assert_eq!(driver.graph.discarded().next(), None);
}

/// We ask first.
fn we_begin<D: Device>(driver: &mut Driver<D>) {
    let socket = UdpSocket::bind((KERNEL, 0)).unwrap();
    socket.set_nonblocking(true).unwrap();
    let path =
        driver.graph.open("udp", Participants::to(KERNEL, socket.local_addr().unwrap().port())).unwrap();
    driver.graph.send(path, Message::copied(128, b"who is there?")).unwrap();
    let mut question = [0; 100];
    let mut asker = None;
    until("nothing came", || {
        serve(driver);
        asker = socket.recv_from(&mut question).ok();
        asker.is_some()
    });
    let (len, asker) = asker.unwrap();
    assert_eq!((&question[..len], asker.ip()), (&b"who is there?"[..], OURS.into()));
    socket.send_to(b"the kernel", asker).unwrap();
    until("no answer", || {
        driver.poll().unwrap();
        driver.graph.receive(path).is_some_and(|answer| answer.bytes() == b"the kernel")
    });
}

/// The system's own `ping`, with data in one piece and in several.
fn pinged<D: Device>(mut driver: Driver<D>) {
    if Command::new("ping").arg("-V").output().is_err() {
        return skipped("no command `ping` (Debian package `iputils-ping`)");
    }
    for size in ["56", "1472", "4000"] {
        let mut ping = Command::new("ping")
            .args(["-c", "3", "-i", "0.05", "-W", "5", "-s", size, &OURS.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        until("ping does not end", || {
            serve(&mut driver);
            driver.wait(std::time::Duration::from_millis(1)).unwrap();
            ping.try_wait().unwrap().is_some()
        });
        let output = ping.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("3 received"), "{size} bytes: {said}");
    }
}

#[test]
fn over_af_packet() {
    for architecture in ARCHITECTURES {
        in_namespace(move || {
            let mut driver = driver(veth(), architecture);
            we_begin(&mut driver);
            datagrams(&mut driver);
            pinged(driver);
        });
    }
}

#[test]
fn over_tap() {
    for architecture in ARCHITECTURES {
        in_namespace(move || {
            let mut driver = driver(tap(), architecture);
            datagrams(&mut driver);
            we_begin(&mut driver);
            pinged(driver);
        });
    }
}
