//! From frames to IP packets.

use etherparse::{EtherType, SingleVlanSlice, ether_type};

use crate::capture::Frame;

/// The link types that are understood, by their numbers in the registry.
const NULL: u32 = 0;
const ETHERNET: u32 = 1;
const LOOP: u32 = 108;
const LINUX_COOKED: u32 = 113;
const LINUX_COOKED_2: u32 = 276;
const RAW: [u32; 5] = [12, 14, 101, 228, 229];
/// Frames that have labels of MPLS before a packet, which is for one or for several.
const LABELLED: EtherType = EtherType(0x8847);
const LABELLED_FOR_SEVERAL: EtherType = EtherType(0x8848);
/// Frames of a session of PPPoE, once it is established.
const SESSION: EtherType = EtherType(0x8864);
/// Where others have a type, frames of IEEE 802.3 have a length, which is no more than this.
const LONGEST: u16 = 1500;
/// VLAN tags of one frame, at most.
const TAGS: usize = 4;

/// The name of a link type, if it is one that is often met, understood or not.
pub const fn link_name(link: u32) -> Option<&'static str> {
    Some(match link {
        NULL => "BSD loopback",
        ETHERNET => "Ethernet",
        6 => "Token Ring",
        9 => "PPP",
        10 => "FDDI",
        12 | 14 | 101 => "raw IP",
        50 => "PPP in HDLC-like framing",
        51 => "PPPoE",
        104 => "Cisco HDLC",
        105 => "IEEE 802.11",
        107 => "Frame Relay",
        LOOP => "OpenBSD loopback",
        LINUX_COOKED => "Linux cooked",
        119 => "IEEE 802.11 with a Prism header",
        127 => "IEEE 802.11 with radiotap",
        147..=162 => "reserved for private use",
        163 => "IEEE 802.11 with an AVS header",
        189 | 220 => "USB of Linux",
        192 => "PPI",
        195 | 230 => "IEEE 802.15.4",
        201 => "Bluetooth HCI",
        227 => "CAN",
        228 => "raw IPv4",
        229 => "raw IPv6",
        239 => "netfilter log",
        249 => "USB of Windows",
        251 => "Bluetooth Low Energy",
        252 => "Wireshark's upper PDUs",
        253 => "netlink",
        LINUX_COOKED_2 => "Linux cooked, version 2",
        _ => return None,
    })
}

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// An IP packet, of either version.
    Ip(&'a [u8]),
    /// Something else, such as ARP, or a frame cut off before its payload.
    Other,
    /// The link type is not one of those understood.
    UnknownLink,
}

/// Finds the IP packet in a frame.
pub fn payload<'a>(frame: &Frame<'a>) -> Payload<'a> {
    let data = frame.data;
    match frame.link {
        ETHERNET => after_type(data, 12),
        LINUX_COOKED => after_type(data, 14),
        LINUX_COOKED_2 => match data.split_at_checked(20) {
            Some((head, rest)) => by_type(EtherType(u16::from_be_bytes([head[0], head[1]])), rest),
            None => Payload::Other,
        },
        // The address family before the packet is a number of the capturing system; the packet tells its version too.
        NULL | LOOP => data.get(4..).map_or(Payload::Other, ip),
        link if RAW.contains(&link) => ip(data),
        _ => Payload::UnknownLink,
    }
}

/// The payload behind a type field.
fn after_type(data: &[u8], at: usize) -> Payload<'_> {
    match data.get(at..).and_then(<[u8]>::split_first_chunk) {
        Some((octets, rest)) => by_type(EtherType(u16::from_be_bytes(*octets)), rest),
        None => Payload::Other,
    }
}

fn by_type(mut kind: EtherType, mut data: &[u8]) -> Payload<'_> {
    for _ in 0..=TAGS {
        match kind {
            ether_type::IPV4 | ether_type::IPV6 => return ip(data),
            ether_type::VLAN_TAGGED_FRAME
            | ether_type::PROVIDER_BRIDGING
            | ether_type::VLAN_DOUBLE_TAGGED_FRAME => match SingleVlanSlice::from_slice(data) {
                Ok(tag) => (kind, data) = (tag.ether_type(), tag.payload_slice()),
                Err(_) => return Payload::Other,
            },
            LABELLED | LABELLED_FOR_SEVERAL => return behind_labels(data),
            SESSION => return in_session(data),
            EtherType(..=LONGEST) => return behind_snap(data),
            _ => return Payload::Other,
        }
    }
    Payload::Other
}

/// What lies behind labels (RFC 3032), of which the last is marked. They do not tell what that is; if it is a packet, it does itself.
fn behind_labels(data: &[u8]) -> Payload<'_> {
    let (labels, _) = data.as_chunks::<4>();
    let last = labels.iter().position(|label| label[2] & 1 != 0);
    last.and_then(|last| data.get(4 * (last + 1)..)).map_or(Payload::Other, ip)
}

/// What a session carries (RFC 2516): packets, by the protocols of PPP that are theirs.
fn in_session(data: &[u8]) -> Payload<'_> {
    match data {
        // Version and type, code, the session, a length, the protocol.
        [0x11, 0, _, _, _, _, 0, 0x21 | 0x57, packet @ ..] => ip(packet),
        _ => Payload::Other,
    }
}

/// What a frame of IEEE 802.3 carries: packets, by their types in the headers of LLC and SNAP (RFC 1042).
fn behind_snap(data: &[u8]) -> Payload<'_> {
    match data {
        [0xaa, 0xaa, 3, 0, 0, 0, 8, 0, packet @ ..] | [0xaa, 0xaa, 3, 0, 0, 0, 0x86, 0xdd, packet @ ..] => {
            ip(packet)
        }
        _ => Payload::Other,
    }
}

fn ip(data: &[u8]) -> Payload<'_> {
    match data {
        [0x40..=0x4f | 0x60..=0x6f, ..] => Payload::Ip(data),
        _ => Payload::Other,
    }
}
