//! What a lookup costs, by how many flows there are.

/// What packets cost while there were so many flows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Packets whose entries were counted.
    pub packets: u64,
    /// Entries that they examined.
    pub entries: u64,
    /// Packets that the time stands for: of many, some are timed for others.
    pub timed: u64,
    /// Nanoseconds that they take.
    pub nanoseconds: u64,
}

impl Cost {
    /// Entries that a packet examined; none if none were counted.
    pub fn entries_each(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.entries as f64 / self.packets as f64)
    }

    /// Time for a packet; none if none were timed.
    pub fn nanoseconds_each(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.nanoseconds as f64 / self.timed as f64)
    }

    /// Both together.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        Self {
            packets: self.packets + other.packets,
            entries: self.entries + other.entries,
            timed: self.timed + other.timed,
            nanoseconds: self.nanoseconds + other.nanoseconds,
        }
    }
}

/// Costs by number of flows, in steps of half an octave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BySize(Vec<Cost>);

/// The step of a number of flows.
#[inline]
pub(super) fn step(flows: usize) -> usize {
    let flows = flows.max(1);
    let octave = flows.ilog2();
    // The square root of two, to twelve bits.
    let upper = (flows as u64) << 12 >= 5793 << octave;
    2 * octave as usize + usize::from(upper)
}

impl BySize {
    /// Adds the cost of some packets.
    pub(super) fn add(&mut self, step: usize, cost: Cost) {
        if self.0.len() <= step {
            self.0.resize(step + 1, Cost::default());
        }
        self.0[step] = self.0[step].joined(&cost);
    }

    /// The costs in a step.
    pub(super) fn at(&self, step: usize) -> Cost {
        self.0.get(step).copied().unwrap_or_default()
    }

    /// Adds what the same lookup cost in another table.
    pub(super) fn merge(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), Cost::default());
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine = mine.joined(theirs));
    }

    /// Takes the times of another instead of its own.
    pub(super) fn take_times(&mut self, other: &Self) {
        let entries = |cost: &Cost| Cost { timed: 0, nanoseconds: 0, ..*cost };
        let times = |cost: &Cost| Cost { packets: 0, entries: 0, ..*cost };
        let mut both = Self(self.0.iter().map(entries).collect());
        both.merge(&Self(other.0.iter().map(times).collect()));
        *self = both;
    }

    /// Takes the entries of another instead of its own.
    pub(super) fn take_entries(&mut self, other: &Self) {
        let mut both = other.clone();
        both.take_times(self);
        *self = both;
    }

    /// All costs together.
    pub(super) fn total(&self) -> Cost {
        self.0.iter().fold(Cost::default(), |total, cost| total.joined(cost))
    }

    /// About so many flows, and what packets cost.
    pub fn iter(&self) -> impl Iterator<Item = (f64, Cost)> {
        let steps = self.0.iter().enumerate();
        steps.map(|(step, cost)| (2_f64.powf(step as f64 / 2.0 + 0.25), *cost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_half_octaves() {
        let mut costs = BySize::default();
        for flows in [0, 1, 2, 3, 1000, 1023, 1024, 1448, 1449, 2047] {
            costs.add(step(flows), Cost { packets: 1, entries: flows as u64, timed: 1, nanoseconds: 2 });
        }
        let found: Vec<_> = costs.iter().map(|(flows, cost)| (flows.round() as u64, cost.packets)).collect();
        let found: Vec<_> = found.into_iter().filter(|(_, packets)| *packets > 0).collect();
        assert_eq!(found, [(1, 2), (2, 1), (3, 1), (861, 2), (1218, 2), (1722, 2)]);
        assert_eq!(costs.total(), Cost { packets: 10, entries: 7997, timed: 10, nanoseconds: 20 });
    }

    #[test]
    fn times_are_replaced() {
        let (mut mine, mut theirs) = (BySize::default(), BySize::default());
        mine.add(1, Cost { packets: 1, entries: 2, timed: 3, nanoseconds: 4 });
        theirs.add(2, Cost { packets: 5, entries: 6, timed: 7, nanoseconds: 8 });
        mine.take_times(&theirs);
        assert_eq!(mine.total(), Cost { packets: 1, entries: 2, timed: 7, nanoseconds: 8 });
        let at: Vec<_> = mine.iter().map(|(_, cost)| cost.timed).collect();
        assert_eq!(at, [0, 0, 7]);
    }
}
