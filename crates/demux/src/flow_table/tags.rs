//! The tags of a group of places: compared in one step. Those of a block are one cache line.

use core::ptr::NonNull;

use crate::sync::{AtomicU64, Ordering};

/// Records per block. Models of interleavings have few.
pub(super) const BLOCK: usize = if cfg!(loom) { 16 } else { 64 };

/// Places whose tags are compared together.
pub(super) const GROUP: usize = if cfg!(loom) { 8 } else { 16 };

/// Groups per block.
pub(super) const GROUPS: u32 = (BLOCK / GROUP) as u32;

/// What tells keys of a group apart: the upper half of a word of a hash. Beside a record 8 bits of it are kept; which, its
/// place says, so that a vector of all places takes one step. 0 counts as 1, since 0 marks empty places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag(u64);

impl Tag {
    /// Of a word whose lower half does not matter.
    #[inline(always)]
    pub(super) fn of(word: u64) -> Self {
        Self(word)
    }

    /// As it is kept beside a record in this place, counted from the first of a group.
    #[inline(always)]
    fn kept(self, at: usize) -> u8 {
        four(self).wrapping_shr(at as u32 * 8) as u8
    }

    /// Which of so many kinds it is, a power of two.
    #[inline(always)]
    pub(super) fn kind(self, kinds: u32) -> u32 {
        (self.0 >> (u64::BITS - kinds.ilog2())) as u32
    }
}

/// The tag of a place that holds nothing.
const EMPTY: u8 = 0;

/// Tags per word.
const LANES: usize = 8;

/// Words of tags per group.
const WORDS: usize = GROUP / LANES;

/// The tags of a group. Atomic, since readers may look while the writer changes them; as whole words, since
/// accesses of different sizes to one place are not defined to agree.
#[repr(C, align(16))]
pub(super) struct TagGroup([AtomicU64; WORDS]);

impl TagGroup {
    #[cfg(any(test, loom))]
    pub(super) fn new() -> Self {
        Self(core::array::from_fn(|_| AtomicU64::new(0)))
    }

    /// The tags, each word as it is at one moment. What was written before a tag was set is seen with it.
    #[inline(always)]
    pub(super) fn load(&self) -> Tags {
        Tags(core::array::from_fn(|n| self.0[n].load(Ordering::Acquire)))
    }

    /// As [`load`](Self::load), in one step.
    ///
    /// # Safety
    /// Nobody changes the tags during the call.
    #[inline(always)]
    pub(super) unsafe fn load_still(&self) -> Tags {
        // SAFETY: these words, which nobody changes, says the caller.
        Tags(unsafe { core::ptr::from_ref(&self.0).cast::<[u64; WORDS]>().read() })
    }

    /// Sets one tag, after all that was written before, or clears it; there is one writer.
    #[inline(always)]
    pub(super) fn set(&self, at: usize, tag: Option<Tag>) {
        let word = &self.0[at / LANES];
        let shift = at % LANES * 8;
        let others = word.load(Ordering::Relaxed) & !(0xff << shift);
        word.store(others | u64::from(kept(tag, at)) << shift, Ordering::Release);
    }

    /// As [`set`](Self::set), in one step; the place is counted from the first of a row of groups.
    ///
    /// # Safety
    /// There is such a place, and nobody else looks at its group during the call.
    #[inline(always)]
    pub(super) unsafe fn set_still(first: NonNull<Self>, place: usize, tag: Option<Tag>) {
        if cfg!(loom) || size_of::<Self>() != GROUP {
            // SAFETY: a group of the row, says the caller.
            return unsafe { first.add(place / GROUP).as_ref() }.set(place % GROUP, tag);
        }
        let byte = if cfg!(target_endian = "big") { place ^ (LANES - 1) } else { place };
        // SAFETY: a byte of these words, which are atomics, so that shared borrows may write to them.
        unsafe { first.cast::<u8>().add(byte).write(kept(tag, place)) }
    }
}

/// As it is kept beside a record in this place of a group, or where there is none.
#[inline(always)]
fn kept(tag: Option<Tag>, at: usize) -> u8 {
    tag.map_or(EMPTY, |tag| tag.kept(at))
}

/// Those of a row of bytes that are this one, one bit each.
#[inline(always)]
pub(super) fn same(bytes: [u8; GROUP], byte: u8) -> u16 {
    let (words, _) = bytes.as_chunks::<LANES>();
    equal(core::array::from_fn(|n| u64::from_le_bytes(words[n])), byte)
}

/// A copy of the tags of a group.
#[derive(Clone, Copy)]
pub(super) struct Tags([u64; WORDS]);

impl Tags {
    /// The places whose tag is `tag`, one bit each.
    #[inline(always)]
    pub(super) fn matching(self, tag: Tag) -> u16 {
        matching(self.0, tag)
    }

    /// The places that hold nothing, one bit each.
    #[inline(always)]
    pub(super) fn empty(self) -> u16 {
        equal(self.0, EMPTY)
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(loom)))]
use sse2::{equal, four, matching};

