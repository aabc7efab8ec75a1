//! One block more or less at a time.

use super::{
    FlowRecord,
    access::Access,
    address::Extent,
    bits::ones,
    hash::Hash,
    place::{Group, Place},
    room::{displace, near},
    table::Table,
    tags::BLOCK,
};

/// Adds one block and moves to it what belongs there now; brings home what found no room before. False if the table
/// has all blocks it may have, or if no room is found for what the new block has none for.
#[cold]
#[inline(never)]
pub(super) fn grow<R: FlowRecord, A: Access<R>>(table: &mut Table<R, A>) -> bool {
    let old = table.extent;
    if old.count() == table.store.most_blocks() {
        return false;
    }
    let (grown, new) = (old.grown(), old.count());
    table.store.reach(new);
    let Some(sharers) = to_share(table, grown) else { return false };
    // Before anything is in two places: keys' own code runs here, and may panic.
    let guests = Guests::of(table, grown, grown.sharers());
    if let Some(guests) = guests {
        guests.for_each(table, |table, _, hash| {
            if grown.first(hash).block() == new {
                table.leaves(grown.first(hash).group(), hash.tag());
            }
        });
    }
    table.store.access.touch_all(new);
    let mut targets = Targets::new(table, [new; 2]);
    table.prefetch_records(new, targets.empty[0]);
    for (from, hash) in sharers.iter().flat_map(Sharer::chosen) {
        let home = grown.first(hash);
        let preferred = if home.block() == new { home } else { grown.second(hash) };
        let to = targets.take::<R, A>(preferred);
        copy(table, from, to.expect("as many as a block has places"), hash, home.group());
    }
    table.set_extent(grown);
    table.store.access.touch_all(new);
    for (from, hash) in sharers.iter().flat_map(Sharer::chosen) {
        table.set_tag(from, None);
        left(table, from, hash, old);
    }
    settle(table, &sharers[0], if A::PREFERS { u64::MAX } else { sharers[0].strangers });
    settle(table, &sharers[1], sharers[1].strangers);
    if let Some(guests) = guests {
        guests.for_each(table, |table, place, hash| {
            let home = grown.first(hash);
            if home.block() == new {
                table.returns(old.first(hash).group(), hash.tag());
            }
            if let Some(to) = near_of(table, home) {
                table.relocate(place, to, hash);
            }
        });
    }
    true
}

/// A block whose keys another takes or gives, and which of its records go there.
struct Sharer {
    block: u32,
    full: u64,
    /// Which of the records prefer another group.
    strangers: u64,
    /// Of the records, before anything changes: keys' own code runs here.
    hashes: [Hash; BLOCK],
    chosen: u64,
}

impl Sharer {
    fn new<R: FlowRecord, A: Access<R>>(table: &Table<R, A>, block: u32) -> Self {
        let full = table.full(block);
        table.prefetch_records(block, full);
        let mut hashes = [Hash::NONE; BLOCK];
        ones(full).for_each(|at| hashes[at as usize] = table.hash_at(Place::new(block, at)));
        Self { block, full, strangers: table.strangers(block), hashes, chosen: 0 }
    }

    /// Of two blocks, or of one that is named twice.
    fn both<R: FlowRecord, A: Access<R>>(table: &Table<R, A>, [first, second]: [u32; 2]) -> [Self; 2] {
        let empty = Self { block: second, full: 0, strangers: 0, hashes: [Hash::NONE; BLOCK], chosen: 0 };
        [Self::new(table, first), if first == second { empty } else { Self::new(table, second) }]
    }

    /// Chooses the records of such hashes.
    fn choose(&mut self, goes: impl Fn(Hash) -> bool) {
        self.chosen = self.those_of(self.full, goes);
    }

    /// Those of these records that have such hashes.
    fn those_of(&self, places: u64, such: impl Fn(Hash) -> bool) -> u64 {
        ones(places).map(|at| u64::from(such(self.hashes[at as usize])) << at).sum()
    }

