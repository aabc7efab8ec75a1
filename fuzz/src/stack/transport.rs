//! Datagrams, segments and calls.

use super::{
    Target,
    input::Input,
    internet::{Ends, check, packet, sum},
    link::{STRANGERS, World},
};

/// The ports that our users listen at, and those of paths that they opened to the first stranger.
pub const UDP_AT: u16 = 7;
pub const TCP_AT: u16 = 80;
pub const RPC_AT: u16 = 99;
pub const OPENED_FROM: u16 = 7001;
pub const OPENED_TO: u16 = 9;

pub const UDP: Target = Target {
    graphs: &[
        "udp(limit=8) > ipv4(limit=8) > eth(limit=8); icmp > ipv4; arp > eth",
        "udp(limit=8) > ipv4(limit=8) > ethdaa(limit=8); icmp > ipv4; arp > eth(limit=8)",
        "udp(limit=8) > ipv6(limit=8) > eth(limit=8); icmp6 > ipv6",
        "udp(limit=8) > ipv6(limit=8) > ethdaa(limit=8); icmp6 > ipv6 > eth(limit=8)",
    ],
    frame: |input, world| {
        let Talk { stranger, from, to } = talk(input, UDP_AT);
        let ends = world.ends(stranger);
        let mut datagram = datagram(ends, (from, to), &input.data());
        if input.is_odd() {
            let len = *input.pick(&[0, 7, 8, datagram.len() as u16 - 1, datagram.len() as u16 + 1, u16::MAX]);
            datagram[4..6].copy_from_slice(&len.to_be_bytes());
            fill(&mut datagram, 6, ends, 17);
        }
        if input.is_odd() {
            let check = *input.pick(&[0, 0xffff, 1]);
            datagram[6..8].copy_from_slice(&u16::to_be_bytes(check));
        }
        let packet = packet(ends, 17, cut(input, &datagram));
        world.frame(input, stranger, &packet)
    },
    honest: "udp",
    most: 1 << 18,
};

pub const TCP: Target = Target {
    graphs: &[
        "tcp(limit=8, receive=512, send=512) > ipv4(limit=8) > eth(limit=8); icmp > ipv4; arp > eth",
        "tcp(limit=8, receive=512, send=512) > ipv4(limit=8) > ethdaa(limit=8); icmp > ipv4; arp > eth(limit=8)",
        "tcp(limit=8, receive=512, send=512) > ipv6(limit=8) > eth(limit=8); icmp6 > ipv6",
        "tcp(limit=8, receive=512, send=512) > ipv6(limit=8) > ethdaa(limit=8); icmp6 > ipv6 > eth(limit=8)",
    ],
    frame: |input, world| {
        let mut talk = talk(input, TCP_AT);
        if let Some(heard) = Heard::of(&world.heard[0]).filter(|_| input.byte() < 0xc0) {
            talk = heard.talk;
        }
        let numbers = world.connections.get(&talk).copied().unwrap_or_default();
        let ends = world.ends(talk.stranger);
        let segment = segment(input, (talk.from, talk.to), numbers, ends);
        let packet = packet(ends, 6, cut(input, &segment));
        world.frame(input, talk.stranger, &packet)
    },
    honest: "tcp",
    most: 1 << 18,
};

pub const RPC: Target = Target {
    graphs: &[
        "rpc(limit=8) > ipv4(limit=8) > eth(limit=8); icmp > ipv4; arp > eth",
        "rpc(limit=8) > ipv4(limit=8) > ethdaa(limit=8); icmp > ipv4; arp > eth(limit=8)",
        "rpc(limit=8) > ipv6(limit=8) > eth(limit=8); icmp6 > ipv6",
        "rpc(limit=8) > ipv6(limit=8) > ethdaa(limit=8); icmp6 > ipv6 > eth(limit=8)",
    ],
    frame: |input, world| {
        let mut talk = talk(input, RPC_AT);
        let mut call = (u32::from(input.byte() % 4), u32::from(input.byte() % 4));
        if let Some(heard) = Heard::of(&world.heard[1]).filter(|_| input.byte() < 0x80) {
            let near = u32::from(input.byte() % 4).wrapping_sub(1);
            (talk, call) = (heard.talk, (heard.words.1, heard.words.2.wrapping_add(near)));
        }
        let Talk { stranger, from, to } = talk;
        let ends = world.ends(stranger);
        let kind = *input.pick(&[1, 2, 3, 0, 4]);
        let mut message = vec![kind, input.mostly(0), 0, 0];
        message.extend([from.to_be_bytes(), to.to_be_bytes()].concat());
        message.extend([call.0.to_be_bytes(), call.1.to_be_bytes()].concat());
        message.extend(input.data());
        let check = if input.is_odd() { input.short() } else { !sum(0, &message) };
        message[2..4].copy_from_slice(&check.to_be_bytes());
        let packet = packet(ends, 253, cut(input, &message));
        world.frame(input, stranger, &packet)
    },
    honest: "rpc",
    most: 1 << 18,
};

/// A stranger, his port and ours.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Talk {
    stranger: u8,
    from: u16,
    to: u16,
}

