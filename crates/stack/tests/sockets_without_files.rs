//! A listener lives on while the process may open no more files, which strangers can bring about by coming in numbers.

mod hosts;

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

use hosts::{CLIENT, SERVER};
use smoltcp::wire::{IpCidr, Ipv4Address};
use throughline_stack::{Config, Device, Driver, Graph, Host, PairConfig, Sockets, pair};

const LONG: Duration = Duration::from_secs(20);
/// Files that this process may have open; the test harness has some.
const FILES: libc::rlim_t = 100;

fn sockets(device: impl Device + 'static, address: Ipv4Address) -> Sockets {
    let host = Host::at(&device, IpCidr::new(address.into(), 24));
    let graph = Graph::compose("tcp > ipv4 > eth; arp > eth", host, Config::default()).unwrap();
    Sockets::start(Driver::new(graph, device)).unwrap()
}

fn connect(client: &Sockets) -> UnixStream {
    UnixStream::from(client.connect((SERVER, 80).into(), LONG).unwrap())
}

/// Accepts one, who says something.
fn served(listener: &UnixListener) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < LONG {
        match listener.accept() {
            Ok((mut stream, _)) => return matches!(stream.read(&mut [0]), Ok(1)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(5)),
            Err(error) => panic!("{error}"),
        }
    }
    false
}

#[test]
fn who_comes_while_no_file_can_be_opened_waits_and_the_port_stays_open() {
    let limit = libc::rlimit { rlim_cur: FILES, rlim_max: FILES };
    // SAFETY: it is read, and nothing else.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
    let (ours, theirs) = pair(&PairConfig::default());
    let (client, server) = (sockets(ours, CLIENT), sockets(theirs, SERVER));
    let listener = UnixListener::from(server.listen(80).unwrap());
    let mut open = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        open.push(file);
    }
    // The two that the client needs are left, none for the server.
    open.truncate(open.len() - 2);
    let mut first = connect(&client);
    thread::sleep(Duration::from_millis(300));
    open.clear();
    first.write_all(b"!").unwrap();
    assert!(served(&listener));
    let mut second = connect(&client);
    second.write_all(b"!").unwrap();
    assert!(served(&listener));
}
