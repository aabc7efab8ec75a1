//! All advertisements that are known, with their ages.

use std::collections::BTreeMap;

use throughline_stack::smoltcp::time::{Duration, Instant};

use super::advertisement::{Advertisement, Name};
use crate::routing::Reason;

/// How long one that was taken back is remembered, so that an older copy does not come back.
pub(super) const REMEMBERED: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Database {
    known: BTreeMap<Name, Stored>,
    most: usize,
    /// Seconds at which an advertisement no longer holds.
    oldest: u16,
}

#[derive(Debug)]
pub(super) struct Stored {
    pub advertisement: Advertisement,
    came: Instant,
}

/// How one that came compares with ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    Newer,
    Same,
    Older,
}

impl Database {
    pub fn new(most: usize, oldest: u16) -> Self {
        Self { known: BTreeMap::new(), most, oldest }
    }

    pub fn get(&self, name: Name) -> Option<&Stored> {
        self.known.get(&name)
    }

    /// Those that hold.
    pub fn valid(&self, now: Instant) -> impl Iterator<Item = &Advertisement> {
        self.known
            .values()
            .filter(move |stored| self.age(stored, now) < self.oldest)
            .map(|s| &s.advertisement)
    }

    pub fn names(&self) -> impl Iterator<Item = Name> {
        self.known.keys().copied()
    }

    pub fn age(&self, stored: &Stored, now: Instant) -> u16 {
        let passed = (now - stored.came).secs();
        passed.saturating_add(stored.advertisement.age.into()).min(self.oldest.into()) as u16
    }

    pub fn compare(&self, other: &Advertisement, now: Instant) -> Compared {
        let Some(stored) = self.known.get(&other.name()) else { return Compared::Newer };
        let (ours, theirs) = (stored.advertisement.sequence, other.sequence);
        let gone = [self.age(stored, now), other.age].map(|age| age >= self.oldest);
        match (theirs.cmp(&ours), gone) {
            (std::cmp::Ordering::Greater, _) | (std::cmp::Ordering::Equal, [false, true]) => Compared::Newer,
            (std::cmp::Ordering::Equal, [true, true] | [false, false]) => Compared::Same,
            _ => Compared::Older,
        }
    }

    /// Keeps one in place of what was known of its name.
    pub fn store(&mut self, advertisement: Advertisement, now: Instant) -> Result<(), Reason> {
        let name = advertisement.name();
        if !self.known.contains_key(&name) && self.known.len() >= self.most {
            return Err(Reason::Database);
        }
        self.known.insert(name, Stored { advertisement, came: now });
        Ok(())
    }

    /// Lets time pass: what no longer holds is forgotten, a little later. What has just become too old.
    pub fn expire(&mut self, now: Instant) -> Vec<Name> {
        let oldest = self.oldest;
        let mut gone = Vec::new();
        self.known.retain(|name, stored| {
            let left = Duration::from_secs(oldest.saturating_sub(stored.advertisement.age).into());
            if stored.came + left + REMEMBERED <= now && stored.advertisement.age >= oldest {
                return false;
            }
            if stored.came + left <= now && stored.advertisement.age < oldest {
                stored.advertisement.age = oldest;
                stored.came = now;
                gone.push(*name);
            }
            true
        });
        gone
    }

    /// When something becomes too old, or is forgotten.
    pub fn next(&self) -> Option<Instant> {
        let ends = |stored: &Stored| {
            let age = stored.advertisement.age;
            if age >= self.oldest {
                stored.came + REMEMBERED
            } else {
                stored.came + Duration::from_secs((self.oldest - age).into())
            }
        };
        self.known.values().map(ends).min()
    }
}
