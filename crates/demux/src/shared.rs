//! Locators that many threads use at once: readers take no lock and wait for nobody, writers wait for one another.
//!
//! They are apart from those of the crate's root because both demand their price. Here keys are byte strings of any
//! length, an entry that is removed must outlive the readers that stand on it (hence epochs, and `std`), and a lookup
//! may change nothing. There keys lie compact in one array, and a lookup may rearrange what it searches.

mod dynamic_hash;
mod entry;
mod linear;
mod perfect;
mod strategy;

pub use self::{
    dynamic_hash::DynamicHash,
    linear::Linear,
    perfect::Perfect,
    strategy::{AnyLocator, Strategy, UnknownStrategy},
};
use crate::{
    Arena, FreezeError, Slot,
    arena::Ref,
    probe::{CountExamined, NoProbe, Probe},
};

/// Why a key was not inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InsertError {
    /// The key is there already; its slot is unchanged.
    #[error("the key is already present")]
    Duplicate,
    /// The set of keys was frozen; see [`SharedLocator::freeze`].
    #[error("the set of keys is frozen")]
    Frozen,
    /// The locator holds as many keys as it was configured for.
    #[error("the locator's capacity limit is reached")]
    Full,
    /// Keys have at most [`MAX_KEY`] bytes.
    #[error("the key is longer than {MAX_KEY} bytes")]
    KeyTooLong,
    /// `Slot(u32::MAX)`, which no arena hands out, is kept as a mark.
    #[error("slot {} is reserved", u32::MAX)]
    ReservedSlot,
}

/// The longest key, in bytes.
pub const MAX_KEY: usize = u16::MAX as usize;

/// Finds slots by keys, of any thread's choosing at any time. Readers take no lock, writers wait for one another.
///
/// Usable as a trait object; the generic methods need the concrete type or [`AnyLocator`].
pub trait SharedLocator<K: ?Sized>: Send + Sync {
    /// The slot of `key`.
    fn find(&self, key: &K) -> Option<Slot>;

    /// As [`find`](Self::find), with the number of entries examined.
    fn find_counted(&self, key: &K) -> (Option<Slot>, u64);

    /// Adds a key.
    ///
    /// # Errors
    /// See [`InsertError`]; the locator is unchanged.
    fn insert(&self, key: &K, slot: Slot) -> Result<(), InsertError>;

    /// Adds a key that the caller knows to be absent, without looking for it first where looking costs (the
    /// linear list). If it was present after all, which of the two is found is unspecified.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    fn insert_new(&self, key: &K, slot: Slot) -> Result<(), InsertError> {
        self.insert(key, slot)
    }

    /// Takes a key away and returns its slot.
    fn remove(&self, key: &K) -> Option<Slot>;

    /// Fixes the set of keys: afterwards keys can be removed but none inserted.
    ///
    /// # Errors
    /// See [`FreezeError`].
    fn freeze(&self) -> Result<(), FreezeError> {
        Err(FreezeError::Unsupported)
    }

    /// Shows every key that is there throughout, in no particular order; keys inserted or removed meanwhile may be missed.
    /// `visit` may do anything to the locator.
    fn for_each(&self, visit: &mut dyn FnMut(&K, Slot));

    /// How many keys are present.
    fn len(&self) -> usize;

    /// Whether no key is present.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes allocated for entries, keys and tables, the allocator's own overhead aside.
    fn bytes(&self) -> usize;

    /// As [`find`](Self::find); `probe` sees each entry examined.
    fn find_probed<P: Probe>(&self, key: &K, probe: &mut P) -> Option<Slot>
    where
        Self: Sized,
    {
        self.find_with(key, probe, |slot| slot)
    }

    /// Finds `key`, calls `hold` with its slot, and returns what `hold` did if the key was still present after.
    ///
    /// Whoever takes a reference in `hold` therefore has the one that belongs to the key, even when the key is
    /// being removed and its slot reused at this moment, provided that removers take the key out of the
    /// locator before they remove the record from the arena.
    fn find_with<P: Probe, T>(&self, key: &K, probe: &mut P, hold: impl FnOnce(Slot) -> T) -> Option<T>
    where
        Self: Sized;

    /// The record of `key` in `arena`; see [`find_with`](Self::find_with).
    #[inline]
    fn locate<'a, R: Send + Sync>(&self, key: &K, arena: &'a Arena<R>) -> Option<Ref<'a, R>>
    where
        Self: Sized,
    {
        self.find_with(key, &mut NoProbe, |slot| arena.get_slot(slot)).flatten()
    }
}

/// The object-safe lookups in terms of `find_with`.
macro_rules! find_by_find_with {
    () => {
        #[inline]
        fn find(&self, key: &[u8]) -> Option<Slot> {
            self.find_with(key, &mut $crate::NoProbe, |slot| slot)
        }

        fn find_counted(&self, key: &[u8]) -> (Option<Slot>, u64) {
            $crate::shared::counted(self, key)
        }
    };
}
use find_by_find_with;

fn counted<K: ?Sized>(locator: &impl SharedLocator<K>, key: &K) -> (Option<Slot>, u64) {
    let mut count = CountExamined::default();
    let slot = locator.find_probed(key, &mut count);
    (slot, count.0)
}

/// What a shared locator demands of a new key.
fn check_key(key: &[u8], slot: Slot) -> Result<(), InsertError> {
    if key.len() > MAX_KEY {
        return Err(InsertError::KeyTooLong);
    }
    if slot.0 == u32::MAX {
        return Err(InsertError::ReservedSlot);
    }
    Ok(())
}
