//! Hash and displace: places for a fixed set of hashes such that no two collide.
//!
//! The hash picks a bucket; the bucket's displacement, an arbitrary 32-bit factor found when the table is built,
//! multiplies the hash's upper half into a place. Large buckets are placed first, while there is room (after
//! Fox, Chen, Heath and Daoud, and Belazzougui, Botelho and Dietzfelbinger).

use alloc::{vec, vec::Vec};

use crate::{hashes::Keyed, mix::spread};

/// In `places`: nothing there.
pub(crate) const FREE: u32 = u32::MAX;
/// How many displacements are tried for one bucket, per place.
const TRIES_PER_PLACE: u64 = 64;

/// The bucket of `hash`; their number is a power of two.
#[inline(always)]
pub(crate) const fn bucket(hash: u64, buckets: usize) -> usize {
    hash as usize & (buckets - 1)
}

/// The place of `hash` under its bucket's displacement.
#[inline(always)]
pub(crate) const fn place(hash: u64, displacement: u32, places: usize) -> usize {
    scale(((hash >> 32) as u32).wrapping_mul(displacement), places)
}

/// Maps a 32-bit number evenly to less than `n`.
#[inline(always)]
const fn scale(x: u32, n: usize) -> usize {
    ((x as u64 * n as u64) >> 32) as usize
}

/// How many hash functions are tried before giving up.
const SEEDS: u64 = 32;

/// A hash function under which as many keys as `len` can be placed, of those that follow from a seed; `hashes` says what
/// the keys' hashes are under one.
pub(crate) fn find_placement(
    len: usize,
    seed: u64,
    mut hashes: impl FnMut(&Keyed) -> Vec<u64>,
) -> Option<(Keyed, Placement)> {
    let buckets = (len / 4 + 1).next_power_of_two();
    let places = len + len / 32 + 1;
    (0..SEEDS).find_map(|attempt| {
        let hash = Keyed::new(seed.wrapping_add(attempt));
        let placement = displace(&hashes(&hash), buckets, places)?;
        Some((hash, placement))
    })
}

/// Displacements, and which hash is at each place.
pub(crate) struct Placement {
    pub(crate) displacements: Vec<u32>,
    /// By place: index into the hashes, or `u32::MAX`.
    pub(crate) places: Vec<u32>,
}

/// Places all `hashes`; `None` when two are too much alike (then another seed helps).
pub(crate) fn displace(hashes: &[u64], buckets: usize, places: usize) -> Option<Placement> {
    let starts = bucket_starts(hashes, buckets);
    let members = sort_into_buckets(hashes, &starts);
    let mut order: Vec<u32> = (0..buckets as u32).collect();
    let size = |b: u32| starts[b as usize + 1] - starts[b as usize];
    order.sort_by_key(|&b| core::cmp::Reverse(size(b)));
    let mut placement = Placement { displacements: vec![1; buckets], places: vec![FREE; places] };
    for b in order.into_iter().take_while(|&b| size(b) > 0) {
        let members = &members[starts[b as usize] as usize..starts[b as usize + 1] as usize];
        placement.displacements[b as usize] = place_bucket(hashes, members, &mut placement.places)?;
    }
    Some(placement)
}

/// Where each bucket's members begin in a list of all members; one more entry for the end.
fn bucket_starts(hashes: &[u64], buckets: usize) -> Vec<u32> {
    let mut starts = vec![0u32; buckets + 1];
    for &hash in hashes {
        starts[bucket(hash, buckets) + 1] += 1;
    }
    for b in 0..buckets {
        starts[b + 1] += starts[b];
    }
    starts
}

fn sort_into_buckets(hashes: &[u64], starts: &[u32]) -> Vec<u32> {
    let mut next = starts.to_vec();
    let mut members = vec![0u32; hashes.len()];
    for (i, &hash) in hashes.iter().enumerate() {
        let at = &mut next[bucket(hash, starts.len() - 1)];
        members[*at as usize] = i as u32;
        *at += 1;
    }
    members
}

/// Finds a displacement that takes all members to free and different places, and takes these.
fn place_bucket(hashes: &[u64], members: &[u32], places: &mut [u32]) -> Option<u32> {
    if alike(hashes, members) {
        return None;
    }
    let tries = TRIES_PER_PLACE * (places.len() as u64 + 16);
    (0..tries).map(factor).find(|&factor| take_places(hashes, members, factor, places))
}

/// Whether two members have equal upper halves, which no displacement separates.
fn alike(hashes: &[u64], members: &[u32]) -> bool {
    let upper = |&i: &u32| hashes[i as usize] >> 32;
    (1..members.len()).any(|n| members[..n].iter().any(|i| upper(i) == upper(&members[n])))
}

/// Takes the places of all members, or of none if one is occupied.
fn take_places(hashes: &[u64], members: &[u32], displacement: u32, places: &mut [u32]) -> bool {
    let size = places.len();
    let at = |i: u32| place(hashes[i as usize], displacement, size);
    let take = |&&i: &&u32| {
        let here = &mut places[at(i)];
        let free = *here == FREE;
        if free {
            *here = i;
        }
        free
    };
    let placed = members.iter().take_while(take).count();
    if placed == members.len() {
        return true;
    }
    for &i in &members[..placed] {
        places[at(i)] = FREE;
    }
    false
}

/// The displacements tried: well spread, and odd so that none is 0.
fn factor(attempt: u64) -> u32 {
    (spread(attempt) >> 32) as u32 | 1
}
