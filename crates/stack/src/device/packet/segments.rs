//! Cuts what came in one piece into the segments it was meant to be.

use smoltcp::wire::{IpAddress, Ipv4Packet, Ipv6Packet, TcpPacket, UdpPacket};

use super::offload::Offload;
use crate::Message;

/// Kinds of segments: `VIRTIO_NET_HDR_GSO_*`.
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 4;
const UDP: u8 = 5;

const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];
const TAGS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];
/// Tags in a frame, at most, beside one that was taken off.
const MOST_TAGS: usize = 2;

/// A frame on its way to become several.
#[derive(Debug)]
pub(super) struct Segments {
    /// Where the IP header begins, and whether it is one of IPv4.
    network: usize,
    v4: bool,
    /// Where the header of TCP or UDP begins, and which of them it is.
    transport: usize,
    tcp: bool,
    /// Where the data begins.
    data: usize,
    /// Bytes of data in each segment but the last.
    size: usize,
    /// Length of the frame.
    len: usize,
    /// The number of the next segment.
    next: usize,
}

impl Segments {
    /// The plan for a frame; `None` when frame and remarks make no sense together, or the protocols are others.
    pub(super) fn of(frame: &[u8], offload: &Offload) -> Option<Self> {
        let (transport, size) = (usize::from(offload.start), usize::from(offload.size));
        let (network, v4) = network(frame)?;
        let tcp = match (offload.kind(), v4) {
            (TCP_V4, true) | (TCP_V6, false) => true,
            (UDP, _) => false,
            _ => return None,
        };
        let (behind, protocol) = above(frame, network, v4)?;
        if !offload.needs_checksum()
            || size == 0
            || behind != transport
            || protocol != if tcp { 6 } else { 17 }
        {
            return None;
        }
        let header = if tcp { usize::from(frame.get(transport + 12)? >> 4) * 4 } else { 8 };
        let data = transport + header;
        (header >= if tcp { 20 } else { 8 } && data < frame.len()).then_some(Self {
            network,
            v4,
            transport,
            tcp,
            data,
            size,
            len: frame.len(),
            next: 0,
        })
    }

    /// How many segments there are still.
    pub(super) fn left(&self) -> u64 {
        ((self.len - self.data).div_ceil(self.size) - self.next) as u64
    }

    /// Writes the next segment of the frame; whether there was room for it.
    pub(super) fn next(&mut self, frame: &[u8], into: &mut Message) -> bool {
        let begin = self.data + self.next * self.size;
        let end = (begin + self.size).min(self.len);
        let fits = into.append(&frame[..self.data]).and_then(|()| into.append(&frame[begin..end]));
        if fits.is_err() {
            return false;
        }
        self.adjust(into.bytes_mut());
        self.next += 1;
        true
    }

    /// Makes the headers those of this segment.
    fn adjust(&self, segment: &mut [u8]) {
        let (below, transport) = segment.split_at_mut(self.transport);
        let network = &mut below[self.network..];
        let (header, payload) = (network.len(), transport.len());
        let [source, destination] = if self.v4 {
            let mut ip = Ipv4Packet::new_unchecked(network);
            ip.set_total_len((header + payload) as u16);
            ip.set_ident(ip.ident().wrapping_add(self.next as u16));
            ip.fill_checksum();
            [IpAddress::from(ip.src_addr()), ip.dst_addr().into()]
        } else {
            let mut ip = Ipv6Packet::new_unchecked(network);
            ip.set_payload_len((header - 40 + payload) as u16);
            [IpAddress::from(ip.src_addr()), ip.dst_addr().into()]
        };
        if self.tcp {
            self.adjust_tcp(&mut TcpPacket::new_unchecked(transport), &source, &destination);
        } else {
            let mut udp = UdpPacket::new_unchecked(transport);
            udp.set_len(payload as u16);
            udp.fill_checksum(&source, &destination);
        }
    }

