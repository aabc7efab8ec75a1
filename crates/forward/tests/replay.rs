//! Real captures through routers and bridges, with flow caches and without: the same leaves them. Every third packet is
//! labelled: with a hash of its flow, with another one, or with an index, right or wrong.

mod captures;
mod side_by_side;

use std::collections::{BTreeMap, BTreeSet};

use side_by_side::{Bridges, PORTS, Routers, hardware};
use throughline_forward::Label;
use throughline_stack::smoltcp::wire::{IpAddress, IpCidr, Ipv4Cidr};
use throughline_wire::Flow;

/// Milliseconds between two frames: answers of the caches grow old in a longer capture.
const PAUSE: u64 = 20;

#[test]
fn routers_and_bridges_with_and_without_flow_caches() {
    let captures = captures::all();
    let (mut routers, mut bridges) = (Routers::new(), Bridges::new());
    let (mut frames, mut routed, mut bridged) = (0, 0, 0);
    for capture in &captures {
        let all = captures::frames(capture);
        frames += all.len();
        routed += route(&mut routers, &all);
        bridged += bridge(&mut bridges, &all);
    }
    let (led, by_flow) = routers.spared();
    let found = by_flow + bridges.spared();
    println!(
        "{frames} frames of {} captures: {routed} left routers, {bridged} bridges; {led} by index, {found} found in a cache",
        captures.len()
    );
    assert!(captures.is_empty() || [routed, bridged].iter().all(|count| *count > 0));
    assert!(captures.is_empty() || [led, found].iter().all(|count| *count > 0));
}

/// A packet's destination as a prefix that others share.
fn prefix(frame: &[u8]) -> Option<IpCidr> {
    let packet = frame.get(14..)?;
    match frame.get(12..14)? {
        [8, 0] => {
            let octets: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
            Some(IpCidr::Ipv4(Ipv4Cidr::new(octets.into(), 24).network()))
        }
        [0x86, 0xdd] => {
            let mut octets: [u8; 16] = packet.get(24..40)?.try_into().ok()?;
            octets[8..].fill(0);
            Some(IpCidr::new(IpAddress::Ipv6(octets.into()), 64))
        }
        _ => None,
    }
}

/// Every third frame has a label: what it says is true or not.
fn label(number: usize, index: u32, frame: &[u8]) -> Option<Label> {
    let hash = frame.iter().skip(26).take(12).fold(7_u32, |all, octet| all * 31 % 65_521 + u32::from(*octet));
    let label = |source_hash, threaded| Label { flow: Flow { id: hash.into(), source_hash }, threaded };
    match number % 12 {
        0 => Some(label(hash, false)),
        3 => Some(label(number as u32 % 5, false)),
        6 => Some(label(index, true)),
        9 => Some(label(number as u32 % 50, true)),
        _ => None,
    }
}

fn route(routers: &mut Routers, frames: &[Vec<u8>]) -> usize {
    let prefixes: BTreeSet<IpCidr> = frames.iter().filter_map(|frame| prefix(frame)).collect();
    let port = |prefix: IpCidr, shift: u16| {
        let sum: u16 = match prefix.address() {
            IpAddress::Ipv4(address) => address.octets().map(u16::from).iter().sum(),
            IpAddress::Ipv6(address) => address.octets().map(u16::from).iter().sum(),
        };
        (sum + shift) % PORTS
    };
    prefixes.iter().for_each(|prefix| routers.lead(*prefix, port(*prefix, 0)));
    let mut leaving = 0;
    for (number, frame) in frames.iter().enumerate() {
        routers.pass(PAUSE);
        // Ways change, and go.
        match number % 500 {
            250 => prefixes.iter().for_each(|prefix| routers.lead(*prefix, port(*prefix, number as u16))),
            400 => prefixes.iter().step_by(3).for_each(|prefix| routers.lose(*prefix)),
            _ => {}
        }
        let by = (number % 3) as u16;
        let mut frame = frame.clone();
        if frame.len() < 14 || frame.len() > 1514 {
            continue;
        }
        frame[..6].copy_from_slice(&hardware(by, 1).0);
        let index = prefix(&frame).map_or(0, |prefix| routers.index_of(prefix));
        leaving += routers.arrive(by, &frame, label(number, index, &frame)).len();
    }
    prefixes.iter().for_each(|prefix| routers.lose(*prefix));
    leaving
}

fn bridge(bridges: &mut Bridges, frames: &[Vec<u8>]) -> usize {
    let mut stations: BTreeMap<[u8; 6], u16> = BTreeMap::new();
    let mut leaving = 0;
    for (number, frame) in frames.iter().enumerate() {
        bridges.pass(PAUSE);
        let Some(source) = frame.get(6..12).filter(|_| frame.len() <= 1514) else { continue };
        let source: [u8; 6] = source.try_into().unwrap();
        let new = stations.len() as u16 % PORTS;
        let port = stations.entry(source).or_insert(new);
        // Now and then a station moves.
        if number % 97 == 96 {
            *port = (*port + 1) % PORTS;
        }
        let word = u32::from(frame[5] & 15) << 16 | u32::from(frame[11] & 15);
        let right = Label { flow: Flow { id: 1, source_hash: word }, threaded: false };
        let label = label(number, 0, frame).map(|other| if number % 12 == 0 { right } else { other });
        leaving += bridges.arrive(*port, frame, label).len();
    }
    leaving
}
