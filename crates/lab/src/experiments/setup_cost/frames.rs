//! What the source and the destinations send.

use std::net::Ipv4Addr;

use throughline_forward::{Label, Packet, PortId, insert_label};
use throughline_stack::Message;
use throughline_stack::smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, Ipv4Packet,
};
use throughline_wire::{Flow, RegionList};

use super::table::{INNER, OUTER, SOURCE, host};
use crate::LabError;
use crate::experiments::paths::failed;

const ETHERNET: usize = 14;
/// Of the destination in IPv4's header.
pub(super) const DESTINATION: usize = 16;
const HEADER: usize = 20;
/// Of a packet, with its header.
const PACKET: usize = 92;
const UDP: u8 = 17;
/// Before a frame, for labels.
const HEADROOM: usize = 128;

/// A packet of the source.
pub(super) fn packet(destination: Ipv4Addr, label: Option<Label>) -> Result<Message, LabError> {
    frame([host(INNER, 1).hardware, host(INNER, 2).hardware], SOURCE, destination, label)
}

/// What a destination answers to one that sets a circuit up.
pub(super) fn answer(request: &[u8]) -> Result<Message, LabError> {
    let packet = Packet::of(request).map_err(failed)?;
    let asked = Ipv4Packet::new_checked(packet.bytes()).map_err(failed)?.dst_addr();
    frame([host(OUTER, 1).hardware, host(OUTER, 2).hardware], asked, SOURCE, packet.label)
}

/// A label with which the flow's number says where its answer is kept.
pub(super) fn hashed(flow: Flow) -> Label {
    Label { flow, threaded: false }
}

/// A label with an index.
pub(super) fn indexed(index: u32) -> Label {
    Label { flow: Flow { id: 0, source_hash: index }, threaded: true }
}

fn frame(
    [to, from]: [EthernetAddress; 2],
    source: Ipv4Addr,
    destination: Ipv4Addr,
    label: Option<Label>,
) -> Result<Message, LabError> {
    let mut bytes = [0; ETHERNET + PACKET];
    let mut ethernet = EthernetFrame::new_unchecked(&mut bytes);
    ethernet.set_dst_addr(to);
    ethernet.set_src_addr(from);
    ethernet.set_ethertype(EthernetProtocol::Ipv4);
    let mut ip = Ipv4Packet::new_unchecked(&mut bytes[ETHERNET..]);
    ip.set_version(4);
    ip.set_header_len(HEADER as u8);
    ip.set_total_len(PACKET as u16);
    ip.set_hop_limit(64);
    ip.set_next_header(UDP.into());
    ip.set_src_addr(source);
    ip.set_dst_addr(destination);
    ip.fill_checksum();
    let mut message = Message::copied(HEADROOM, &bytes);
    if let Some(label) = label {
        insert_label(&mut message, label, &RegionList::new()).map_err(failed)?;
    }
    Ok(message)
}

/// A neighbour asks for the router's address, and so tells its own.
pub(super) fn question(port: PortId, address: Ipv4Addr) -> Vec<u8> {
    let (own, router) = (host(port, 2), host(port, 1));
    let request = ArpRepr::EthernetIpv4 {
        operation: ArpOperation::Request,
        source_hardware_addr: own.hardware,
        source_protocol_addr: address,
        target_hardware_addr: EthernetAddress([0; 6]),
        target_protocol_addr: Ipv4Addr::new(10, 0, port.0 as u8, 1),
    };
    let mut bytes = vec![0; ETHERNET + request.buffer_len()];
    let mut ethernet = EthernetFrame::new_unchecked(&mut bytes);
    ethernet.set_dst_addr(router.hardware);
    ethernet.set_src_addr(own.hardware);
    ethernet.set_ethertype(EthernetProtocol::Arp);
    request.emit(&mut ArpPacket::new_unchecked(&mut bytes[ETHERNET..]));
    bytes
}
