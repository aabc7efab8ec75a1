//! Captures made by hand: packets, frames of all link types, files of both formats.
#![allow(dead_code, missing_docs)]

/// Octets of a number in the byte order of a file.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    Big,
    Little,
}

impl Order {
    pub fn u32(self, n: u32) -> [u8; 4] {
        match self {
            Self::Big => n.to_be_bytes(),
            Self::Little => n.to_le_bytes(),
        }
    }

    pub fn u16(self, n: u16) -> [u8; 2] {
        match self {
            Self::Big => n.to_be_bytes(),
            Self::Little => n.to_le_bytes(),
        }
    }
}

pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const ACK: u8 = 16;

pub fn tcp(from: u16, to: u16, flags: u8) -> Vec<u8> {
    let mut segment = [from.to_be_bytes(), to.to_be_bytes()].concat();
    segment.extend([0, 0, 0, 1, 0, 0, 0, 1, 0x50, flags, 4, 0, 0, 0, 0, 0]);
    segment
}

pub fn udp(from: u16, to: u16) -> Vec<u8> {
    [from.to_be_bytes(), to.to_be_bytes(), 12_u16.to_be_bytes(), [0; 2], *b"da", *b"ta"].concat()
}

/// IPv4, with identification and the word of flags and offset.
pub fn v4(from: [u8; 4], to: [u8; 4], protocol: u8, fragment: (u16, u16), payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0];
    packet.extend((20 + payload.len() as u16).to_be_bytes());
    packet.extend(fragment.0.to_be_bytes());
    packet.extend(fragment.1.to_be_bytes());
    packet.extend([64, protocol, 0, 0]);
    packet.extend(from);
    packet.extend(to);
    packet.extend(payload);
    packet
}

/// IPv6, with the number of the first header behind its own.
pub fn v6(from: u8, to: u8, next: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend((payload.len() as u16).to_be_bytes());
    packet.extend([next, 64]);
    for last in [from, to] {
        packet.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
    }
    packet.extend(payload);
    packet
}

/// A frame around an IP packet, by link type.
pub fn frame(link: u32, packet: &[u8]) -> Vec<u8> {
    let kind: [u8; 2] = if packet[0] >> 4 == 4 { [8, 0] } else { [0x86, 0xdd] };
    let head = match link {
        0 => vec![2, 0, 0, 0],
        108 => vec![0, 0, 0, 2],
        1 => [&[2; 12][..], &kind].concat(),
        113 => [&[0; 14][..], &kind].concat(),
        276 => [&kind[..], &[0; 18]].concat(),
        12 | 14 | 101 | 228 | 229 => vec![],
        _ => panic!("link type {link}"),
    };
    [head, packet.to_vec()].concat()
}

pub fn vlan(tags: &[[u8; 2]], packet: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    for tag in tags {
        frame.extend(tag);
        frame.extend([0, 7]);
    }
    frame.extend([8, 0]);
    frame.extend(packet);
    frame
}

/// Nanoseconds and octets.
pub type Timed = (u64, Vec<u8>);

pub fn pcap(order: Order, nanoseconds: bool, link: u32, frames: &[Timed]) -> Vec<u8> {
    let magic = if nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    let mut file = [order.u32(magic).to_vec(), order.u16(2).to_vec(), order.u16(4).to_vec()].concat();
    [0, 0, 65_535, link].iter().for_each(|word| file.extend(order.u32(*word)));
    for (time, frame) in frames {
        let unit = if nanoseconds { 1 } else { 1000 };
        let fraction = (time % 1_000_000_000 / unit) as u32;
        let length = frame.len() as u32;
        for word in [(time / 1_000_000_000) as u32, fraction, length, length] {
            file.extend(order.u32(word));
        }
        file.extend(frame);
    }
    file
}

pub fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let length = order.u32(padded as u32 + 12);
    let mut block = [&order.u32(kind)[..], &length, body].concat();
    block.resize(8 + padded, 0);
    block.extend(length);
    block
}

pub fn section(order: Order) -> Vec<u8> {
    let body = [&order.u32(0x1a2b_3c4d)[..], &order.u16(1), &order.u16(0), &[0xff; 8]].concat();
    block(order, 0x0a0d_0d0a, &body)
}

/// An interface, with its clock's resolution as the option tells it.
pub fn interface(order: Order, link: u32, resolution: u8) -> Vec<u8> {
    interface_since(order, link, resolution, 0)
}

/// The same, whose clock counts from this second on.
pub fn interface_since(order: Order, link: u32, resolution: u8, second: i64) -> Vec<u8> {
    let mut body = [order.u16(link as u16), [0; 2]].concat();
    body.extend(order.u32(0));
    body.extend([order.u16(9), order.u16(1), [resolution, 0], [0; 2]].concat());
    if second != 0 {
        body.extend([order.u16(14), order.u16(8)].concat());
        let (high, low) = (order.u32((second >> 32) as u32), order.u32(second as u32));
        body.extend(if matches!(order, Order::Big) { [high, low] } else { [low, high] }.concat());
    }
    body.extend([0; 4]);
    block(order, 1, &body)
}

pub fn enhanced(order: Order, number: u32, ticks: u64, frame: &[u8]) -> Vec<u8> {
    let length = frame.len() as u32;
    let words = [number, (ticks >> 32) as u32, ticks as u32, length, length];
    let mut body: Vec<u8> = words.iter().flat_map(|word| order.u32(*word)).collect();
    body.extend(frame);
    block(order, 6, &body)
}

pub fn pcapng(order: Order, nanoseconds: bool, link: u32, frames: &[Timed]) -> Vec<u8> {
    let mut file = section(order);
    file.extend(interface(order, link, if nanoseconds { 9 } else { 6 }));
    for (time, frame) in frames {
        file.extend(enhanced(order, 0, if nanoseconds { *time } else { time / 1000 }, frame));
    }
    file
}

/// A conversation of three flows: 2 of TCP, of which one is closed, and one of UDP; 9 packets, one a millisecond.
pub fn conversation(link: u32) -> Vec<Timed> {
    let (a, b) = ([10, 0, 0, 1], [10, 0, 0, 2]);
    let go = |from, to, flags| v4(a, b, 6, (1, 0), &tcp(from, to, flags));
    let back = |from, to, flags| v4(b, a, 6, (2, 0), &tcp(from, to, flags));
    let packets = [
        go(1000, 80, SYN),
        back(80, 1000, SYN | ACK),
        go(1000, 80, ACK),
        go(1001, 80, SYN),
        back(80, 1001, SYN | ACK),
        v4(a, b, 17, (3, 0), &udp(53, 53)),
        go(1000, 80, FIN | ACK),
        back(80, 1000, FIN | ACK),
        go(1000, 80, ACK),
    ];
    let start = 1_700_000_000_000_000_000;
    let timed = packets.iter().enumerate();
    timed.map(|(n, packet)| (start + n as u64 * 1_000_000, frame(link, packet))).collect()
}
