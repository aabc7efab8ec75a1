//! TAP devices, with the kernel on the other end.

mod kernel;

use kernel::{KERNEL, OURS, conformance, in_namespace, ip, tcp, without_ipv6};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use smoltcp::wire::{EthernetAddress, IpCidr};
use throughline_stack::{Config, Device, Driver, Graph, Host, Participants, Pool, Tap, is_passing};

const HARDWARE: EthernetAddress = EthernetAddress([2, 0, 0, 0, 7, 7]);

fn tap() -> Tap {
    let tap = Tap::open("tl0", HARDWARE).unwrap();
    without_ipv6("tl0");
    ip("addr add 10.77.0.1/24 dev tl0");
    ip("link set tl0 up");
    tap
}

#[test]
fn frames_both_ways() {
    in_namespace(|| conformance(&mut tap()));
}

#[test]
fn a_stream_both_ways() {
    in_namespace(|| tcp::bulk(&mut tap(), 3_000_000));
}

#[test]
fn address_mtu_and_readiness() {
    in_namespace(|| {
        drop(tap());
        assert_eq!(
            Tap::open("a-name-that-is-too-long", HARDWARE).unwrap_err().kind(),
            std::io::ErrorKind::InvalidInput
        );
        ip("tuntap add mode tap name tl1");
        ip("link set tl1 mtu 900");
        let mut tap = Tap::open("tl1", HARDWARE).unwrap();
        assert_eq!((tap.hardware(), tap.mtu()), (HARDWARE, 900));
        assert!(Tap::open("tl1", HARDWARE).is_err(), "somebody is attached");
        without_ipv6("tl1");
        ip("addr add 10.77.0.1/24 dev tl1");
        ip("link set tl1 up");
        let readable = |tap: &Tap| {
            let fd = tap.fd().unwrap();
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&now)).unwrap() > 0
        };
        let mut pool = Pool::new(2048, 32, 4);
        while tap.receive(&mut pool).unwrap().is_some() {}
        assert!(!readable(&tap));
        let socket = std::net::UdpSocket::bind("10.77.0.1:0").unwrap();
        kernel::until("no question for the address", || {
            // The first interface is there, with its route, until all processes that are being started have let go of it.
            let _ = socket.send_to(b"who is there", "10.77.0.2:7");
            readable(&tap)
        });
        assert!(tap.receive(&mut pool).unwrap().is_some());
    });
}

fn send(tap: &mut Tap, pool: &mut Pool) -> std::io::Result<()> {
    let mut frame = pool.take();
    frame.append(&[2; 60]).unwrap();
    tap.send(frame, pool).map_err(|(frame, error)| {
        pool.give(frame);
        error
    })
}

#[test]
fn what_an_interface_that_is_down_was_to_send_is_lost_as_on_every_wire() {
    in_namespace(|| {
        let mut tap = tap();
        let mut pool = Pool::new(2048, 32, 4);
        for _ in 0..2 {
            send(&mut tap, &mut pool).unwrap();
            ip("link set tl0 down");
            let error = send(&mut tap, &mut pool).unwrap_err();
            assert!(is_passing(&error), "{error:?}");
            ip("link set tl0 up");
        }
        send(&mut tap, &mut pool).unwrap();
    });
}

#[test]
fn a_host_goes_on_while_its_interface_is_down() {
    in_namespace(|| {
        let device = tap();
        let host = Host::at(&device, IpCidr::new(OURS.into(), 24));
        let graph = Graph::compose("udp > ipv4 > eth; icmp > ipv4; arp > eth", host, Config::default());
        let mut driver = Driver::new(graph.unwrap(), device);
        let path = driver.graph.open("udp", Participants::to(KERNEL, 9)).unwrap();
        ip("link set tl0 down");
        let mut message = driver.graph.message();
        message.append(&[1; 10]).unwrap();
        driver.graph.send(path, message).unwrap();
        // A question for the address.
        driver.flush().unwrap();
        driver.poll().unwrap();
    });
}

#[test]
fn an_interface_that_is_gone_is_an_error() {
    in_namespace(|| {
        let mut tap = tap();
        let mut pool = Pool::new(2048, 32, 4);
        ip("link del tl0");
        assert_eq!(tap.receive(&mut pool).unwrap_err().kind(), std::io::ErrorKind::NotFound);
        assert_eq!(send(&mut tap, &mut pool).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    });
}