/// Often one that there is somebody at.
fn talk(input: &mut Input<'_>, listening: u16) -> Talk {
    let stranger = World::stranger(input);
    match input.byte() {
        byte @ ..0xa0 => Talk { stranger, from: 1000 + u16::from(byte % 16), to: listening },
        ..0xd0 => Talk { stranger: STRANGERS, from: OPENED_TO, to: OPENED_FROM },
        _ => Talk { stranger, from: input.short(), to: input.short() },
    }
}

/// Seldom less than all.
pub fn cut<'a>(input: &mut Input<'_>, data: &'a [u8]) -> &'a [u8] {
    if input.is_odd() { &data[..data.len().min(input.byte().into())] } else { data }
}

/// A datagram without faults.
pub fn datagram(ends: Ends, (from, to): (u16, u16), data: &[u8]) -> Vec<u8> {
    let len = 8 + data.len() as u16;
    let mut datagram = [from, to, len, 0].map(u16::to_be_bytes).concat();
    datagram.extend(data);
    fill(&mut datagram, 6, ends, 17);
    datagram
}

fn fill(data: &mut [u8], at: usize, ends: Ends, protocol: u8) {
    data[at..at + 2].fill(0);
    let check = check(ends, protocol, data);
    data[at..at + 2].copy_from_slice(&check.to_be_bytes());
}

/// A segment near these numbers.
fn segment(input: &mut Input<'_>, ports: (u16, u16), numbers: Numbers, ends: Ends) -> Vec<u8> {
    const FIN: u8 = 1;
    const SYN: u8 = 2;
    const RST: u8 = 4;
    const PSH: u8 = 8;
    const ACK: u8 = 16;
    let usual = if numbers == Numbers::default() { SYN } else { ACK };
    let flags =
        *input.pick(&[usual, usual, SYN, ACK, SYN | ACK, PSH | ACK, FIN | ACK, RST, RST | ACK, 0, FIN]);
    let off = |input: &mut Input<'_>, number: u32| match input.byte() {
        ..0xc0 => number,
        0xc0..0xe0 => number.wrapping_add(u32::from(input.byte())).wrapping_sub(16),
        _ => number.wrapping_add(input.word()),
    };
    let options = match input.byte() {
        ..0xa0 => &[][..],
        ..0xc0 => &[2, 4, 2, 0],
        ..0xe0 => &[4, 2, 3, 3, 7, 0, 0, 0],
        _ => input.some(40),
    };
    let header = 20 + options.len().next_multiple_of(4);
    let mut segment = [ports.0.to_be_bytes(), ports.1.to_be_bytes()].concat();
    segment.extend(off(input, numbers.next).to_be_bytes());
    segment.extend(off(input, numbers.taken).to_be_bytes());
    let flags = input.mostly(flags);
    segment.extend([input.mostly((header / 4 * 16) as u8), flags]);
    segment.extend(input.mostly_short(1000).to_be_bytes());
    segment.extend([0, 0]);
    segment.extend(input.mostly_short(0).to_be_bytes());
    segment.extend(options);
    segment.resize(header, 0);
    if input.flag() {
        segment.extend(input.data());
    }
    fill(&mut segment, 16, ends, 6);
    if input.is_odd() {
        segment[16] ^= 1;
    }
    segment
}

/// The numbers that the next segment of a connection should have: its own, and that of what has been taken.
#[derive(Clone, Copy, PartialEq)]
pub struct Numbers {
    next: u32,
    taken: u32,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { next: 0x1000_0000, taken: 0 }
    }
}

/// What our host sent last of TCP or calls.
pub struct Heard {
    /// The other way round: of who answers.
    pub talk: Talk,
    words: (u32, u32, u32),
    flags: u8,
    data: u32,
}

impl Heard {
    pub fn of(packet: &[u8]) -> Option<Self> {
        let is_v6 = packet.first()? >> 4 == 6;
        let (stranger, protocol, header) =
            if is_v6 { (packet[39], packet[6], 40) } else { (packet[19], packet[9], 20) };
        let above = packet.get(header..)?;
        let short = |at: usize| Some(u16::from_be_bytes([*above.get(at)?, *above.get(at + 1)?]));
        let word = |at: usize| Some(u32::from(short(at)?) << 16 | u32::from(short(at + 2)?));
        // Calls have a kind and a sum in front of their ports.
        let ports = if protocol == 253 { 4 } else { 0 };
        let (flags, offset) = (*above.get(13)?, usize::from(above.get(12)? >> 4) * 4);
        Some(Self {
            talk: Talk { stranger, from: short(ports + 2)?, to: short(ports)? },
            words: (word(4)?, word(8)?, word(12)?),
            flags,
            data: above.len().saturating_sub(offset) as u32,
        })
    }

    /// Those of a segment that answers this one.
    pub fn numbers(&self) -> Numbers {
        let taken = self.data + u32::from(self.flags & 1) + u32::from(self.flags >> 1 & 1);
        let next = if self.flags & 16 == 0 { Numbers::default().next } else { self.words.1 };
        Numbers { next, taken: self.words.0.wrapping_add(taken) }
    }
}
