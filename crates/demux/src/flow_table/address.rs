//! Which two blocks belong to a key, while the number of blocks grows one by one (linear hashing).

use super::tags::{BLOCK, HALF};
use crate::mix::{FACTOR, fold};

/// The most columns there are. Miri is slow: its tables grow while they are small.
const MOST_COLUMNS: u32 = if cfg!(miri) { 8 } else { 128 };

/// The least: a key's two blocks are in different ones.
const LEAST_COLUMNS: u32 = 4;

/// The most blocks whose places a [`Place`] can name.
pub(super) const MOST_BLOCKS: u32 = 1 << 26;

/// Where a record is: 64 places to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(pub(super) u32);

impl Place {
    #[inline(always)]
    pub(super) fn new(block: u32, at: u32) -> Self {
        Self(block * BLOCK as u32 + at)
    }

    #[inline(always)]
    pub(super) fn block(self) -> u32 {
        self.0 / BLOCK as u32
    }

    /// Its bit among those of the block.
    #[inline(always)]
    pub(super) fn bit(self) -> u64 {
        1 << (self.0 as usize % BLOCK)
    }

    /// The half of a block that it is in.
    #[inline(always)]
    pub(super) fn half(self) -> Half {
        Half(self.0 / HALF as u32)
    }

    /// Which of the half's places it is.
    #[inline(always)]
    pub(super) fn at(self) -> usize {
        self.0 as usize % HALF
    }
}

/// Half a block: places whose tags are compared together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Half(pub(super) u32);

impl Half {
    #[inline(always)]
    pub(super) fn new(block: u32, half: u32) -> Self {
        Self(block * 2 + half)
    }

    #[inline(always)]
    pub(super) fn block(self) -> u32 {
        self.0 / 2
    }

    #[inline(always)]
    pub(super) fn place(self, at: u32) -> Place {
        Place((self.0 * HALF as u32) | at)
    }

    #[inline(always)]
    pub(super) fn other(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// The keyed hash of a key, cut into what the table needs of it: 16 bits for the half of a row, 26 for the row, 6 for the
/// way to the second block, 16 for the tag.
#[derive(Clone, Copy)]
pub(super) struct Hash(u64);

/// The bits that choose the half of a row.
const IN_ROW: u64 = 0xffff;

impl Hash {
    pub(super) const NONE: Self = Self(0);

    /// Of a keyed hash, whose bits are not independent of one another where keys differ in few: another
    /// multiplication makes them so.
    #[inline(always)]
    pub(super) fn of(hash: u64) -> Self {
        Self(fold(hash, FACTOR))
    }

    /// What tells keys of one half apart; never 0, the mark of an empty place.
    #[inline(always)]
    pub(super) fn tag(self) -> u16 {
        (self.0 >> 48) as u16 | 1
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
    /// Twice the number of blocks.
    halves: u32,
    /// Twice the number of columns.
    row: u32,
    /// How many halves before the block that is yet to come its keys still are.
    back: u32,
    /// The bits of a hash that lead to a half once all of the present doubling is done.
    mask: u64,
}

impl Extent {
    /// So many blocks; `wide` is the last row of the present doubling.
    #[inline(always)]
    fn new(count: u32, wide: u32, columns: u32) -> Self {
        let (row, mask) = (2 * columns, u64::from(wide) << 16 | IN_ROW);
        Self { halves: 2 * count, row, back: wide.div_ceil(2) * row, mask }
    }

    /// The fewest blocks of a table that has `most` when it is full, chosen such that its rows are complete then: all
    /// blocks are equally likely when no row is half split.
    pub(super) fn least(most: u32) -> Self {
        let doublings = (most / (MOST_COLUMNS / 2)).checked_ilog2().unwrap_or(0);
        let columns = most.div_ceil(1 << doublings).max(LEAST_COLUMNS);
        Self::new(columns, 0, columns)
    }

    #[inline(always)]
    pub(super) fn count(self) -> u32 {
        self.halves / 2
    }

    #[inline(always)]
    pub(super) fn columns(self) -> u32 {
        self.row / 2
    }

    fn wide(self) -> u32 {
        (self.mask >> 16) as u32
    }

    /// The half that this one is in as long as its block is yet to come.
    #[inline(always)]
    fn existing(self, half: u32) -> Half {
        Half(if half < self.halves { half } else { half - self.back })
    }

    /// Where a key is sought first.
    #[inline(always)]
    pub(super) fn first(self, hash: Hash) -> Half {
        // Row times length of a row, and a part of another row.
        self.existing((((hash.0 & self.mask) * u64::from(self.row)) >> 16) as u32)
    }

    /// Where a key is sought when it is not in its first block.
    #[inline(always)]
    pub(super) fn second(self, hash: Hash) -> Half {
        let row = (hash.0 >> 16) as u32 ^ WAYS[hash.way()];
        let half = (((hash.0 & IN_ROW) * u64::from(self.row)) >> 16) as u32 % 2;
        self.existing(self.half(row, 2 * hash.second_column(self.columns()) + half))
    }

    fn half(self, row: u32, half: u32) -> u32 {
        (row & self.wide()) * self.row + half
    }

    /// The second blocks of all keys whose first is `block`, and perhaps others; some may be named twice.
    pub(super) fn seconds(self, block: u32) -> [u32; 6] {
        let (row, column) = (block / self.columns(), block % self.columns());
        core::array::from_fn(|n| {
            let (way, top) = (n % 3, if n < 3 { 0 } else { self.wide() ^ self.wide() >> 1 });
            self.existing(self.half(row ^ WAYS[way] ^ top, 2 * aside(column, way, self.columns()))).block()
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
        (grown, self.count() - grown.back / 2)
    }

    /// One block less, and the block that takes its keys; the block that goes is the last.
    pub(super) fn shrunk(self) -> (Self, u32) {
        let last = self.count() - 1;
        let narrow = self.back / 2;
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
            let mut extent = Extent::least(most);
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
        let mut extent = Extent::least(70);
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
            let least = Extent::least(most);
            let rows = (most / least.columns()).max(1).next_power_of_two();
            let complete = least.columns() * rows;
            assert!(complete >= most && complete - most < rows.max(2), "{most}: {complete}");
        }
    }
}
