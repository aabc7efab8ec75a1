//! A host that answers ARP, pings, and datagrams, and looks at every checksum.

use std::net::Ipv4Addr;

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr,
    Icmpv4Packet, Icmpv4Repr, IpProtocol, Ipv4Packet, Ipv4Repr, UdpPacket,
};

pub struct Host {
    address: Ipv4Addr,
    hardware: EthernetAddress,
    /// The kernel's address, once it has answered.
    pub kernel: Option<EthernetAddress>,
    /// Pings that were answered.
    pub replies: u32,
    /// Packets with wrong checksums.
    pub wrong: u32,
}

/// An ICMP echo, request or reply.
pub fn echo(request: bool, ident: u16, seq_no: u16, data: &[u8]) -> Vec<u8> {
    let echo = if request {
        Icmpv4Repr::EchoRequest { ident, seq_no, data }
    } else {
        Icmpv4Repr::EchoReply { ident, seq_no, data }
    };
    let mut bytes = vec![0; echo.buffer_len()];
    echo.emit(&mut Icmpv4Packet::new_unchecked(&mut bytes), &ChecksumCapabilities::default());
    bytes
}

impl Host {
    pub fn new(address: Ipv4Addr, hardware: EthernetAddress) -> Self {
        Self { address, hardware, kernel: None, replies: 0, wrong: 0 }
    }

    pub fn who_has(&self, other: Ipv4Addr) -> Vec<u8> {
        let arp = ArpRepr::EthernetIpv4 {
            operation: ArpOperation::Request,
            source_hardware_addr: self.hardware,
            source_protocol_addr: self.address,
            target_hardware_addr: EthernetAddress([0; 6]),
            target_protocol_addr: other,
        };
        self.arp(&arp, EthernetAddress::BROADCAST)
    }

    pub fn ping(&self, other: Ipv4Addr, data: &[u8]) -> Vec<u8> {
        let to = self.kernel.unwrap_or(EthernetAddress::BROADCAST);
        self.ipv4(to, other, IpProtocol::Icmp, &echo(true, 9, 1, data))
    }

    /// The answer to a frame, if there is one.
    pub fn answer(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        let frame = EthernetFrame::new_checked(frame).ok()?;
        match frame.ethertype() {
            EthernetProtocol::Arp => self.answer_arp(frame.payload()),
            EthernetProtocol::Ipv4 => self.answer_ipv4(frame.src_addr(), frame.payload()),
            _ => None,
        }
    }

    fn answer_arp(&mut self, payload: &[u8]) -> Option<Vec<u8>> {
        let ArpRepr::EthernetIpv4 {
            operation,
            source_hardware_addr,
            source_protocol_addr,
            target_protocol_addr,
            ..
        } = ArpRepr::parse(&ArpPacket::new_checked(payload).ok()?).ok()?
        else {
            return None;
        };
        if operation == ArpOperation::Reply {
            self.kernel = Some(source_hardware_addr);
        }
        if operation != ArpOperation::Request || target_protocol_addr != self.address {
            return None;
        }
        let reply = ArpRepr::EthernetIpv4 {
            operation: ArpOperation::Reply,
            source_hardware_addr: self.hardware,
            source_protocol_addr: self.address,
            target_hardware_addr: source_hardware_addr,
            target_protocol_addr: source_protocol_addr,
        };
        Some(self.arp(&reply, source_hardware_addr))
    }

    fn answer_ipv4(&mut self, from: EthernetAddress, payload: &[u8]) -> Option<Vec<u8>> {
        let ip = Ipv4Packet::new_checked(payload).ok()?;
        if ip.dst_addr() != self.address {
            return None;
        }
        if !ip.verify_checksum() {
            self.wrong += 1;
            return None;
        }
        let answer = match ip.next_header() {
            IpProtocol::Icmp => self.answer_icmp(ip.payload()),
            IpProtocol::Udp => self.answer_udp(&ip),
            _ => None,
        }?;
        Some(self.ipv4(from, ip.src_addr(), ip.next_header(), &answer))
    }

    fn answer_icmp(&mut self, payload: &[u8]) -> Option<Vec<u8>> {
        let packet = Icmpv4Packet::new_checked(payload).ok()?;
        match Icmpv4Repr::parse(&packet, &ChecksumCapabilities::default()) {
            Ok(Icmpv4Repr::EchoRequest { ident, seq_no, data }) => Some(echo(false, ident, seq_no, data)),
            Ok(Icmpv4Repr::EchoReply { ident: 9, seq_no: 1, data: b"from us" }) => {
                self.replies += 1;
                None
            }
            Ok(_) => None,
            Err(_) => {
                self.wrong += 1;
                None
            }
        }
    }

    /// The same datagram, the other way round.
    fn answer_udp(&mut self, ip: &Ipv4Packet<&[u8]>) -> Option<Vec<u8>> {
        let udp = UdpPacket::new_checked(ip.payload()).ok()?;
        let (from, to) = (ip.src_addr().into(), ip.dst_addr().into());
        if udp.checksum() == 0 || !udp.verify_checksum(&from, &to) {
            self.wrong += 1;
            return None;
        }
        let mut answer = ip.payload().to_vec();
        let mut packet = UdpPacket::new_unchecked(&mut answer);
        packet.set_src_port(udp.dst_port());
        packet.set_dst_port(udp.src_port());
        packet.fill_checksum(&to, &from);
        Some(answer)
    }

    fn arp(&self, arp: &ArpRepr, to: EthernetAddress) -> Vec<u8> {
        let mut bytes = self.ethernet(to, EthernetProtocol::Arp, arp.buffer_len());
        arp.emit(&mut ArpPacket::new_unchecked(&mut bytes[14..]));
        bytes
    }

    fn ipv4(&self, hardware: EthernetAddress, to: Ipv4Addr, next_header: IpProtocol, data: &[u8]) -> Vec<u8> {
        let ip = Ipv4Repr {
            src_addr: self.address,
            dst_addr: to,
            next_header,
            payload_len: data.len(),
            hop_limit: 64,
        };
        let mut bytes = self.ethernet(hardware, EthernetProtocol::Ipv4, 20 + data.len());
        ip.emit(&mut Ipv4Packet::new_unchecked(&mut bytes[14..]), &ChecksumCapabilities::default());
        bytes[34..].copy_from_slice(data);
        bytes
    }

    fn ethernet(&self, dst_addr: EthernetAddress, ethertype: EthernetProtocol, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; 14 + len];
        let header = EthernetRepr { src_addr: self.hardware, dst_addr, ethertype };
        header.emit(&mut EthernetFrame::new_unchecked(&mut bytes));
        bytes
    }
}
