//! A learning bridge: whom frames reach, with and without an index on addresses.

use proptest::prelude::*;
use throughline_forward::{
    AddressIndices, Assignment, Bridge, BridgeConfig, BridgePort, FlowCacheConfig, FlowCounts, HEADROOM,
    Label, Outgoing, Packet, PortId, PortLabels, insert_label,
};
use throughline_stack::{
    Message, Rate,
    smoltcp::{
        time::{Duration, Instant},
        wire::{EthernetAddress, Ipv4Packet},
    },
};
use throughline_wire::{Flow, RegionList};

const ALL: u8 = 0xff;

/// The station of this number; 0xff for all of them.
fn address(station: u8) -> EthernetAddress {
    if station == ALL { EthernetAddress::BROADCAST } else { EthernetAddress([2, 0, 0, 0, 0, station]) }
}

fn frame(from: u8, to: u8, word: Option<u32>) -> Message {
    let mut bytes = [0; 60];
    bytes[..6].copy_from_slice(&address(to).0);
    bytes[6..12].copy_from_slice(&address(from).0);
    bytes[12..14].copy_from_slice(&[8, 0]);
    let mut message = Message::copied(HEADROOM, &bytes);
    if let Some(word) = word {
        let label = Label { flow: Flow { id: 1, source_hash: word }, threaded: false };
        insert_label(&mut message, label, &RegionList::new()).unwrap();
    }
    message
}

struct Net {
    bridge: Bridge,
    out: Outgoing,
    now: Instant,
}

impl Net {
    fn new(config: BridgeConfig) -> Self {
        let ports = [PortLabels::UNKNOWN, PortLabels::KNOWN, PortLabels::UNKNOWN, PortLabels::KNOWN];
        let bridge = Bridge::new(&ports.map(|labels| BridgePort { labels, mtu: 1500 }), config).unwrap();
        Self { bridge, out: Outgoing::new(1500, 64), now: Instant::ZERO }
    }

    /// The ports that a frame leaves by.
    fn carry(&mut self, port: u16, frame: Message) -> Vec<u16> {
        self.bridge.arrive(PortId(port), frame, self.now, &mut self.out);
        let leave = |(port, frame): (PortId, Message)| {
            let labelled = Packet::of(frame.bytes()).unwrap().offset > 14;
            assert!(!labelled || port.0 % 2 == 1, "a label to those who don't know any");
            port.0
        };
        self.out.frames.drain(..).map(leave).collect()
    }
}

fn config() -> BridgeConfig {
    BridgeConfig {
        cache: FlowCacheConfig { places: 16, ..FlowCacheConfig::default() },
        ..BridgeConfig::default()
    }
}

#[test]
fn frames_go_where_their_destination_was_heard_from() {
    let mut net = Net::new(config());
    assert_eq!(net.carry(0, frame(1, 2, None)), [1, 2, 3], "nobody has heard of 2");
    assert_eq!(net.carry(2, frame(2, 1, None)), [0]);
    assert_eq!(net.carry(0, frame(1, 2, None)), [2]);
    assert_eq!(net.carry(2, frame(3, 2, None)), [0_u16; 0], "on the same network");
    assert_eq!(net.carry(3, frame(2, ALL, None)), [0, 1, 2]);
    assert_eq!(net.carry(0, frame(1, 2, None)), [3], "2 has moved");
    let counts = net.bridge.counts();
    assert_eq!(
        (counts.arrived, counts.forwarded, counts.flooded, counts.near, counts.moved),
        (6, 3, 2, 1, 1)
    );
}

#[test]
fn who_is_silent_is_forgotten() {
    let mut net = Net::new(config());
    net.carry(0, frame(1, ALL, None));
    net.carry(1, frame(2, ALL, None));
    net.now += Duration::from_secs(200);
    assert_eq!(net.carry(1, frame(2, 1, None)), [0]);
    net.now += Duration::from_secs(200);
    assert_eq!(net.carry(1, frame(2, 1, None)), [0, 2, 3]);
    for _ in 0..4 {
        net.carry(1, frame(2, ALL, None));
    }
    assert_eq!(net.bridge.known(), 1);
    assert_eq!(net.carry(0, frame(3, 2, None)), [1]);
}

