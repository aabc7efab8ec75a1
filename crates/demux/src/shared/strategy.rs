//! The choice of a shared lookup by configuration.

use core::fmt;

use super::{DynamicHash, InsertError, Linear, Perfect, SharedLocator, find_by_find_with};
use crate::{FreezeError, LocatorConfig, Probe, Slot, choice::by_name};

/// The lookups that many threads share: how an ORB finds its objects and operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// One list, searched from the first entry.
    Linear,
    /// A growing table of chains.
    DynamicHash,
    /// A perfect hash over a set that is frozen before it is searched.
    PerfectHash,
    /// No search: the key carries the slot, and a nonce that proves it.
    Active,
}

impl Strategy {
    /// All strategies, in the order of their names' appearance in documentation.
    pub const ALL: [Self; 4] = [Self::Linear, Self::DynamicHash, Self::PerfectHash, Self::Active];

    /// The name used in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::DynamicHash => "dynamic-hash",
            Self::PerfectHash => "perfect-hash",
            Self::Active => "active",
        }
    }

    /// The locator for this strategy, of which `config` gives limit and seed; `None` for [`Active`](Self::Active), which needs none.
    pub fn locator(self, config: LocatorConfig) -> Option<AnyLocator> {
        let LocatorConfig { limit, seed, .. } = config;
        match self {
            Self::Linear => Some(AnyLocator::Linear(Linear::with_capacity_limit(limit))),
            Self::DynamicHash => Some(AnyLocator::DynamicHash(DynamicHash::with_capacity_limit(limit, seed))),
            Self::PerfectHash => Some(AnyLocator::Perfect(Perfect::with_capacity_limit(limit, seed))),
            Self::Active => None,
        }
    }
}

by_name!(Strategy, UnknownStrategy, "strategy");

/// A locator chosen at run time; a `match` instead of a virtual call, so that the generic lookups work too.
pub enum AnyLocator {
    /// See [`Linear`].
    Linear(Linear),
    /// See [`DynamicHash`].
    DynamicHash(DynamicHash),
    /// See [`Perfect`].
    Perfect(Perfect),
}

impl AnyLocator {
    /// Which strategy this is.
    pub fn strategy(&self) -> Strategy {
        match self {
            Self::Linear(_) => Strategy::Linear,
            Self::DynamicHash(_) => Strategy::DynamicHash,
            Self::Perfect(_) => Strategy::PerfectHash,
        }
    }
}

/// Calls the same method on whichever locator it is.
macro_rules! each {
    ($any:expr, $locator:ident => $call:expr) => {
        match $any {
            AnyLocator::Linear($locator) => $call,
            AnyLocator::DynamicHash($locator) => $call,
            AnyLocator::Perfect($locator) => $call,
        }
    };
}

impl SharedLocator<[u8]> for AnyLocator {
    find_by_find_with!();

    #[inline]
    fn find_with<P: Probe, T>(&self, key: &[u8], probe: &mut P, hold: impl FnOnce(Slot) -> T) -> Option<T> {
        each!(self, locator => locator.find_with(key, probe, hold))
    }

    fn insert(&self, key: &[u8], slot: Slot) -> Result<(), InsertError> {
        each!(self, locator => locator.insert(key, slot))
    }

    fn insert_new(&self, key: &[u8], slot: Slot) -> Result<(), InsertError> {
        each!(self, locator => locator.insert_new(key, slot))
    }

    fn remove(&self, key: &[u8]) -> Option<Slot> {
        each!(self, locator => locator.remove(key))
    }

    fn freeze(&self) -> Result<(), FreezeError> {
        each!(self, locator => locator.freeze())
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u8], Slot)) {
        each!(self, locator => locator.for_each(visit))
    }

    fn len(&self) -> usize {
        each!(self, locator => locator.len())
    }

    fn bytes(&self) -> usize {
        each!(self, locator => locator.bytes())
    }
}

impl fmt::Debug for AnyLocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyLocator")
            .field("strategy", &self.strategy())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
