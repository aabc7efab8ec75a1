//! Perfect hash over names known at compile time, such as the operations of an interface.

use crate::displace::{bucket, place};

/// Names and the perfect hash over them, written out by a code generator; see [`build_names`](crate::build_names).
///
/// [`find`](Self::find) returns a name's index in `names`. One name is compared, whatever is asked for.
#[derive(Clone, Copy, Debug)]
pub struct NameTable {
    /// The names, in the order that defines their indices; at most 65,535.
    pub names: &'static [&'static str],
    /// Selects the hash function.
    pub seed: u64,
    /// By bucket: the factor that takes its names to their places.
    pub displacements: &'static [u32],
    /// By place: the index of the name there, or `u16::MAX`.
    pub slots: &'static [u16],
}

impl NameTable {
    /// A table from what [`build_names`](crate::build_names) found for these same `names`. From anything else it
    /// is a table that doesn't find all of them.
    pub const fn new(
        names: &'static [&'static str],
        seed: u64,
        displacements: &'static [u32],
        slots: &'static [u16],
    ) -> Self {
        Self { names, seed, displacements, slots }
    }

    /// The index of `name`.
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        let hash = hash(name, self.seed);
        let displacement = *self.displacements.get(bucket(hash, self.displacements.len()))?;
        let index = *self.slots.get(place(hash, displacement, self.slots.len()))?;
        let candidate = self.names.get(usize::from(index))?;
        same(candidate.as_bytes(), name).then_some(u32::from(index))
    }

    /// Whether `name` has this index: verifies a prediction with one comparison.
    #[inline]
    pub fn is(&self, index: u32, name: &[u8]) -> bool {
        self.names.get(index as usize).is_some_and(|candidate| same(candidate.as_bytes(), name))
    }
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

/// Equality, by overlapping words: names are too short for a call of `memcmp` to pay.
#[inline(always)]
fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    match (head(a), head(b)) {
        (Some(x), Some(y)) if a.len() <= 16 => x == y && tail(a) == tail(b),
        (Some(x), Some(y)) if a.len() <= 24 => x == y && head(&a[8..]) == head(&b[8..]) && tail(a) == tail(b),
        (Some(_), Some(_)) => a == b,
        _ => short(a) == short(b),
    }
}

/// All of a name of less than 8 bytes. Injective among names of equal length.
#[inline(always)]
fn short(name: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (name.first_chunk::<4>(), name.last_chunk::<4>()) {
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32;
    }
    match name {
        [] => 0,
        &[a] => u64::from(a),
        &[a, b] => u64::from(a) | u64::from(b) << 8,
        &[a, b, .., c] => u64::from(a) | u64::from(b) << 8 | u64::from(c) << 16,
    }
}

/// Odd and without pattern.
const FACTOR: u64 = 0x9fb2_1c65_1e98_df25;

/// The hash of all of `name` and its length.
#[inline(always)]
pub(crate) fn hash(name: &[u8], seed: u64) -> u64 {
    let start = seed ^ name.len() as u64;
    let (Some(first), Some(last)) = (head(name), tail(name)) else {
        return mix(start, short(name));
    };
    let state = mix(start, first);
    match name.len() {
        0..=16 => mix(state, last),
        17..=24 => mix(mix(state, head(&name[8..]).unwrap_or(0)), last),
        _ => mix(mix_middle(state, &name[8..name.len() - 8]), last),
    }
}

/// Mixes in whatever is neither first nor last in a long name.
fn mix_middle(state: u64, middle: &[u8]) -> u64 {
    let words = middle.chunks_exact(8);
    let rest = short(words.remainder());
    words.filter_map(head).fold(mix(state, rest), mix)
}

/// Folds the 128-bit product.
#[inline(always)]
fn mix(state: u64, word: u64) -> u64 {
    let product = u128::from(state ^ word) * u128::from(FACTOR);
    product as u64 ^ (product >> 64) as u64
}
