//! The choice of a lookup by configuration.

use core::fmt;

#[cfg(target_has_atomic = "64")]
use crate::FlowTable;
#[cfg(feature = "swiss")]
use crate::Swiss;
use crate::{
    ChainsMoveToFront, Direct, DynamicHash, FreezeError, HashChains, HashKind, InsertError, Key, Keyed,
    LastFound, Linear, Locator, MoveToFront, PerfectHash, Probe, Slot, SourceHash, choice::by_name,
    locator::find_by_find_probed,
};

/// Sequent's default number of chains.
const DEFAULT_CHAINS: usize = 19;
/// Places of tables that are indexed by what packets carry, unless told otherwise.
const DEFAULT_PLACES: usize = 1 << 16;

/// The most keys of `flow-table`, which reserves address space for its limit at once.
#[cfg(target_has_atomic = "64")]
const MAX_FLOWS: usize = 1 << 24;

/// What a locator is made with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LocatorConfig {
    /// The most keys it will hold; `flow-table` holds no more than 2^24, whatever is said here.
    pub limit: usize,
    /// Seed of its hash function; a new random one for every locator whose keys strangers choose.
    pub seed: u64,
    /// Number of chains of `sequent` and `chains-move-to-front`.
    pub chains: usize,
    /// What picks one of those chains.
    pub hash: HashKind,
    /// Size of the table of `source-hash`, rounded up to a power of two, and of `direct`.
    pub places: usize,
}

/// Without the seed: who reads a log must not learn which keys collide.
impl fmt::Debug for LocatorConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, seed: _, chains, hash, places } = self;
        f.debug_struct("LocatorConfig")
            .field("limit", limit)
            .field("chains", chains)
            .field("hash", hash)
            .field("places", places)
            .finish_non_exhaustive()
    }
}

impl LocatorConfig {
    /// Any number of keys, 19 chains, 65,536 places, and a hash function of this seed.
    pub const fn seeded(seed: u64) -> Self {
        Self {
            limit: usize::MAX,
            seed,
            chains: DEFAULT_CHAINS,
            hash: HashKind::Keyed,
            places: DEFAULT_PLACES,
        }
    }

    /// As [`seeded`](Self::seeded), with a seed from the operating system.
    ///
    /// # Panics
    /// When the system has no randomness to give.
    #[cfg(feature = "getrandom")]
    pub fn random() -> Self {
        Self::seeded(crate::NonceSource::next_nonce(&mut crate::OsNonces::default()))
    }
}

/// Why there is no such locator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Keys must be somewhere.
    #[error("a table needs at least one chain or place")]
    ZeroChains,
    /// Tables have at most 2^31 chains or places, a [`FlowTable`] 3.4 billion records, and like an
    /// [`Arena`](crate::Arena) no more than the address space holds.
    #[error("a table cannot be so large: it has at most 2^31 chains or places, or 3.4 billion records")]
    TooLarge,
    /// The system does not give the memory that a [`FlowTable`] or an [`Arena`](crate::Arena) of so many records needs.
    #[error("there is not enough memory for a table of this size")]
    OutOfMemory,
}

/// How [`AnyLocator`] finds slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// See [`Linear`].
    Linear,
    /// See [`LastFound`].
    Bsd,
    /// See [`MoveToFront`].
    MoveToFront,
    /// See [`HashChains`].
    Sequent,
    /// See [`ChainsMoveToFront`].
    ChainsMoveToFront,
    /// See [`DynamicHash`].
    DynamicHash,
    /// See [`Swiss`].
    #[cfg(feature = "swiss")]
    Swiss,
    /// See [`FlowTable`].
    #[cfg(target_has_atomic = "64")]
    FlowTable,
    /// See [`PerfectHash`].
    PerfectHash,
    /// See [`SourceHash`]. Keys must carry an index.
    SourceHash,
    /// See [`Direct`]. Keys must carry an index.
    Direct,
}

/// How many strategies there are.
const STRATEGIES: usize = 9 + cfg!(target_has_atomic = "64") as usize + cfg!(feature = "swiss") as usize;

