//! AF_PACKET devices, on one end of a veth pair, with the kernel on the other.

mod kernel;

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use kernel::{KERNEL, OURS, answer, conformance, host::Host, in_namespace, ip, tcp, until, without_ipv6};
use smoltcp::wire::{EthernetAddress, EthernetFrame, IpCidr};
use throughline_stack::{Config, Device, Driver, Graph, Packet, PacketConfig, Participants, Pool};

/// The kernel has tl0, we have tl1.
fn packet(config: &PacketConfig) -> Packet {
    ip("link add tl0 type veth peer name tl1");
    for name in ["tl0", "tl1"] {
        without_ipv6(name);
        ip(&format!("link set {name} up"));
    }
    ip("addr add 10.77.0.1/24 dev tl0");
    Packet::open("tl1", config).unwrap()
}

#[test]
fn frames_both_ways() {
    in_namespace(|| conformance(&mut packet(&PacketConfig::default())));
}

#[test]
fn frames_both_ways_past_the_queues() {
    in_namespace(|| conformance(&mut packet(&PacketConfig { bypass_queues: true, ..Default::default() })));
}

/// What the kernel's IP has been given in the thread's network namespace.
fn given_to_ip() -> u64 {
    let counts = std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap();
    let [names, values] = [0, 1].map(|line| counts.lines().nth(line).unwrap().split(' '));
    let of = names.zip(values).find(|(name, _)| *name == "InReceives").unwrap();
    of.1.parse().unwrap()
}

/// Frames for an address of our own are none of the kernel's business, and come nevertheless.
#[test]
fn an_address_of_our_own() {
    for own in [None, Some(EthernetAddress([2, 0, 0, 0, 0, 0x99]))] {
        in_namespace(move || {
            let mut packet = packet(&PacketConfig { hardware: own, ..Default::default() });
            assert!(own.is_none_or(|own| own == packet.hardware()));
            conformance(&mut packet);
            let (before, count) = (given_to_ip(), packet.counts().received);
            let socket = UdpSocket::bind((KERNEL, 0)).unwrap();
            for _ in 0..10 {
                socket.send_to(b"a datagram", (OURS, 7)).unwrap();
            }
            let mut pool = Pool::new(2048, 32, 64);
            until("no frames", || {
                while let Some(frame) = packet.receive(&mut pool).unwrap() {
                    pool.give(frame);
                }
                packet.counts().received >= count + 10
            });
            assert_eq!(given_to_ip() - before, if own.is_some() { 0 } else { 10 });
        });
    }
}

/// The kernel hands over pieces of up to 64 KiB.
#[test]
fn a_stream_both_ways() {
    in_namespace(|| {
        let mut packet = packet(&PacketConfig::default());
        tcp::bulk(&mut packet, 3_000_000);
        let counts = packet.counts();
        assert_eq!((counts.oversized, counts.malformed, counts.unsent), (0, 0, 0), "{counts:?}");
        assert!(counts.received > 2_000, "segments: {counts:?}");
    });
}

/// Another one of the same name is another one.
#[test]
fn an_interface_that_is_gone_is_an_error_and_one_with_another_name_is_not() {
    in_namespace(|| {
        let mut packet = packet(&PacketConfig::default());
        let mut pool = Pool::new(2048, 32, 64);
        ip("link set tl1 down");
        assert!(!packet.is_up());
        assert!(packet.receive(&mut pool).is_ok_and(|frame| frame.is_none()));
        ip("link set tl1 name tl9");
        ip("link set tl9 up");
        until("not up", || packet.is_up());
        ip("link del tl9");
        for again in [false, true] {
            if again {
                ip("link add tl0 type veth peer name tl1");
                ip("link set tl0 up");
                ip("link set tl1 up");
            }
            assert!(!packet.is_up());
            assert_eq!(packet.receive(&mut pool).unwrap_err().kind(), ErrorKind::NotFound);
            let mut frame = pool.take();
            frame.append(&[2; 60]).unwrap();
            packet.send(frame, &mut pool).unwrap();
            assert_eq!(packet.flush().unwrap_err().kind(), ErrorKind::NotFound);
        }
    });
}

/// Takes what has come and sends it back, and sleeps, for so long or until it has come; how often it slept.
fn echo(driver: &mut Driver<Packet>, time: Duration, mut is_over: impl FnMut() -> bool) -> usize {
    let (began, mut sleeps) = (Instant::now(), 0);
    while began.elapsed() < time && !is_over() {
        driver.poll().unwrap();
        while let Some(path) = driver.graph.ready() {
            while let Some(message) = driver.graph.receive(path) {
                driver.graph.send(path, message).unwrap();
            }
        }
        driver.flush().unwrap();
        driver.wait(Duration::from_millis(20)).unwrap();
        sleeps += 1;
    }
    sleeps
}

