//! CRC32C of short frames, without what long ones profit from.

/// Frames up to here are summed word by word; longer ones by three streams at a time, which takes a start.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const SHORT: usize = 256;

/// The sum of octets that follow others, whose sum is `before`.
#[inline]
pub fn crc32c(before: u32, octets: &[u8]) -> u32 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if octets.len() <= SHORT && std::arch::is_x86_feature_detected!("sse4.2") {
        // SAFETY: this processor has SSE 4.2.
        return unsafe { by_words(before, octets) };
    }
    crc32c::crc32c_append(before, octets)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "sse4.2")]
fn by_words(before: u32, octets: &[u8]) -> u32 {
    use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u64};

    let (words, rest) = octets.as_chunks::<8>();
    let sum =
        words.iter().fold(u64::from(!before), |sum, word| _mm_crc32_u64(sum, u64::from_le_bytes(*word)));
    !rest.iter().fold(sum as u32, |sum, octet| _mm_crc32_u8(sum, *octet))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn as_the_library_sums() {
        let octets: Vec<u8> = (0..600_u32).map(|at| ((at * at) >> 3) as u8).collect();
        for length in 0..octets.len() {
            let before = 0x0123_4567_u32.wrapping_mul(length as u32);
            let expected = crc32c::crc32c_append(before, &octets[..length]);
            assert_eq!(crc32c(before, &octets[..length]), expected, "{length} octets");
        }
    }
}
