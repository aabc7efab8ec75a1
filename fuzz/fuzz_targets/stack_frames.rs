//! Frames of a stranger, to a host with users of UDP and TCP: whatever comes, the architectures deliver the same, and memory
//! stays within its bounds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_stack::{
    Architecture, Config, Graph, Host, Limits, Message, Participants,
    smoltcp::{
        time::{Duration, Instant},
        wire::{
            EthernetAddress, IpAddress, IpCidr, Ipv4Address, Ipv4Packet, Ipv6Address, TcpPacket, UdpPacket,
        },
    },
};

const OURS: Ipv4Address = Ipv4Address::new(10, 0, 0, 2);
const THEIRS: Ipv4Address = Ipv4Address::new(10, 0, 0, 1);
const OURS6: Ipv6Address = Ipv6Address::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
const THEIRS6: Ipv6Address = Ipv6Address::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
const GRAPHS: [&str; 4] = [
    "udp(limit=8) > ipv4(limit=8) > eth(limit=8); tcp(limit=8, receive=512, send=512) > ipv4; icmp > ipv4; arp > eth",
    "udp(limit=8) > ipv4(limit=8) > ethdaa(limit=8); tcp(limit=8, receive=512, send=512) > ipv4; icmp > ipv4; arp > eth(limit=8)",
    "udp(limit=8) > ipv6(limit=8) > ethdaa(limit=8); tcp(limit=8, receive=512, send=512) > ipv6; icmp6 > ipv6 > eth(limit=8)",
    "udp(limit=8) > ipv4(limit=8) > eth(limit=8); udp > ipv6(limit=8) > eth; tcp(limit=8, receive=512, send=512) > ipv4; \
     tcp > ipv6; icmp > ipv4; icmp6 > ipv6; arp > eth",
];

/// Cuts frames out of the input. Flags at the front of each say which headers are ours, so that those behind them are
/// reached. Frames that name paths carry IPv6 or IPv4.
fn frames(mut input: &[u8], paths_by_v6: bool) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while let [flags, len, rest @ ..] = input {
        let len = (usize::from(*len) * if flags & 128 == 0 { 1 } else { 8 }).min(rest.len());
        let (data, rest) = rest.split_at(len);
        frames.push(frame(*flags, data, paths_by_v6));
        input = rest;
        if frames.len() == 64 {
            break;
        }
    }
    frames
}

fn frame(flags: u8, data: &[u8], paths_by_v6: bool) -> Vec<u8> {
    if flags & 1 == 0 {
        return data.to_vec();
    }
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    let mut v6 = false;
    match flags >> 1 & 3 {
        0 => frame.extend([8, 6]),
        1 => {
            frame.extend([0x88, 0xb5, 0, 0, 0, 1, 0, 0, 0, flags]);
            v6 = paths_by_v6;
        }
        2 => frame.extend([8, 0]),
        _ => {
            frame.extend([0x86, 0xdd]);
            v6 = true;
        }
    }
    if flags & 8 == 0 {
        frame.extend(data);
    } else if v6 {
        packet6(&mut frame, flags, data);
    } else {
        packet4(&mut frame, flags, data);
    }
    frame
}

fn packet4(frame: &mut Vec<u8>, flags: u8, data: &[u8]) {
    let at = frame.len();
    frame.resize(at + 20, 0);
    frame.extend(data);
    let protocol = [17, 6, 1, 253][usize::from(flags >> 4 & 3)];
    let mut packet = Ipv4Packet::new_unchecked(&mut frame[at..]);
    packet.set_version(4);
    packet.set_header_len(20);
    packet.set_total_len(20 + data.len() as u16);
    packet.set_hop_limit(64);
    packet.set_next_header(protocol.into());
    packet.set_src_addr(THEIRS);
    packet.set_dst_addr(OURS);
    // The first byte says which piece it is.
    if let [first, ..] = data
        && flags & 64 != 0
    {
        packet.set_more_frags(first & 1 != 0);
        packet.set_frag_offset(u16::from(first & 0xf8));
    }
    packet.fill_checksum();
    fill(protocol, &mut frame[at + 20..], THEIRS.into(), OURS.into());
}