#[test]
fn who_was_behind_a_link_that_fails_is_looked_for_elsewhere() {
    let mut net = Net::new(config());
    net.carry(0, frame(1, ALL, None));
    net.bridge.set_link(PortId(0), false, net.now);
    assert_eq!(net.carry(1, frame(2, 1, None)), [2, 3]);
    assert_eq!(net.carry(1, frame(2, ALL, None)), [2, 3]);
    assert_eq!(net.carry(2, frame(1, 2, None)), [1], "he has moved");
    assert_eq!(net.carry(1, frame(2, 1, None)), [2]);
    net.carry(3, frame(4, ALL, None));
    net.bridge.set_link(PortId(0), true, net.now);
    assert_eq!(net.carry(1, frame(2, ALL, None)), [0, 2, 3]);
    net.bridge.set_link(PortId(3), false, net.now);
    assert_eq!(
        net.carry(3, frame(4, 2, None)),
        [1],
        "who is heard, though nobody has said that the link works"
    );
    net.bridge.set_link(PortId(3), true, net.now);
    assert_eq!(net.carry(1, frame(2, 4, None)), [3], "he is where he was");
}

#[test]
fn storms_and_liars_are_limited() {
    let flood = Rate { per_second: 10, burst: 5 };
    let mut net = Net::new(BridgeConfig { flood, addresses: 100, ..config() });
    let sent = (0..50).filter(|_| !net.carry(0, frame(1, ALL, None)).is_empty()).count();
    assert_eq!((sent, net.bridge.counts().storm), (5, 45));
    assert_eq!(net.carry(1, frame(2, ALL, None)).len(), 3, "another port");
    net.now += Duration::from_secs(1);
    assert_eq!(net.carry(0, frame(1, ALL, None)).len(), 3);
    for n in 0..250 {
        net.carry(3, frame(n, 1, None));
    }
    assert_eq!(net.bridge.known(), 100);
    assert_eq!(net.carry(1, frame(2, 1, None)), [3], "the last one to say that he is 1");
}

#[test]
fn what_no_bridge_forwards_is_refused() {
    let mut net = Net::new(config());
    let mut pause = frame(1, 2, None);
    pause.bytes_mut()[..6].copy_from_slice(&[1, 0x80, 0xc2, 0, 0, 1]);
    let mut from_all = frame(1, 2, None);
    from_all.bytes_mut()[6..12].fill(0xff);
    for refused in [pause, from_all, Message::copied(HEADROOM, &[0; 13])] {
        assert_eq!(net.carry(0, refused), [0_u16; 0]);
    }
    assert_eq!((net.bridge.counts().refused, net.bridge.known()), (3, 0));
}

#[test]
fn an_index_on_addresses_spares_both_lookups() {
    let mut net = Net::new(config());
    let word = |destination, source| Some(AddressIndices { destination, source }.word());
    net.carry(1, frame(1, 2, word(22, 11)));
    net.carry(3, frame(2, 1, word(11, 22)));
    for _ in 0..10 {
        assert_eq!(net.carry(1, frame(1, 2, word(22, 11))), [3]);
    }
    // The first time after it was learnt each address is looked up.
    assert_eq!(net.bridge.flow_counts(PortId(1)).hits, 18);
    // Who is said to know no labels is not believed.
    net.carry(0, frame(3, 2, word(22, 33)));
    assert_eq!(
        (net.bridge.flow_counts(PortId(0)), net.bridge.counts().distrusted),
        (FlowCounts::default(), 1)
    );
}

