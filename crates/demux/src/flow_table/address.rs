//! Which two blocks belong to a key, while the number of blocks grows one by one (linear hashing).

use core::hint::select_unpredictable;

use super::{
    hash::{Columns, Hash, WAYS},
    place::Place,
    tags::{BLOCK, GROUP, GROUPS},
};

/// The most columns there are. Where tables are slow or modelled, they grow while they are small.
const MOST_COLUMNS: u32 = if cfg!(miri) || cfg!(loom) { 8 } else { 128 };

/// The most blocks of a table that has all of them from the beginning: 2 MiB of records of 64 bytes.
const MOST_AT_ONCE: u32 = if cfg!(miri) || cfg!(loom) { MOST_COLUMNS / 2 } else { 512 };

/// The least: a key's two blocks are in different ones.
const LEAST_COLUMNS: u32 = 4;

/// The most blocks whose places a [`Place`](super::place::Place) can name.
pub(super) const MOST_BLOCKS: u32 = 1 << 26;

/// What there is to calculate on the way to a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// None of the blocks of the present doubling is yet to come.
    Whole,
    /// Some blocks of the present doubling are yet to come.
    Split,
}

/// How many blocks there are. They lie in rows of `columns`; the rows double, block by block.
///
/// A key's first block is in the row that the low bits of its hash name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) shape: Shape,
    /// The number of places.
    places: usize,
    /// How many places before the block that is yet to come its keys still are.
    back: usize,
    columns: Columns,
    /// The bits of a hash that lead to a group once all of the present doubling is done.
    mask: u64,
    /// The one of them that two neighbours in the present doubling differ in, if there are two.
    neighbour: u64,
}

impl Extent {
    /// So many blocks; `wide` is the last row of the present doubling.
    #[inline(always)]
    fn new(count: u32, wide: u32, columns: Columns) -> Self {
        let row = GROUPS * columns.count();
        let mask = u64::from(wide) << columns.row_bit() | columns.mask();
        let (groups, groups_back) = (GROUPS * count, wide.div_ceil(2) * row);
        let shape = if groups == (wide + 1) * row { Shape::Whole } else { Shape::Split };
        let [places, back] = [groups, groups_back].map(|groups| groups as usize * GROUP);
        // Below the bit that the doubling adds.
        let neighbour = u64::from((wide + 1) >> 2) << columns.row_bit();
        Self { shape, places, back, columns, mask, neighbour }
    }

    /// The fewest blocks of a table that has at least so many when it is full, and how many it has then: such that its rows are
    /// complete, since all blocks are equally likely when no row is half split, and as many as it may, if it may have more.
    pub(super) fn least([needed, allowed]: [u32; 2]) -> (Self, u32) {
        let grows = needed > MOST_AT_ONCE;
        let doublings = if grows { (needed / (MOST_COLUMNS / 2)).ilog2() } else { 0 };
        let columns = needed.div_ceil(1 << doublings).max(allowed >> doublings).max(LEAST_COLUMNS);
        (Self::new(columns, 0, Columns::new(columns)), columns << doublings)
    }

    /// The most blocks of complete rows, a power of two of them, that are not more than so many.
    pub(super) fn complete(self, blocks: u32) -> u32 {
        let columns = self.columns.count();
        columns << (blocks / columns).ilog2()
    }

    #[inline(always)]
    pub(super) fn count(self) -> u32 {
        (self.places / BLOCK) as u32
    }

    #[inline(always)]
    pub(super) fn columns(self) -> Columns {
        self.columns
    }

    /// Groups in a row.
    #[inline(always)]
    fn row(self) -> u32 {
        GROUPS * self.columns.count()
    }

    /// How many blocks before the one that is yet to come its keys still are.
    fn blocks_back(self) -> u32 {
        (self.back / BLOCK) as u32
    }

    fn wide(self) -> u32 {
        (self.mask >> self.columns.row_bit()) as u32
    }

    /// The place that this one is in as long as its block is yet to come.
    #[inline(always)]
    fn existing(self, place: usize) -> Place {
        self.existing_or(place, place.wrapping_sub(self.back))
    }

    /// This place, or another as long as its block is yet to come.
    #[inline(always)]
    fn existing_or(self, place: usize, other: usize) -> Place {
        // Half of all places are yet to come at times: nothing that a branch would foresee.
        Place(select_unpredictable(place < self.places, place, other))
    }

    /// Where a key is sought first.
    #[inline(always)]
    pub(super) fn first(self, hash: Hash) -> Place {
        match self.shape {
            Shape::Whole => self.first_of_whole(hash),
            Shape::Split => self.first_of_split(hash),
        }
    }

