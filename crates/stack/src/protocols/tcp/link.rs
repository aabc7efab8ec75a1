//! What smoltcp takes for its device: one packet in, any number out.

use smoltcp::{
    phy::{Checksum, ChecksumCapabilities, Device, DeviceCapabilities, Medium, RxToken, TxToken},
    time::Instant,
    wire::{IpAddress, IpVersion, Ipv4Packet, Ipv6Packet, TcpPacket},
};

use super::{
    super::sums::{check, pseudo},
    PROTOCOL,
};
use crate::{Message, Pool};

/// Hands smoltcp a packet at most, and collects what it makes, without the headers of IP.
pub(super) struct Link<'a> {
    packet: Option<&'a [u8]>,
    made: Option<(&'a mut Vec<Message>, &'a mut Pool)>,
    mtu: usize,
}

/// A device that is only asked for what it can do. `mtu` includes the header of IP.
pub(super) fn capabilities(mtu: usize) -> Link<'static> {
    Link { packet: None, made: None, mtu }
}

impl<'a> Link<'a> {
    pub fn new(packet: Option<&'a [u8]>, made: &'a mut Vec<Message>, pool: &'a mut Pool) -> Self {
        // What the interface was made with counts.
        Self { packet, made: Some((made, pool)), mtu: 0 }
    }
}

impl Device for Link<'_> {
    type RxToken<'t>
        = Packet<'t>
    where
        Self: 't;
    type TxToken<'t>
        = Room<'t>
    where
        Self: 't;

    fn receive(&mut self, _timestamp: Instant) -> Option<(Packet<'_>, Room<'_>)> {
        let packet = self.packet.take()?;
        let (made, pool) = self.made.as_mut()?;
        Some((Packet(packet), Room { made, pool }))
    }

    fn transmit(&mut self, _timestamp: Instant) -> Option<Room<'_>> {
        let (made, pool) = self.made.as_mut()?;
        Some(Room { made, pool })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu;
        // The header of IP is checked, and written, by the protocol below; segments are checked before, and marked here.
        capabilities.checksum = ChecksumCapabilities::default();
        capabilities.checksum.ipv4 = Checksum::None;
        capabilities.checksum.tcp = Checksum::None;
        capabilities
    }
}

/// The packet.
pub(super) struct Packet<'a>(&'a [u8]);

impl RxToken for Packet<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(self.0)
    }
}

/// Room for a packet.
pub(super) struct Room<'a> {
    made: &'a mut Vec<Message>,
    pool: &'a mut Pool,
}

impl TxToken for Room<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut message = self.pool.take();
        // No packet is larger than the interface's MTU, which is that of the device; the pool's messages have room for it.
        let result = f(&mut message.room_mut()[..len]);
        message.filled(len);
        finish(&mut message);
        self.made.push(message);
        result
    }
}

/// Takes the header of IP off that smoltcp wrote, and writes the check sum.
fn finish(message: &mut Message) {
    let packet = message.bytes();
    let (from, to, header): (IpAddress, IpAddress, usize) = match IpVersion::of_packet(packet) {
        Ok(IpVersion::Ipv4) => {
            let packet = Ipv4Packet::new_unchecked(packet);
            (packet.src_addr().into(), packet.dst_addr().into(), packet.header_len().into())
        }
        _ => {
            let packet = Ipv6Packet::new_unchecked(packet);
            (packet.src_addr().into(), packet.dst_addr().into(), packet.header_len())
        }
    };
    message.pop(header);
    let check = check(pseudo(from, to, PROTOCOL, message.len()), message.bytes());
    TcpPacket::new_unchecked(message.bytes_mut()).set_checksum(check);
}

/// The length of the header that smoltcp writes, which is without options.
pub(super) fn network_header(version: Option<IpVersion>) -> usize {
    match version {
        Some(IpVersion::Ipv4) => smoltcp::wire::IPV4_HEADER_LEN,
        _ => smoltcp::wire::IPV6_HEADER_LEN,
    }
}
