//! Kinds of frames whose flows are known, and the key of a flow: the bytes of the headers that are the same in all of its
//! frames.

use super::view::{HEADER, View};
use std::hash::{Hash, Hasher};

/// Frames of a kind have the same fields at the same places, and the same values in some.
///
/// All others are of no kind, and are filtered one by one: fragments but the first, IPv4 with options, extension headers,
/// other protocols, VLAN tags, and whatever is shorter than the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Ipv4Tcp,
    Ipv4Udp,
    Ipv4Icmp,
    Ipv6Tcp,
    Ipv6Udp,
    Ipv6Icmp,
    Arp,
}

/// How many kinds there are.
pub(super) const KINDS: usize = Kind::ALL.len();

/// Header bytes of a flow, eight at a time, each where it was loaded from the frame; 0 where they differ between frames of
/// one flow.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub(super) struct FlowKey([u64; 8]);

/// Without a branch for each word.
impl PartialEq for FlowKey {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
    }
}

impl Hash for FlowKey {
    #[inline(always)]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [short @ .., a, b, c] = self.0;
        short.iter().for_each(|word| state.write_u64(*word));
        if a | b | c != 0 {
            [a, b, c].iter().for_each(|word| state.write_u64(*word));
        }
    }
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ARP: u16 = 0x0806;

/// What of the first eight bytes of IPv4 is in the key: version and length of the header, fragment bits. Not the type of
/// service, the length and the identification.
const IPV4_FIRST: u64 = mask([0xff, 0, 0, 0, 0, 0, 0xff, 0xff]);
/// Protocol and source; not the time to live and the checksum.
const IPV4_SECOND: u64 = mask([0, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff]);
/// The next header; not version, class and flow label, length and hop limit.
const IPV6_FIRST: u64 = mask([0, 0, 0, 0, 0, 0, 0xff, 0]);
/// An address and the ports.
const WITH_PORTS: u64 = u64::MAX;
/// An address, type and code; not the checksum.
const WITH_TYPE: u64 = mask([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0]);

const fn mask(bytes: [u8; 8]) -> u64 {
    u64::from_ne_bytes(bytes)
}

impl Kind {
    pub(super) const ALL: [Self; 7] = [
        Self::Ipv4Tcp,
        Self::Ipv4Udp,
        Self::Ipv4Icmp,
        Self::Ipv6Tcp,
        Self::Ipv6Udp,
        Self::Ipv6Icmp,
        Self::Arp,
    ];

    /// The kind and the flow of a frame. The key has what makes the kind: flows of two kinds differ.
    #[inline]
    pub(super) fn of(frame: &View<'_>) -> Option<(Self, FlowKey)> {
        match u16::from_be_bytes([frame.header[12], frame.header[13]]) {
            IPV4 => ipv4(frame),
            IPV6 => ipv6(frame),
            ARP => arp(frame),
            _ => None,
        }
    }

    /// How the key comes about.
    fn loads(self) -> Vec<Load> {
        let of_packet = match self {
            Self::Ipv4Tcp | Self::Ipv4Udp => ipv4_loads(WITH_PORTS).to_vec(),
            Self::Ipv4Icmp => ipv4_loads(WITH_TYPE).to_vec(),
            Self::Ipv6Tcp | Self::Ipv6Udp => ipv6_loads(WITH_PORTS).to_vec(),
            Self::Ipv6Icmp => ipv6_loads(WITH_TYPE).to_vec(),
            Self::Arp => ARP_LOADS.to_vec(),
        };
        let of_packet = of_packet.into_iter().map(|(at, mask)| (HEADER + at, mask));
        HEADER_LOADS.into_iter().map(|at| (at, u64::MAX)).chain(of_packet).collect()
    }

    /// Bits at a place that are the same in all frames of the kind: which, and their values.
    fn constants(self) -> Vec<(usize, u8, u8)> {
        let ethertype = |value: u16| [(12, 0xff, (value >> 8) as u8), (13, 0xff, value as u8)];
        let ip = |protocol| {
            // Neither options nor fragments but the first.
            let fields = [(HEADER, 0xff, 0x45), (HEADER + 6, 0x1f, 0), (HEADER + 7, 0xff, 0)];
            [&ethertype(IPV4)[..], &fields, &[(HEADER + 9, 0xff, protocol)]].concat()
        };
        let ipv6 = |next| [&ethertype(IPV6)[..], &[(HEADER + 6, 0xff, next)]].concat();
        match self {
            Self::Ipv4Tcp => ip(6),
            Self::Ipv4Udp => ip(17),
            Self::Ipv4Icmp => ip(1),
            Self::Ipv6Tcp => ipv6(6),
            Self::Ipv6Udp => ipv6(17),
            Self::Ipv6Icmp => ipv6(58),
            Self::Arp => ethertype(ARP).into(),
        }
    }