    /// The [`Hash`] of a key and where the key is sought [first](Self::first), in fewer instructions, of which
    /// more wait for each other: for changes, whose time other waits decide. By reference, so that what a way does not need
    /// is not loaded.
    #[inline(always)]
    pub(super) fn seek_in_short(&self, keyed: u64) -> (Hash, Place) {
        match self.shape {
            Shape::Whole => self.seek_in_whole(keyed),
            Shape::Split => {
                out_of_line();
                self.seek_in_split(keyed)
            }
        }
    }

    /// As [`seek_in_short`](Self::seek_in_short), if the shape is [`Shape::Whole`].
    #[inline(always)]
    pub(super) fn seek_in_whole(self, keyed: u64) -> (Hash, Place) {
        let hash = Hash::of(keyed);
        (hash, self.first_of_whole(hash))
    }

    /// As [`seek_in_short`](Self::seek_in_short), whatever the shape.
    #[inline(always)]
    pub(super) fn seek_in_split(self, keyed: u64) -> (Hash, Place) {
        let hash = Hash::of(keyed);
        (hash, self.first_of_split(hash))
    }

    #[inline(always)]
    fn first_of_whole(self, hash: Hash) -> Place {
        Place(self.aim(hash.place))
    }

    /// As long as a key's block is yet to come, half of its keys are with its neighbour, if that has come. So the one that is
    /// to be split is not so much fuller than others.
    #[inline(always)]
    fn first_of_split(self, hash: Hash) -> Place {
        let aim = self.aim(hash.place);
        let aside = self.aim(hash.place ^ hash.aside() & self.neighbour);
        let before = aim.wrapping_sub(self.back);
        // A key that is not to go aside aims at the same place, which is yet to come as well.
        self.existing_or(aim, select_unpredictable(aside < self.places, aside, before))
    }

    /// Where a key is sought first once all of the present doubling is done.
    #[inline(always)]
    fn aim(self, place: u64) -> usize {
        // Row times length of a row, and a part of another row.
        self.columns.scaled(place & self.mask)
    }

    /// Where a key is sought when it is not in its first block.
    #[inline(always)]
    pub(super) fn second(self, hash: Hash) -> Place {
        let columns = self.columns;
        let row = (hash.place >> columns.row_bit()) as u32 ^ WAYS[hash.way()];
        let group = columns.aside(columns.preferred_group(hash) as u32, hash.way());
        self.existing(self.place(row, group, columns.preferred(hash)))
    }

    /// The place of a group of a row that is in the group where this one is in its own.
    fn place(self, row: u32, group: u32, place: usize) -> usize {
        ((row & self.wide()) * self.row() + group) as usize * GROUP + place % GROUP
    }

    /// The blocks that the last one shares its keys with: that of which it is the other half; and its neighbour, or the one
    /// that the neighbour's keys are still in. Twice the same if it has no neighbour.
    pub(super) fn sharers(self) -> [u32; 2] {
        let (last, other) = (self.count() - 1, self.last_and_neighbour()[1]);
        let half = |block| block - self.blocks_back();
        [half(last), if other < last { other } else { half(other) }]
    }

    fn last_and_neighbour(self) -> [u32; 2] {
        let (columns, last) = (self.columns.count(), self.count() - 1);
        let row = last / columns;
        let other = row ^ (self.neighbour >> self.columns.row_bit()) as u32;
        [last, other * columns + last % columns]
    }

    /// The second blocks of all keys whose first is the last block of `wider` or one of its [`sharers`](Self::sharers), and
    /// perhaps others; some may be named twice.
    pub(super) fn seconds(self, wider: Self) -> [u32; 12] {
        let columns = self.columns.count();
        let firsts = wider.last_and_neighbour();
        core::array::from_fn(|n| {
            let (way, half, first) = (n % 3, n / 3 % 2, firsts[n / 6]);
            let (row, column) =
                (first / columns - half as u32 * wider.blocks_back() / columns, first % columns);
            self.existing(self.place(row ^ WAYS[way], self.columns.aside(GROUPS * column, way), 0)).block()
        })
    }

    /// One block more.
    pub(super) fn grown(self) -> Self {
        let count = self.count() + 1;
        let complete = (self.wide() + 1) * self.columns.count();
        Self::new(count, if count > complete { self.wide() * 2 + 1 } else { self.wide() }, self.columns)
    }

    /// One block less: the last one goes.
    pub(super) fn shrunk(self) -> Self {
        let last = self.count() - 1;
        let is_begun = last > self.blocks_back();
        Self::new(last, if is_begun { self.wide() } else { self.wide() / 2 }, self.columns)
    }

