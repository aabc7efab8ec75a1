//! ICMP of both versions: questions, neighbours, and what is said of packets of ours.

use throughline_stack::smoltcp::wire::{IpAddress, Ipv6Address};

use super::{
    Target,
    input::Input,
    internet::{Ends, check, packet, sum},
    link::{OURS, World, v6},
    neighbor::{discovery, target},
};

pub const ICMP: Target = Target {
    graphs: &[
        "udp(limit=8) > ipv4(limit=8) > eth(limit=8); icmp > ipv4; arp > eth",
        "udp(limit=8) > ipv4(limit=8) > eth(limit=8); tcp(limit=8, receive=512, send=512) > ipv4; rpc(limit=8) > ipv4; \
         icmp > ipv4; arp > eth",
    ],
    frame: |input, world| {
        let stranger = World::stranger(input);
        let kind = *input.pick(&[8, 3, 3, 11, 0, 5, 12, 13]);
        let mut message = vec![input.mostly(kind), input.byte() % 16, 0, 0];
        message.extend(input.mostly_short(1).to_be_bytes());
        message.extend(input.mostly_short(1).to_be_bytes());
        message.extend(if kind == 3 || kind == 11 { quote(input, world) } else { input.data() });
        let check = if input.is_odd() { input.short() } else { !sum(0, &message) };
        message[2..4].copy_from_slice(&check.to_be_bytes());
        let end = if input.is_odd() { usize::from(input.byte()) } else { message.len() };
        message.truncate(end);
        let ends = world.ends(stranger);
        world.frame(input, stranger, &packet(ends, 1, &message))
    },
    honest: "udp",
    most: 1 << 18,
};

pub const ICMP6: Target = Target {
    graphs: &[
        "udp(limit=8) > ipv6(limit=8) > eth(limit=8); icmp6 > ipv6",
        "udp(limit=8) > ipv6(limit=8) > ethdaa(limit=8); icmp6 > ipv6 > eth(limit=8)",
    ],
    frame: |input, world| {
        let stranger = World::stranger(input);
        let ends = ends(input, stranger);
        let kind = *input.pick(&[135, 136, 128, 1, 2, 3, 4, 129, 133, 134, 137]);
        let mut message = vec![input.mostly(kind), input.mostly(0), 0, 0];
        message.extend(match kind {
            135 | 136 => discovery(input, stranger, kind == 136),
            1..=4 => [input.word().to_be_bytes().to_vec(), quote(input, world)].concat(),
            _ => [vec![0; 4], input.data()].concat(),
        });
        let sum = if input.is_odd() { input.short() } else { check(ends, 58, &message) };
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        let end = if input.is_odd() { usize::from(input.byte()) } else { message.len() };
        message.truncate(end);
        let mut packet = packet(ends, 58, &message);
        packet[7] = input.mostly(255);
        world.frame(input, stranger, &packet)
    },
    honest: "udp",
    most: 1 << 18,
};

/// Mostly from a stranger to us; seldom from nobody, to a group.
fn ends(input: &mut Input<'_>, stranger: u8) -> Ends {
    let all_nodes = Ipv6Address::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
    let from = *input.pick(&[v6(stranger), v6(stranger), v6(stranger), Ipv6Address::UNSPECIFIED]);
    let group = throughline_stack::solicited_node(target(input, stranger));
    let to = *input.pick(&[v6(OURS), v6(OURS), group, all_nodes]);
    (IpAddress::from(from), IpAddress::from(to))
}

/// What our host sent last, with one byte changed perhaps, and perhaps cut.
fn quote(input: &mut Input<'_>, world: &World) -> Vec<u8> {
    let mut quote = input.pick(&[&world.heard[2], &world.heard[0], &world.heard[1]]).to_vec();
    if input.is_odd()
        && let Some(place) = quote.get_mut(usize::from(input.byte()))
    {
        *place = input.byte();
    }
    quote.truncate(if input.is_odd() { input.byte().into() } else { 512 });
    quote
}
