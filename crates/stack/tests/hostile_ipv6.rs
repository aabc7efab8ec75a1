//! What strangers may not do to a host of IPv6.

mod hosts;

use hosts::{CLIENT, CLIENT6, Pair, SERVER6, packet};
use smoltcp::{
    phy::ChecksumCapabilities,
    wire::{
        EthernetAddress, Icmpv6Packet, Icmpv6Repr, Ipv6Address, NdiscNeighborFlags, NdiscRepr, UdpPacket,
    },
};
use throughline_stack::{Architecture, Config, Discard, Graph, Host, Message, Participants, solicited_node};

const GRAPH: &str = "udp > ipv6 > eth; icmp6 > ipv6";
const ALL_NODES: Ipv6Address = Ipv6Address::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
const NOBODY: Ipv6Address = Ipv6Address::UNSPECIFIED;

fn pair() -> Pair {
    let mut pair = Pair::new(GRAPH, Architecture::Integrated);
    pair.server.enable("udp", Participants::at(7)).unwrap();
    pair
}

fn discovery(from: Ipv6Address, to: Ipv6Address, hop_limit: u8, what: NdiscRepr<'_>) -> Vec<u8> {
    let what = Icmpv6Repr::Ndisc(what);
    let mut bytes = vec![0; what.buffer_len()];
    what.emit(&from, &to, &mut Icmpv6Packet::new_unchecked(&mut bytes), &ChecksumCapabilities::default());
    packet(from, to, 58, hop_limit, &bytes)
}

fn solicitation(target: Ipv6Address, with_source: bool) -> NdiscRepr<'static> {
    let lladdr = with_source.then(|| hosts::host(CLIENT).hardware.into());
    NdiscRepr::NeighborSolicit { target_addr: target, lladdr }
}

fn advertisement(flags: NdiscNeighborFlags, hardware: [u8; 6]) -> NdiscRepr<'static> {
    let lladdr = Some(EthernetAddress(hardware).into());
    NdiscRepr::NeighborAdvert { flags, target_addr: CLIENT6, lladdr }
}

/// A datagram to port 7.
fn datagram(from: Ipv6Address, data: &[u8]) -> Vec<u8> {
    let mut bytes = [&[0x10, 0, 0, 7][..], &(8 + data.len() as u16).to_be_bytes(), &[0, 0], data].concat();
    UdpPacket::new_unchecked(&mut bytes[..]).fill_checksum(&from.into(), &SERVER6.into());
    bytes
}

/// What the server sends when this arrives, and why it discards it.
fn fate(pair: &mut Pair, frame: &[u8]) -> (Vec<Vec<u8>>, Vec<Discard>) {
    let count = |pair: &Pair| pair.server.discarded().map(|(_, why, count)| (why, count)).collect::<Vec<_>>();
    let before = count(pair);
    pair.server.arrive(Message::copied(0, frame), pair.now);
    let sent = std::iter::from_fn(|| pair.server.transmit()).map(|frame| frame.bytes().to_vec()).collect();
    let why = count(pair).into_iter().filter(|after| !before.contains(after)).map(|(why, _)| why);
    (sent, why.collect())
}

/// Where the server sends to when it has something for the client.
fn sends_to(pair: &mut Pair) -> Option<[u8; 6]> {
    let path = pair.server.open("udp", Participants::to(CLIENT6, 9)).unwrap();
    pair.server.send(path, Message::copied(128, b"hello")).unwrap();
    pair.server.close(path);
    let sent = std::iter::from_fn(|| pair.server.transmit()).last()?;
    sent.bytes()[..6].try_into().ok()
}

