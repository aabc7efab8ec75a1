//! Frames of a stranger, to a host with users of UDP and TCP: whatever comes, the architectures deliver the same, and memory
//! stays within its bounds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_stack::{
    Architecture, Config, Graph, Host, Limits, Message, Participants,
    smoltcp::{
        time::{Duration, Instant},
        wire::{EthernetAddress, IpCidr, Ipv4Address, Ipv4Packet, TcpPacket, UdpPacket},
    },
};

const OURS: Ipv4Address = Ipv4Address::new(10, 0, 0, 2);
const THEIRS: Ipv4Address = Ipv4Address::new(10, 0, 0, 1);
const GRAPHS: [&str; 2] = [
    "udp(limit=8) > ipv4(limit=8) > eth(limit=8); tcp(limit=8, receive=512, send=512) > ipv4; icmp > ipv4; arp > eth",
    "udp(limit=8) > ipv4(limit=8) > ethdaa(limit=8); tcp(limit=8, receive=512, send=512) > ipv4; icmp > ipv4; arp > eth(limit=8)",
];

/// Cuts frames out of the input. Flags at the front of each say which headers are ours, so that those behind them are
/// reached.
fn frames(mut input: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while let [flags, len, rest @ ..] = input {
        let len = (usize::from(*len) * if flags & 128 == 0 { 1 } else { 8 }).min(rest.len());
        let (data, rest) = rest.split_at(len);
        frames.push(frame(*flags, data));
        input = rest;
        if frames.len() == 64 {
            break;
        }
    }
    frames
}

fn frame(flags: u8, data: &[u8]) -> Vec<u8> {
    if flags & 1 == 0 {
        return data.to_vec();
    }
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    match flags >> 1 & 3 {
        0 => frame.extend([8, 6]),
        1 => frame.extend([0x88, 0xb5, 0, 0, 0, 1, 0, 0, 0, flags]),
        _ => frame.extend([8, 0]),
    }
    let at = frame.len();
    if flags & 8 == 0 {
        frame.extend(data);
        return frame;
    }
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
    let segment = &mut frame[at + 20..];
    match protocol {
        17 if segment.len() >= 8 => {
            let mut packet = UdpPacket::new_unchecked(segment);
            if packet.check_len().is_ok() {
                packet.fill_checksum(&THEIRS.into(), &OURS.into());
            }
        }
        6 if TcpPacket::new_checked(&segment[..]).is_ok() => {
            TcpPacket::new_unchecked(segment).fill_checksum(&THEIRS.into(), &OURS.into());
        }
        _ => {}
    }
    frame
}

#[derive(Debug, Default, PartialEq)]
struct Outcome {
    delivered: Vec<Vec<u8>>,
    discarded: u64,
}

fn outcome(description: &str, architecture: Architecture, frames: &[Vec<u8>]) -> Outcome {
    let host = Host::new(EthernetAddress([2, 0, 0, 0, 0, 2]), IpCidr::new(OURS.into(), 24));
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
    let frames = frames(input);
    for description in GRAPHS {
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
