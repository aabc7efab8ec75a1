//! Two graphs with a wire between them that loses nothing.
#![allow(dead_code, reason = "each test uses what it needs")]

use smoltcp::{
    time::{Duration, Instant},
    wire::{EthernetAddress, IpCidr, Ipv4Address, Ipv6Address},
};
use throughline_stack::{Architecture, Config, ETHERNET_MTU, Graph, Host, Message, Participants, Urgency};

pub const CLIENT: Ipv4Address = Ipv4Address::new(10, 0, 0, 1);
pub const SERVER: Ipv4Address = Ipv4Address::new(10, 0, 0, 2);

pub const CLIENT6: Ipv6Address = Ipv6Address::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
pub const SERVER6: Ipv6Address = Ipv6Address::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);

pub struct Pair {
    pub client: Graph,
    pub server: Graph,
    pub now: Instant,
    /// Everything sent, in order.
    pub frames: Vec<Vec<u8>>,
}

/// A host with this address, and one of IPv6 that ends in the same number.
pub fn host(address: Ipv4Address) -> Host {
    let number = address.octets()[3];
    let mut host = Host::new(EthernetAddress([2, 0, 0, 0, 0, number]), IpCidr::new(address.into(), 24));
    let v6 = Ipv6Address::new(0xfd00, 0, 0, 0, 0, 0, 0, number.into());
    host.addresses.push(IpCidr::new(v6.into(), 64));
    host
}

pub fn data(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8).collect()
}

impl Pair {
    pub fn new(description: &str, architecture: Architecture) -> Self {
        Self::with(description, Config { architecture, ..Config::default() })
    }

    pub fn queued(description: &str, architecture: Architecture, urgency: Urgency) -> Self {
        Self::with(description, Config { architecture, scheduling: Some(urgency), ..Config::default() })
    }

    pub fn with(description: &str, config: Config) -> Self {
        Self::narrow(description, config, ETHERNET_MTU)
    }

    /// With frames that carry `mtu` bytes.
    pub fn narrow(description: &str, config: Config, mtu: usize) -> Self {
        let graph = |address| {
            let host = Host { mtu, ..host(address) };
            Graph::compose(description, host, config).unwrap()
        };
        Self { client: graph(CLIENT), server: graph(SERVER), now: Instant::ZERO, frames: Vec::new() }
    }

    pub fn server_hardware(&self) -> EthernetAddress {
        host(SERVER).hardware
    }

    /// Carries frames to and fro until there are none.
    pub fn exchange(&mut self) {
        loop {
            let mut any = false;
            for turn in 0..2 {
                let (from, to) = match turn {
                    0 => (&mut self.client, &mut self.server),
                    _ => (&mut self.server, &mut self.client),
                };
                while let Some(frame) = from.transmit() {
                    self.frames.push(frame.bytes().to_vec());
                    to.arrive(frame, self.now);
                    any = true;
                }
                while to.run(self.now) {}
            }
            if !any {
                return;
            }
        }
    }

    /// Lets so many milliseconds pass.
    pub fn pass(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
        self.client.tick(self.now);
        self.server.tick(self.now);
        self.exchange();
    }
}

/// Sends `data` three times to the listener and back; what came back.
pub fn echo(
    pair: &mut Pair,
    top: &str,
    server: Participants,
    client: Participants,
    data: &[u8],
) -> Option<Vec<u8>> {
    let listener = pair.server.enable(top, server).unwrap();
    let path = pair.client.open(top, client).unwrap();
    for _ in 0..3 {
        let mut message = pair.client.message();
        if message.append(data).is_err() {
            message = Message::copied(128, data);
        }
        pair.client.send(path, message).unwrap();
        pair.exchange();
        let accepted = pair.server.accepted(listener);
        while let Some(ready) = pair.server.ready() {
            assert!(accepted.is_none_or(|accepted| accepted == ready));
            while let Some(message) = pair.server.receive(ready) {
                let answer = Message::copied(128, message.bytes());
                pair.server.send(ready, answer).unwrap();
                pair.server.release(message);
            }
        }
        pair.exchange();
    }
    let mut answers = Vec::new();
    while let Some(message) = pair.client.receive(path) {
        answers.push(message.bytes().to_vec());
    }
    assert!(answers.windows(2).all(|two| two[0] == two[1]));
    assert_eq!(
        answers.len(),
        3,
        "client {:?}, server {:?}",
        pair.client.discarded().collect::<Vec<_>>(),
        pair.server.discarded().collect::<Vec<_>>()
    );
    answers.pop()
}

/// The frames of an IPv6 packet of the client's to the server, in pieces if it must.
pub fn packets(protocol: u8, data: &[u8]) -> Vec<Vec<u8>> {
    let in_pieces = data.len() > 1400;
    let frame = |(number, part): (usize, &[u8])| {
        let mut rest = Vec::new();
        if in_pieces {
            let at = number * 1400;
            let more = at + part.len() < data.len();
            rest.extend([protocol, 0, (at >> 8) as u8, at as u8 | u8::from(more), 0, 0, 0, 7]);
        }
        rest.extend(part);
        packet(CLIENT6, SERVER6, if in_pieces { 44 } else { protocol }, 255, &rest)
    };
    if data.is_empty() { vec![frame((0, data))] } else { data.chunks(1400).enumerate().map(frame).collect() }
}

/// A frame of the client's with an IPv6 packet.
pub fn packet(from: Ipv6Address, to: Ipv6Address, next: u8, hop_limit: u8, data: &[u8]) -> Vec<u8> {
    let mut frame = [&host(SERVER).hardware.0[..], &host(CLIENT).hardware.0, &[0x86, 0xdd]].concat();
    frame.extend([0x60, 0, 0, 0, (data.len() >> 8) as u8, data.len() as u8, next, hop_limit]);
    frame.extend(from.octets());
    frame.extend(to.octets());
    frame.extend(data);
    frame
}

/// What the packets of these frames of the server's carry, to the client and not to a group, put together.
pub fn payload(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut data = Vec::new();
    for frame in frames.iter().filter(|frame| frame[6..14] == [2, 0, 0, 0, 0, 2, 0x86, 0xdd]) {
        match frame[20] {
            _ if frame[38] == 0xff => {}
            44 => data.extend(&frame[62..]),
            _ => data.extend(&frame[54..]),
        }
    }
    data
}
