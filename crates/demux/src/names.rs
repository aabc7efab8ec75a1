//! Perfect hash over names known at compile time, such as the operations of an interface.
//!
//! Names are short, so everything is arranged by classes of length: within a class a name is a fixed number of
//! (overlapping) words, loaded once for the hash and compared with the one candidate's words, without a loop.

use crate::displace::place;
use crate::mix::{FACTOR, fold};

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
    /// By place: the index of the only name that can be there. The number of places is a power of two.
    slots: &'static [u16],
}

/// In place of the index of a name that is not there.
const NONE: u32 = u32::MAX;

impl NameTable {
    /// A table from what [`build_names`](crate::build_names) found for these same `names`. From anything else it
    /// is a table that doesn't find all of them.
    ///
    /// # Panics
    /// When there are no names, when the number of displacements or of slots is not a power of two, or when a slot is
    /// no index of a name; in a `static` that is a compile error.
    pub const fn new(
        names: &'static [&'static str],
        seed: u64,
        displacements: &'static [u32],
        slots: &'static [u16],
    ) -> Self {
        assert!(displacements.len().is_power_of_two() && slots.len().is_power_of_two());
        assert!(slots.len() <= 1 << 16);
        let mut place = 0;
        while place < slots.len() {
            assert!((slots[place] as usize) < names.len());
            place += 1;
        }
        let bucket_mask = displacements.len() - 1;
        Self { names, seed, displacements, bucket_mask, slots }
    }

    /// The names, in the order of their indices.
    pub const fn names(&self) -> &'static [&'static str] {
        self.names
    }

    /// The index of `name`.
    #[inline(always)]
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        // A number costs its caller less than an `Option` does.
        let index = Self::index(name, self);
        (index != NONE).then_some(index)
    }

    /// The index of `name`, or [`NONE`].
    ///
    /// The order of the arguments keeps the name out of the register that a multiplication overwrites, and the order of
    /// the tests makes them few; a `match` would test one class after another.
    #[inline(never)]
    fn index(name: &[u8], table: &Self) -> u32 {
        let len = name.len();
        if len > 16 {
            if len > 24 { table.index_of_long(name) } else { table.index_of(three_words, name) }
        } else if len >= 8 {
            table.index_of(two_words, name)
        } else if len >= 4 {
            table.index_of(two_halves, name)
        } else if len >= 2 {
            table.index_of(two_quarters, name)
        } else if len == 1 {
            table.index_of(one_byte, name)
        } else {
            table.index_of(no_byte, name)
        }
    }

    /// Whether `name` has this index: verifies a prediction with one comparison.
    #[inline]
    pub fn is(&self, index: u32, name: &[u8]) -> bool {
        self.names.get(index as usize).is_some_and(|candidate| equal(candidate.as_bytes(), name))
    }

    /// For names of a class of length: `load` gives all of a name's bytes.
    #[inline(always)]
    fn index_of<const N: usize>(&self, load: impl Fn(&[u8]) -> Option<[u64; N]>, name: &[u8]) -> u32 {
        let Some(words) = load(name) else { return NONE };
        let (index, candidate) = self.candidate(hash_words(words, name.len(), self.seed));
        if candidate.len() != name.len() {
            return NONE;
        }
        match load(candidate) {
            Some(others) if same(words, others) => index,
            _ => NONE,
        }
    }

    #[inline(never)]
    fn index_of_long(&self, name: &[u8]) -> u32 {
        let (index, candidate) = self.candidate(hash_long(name, self.seed));
        if candidate == name { index } else { NONE }
    }

    /// The only name that can have this hash, and its index.
    #[inline(always)]
    fn candidate(&self, hash: u64) -> (u32, &'static [u8]) {
        // SAFETY: the mask is one less than the number of displacements.
        let displacement = unsafe { *self.displacements.get_unchecked(hash as usize & self.bucket_mask) };
        // SAFETY: a place is below the number of slots, which `new` saw is not zero.
        let index = unsafe { *self.slots.get_unchecked(place(hash, displacement, self.slots.len())) };
        // SAFETY: `new` saw that every slot is the index of a name.
        let name = unsafe { self.names.get_unchecked(usize::from(index)) };
        (index.into(), name.as_bytes())
    }
}

/// Odd and without pattern, and part of an instruction.
const SMALL_FACTOR: u64 = 0x5851_f42d;
/// Takes bit `i` of a length, of the lowest four, to bit `8 * i + 7`, which no ASCII text has: then no two lengths of one
/// class make up for a difference between words.
const LENGTH: u64 = 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28;

/// The hash of all of `name` and its length.
pub(crate) fn hash(name: &[u8], seed: u64) -> u64 {
    let len = name.len();
    let short = match len {
        0 => no_byte(name).map(|words| hash_words(words, len, seed)),
        1 => one_byte(name).map(|words| hash_words(words, len, seed)),
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

/// One multiplication for two words; a third is added in with a factor of its own.
#[inline(always)]
fn hash_words<const N: usize>(words: [u64; N], len: usize, seed: u64) -> u64 {
    let more = words[2..].iter().fold(0, |sum: u64, word| sum.wrapping_add(*word).wrapping_mul(SMALL_FACTOR));
    fold(words[0].wrapping_add(more) ^ seed, words[1] ^ (len as u64).wrapping_mul(LENGTH))
}

fn hash_long(name: &[u8], seed: u64) -> u64 {
    let words = name.chunks_exact(8);
    let last = tail(name).unwrap_or(0) ^ name.len() as u64;
    let state = words.filter_map(head).fold(seed, |state, word| fold(state ^ word, FACTOR));
    fold(state ^ last, FACTOR)
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

/// All of a name of 4 to 8 bytes. As in the shorter classes the second word is made large: as a factor, a small number
/// would give close names close hashes under every seed.
#[inline(always)]
fn two_halves(name: &[u8]) -> Option<[u64; 2]> {
    let half = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
    Some([half(name.first_chunk()?), half(name.last_chunk()?) ^ FACTOR])
}

/// All of a name of 2 to 4 bytes.
#[inline(always)]
fn two_quarters(name: &[u8]) -> Option<[u64; 2]> {
    let quarter = |bytes: &[u8; 2]| u64::from(u16::from_le_bytes(*bytes));
    Some([quarter(name.first_chunk()?), quarter(name.last_chunk()?) ^ FACTOR])
}

/// All of a name of 1 byte.
#[inline(always)]
fn one_byte(name: &[u8]) -> Option<[u64; 2]> {
    Some([u64::from(*name.first()?), FACTOR])
}

/// All of a name that is empty.
#[inline(always)]
fn no_byte(_: &[u8]) -> Option<[u64; 2]> {
    Some([0, FACTOR])
}
