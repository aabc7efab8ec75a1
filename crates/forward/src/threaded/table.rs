//! The table that indices lead into.

use std::{
    collections::{BTreeMap, VecDeque},
    net::{Ipv4Addr, Ipv6Addr},
    ops::Bound,
};

use throughline_stack::smoltcp::time::{Duration, Instant};

use super::address::{Address, Prefix};

/// The index that leads nowhere: the next hop has none, or has told none.
pub const NO_INDEX: u32 = 0;

/// Of IPv4, with room for 65,535 indices; 1.25 MiB.
pub type Table4<const PLACES: usize = 65_536> = Table<Ipv4Addr, PLACES>;
/// Of IPv6, with room for 65,535 indices; 3.5 MiB.
pub type Table6<const PLACES: usize = 65_536> = Table<Ipv6Addr, PLACES>;

/// Where packets to a prefix go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route<A> {
    /// The port they leave by. The numbers are the caller's.
    pub port: u16,
    /// The node they go to, or `None` if their destination itself is behind the port.
    pub next_hop: Option<A>,
    /// What the next hop has told to be its index of the same prefix, or [`NO_INDEX`].
    pub next_index: u32,
    /// Whether the prefix gets an index. Those outside the area get none, and neither do the node's own addresses.
    pub indexed: bool,
}

/// What a packet's index led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step(u64);

impl Step {
    fn new(port: u16, next_index: u32) -> Self {
        Self(u64::from(port) << 32 | u64::from(next_index))
    }

    /// The port that the packet leaves by.
    #[inline(always)]
    pub fn port(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// What replaces the packet's index. [`NO_INDEX`] if the next hop has none: then the label goes, or its flag.
    #[inline(always)]
    pub fn next_index(self) -> u32 {
        self.0 as u32
    }
}

/// What is compared. A destination belongs to an entry if it is `last` once the bits of `host` are set, which is one load, one OR
/// and one comparison.
#[derive(Clone, Copy)]
struct Key<A: Address> {
    last: A::Bits,
    host: A::Bits,
}

impl<A: Address> Key<A> {
    /// No destination belongs here: all its bits are set before it is compared with 0.
    const CLOSED: Self = {
        let [none, all] = A::NONE_AND_ALL;
        Self { last: none, host: all }
    };
}

/// How often indices were of no use, and why entries have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableCounts {
    /// Packets whose index led to no entry for their destination: stale, forged, or of a prefix with longer ones within.
    pub refused: u64,
    /// Routes that got no index since all were taken, or had been until lately.
    pub without_index: u64,
}

/// The routes of a node by threaded index.
///
/// It knows every prefix that the node's lookup knows, and holds the same routes; the lookup itself is somebody else's. An
/// index leads to an entry only while no longer prefix lies within the entry's, and its key is compared with the packet's
/// destination: so what an index leads to is what the longest-prefix lookup would find, whatever index a packet carries.
///
/// How many places there are is a power of two and a constant, so an index is masked, and no bound is compared. Place 0 is never
/// taken, so that [`NO_INDEX`] leads nowhere. Keys, steps and next hops lie apart, each where a step of the address leads
/// that the processor scales itself.
pub struct Table<A: Address, const PLACES: usize> {
    keys: Box<[Key<A>; PLACES]>,
    steps: Box<[Step; PLACES]>,
    /// Unspecified where there is none.
    hops: Box<[A; PLACES]>,
    routes: BTreeMap<Prefix<A>, Known<A>>,
    /// The first entry that was never taken.
    fresh: u32,
    /// Entries given back, and when, the oldest first.
    free: VecDeque<(u32, Instant)>,
    rest: Duration,
    counts: TableCounts,
}

#[derive(Clone, Copy)]
struct Known<A> {
    route: Route<A>,
    /// The index.
    place: u32,
}

impl<A: Address, const PLACES: usize> Table<A, PLACES> {
    const MASK: u32 = {
        assert!(PLACES.is_power_of_two() && PLACES >= 2 && PLACES <= 1 << 31);
        PLACES as u32 - 1
    };

    /// An empty table. Places that are given back rest for so long before another prefix gets their index, so that packets
    /// and neighbours that still have it don't find others' entries time and again. They would not be misdelivered.
    pub fn new(rest: Duration) -> Self {
        Self {
            keys: places(Key::CLOSED),
            steps: places(Step(0)),
            hops: places(A::UNSPECIFIED),
            routes: BTreeMap::new(),
            fresh: 1,
            free: VecDeque::new(),
            rest,
            counts: TableCounts::default(),
        }
    }

    /// Where a packet to this destination goes by its index, or `None` if the index is of no use and it must be looked up.
    /// With 65,536 places that takes 7 instructions of x86-64 for IPv4, in which the packet's index is read and the next hop's written.
    #[inline(always)]
    pub fn follow(&self, index: u32, destination: A) -> Option<Step> {
        let place = (index & Self::MASK) as usize;
        let key = &self.keys[place];
        (destination.as_they_lie() | key.host == key.last).then(|| self.steps[place])
    }