fn packet6(frame: &mut Vec<u8>, flags: u8, data: &[u8]) {
    // Besides protocols, headers of the input's making.
    let protocol = [17, 6, 58, 60][usize::from(flags >> 4 & 3)];
    let mut rest = Vec::new();
    let mut next = protocol;
    if let [first, ..] = data
        && flags & 64 != 0
    {
        rest.extend([protocol, 0, 0, *first & 0xf9, 0, 0, 0, 1]);
        next = 44;
    }
    let at = rest.len();
    rest.extend(data);
    fill(protocol, &mut rest[at..], THEIRS6.into(), OURS6.into());
    frame.extend([0x60, 0, 0, 0, (rest.len() >> 8) as u8, rest.len() as u8, next, 255]);
    frame.extend(THEIRS6.octets());
    frame.extend(OURS6.octets());
    frame.extend(rest);
}

/// The check sum of a datagram or segment.
fn fill(protocol: u8, segment: &mut [u8], from: IpAddress, to: IpAddress) {
    match protocol {
        17 if segment.len() >= 8 => {
            let mut packet = UdpPacket::new_unchecked(segment);
            if packet.check_len().is_ok() {
                packet.fill_checksum(&from, &to);
            }
        }
        6 if TcpPacket::new_checked(&segment[..]).is_ok() => {
            TcpPacket::new_unchecked(segment).fill_checksum(&from, &to);
        }
        _ => {}
    }
}

#[derive(Debug, Default, PartialEq)]
struct Outcome {
    delivered: Vec<Vec<u8>>,
    discarded: u64,
}

fn outcome(description: &str, architecture: Architecture, frames: &[Vec<u8>]) -> Outcome {
    let mut host = Host::new(EthernetAddress([2, 0, 0, 0, 0, 2]), IpCidr::new(OURS.into(), 24));
    host.addresses.push(IpCidr::new(OURS6.into(), 64));
    let limits = Limits { paths: 8, received: 4, sent: 256, run_queue: 16, spare_buffers: 16 };
    let mut graph =
        Graph::compose(description, host, Config { architecture, limits, ..Config::default() }).unwrap();
    let at = |port: u16| Participants::at(port).application(1);
    let listener = graph.enable("tcp", at(0x5050)).unwrap();
    graph.enable("udp", at(0x0707)).unwrap();
    let mut outcome = Outcome::default();
    let mut now = Instant::ZERO;
    for frame in frames {
        now += Duration::from_millis(50);
        graph.tick(now);
        graph.arrive(Message::copied(0, frame), now);
        if let Some(path) = graph.accepted(listener) {
            let _ = graph.write(path, b"welcome");
        }
        while let Some(path) = graph.ready() {
            while let Some(message) = graph.receive(path) {
                outcome.delivered.push(message.bytes().to_vec());
                let _ = graph.send(path, Message::copied(128, b"answer"));
                graph.release(message);
            }
            let mut stream = [0; 64];
            while let Ok(len @ 1..) = graph.read(path, &mut stream) {
                outcome.delivered.push(stream[..len].to_vec());
            }
        }
        while let Some(frame) = graph.transmit() {
            graph.release(frame);
        }
    }
    outcome.discarded = graph.discarded().map(|(_, _, count)| count).sum();
    outcome
}

fuzz_target!(|input: &[u8]| {
    for description in GRAPHS {
        let frames = frames(input, !description.contains("ipv4"));
        let expected = outcome(description, Architecture::Layered, &frames);
        for architecture in [Architecture::Direct, Architecture::Integrated] {
            if architecture == Architecture::Direct && !description.contains("ethdaa") {
                continue;
            }
            assert_eq!(
                outcome(description, architecture, &frames),
                expected,
                "{architecture:?}: {description}"
            );
        }
    }
});
