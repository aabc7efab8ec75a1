//! Which two blocks belong to a key, while the number of blocks grows one by one (linear hashing).

use core::hint::select_unpredictable;

use super::{
    place::Group,
    tags::{GROUPS, Tag},
};
use crate::mix::{FACTOR, fold};

/// The most columns there are. Miri is slow: its tables grow while they are small.
const MOST_COLUMNS: u32 = if cfg!(miri) { 8 } else { 128 };

/// The least: a key's two blocks are in different ones.
const LEAST_COLUMNS: u32 = 4;

/// The most blocks whose places a [`Place`](super::place::Place) can name.
pub(super) const MOST_BLOCKS: u32 = 1 << 26;

/// The keyed hash of a key, cut into what the table needs of it: 16 bits for the group of a row, 26 for the row, 6 for the
/// way to the second block, 8 for the tag.
#[derive(Clone, Copy)]
pub(super) struct Hash(u64);

/// The bits that choose the group of a row.
const IN_ROW: u64 = 0xffff;

impl Hash {
    pub(super) const NONE: Self = Self(0);

    /// Of a keyed hash, whose bits are not independent of one another where keys differ in few: another
    /// multiplication makes them so.
    #[inline(always)]
    pub(super) fn of(hash: u64) -> Self {
        Self(fold(hash, FACTOR))
    }

    /// What tells keys of one group apart.
    #[inline(always)]
    pub(super) fn tag(self) -> Tag {
        Tag::of((self.0 >> 56) as u8)
    }

    #[inline(always)]
    pub(super) fn column(self, columns: u32) -> u32 {
        (((self.0 & IN_ROW) * u64::from(columns)) >> 16) as u32
    }

    /// Which of the [`WAYS`] leads from the first block to the second.
    #[inline(always)]
    fn way(self) -> usize {
        (((self.0 >> 42 & 0x3f) * WAYS.len() as u64) >> 6) as usize
    }

    /// The column of the second block, never that of the first.
    #[inline(always)]
    pub(super) fn second_column(self, columns: u32) -> u32 {
        aside(self.column(columns), self.way(), columns)
    }
}

/// What a key's second row differs in from its first. They are few, so that it is known where records can be. Whatever
/// three bits of a row are the highest, these lead, one after the other, to all eight values of them: rows are split
/// from one end, and those yet to be split, which have more than their share, can always pass some of it on.
const WAYS: [u32; 3] = [0xffff_ffff, 0xaaaa_aaaa, 0xcccc_cccc];

/// The column of the second block: far apart, so that what one column has too much is soon spread over all.
fn aside(column: u32, way: usize, columns: u32) -> u32 {
    let away = [1, columns / 3, columns * 5 / 8][way];
    if column + away < columns { column + away } else { column + away - columns }
}

/// How many blocks there are. They lie in rows of `columns`; the rows double, block by block.
///
/// A key's first block is in the row that the low bits of its hash name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// The number of groups.
    groups: u32,
    /// Groups in a row.
    row: u32,
    /// How many groups before the block that is yet to come its keys still are.
    back: u32,
    /// Whether no block of the present doubling is yet to come.
    whole: bool,
    /// The bits of a hash that lead to a group once all of the present doubling is done.
    mask: u64,
}

impl Extent {
    /// So many blocks; `wide` is the last row of the present doubling.
    #[inline(always)]
    fn new(count: u32, wide: u32, columns: u32) -> Self {
        let (row, mask) = (GROUPS * columns, u64::from(wide) << 16 | IN_ROW);
        let (groups, back) = (GROUPS * count, wide.div_ceil(2) * row);
        Self { groups, row, back, whole: groups == (wide + 1) * row, mask }
    }

    /// The fewest blocks of a table that has `most` when it is full, or a few more, which are returned too, such that its
    /// rows are complete then: all blocks are equally likely when no row is half split.
    pub(super) fn least(most: u32) -> (Self, u32) {
        let doublings = (most / (MOST_COLUMNS / 2)).checked_ilog2().unwrap_or(0);
        let columns = most.div_ceil(1 << doublings).max(LEAST_COLUMNS);
        (Self::new(columns, 0, columns), columns << doublings)
    }

    #[inline(always)]
    pub(super) fn count(self) -> u32 {
        self.groups / GROUPS
    }

    #[inline(always)]
    pub(super) fn columns(self) -> u32 {
        self.row / GROUPS
    }

