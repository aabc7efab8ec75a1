//! What a lookup costs, by how many flows there are.

/// What packets cost while there were so many flows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Packets looked up.
    pub packets: u64,
    /// Entries that they examined.
    pub entries: u64,
    /// Nanoseconds that they took.
    pub nanoseconds: u64,
}

/// Costs by number of flows, in steps of half an octave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BySize(Vec<Cost>);

impl BySize {
    /// Adds the cost of some packets.
    pub fn add(&mut self, flows: usize, cost: Cost) {
        let flows = flows.max(1);
        let octave = flows.ilog2();
        // The square root of two, to twelve bits.
        let upper = (flows as u64) << 12 >= 5793 << octave;
        let step = 2 * octave as usize + usize::from(upper);
        if self.0.len() <= step {
            self.0.resize(step + 1, Cost::default());
        }
        let sum = &mut self.0[step];
        sum.packets += cost.packets;
        sum.entries += cost.entries;
        sum.nanoseconds += cost.nanoseconds;
    }

    /// Adds what the same lookup cost in another table.
    pub fn merge(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), Cost::default());
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            mine.packets += theirs.packets;
            mine.entries += theirs.entries;
            mine.nanoseconds += theirs.nanoseconds;
        }
    }

    /// About so many flows, and what packets cost.
    pub fn iter(&self) -> impl Iterator<Item = (f64, Cost)> {
        let used = self.0.iter().enumerate().filter(|(_, cost)| cost.packets > 0);
        used.map(|(step, cost)| (2_f64.powf(step as f64 / 2.0 + 0.25), *cost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_half_octaves() {
        let mut costs = BySize::default();
        for flows in [0, 1, 2, 3, 1000, 1023, 1024, 1448, 1449, 2047] {
            costs.add(flows, Cost { packets: 1, entries: flows as u64, nanoseconds: 2 });
        }
        let found: Vec<_> = costs.iter().map(|(flows, cost)| (flows.round() as u64, cost.packets)).collect();
        assert_eq!(found, [(1, 2), (2, 1), (3, 1), (861, 2), (1218, 2), (1722, 2)]);
    }
}
