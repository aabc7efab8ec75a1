//! Packets as hosts send them.
#![allow(dead_code, reason = "each test program uses some of it")]

use std::net::Ipv6Addr;

use throughline_forward::{HEADROOM, Label, insert_label};
use throughline_stack::{
    Message,
    smoltcp::wire::{EthernetAddress, Ipv4Packet, Ipv6Packet},
};
use throughline_wire::RegionList;

/// A frame with a packet of IPv4, of 60 bytes, between these addresses of the link and of the network.
pub fn v4(
    (from, to): (EthernetAddress, EthernetAddress),
    (source, destination): ([u8; 4], [u8; 4]),
    (protocol, lives): (u8, u8),
    label: Option<Label>,
) -> Vec<u8> {
    let mut bytes = vec![0; 14 + 60];
    bytes[..6].copy_from_slice(&to.0);
    bytes[6..12].copy_from_slice(&from.0);
    bytes[12..14].copy_from_slice(&[8, 0]);
    let mut packet = Ipv4Packet::new_unchecked(&mut bytes[14..]);
    packet.set_version(4);
    packet.set_header_len(20);
    packet.set_total_len(60);
    packet.set_hop_limit(lives);
    packet.set_next_header(protocol.into());
    packet.set_src_addr(source.into());
    packet.set_dst_addr(destination.into());
    packet.fill_checksum();
    labelled(&bytes, label)
}

/// The same of IPv6, without extension headers.
pub fn v6(
    (from, to): (EthernetAddress, EthernetAddress),
    (source, destination): (Ipv6Addr, Ipv6Addr),
    (protocol, lives): (u8, u8),
    label: Option<Label>,
) -> Vec<u8> {
    let mut bytes = vec![0; 14 + 60];
    bytes[..6].copy_from_slice(&to.0);
    bytes[6..12].copy_from_slice(&from.0);
    bytes[12..14].copy_from_slice(&[0x86, 0xdd]);
    let mut packet = Ipv6Packet::new_unchecked(&mut bytes[14..]);
    packet.set_version(6);
    packet.set_payload_len(20);
    packet.set_hop_limit(lives);
    packet.set_next_header(protocol.into());
    packet.set_src_addr(source);
    packet.set_dst_addr(destination);
    labelled(&bytes, label)
}

fn labelled(bytes: &[u8], label: Option<Label>) -> Vec<u8> {
    let mut message = Message::copied(HEADROOM, bytes);
    if let Some(label) = label {
        insert_label(&mut message, label, &RegionList::new()).unwrap();
    }
    message.bytes().to_vec()
}
