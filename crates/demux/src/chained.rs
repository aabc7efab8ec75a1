//! Lists and chains of entries: one mechanism for most of the classical lookups.
//!
//! The entries of all chains lie in one array and refer to one another by index. A chain begins with the entry inserted
//! last, as in BSD. What makes the lookups different is how a key picks its chain ([`Pick`]) and what a chain does
//! about an entry that was found ([`Discipline`]):
//!
//! | | leaves it | remembers it | moves it to the front |
//! |---|---|---|---|
//! | one chain | [`Linear`] | [`LastFound`] (BSD) | [`MoveToFront`] |
//! | H chains | | [`HashChains`] (Sequent) | [`ChainsMoveToFront`] |
//! | chains for half of the entries each | [`DynamicHash`] | | |
//! | by an index in the packet | [`SourceHash`] | | |

mod discipline;
mod pick;

pub(crate) use self::pick::power_of_two;

use alloc::{boxed::Box, vec, vec::Vec};
use core::marker::PhantomData;

pub use self::{
    discipline::{Discipline, LeaveInPlace, Remember, ToFront},
    pick::{ByIndex, Growing, OneChain, Pick, Remainder},
};
use crate::{
    AnyHash, ConfigError, InsertError, KeyHash, Keyed, Locator, NoProbe, Probe, Slot,
    debug::debug_with_len,
    locator::{check_slot, find_by_find_probed, one_by_one},
    prefetch,
};

/// The end of a chain: no index, since there are never that many entries.
const NONE: u32 = u32::MAX;

/// One list, searched from the first entry. A hit examines half of the entries on average, a miss all of them.
pub type Linear<K> = Chained<K, LeaveInPlace, OneChain>;

/// BSD: one list, and a cache of the entry found last that is looked into first.
pub type LastFound<K> = Chained<K, Remember, OneChain>;

/// Crowcroft: one list, in which an entry that is found moves to the front. Where all others have had their turn since, it is
/// the last.
pub type MoveToFront<K> = Chained<K, ToFront, OneChain>;

/// Sequent: a fixed number of chains, each with a cache of the entry found last on it.
pub type HashChains<K, S = AnyHash> = Chained<K, Remember, Remainder<S>>;

/// A fixed number of chains, in each of which an entry that is found moves to the front.
pub type ChainsMoveToFront<K, S = AnyHash> = Chained<K, ToFront, Remainder<S>>;

/// Dynamic hashing: at least twice as many chains as entries, growing with them. A hit examines 1.13 to 1.25 entries on
/// average, however many there are. The insertion that finds the table full doubles it, which takes time for each entry.
pub type DynamicHash<K, S = Keyed> = Chained<K, LeaveInPlace, Growing<S>>;

/// Source hashing: the chain is told by the index that the packet carries, and nothing is computed.
///
/// The index is the sender's word: it saves the hash, and what is found under it is compared. But a key is found under the
/// index that it was inserted with and no other: a sender who changes a flow's label is a new flow, and the same key under two
/// indices are two entries, of which none is refused as a duplicate. Senders who all choose the same index make long chains, so it
/// is for senders who share an interest, or with a limit on entries.
pub type SourceHash<K> = Chained<K, LeaveInPlace, ByIndex>;

struct Entry<K> {
    key: K,
    slot: u32,
    next: u32,
}

struct Chain<M> {
    first: u32,
    memory: M,
}

impl<M: Default> Default for Chain<M> {
    fn default() -> Self {
        Self { first: NONE, memory: M::default() }
    }
}

/// Entries on chains; see the module's [types](self) for what it is called when.
///
/// The key of an entry that was removed is dropped when its place is used again, or when no entry is left.
pub struct Chained<K, D: Discipline, P> {
    chains: Box<[Chain<D::Memory>]>,
    entries: Vec<Entry<K>>,
    pick: P,
    /// The first of the vacant places in `entries`, which are a list too.
    vacant: u32,
    len: u32,
    limit: u32,
    discipline: PhantomData<D>,
}

/// Where an entry is: its index, and that of the entry before it on its chain. And its slot.
#[derive(Clone, Copy)]
struct Found {
    before: u32,
    at: u32,
    slot: Slot,
}

impl<K, D: Discipline> Chained<K, D, OneChain> {
    /// An empty list for at most `limit` keys.
    pub fn with_capacity_limit(limit: usize) -> Self {
        Self::with(1, OneChain, limit)
    }
}

impl<K, D: Discipline, S: KeyHash> Chained<K, D, Remainder<S>> {
    /// `chains` empty chains for at most `limit` keys, of which `hash` picks one.
    ///
    /// # Errors
    /// [`ConfigError::ZeroChains`] and [`ConfigError::TooLarge`].
    pub fn with_chains(chains: usize, hash: S, limit: usize) -> Result<Self, ConfigError> {
        let pick = Remainder::new(chains, hash)?;
        Ok(Self::with(chains, pick, limit))
    }
}