#[test]
fn only_neighbors_are_answered_and_learnt() {
    let client = hosts::host(CLIENT).hardware.0;
    for hop_limit in [0, 1, 64, 254] {
        let mut pair = pair();
        let frame = discovery(CLIENT6, SERVER6, hop_limit, solicitation(SERVER6, true));
        assert_eq!(fate(&mut pair, &frame), (vec![], vec![Discard::Source]), "hop limit {hop_limit}");
        assert_ne!(sends_to(&mut pair), Some(client));
    }
    let mut pair = pair();
    let (sent, why) = fate(&mut pair, &discovery(CLIENT6, SERVER6, 255, solicitation(SERVER6, true)));
    assert_eq!((sent.len(), why.len()), (1, 0));
    assert_eq!((sent[0][..6].to_vec(), sent[0][21]), (client.to_vec(), 255));
    // Advertisement; router, solicited, override; the address and the hardware's.
    assert_eq!((sent[0][54], sent[0][58], &sent[0][62..78]), (136, 0b0110_0000, &SERVER6.octets()[..]));
    assert_eq!(sent[0][78..], [2, 1, 2, 0, 0, 0, 0, 2]);
    assert_eq!(sends_to(&mut pair), Some(client));
}

#[test]
fn who_asks_is_answered_however_many_made_up_ones_have_asked() {
    let mut pair = pair();
    let [network @ .., _, _] = CLIENT6.segments();
    let ours = hosts::host(CLIENT).hardware.0;
    for n in 0..2_000 {
        let mut made_up = CLIENT6.segments();
        made_up[6..].copy_from_slice(&[1, n]);
        assert_eq!(made_up[..6], network);
        fate(&mut pair, &discovery(made_up.into(), SERVER6, 255, solicitation(SERVER6, true)));
    }
    // Somebody else may have asked in his name.
    let liar = EthernetAddress([2, 6, 6, 6, 6, 6]);
    for hardware in [liar.0, ours, liar.0, ours] {
        let lladdr = Some(EthernetAddress(hardware).into());
        let asks = NdiscRepr::NeighborSolicit { target_addr: SERVER6, lladdr };
        let (sent, why) = fate(&mut pair, &discovery(CLIENT6, SERVER6, 255, asks));
        assert_eq!((sent.len(), why.len()), (1, 0));
        assert_eq!((sent[0][..6].to_vec(), sent[0][54]), (hardware.to_vec(), 136), "an advertisement");
    }
}

#[test]
fn who_asks_and_does_not_say_where_he_is_leaves_places_for_our_own_questions() {
    let mut pair = pair();
    for n in 0..200 {
        let mut made_up = CLIENT6.segments();
        made_up[6..].copy_from_slice(&[1, n]);
        fate(&mut pair, &discovery(made_up.into(), SERVER6, 255, solicitation(SERVER6, false)));
    }
    let group = sends_to(&mut pair).map(|to| to[..2].to_vec());
    assert_eq!(group, Some(vec![0x33, 0x33]), "a question for the client");
}

#[test]
fn neighbors_do_not_come_in_pieces() {
    let mut pair = pair();
    let whole = discovery(CLIENT6, SERVER6, 255, solicitation(SERVER6, true));
    let as_a_fragment = [&[58, 0, 0, 0, 0, 0, 0, 1], &whole[54..]].concat();
    let frame = packet(CLIENT6, SERVER6, 44, 255, &as_a_fragment);
    assert_eq!(fate(&mut pair, &frame), (vec![], vec![Discard::Source]));
    let first = [&[58, 0, 0, 1, 0, 0, 0, 2], &whole[54..70]].concat();
    let second = [&[58, 0, 0, 16, 0, 0, 0, 2], &whole[70..]].concat();
    assert_eq!(fate(&mut pair, &packet(CLIENT6, SERVER6, 44, 255, &first)), (vec![], vec![]));
    let frame = packet(CLIENT6, SERVER6, 44, 255, &second);
    assert_eq!(fate(&mut pair, &frame), (vec![], vec![Discard::Source]));
}

