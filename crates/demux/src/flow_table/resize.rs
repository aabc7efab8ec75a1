//! One block more or less at a time.

use super::{
    FlowRecord,
    access::Access,
    address::{Extent, Half, Hash, Place},
    room::in_block,
    table::{Table, ones},
    tags::{BLOCK, EMPTY},
};

/// Adds one block and moves to it what belongs there now; brings home what found no room before. False if the table
/// has all blocks it may have.
#[cold]
#[inline(never)]
pub(super) fn grow<R: FlowRecord, A: Access<R>>(table: &mut Table<R, A>) -> bool {
    let old = table.extent;
    if old.count() == table.store.most_blocks() {
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
        let Some(half) = [first, second].into_iter().find(|half| half.block() == new) else { continue };
        let Some(to) = in_block(table, half) else { continue };
        copy(table, Place::new(shared, at), to, hash, first);
        gone |= 1 << at;
    }
    let strangers = Strangers::of(table, shared);
    if let Some(strangers) = strangers {
        strangers.for_each(table, |table, _, hash| {
            if grown.first(hash).block() == new {
                table.store.elsewhere(grown.first(hash)).leaves(hash.tag());
            }
        });
    }
    table.extent = grown;
    table.store.access.publish(grown);
    table.store.access.touch(new);
    for at in ones(gone) {
        let from = Place::new(shared, at);
        table.store.tags(from.half()).set(from.at(), EMPTY);
        left(table, from, hashes[at as usize], old);
    }
    settle(table, shared, full & !gone, &hashes);
    if let Some(strangers) = strangers {
        strangers.for_each(table, |table, place, hash| {
            let home = grown.first(hash);
            if home.block() == new {
                table.store.elsewhere(old.first(hash)).returns(hash.tag());
            }
            if let Some(to) = in_block(table, home) {
                table.relocate(place, to, hash);
            }
        });
    }
    true
}

/// Counts of a record that was in a place according to the old extent, and is no more.
fn left<R: FlowRecord, A: Access<R>>(table: &mut Table<R, A>, from: Place, hash: Hash, old: Extent) {
    let home = old.first(hash);
    table.set_guest(from, false);
    if home.block() == from.block() && from.half() != home {
        table.store.elsewhere(home).returns(hash.tag());
    }
}

/// Copies a record to a block that is not in use yet, where it will be found once it is.
fn copy<R: FlowRecord, A: Access<R>>(
    table: &mut Table<R, A>,
    from: Place,
    to: Place,
    hash: Hash,
    home: Half,
) {
    let (source, target) = (table.store.record(from), table.store.record(to));
    // SAFETY: a full place and an empty one of this table.
    unsafe { table.store.access.copy(source, target) };
    let guest = home.block() != to.block();
    if !guest && home != to.half() {
        table.store.elsewhere(home).leaves(hash.tag());
    }
    table.set_guest(to, guest);
    table.store.tags(to.half()).set(to.at(), hash.tag());
    table.count_move();
}

/// Moves the records of a block to the half they prefer, if it has room now.
fn settle<R: FlowRecord, A: Access<R>>(
    table: &mut Table<R, A>,
    block: u32,
    full: u64,
    hashes: &[Hash; BLOCK],
) {
    for at in ones(full) {
        let (from, hash) = (Place::new(block, at), hashes[at as usize]);
        let home = table.extent.first(hash);
        if home == from.half().other() {
            let empty = table.matching(home, EMPTY);
            if empty != 0 {
                table.relocate(from, home.place(empty.trailing_zeros()), hash);
            }
        }
    }
}

/// Records whose first block is a certain one, and which are in their second.
#[derive(Clone, Copy)]
struct Strangers {
    home: u32,
    /// The blocks as they were when `home` was not split yet.
    extent: Extent,
    /// Where they may be.
    blocks: [u32; 6],
}

impl Strangers {
    /// Of a table whose extent is still the one they were placed by; none, if nothing is away from home.
    fn of<R: FlowRecord, A: Access<R>>(table: &Table<R, A>, home: u32) -> Option<Self> {
        let half = Half::new(home, 0);
        let away = [half, half.other()].into_iter().any(|half| !table.store.elsewhere(half).is_empty());
        away.then(|| Self { home, extent: table.extent, blocks: table.extent.seconds(home) })
    }

    fn for_each<R: FlowRecord, A: Access<R>>(
        &self,
        table: &mut Table<R, A>,
        mut visit: impl FnMut(&mut Table<R, A>, Place, Hash),
    ) {
        for (n, &block) in self.blocks.iter().enumerate() {
            if self.blocks[..n].contains(&block) {
                continue;
            }
            let guests = table.guests(block);
            table.prefetch_records(block, guests);
            for at in ones(guests) {
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
    if old.count() == old.columns() {
        return;
    }
    let (shrunk, taker) = old.shrunk();
    let last = shrunk.count();
    let full = table.full(last);
    if table.full(taker).count_ones() + full.count_ones() > BLOCK as u32 {
        return;
    }
    let hashes = hashes_in(table, last, full);
    table.store.access.touch(taker);
    for half in [Half::new(last, 0), Half::new(last, 1)] {
        let takes = Half::new(taker, half.0 % 2);
        table.store.elsewhere(takes).add(table.store.elsewhere(half));
    }
    for at in ones(full) {
        let hash = hashes[at as usize];
        let home = shrunk.first(hash);
        let half = if home.block() == taker { home } else { Half::new(taker, home.0 % 2) };
        if let Some(to) = in_block(table, half) {
            copy(table, Place::new(last, at), to, hash, home);
        }
    }
    table.extent = shrunk;
    table.store.access.publish(shrunk);
    table.store.access.touch(taker);
    for at in ones(full) {
        let (place, home) = (Place::new(last, at), old.first(hashes[at as usize]));
        table.store.tags(place.half()).set(place.at(), EMPTY);
        if home.block() == last && home != place.half() {
            let hash = hashes[at as usize];
            table.store.elsewhere(shrunk.first(hash)).returns(hash.tag());
        }
    }
    table.set_guests(last, 0);
    [Half::new(last, 0), Half::new(last, 1)].into_iter().for_each(|half| table.store.elsewhere(half).clear());
}

/// The hashes of the records in a block, before anything changes: keys' own code runs here.
fn hashes_in<R: FlowRecord, A: Access<R>>(table: &Table<R, A>, block: u32, full: u64) -> [Hash; BLOCK] {
    table.prefetch_records(block, full);
    let mut hashes = [Hash::NONE; BLOCK];
    ones(full).for_each(|at| hashes[at as usize] = table.hash_at(Place::new(block, at)));
    hashes
}
