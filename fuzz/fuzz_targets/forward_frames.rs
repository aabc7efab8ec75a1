//! Frames with any labels, routes that change and time, to routers and bridges that look for flows in different ways: the
//! same leaves all of them. And labels: what is put on a frame is read, and taken off again.
#![no_main]

#[path = "../../crates/forward/tests/side_by_side/mod.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod side_by_side;

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use side_by_side::{Bridges, PORTS, Routers, hardware};
use throughline_forward::{HEADROOM, Label, Packet, insert_label, remove_label};
use throughline_stack::{
    Message,
    smoltcp::wire::{EthernetAddress, IpAddress, IpCidr, Ipv4Packet},
};
use throughline_wire::{Flow, RegionList};

thread_local! {
    /// For all inputs, since routers take long to make. What one input has left is too old for the next.
    static NODES: RefCell<(Routers, Bridges)> = RefCell::new((Routers::new(), Bridges::new()));
}

/// Milliseconds after which nodes have forgotten all they have heard.
const LONG: u64 = 1_000_000;

fuzz_target!(|input: &[u8]| {
    NODES.with_borrow_mut(|(routers, bridges)| {
        run(input, routers, bridges);
        (0..=u8::MAX).for_each(|number| routers.lose(prefix(number)));
        routers.pass(LONG);
        bridges.pass(LONG);
    });
});

fn run(mut input: &[u8], routers: &mut Routers, bridges: &mut Bridges) {
    while let [what, a, b, word, rest @ ..] = input {
        let port = u16::from(what >> 3) % PORTS;
        let taken = rest.len().min(usize::from(*b));
        let label = label(*word);
        input = rest;
        // So long that as many errors may be said as ever: when not, it is drawn at random.
        routers.pass(150);
        match what & 7 {
            0 => {
                let (bytes, rest) = rest.split_at(taken);
                input = rest;
                any(port, bytes, label, routers, bridges);
            }
            1 => routers.lead(prefix(*a), u16::from(*b) % PORTS),
            2 => routers.lose(prefix(*a)),
            3 => {
                routers.pass(u64::from(*a) << (b % 8));
                bridges.pass(u64::from(*a) << (b % 12));
            }
            4 => drop(bridges.arrive(port, &frame(station(*a), station(*b), &[8, 0, 0, 0]), label)),
            5 => drop(routers.arrive(port, &v6(port, *a, *b), label)),
            _ => drop(routers.arrive(port, &v4(port, *a, *b), label)),
        }
    }
}

/// Few words, so that flows and indices meet.
fn label(word: u8) -> Option<Label> {
    let flow = Flow { id: (word & 3).into(), source_hash: (word & 31).into() };
    (word >> 6 != 0).then_some(Label { flow, threaded: word >> 6 == 1 })
}

fn prefix(number: u8) -> IpCidr {
    match number {
        0..128 => IpCidr::new(IpAddress::v4(10, number & 7, (number & 8) << 4, 0), 16 + (number >> 4)),
        _ => {
            IpCidr::new(IpAddress::v6(0xfd01, (number & 7).into(), 0, 0, 0, 0, 0, 0), 48 + (number >> 4 & 7))
        }
    }
}

fn station(number: u8) -> EthernetAddress {
    if number == 0xff { EthernetAddress::BROADCAST } else { EthernetAddress([2, 0, 0, 1, 0, number & 127]) }
}

fn frame(to: EthernetAddress, from: EthernetAddress, behind: &[u8]) -> Vec<u8> {
    [&to.0[..], &from.0, behind].concat()
}

/// A packet to one of few networks, with a time to live of 0 to 3 or 64.
fn v4(port: u16, to: u8, how: u8) -> Vec<u8> {
    let mut bytes = frame(hardware(port, 1), station(to), &[8, 0]);
    bytes.resize(14 + 40, how);
    let mut packet = Ipv4Packet::new_unchecked(&mut bytes[14..]);
    packet.set_version(4);
    packet.set_header_len(20);
    packet.set_total_len(40);
    packet.set_hop_limit(if how & 8 == 0 { 64 } else { how & 3 });
    packet.set_next_header(how.into());
    // The neighbour, who answers when he is looked for.
    packet.set_src_addr([10, 200, port as u8, 9].into());
    packet.set_dst_addr([10, to & 7, (to & 8) << 4, to >> 4].into());
    packet.fill_checksum();
    bytes
}

fn v6(port: u16, to: u8, how: u8) -> Vec<u8> {
    let mut bytes = frame(hardware(port, 1), station(to), &[0x86, 0xdd, 0x60, 0, 0, how]);
    bytes.extend([0, 20, how, if how & 8 == 0 { 64 } else { how & 3 }]);
    for address in [
        IpAddress::v6(0xfd00, 0x200, port, 0, 0, 0, 0, 9),
        IpAddress::v6(0xfd01, (to & 7).into(), 0, (to >> 3).into(), 0, 0, 0, 1),
    ] {
        let IpAddress::Ipv6(address) = address else { unreachable!() };
        bytes.extend(address.octets());
    }
    bytes.resize(14 + 60, how);
    bytes
}

fn any(port: u16, bytes: &[u8], label: Option<Label>, routers: &mut Routers, bridges: &mut Bridges) {
    bridges.arrive(port, bytes, label);
    routers.arrive(port, bytes, label);
    if let Ok(packet) = Packet::of(bytes) {
        assert!(packet.offset <= bytes.len() && packet.bytes().len() == bytes.len() - packet.offset);
        assert!(packet.regions.iter().all(|region| region.of(&bytes[14..]).is_some()));
        let mut message = Message::copied(HEADROOM, bytes);
        remove_label(&mut message).unwrap();
        assert_eq!(&message.bytes()[14..], packet.bytes());
        if packet.offset == 14
            && let Some(label) = label
        {
            insert_label(&mut message, label, &RegionList::new()).unwrap();
            let labelled = Packet::of(message.bytes()).unwrap();
            assert_eq!((labelled.label, labelled.ethertype), (Some(label), packet.ethertype));
            remove_label(&mut message).unwrap();
            assert_eq!(message.bytes(), bytes);
        }
    }
}
