//! What is going to happen, the next first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Things to do, each at its time; at the same time, in the order in which they were put down.
#[derive(Debug)]
pub(crate) struct Agenda<T> {
    heap: BinaryHeap<Reverse<Item<T>>>,
    count: u64,
}

#[derive(Debug)]
struct Item<T> {
    time: u64,
    number: u64,
    what: T,
}

impl<T> Agenda<T> {
    pub(crate) fn new() -> Self {
        Self { heap: BinaryHeap::new(), count: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(crate) fn at(&mut self, time: u64, what: T) {
        self.count += 1;
        self.heap.push(Reverse(Item { time, number: self.count, what }));
    }

    pub(crate) fn next(&mut self) -> Option<(u64, T)> {
        self.heap.pop().map(|Reverse(item)| (item.time, item.what))
    }
}

impl<T> Ord for Item<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time, self.number).cmp(&(other.time, other.number))
    }
}

impl<T> PartialOrd for Item<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Item<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Item<T> {}