/// Who asks in the name of a host beyond the gateway does not get what is for that: a host has its packets go where they always go.
#[test]
fn who_asks_in_the_name_of_somebody_far_away_gets_nothing_of_his() {
    let (gateway, liar) = ([2, 0, 0, 0, 0, 1], [2, 6, 6, 6, 6, 6]);
    let mut pair = pair();
    let server = Host { gateway6: Some(CLIENT6.into()), ..hosts::host(hosts::SERVER) };
    pair.server = Graph::compose(GRAPH, server, Config::default()).unwrap();
    fate(&mut pair, &discovery(CLIENT6, SERVER6, 255, solicitation(SERVER6, true)));
    let far = Ipv6Address::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 5);
    let lladdr = Some(EthernetAddress(liar).into());
    let asks = NdiscRepr::NeighborSolicit { target_addr: SERVER6, lladdr };
    fate(&mut pair, &discovery(far, SERVER6, 255, asks));
    let mut ping = vec![128, 0, 0, 0, 0, 1, 0, 1];
    Icmpv6Packet::new_unchecked(&mut ping[..]).fill_checksum(&far, &SERVER6);
    let (sent, _) = fate(&mut pair, &packet(far, SERVER6, 58, 60, &ping));
    assert_eq!(sent.iter().map(|frame| (&frame[..6], frame[54])).collect::<Vec<_>>(), [(&gateway[..], 129)]);
}

#[test]
fn who_has_no_address_yet() {
    let group = solicited_node(SERVER6);
    let mut pair = pair();
    // Our address is taken: all are told.
    let (sent, why) = fate(&mut pair, &discovery(NOBODY, group, 255, solicitation(SERVER6, false)));
    assert_eq!((sent.len(), why.len()), (1, 0));
    assert_eq!(sent[0][..6], [0x33, 0x33, 0, 0, 0, 1]);
    assert_eq!((&sent[0][38..54], sent[0][58]), (&ALL_NODES.octets()[..], 0b0010_0000));
    // Another's is none of our business.
    let other = Ipv6Address::new(0xfd00, 0, 0, 9, 0, 0, 0, 2);
    assert_eq!(fate(&mut pair, &discovery(NOBODY, group, 255, solicitation(other, false))), (vec![], vec![]));
    // A hardware address of nobody's, and a question to one host.
    for (to, with_source, why) in [
        (group, true, Discard::Malformed),
        (SERVER6, false, Discard::Source),
        (ALL_NODES, false, Discard::Malformed),
    ] {
        let frame = discovery(NOBODY, to, 255, solicitation(SERVER6, with_source));
        assert_eq!(fate(&mut pair, &frame), (vec![], vec![why]), "{to} {with_source}");
    }
    // Nobody else may be nobody.
    let ping = [128, 0, 0, 0, 0, 0, 0, 0];
    let frame = packet(NOBODY, SERVER6, 58, 255, &ping);
    assert_eq!(fate(&mut pair, &frame), (vec![], vec![Discard::Source]));
}

#[test]
fn news_that_nobody_asked_for() {
    let (honest, liar) = (hosts::host(CLIENT).hardware.0, [2, 6, 6, 6, 6, 6]);
    let mut pair = pair();
    let says = |flags, hardware| discovery(CLIENT6, SERVER6, 255, advertisement(flags, hardware));
    // Of somebody nobody knows.
    fate(&mut pair, &says(NdiscNeighborFlags::OVERRIDE, liar));
    assert_ne!(sends_to(&mut pair), Some(liar));
    // The answer to our question, which has been asked meanwhile.
    fate(&mut pair, &says(NdiscNeighborFlags::SOLICITED, honest));
    assert_eq!(sends_to(&mut pair), Some(honest));
    // Another, that does not claim to be better; then one that does, but to all, as if it were an answer.
    fate(&mut pair, &says(NdiscNeighborFlags::SOLICITED, liar));
    assert_eq!(sends_to(&mut pair), Some(honest));
    let flags = NdiscNeighborFlags::SOLICITED | NdiscNeighborFlags::OVERRIDE;
    let frame = discovery(CLIENT6, ALL_NODES, 255, advertisement(flags, liar));
    assert_eq!(fate(&mut pair, &frame).1, [Discard::Malformed]);
    // One of many hosts, and one about us.
    let frame = says(NdiscNeighborFlags::OVERRIDE, [0xff; 6]);
    assert_eq!(fate(&mut pair, &frame).1, [Discard::Malformed]);
    let ours = NdiscRepr::NeighborAdvert {
        flags: NdiscNeighborFlags::OVERRIDE,
        target_addr: SERVER6,
        lladdr: Some(EthernetAddress(liar).into()),
    };
    assert_eq!(fate(&mut pair, &discovery(CLIENT6, ALL_NODES, 255, ours)).1, [Discard::Source]);
    assert_eq!(sends_to(&mut pair), Some(honest));
    // The host has a new card.
    fate(&mut pair, &says(NdiscNeighborFlags::OVERRIDE, [2, 0, 0, 0, 9, 9]));
    assert_eq!(sends_to(&mut pair), Some([2, 0, 0, 0, 9, 9]));
}

