//! How many messages a receiver is due.

/// So many messages, evenly over time, and so many at once after a pause: a token bucket.
///
/// What comes beyond it is [discarded](crate::Discard::Rate) when its path is known, before anything else is spent on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Messages per second. With 0 there is the burst and nothing more.
    pub per_second: u32,
    /// Messages that may come at once. With 0 none may.
    pub burst: u32,
}

/// One message, in the unit of levels: what a rate of one per second adds in a microsecond. So nothing is ever rounded.
const MESSAGE: u64 = 1_000_000;

/// What is left of a [`Rate`] at some time.
#[derive(Debug)]
pub struct Bucket {
    rate: Rate,
    level: u64,
    /// When the level was that, in microseconds.
    at: u64,
}

impl Bucket {
    /// A full one. `now`, here and below, is in microseconds.
    pub fn new(rate: Rate, now: u64) -> Self {
        Self { rate, level: Self::full(rate), at: now }
    }

    fn full(rate: Rate) -> u64 {
        u64::from(rate.burst) * MESSAGE
    }

    /// Whether there is a message's share in it.
    pub fn has(&mut self, now: u64) -> bool {
        let gained = now.saturating_sub(self.at).saturating_mul(self.rate.per_second.into());
        self.at = self.at.max(now);
        self.level = self.level.saturating_add(gained).min(Self::full(self.rate));
        self.level >= MESSAGE
    }

    /// Takes a message's share out, if there is one.
    pub fn take(&mut self, now: u64) -> bool {
        let enough = self.has(now);
        if enough {
            self.level -= MESSAGE;
        }
        enough
    }

    /// Gives a message's share back.
    pub fn give(&mut self) {
        self.level = (self.level + MESSAGE).min(Self::full(self.rate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(bucket: &mut Bucket, now: u64) -> usize {
        (0..1000).take_while(|_| bucket.take(now)).count()
    }

    #[test]
    fn a_burst_and_then_the_rate() {
        let mut bucket = Bucket::new(Rate { per_second: 3, burst: 5 }, 7_000_000);
        assert_eq!(taken(&mut bucket, 7_000_000), 5);
        assert_eq!(taken(&mut bucket, 7_333_333), 0, "a microsecond early");
        assert_eq!(taken(&mut bucket, 7_333_334), 1);
        assert_eq!(taken(&mut bucket, 8_000_000), 2, "nothing was lost by asking in between");
        assert_eq!(taken(&mut bucket, 7_000_000), 0, "time that goes back");
        assert_eq!(taken(&mut bucket, 60_000_000), 5, "no more than the burst is saved up");
        bucket.give();
        assert_eq!(taken(&mut bucket, 60_000_000), 1);
    }

    #[test]
    fn extremes() {
        assert_eq!(taken(&mut Bucket::new(Rate { per_second: 1000, burst: 0 }, 0), 1 << 40), 0);
        let mut bucket = Bucket::new(Rate { per_second: 0, burst: 2 }, 0);
        assert_eq!((taken(&mut bucket, 0), taken(&mut bucket, u64::MAX)), (2, 0));
        let mut bucket = Bucket::new(Rate { per_second: u32::MAX, burst: u32::MAX }, 0);
        assert!(bucket.take(u64::MAX));
        bucket.give();
        assert_eq!(bucket.level, Bucket::full(bucket.rate));
    }
}
