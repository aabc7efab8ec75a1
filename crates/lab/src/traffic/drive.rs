//! Locators under traffic: every packet is a lookup, and what it examined is counted by kind of packet.

use std::collections::BTreeMap;

use throughline_demux::{Examined, InsertError, Locator, Slot};

use super::event::{Event, Kind};

/// What the lookups of one kind of packets cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many lookups examined so many entries.
    counts: Vec<u64>,
    cache_hits: u64,
    found: u64,
}

impl Tally {
    /// Adds a lookup.
    pub fn add(&mut self, found: bool, cost: Examined) {
        let entries = cost.entries as usize;
        if entries >= self.counts.len() {
            self.counts.resize(entries + 1, 0);
        }
        self.counts[entries] += 1;
        self.cache_hits += u64::from(cost.cache_hit);
        self.found += u64::from(found);
    }

    /// Adds the lookups of another.
    pub fn merge(&mut self, other: &Self) {
        self.counts.resize(self.counts.len().max(other.counts.len()), 0);
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, more)| *sum += more);
        self.cache_hits += other.cache_hits;
        self.found += other.found;
    }

    /// How many lookups.
    pub fn lookups(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How many of them found something.
    pub fn found(&self) -> u64 {
        self.found
    }

    /// Entries examined by all together.
    pub fn entries(&self) -> u64 {
        self.counts.iter().zip(0..).map(|(lookups, entries)| lookups * entries).sum()
    }

    /// Entries examined per lookup. Not a number without lookups.
    pub fn mean(&self) -> f64 {
        self.entries() as f64 / self.lookups() as f64
    }

    /// That part of the lookups examined no more than so many entries.
    pub fn quantile(&self, part: f64) -> u64 {
        let wanted = (self.lookups() as f64 * part).ceil() as u64;
        let mut seen = 0;
        let reached = self.counts.iter().position(|lookups| {
            seen += lookups;
            seen >= wanted
        });
        reached.unwrap_or(0) as u64
    }

    /// The most entries that a lookup examined.
    pub fn worst(&self) -> u64 {
        self.counts.len().saturating_sub(1) as u64
    }

    /// The part of the lookups that a one-entry cache answered.
    pub fn hit_rate(&self) -> f64 {
        self.cache_hits as f64 / self.lookups() as f64
    }
}

/// What a locator's lookups cost, by kind of packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs(BTreeMap<Kind, Tally>);

impl Costs {
    /// Adds a lookup for a packet of that kind.
    pub fn add(&mut self, kind: Kind, found: bool, cost: Examined) {
        self.0.entry(kind).or_default().add(found, cost);
    }

    /// Of one kind.
    pub fn of(&self, kind: Kind) -> Tally {
        self.0.get(&kind).cloned().unwrap_or_default()
    }

    /// Of several kinds together.
    pub fn over(&self, kinds: &[Kind]) -> Tally {
        let mut sum = Tally::default();
        kinds.iter().filter_map(|kind| self.0.get(kind)).for_each(|tally| sum.merge(tally));
        sum
    }

    /// Of everything.
    pub fn total(&self) -> Tally {
        let mut sum = Tally::default();
        self.0.values().for_each(|tally| sum.merge(tally));
        sum
    }

    /// The kinds that came.
    pub fn kinds(&self) -> impl Iterator<Item = (Kind, &Tally)> {
        self.0.iter().map(|(kind, tally)| (*kind, tally))
    }
}

/// A locator and what its lookups have cost so far.
#[derive(Debug)]
pub struct Subject<L> {
    /// What is tried.
    pub locator: L,
    /// So far.
    pub costs: Costs,
}

impl<L> Subject<L> {
    /// A locator that has not been tried yet.
    pub fn new(locator: L) -> Self {
        Self { locator, costs: Costs::default() }
    }

    /// Inserts flows; their slots are their numbers.
    ///
    /// # Errors
    /// What the locator says.
    pub fn fill<K>(
        &mut self,
        flows: impl IntoIterator<Item = u32>,
        key: impl Fn(u32) -> K,
    ) -> Result<(), InsertError>
    where
        L: Locator<K>,
    {
        flows.into_iter().try_for_each(|flow| self.locator.insert_new(key(flow), Slot(flow)))
    }

    /// Looks up one packet's flow; [`Kind::Open`] inserts it then, [`Kind::Close`] removes it. Returns what the lookup
    /// cost.
    ///
    /// # Errors
    /// What the locator says to the insertion.
    pub fn packet<K>(&mut self, event: &Event, key: &K, counted: bool) -> Result<Examined, InsertError>
    where
        L: Locator<K>,
        K: Clone,
    {
        let (slot, cost) = self.locator.find_counted(key);
        if counted {
            self.costs.add(event.kind, slot.is_some(), cost);
        }
        match event.kind {
            Kind::Open => self.locator.insert_new(key.clone(), Slot(event.flow))?,
            Kind::Close => drop(self.locator.remove(key)),
            _ => {}
        }
        Ok(cost)
    }
}

/// Drives all subjects with the same packets; counts those from the time `warm` on.
///
/// # Errors
/// What a locator says to an insertion.
pub fn drive<K: Clone, L: Locator<K>>(
    subjects: &mut [Subject<L>],
    events: impl IntoIterator<Item = Event>,
    warm: u64,
    key: impl Fn(u32) -> K,
) -> Result<(), InsertError> {
    for event in events {
        let key = key(event.flow);
        for subject in &mut *subjects {
            subject.packet(&event, &key, event.time >= warm)?;
        }
    }
    Ok(())
}
