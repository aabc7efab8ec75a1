//! Distributions of counts, in bounded memory.

/// Values below this are told apart; larger ones as far as 1/64 of their size.
const EXACT: u64 = 128;
const BITS: u32 = EXACT.trailing_zeros();

/// How often each value came. Sum and largest value are exact, quantiles exact below 128 and within 1/64 above.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    counts: Vec<u64>,
    total: u64,
    sum: u128,
    largest: u64,
}

impl Tally {
    /// Counts a value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.add_many(value, 1);
    }

    /// Counts a value several times.
    #[inline]
    pub fn add_many(&mut self, value: u64, times: u64) {
        let bucket = bucket(value);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += times;
        self.total += times;
        self.sum += u128::from(value) * u128::from(times);
        self.largest = self.largest.max(value);
    }

    /// Adds all values of another.
    pub fn merge(&mut self, other: &Self) {
        self.counts.resize(self.counts.len().max(other.counts.len()), 0);
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.total += other.total;
        self.sum += other.sum;
        self.largest = self.largest.max(other.largest);
    }

    /// How many values there were.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Their sum.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The largest; 0 without any.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// The mean; 0 without any.
    pub fn mean(&self) -> f64 {
        if self.total == 0 { 0.0 } else { self.sum as f64 / self.total as f64 }
    }

    /// The least value that at least this share of all do not exceed.
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = ((self.total as f64 * share).ceil() as u64).clamp(1, self.total.max(1));
        self.cumulative().find(|(_, below)| *below >= wanted).map_or(self.largest, |(value, _)| value)
    }

    /// Values that came, or the ends of their ranges, with how many values do not exceed them.
    pub fn cumulative(&self) -> impl Iterator<Item = (u64, u64)> {
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.scan(0, |below, (bucket, count)| {
            *below += count;
            Some((end_of(bucket).min(self.largest), *below))
        })
    }
}

fn bucket(value: u64) -> usize {
    if value < EXACT {
        return value as usize;
    }
    // The leading bit and the BITS - 1 after it.
    let shift = value.ilog2() + 1 - BITS;
    (u64::from(shift) * (EXACT / 2) + (value >> shift)) as usize
}

/// The largest value in a bucket.
fn end_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < EXACT {
        return bucket;
    }
    let shift = bucket / (EXACT / 2) - 1;
    let mantissa = bucket - shift * (EXACT / 2);
    (mantissa << shift) | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_narrow_and_in_order() {
        for value in (0..100_000).chain((1..40).map(|n| (1 << n) + 12_345)).chain([u64::MAX]) {
            let end = end_of(bucket(value));
            assert!(end >= value && end - value <= value / 64, "{value}: {end}");
        }
        assert!((0..100_000).all(|value| (0..=1).contains(&(bucket(value + 1) - bucket(value)))));
    }

    #[test]
    fn figures() {
        let mut tally = Tally::default();
        (1..=100).for_each(|value| tally.add(value));
        assert_eq!((tally.mean(), tally.largest(), tally.total()), (50.5, 100, 100));
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(|share| tally.quantile(share)), [1, 50, 99, 100]);
        let mut both = Tally::default();
        both.add_many(7, 100);
        both.merge(&tally);
        assert_eq!((both.total(), both.quantile(0.5)), (200, 7));
        assert_eq!(Tally::default().quantile(0.5), 0);
    }
}
