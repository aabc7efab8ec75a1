//! A network that does harm, its clock, and what is drawn from a seed.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
    time::Duration,
};

/// SplitMix64.
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    pub fn time(&mut self, most: Duration) -> Duration {
        Duration::from_nanos(self.below(most.as_nanos() as u64 + 1))
    }
}

struct Event<T> {
    at: Duration,
    order: u64,
    what: T,
}

impl<T> PartialEq for Event<T> {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}
impl<T> Eq for Event<T> {}
impl<T> PartialOrd for Event<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Event<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// What will happen, in order.
pub struct Future<T> {
    events: BinaryHeap<Reverse<Event<T>>>,
    order: u64,
}

impl<T> Future<T> {
    pub fn new() -> Self {
        Self { events: BinaryHeap::new(), order: 0 }
    }

    pub fn add(&mut self, at: Duration, what: T) {
        self.order += 1;
        self.events.push(Reverse(Event { at, order: self.order, what }));
    }

    pub fn next(&mut self) -> Option<(Duration, T)> {
        self.events.pop().map(|Reverse(event)| (event.at, event.what))
    }
}

/// In percent, and how long packets take.
#[derive(Clone, Copy)]
pub struct Harm {
    pub loss: u64,
    pub duplication: u64,
    pub late: u64,
    pub usual: Duration,
    pub latest: Duration,
}

impl Harm {
    /// When the copies of a packet arrive.
    pub fn arrivals(&self, random: &mut Random, now: Duration) -> impl Iterator<Item = Duration> {
        let copies = if random.percent(self.duplication) { 2 } else { 1 };
        let copies = if random.percent(self.loss) { 0 } else { copies };
        let mut arrival = || {
            let late = if random.percent(self.late) {
                random.time(self.latest - self.usual)
            } else {
                Duration::ZERO
            };
            now + self.usual + late
        };
        [arrival(), arrival()].into_iter().take(copies)
    }
}
