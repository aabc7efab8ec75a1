//! Echoes of the router's own, however the requests come: in pieces, and behind extension headers.

mod network;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use network::Network;
use throughline_forward::{HEADROOM, PortId, Refused, Route};
use throughline_stack::{
    Message,
    smoltcp::{
        time::Duration,
        wire::{Icmpv4Packet, Icmpv6Packet, Ipv4Packet, Ipv6Packet},
    },
};

const ICMP: u8 = 1;
const ICMP6: u8 = 58;
const FRAGMENT: u8 = 44;
/// Between those of link and network.
const ETHERNET: usize = 14;

/// The host on network 0, and the router there and on network 1.
const HOST4: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const OURS4: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 1, 1)];
const HOST6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
const OURS6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1), Ipv6Addr::new(0xfd00, 1, 0, 0, 0, 0, 0, 1)];

fn data(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

/// A question of so many bytes.
fn request(to: IpAddr, length: usize) -> Vec<u8> {
    let mut message =
        [&[if to.is_ipv4() { 8 } else { 128 }, 0, 0, 0, 1, 2, 3, 4][..], &data(length)].concat();
    match to {
        IpAddr::V4(_) => Icmpv4Packet::new_unchecked(&mut message[..]).fill_checksum(),
        IpAddr::V6(to) => Icmpv6Packet::new_unchecked(&mut message[..]).fill_checksum(&HOST6, &to),
    }
    message
}

/// A frame of the host's to the router.
fn frame(ethertype: u16, packet: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &ethertype.to_be_bytes(), packet].concat()
}

/// A piece, or all, of a packet of ICMP to the router, with this number.
fn piece(to: IpAddr, ident: u16, message: &[u8], at: usize, length: usize) -> Vec<u8> {
    let (end, more) = ((at + length).min(message.len()), at + length < message.len());
    match to {
        IpAddr::V4(to) => {
            let mut bytes = [&[0; 20], &message[at..end]].concat();
            let total = bytes.len() as u16;
            let mut packet = Ipv4Packet::new_unchecked(&mut bytes[..]);
            packet.set_version(4);
            packet.set_header_len(20);
            packet.set_total_len(total);
            packet.set_ident(ident);
            packet.set_more_frags(more);
            packet.set_frag_offset(at as u16);
            packet.set_hop_limit(64);
            packet.set_next_header(ICMP.into());
            packet.set_src_addr(HOST4);
            packet.set_dst_addr(to);
            packet.fill_checksum();
            frame(0x0800, &bytes)
        }
        IpAddr::V6(to) => {
            let [high, low] = (at as u16 | u16::from(more)).to_be_bytes();
            let [ident @ .., a, b] = [0, 0, ident.to_be_bytes()[0], ident.to_be_bytes()[1]];
            let header = [ICMP6, 0, high, low, ident[0], ident[1], a, b];
            v6(to, FRAGMENT, &[&header, &message[at..end]].concat())
        }
    }
}

fn v6(to: Ipv6Addr, next: u8, behind: &[u8]) -> Vec<u8> {
    let mut bytes = [&[0; 40], behind].concat();
    let mut packet = Ipv6Packet::new_unchecked(&mut bytes[..]);
    packet.set_version(6);
    packet.set_payload_len(behind.len() as u16);
    packet.set_hop_limit(64);
    packet.set_next_header(next.into());
    packet.set_src_addr(HOST6);
    packet.set_dst_addr(to);
    frame(0x86dd, &bytes)
}

/// What leaves the router for the host when this arrives.
fn arrive(network: &mut Network, frame: &[u8]) -> Vec<Vec<u8>> {
    network.router.arrive(PortId(0), Message::copied(HEADROOM, frame), network.now, &mut network.out);
    leaving(network)
}

fn leaving(network: &mut Network) -> Vec<Vec<u8>> {
    let frames = network.out.frames.drain(..).map(|(port, frame)| {
        assert_eq!((port, &frame.bytes()[..6]), (PortId(0), &[2, 0, 0, 0, 0, 2][..]));
        frame.bytes()[ETHERNET..].to_vec()
    });
    frames.collect()
}