    fn wide(self) -> u32 {
        (self.mask >> 16) as u32
    }

    /// The group that this one is in as long as its block is yet to come.
    #[inline(always)]
    fn existing(self, group: u32) -> Group {
        // Half of all groups are yet to come at times: nothing that a branch would foresee.
        Group::numbered(group - select_unpredictable(group < self.groups, 0, self.back))
    }

    /// Where a key is sought first.
    #[inline(always)]
    pub(super) fn first(self, hash: Hash) -> Group {
        self.existing(self.aim(hash))
    }

    /// As [`first`](Self::first), if all blocks [are there](Self::is_whole).
    #[inline(always)]
    pub(super) fn first_of_whole(self, hash: Hash) -> Group {
        Group::numbered(self.aim(hash))
    }

    /// Whether no block of the present doubling is yet to come.
    #[inline(always)]
    pub(super) fn is_whole(self) -> bool {
        self.whole
    }

    /// Where a key is sought first once all of the present doubling is done.
    #[inline(always)]
    fn aim(self, hash: Hash) -> u32 {
        // Row times length of a row, and a part of another row.
        (((hash.0 & self.mask) * u64::from(self.row)) >> 16) as u32
    }

    /// Where a key is sought when it is not in its first block.
    #[inline(always)]
    pub(super) fn second(self, hash: Hash) -> Group {
        let row = (hash.0 >> 16) as u32 ^ WAYS[hash.way()];
        let group = (((hash.0 & IN_ROW) * u64::from(self.row)) >> 16) as u32 % GROUPS;
        self.existing(self.group(row, GROUPS * hash.second_column(self.columns()) + group))
    }

    fn group(self, row: u32, group: u32) -> u32 {
        (row & self.wide()) * self.row + group
    }

    /// The second blocks of all keys whose first is `block`, and perhaps others; some may be named twice.
    pub(super) fn seconds(self, block: u32) -> [u32; 6] {
        let (row, column) = (block / self.columns(), block % self.columns());
        core::array::from_fn(|n| {
            let (way, top) = (n % 3, if n < 3 { 0 } else { self.wide() ^ self.wide() >> 1 });
            self.existing(self.group(row ^ WAYS[way] ^ top, GROUPS * aside(column, way, self.columns())))
                .block()
        })
    }

    /// One block more, and the block that it shares its keys with.
    pub(super) fn grown(self) -> (Self, u32) {
        let count = self.count() + 1;
        let complete = (self.wide() + 1) * self.columns();
        let grown = Self::new(
            count,
            if count > complete { self.wide() * 2 + 1 } else { self.wide() },
            self.columns(),
        );
        (grown, self.count() - grown.back / GROUPS)
    }

    /// One block less, and the block that takes its keys; the block that goes is the last.
    pub(super) fn shrunk(self) -> (Self, u32) {
        let last = self.count() - 1;
        let narrow = self.back / GROUPS;
        let shrunk =
            Self::new(last, if last <= narrow { self.wide() / 2 } else { self.wide() }, self.columns());
        (shrunk, last - narrow)
    }

    /// Of the number of columns, which does not change, and the rest.
    #[inline(always)]
    pub(super) fn from_word(word: u64, columns: u32) -> Self {
        Self::new((word >> 32) as u32, word as u32, columns)
    }

    pub(super) fn to_word(self) -> u64 {
        u64::from(self.count()) << 32 | u64::from(self.wide())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes() -> impl Iterator<Item = Hash> {
        (1..4096).map(|n| Hash::of(crate::mix::spread(n)))
    }

    #[test]
    #[cfg_attr(miri, ignore = "slow")]
    fn growing_moves_keys_from_one_block_to_the_new_one_only_and_shrinking_moves_them_back() {
        for most in [1, 4, 100, 1000] {
            let (mut extent, _) = Extent::least(most);
            for _ in 0..500 {
                let (grown, shared) = extent.grown();
                assert_eq!(grown.count(), extent.count() + 1);
                assert_eq!(shared % extent.columns(), extent.count() % extent.columns(), "one column");
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
            let rows = complete / extent.columns();
            assert!(complete >= most && complete - most < rows.max(2), "{most}: {complete}");
            assert!(extent.is_whole());
            while extent.count() < complete.min(1000) {
                extent = extent.grown().0;
            }
            assert_eq!(extent.is_whole(), complete <= 1000);
        }
    }
}