    /// What is known of all frames with one key, byte by byte.
    pub(super) fn template(self) -> Template {
        let mut bytes = [None; TEMPLATE];
        for (at, mask) in self.loads() {
            for (byte, mask) in bytes[at..].iter_mut().zip(mask.to_ne_bytes()) {
                if mask == 0xff {
                    *byte = Some(Bits::default());
                }
            }
        }
        for (at, known, value) in self.constants() {
            let bits = Bits { known: known.into(), value: value.into() };
            // What is not in the key is checked on the way to it, and so is as well known.
            bytes[at] = Some(bits);
        }
        Template(bytes)
    }
}

/// Eight bytes of the frame, or of the packet behind the Ethernet header: from where on, and what of them is in the key.
type Load = (usize, u64);

/// The Ethernet header, by places in the frame; all of it is in the key.
const HEADER_LOADS: [usize; 2] = [0, 6];
const ARP_LOADS: [Load; 4] = [(0, u64::MAX), (8, u64::MAX), (16, u64::MAX), (20, u64::MAX)];

#[inline(always)]
const fn ipv4_loads(last: u64) -> [Load; 3] {
    [(0, IPV4_FIRST), (8, IPV4_SECOND), (16, last)]
}

#[inline(always)]
const fn ipv6_loads(last: u64) -> [Load; 6] {
    const ALL: u64 = u64::MAX;
    [(0, IPV6_FIRST), (8, ALL), (16, ALL), (24, ALL), (32, ALL), (36, last)]
}

#[inline(always)]
fn ipv4(frame: &View<'_>) -> Option<(Kind, FlowKey)> {
    let packet: &[u8; 24] = frame.packet.first_chunk()?;
    if packet[0] != 0x45 || packet[6] & 0x1f != 0 || packet[7] != 0 {
        return None;
    }
    let (kind, last) = match packet[9] {
        6 => (Kind::Ipv4Tcp, WITH_PORTS),
        17 => (Kind::Ipv4Udp, WITH_PORTS),
        1 => (Kind::Ipv4Icmp, WITH_TYPE),
        _ => return None,
    };
    Some((kind, key(frame, packet, ipv4_loads(last))))
}

#[inline(always)]
fn ipv6(frame: &View<'_>) -> Option<(Kind, FlowKey)> {
    let packet: &[u8; 44] = frame.packet.first_chunk()?;
    let (kind, last) = match packet[6] {
        6 => (Kind::Ipv6Tcp, WITH_PORTS),
        17 => (Kind::Ipv6Udp, WITH_PORTS),
        58 => (Kind::Ipv6Icmp, WITH_TYPE),
        _ => return None,
    };
    Some((kind, key(frame, packet, ipv6_loads(last))))
}

#[inline(always)]
fn arp(frame: &View<'_>) -> Option<(Kind, FlowKey)> {
    let packet: &[u8; 28] = frame.packet.first_chunk()?;
    Some((Kind::Arp, key(frame, packet, ARP_LOADS)))
}

/// The loads of a kind, carried out. Their number and places are known when this is compiled.
#[inline(always)]
fn key<const N: usize, const LOADS: usize>(
    frame: &View<'_>,
    packet: &[u8; N],
    loads: [Load; LOADS],
) -> FlowKey {
    let mut words = [0; 8];
    for (word, at) in words.iter_mut().zip(HEADER_LOADS) {
        *word = eight_bytes(&frame.header, at);
    }
    for (word, (at, mask)) in words[HEADER_LOADS.len()..].iter_mut().zip(loads) {
        *word = eight_bytes(packet, at) & mask;
    }
    FlowKey(words)
}

#[inline(always)]
fn eight_bytes(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(*bytes[at..].first_chunk().expect("loads lie within header and packet"))
}

/// Bytes of the longest template.
const TEMPLATE: usize = HEADER + 44;

/// What is known of the bytes of all frames with one key: those that the key determines, and of these the bits that all
/// frames of the kind have in common. The frame is as long as that at least.
pub(super) struct Template([Option<Bits>; TEMPLATE]);

/// Bits of a number: which are known, and their values; the others are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits {
    pub(super) known: u32,
    pub(super) value: u32,
}

impl Template {
    /// So many bytes from there on, big-endian; none if the key does not determine them all.
    pub(super) fn load(&self, at: u64, bytes: usize) -> Option<Bits> {
        let at = usize::try_from(at).ok()?;
        let bytes = self.0.get(at..at.checked_add(bytes)?)?;
        // Those in front of the bytes are 0.
        let nothing = Bits { known: u32::MAX, value: 0 };
        bytes.iter().try_fold(nothing, |bits, byte| {
            let byte = (*byte)?;
            Some(Bits { known: bits.known << 8 | byte.known, value: bits.value << 8 | byte.value })
        })
    }
}

#[cfg(test)]
mod tests;
