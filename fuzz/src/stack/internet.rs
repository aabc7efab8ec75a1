//! Packets of both versions of IP, whole and in pieces.

use throughline_stack::{
    smoltcp::wire::{IpAddress, Ipv4Address, Ipv6Address},
    solicited_node,
};

use super::{
    Target,
    input::Input,
    link::{OURS, World, ethertype, hardware, v4, v6},
    transport::{UDP_AT, datagram},
};

/// Addresses of who sends, and of who receives.
pub type Ends = (IpAddress, IpAddress);

pub const IPV4: Target = Target {
    graphs: &[
        "udp(limit=8) > ipv4(limit=8) > eth(limit=8); icmp > ipv4; arp > eth",
        "udp(limit=8) > ipv4(limit=8) > ethdaa(limit=8); icmp > ipv4; arp > eth(limit=8)",
    ],
    frame: |input, world| {
        let stranger = World::stranger(input);
        let packet = packet4(input, stranger);
        framed(input, world, stranger, packet)
    },
    honest: "udp",
    most: 4 << 20,
};

pub const IPV6: Target = Target {
    graphs: &[
        "udp(limit=8) > ipv6(limit=8) > eth(limit=8); icmp6 > ipv6",
        "udp(limit=8) > ipv6(limit=8) > ethdaa(limit=8); icmp6 > ipv6 > eth(limit=8)",
    ],
    frame: |input, world| {
        let stranger = World::stranger(input);
        let packet = packet6(input, stranger);
        framed(input, world, stranger, packet)
    },
    honest: "udp",
    most: 4 << 20,
};

/// In a frame to us; seldom to all, longer or shorter.
fn framed(input: &mut Input<'_>, world: &World, stranger: u8, packet: Vec<u8>) -> Vec<u8> {
    if !input.is_odd() {
        return world.frame(input, stranger, &packet);
    }
    let to_all = [&[0xff; 6][..], &hardware(stranger), &ethertype(&packet), &packet].concat();
    let mut frame = if input.flag() { to_all } else { world.frame(input, stranger, &packet) };
    match input.byte() {
        longer @ ..64 => frame.extend(vec![0; longer.into()]),
        shorter => frame.truncate(frame.len().saturating_sub(usize::from(shorter) - 64)),
    }
    frame
}

/// What is in packets: a datagram of one of a few lengths, or one piece of it.
struct Piece {
    data: Vec<u8>,
    ident: u8,
    at: u16,
    more: bool,
}

fn piece(input: &mut Input<'_>, ends: Ends) -> Piece {
    let kind = input.byte();
    let ident = kind & 7;
    let len = *input.pick(&[24, 0, 56, 1480, 3000, 65_507]);
    let whole = datagram(ends, (1000 + u16::from(ident), UDP_AT), &vec![ident; len]);
    if kind & 0x80 == 0 && whole.len() < 1500 {
        return Piece { data: whole, ident, at: 0, more: false };
    }
    // Somewhere in the datagram, or at its end, or beyond.
    let at = match input.byte() {
        at @ ..192 => 8 * usize::from(at),
        near_end => (whole.len() / 8 + 8).saturating_sub(usize::from(near_end - 192)) * 8,
    };
    let most = match input.byte() {
        len @ ..192 => 8 * usize::from(len),
        len => usize::from(len - 192),
    };
    let end = (at + most).min(whole.len());
    let data = whole.get(at..end).map_or(vec![7; most.min(1400)], <[u8]>::to_vec);
    let more = (end < whole.len()) != input.is_odd();
    Piece { data, ident, at: (at / 8) as u16, more }
}

fn packet4(input: &mut Input<'_>, stranger: u8) -> Vec<u8> {
    let [near, far, local] = [[10, 0, 0, 255], [192, 0, 2, 1], [127, 0, 0, 1]].map(Ipv4Address::from);
    let few =
        [Ipv4Address::BROADCAST, Ipv4Address::UNSPECIFIED, [224, 0, 0, 1].into(), near, far, local, v4(OURS)];
    let from = if input.is_odd() { *input.pick(&few) } else { v4(stranger) };
    let to = if input.is_odd() { *input.pick(&few) } else { v4(OURS) };
    let Piece { data, ident, at, more } = piece(input, (from.into(), to.into()));
    let options = if input.is_odd() { input.some(40) } else { &[] };
    let header = 20 + options.len().next_multiple_of(4);
    let mut packet = vec![0x40 | (header / 4) as u8, 0, 0, 0, 0, ident, 0, 0, 64, 17, 0, 0];
    let [high, low] = (at | u16::from(more) << 13).to_be_bytes();
    (packet[6], packet[7]) = (high, low);
    packet.extend(from.octets());
    packet.extend(to.octets());
    packet.extend(options);
    packet.resize(header, 0);
    packet[2..4].copy_from_slice(&input.mostly_short((header + data.len()) as u16).to_be_bytes());
    packet[0] = input.mostly(packet[0]);
    packet[9] = input.mostly(17);
    let check = if input.is_odd() { input.short() } else { !sum(0, &packet) };
    packet[10..12].copy_from_slice(&check.to_be_bytes());
    packet.extend(data);
    packet
}