impl<K, D: Discipline, S: KeyHash> Chained<K, D, Growing<S>> {
    /// An empty table for at most `limit` keys.
    pub fn with_hash(hash: S, limit: usize) -> Self {
        Self::with(pick::MIN_CHAINS, Growing(hash), limit)
    }
}

impl<K, D: Discipline> Chained<K, D, ByIndex> {
    /// An empty table of as many chains as places are asked for, rounded up to a power of two, for at most `limit` keys.
    ///
    /// # Errors
    /// [`ConfigError::ZeroChains`] and [`ConfigError::TooLarge`].
    pub fn with_places(places: usize, limit: usize) -> Result<Self, ConfigError> {
        let chains = power_of_two(places)?;
        Ok(Self::with(chains, ByIndex { mask: chains as u32 - 1 }, limit))
    }
}

impl<K, D: Discipline, P> Chained<K, D, P> {
    fn with(chains: usize, pick: P, limit: usize) -> Self {
        Self {
            chains: empty_chains::<D>(chains),
            entries: Vec::new(),
            pick,
            vacant: NONE,
            len: 0,
            limit: u32::try_from(limit).unwrap_or(NONE).min(NONE - 1),
            discipline: PhantomData,
        }
    }

    /// How many chains there are.
    pub fn chains(&self) -> usize {
        self.chains.len()
    }

    /// Shows each chain's length.
    pub fn chain_lengths(&self, mut show: impl FnMut(usize)) {
        for chain in &self.chains {
            let mut length = 0;
            let mut at = chain.first;
            while let Some(entry) = self.entries.get(at as usize) {
                length += 1;
                at = entry.next;
            }
            show(length);
        }
    }

    /// Sets the link that leads to what follows `before`.
    fn set_next(&mut self, chain: usize, before: u32, next: u32) {
        match self.entries.get_mut(before as usize) {
            Some(before) => before.next = next,
            None => self.chains[chain].first = next,
        }
    }

    fn unlink(&mut self, chain: usize, found: Found) {
        let next = self.entries[found.at as usize].next;
        self.set_next(chain, found.before, next);
    }

    fn link_first(&mut self, chain: usize, at: u32) {
        self.entries[at as usize].next = self.chains[chain].first;
        self.chains[chain].first = at;
    }

    /// Puts an entry where there is room for one, on no chain yet.
    fn place(&mut self, entry: Entry<K>) -> u32 {
        let at = self.vacant;
        match self.entries.get_mut(at as usize) {
            Some(place) => {
                self.vacant = place.next;
                *place = entry;
                at
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        }
    }

    /// Gives the place of an entry on no chain back.
    fn vacate(&mut self, at: u32) {
        self.entries[at as usize].next = self.vacant;
        self.vacant = at;
        self.len -= 1;
        if self.len == 0 {
            self.vacant = NONE;
            // Last, for it drops keys, whose destructors may panic.
            self.entries = Vec::new();
        }
    }
}

fn empty_chains<D: Discipline>(chains: usize) -> Box<[Chain<D::Memory>]> {
    (0..chains).map(|_| Chain::default()).collect()
}

impl<K: Eq, D: Discipline, P: Pick<K>> Chained<K, D, P> {
    /// The number of the chain on which a key is, or would be.
    #[inline(always)]
    pub fn chain_of(&self, key: &K) -> usize {
        self.pick.pick(key, self.chains.len())
    }

    /// Asks for where the chains of these keys begin, `N` at most, and says which they are.
    #[inline(always)]
    fn ask<const N: usize>(&self, keys: &[K]) -> [usize; N] {
        let mut chains = [0; N];
        for (chain, key) in chains.iter_mut().zip(keys) {
            *chain = self.chain_of(key);
            prefetch::read(self.chains.get(*chain));
        }
        // Only the first entries: what follows is known when they have arrived.
        for chain in &chains[..keys.len()] {
            let first = self.chains.get(*chain).map_or(NONE, |chain| chain.first);
            prefetch::read(self.entries.get(first as usize));
        }
        chains
    }

    /// Walks a chain from its first entry.
    #[inline(always)]
    fn walk<Q: Probe>(&self, chain: usize, key: &K, probe: &mut Q) -> Option<Found> {
        let at = self.chains.get(chain)?.first;
        // The end of the chain is no entry's index.
        let entry = self.entries.get(at as usize)?;
        probe.examined();
        if entry.key == *key {
            return Some(Found { before: NONE, at, slot: Slot(entry.slot) });
        }
        self.walk_on(at, entry.next, key, probe)
    }

    /// Walks the rest of a chain. Apart, so that the first entry, which most lookups by a hash end with, is compared in a few
    /// instructions less than it is in a loop.
    #[inline(never)]
    fn walk_on<Q: Probe>(&self, mut before: u32, mut at: u32, key: &K, probe: &mut Q) -> Option<Found> {
        while let Some(entry) = self.entries.get(at as usize) {
            probe.examined();
            if entry.key == *key {
                return Some(Found { before, at, slot: Slot(entry.slot) });
            }
            before = at;
            at = entry.next;
        }
        None
    }

