//! Packets as hosts send them.

use throughline_forward::{HEADROOM, Label, insert_label};
use throughline_stack::{
    Message,
    smoltcp::wire::{EthernetAddress, Ipv4Packet},
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
    let mut message = Message::copied(HEADROOM, &bytes);
    if let Some(label) = label {
        insert_label(&mut message, label, &RegionList::new()).unwrap();
    }
    message.bytes().to_vec()
}
