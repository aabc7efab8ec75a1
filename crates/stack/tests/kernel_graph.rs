//! The protocol graph and the kernel's stack, over AF_PACKET and TAP.

mod kernel;

use std::{
    io::{ErrorKind, Read, Write},
    net::{IpAddr, SocketAddr, TcpStream, UdpSocket},
    process::{Command, Stdio},
};

use kernel::{KERNEL, KERNEL6, OURS, OURS6, addresses, in_namespace, ip, skipped, until, without_ipv6};
use smoltcp::wire::{EthernetAddress, IpCidr};
use throughline_stack::{
    Architecture, Config, Device, Discard, Driver, Faults, Faulty, Graph, Host, Message, Packet,
    PacketConfig, Participants, StreamError, Tap, Trouble,
};

const GRAPH: &str = "
    udp > ipv4 > eth; tcp > ipv4; icmp > ipv4; arp > eth
    udp > ipv6 > eth; tcp > ipv6; icmp6 > ipv6";
/// Frames of these carry no path.
const ARCHITECTURES: [Architecture; 2] = [Architecture::Layered, Architecture::Integrated];

fn driver<D: Device>(device: D, architecture: Architecture) -> Driver<D> {
    let mut host = Host::at(&device, IpCidr::new(OURS.into(), 24));
    host.addresses.push(IpCidr::new(OURS6.into(), 64));
    let config = Config { architecture, ..Config::default() };
    Driver::new(Graph::compose(GRAPH, host, config).unwrap(), device)
}

/// The addresses of the two ends, the kernel's first.
type Ends = (IpAddr, IpAddr);

/// The device, and the ends that there are: IPv6 may be missing.
fn veth() -> (Packet, Vec<Ends>) {
    ip("link add tl0 type veth peer name tl1");
    for name in ["tl0", "tl1"] {
        without_ipv6(name);
        ip(&format!("link set {name} up"));
    }
    let ends = ends();
    (Packet::open("tl1", &PacketConfig::default()).unwrap(), ends)
}

fn tap() -> (Tap, Vec<Ends>) {
    let tap = Tap::open("tl0", EthernetAddress([2, 0, 0, 0, 0, 2])).unwrap();
    without_ipv6("tl0");
    ip("link set tl0 up");
    (tap, ends())
}

