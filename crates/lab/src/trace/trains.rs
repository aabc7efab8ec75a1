//! Trains: packets of one flow that come one after another.

use super::tally::Tally;

/// The train that is passing, and those before it.
#[derive(Debug, Default)]
pub(super) struct Ride {
    trains: Tally,
    length: u64,
    /// Whose train it is: family and slot.
    flow: (bool, u32),
}

impl Ride {
    /// A packet comes, of a flow that is new or not.
    #[inline]
    pub(super) fn on(&mut self, new: bool, flow: (bool, u32)) {
        if !new && flow == self.flow && self.length > 0 {
            self.length += 1;
            return;
        }
        self.end();
        (self.length, self.flow) = (1, flow);
    }

    fn end(&mut self) {
        if self.length > 0 {
            self.trains.add(self.length);
        }
    }

    /// The lengths of all trains.
    pub(super) fn trains(mut self) -> Tally {
        self.end();
        self.trains
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        let mut ride = Ride::default();
        let flows = [0, 0, 0, 1, 0, 1, 1];
        flows.iter().enumerate().for_each(|(at, flow)| ride.on(at == 0 || at == 3, (false, *flow)));
        // A slot taken again is another flow.
        ride.on(true, (false, 1));
        ride.on(false, (true, 1));
        let lengths: Vec<_> = ride.trains().cumulative().collect();
        assert_eq!(lengths, [(1, 4), (2, 5), (3, 6)]);
    }
}