/// The message of ICMP in these packets, which are the pieces of one, in order, from an address of the router's to the host.
fn answer(from: IpAddr, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut message = Vec::new();
    let mut idents = Vec::new();
    for (number, bytes) in packets.iter().enumerate() {
        let last = number + 1 == packets.len();
        match from {
            IpAddr::V4(from) => {
                let packet = Ipv4Packet::new_checked(&bytes[..]).unwrap();
                assert!(packet.verify_checksum() && bytes.len() <= 1500 && !packet.dont_frag());
                assert_eq!((packet.src_addr(), packet.dst_addr()), (from, HOST4));
                assert_eq!((usize::from(packet.frag_offset()), packet.more_frags()), (message.len(), !last));
                idents.push(packet.ident().into());
                message.extend(packet.payload());
            }
            IpAddr::V6(from) => {
                let packet = Ipv6Packet::new_checked(&bytes[..]).unwrap();
                assert_eq!((packet.src_addr(), packet.dst_addr()), (from, HOST6));
                let payload = packet.payload();
                if packets.len() == 1 {
                    assert_eq!(u8::from(packet.next_header()), ICMP6);
                    message.extend(payload);
                    continue;
                }
                // So short that any network carries them.
                assert!(bytes.len() <= 1280, "{}", bytes.len());
                assert_eq!((u8::from(packet.next_header()), payload[0]), (FRAGMENT, ICMP6));
                let field = u16::from_be_bytes([payload[2], payload[3]]);
                assert_eq!(field, message.len() as u16 | u16::from(!last));
                idents.push(u32::from_be_bytes(*payload[4..].first_chunk().unwrap()));
                message.extend(&payload[8..]);
            }
        }
    }
    assert!(idents.windows(2).all(|two| two[0] == two[1]));
    match from {
        IpAddr::V4(_) => assert!(Icmpv4Packet::new_unchecked(&message).verify_checksum()),
        IpAddr::V6(from) => {
            assert!(Icmpv6Packet::new_unchecked(&message).verify_checksum(&from, &HOST6));
        }
    }
    message
}

fn addresses() -> impl Iterator<Item = IpAddr> {
    OURS4.map(IpAddr::from).into_iter().chain(OURS6.map(IpAddr::from))
}

/// What the answer to such a question begins with, and what it carries.
fn expect(to: IpAddr, message: &[u8], length: usize) {
    assert_eq!(message[..2], [if to.is_ipv4() { 0 } else { 129 }, 0]);
    assert_eq!((&message[4..8], &message[8..]), (&[1, 2, 3, 4][..], &data(length)[..]));
}

#[test]
fn a_question_in_pieces_is_answered() {
    let mut network = Network::acquainted();
    for (number, to) in addresses().enumerate() {
        for (turn, length) in [8, 1472, 3000, 8000, 65_507].into_iter().enumerate() {
            let ident = (10 * number + turn) as u16;
            let message = request(to, length);
            let step = if length == 8 { 8 } else { 1480 };
            let mut pieces: Vec<_> =
                (0..message.len()).step_by(step).map(|at| piece(to, ident, &message, at, step)).collect();
            // In another order.
            pieces.reverse();
            let before = network.router.counts().clone();
            let last = pieces.pop().unwrap();
            for piece in &pieces {
                assert_eq!(arrive(&mut network, piece), Vec::<Vec<u8>>::new());
            }
            let answers = arrive(&mut network, &last);
            expect(to, &answer(to, &answers), length);
            let after = network.router.counts();
            assert_eq!((after.said - before.said, after.local - before.local), (1, pieces.len() as u64 + 1));
            assert!(Refused::ALL.iter().all(|why| after.refused(*why) == before.refused(*why)));
        }
    }
}

#[test]
fn each_answer_of_ipv6_in_pieces_has_a_number_of_its_own() {
    let mut network = Network::acquainted();
    let to = OURS6[0].into();
    let message = request(to, 2000);
    let mut idents = Vec::new();
    for ident in 0..10 {
        arrive(&mut network, &piece(to, ident, &message, 0, 1232));
        let answers = arrive(&mut network, &piece(to, ident, &message, 1232, 1232));
        idents.push(answers[0][44..48].to_vec());
    }
    idents.sort();
    idents.dedup();
    assert_eq!(idents.len(), 10);
}

