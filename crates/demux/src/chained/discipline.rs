//! What a chain does about an entry that was found.

use super::NONE;

/// What a chain does about an entry that was found.
pub trait Discipline {
    /// What a chain remembers between lookups.
    type Memory: Default;
    /// Whether a chain has a cache of the entry found last.
    const REMEMBERS: bool = false;
    /// Whether an entry found moves to the front of its chain.
    const MOVES_TO_FRONT: bool = false;

    /// The entry remembered; an index beyond all entries if none is.
    #[inline(always)]
    fn recall(_: &Self::Memory) -> u32 {
        NONE
    }

    /// Remembers an entry.
    #[inline(always)]
    fn remember(_: &mut Self::Memory, _entry: u32) {}

    /// Forgets an entry that is being removed.
    #[inline(always)]
    fn forget(_: &mut Self::Memory, _entry: u32) {}
}

/// Nothing.
#[derive(Clone, Copy, Debug)]
pub enum LeaveInPlace {}

impl Discipline for LeaveInPlace {
    type Memory = ();
}

/// It is kept in a cache of one entry, which the next lookup examines before the chain.
#[derive(Clone, Copy, Debug)]
pub enum Remember {}

/// The entry found last on a chain.
#[derive(Clone, Copy, Debug)]
pub struct Remembered(u32);

impl Default for Remembered {
    fn default() -> Self {
        Self(NONE)
    }
}

impl Discipline for Remember {
    type Memory = Remembered;
    const REMEMBERS: bool = true;

    #[inline(always)]
    fn recall(memory: &Remembered) -> u32 {
        memory.0
    }

    #[inline(always)]
    fn remember(memory: &mut Remembered, entry: u32) {
        memory.0 = entry;
    }

    fn forget(memory: &mut Remembered, entry: u32) {
        if memory.0 == entry {
            memory.0 = NONE;
        }
    }
}

/// It moves to the front of its chain.
#[derive(Clone, Copy, Debug)]
pub enum ToFront {}

impl Discipline for ToFront {
    type Memory = ();
    const MOVES_TO_FRONT: bool = true;
}
