//! What hosts say to each other: streams, datagrams, packets to groups. Each end is a process of its own, the test program again, which
//! must have an ignored test `one_end` that calls [`run`].

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::Namespace;

/// Bytes sent each way in a stream.
pub const BULK: usize = 4 << 20;
/// Packets to a group that are answered.
pub const GROUP_PACKETS: u32 = 20;
const PATIENCE: Duration = Duration::from_secs(20);
/// Lengths of datagrams, the last one with its headers as long as a packet may be.
const LENGTHS: [usize; 5] = [1, 100, 1448, 1449, 1472];

/// This test program again, as one end of an exchange.
fn start(of: &Namespace, role: &str, address: &str) -> Child {
    let this = std::env::current_exe().unwrap();
    of.command(this.to_str().unwrap())
        .args(["--exact", "one_end", "--ignored", "--nocapture"])
        .env("END_ROLE", role)
        .env("END_ADDRESS", address)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// The end that this process was started as.
pub fn run() {
    let (role, address) = (std::env::var("END_ROLE").unwrap(), std::env::var("END_ADDRESS").unwrap());
    match &*role {
        "stream-server" => serve_stream(&address),
        "stream-client" => send_stream(&address),
        "datagram-server" => serve_datagrams(&address),
        "datagram-client" => send_datagrams(&address),
        "group-server" => serve_group(&address),
        "group-client" => send_to_group(&address),
        _ => panic!("no role {role}"),
    }
}

fn serve_stream(address: &str) {
    let mut stream = TcpListener::bind(address).unwrap().accept().unwrap().0;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut data = vec![0; BULK];
    stream.read_exact(&mut data).unwrap();
    stream.write_all(&data).unwrap();
}

fn send_stream(address: &str) {
    let begun = Instant::now();
    let mut stream = loop {
        match TcpStream::connect(address) {
            Ok(stream) => break stream,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "{address}: {error}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let data: Vec<u8> = (0..BULK).map(|n| (n * 31 % 251) as u8).collect();
    stream.write_all(&data).unwrap();
    let mut back = vec![0; BULK];
    stream.read_exact(&mut back).unwrap();
    assert!(back == data, "what comes back is what was sent");
}

/// Answers until the longest has come.
fn serve_datagrams(address: &str) {
    let socket = UdpSocket::bind(address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut data = [0; 2048];
    loop {
        let (size, from) = socket.recv_from(&mut data).unwrap();
        socket.send_to(&data[..size], from).unwrap();
        if size == LENGTHS[LENGTHS.len() - 1] {
            return;
        }
    }
}

fn send_datagrams(address: &str) {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let (begun, mut back) = (Instant::now(), [0; 2048]);
    for size in LENGTHS {
        // Again until the server is there.
        loop {
            socket.send_to(&vec![7; size], address).unwrap();
            match socket.recv(&mut back) {
                Ok(came) if came == size => break,
                _ => assert!(begun.elapsed() < PATIENCE, "no answer of {size} bytes"),
            }
        }
    }
}

/// Answers whoever sends to a group, as often as he wants.
fn serve_group(address: &str) {
    let group: SocketAddrV4 = address.parse().unwrap();
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, group.port())).unwrap();
    socket.join_multicast_v4(group.ip(), &Ipv4Addr::UNSPECIFIED).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut data = [0; 16];
    for answered in 1.. {
        let (size, from) = socket.recv_from(&mut data).unwrap();
        socket.send_to(&data[..size], from).unwrap();
        if answered == GROUP_PACKETS {
            return;
        }
    }
}

fn send_to_group(address: &str) {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.set_multicast_ttl_v4(8).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let (begun, mut answered) = (Instant::now(), 0);
    while answered < GROUP_PACKETS {
        socket.send_to(b"to all", address).unwrap();
        answered += u32::from(socket.recv(&mut [0; 16]).is_ok());
        assert!(begun.elapsed() < PATIENCE, "{answered} answers from {address}");
    }
}

pub fn exchange(what: &str, from: &Namespace, to: &Namespace, address: &str) {
    let mut server = start(to, &format!("{what}-server"), address);
    let client = start(from, &format!("{what}-client"), address).wait().unwrap();
    assert!(client.success(), "the client of {address}, {what}");
    assert!(server.wait().unwrap().success(), "the server of {address}, {what}");
}
