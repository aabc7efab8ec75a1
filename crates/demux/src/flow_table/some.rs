//! Some of the lookups of a batch.

use super::bits::ones;

/// Keys looked up together; more would not be waited for at once.
pub(super) const TOGETHER: usize = 32;

/// Some of the lookups, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Some32(u32);

const _: () = assert!(TOGETHER == u32::BITS as usize);

impl Some32 {
    pub(super) const NONE: Self = Self(0);

    /// The first `len` of all.
    #[inline(always)]
    fn first(len: usize) -> Self {
        Self((u64::MAX >> (u64::BITS as usize - len)) as u32)
    }

    pub(super) fn insert(&mut self, n: usize) {
        self.0 |= 1 << n;
    }

    /// Their numbers.
    #[inline(always)]
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        ones(u64::from(self.0)).map(|bit| bit as usize % TOGETHER)
    }
}

/// The places of its group whose tags match, of each lookup, a bit each.
#[repr(align(16))]
pub(super) struct Matching(pub(super) [u16; TOGETHER]);

impl Matching {
    /// Those of the first `len` lookups that match in no place, and those that match in several.
    #[inline(always)]
    pub(super) fn none_and_several(&self, len: usize) -> [Some32; 2] {
        let first = Some32::first(len).0;
        self.none_and_several_of_all().map(|some| Some32(some.0 & first))
    }

    /// The lookups that match in no place, and those that match in several: without branches, which nobody would foresee.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[inline(always)]
    fn none_and_several_of_all(&self) -> [Some32; 2] {
        use core::arch::x86_64::{
            __m128i, _mm_add_epi16, _mm_and_si128, _mm_cmpeq_epi16, _mm_load_si128, _mm_movemask_epi8,
            _mm_packs_epi16, _mm_set1_epi16, _mm_setzero_si128,
        };
        // SAFETY: this code is compiled only where the target has SSE2; loads are aligned, and within the row.
        unsafe {
            let eight = |n: usize| _mm_load_si128(self.0.as_ptr().add(8 * n).cast::<__m128i>());
            let zero = |words| _mm_cmpeq_epi16(words, _mm_setzero_si128());
            let others = |words| _mm_and_si128(words, _mm_add_epi16(words, _mm_set1_epi16(-1)));
            let sixteen = |first, second| _mm_movemask_epi8(_mm_packs_epi16(first, second)).cast_unsigned();
            let none = |n| sixteen(zero(eight(n)), zero(eight(n + 1)));
            let few = |n| sixteen(zero(others(eight(n))), zero(others(eight(n + 1))));
            [Some32(none(0) | none(2) << 16), Some32(!(few(0) | few(2) << 16))]
        }
    }

    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    #[inline(always)]
    fn none_and_several_of_all(&self) -> [Some32; 2] {
        self.none_and_several_one_by_one()
    }

    /// The same where there are no vectors.
    #[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2"))))]
    #[inline(always)]
    fn none_and_several_one_by_one(&self) -> [Some32; 2] {
        let those = |are: fn(u16) -> bool| {
            Some32(self.0.iter().rev().fold(0, |those, &words| those << 1 | u32::from(are(words))))
        };
        [those(|matching| matching == 0), those(|matching| matching & matching.wrapping_sub(1) != 0)]
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn lookups_that_match_in_no_place_or_in_several_are_told_apart() {
        let mut random = 7u64;
        for _ in 0..if cfg!(miri) { 5 } else { 500 } {
            let matching = Matching(core::array::from_fn(|_| {
                random = crate::mix::spread(random);
                match random % 4 {
                    0 => 0,
                    1 | 2 => 1 << (random >> 8 & 15),
                    _ => (random >> 16) as u16,
                }
            }));
            let found = matching.none_and_several(TOGETHER);
            assert_eq!(found, matching.none_and_several_one_by_one());
            let numbers = |those: fn(u32) -> bool| -> Vec<_> {
                (0..TOGETHER).filter(|&n| those(matching.0[n].count_ones())).collect()
            };
            let [none, several] = found.map(|some| some.iter().collect::<Vec<_>>());
            assert_eq!((none, several), (numbers(|count| count == 0), numbers(|count| count > 1)));
        }
    }
}
