//! Making room: a record in the way goes to the other of its two buckets (cuckoo hashing, breadth first).

use super::{
    FlowRecord,
    access::Access,
    address::Hash,
    group::WIDTH,
    table::{Place, Table},
};

/// Buckets looked at most for one record: both of its own, all others of what is there, and some beyond.
const BUCKETS_SEARCHED: usize = 128;

/// A bucket found full, and the place whose record could move into it.
#[derive(Clone, Copy)]
struct Seen {
    bucket: u32,
    from: Option<(usize, usize)>,
}

/// Empties a place in one of the two buckets of a hash, which are both full, by moving as few records as possible.
pub(super) fn displace<R: FlowRecord, A: Access<R>>(table: &mut Table<R, A>, hash: Hash) -> Option<Place> {
    let mut seen = [Seen { bucket: 0, from: None }; BUCKETS_SEARCHED];
    seen[0].bucket = table.extent().bucket(hash.first());
    seen[1].bucket = table.extent().bucket(hash.second());
    let mut count = 2;
    let mut next = 0;
    while next < count {
        let bucket = seen[next].bucket;
        table.prefetch_bucket(bucket, (1 << WIDTH) - 1);
        for at in 0..WIDTH {
            let other = other_bucket(table, Place { bucket, at });
            if other == bucket {
                continue;
            }
            if let Some(empty) = table.empty_place(other) {
                return Some(shift(table, &seen, (next, at), Place { bucket: other, at: empty }));
            }
            if count < BUCKETS_SEARCHED {
                seen[count] = Seen { bucket: other, from: Some((next, at)) };
                count += 1;
            }
        }
        next += 1;
    }
    None
}

/// The other bucket where the record at a full place may be.
fn other_bucket<R: FlowRecord, A: Access<R>>(table: &Table<R, A>, place: Place) -> u32 {
    let hash = table.hash_at(place);
    let first = table.extent().bucket(hash.first());
    if first == place.bucket { table.extent().bucket(hash.second()) } else { first }
}

/// Moves the records along the way that was found, the last first, and returns the place this leaves empty.
fn shift<R: FlowRecord, A: Access<R>>(
    table: &mut Table<R, A>,
    seen: &[Seen; BUCKETS_SEARCHED],
    last: (usize, usize),
    mut empty: Place,
) -> Place {
    let mut step = Some(last);
    while let Some((of, at)) = step {
        let from = Place { bucket: seen[of].bucket, at };
        let tag = table.hash_at(from).tag();
        table.relocate(from, empty, tag);
        empty = from;
        step = seen[of].from;
    }
    empty
}
