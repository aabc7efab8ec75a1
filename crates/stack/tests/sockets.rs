//! Streams of graphs as sockets: what programs that know nothing of graphs do with them.

mod hosts;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hosts::{CLIENT, SERVER, data};
use smoltcp::wire::{IpCidr, Ipv4Address};
use throughline_stack::{Config, Device, Driver, Faults, Faulty, Graph, Host, PairConfig, Sockets, pair};

const LONG: Duration = Duration::from_secs(20);

fn sockets(device: impl Device + 'static, address: Ipv4Address) -> Sockets {
    let host = Host::at(&device, IpCidr::new(address.into(), 24));
    let graph = Graph::compose("tcp > ipv4 > eth; arp > eth", host, Config::default()).unwrap();
    Sockets::start(Driver::new(graph, device)).unwrap()
}

/// A client's sockets and a server's.
fn connected(faults: Faults) -> (Sockets, Sockets) {
    let (ours, theirs) = pair(&PairConfig::default());
    (sockets(Faulty::new(ours, faults, faults, 7), CLIENT), sockets(theirs, SERVER))
}

fn at(port: u16) -> SocketAddr {
    (SERVER, port).into()
}

fn connect(sockets: &Sockets, port: u16) -> UnixStream {
    let stream = UnixStream::from(sockets.connect(at(port), LONG).unwrap());
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream
}

/// Echoes what so many connections send, each until it ends; returns how many bytes that was.
fn echo(listener: OwnedFd, connections: usize) -> JoinHandle<usize> {
    let listener = UnixListener::from(listener);
    listener.set_nonblocking(false).unwrap();
    thread::spawn(move || {
        let each = |stream: std::io::Result<UnixStream>| {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut bytes = Vec::new();
                let mut buffer = [0; 4096];
                loop {
                    match stream.read(&mut buffer) {
                        Ok(0) => break,
                        Ok(len) => stream.write_all(&buffer[..len]).unwrap(),
                        Err(error) => panic!("{error}"),
                    }
                    bytes.extend_from_slice(&buffer[..1]);
                }
                bytes.len()
            })
        };
        let handlers: Vec<_> = listener.incoming().take(connections).map(each).collect();
        handlers.into_iter().map(|handler| handler.join().unwrap()).sum()
    })
}

