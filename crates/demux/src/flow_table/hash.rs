//! The hash of a key, cut into what the table needs of it.

use super::tags::{GROUP, GROUPS, Tag};
use crate::mix::FACTOR;

/// The keyed hash of a key, spread once more: where it prefers to be, from the lowest bit on 20 bits at most for the place in
/// a row and 26 for the row; and a word whose upper half is the tag, 6 bits of it the way to the second block.
#[derive(Clone, Copy)]
pub(super) struct Hash {
    pub(super) place: u64,
    tag: u64,
}

impl Hash {
    pub(super) const NONE: Self = Self { place: 0, tag: 0 };

    /// Of a keyed hash, whose bits are not independent of one another where keys differ in few: in the middle of another
    /// product they are.
    #[inline(always)]
    pub(super) fn of(hash: u64) -> Self {
        let product = u128::from(hash) * u128::from(FACTOR);
        Self { place: (product >> 64) as u64, tag: product as u64 }
    }

    /// What tells keys of one group apart.
    #[inline(always)]
    pub(super) fn tag(self) -> Tag {
        Tag::of(self.tag)
    }

    /// All bits or none: whether a key goes to the neighbour of a block that is yet to come. By a bit of the tag, since bits
    /// that are as good, from the middle of the product, are scarce; it has nothing to do with the place, kind or way.
    #[inline(always)]
    pub(super) fn aside(self) -> u64 {
        ((self.tag << 17).cast_signed() >> 63).cast_unsigned()
    }

    /// Which of the [`WAYS`] leads from the first block to the second.
    #[inline(always)]
    pub(super) fn way(self) -> usize {
        (((self.tag >> 48 & 0x3f) * WAYS.len() as u64) >> 6) as usize
    }
}

/// How many blocks a row has, which never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    count: u32,
    /// The lowest bit of a hash that chooses the row. The bits below choose a place of it: as few as will do if the number
    /// of groups is a power of two.
    row_bit: u32,
    /// The bits of a hash that choose a place of the row.
    mask: u64,
    /// What bits of a hash are multiplied by, so that the same bits of every product say which place it is.
    scale: u64,
    /// How many groups a key's second block is after its first, going round, for each of the [`WAYS`].
    away: [u32; WAYS.len()],
}

/// How many bits of a hash choose a group of a row if their number is no power of two. Those below choose one of its places.
const MOST_BITS: u32 = 16;

impl Columns {
    #[inline(always)]
    pub(super) fn new(count: u32) -> Self {
        let groups = GROUPS * count;
        let (bits, scale) = match groups.is_power_of_two() {
            true => (groups.ilog2(), 1 << MOST_BITS),
            false => (MOST_BITS, groups.into()),
        };
        // Far apart, so that what one column has too much is soon spread over all.
        let away = [1, count / 3, count * 5 / 8].map(|columns| GROUPS * columns);
        let row_bit = GROUP.ilog2() + bits;
        Self { count, row_bit, mask: (1 << row_bit) - 1, scale, away }
    }

    /// The place that these bits of a hash lead to, those of the row and those above.
    #[inline(always)]
    pub(super) fn scaled(self, bits: u64) -> usize {
        ((bits * self.scale) >> MOST_BITS) as usize
    }

    #[inline(always)]
    pub(super) fn count(self) -> u32 {
        self.count
    }

    /// The lowest bit of a hash that chooses the row.
    #[inline(always)]
    pub(super) fn row_bit(self) -> u32 {
        self.row_bit
    }

    /// The bits of a hash that choose a place of the row.
    #[inline(always)]
    pub(super) fn mask(self) -> u64 {
        self.mask
    }

    /// The place of a row that a key prefers, whichever row that is in.
    #[inline(always)]
    pub(super) fn preferred(self, hash: Hash) -> usize {
        self.scaled(hash.place & self.mask)
    }

    /// The group of a row that a key prefers, whichever row that is in.
    #[inline(always)]
    pub(super) fn preferred_group(self, hash: Hash) -> usize {
        self.preferred(hash) / GROUP
    }

    /// The column of the second block, never that of the first.
    #[inline(always)]
    pub(super) fn second(self, hash: Hash) -> u32 {
        self.aside(self.preferred_group(hash) as u32, hash.way()) / GROUPS
    }

    /// The group of a row that is as far from this one as second blocks are from first ones on this way.
    #[inline(always)]
    pub(super) fn aside(self, group: u32, way: usize) -> u32 {
        let (group, row) = (group + self.away[way], GROUPS * self.count);
        if group < row { group } else { group - row }
    }
}

/// What a key's second row differs in from its first. They are few, so that it is known where records can be. Whatever
/// three bits of a row are the highest, these lead, one after the other, to all eight values of them: rows are split
/// from one end, and those yet to be split, which have more than their share, can always pass some of it on.
pub(super) const WAYS: [u32; 3] = [0xffff_ffff, 0xaaaa_aaaa, 0xcccc_cccc];