    /// As the discipline says: looks into the chain's cache first, and does something about an entry found.
    #[inline(always)]
    fn find_on<Q: Probe>(&mut self, chain: usize, key: &K, probe: &mut Q) -> Option<Slot> {
        if D::REMEMBERS
            && let Some(entry) = self.entries.get(D::recall(&self.chains.get(chain)?.memory) as usize)
        {
            probe.examined();
            if entry.key == *key {
                probe.cache_hit();
                return Some(Slot(entry.slot));
            }
        }
        let found = self.walk(chain, key, probe)?;
        if D::REMEMBERS {
            D::remember(&mut self.chains[chain].memory, found.at);
        }
        if D::MOVES_TO_FRONT && found.before != NONE {
            self.unlink(chain, found);
            self.link_first(chain, found.at);
        }
        Some(found.slot)
    }

    /// Distributes the entries over another number of chains. All keys are hashed before an entry moves: if one panics then,
    /// nothing has changed.
    #[cold]
    fn resize(&mut self, chains: usize) {
        let mut picked = vec![0; self.entries.len()];
        for chain in &self.chains {
            let mut at = chain.first;
            while let Some(entry) = self.entries.get(at as usize) {
                picked[at as usize] = self.pick.pick(&entry.key, chains);
                at = entry.next;
            }
        }
        let old = core::mem::replace(&mut self.chains, empty_chains::<D>(chains));
        for chain in old {
            let mut at = chain.first;
            while let Some(entry) = self.entries.get(at as usize) {
                let next = entry.next;
                self.link_first(picked[at as usize], at);
                at = next;
            }
        }
    }

    fn add(&mut self, key: K, slot: Slot) -> Result<(), InsertError> {
        if self.len >= self.limit {
            return Err(InsertError::Full);
        }
        if let Some(chains) = P::grown(self.len as usize, self.chains.len()) {
            self.resize(chains);
        }
        let chain = self.chain_of(&key);
        let at = self.place(Entry { key, slot: slot.0, next: NONE });
        self.link_first(chain, at);
        self.len += 1;
        Ok(())
    }
}

impl<K: Eq, D: Discipline, P: Pick<K>> Locator<K> for Chained<K, D, P> {
    find_by_find_probed!(K);

    #[inline]
    fn find_probed<Q: Probe>(&mut self, key: &K, probe: &mut Q) -> Option<Slot> {
        self.find_on(self.chain_of(key), key, probe)
    }

    fn find_batch(&mut self, keys: &[K], slots: &mut [Option<Slot>]) {
        if self.entries.len() < prefetch::WORTHWHILE {
            return one_by_one(self, keys, slots);
        }
        for (keys, slots) in keys.chunks(prefetch::AT_ONCE).zip(slots.chunks_mut(prefetch::AT_ONCE)) {
            let chains = self.ask::<{ prefetch::AT_ONCE }>(keys);
            for ((chain, key), slot) in chains.into_iter().zip(keys).zip(slots) {
                *slot = self.find_on(chain, key, &mut NoProbe);
            }
        }
    }

    fn prefetch(&self, keys: &[K]) {
        // Where chains are long, little is won by having their beginnings.
        if (prefetch::WORTHWHILE..4 * self.chains.len()).contains(&self.entries.len()) {
            keys.chunks(prefetch::AHEAD).for_each(|keys| _ = self.ask::<{ prefetch::AHEAD }>(keys));
        }
    }

    fn insert(&mut self, key: K, slot: Slot) -> Result<(), InsertError> {
        check_slot(slot)?;
        P::admit(&key)?;
        if self.walk(self.chain_of(&key), &key, &mut NoProbe).is_some() {
            return Err(InsertError::Duplicate);
        }
        self.add(key, slot)
    }

    fn insert_new(&mut self, key: K, slot: Slot) -> Result<(), InsertError> {
        check_slot(slot)?;
        P::admit(&key)?;
        self.add(key, slot)
    }

    fn remove(&mut self, key: &K) -> Option<Slot> {
        let chain = self.chain_of(key);
        let found = self.walk(chain, key, &mut NoProbe)?;
        self.unlink(chain, found);
        D::forget(&mut self.chains[chain].memory, found.at);
        self.vacate(found.at);
        if let Some(chains) = P::shrunk(self.len as usize, self.chains.len()) {
            self.resize(chains);
        }
        Some(found.slot)
    }

    fn for_each(&self, visit: &mut dyn FnMut(&K, Slot)) {
        for chain in &self.chains {
            let mut at = chain.first;
            while let Some(entry) = self.entries.get(at as usize) {
                visit(&entry.key, Slot(entry.slot));
                at = entry.next;
            }
        }
    }

    fn len(&self) -> usize {
        self.len as usize
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.chains) + self.entries.capacity() * size_of::<Entry<K>>()
    }
}

debug_with_len!([K: Eq, D: Discipline, P: Pick<K>] Chained<K, D, P>, "Chained");