    /// Chooses the records that belong to the last block now: those whose first block it is, and of those that are not in
    /// theirs, those whose second it is.
    fn choose_for_last(&mut self, grown: Extent) {
        let last = grown.count() - 1;
        let first = self.those_of(self.full, |hash| grown.first(hash).block() == last);
        let second =
            self.those_of(self.strangers & self.full & !first, |hash| grown.second(hash).block() == last);
        self.chosen = first | second;
    }

    fn chosen(&self) -> impl Iterator<Item = (Place, Hash)> + '_ {
        self.places(self.chosen)
    }

    fn places(&self, places: u64) -> impl Iterator<Item = (Place, Hash)> + '_ {
        ones(places).map(|at| (Place::new(self.block, at), self.hashes[at as usize]))
    }
}

/// The blocks that the last one of `grown` is to share its keys with, and which of their records it takes: as many as it has
/// places for. Where they have more, some go to their second blocks before; few blocks are in need of that.
fn to_share<R: FlowRecord, A: Access<R>>(table: &mut Table<R, A>, grown: Extent) -> Option<[Sharer; 2]> {
    for _ in 0..4 * BLOCK {
        let mut sharers = Sharer::both(table, grown.sharers());
        sharers.iter_mut().for_each(|sharer| sharer.choose_for_last(grown));
        if sharers.iter().map(|sharer| sharer.chosen.count_ones()).sum::<u32>() <= BLOCK as u32 {
            return Some(sharers);
        }
        if !leave(table, &sharers) {
            break;
        }
    }
    None
}

/// Moves one of the chosen records to its other block, or a record of that block out of the way.
fn leave<R: FlowRecord, A: Access<R>>(table: &mut Table<R, A>, sharers: &[Sharer; 2]) -> bool {
    let (extent, spared) = (table.extent, [sharers[0].block, sharers[1].block]);
    let other = |(from, hash): (Place, Hash)| {
        let (first, second) = (extent.first(hash), extent.second(hash));
        let other = if first.block() == from.block() { second } else { first };
        Some(other).filter(|other| !spared.contains(&other.block()))
    };
    for (from, hash) in sharers.iter().flat_map(Sharer::chosen) {
        if let Some(to) = other((from, hash)).and_then(|other| near_of(table, other)) {
            table.relocate(from, to, hash);
            return true;
        }
    }
    // All of them are full. One search from two of them, however many there are.
    let mut full = sharers.iter().flat_map(Sharer::chosen).filter_map(other);
    let Some(first) = full.next().map(Place::block) else { return false };
    let last = full.last().map_or(first, Place::block);
    displace(table, [first, last], &spared).is_some()
}

/// Counts of a record that was in a place according to the old extent, and is no more.
fn left<R: FlowRecord, A: Access<R>>(table: &mut Table<R, A>, from: Place, hash: Hash, old: Extent) {
    let home = old.first(hash).group();
    table.set_stranger(from, false);
    if home.block() == from.block() && from.group() != home {
        table.returns(home, hash.tag());
    }
}

/// Blocks that records are copied to, and which of their places are empty yet: tags that were just written one by one can't be read
/// together until all that was written before has reached the cache, new records included.
struct Targets {
    blocks: [u32; 2],
    empty: [u64; 2],
}

impl Targets {
    /// Two blocks, or one that is named twice.
    fn new<R: FlowRecord, A: Access<R>>(table: &Table<R, A>, blocks: [u32; 2]) -> Self {
        let empty = blocks.map(|block| table.empty_in_block(Group::new(block, 0)));
        Self { blocks, empty }
    }

    /// An empty place for a record that prefers this one, in the same block: as [`near`] it as there is. It is empty no longer.
    #[inline(always)]
    fn take<R: FlowRecord, A: Access<R>>(&mut self, preferred: Place) -> Option<Place> {
        let empty = &mut self.empty[usize::from(self.blocks[0] != preferred.block())];
        let to = near::<R, A>(*empty, preferred)?;
        *empty &= !to.bit();
        Some(to)
    }
}

