//! Places of records, and groups of them.

use super::tags::{BLOCK, GROUP, GROUPS};

/// Where a record is: 64 places to a block. As a whole register, so that nothing is to be done before it is part of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(pub(super) usize);

impl Place {
    pub(super) const NONE: Self = Self(0);

    #[inline(always)]
    pub(super) fn new(block: u32, at: u32) -> Self {
        Self(block as usize * BLOCK + at as usize)
    }

    #[inline(always)]
    pub(super) fn block(self) -> u32 {
        (self.0 / BLOCK) as u32
    }

    /// Its bit among those of the block.
    #[inline(always)]
    pub(super) fn bit(self) -> u64 {
        1 << (self.0 % BLOCK)
    }

    /// The group of a block that it is in.
    #[inline(always)]
    pub(super) fn group(self) -> Group {
        Group(self.0 / GROUP * GROUP)
    }

    /// Which of the group's places it is.
    #[inline(always)]
    pub(super) fn at(self) -> usize {
        self.0 % GROUP
    }
}

/// A part of a block: places whose tags are compared together, known by the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group(usize);

impl Group {
    pub(super) const NONE: Self = Self(0);

    #[inline(always)]
    pub(super) fn numbered(number: usize) -> Self {
        Self(number * GROUP)
    }

    #[inline(always)]
    pub(super) fn new(block: u32, group: u32) -> Self {
        Self(block as usize * BLOCK + group as usize * GROUP)
    }

    #[inline(always)]
    pub(super) fn block(self) -> u32 {
        (self.0 / BLOCK) as u32
    }

    /// The first of its bits among those of the block.
    #[inline(always)]
    pub(super) fn shift(self) -> u32 {
        (self.0 % BLOCK) as u32
    }

    /// Its number among those of its block.
    #[inline(always)]
    pub(super) fn in_block(self) -> u32 {
        (self.0 / GROUP) as u32 % GROUPS
    }

    /// All of its places, as bits among those of the block.
    #[inline(always)]
    pub(super) fn all_places(self) -> u64 {
        u64::from(u32::MAX >> (32 - GROUP)) << self.shift()
    }

    /// Those of the block's places that are its own.
    #[inline(always)]
    pub(super) fn own(self, places: u64) -> u16 {
        (places >> self.shift()) as u16 & (u16::MAX >> (u16::BITS as usize - GROUP))
    }

    /// Its number among all groups.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        self.0 / GROUP
    }

    /// How many places there are before it.
    #[inline(always)]
    pub(super) fn places_before(self) -> usize {
        self.0
    }

    #[inline(always)]
    pub(super) fn place(self, at: u32) -> Place {
        Place(self.0 + at as usize)
    }

    /// The first of these places of the group, or the one after the group's.
    #[inline(always)]
    pub(super) fn first_of(self, places: u16) -> Place {
        self.place((u32::from(places) | 1 << GROUP).trailing_zeros())
    }

    /// The others of its block.
    #[inline(always)]
    pub(super) fn others(self) -> impl Iterator<Item = Self> {
        (1..GROUPS).map(move |n| Self(self.0 ^ (n as usize * GROUP)))
    }

    /// All of a block.
    pub(super) fn of_block(block: u32) -> impl Iterator<Item = Self> {
        Self::new(block, 0).all_of_block()
    }

    /// All of its block.
    #[inline(always)]
    pub(super) fn all_of_block(self) -> impl Iterator<Item = Self> {
        let first = self.first_of_block();
        (0..GROUPS as usize).map(move |n| Self(first.0 + n * GROUP))
    }

    /// The first of its block.
    #[inline(always)]
    pub(super) fn first_of_block(self) -> Self {
        Self(self.0 / BLOCK * BLOCK)
    }

    /// The place of its block that comes so many after the group's first, going round.
    #[inline(always)]
    pub(super) fn around(self, after: u32) -> Place {
        Place(self.first_of_block().0 + (self.shift() + after) as usize % BLOCK)
    }
}