/// Sends everything while reading everything.
fn exchange(stream: UnixStream, sent: Vec<u8>) {
    let mut writer = stream.try_clone().unwrap();
    let expected = sent.clone();
    let writing = thread::spawn(move || {
        writer.write_all(&sent).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut came = Vec::new();
    (&stream).read_to_end(&mut came).unwrap();
    writing.join().unwrap();
    assert!(came == expected, "{} of {} bytes", came.len(), expected.len());
}

#[test]
fn much_both_ways() {
    let (client, server) = connected(Faults::default());
    let echoing = echo(server.listen(80).unwrap(), 1);
    exchange(connect(&client, 80), data(3_000_000));
    assert!(echoing.join().unwrap() > 0);
}

#[test]
fn much_both_ways_on_a_bad_wire() {
    let (client, server) = connected(Faults { loss: 0.01, reordering: 0.02, ..Faults::default() });
    let echoing = echo(server.listen(80).unwrap(), 1);
    exchange(connect(&client, 80), data(300_000));
    assert!(echoing.join().unwrap() > 0);
}

#[test]
fn many_at_a_time() {
    let (client, server) = connected(Faults::default());
    let echoing = echo(server.listen(80).unwrap(), 60);
    let streams: Vec<_> = (0..60).map(|_| connect(&client, 80)).collect();
    let talks: Vec<_> = streams
        .into_iter()
        .enumerate()
        .map(|(n, stream)| thread::spawn(move || exchange(stream, data(1000 + 997 * n))))
        .collect();
    talks.into_iter().for_each(|talk| talk.join().unwrap());
    echoing.join().unwrap();
}

#[test]
fn nobody_listens_or_nobody_is_there() {
    let (client, server) = connected(Faults::default());
    assert_eq!(client.connect(at(81), LONG).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    let nobody = SocketAddr::from(([10, 0, 0, 77], 80));
    let wait = Duration::from_millis(300);
    assert_eq!(client.connect(nobody, wait).unwrap_err().kind(), ErrorKind::TimedOut);
    let far = SocketAddr::from(([192, 168, 0, 1], 80));
    assert_eq!(client.connect(far, wait).unwrap_err().kind(), ErrorKind::HostUnreachable);
    let first = server.listen(81).unwrap();
    assert_eq!(server.listen(81).unwrap_err().kind(), ErrorKind::AddrInUse);
    // That nobody listens any more is found out when the next one comes, who may be connected for a moment.
    drop(first);
    let begun = Instant::now();
    while let Ok(socket) = client.connect(at(81), LONG) {
        assert!(matches!(UnixStream::from(socket).read(&mut [0]), Ok(0) | Err(_)));
        assert!(begun.elapsed() < LONG);
    }
    assert_eq!(client.connect(at(81), LONG).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    server.listen(81).unwrap();
}

#[test]
fn who_closes_is_closed_to() {
    let (client, server) = connected(Faults::default());
    let listener = UnixListener::from(server.listen(80).unwrap());
    listener.set_nonblocking(false).unwrap();
    // The server closes with data on its way; the client reads it and then the end.
    let mut stream = connect(&client, 80);
    let (mut theirs, _) = listener.accept().unwrap();
    theirs.write_all(&data(100_000)).unwrap();
    drop(theirs);
    let mut came = Vec::new();
    stream.read_to_end(&mut came).unwrap();
    assert!(came == data(100_000));
    // The client closes; who sends to him learns of it.
    let stream = connect(&client, 80);
    let (mut theirs, _) = listener.accept().unwrap();
    drop(stream);
    assert_eq!(theirs.read(&mut [0]).unwrap(), 0);
    let begun = Instant::now();
    while theirs.write_all(&data(1000)).is_ok() {
        assert!(begun.elapsed() < LONG);
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn nobody_reads_and_nothing_is_lost() {
    let (client, server) = connected(Faults::default());
    let listener = UnixListener::from(server.listen(80).unwrap());
    listener.set_nonblocking(false).unwrap();
    let mut stream = connect(&client, 80);
    let (mut theirs, _) = listener.accept().unwrap();
    stream.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let (chunk, mut sent) = (data(10_000), 0);
    // What is under way is bounded: buffers of TCP and of sockets.
    while let Ok(len) = stream.write(&chunk) {
        sent += len;
        assert!(sent < 10_000_000);
    }
    stream.shutdown(Shutdown::Write).unwrap();
    let mut came = Vec::new();
    theirs.read_to_end(&mut came).unwrap();
    assert_eq!(came.len(), sent);
}

#[test]
fn an_end_breaks_connections_and_takes_the_thread_along() {
    let (client, server) = connected(Faults::default());
    let listener = UnixListener::from(server.listen(80).unwrap());
    listener.set_nonblocking(false).unwrap();
    let mut stream = connect(&client, 80);
    let (mut theirs, _) = listener.accept().unwrap();
    drop(client);
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    drop(server);
    assert_eq!(theirs.read(&mut [0]).unwrap(), 0);
}

/// What is said of the first segment, that nobody there speaks TCP, does not make a connection: it may be a lie, or pass, so it is
/// waited on.
#[test]
fn what_is_said_of_a_segment_is_no_connection() {
    let (ours, theirs) = pair(&PairConfig::default());
    let start = |device, address: Ipv4Address, description| {
        let host = Host::at(&device, IpCidr::new(address.into(), 24));
        let graph = Graph::compose(description, host, Config::default()).unwrap();
        Sockets::start(Driver::new(graph, device)).unwrap()
    };
    let client = start(ours, CLIENT, "tcp > ipv4 > eth; icmp > ipv4; arp > eth");
    let _server = start(theirs, SERVER, "udp > ipv4 > eth; icmp > ipv4; arp > eth");
    let connected = client.connect(at(80), Duration::from_millis(500));
    assert_eq!(connected.map_err(|error| error.kind()).err(), Some(ErrorKind::TimedOut));
}
