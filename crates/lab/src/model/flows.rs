//! The time until all packets of a flow have been processed behind one hop: Chandranmenon and Varghese, *Trading Packet Headers
//! for Packet Processing* (1996), sections 3.2 and 4.1.

/// What the models depend on. All times in the same unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// R: from a source to its destination and back.
    pub round_trip: f64,
    /// L: a lookup without index.
    pub long: f64,
    /// s: a lookup by an index.
    pub short: f64,
}

impl Hop {
    /// That of figure 2, in microseconds: 60 ms, 200 us and 20 us.
    pub const FIGURE_2: Self = Self { round_trip: 60_000.0, long: 200.0, short: 20.0 };

    /// A long lookup for each packet: n L + R/2.
    pub fn datagram(&self, packets: f64) -> f64 {
        packets * self.long + self.round_trip / 2.0
    }

    /// A round trip before the first one: R + n s + R/2.
    pub fn virtual_circuit(&self, packets: f64) -> f64 {
        self.round_trip + packets * self.short + self.round_trip / 2.0
    }

    /// A long lookup for the first packet only: L + (n - 1) s + R/2.
    pub fn source_hash(&self, packets: f64) -> f64 {
        self.long + (packets - 1.0) * self.short + self.round_trip / 2.0
    }

    /// The index was there before: n s + R/2.
    pub fn threaded(&self, packets: f64) -> f64 {
        packets * self.short + self.round_trip / 2.0
    }

    /// From how many packets on a virtual circuit is the faster one, compared with datagrams: n (L - s) > R. `None` if it never
    /// is.
    pub fn circuit_before_datagram(&self) -> Option<f64> {
        let saved = self.long - self.short;
        (saved > 0.0).then(|| (self.round_trip / saved).floor() + 1.0)
    }

    /// How much later than by source hash all packets are processed by a virtual circuit, however many they are: R - (L - s).
    /// As long as that is more than 0, a virtual circuit is never the faster one.
    pub fn circuit_behind_source_hash(&self) -> f64 {
        self.round_trip - (self.long - self.short)
    }

    /// From how many packets on a source hash is the faster one, compared with datagrams: 2, unless the short lookup is none.
    pub fn source_hash_before_datagram(&self) -> Option<f64> {
        (self.short < self.long).then_some(2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Hop;

    const ALL: [fn(&Hop, f64) -> f64; 4] =
        [Hop::datagram, Hop::virtual_circuit, Hop::source_hash, Hop::threaded];

    #[test]
    fn figure_2() {
        let of = |packets| ALL.map(|model| model(&Hop::FIGURE_2, packets));
        assert_eq!(of(1.0), [30_200.0, 90_020.0, 30_200.0, 30_020.0]);
        assert_eq!(of(1000.0), [230_000.0, 110_000.0, 50_180.0, 50_000.0]);
    }

    #[test]
    fn crossings_are_where_the_curves_cross() {
        let shorter = Hop { round_trip: 100.0, ..Hop::FIGURE_2 };
        for hop in [Hop::FIGURE_2, shorter] {
            let first = |one: fn(&Hop, f64) -> f64, other: fn(&Hop, f64) -> f64| {
                (1..10_000).map(f64::from).find(|packets| one(&hop, *packets) < other(&hop, *packets))
            };
            assert_eq!(hop.circuit_before_datagram(), first(Hop::virtual_circuit, Hop::datagram));
            assert_eq!(hop.source_hash_before_datagram(), first(Hop::source_hash, Hop::datagram));
            let behind = hop.circuit_behind_source_hash();
            assert_eq!(first(Hop::virtual_circuit, Hop::source_hash).is_none(), behind >= 0.0);
            for packets in [1.0, 77.0, 5000.0] {
                assert_eq!(hop.virtual_circuit(packets) - hop.source_hash(packets), behind);
            }
        }
        let slower = Hop { long: 10.0, ..Hop::FIGURE_2 };
        assert_eq!((slower.circuit_before_datagram(), slower.source_hash_before_datagram()), (None, None));
    }
}
