//! Round trips of 64 octets over UDP on the loopback interface, both ends polling: reliable messages beside bare datagrams.
//! `cargo run --release -p throughline-vi --example udp_ping_pong`

use std::{
    io::ErrorKind,
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use throughline_demux::Slot;
use throughline_vi::reliable::{
    Config, Connection, EndpointConfig, Event, Incoming, Level,
    udp::{Accept, RefuseAll, UdpEndpoint},
};

const LENGTH: usize = 64;
const CALLS: usize = 50_000;
const ROUNDS: usize = 7;
const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

type Udp = UdpEndpoint<Vec<u8>, Vec<u8>>;

fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> (usize, SocketAddr) {
    loop {
        match socket.recv_from(buffer) {
            Ok(received) => return received,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => panic!("{error}"),
        }
    }
}

fn bare_socket() -> UdpSocket {
    let socket = UdpSocket::bind(ANY).expect("a socket");
    socket.set_nonblocking(true).expect("a socket that does not block");
    socket
}

fn bare() -> Duration {
    let (server, client) = (bare_socket(), bare_socket());
    let address = server.local_addr().expect("an address");
    let echo = thread::spawn(move || {
        let mut buffer = [0; LENGTH];
        for _ in 0..CALLS {
            let (length, from) = receive(&server, &mut buffer);
            server.send_to(&buffer[..length], from).expect("sent");
        }
    });
    let mut buffer = [1; LENGTH];
    let start = Instant::now();
    for _ in 0..CALLS {
        client.send_to(&buffer, address).expect("sent");
        receive(&client, &mut buffer);
    }
    let took = start.elapsed();
    echo.join().expect("the server");
    took
}

struct Server;

impl Accept<Vec<u8>, Vec<u8>> for Server {
    fn incoming(&mut self, _: &Incoming<SocketAddr>) -> Option<Config> {
        Some(Config::data_center())
    }

    fn accepted(&mut self, _: Slot, connection: &mut Connection<Vec<u8>, Vec<u8>>) {
        (0..8).for_each(|_| connection.post_receive(vec![0; LENGTH]).expect("room"));
    }
}

/// Takes part in the echo until so many messages have come.
fn take_part(udp: &mut Udp, accept: &mut impl Accept<Vec<u8>, Vec<u8>>, last_is_answered: bool) {
    let mut came = 0;
    while came < CALLS {
        udp.poll(accept).expect("a socket");
        while let Some((slot, event)) = udp.event() {
            let connection = udp.connection(slot).expect("a connection");
            match event {
                Event::Received(message, result) => {
                    result.expect("a message");
                    came += 1;
                    if came < CALLS || last_is_answered {
                        connection.post_send(message, None).expect("room");
                    }
                }
                Event::Sent(message, result) => {
                    result.expect("arrived");
                    connection.post_receive(message).expect("room");
                }
                Event::Connected => {}
                Event::Broken(broken) => panic!("{broken}"),
            }
        }
        udp.flush().expect("a socket");
    }
}

fn reliable() -> Duration {
    let bind = || Udp::bind(ANY, EndpointConfig::default()).expect("a socket");
    let (mut server, mut client) = (bind(), bind());
    let address = server.address().expect("an address");
    let echo = thread::spawn(move || take_part(&mut server, &mut Server, true));
    let start = Instant::now();
    let slot = client.open(&Config::data_center(), address, Level::Delivery, b"echo").expect("a connection");
    let connection = client.connection(slot).expect("a connection");
    (0..8).for_each(|_| connection.post_receive(vec![0; LENGTH]).expect("room"));
    connection.post_send(vec![1; LENGTH], None).expect("room");
    client.flush().expect("a socket");
    take_part(&mut client, &mut RefuseAll, false);
    let took = start.elapsed();
    echo.join().expect("the server");
    took
}

fn main() {
    let mut ratios = Vec::new();
    println!("round trip: bare datagrams, reliable messages, ratio");
    for _ in 0..ROUNDS {
        let [bare, reliable] = [bare(), reliable()].map(|took| took.as_secs_f64() / CALLS as f64 * 1e6);
        println!("{bare:.2} us, {reliable:.2} us, {:.3}", reliable / bare);
        ratios.push(reliable / bare);
    }
    ratios.sort_unstable_by(f64::total_cmp);
    println!("median ratio {:.3}", ratios[ROUNDS / 2]);
}
