//! Data manipulations.

/// The Internet checksum (RFC 1071) of data, not complemented, as a number in the machine's own order.
pub fn checksum(data: &[u8]) -> u16 {
    let (pairs, rest) = data.as_chunks::<2>();
    let mut sum: u64 = pairs.iter().map(|pair| u64::from(u16::from_be_bytes(*pair))).sum();
    sum += rest.first().map_or(0, |last| u64::from(*last) << 8);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
