//! What a capture holds, as frames for a host with the addresses and ports that its packets are for: the three
//! architectures of the protocol graph deliver the same and discard as much.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use throughline_capture::{Capture, Payload, Source, payload};
use throughline_stack::smoltcp::time::{Duration, Instant};
use throughline_stack::smoltcp::wire::{EthernetAddress, IpCidr};
use throughline_stack::{Architecture, Config, Graph, Host, Limits, Message, Participants};

/// Packets of a capture that are replayed at most.
const PACKETS: usize = 3000;
/// Addresses of the host, and ports with listeners.
const ADDRESSES: usize = 4;
const PORTS: usize = 64;
const OURS: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 2]);
const THEIRS: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// The id of frames that name paths.
const ID: u32 = 7;
/// More sessions than so many packets need: a graph has room for all that it may have, which takes time to clear.
const ETH: &str = "udp(limit=4096) > ipv4(limit=4096) > eth(limit=4096); \
                   tcp(receive=4096, send=4096, limit=4096) > ipv4; icmp > ipv4; \
                   udp > ipv6(limit=4096) > eth; tcp > ipv6; icmp6 > ipv6; arp > eth";
const ETHDAA: &str = "udp(limit=4096) > ipv4(limit=4096) > ethdaa(limit=4096); \
                      tcp(receive=4096, send=4096, limit=4096) > ipv4; icmp > ipv4; arp > eth";

#[derive(Debug, Default, PartialEq)]
struct Outcome {
    delivered: Vec<Vec<u8>>,
    accepted: usize,
    discarded: u64,
}

/// How many packets were replayed, and how many messages delivered.
pub fn same_fate(file: &Path) -> (usize, usize) {
    let packets = packets(file);
    let v4: Vec<_> = packets.iter().filter(|packet| packet.first().is_some_and(|b| b >> 4 == 4)).collect();
    let plain: Vec<_> = packets.iter().map(|packet| ethernet(packet)).collect();
    let naming: Vec<_> = v4.iter().map(|packet| ethdaa(packet)).collect();
    let mut delivered = 0;
    for (description, frames) in [(ETH, plain), (ETHDAA, naming)] {
        let host = host(&packets);
        let ports = ports(&packets);
        let expected = outcome(description, Architecture::Layered, &host, &ports, &frames);
        for architecture in [Architecture::Direct, Architecture::Integrated] {
            if architecture == Architecture::Direct && description == ETH {
                continue;
            }
            let outcome = outcome(description, architecture, &host, &ports, &frames);
            assert!(outcome == expected, "{}: {architecture:?} over {description}", file.display());
        }
        delivered += expected.delivered.len();
    }
    (packets.len(), delivered)
}

/// The packets of IP, up to a fault if there is one.
fn packets(file: &Path) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    let Ok(source) = Source::open(file) else { return packets };
    let Ok(capture) = Capture::open(source) else { return packets };
    let _ = capture.read(|frame| {
        if let Payload::Ip(packet) = payload(&frame)
            && packets.len() < PACKETS
            && packet.len() <= 1500
        {
            packets.push(packet.to_vec());
        }
    });
    packets
}

/// Where a packet says that it goes, and the port if it looks like one of UDP or TCP.
fn destination(packet: &[u8]) -> Option<(IpAddr, Option<u16>)> {
    let port = |protocol: u8, header: usize| {
        let at = packet.get(header + 2..header + 4)?;
        matches!(protocol, 6 | 17).then(|| u16::from_be_bytes([at[0], at[1]]))
    };
    match packet.first()? >> 4 {
        4 => {
            let address: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
            Some((address.into(), port(packet[9], usize::from(packet[0] & 15) * 4)))
        }
        6 => {
            let address: [u8; 16] = packet.get(24..40)?.try_into().ok()?;
            Some((address.into(), port(packet[6], 40)))
        }
        _ => None,
    }
}

/// A host with the addresses that most packets are for, in networks that everybody is in.
fn host(packets: &[Vec<u8>]) -> Host {
    let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
    for (address, _) in packets.iter().filter_map(|packet| destination(packet)) {
        let is_one = !address.is_multicast() && !address.is_unspecified() && !address.is_loopback();
        if is_one && address != IpAddr::from([255; 4]) {
            *counts.entry(address).or_default() += 1;
        }
    }
    let mut addresses: Vec<_> = counts.into_iter().collect();
    addresses.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut host = Host::new(OURS, IpCidr::new(IpAddr::from([192, 0, 2, 2]).into(), 0));
    host.addresses
        .extend(addresses.iter().take(ADDRESSES).map(|(address, _)| IpCidr::new((*address).into(), 0)));
    host
}

fn ports(packets: &[Vec<u8>]) -> Vec<u16> {
    let mut ports: Vec<_> = packets.iter().filter_map(|packet| destination(packet)?.1).collect();
    ports.sort_unstable();
    ports.dedup();
    ports.retain(|port| *port != 0);
    ports.truncate(PORTS);
    ports
}

fn ethernet(packet: &[u8]) -> Vec<u8> {
    let kind = if packet.first().is_some_and(|first| first >> 4 == 6) { [0x86, 0xdd] } else { [8, 0] };
    [&OURS.0[..], &THEIRS, &kind, packet].concat()
}

fn ethdaa(packet: &[u8]) -> Vec<u8> {
    [&OURS.0[..], &THEIRS, &[0x88, 0xb5], &ID.to_be_bytes(), &[0; 4], packet].concat()
}

fn outcome(
    description: &str,
    architecture: Architecture,
    host: &Host,
    ports: &[u16],
    frames: &[Vec<u8>],
) -> Outcome {
    let limits = Limits { paths: 256, received: 8, ..Limits::default() };
    let config = Config { architecture, limits, ..Config::default() };
    let mut graph = Graph::compose(description, host.clone(), config).unwrap();
    let listeners: Vec<_> = ports
        .iter()
        .flat_map(|port| ["udp", "tcp"].map(|top| (top, Participants::at(*port).application(ID))))
        .map(|(top, at)| graph.enable(top, at).unwrap())
        .collect();
    let (mut outcome, mut now) = (Outcome::default(), Instant::ZERO);
    for frame in frames {
        now += Duration::from_millis(2);
        graph.tick(now);
        graph.arrive(Message::copied(0, frame), now);
        while let Some(path) = graph.ready() {
            while let Some(message) = graph.receive(path) {
                outcome.delivered.push(message.bytes().to_vec());
                graph.release(message);
            }
        }
        while let Some(frame) = graph.transmit() {
            graph.release(frame);
        }
    }
    outcome.accepted =
        listeners.into_iter().map(|listener| std::iter::from_fn(|| graph.accepted(listener)).count()).sum();
    outcome.discarded = graph.discarded().map(|(_, _, count)| count).sum();
    outcome
}
