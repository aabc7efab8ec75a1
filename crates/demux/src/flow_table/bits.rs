//! Places as bits of a word.

/// Places of a group, a block or a window, one bit each.
pub(super) trait Bits: Copy {
    /// The number of the lowest bit that is set.
    fn lowest(self) -> Option<u32>;

    /// All but the lowest bit that is set.
    fn others(self) -> Self;
}

macro_rules! bits {
    ($($word:ty)*) => {
        $(impl Bits for $word {
            #[inline(always)]
            fn lowest(self) -> Option<u32> {
                (self != 0).then(|| self.trailing_zeros())
            }

            #[inline(always)]
            fn others(self) -> Self {
                self & self.wrapping_sub(1)
            }
        })*
    };
}

bits!(u16 u32 u64 u128);

/// The numbers of the bits that are set.
#[inline(always)]
pub(super) fn ones(mut bits: impl Bits) -> impl Iterator<Item = u32> {
    core::iter::from_fn(move || {
        let at = bits.lowest();
        bits = bits.others();
        at
    })
}
