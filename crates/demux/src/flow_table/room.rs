//! Where a record that comes can go.

use super::{
    FlowRecord,
    access::Access,
    bits::{Bits, ones},
    hash::Hash,
    place::{Group, Place},
    resize,
    space::Cache,
    table::Table,
};

/// Blocks added at most because one record found no room.
const GROWTHS_FOR_ROOM: usize = 8;

/// An empty place in one of the two blocks of a hash, the group it prefers first. If there is none, one is made.
pub(super) fn find<R: FlowRecord, A: Access<R>>(table: &mut Table<R, A>, hash: Hash) -> Option<Place> {
    let preferred = table.extent.first(hash);
    let home = preferred.group();
    let empty = table.empty(home);
    if empty != 0 {
        return Some(A::choose(empty, preferred));
    }
    // SAFETY: nothing is empty there.
    unsafe { evict(table, home) }.or_else(|| in_block(table, home)).or_else(|| find_far(table, hash))
}

/// As [`find`], where there is no place in the first block.
#[cold]
#[inline(never)]
pub(super) fn find_far<R: FlowRecord, A: Access<R>>(table: &mut Table<R, A>, hash: Hash) -> Option<Place> {
    for _ in 0..GROWTHS_FOR_ROOM {
        let (first, second) = (table.extent.first(hash).group(), table.extent.second(hash).group());
        let crowded = table.empty(first) == 0;
        // SAFETY: the group is full then.
        let place = crowded.then(|| unsafe { evict(table, first) }).flatten();
        let place = place.or_else(|| in_block(table, first)).or_else(|| in_block(table, second));
        let place = place.or_else(|| displace(table, [first.block(), second.block()], &[]));
        if place.is_some() {
            return place;
        }
        if !resize::grow(table) {
            return None;
        }
    }
    None
}

/// Empties a place of a full group that holds a record which prefers another: that is away from home in any place. So
/// as few records as possible are, whatever came and went.
///
/// # Safety
/// The group is full.
#[inline(always)]
pub(super) unsafe fn evict<R: FlowRecord, A: Access<R>>(
    table: &mut Table<R, A>,
    group: Group,
) -> Option<Place> {
    let from = group.place(table.counts(group).strangers().lowest()?);
    // SAFETY: all places are full, says the caller; the reference ends here.
    let (hash, preferred) = table.seek(unsafe { table.record(from) }.key());
    let home = preferred.group();
    let to = in_block(table, home).or_else(|| in_second(table, hash))?;
    table.relocate_stranger(from, to, home, hash);
    Some(from)
}

/// An empty place in the second block of a hash.
#[cold]
#[inline(never)]
fn in_second<R: FlowRecord, A: Access<R>>(table: &Table<R, A>, hash: Hash) -> Option<Place> {
    in_block(table, table.extent.second(hash).group())
}

/// Asks for what [`find`] will look at, where the group that a record prefers is full.
#[inline(always)]
pub(super) fn prefetch<R: FlowRecord, A: Access<R>>(table: &Table<R, A>, group: Group, to: Cache) {
    let stranger = table.counts(group).strangers().lowest().map(|at| group.place(at));
    for place in stranger.into_iter().chain(in_block(table, group)) {
        table.store.prefetch_record(place, to);
    }
}

/// An empty place of the block, in this group if it has one.
#[inline(always)]
pub(super) fn in_block<R: FlowRecord, A: Access<R>>(table: &Table<R, A>, group: Group) -> Option<Place> {
    around(table.empty_in_block(group), group)
}

/// The first of some places of the block, from this group on.
#[inline(always)]
fn around(places: u64, group: Group) -> Option<Place> {
    places.rotate_right(group.shift()).lowest().map(|after| group.around(after))
}

/// One of the empty places of a block: in the group of the preferred one, if it has one, the one that a record is best off in.
#[inline(always)]
pub(super) fn near<R: FlowRecord, A: Access<R>>(empty: u64, preferred: Place) -> Option<Place> {
    let group = preferred.group();
    let own = group.own(empty);
    if own != 0 { Some(A::choose(own, preferred)) } else { around(empty, group) }
}

/// Blocks looked at most for one record.
const BLOCKS_SEARCHED: usize = 32;

/// A block found full, and the record that could move into it: the number of its block in the search, and its place.
#[derive(Clone, Copy)]
struct Seen {
    block: u32,
    from: Option<(usize, Place)>,
}

/// Empties a place in one of two full blocks by moving as few records as possible to their other blocks (cuckoo
/// hashing, breadth first), but none to those that are `spared`.
pub(super) fn displace<R: FlowRecord, A: Access<R>>(
    table: &mut Table<R, A>,
    [first, second]: [u32; 2],
    spared: &[u32],
) -> Option<Place> {
    let mut seen = [Seen { block: first, from: None }; BLOCKS_SEARCHED];
    seen[1].block = second;
    let mut count = 2;
    let mut next = 0;
    while next < count {
        let block = seen[next].block;
        table.prefetch_records(block, u64::MAX);
        for at in ones(table.full(block)) {
            let from = Place::new(block, at);
            let other = other_group(table, from);
            if other.block() == block || spared.contains(&other.block()) {
                continue;
            }
            if let Some(empty) = in_block(table, other) {
                return Some(shift(table, &seen, (next, from), empty));
            }
            if count < BLOCKS_SEARCHED && seen[..count].iter().all(|seen| seen.block != other.block()) {
                seen[count] = Seen { block: other.block(), from: Some((next, from)) };
                count += 1;
            }
        }
        next += 1;
    }
    None
}

/// The preferred group of the other block where the record at a full place may be.
fn other_group<R: FlowRecord, A: Access<R>>(table: &Table<R, A>, place: Place) -> Group {
    let hash = table.hash_at(place);
    let first = table.extent.first(hash);
    if first.block() == place.block() { table.extent.second(hash) } else { first }.group()
}

/// Moves the records along the way that was found, the last first, and returns the place this leaves empty.
fn shift<R: FlowRecord, A: Access<R>>(
    table: &mut Table<R, A>,
    seen: &[Seen; BLOCKS_SEARCHED],
    last: (usize, Place),
    mut empty: Place,
) -> Place {
    let mut step = Some(last);
    while let Some((of, from)) = step {
        let hash = table.hash_at(from);
        table.relocate(from, empty, hash);
        empty = from;
        step = seen[of].from;
    }
    empty
}
