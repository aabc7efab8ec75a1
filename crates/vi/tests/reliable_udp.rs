//! Reliable messages over UDP sockets of the loopback interface.
#![cfg(not(loom))]

use std::{
    net::{Ipv4Addr, SocketAddr},
    thread,
    time::{Duration, Instant},
};

use throughline_demux::Slot;
use throughline_vi::reliable::{
    Broken, Config, Connection, EndpointConfig, Event, Incoming, Level, Reason,
    udp::{Accept, RefuseAll, UdpEndpoint},
};

type Udp = UdpEndpoint<Vec<u8>, Vec<u8>>;

const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const LIMIT: Duration = Duration::from_secs(30);

fn bind() -> Udp {
    UdpEndpoint::bind(LOOPBACK, EndpointConfig::default()).unwrap()
}

fn config() -> Config {
    Config { max_frame: 9_000, ..Config::data_center() }
}

struct Server(usize);

impl Accept<Vec<u8>, Vec<u8>> for Server {
    fn incoming(&mut self, incoming: &Incoming<SocketAddr>) -> Option<Config> {
        (incoming.name() == b"echo").then(config)
    }

    fn accepted(&mut self, _: Slot, connection: &mut Connection<Vec<u8>, Vec<u8>>) {
        (0..16).for_each(|_| connection.post_receive(vec![0; self.0]).unwrap());
    }
}

/// Sends everything back until the connection ends, asleep while nothing happens.
fn echo(mut udp: Udp, length: usize) {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        udp.wait(Some(LIMIT)).unwrap();
        udp.poll(&mut Server(length)).unwrap();
        while let Some((slot, event)) = udp.event() {
            let connection = udp.connection(slot).unwrap();
            match event {
                Event::Received(buffer, Ok(arrived)) => {
                    connection.post_send(buffer[..arrived.length].to_vec(), arrived.immediate).unwrap();
                    connection.post_receive(buffer).unwrap();
                }
                Event::Broken(reason) => return assert_eq!(reason, Broken::Reset(Reason::Closed)),
                _ => {}
            }
        }
        udp.flush().unwrap();
    }
    panic!("the connection does not end");
}

#[test]
fn messages_of_all_lengths_come_back() {
    const LENGTH: usize = 3_000_000;
    let server = bind();
    let address = server.address().unwrap();
    let server = thread::spawn(move || echo(server, LENGTH));
    let mut udp = bind();
    let slot = udp.open(&config(), address, Level::Reception, b"echo").unwrap();
    let lengths: Vec<usize> =
        (0..200).map(|n| [0, 1, 100, 1_400, 9_000, 70_000][n % 6] + n).chain([LENGTH]).collect();
    let message = |n: usize| (0..lengths[n]).map(|at| (at * 31 + n) as u8).collect::<Vec<u8>>();
    (0..16).for_each(|_| udp.connection(slot).unwrap().post_receive(vec![0; LENGTH]).unwrap());
    for n in 0..lengths.len() {
        udp.connection(slot).unwrap().post_send(message(n), Some(n as u32)).unwrap();
    }
    udp.flush().unwrap();
    let (start, mut back) = (Instant::now(), 0);
    while back < lengths.len() {
        assert!(start.elapsed() < LIMIT, "{back} came back");
        udp.wait(Some(LIMIT)).unwrap();
        udp.poll(&mut RefuseAll).unwrap();
        while let Some((slot, event)) = udp.event() {
            if let Event::Received(buffer, result) = event {
                let arrived = result.unwrap();
                assert_eq!(arrived.immediate, Some(back as u32));
                assert!(buffer[..arrived.length] == message(back));
                back += 1;
                udp.connection(slot).unwrap().post_receive(buffer).unwrap();
            }
        }
        udp.flush().unwrap();
    }
    udp.connection(slot).unwrap().close();
    udp.flush().unwrap();
    server.join().unwrap();
}

#[test]
fn nobody_there_and_nobody_welcome() {
    let mut server = bind();
    let mut udp = bind();
    let address = server.address().unwrap();
    let slot = udp.open(&config(), address, Level::Delivery, b"other").unwrap();
    udp.flush().unwrap();
    server.wait(Some(LIMIT)).unwrap();
    server.poll(&mut Server(10)).unwrap();
    server.flush().unwrap();
    udp.wait(Some(LIMIT)).unwrap();
    udp.poll(&mut RefuseAll).unwrap();
    assert_eq!(udp.event(), Some((slot, Event::Broken(Broken::Reset(Reason::Refused)))));

    drop(server);
    let short = Config { death: Duration::from_millis(100), ..config() };
    let slot = udp.open(&short, address, Level::Delivery, b"").unwrap();
    let start = Instant::now();
    let event = loop {
        udp.flush().unwrap();
        if let Some(event) = udp.event() {
            break event;
        }
        assert!(start.elapsed() < LIMIT);
        udp.wait(Some(LIMIT)).unwrap();
        udp.poll(&mut RefuseAll).unwrap();
    };
    assert_eq!(event, (slot, Event::Broken(Broken::TimedOut)));
    assert!(start.elapsed() >= Duration::from_millis(100));
}
