//! When something is due, for each of many things that are known by small numbers: a heap in which every thing has its place.

use std::time::Duration;

/// No place in the heap.
const NOWHERE: u32 = u32::MAX;

/// At most one deadline for each number. Setting and removing allocate nothing for numbers that there is room for.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    /// A binary heap, the earliest first.
    heap: Vec<(Duration, u32)>,
    /// Where in the heap the deadline of each number is.
    places: Vec<u32>,
}

impl Deadlines {
    /// The earliest.
    #[inline]
    pub(crate) fn next(&self) -> Option<Duration> {
        self.heap.first().map(|first| first.0)
    }

    /// Makes room for a number and all before it.
    pub(crate) fn make_room(&mut self, number: u32) {
        if self.places.len() <= number as usize {
            self.places.resize(number as usize + 1, NOWHERE);
            self.heap.reserve(self.places.len() - self.heap.len());
        }
    }

    fn place(&self, number: u32) -> Option<usize> {
        let place = *self.places.get(number as usize)?;
        (place != NOWHERE).then_some(place as usize)
    }

    /// Something is due then, unless it is due earlier anyway.
    #[inline]
    pub(crate) fn bring_forward(&mut self, number: u32, at: Duration) {
        match self.place(number) {
            Some(place) if self.heap[place].0 <= at => {}
            Some(place) => {
                self.heap[place].0 = at;
                self.rise(place);
            }
            None => self.insert(number, at),
        }
    }

    fn insert(&mut self, number: u32, at: Duration) {
        self.make_room(number);
        self.heap.push((at, number));
        self.rise(self.heap.len() - 1);
    }

    /// Nothing is due any more.
    pub(crate) fn remove(&mut self, number: u32) {
        let Some(place) = self.place(number) else { return };
        self.places[number as usize] = NOWHERE;
        self.heap.swap_remove(place);
        if place < self.heap.len() {
            let place = self.rise(place);
            self.sink(place);
        }
    }

    /// Takes the earliest out, if it is due.
    pub(crate) fn pop_due(&mut self, now: Duration) -> Option<u32> {
        let (_, number) = self.heap.first().copied().filter(|first| first.0 <= now)?;
        self.remove(number);
        Some(number)
    }

    /// Moves what is here before those that are due later; where it is then.
    fn rise(&mut self, mut place: usize) -> usize {
        while place > 0 && self.heap[place].0 < self.heap[(place - 1) / 2].0 {
            self.exchange(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
        self.places[self.heap[place].1 as usize] = place as u32;
        place
    }

    /// Moves what is here behind those that are due earlier.
    fn sink(&mut self, mut place: usize) {
        loop {
            let children =
                [2 * place + 1, 2 * place + 2].into_iter().filter(|child| *child < self.heap.len());
            let Some(least) = children.min_by_key(|child| self.heap[*child].0) else { return };
            if self.heap[place].0 <= self.heap[least].0 {
                return;
            }
            self.exchange(place, least);
            place = least;
        }
    }

    fn exchange(&mut self, one: usize, other: usize) {
        self.heap.swap(one, other);
        for place in [one, other] {
            self.places[self.heap[place].1 as usize] = place as u32;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn like_a_map(steps in prop::collection::vec((0u32..20, 0u64..100, 0..4), 0..200)) {
            let (mut deadlines, mut model) = (Deadlines::default(), BTreeMap::new());
            for (number, at, what) in steps {
                let at = Duration::from_millis(at);
                match what {
                    0 => {
                        deadlines.remove(number);
                        model.remove(&number);
                    }
                    1 => {
                        let popped = deadlines.pop_due(at);
                        let earliest = model.values().min().copied().filter(|earliest| *earliest <= at);
                        prop_assert_eq!(popped.and_then(|number| model.remove(&number)), earliest);
                    }
                    _ => {
                        deadlines.bring_forward(number, at);
                        model.entry(number).and_modify(|before| *before = at.min(*before)).or_insert(at);
                    }
                }
                prop_assert_eq!(deadlines.next(), model.values().min().copied());
                prop_assert_eq!(deadlines.heap.len(), model.len());
            }
        }
    }
}
