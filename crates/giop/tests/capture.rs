//! Messages that other ORBs sent, from a capture; skipped where there is none.

use std::io::Write;
use std::path::PathBuf;

use throughline_giop::connection::{Incoming, ProtocolError, Role};
use throughline_giop::fragment::FragmentLimits;
use throughline_giop::reply::{ReplyHeader, ReplyStatus};
use throughline_giop::request::{RequestHeader, Response};
use throughline_giop::target::AddressingDisposition;
use throughline_giop::*;

fn capture() -> Option<Vec<u8>> {
    let folder = std::env::var_os("THROUGHLINE_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let file = folder.join("corba.pcap");
    let octets = std::fs::read(&file);
    if octets.is_err() {
        // Straight to stderr, where the test harness does not swallow it.
        let _ =
            writeln!(std::io::stderr(), "SKIPPED: no capture at {} (set THROUGHLINE_DATA)", file.display());
    }
    octets.ok()
}

/// A packet's transport: protocol, ports, and payload.
struct Packet<'a> {
    protocol: u8,
    ports: [u8; 4],
    payload: &'a [u8],
}

/// The IPv4 packets in a little-endian pcap file of Ethernet frames.
fn packets(capture: &[u8]) -> Vec<Packet<'_>> {
    let mut rest = &capture[24..];
    let mut packets = vec![];
    while let Some((header, after)) = rest.split_at_checked(16) {
        let length = u32::from_le_bytes(header[8..12].try_into().unwrap()) as usize;
        let (frame, after) = after.split_at(length);
        rest = after;
        let ip = &frame[14..];
        let ip = &ip[..usize::from(u16::from_be_bytes([ip[2], ip[3]]))];
        let transport = &ip[usize::from(ip[0] & 15) * 4..];
        let skip = if ip[9] == 6 { usize::from(transport[12] >> 4) * 4 } else { 8 };
        let ports = transport[..4].try_into().unwrap();
        packets.push(Packet { protocol: ip[9], ports, payload: &transport[skip..] });
    }
    packets
}

/// What one side of the TCP connection sent.
fn stream(packets: &[Packet<'_>], client: bool) -> Vec<u8> {
    let tcp: Vec<_> = packets.iter().filter(|packet| packet.protocol == 6).collect();
    let of_client = tcp[0].ports;
    let mine = tcp.iter().filter(|packet| (packet.ports == of_client) == client);
    mine.flat_map(|packet| packet.payload).copied().collect()
}

fn take_all(
    role: Role,
    octets: &[u8],
    mut each: impl FnMut(MessageHeader, &[u8]),
) -> Result<(), ProtocolError> {
    let mut incoming = Incoming::new(role, FragmentLimits::default());
    for chunk in octets.chunks(1000) {
        incoming.space()[..chunk.len()].copy_from_slice(chunk);
        incoming.filled(chunk.len());
        while let Some(frame) = incoming.next()? {
            each(frame.header, &frame);
        }
    }
    Ok(())
}

#[test]
fn echo_over_tcp() {
    let Some(capture) = capture() else { return };
    let packets = packets(&capture);
    let mut requests = 0;
    let end = take_all(Role::Server, &stream(&packets, true), |header, octets| {
        let mut request = RequestHeader::read(&header, octets).unwrap();
        assert_eq!((request.request_id, request.response), (requests, Response::Target));
        assert_eq!(request.operation, b"echo");
        assert!(!request.target.object_key().unwrap().is_empty());
        assert_eq!(request.service_contexts.iter().count(), request.service_contexts.len());
        assert!(request.body.read_octets().is_ok_and(|echo| !echo.is_empty()));
        requests += 1;
    });
    assert_eq!(requests, 2);
    assert_eq!(end, Err(HeaderError::BadMagic.into()), "what comes then is compressed");

    let mut replies = 0;
    take_all(Role::Client, &stream(&packets, false), |header, octets| {
        let mut reply = ReplyHeader::read(&header, octets).unwrap();
        assert_eq!((reply.request_id, reply.status), (replies, ReplyStatus::NoException));
        assert!(reply.body.read_octets().is_ok_and(|echo| !echo.is_empty()));
        replies += 1;
    })
    .unwrap();
    assert_eq!(replies, 2);
}

#[test]
fn oneways_over_udp() {
    /// MIOP puts a header of its own before each message.
    const MIOP_HEADER: usize = 32;
    let Some(capture) = capture() else { return };
    let packets = packets(&capture);
    let udp: Vec<_> = packets.iter().filter(|packet| packet.protocol == 17).collect();
    assert_eq!(udp.len(), 10);
    for (packet, expected_id) in udp.iter().zip(0..) {
        let message = &packet.payload[MIOP_HEADER..];
        let header = MessageHeader::of(message, 1 << 16).unwrap();
        let request = RequestHeader::read(&header, message).unwrap();
        assert_eq!((request.request_id, request.response), (expected_id, Response::None));
        assert_eq!(request.operation, b"receiveReliableData");
        assert_eq!(request.target.disposition(), AddressingDisposition::Profile);
        assert!(request.target.object_key().is_err(), "a profile for multicast has no key");
        assert_eq!(request.body.remaining() as u32 + request.body.position() as u32, 12 + header.size);
    }
}