/// One comparison of 16 tags. [`Tag::kept`] is a step of the comparison, where it costs less.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(loom)))]
mod sse2 {
    use core::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_cvtsi64_si128, _mm_cvtsi128_si32, _mm_max_epu8, _mm_movemask_epi8,
        _mm_set_epi64x, _mm_set1_epi8, _mm_shuffle_epi32,
    };

    use super::{Tag, WORDS};

    #[inline(always)]
    pub(super) fn matching(tags: [u64; WORDS], tag: Tag) -> u16 {
        // SAFETY: this code is compiled only where the target has SSE2.
        unsafe { equal_bytes(tags, kept_everywhere(tag)) }
    }

    /// The tag as it is kept in the first four places, and in any four that follow: the first one's byte is the lowest.
    #[inline(always)]
    pub(super) fn four(tag: Tag) -> u32 {
        // SAFETY: as above.
        unsafe { _mm_cvtsi128_si32(kept_everywhere(tag)).cast_unsigned() }
    }

    /// The tag as it is kept in each of 16 places.
    #[target_feature(enable = "sse2")]
    #[inline]
    fn kept_everywhere(tag: Tag) -> __m128i {
        let word = _mm_max_epu8(_mm_cvtsi64_si128(tag.0.cast_signed()), _mm_set1_epi8(1));
        _mm_shuffle_epi32::<0x55>(word)
    }

    #[inline(always)]
    pub(super) fn equal(tags: [u64; WORDS], tag: u8) -> u16 {
        // SAFETY: as above.
        unsafe { equal_bytes(tags, _mm_set1_epi8(tag.cast_signed())) }
    }

    #[target_feature(enable = "sse2")]
    #[inline]
    fn equal_bytes(tags: [u64; WORDS], wanted: __m128i) -> u16 {
        let tags = _mm_set_epi64x(tags[1].cast_signed(), tags[0].cast_signed());
        _mm_movemask_epi8(_mm_cmpeq_epi8(tags, wanted)) as u16
    }
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2", not(loom))))]
use swar::{equal, four, matching};

/// The same in general registers.
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2", not(loom)))))]
mod swar {
    const LOW7: u64 = 0x7f7f_7f7f_7f7f_7f7f;

    /// The tag as it is kept in the first four places, and in any four that follow: the first one's byte is the lowest.
    #[inline(always)]
    pub(super) fn four(tag: super::Tag) -> u32 {
        u32::from_le_bytes(((tag.0 >> 32) as u32).to_le_bytes().map(|byte| byte.max(1)))
    }

    #[inline(always)]
    pub(super) fn matching(tags: [u64; super::WORDS], tag: super::Tag) -> u16 {
        equal_word(tags, u64::from(four(tag)) << 32 | u64::from(four(tag)))
    }

    #[inline(always)]
    pub(super) fn equal(tags: [u64; super::WORDS], tag: u8) -> u16 {
        equal_word(tags, u64::from(tag) * 0x0101_0101_0101_0101)
    }

    #[inline(always)]
    fn equal_word(tags: [u64; super::WORDS], wanted: u64) -> u16 {
        tags.iter().rev().fold(0, |matching, &word| matching << 8 | eight(word, wanted))
    }

    #[inline(always)]
    fn eight(tags: u64, wanted: u64) -> u16 {
        let differing = tags ^ wanted;
        // The top bit of each lane that is zero; no carry leaves a lane, so it is exact.
        let zero = !(((differing & LOW7) + LOW7) | differing | LOW7);
        // Gathers bit 0 of lane n into bit 56 + n.
        ((zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::{
        swar::{equal as equal_in_words, matching as matching_in_words},
        *,
    };

    #[test]
    fn matches_are_exact_and_in_place() {
        const TAGS: [u64; 8] = [
            0,
            0x0001_0203,
            0x0101_0101,
            0x7f80_7f80,
            0x8081_8281,
            0x8180_0000,
            0xfeff_00fe,
            u32::MAX as u64,
        ];
        let mut random = 1u64;
        for _ in 0..if cfg!(miri) { 10 } else { 1_000 } {
            let groups = [(); 2].map(|()| TagGroup::new());
            let mut expected = [EMPTY; GROUP];
            for (at, kept) in expected.iter_mut().enumerate() {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let tag = Tag::of(TAGS[(random >> 60) as usize % 8] << 32 | 5);
                let tag = (random >> 58 & 3 != 0).then_some(tag);
                groups[0].set(at, tag);
                // SAFETY: there is no other thread.
                unsafe { TagGroup::set_still(NonNull::from(&groups[1]), at, tag) };
                *kept = super::kept(tag, at);
            }
            // SAFETY: as above.
            for tags in groups.iter().flat_map(|group| [group.load(), unsafe { group.load_still() }]) {
                let bits = |tag| (0..GROUP).filter(|&at| expected[at] == tag).map(|at| 1 << at).sum::<u16>();
                assert_eq!((tags.empty(), equal_in_words(tags.0, EMPTY)), (bits(EMPTY), bits(EMPTY)));
                for tag in TAGS.map(|tag| Tag::of(tag << 32)) {
                    let matching =
                        (0..GROUP).filter(|&at| expected[at] == tag.kept(at)).map(|at| 1 << at).sum();
                    assert_eq!((tags.matching(tag), matching_in_words(tags.0, tag)), (matching, matching));
                }
            }
        }
    }
}