    /// What is said once is said in the first segment, or the last (RFC 9293, and RFC 3168 for CWR).
    fn adjust_tcp(&self, tcp: &mut TcpPacket<&mut [u8]>, source: &IpAddress, destination: &IpAddress) {
        let last = self.left() == 1;
        tcp.set_seq_number(tcp.seq_number() + self.next * self.size);
        tcp.set_psh(tcp.psh() && last);
        tcp.set_fin(tcp.fin() && last);
        tcp.set_cwr(tcp.cwr() && self.next == 0);
        tcp.fill_checksum(source, destination);
    }
}

/// Where the IP header begins, and whether it is one of IPv4.
fn network(frame: &[u8]) -> Option<(usize, bool)> {
    let mut at = 12;
    for _ in 0..=MOST_TAGS {
        let kind = *frame.get(at..)?.first_chunk()?;
        match kind {
            IPV4 => return Some((at + 2, true)),
            IPV6 => return Some((at + 2, false)),
            _ if TAGS.contains(&kind) => at += 4,
            _ => return None,
        }
    }
    None
}

/// Where the header behind the IP header begins, and what it is. Extension headers are not looked through.
fn above(frame: &[u8], network: usize, v4: bool) -> Option<(usize, u8)> {
    let ip = frame.get(network..)?;
    if !v4 {
        return Some((network + 40, *ip.get(6)?));
    }
    let header = usize::from(ip.first()? & 15) * 4;
    (header >= 20).then_some((network + header, *ip.get(9)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use smoltcp::wire::TcpSeqNumber;

    use super::*;
    use crate::device::packet::offload::OFFLOAD;

    const SIZE: usize = 100;
    const DATA: usize = 2 * SIZE + 30;

    fn offload(kind: u8, start: usize, size: usize) -> Offload {
        let [s0, s1] = (size as u16).to_ne_bytes();
        let [c0, c1] = (start as u16).to_ne_bytes();
        Offload::of([1, kind, 0, 0, s0, s1, c0, c1, 16, 0])
    }

    fn data() -> Vec<u8> {
        (0..DATA as u32).map(|n| (n * 7) as u8).collect()
    }

    /// A frame with `ip` behind so many tags, `header`, and the data.
    fn frame(tags: usize, ip: &[u8], header: &[u8]) -> Vec<u8> {
        let mut frame = vec![9; 12];
        (0..tags).for_each(|n| frame.extend([0x81, 0, 0, n as u8]));
        frame.extend(if ip[0] >> 4 == 4 { IPV4 } else { IPV6 });
        [&frame[..], ip, header, &data()].concat()
    }

    fn ipv4(protocol: u8) -> Vec<u8> {
        let mut ip = vec![0x46, 0, 0, 0, 0xff, 0xff, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        ip.extend([1; 4]);
        ip
    }

    fn ipv6(protocol: u8) -> Vec<u8> {
        let mut ip = vec![0x60, 0, 0, 0, 0, 0, protocol, 64];
        ip.extend([0xfd; 32]);
        ip
    }

    fn tcp() -> Vec<u8> {
        let mut header =
            vec![0x12, 0x34, 0x56, 0x78, 0xff, 0xff, 0xff, 0x9c, 0, 0, 0, 1, 0x60, 0, 1, 0, 0, 0, 0, 0];
        // ACK, PSH, FIN, CWR; and an option.
        header[13] = 0x10 | 0x08 | 0x01 | 0x80;
        header.extend([1, 1, 1, 0]);
        header
    }

    fn all(frame: &[u8], offload: &Offload) -> Vec<Vec<u8>> {
        let mut segments = Segments::of(frame, offload).unwrap();
        assert_eq!(segments.left(), 3);
        let mut cut = Vec::new();
        while segments.left() > 0 {
            let mut message = Message::with_capacity(0, 512);
            assert!(segments.next(frame, &mut message));
            cut.push(message.bytes().to_vec());
        }
        cut
    }

    fn check_tcp(number: usize, bytes: &[u8], source: IpAddress, destination: IpAddress) -> Vec<u8> {
        let tcp = TcpPacket::new_checked(bytes).unwrap();
        assert!(tcp.verify_checksum(&source, &destination));
        assert_eq!(tcp.seq_number(), TcpSeqNumber(-100) + number * SIZE);
        let (first, last) = (number == 0, number == 2);
        assert_eq!((tcp.ack(), tcp.psh(), tcp.fin(), tcp.cwr()), (true, last, last, first));
        tcp.payload().to_vec()
    }

    #[test]
    fn tcp_over_ipv4() {
        let mut back = Vec::new();
        for (number, segment) in
            all(&frame(0, &ipv4(6), &tcp()), &offload(TCP_V4, 38, SIZE)).iter().enumerate()
        {
            let ip = Ipv4Packet::new_checked(&segment[14..]).unwrap();
            assert!(ip.verify_checksum() && usize::from(ip.total_len()) == segment.len() - 14);
            assert_eq!(ip.ident(), 0xffff_u16.wrapping_add(number as u16));
            back.extend(check_tcp(number, ip.payload(), ip.src_addr().into(), ip.dst_addr().into()));
        }
        assert_eq!(back, data());
    }

    #[test]
    fn tcp_over_ipv6_with_two_tags() {
        let mut back = Vec::new();
        for (number, segment) in
            all(&frame(2, &ipv6(6), &tcp()), &offload(TCP_V6, 62, SIZE)).iter().enumerate()
        {
            let ip = Ipv6Packet::new_checked(&segment[22..]).unwrap();
            assert_eq!(usize::from(ip.payload_len()), segment.len() - 62);
            back.extend(check_tcp(number, ip.payload(), ip.src_addr().into(), ip.dst_addr().into()));
        }
        assert_eq!(back, data());
    }

    #[test]
    fn udp() {
        let header = [0, 7, 0, 9, 0, 0, 0, 0];
        let mut back = Vec::new();
        for segment in all(&frame(0, &ipv4(17), &header), &offload(UDP, 38, SIZE)) {
            let ip = Ipv4Packet::new_checked(&segment[14..]).unwrap();
            let udp = UdpPacket::new_checked(ip.payload()).unwrap();
            assert!(udp.checksum() != 0 && udp.verify_checksum(&ip.src_addr().into(), &ip.dst_addr().into()));
            assert_eq!(usize::from(udp.len()), segment.len() - 38);
            back.extend(udp.payload().to_vec());
        }
        assert_eq!(back, data());
    }

    #[test]
    fn remarks_that_do_not_suit_the_frame() {
        let good = frame(0, &ipv4(6), &tcp());
        let suits = |frame: &[u8], offload| Segments::of(frame, &offload).is_some();
        assert!(suits(&good, offload(TCP_V4, 38, SIZE)));
        for wrong in [offload(TCP_V6, 38, SIZE), offload(UDP, 38, SIZE), offload(TCP_V4, 34, SIZE)] {
            assert!(!suits(&good, wrong), "{wrong:?}");
        }
        assert!(!suits(&good, offload(TCP_V4, 38, 0)), "endlessly many segments");
        assert!(!suits(&good[..62], offload(TCP_V4, 38, SIZE)), "no data");
        assert!(!suits(&frame(3, &ipv4(6), &tcp()), offload(TCP_V4, 50, SIZE)), "too many tags");
        let mut short = good;
        short[38 + 12] = 0x40;
        assert!(!suits(&short, offload(TCP_V4, 38, SIZE)), "a header shorter than headers are");
    }

    proptest! {
        #[test]
        fn any_frame_with_any_remarks(
            mut frame in proptest::collection::vec(any::<u8>(), 0..400),
            remarks in any::<[u8; OFFLOAD]>(),
            like in any::<bool>(),
        ) {
            if like && frame.len() > 40 {
                frame[12..15].copy_from_slice(&[8, 0, 0x45]);
                frame[23] = 6;
            }
            let start = if like { 34 } else { usize::from(u16::from_ne_bytes([remarks[6], remarks[7]])) };
            let offload = offload(remarks[1] % 6, start, usize::from(remarks[4]));
            if let Some(mut segments) = Segments::of(&frame, &offload) {
                while segments.left() > 0 {
                    let mut message = Message::with_capacity(0, 512);
                    prop_assert!(segments.next(&frame, &mut message));
                    prop_assert!(message.len() <= frame.len());
                }
            }
        }
    }
}
