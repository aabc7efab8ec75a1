//! Check sums of transports: over a pseudo header of addresses (RFC 768, 9293, 8200), a header, and data.

use smoltcp::wire::IpAddress;

use crate::manipulate::Checksum;

/// The sum of the pseudo header of a segment of `len` bytes, as [`Checksum::sum`].
#[inline]
pub(super) fn pseudo(from: IpAddress, to: IpAddress, protocol: u8, len: usize) -> u16 {
    fold(address(from) + address(to) + u64::from(protocol) + len as u64)
}

/// The sum of a [`pseudo`] header that was made without the segment's length.
#[inline]
pub(super) fn with_len(sum: u16, len: usize) -> u16 {
    fold(u64::from(sum) + len as u64)
}

/// Whether a segment is what was sent, its check sum included.
pub(super) fn is_intact(pseudo: u16, segment: &[u8]) -> bool {
    sum(pseudo, segment) == 0xffff
}

/// What the field of the check sum is to bear; it is zero in the segment.
pub(super) fn check(pseudo: u16, segment: &[u8]) -> u16 {
    !sum(pseudo, segment)
}

/// The sum of this and a header of eight bytes.
#[inline]
pub(super) fn with_header(sum: u16, header: &[u8; 8]) -> u16 {
    let words = u64::from_be_bytes(*header);
    fold(u64::from(sum) + (words >> 32) + (words & 0xffff_ffff))
}

#[inline]
fn sum(pseudo: u16, segment: &[u8]) -> u16 {
    let mut sum = Checksum::beginning_with(pseudo);
    sum.look(segment);
    sum.sum()
}

/// Words of 32 bits, added: the sum of their halves is the same modulo 2^16 - 1.
#[inline]
fn address(address: IpAddress) -> u64 {
    match address {
        IpAddress::Ipv4(address) => address.to_bits().into(),
        IpAddress::Ipv6(address) => {
            let bits = address.to_bits();
            [96, 64, 32, 0].iter().map(|shift| (bits >> shift) as u64 & 0xffff_ffff).sum()
        }
    }
}

/// To 16 bits, carries added again.
#[inline]
fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use smoltcp::wire::{Ipv4Address, Ipv6Address, UdpPacket};

    use super::*;

    fn agrees(from: IpAddress, to: IpAddress, data: &[u8]) {
        let mut segment = [&[1, 2, 3, 4, 0, 0, 0, 0], data].concat();
        let mut packet = UdpPacket::new_unchecked(&mut segment[..]);
        packet.set_len(8 + data.len() as u16);
        let pseudo = pseudo(from, to, 17, 8 + data.len());
        let ours = check(pseudo, packet.as_ref());
        packet.fill_checksum(&from, &to);
        assert!(packet.checksum() == ours || (ours, packet.checksum()) == (0, 0xffff));
        assert!(is_intact(pseudo, &segment));
        let header = with_header(pseudo, segment.first_chunk().unwrap());
        let mut rest = Checksum::beginning_with(header);
        rest.look(&segment[8..]);
        assert_eq!(rest.sum(), 0xffff);
        segment[8] ^= 1;
        assert!(!is_intact(pseudo, &segment));
    }

    proptest! {
        #[test]
        fn as_smoltcp_has_them(
            from: [u32; 4],
            to: [u32; 4],
            data in prop::collection::vec(any::<u8>(), 1..300),
        ) {
            agrees(Ipv4Address::from_bits(from[0]).into(), Ipv4Address::from_bits(to[0]).into(), &data);
            let v6 = |words: [u32; 4]| {
                let bits = words.iter().fold(0_u128, |bits, word| bits << 32 | u128::from(*word));
                IpAddress::Ipv6(Ipv6Address::from_bits(bits))
            };
            agrees(v6(from), v6(to), &data);
        }
    }
}
