//! The sessions of one protocol: an arena of records and a locator that finds them by key.

use throughline_demux::{AnyLocator, Arena, ConfigError, Key, Locator, LocatorConfig, Slot, Strategy};

/// How a protocol finds its sessions, and how many there may be.
#[derive(Clone, Copy, Debug)]
pub struct Lookup {
    /// Which locator. Those that need a frozen set of keys, or an index in them, cannot serve.
    pub strategy: Strategy,
    /// The locator's parameters; `limit` is the most sessions.
    pub config: LocatorConfig,
}

/// The most sessions of a protocol, unless told otherwise.
pub const DEFAULT_SESSIONS: usize = 1 << 16;

impl Lookup {
    /// This strategy with a random seed, for [`DEFAULT_SESSIONS`].
    pub fn new(strategy: Strategy) -> Self {
        Self { strategy, config: LocatorConfig { limit: DEFAULT_SESSIONS, ..LocatorConfig::random() } }
    }
}

impl Default for Lookup {
    fn default() -> Self {
        Self::new(Strategy::DynamicHash)
    }
}

/// Why a protocol has no such lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// Sessions come and go, and their keys carry no index.
    #[error("`{0}` needs keys that are frozen or carry an index, which sessions' keys do not")]
    Unsuited(Strategy),
    /// The locator refuses its parameters.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// Sessions looked at to find one that may go: so a flood of strangers costs a bounded amount of work each.
pub(crate) const LOOKED_AT: usize = 64;

/// Of fewer sessions what messages need is in the caches, where asking ahead costs more than it saves.
const MANY: usize = 512;

/// What is fetched of a session before its message is processed: with what the arena has before it, two cache lines.
const FETCHED: usize = 128;

/// As many sessions as there may be, all in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AllInUse;

/// In this order, so that the key is in the cache line that says whether there is a session.
#[repr(C)]
struct Entry<K, S> {
    key: K,
    /// Paths, and sessions above, that need this one. Without any it may go when room is needed.
    uses: u32,
    /// Whether it was found since the hand passed.
    found: bool,
    /// Whether it is found no more.
    hidden: bool,
    session: S,
}

pub(crate) struct Sessions<K: Key, S> {
    entries: Arena<Entry<K, S>>,
    locator: AnyLocator<K>,
    most: usize,
    /// Where the search for a session that nobody needs goes on.
    hand: u32,
}

impl<K: Key + Send + Sync, S: Default + Send + Sync> Sessions<K, S> {
    /// Bytes from one session to the next.
    pub const PLACE: usize = Arena::<Entry<K, S>>::bytes_per_record();

    pub fn new(lookup: Lookup) -> Result<Self, LookupError> {
        let Lookup { strategy, config } = lookup;
        if strategy.must_freeze() || strategy.needs_index() {
            return Err(LookupError::Unsuited(strategy));
        }
        let most = config.limit.min(u32::MAX as usize - 1);
        Ok(Self { entries: Arena::new(most as u32), locator: strategy.locator(config)?, most, hand: 0 })
    }

    /// The session of a key, which counts as use for [`insert`](Self::insert).
    #[inline]
    pub fn find(&mut self, key: &K) -> Option<(Slot, &mut S)> {
        let slot = self.locator.find(key)?;
        let entry = self.entries.exclusive().into_slot(slot)?;
        entry.found = true;
        Some((slot, &mut entry.session))
    }

    #[inline]
    pub fn get(&mut self, slot: Slot) -> Option<&mut S> {
        Some(&mut self.entry(slot)?.session)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The key that a session is found by.
    #[inline]
    pub fn key(&mut self, slot: Slot) -> Option<&K> {
        Some(&self.entry(slot)?.key)
    }

    /// Starts to fetch the beginning of a session.
    #[inline]
    pub fn prefetch(&self, slot: Slot) {
        self.entries.prefetch_beginning(slot, FETCHED.min(Self::PLACE));
    }

    /// Whether there are so many sessions that they are hardly in the caches.
    pub fn are_many(&self) -> bool {
        self.len() >= MANY
    }

    /// Looks for the sessions of these keys, starts to fetch them, and says where they are.
    pub fn foresee(&mut self, keys: &[K], found: &mut [Option<Slot>]) {
        self.locator.find_batch(keys, found);
        found[..keys.len()].iter().flatten().for_each(|slot| self.prefetch(*slot));
    }

    /// The session, if its key is this one.
    #[inline]
    pub fn confirm(&mut self, slot: Slot, key: &K) -> Option<&mut S> {
        let entry = self.entry(slot)?;
        entry.found = true;
        (entry.key == *key && !entry.hidden).then_some(&mut entry.session)
    }

    /// Adds a session, with `uses` users. When there are as many as may be, one that nobody needs and nobody asked for
    /// lately goes; it is returned, so that the caller can give back what it held.
    pub fn insert(&mut self, key: K, session: S, uses: u32) -> Result<(Slot, Option<S>), AllInUse> {
        let gone = if self.entries.len() >= self.most { Some(self.evict()?) } else { None };
        let entry = Entry { key: key.clone(), uses, found: true, hidden: false, session };
        let handle = self.entries.insert(0, entry).map_err(|_| AllInUse)?;
        if self.locator.insert(key, handle.slot).is_err() {
            self.entries.remove(handle);
            return Err(AllInUse);
        }
        Ok((handle.slot, gone))
    }

    /// Has a session found under another key from now on. Where there is another one already, that stays.
    pub fn set_key(&mut self, slot: Slot, key: K) {
        let Some(entry) = self.entries.exclusive().into_slot(slot) else { return };
        if self.locator.insert(key.clone(), slot).is_ok() {
            let old = std::mem::replace(&mut entry.key, key);
            self.locator.remove(&old);
        }
    }

    /// Has a session not be found any more, so that there can be another of this key. Whoever knows where it is has it as before.
    pub fn hide(&mut self, slot: Slot) {
        let Some(entry) = self.entries.exclusive().into_slot(slot) else { return };
        if !std::mem::replace(&mut entry.hidden, true) {
            self.locator.remove(&entry.key);
        }
    }

    /// One more user.
    pub fn hold(&mut self, slot: Slot) {
        if let Some(entry) = self.entry(slot) {
            entry.uses += 1;
        }
    }

    /// One user less. Whether there is none left.
    pub fn release(&mut self, slot: Slot) -> bool {
        self.entry(slot).is_some_and(|entry| {
            entry.uses = entry.uses.saturating_sub(1);
            entry.uses == 0
        })
    }

    pub fn remove(&mut self, slot: Slot) -> Option<S> {
        let entry = self.entry(slot)?;
        let session = std::mem::take(&mut entry.session);
        let (key, hidden) = (entry.key.clone(), entry.hidden);
        if !hidden {
            self.locator.remove(&key);
        }
        self.entries.remove(self.entries.handle_at(slot)?);
        Some(session)
    }

    fn evict(&mut self) -> Result<S, AllInUse> {
        for _ in 0..LOOKED_AT {
            self.hand = (self.hand + 1) % self.most as u32;
            let slot = Slot(self.hand);
            let Some(entry) = self.entry(slot).filter(|entry| entry.uses == 0) else { continue };
            if !std::mem::take(&mut entry.found) {
                return self.remove(slot).ok_or(AllInUse);
            }
        }
        Err(AllInUse)
    }

    #[inline]
    fn entry(&mut self, slot: Slot) -> Option<&mut Entry<K, S>> {
        self.entries.exclusive().into_slot(slot)
    }
}
