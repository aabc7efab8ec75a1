//! Queues from which the most urgent leaves first.

use std::{cmp::Ordering, collections::BinaryHeap};

/// What is more urgent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urgency {
    /// What came first.
    #[default]
    Arrival,
    /// The larger number; of equal ones what came first.
    Priority,
    /// The earlier deadline: the number is the time left in microseconds, and 0 is no deadline, which comes last. Of equal
    /// ones what came first.
    Deadline,
}

/// A bounded queue that hands out the most urgent of what is in it.
#[derive(Debug)]
pub struct RunQueue<T> {
    heap: BinaryHeap<Entry<T>>,
    urgency: Urgency,
    most: usize,
    sequence: u64,
}

/// What is in a queue, and its place there.
#[derive(Debug)]
pub(crate) struct Entry<T> {
    rank: u64,
    sequence: u64,
    pub item: T,
}

impl<T> RunQueue<T> {
    /// An empty queue with places for `most`.
    pub fn new(urgency: Urgency, most: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(most), urgency, most, sequence: 0 }
    }

    /// Adds something, with the number that says how urgent it is; `now` is the time in microseconds.
    ///
    /// A full queue hands back the less urgent: the new one, unless something in it is less urgent still. Finding that
    /// one takes time in proportion to the queue, but only a full queue does it.
    pub fn push(&mut self, urgency: u32, now: u64, item: T) -> Result<(), T> {
        self.insert(self.rank(urgency, now), item)
    }

    /// How urgent that is: the larger the more.
    #[inline]
    pub(crate) fn rank(&self, urgency: u32, now: u64) -> u64 {
        match self.urgency {
            Urgency::Arrival => 0,
            Urgency::Priority => urgency.into(),
            Urgency::Deadline if urgency == 0 => 0,
            Urgency::Deadline => !(now + u64::from(urgency)),
        }
    }

    /// As [`push`](Self::push), with a [`rank`](Self::rank).
    pub(crate) fn insert(&mut self, rank: u64, item: T) -> Result<(), T> {
        self.sequence += 1;
        let entry = Entry { rank, sequence: self.sequence, item };
        if self.heap.len() < self.most {
            self.heap.push(entry);
            return Ok(());
        }
        self.replace(entry)
    }

    #[cold]
    fn replace(&mut self, entry: Entry<T>) -> Result<(), T> {
        let least = self.heap.iter().min().map(|least| (least.rank, least.sequence));
        let Some((_, sequence)) = least.filter(|(rank, _)| *rank < entry.rank) else {
            return Err(entry.item);
        };
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        let place = entries.iter().position(|entry| entry.sequence == sequence).unwrap_or(0);
        let gone = std::mem::replace(&mut entries[place], entry);
        self.heap = BinaryHeap::from(entries);
        Err(gone.item)
    }

    /// Takes the most urgent out.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.take().map(|entry| entry.item)
    }

    /// Takes the most urgent out, with its place.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Entry<T>> {
        self.heap.pop()
    }

    /// How urgent the most urgent is.
    #[inline]
    pub(crate) fn first(&self) -> Option<u64> {
        self.heap.peek().map(|entry| entry.rank)
    }

    /// Puts back what was taken, in its place.
    pub(crate) fn put_back(&mut self, entry: Entry<T>) {
        self.heap.push(entry);
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank).then(other.sequence.cmp(&self.sequence))
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Entry<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn drained(queue: &mut RunQueue<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn by_arrival_priority_and_deadline() {
        let of = |urgency| {
            let mut queue = RunQueue::new(urgency, 8);
            for (number, now, item) in [(5, 0, "a"), (9, 2, "b"), (7, 3, "c"), (5, 9, "d"), (2, 3, "e")] {
                queue.push(number, now, item).unwrap();
            }
            drained(&mut queue)
        };
        assert_eq!(of(Urgency::Arrival), ["a", "b", "c", "d", "e"]);
        assert_eq!(of(Urgency::Priority), ["b", "c", "a", "d", "e"]);
        assert_eq!(of(Urgency::Deadline), ["a", "e", "c", "b", "d"]);
    }

    #[test]
    fn what_has_no_deadline_is_last() {
        let mut queue = RunQueue::new(Urgency::Deadline, 8);
        for (left, item) in [(0, "none"), (u32::MAX, "late"), (1, "soon"), (0, "none either")] {
            queue.push(left, 7, item).unwrap();
        }
        assert_eq!(drained(&mut queue), ["soon", "late", "none", "none either"]);
    }

    #[test]
    fn what_is_put_back_has_its_place() {
        let mut queue = RunQueue::new(Urgency::Priority, 8);
        for item in ["a", "b", "c"] {
            queue.push(1, 0, item).unwrap();
        }
        let (first, second) = (queue.take().unwrap(), queue.take().unwrap());
        queue.push(1, 0, "d").unwrap();
        queue.put_back(second);
        queue.put_back(first);
        assert_eq!(drained(&mut queue), ["a", "b", "c", "d"]);
    }

    #[test]
    fn a_full_queue_keeps_the_most_urgent() {
        let mut queue = RunQueue::new(Urgency::Priority, 2);
        queue.push(1, 0, "low").unwrap();
        queue.push(3, 0, "high").unwrap();
        assert_eq!(queue.push(1, 0, "late"), Err("late"));
        assert_eq!(queue.push(2, 0, "middle"), Err("low"));
        assert_eq!(drained(&mut queue), ["high", "middle"]);
    }
}