/// RFC 8200, 5: of what is behind the next router nobody is asked how much it carries.
#[test]
fn answers_of_ipv6_to_beyond_the_network_are_as_short_as_all_networks_carry() {
    let mut network = Network::acquainted();
    let via = Route::Out { port: PortId(0), via: Some(HOST6.into()) };
    network.router.add_route("fd00:77::/64".parse().unwrap(), via).unwrap();
    let far = Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, 7);
    let mut lengths = |from: Ipv6Addr, length: usize| {
        let mut message = request(OURS6[0].into(), length - 48);
        Icmpv6Packet::new_unchecked(&mut message[..]).fill_checksum(&from, &OURS6[0]);
        let mut frame = v6(OURS6[0], ICMP6, &message);
        Ipv6Packet::new_unchecked(&mut frame[ETHERNET..]).set_src_addr(from);
        arrive(&mut network, &frame).iter().map(Vec::len).collect::<Vec<_>>()
    };
    assert_eq!(lengths(HOST6, 1500), [1500]);
    assert_eq!(lengths(far, 1280), [1280]);
    assert_eq!(lengths(far, 1281), [1280, 40 + 8 + 1281 - 1272]);
    assert_eq!(lengths(far, 1500), [1280, 40 + 8 + 1500 - 1272]);
}

/// RFC 8200, 4: those that ask for nothing.
#[test]
fn a_question_behind_extension_headers_is_answered() {
    let mut network = Network::acquainted();
    let (padded, done, whole) = (
        |next| [next, 0, 1, 4, 0, 0, 0, 0],
        |next| [next, 0, 9, 0, 0, 0, 0, 0],
        |next| [next, 0, 0, 0, 1, 2, 3, 4],
    );
    for to in OURS6 {
        let message = request(to.into(), 100);
        for (first, headers) in [
            (0, vec![padded(ICMP6)]),
            (60, vec![padded(ICMP6)]),
            (43, vec![done(ICMP6)]),
            // All of a packet (RFC 6946).
            (44, vec![whole(ICMP6)]),
            (0, vec![padded(60), padded(43), done(44), whole(60), padded(ICMP6)]),
        ] {
            let answers = arrive(&mut network, &v6(to, first, &[headers.concat(), message.clone()].concat()));
            expect(to.into(), &answer(to.into(), &answers), 100);
        }
        // Pieces behind other headers.
        let long = request(to.into(), 2000);
        let behind =
            |at| [&padded(FRAGMENT), &piece(to.into(), 7, &long, at, 1200)[ETHERNET + 40..]].concat();
        assert!(arrive(&mut network, &v6(to, 60, &behind(0))).is_empty());
        let answers = arrive(&mut network, &v6(to, 60, &behind(1200)));
        expect(to.into(), &answer(to.into(), &answers), 2000);
    }
}

#[test]
fn of_a_damaged_question_nobody_is_told_and_no_piece_counts_twice() {
    let mut network = Network::acquainted();
    for to in addresses() {
        let message = request(to, 2000);
        let (first, last) = (piece(to, 1, &message, 0, 1200), piece(to, 1, &message, 1200, 1200));
        let mut damaged = last.clone();
        *damaged.last_mut().unwrap() ^= 1;
        assert!(arrive(&mut network, &first).is_empty() && arrive(&mut network, &damaged).is_empty());
        // They overlap: nobody honest sends such (RFC 5722).
        let malformed = network.router.counts().refused(Refused::Malformed);
        assert!(arrive(&mut network, &first).is_empty());
        assert!(arrive(&mut network, &piece(to, 1, &message, 1192, 1200)).is_empty());
        assert_eq!(network.router.counts().refused(Refused::Malformed), malformed + 1);
        assert!(arrive(&mut network, &first).is_empty());
        assert!(arrive(&mut network, &first).is_empty());
        expect(to, &answer(to, &arrive(&mut network, &last)), 2000);
    }
}

