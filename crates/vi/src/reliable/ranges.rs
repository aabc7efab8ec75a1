//! Sets of numbers as a few ranges: packets received, octets of a message that are there.

use std::ops::Range;

/// Ranges that there is room for from the beginning: mostly one is enough.
const FEW: usize = 4;

/// Disjoint ranges, ascending, with a gap between any two.
///
/// The memory of a set that was cleared is kept, so sets that are used again do not allocate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    ranges: Vec<(u64, u64)>,
}

/// The set would consist of more ranges than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooScattered;

impl RangeSet {
    /// An empty set with room for a few ranges.
    pub(super) fn with_room() -> Self {
        Self { ranges: Vec::with_capacity(FEW) }
    }

    /// So many of these, to be taken out one after another.
    pub(super) fn some(count: usize) -> Vec<Self> {
        (0..count).map(|_| Self::with_room()).collect()
    }

    /// Adds a range, unless the set would then have more than `limit` ranges. Returns how many numbers are new.
    ///
    /// # Errors
    /// [`TooScattered`]; the set is as before.
    pub fn insert(&mut self, new: Range<u64>, limit: usize) -> Result<u64, TooScattered> {
        if new.is_empty() {
            return Ok(0);
        }
        // In order, as most come.
        if let Some(last) = self.ranges.last_mut()
            && last.1 == new.start
        {
            last.1 = new.end;
            return Ok(new.end - new.start);
        }
        let first = self.ranges.partition_point(|range| range.1 < new.start);
        let touched = self.ranges[first..].partition_point(|range| range.0 <= new.end);
        if touched == 0 {
            return self.insert_apart(first, new, limit);
        }
        let old = &self.ranges[first..first + touched];
        let merged = (new.start.min(old[0].0), new.end.max(old[touched - 1].1));
        let before: u64 = old.iter().map(|range| range.1 - range.0).sum();
        self.ranges[first] = merged;
        self.ranges.drain(first + 1..first + touched);
        Ok(merged.1 - merged.0 - before)
    }

    /// Adds the number after the greatest, if there is any.
    #[inline]
    pub fn extend_last(&mut self) {
        if let Some(last) = self.ranges.last_mut() {
            last.1 += 1;
        }
    }

    fn insert_apart(&mut self, at: usize, new: Range<u64>, limit: usize) -> Result<u64, TooScattered> {
        if self.ranges.len() >= limit {
            return Err(TooScattered);
        }
        self.ranges.insert(at, (new.start, new.end));
        Ok(new.end - new.start)
    }

    /// Whether all of a range is in the set; an empty range is.
    pub fn contains(&self, wanted: Range<u64>) -> bool {
        if self.ranges.last().is_none_or(|last| last.1 <= wanted.start) {
            return wanted.is_empty();
        }
        let at = self.ranges.partition_point(|range| range.1 <= wanted.start);
        wanted.is_empty()
            || self.ranges.get(at).is_some_and(|range| range.0 <= wanted.start && wanted.end <= range.1)
    }

    /// The lowest numbers at or after `start` that are missing, up to `end`.
    pub fn first_gap(&self, start: u64, end: u64) -> Range<u64> {
        let at = self.ranges.partition_point(|range| range.1 <= start);
        let (mut from, mut next) = (start, at);
        if let Some(range) = self.ranges.get(at).filter(|range| range.0 <= start) {
            (from, next) = (range.1, at + 1);
        }
        let to = self.ranges.get(next).map_or(end, |range| range.0.min(end));
        from.min(end)..to.max(from.min(end))
    }

    /// Takes everything below `floor` out.
    pub fn remove_below(&mut self, floor: u64) {
        if let Some(first) = self.ranges.first_mut()
            && first.1 > floor
        {
            first.0 = first.0.max(floor);
            return;
        }
        let gone = self.ranges.partition_point(|range| range.1 <= floor);
        self.ranges.drain(..gone);
        if let Some(first) = self.ranges.first_mut() {
            first.0 = first.0.max(floor);
        }
    }

    /// Takes the lowest range out.
    pub fn pop_lowest(&mut self) -> Option<Range<u64>> {
        (!self.ranges.is_empty()).then(|| self.ranges.remove(0)).map(|range| range.0..range.1)
    }

    /// The ranges, lowest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Range<u64>> + ExactSizeIterator + '_ {
        self.ranges.iter().map(|range| range.0..range.1)
    }

    /// The range, if there is only one.
    #[inline]
    pub fn only(&self) -> Option<Range<u64>> {
        let [(start, end)] = self.ranges[..] else { return None };
        Some(start..end)
    }

    /// How many ranges there are.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there is nothing in the set.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Empties the set and keeps its memory.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn like_a_set_of_numbers(pieces in prop::collection::vec((0u64..200, 0u64..20), 0..60), floor in 0u64..200) {
            let (mut set, mut model) = (RangeSet::default(), BTreeSet::new());
            for (start, len) in pieces {
                let before = model.len();
                model.extend(start..start + len);
                prop_assert_eq!(set.insert(start..start + len, 1_000), Ok((model.len() - before) as u64));
            }
            prop_assert!(set.iter().flatten().eq(model.iter().copied()));
            prop_assert!(set.iter().zip(set.iter().skip(1)).all(|(a, b)| a.end < b.start));
            let gap = set.first_gap(floor, 250);
            let missing = (floor..250).find(|n| !model.contains(n)).unwrap();
            prop_assert_eq!(gap.start, missing);
            prop_assert_eq!(gap.end, (missing..250).find(|n| model.contains(n)).unwrap_or(250));
            prop_assert!(!set.contains(gap));
            set.remove_below(floor);
            prop_assert!(set.iter().flatten().eq(model.range(floor..).copied()));
        }
    }

    #[test]
    fn scattered_no_further_than_allowed() {
        let mut set = RangeSet::default();
        assert_eq!(set.insert(0..1, 2), Ok(1));
        assert_eq!(set.insert(4..5, 2), Ok(1));
        assert_eq!(set.insert(2..3, 2), Err(TooScattered));
        assert_eq!(set.insert(1..4, 2), Ok(3));
        assert_eq!(set.pop_lowest(), Some(0..5));
    }
}
