//! Who makes room for others when there are as many as may be.

mod hosts;

use hosts::{SERVER, data, host};
use smoltcp::{time::Instant, wire::IpAddress};
use throughline_stack::{Config, Graph, ListenerId, Message, Participants};

const TYPE: u16 = 0x1234;

fn server(description: &str) -> (Graph, [ListenerId; 2]) {
    let mut graph = Graph::compose(description, host(SERVER), Config::default()).unwrap();
    let frames = Participants { ethertype: Some(TYPE), ..Participants::default() };
    let listeners = [("eth", frames), ("udp", Participants::at(7))];
    let listeners = listeners.map(|(top, at)| graph.enable(top, at).unwrap());
    (graph, listeners)
}

/// A frame of a stranger's for a user directly above Ethernet.
fn plain(number: u8) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, number][..], &TYPE.to_be_bytes(), &data(46)].concat()
}

/// A datagram of a stranger's, without a check sum.
fn datagram(number: u8) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, number, 10, 0, 0, 2];
    let sum: u32 = packet.chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(two[1])).sum();
    let check = !((sum & 0xffff) + (sum >> 16)) as u16;
    packet[10..12].copy_from_slice(&check.to_be_bytes());
    [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, number, 8, 0][..], &packet, &[3, 232, 0, 7, 0, 12, 0, 0], b"data"]
        .concat()
}

#[test]
fn users_of_another_protocol_make_no_room() {
    let (mut graph, [frames, datagrams]) = server("udp(limit=2) > ipv4 > eth; arp > eth");
    let arrive = |graph: &mut Graph, frame: &[u8]| graph.arrive(Message::copied(0, frame), Instant::ZERO);
    for number in 16..24 {
        arrive(&mut graph, &plain(number));
    }
    let plain: Vec<_> = std::iter::from_fn(|| graph.accepted(frames)).collect();
    assert_eq!(plain.len(), 8);
    for number in 32..64 {
        arrive(&mut graph, &datagram(number));
        let path = graph.accepted(datagrams).unwrap_or_else(|| panic!("number {number} was refused"));
        assert_eq!(graph.addresses(path).unwrap().1, IpAddress::v4(10, 0, 0, number));
        while let Some(ready) = graph.ready() {
            while graph.receive(ready).is_some() {}
        }
    }
    // All strangers of the other kind are still there.
    for path in plain {
        assert!(graph.send(path, Message::copied(128, b"news")).is_ok());
    }
    assert_eq!(graph.discarded().count(), 0);
}
