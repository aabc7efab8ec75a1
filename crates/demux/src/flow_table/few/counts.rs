//! How many records each bucket has: two bits, so that it is known which are alone.

use crate::flow_table::space::Space;

/// What a count goes up to, and stays at: these or more, or fewer by now.
const MANY: u8 = 3;

/// Counts per byte.
const PER_BYTE: usize = 4;

pub(super) struct Counts {
    bits: Space<u8>,
    buckets: usize,
}

impl Counts {
    pub(super) fn new(buckets: usize) -> Self {
        Self { bits: Space::new(buckets.div_ceil(PER_BYTE)), buckets }
    }

    pub(super) fn bytes(&self) -> usize {
        Self::bytes_of(self.buckets)
    }

    pub(super) fn bytes_of(buckets: usize) -> usize {
        buckets.div_ceil(PER_BYTE)
    }

    #[inline(always)]
    fn byte(&mut self, bucket: usize) -> (&mut u8, u32) {
        debug_assert!(bucket < self.buckets);
        // SAFETY: there are two bits for each bucket; and the counts are borrowed as a whole.
        (unsafe { self.bits.at(bucket / PER_BYTE).as_mut() }, (bucket % PER_BYTE * 2) as u32)
    }

    /// How many there are.
    #[inline(always)]
    pub(super) fn of(&self, bucket: usize) -> u8 {
        debug_assert!(bucket < self.buckets);
        // SAFETY: as above.
        unsafe { self.bits.at(bucket / PER_BYTE).read() >> (bucket % PER_BYTE * 2) & MANY }
    }

    /// Says how many there are.
    #[inline(always)]
    pub(super) fn set(&mut self, bucket: usize, count: usize) {
        let (byte, shift) = self.byte(bucket);
        *byte = *byte & !(MANY << shift) | (count.min(MANY.into()) as u8) << shift;
    }

    /// One more.
    #[inline(always)]
    pub(super) fn more(&mut self, bucket: usize) {
        let (byte, shift) = self.byte(bucket);
        let is_exact = *byte >> shift & MANY != MANY;
        *byte += u8::from(is_exact) << shift;
    }

    /// One less; says whether that was the last. There may be none if keys have changed.
    #[inline(always)]
    pub(super) fn less(&mut self, bucket: usize) -> bool {
        let (byte, shift) = self.byte(bucket);
        let count = *byte >> shift & MANY;
        *byte -= u8::from(matches!(count, 1 | 2)) << shift;
        count == 1
    }
}
