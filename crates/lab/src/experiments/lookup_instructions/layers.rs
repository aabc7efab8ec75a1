//! From a frame to its user's data: past one header after the other, or by the region that a label marks.

use std::hint::black_box;

use throughline_forward::{Label, Packet, insert_label};
use throughline_stack::smoltcp::wire::{Ipv4Packet, UdpPacket};
use throughline_stack::{Architecture, Message};
use throughline_wire::{Flow, RegionKind, RegionList};

use super::{PACKETS, count};
use crate::LabError;
use crate::callgrind::{counted, dump, start};
use crate::experiments::paths::{Stack, Talk, Way, failed};

const IPV4: u16 = 0x0800;
const UDP: u8 = 17;
const IPV4_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
/// Of the user's data.
const BYTES: usize = 64;
/// Behind it, in frames with more regions than one.
const CHECK: usize = 8;

/// Headers that are passed, in the order of the frame.
pub(super) const LAYERS: [&str; 3] = ["ethernet", "ipv4", "udp"];
/// Regions of a label: of the data alone; and of the data, its key and its check value.
pub(super) const REGIONS: [usize; 2] = [1, 3];

/// Counts all of them.
pub(super) fn play() -> Result<(), LabError> {
    headers();
    for regions in REGIONS {
        labels(regions)?;
    }
    [Stack::Eth, Stack::Ip, Stack::Udp].into_iter().try_for_each(graph)
}

/// Each header checked, its length taken and its field that names the next protocol: what the layers of the protocol graph call to
/// pass it, without looking anybody up.
fn headers() {
    let mut frames = vec![frame(); PACKETS];
    count("pass ethernet", &mut frames, |frame| {
        black_box(ethernet(frame).unwrap_or_else(|| lost()));
    });
    let mut packets: Vec<&[u8]> = frames.iter().map(|frame| &frame[14..]).collect();
    count("pass ipv4", &mut packets, |packet| {
        black_box(ipv4(packet).unwrap_or_else(|| lost()));
    });
    let mut datagrams: Vec<&[u8]> = frames.iter().map(|frame| &frame[14 + IPV4_HEADER..]).collect();
    count("pass udp", &mut datagrams, |datagram| {
        black_box(udp(datagram).unwrap_or_else(|| lost()));
    });
    count("headers", &mut frames, |frame| {
        black_box(data(frame).unwrap_or_else(|| lost()));
    });
}

#[inline(always)]
fn data(frame: &[u8]) -> Option<(u16, &[u8])> {
    let (IPV4, packet) = ethernet(frame)? else { return None };
    let (UDP, datagram) = ipv4(packet)? else { return None };
    udp(datagram)
}

#[inline(always)]
fn ethernet(frame: &[u8]) -> Option<(u16, &[u8])> {
    let packet = Packet::of(frame).ok()?;
    Some((packet.ethertype, packet.bytes()))
}

#[inline(always)]
fn ipv4(packet: &[u8]) -> Option<(u8, &[u8])> {
    let header = Ipv4Packet::new_checked(packet).ok()?;
    if header.version() != 4 || usize::from(header.header_len()) < IPV4_HEADER {
        return None;
    }
    if header.more_frags() || header.frag_offset() != 0 {
        return None;
    }
    Some((header.next_header().into(), header.payload()))
}

#[inline(always)]
fn udp(datagram: &[u8]) -> Option<(u16, &[u8])> {
    let header = UdpPacket::new_checked(datagram).ok()?;
    Some((header.dst_port(), header.payload()))
}

/// The same data, found by the label.
fn labels(regions: usize) -> Result<(), LabError> {
    let mut frames = vec![labelled(regions)?; PACKETS];
    if marked(&frames[0]) != data(&frame()).map(|(_, data)| data) {
        return Err(failed("the label marks other data than the headers lead to"));
    }
    count(&format!("label {regions}"), &mut frames, |frame| {
        black_box(marked(frame).unwrap_or_else(|| lost()));
    });
    Ok(())
}

#[inline(always)]
fn marked(frame: &[u8]) -> Option<&[u8]> {
    let packet = Packet::of(frame).ok()?;
    // Regions count from the first byte of the label, which is behind the Ethernet header.
    packet.regions.find(RegionKind::Payload)?.of(&frame[14..])
}

/// What a layer of the protocol graph costs altogether is the difference between a stack with it and one without.
fn graph(stack: Stack) -> Result<(), LabError> {
    let mut talk =
        Talk::new(Way { stack, architecture: Architecture::Layered, lowest: "eth", checksums: false })?;
    for warm in [true, false] {
        if !warm {
            start();
        }
        for _ in 0..PACKETS {
            let frame = talk.request(&[7; BYTES])?;
            let now = talk.now;
            let came = counted(|| {
                talk.server.arrive(frame, now);
                talk.received()
            })?;
            talk.answered(black_box(came))?;
        }
    }
    dump(&format!("graph {}", stack.name()));
    Ok(())
}

/// A datagram of UDP from one host to another.
fn frame() -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    frame.extend(IPV4.to_be_bytes());
    let length = (IPV4_HEADER + UDP_HEADER + BYTES) as u16;
    let mut header = [0; IPV4_HEADER];
    header[0] = 0x45;
    header[2..4].copy_from_slice(&length.to_be_bytes());
    header[8..10].copy_from_slice(&[64, UDP]);
    header[12..].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    Ipv4Packet::new_unchecked(&mut header[..]).fill_checksum();
    frame.extend(header);
    frame.extend([0x13, 0x88, 0x17, 0x70]);
    frame.extend(((UDP_HEADER + BYTES) as u16).to_be_bytes());
    frame.extend([0, 0]);
    frame.resize(frame.len() + BYTES, 7);
    frame
}

/// The same frame with a label, whose regions the layers have handed down from the application to IP.
fn labelled(count: usize) -> Result<Vec<u8>, LabError> {
    let mut regions = RegionList::new();
    let marks = [
        (RegionKind::Key, 0, 4),
        (RegionKind::Check, (BYTES - CHECK) as u32, CHECK as u32),
        (RegionKind::Payload, 0, BYTES as u32),
    ];
    for (kind, offset, length) in &marks[marks.len() - count..] {
        regions.push(*kind, 0, *offset, *length).map_err(failed)?;
    }
    regions.add_header(UDP_HEADER as u32).map_err(failed)?;
    regions.add_header(IPV4_HEADER as u32).map_err(failed)?;
    let mut message = Message::copied(128, &frame());
    let flow = Flow { id: 1, source_hash: 2 };
    insert_label(&mut message, Label { flow, threaded: false }, &regions).map_err(failed)?;
    Ok(message.bytes().to_vec())
}

#[cold]
fn lost() -> ! {
    panic!("a header that can't be read")
}