fn ends() -> Vec<Ends> {
    let mut ends = vec![(KERNEL.into(), OURS.into())];
    if addresses("tl0") {
        ends.push((KERNEL6.into(), OURS6.into()));
    }
    ends
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
fn datagrams<D: Device>(driver: &mut Driver<D>, (kernel, ours): Ends) {
    let listener = driver.graph.enable("udp", Participants::at(7)).unwrap();
    let socket = UdpSocket::bind((kernel, 0)).unwrap();
    socket.connect((ours, 7)).unwrap();
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
    // The kernel tells routers which groups it is in; we are none.
    let reports = ("ipv6", Discard::NotForUs);
    let others = |(name, why, _): &(&str, Discard, u64)| (*name, *why) != reports;
    assert_eq!(driver.graph.discarded().find(others), None);
    driver.graph.disable(listener);
}

/// Nobody is at a port: the kernel learns it from us, and we from the kernel.
fn nobody_there<D: Device>(driver: &mut Driver<D>, (kernel, ours): Ends) {
    let socket = UdpSocket::bind((kernel, 0)).unwrap();
    socket.connect((ours, 4444)).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket.send(b"anybody?").unwrap();
    until("the kernel was not told", || {
        serve(driver);
        socket.recv(&mut [0; 9]).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    });
    let silent = UdpSocket::bind((kernel, 0)).unwrap().local_addr().unwrap().port();
    let path = driver.graph.open("udp", Participants::to(kernel, silent)).unwrap();
    driver.graph.send(path, Message::copied(128, b"anybody?")).unwrap();
    until("we were not told", || {
        serve(driver);
        driver.graph.trouble(path) == Some(Trouble::NoPort)
    });
    driver.graph.close(path);
}

/// We ask first.
fn we_begin<D: Device>(driver: &mut Driver<D>, (kernel, ours): Ends) {
    let socket = UdpSocket::bind((kernel, 0)).unwrap();
    socket.set_nonblocking(true).unwrap();
    let path =
        driver.graph.open("udp", Participants::to(kernel, socket.local_addr().unwrap().port())).unwrap();
    driver.graph.send(path, Message::copied(128, b"who is there?")).unwrap();
    let mut question = [0; 100];
    let mut asker = None;
    until("nothing came", || {
        serve(driver);
        asker = socket.recv_from(&mut question).ok();
        asker.is_some()
    });
    let (len, asker) = asker.unwrap();
    assert_eq!((&question[..len], asker.ip()), (&b"who is there?"[..], ours));
    socket.send_to(b"the kernel", asker).unwrap();
    until("no answer", || {
        driver.poll().unwrap();
        driver.graph.receive(path).is_some_and(|answer| answer.bytes() == b"the kernel")
    });
}

/// The system's own `ping`, with data in one piece and in several.
fn pinged<D: Device>(driver: &mut Driver<D>, ours: &str) {
    if Command::new("ping").arg("-V").output().is_err() {
        return skipped("no command `ping` (Debian package `iputils-ping`)");
    }
    for size in ["56", "1472", "4000"] {
        let mut ping = Command::new("ping")
            .args(["-c", "3", "-i", "0.05", "-W", "5", "-s", size, ours])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        until("ping does not end", || {
            serve(driver);
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
            let (device, ends) = veth();
            let mut driver = driver(device, architecture);
            for ends in &ends {
                we_begin(&mut driver, *ends);
                datagrams(&mut driver, *ends);
                pinged(&mut driver, &ends.1.to_string());
            }
            for ends in ends {
                nobody_there(&mut driver, ends);
            }
        });
    }
}

#[test]
fn over_tap() {
    for architecture in ARCHITECTURES {
        in_namespace(move || {
            let (device, ends) = tap();
            let mut driver = driver(device, architecture);
            for ends in &ends {
                datagrams(&mut driver, *ends);
                we_begin(&mut driver, *ends);
                pinged(&mut driver, &ends.1.to_string());
            }
            for ends in ends {
                nobody_there(&mut driver, ends);
            }
        });
    }
}

/// A connection of the kernel's, a server of ours that sends everything back: 3 MB each way, and an end.
fn stream<D: Device>(driver: &mut Driver<D>, ours: IpAddr) {
    let listener = driver.graph.enable("tcp", Participants::at(80)).unwrap();
    let kernel = std::thread::spawn(move || {
        let mut stream = TcpStream::connect((ours, 80)).unwrap();
        let mut writer = stream.try_clone().unwrap();
        let sent: Vec<u8> = (0..1_500_000_u32).map(|n| (n % 251) as u8).collect();
        let expected = sent.clone();
        let writer = std::thread::spawn(move || {
            writer.write_all(&sent).unwrap();
            writer.shutdown(std::net::Shutdown::Write).unwrap();
        });
        let mut came = Vec::new();
        stream.read_to_end(&mut came).unwrap();
        writer.join().unwrap();
        assert!(came == expected, "{} bytes came back", came.len());
    });
    let mut owed = Vec::new();
    let mut buffer = vec![0; 65_536];
    let mut path = None;
    until("the kernel's end is not done", || {
        driver.poll().unwrap();
        path = path.or_else(|| driver.graph.accepted(listener));
        let Some(id) = path else { return false };
        let written = driver.graph.write(id, &owed).unwrap_or(0);
        owed.drain(..written);
        if owed.len() < 1_000_000 {
            match driver.graph.read(id, &mut buffer) {
                Ok(len) => owed.extend_from_slice(&buffer[..len]),
                Err(StreamError::Finished) if owed.is_empty() => driver.graph.shutdown(id).unwrap(),
                Err(_) => {}
            }
        }
        driver.flush().unwrap();
        kernel.is_finished()
    });
    kernel.join().unwrap();
    driver.graph.disable(listener);
}

/// `curl` asks a server of ours for a file.
fn curl<D: Device>(driver: &mut Driver<D>, ours: IpAddr) {
    if Command::new("curl").arg("-V").output().is_err() {
        return skipped("no command `curl` (Debian package `curl`)");
    }
    let listener = driver.graph.enable("tcp", Participants::at(80)).unwrap();
    let mut curl = Command::new("curl")
        .args(["--silent", "--max-time", "10", &format!("http://{}/file", SocketAddr::new(ours, 80))])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let body = "x".repeat(20_000);
    let answer =
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
    let (mut path, mut asked, mut written) = (None, Vec::new(), 0);
    until("curl does not end", || {
        driver.poll().unwrap();
        path = path.or_else(|| driver.graph.accepted(listener));
        let Some(id) = path else { return curl.try_wait().unwrap().is_some() };
        let mut buffer = [0; 1000];
        let len = driver.graph.read(id, &mut buffer).unwrap_or(0);
        asked.extend_from_slice(&buffer[..len]);
        if asked.ends_with(b"\r\n\r\n") && written < answer.len() {
            written += driver.graph.write(id, &answer.as_bytes()[written..]).unwrap();
            if written == answer.len() {
                driver.graph.close(id);
            }
        }
        driver.flush().unwrap();
        curl.try_wait().unwrap().is_some()
    });
    let output = curl.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout == body.as_bytes(), "{} bytes", output.stdout.len());
    driver.graph.disable(listener);
}

