//! Finding the perfect hash of a [`NameTable`](crate::NameTable), at build time.

use alloc::{collections::BTreeSet, string::String, vec::Vec};

use crate::{
    displace::{FREE, displace},
    mix::spread,
    names::hash,
};

/// The most names of one table.
pub const MAX_NAMES: usize = u16::MAX as usize;

/// How many hash functions are tried.
const SEEDS: u64 = 64;

/// What a generator writes into its `NameTable::new(names, seed, &displacements, &slots)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltNames {
    /// Selects the hash function.
    pub seed: u64,
    /// By bucket.
    pub displacements: Vec<u32>,
    /// By place: the index of the name, or of any other where there is none.
    pub slots: Vec<u16>,
}

/// Why there is no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildNamesError {
    /// Every name asked for is compared with one.
    #[error("no names")]
    Empty,
    /// Indices have 16 bits.
    #[error("{0} names, but a table holds at most {MAX_NAMES}")]
    TooMany(usize),
    /// Names must differ.
    #[error("the name `{0}` occurs twice")]
    Duplicate(String),
    /// Names that collide under all hash functions tried.
    #[error("no perfect hash was found for these names")]
    NoPerfectHash,
}

/// Finds a perfect hash over `names`. The same names always give the same table.
///
/// # Errors
/// See [`BuildNamesError`].
pub fn build_names(names: &[&str]) -> Result<BuiltNames, BuildNamesError> {
    if names.is_empty() {
        return Err(BuildNamesError::Empty);
    }
    if names.len() > MAX_NAMES {
        return Err(BuildNamesError::TooMany(names.len()));
    }
    let mut seen = BTreeSet::new();
    if let Some(name) = names.iter().find(|name| !seen.insert(**name)) {
        return Err(BuildNamesError::Duplicate((*name).into()));
    }
    let (buckets, places) = table_sizes(names.len());
    let attempt = |seed| {
        let hashes: Vec<u64> = names.iter().map(|name| hash(name.as_bytes(), seed)).collect();
        let placement = displace(&hashes, buckets, places)?;
        let slots = placement.places.iter().map(|&at| if at == FREE { 0 } else { at as u16 }).collect();
        Some(BuiltNames { seed, displacements: placement.displacements, slots })
    };
    (0..SEEDS).map(spread).find_map(attempt).ok_or(BuildNamesError::NoPerfectHash)
}

/// Numbers of buckets and of places for so many names, powers of two.
fn table_sizes(names: usize) -> (usize, usize) {
    ((names / 4 + 1).next_power_of_two(), names.next_power_of_two())
}