/// The socket says that it is down until somebody has heard, and what leaves meanwhile is refused.
#[test]
fn a_host_whose_interface_is_down_sleeps_and_goes_on_when_it_is_up() {
    in_namespace(|| {
        let device = packet(&PacketConfig::default());
        let host = throughline_stack::Host::at(&device, IpCidr::new(OURS.into(), 24));
        let graph = Graph::compose("udp > ipv4 > eth; icmp > ipv4; arp > eth", host, Config::default());
        let mut driver = Driver::new(graph.unwrap(), device);
        driver.graph.enable("udp", Participants::at(7)).unwrap();
        let path = driver.graph.open("udp", Participants::to(KERNEL, 9)).unwrap();
        let socket = UdpSocket::bind((KERNEL, 0)).unwrap();
        socket.set_nonblocking(true).unwrap();
        for round in 1..3 {
            let (mut answer, mut answered) = ([0; 8], false);
            echo(&mut driver, Duration::from_secs(10), || {
                let _ = socket.send_to(&[round], (OURS, 7));
                answered = matches!(socket.recv(&mut answer), Ok(1)) && answer[0] == round;
                answered
            });
            assert!(answered, "no echo");
            ip("link set tl1 down");
            let mut message = driver.graph.message();
            message.append(&[1; 10]).unwrap();
            driver.graph.send(path, message).unwrap();
            let sleeps = echo(&mut driver, Duration::from_millis(400), || false);
            assert!(sleeps < 40, "{sleeps} sleeps");
            ip("link set tl1 up");
        }
    });
}

#[test]
fn address_mtu_and_what_there_is_not() {
    in_namespace(|| {
        ip("link add tl0 type veth peer name tl1");
        ip("link set tl1 address 02:01:02:03:04:05 mtu 9000");
        let packet = Packet::open("tl1", &PacketConfig::default()).unwrap();
        assert_eq!((packet.hardware().0, packet.mtu()), ([2, 1, 2, 3, 4, 5], 9000));
        assert_eq!(
            Packet::open("tl2", &PacketConfig::default()).unwrap_err().raw_os_error(),
            Some(libc::ENODEV)
        );
        assert_eq!(Packet::open("lo", &PacketConfig::default()).unwrap_err().kind(), ErrorKind::Unsupported);
    });
}

#[test]
fn what_finds_no_place_in_the_ring_is_counted() {
    in_namespace(|| {
        let mut packet = packet(&PacketConfig { ring: 32, ..Default::default() });
        let mut host = Host::new(OURS, packet.hardware());
        let mut pool = Pool::new(2048, 32, 64);
        let socket = UdpSocket::bind((KERNEL, 0)).unwrap();
        socket.send_to(b"find out the address", (OURS, 7)).unwrap();
        until("no datagram", || {
            answer(&mut packet, &mut host, &mut pool);
            packet.counts().received >= 2
        });
        let before = packet.counts().received;
        for n in 0..100_u8 {
            socket.send_to(&[n; 100], (OURS, 7)).unwrap();
        }
        until("no count", || packet.counts().overrun > 0);
        let mut came = 0;
        while let Some(frame) = packet.receive(&mut pool).unwrap() {
            assert_eq!(frame.bytes()[42], came);
            assert!(frame.verified, "it was never on a wire");
            came += 1;
            pool.give(frame);
        }
        let counts = packet.counts();
        assert_eq!((counts.received - before, counts.received - before + counts.overrun), (32, 100));
    });
}

/// The kernel takes a tag off when the frame arrives, and it is there again.
#[test]
fn tags_are_put_back() {
    in_namespace(|| {
        let mut packet = packet(&PacketConfig::default());
        let mut other = Packet::open("tl0", &PacketConfig::default()).unwrap();
        let mut pool = Pool::new(2048, 32, 64);
        for tag in [[0x81, 0, 0x60, 5], [0x88, 0xa8, 0, 77]] {
            let mut sent = Host::new(OURS, other.hardware()).who_has(KERNEL);
            sent.splice(12..12, tag);
            // Of the first kind as long as may be.
            sent.resize(if tag[0] == 0x81 { 14 + 4 + 1_500 } else { 60 }, 5);
            let mut message = pool.take();
            message.append(&sent).unwrap();
            other.send(message, &mut pool).unwrap();
            other.flush().unwrap();
            until("no frame with a tag", || match packet.receive(&mut pool).unwrap() {
                Some(frame) => frame.bytes() == sent,
                None => false,
            });
        }
    });
}

/// What this end sends, and what the kernel sends on this end, is not received.
#[test]
fn outgoing_frames_are_not_received() {
    in_namespace(|| {
        let mut packet = packet(&PacketConfig::default());
        ip("addr add 10.79.0.1/24 dev tl1");
        let host = Host::new(OURS, packet.hardware());
        let mut pool = Pool::new(2048, 32, 64);
        let socket = UdpSocket::bind("10.79.0.1:0").unwrap();
        socket.send_to(b"who is that", "10.79.0.9:9").unwrap();
        let mut question = pool.take();
        question.append(&host.who_has(KERNEL)).unwrap();
        packet.send(question, &mut pool).unwrap();
        packet.flush().unwrap();
        let mut answers = 0;
        until("no answer", || {
            while let Some(frame) = packet.receive(&mut pool).unwrap() {
                let ethernet = EthernetFrame::new_unchecked(frame.bytes());
                assert_ne!(ethernet.src_addr(), packet.hardware(), "a frame of this end");
                assert!(!frame.verified, "ARP has no checksum");
                answers += u32::from(ethernet.dst_addr() == packet.hardware());
            }
            answers > 0
        });
    });
}
