//! Which of the packets sent have not arrived: a bit for each, so that an acknowledgement costs what is new in it, however many
//! packets it names once more.

use std::collections::VecDeque;

const BITS: u64 = u64::BITS as u64;

/// Words that there is room for from the beginning.
const FEW: usize = 4;

/// Numbers of packets, of which those up to the last one have been [added](Self::add) one after the other.
#[derive(Debug)]
pub struct Missing {
    words: VecDeque<u64>,
    /// The number of the first bit, in words.
    first: u64,
    /// Words looked at.
    #[cfg(test)]
    pub looks: u64,
}

impl Missing {
    /// None; this will be the first.
    pub fn new(first: u64) -> Self {
        Self {
            words: VecDeque::with_capacity(FEW),
            first: first / BITS,
            #[cfg(test)]
            looks: 0,
        }
    }

    /// The next packet is missing.
    #[inline]
    pub fn add(&mut self, number: u64) {
        let at = self.at(number);
        if at == self.words.len() {
            self.words.push_back(0);
        }
        self.words[at] |= 1 << (number % BITS);
    }

    /// A packet of those that were added is missing no more.
    #[inline]
    pub fn remove(&mut self, number: u64) {
        let at = self.at(number);
        self.words[at] &= !(1 << (number % BITS));
    }

    /// The first that is missing from `start`, which was not forgotten, to before `end`.
    #[inline]
    pub fn first(&mut self, start: u64, end: u64) -> Option<u64> {
        let mut from = start;
        while from < end {
            #[cfg(test)]
            (self.looks += 1);
            let word = self.words.get(self.at(from))? >> (from % BITS);
            if word != 0 {
                return Some(from + u64::from(word.trailing_zeros())).filter(|number| *number < end);
            }
            from = (from / BITS + 1) * BITS;
        }
        None
    }

    /// Those before this number matter no more.
    #[inline]
    pub fn forget_before(&mut self, number: u64) {
        while self.first < number / BITS {
            self.words.pop_front();
            self.first += 1;
        }
    }

    fn at(&self, number: u64) -> usize {
        (number / BITS - self.first) as usize
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn is_what_was_added_and_not_removed() {
        for first in [0, 1, 63, 64, 100] {
            let mut missing = Missing::new(first);
            let end = first + 300;
            (first..end).for_each(|number| missing.add(number));
            let kept = |number: &u64| number.is_multiple_of(67) || *number == end - 1;
            (first..end).filter(|number| !kept(number)).for_each(|number| missing.remove(number));
            for start in first..end {
                let expected = (start..end).find(kept);
                assert_eq!(missing.first(start, end), expected);
                assert_eq!(missing.first(start, end + 1000), expected);
                assert_eq!(missing.first(start, start), None);
                assert_eq!(missing.first(start, end - 1), expected.filter(|number| *number < end - 1));
            }
        }
    }

    #[test]
    fn forgets_what_was_before() {
        let mut missing = Missing::new(5);
        for number in 5..1000 {
            missing.add(number);
            let floor = number.saturating_sub(10).max(5);
            missing.forget_before(floor);
            assert_eq!(missing.first(floor, u64::MAX), Some(floor));
            assert!(missing.words.len() <= 2);
        }
        missing.forget_before(1024);
        assert_eq!((missing.words.len(), missing.first(1024, u64::MAX)), (0, None));
    }
}
