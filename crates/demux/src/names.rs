//! Perfect hash over names known at compile time, such as the operations of an interface.
//!
//! Names are short, so everything is arranged by classes of length: within a class a name is a fixed number of
//! (overlapping) words, loaded once for the hash and compared with the one candidate's words, without a loop.

use crate::displace::place;

/// Names and the perfect hash over them, written out by a code generator; see [`build_names`](crate::build_names).
///
/// [`find`](Self::find) returns a name's index in `names`. One name is compared, whatever is asked for: at most 60
/// instructions for names of up to 24 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NameTable {
    names: &'static [&'static str],
    seed: u64,
    /// By bucket: the factor that takes its names to their places. The number of buckets is a power of two.
    displacements: &'static [u32],
    /// The bits of a hash that select a bucket.
    bucket_mask: usize,
    /// By place: the index of the name there, or `u16::MAX`. The number of places is a power of two.
    slots: &'static [u16],
}

impl NameTable {
    /// A table from what [`build_names`](crate::build_names) found for these same `names`. From anything else it
    /// is a table that doesn't find all of them.
    ///
    /// # Panics
    /// When the number of displacements or of slots is not a power of two; in a `static` that is a compile error.
    pub const fn new(
        names: &'static [&'static str],
        seed: u64,
        displacements: &'static [u32],
        slots: &'static [u16],
    ) -> Self {
        assert!(displacements.len().is_power_of_two() && slots.len().is_power_of_two());
        assert!(slots.len() <= 1 << 16);
        let bucket_mask = displacements.len() - 1;
        Self { names, seed, displacements, bucket_mask, slots }
    }

    /// The names, in the order of their indices.
    pub const fn names(&self) -> &'static [&'static str] {
        self.names
    }

    /// The index of `name`.
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        match name.len() {
            8..=16 => self.find_words(two_words(name)?, name.len(), two_words),
            17..=24 => self.find_words(three_words(name)?, name.len(), three_words),
            4..=7 => self.find_words(two_halves(name)?, name.len(), two_halves),
            2..=3 => self.find_words(two_quarters(name)?, name.len(), two_quarters),
            0..=1 => self.find_words(one_byte(name)?, name.len(), one_byte),
            25.. => self.find_long(name),
        }
    }

    /// Whether `name` has this index: verifies a prediction with one comparison.
    #[inline]
    pub fn is(&self, index: u32, name: &[u8]) -> bool {
        self.names.get(index as usize).is_some_and(|candidate| equal(candidate.as_bytes(), name))
    }

    #[inline(always)]
    fn find_words<const N: usize>(
        &self,
        words: [u64; N],
        len: usize,
        load: impl FnOnce(&[u8]) -> Option<[u64; N]>,
    ) -> Option<u32> {
        let (index, candidate) = self.candidate(hash_words(words, len, self.seed))?;
        (candidate.len() == len && same(words, load(candidate)?)).then_some(index)
    }

    #[inline(never)]
    fn find_long(&self, name: &[u8]) -> Option<u32> {
        let (index, candidate) = self.candidate(hash_long(name, self.seed))?;
        (candidate == name).then_some(index)
    }

    /// The only name that can have this hash, and its index.
    #[inline(always)]
    fn candidate(&self, hash: u64) -> Option<(u32, &'static [u8])> {
        // SAFETY: the mask is one less than the number of displacements.
        let displacement = unsafe { *self.displacements.get_unchecked(hash as usize & self.bucket_mask) };
        // SAFETY: a place is below the number of slots, which `new` saw is not zero.
        let index = unsafe { *self.slots.get_unchecked(place(hash, displacement, self.slots.len())) };
        let name = self.names.get(usize::from(index))?;
        Some((index.into(), name.as_bytes()))
    }
}

/// Odd and without pattern.
const FACTOR: u64 = 0x9fb2_1c65_1e98_df25;

/// The hash of all of `name` and its length.
pub(crate) fn hash(name: &[u8], seed: u64) -> u64 {
    let len = name.len();
    let short = match len {
        0..=1 => one_byte(name).map(|words| hash_words(words, len, seed)),
        2..=3 => two_quarters(name).map(|words| hash_words(words, len, seed)),
        4..=7 => two_halves(name).map(|words| hash_words(words, len, seed)),
        8..=16 => two_words(name).map(|words| hash_words(words, len, seed)),
        17..=24 => three_words(name).map(|words| hash_words(words, len, seed)),
        25.. => None,
    };
    short.unwrap_or_else(|| hash_long(name, seed))
}

/// Whether two names are equal; for those of usual length without a call of `memcmp`.
#[inline(always)]
fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    match (two_words(a), two_words(b)) {
        (Some(x), Some(y)) if a.len() <= 16 => same(x, y),
        _ => a == b,
    }
}

/// Comparing whole arrays would take a detour through vector registers.
#[inline(always)]
fn same<const N: usize>(a: [u64; N], b: [u64; N]) -> bool {
    let mut difference = 0;
    for i in 0..N {
        difference |= a[i] ^ b[i];
    }
    difference == 0
}

/// One multiplication for two words; a third is added in with a factor of its own. Neither operand is ever a small
/// number, for then close names would have close hashes under every seed.
#[inline(always)]
fn hash_words<const N: usize>(words: [u64; N], len: usize, seed: u64) -> u64 {
    let more = words[2..].iter().fold(0, |sum: u64, word| sum.wrapping_add(*word).wrapping_mul(FACTOR));
    mix(words[0].wrapping_add(more) ^ seed, words[1] ^ len as u64 ^ FACTOR)
}

fn hash_long(name: &[u8], seed: u64) -> u64 {
    let words = name.chunks_exact(8);
    let last = tail(name).unwrap_or(0) ^ name.len() as u64;
    let state = words.filter_map(head).fold(seed, |state, word| mix(state ^ word, FACTOR));
    mix(state ^ last, FACTOR)
}

/// Folds the 128-bit product.
#[inline(always)]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The first 8 bytes, where there are so many.
#[inline(always)]
fn head(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk().map(|chunk| u64::from_le_bytes(*chunk))
}

/// The last 8 bytes, where there are so many.
#[inline(always)]
fn tail(bytes: &[u8]) -> Option<u64> {
    bytes.last_chunk().map(|chunk| u64::from_le_bytes(*chunk))
}

/// All of a name of 8 to 16 bytes.
#[inline(always)]
fn two_words(name: &[u8]) -> Option<[u64; 2]> {
    Some([head(name)?, tail(name)?])
}

/// All of a name of 17 to 24 bytes.
#[inline(always)]
fn three_words(name: &[u8]) -> Option<[u64; 3]> {
    let (_, rest) = name.split_at_checked(8)?;
    Some([head(name)?, tail(name)?, head(rest)?])
}

/// All of a name of 4 to 8 bytes.
#[inline(always)]
fn two_halves(name: &[u8]) -> Option<[u64; 2]> {
    let half = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
    Some([half(name.first_chunk()?), half(name.last_chunk()?)])
}

/// All of a name of 2 to 4 bytes.
#[inline(always)]
fn two_quarters(name: &[u8]) -> Option<[u64; 2]> {
    let quarter = |bytes: &[u8; 2]| u64::from(u16::from_le_bytes(*bytes));
    Some([quarter(name.first_chunk()?), quarter(name.last_chunk()?)])
}

/// All of a name of at most 1 byte.
#[inline(always)]
fn one_byte(name: &[u8]) -> Option<[u64; 2]> {
    Some([name.first().map_or(0, |byte| u64::from(*byte)), 0])
}
