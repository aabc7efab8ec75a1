//! The tags of half a block: one cache line, compared in one step.

use crate::sync::{AtomicU64, Ordering};

/// Records per block. Models of interleavings have few.
pub(super) const BLOCK: usize = if cfg!(loom) { 16 } else { 64 };

/// Tags compared together.
pub(super) const HALF: usize = BLOCK / 2;

/// The tag of a place that holds nothing.
pub(super) const EMPTY: u16 = 0;

/// Tags per word.
const LANES: usize = 4;

/// Words of tags per half.
const WORDS: usize = HALF / LANES;

/// The tags of half a block. Atomic, since readers may look while the writer changes them; as whole words, since
/// accesses of different sizes to one place are not defined to agree.
#[repr(C, align(64))]
pub(super) struct TagLine([AtomicU64; WORDS]);

impl TagLine {
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

    /// Sets one tag, after all that was written before; there is one writer.
    #[inline(always)]
    pub(super) fn set(&self, at: usize, tag: u16) {
        let word = &self.0[at / LANES];
        let shift = at % LANES * 16;
        let others = word.load(Ordering::Relaxed) & !(0xffff << shift);
        word.store(others | u64::from(tag) << shift, Ordering::Release);
    }
}

/// A copy of the tags of half a block.
#[derive(Clone, Copy)]
pub(super) struct Tags([u64; WORDS]);

impl Tags {
    /// The places whose tag is `tag`, one bit each.
    #[inline(always)]
    pub(super) fn matching(self, tag: u16) -> u32 {
        matching(self.0, tag)
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(loom)))]
#[inline(always)]
fn matching(tags: [u64; WORDS], tag: u16) -> u32 {
    use core::arch::x86_64::{
        _mm_cmpeq_epi16, _mm_movemask_epi8, _mm_packs_epi16, _mm_set_epi64x, _mm_set1_epi16,
    };
    // SAFETY: this code is compiled only where the target has SSE2.
    unsafe {
        let wanted = _mm_set1_epi16(tag.cast_signed());
        let eight = |n: usize| {
            _mm_cmpeq_epi16(_mm_set_epi64x(tags[n + 1].cast_signed(), tags[n].cast_signed()), wanted)
        };
        let low = _mm_movemask_epi8(_mm_packs_epi16(eight(0), eight(2))).cast_unsigned();
        let high = _mm_movemask_epi8(_mm_packs_epi16(eight(4), eight(6))).cast_unsigned();
        low | high << 16
    }
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2", not(loom))))]
#[inline(always)]
fn matching(tags: [u64; WORDS], tag: u16) -> u32 {
    swar::matching(tags, tag)
}

/// The same in general registers.
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2", not(loom)))))]
mod swar {
    const LOW15: u64 = 0x7fff_7fff_7fff_7fff;

    #[inline(always)]
    pub(super) fn matching(tags: [u64; super::WORDS], tag: u16) -> u32 {
        tags.iter().rev().fold(0, |matching, &word| matching << 4 | four(word, tag))
    }

    #[inline(always)]
    fn four(tags: u64, tag: u16) -> u32 {
        let differing = tags ^ (u64::from(tag) * 0x0001_0001_0001_0001);
        // The top bit of each lane that is zero; no carry leaves a lane, so it is exact.
        let zero = !(((differing & LOW15) + LOW15) | differing | LOW15);
        // Gathers bit 15 of lane n into bit 48 + n.
        ((zero >> 15).wrapping_mul(1 << 48 | 1 << 33 | 1 << 18 | 1 << 3) >> 48) as u32 & 0xf
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_exact_and_in_place() {
        const TAGS: [u16; 8] = [0, 1, 2, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff];
        let mut random = 1u64;
        for _ in 0..if cfg!(miri) { 10 } else { 1_000 } {
            let line = TagLine::new();
            let mut expected = [EMPTY; HALF];
            for (at, tag) in expected.iter_mut().enumerate() {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                *tag = TAGS[(random >> 60) as usize % 8];
                line.set(at, *tag);
            }
            // SAFETY: there is no other thread.
            for tags in [line.load(), unsafe { line.load_still() }] {
                for tag in TAGS {
                    let bits = (0..HALF).filter(|&at| expected[at] == tag).map(|at| 1 << at).sum::<u32>();
                    assert_eq!(tags.matching(tag), bits);
                    assert_eq!(swar::matching(tags.0, tag), bits);
                }
            }
        }
    }
}
