//! Frames of few hosts and ports, so that many belong to one flow, and of every form that filters tell apart.

use proptest::prelude::*;
use throughline_forward::{Label, insert_label};
use throughline_stack::Message;
use throughline_wire::{Flow, RegionList};

/// A frame without label, and what its sender may put on it.
#[derive(Clone, Debug)]
pub struct Sent {
    pub frame: Vec<u8>,
    pub label: Option<Label>,
}

impl Sent {
    /// The frame as it comes in.
    pub fn bytes(&self) -> Vec<u8> {
        let mut message = Message::copied(64, &self.frame);
        if let Some(label) = self.label {
            insert_label(&mut message, label, &RegionList::new()).unwrap();
        }
        message.bytes().to_vec()
    }
}

/// Any frame, with any label.
pub fn sent() -> impl Strategy<Value = Sent> {
    // Few, so that they collide.
    let label = (0..4_u32, any::<u64>(), any::<bool>())
        .prop_map(|(source_hash, id, threaded)| Label { flow: Flow { id, source_hash }, threaded });
    (frame(), prop::option::weighted(0.7, label)).prop_map(|(frame, label)| Sent { frame, label })
}

/// Any frame, without label.
pub fn frame() -> impl Strategy<Value = Vec<u8>> {
    let packet = prop_oneof![
        8 => ipv4().prop_map(|packet| (0x0800, packet)),
        4 => ipv6().prop_map(|packet| (0x86dd, packet)),
        1 => arp().prop_map(|packet| (0x0806, packet)),
        1 => (any::<u16>().prop_filter("labels", |kind| *kind != 0x88b6), bytes(60)),
    ];
    let tag = prop::option::weighted(0.15, (prop::sample::select(vec![0x8100, 0x88a8]), 4..7_u16));
    let cut = prop_oneof![4 => Just(usize::MAX), 1 => 0..80_usize];
    (host(), host(), packet, tag, cut).prop_map(|(to, from, (ethertype, packet), tag, cut)| {
        let mut frame = vec![2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from];
        if let Some((tagged, vlan)) = tag {
            frame.extend_from_slice(&[u16::to_be_bytes(tagged), vlan.to_be_bytes()].concat());
        }
        frame.extend_from_slice(&u16::to_be_bytes(ethertype));
        frame.extend_from_slice(&packet[..cut.min(packet.len())]);
        frame
    })
}

fn host() -> impl Strategy<Value = u8> {
    1..4_u8
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

fn port() -> impl Strategy<Value = u16> {
    prop::sample::select(vec![22, 53, 80, 443, 50_000])
}

/// Protocol and segment: ports, then anything.
fn segment(icmp: u8) -> impl Strategy<Value = (u8, Vec<u8>)> {
    let ports = (prop::sample::select(vec![6, 17, 132]), port(), port(), bytes(60)).prop_map(
        |(protocol, from, to, rest)| {
            (protocol, [&u16::to_be_bytes(from)[..], &u16::to_be_bytes(to), &rest].concat())
        },
    );
    let types = (prop::sample::select(vec![0, 8, 128]), 0..2_u8, bytes(40))
        .prop_map(move |(kind, code, rest)| (icmp, [&[kind, code][..], &rest].concat()));
    prop_oneof![4 => ports, 1 => types, 1 => (prop::sample::select(vec![44, 47]), bytes(40))]
}

fn ipv4() -> impl Strategy<Value = Vec<u8>> {
    let options = prop_oneof![5 => Just(0_usize), 1 => 1..11_usize];
    let fragment = prop_oneof![
        6 => Just(0x4000), 2 => Just(0), 1 => Just(0x2000), 1 => Just(0x2001), 1 => any::<u16>()
    ];
    let rest = (any::<u8>(), any::<u16>(), any::<u8>(), any::<u16>());
    (host(), (0..2_u8, host()), segment(1), options, fragment, rest).prop_map(
        |(from, (net, to), (protocol, segment), options, fragment, (tos, id, ttl, sum))| {
            let header = 20 + 4 * options;
            let mut packet = vec![0x45 + options as u8, tos];
            packet.extend_from_slice(&((header + segment.len()) as u16).to_be_bytes());
            packet.extend_from_slice(&[id.to_be_bytes(), fragment.to_be_bytes()].concat());
            packet.extend_from_slice(&[ttl, protocol]);
            packet.extend_from_slice(&sum.to_be_bytes());
            packet.extend_from_slice(&[10, 0, 0, from, 10, 0, net, to]);
            packet.resize(header, 1);
            packet.extend_from_slice(&segment);
            packet
        },
    )
}

fn ipv6() -> impl Strategy<Value = Vec<u8>> {
    (host(), host(), segment(58), any::<u32>(), any::<u8>()).prop_map(
        |(from, to, (protocol, segment), first, hops)| {
            let mut packet = ((first & 0x0fff_ffff) | 0x6000_0000).to_be_bytes().to_vec();
            packet.extend_from_slice(&(segment.len() as u16).to_be_bytes());
            packet.extend_from_slice(&[protocol, hops]);
            for host in [from, to] {
                packet.extend_from_slice(&[0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
            }
            packet.extend_from_slice(&segment);
            packet
        },
    )
}

fn arp() -> impl Strategy<Value = Vec<u8>> {
    (host(), host(), 1..3_u8, bytes(20)).prop_map(|(from, to, operation, padding)| {
        let mut packet = vec![0, 1, 8, 0, 6, 4, 0, operation, 2, 0, 0, 0, 0, from, 10, 0, 0, from];
        packet.extend_from_slice(&[0, 0, 0, 0, 0, 0, 10, 0, 0, to]);
        packet.extend_from_slice(&padding);
        packet
    })
}
