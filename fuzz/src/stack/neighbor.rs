//! What is said of neighbours: ARP, and neighbour discovery.

use throughline_stack::{smoltcp::wire::Ipv6Address, solicited_node};

use super::{
    Target,
    input::Input,
    link::{HONEST, OURS, STRANGERS, World, hardware, v4, v6},
};

pub const ARP: Target = Target {
    graphs: &["udp(limit=8) > ipv4(limit=8) > eth(limit=8); arp > eth"],
    frame: |input, _| {
        let stranger = World::stranger(input);
        let to = *input.pick(&[hardware(OURS), [0xff; 6]]);
        let mut frame = [&to[..], &hardware(stranger), &[0x08, 0x06]].concat();
        frame.extend(input.mostly_short(1).to_be_bytes());
        frame.extend(input.mostly_short(0x0800).to_be_bytes());
        frame.extend([input.mostly(6), input.mostly(4)]);
        let operation = *input.pick(&[1, 2, 0, 3]);
        frame.extend(input.mostly_short(operation).to_be_bytes());
        for _ in 0..2 {
            frame.extend(any_hardware(input, stranger));
            frame.extend(address(input, stranger));
        }
        match input.byte() {
            ..0xc0 => {}
            ..0xe0 => frame.extend([0; 18]),
            cut => frame.truncate(14 + usize::from(cut - 0xe0)),
        }
        frame
    },
    honest: "udp",
    most: 1 << 18,
};

fn address(input: &mut Input<'_>, stranger: u8) -> [u8; 4] {
    let few = [v4(stranger), v4(OURS), v4(STRANGERS), v4(HONEST)].map(|known| known.octets());
    let odd = [[0; 4], [10, 0, 0, 255], [255; 4], [224, 0, 0, 1], [127, 0, 0, 1], [10, 0, 1, input.byte()]];
    if input.is_odd() { *input.pick(&odd) } else { *input.pick(&few) }
}

fn any_hardware(input: &mut Input<'_>, stranger: u8) -> [u8; 6] {
    let odd = [hardware(OURS), hardware(HONEST), [0xff; 6], [0; 6], [0x33, 0x33, 0, 0, 0, 1]];
    if input.is_odd() { *input.pick(&odd) } else { hardware(stranger) }
}

/// The address that is asked for, or told.
pub fn target(input: &mut Input<'_>, stranger: u8) -> Ipv6Address {
    let link_local = Ipv6Address::new(0xfe80, 0, 0, 0, 0, 0xff, 0xfe00, 2);
    let group = solicited_node(v6(OURS));
    let few =
        [v6(OURS), v6(stranger), v6(STRANGERS), v6(HONEST), link_local, group, Ipv6Address::UNSPECIFIED];
    *input.pick(&few)
}

/// A solicitation or an advertisement behind its type, code and sum.
pub fn discovery(input: &mut Input<'_>, stranger: u8, advertises: bool) -> Vec<u8> {
    let flags = if advertises { input.byte() & 0xe0 } else { 0 };
    let mut message = vec![flags, 0, 0, 0];
    message.extend(target(input, stranger).octets());
    for _ in 0..input.byte() % 3 {
        let kind = if advertises { 2 } else { 1 };
        message.extend([input.mostly(kind), input.mostly(1)]);
        message.extend(any_hardware(input, stranger));
    }
    if input.is_odd() {
        message.extend(input.some(24));
    }
    message
}