/// An empty place for a record that prefers this one, in the same block: as [`near`] it as there is.
fn near_of<R: FlowRecord, A: Access<R>>(table: &Table<R, A>, preferred: Place) -> Option<Place> {
    near::<R, A>(table.empty_in_block(preferred.group()), preferred)
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
    table.count_moves(1);
}

/// Moves those of some records that stay in a block to the group they prefer, if there is room now; and to the very place.
fn settle<R: FlowRecord, A: Access<R>>(table: &mut Table<R, A>, sharer: &Sharer, some: u64) {
    for (from, hash) in sharer.places(some & sharer.full & !sharer.chosen) {
        let preferred = table.extent.first(hash);
        let home = preferred.group();
        let empty = table.empty(home);
        if home.block() != sharer.block || empty == 0 {
            continue;
        }
        let to = A::choose(empty, preferred);
        if home != from.group() || to == preferred {
            table.relocate(from, to, hash);
        }
    }
}

/// Records whose first block is one of two, and which are in their second.
#[derive(Clone, Copy)]
struct Guests {
    homes: [u32; 2],
    /// The blocks as they were when they were placed.
    extent: Extent,
    /// Where they may be.
    blocks: [u32; 12],
}

impl Guests {
    /// Of these blocks, which the last of `wider` shares its keys with or is, in a table whose extent is still the one they
    /// were placed by; none, if nothing is away from home.
    fn of<R: FlowRecord, A: Access<R>>(table: &Table<R, A>, wider: Extent, homes: [u32; 2]) -> Option<Self> {
        let (extent, mut groups) = (table.extent, homes.into_iter().flat_map(Group::of_block));
        let away = groups.any(|group| !table.store.elsewhere(group).is_empty());
        away.then(|| Self { homes, extent, blocks: extent.seconds(wider) })
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
            let strangers = table.strangers(block) & table.full(block);
            table.prefetch_records(block, strangers);
            for at in ones(strangers) {
                let place = Place::new(block, at);
                let hash = table.hash_at(place);
                if self.homes.contains(&self.extent.first(hash).block()) {
                    visit(table, place, hash);
                }
            }
        }
    }
}

/// Gives up the last block if those that take its records have room for them.
#[cold]
#[inline(never)]
pub(super) fn shrink<R: FlowRecord, A: Access<R>>(table: &mut Table<R, A>) {
    let old = table.extent;
    let (shrunk, last, takers) = (old.shrunk(), old.count() - 1, old.sharers());
    let mut sharer = Sharer::new(table, last);
    let goes =
        |hash, taker| [shrunk.first(hash), shrunk.second(hash)].into_iter().find(|to| to.block() == taker);
    let target = |hash| takers.iter().find_map(|&taker| goes(hash, taker));
    let has_room = takers.iter().all(|&taker| {
        sharer.choose(|hash| goes(hash, taker).is_some());
        sharer.chosen.count_ones() + table.full(taker).count_ones() <= BLOCK as u32
    });
    // A key whose hash has changed may have no other block.
    sharer.choose(|hash| target(hash).is_some());
    if !has_room || sharer.chosen != sharer.full {
        return;
    }
    // Before anything is in two places, as in [`grow`].
    if let Some(guests) = Guests::of(table, old, [last; 2]) {
        guests.for_each(table, |table, _, hash| table.leaves(shrunk.first(hash).group(), hash.tag()));
    }
    takers.iter().for_each(|&taker| table.store.access.touch_all(taker));
    let mut targets = Targets::new(table, takers);
    for (from, hash) in sharer.chosen() {
        let to = target(hash).and_then(|to| targets.take::<R, A>(to));
        copy(table, from, to.expect("they have room"), hash, shrunk.first(hash).group());
    }
    table.set_extent(shrunk);
    takers.iter().for_each(|&taker| table.store.access.touch_all(taker));
    sharer.chosen().for_each(|(from, _)| table.set_tag(from, None));
    table.clear_counts(last);
}