/// The kernel and we find one another by link-local addresses alone.
#[test]
fn by_link_local_addresses() {
    in_namespace(|| {
        let (device, ends) = veth();
        if ends.len() < 2 {
            return;
        }
        ip("-6 addr add fe80::1/64 dev tl0 nodad");
        let ours = Host::at(&device, IpCidr::new(OURS.into(), 24)).with_link_local().addresses[1].address();
        let mut driver = driver(device, Architecture::Integrated);
        pinged(&mut driver, &format!("{ours}%tl0"));
    });
}

#[test]
fn streams_over_af_packet() {
    for architecture in ARCHITECTURES {
        in_namespace(move || {
            let (device, ends) = veth();
            let mut driver = driver(device, architecture);
            for (_, ours) in ends {
                stream(&mut driver, ours);
                curl(&mut driver, ours);
            }
        });
    }
}

#[test]
fn streams_over_tap() {
    for architecture in ARCHITECTURES {
        in_namespace(move || {
            let (device, ends) = tap();
            let mut driver = driver(device, architecture);
            for (_, ours) in ends {
                stream(&mut driver, ours);
                curl(&mut driver, ours);
            }
        });
    }
}

/// 800 kB to us, and then as much back, by a wire that loses one frame of a hundred each way and has others overtaken.
fn by_a_bad_wire<D: Device>(device: D, architecture: Architecture) {
    let faults = Faults { loss: 0.01, reordering: 0.01, ..Faults::default() };
    let mut driver = driver(Faulty::new(device, faults, faults, 5), architecture);
    let listener = driver.graph.enable("tcp", Participants::at(80)).unwrap();
    let kernel = std::thread::spawn(move || {
        let mut stream = TcpStream::connect((OURS, 80)).unwrap();
        let sent: Vec<u8> = (0..800_000_u32).map(|n| (n % 251) as u8).collect();
        stream.write_all(&sent).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut came = Vec::new();
        stream.read_to_end(&mut came).unwrap();
        assert!(came == sent, "{} bytes came back", came.len());
    });
    let (mut kept, mut written, mut whole, mut path) = (Vec::new(), 0, false, None);
    let mut buffer = vec![0; 65_536];
    let begun = std::time::Instant::now();
    while !kernel.is_finished() {
        assert!(begun.elapsed().as_secs() < 180, "{} bytes have come, {written} were sent back", kept.len());
        driver.poll().unwrap();
        path = path.or_else(|| driver.graph.accepted(listener));
        let Some(id) = path else { continue };
        match driver.graph.read(id, &mut buffer) {
            Ok(len) => kept.extend_from_slice(&buffer[..len]),
            Err(StreamError::Finished) => whole = true,
            Err(_) => {}
        }
        if whole && written < kept.len() {
            written += driver.graph.write(id, &kept[written..]).unwrap();
            if written == kept.len() {
                driver.graph.shutdown(id).unwrap();
            }
        }
        driver.flush().unwrap();
    }
    kernel.join().unwrap();
    for counts in driver.device().faults() {
        assert!(counts.lost > 2 && counts.reordered > 2, "{counts:?}");
    }
}

/// What smoltcp sends and the wire loses it repeats after a second, unless three later segments arrive: so it takes a while.
#[test]
fn streams_over_bad_wires() {
    in_namespace(|| by_a_bad_wire(veth().0, Architecture::Integrated));
    in_namespace(|| by_a_bad_wire(tap().0, Architecture::Layered));
}
