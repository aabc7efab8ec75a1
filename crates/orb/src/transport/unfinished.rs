//! What connections keep of messages whose ends are missing: a limit for all of them, and who has to leave when much of it is
//! used.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// What all connections keep, in octets: no less than the sum of their parts.
#[derive(Debug, Default)]
pub(crate) struct Unfinished(AtomicUsize);

impl Unfinished {
    /// Whether half of `limit` is used, so that whoever takes long with a message takes room that others need.
    pub(crate) fn is_scarce(&self, limit: usize) -> bool {
        self.0.load(Ordering::Relaxed) > limit / 2
    }
}

/// What one connection keeps. Written by whoever reads from it, but for its end.
#[derive(Debug, Default)]
pub(crate) struct Part {
    octets: AtomicUsize,
    /// The most kept since `since`. As long as half of that is kept, some message has not ended.
    most: AtomicUsize,
    /// Milliseconds of the connection's life since when much is kept, and one; 0 if little is.
    since: AtomicU64,
}

impl Part {
    #[inline]
    pub(crate) fn is(&self, octets: usize) -> bool {
        self.octets.load(Ordering::Relaxed) == octets
    }

    /// Keeps so much from now on, `age` after the connection began. Whether it finds room within `limit` beside what others
    /// keep. Less than `share` is never too long.
    pub(crate) fn keep(
        &self,
        octets: usize,
        all: &Unfinished,
        (limit, share): (usize, usize),
        age: Duration,
    ) -> bool {
        let fits = self.count(octets, all, limit);
        let most = self.most.load(Ordering::Relaxed);
        if octets < share {
            self.most.store(0, Ordering::Relaxed);
            self.since.store(0, Ordering::Relaxed);
        } else if octets < most / 2 || most == 0 {
            self.most.store(octets, Ordering::Relaxed);
            self.since.store(age.as_millis() as u64 + 1, Ordering::Relaxed);
        } else {
            self.most.store(most.max(octets), Ordering::Relaxed);
        }
        fits
    }

    /// Whether there is room. Only what is more is added, so that others see no more than is kept, and before it is part of
    /// anything, so that the sum is no less than its parts.
    fn count(&self, octets: usize, all: &Unfinished, limit: usize) -> bool {
        let before = self.octets.load(Ordering::SeqCst);
        let more = octets.saturating_sub(before);
        let sum = all.0.fetch_add(more, Ordering::SeqCst) + more;
        let counted =
            self.octets.compare_exchange(before, octets, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        // If not, the connection has ended meanwhile and keeps nothing.
        let less = if counted { before.saturating_sub(octets) } else { more };
        all.0.fetch_sub(less, Ordering::SeqCst);
        more == 0 || sum <= limit
    }

    /// Keeps nothing any more.
    pub(crate) fn end(&self, all: &Unfinished) {
        let octets = self.octets.swap(0, Ordering::SeqCst);
        all.0.fetch_sub(octets, Ordering::SeqCst);
    }

    /// How long much has been kept of a message, `age` after the connection began.
    pub(crate) fn kept_for(&self, age: Duration) -> Duration {
        match self.since.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            since => age.saturating_sub(Duration::from_millis(since - 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn keep(part: &Part, octets: usize, all: &Unfinished, age: u32) -> bool {
        part.keep(octets, all, (1_000, 100), age * MS)
    }

    #[test]
    fn the_sum_is_limited_and_what_is_less_always_fits() {
        let (all, first, second) = (Unfinished::default(), Part::default(), Part::default());
        assert!(keep(&first, 600, &all, 0) && all.is_scarce(1_000));
        assert!(keep(&second, 400, &all, 0));
        assert!(!keep(&second, 401, &all, 0));
        assert!(keep(&second, 300, &all, 0));
        first.end(&all);
        first.end(&all);
        assert!(!all.is_scarce(1_000));
        assert!(keep(&second, 1_000, &all, 0) && second.is(1_000));
    }

    #[test]
    fn what_several_keep_at_once_is_counted_once() {
        let all = Unfinished::default();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let part = Part::default();
                    (1..=20_000).for_each(|n| assert!(keep(&part, 1 + n % 500, &all, 0)));
                    part.end(&all);
                });
            }
        });
        assert!(keep(&Part::default(), 1_000, &all, 0));
    }

    #[test]
    fn a_message_takes_long_until_most_of_what_is_kept_is_gone() {
        let (all, part) = (Unfinished::default(), Part::default());
        let after = |octets, age| {
            keep(&part, octets, &all, age);
            part.kept_for((age + 1) * MS)
        };
        assert_eq!(after(99, 10), Duration::ZERO);
        assert_eq!(after(100, 20), MS);
        assert_eq!(after(500, 30), 11 * MS);
        // A small message beside the large one has ended.
        assert_eq!(after(400, 40), 21 * MS);
        // The large one has, and another has begun.
        assert_eq!(after(240, 50), MS);
        assert_eq!(after(250, 60), 11 * MS);
        assert_eq!(after(0, 70), Duration::ZERO);
        assert_eq!(after(300, 0), MS);
    }
}
