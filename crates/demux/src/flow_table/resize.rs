//! One block more or less at a time.

use super::{
    FlowRecord,
    access::Access,
    address::{Extent, Shape},
    bits::ones,
    hash::Hash,
    place::{Group, Place},
    room::near,
    table::Table,
    tags::BLOCK,
};

/// Adds one block and moves to it what belongs there now; brings home what found no room before. False if the table
/// has all blocks it may have, or is plain.
#[cold]
#[inline(never)]
pub(super) fn grow<R: FlowRecord, A: Access<R>>(table: &mut Table<R, A>) -> bool {
    let old = table.extent;
    if old.count() == table.store.most_blocks() || old.shape == Shape::Plain {
        return false;
    }
    let (grown, shared) = old.grown();
    let new = old.count();
    table.store.reach(new);
    let full = table.full(shared);
    let hashes = hashes_in(table, shared, full);
    table.store.access.touch(new);
    let mut gone = 0;
    for at in ones(full) {
        let hash = hashes[at as usize];
        let (first, second) = (grown.first(hash), grown.second(hash));
        let Some(group) = [first, second].into_iter().find(|group| group.block() == new) else { continue };
        let Some(to) = near(table, group, hash.tag()) else { continue };
        copy(table, Place::new(shared, at), to, hash, first);
        gone |= 1 << at;
    }
    let guests = Guests::of(table, shared);
    if let Some(guests) = guests {
        guests.for_each(table, |table, _, hash| {
            if grown.first(hash).block() == new {
                table.leaves(grown.first(hash), hash.tag());
            }
        });
    }
    table.set_extent(grown);
    table.store.access.touch(new);
    for at in ones(gone) {
        let from = Place::new(shared, at);
        table.set_tag(from, None);
        left(table, from, hashes[at as usize], old);
    }
    settle(table, shared, full & !gone, &hashes);
    if let Some(guests) = guests {
        guests.for_each(table, |table, place, hash| {
            let home = grown.first(hash);
            if home.block() == new {
                table.returns(old.first(hash), hash.tag());
            }
            if let Some(to) = near(table, home, hash.tag()) {
                table.relocate(place, to, hash);
            }
        });
    }
    true
}

/// Counts of a record that was in a place according to the old extent, and is no more.
fn left<R: FlowRecord, A: Access<R>>(table: &mut Table<R, A>, from: Place, hash: Hash, old: Extent) {
    let home = old.first(hash);
    table.set_stranger(from, false);
    if home.block() == from.block() && from.group() != home {
        table.returns(home, hash.tag());
    }
}

/// Copies a record to a block that is not in use yet, where it will be found once it is.
fn copy<R: FlowRecord, A: Access<R>>(
    table: &mut Table<R, A>,
    from: Place,
    to: Place,
    hash: Hash,
    home: Group,
) {
    let (source, target) = (table.store.record(from), table.store.record(to));
    // SAFETY: a full place and an empty one of this table.
    unsafe { table.store.access.copy(source, target) };
    if home.block() == to.block() && home != to.group() {
        table.leaves(home, hash.tag());
    }
    table.set_stranger(to, home != to.group());
    table.set_tag(to, Some(hash.tag()));
    table.count_move();
}

/// Moves the records of a block to the group they prefer, and to the very place, if there is room now.
fn settle<R: FlowRecord, A: Access<R>>(
    table: &mut Table<R, A>,
    block: u32,
    full: u64,
    hashes: &[Hash; BLOCK],
) {
    for at in ones(full) {
        let (from, hash) = (Place::new(block, at), hashes[at as usize]);
        let home = table.extent.first(hash);
        let empty = table.empty(home);
        if home.block() != block || empty == 0 {
            continue;
        }
        let to = home.place(A::choose(empty, hash.tag()));
        if home != from.group() || A::PREFERS && to.at() == hash.tag().preferred() as usize {
            table.relocate(from, to, hash);
        }
    }
}

/// Records whose first block is a certain one, and which are in their second.
#[derive(Clone, Copy)]
struct Guests {
    home: u32,
    /// The blocks as they were when `home` was not split yet.
    extent: Extent,
    /// Where they may be.
    blocks: [u32; 6],
}

impl Guests {
    /// Of a table whose extent is still the one they were placed by; none, if nothing is away from home.
    fn of<R: FlowRecord, A: Access<R>>(table: &Table<R, A>, home: u32) -> Option<Self> {
        let away = Group::of_block(home).any(|group| !table.store.elsewhere(group).is_empty());
        away.then(|| Self { home, extent: table.extent, blocks: table.extent.seconds(home) })
    }

    fn for_each<R: FlowRecord, A: Access<R>>(
        &self,
        table: &mut Table<R, A>,
        mut visit: impl FnMut(&mut Table<R, A>, Place, Hash),
    ) {
        for (n, &block) in self.blocks.iter().enumerate() {
            if block == self.home || self.blocks[..n].contains(&block) {
                continue;
            }
            let strangers = table.strangers(block);
            table.prefetch_records(block, strangers);
            for at in ones(strangers) {
                let place = Place::new(block, at);
                let hash = table.hash_at(place);
                if self.extent.first(hash).block() == self.home {
                    visit(table, place, hash);
                }
            }
        }
    }
}

/// Gives up the last block if the one that takes its records has room for them.
#[cold]
#[inline(never)]
pub(super) fn shrink<R: FlowRecord, A: Access<R>>(table: &mut Table<R, A>) {
    let old = table.extent;
    let (shrunk, taker) = old.shrunk();
    let last = shrunk.count();
    let full = table.full(last);
    if table.full(taker).count_ones() + full.count_ones() > BLOCK as u32 {
        return;
    }
    let hashes = hashes_in(table, last, full);
    table.store.access.touch(taker);
    for group in Group::of_block(last) {
        let takes = Group::new(taker, group.in_block());
        table.add_counts(takes, group);
    }
    for at in ones(full) {
        let hash = hashes[at as usize];
        let home = shrunk.first(hash);
        let group = if home.block() == taker { home } else { Group::new(taker, home.in_block()) };
        if let Some(to) = near(table, group, hash.tag()) {
            copy(table, Place::new(last, at), to, hash, home);
        }
    }
    table.set_extent(shrunk);
    table.store.access.touch(taker);
    for at in ones(full) {
        let (place, home) = (Place::new(last, at), old.first(hashes[at as usize]));
        table.set_tag(place, None);
        if home.block() == last && home != place.group() {
            let hash = hashes[at as usize];
            table.returns(shrunk.first(hash), hash.tag());
        }
    }
    table.clear_counts(last);
}

/// The hashes of the records in a block, before anything changes: keys' own code runs here.
fn hashes_in<R: FlowRecord, A: Access<R>>(table: &Table<R, A>, block: u32, full: u64) -> [Hash; BLOCK] {
    table.prefetch_records(block, full);
    let mut hashes = [Hash::NONE; BLOCK];
    ones(full).for_each(|at| hashes[at as usize] = table.hash_at(Place::new(block, at)));
    hashes
}
