//! Frames, and what strangers know when they make them.

use std::collections::HashMap;

use throughline_stack::smoltcp::wire::{IpAddress, Ipv4Address, Ipv6Address};

use super::{
    Target,
    input::Input,
    internet::packet,
    transport::{Heard, Numbers, Talk, UDP_AT, datagram},
};

/// Who takes part: us, somebody honest, and strangers.
pub const OURS: u8 = 2;
pub const HONEST: u8 = 3;
pub const STRANGERS: u8 = 16;

/// The application id of our listeners, and that of paths that we opened.
pub const LISTENING: u32 = 1;
pub const OPENED: u32 = 2;

/// The type of frames that a user takes.
pub const OWN_TYPE: u16 = 0x1234;

pub const ETH: Target = Target {
    graphs: &["udp(limit=8) > ipv4(limit=8) > eth(limit=8); arp > eth"],
    frame: |input, world| {
        let mut frame = addresses(input);
        let ethertype = *input.pick(&[0x0800, OWN_TYPE, 0x0806, 0x86dd, 0x88b5, 0, 1500, 0xffff]);
        let ethertype = input.mostly_short(ethertype);
        frame.extend(ethertype.to_be_bytes());
        frame.extend(body(input, world));
        frame
    },
    honest: "udp",
    most: 1 << 18,
};

pub const ETHDAA: Target = Target {
    graphs: &[
        "udp(limit=8) > ipv4(limit=8) > ethdaa(limit=8); arp > eth(limit=8)",
        "udp(limit=8) > ipv6(limit=8) > ethdaa(limit=8); icmp6 > ipv6 > eth(limit=8)",
    ],
    frame: |input, world| {
        let mut frame = addresses(input);
        frame.extend(input.mostly_short(0x88b5).to_be_bytes());
        let id = *input.pick(&[LISTENING, OPENED, OPENED + 1, 0, 1 << 16, u32::MAX]);
        frame.extend(id.to_be_bytes());
        frame.extend(input.word().to_be_bytes());
        frame.extend(body(input, world));
        let end = if input.is_odd() { usize::from(input.byte()) } else { frame.len() };
        frame.truncate(end);
        frame
    },
    honest: "udp",
    most: 1 << 18,
};

fn addresses(input: &mut Input<'_>) -> Vec<u8> {
    let stranger = World::stranger(input);
    let to = *input.pick(&[hardware(OURS), [0xff; 6], [0x33, 0x33, 0, 0, 0, 1], hardware(HONEST), [0; 6]]);
    let from =
        [hardware(stranger), hardware(OURS), hardware(STRANGERS), [1, 0, 0x5e, 0, 0, 1], [0xff; 6], [0; 6]];
    [to, *input.pick(&from)].concat()
}

/// A datagram, or anything.
fn body(input: &mut Input<'_>, world: &World) -> Vec<u8> {
    if input.is_odd() {
        return input.data();
    }
    let ends = world.ends(World::stranger(input));
    let (from, to) = (input.short(), *input.pick(&[UDP_AT, UDP_AT + 1]));
    packet(ends, 17, &datagram(ends, (from, to), &input.data()))
}

pub fn hardware(number: u8) -> [u8; 6] {
    [2, 0, 0, 0, 0, number]
}

pub fn v4(number: u8) -> Ipv4Address {
    Ipv4Address::new(10, 0, 0, number)
}

pub fn v6(number: u8) -> Ipv6Address {
    Ipv6Address::new(0xfd00, 0, 0, 0, 0, 0, 0, number.into())
}

/// What strangers know.
#[derive(Default)]
pub struct World {
    /// Whether they talk IPv6.
    pub v6: bool,
    /// Whether frames name paths.
    pub naming: bool,
    /// The last packet that our host sent of TCP, of calls, and of anything else.
    pub heard: [Vec<u8>; 3],
    /// The last segment of each connection: numbers near those that a host draws mean the same to every host.
    pub connections: HashMap<Talk, Numbers>,
}

impl World {
    /// One of sixteen strangers, mostly the first.
    pub fn stranger(input: &mut Input<'_>) -> u8 {
        STRANGERS + input.byte() % 16
    }

    /// A stranger's address and ours.
    pub fn ends(&self, stranger: u8) -> (IpAddress, IpAddress) {
        match self.v6 {
            true => (v6(stranger).into(), v6(OURS).into()),
            false => (v4(stranger).into(), v4(OURS).into()),
        }
    }

    /// A frame with a packet, from a stranger to us: one that names a path, or an ordinary one.
    pub fn frame(&self, input: &mut Input<'_>, stranger: u8, packet: &[u8]) -> Vec<u8> {
        let mut frame = [hardware(OURS), hardware(stranger)].concat();
        if self.naming && !input.is_odd() {
            frame.extend([0x88, 0xb5]);
            frame.extend(input.pick(&[LISTENING, OPENED]).to_be_bytes());
            frame.extend([0, 0, 0, input.byte()]);
        } else {
            frame.extend(ethertype(packet));
        }
        frame.extend(packet);
        frame
    }

    /// Takes notice of a frame that our host sent.
    pub fn hear(&mut self, frame: &[u8]) {
        let packet = match frame.get(12..14) {
            Some([0x08, 0] | [0x86, 0xdd]) => &frame[14..],
            Some([0x88, 0xb5]) => &frame[22..],
            _ => return,
        };
        let protocol = if packet[0] >> 4 == 6 { packet[6] } else { packet[9] };
        let place = match protocol {
            6 => 0,
            253 => 1,
            _ => 2,
        };
        self.heard[place] = packet.to_vec();
        if let Some(heard) = Heard::of(packet).filter(|_| place == 0) {
            self.connections.insert(heard.talk, heard.numbers());
        }
    }
}

/// The type of frames with this packet.
pub fn ethertype(packet: &[u8]) -> [u8; 2] {
    if packet.first().is_some_and(|first| first >> 4 == 6) { [0x86, 0xdd] } else { [0x08, 0] }
}