#[test]
fn sources_that_cannot_be() {
    let mut pair = pair();
    // There is a session for what the server sends to this group.
    let path = pair.server.open("udp", Participants::to(ALL_NODES, 0x1000).from_port(7)).unwrap();
    let loopback = Ipv6Address::LOCALHOST;
    let mapped = Ipv6Address::new(0, 0, 0, 0, 0, 0xffff, 0x0a00, 1);
    for source in [SERVER6, ALL_NODES, solicited_node(CLIENT6), NOBODY, loopback, mapped] {
        let frame = packet(source, SERVER6, 17, 64, &datagram(source, b"land"));
        let (sent, _) = fate(&mut pair, &frame);
        assert!(sent.is_empty() && pair.server.ready().is_none(), "{source}");
    }
    assert_eq!(pair.server.discarded().collect::<Vec<_>>(), [("ipv6", Discard::Source, 6)]);
    assert!(pair.server.receive(path).is_none());
}

#[test]
fn headers_without_end() {
    let mut pair = pair();
    let padding = |next| [next, 0, 1, 4, 0, 0, 0, 0];
    for count in [8, 9, 150] {
        let mut rest = padding(60).repeat(count - 1);
        rest.extend(padding(17));
        rest.extend(datagram(CLIENT6, b"deep down"));
        let frame = packet(CLIENT6, SERVER6, 60, 64, &rest);
        let (_, why) = fate(&mut pair, &frame);
        assert_eq!(why, if count == 8 { vec![] } else { vec![Discard::Malformed] }, "{count}");
    }
    // Lengths that lie.
    for rest in [&[60, 255, 1, 4, 0, 0, 0, 0][..], &[17, 0, 1, 200, 0, 0, 0, 0], &[60], &[]] {
        let (sent, why) = fate(&mut pair, &packet(CLIENT6, SERVER6, 60, 64, rest));
        assert_eq!((sent.len(), why.len()), (0, 1), "{rest:?}");
    }
}

#[test]
fn pieces_that_overlap() {
    for overlap in [8_u16, 16, 24] {
        let mut pair = pair();
        let whole = datagram(CLIENT6, &[7; 56]);
        let piece = |at: u16, more: u16, bytes: &[u8]| {
            let [high, low] = (at | more).to_be_bytes();
            packet(CLIENT6, SERVER6, 44, 64, &[&[17, 0, high, low, 0, 0, 0, 5], bytes].concat())
        };
        let parts = [
            piece(0, 1, &whole[..32]),
            piece(32 - overlap, 1, &whole[32 - usize::from(overlap)..40]),
            piece(32, 0, &whole[32..]),
        ];
        let why: Vec<_> = parts.iter().flat_map(|part| fate(&mut pair, part).1).collect();
        assert_eq!(why, [Discard::Fragment], "{overlap}");
        assert!(pair.server.ready().is_none());
    }
}