/// A frame with a whole packet of UDP.
fn datagram(from: u8, to: u8, port: u8, size: usize) -> Message {
    let mut bytes = vec![0; 14 + size];
    bytes[..6].copy_from_slice(&address(to).0);
    bytes[6..12].copy_from_slice(&address(from).0);
    bytes[12..14].copy_from_slice(&[8, 0]);
    bytes[37] = port;
    let mut packet = Ipv4Packet::new_unchecked(&mut bytes[14..]);
    packet.set_version(4);
    packet.set_header_len(20);
    packet.set_total_len(size as u16);
    packet.set_next_header(17.into());
    packet.set_src_addr([10, 0, 0, from].into());
    packet.set_dst_addr([10, 0, 0, to].into());
    packet.fill_checksum();
    Message::copied(HEADROOM, &bytes)
}

#[test]
fn a_bridge_labels_what_comes_from_stations_that_know_no_labels() {
    for new in [Assignment::Random, Assignment::Precomputed, Assignment::Assigned] {
        let edge = PortLabels { new: Some(new), ..PortLabels::UNKNOWN };
        let ports = [edge, PortLabels::KNOWN].map(|labels| BridgePort { labels, mtu: 1500 });
        let indices = vec![(address(1), 11), (address(2), 22)];
        let mut bridge = Bridge::new(&ports, BridgeConfig { indices, ..config() }).unwrap();
        let mut out = Outgoing::new(1500, 64);
        let mut carry = |port, frame: Message| {
            bridge.arrive(PortId(port), frame, Instant::ZERO, &mut out);
            out.frames.pop().unwrap().1.bytes().to_vec()
        };
        carry(0, frame(1, ALL, None));
        carry(1, frame(2, ALL, None));
        carry(1, frame(3, ALL, None));
        let mut label = |frame: Message| {
            let plain = frame.bytes().to_vec();
            let left = carry(0, frame);
            let packet = Packet::of(&left).unwrap();
            assert_eq!(packet.bytes(), &plain[14..]);
            packet.label
        };
        let first = label(datagram(1, 2, 1, 60)).unwrap();
        let other = label(datagram(1, 2, 2, 60)).unwrap();
        match new {
            Assignment::Random => {
                assert!(first.flow.id != other.flow.id && label(datagram(1, 2, 1, 60)) == Some(first))
            }
            Assignment::Precomputed => assert_eq!(first, other),
            Assignment::Assigned => {
                assert_eq!(AddressIndices::of(first), AddressIndices { destination: 22, source: 11 });
                assert_eq!(label(datagram(1, 3, 1, 60)), None, "a station without an index");
            }
        }
        assert_eq!(label(frame(1, 2, None)), None, "nothing of IP");
        assert!(label(datagram(1, 2, 1, 1476)).is_some(), "1,500 with the label");
        assert_eq!(label(datagram(1, 2, 1, 1477)), None, "longer than the link carries");
        // The answers come with labels, and leave without.
        let mut answer = datagram(2, 1, 1, 60);
        let plain = answer.bytes().to_vec();
        insert_label(&mut answer, first, &RegionList::new()).unwrap();
        assert_eq!(carry(1, answer), plain);
        assert_eq!(bridge.counts().unlabelled, 1);
    }
}

proptest! {
    /// Whatever the labels say, frames reach whom they would reach without.
    #[test]
    fn indices_change_nothing(
        frames in prop::collection::vec((0..4_u16, 0..6_u8, prop_oneof![0..6_u8, Just(ALL)], any::<Option<u8>>(), 0..90_u64), 1..200)
    ) {
        let flood = Rate { per_second: 1000, burst: 1000 };
        let mut with = Net::new(BridgeConfig { flood, ..config() });
        let mut without = Net::new(BridgeConfig { flood, index: false, ..config() });
        for (port, from, to, word, seconds) in frames {
            for net in [&mut with, &mut without] {
                net.now += Duration::from_secs(seconds);
            }
            // Few indices, so that they collide.
            let word = word.map(|word| u32::from(word & 0x33) | u32::from(word >> 2 & 0x33) << 16);
            let plain = without.carry(port, frame(from, to, word));
            prop_assert_eq!(with.carry(port, frame(from, to, word)), plain);
        }
        prop_assert_eq!(with.bridge.counts(), without.bridge.counts());
    }
}
