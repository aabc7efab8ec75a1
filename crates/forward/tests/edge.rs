//! Labels that routers at the edge put on and take off: hosts that know of none notice nothing.

mod line;
mod network;

use std::net::IpAddr;

use line::{Line, ROUTERS, Setting};
use proptest::prelude::*;
use throughline_forward::{Assignment, HEADROOM, Label, Packet, PortLabels, insert_label};
use throughline_stack::{Message, smoltcp::wire::Ipv4Packet};
use throughline_wire::{Flow, RegionList};

const LABELLING: PortLabels = PortLabels { new: Some(Assignment::Random), ..PortLabels::UNKNOWN };

const SETTING: Setting =
    Setting { outer: LABELLING, inner: PortLabels::KNOWN, inner_mtu: 1500, threaded: false, places: 64 };
const NO_LABELS: Setting = Setting { outer: PortLabels::UNKNOWN, inner: PortLabels::UNKNOWN, ..SETTING };

fn servers() -> [IpAddr; 2] {
    [format!("10.0.{ROUTERS}.2"), format!("fd00:{ROUTERS:x}::2")].map(|text| text.parse().unwrap())
}

/// Sends this much to the other host a few times, each time after the answer to the time before.
fn talk(line: &mut Line, to: IpAddr, size: usize) {
    let path = line.hosts[0].open(to, 7);
    for round in 0..4_u8 {
        line.hosts[0].send(path, &vec![round; size]);
        line.run();
        assert_eq!(line.hosts[0].received(path), Some(vec![round; size]), "{to}, {size} bytes");
    }
}

#[test]
fn plain_hosts_talk_through_routers_that_label() {
    for new in [Assignment::Random, Assignment::Precomputed] {
        let outer = PortLabels { new: Some(new), ..PortLabels::UNKNOWN };
        let mut line = Line::new(Setting { outer, ..SETTING });
        for to in servers() {
            talk(&mut line, to, 100);
        }
        line.hosts_notice_nothing();
        // Four packets and their answers of each version of IP pass two networks; what is left are the questions for neighbours.
        assert_eq!(line.labelled()[..2], [2 * 2 * 8, 0]);
        let [first, middle, last] = [0, 1, 2].map(|n| line.routers[n].counts().clone());
        assert_eq!([first.labelled, middle.labelled, last.labelled], [8, 0, 8]);
        assert_eq!([first.unlabelled, middle.unlabelled, last.unlabelled], [8, 0, 8]);
        let between = line.between.iter().filter_map(|frame| {
            let packet = Packet::of(frame).unwrap();
            packet.label.filter(|_| packet.offset > 14).map(|label| label.flow.id)
        });
        let ids: std::collections::HashSet<u64> = between.collect();
        assert_eq!(ids.len(), 4, "a flow each way of each version of IP");
    }
}

#[test]
fn a_full_packet_leaves_its_label_behind_unless_the_link_has_room() {
    for (inner_mtu, with_label) in [(1500, false), (1523, false), (1524, true)] {
        let mut line = Line::new(Setting { inner_mtu, ..SETTING });
        // With the headers of UDP and IP, 1,500 bytes.
        for (to, size) in servers().into_iter().zip([1472, 1452]) {
            talk(&mut line, to, size);
        }
        line.hosts_notice_nothing();
        let [labelled, ..] = line.labelled();
        assert_eq!(labelled, if with_label { 32 } else { 0 }, "{inner_mtu}");
        assert!(line.between.iter().all(|frame| frame.len() <= 14 + inner_mtu));
    }
}

#[test]
fn a_label_that_the_next_link_has_no_room_for_comes_off() {
    let mut line = Line::new(Setting { inner_mtu: 1524, ..SETTING });
    let mut other = Line::new(Setting { inner_mtu: 1500, ..SETTING });
    // The middle router's second link is the shorter one.
    line.routers[1..].swap_with_slice(&mut other.routers[1..]);
    talk(&mut line, servers()[0], 1472);
    line.hosts_notice_nothing();
    assert_eq!(line.routers[1].counts().unlabelled, 4);
}

#[test]
fn what_the_edge_puts_on_is_the_index_where_one_is_known() {
    let mut line = Line::new(Setting { threaded: true, ..SETTING });
    line.run_for(40);
    line.between.clear();
    talk(&mut line, servers()[0], 100);
    line.hosts_notice_nothing();
    let [labelled, indexed, _] = line.labelled();
    assert_eq!([labelled, indexed], [16, 16]);
    // Each way through two routers that get an index; the last has none for the host itself.
    let threaded: Vec<u64> = line.routers.iter().map(|router| router.counts().threaded).collect();
    assert_eq!(threaded, [4, 8, 4]);
    assert!(line.routers.iter().all(|router| router.thread_counts().unwrap().refused == 0));
}