/// RFC 8200, 4.5: the first piece has all headers of its packet, and all but the last have a length that pieces have.
#[test]
fn who_sends_pieces_that_none_can_be_is_told_if_they_are_the_first() {
    const OPTIONS: u8 = 60;
    let mut network = Network::acquainted();
    let to = OURS6[0];
    let first = |next, length| [&[next, 0, 0, 1, 1, 2, 3, 4][..], &vec![0; length]].concat();
    let options = |next, length: usize, there| {
        let mut header = vec![0; length];
        header[..2].copy_from_slice(&[next, (length / 8 - 1) as u8]);
        [&first(OPTIONS, 0)[..], &header[..there]].concat()
    };
    let padded = |next| [next, 0, 1, 4, 0, 0, 0, 0];
    let headers = |at, next| [&padded(FRAGMENT), &[next, 0, 0, at, 1, 2, 3, 4][..]].concat();
    let mut says = |next, behind: &[u8]| {
        network.now += Duration::from_secs(1);
        let before = network.router.counts().refused(Refused::Malformed);
        let said = arrive(&mut network, &v6(to, next, behind));
        assert_eq!(network.router.counts().refused(Refused::Malformed), before + 1);
        assert!(said.len() <= 1);
        said.first().map(|packet| (packet[40], packet[41], packet[47]))
    };
    let incomplete = Some((4, 3, 0));
    assert_eq!(says(FRAGMENT, &options(17, 16, 8)), incomplete, "the header is longer");
    assert_eq!(says(FRAGMENT, &options(OPTIONS, 8, 8)), incomplete, "another follows");
    assert_eq!(says(FRAGMENT, &options(17, 8, 8)), incomplete, "nothing follows");
    assert_eq!(says(FRAGMENT, &first(43, 0)), incomplete);
    assert_eq!(says(OPTIONS, &headers(1, 17)), incomplete, "behind others");
    // There may be an error in it.
    assert_eq!(says(FRAGMENT, &options(ICMP6, 16, 8)), None);
    assert_eq!(says(FRAGMENT, &first(ICMP6, 0)), None);
    for next in [ICMP6, 17] {
        let mut odd = first(next, 12);
        odd[8] = 128;
        assert_eq!(says(FRAGMENT, &odd), Some((4, 0, 4)), "{next}: its length is said there");
        // Of a later one nobody is told.
        odd[3] |= 8;
        assert_eq!(says(FRAGMENT, &odd), None);
    }
    let nothing = v6(to, FRAGMENT, &first(59, 0));
    assert!(arrive(&mut network, &nothing).is_empty(), "that is what was said to follow");
}

/// RFC 792; RFC 4443, 3.3.
#[test]
fn who_sends_too_few_pieces_is_told_if_the_first_has_come() {
    for to in addresses() {
        let (mut network, message) = (Network::acquainted(), request(to, 2000));
        arrive(&mut network, &piece(to, 1, &message, 0, 1200));
        arrive(&mut network, &piece(to, 2, &message, 1200, 1200));
        let before = network.router.counts().clone();
        let mut said = Vec::new();
        let wants = network.router.poll(network.now, &mut network.out);
        assert!(wants.is_some_and(|wants| wants <= network.now + Duration::from_secs(30)));
        for _ in 0..61 {
            network.now += Duration::from_secs(1);
            network.router.poll(network.now, &mut network.out);
            said.extend(network.out.frames.drain(..).map(|(_, frame)| frame.bytes()[ETHERNET..].to_vec()));
        }
        // And what else was due meanwhile.
        let kind = if to.is_ipv4() { [11, 1] } else { [3, 1] };
        let header = if to.is_ipv4() { 20 } else { 40 };
        said.retain(|packet| packet.len() > header + 8 && packet[header..][..2] == kind);
        assert_eq!(said.len(), 1, "{to}");
        let quote = &answer(to, &said)[8..];
        let quoted = if to.is_ipv4() { 20 } else { 48 };
        assert_eq!(quote[quoted..], message[..quote.len() - quoted]);
        assert_eq!(
            network.router.counts().refused(Refused::Incomplete),
            before.refused(Refused::Incomplete) + 2
        );
    }
}

#[test]
fn pieces_without_end_take_bounded_memory_and_keep_nobody_on_another_network_waiting() {
    let mut network = Network::acquainted();
    for to in addresses() {
        let message = request(to, 2000);
        arrive(&mut network, &piece(to, 1, &message, 0, 1200));
        // Of other packets that came by the other port, from somebody there.
        for ident in 0..1000 {
            let mut other = piece(to, ident, &message, 0, 1200);
            other[..6].copy_from_slice(&[2, 0, 0, 1, 0, 1]);
            network.router.arrive(
                PortId(1),
                Message::copied(HEADROOM, &other),
                network.now,
                &mut network.out,
            );
        }
        assert!(leaving(&mut network).is_empty());
        expect(to, &answer(to, &arrive(&mut network, &piece(to, 1, &message, 1200, 1200))), 2000);
    }
}
