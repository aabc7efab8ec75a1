//! Which two blocks belong to a key, while the number of blocks grows one by one (linear hashing).

use core::hint::select_unpredictable;

use super::{
    hash::{Columns, Hash, WAYS},
    place::Group,
    tags::GROUPS,
};

/// The most columns there are. Miri is slow: its tables grow while they are small.
const MOST_COLUMNS: u32 = if cfg!(miri) { 8 } else { 128 };

/// The least: a key's two blocks are in different ones.
const LEAST_COLUMNS: u32 = 4;

/// The most blocks whose places a [`Place`](super::place::Place) can name.
pub(super) const MOST_BLOCKS: u32 = 1 << 26;

/// What there is to calculate on the way to a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum Shape {
    /// Nothing: the number of blocks is a power of two.
    Even,
    /// The number of blocks is another one; none of the present doubling is yet to come.
    Whole,
    /// Some blocks of the present doubling are yet to come.
    Split,
    /// Nothing, as for [`Shape::Even`], nor is the keyed hash spread once more. Such a table neither grows nor shrinks; where
    /// its keys lie badly it is made anew.
    Plain,
}

/// How many blocks there are. They lie in rows of `columns`; the rows double, block by block.
///
/// A key's first block is in the row that the low bits of its hash name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) shape: Shape,
    /// The number of groups.
    groups: u32,
    /// How many groups before the block that is yet to come its keys still are.
    back: u32,
    columns: Columns,
    /// The bits of a hash that lead to a group once all of the present doubling is done.
    mask: u64,
}

impl Extent {
    /// So many blocks; `wide` is the last row of the present doubling.
    #[inline(always)]
    fn new(count: u32, wide: u32, columns: Columns) -> Self {
        let row = GROUPS * columns.count();
        let mask = u64::from(wide) << columns.row_bit() | columns.mask();
        let (groups, back) = (GROUPS * count, wide.div_ceil(2) * row);
        let shape = match groups == (wide + 1) * row {
            true if row.is_power_of_two() => Shape::Even,
            true => Shape::Whole,
            false => Shape::Split,
        };
        Self { shape, groups, back, columns, mask }
    }

    /// The fewest blocks of a table that has `most` when it is full, or a few more, which are returned too, such that its
    /// rows are complete then: all blocks are equally likely when no row is half split.
    pub(super) fn least(most: u32) -> (Self, u32) {
        let doublings = (most / (MOST_COLUMNS / 2)).checked_ilog2().unwrap_or(0);
        let columns = most.div_ceil(1 << doublings).max(LEAST_COLUMNS);
        (Self::new(columns, 0, Columns::new(columns)), columns << doublings)
    }

    /// The same blocks, for keyed hashes as they are, if that is possible.
    pub(super) fn plain(self) -> Self {
        Self { shape: if self.shape == Shape::Even { Shape::Plain } else { self.shape }, ..self }
    }