fn packet6(input: &mut Input<'_>, stranger: u8) -> Vec<u8> {
    let few = [
        Ipv6Address::UNSPECIFIED,
        Ipv6Address::LOCALHOST,
        Ipv6Address::new(0xff02, 0, 0, 0, 0, 0, 0, 1),
        solicited_node(v6(OURS)),
        Ipv6Address::new(0xfe80, 0, 0, 0, 0, 0xff, 0xfe00, 2),
        Ipv6Address::new(0, 0, 0, 0, 0, 0xffff, 0x0a00, 1),
        Ipv6Address::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
        v6(OURS),
    ];
    let from = if input.is_odd() { *input.pick(&few) } else { v6(stranger) };
    let to = if input.is_odd() { *input.pick(&few) } else { v6(OURS) };
    let Piece { data, ident, at, more } = piece(input, (from.into(), to.into()));
    let mut kinds = Vec::new();
    let mut headers: Vec<Vec<u8>> = Vec::new();
    let extensions = if input.is_odd() { input.byte() % 12 } else { input.byte() % 3 };
    for _ in 0..extensions {
        kinds.push(*input.pick(&[60, 0, 43, 44, 59, 51]));
        headers.push(extension(input));
    }
    if more || at > 0 || input.is_odd() {
        let [high, low] = (at << 3 | u16::from(more)).to_be_bytes();
        kinds.push(44);
        headers.push(vec![0, 0, high, low, 0, 0, 0, ident]);
    }
    kinds.push(input.mostly(17));
    for (header, next) in headers.iter_mut().zip(&kinds[1..]) {
        header[0] = *next;
    }
    let mut rest = headers.concat();
    rest.extend(data);
    let len = input.mostly_short(rest.len() as u16);
    let first = input.mostly(0x60);
    let mut packet = header6(from, to, len, kinds[0], input.mostly(255));
    packet[0] = first;
    packet.extend(rest);
    packet
}

/// Padding, or anything, as a header.
fn extension(input: &mut Input<'_>) -> Vec<u8> {
    if !input.is_odd() {
        return vec![0, 0, 1, 4, 0, 0, 0, 0];
    }
    let len = input.byte() % 4;
    let mut header = vec![0, input.mostly(len)];
    header.extend(input.some(6 + 8 * usize::from(len)));
    header.resize(8 + 8 * usize::from(len), 0);
    header
}

fn header6(from: Ipv6Address, to: Ipv6Address, len: u16, next: u8, hop_limit: u8) -> Vec<u8> {
    let [high, low] = len.to_be_bytes();
    [&[0x60, 0, 0, 0, high, low, next, hop_limit][..], &from.octets(), &to.octets()].concat()
}

/// A packet without faults.
pub fn packet((from, to): Ends, protocol: u8, data: &[u8]) -> Vec<u8> {
    let (IpAddress::Ipv4(from), IpAddress::Ipv4(to)) = (from, to) else {
        let (IpAddress::Ipv6(from), IpAddress::Ipv6(to)) = (from, to) else { return Vec::new() };
        return [&header6(from, to, data.len() as u16, protocol, 255), data].concat();
    };
    let [high, low] = (20 + data.len() as u16).to_be_bytes();
    let mut packet = vec![0x45, 0, high, low, 0, 0, 0, 0, 64, protocol, 0, 0];
    packet.extend(from.octets());
    packet.extend(to.octets());
    let check = !sum(0, &packet);
    packet[10..12].copy_from_slice(&check.to_be_bytes());
    packet.extend(data);
    packet
}

/// The Internet's sum (RFC 1071).
pub fn sum(first: u64, bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|two| u64::from(two[0]) << 8 | u64::from(*two.get(1).unwrap_or(&0)));
    let mut sum = first + words.sum::<u64>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The check sum of what stands above IP, its own place being zero.
pub fn check((from, to): Ends, protocol: u8, data: &[u8]) -> u16 {
    let addresses = match (from, to) {
        (IpAddress::Ipv4(from), IpAddress::Ipv4(to)) => [from.octets(), to.octets()].concat(),
        (IpAddress::Ipv6(from), IpAddress::Ipv6(to)) => [from.octets(), to.octets()].concat(),
        _ => Vec::new(),
    };
    let pseudo = u64::from(sum(0, &addresses)) + u64::from(protocol) + data.len() as u64;
    !sum(pseudo, data)
}
