//! Spreading bits.

/// The `n`th output of splitmix64 (Steele, Lea and Flood): a bijection without visible pattern.
pub(crate) const fn spread(n: u64) -> u64 {
    let x = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Odd and without pattern.
pub(crate) const FACTOR: u64 = 0x9fb2_1c65_1e98_df25;

/// The 128-bit product, its halves combined.
#[inline(always)]
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