impl Strategy {
    /// All strategies, from the oldest to the newest.
    pub const ALL: [Self; STRATEGIES] = [
        Self::Linear,
        Self::Bsd,
        Self::MoveToFront,
        Self::Sequent,
        Self::ChainsMoveToFront,
        Self::DynamicHash,
        #[cfg(feature = "swiss")]
        Self::Swiss,
        #[cfg(target_has_atomic = "64")]
        Self::FlowTable,
        Self::PerfectHash,
        Self::SourceHash,
        Self::Direct,
    ];

    /// The name used in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Bsd => "bsd",
            Self::MoveToFront => "move-to-front",
            Self::Sequent => "sequent",
            Self::ChainsMoveToFront => "chains-move-to-front",
            Self::DynamicHash => "dynamic-hash",
            #[cfg(feature = "swiss")]
            Self::Swiss => "swiss",
            #[cfg(target_has_atomic = "64")]
            Self::FlowTable => "flow-table",
            Self::PerfectHash => "perfect-hash",
            Self::SourceHash => "source-hash",
            Self::Direct => "direct",
        }
    }

    /// Whether a lookup examines more entries the more there are.
    pub const fn is_list(self) -> bool {
        matches!(self, Self::Linear | Self::Bsd | Self::MoveToFront | Self::Sequent | Self::ChainsMoveToFront)
    }

    /// Whether keys are found only once the set of them was [frozen](Locator::freeze).
    pub const fn must_freeze(self) -> bool {
        matches!(self, Self::PerfectHash)
    }

    /// Whether keys must carry an [index](Key::index).
    pub const fn needs_index(self) -> bool {
        matches!(self, Self::SourceHash | Self::Direct)
    }

    /// An empty locator for this strategy.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn locator<K: Key>(self, config: LocatorConfig) -> Result<AnyLocator<K>, ConfigError> {
        let LocatorConfig { limit, seed, chains, hash, places } = config;
        let hash = || hash.with_seed(seed);
        Ok(match self {
            Self::Linear => AnyLocator::Linear(Linear::with_capacity_limit(limit)),
            Self::Bsd => AnyLocator::Bsd(LastFound::with_capacity_limit(limit)),
            Self::MoveToFront => AnyLocator::MoveToFront(MoveToFront::with_capacity_limit(limit)),
            Self::Sequent => AnyLocator::Sequent(HashChains::with_chains(chains, hash(), limit)?),
            Self::ChainsMoveToFront => {
                AnyLocator::ChainsMoveToFront(ChainsMoveToFront::with_chains(chains, hash(), limit)?)
            }
            Self::DynamicHash => AnyLocator::DynamicHash(DynamicHash::with_hash(Keyed::new(seed), limit)),
            #[cfg(feature = "swiss")]
            Self::Swiss => AnyLocator::Swiss(Swiss::with_hash(Keyed::new(seed), limit)),
            #[cfg(target_has_atomic = "64")]
            Self::FlowTable => AnyLocator::FlowTable(FlowTable::try_new(limit.min(MAX_FLOWS), seed)?),
            Self::PerfectHash => AnyLocator::PerfectHash(PerfectHash::with_capacity_limit(limit, seed)),
            Self::SourceHash => AnyLocator::SourceHash(SourceHash::with_places(places, limit)?),
            Self::Direct => AnyLocator::Direct(Direct::with_places(places, limit)?),
        })
    }
}

by_name!(Strategy, UnknownStrategy, "strategy");