    #[inline(always)]
    pub(super) fn count(self) -> u32 {
        self.groups / GROUPS
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

    fn wide(self) -> u32 {
        (self.mask >> self.columns.row_bit()) as u32
    }

    /// The group that this one is in as long as its block is yet to come.
    #[inline(always)]
    fn existing(self, group: usize) -> Group {
        // Half of all groups are yet to come at times: nothing that a branch would foresee.
        let before = group.wrapping_sub(self.back as usize);
        Group::numbered(select_unpredictable(group < self.groups as usize, group, before))
    }

    /// Where a key is sought first.
    #[inline(always)]
    pub(super) fn first(self, hash: Hash) -> Group {
        match self.shape {
            Shape::Plain | Shape::Even => self.first_of_even(hash),
            Shape::Whole => self.first_of_whole(hash),
            Shape::Split => self.first_of_split(hash),
        }
    }

    /// What the table needs of a keyed hash.
    #[inline(always)]
    pub(super) fn hash(self, keyed: u64) -> Hash {
        if self.shape == Shape::Plain { Hash::plain(keyed) } else { Hash::of(keyed) }
    }

    /// The [`hash`](Self::hash) of a key and where the key is sought [first](Self::first), in fewer instructions, of which
    /// more wait for each other: for changes, whose time other waits decide. By reference, so that what a way does not need
    /// is not loaded.
    #[inline(always)]
    pub(super) fn seek_in_short(&self, keyed: u64) -> (Hash, Group) {
        match self.shape {
            Shape::Even | Shape::Whole => self.seek_in_whole(keyed),
            Shape::Split => {
                out_of_line();
                self.seek_in_split(keyed)
            }
            Shape::Plain => {
                out_of_line();
                self.seek_in_plain(keyed)
            }
        }
    }

    /// As [`seek_in_short`](Self::seek_in_short), if the shape is [`Shape::Plain`].
    #[inline(always)]
    pub(super) fn seek_in_plain(self, keyed: u64) -> (Hash, Group) {
        let hash = Hash::plain(keyed);
        (hash, self.first_of_even(hash))
    }

    /// As [`seek_in_short`](Self::seek_in_short), if the shape is [`Shape::Even`].
    #[inline(always)]
    pub(super) fn seek_in_even(self, keyed: u64) -> (Hash, Group) {
        let hash = Hash::of(keyed);
        (hash, self.first_of_even(hash))
    }

    /// As [`seek_in_short`](Self::seek_in_short), if the shape is [`Shape::Even`] or [`Shape::Whole`].
    #[inline(always)]
    pub(super) fn seek_in_whole(self, keyed: u64) -> (Hash, Group) {
        let hash = Hash::of(keyed);
        (hash, self.first_of_whole(hash))
    }

    /// As [`seek_in_short`](Self::seek_in_short), if the shape is not [`Shape::Plain`].
    #[inline(always)]
    pub(super) fn seek_in_split(self, keyed: u64) -> (Hash, Group) {
        let hash = Hash::of(keyed);
        (hash, self.first_of_split(hash))
    }

    #[inline(always)]
    fn first_of_even(self, hash: Hash) -> Group {
        Group::at((hash.place & self.mask) as usize)
    }

    #[inline(always)]
    fn first_of_whole(self, hash: Hash) -> Group {
        Group::numbered(self.aim(hash))
    }

    #[inline(always)]
    fn first_of_split(self, hash: Hash) -> Group {
        self.existing(self.aim(hash))
    }

    /// Where a key is sought first once all of the present doubling is done.
    #[inline(always)]
    fn aim(self, hash: Hash) -> usize {
        // Row times length of a row, and a part of another row.
        self.columns.scaled(hash.place & self.mask)
    }

    /// Where a key is sought when it is not in its first block.
    #[inline(always)]
    pub(super) fn second(self, hash: Hash) -> Group {
        let columns = self.columns;
        let row = (hash.place >> columns.row_bit()) as u32 ^ WAYS[hash.way()];
        let in_row = columns.scaled(hash.place & columns.mask()) as u32;
        self.existing(self.group(row, columns.aside(in_row, hash.way())))
    }

    fn group(self, row: u32, group: u32) -> usize {
        ((row & self.wide()) * self.row() + group) as usize
    }

    /// The second blocks of all keys whose first is `block`, and perhaps others; some may be named twice.
    pub(super) fn seconds(self, block: u32) -> [u32; 6] {
        let columns = self.columns.count();
        let (row, column) = (block / columns, block % columns);
        core::array::from_fn(|n| {
            let (way, top) = (n % 3, if n < 3 { 0 } else { self.wide() ^ self.wide() >> 1 });
            self.existing(self.group(row ^ WAYS[way] ^ top, self.columns.aside(GROUPS * column, way))).block()
        })
    }

    /// One block more, and the block that it shares its keys with.
    pub(super) fn grown(self) -> (Self, u32) {
        let count = self.count() + 1;
        let complete = (self.wide() + 1) * self.columns.count();
        let grown =
            Self::new(count, if count > complete { self.wide() * 2 + 1 } else { self.wide() }, self.columns);
        (grown, self.count() - grown.back / GROUPS)
    }

    /// One block less, and the block that takes its keys; the block that goes is the last.
    pub(super) fn shrunk(self) -> (Self, u32) {
        let last = self.count() - 1;
        let narrow = self.back / GROUPS;
        let shrunk =
            Self::new(last, if last <= narrow { self.wide() / 2 } else { self.wide() }, self.columns);
        (shrunk, last - narrow)
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
    use super::*;

    fn keyed() -> impl Iterator<Item = u64> {
        (1..4096).map(crate::mix::spread)
    }

    fn hashes() -> impl Iterator<Item = Hash> {
        keyed().map(Hash::of)
    }

    #[test]
    #[cfg_attr(miri, ignore = "slow")]
    fn growing_moves_keys_from_one_block_to_the_new_one_only_and_shrinking_moves_them_back() {
        for most in [1, 4, 100, 1000] {
            let (mut extent, _) = Extent::least(most);
            let columns = extent.columns().count();
            for _ in 0..500 {
                let (grown, shared) = extent.grown();
                assert_eq!(grown.count(), extent.count() + 1);
                assert_eq!(shared % columns, extent.count() % columns, "one column");
                for hash in hashes() {
                    for find in [Extent::first, Extent::second] {
                        let (before, after) = (find(extent, hash), find(grown, hash));
                        assert!(after.block() < grown.count());
                        assert!(
                            before == after || (before.block(), after.block()) == (shared, extent.count())
                        );
                    }
                    assert_ne!(extent.first(hash).block(), extent.second(hash).block());
                }
                for keyed in keyed() {
                    assert_eq!(extent.first(extent.hash(keyed)), extent.seek_in_short(keyed).1);
                }
                let (back, taker) = grown.shrunk();
                assert_eq!(taker, shared);
                assert_eq!(back, extent);
                assert_eq!(Extent::from_word(grown.to_word(), grown.columns()), grown);
                extent = grown;
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "slow")]
    fn second_blocks_are_known_by_the_first() {
        let (mut extent, _) = Extent::least(70);
        for _ in 0..400 {
            extent = extent.grown().0;
            for hash in hashes() {
                let (first, second) = (extent.first(hash).block(), extent.second(hash).block());
                assert!(extent.seconds(first).contains(&second));
            }
        }
    }

    #[test]
    fn rows_are_complete_when_the_table_is_full() {
        for most in [64, 65, 127, 1000, 153_110, MOST_BLOCKS] {
            let (mut extent, complete) = Extent::least(most);
            let rows = complete / extent.columns().count();
            assert!(complete >= most && complete - most < rows.max(2), "{most}: {complete}");
            assert_ne!(extent.shape, Shape::Split);
            while extent.count() < complete.min(1000) {
                extent = extent.grown().0;
            }
            assert_eq!(extent.shape != Shape::Split, complete <= 1000);
        }
    }
}
