//! Something over time, in a fixed number of intervals that become longer as time goes on.

/// Intervals, at most; then pairs of them become one.
const BINS: usize = 512;

/// What intervals hold.
pub trait Bin: Default {
    /// Takes up the interval that follows.
    fn join(&mut self, next: Self);
}

/// Intervals of equal length from 0 on.
#[derive(Clone, Debug)]
pub struct Binned<B> {
    width: u64,
    bins: Vec<B>,
}

impl<B: Bin> Binned<B> {
    /// Nothing yet; intervals are of this length at first.
    pub fn new(width: u64) -> Self {
        Self { width, bins: Vec::new() }
    }

    /// The interval of a time.
    #[inline]
    pub fn at(&mut self, time: u64) -> &mut B {
        while time / self.width >= BINS as u64 {
            self.double();
        }
        let at = (time / self.width) as usize;
        if at >= self.bins.len() {
            self.bins.resize_with(at + 1, B::default);
        }
        &mut self.bins[at]
    }

    /// Has no more than so many intervals.
    pub fn limit(&mut self, most: usize) {
        while self.bins.len() > most.max(1) {
            self.double();
        }
    }

    /// The length of an interval.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// All intervals.
    pub fn bins(&self) -> &[B] {
        &self.bins
    }

    /// All intervals, to be changed.
    pub fn bins_mut(&mut self) -> &mut [B] {
        &mut self.bins
    }

    fn double(&mut self) {
        let mut pairs = std::mem::take(&mut self.bins).into_iter();
        while let Some(mut first) = pairs.next() {
            if let Some(second) = pairs.next() {
                first.join(second);
            }
            self.bins.push(first);
        }
        self.width *= 2;
    }
}

impl Bin for u64 {
    fn join(&mut self, next: Self) {
        *self += next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost() {
        let mut binned = Binned::<u64>::new(1);
        for time in 0..10_000 {
            *binned.at(time) += 1;
        }
        assert_eq!((binned.width(), binned.bins().iter().sum()), (32, 10_000));
        assert!(binned.bins()[..312].iter().all(|count| *count == 32));
        *binned.at(u64::MAX) += 1;
        assert_eq!((binned.bins()[0], binned.bins().len()), (10_000, BINS));
    }
}
