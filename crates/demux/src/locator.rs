//! What every locator for exclusive use does: key in, slot out.

use crate::{Probe, Slot};

/// Why a key was not inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InsertError {
    /// The key is there already; its slot is unchanged.
    #[error("the key is already present")]
    Duplicate,
    /// The set of keys was frozen; see [`Locator::freeze`].
    #[error("the set of keys is frozen")]
    Frozen,
    /// The locator holds as many keys as it was configured for.
    #[error("the locator's capacity limit is reached")]
    Full,
    /// Too many keys have the same hash for a locator whose keys have few places each.
    #[error("too many keys have the same hash")]
    Crowded,
    /// `Slot(u32::MAX)`, which no arena hands out, is kept as a mark.
    #[error("slot {} is reserved", u32::MAX)]
    ReservedSlot,
    /// The locator finds keys by an index that comes with them, and this one has none; see [`Key::index`](crate::Key::index).
    #[error("the key carries no index")]
    NoIndex,
    /// The index that the key carries lies beyond the table.
    #[error("the key's index is out of range")]
    IndexOutOfRange,
    /// Another key has the only place where this one could be.
    #[error("another key occupies the place")]
    Occupied,
}

/// Why the set of keys was not frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FreezeError {
    /// Only a perfect hash needs, and has, a frozen set of keys.
    #[error("this strategy has no frozen state")]
    Unsupported,
    /// It was frozen before.
    #[error("the set of keys is already frozen")]
    AlreadyFrozen,
    /// No perfect hash was found in the tries allowed; another seed may have one.
    #[error("no perfect hash was found for these keys")]
    NoPerfectHash,
}

/// What a lookup cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    /// Entries whose keys were compared with the one looked for. An entry looked at in a cache and met again in the
    /// list counts twice, as it costs twice.
    pub entries: u64,
    /// Whether a one-entry cache had the key.
    pub cache_hit: bool,
}

impl Probe for Examined {
    #[inline(always)]
    fn examined(&mut self) {
        self.entries += 1;
    }

    #[inline(always)]
    fn cache_hit(&mut self) {
        self.cache_hit = true;
    }
}

/// Finds slots by keys. For exclusive use: a lookup may rearrange the entries, or remember the one it found.
///
/// Many threads at once are served by [`SharedLocator`](crate::SharedLocator).
pub trait Locator<K> {
    /// The slot of `key`. Allocates nothing.
    fn find(&mut self, key: &K) -> Option<Slot>;

    /// As [`find`](Self::find), with what it cost.
    fn find_counted(&mut self, key: &K) -> (Option<Slot>, Examined);

    /// As [`find`](Self::find); `probe` sees each entry examined and each hit of a cache.
    fn find_probed<P: Probe>(&mut self, key: &K, probe: &mut P) -> Option<Slot>
    where
        Self: Sized;

    /// Looks `keys` up one after another and writes what was found to the same places of `slots`; stops where the
    /// shorter of the two ends. Where it helps, memory for later keys is fetched while earlier ones are compared.
    fn find_batch(&mut self, keys: &[K], slots: &mut [Option<Slot>]) {
        one_by_one(self, keys, slots);
    }

    /// Starts to fetch the memory that insertions and removals of these keys will need, so that they wait for it together. Worth
    /// it before a few dozen changes, whose memory the nearest cache has room for; [`find_batch`](Self::find_batch) does as
    /// much for lookups. Does nothing where it does not help.
    fn prefetch(&self, keys: &[K]) {
        let _ = keys;
    }

    /// Adds a key. Where locators go by an index that comes with the key, the same key has the same one always:
    /// otherwise it may be there twice.
    ///
    /// # Errors
    /// See [`InsertError`]; the locator is unchanged.
    fn insert(&mut self, key: K, slot: Slot) -> Result<(), InsertError>;

    /// Adds a key that the caller knows to be absent, without looking for it first where looking costs (lists). If
    /// it was present after all, which of the two is found is unspecified.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    fn insert_new(&mut self, key: K, slot: Slot) -> Result<(), InsertError> {
        self.insert(key, slot)
    }

    /// Takes a key away and returns its slot.
    fn remove(&mut self, key: &K) -> Option<Slot>;

    /// Fixes the set of keys: afterwards keys can be removed but none inserted.
    ///
    /// # Errors
    /// See [`FreezeError`].
    fn freeze(&mut self) -> Result<(), FreezeError> {
        Err(FreezeError::Unsupported)
    }

    /// Shows every key and its slot, in no particular order.
    fn for_each(&self, visit: &mut dyn FnMut(&K, Slot));

    /// How many keys are present.
    fn len(&self) -> usize;

    /// Whether no key is present.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes allocated for entries and tables. What keys own elsewhere, and the allocator's overhead, is not counted.
    fn bytes(&self) -> usize;
}

/// A batch without any gain.
pub(crate) fn one_by_one<K>(
    locator: &mut (impl Locator<K> + ?Sized),
    keys: &[K],
    slots: &mut [Option<Slot>],
) {
    for (key, slot) in keys.iter().zip(slots) {
        *slot = locator.find(key);
    }
}

/// The object-safe lookups in terms of `find_probed`.
macro_rules! find_by_find_probed {
    ($key:ty) => {
        #[inline]
        fn find(&mut self, key: &$key) -> Option<$crate::Slot> {
            self.find_probed(key, &mut $crate::NoProbe)
        }

        fn find_counted(&mut self, key: &$key) -> (Option<$crate::Slot>, $crate::Examined) {
            let mut examined = $crate::Examined::default();
            let slot = self.find_probed(key, &mut examined);
            (slot, examined)
        }
    };
}
pub(crate) use find_by_find_probed;

/// What any locator demands of a slot.
pub(crate) fn check_slot(slot: Slot) -> Result<(), InsertError> {
    if slot.0 == u32::MAX { Err(InsertError::ReservedSlot) } else { Ok(()) }
}