#[test]
fn the_flow_label_of_ipv6_is_set_where_it_was_not() {
    let outer = PortLabels { new: None, flow_labels: true, ..PortLabels::UNKNOWN };
    let mut line = Line::new(Setting { outer, inner: PortLabels::UNKNOWN, ..SETTING });
    let [v4, v6] = servers();
    talk(&mut line, v6, 100);
    talk(&mut line, v4, 100);
    let labels = |frames: &[Vec<u8>]| -> Vec<u32> {
        let udp = frames.iter().filter(|frame| frame[12..14] == [0x86, 0xdd] && frame[20] == 17);
        udp.map(|frame| u32::from_be_bytes(frame[14..18].try_into().unwrap()) & 0xf_ffff).collect()
    };
    for reached in &line.reached {
        let labels = labels(reached);
        assert!(labels.len() == 4 && labels[0] != 0 && labels.iter().all(|label| *label == labels[0]));
    }
    line.hosts_notice_nothing();
}

/// A packet of the first host to the second one, or to any address.
fn packet(to: [u8; 4], protocol: u8, ports: u32, size: usize, flags: u8, lives: u8) -> Vec<u8> {
    let mut bytes = vec![0; 14 + 20 + size];
    bytes[..6].copy_from_slice(&network::host(0, 1).hardware.0);
    bytes[6..12].copy_from_slice(&network::host(0, 2).hardware.0);
    bytes[12..14].copy_from_slice(&[8, 0]);
    let above = size.min(4);
    bytes[34..34 + above].copy_from_slice(&ports.to_be_bytes()[..above]);
    let mut packet = Ipv4Packet::new_unchecked(&mut bytes[14..]);
    packet.set_version(4);
    packet.set_header_len(20);
    packet.set_total_len(20 + size as u16);
    packet.set_hop_limit(lives);
    packet.set_next_header(protocol.into());
    packet.set_more_frags(flags & 1 != 0);
    packet.set_dont_frag(flags & 2 != 0);
    packet.set_frag_offset(u16::from(flags >> 2) * 8);
    packet.set_src_addr([10, 0, 0, 2].into());
    packet.set_dst_addr(to.into());
    packet.fill_checksum();
    bytes
}

#[test]
fn labels_of_hosts_are_not_believed() {
    let mut line = Line::new(SETTING);
    talk(&mut line, servers()[0], 100);
    let plain = packet([10, 0, ROUTERS as u8, 2], 253, 0, 64, 2, 64);
    let reached = line.reached[1].len();
    let mut ids = Vec::new();
    for threaded in [false, true] {
        let mut forged = Message::copied(HEADROOM, &plain);
        let label = Label { flow: Flow { id: 0xbad, source_hash: 0xbad }, threaded };
        insert_label(&mut forged, label, &RegionList::new()).unwrap();
        line.enter(0, forged.bytes());
        let between = Packet::of(line.between.last().unwrap()).unwrap();
        ids.push(between.label.unwrap().flow.id);
    }
    assert!(ids[0] == ids[1] && ids[0] != 0xbad, "the edge's own label");
    assert_eq!(line.reached[1].len(), reached + 2);
    assert_eq!(line.routers[0].counts().distrusted, 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// What reaches the hosts is the same, byte for byte, as through routers that know no labels.
    #[test]
    fn hosts_get_the_same_with_and_without_labels(
        packets in prop::collection::vec(
            (0..=ROUTERS as u8 + 1, prop::sample::select(vec![2_u8, 9]), prop::sample::select(vec![1_u8, 6, 17, 253]),
             0..4_u32, 0..1481_usize, 0..12_u8, prop::sample::select(vec![2_u8, 3, 64]), prop::option::of(any::<(bool, u32)>())),
            1..40,
        ),
        inner_mtu in prop::sample::select(vec![1280_usize, 1500, 1600]),
        places in prop::sample::select(vec![2_usize, 64]),
    ) {
        let mut with = Line::new(Setting { inner_mtu, places, ..SETTING });
        let mut without = Line::new(Setting { inner_mtu, places, ..NO_LABELS });
        for line in [&mut with, &mut without] {
            // Both hosts are known then; their ports are random.
            talk(line, servers()[0], 10);
            line.reached = [Vec::new(), Vec::new()];
        }
        for (network, number, protocol, ports, size, flags, lives, forged) in packets {
            let plain = packet([10, 0, network, number], protocol, ports, size, flags, lives);
            let mut frame = Message::copied(HEADROOM, &plain);
            if let Some((threaded, word)) = forged {
                let label = Label { flow: Flow { id: word.into(), source_hash: word }, threaded };
                insert_label(&mut frame, label, &RegionList::new()).unwrap();
            }
            with.enter(0, frame.bytes());
            without.enter(0, &plain);
        }
        prop_assert_eq!(&with.reached[1], &without.reached[1]);
        // Errors too, which are limited in time alike.
        prop_assert_eq!(with.reached[0].len(), without.reached[0].len());
    }
}
