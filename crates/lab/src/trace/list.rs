//! A list of flows, whose walks are counted without walking: see [`Order`].

use super::order::Order;

/// Where a flow is in a list, by last use and by age.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Places {
    latest: u32,
    newest: u32,
}

/// All flows, by their slots: they keep their places in several lists.
pub(super) trait Members {
    /// The place of a flow in one of its lists.
    fn places(&mut self, slot: u32) -> &mut Places;
}

/// What a lookup finds in a list: at which place the flow is, or how many flows there are if it is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Walk {
    /// Its place if the newest is first.
    pub(super) by_age: u32,
    /// Its place if the one used last is first.
    pub(super) by_use: u32,
    /// What a cache of the flow found last has.
    pub(super) cached: Cached,
}

/// What a cache of the flow found last has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Cached {
    /// Nothing.
    #[default]
    Nothing,
    /// Another flow than the one looked for.
    Another,
    /// The flow.
    This,
}

/// Flows in two orders, and a cache of the one found last.
#[derive(Debug, Default)]
pub(super) struct List {
    by_age: Order,
    by_use: Order,
    cached: Option<u32>,
}

impl List {
    /// How many flows there are.
    pub(super) fn len(&self) -> usize {
        self.by_age.len()
    }

    /// Reads what [`find`](Self::find) will need first.
    #[inline]
    pub(super) fn peek(&self, places: Places) -> u64 {
        self.by_age.peek(places.newest) ^ self.by_use.peek(places.latest)
    }

    /// A packet of a flow in the list.
    #[inline]
    pub(super) fn find(&mut self, slot: u32, members: &mut impl Members) -> Walk {
        let places = *members.places(slot);
        let by_use = self.by_use.place(places.latest) as u32;
        if by_use > 1 {
            self.by_use.take(places.latest);
            members.places(slot).latest = self.by_use.push(slot, |slot, at| members.places(slot).latest = at);
        }
        let cached = self.cache(Some(slot));
        self.cached = Some(slot);
        Walk { by_age: self.by_age.place(places.newest) as u32, by_use, cached }
    }

    /// A packet of a flow that is not in the list, and is put in.
    #[inline]
    pub(super) fn begin(&mut self, slot: u32, members: &mut impl Members) -> Walk {
        let (len, cached) = (self.len() as u32, self.cache(None));
        let latest = self.by_use.push(slot, |slot, at| members.places(slot).latest = at);
        let newest = self.by_age.push(slot, |slot, at| members.places(slot).newest = at);
        *members.places(slot) = Places { latest, newest };
        Walk { by_age: len, by_use: len, cached }
    }

    /// A flow leaves.
    pub(super) fn remove(&mut self, slot: u32, places: Places) {
        self.by_use.take(places.latest);
        self.by_age.take(places.newest);
        if self.cached == Some(slot) {
            self.cached = None;
        }
    }

    /// The flow used longest ago.
    pub(super) fn oldest(&mut self) -> Option<u32> {
        self.by_use.oldest()
    }

    /// Some of the flows used longest ago, the oldest first.
    pub(super) fn oldest_few(&self) -> impl Iterator<Item = u32> {
        self.by_use.oldest_few()
    }

    #[inline]
    fn cache(&self, slot: Option<u32>) -> Cached {
        match self.cached {
            None => Cached::Nothing,
            cached if cached == slot => Cached::This,
            Some(_) => Cached::Another,
        }
    }
}
