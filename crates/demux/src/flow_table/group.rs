//! Sixteen tags that are compared in one step.

use crate::sync::{AtomicU64, Ordering};

/// Records per bucket, tags per group.
pub(super) const WIDTH: usize = 16;

/// The tag of a place that holds nothing.
pub(super) const EMPTY: u8 = 0;

/// The tags of one bucket. Atomic, since readers may look while the writer changes them; as whole words, since
/// accesses of different sizes to one place are not defined to agree.
#[repr(C, align(16))]
pub(super) struct Group([AtomicU64; 2]);

impl Group {
    #[cfg(any(test, loom))]
    pub(super) fn new() -> Self {
        Self([AtomicU64::new(0), AtomicU64::new(0)])
    }

    /// All tags as they are at this moment (each half at one moment).
    #[inline(always)]
    pub(super) fn load(&self) -> Tags {
        Tags([self.0[0].load(Ordering::Relaxed), self.0[1].load(Ordering::Relaxed)])
    }

    /// As [`load`](Self::load), in one step.
    ///
    /// # Safety
    /// Nobody changes the tags during the call.
    #[inline(always)]
    pub(super) unsafe fn load_still(&self) -> Tags {
        // SAFETY: two words of 8 bytes, which nobody changes, says the caller.
        Tags(unsafe { core::ptr::from_ref(&self.0).cast::<[u64; 2]>().read() })
    }

    /// Sets one tag; there is one writer.
    #[inline(always)]
    pub(super) fn set(&self, place: usize, tag: u8) {
        let word = &self.0[place / 8];
        let shift = place % 8 * 8;
        let others = word.load(Ordering::Relaxed) & !(0xff << shift);
        word.store(others | u64::from(tag) << shift, Ordering::Relaxed);
    }
}

/// A copy of a group's tags.
#[derive(Clone, Copy)]
pub(super) struct Tags([u64; 2]);

impl Tags {
    /// The places whose tag is `tag`, one bit each.
    #[inline(always)]
    pub(super) fn matching(self, tag: u8) -> u32 {
        matching(self.0, tag)
    }

    /// The places that hold nothing, one bit each.
    #[inline(always)]
    pub(super) fn empty(self) -> u32 {
        matching(self.0, EMPTY)
    }

    /// The places that hold something, one bit each.
    #[inline(always)]
    pub(super) fn full(self) -> u32 {
        self.empty() ^ 0xffff
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
#[inline(always)]
fn matching(tags: [u64; 2], tag: u8) -> u32 {
    use core::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};
    // SAFETY: this code is compiled only where the target has SSE2.
    unsafe {
        let tags = _mm_set_epi64x(tags[1].cast_signed(), tags[0].cast_signed());
        _mm_movemask_epi8(_mm_cmpeq_epi8(tags, _mm_set1_epi8(tag.cast_signed()))).cast_unsigned()
    }
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2", not(miri))))]
#[inline(always)]
fn matching(tags: [u64; 2], tag: u8) -> u32 {
    swar::matching(tags, tag)
}

/// The same in two general registers.
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))))]
mod swar {
    const LOW7: u64 = 0x7f7f_7f7f_7f7f_7f7f;

    #[inline(always)]
    pub(super) fn matching(tags: [u64; 2], tag: u8) -> u32 {
        half(tags[0], tag) | half(tags[1], tag) << 8
    }

    #[inline(always)]
    fn half(tags: u64, tag: u8) -> u32 {
        let differing = tags ^ (u64::from(tag) * 0x0101_0101_0101_0101);
        // The top bit of each byte that is zero; no carry leaves a byte, so it is exact.
        let zero = !(((differing & LOW7) + LOW7) | differing | LOW7);
        // Gathers bit 7 of byte n into bit 56 + n.
        ((zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_exact_and_in_place() {
        let mut random = 1u64;
        for _ in 0..2_000 {
            let group = Group::new();
            let mut expected = [EMPTY; WIDTH];
            for (place, tag) in expected.iter_mut().enumerate() {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                *tag = [0, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff][(random >> 60) as usize % 8];
                group.set(place, *tag);
            }
            let tags = group.load();
            for tag in [0, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff] {
                let bits =
                    (0..WIDTH).filter(|&place| expected[place] == tag).map(|place| 1 << place).sum::<u32>();
                assert_eq!(tags.matching(tag), bits);
                assert_eq!(swar::matching(tags.0, tag), bits);
            }
            assert_eq!(tags.full(), tags.empty() ^ 0xffff);
        }
    }
}