/// A locator chosen at run time; a `match` instead of a virtual call, so that the generic lookups work too.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one per table, and a box would be one more line to fetch"
)]
pub enum AnyLocator<K: Key> {
    /// See [`Linear`].
    Linear(Linear<K>),
    /// See [`LastFound`].
    Bsd(LastFound<K>),
    /// See [`MoveToFront`].
    MoveToFront(MoveToFront<K>),
    /// See [`HashChains`].
    Sequent(HashChains<K>),
    /// See [`ChainsMoveToFront`].
    ChainsMoveToFront(ChainsMoveToFront<K>),
    /// See [`DynamicHash`].
    DynamicHash(DynamicHash<K>),
    /// See [`Swiss`].
    #[cfg(feature = "swiss")]
    Swiss(Swiss<K>),
    /// See [`FlowTable`].
    #[cfg(target_has_atomic = "64")]
    FlowTable(FlowTable<(K, Slot)>),
    /// See [`PerfectHash`].
    PerfectHash(PerfectHash<K>),
    /// See [`SourceHash`].
    SourceHash(SourceHash<K>),
    /// See [`Direct`].
    Direct(Direct<K>),
}

/// Calls the same method on whichever locator it is.
macro_rules! each {
    ($any:expr, $locator:ident => $call:expr) => {
        match $any {
            AnyLocator::Linear($locator) => $call,
            AnyLocator::Bsd($locator) => $call,
            AnyLocator::MoveToFront($locator) => $call,
            AnyLocator::Sequent($locator) => $call,
            AnyLocator::ChainsMoveToFront($locator) => $call,
            AnyLocator::DynamicHash($locator) => $call,
            #[cfg(feature = "swiss")]
            AnyLocator::Swiss($locator) => $call,
            #[cfg(target_has_atomic = "64")]
            AnyLocator::FlowTable($locator) => $call,
            AnyLocator::PerfectHash($locator) => $call,
            AnyLocator::SourceHash($locator) => $call,
            AnyLocator::Direct($locator) => $call,
        }
    };
}

impl<K: Key> AnyLocator<K> {
    /// Which strategy this is.
    pub fn strategy(&self) -> Strategy {
        match self {
            Self::Linear(_) => Strategy::Linear,
            Self::Bsd(_) => Strategy::Bsd,
            Self::MoveToFront(_) => Strategy::MoveToFront,
            Self::Sequent(_) => Strategy::Sequent,
            Self::ChainsMoveToFront(_) => Strategy::ChainsMoveToFront,
            Self::DynamicHash(_) => Strategy::DynamicHash,
            #[cfg(feature = "swiss")]
            Self::Swiss(_) => Strategy::Swiss,
            #[cfg(target_has_atomic = "64")]
            Self::FlowTable(_) => Strategy::FlowTable,
            Self::PerfectHash(_) => Strategy::PerfectHash,
            Self::SourceHash(_) => Strategy::SourceHash,
            Self::Direct(_) => Strategy::Direct,
        }
    }
}

impl<K: Key> Locator<K> for AnyLocator<K> {
    find_by_find_probed!(K);

    #[inline]
    fn find_probed<P: Probe>(&mut self, key: &K, probe: &mut P) -> Option<Slot> {
        each!(self, locator => locator.find_probed(key, probe))
    }

    fn find_batch(&mut self, keys: &[K], slots: &mut [Option<Slot>]) {
        each!(self, locator => locator.find_batch(keys, slots));
    }

    fn prefetch(&self, keys: &[K]) {
        each!(self, locator => Locator::prefetch(locator, keys));
    }

    fn insert(&mut self, key: K, slot: Slot) -> Result<(), InsertError> {
        each!(self, locator => Locator::insert(locator, key, slot))
    }

    fn insert_new(&mut self, key: K, slot: Slot) -> Result<(), InsertError> {
        each!(self, locator => locator.insert_new(key, slot))
    }

    fn remove(&mut self, key: &K) -> Option<Slot> {
        each!(self, locator => Locator::remove(locator, key))
    }

    fn freeze(&mut self) -> Result<(), FreezeError> {
        each!(self, locator => locator.freeze())
    }

    fn for_each(&self, visit: &mut dyn FnMut(&K, Slot)) {
        each!(self, locator => locator.for_each(visit));
    }

    fn len(&self) -> usize {
        each!(self, locator => locator.len())
    }

    fn bytes(&self) -> usize {
        each!(self, locator => locator.bytes())
    }
}

impl<K: Key> fmt::Debug for AnyLocator<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyLocator")
            .field("strategy", &self.strategy())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