    /// Of the number of columns, which does not change, and the rest.
    #[inline(always)]
    pub(super) fn from_word(word: u64, columns: Columns) -> Self {
        Self::new((word >> 32) as u32, word as u32, columns)
    }

    pub(super) fn to_word(self) -> u64 {
        u64::from(self.count()) << 32 | u64::from(self.wide())
    }
}

/// Has the compiler put the code that calls this behind the rest, so that the other ways run straight through.
#[cold]
fn out_of_line() {}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn keyed() -> impl Iterator<Item = u64> {
        (1..4096).map(crate::mix::spread)
    }

    fn hashes() -> impl Iterator<Item = Hash> {
        keyed().map(Hash::of)
    }

    #[test]
    #[cfg_attr(miri, ignore = "slow")]
    fn growing_moves_keys_from_two_blocks_to_the_new_one_only_and_shrinking_moves_them_back() {
        for most in [1, 4, 100, 1000] {
            let (mut extent, _) = Extent::least([most; 2]);
            let columns = extent.columns().count();
            for _ in 0..500 {
                let (grown, sharers) = (extent.grown(), extent.grown().sharers());
                assert_eq!(grown.count(), extent.count() + 1);
                assert!(
                    sharers.iter().all(|sharer| sharer % columns == extent.count() % columns),
                    "one column"
                );
                for hash in hashes() {
                    for find in [Extent::first, Extent::second] {
                        let (before, after) = (find(extent, hash), find(grown, hash));
                        assert!(after.block() < grown.count());
                        let moves = sharers.contains(&before.block()) && after.block() == extent.count();
                        assert!(before == after || moves);
                    }
                    assert_ne!(extent.first(hash).block(), extent.second(hash).block());
                }
                for keyed in keyed() {
                    assert_eq!(extent.first(Hash::of(keyed)), extent.seek_in_short(keyed).1);
                }
                assert_eq!(grown.shrunk(), extent);
                assert_eq!(Extent::from_word(grown.to_word(), grown.columns()), grown);
                extent = grown;
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "slow")]
    fn second_blocks_are_known_by_the_first() {
        let (mut extent, _) = Extent::least([70; 2]);
        for _ in 0..800 {
            let (grown, last) = (extent.grown(), extent.count());
            for hash in hashes() {
                let (first, second) = (extent.first(hash).block(), extent.second(hash).block());
                assert!(!grown.sharers().contains(&first) || extent.seconds(grown).contains(&second));
                let (first, second) = (grown.first(hash).block(), grown.second(hash).block());
                assert!(first != last || grown.seconds(grown).contains(&second));
            }
            extent = grown;
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "slow")]
    fn between_two_sizes_no_block_has_more_than_its_share_by_half() {
        let (mut extent, _) = Extent::least([64; 2]);
        while extent.count() < 512 {
            let mut keys = vec![0; extent.count() as usize];
            let hashes = (0..50_000).map(|n| Hash::of(crate::mix::spread(n)));
            hashes.for_each(|hash| keys[extent.first(hash).block() as usize] += 1);
            // Rows of the first doubling have no neighbours.
            let most = if extent.count() < 128 { 2.0 } else { 1.5 };
            let share = 50_000.0 / f64::from(extent.count());
            let fullest = f64::from(*keys.iter().max().expect("blocks"));
            let chance = 5.0 * (most * share).sqrt();
            assert!(fullest < most * share + chance, "{fullest} of {share} in one of {}", extent.count());
            extent = (0..13).fold(extent, |extent, _| extent.grown());
        }
    }

    #[test]
    fn rows_are_complete_when_the_table_is_full() {
        for most in [64, 65, 127, 1000, 153_110, MOST_BLOCKS] {
            let (mut extent, complete) = Extent::least([most; 2]);
            let rows = complete / extent.columns().count();
            let allowed = most.saturating_add(rows * 3 / 2);
            let (wider, as_allowed) = Extent::least([most, allowed]);
            assert_eq!(as_allowed, (allowed / rows * rows).max(complete));
            assert_eq!(wider.columns().count(), as_allowed / rows);
            assert!(complete >= most && complete - most < rows.max(2), "{most}: {complete}");
            assert_ne!(extent.shape, Shape::Split);
            assert_eq!(extent.complete(complete), complete);
            assert!(rows == 1 || extent.complete(complete - 1) == complete / 2);
            while extent.count() < complete.min(1000) {
                extent = extent.grown();
            }
            assert_eq!(extent.shape != Shape::Split, complete <= 1000);
        }
    }
}
