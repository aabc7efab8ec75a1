//! Frames as filters see them.

use crate::Packet;

/// Bytes of the Ethernet header.
pub(super) const HEADER: usize = 14;

/// A frame as filters see it, and as tcpdump would behind the node that takes the label off: the Ethernet header with the
/// EtherType of the packet, then the packet. The two lie apart when there is a label between them, so nothing is copied but
/// the header. VLAN tags stay where they are.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub(super) header: [u8; HEADER],
    pub(super) packet: &'a [u8],
}

impl<'a> View<'a> {
    /// A frame as it is, from the first byte of its Ethernet header; none if it is shorter than that. A label is no label
    /// here: see [`View::from`] a [`Packet`].
    #[inline]
    pub fn of(frame: &'a [u8]) -> Option<Self> {
        let (header, packet) = frame.split_first_chunk()?;
        Some(Self { header: *header, packet })
    }

    /// Bytes of the frame without label.
    #[inline]
    pub fn len(&self) -> usize {
        HEADER + self.packet.len()
    }

    /// Never: there is an Ethernet header.
    #[inline]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Copies the frame, without label, as far as the buffer goes: how many bytes.
    pub fn copy_to(&self, buffer: &mut [u8]) -> usize {
        let header = HEADER.min(buffer.len());
        let packet = self.packet.len().min(buffer.len() - header);
        buffer[..header].copy_from_slice(&self.header[..header]);
        buffer[header..header + packet].copy_from_slice(&self.packet[..packet]);
        header + packet
    }

    /// The bytes from there on, wherever the pieces meet.
    #[inline]
    pub(super) fn bytes<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        if let Some(at) = at.checked_sub(HEADER as u64) {
            return self.packet.get(usize::try_from(at).ok()?..)?.first_chunk().copied();
        }
        let mut bytes = [0; N];
        for (byte, at) in bytes.iter_mut().zip(at as usize..) {
            *byte = if at < HEADER { self.header[at] } else { *self.packet.get(at - HEADER)? };
        }
        Some(bytes)
    }
}

impl<'a> From<&Packet<'a>> for View<'a> {
    #[inline]
    fn from(packet: &Packet<'a>) -> Self {
        let mut header = [0; HEADER];
        // A frame that was looked at has an Ethernet header.
        header[..12].copy_from_slice(&packet.frame()[..12]);
        header[12..].copy_from_slice(&packet.ethertype.to_be_bytes());
        Self { header, packet: packet.bytes() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_on_both_sides_of_the_joint() {
        let frame: Vec<u8> = (0..20).collect();
        let view = View::of(&frame).unwrap();
        for at in 0..25 {
            let expected = frame.get(at..).and_then(|bytes| bytes.first_chunk::<4>());
            assert_eq!(view.bytes::<4>(at as u64).as_ref(), expected, "{at}");
        }
        assert_eq!(view.bytes::<1>(u64::MAX), None);
        let mut copy = [0; 30];
        assert_eq!((view.copy_to(&mut copy), &copy[..20]), (20, &frame[..]));
        assert_eq!(view.copy_to(&mut copy[..16]), 16);
        assert_eq!(view.copy_to(&mut copy[..3]), 3);
    }
}