    /// As [`follow`](Self::follow), and counts what was of no use.
    #[inline(always)]
    pub fn step(&mut self, index: u32, destination: A) -> Option<Step> {
        let step = self.follow(index, destination);
        if step.is_none() {
            self.count_refused();
        }
        step
    }

    #[cold]
    fn count_refused(&mut self) {
        self.counts.refused += 1;
    }

    /// The node that a packet goes to which [`follow`](Self::follow) found a way for; `None` if that is its destination.
    #[inline]
    pub fn next_hop(&self, index: u32) -> Option<A> {
        let hop = self.hops[(index & Self::MASK) as usize];
        (hop != A::UNSPECIFIED).then_some(hop)
    }

    /// Takes in a route, or one that has changed: every one that the lookup knows, with or without index, since those within
    /// others decide which indices hold. The index, which it keeps until it is removed.
    pub fn insert(&mut self, prefix: Prefix<A>, route: Route<A>, now: Instant) -> u32 {
        let before = self.routes.get(&prefix).map_or(0, |known| known.place);
        let place = match (route.indexed, before) {
            (true, 0) => self.take(now),
            (true, place) => place,
            (false, _) => {
                self.give_back(before, now);
                0
            }
        };
        self.routes.insert(prefix, Known { route, place });
        self.refresh(prefix);
        self.refresh_before(prefix);
        place
    }

    /// Forgets a route. Whether it was known.
    pub fn remove(&mut self, prefix: Prefix<A>, now: Instant) -> bool {
        let Some(known) = self.routes.remove(&prefix) else { return false };
        self.give_back(known.place, now);
        self.refresh_before(prefix);
        true
    }

    /// The index of a prefix, or [`NO_INDEX`].
    pub fn index_of(&self, prefix: Prefix<A>) -> u32 {
        self.routes.get(&prefix).map_or(NO_INDEX, |known| known.place)
    }

    /// The route of a prefix, if it is known.
    pub fn route(&self, prefix: Prefix<A>) -> Option<Route<A>> {
        self.routes.get(&prefix).map(|known| known.route)
    }

    /// The longest prefix that a destination lies in, with its route and its index. Slow: it tries all lengths.
    pub fn find(&self, destination: A) -> Option<(Prefix<A>, Route<A>, u32)> {
        (0..=A::BITS).rev().find_map(|length| {
            let prefix = Prefix::around(destination, length)?;
            let known = self.routes.get(&prefix)?;
            Some((prefix, known.route, known.place))
        })
    }

    /// All routes, with their indices.
    pub fn routes(&self) -> impl Iterator<Item = (Prefix<A>, Route<A>, u32)> {
        self.routes.iter().map(|(prefix, known)| (*prefix, known.route, known.place))
    }

    /// How often indices were of no use.
    pub fn counts(&self) -> TableCounts {
        self.counts
    }

    fn take(&mut self, now: Instant) -> u32 {
        if (self.fresh as usize) < PLACES {
            self.fresh += 1;
            return self.fresh - 1;
        }
        match self.free.front() {
            Some((place, since)) if *since + self.rest <= now => {
                let place = *place;
                self.free.pop_front();
                place
            }
            _ => {
                self.counts.without_index += 1;
                0
            }
        }
    }

    fn give_back(&mut self, place: u32, now: Instant) {
        if place != 0 {
            self.keys[place as usize] = Key::CLOSED;
            self.free.push_back((place, now));
        }
    }

    /// The prefix before this one in order is the longest that covers it; or another within that one is before it, and
    /// then nothing changes.
    fn refresh_before(&mut self, prefix: Prefix<A>) {
        let before = self.routes.range(..prefix).next_back().map(|(before, _)| *before);
        if let Some(before) = before
            && before.covers(prefix)
        {
            self.refresh(before);
        }
    }

    /// Writes the entry of a prefix, or closes it if there is a longer one within.
    fn refresh(&mut self, prefix: Prefix<A>) {
        let Some(Known { route, place }) = self.routes.get(&prefix).copied() else { return };
        let place = place as usize;
        if place == 0 {
            return;
        }
        self.steps[place] = Step::new(route.port, route.next_index);
        self.hops[place] = route.next_hop.unwrap_or(A::UNSPECIFIED);
        let behind = self.routes.range((Bound::Excluded(prefix), Bound::Unbounded)).next();
        self.keys[place] = if behind.is_some_and(|(other, _)| prefix.covers(*other)) {
            Key::CLOSED
        } else {
            Key {
                last: prefix.address().last_of(prefix.length()).as_they_lie(),
                host: A::UNSPECIFIED.last_of(prefix.length()).as_they_lie(),
            }
        };
    }
}

fn places<T: Clone, const PLACES: usize>(all: T) -> Box<[T; PLACES]> {
    let places = vec![all; PLACES].into_boxed_slice();
    places.try_into().unwrap_or_else(|_| unreachable!("as many as there are"))
}
